"""What breaks weighting, as users by rank, and what repairs it, as test risks on one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import NDArray

from ultr_core.figures.axes import stable_range
from ultr_core.figures.dots import AXIS_HEIGHT
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.layers import (
    INTERVAL,
    UNBROKEN,
    along,
    bare_spec,
    by_method,
    key_line,
    readable_text,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.style import INKS, METHOD_STYLES, STUDY_STYLES, Ink, Theme
from ultr_core.lab.logs import assumed_curve, click_model
from ultr_core.proofs.towers import CURVED, LOG_EXAMINATION, LOGGERS, SIZE, TowerCase
from ultr_core.risk import Estimate, plus_minus
from ultr_core.settings import Settings
from ultr_core.studies import (
    FIXED_METHODS,
    STUDY_METHODS,
    Point,
    Study,
    StudyResult,
    repair_headline,
)
from ultr_core.studies.cells import SKYLINE_OF_TREES, learner_label, settings_of
from ultr_core.users import LeavingUsers

FloatArray = NDArray[np.float64]

ROW, CLOSE_ROW, FEW_ROWS = 42, 36, 5
"""Pixels of a row, and with more than a few rows, so that the enumeration is on the first
screen."""
_WIDE = 450
"""Pixels from which the names of the rules have their values."""
CROWDED = 0.55
"""Up to this share of the axis the names of the rules have no room side by side."""
RULES = {"production": "Production", "skyline": "Skyline", SKYLINE_OF_TREES.key: "Skyline of trees"}
"""Rankers that do not learn from clicks, as lines through all rows."""
SKYLINES = ("skyline", SKYLINE_OF_TREES.key)
NAME_HEIGHT, NAME_ROW = -15, 18
"""Pixels: where the lowest names of the rules are, and from one to the next."""
_WEIGHTS = {"naive": "naive", "ips": "weighted"}
"""By estimator: how a row of a learner names its marks."""


def repair_figure(result: StudyResult, point: Point, *, theme: Theme = "light") -> Figure:
    """Test risk of each ranker in a repair study at one number of clicks, with intervals over logs.

    Rankers not trained on clicks are drawn as lines through all rows; rows of repairs are labelled
    as such. Where a study compares learners, each has a row, with a mark for every weighting.
    """
    study = result.plan.study
    trained = [key for key in study.methods if key not in FIXED_METHODS]
    row_of = {key: _row_label(study, key) for key in trained}
    order, rows = tuple(dict.fromkeys(row_of.values())), []
    for label in order:
        found = {
            key: risk
            for key in trained
            if row_of[key] == label and (risk := result.estimate(key, point)) is not None
        }
        for key, risk in found.items():
            low, high = risk.ends
            ranker = STUDY_METHODS[key].label
            rows.append(
                _row("ranker", key, label, ranker=ranker, value=risk.value, low=low, high=high)
            )
        if found:
            said = ", ".join(_said(study, key, risk) for key, risk in found.items())
            short = ", ".join(_said(study, key, risk, short=True) for key, risk in found.items())
            rows.append(_row("name", "", label, name=f"{label}: {said}", short=f"{label}: {short}"))
    for key, name in RULES.items():
        level = result.level(key) if key in study.methods else None
        if level is not None:
            value = f"{name}: {level:.2f}"
            rows.append(_row("rule", key, name, value=level, name=value, short=name))
    values = [row[end] for row in rows for end in ("value", "low", "high")]
    data: Columns = {name: [row[name] for row in rows] for name in _row("", "", "")}
    low, high = stable_range(values if rows else [0.0, 1.0])
    production = result.level("production")
    inside = production is not None and production < low + CROWDED * (high - low)
    skylines = {key: result.level(key) for key in SKYLINES if key in study.methods}
    levels = {key: level for key, level in skylines.items() if level is not None}
    stacked = tuple(sorted(levels, key=lambda key: -levels[key]))
    spec = with_domains(_risks(order, inside, stacked, theme), x=(low, high))
    told = "; ".join(str(row["name"]) for row in rows if row["name"])
    row = ROW if len(order) <= FEW_ROWS else CLOSE_ROW
    return Figure(
        f"repair-{study.name}", f"{study.title}: test risk with {point.x:,.0f} clicks",
        f"{repair_headline(result, point)} Test risk, lower is better: {told}.",
        data, spec, height=row * len(order) + AXIS_HEIGHT + 23,
    )  # fmt: skip


def _row_label(study: Study, key: str) -> str:
    """The row that a ranker is in."""
    if study.by_learner:
        return learner_label(key)
    return f"{'Repair: ' if key in study.repaired_by else ''}{STUDY_METHODS[key].label}"


def _said(study: Study, key: str, risk: Estimate, *, short: bool = False) -> str:
    """A risk behind the label of its row, with its interval where there is room for several."""
    low, high = risk.ends
    value, estimator = plus_minus(risk.value, (high - low) / 2), STUDY_METHODS[key].estimator
    if short and study.by_learner:
        value = f"{risk.value:.2f}"
    weights = f"{_WEIGHTS[estimator.key]} " if study.by_learner and estimator is not None else ""
    return f"{weights}{value}"


def _row(
    part: str,
    method: str,
    label: str,
    *,
    ranker: str = "",
    value: float = math.nan,
    low: float = math.nan,
    high: float = math.nan,
    name: str = "",
    short: str = "",
) -> dict[str, Any]:
    return {
        "part": part, "method": method, "label": label, "ranker": ranker, "value": value,
        "low": low, "high": high, "name": name, "short": short,
    }  # fmt: skip


@lru_cache(maxsize=16)
def _risks(
    order: tuple[str, ...], inside: bool, skylines: tuple[str, ...], theme: Theme
) -> dict[str, Any]:
    """skylines: keys of rules, from right to left: the name of each is above that of the last."""
    ink = INKS[theme]
    fits = f"width > {_WIDE} ? datum.name : datum.short"
    name: Any = {"expr": fits}
    # Where rules are close together, their names are above each other, and each rule reaches its
    # own: those to the left have the higher names, so that no rule crosses the name of another.
    names: dict[str, tuple[Literal["left", "right"], int]] = {
        "production": ("left" if inside else "right", NAME_HEIGHT),
        **{
            key: ("left", NAME_HEIGHT - NAME_ROW * (place + inside))
            for place, key in enumerate(skylines)
        },
    }
    styles = STUDY_STYLES
    color, shape = by_method(alt.Color, "color", styles), by_method(alt.Shape, "shape", styles)
    scale = {"zero": False, "nice": False, "padding": 10, "domain": [0, 1]}
    x_of = along(alt.X, "Test risk (lower is better)", scale)
    rows = alt.Scale(type="point", domain=list(order), padding=0.7)
    y = alt.Y("label:N", title=None, scale=rows, axis=None)
    ranker, rule = rows_of("ranker"), rows_of("rule")
    halo, words = readable_text(
        rows_of("name").transform_calculate(said=fits).encode(x=alt.value(2), y=y),
        ink,
        "said:N",
        halo=UNBROKEN,
        dy=-18,
    )
    tooltip = tooltips(("ranker:N", "Ranker"), ("value:Q", "Test risk"), *INTERVAL, format=".3f")
    layers = [
        *(
            rule.transform_filter(alt.datum.method == key)
            .mark_rule(strokeDash=[4, 4], strokeWidth=2, opacity=0.8)
            .encode(
                x=x_of("value"),
                y=alt.value(height - NAME_HEIGHT),
                y2=alt.value("height"),
                color=color,
            )
            for key, (_, height) in names.items()
        ),
        *(
            rule.transform_filter(alt.datum.method == key)
            .mark_text(text=name, align=align, color=ink.text)
            .encode(x=x_of("value"), y=alt.value(height))
            for key, (align, height) in names.items()
        ),
        halo,
        ranker.mark_rule(strokeWidth=4).encode(x=x_of("low"), x2="high:Q", y=y, color=color),
        ranker.mark_point(filled=True, size=190, opacity=1).encode(
            x=x_of("value"), y=y, color=color, shape=shape, tooltip=tooltip
        ),
        words,
    ]
    return bare_spec(layers, ink)


# Users, by rank.

LAST_RANK = 20
RANKS = np.arange(1, LAST_RANK + 1)
LOOK, RELEVANT, IRRELEVANT, BELIEVED = "look", "relevant", "irrelevant", "believed"
ABOVE = ("above-0", "above-1", "above-2")
"""By clicks above: of users who leave, their chance of looking."""
FITTED = {logger: f"tower-{logger}" for logger in LOGGERS}
"""By logger: what the position tower that is fitted to its clicks takes as examination."""
NAMES = {
    **{part: f"{logger} logger" for logger, part in FITTED.items()},
    ABOVE[0]: "no click above",
    ABOVE[1]: "one click above",
    ABOVE[2]: "two clicks above",
    LOOK: "looks",
    RELEVANT: "clicks a relevant document",
    IRRELEVANT: "clicks an irrelevant document",
    BELIEVED: "what the learner assumes",
}


def users_figure(
    settings: Settings, believing: Sequence[str] = (), *, theme: Theme = "light"
) -> Figure:
    """How often these users look and click at each rank; nobody sees what is below the lists.

    For users who leave: how likely they are to look, by the number of clicks above. believing:
    keys of a study's methods whose assumed curves are drawn as well.
    """
    series = _by_rank(settings, believing)
    data, told = _rows_and_words(series)
    cut = settings.shown if settings.shown < LAST_RANK else 0
    does = " looks" if ABOVE[0] in series else ""
    end = f" Below rank {cut} nobody sees anything." if cut else ""
    return Figure(
        f"users-{settings.users}", "Users by rank",
        f"Probability that a user{does} at ranks 1 to {LAST_RANK}: {told}.{end}",
        data, _users(tuple(series), LAST_RANK, cut, theme), height=250,
    )  # fmt: skip


def towers_figure(*, theme: Theme = "light") -> Figure:
    """Examination by rank, and what a position tower takes for it under each logger of the proofs.

    The product form is fitted to expected clicks; relevance is not linear in the features.
    """
    case = TowerCase("product", curved=CURVED)
    series = {LOOK: [np.exp(LOG_EXAMINATION)]} | {
        part: [case.fit(logger).examination] for logger, part in FITTED.items()
    }
    data, told = _rows_and_words(series)
    return Figure(
        "towers", "Position tower by logger",
        f"Probability that a user looks at ranks 1 to {SIZE}, true and fitted, by logger: {told}.",
        data, _users(tuple(series), SIZE, 0, theme), height=250,
    )  # fmt: skip


def _rows_and_words(series: Mapping[str, Sequence[FloatArray]]) -> tuple[Columns, str]:
    """Rows of curves [ranks] by the part of the picture, and both ends of each in words."""
    rows = [
        {"part": name, "rank": rank, "value": float(value), "curve": number}
        for name, curves in series.items()
        for number, curve in enumerate(curves)
        for rank, value in enumerate(curve, start=1)
        if rank >= _first_rank(name)
    ]
    told = "; ".join(
        f"{NAMES[name]} {', '.join(_ends(name, curve) for curve in curves)}"
        for name, curves in series.items()
    )
    return {name: [row[name] for row in rows] for name in ("part", "rank", "value", "curve")}, told


def _by_rank(settings: Settings, believing: Sequence[str]) -> dict[str, list[FloatArray]]:
    """Curves [ranks] of the users by what they are of."""
    users = click_model(settings)
    look = users.curve.at(RANKS)
    if isinstance(users, LeavingUsers):
        return {name: [look * users.continuation**h] for h, name in enumerate(ABOVE)}
    if believing:
        assumed = [assumed_curve(settings_of(key, settings)).at(RANKS) for key in believing]
        return {LOOK: [look], BELIEVED: assumed}
    alpha, beta = users.affine(RANKS)
    if np.allclose(alpha + beta, look):  # one line: who looks at a relevant document clicks it
        return {LOOK: [look], IRRELEVANT: [beta]}
    return {LOOK: [look], RELEVANT: [alpha + beta], IRRELEVANT: [beta]}


def _ends(name: str, curve: FloatArray) -> str:
    return f"{curve[_first_rank(name) - 1]:.2f} to {curve[-1]:.2f}"


def _first_rank(name: str) -> int:
    """Where a curve begins: h clicks above need h ranks above."""
    return ABOVE.index(name) + 1 if name in ABOVE else 1


def _looks(ink: Ink) -> dict[str, dict[str, Any]]:
    blue = METHOD_STYLES["propensity"].color
    return {
        ABOVE[0]: {"color": ink.quiet, "strokeWidth": 5},
        ABOVE[1]: {"color": blue, "strokeWidth": 3},
        ABOVE[2]: {"color": blue, "strokeWidth": 3, "strokeDash": [3, 3]},
        LOOK: {"color": ink.quiet, "strokeWidth": 5},
        RELEVANT: {"color": blue, "strokeWidth": 3},
        IRRELEVANT: {
            "color": METHOD_STYLES["naive"].color, "strokeWidth": 3, "strokeDash": [6, 3],
        },
        BELIEVED: {"color": blue, "strokeWidth": 2.5, "strokeDash": [7, 4]},
        **{
            part: {"color": blue, "strokeWidth": 3, "strokeDash": dash}
            for part, dash in zip(FITTED.values(), ([1, 0], [7, 4], [3, 3]), strict=True)
        },
    }  # fmt: skip


@lru_cache(maxsize=16)
def _users(names: tuple[str, ...], last: int, cut: int, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    marked = [1, *range(5, last + 1, 5)] if last > 10 else list(range(1, last + 1))
    axis = {"values": marked, "tickCount": len(marked), "grid": False}
    x_of = along(alt.X, "Rank", {"domain": [1, last], "nice": False}, axis)
    title = "Probability of looking" if ABOVE[0] in names else "Probability"
    y = along(alt.Y, title, {"domain": [0, 1], "nice": False}, {"format": ".1f"})("value")
    tooltip = tooltips(("rank:Q", "Rank"), ("value:Q", "Probability", ".3f"))
    layers: list[alt.Chart] = []
    left = 70 if last == LAST_RANK and ABOVE[0] not in names else 140  # others fall slowly
    for place, name in enumerate(names):
        look = _looks(ink)[name]
        rows = rows_of(name)
        once = rows.transform_filter((alt.datum.rank == _first_rank(name)) & (alt.datum.curve == 0))
        layers += [
            rows.mark_line(**look).encode(x=x_of("rank"), y=y, detail="curve:N"),
            rows.mark_point(size=30, filled=True, color=look["color"], opacity=1).encode(
                x=x_of("rank"), y=y, tooltip=tooltip
            ),
            *key_line(once, NAMES[name], ink, left=left, y=14 + 22 * place, **look),
        ]
    if cut:
        unseen = once.mark_text(align="left", color=ink.text)
        layers.append(
            unseen.encode(
                x=alt.X("edge:Q", scale=alt.Scale(domain=[1, last], nice=False)),
                y=alt.value(120), text=alt.value("never seen"),
            ).transform_calculate(edge=str(cut + 0.7))
        )  # fmt: skip
    return bare_spec(layers, ink)
