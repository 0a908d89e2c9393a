"""The picture of a study: curves of each method's loss, or a map of what weighting gains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ultr_core.figures.axes import stable_range
from ultr_core.figures.end_labels import (
    TYPE,
    WIDE,
    end_of_axis,
    name_layers,
    name_row,
    placed,
    type_parameter,
)
from ultr_core.figures.figure import Figure
from ultr_core.figures.layers import (
    INTERVAL,
    along,
    bare_spec,
    by_method,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.repairs import repair_figure
from ultr_core.figures.style import FILLS, INKS, STUDY_STYLES, Theme
from ultr_core.risk import interval_over_draws
from ultr_core.settings import PARAMETERS
from ultr_core.studies import FIXED_METHODS, StudyResult, read_study
from ultr_core.words import counted, with_minus

REACH = 2.4
"""How far beyond the skyline the picture shows, in gaps between production and skyline."""

MARGIN = 0.1
"""Room on the better side of the skyline, in the same gaps."""


def study_figure(result: StudyResult, *, theme: Theme = "light") -> Figure:
    """A study's curves, map or rows by learner, with its finding as the alternative text."""
    if result.plan.study.by_learner:
        read_at = result.point(result.plan.study.read_at)
        figure = repair_figure(result, read_at, theme=theme)
        return replace(figure, name=f"study-{result.plan.study.name}", alt=read_study(result))
    draw = study_map if result.plan.study.is_map else study_curves
    return draw(result, alt_text=read_study(result), theme=theme)


def loss_range(
    skyline: float | None, production: float | None, values: Sequence[float]
) -> tuple[float, float]:
    """Range of the loss axis: from the best value to ``REACH`` gaps beyond the skyline at most.

    A method far worse than production would otherwise press all others into one line. The worse
    end may be the lower one (for a gain); both are returned rising.
    """
    if skyline is None or production is None or skyline == production:
        return stable_range(list(values))
    gap = production - skyline
    low, high = sorted((skyline - MARGIN * gap, skyline + REACH * gap))
    beyond_skyline = [value for value in values if (value < skyline) == (gap > 0)]
    shown = [value for value in values if low <= value <= high]
    return stable_range([*shown, *beyond_skyline, production, skyline - MARGIN * gap])


HEIGHT = 420
PICKED = "picked"
"""Name of the selection that a click on a mark makes."""

SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "production": "Production",
        "naive": "Naive",
        "propensity": "Weighted",
        "clipped": "Clipped",
        "skip-above": "Skip-above",
        "direct": "Direct",
        "doubly-robust": "Doubly robust",
        "swap-ratio": "Swap ratios",
        "affine": "Affine",
        "affine-swaps": "Affine, swaps",
        "affine-doubly-robust": "Affine DR",
        "too-steep": "η′ = 1.5",
        "too-flat": "η′ = 0.5",
        "replace-last": "Replace last",
        "plackett-luce": "Plackett-Luce",
        "mixture": "Mixture",
        "one-tower": "One tower",
        "two-towers-additive": "Additive",
        "two-towers-product": "Product",
        "hindsight": "Hindsight",
        "hindsight-doubly-robust": "Hindsight DR",
        "skyline": "Skyline",
    }
)
"""Names beside the curves, where there is little room."""

_CUT_NAMED = 3
_SLOTS = {
    "naive": -1, "propensity": 0, "clipped": 1, "affine": 1, "replace-last": 1, "too-steep": 1,
    "skip-above": 2, "direct": 2, "affine-doubly-robust": 2, "plackett-luce": 2, "too-flat": 2,
    "hindsight": 1, "hindsight-doubly-robust": 2, "doubly-robust": 3, "mixture": 4,
    "one-tower": 1, "two-towers-additive": 2, "two-towers-product": 3, "swap-ratio": 3,
    "affine-swaps": 4,
}  # fmt: skip
"""No two of a study are equal."""
_BESIDE = (
    f"(({json.dumps(_SLOTS)}[datum.method] || 0) - (datum.weight === 'thin' ? 0.5 : 0))"
    f" * (width > {WIDE} ? 3 : 2)"
)
_SIDE_BY_SIDE: Any = {"expr": _BESIDE}
"""Pixels that a ranker's marks stand beside their place, lest one bar hides another."""

