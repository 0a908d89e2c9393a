"""How clicks and relevance fall with the rank, each relative to rank 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ultr_core.errors import InputError
from ultr_core.figures.axes import log_levels, log_range
from ultr_core.figures.figure import Figure, bare_spec, rows_of, with_domains
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme

LOWEST, HIGHEST = 1e-3, 1.0
"""Ends of the axis where everything lies between them."""

LEAST, MOST = 1e-5, 10.0
"""Ends beyond which no axis reaches; a rank beyond stands at its end with a mark of its own."""


def clicks_and_relevance(
    click_rates: Sequence[float], relevance: Sequence[float], *, theme: Theme = "light"
) -> Figure:
    """Click rate and share of relevant documents by rank, relative to rank 1, log scale.

    ``click_rates`` and ``relevance`` [ranks] from rank 1: clicks per presentation, and the share
    of the documents shown there that are relevant. Raises InputError where rank 1 has none.
    """
    if not click_rates or len(click_rates) != len(relevance) or not click_rates[0] * relevance[0]:
        raise InputError(
            "A picture of clicks by rank needs both numbers for every rank, and some clicks and "
            "relevant documents at rank 1."
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
    low, high = log_range(
        rows[["clicks", "relevance"]], low=LOWEST, high=HIGHEST, least=LEAST, most=MOST
    )
    # A line runs out of the picture instead of along its edge.
    rows["relevance_y"] = rows["relevance"].clip(low / 1000, 1000 * high)
    rows["clicks_y"] = rows["clicks"].clip(low / 1000, 1000 * high)
    rows["mark_y"] = rows["clicks"].clip(low, high)
    rows["stands"] = np.select(
        [rows["clicks"] == 0, rows["clicks"] < low, rows["clicks"] > high],
        ["zero", "below", "above"], "inside",
    )  # fmt: skip
    last = rows.iloc[-1]
    beyond = "zero" in set(rows["stands"])
    spec = with_domains(_template(len(rows), low, high, beyond, theme), x=(0.5, len(rows) + 0.5))
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
def _template(
    last: int, low: float, high: float, without_click: bool, theme: Theme
) -> dict[str, Any]:
    ink, naive = INKS[theme], METHOD_STYLES["naive"]
    step = 1 if last <= 8 else 4 if last > 12 else 2
    ticks = [1, *range(max(2, step), last + 1, step)]
    x = alt.X(
        "rank:Q",
        title="Rank at which a document was shown",
        scale=alt.Scale(nice=False, domain=[0, 1]),
        axis=alt.Axis(values=ticks, tickCount=len(ticks), format="d", grid=False),
    )

    def y_of(field: str) -> alt.Y:
        return alt.Y(
            f"{field}:Q",
            title="Relative to rank 1 (log scale)",
            scale=alt.Scale(type="log", domain=[low, 1.5 * high], nice=False),
            axis=alt.Axis(
                values=[level for level in log_levels(low, high) if f"{level:e}"[0] == "1"],
                format="~g",
            ),
        )

    base = rows_of("rank")
    tooltip = [
        alt.Tooltip("rank:Q", title="Rank"),
        alt.Tooltip("click_rate:Q", title="Clicks per presentation", format=".3~g"),
        alt.Tooltip("relevant_share:Q", title="Share relevant", format=".2~%"),
    ]
    once = base.transform_filter(alt.datum.rank == 1)
    key_y = alt.value(-16)
    layers = [
        base.mark_line(color=ink.quiet, strokeWidth=6, clip=True).encode(
            x=x, y=y_of("relevance_y")
        ),
        base.mark_line(
            color=naive.color, strokeDash=list(naive.dash), strokeWidth=2.5, clip=True
        ).encode(x=x, y=y_of("clicks_y")),
        base.mark_point(color=naive.color, fill=naive.color, size=80, opacity=1).encode(
            x=x, y=y_of("mark_y"), tooltip=tooltip,
            shape=alt.Shape("stands:N", legend=None, scale=alt.Scale(
                domain=["inside", "zero", "below", "above"],
                range=[naive.shape, "triangle-down", "triangle-down", "triangle-up"],
            )),
            fillOpacity=alt.condition("datum.stands == 'zero'", alt.value(0), alt.value(1)),
        ),
        once.mark_rule(color=ink.quiet, strokeWidth=6).encode(
            x=alt.value(0), x2=alt.value(26), y=key_y
        ),
        once.mark_text(align="left", color=ink.text).encode(
            x=alt.value(33), y=key_y, text=alt.value("relevant documents")
        ),
        once.mark_point(color=naive.color, shape=naive.shape, filled=True, size=90).encode(
            x=alt.value(200), y=key_y
        ),
        once.mark_text(align="left", color=ink.text).encode(
            x=alt.value(212), y=key_y, text=alt.value("clicks")
        ),
    ]  # fmt: skip
    if without_click:
        hollow = once.mark_point(color=naive.color, shape="triangle-down", size=90, opacity=1)
        layers += [
            hollow.encode(x=alt.value(270), y=key_y),
            once.mark_text(align="left", color=ink.text).encode(
                x=alt.value(282), y=key_y, text=alt.value("none")
            ),
        ]
    return bare_spec(layers, ink)
