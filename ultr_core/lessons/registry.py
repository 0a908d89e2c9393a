"""All lessons in their order."""

from __future__ import annotations

from ultr_core.lessons.first_lessons import FIRST_LESSONS
from ultr_core.lessons.later_lessons import LATER_LESSONS
from ultr_core.lessons.learning_lessons import LEARNING_LESSONS
from ultr_core.lessons.model import Lesson

LESSONS: tuple[Lesson, ...] = (*FIRST_LESSONS, *LEARNING_LESSONS, *LATER_LESSONS)
"""The first one has number 1."""
