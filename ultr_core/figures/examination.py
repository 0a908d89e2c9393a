"""Who looks how far down: examination probabilities and the weights made from them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from ultr_core.figures.figure import Columns, Figure, bare_spec, rows_of
from ultr_core.figures.style import INKS, METHOD_STYLES, Ink, Theme

Quantity = Literal["probability", "weight"]

COLUMNS = ("rank", "users", "learner")

WHAT_IF_COLOR = METHOD_STYLES["clipped"].color
WHAT_IF_START = 0.5


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
    """True and assumed propensities (or the weights 1/p) by rank, with a live what-if curve.

    ``curves`` has the columns ``rank``, ``users`` and ``learner``: rank r = 1, 2, ... and p_r of
    the users and as assumed by the learner. The what-if curve (1/r)^η follows a slider inside
    the picture, from 0 to ``high_eta`` in steps of ``eta_step``, without a round trip.
    """
    rank, users, learner = (np.asarray(curves[name]) for name in COLUMNS)
    if quantity == "weight":
        users, learner = 1.0 / users, 1.0 / learner
    heaviest = float(max(users.max(), learner.max()))
    top = max(1000, 10 ** math.ceil(math.log10(heaviest)))
    spec = _template(quantity, int(rank.max()), top, high_eta, eta_step, theme)
    data: Columns = {
        "rank": rank,
        "users": users,
        "learner": learner,
        "part": ["curve"] * len(rank),
    }
    return Figure(f"examination-{quantity}", title, alt_text, data, spec, height=330)


@lru_cache(maxsize=16)
def _template(
    quantity: Quantity, last_rank: int, top: int, high_eta: float, eta_step: float, theme: Theme
) -> dict[str, Any]:
    ink = INKS[theme]
    is_weight = quantity == "weight"
    what_if = alt.param(
        name="what_if",
        value=WHAT_IF_START,
        bind=alt.binding_range(min=0, max=high_eta, step=eta_step, name="What if η were "),
    )
    x = alt.X(
        "rank:Q",
        title="Rank r at which a document was shown",
        scale=alt.Scale(domain=[1, last_rank], nice=False),
        axis=alt.Axis(values=[1, *range(4, last_rank + 1, 4)], grid=False),
    )
    y_scale = alt.Scale(domain=[0, 1], nice=False)
    y_title = "Probability of being examined p"
    if is_weight:
        y_scale = alt.Scale(type="log", domain=[1, top], nice=False)
        y_title = "Weight of a click 1/p (log scale)"
    powers = [10**power for power in range(len(str(top)))]
    axis = alt.Axis(values=powers) if is_weight else alt.Axis(format=".1f")

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=y_title, scale=y_scale, axis=axis)

    base = rows_of("curve")
    live = base.transform_calculate(
        hypothetical="pow(datum.rank, what_if)" if is_weight else "pow(1/datum.rank, what_if)"
    )
    color = METHOD_STYLES["propensity"].color
    tooltip = [
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("users:Q", title="Users", format=".3f"),
        alt.Tooltip("learner:Q", title="Learner assumes", format=".3f"),
    ]
    layers = [
        base.mark_line(color=ink.quiet, strokeWidth=5).encode(x=x, y=y("users")),
        base.mark_line(color=color, strokeWidth=2.5, strokeDash=[7, 4]).encode(x=x, y=y("learner")),
        base.mark_point(color=color, filled=True, size=45).encode(
            x=x, y=y("learner"), tooltip=tooltip
        ),
        live.mark_line(color=WHAT_IF_COLOR, strokeWidth=3).encode(x=x, y=y("hypothetical")),
        *_key(base, ink),
        base.transform_filter(alt.datum.rank == 1)
        .transform_calculate(
            text="'what if: a click weighs|' + format(pow(10, what_if), ',.1f') + ' at rank 10, '"
            f" + format(pow({last_rank}, what_if), ',.1f') + ' at rank {last_rank}'"
        )
        .mark_text(align="left", lineBreak="|", color=ink.text)
        .encode(x=alt.value(0), y=alt.value(-62), text="text:N"),
    ]
    return bare_spec(layers, ink, [what_if])


def _key(base: alt.Chart, ink: Ink) -> list[alt.Chart]:
    """Which curve is which, in a line above the plot, where no curve can run through it."""
    once = base.transform_filter(alt.datum.rank == 1)
    entries = (
        (0, "users", ink.quiet, 5, [1, 0]),
        (92, "learner", METHOD_STYLES["propensity"].color, 2.5, [7, 4]),
        (196, "what if", WHAT_IF_COLOR, 3, [1, 0]),
    )
    y = alt.value(-20)
    marks = []
    for left, name, color, width, dash in entries:
        line = once.mark_rule(color=color, strokeWidth=width, strokeDash=dash)
        marks.append(line.encode(x=alt.value(left), x2=alt.value(left + 26), y=y))
        text = once.mark_text(align="left", color=ink.text)
        marks.append(text.encode(x=alt.value(left + 33), y=y, text=alt.value(name)))
    return marks


def warm_up() -> None:
    """Build one chart, so that the first visitor does not wait for the libraries to settle."""
    curves = pd.DataFrame({"rank": [1, 2], "users": [1.0, 0.5], "learner": [1.0, 0.5]})
    examination_curves(
        curves, quantity="probability", alt_text="", title="", high_eta=2.0, eta_step=0.05
    )
