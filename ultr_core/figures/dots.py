"""Values with their 95% intervals, one named row each: rankers, estimates, win shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from ultr_core.errors import InputError, named
from ultr_core.figures.axes import stable_range
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.layers import (
    INTERVAL,
    UNBROKEN,
    along,
    bare_spec,
    by_method,
    readable_text,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.style import FONT_SIZE, INKS, METHOD_STYLES, NEUTRAL_STYLES, Ink, Theme
from ultr_core.lab import METHODS, Comparison
from ultr_core.lab.live import PAPER_RESULTS, LiveResult
from ultr_core.lab.methods import method_of
from ultr_core.propensity import ESTIMATORS
from ultr_core.risk import Estimate, plus_minus
from ultr_core.risk.sign_test import SignTest, sign_test
from ultr_core.words import with_minus

if TYPE_CHECKING:
    from ultr_core.own_data.deployment import Gate
    from ultr_core.own_data.evaluation import Evaluation, RiskReport

RANKER_COLUMNS = ("method", "label", "risk", "low", "high")
COLUMNS = ("method", "label", "value", "low", "high", "text")
ROW_HEIGHT, AXIS_HEIGHT = 56, 60
DASH = 24  # pixels of a row's height: names are above it
PIN_SIZE = 340  # square pixels: room for the number of the pin inside its hollow mark
NO_PINS: Mapping[str, Any] = MappingProxyType({})


def comparison_figure(
    comparison: Comparison,
    *,
    pinned: Mapping[str, Comparison] = NO_PINS,
    complete: bool = False,
    theme: Theme = "light",
) -> Figure:
    """Test risks of all rankers with their intervals over draws.

    Unless the comparison is ``complete``, rows are reserved for rankers still being trained.
    ``pinned`` runs, keyed by a sign, are drawn as hollow marks next to those of ``comparison``.
    """
    return trained_rankers(
        _risks(comparison),
        pinned={sign: _risks(run) for sign, run in pinned.items()},
        labels=[
            method.label
            for key, method in METHODS.items()
            if key in comparison.rankers or not (complete or method.asked)
        ],
        alt_text=comparison.sentence or "Test risks of the rankers.",
        title="Test risk of trained rankers",
        theme=theme,
    )


def _risks(comparison: Comparison) -> Columns:
    summaries = comparison.rankers.values()
    ends = [summary.risk.ends for summary in summaries]
    return {
        "method": list(comparison.rankers),
        "label": [summary.label for summary in summaries],
        "risk": [summary.risk.value for summary in summaries],
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }


def trained_rankers(
    rankers: pd.DataFrame | Columns,
    *,
    pinned: Mapping[str, Columns] = NO_PINS,
    labels: Sequence[str],
    alt_text: str,
    title: str,
    theme: Theme = "light",
) -> Figure:
    """Dot plot of test risks.

    ``rankers`` has the columns :data:`RANKER_COLUMNS`, one row per method: test risk and the ends
    of its 95% interval over draws of the click log, NaN where there is none. ``labels`` names the
    rows of the picture from top to bottom, including those whose ranker is not ready. Production
    and skyline mark the gap that learning from clicks can close; their levels are lines across the
    picture. ``pinned`` has the same columns for other runs.
    """
    data = {name: list(rankers[name]) for name in RANKER_COLUMNS}
    ranges = (data["risk"], data["low"], data["high"])
    data["part"] = ["ranker"] * len(data["label"])
    data["name"] = [
        f"{label}  {plus_minus(risk, (high - low) / 2)}"
        for label, risk, low, high in zip(data["label"], *ranges, strict=True)
    ]
    for sign, run in pinned.items():
        for column in RANKER_COLUMNS:
            data[column] += list(run[column])
        data["part"] += ["pin"] * len(run["label"])
        data["name"] += [sign] * len(run["label"])
    values = [value for name in ("risk", "low", "high") for value in data[name]]
    spec = with_domains(_rankers(tuple(labels), bool(pinned), theme), x=stable_range(values))
    height = ROW_HEIGHT * len(labels) + AXIS_HEIGHT
    return Figure("trained-rankers", title, alt_text, data, spec, height=height)


@lru_cache(maxsize=16)
def _rankers(order: tuple[str, ...], pins: bool, theme: Theme) -> dict[str, Any]:
    ink, color = INKS[theme], by_method(alt.Color, "color")
    x_of = along(
        alt.X, "Test risk (lower is better)", {"zero": False, "nice": False, "padding": 10}
    )
    ranker = rows_of("ranker")
    levels = ranker.transform_filter(
        alt.FieldOneOfPredicate(field="method", oneOf=["production", "skyline"])
    )
    level = levels.mark_rule(strokeDash=[4, 4], strokeWidth=2, opacity=0.8)
    tooltip = tooltips(("label:N", "Ranker"), ("risk:Q", "Test risk"), *INTERVAL, format=".3f")
    dots = _dots(ranker, x_of, "risk", order, (), tooltip, ink)
    layers = [level.encode(x=x_of("risk"), color=color), *dots]
    if pins:
        ghost = rows_of("pin").encode(
            x=x_of("risk"), y=alt.Y("label:N", title=None, scale=_rows(order), axis=None)
        )
        tooltip = [alt.Tooltip("name:N", title="Pin"), *tooltip]
        shape = by_method(alt.Shape, "shape")
        layers.append(
            ghost.mark_point(filled=False, size=PIN_SIZE, strokeWidth=2, opacity=0.75).encode(
                color=color, shape=shape, tooltip=tooltip
            )
        )
        layers += readable_text(ghost, ink, "name:N", halo=3, align="center", dy=0)
    return bare_spec(layers, ink)


def _dots(
    rows: alt.Chart,
    x_of: Callable[[str], alt.X],
    value: str,
    order: tuple[str, ...],
    others: tuple[str, ...],
    tooltip: list[alt.Tooltip],
    ink: Ink,
) -> list[alt.Chart]:
    """The marks of each row: its name above, its interval, and a point at its ``value``.

    others: keys of ``NEUTRAL_STYLES`` that the rows have besides methods. The first layer is the
    halo of the names, which belongs over levels and below marks.
    """
    styles = {**METHOD_STYLES, **{key: NEUTRAL_STYLES[key] for key in others}}
    color, shape = by_method(alt.Color, "color", styles), by_method(alt.Shape, "shape", styles)
    y = alt.Y("label:N", title=None, scale=_rows(order), axis=None)
    halo, words = readable_text(
        rows.encode(x=alt.value(2), y=y), ink, "name:N", halo=UNBROKEN, dy=-20
    )
    return [
        halo,
        rows.mark_rule(strokeWidth=4).encode(x=x_of("low"), x2="high:Q", y=y, color=color),
        rows.mark_point(filled=True, size=190, opacity=1).encode(
            x=x_of(value), y=y, color=color, shape=shape, tooltip=tooltip
        ),
        words,
    ]


def _rows(order: tuple[str, ...]) -> alt.Scale:
    return alt.Scale(type="point", domain=list(order), padding=0.65)  # for the name of the first


def interval_dots(
    rows: pd.DataFrame,
    *,
    name: str,
    title: str,
    alt_text: str,
    x_title: str,
    number: str = ",f",
    level: float | None = None,
    include: tuple[float, ...] = (),
    theme: Theme = "light",
) -> Figure:
    """Dot plot with 95% intervals.

    ``rows`` has the columns :data:`COLUMNS`, one row per dot, top to bottom: a key of
    ``METHOD_STYLES`` or ``NEUTRAL_STYLES``, a name, the value with its interval and the value in
    words. ``level`` is drawn as a dash beside each row's mark, so that it crosses no name; the
    axis includes it and ``include``.
    ``number`` is the d3 format of the axis.
    """
    table = rows.loc[:, list(COLUMNS)].assign(part="dot")
    table["name"] = [
        f"{label}: {text}" for label, text in zip(table["label"], table["text"], strict=True)
    ]
    wanted = include if level is None else (*include, level)
    ends = stable_range(table[["value", "low", "high"]].to_numpy(dtype=float), include=wanted)
    if level is not None:
        line = pd.DataFrame({"part": "level", "value": level, "label": rows["label"]})
        table = pd.concat([table, line], ignore_index=True)
    others = tuple(key for key in NEUTRAL_STYLES if key in set(rows["method"]))
    spec = with_domains(_values(tuple(rows["label"]), others, x_title, number, theme), x=ends)
    height = ROW_HEIGHT * len(rows) + AXIS_HEIGHT
    return Figure(name, title, alt_text, table, spec, height=height)


@lru_cache(maxsize=32)
def _values(
    order: tuple[str, ...], others: tuple[str, ...], x_title: str, number: str, theme: Theme
) -> dict[str, Any]:
    ink = INKS[theme]
    scale = {"zero": False, "nice": False, "padding": 10, "domain": [0, 1]}
    lines = x_title.split("\n")
    # A phone has the whole title, smaller: a letter is less than 0.45 times as wide as it is large.
    smaller = alt.ExprRef(f"min({FONT_SIZE}, width / {0.45 * max(map(len, lines)):.3g})")
    titled = {"format": number, "titleFontSize": smaller}
    x_of = along(alt.X, lines if len(lines) > 1 else x_title, scale, titled)
    level = rows_of("level").mark_tick(thickness=3, size=DASH, opacity=1, color=ink.quiet)
    y = alt.Y("label:N", title=None, scale=_rows(order), axis=None)
    tooltip = tooltips(("label:N", "Row"), ("value:Q", "Value"), *INTERVAL, format=".4f")
    dots = _dots(rows_of("dot"), x_of, "value", order, others, tooltip, ink)
    return bare_spec([level.encode(x=x_of("value"), y=y), *dots], ink)


_NO_ENDS = (math.nan, math.nan)


def _row(
    method: str, label: str, value: float, low: float, high: float, text: str
) -> dict[str, Any]:
    return dict(zip(COLUMNS, (method, label, value, low, high, text), strict=True))


def curve_risk_figure(
    risks: Mapping[str, tuple[str, str, float]], *, theme: Theme = "light"
) -> Figure:
    """Test risk of rankers trained with different propensities, each a (label, style, risk)."""
    rows = [
        _row(style, label, risk, *_NO_ENDS, f"{risk:.2f}") for label, style, risk in risks.values()
    ]
    best = min(risks.values(), key=lambda entry: entry[2])
    words = "; ".join(f"{label} {risk:.2f}" for label, _, risk in risks.values())
    return interval_dots(
        pd.DataFrame(rows),
        name="curve-risks",
        title="Test risk by the propensities used in training",
        alt_text=f"Test risk, lower is better: {words}. Lowest: {best[0]}.",
        x_title="Test risk (lower is better)",
        theme=theme,
    )


def win_share_figure(result: LiveResult, *, theme: Theme = "light") -> Figure:
    """Win shares, with exact intervals, of contests with decided queries: here and in the paper."""
    rows = [
        _wins(contest.opponent, f"Here, against {contest.label}", contest.test)
        for contest in result.contests
        if contest.test.decided
    ]
    rows += [
        _wins(method, f"The paper, against the {method} ranker", sign_test(*counts))
        for method, counts in PAPER_RESULTS.items()
    ]
    return interval_dots(
        pd.DataFrame(rows),
        name="win-shares",
        title="Win share of the propensity-weighted ranker",
        alt_text=result.sentence,
        x_title="Win share (grey ticks: no difference)",
        number=".0%",
        level=0.5,
        include=(0.45, 0.75),
        theme=theme,
    )


def prediction_figure(
    guess: float, truth: float, *, ends: tuple[float, float], unit: str, theme: Theme = "light"
) -> Figure:
    """A reader's prediction and the result, on the scale that was offered."""
    rows = [
        _row(style, label, value, *_NO_ENDS, f"{value:.3g}")
        for style, label, value in zip(
            NEUTRAL_STYLES, ("Your prediction", "What happens"), (guess, truth), strict=False
        )
    ]
    return interval_dots(
        pd.DataFrame(rows),
        name="prediction",
        title="Your prediction and what happens",
        alt_text=f"You predicted {guess:.3g}; the result is {truth:.3g}.",
        x_title=unit,
        include=ends,
        theme=theme,
    )


