"""The controls of the proofs page: the small query and the assumptions to break."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from pages.shared.frame import show_chart, theme
from ultr_core.figures.proof_query import results_page
from ultr_core.proofs import BREAKS, SmallWorld
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import DEFAULTS

FEWEST, MOST = 2, 12
"""Candidates that the page offers; more are possible in Python."""

BOUND: dict[str, Any] = {"bind": "query-params"}
LONGEST_TEXT = 200
RANKINGS = {
    "list": ("Shown to users", "The ranking that users saw, from the top."),
    "new": ("New ranker S₁", "The ranking to be judged from clicks, from the top."),
    "other": ("Other ranker S₂", "A second ranking to compare with, from the top."),
}
NUMBERS = {
    "curve": (
        "Own examination curve",
        "",
        "Overrides η. A number for each rank, as in “1, 1/2, 1/4, 0”; the last one is carried on. "
        "All are divided by the first.",
    ),
    "assumed": (
        "Own assumed curve",
        "",
        "Overrides η′. Left empty beside an own examination curve, it is the same curve.",
    ),
    "clip": ("Clipping threshold τ", DEFAULTS["clip"], "Propensities below τ count as τ."),
    "gap": (
        "Score gap of S₁",
        DEFAULTS["gap"],
        "Distance between the scores of neighbours in S₁, for section 6.",
    ),
}


def tidy_link(**whole: tuple[int, int]) -> None:
    """Drop numbers of the link that are not whole or out of range, and run again.

    A number field cannot be made with an infinite number in the address bar.
    """
    wrong = [
        key
        for key, (low, high) in whole.items()
        if key in st.query_params and not _is_whole(st.query_params[key], low, high)
    ]
    for key in wrong:
        del st.query_params[key]
    if wrong:
        st.rerun()


def _is_whole(text: str, low: int, high: int) -> bool:
    return len(text) < LONGEST_TEXT and text.isascii() and text.isdigit() and (
        low <= int(text) <= high
    )  # fmt: skip


def break_switches() -> tuple[str, ...]:
    """One switch for each assumption; the names of those that are on."""
    broken = []
    grid = st.grid(3, min_column_width=230, gap="xsmall")
    for name, entry in BREAKS.items():
        with grid.cell():
            on = st.toggle(
                entry.label, key=switch_key(name), help=f"{entry.what} {entry.consequence}", **BOUND
            )
        if on:
            broken.append(name)
    return tuple(broken)


def switch_key(name: str) -> str:
    """Key of a switch on the page and in the address bar."""
    return "break_" + name.replace("-", "_")


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
        "Relevant documents", letters, selection_mode="multi", key="relevant", wrap=True,
        default=_relevant_at_first(letters),
        help="Tap to change what this user finds relevant.", **BOUND,
    )  # fmt: skip
    texts = {"relevant": "".join(relevant) or "-"}
    grid = st.grid(2, min_column_width=160, gap="small")
    for key, (label, words) in RANKINGS.items():
        with grid.cell():
            texts[key] = st.text_input(
                label, value=DEFAULTS[key], key=key, help=f"{words} Type the letters in order.",
                max_chars=40, **BOUND,
            )  # fmt: skip
    with grid.cell():
        _resizing(size)
    for key, (label, start, words) in NUMBERS.items():
        with grid.cell():
            texts[key] = st.text_input(
                label, value=start, key=key, help=words, max_chars=LONGEST_TEXT,
                placeholder="from the sliders", **BOUND,
            )  # fmt: skip
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
                help="Starts the rankings and the relevance anew.",
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
    show_chart(results_page(world, theme=theme()))
