"""What falls with the rank: examination, clicks and relevance, and estimated propensities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.figures.axes import log_levels, log_range
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.layers import (
    INTERVAL,
    Mark,
    along,
    bare_spec,
    key_line,
    key_point,
    rank_axis,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.style import FONT_SIZE, INKS, METHOD_STYLES, Ink, Theme
from ultr_core.lab import assumed_curve, true_curve
from ultr_core.lab.live import LiveResult
from ultr_core.lab.propensity_study import MethodResult
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    AssembledCurve,
    PropensityEstimate,
    RankEstimate,
)
from ultr_core.propensity.log_estimates import LogEstimate
from ultr_core.risk.by_rank import FIRST_RANKS, RankTest
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.words import part_of

# Examination, as it is and as it is believed.

Quantity = Literal["probability", "weight"]

COLUMNS = ("rank", "users", "learner")

LAST_RANK = 24
"""Ranks shown in the examination figure: the mean length of a list in the paper's data."""

LONGEST = 60
"""Ranks that are shown of a longer curve."""

WHAT_IF_COLOR = METHOD_STYLES["clipped"].color
WHAT_IF_START = 0.5


def examination_figure(settings: Settings, quantity: Quantity, *, theme: Theme = "light") -> Figure:
    """The users' and the learner's examination probabilities, or weights 1/p, by rank."""
    given = max((len(values) for values in settings.curves.values()), default=0)
    last_rank = min(max(LAST_RANK, given), LONGEST)
    ranks = np.arange(1, last_rank + 1)
    users, learner = true_curve(settings), assumed_curve(settings)
    curves = {"rank": ranks, "users": users.at(ranks), "learner": learner.at(ranks)}
    last = {name: float(values[-1]) for name, values in curves.items()}
    eta = PARAMETERS["eta"]
    return examination_curves(
        curves,
        quantity=quantity,
        alt_text=(
            f"Users look at rank {last_rank} with probability {last['users']:.3f}; the learner "
            f"assumes {last['learner']:.3f}, so a click there has weight "
            f"{1 / last['learner']:.1f}."
        ),
        title="Examination probability by rank"
        if quantity == "probability"
        else "Weight of a click",
        high_eta=float(eta.high),
        eta_step=float(eta.step),
        theme=theme,
    )


def examination_curves(
    curves: pd.DataFrame | Columns,
    *,
    quantity: Quantity,
    alt_text: str,
    title: str,
    high_eta: float,
    eta_step: float,
    theme: Theme = "light",
) -> Figure:
    """True and assumed propensities (or weights 1/p) by rank, with an interactive what-if curve.

    ``curves`` has the columns ``rank``, ``users`` and ``learner``: rank r = 1, 2, ..., the users'
    p_r, and the p_r that the learner assumes. The what-if curve (1/r)^η follows a slider inside
    the picture, from 0 to ``high_eta`` in steps of ``eta_step``, with no round trip to the server.
    """
    rank, users, learner = (np.asarray(curves[name]) for name in COLUMNS)
    if quantity == "weight":
        users, learner = 1.0 / users, 1.0 / learner
    heaviest = float(max(users.max(), learner.max()))
    top = max(1000, 10 ** math.ceil(math.log10(heaviest)))
    spec = _examination(quantity, int(rank.max()), top, high_eta, eta_step, theme)
    data: Columns = {
        "rank": rank,
        "users": users,
        "learner": learner,
        "part": ["curve"] * len(rank),
    }
    return Figure(f"examination-{quantity}", title, alt_text, data, spec, height=330)


