"""Empirical against true risk: one mark a ranker, one panel a method."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ultr_core.figures.axes import drawn_ends, stable_range
from ultr_core.figures.figure import Columns, Figure
from ultr_core.figures.layers import (
    INTERVAL,
    along,
    bare_spec,
    readable_text,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
from ultr_core.lab import METHODS, RiskPicture
from ultr_core.words import with_minus

NUMBERS = ("true_risk", "estimate", "low", "high", "expected")
WORDS = ("label", "kind")
COLUMNS = (*NUMBERS, *WORDS)
NAMED = {"production": (14, 18), "skyline": (-12, -34)}
"""Kinds of ranker that are named in the picture, and where their name stands (pixels)."""

ROOM_FOR_NAMES = 0.1  # of the axis, below the lowest mark


def risk_figure(picture: RiskPicture, method: str, *, theme: Theme = "light") -> Figure:
    """Estimated against true risk of the ranker family; ``method`` is "naive" or "propensity"."""
    weighted = method == "propensity"
    estimates = picture.weighted if weighted else picture.naive
    low, high = drawn_ends(estimates.low, estimates.high)
    rankers: Columns = {
        "true_risk": picture.true_risk,
        "estimate": estimates.value,
        "low": low,
        "high": high,
        "expected": estimates.expected,
        "label": picture.labels,
        "kind": picture.kinds,
    }
    label = METHODS[method].label
    alt_text = (
        f"{label} risk estimates of {len(picture.kinds)} rankers against their true risks: "
        f"Kendall's τ is {with_minus(f'{estimates.kendall:.2f}')}, where 1 means the true order."
        + (f" There is {estimates.no_interval}." if estimates.no_interval else "")
    )
    return risk_scatter(
        rankers,
        method=method,
        alt_text=alt_text,
        title=f"{label}: estimated against true risk",
        law=(picture.slope, picture.intercept) if weighted else None,
        theme=theme,
    )


def risk_scatter(
    rankers: pd.DataFrame | Columns,
    *,
    method: str,
    alt_text: str,
    title: str,
    law: tuple[float, float] | None = None,
    theme: Theme = "light",
) -> Figure:
    """Scatter plot of estimated against true risk for a family of rankers.

    ``rankers`` has the columns :data:`COLUMNS`, one row per ranker: true risk R(S), the estimate
    from one click log with the ends of its 95% interval, and the estimate's exact expectation; both
    ends are NaN if there are too few clicks for intervals. ``law`` is the slope and intercept in
    E[R_IPS] = slope R + intercept (section 5.2 of the paper); it is drawn dashed. ``method``
    chooses colour and shape.
    """
    # Plain columns: a class that moves its sliders pays for each step in pandas.
    columns: dict[str, NDArray[Any] | list[Any]] = {
        name: np.asarray(rankers[name]) for name in NUMBERS
    }
    words = {name: list(rankers[name]) for name in WORDS}
    x_range = stable_range(columns["true_risk"])
    with_intervals = not np.isnan(columns["low"]).all()
    ends_of_bars = ("low", "high") if with_intervals else ()
    heights = [columns[name] for name in ("estimate", *ends_of_bars, "expected")]
    names = [kind if kind in NAMED else None for kind in words["kind"]]
    count = len(names)
    part = ["ranker"] * count
    ends: list[float] = []
    if law is not None:
        slope, intercept = law
        ends = [slope * x + intercept for x in x_range]
        columns = {
            name: np.concatenate([values, x_range if name == "true_risk" else (np.nan, np.nan)])
            for name, values in columns.items()
        }
        columns["law"] = np.concatenate([np.full(count, np.nan), ends])
        words = {name: [*values, None, None] for name, values in words.items()}
        names += [None, "expected if p is right"]
        part += ["law", "law"]
    bottom, top = stable_range(heights, include=ends)
    room = ROOM_FOR_NAMES * (top - bottom)
    template = _template(method, theme, with_intervals)
    spec = with_domains(template, x=x_range, y=(bottom - room, top))
    data = {**columns, **words, "part": part, "name": names}
    return Figure(f"risk-{method}", title, alt_text, data, spec, height=285)


@lru_cache(maxsize=16)
def _template(method: str, theme: Theme, with_intervals: bool) -> dict[str, Any]:
    ink, style = INKS[theme], METHOD_STYLES[method]
    scale = {"zero": False, "nice": False, "padding": 6}
    x = along(alt.X, "True risk R(S), training queries", scale)("true_risk")
    without = "" if with_intervals else " (too few for intervals)"
    y_of = along(alt.Y, f"Estimate from clicks{without}", scale)
    y = y_of("estimate")
    tooltip = tooltips(
        ("label:N", "Ranker"),
        ("true_risk:Q", "True risk"),
        ("estimate:Q", "Estimate"),
        *INTERVAL,
        ("expected:Q", "Exact expectation"),
        format=".2f",
    )
    law, ranker = rows_of("law"), rows_of("ranker")
    named = ranker.transform_filter("isValid(datum.name)")
    layers = [
        law.mark_line(color=ink.text, strokeDash=[7, 5], strokeWidth=2).encode(x=x, y=y_of("law")),
        ranker.mark_line(color=style.color, strokeWidth=1.5, opacity=0.55).encode(
            x=x, y=y_of("expected"), order=alt.Order("true_risk:Q")
        ),
        ranker.mark_rule(color=style.color, strokeWidth=2).encode(x=x, y=y_of("low"), y2="high:Q"),
        ranker.mark_point(
            color=style.color, shape=style.shape, filled=True, size=70, opacity=0.9
        ).encode(x=x, y=y, tooltip=tooltip),
        named.mark_point(stroke=ink.text, size=230, strokeWidth=2, filled=False).encode(x=x, y=y),
        law.transform_filter("isValid(datum.name)")
        .mark_text(align="right", dy=-14, color=ink.text)
        .encode(x=x, y=y_of("law"), text="name:N"),
    ]
    for name, (dx, dy) in NAMED.items():
        of_name = named.transform_filter(alt.datum.name == name).encode(x=x, y=y)
        layers += readable_text(of_name, ink, "name:N", dx=dx, dy=dy, fontWeight="bold")
    return bare_spec(layers, ink)
