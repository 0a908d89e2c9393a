"""Trained rankers: test risk of each method as a dot with its interval on a zoomed axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from ultr_core.figures.axes import stable_range
from ultr_core.figures.figure import (
    UNBROKEN,
    Columns,
    Figure,
    bare_spec,
    method_channels,
    readable_text,
    rows_of,
    with_domains,
)
from ultr_core.figures.style import INKS, Theme
from ultr_core.risk import plus_minus

COLUMNS = ("method", "label", "risk", "low", "high")


def trained_rankers(
    rankers: pd.DataFrame | Columns,
    *,
    labels: Sequence[str],
    alt_text: str,
    title: str,
    theme: Theme = "light",
) -> Figure:
    """Dot plot of test risks.

    ``rankers`` has the columns :data:`COLUMNS`, one row a method: test risk and the ends of its
    95% interval over draws of the click log. ``labels`` are the rows of the picture from top to
    bottom, also those whose ranker is still to come. Production and skyline mark the gap that
    learning from clicks can close; their levels run through the picture.
    """
    data = {name: list(rankers[name]) for name in COLUMNS}
    ranges = (data["risk"], data["low"], data["high"])
    data["part"] = ["ranker"] * len(data["label"])
    data["name"] = [
        f"{label}  {_number(risk, low, high)}"
        for label, risk, low, high in zip(data["label"], *ranges, strict=True)
    ]
    x_range = stable_range(ranges)
    spec = with_domains(_template(tuple(labels), theme), x=x_range)
    return Figure("trained-rankers", title, alt_text, data, spec, height=56 * len(labels) + 60)


def _number(risk: float, low: float, high: float) -> str:
    return plus_minus(risk, (high - low) / 2)


@lru_cache(maxsize=16)
def _template(order: tuple[str, ...], theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    color, shape = method_channels()

    def x_of(field: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            title="Test risk (lower is better)",
            scale=alt.Scale(zero=False, nice=False, padding=10),
        )

    x = x_of("risk")
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=list(order)), axis=None)
    ranker = rows_of("ranker")
    levels = ranker.transform_filter(
        alt.FieldOneOfPredicate(field="method", oneOf=["production", "skyline"])
    )
    tooltip = [
        alt.Tooltip("label:N", title="Ranker"),
        alt.Tooltip("risk:Q", title="Test risk", format=".3f"),
        alt.Tooltip("low:Q", title="95% from", format=".3f"),
        alt.Tooltip("high:Q", title="95% to", format=".3f"),
    ]
    halo, words = readable_text(
        ranker.encode(x=alt.value(2), y=y), ink, "name:N", halo=UNBROKEN, dy=-20
    )
    layers = [
        levels.mark_rule(strokeDash=[4, 4], strokeWidth=2, opacity=0.8).encode(x=x, color=color),
        halo,  # over the level, below the marks
        ranker.mark_rule(strokeWidth=4).encode(x=x_of("low"), x2="high:Q", y=y, color=color),
        ranker.mark_point(filled=True, size=190, opacity=1).encode(
            x=x, y=y, color=color, shape=shape, tooltip=tooltip
        ),
        words,
    ]
    return bare_spec(layers, ink)