@lru_cache(maxsize=16)
def _examination(
    quantity: Quantity, last_rank: int, top: int, high_eta: float, eta_step: float, theme: Theme
) -> dict[str, Any]:
    ink = INKS[theme]
    what_if = alt.param(
        name="what_if",
        value=WHAT_IF_START,
        bind=alt.binding_range(min=0, max=high_eta, step=eta_step, name="What if η were "),
    )
    x = along(
        alt.X,
        "Rank r at which a document was shown",
        {"domain": [1, last_rank], "nice": False},
        {
            "values": [1, *range(4, last_rank + 1, 4)],
            "grid": False,
            "titleFontSize": alt.ExprRef(f"min({FONT_SIZE}, width / 15)"),  # whole on a phone
        },
    )("rank")
    if quantity == "weight":
        y = along(
            alt.Y,
            "Weight 1/p of a click (log scale)",
            {"type": "log", "domain": [1, top], "nice": False},
            {"values": [10**power for power in range(len(str(top)))]},
        )
    else:
        title = "Probability p of being examined"
        y = along(alt.Y, title, {"domain": [0, 1], "nice": False}, {"format": ".1f"})
    curve = rows_of("curve")
    once = curve.transform_filter(alt.datum.rank == 1)
    power = "pow(datum.rank, what_if)" if quantity == "weight" else "pow(1/datum.rank, what_if)"
    live = curve.transform_calculate(hypothetical=power)
    color = METHOD_STYLES["propensity"].color
    users: Mark = {"color": ink.quiet, "strokeWidth": 5}
    learner: Mark = {"color": color, "strokeWidth": 2.5, "strokeDash": [7, 4]}
    supposed: Mark = {"color": WHAT_IF_COLOR, "strokeWidth": 3}
    whole: Mark = {"strokeDash": [1, 0]}
    tooltip = tooltips(
        ("rank:Q", "Rank"), ("users:Q", "Users", ".3f"), ("learner:Q", "Learner assumes", ".3f")
    )
    first = "min(0, width - 262)"  # from the left, so that a phone has all three
    layers = [
        curve.mark_line(**users).encode(x=x, y=y("users")),
        curve.mark_line(**learner).encode(x=x, y=y("learner")),
        curve.mark_point(color=color, filled=True, size=45).encode(
            x=x, y=y("learner"), tooltip=tooltip
        ),
        live.mark_line(**supposed).encode(x=x, y=y("hypothetical")),
        *key_line(once, "users", ink, left=first, y=-20, **users, **whole),
        *key_line(once, "learner", ink, left=f"{first} + 84", y=-20, **learner),
        *key_line(once, "what if", ink, left=f"{first} + 178", y=-20, **supposed, **whole),
        once.transform_calculate(
            text="'what if: weight of a click|' + format(pow(10, what_if), ',.1f')"
            " + ' at rank 10, '"
            f" + format(pow({last_rank}, what_if), ',.1f') + ' at rank {last_rank}'"
        )
        .mark_text(align="left", lineBreak="|", color=ink.text)
        .encode(x=alt.value(0), y=alt.value(-62), text="text:N"),
    ]
    return bare_spec(layers, ink, [what_if])


def warm_up() -> None:
    """Build a chart, so that the first visitor need not wait for the libraries to load."""
    curves = pd.DataFrame({"rank": [1, 2], "users": [1.0, 0.5], "learner": [1.0, 0.5]})
    examination_curves(
        curves, quantity="probability", alt_text="", title="", high_eta=2.0, eta_step=0.05
    )


# Marks beyond the ends of a logarithmic axis.

BEYOND = {"zero": "triangle-down", "below": "triangle-down", "above": "triangle-up"}
"""Shapes of what stands at the end of an axis: none at all, a value below it, one above it."""


def _stands(value: pd.Series[float], low: float, high: float) -> NDArray[np.str_]:
    """Where each value is drawn: "inside", or a key of ``BEYOND``."""
    beyond = [value == 0, value < low, value > high]
    return np.select(beyond, list(BEYOND), "inside")


def _run_out(value: pd.Series[float], low: float, high: float) -> pd.Series[float]:
    """Heights of a line that runs out of the picture instead of along its edge."""
    return value.clip(low / 1000, 1000 * high)


# Clicks and relevance, each relative to rank 1.

CLICKS_ENDS = {"low": 1e-3, "high": 1.0, "least": 1e-5, "most": 10.0}
"""Of the axis: low and high where everything lies between them, least and most at the utmost."""


