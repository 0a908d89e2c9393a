"""One lesson on the page: idea, prediction, what happens, exercise, what to try next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from pages.app.context import require_world
from pages.app.frame import show_chart, show_figure, theme
from pages.app.markdown import plain, set_formulas, show_error, show_note
from pages.app.slots import Slot
from pages.views.lessons import state
from pages.views.lessons.keeper import keep
from ultr_core.content import fill
from ultr_core.errors import InputError
from ultr_core.figures import Figure, Theme, prediction_figure
from ultr_core.lab import METHODS, Cell, Lab
from ultr_core.lessons import (
    GLOSSARY,
    LESSONS,
    Choice,
    Door,
    Exercise,
    Found,
    Guess,
    Lesson,
    Term,
)
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.users import USERS


def _training(cell: Cell, settings: Settings) -> str:
    draw, method = cell.args
    log = f"log {draw + 1} of {settings.draws}"
    return f"Users are clicking ({log}); the ranker “{METHODS[method].label}” is learning …"


_COMPUTING: Mapping[str, Callable[[Cell, Settings], str]] = {
    "picture": lambda _cell, _settings: "Judging sixty rankers by clicks …",
    "trained": _training,
    "swaps": lambda cell, _: f"Users are looking at {cell.args[0].sessions:,} lists …",
    "live": lambda _cell, _settings: (
        "Simulating three weeks of clicks, a week of swaps and two contests …"
    ),
}
"""By kind of cell; what is not named here takes a moment."""


def telling_lab(lab: Lab, waiting: Slot) -> Lab:
    """The lab, which says in ``waiting`` what is about to be computed.

    Each message to the page is also a point at which a newer request of the reader takes over.
    """

    def tell(cell: Cell) -> None:
        if cell.kind in _COMPUTING:
            words = _COMPUTING[cell.kind](cell, lab.settings)
            waiting.place().markdown(f":shimmer[{words}]")

    return lab.telling(tell)


NAMED = ("eta", "eps_minus")
"""Settings that are said to belong to a lesson, besides what counts in it."""

NO_GUESS = "?"
"""Where the slider of a prediction starts: beside all answers, so that one move gives any."""

GOOD, OTHER = ":green[:material/check_circle:]", ":orange[:material/lightbulb:]"


def show(reader: Lab, number: int) -> None:
    """Lesson ``number``, counted from 1, with users and corpus of the reader's lab."""
    lesson = LESSONS[number - 1]
    settings = lesson.settings(reader.settings)
    with st.container(key="lesson-title"):
        st.markdown(f"### Lesson {number}: {lesson.title}")
        st.markdown(world_words(lesson, settings))
    require_world(reader.at(settings))
    waiting = Slot()
    lab = telling_lab(reader.at(settings), waiting)
    committed = state.progress(number).guess is not None
    try:
        given = lesson.given(lab)
        idea, prediction = st.columns([0.54, 0.46], gap="medium")
        with idea:
            with st.container(key="lesson-idea"):
                st.markdown(set_formulas(fill(lesson.idea, given)))
            _terms(lesson)
        with prediction:
            _prediction(lesson, number, given)
        if committed:
            found = lesson.measure(lab)
            _reveal(lesson, number, found, lab)
            _exercise(lesson.exercise, number, found.numbers)
            _next(lesson, number, settings)
    except InputError as error:
        show_error(error)
    waiting.place().empty()
    keep()
    st.markdown(
        ":material/info: Links open in a new tab. Your predictions and answers stay in this tab "
        "until you close it; the address keeps only the lesson number."
    )


def _terms(lesson: Lesson) -> None:
    """The words of the lesson; each shows its meaning under the pointer, and all in a list."""
    with st.container(horizontal=True, gap="xsmall", key="words-of-lesson"):
        for key in lesson.terms:
            term = GLOSSARY[key]
            symbol = f"{term.symbol}: " if term.symbol else ""
            st.badge(term.name, color="gray", help=set_formulas(f"{symbol}{term.meaning}"))
    # A finger and the keyboard have no pointer that rests.
    with st.expander("What these words mean", key="meanings"):
        st.markdown("\n".join(f"- {_explained(GLOSSARY[key])}" for key in lesson.terms))


def _explained(term: Term) -> str:
    symbol = f" ({term.symbol})" if term.symbol else ""
    return set_formulas(f"**{term.name}**{symbol}: {term.meaning}")


def _prediction(lesson: Lesson, number: int, given: Mapping[str, float]) -> None:
    asked = lesson.prediction
    done = state.progress(number)
    with st.container(border=True, key="lesson-prediction"):
        st.markdown(set_formulas(f"**Predict first.** {fill(asked.question, given)}"))
        if done.guess is not None:
            st.markdown(f"You said: **{asked.spoken(done.guess)}**")
            st.button(
                "Predict again", key="lesson-again", icon=":material/lock_open:",
                on_click=state.withdraw, args=(number,), type="tertiary",
            )  # fmt: skip
            return
        key = state.guess_key(number)
        if isinstance(asked, Choice):
            chosen = st.radio(
                "Your prediction", range(len(asked.options)), index=None, key=key,
                format_func=lambda index: asked.options[index], label_visibility="collapsed",
            )  # fmt: skip
        else:
            places = (None, *range(asked.low, asked.high + 1, asked.step))
            chosen = st.select_slider(
                "Your prediction: move the slider to answer", places, key=key,
                format_func=lambda place: NO_GUESS if place is None else asked.spoken(place),
            )  # fmt: skip
        st.button(
            "Commit and see what happens", key="lesson-commit", type="primary",
            icon=":material/lock:", disabled=chosen is None, on_click=state.commit,
            args=(number,),
        )  # fmt: skip