_UPWARDS: Any = {"expr": "datum.upwards ? 'triangle-up' : 'triangle-down'"}
_ARROWHEAD: Any = {"expr": "datum.upwards ? 'M-1,0.6L0,-0.6L1,0.6' : 'M-1,-0.6L0,0.6L1,-0.6'"}
_INSIDE: Any = {"expr": "datum.upwards ? 3 : -3"}
_LAST_WHERE_NARROW: Any = {"expr": f"width > {WIDE} || datum.last ? 1 : 0"}


def study_curves(result: StudyResult, *, alt_text: str, theme: Theme = "light") -> Figure:
    """Curves of all methods of a study, as far as they are finished.

    Marks beyond the axis stand at its end with their value; of a method that is beyond it
    everywhere there is only the name. An arrowhead ends a bar that goes on beyond the axis. The
    larger number of clicks is drawn thick and filled.
    """
    plan = result.plan
    curves = result.curve_table()
    if curves.empty:
        curves = pd.DataFrame(columns=["method", "value", "low", "high", "noise_share"])
    ends = curves[["value", "low", "high"]].to_numpy(float)
    domain = loss_range(
        result.level("skyline"),
        result.level("production"),
        ends[np.isfinite(ends)].tolist() or [0.0, 1.0],
    )
    rows = pd.concat(
        [part for part in _parts(result, curves, domain) if not part.empty] or [pd.DataFrame()],
        ignore_index=True,
    )
    x_field = plan.study.x_fields[0]
    spec = _drawn(_curves(x_field, result.loss.axis, theme), set(rows.get("part", ())))
    xs = plan.study.x_values[plan.scale]
    spec = with_domains(spec, y=domain, x=(min(xs), max(xs)))
    named = rows[rows["part"] == "name"] if "text" in rows else pd.DataFrame({"text": [], "y": []})
    spec = placed(spec, dict(zip(named["text"], named["y"], strict=True)), *domain)
    return Figure(f"study-{plan.study.name}", plan.study.title, alt_text, rows, spec, height=HEIGHT)


def _drawn(spec: Mapping[str, Any], parts: set[str]) -> dict[str, Any]:
    """The template without the marks at the axis that a result has none of.

    Screen readers would find an empty group without a name.
    """
    left_out = [f"'{part}'" for part in ("beyond", "cut") if part not in parts]
    layers = [
        layer
        for layer in spec["layer"]
        if not any(part in str(layer["transform"]) for part in left_out)
    ]
    return {**spec, "layer": layers}


def _parts(
    result: StudyResult, curves: pd.DataFrame, domain: tuple[float, float]
) -> list[pd.DataFrame]:
    if curves.empty:
        return []
    low, high = domain
    xs = result.plan.study.x_values[result.plan.scale]
    table = _marks(result, curves)
    moving = table[~table["method"].isin(FIXED_METHODS)]
    inside = moving["value"].between(low, high)
    seen = (
        moving.groupby(["method", "weight"])["value"]
        .transform(lambda values: values.between(low, high).any())
        .astype(bool)
    )
    beyond = moving[~inside & seen].copy()
    beyond["upwards"] = beyond["value"] > high
    beyond["y"] = np.where(beyond["upwards"], high, low)
    texts = beyond["value"].map("{:.3g}".format).groupby(beyond["x"])
    beyond["text"] = texts.transform(lambda values: " / ".join(dict.fromkeys(values)))
    beyond["last"] = beyond["x"] == beyond["x"].max()
    shown = moving[seen].copy()
    for name in ("value", "low", "high"):
        shown[f"{name}_y"] = shown[name].clip(low, high)
    levels = table[table["method"].isin(FIXED_METHODS)].drop_duplicates("method")
    return [
        levels.assign(part="level", y=levels["value"], x=min(xs), x_end=max(xs)),
        shown.assign(part="curve"),
        shown[inside[shown.index]].assign(part="point"),
        beyond.assign(part="beyond"),
        *_cut_bars(shown, domain),
        _names(result, shown, levels, moving[~seen], domain),
        _noise_shares(result, curves).assign(part="share"),
    ]


