"""The plans for lecturers: minutes, questions for the room, links, and what comes out."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.app.context import require_world
from pages.app.field_control import choose
from pages.app.markdown import set_formulas, told
from pages.app.slots import Slot
from pages.views.lessons.lesson import telling_lab
from ultr_core.errors import InputError
from ultr_core.jobs.lessons import LESSON_PLAN
from ultr_core.lab import Lab
from ultr_core.lessons import LESSONS, PLANS, PlanRow, plan_html, plan_markdown, plan_row


def show(lab: Lab) -> None:
    """A plan with its numbers, line by line as they are computed, and as files to print."""
    chosen = choose(LESSON_PLAN, label_visibility="collapsed")
    plan = next(plan for plan in PLANS if str(plan.minutes) == chosen)
    st.markdown(
        f"{plan.purpose} The numbers are for the corpus and the seed chosen above; each link "
        "opens its page in large type, for a projector."
    )
    files, bar, waiting = st.container(horizontal=True), Slot(), Slot()
    require_world(lab)
    reader, rows = lab.settings, []
    for position, step in enumerate(plan.steps):
        lesson = LESSONS[step.lesson - 1]
        bar.place().progress(
            position / len(plan.steps),
            f"Line {position + 1} of {len(plan.steps)} is being computed; the printable files come "
            f"last.",
        )
        try:
            found = lesson.measure(telling_lab(lab.at(lesson.settings(reader)), waiting))
            row = plan_row(plan, position, LESSONS, found, reader, _address())
        except InputError as error:
            st.markdown(f":material/info: Lesson {step.lesson}: {told(error)}")
            continue
        rows.append(row)
        _show_row(row)
    waiting.place().empty()
    bar.place().empty()
    with files:
        for label, write, suffix, mime in (
            ("HTML, for printing", plan_html, "html", "text/html"),
            ("Markdown", plan_markdown, "md", "text/markdown"),
        ):
            st.download_button(
                label, data=partial(write, plan, rows),
                file_name=f"lesson-plan-{plan.minutes}-minutes.{suffix}", mime=mime,
                icon=":material/download:", on_click="ignore", key=f"plan-{suffix}",
            )  # fmt: skip


def _show_row(row: PlanRow) -> None:
    with st.container(border=True, key=f"plan-row-{row.number}"):
        st.markdown(
            f"**Minute {row.begins} to {row.begins + row.minutes} · Lesson {row.number}: "
            f"{row.title}**"
        )
        ask, answer = st.columns(2, gap="medium")
        with ask:
            st.markdown(f"**Do.** {row.do}")
            st.markdown(set_formulas(f"**Ask.** {row.ask}"))
            st.markdown(set_formulas(f"**Then ask.** {row.then} *A good answer:* {row.reply}"))
        with answer:
            st.markdown(set_formulas(f"**Answer.** {row.answer} {row.finding}"))
            st.markdown(set_formulas(f"**Exercise.** {row.exercise}"))
        with st.container(horizontal=True):
            for label, link in (("Lesson", row.lesson_link), ("Page", row.page_link)):
                st.link_button(f"Project the {label.lower()}", link, icon=":material/open_in_new:")


def _address() -> str:
    """The app's address without the page and its query."""
    here = (st.context.url or "").split("?")[0].rstrip("/")
    return here.removesuffix("/lessons")