def _reveal(lesson: Lesson, number: int, found: Found, lab: Lab) -> None:
    guess = state.progress(number).guess
    assert guess is not None
    with st.container(key="lesson-reveal"):
        st.subheader("What happens")
    right, words = lesson.prediction.read(guess, found.numbers)
    with st.container(key="lesson-reading"):
        st.markdown(f"{GOOD if right else OTHER} **{words}** {found.sentence}")
    picture, meaning = st.columns([0.56, 0.44], gap="medium")
    with picture:
        asked = lesson.prediction
        if isinstance(asked, Guess):
            draw = partial(
                prediction_figure, guess, found.numbers[asked.truth], ends=(asked.low, asked.high),
                unit=asked.unit,
            )  # fmt: skip
            show_chart(draw(theme=theme()))
        show_figure(partial(_figure, lesson, lab))
    with meaning:
        st.markdown(set_formulas(fill(lesson.meaning, found.numbers)))
        st.markdown(lesson.shows.look)
        _open(lesson.shows, lab.settings)


def _figure(lesson: Lesson, lab: Lab, *, theme: Theme) -> Figure:
    return lesson.figure(lab, theme)


def _exercise(exercise: Exercise, number: int, numbers: Mapping[str, float]) -> None:
    st.subheader("Exercise")
    with st.container(key="lesson-exercise", gap="small"):
        st.markdown(set_formulas(fill(exercise.question, numbers)))
        with st.form(f"lesson-form-{number}", border=False):
            field, button = st.columns([0.5, 0.5], vertical_alignment="bottom")
            with field:
                st.text_input(
                    f"Your answer: {exercise.unit}", key=state.answer_key(number),
                    placeholder="a number", autocomplete="off",
                )  # fmt: skip
            with button:
                st.form_submit_button(
                    "Check", icon=":material/done:", on_click=state.answer, args=(number,)
                )
        tries = state.tries(number)
        if state.is_blank(number):
            st.markdown(":material/info: There is no answer yet; enter a number.")
        elif tries:
            _verdict(exercise, number, tries, numbers)


def _verdict(
    exercise: Exercise, number: int, tries: tuple[str, ...], numbers: Mapping[str, float]
) -> None:
    """What to say to the last try, and after enough wrong ones the way to the solution."""
    try:
        verdict = exercise.judge(tries[-1], numbers)
    except InputError as error:
        show_note(error)
        return
    if verdict.right:
        state.note_solved(number)
        after = (
            " It counts as done, but not as solved, because the solution had been shown."
            if state.progress(number).shown
            else ""
        )
        st.markdown(set_formulas(f"{GOOD} **Right.** {verdict.words}{after}"))
        return
    st.markdown(set_formulas(f"{OTHER} **{plain(tries[-1])}**: not yet. {verdict.words}"))
    if exercise.solution_is_due(tries, numbers):
        state.note_shown(number)
        st.markdown(
            set_formulas(f":material/route: **Solution.** {fill(exercise.solution, numbers)}")
        )


def _next(lesson: Lesson, number: int, settings: Settings) -> None:
    st.subheader("Try next")
    columns = st.columns(len(lesson.steps) + 1, gap="medium")
    for column, door in zip(columns, lesson.steps, strict=False):
        with column:
            st.markdown(door.look)
            _open(door, settings)
    with columns[-1]:
        if number < len(LESSONS):
            st.markdown(f"**Next lesson.** {LESSONS[number].title}")
            st.button(
                f"Go to lesson {number + 1}", key="lesson-next", icon=":material/arrow_forward:",
                type="primary", on_click=state.go_to, args=(number + 1,),
            )  # fmt: skip
        else:
            st.markdown("**That was the last lesson.** You can change every setting in the Lab.")
            st.link_button("Open the Lab", "lab", icon=":material/science:")


def _open(door: Door, settings: Settings) -> None:
    """A link into a normal page; it opens beside the lesson, so that nothing here is lost."""
    st.link_button(door.button, door.address(settings), icon=":material/open_in_new:")


def _acting(lesson: Lesson) -> str:
    """Which settings of the reader affect a lesson."""
    if lesson.shipped:
        return "No other setting affects it."
    return "Only the corpus and the seed, under More settings, affect it."


def world_words(lesson: Lesson, settings: Settings) -> str:
    """The lesson's world, before anybody moves a control in vain."""
    users = USERS[lesson.users]
    acting = () if users.own else NAMED
    fixed = [f"{PARAMETERS[name].label} = {getattr(settings, name):g}" for name in acting]
    if lesson.users != Settings().users:
        fixed.append(f"users: {users.label}")
    return (
        f":small[:material/tune: This lesson has its own settings: {', '.join(fixed)}; "
        f"{lesson.traffic(settings)}. {_acting(lesson)}]"
    )
