"""Things to try on a page: a question to answer first, and a button that sets the controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from ultr_core.content import Content

T = TypeVar("T")


@dataclass(frozen=True)
class Step(Generic[T]):
    """Something to try: a question to answer first, a button, and what the button sets."""

    question: str
    button: str
    sets: T


def read_step(words: Content, name: str, sets: T, **named: str) -> Step[T]:
    """The step whose words stand under ``steps.NAME``; ``named`` are values in its question."""
    part = words.part(f"steps.{name}")
    return Step(part.text("question", **named), part.text("button"), sets)


def show_steps(steps: Sequence[Step[T]], key: str, apply: Callable[[T], None]) -> None:
    """All steps beside each other; ``apply`` is the callback that sets the controls."""
    st.subheader("Try this")
    for number, (column, step) in enumerate(zip(st.columns(len(steps)), steps, strict=True)):
        with column:
            st.markdown(step.question)
            st.button(step.button, key=f"{key}-{number}", on_click=apply, args=(step.sets,))


def set_controls(values: Mapping[str, Any]) -> None:
    """Callback: set controls by their keys."""
    for key, value in values.items():
        st.session_state[key] = value
