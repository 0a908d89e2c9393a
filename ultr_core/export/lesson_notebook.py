"""The notebook cells of the lessons: one lesson's numbers, a plan's, or the glossary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultr_core.export.notebook import Cell, code, words
from ultr_core.links.page_links import LESSON, LESSON_PART, LESSON_PLAN


def lesson_cells(values: Mapping[str, Any]) -> list[Cell]:
    """Cells for the part of the page that is shown; they need a ``lab``."""
    part = values.get(LESSON_PART.key, LESSON_PART.default)
    if part == "glossary":
        return _glossary()
    if part == "lecturers":
        return _plan(values.get(LESSON_PLAN.key, LESSON_PLAN.default))
    return _lesson(values.get(LESSON.key, LESSON.default))


def _lesson(number: str) -> list[Cell]:
    return [
        words(
            f"""
            ## Lesson {number}

            A lesson sets its own world; from the settings it takes the seed, the corpus and what
            counts as relevant. Read the question and predict before you run the cell below it.
            """
        ),
        code(
            f"""
            from ultr_core.lessons import LESSONS

            lesson = LESSONS[{number} - 1]
            own = lab.at(lesson.settings(lab.settings))
            print(lesson.title)
            print(lesson.prediction.question.format(**lesson.given(own)))
            """
        ),
        words("## What happens"),
        code(
            """
            found = lesson.measure(own)
            print(found.sentence)
            print(lesson.prediction.answer(found.numbers))
            """
        ),
        words("## Exercise\n\nPut your answer where the question mark is."),
        code(
            """
            print(lesson.exercise.question.format(**found.numbers))
            answer = "?"
            if answer != "?":
                print(lesson.exercise.judge(answer, found.numbers).words)
            """
        ),
        words("## All numbers of this lesson"),
        code(
            """
            for name, value in found.numbers.items():
                print(f"{name:24} {value:g}")
            """
        ),
    ]


def _plan(minutes: str) -> list[Cell]:
    return [
        words(
            f"""
            ## The plan for {minutes} minutes

            The lessons in the order of the plan, each with the sentence that the room should find.
            """
        ),
        words("All are computed here, one after the other; what two lessons share only once."),
        code(
            f"""
            from ultr_core.lessons import LESSONS, PLANS

            plan = next(plan for plan in PLANS if plan.minutes == {minutes})
            for step in plan.steps:
                lesson = LESSONS[step.lesson - 1]
                found = lesson.measure(lab.at(lesson.settings(lab.settings)))
                print(f"Lesson {{step.lesson}}: {{lesson.title}}")
                print(f"   {{found.sentence}}")
            """
        ),
    ]


def _glossary() -> list[Cell]:
    return [
        words("## Glossary"),
        words("The words of the lessons, and where in the paper each is explained."),
        code(
            """
            from ultr_core.lessons import GLOSSARY

            for term in sorted(GLOSSARY.values(), key=lambda term: term.name.lower()):
                symbol = f" ({term.symbol})" if term.symbol else ""
                where = f" Section {term.section}." if term.section else ""
                print(f"{term.name}{symbol}: {term.meaning}{where}")
            """
        ),
    ]
