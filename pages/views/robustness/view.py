"""Robustness: more bias, more noise, wrong propensities (figures 2 to 4), and two maps."""

from __future__ import annotations

from pages.app.context import PageContext
from pages.app.field_control import choose
from pages.app.steps import Step
from pages.views.studies.page import show_study_page
from ultr_core.jobs.reproduce import STUDY
from ultr_core.settings import Settings

MORE_BIAS = Step(
    "**Few users read on.** At η = 2 one user in nine looks at rank 3. What is left to learn from?",
    "Open η = 2",
    Settings(eta=2.0, assumed_eta=2.0, eps_minus=0.0, clicks=45_000),
)
NO_BIAS = Step(
    "**Everybody reads everything.** Without bias, does weighting cost anything?",
    "Open η = 0",
    Settings(eta=0.0, assumed_eta=0.0, eps_minus=0.0, clicks=45_000),
)
MORE_NOISE = Step(
    "**Six clicks in ten are wrong.** Can the weighted ranker still find the right order?",
    "Open ε₋ = 0.3",
    Settings(eps_minus=0.3),
)
TOO_MUCH = Step(
    "**The learner over-corrects.** Why does assuming 1.5 hurt more than assuming 0.5?",
    "Open η′ = 1.5",
    Settings(assumed_eta=1.5),
)
TOO_LITTLE = Step(
    "**The learner under-corrects.** How much of the gain is left with η′ = 0.5?",
    "Open η′ = 0.5",
    Settings(assumed_eta=0.5),
)
STEPS = {
    "bias": (NO_BIAS, MORE_BIAS, MORE_NOISE),
    "noise": (MORE_NOISE, NO_BIAS, MORE_BIAS),
    "misspecification": (TOO_LITTLE, TOO_MUCH, MORE_NOISE),
    "map-noise": (NO_BIAS, MORE_BIAS, MORE_NOISE),
    "map-assumed": (TOO_LITTLE, TOO_MUCH, MORE_BIAS),
}


def show(page: PageContext) -> None:
    """Draw the page."""
    chosen = choose(STUDY, label_visibility="collapsed")  # the page's title says it
    show_study_page(page, chosen, STEPS[chosen])
