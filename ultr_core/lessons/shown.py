"""The settings of what the page of lessons shows, which are not those of its reader."""

from __future__ import annotations

from dataclasses import replace

from ultr_core.export import PageState
from ultr_core.lessons.registry import LESSONS
from ultr_core.links.page_links import LESSON, LESSON_PART
from ultr_core.settings import SHARED_FIELDS


def shown_state(state: PageState) -> PageState:
    """The state with the settings of its results: in a lesson the lesson's own.

    Of a plan and of the glossary only seed and corpus are named, for a plan has many worlds. States
    of other pages come back as they are.
    """
    if state.page != "lessons":
        return state
    values = state.values
    if values.get(LESSON_PART.key, LESSON_PART.default) != LESSON_PART.default:
        return replace(state, acting=SHARED_FIELDS)
    lesson = LESSONS[int(values.get(LESSON.key, LESSON.default)) - 1]
    return replace(state, settings=lesson.settings(state.settings))
