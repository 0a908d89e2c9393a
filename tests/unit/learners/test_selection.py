"""Settings are chosen on fits as exact as the choice needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ultr_core.lab import METHODS, World, build_world, simulate_logs
from ultr_core.lab.methods import ClickData
from ultr_core.lab.training import select
from ultr_core.learners import selection
from ultr_core.learners.selection import SELECTION_TOLERANCES, best_setting
from ultr_core.propensity import Belief
from ultr_core.settings import Settings
from ultr_core.users import PowerLaw

COSTS = (1.0, 10.0, 100.0)
EXACT = np.array([[5.0, 4.0, 4.002], [4.001, 6.0, 9.0]])


class Fits:
    """Made-up fits whose risk is off by ``error`` times the root of the gap."""

    def __init__(self, exact: np.ndarray, error: np.ndarray) -> None:
        self.exact, self.error = exact, error
        self.made: list[tuple[int, float, float]] = []

    def fit(self, candidate: int, costs: Sequence[float], gap: float) -> Any:
        self.made += [(candidate, cost, gap) for cost in costs]
        return [(candidate, COSTS.index(cost), gap) for cost in costs]

    def risks(self, rankers: Any) -> np.ndarray:
        return np.array([self.exact[k, c] + self.error[k, c] * gap**0.5 for k, c, gap in rankers])

    def best(self) -> tuple[int, Any, np.ndarray]:
        return best_setting(self.fit, self.risks, len(self.exact), COSTS, 10_000)


def test_a_setting_that_wins_on_rough_fits_alone_is_not_chosen() -> None:
    error = np.array([[0.0, 0.2, -0.1], [-0.15, 0.0, 0.0]])
    fits = Fits(EXACT, error)
    rough = fits.exact + error * SELECTION_TOLERANCES[0] ** 0.5
    assert np.unravel_index(rough.argmin(), rough.shape) == (1, 0)
    candidate, ranker, risks = fits.best()
    assert (candidate, ranker[:2]) == (0, (0, 1))
    # What was far behind was fitted once.
    assert [gap for k, c, gap in fits.made if (k, c) == (1, 100.0)] == [SELECTION_TOLERANCES[0]]
    assert risks.shape == EXACT.shape and np.isfinite(risks).all()


def test_a_clear_winner_is_fitted_once() -> None:
    fits = Fits(np.array([[5.0, 3.0, 4.0]]), np.full((1, 3), 0.1))
    assert fits.best()[:2] == (0, (0, 1, SELECTION_TOLERANCES[0]))
    assert len(fits.made) == 3


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_ties_go_to_the_first_candidate_and_cost(sign: float) -> None:
    fits = Fits(np.full((2, 3), sign * 4.0), np.zeros((2, 3)))
    candidate, ranker, _ = fits.best()
    assert (candidate, ranker) == (0, (0, 0, SELECTION_TOLERANCES[-1]))


def test_a_path_that_a_callback_ended_is_chosen_from() -> None:
    fits = Fits(EXACT, np.zeros_like(EXACT))
    whole = fits.fit
    fits.fit = lambda candidate, costs, gap: whole(candidate, costs[:1], gap)  # type: ignore[method-assign]
    assert fits.best()[0] == 1


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


def test_the_choice_is_that_of_fits_to_a_millionth(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(clicks=1_000)
    logs = simulate_logs(world, settings, draw=1)
    parts = world.splits
    data = ClickData(
        parts.train, logs.train, parts.validation, logs.validation, Belief(PowerLaw(1.0))
    )
    found = [select(METHODS["clipped"], data)]
    for gap in (1e-6, 1e-2):
        monkeypatch.setattr(selection, "SELECTION_TOLERANCES", (gap,))
        found.append(select(METHODS["clipped"], data))
    # Fits to 1% choose another threshold.
    assert [(one.clip, one.ranker.cost) for one in found] == [(0.1, 0.3), (0.1, 0.3), (1.0, 3.0)]
