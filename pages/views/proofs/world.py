"""The controls of the proofs page: the small query and the assumptions to break."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import streamlit as st

from pages.app.field_control import control
from pages.app.frame import show_figure
from ultr_core.figures.proofs import results_page
from ultr_core.jobs.proofs import RELEVANT, SWITCHES, TEXTS, switch_key
from ultr_core.proofs import BREAKS, SmallWorld
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import DEFAULTS

FEWEST, MOST = 2, 12
"""Candidates that the page offers; more are possible in Python."""


def break_switches() -> tuple[str, ...]:
    """One switch for each assumption; the names of those that are on."""
    broken = []
    grid = st.grid(3, min_column_width=230, gap="xsmall")
    for name, value in zip(BREAKS, SWITCHES, strict=True):
        with grid.cell():
            on = control(value)
        if on:
            broken.append(name)
    return tuple(broken)


def mend() -> None:
    """Callback: turn all switches off."""
    for name in BREAKS:
        st.session_state[switch_key(name)] = False


def edit_query() -> dict[str, str]:
    """Controls of the small query; their texts under the keys of a world's link."""
    size = _size()
    letters = list(LETTERS[:size])
    _forget_missing(letters)
    relevant = st.pills(
        RELEVANT.label, letters, selection_mode="multi", key=RELEVANT.key, wrap=True,
        default=_relevant_at_first(letters),
        help="Tap to change what this user finds relevant.", bind="query-params",
    )  # fmt: skip
    texts = {"relevant": "".join(relevant) or "-"}
    rankings, numbers = TEXTS[:3], TEXTS[3:]
    grid = st.grid(2, min_column_width=160, gap="small")
    for line in rankings:
        with grid.cell():
            texts[line.key] = control(line)
    with grid.cell():
        _resizing(size)
    for line in numbers:
        with grid.cell():
            texts[line.key] = control(line)
    return texts


def _size() -> int:
    """Candidates of the presented ranking as it is typed, before it is checked."""
    asked = st.session_state.get("list") or st.query_params.get("list") or DEFAULTS["list"]
    letters = sum(letter.isalpha() for letter in asked)
    return letters if FEWEST <= letters <= len(LETTERS) else len(DEFAULTS["list"])


def _relevant_at_first(letters: Collection[str]) -> list[str]:
    return [letter for letter in DEFAULTS["relevant"] if letter in letters]


def _forget_missing(letters: Collection[str]) -> None:
    """Relevance of documents that are gone must leave the address, too, or a link would differ."""
    chosen = st.session_state.get("relevant") or []
    if any(letter not in letters for letter in chosen):
        st.session_state["relevant"] = [letter for letter in chosen if letter in letters]


def _resizing(size: int) -> None:
    """Buttons, since a number box that followed the typed ranking would fight with it."""
    st.markdown(f"{size} candidates")
    with st.container(horizontal=True):
        for key, label, wanted in (
            ("fewer", "One fewer", size - 1),
            ("more", "One more", size + 1),
        ):
            st.button(
                label, key=f"candidates-{key}", on_click=_resize, args=(wanted,),
                disabled=not FEWEST <= wanted <= MOST,
                help="Resets the rankings and the relevance.",
            )  # fmt: skip


def _resize(size: int) -> None:
    """Callback: rankings of another length, shown as A, B, C ... and judged upside down."""
    letters = LETTERS[:size]
    st.session_state["relevant"] = _relevant_at_first(letters)
    st.session_state["list"] = letters
    st.session_state["new"] = letters[::-1]
    st.session_state["other"] = letters[1] + letters[0] + letters[2:]


def show_query(world: SmallWorld) -> None:
    """The results page with its fading attention."""
    show_figure(partial(results_page, world))
