"""The page of lessons and its notebook; it has no command."""

from __future__ import annotations

from dataclasses import replace

from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice
from ultr_core.jobs.job import Job, Page, PageState, setting_fields
from ultr_core.lessons import LESSONS, PLANS
from ultr_core.settings import SHARED_FIELDS

LESSON_PART = Choice(
    "part", "Part", {"lessons": "Lessons", "lecturers": "For lecturers", "glossary": "Glossary"}
)
LESSON = Choice("lesson", "Lesson", {str(n): str(n) for n in range(1, len(LESSONS) + 1)})
LESSON_PLAN = Choice(
    "plan", "Time", {str(plan.minutes): f"{plan.minutes} minutes" for plan in PLANS}
)


def shown(state: PageState) -> PageState:
    """The state with the settings of its results: in a lesson the lesson's own.

    They are all named; of a plan and of the glossary only those that act, for a plan has many
    worlds.
    """
    if state.values[LESSON_PART.key] != LESSON_PART.default:
        return replace(state, acting=SHARED_FIELDS)
    lesson = LESSONS[int(state.values[LESSON.key]) - 1]
    own = lesson.settings(state.settings)
    return replace(state, settings=own, acting=tuple(own.as_dict()))


def cells(state: PageState) -> list[Cell]:
    """One lesson's numbers, those of a plan, or the glossary."""
    part = state.values[LESSON_PART.key]
    if part == "glossary":
        return _glossary()
    if part == "lecturers":
        return _plan(state.values[LESSON_PLAN.key])
    return _lesson(state.values[LESSON.key])


def _lesson(number: str) -> list[Cell]:
    return [
        words(
            f"""
            ## Lesson {number}

            A lesson sets its own world; only the seed, the corpus and the lowest relevant grade
            come from the settings. Read the question and make your prediction before you run the
            cell below it.
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
        words("## Exercise\n\nReplace the question mark with your answer."),
        code(
            """
            print(lesson.exercise.question.format(**found.numbers))
            answer = "?"
            if answer != "?":
                print(lesson.exercise.judge(answer, found.numbers).words)
            """
        ),
        words("## All numbers in this lesson"),
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
            ## The {minutes}-minute plan

            These are the lessons in the order of the plan, each with the result that the class
            should find.
            """
        ),
        words(
            "All lessons are computed here, one after the other; what two lessons share is "
            "computed once."
        ),
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
        words("The terms used in the lessons, and where the paper explains each."),
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


JOB = Job(
    pages={
        "lessons": Page(
            "Can you predict what biased clicks do?", cells, (LESSON_PART, LESSON, LESSON_PLAN),
            settings=setting_fields(*SHARED_FIELDS), shown=shown,
        )
    }
)  # fmt: skip
