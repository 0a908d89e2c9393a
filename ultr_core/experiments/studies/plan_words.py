"""The settings of a study in words, read off its plan."""

from __future__ import annotations

from ultr_core.curve_values import CURVES
from ultr_core.experiments.studies.grids import BASE_FIELDS, Plan
from ultr_core.settings import PARAMETERS
from ultr_core.words import counted

_NOISE = ("eps_minus", "eps_plus")


def settings_words(plan: Plan) -> str:
    """What the users, the learner and the logs of a plan have: one value, or the range it spans."""
    users, learner = (_examination(plan, name) for name in CURVES)
    believed = all(point.settings.belief_is_right for point in plan.points)
    if believed and not plan.curves:
        examination = [users.replace("η", "η = η′", 1)]
    else:
        examination = [users, learner]
    noise = (f"{PARAMETERS[name].symbol} = {_span(plan, name)}" for name in _NOISE)
    logs = f"{counted(plan.base.draws, 'click log')} a point"
    return ", ".join([*examination, *noise, f"{_span(plan, 'clicks')} clicks", logs])


def sidebar_words(plan: Plan) -> str:
    """The controls of the sidebar that a plan of this study takes over, in words."""
    numbers = [PARAMETERS[name].label for name in BASE_FIELDS if name in PARAMETERS]
    *first, last = [*numbers, *(CURVES[name].label for name in plan.curves)]
    return f"{', '.join(first)} and {last}"


def _examination(plan: Plan, curve: str) -> str:
    """The exponent of the users or of the learner, unless a curve takes its place."""
    if curve in plan.curves:
        return "users examine as given" if curve == "curve" else "the learner believes as given"
    power = CURVES[curve].power
    return f"{PARAMETERS[power].symbol} = {_span(plan, power)}"


def _span(plan: Plan, name: str) -> str:
    """The one value that a setting has over the grid, its two, or the ends of several."""
    values = sorted({getattr(point.settings, name) for point in plan.points})
    texts = [f"{value:,}" if name == "clicks" else f"{value:g}" for value in values]
    if len(texts) == 1:
        return texts[0]
    return f"{texts[0]} {'or' if len(texts) == 2 else 'to'} {texts[-1]}"