def _cut_bars(shown: pd.DataFrame, domain: tuple[float, float]) -> list[pd.DataFrame]:
    """The bars that end at the axis and not with their interval, of marks that are inside."""
    low, high = domain
    inside = shown[shown["value"].between(low, high)]
    up, down = inside[inside["high"] > high], inside[inside["low"] < low]
    return [
        up.assign(part="cut", y=high, upwards=True),
        down.assign(part="cut", y=low, upwards=False),
    ]


def cut_words(figure: Figure, result: StudyResult) -> str:
    """Which bars in a picture extend beyond its axis, and to what value; empty if none does."""
    rows = figure.rows
    cut = rows[rows["part"] == "cut"] if "part" in rows else rows
    if cut.empty:
        return ""
    symbol = PARAMETERS[result.plan.study.x_fields[0]].symbol
    named = [
        f"{row['label']} {row['series']}".strip()
        + f" at {symbol} = {row['x']:,.6g} to {row['high' if row['upwards'] else 'low']:.4g}"
        for row in cut.head(_CUT_NAMED).to_dict("records")
    ]
    more = len(cut) - len(named)
    rest = f"; for {counted(more, 'other')}, see the tooltips" if more else ""
    return with_minus(f"Bars with arrowheads extend beyond the axis: {'; '.join(named)}{rest}.")


def _marks(result: StudyResult, curves: pd.DataFrame) -> pd.DataFrame:
    """The curve table with the fields that marks need."""
    study = result.plan.study
    table = curves.rename(columns={study.x_fields[0]: "x"})
    table["weight"] = "thick"
    table["series"] = ""
    if study.series_field is not None and study.series_field in table:
        values = table[study.series_field]
        table["weight"] = ["thick" if v == values.max() else "thin" for v in values]
        table["series"] = [series_text(v) for v in values]
    return table


def _names(
    result: StudyResult,
    shown: pd.DataFrame,
    levels: pd.DataFrame,
    hidden: pd.DataFrame,
    domain: tuple[float, float],
) -> pd.DataFrame:
    """Names of curves and levels, at the right end of each.

    A method that is beyond the picture everywhere is named at its edge, with its last value.
    """
    last_x = max(result.plan.study.x_values[result.plan.scale])
    low, high = domain
    names = [
        name_row(row["method"], f"{SHORT_NAMES[row['method']]} {row['series']}".strip(), row["x"],
                 row["value_y"]) | {"weight": row["weight"]}
        for row in shown.sort_values("x").groupby(["method", "series"]).tail(1).to_dict("records")
    ]  # fmt: skip
    names += [
        name_row(row["method"], SHORT_NAMES[row["method"]], last_x, row["value"], is_line=True)
        for row in levels.to_dict("records")
    ]
    for row in hidden.sort_values("x").groupby("method").tail(1).to_dict("records"):
        edge, arrow = (high, "↑") if row["value"] > high else (low, "↓")
        text = f"{arrow} {SHORT_NAMES[row['method']]}: {row['value']:.2g}"
        names.append(name_row(row["method"], text, last_x, edge, leads=False))
    return pd.DataFrame(names)


def _noise_shares(result: StudyResult, curves: pd.DataFrame) -> pd.DataFrame:
    """Share of noisy clicks under each place of the noise axis."""
    if result.plan.study.x_fields[0] != "eps_minus":
        return pd.DataFrame()
    known = curves.dropna(subset=["noise_share"]).drop_duplicates("eps_minus")
    return pd.DataFrame(
        {"x": known["eps_minus"], "text": [f"{share:.0%}" for share in known["noise_share"]]}
    )


def series_text(clicks: float) -> str:
    """How a number of clicks reads beside a curve: 45K."""
    return f"{clicks / 1000:g}K"


