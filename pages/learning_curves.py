"""Learning curves: how the rankers do as clicks come in (figure 1 of the paper)."""

from __future__ import annotations

from pages.shared import shell, study_page
from ultr_core.settings import Settings

STEPS = (
    (
        "**Which error is worse?** With 500 clicks one ranker is biased, the other noisy. Look "
        "left of the crossing, then open that world.",
        "Open n = 500",
        Settings(clicks=500),
    ),
    (
        "**Can more data cure the naive ranker?** Compare its level at 9,000 and 850,000 clicks.",
        "Open n = 850,000",
        Settings(clicks=850_000),
    ),
    (
        "**Where should clipping matter?** Find the clicks at which green leaves blue, and see "
        "which τ validation chose there.",
        "Open n = 9,000",
        Settings(clicks=9_000),
    ),
)

study_page.show(shell.enter(), "learning-curve", STEPS)
