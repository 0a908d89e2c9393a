"""Estimated examination by rank with its intervals, beside what is true."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from ultr_core.figures.figure import Figure
from ultr_core.figures.style import INKS, METHOD_STYLES, Ink, Theme
from ultr_core.figures.template import bare_spec, rows_of, with_domains
from ultr_core.propensity import PropensityEstimate

LOWEST, HIGHEST = 0.01, 3.0
"""Ends of the axis; what lies beyond stands at the end."""

ESTIMATE = METHOD_STYLES["propensity"].color
OTHER = METHOD_STYLES["clipped"].color
LIMIT = METHOD_STYLES["naive"].color

_LONGEST_NAME = 16


def propensity_curves(
    estimate: PropensityEstimate,
    *,
    curve: Sequence[float],
    truth: Sequence[float] | None = None,
    limit: Sequence[float] | None = None,
    other: PropensityEstimate | None = None,
    other_label: str = "",
    alt_text: str,
    title: str,
    theme: Theme = "light",
) -> Figure:
    """Ratios to the reference rank with 95 % intervals, the finished curve, and the truth.

    ``curve`` [ranks] is relative to rank 1 and is scaled to the reference rank here; ``truth`` and
    ``limit`` [ranks], where known, are relative to the reference: true examination, and what the
    estimate tends to with endless traffic. ``other`` is a second estimate beside the first.
    Missing ranks have no mark.
    """
    parts = [_points(estimate, "estimate", 0.0)]
    scale = curve[estimate.reference - 1]
    parts.append(_line([value / scale for value in curve], "curve"))
    keys = [("estimate ± 95 %", ESTIMATE, "dot"), ("curve used", ESTIMATE, "line")]
    if other is not None:
        parts.append(_points(other, "other", 0.3))
        keys.append((other_label, OTHER, "square"))
    if truth is not None:
        parts.append(_line(truth, "truth"))
        keys.insert(0, ("truth", "quiet", "thick"))
    if limit is not None:
        parts.append(_line(limit, "limit"))
        keys.append(("endless traffic", LIMIT, "dash"))
    rows = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    rows["y"] = rows["value"].clip(LOWEST, HIGHEST)
    rows["low_y"], rows["high_y"] = (rows[c].clip(LOWEST, HIGHEST) for c in ("low", "high"))
    spec = _template(tuple(keys), frozenset(rows["part"]), len(curve), theme)
    lines = len(keys) / _key_columns(tuple(keys))
    return Figure(
        "propensity-curve",
        title,
        alt_text,
        rows,
        with_domains(spec, x=(0.5, len(curve) + 0.5)),
        height=round(290 + 24 * lines),
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


def _line(values: Sequence[float], part: str) -> pd.DataFrame:
    ranks = range(1, len(values) + 1)
    table = pd.DataFrame({"rank": ranks, "place": ranks, "value": values, "part": part})
    return table.astype({"value": float, "place": float}).dropna(subset=["value"])


@lru_cache(maxsize=32)
def _template(
    keys: tuple[tuple[str, str, str], ...], parts: frozenset[str], ranks: int, theme: Theme
) -> dict[str, Any]:
    ink = INKS[theme]
    step = 1 if ranks <= 6 else 2 if ranks <= 12 else 4
    ticks, levels = [1, *range(1 + step, ranks + 1, step)], [0.01, 0.03, 0.1, 0.3, 1, 3]
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
            title="Examination, log scale",
            scale=alt.Scale(type="log", domain=[LOWEST, HIGHEST], nice=False),
            axis=alt.Axis(values=levels, tickCount=len(levels), format="~g"),
        )

    y = y_of("y")
    tooltip = [
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("value:Q", title="Ratio", format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="95 % to", format=".3f"),
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

    def marks(part: str, color: str, shape: str) -> Any:
        return (
            rows_of(part)
            .mark_point(color=color, shape=shape, filled=True, size=70, opacity=1)
            .encode(x=x, y=y, tooltip=tooltip)
        )

    layers = [
        line("truth", color=ink.quiet, strokeWidth=6, opacity=0.7),
        line("limit", color=LIMIT, strokeWidth=2.5, strokeDash=[6, 4]),
        line("curve", color=ESTIMATE, strokeWidth=2),
    ]
    # A layer of points without a row would be read out as a picture of nothing.
    for part, color, shape in (("other", OTHER, "square"), ("estimate", ESTIMATE, "circle")):
        if part in parts:
            layers += [bars(part, color), marks(part, color, shape)]
    layers += _key(keys, ink)
    return bare_spec(layers, ink)


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
        if kind in ("dot", "square"):
            shape = "circle" if kind == "dot" else "square"
            mark = once.mark_point(color=paint, shape=shape, filled=True, size=80, opacity=1)
            marks.append(mark.encode(x=alt.value(left + 12), y=y))
        else:
            width, dash = {"line": (2, [1, 0]), "thick": (6, [1, 0]), "dash": (2.5, [6, 4])}[kind]
            rule = once.mark_rule(color=paint, strokeWidth=width, strokeDash=dash)
            marks.append(rule.encode(x=x, x2=alt.value(left + 24), y=y))
        text = once.mark_text(align="left", color=ink.text)
        marks.append(text.encode(x=alt.value(left + 31), y=y, text=alt.value(name)))
    return marks
