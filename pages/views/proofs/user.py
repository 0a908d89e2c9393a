"""One user at a time: the results page, a click, and the weighted example it becomes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.app.field_control import control
from pages.app.frame import show_figure
from pages.views.proofs.words import number
from ultr_core.figures.proofs import results_page
from ultr_core.jobs.proofs import STEP as STEPS
from ultr_core.proofs import SmallWorld
from ultr_core.proofs.monte_carlo import Watched, watch_user, watch_users
from ultr_core.proofs.small_query import LETTERS
from ultr_core.words import counted

SHOWN_EXAMPLES = 6
SECONDS_A_STEP = 0.7
STEP, LAST_STEP, PLAYING = STEPS.key, STEPS.high, "playing"


def watch(world: SmallWorld, seed: int) -> None:
    """The section; while it plays, it alone is run again and again."""
    playing = bool(st.session_state.get(PLAYING, False))
    fragment = st.fragment(_stage, run_every=SECONDS_A_STEP if playing else None)
    fragment(world, seed)


def _stage(world: SmallWorld, seed: int) -> None:
    if st.session_state.get(PLAYING) and STEP in st.session_state:
        _forward(1)
    size = world.query.size
    # Each user takes one step to come and one for each rank.
    visits, reached = divmod(_buttons(size), size + 1)
    user = visits + 1
    page, ledger = st.columns([0.58, 0.42], gap="medium")
    looked, clicked = watch_user(world, user, seed)
    with page:
        st.markdown(f"**User {user}** searches for “mercury”" + _where(reached, size))
        figure = partial(results_page, world, looked=looked, clicked=clicked, reached=reached)
        show_figure(figure, key="user")
    with ledger:
        _ledger(world, watch_users(world, user, reached, seed))


def _where(reached: int, size: int) -> str:
    if reached == 0:
        return " and starts at the top."
    return f", now at rank {reached}." if reached < size else " and leaves."


def _buttons(size: int) -> int:
    """Play, step, reset; the number of steps so far."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        playing = st.session_state.get(PLAYING, False)
        if st.button(
            "Pause" if playing else "Play", key="play", on_click=_toggle,
            icon=":material/pause:" if playing else ":material/play_arrow:",
        ):  # fmt: skip
            st.rerun()
        st.button("Step", key="one_step", icon=":material/skip_next:", on_click=_forward, args=(1,))
        st.button(
            "Next user", key="next_user", icon=":material/person:", on_click=_next_user,
            args=(size,),
        )  # fmt: skip
        if st.button("Start again", key="first_user", icon=":material/replay:", on_click=_reset):
            st.rerun()
        return int(control(STEPS, width=150))


def _toggle() -> None:
    st.session_state[PLAYING] = not st.session_state.get(PLAYING, False)


def _forward(steps: int) -> None:
    st.session_state[STEP] = min(int(st.session_state.get(STEP, 0)) + steps, LAST_STEP)


def _next_user(size: int) -> None:
    step = int(st.session_state.get(STEP, 0))
    st.session_state[STEP] = min((step // (size + 1) + 1) * (size + 1), LAST_STEP)


def _reset() -> None:
    st.session_state[STEP] = 0
    st.session_state[PLAYING] = False


def _ledger(world: SmallWorld, watched: Watched) -> None:
    """The weighted examples so far, and the average that they make."""
    clicks = watched.clicks
    st.markdown(f"**{counted(len(clicks), 'click')} so far, each a weighted example:**")
    lines = [
        f"- user {who}: {LETTERS[document]} at rank {world.query.presented[document]}"
        f"{'' if world.query.relevance[document] else ' (by mistake)'}, weight "
        f"1/p = **{number(world.inverse[document])}**, counts for "
        f"{number(world.inverse[document] * world.query.new[document])}"
        for who, document in clicks[-SHOWN_EXAMPLES:]
    ]
    if len(clicks) > SHOWN_EXAMPLES:
        lines.insert(0, f"- … and {len(clicks) - SHOWN_EXAMPLES} more before these")
    st.markdown("\n".join(lines) or "- none yet")
    if watched.mean is not None:
        st.markdown(
            f"Average of rank under S₁ ÷ p over {counted(watched.finished, 'user')}: "
            f"**{watched.mean:.3g}**; it converges to {watched.expected:.3g}."
        )
