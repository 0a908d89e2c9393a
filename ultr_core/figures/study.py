"""The picture of a study, whichever kind it needs."""

from __future__ import annotations

from ultr_core.figures.figure import Figure
from ultr_core.figures.study_curves import study_curves
from ultr_core.figures.study_map import study_map
from ultr_core.figures.style import Theme
from ultr_core.studies import StudyResult, read_study


def study_figure(result: StudyResult, *, theme: Theme = "light") -> Figure:
    """Curves or map of a study, with the sentence that reads it as alternative text."""
    draw = study_map if result.plan.study.is_map else study_curves
    return draw(result, alt_text=read_study(result), theme=theme)
