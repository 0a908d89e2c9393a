"""A sensitivity map: how much weighting gains over the naive ranker, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd

from ultr_core.figures.figure import Figure, bare_spec, rows_of
from ultr_core.figures.study_curves import PICKED
from ultr_core.figures.style import INKS, Theme
from ultr_core.risk import interval_over_draws
from ultr_core.settings import PARAMETERS
from ultr_core.studies import StudyResult
from ultr_core.words import with_minus

HEIGHT = 430

# Naive's orange and weighting's blue, toned so that text keeps a contrast of 4.5:1 on them.
_ENDS: Mapping[Theme, tuple[str, str]] = MappingProxyType(
    {"light": ("#F08C3C", "#5AA9DC"), "dark": ("#B24E00", "#0072B2")}
)


def gain_table(result: StudyResult) -> pd.DataFrame:
    """One row a place: naive minus weighted loss as a share of the gap, with its interval.

    ``gain`` is 1 when weighting recovers as much as lies between production and skyline; ``low``
    and ``high`` are the ends of its 95% interval over draws.
    """
    gap = result.gap()
    rows = []
    for point in result.plan.points:
        excess = list(result.excess(("naive", point), ("propensity", point)).values())
        if not excess or not gap:
            continue
        gain = interval_over_draws([value / gap for value in excess])
        rows.append(
            {"x": point.x, "y": point.series, "gain": gain.value, "low": gain.low,
             "high": gain.high, "draws": gain.n}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["x", "y", "gain", "low", "high", "draws"])


def study_map(result: StudyResult, *, alt_text: str, theme: Theme = "light") -> Figure:
    """The map of a study: blue where weighting wins, orange where the naive ranker does.

    The number in a cell is the gain in percent of the gap between production and skyline; cells
    whose interval holds 0, or that have none, have it in brackets.
    """
    rows = gain_table(result).assign(part="cell")
    told = (rows["draws"] > 1) & ((rows["low"] > 0) | (rows["high"] < 0))
    same = (rows["low"] == 0) & (rows["high"] == 0)
    rows["text"] = [
        _percent(gain) if certain else f"({_percent(gain)})"
        for gain, certain in zip(rows["gain"], told | same, strict=True)
    ]
    study = result.plan.study
    spec = _template(study.x_fields[0], study.series_field or "", theme)
    return Figure(f"study-{study.name}", study.title, alt_text, rows, spec, height=HEIGHT)


def _percent(gain: float) -> str:
    """The gain in whole percent; losses too large for a cell are cut off."""
    text = "<-99" if gain < -0.99 else f"{100 * gain:.0f}"
    return with_minus(text)


@lru_cache(maxsize=8)
def _template(x_field: str, y_field: str, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    loses, wins = _ENDS[theme]
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
    tooltip = [
        alt.Tooltip("x:Q", title=PARAMETERS[x_field].label),
        alt.Tooltip("y:Q", title=PARAMETERS[y_field].label),
        alt.Tooltip("gain:Q", title="Gain, share of the gap", format="+.1%"),
        alt.Tooltip("low:Q", title="95% from", format="+.1%"),
        alt.Tooltip("high:Q", title="95% to", format="+.1%"),
    ]
    cell = rows_of("cell")
    layers = [
        cell.mark_rect(stroke=ink.background, strokeWidth=2, cursor="pointer")
        .encode(x=x, y=y, color=color, tooltip=tooltip)
        .add_params(alt.selection_point(name=PICKED, fields=["x", "y"], on="click", empty=False)),
        cell.mark_text(color=ink.text).encode(x=x, y=y, text="text:N"),
    ]
    return bare_spec(layers, ink)
