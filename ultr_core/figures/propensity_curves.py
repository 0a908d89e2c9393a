"""Estimated examination by rank with its intervals, beside what is true."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ultr_core.figures.axes import log_levels, log_range
from ultr_core.figures.figure import Figure, bare_spec, rows_of, with_domains
from ultr_core.figures.style import INKS, METHOD_STYLES, Ink, Theme
from ultr_core.propensity import AssembledCurve, PropensityEstimate

LOWEST, HIGHEST = 0.01, 3.0
"""Ends of the axis where everything lies between them."""

LEAST, MOST = 1e-4, 30.0
"""Ends beyond which no axis reaches; what lies beyond stands at its end with a mark of its own."""

_LEAST_FOR_INTERVALS = 1e-3

ESTIMATE = METHOD_STYLES["propensity"].color
OTHER = METHOD_STYLES["clipped"].color
LIMIT = METHOD_STYLES["naive"].color

_LONGEST_NAME = 16


def propensity_curves(
    estimate: PropensityEstimate,
    *,
    curve: AssembledCurve,
    truth: Sequence[float] | None = None,
    limit: Sequence[float] | None = None,
    other: PropensityEstimate | None = None,
    other_label: str = "",
    alt_text: str,
    title: str,
    theme: Theme = "light",
) -> Figure:
    """Ratios to the reference rank with 95% intervals, the finished curve, and the truth.

    ``curve`` is relative to rank 1 and is scaled to the reference rank here, dashed where it is a
    guess; ``truth`` and ``limit`` [ranks], where known, are relative to the reference: true
    examination, and what the estimate tends to with endless traffic. ``other`` is a second estimate
    beside the first. Missing ranks have no mark; estimates that the curve does not use are hollow;
    a triangle at the end of the axis is a value beyond it, a hollow one a rank without a click.
    """
    scale = curve.values[estimate.reference - 1]
    parts = [_points(estimate, "estimate", 0.0).assign(used=True)]
    parts[0]["used"] = parts[0]["rank"].isin(curve.known)
    parts += _curve_lines(curve, scale)
    if other is not None:
        parts.append(_points(other, "other", 0.3).assign(used=True))
    if truth is not None:
        parts.append(_line(truth, "truth"))
    if limit is not None:
        parts.append(_line(limit, "limit"))
    rows = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    low, high = _ends(rows)
    _stand(rows, low, high)
    keys = _keys(rows, other_label)
    last = len(curve.values)
    kinds = frozenset(zip(rows["part"], rows["stands"], strict=True))
    spec = _template(keys, kinds, last, (low, high), estimate.reference, theme)
    lines = len(keys) / _key_columns(keys)
    return Figure(
        "propensity-curve",
        title,
        alt_text,
        rows,
        with_domains(spec, x=(0.5, last + 0.5)),
        height=round(290 + 24 * lines),
    )


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The axis: as far as values go, and intervals within reason."""
    ends = rows["low"].to_numpy(float)
    ends = np.maximum(ends[ends > 0], _LEAST_FOR_INTERVALS)
    seen = np.concatenate([rows["value"].to_numpy(float), ends])
    return log_range(seen, low=LOWEST, high=HIGHEST, least=LEAST, most=MOST)


def _stand(rows: pd.DataFrame, low: float, high: float) -> None:
    """Add where each row is drawn: ``stands`` is "inside", "below", "above" or "zero"."""
    value, drawn = rows["value"], rows["part"].isin(["estimate", "other"])
    rows["stands"] = np.select(
        [value == 0, value < low, value > high], ["zero", "below", "above"], "inside"
    )
    # A line runs out of the picture instead of along its edge.
    rows["y"] = value.clip(low / 1000, high * 1000).where(~drawn, value.clip(low, high))
    for end in ("low", "high"):
        rows[f"{end}_y"] = rows[end].clip(low, high)
    rows["cut"] = (rows["low"] < low) & (rows["stands"] == "inside")
    rows["told"] = [
        "no click" if zero and point else f"{number:.3g}"
        for number, zero, point in zip(value, value == 0, drawn, strict=True)
    ]