def _wins(method: str, label: str, test: SignTest) -> dict[str, Any]:
    return _row(method, label, test.win_share, test.low, test.high, f"{test.win_share:.1%}")


def _risk(report: RiskReport, risk: Estimate) -> dict[str, Any]:
    """One estimate; without an interval its value alone, and that is said."""
    without = ", too few clicks for an interval" if risk.no_interval else ""
    style = _style(report.key)
    return _row(style, report.label, risk.value, *risk.ends, f"{risk.value:.2f}{without}")


def evidence_figure(found: Evaluation, *, theme: Theme = "light") -> Figure:
    """Estimated risks on one scale with 95% intervals, and the true risk as a line.

    Normalised estimates are left out, because they are mean ranks of clicks, which are on another
    scale. Raises InputError if there is no estimate to draw.
    """
    known = [(report, report.estimate) for report in found.risks if report.estimate is not None]
    if not known:
        raise InputError("There is no estimate to draw.", "no_estimate")
    rows = [_risk(report, risk) for report, risk in known]
    level = None if found.true is None else found.true.estimated
    told = "; ".join(
        f"{report.label} {risk.value:.2f} ({risk.interval_text(2)})" for report, risk in known
    )
    truth = "" if level is None else f" True risk from the grades: {level:.2f}."
    return interval_dots(
        pd.DataFrame(rows),
        name="evidence",
        title=f"Estimated risk of {named(found.name)}",
        alt_text=f"Estimated risk, lower is better: {told}.{truth}",
        x_title="Risk, lower is better"
        + ("" if level is None else " (grey ticks: from the grades)"),
        level=level,
        theme=theme,
    )


