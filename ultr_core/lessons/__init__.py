"""Lessons on the paper: questions, predictions, findings, and exercises with checked answers.

    lesson = LESSONS[3]
    found = lesson.measure(Lab(lesson.settings(Settings())))
    lesson.exercise.judge("50%", found.numbers).right

Every number comes from a :class:`~ultr_core.lab.Lab`; texts are templates over these numbers.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.lessons.answers import (
        TRIES_BEFORE_SOLUTION,
        Exercise,
        Mistake,
        Verdict,
        read_number,
    )
    from ultr_core.lessons.model import Choice, Door, Found, Guess, Lesson
    from ultr_core.lessons.plans import PLANS, Plan, PlanRow, plan_html, plan_markdown, plan_row
    from ultr_core.lessons.registry import GLOSSARY, LESSONS, Term
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "GLOSSARY",
    "LESSONS",
    "PLANS",
    "TRIES_BEFORE_SOLUTION",
    "Choice",
    "Door",
    "Exercise",
    "Found",
    "Guess",
    "Lesson",
    "Mistake",
    "Plan",
    "PlanRow",
    "Term",
    "Verdict",
    "plan_html",
    "plan_markdown",
    "plan_row",
    "read_number",
]