def _keys(rows: pd.DataFrame, other_label: str) -> tuple[tuple[str, str, str], ...]:
    """Name, colour and kind of each mark that is in the picture."""
    parts = set(rows["part"])
    points = rows[rows["part"].isin(["estimate", "other"])]
    stands, kept = set(points["stands"]), points["used"].astype(bool)
    return tuple(
        (name, color, kind)
        for name, color, kind, there in (
            ("truth", "quiet", "thick", "truth" in parts),
            ("estimate ± 95%", ESTIMATE, "dot", True),
            ("curve used", ESTIMATE, "line", True),
            ("a guess", ESTIMATE, "dots", "guess" in parts),
            (other_label, OTHER, "square", "other" in parts),
            ("endless traffic", LIMIT, "dash", "limit" in parts),
            ("few clicks", ESTIMATE, "hollow", bool((~kept).any())),
            ("no click", "quiet", "hollow down", "zero" in stands),
            ("below axis", "quiet", "down", "below" in stands),
            ("above axis", "quiet", "up", "above" in stands),
        )
        if there
    )


def _points(estimate: PropensityEstimate, part: str, shift: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "rank": point.rank,
                "place": point.rank + shift,
                "value": point.value,
                "low": point.low,
                "high": point.high,
                "clicks": point.clicks,
                "part": part,
            }
            for point in estimate.observed
        ],
        columns=["rank", "place", "value", "low", "high", "clicks", "part"],
    ).astype({"low": float, "high": float, "value": float})


def _curve_lines(curve: AssembledCurve, scale: float) -> list[pd.DataFrame]:
    """The curve relative to the reference, and its guess from the last known rank on."""
    values = [value / scale for value in curve.values]
    first = curve.guess_from
    if first is None:
        return [_line(values, "curve")]
    line = _line(values, "guess")
    return [_line(values[: max(first - 1, 1)], "curve"), line[line["rank"] >= first - 1]]


def _line(values: Sequence[float], part: str) -> pd.DataFrame:
    ranks = range(1, len(values) + 1)
    table = pd.DataFrame({"rank": ranks, "place": ranks, "value": values, "part": part})
    return table.astype({"value": float, "place": float}).dropna(subset=["value"])


