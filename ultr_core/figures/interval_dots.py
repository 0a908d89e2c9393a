"""Values with their intervals, one named row each, against a level that means "no difference"."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from ultr_core.figures.axes import stable_range
from ultr_core.figures.figure import (
    UNBROKEN,
    Figure,
    bare_spec,
    method_channels,
    readable_text,
    rows_of,
    with_domains,
)
from ultr_core.figures.style import INKS, NEUTRAL_STYLES, Theme

COLUMNS = ("method", "label", "value", "low", "high", "text")


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

    ``rows`` has the columns :data:`COLUMNS`, one row a dot, top to bottom: a key of
    ``METHOD_STYLES`` or ``NEUTRAL_STYLES``, a name, the value with its interval and the value in
    words. ``level`` is drawn as a line through all rows; the axis reaches to it and to ``include``.
    ``number`` is the d3 format of the axis.
    """
    table = rows.loc[:, list(COLUMNS)].assign(part="dot")
    table["name"] = [
        f"{label}: {text}" for label, text in zip(table["label"], table["text"], strict=True)
    ]
    wanted = include if level is None else (*include, level)
    ends = stable_range(table[["value", "low", "high"]].to_numpy(dtype=float), include=wanted)
    if level is not None:
        line = pd.DataFrame([{"part": "level", "value": level}])
        table = pd.concat([table, line], ignore_index=True)
    others = tuple(key for key in NEUTRAL_STYLES if key in set(rows["method"]))
    spec = _template(tuple(rows["label"]), others, x_title, number, theme)
    return Figure(
        name, title, alt_text, table, with_domains(spec, x=ends), height=56 * len(rows) + 60
    )


@lru_cache(maxsize=32)
def _template(
    order: tuple[str, ...], others: tuple[str, ...], x_title: str, number: str, theme: Theme
) -> dict[str, Any]:
    ink = INKS[theme]
    color, shape = method_channels(others)

    def x_of(field: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            title=x_title,
            scale=alt.Scale(zero=False, nice=False, padding=10, domain=[0, 1]),
            axis=alt.Axis(format=number),
        )

    x = x_of("value")
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=list(order)), axis=None)
    dots = rows_of("dot")
    tooltip = [
        alt.Tooltip("label:N", title="Row"),
        alt.Tooltip("value:Q", title="Value", format=".4f"),
        alt.Tooltip("low:Q", title="95% from", format=".4f"),
        alt.Tooltip("high:Q", title="95% to", format=".4f"),
    ]
    halo, words = readable_text(
        dots.encode(x=alt.value(2), y=y), ink, "name:N", halo=UNBROKEN, dy=-20
    )
    layers = [
        rows_of("level").mark_rule(strokeWidth=3, strokeDash=[5, 4], color=ink.quiet).encode(x=x),
        halo,  # over the level, below the marks
        dots.mark_rule(strokeWidth=4).encode(x=x_of("low"), x2="high:Q", y=y, color=color),
        dots.mark_point(filled=True, size=190, opacity=1).encode(
            x=x, y=y, color=color, shape=shape, tooltip=tooltip
        ),
        words,
    ]
    return bare_spec(layers, ink)
