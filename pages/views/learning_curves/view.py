"""Learning curves: how the rankers do as clicks come in (figure 1 of the paper)."""

from __future__ import annotations

from pages.app.context import PageContext
from pages.app.steps import Step
from pages.views.studies.page import show_study_page
from ultr_core.settings import Settings

STEPS = (
    Step(
        "**Which error is worse?** With 500 clicks one ranker is biased and the other is noisy. "
        "Look to the left of the crossing, then open a world there.",
        "Open n = 500",
        Settings(clicks=500),
    ),
    Step(
        "**Can more data cure the naive ranker?** Compare its risk at 9,000 and 850,000 clicks.",
        "Open n = 850,000",
        Settings(clicks=850_000),
    ),
    Step(
        "**Where does clipping help?** Up to how many clicks is the green line below the blue "
        "line? Open a world there and see, under “Numbers”, which τ was chosen for "
        "each log: with few validation clicks the choice is partly luck.",
        "Open n = 1,000",
        Settings(clicks=1_000),
    ),
)


def show(page: PageContext) -> None:
    """Draw the page."""
    show_study_page(page, "learning-curve", STEPS)