@lru_cache(maxsize=32)
def _template(
    keys: tuple[tuple[str, str, str], ...],
    kinds: frozenset[tuple[str, str]],
    ranks: int,
    ends: tuple[float, float],
    reference: int,
    theme: Theme,
) -> dict[str, Any]:
    ink = INKS[theme]
    step = next(s for s in (1, 2, 4, 10, 20, 50, 100, 1000) if ranks <= 6 * s or s == 1000)
    ticks, levels = [1, *range(1 + step, ranks + 1, step)], log_levels(*ends)
    x = alt.X(
        "place:Q",
        title="Rank r",
        scale=alt.Scale(nice=False, domain=[0, 1]),
        # Without a count of its own Vega thins the values to the configured one.
        axis=alt.Axis(values=ticks, tickCount=len(ticks), format="d", grid=False),
    )

    def y_of(field: str) -> alt.Y:
        return alt.Y(
            f"{field}:Q",
            title=f"Examination relative to rank {reference} (log)",
            scale=alt.Scale(type="log", domain=list(ends), nice=False),
            axis=alt.Axis(values=levels, tickCount=len(levels), format="~g"),
        )

    y = y_of("y")
    tooltip = [
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("told:N", title="Ratio"),
        alt.Tooltip("low:Q", title="95% from", format=".3~g"),
        alt.Tooltip("high:Q", title="95% to", format=".3~g"),
        alt.Tooltip("clicks:Q", title="Clicks", format=","),
    ]

    def line(part: str, **mark: Any) -> Any:
        return rows_of(part).mark_line(clip=True, **mark).encode(x=x, y=y)

    def bars(part: str, color: str) -> Any:
        return (
            rows_of(part)
            .transform_filter("isValid(datum.low)")
            .mark_rule(color=color, strokeWidth=2)
            .encode(x=x, y=y_of("low_y"), y2="high_y:Q")
        )

    def marks(part: str, color: str, shape: str) -> list[Any]:
        """Shapes have no scale: layers would share it, and circles become squares."""
        cut = rows_of(part).transform_filter("datum.cut")
        found = [
            cut.mark_point(color=color, shape="triangle-down", size=25, opacity=1).encode(
                x=x, y=y_of("low_y")
            )
        ]
        shapes = {"inside": shape, **_OFF}
        for stands in (stands for stands in shapes if (part, stands) in kinds):
            hollow = alt.value(0) if stands == "zero" else alt.value(1)
            found.append(
                rows_of(part)
                .transform_filter(alt.datum.stands == stands)
                .mark_point(
                    color=color, fill=color, shape=shapes[stands], size=70, opacity=1, strokeWidth=2
                )
                .encode(
                    x=x,
                    y=y,
                    tooltip=tooltip,
                    fillOpacity=alt.condition("datum.used", hollow, alt.value(0))
                    if stands == "inside"
                    else hollow,
                )
            )
        return found

    layers = [
        line("truth", color=ink.quiet, strokeWidth=6, opacity=0.7),
        line("limit", color=LIMIT, strokeWidth=2.5, strokeDash=[6, 4]),
        line("curve", color=ESTIMATE, strokeWidth=2),
        line("guess", color=ESTIMATE, strokeWidth=2, strokeDash=[2, 4]),
    ]
    # A layer of points without a row would be read out as a picture of nothing.
    for part, color, shape in (("other", OTHER, "square"), ("estimate", ESTIMATE, "circle")):
        if any(name == part for name, _ in kinds):
            layers += [bars(part, color), *marks(part, color, shape)]
    layers += _key(keys, ink)
    return bare_spec(layers, ink)


_OFF = {"zero": "triangle-down", "below": "triangle-down", "above": "triangle-up"}
_SHAPES = {
    "dot": "circle",
    "square": "square",
    "hollow": "circle",
    "hollow down": "triangle-down",
    "down": "triangle-down",
    "up": "triangle-up",
}
_DASHES: dict[str, tuple[float, list[float]]] = {
    "line": (2, [1, 0]),
    "thick": (6, [1, 0]),
    "dash": (2.5, [6, 4]),
    "dots": (2, [2, 4]),
}


def _key_columns(keys: tuple[tuple[str, str, str], ...]) -> int:
    """Two columns, unless a name is too long for half of a phone."""
    return 2 if max(len(name) for name, _, _ in keys) <= _LONGEST_NAME else 1


def _key(keys: tuple[tuple[str, str, str], ...], ink: Ink) -> list[alt.Chart]:
    """What each mark is, above the plot, where no curve runs."""
    once = rows_of("curve").transform_filter(alt.datum.rank == 1)
    columns = _key_columns(keys)
    lines = -(-len(keys) // columns)
    marks = []
    for number, (name, color, kind) in enumerate(keys):
        left, row = 165 * (number % columns), lines - number // columns
        y, x = alt.value(2 - 24 * row), alt.value(left)
        paint = ink.quiet if color == "quiet" else color
        if kind in _SHAPES:
            mark = once.mark_point(
                color=paint,
                fill="transparent" if "hollow" in kind else paint,
                shape=_SHAPES[kind],
                size=80,
                opacity=1,
                strokeWidth=2,
            )
            marks.append(mark.encode(x=alt.value(left + 12), y=y))
        else:
            width, dash = _DASHES[kind]
            rule = once.mark_rule(color=paint, strokeWidth=width, strokeDash=dash)
            marks.append(rule.encode(x=x, x2=alt.value(left + 24), y=y))
        text = once.mark_text(align="left", color=ink.text)
        marks.append(text.encode(x=alt.value(left + 31), y=y, text=alt.value(name)))
    return marks
