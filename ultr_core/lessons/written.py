"""The parts of a lesson, with their words from its text file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultr_core.content import Content
from ultr_core.lessons.answers import Exercise, Mistake, Share
from ultr_core.lessons.model import Choice, Door, Guess


def door(
    words: Content,
    page: str,
    changes: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
) -> Door:
    """A way into a page; its words are ``look`` and ``button``."""
    return Door(words.text("look"), words.text("button"), page, changes or {}, state or {})


def choice(words: Content) -> Choice:
    """A prediction by choosing one of the ``options``."""
    return Choice(words.template("question"), words.texts("options"))


def guess(
    words: Content, low: int, high: int, step: int, unit: str, near: float, decimals: int = 0
) -> Guess:
    """A prediction of a number on a slider."""
    return Guess(words.template("question"), low, high, step, unit, near, decimals)


def exercise(words: Content, unit: str, tolerance: float, share: Share = "") -> Exercise:
    """The task; its mistakes are named by their numbers."""
    mistakes = words.part("mistakes")
    return Exercise(
        question=words.template("question"),
        answer="answer",
        unit=unit,
        tolerance=tolerance,
        mistakes=tuple(Mistake(name, mistakes.template(name)) for name in mistakes.entries),
        hint=words.template("hint"),
        solution=words.template("solution"),
        share=share,
    )
