"""A results page as a user meets it: titles in order, fading attention, clicks and weights."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ultr_core.figures.figure import Figure, bare_spec, rows_of
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import SmallWorld

TITLES = (
    "the planet next to the Sun", "the element Hg", "the Roman god", "Freddie, the singer",
    "NASA's Project Mercury", "in old thermometers", "the car maker", "poisoning by fish",
    "the record label", "the music prize", "in retrograde", "the theatre in Colchester",
    "in barometers", "its orbit and Einstein", "street lamps", "a bay in New Zealand",
)  # fmt: skip
"""Results for the ambiguous query “mercury”: what is relevant depends on who asks."""

ROW_HEIGHT = 36


def results_page(
    world: SmallWorld,
    *,
    looked: NDArray[np.bool_] | None = None,
    clicked: NDArray[np.bool_] | None = None,
    reached: int | None = None,
    theme: Theme = "light",
) -> Figure:
    """The presented ranking of a small world, each row as dark as its rank is examined.

    ``looked``, ``clicked`` bool [documents] are one user's events; ``reached`` is the last rank
    shown of them (all for None). Without them, the rows tell the propensity of their rank.
    """
    query, size = world.query, world.query.size
    last = size if reached is None else reached
    records = []
    for rank, document in enumerate(query.shown, start=1):
        seen = float(world.users.look[document])
        event = "waiting"
        if looked is not None and clicked is not None and rank <= last:
            event = "clicked" if clicked[document] else "seen" if looked[document] else "unseen"
        records.append(
            {
                "part": "row",
                "rank": rank,
                "name": f"{rank}   {LETTERS[document]}  {TITLES[document]}",
                "seen": seen,
                "relevant": "★" if query.relevance[document] else "",
                "event": event,
                "note": _note(world, document, event, plain=looked is None),
            }
        )
    rows = pd.DataFrame(records)
    if looked is None:
        alt_text = (
            f"Results page with {size} results; rank 1 is always seen, the last one with "
            f"probability {records[-1]['seen']:.2f}. A star marks relevant documents."
        )
    else:
        clicks = [LETTERS[d] for d in query.shown[:last] if clicked is not None and clicked[d]]
        alt_text = f"One user on the results page, down to rank {last}; clicked: " + (
            ", ".join(clicks) or "nothing"
        )
    name = "results-page" if looked is None else "one-user"
    return Figure(
        name, "Results for “mercury”", alt_text, rows, _template(size, theme),
        height=ROW_HEIGHT * size,
    )  # fmt: skip


def _note(world: SmallWorld, document: int, event: str, *, plain: bool) -> str:
    inverse = world.inverse[document]
    weight = f"{float(inverse):.3g}" if inverse else "–"
    if plain:
        p = world.users.look[document]
        return f"p = {float(p):.2g}, weight {weight}"
    return {
        "clicked": f"CLICK, weight {weight}",
        "seen": "looked",
        "unseen": "not seen",
    }.get(event, "")


@lru_cache(maxsize=32)
def _template(size: int, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    blue, orange = METHOD_STYLES["propensity"].color, METHOD_STYLES["naive"].color
    rank = alt.Y("rank:O", axis=None, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.05))
    row = rows_of("row")
    seen = alt.Opacity(
        "seen:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.04, 0.42], clamp=True)
    )
    full = {"x": alt.value(0), "x2": alt.value("width")}
    layers = [
        row.mark_bar(color=blue, cornerRadius=4).encode(y=rank, opacity=seen, **full),
        row.transform_filter(alt.datum.event == "clicked")
        .mark_bar(filled=False, stroke=orange, strokeWidth=3, cornerRadius=4)
        .encode(y=rank, **full),
        row.mark_text(align="left", color=ink.text).encode(y=rank, x=alt.value(30), text="name:N"),
        row.mark_text(align="center", color=ink.text, fontSize=18).encode(
            y=rank, x=alt.value(15), text="relevant:N"
        ),
        row.mark_text(align="right", color=ink.text, dx=-8).encode(
            y=rank, x=alt.value("width"), text="note:N"
        ),
    ]
    return bare_spec(layers, ink)