def clicks_and_relevance(
    click_rates: Sequence[float], relevance: Sequence[float], *, theme: Theme = "light"
) -> Figure:
    """Click rate and share of relevant documents by rank, relative to rank 1, on a log scale.

    ``click_rates`` and ``relevance`` [ranks], from rank 1: clicks per presentation at each rank,
    and the share of the documents shown there that are relevant. Raises InputError if either is 0
    at rank 1.
    """
    if not click_rates or len(click_rates) != len(relevance) or not click_rates[0] * relevance[0]:
        raise InputError(
            "A picture of clicks by rank needs a click rate and a share of relevant documents for "
            "every rank, and both must be above 0 at rank 1."
        )
    rows = pd.DataFrame(
        {
            "rank": range(1, len(click_rates) + 1),
            "clicks": [rate / click_rates[0] for rate in click_rates],
            "relevance": [share / relevance[0] for share in relevance],
            "click_rate": click_rates,
            "relevant_share": relevance,
            "part": "rank",
        }
    )
    low, high = log_range(rows[["clicks", "relevance"]], **CLICKS_ENDS)
    for name in ("relevance", "clicks"):
        rows[f"{name}_y"] = _run_out(rows[name], low, high)
    rows["mark_y"] = rows["clicks"].clip(low, high)
    rows["stands"] = _stands(rows["clicks"], low, high)
    last = rows.iloc[-1]
    beyond = "zero" in set(rows["stands"])
    spec = with_domains(_clicks(len(rows), low, high, beyond, theme), x=(0.5, len(rows) + 0.5))
    return Figure(
        "clicks-by-rank",
        "Clicks and relevance by rank",
        f"Rank {len(rows)} has {last['relevance']:.2f} times the relevance of rank 1, but only "
        f"{last['clicks']:.3g} times its clicks.",
        rows,
        spec,
        height=320,
    )


@lru_cache(maxsize=16)
def _clicks(
    last: int, low: float, high: float, without_click: bool, theme: Theme
) -> dict[str, Any]:
    ink, naive = INKS[theme], METHOD_STYLES["naive"]
    step = 1 if last <= 8 else 4 if last > 12 else 2
    ticks = [1, *range(max(2, step), last + 1, step)]
    x = rank_axis("rank", "Rank at which a document was shown", ticks)
    y = along(
        alt.Y,
        "Relative to rank 1 (log scale)",
        {"type": "log", "domain": [low, 1.5 * high], "nice": False},
        {
            "values": [level for level in log_levels(low, high) if f"{level:e}"[0] == "1"],
            "format": "~g",
        },
    )
    shape = alt.Shape(
        "stands:N",
        legend=None,
        scale=alt.Scale(domain=["inside", *BEYOND], range=[naive.shape, *BEYOND.values()]),
    )
    rank = rows_of("rank")
    once = rank.transform_filter(alt.datum.rank == 1)
    relevant: Mark = {"color": ink.quiet, "strokeWidth": 6}
    point: Mark = {"color": naive.color, "shape": naive.shape, "filled": True, "size": 90}
    hollow: Mark = {"color": naive.color, "shape": BEYOND["zero"], "size": 90, "opacity": 1}
    layers = [
        rank.mark_line(**relevant, clip=True).encode(x=x, y=y("relevance_y")),
        rank.mark_line(
            color=naive.color, strokeDash=list(naive.dash), strokeWidth=2.5, clip=True
        ).encode(x=x, y=y("clicks_y")),
        rank.mark_point(color=naive.color, fill=naive.color, size=80, opacity=1).encode(
            x=x,
            y=y("mark_y"),
            tooltip=tooltips(
                ("rank:Q", "Rank"),
                ("click_rate:Q", "Clicks per presentation", ".3~g"),
                ("relevant_share:Q", "Share relevant", ".2~%"),
            ),
            shape=shape,
            fillOpacity=alt.condition("datum.stands == 'zero'", alt.value(0), alt.value(1)),
        ),
        *key_line(once, "relevant documents", ink, left=0, y=-16, **relevant),
        *key_point(once, "clicks", ink, at=200, y=-16, **point),
    ]
    if without_click:
        layers += key_point(once, "none", ink, at=270, y=-16, **hollow)
    return bare_spec(layers, ink)


# Estimated propensities.

PROPENSITY_ENDS = {"low": 0.01, "high": 3.0, "least": 1e-4, "most": 30.0}
"""Of the axis: low and high where everything lies between them, least and most at the utmost."""

_LEAST_FOR_INTERVALS = 1e-3

ESTIMATE = METHOD_STYLES["propensity"].color
OTHER = METHOD_STYLES["clipped"].color
LIMIT = METHOD_STYLES["naive"].color

_LONGEST_NAME = 16


