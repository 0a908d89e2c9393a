"""Lessons on the paper, plans for lecturers, and the glossary."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app.context import PageContext, require_lab
from pages.app.field_control import choose
from pages.app.markdown import set_formulas, whole_equations
from pages.views.lessons import lesson, plan, state
from ultr_core.jobs.lessons import LESSON, LESSON_PART
from ultr_core.lessons import GLOSSARY, LESSONS


def show(page: PageContext) -> None:
    """Choose a part, and within the lessons one of them."""
    lab = require_lab(page)
    part = choose(LESSON_PART, label_visibility="collapsed")
    if part == "lecturers":
        plan.show(lab)
    elif part == "glossary":
        _glossary()
    else:
        number, done = _choose()
        lesson.show(lab, number)
        # An exercise that was just solved counts at once.
        done.markdown(_done_words())


def _choose() -> tuple[int, DeltaGenerator]:
    """The number of the lesson, and the place of the line on what is done."""
    choice, done = st.columns([0.6, 0.4], vertical_alignment="center")
    with choice:
        number = int(choose(LESSON, label_visibility="collapsed"))
    with done:
        place = st.empty()
        place.markdown(_done_words())
    return number, place


def _done_words() -> str:
    solved, shown = state.solved(), state.shown()
    parts = []
    if solved:
        parts.append(f"solved {_names(solved)}")
    if shown:
        parts.append(f"solution shown for {_names(shown)}")
    if not parts:
        return f"{len(LESSONS)} lessons of about five minutes each, in order"
    done = f"**{len(solved) + len(shown)} of {len(LESSONS)} done**: {'; '.join(parts)}"
    return f":green[:material/check:] {done}"


def _names(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _glossary() -> None:
    st.table(
        [
            {
                "Term": term.name,
                "Symbol": whole_equations(set_formulas(term.symbol)).replace(
                    " ", "\N{NO-BREAK SPACE}"
                ),
                "Meaning": whole_equations(set_formulas(term.meaning)),
                "In the paper": term.section,
            }
            for term in sorted(GLOSSARY.values(), key=lambda term: term.name.lower())
        ],
        alt="The lab's terms with their symbols and meanings",
    )