_COMPARED = (1, 5, 20)


def gate_figure(found: Gate, *, theme: Theme = "light") -> Figure:
    """The estimated difference in risk and the bound above it, by the number of candidates.

    The numbers are ``_COMPARED`` and that of the gate, which passes where the line ends below 0.
    Raises InputError for a gate that has no bound.
    """
    estimate = found.difference.estimate
    if estimate is None or found.bound is None:
        raise InputError("The gate has no bound to draw.", "no_estimate")
    rows, told = [], []
    for candidates in sorted({*_COMPARED, found.candidates}):
        here = replace(found, candidates=candidates)
        bound = float(here.bound or 0.0)
        label = "Only candidate" if candidates == 1 else f"Best of {candidates:,}"
        answer = "passes" if here.deploy else "does not pass"
        text = with_minus(f"bound {bound:.2f}, {answer}")
        style = f"neutral-{int(candidates == found.candidates)}"
        rows.append(_row(style, label, estimate.value, estimate.value, bound, text))
        told.append(f"{label}: {text}")
    return interval_dots(
        pd.DataFrame(rows),
        name="gate",
        title="The gate, by the number of candidates compared",
        alt_text=with_minus(
            f"Estimated difference in risk {estimate.value:.2f}. {'; '.join(told)}."
        ),
        x_title="Risk minus that of what users saw,\nup to its bound (grey ticks: 0)",
        number=".2~f",
        level=0.0,
        theme=theme,
    )


def _style(estimator: str) -> str:
    """The style of an estimator: that of the method it trains, or a neutral one of its own."""
    own = {key: method_of(one).key for key, one in ESTIMATORS.items()}
    if own[estimator] in METHOD_STYLES:
        return own[estimator]
    others = [key for key, method in own.items() if method not in METHOD_STYLES]
    return list(NEUTRAL_STYLES)[others.index(estimator) % len(NEUTRAL_STYLES)]