def _x_title(field: str) -> str:
    if field == "clicks":
        return "Training clicks n (log scale)"
    if field == "eps_minus":
        return "Click noise ε₋ (in grey: share of noisy clicks)"
    return PARAMETERS[field].label


def _x(field: str) -> alt.X:
    is_log = field == "clicks"
    # The right end is kept free for names.
    places = [12, end_of_axis()]
    scale: dict[str, Any] = {"nice": False, "domain": [1, 2], "range": places}
    axis: dict[str, Any] = {"titleAnchor": "start", "titleLimit": 900}
    if is_log:
        scale |= {"type": "log"}
        axis |= {"format": "~s", "values": [100, 1_000, 10_000, 100_000, 1_000_000]}
    else:
        scale |= {"type": "linear", "zero": False}
        axis |= {"format": "~g"}
    return along(alt.X, _x_title(field), scale, axis)("x")


@lru_cache(maxsize=16)
def _curves(x_field: str, y_title: str, theme: Theme) -> dict[str, Any]:
    ink, x = INKS[theme], _x(x_field)
    color = by_method(alt.Color, "color", STUDY_STYLES)
    dash = by_method(alt.StrokeDash, "dash", STUDY_STYLES)
    lines = y_title.replace(" (", "|(").split("|")  # where a window is low, one would be cut
    y_of = along(
        alt.Y, lines, {"zero": False, "nice": False, "domain": [0, 1]}, {"titleLimit": HEIGHT}
    )

    def by_weight(thin: float, thick: float) -> dict[str, Any]:
        return {
            "legend": None,
            "sort": ["thin", "thick"],
            "scale": alt.Scale(domain=["thin", "thick"], range=[thin, thick]),
        }

    tooltip = tooltips(
        ("label:N", "Ranker"),
        ("x:Q", _x_title(x_field).split(" (")[0], ",~g"),
        ("value:Q", "Loss", ".3f"),
        *((*end, ".3f") for end in INTERVAL),
        ("draws:Q", "Click logs"),
    )
    curve, beyond, y = rows_of("curve"), rows_of("beyond"), y_of("y")
    look = {
        "shape": by_method(alt.Shape, "shape", STUDY_STYLES),
        "fill": by_method(alt.Fill, "color", STUDY_STYLES),
        "fillOpacity": alt.FillOpacity("weight:O", **by_weight(0, 1)),
    }
    points = (
        rows_of("point")
        .mark_point(size=110, opacity=1, strokeWidth=2, cursor="pointer", xOffset=_SIDE_BY_SIDE)
        .encode(x=x, y=y_of("value"), color=color, tooltip=tooltip, **look)
    )
    layers = [
        rows_of("level").mark_rule(strokeWidth=2, opacity=0.9).encode(
            x=x, x2="x_end:Q", y=y, color=color, strokeDash=dash
        ),
        curve.mark_line(clip=True, xOffset=_SIDE_BY_SIDE).encode(
            x=x, y=y_of("value"), color=color, strokeDash=dash, detail="series:N",
            strokeWidth=alt.StrokeWidth("weight:O", **by_weight(1.5, 3)),
        ),
        curve.mark_rule(strokeWidth=2, xOffset=_SIDE_BY_SIDE).encode(
            x=x, y=y_of("low_y"), y2="high_y:Q", color=color, tooltip=tooltip
        ),
        beyond.mark_point(
            shape=_UPWARDS, size=90, filled=True, opacity=1, xOffset=_SIDE_BY_SIDE
        ).encode(x=x, y=y, color=color, tooltip=tooltip),
        rows_of("cut").mark_point(
            shape=_ARROWHEAD, size=70, strokeWidth=2, opacity=1, xOffset=_SIDE_BY_SIDE,
            yOffset=_INSIDE,
        ).encode(x=x, y=y, color=color, tooltip=tooltip),
        beyond.mark_text(dy=-14, opacity=_LAST_WHERE_NARROW).encode(x=x, y=y, text="text:N"),
        *name_layers(x, y, color, own=_BESIDE, **look),
        rows_of("share").mark_text(dy=-10, color=ink.quiet).encode(
            x=x, y=alt.value("height"), text="text:N"
        ),
        points.add_params(
            alt.selection_point(name=PICKED, fields=["x", "series"], on="click", empty=False)
        ),
    ]  # fmt: skip
    return bare_spec(layers, ink)


