"""What a reader has done in the lessons, kept in the session."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import streamlit as st

from ultr_core.jobs.lessons import LESSON
from ultr_core.lessons import LESSONS, Choice
from ultr_core.settings import SHARED_FIELDS

LONGEST_ANSWER = 80
"""Characters of an answer that are kept: more than are read, so that none is cut and judged."""

MOST_TRIES = 1_000

_DONE, _BLANK, _COMMITS = "lesson_progress", "lesson_blank_answer", "lesson_commits"


@dataclass(frozen=True)
class Progress:
    """One lesson: the prediction committed to, answers tried, and how the exercise ended.

    ``shown``: the way to the solution was shown. Whoever answers rightly after that has not
    solved the exercise. ``world``: the settings whose numbers the tries are answers to.
    """

    guess: float | None = None
    tries: tuple[str, ...] = ()
    world: tuple[object, ...] = ()
    solved: bool = False
    shown: bool = False


def progress(number: int) -> Progress:
    """What was done in lesson ``number``, from 1."""
    known: dict[int, Progress] = st.session_state.get(_DONE, {})
    return known.get(number, Progress())


def solved() -> list[int]:
    """Numbers of the lessons whose exercise the reader solved."""
    return [number for number in range(1, len(LESSONS) + 1) if progress(number).solved]


def shown() -> list[int]:
    """Numbers of the lessons whose solution was shown before the reader had it."""
    return [number for number in range(1, len(LESSONS) + 1) if progress(number).shown]


def commit(number: int) -> None:
    """Callback: take the prediction as it stands in its control."""
    guess = st.session_state.get(guess_key(number))
    if guess is not None:
        _put(number, replace(progress(number), guess=float(guess)))
        st.session_state[_COMMITS] = commits() + 1


def commits() -> int:
    """How often a prediction was committed to in this session."""
    return int(st.session_state.get(_COMMITS, 0))


def withdraw(number: int) -> None:
    """Callback: predict again."""
    _put(number, replace(progress(number), guess=None))


def answer(number: int) -> None:
    """Callback: one more try at the exercise; the same text twice in a row is one try."""
    text = str(st.session_state.get(answer_key(number)) or "").strip()[:LONGEST_ANSWER].strip()
    before = tries(number)
    st.session_state[_BLANK] = number if not text else None
    if text and text != (before[-1] if before else ""):
        _put(number, replace(progress(number), tries=(*before, text), world=_world()))


def tries(number: int) -> tuple[str, ...]:
    """The answers tried that are answers to the numbers on the page, the last one last."""
    known = progress(number)
    return known.tries if known.world == _world() else ()


def is_blank(number: int) -> bool:
    """Whether the last answer that was checked is one to this lesson, and empty."""
    return bool(st.session_state.get(_BLANK) == number)


def note_solved(number: int) -> None:
    """Note a right answer; after the solution was shown it changes nothing."""
    if not progress(number).shown:
        _put(number, replace(progress(number), solved=True))


def note_shown(number: int) -> None:
    """Note that the solution was shown; after a right answer it changes nothing."""
    if not progress(number).solved:
        _put(number, replace(progress(number), shown=True))


def go_to(number: int) -> None:
    """Callback: open another lesson."""
    st.session_state[LESSON.key] = str(number)


def guess_key(number: int) -> str:
    """Key of the control in which the prediction is made."""
    return f"lesson-guess-{number}"


def answer_key(number: int) -> str:
    """Key of the field for the exercise's answer."""
    return f"lesson-answer-{number}"


def _world() -> tuple[object, ...]:
    """The settings of the reader that change the numbers of a lesson."""
    return tuple(st.session_state.get(name) for name in SHARED_FIELDS)


def as_text() -> str | None:
    """All progress for the browser to keep; None before anything was done."""
    done: dict[int, Progress] | None = st.session_state.get(_DONE)
    return None if done is None else json.dumps({n: asdict(each) for n, each in done.items()})


def restore(text: object) -> None:
    """Take back what a browser kept of a former session; what cannot be read is left out."""
    if _DONE in st.session_state or not isinstance(text, str):
        return
    try:
        kept = json.loads(text)
        found = {int(number): _progress(**each) for number, each in kept.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return
    st.session_state[_DONE] = {n: each for n, each in found.items() if _is_possible(n, each)}


def _is_possible(number: int, done: Progress) -> bool:
    if not 1 <= number <= len(LESSONS):
        return False
    asked, guess = LESSONS[number - 1].prediction, done.guess
    if guess is None:
        return True
    if isinstance(asked, Choice):
        return guess in range(len(asked.options))
    return asked.low <= guess <= asked.high


def _progress(
    guess: Any = None, tries: Any = (), world: Any = (), solved: Any = False, shown: Any = False
) -> Progress:
    return Progress(
        None if guess is None else float(guess),
        tuple(str(each)[:LONGEST_ANSWER] for each in list(tries)[-MOST_TRIES:]),
        tuple(world),
        bool(solved),
        bool(shown),
    )


def _put(number: int, new: Progress) -> None:
    st.session_state[_DONE] = {**st.session_state.get(_DONE, {}), number: new}