def curve_figure(
    found: MethodResult,
    truth: Sequence[float],
    *,
    limit: Sequence[float] | None = None,
    other: MethodResult | None = None,
    theme: Theme = "light",
) -> Figure:
    """One method's estimate, together with the truth [ranks] and another method's estimate.

    Raises InputError if the method found nothing.
    """
    if found.estimate is None or found.curve is None:
        raise InputError(f"There is no curve to draw: {found.reason}", "no_curve")
    label = PROPENSITY_METHODS[found.key].label
    observed = found.estimate.observed
    last = _last_used(found.estimate, found.curve)
    return propensity_curves(
        found.estimate,
        curve=found.curve,
        truth=truth,
        limit=limit,
        other=None if other is None else other.estimate,
        other_label="" if other is None else PROPENSITY_METHODS[other.key].label,
        alt_text=(
            f"{label}: {part_of(len(observed), len(truth), 'rank')} an estimate; rank {last.rank} "
            f"is examined {last.value:.3g} times as often as rank {found.estimate.reference} "
            f"(true ratio {truth[last.rank - 1]:.3g})."
        ),
        title=f"Examination by rank: {label.lower()}",
        theme=theme,
    )


def live_curve_figure(result: LiveResult, *, theme: Theme = "light") -> Figure:
    """The curve from the live experiment's swaps, with the true curve."""
    last = _last_used(result.estimate, result.curve)
    reference = result.true_curve[result.estimate.reference - 1]
    return propensity_curves(
        result.estimate,
        curve=result.curve,
        truth=[value / reference for value in result.true_curve],
        alt_text=(
            f"From {result.clicks['swaps']:,} clicks on the swap days: rank {last.rank} is "
            f"examined {last.value:.3g} times as often as rank {result.estimate.reference}; the "
            f"smoothed curve used for training has {result.curve.values[last.rank - 1]:.3g}."
        ),
        title="Propensities from the swap days",
        theme=theme,
    )


def _last_used(estimate: PropensityEstimate, curve: AssembledCurve) -> RankEstimate:
    """The lowest rank that shapes the curve, or the lowest estimate where none does."""
    observed = estimate.observed
    used = [point for point in observed if point.rank in curve.used[1:]]
    return (used or observed)[-1]