# A map of what weighting gains.

MAP_HEIGHT = 430
NARROW = 400
"""Pixels of a map below which the largest losses, in brackets, are wider than their cells."""


def gain_table(result: StudyResult) -> pd.DataFrame:
    """One row a place: naive minus weighted loss as a share of the gap, with its interval.

    ``gain`` is 1 when weighting recovers as much as lies between production and skyline; ``low``
    and ``high`` are the ends of its 95% interval over draws, NaN where there is one draw only.
    """
    gap = result.gap()
    rows = []
    for point in result.plan.points:
        excess = list(result.excess(("naive", point), ("propensity", point)).values())
        if not excess or not gap:
            continue
        gain = interval_over_draws([value / gap for value in excess])
        low, high = gain.ends
        rows.append(
            {"x": point.x, "y": point.series, "gain": gain.value, "low": low, "high": high,
             "draws": gain.n}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["x", "y", "gain", "low", "high", "draws"])


def study_map(result: StudyResult, *, alt_text: str, theme: Theme = "light") -> Figure:
    """The map of a study: blue where weighting wins, orange where the naive ranker does.

    The number in a cell is the gain in percent of the gap between production and skyline; cells
    whose interval holds 0, or that have none, have it in brackets.
    """
    rows = gain_table(result).assign(part="cell")
    told = (rows["low"] > 0) | (rows["high"] < 0)
    same = (rows["low"] == 0) & (rows["high"] == 0)
    rows["text"] = [
        _percent(gain) if certain else f"({_percent(gain)})"
        for gain, certain in zip(rows["gain"], told | same, strict=True)
    ]
    study = result.plan.study
    spec = _map(study.x_fields[0], study.series_field or "", theme)
    return Figure(f"study-{study.name}", study.title, alt_text, rows, spec, height=MAP_HEIGHT)


def _percent(gain: float) -> str:
    """The gain in whole percent; losses too large for a cell are cut off."""
    text = "<-99" if gain < -0.99 else f"{100 * gain:.0f}"
    return with_minus(text)


@lru_cache(maxsize=8)
def _map(x_field: str, y_field: str, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    loses, wins = FILLS[theme]
    axis = alt.Axis(labelAngle=0, labelExpr="format(datum.value, '.2~f')")
    x = alt.X("x:O", title=PARAMETERS[x_field].label, axis=axis)
    y = alt.Y("y:O", title=PARAMETERS[y_field].label, sort="descending", axis=axis)
    color = alt.Color(
        "gain:Q",
        legend=None,
        scale=alt.Scale(
            domain=[-0.6, 0, 0.6],
            range=[loses, ink.background, wins],
            interpolate="rgb",
            clamp=True,
        ),
    )
    tooltip = tooltips(
        ("x:Q", PARAMETERS[x_field].label, ""),
        ("y:Q", PARAMETERS[y_field].label, ""),
        ("gain:Q", "Gain, share of the gap"),
        *INTERVAL,
        format="+.1%",
    )
    cell = rows_of("cell")
    size: Any = {"expr": f"width < {NARROW} ? 12 : {TYPE}.fontSize"}  # as wide as its cell
    layers = [
        cell.mark_rect(stroke=ink.background, strokeWidth=2, cursor="pointer")
        .encode(x=x, y=y, color=color, tooltip=tooltip)
        .add_params(alt.selection_point(name=PICKED, fields=["x", "y"], on="click", empty=False)),
        cell.mark_text(color=ink.text, fontSize=size).encode(x=x, y=y, text="text:N"),
    ]
    spec = bare_spec(layers, ink)
    return {**spec, "params": [*spec.get("params", ()), type_parameter()]}
