"""Words of the lab that read numbers: whatever these are, the words say nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from pages.shared.lab_words import preference
from ultr_core.experiments import EstimatedRisks, RiskPicture
from ultr_core.settings import PRESETS

SEES = "It sees that the skyline is better than production"
TAKES = "It takes production for better than the skyline: wrong"


def picture(true: list[float], said: list[float], tau: float) -> RiskPicture:
    value = np.array(said)
    found = EstimatedRisks(value, value, value, value, tau, tau, 9.0, 1.0)
    kinds = ("production", "skyline")
    return RiskPicture(kinds, kinds, np.array(true), found, found, 1.0, 0.0, 9, 9)


@pytest.mark.parametrize(
    ("true", "said", "tau", "words"),
    [
        ([13.0, 10.0], [3.0, 2.0], 0.98, f"{SEES}."),
        ([13.0, 10.0], [3.0, 2.0], 0.3, f"{SEES}, but many other pairs are the wrong way round."),
        ([13.0, 10.0], [3.0, 2.0], -0.54, f"{SEES}, but most other pairs are the wrong way round."),
        ([13.0, 10.0], [2.0, 3.0], 0.72, f"{TAKES}."),
        ([13.0, 10.0], [2.0, 3.0], -0.54, f"{TAKES}, and so are most other pairs."),
        ([10.0, 13.0], [2.0, 3.0], 0.9, "It sees that production is better than the skyline."),
        (
            [10.0, 13.0],
            [3.0, 2.0],
            0.9,
            "It takes the skyline for better than production: wrong.",
        ),
    ],
)
def test_the_order_is_read_with_all_of_it(
    true: list[float], said: list[float], tau: float, words: str
) -> None:
    found = picture(true, said, tau)
    assert preference(found, found.weighted) == words


def test_what_a_preset_promises_is_the_papers_finding() -> None:
    """The reader's corpus may say otherwise."""
    for preset in PRESETS:
        if any(word in preset.watch for word in ("beats", "hurts", "closes")):
            assert "the paper's" in preset.watch