def estimate_figure(found: LogEstimate, *, theme: Theme = "light") -> Figure:
    """Examination by rank as estimated from a log, with intervals, and the resulting curve."""
    label = PROPENSITY_METHODS[found.estimate.method].label
    observed = found.estimate.observed
    last = found.curve.used[-1]
    scale = found.curve.values[found.estimate.reference - 1]
    return propensity_curves(
        found.estimate,
        curve=found.curve,
        alt_text=(
            f"{label}: {part_of(len(observed), len(found.curve.values), 'rank')} an estimate. "
            f"{found.curve.sentence} The curve at rank {last} is "
            f"{found.curve.values[last - 1] / scale:.3g} times its value at rank "
            f"{found.estimate.reference}."
        ),
        title=f"Examination by rank: {label.lower()}",
        theme=theme,
    )


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

    ``curve`` is relative to rank 1; here it is scaled to the reference rank, and dashed where it is
    a guess. ``truth`` and ``limit`` [ranks], if known, are relative to the reference: the true
    examination, and the limit of the estimate with infinite traffic. ``other`` is a second
    estimate, for comparison. Missing ranks have no mark; estimates that the curve does not use are
    hollow; a triangle at the end of the axis marks a value beyond it, and a hollow triangle marks a
    rank without clicks.
    """
    scale = curve.values[estimate.reference - 1]
    parts = [_points(estimate, "estimate", 0.0).assign(used=True)]
    parts[0]["used"] = parts[0]["rank"].isin(curve.used)
    parts += _curve_lines(curve, scale)
    if other is not None:
        parts.append(_points(other, "other", 0.3).assign(used=True))
    if truth is not None:
        parts.append(_line(truth, "truth"))
    if limit is not None:
        parts.append(_line(limit, "limit"))
    rows = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    low, high = _ends(rows)
    _place(rows, low, high)
    keys = _keys(rows, other_label)
    last = len(curve.values)
    kinds = frozenset(zip(rows["part"], rows["stands"], strict=True))
    spec = _propensities(keys, kinds, last, (low, high), estimate.reference, theme)
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
    return log_range(seen, **PROPENSITY_ENDS)


def _place(rows: pd.DataFrame, low: float, high: float) -> None:
    """Add where each row is drawn, and how its value is told."""
    value, drawn = rows["value"], rows["part"].isin(["estimate", "other"])
    rows["stands"] = _stands(value, low, high)
    rows["y"] = _run_out(value, low, high).where(~drawn, value.clip(low, high))
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
            ("infinite traffic", LIMIT, "dash", "limit" in parts),
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
def _propensities(
    keys: tuple[tuple[str, str, str], ...],
    kinds: frozenset[tuple[str, str]],
    ranks: int,
    ends: tuple[float, float],
    reference: int,
    theme: Theme,
) -> dict[str, Any]:
    ink = INKS[theme]
    step = next(s for s in (1, 2, 4, 10, 20, 50, 100, 1000) if ranks <= 6 * s or s == 1000)
    levels = log_levels(*ends)
    x = rank_axis("place", "Rank r", [1, *range(1 + step, ranks + 1, step)])
    y_of = along(
        alt.Y,
        f"Ratio to rank {reference} (log)",
        {"type": "log", "domain": list(ends), "nice": False},
        {"values": levels, "tickCount": len(levels), "format": "~g"},
    )
    y = y_of("y")
    tooltip = tooltips(
        ("rank:Q", "Rank"), ("told:N", "Ratio"), *((*end, ".3~g") for end in INTERVAL),
        ("clicks:Q", "Clicks", ","),
    )  # fmt: skip

    def marks(part: str, color: str, shape: str) -> list[alt.Chart]:
        """Bars and points. Shapes have no scale: layers would share it, and circles be squares."""
        known = rows_of(part).transform_filter("isValid(datum.low)")
        cut = rows_of(part).transform_filter("datum.cut")
        found = [
            known.mark_rule(color=color, strokeWidth=2).encode(x=x, y=y_of("low_y"), y2="high_y:Q"),
            cut.mark_point(color=color, shape="triangle-down", size=25, opacity=1).encode(
                x=x, y=y_of("low_y")
            ),
        ]
        look: Mark = {"color": color, "fill": color, "size": 70, "opacity": 1, "strokeWidth": 2}
        for stands, mark in {"inside": shape, **BEYOND}.items():
            if (part, stands) not in kinds:
                continue
            filled: Any = alt.value(0 if stands == "zero" else 1)
            if stands == "inside":
                filled = alt.condition("datum.used", filled, alt.value(0))
            there = rows_of(part).transform_filter(alt.datum.stands == stands)
            found.append(
                there.mark_point(**look, shape=mark).encode(
                    x=x, y=y, tooltip=tooltip, fillOpacity=filled
                )
            )
        return found

    lines: dict[str, Mark] = {
        "truth": {"color": ink.quiet, "strokeWidth": 6, "opacity": 0.7},
        "limit": {"color": LIMIT, "strokeWidth": 2.5, "strokeDash": [6, 4]},
        "curve": {"color": ESTIMATE, "strokeWidth": 2},
        "guess": {"color": ESTIMATE, "strokeWidth": 2, "strokeDash": [2, 4]},
    }
    layers = [
        rows_of(part).mark_line(clip=True, **mark).encode(x=x, y=y) for part, mark in lines.items()
    ]
    # A layer of points without a row would be read out as a picture of nothing.
    for part, color, shape in (("other", OTHER, "square"), ("estimate", ESTIMATE, "circle")):
        if any(name == part for name, _ in kinds):
            layers += marks(part, color, shape)
    return bare_spec([*layers, *_key(keys, ink)], ink)


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
        left, y = 158 * (number % columns), 2 - 24 * (lines - number // columns)
        paint = ink.quiet if color == "quiet" else color
        if kind in _SHAPES:
            fill = "transparent" if "hollow" in kind else paint
            look: Mark = {"color": paint, "fill": fill, "shape": _SHAPES[kind], "size": 80}
            marks += key_point(
                once, name, ink, at=left + 12, y=y, room=19, **look, opacity=1, strokeWidth=2
            )
        else:
            width, dash = _DASHES[kind]
            marks += key_line(
                once, name, ink, left=left, y=y, length=24,
                color=paint, strokeWidth=width, strokeDash=dash,
            )  # fmt: skip
    return marks


# A fitted relevance: which ranks it predicts.

REJECTED, ON_RED = "#C62828", "#FEFEFE"
"""Fill of ranks where a fit is rejected, and text on it: on a dark page Streamlit turns pure white
into the background's colour."""

RANK_GROUPS = (
    *(str(a) if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(FIRST_RANKS)),
    f"{FIRST_RANKS[-1]}+",
)
"""What the groups of ranks of a test are called."""

STRIP, STRIP_WITH_NAME = 40, 66
"""Pixels of a strip, without and with the name of its fit above."""


def rank_test_figure(tests: Mapping[str, RankTest], *, theme: Theme = "light") -> Figure:
    """Observed over predicted clicks by rank, as a strip for each fit of relevance.

    Groups of ranks where the test rejects the fit are red and have a cross. tests: one for each
    fit, by the name of the fit; if there are several, each strip has its name above it.
    """
    named = len(tests) > 1
    cells: list[dict[str, Any]] = [
        {
            "part": "rejected" if group in test.rejected else "kept",
            "fit": name,
            "ranks": RANK_GROUPS[group],
            "top": row + (1 - STRIP / STRIP_WITH_NAME) * named,
            "bottom": row + 1.0,
            "share": math.nan if share is None else share,
            "observed": float(test.observed[group]),
            "predicted": test.predicted[group],
            "text": _share_text(share, rejected=group in test.rejected),
        }
        for row, (name, test) in enumerate(tests.items())
        for group, share in enumerate(test.shares)
    ]
    names: list[dict[str, Any]] = [
        {"part": "name", "fit": name, "top": row, "bottom": row + 1 - STRIP / STRIP_WITH_NAME}
        for row, name in enumerate(tests)
        if named
    ]
    data: Columns = {
        column: [one.get(column, "" if column in ("ranks", "text") else math.nan) for one in
                 (*cells, *names)]
        for column in cells[0]
    }  # fmt: skip
    told = " ".join(_rank_test_words(name, test, named=named) for name, test in tests.items())
    height = (STRIP_WITH_NAME if named else STRIP) * len(tests) + 60
    return Figure(
        "clicks-by-rank", "Observed over predicted clicks by rank",
        f"Observed over predicted clicks by rank. {told}",
        data, _rank_test(len(tests), named, theme), height=height,
    )  # fmt: skip


def _share_text(share: float | None, *, rejected: bool) -> str:
    if share is None:
        return "–"
    return f"{'✕ ' if rejected else ''}{share:.2f}"


def _rank_test_words(name: str, test: RankTest, *, named: bool) -> str:
    shares = (
        f"{ranks}: {_share_text(share, rejected=False)}"
        f"{' (rejected)' if group in test.rejected else ''}"
        for group, (ranks, share) in enumerate(zip(RANK_GROUPS, test.shares, strict=True))
    )
    told = f"{test.finding.sentence} Ranks {'; '.join(shares)}."
    return f"{name}: {told}" if named else told


@lru_cache(maxsize=16)
def _rank_test(strips: int, named: bool, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    x = alt.X(
        "ranks:O",
        title="Rank (in each cell: observed / predicted clicks)",
        scale=alt.Scale(domain=list(RANK_GROUPS), paddingInner=0.03, paddingOuter=0.01),
        axis=alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False),
    )
    down = alt.Scale(domain=[0, strips], reverse=True, nice=False, zero=False)
    top, bottom, middle = (
        alt.Y(f"{field}:Q", title=None, scale=down, axis=None)
        for field in ("top", "bottom", "middle")
    )
    tooltip = tooltips(
        ("ranks:N", "Ranks"), ("observed:Q", "Observed clicks", ",.0f"),
        ("predicted:Q", "Predicted clicks", ",.0f"), ("text:N", "Observed / predicted"),
    )  # fmt: skip
    looks: dict[str, tuple[Mark, Mark]] = {
        "kept": (
            {"color": ink.quiet, "fillOpacity": 0.15, "stroke": ink.quiet},
            {"color": ink.text},
        ),
        "rejected": (
            {"color": REJECTED, "stroke": ink.text, "strokeWidth": 2},
            {"color": ON_RED, "fontWeight": "bold"},
        ),
    }
    layers = []
    for part, (cell, text) in looks.items():
        rows = rows_of(part).transform_calculate(middle="(datum.top + datum.bottom) / 2")
        layers += [
            rows.mark_rect(**cell).encode(x=x, y=top, y2="bottom:Q", tooltip=tooltip),
            rows.mark_text(baseline="middle", **text).encode(x=x, y=middle, text="text:N"),
        ]
    if named:
        above = rows_of("name").mark_text(align="left", baseline="bottom", dy=-4, color=ink.text)
        layers.append(above.encode(x=alt.value(2), y=bottom, text="fit:N"))
    return bare_spec(layers, ink)
