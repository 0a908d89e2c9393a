"""Settings are chosen on fits as exact as the choice needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ultr_core.lab import METHODS, World, build_world, simulate_logs
from ultr_core.lab.methods import ClickData
from ultr_core.lab.training import select
from ultr_core.learners import LinearRanker, selection
from ultr_core.learners.certificate import Certificate
from ultr_core.learners.selection import FINAL_TOLERANCE, SELECTION_TOLERANCES, best_setting
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
        self.kept: dict[int, set[float]] = {}
        self.ended = False  # whether a callback ends each path after one fit

    def risks(self, rankers: Any) -> np.ndarray:
        found = [one.coefficients for one in rankers]
        return np.array([self.exact[k, c] + self.error[k, c] * gap**0.5 for k, c, gap in found])

    def best(self) -> tuple[int, Any, np.ndarray]:
        paths = [Fitted(self, candidate) for candidate in range(len(self.exact))]
        candidate, ranker, found = best_setting(paths, self.risks, COSTS, 10_000)
        return candidate, tuple(ranker.coefficients), found


@dataclass
class Fitted:
    """A path of made-up fits; a ranker's coefficients are its candidate, place of C and gap."""

    fits: Fits
    candidate: int

    def to(self, costs: Sequence[float], tolerance: float) -> Any:
        costs = costs[:1] if self.fits.ended else costs
        self.fits.made += [(self.candidate, cost, tolerance) for cost in costs]
        made = Certificate(1.0, 1.0 - tolerance, tolerance, 1, 1, "newton", True, False)
        return tuple(
            LinearRanker(
                (self.candidate, COSTS.index(cost), tolerance),  # type: ignore[arg-type]
                np.arange(3),
                cost,
                made,
            )
            for cost in costs
        )

    near = to

    def keep(self, costs: Any) -> None:
        self.fits.kept[self.candidate] = set(costs)


def test_a_setting_that_wins_on_rough_fits_alone_is_not_chosen() -> None:
    error = np.array([[0.0, 0.05, -0.1], [-0.15, 0.0, 0.0]])
    fits = Fits(EXACT, error)
    rough = fits.exact + error * SELECTION_TOLERANCES[0] ** 0.5
    assert np.unravel_index(rough.argmin(), rough.shape) == (1, 0)
    candidate, ranker, risks = fits.best()
    assert (candidate, ranker[:2]) == (0, (0, 1))
    # What was far behind was fitted once, and forgotten.
    assert [gap for k, c, gap in fits.made if (k, c) == (0, 1.0)] == [SELECTION_TOLERANCES[0]]
    assert 1.0 not in fits.kept[0]
    assert risks.shape == EXACT.shape


def test_a_clear_winner_is_fitted_to_the_gap_of_what_is_kept() -> None:
    fits = Fits(np.array([[5.0, 3.0, 4.0]]), np.full((1, 3), 0.1))
    assert fits.best()[:2] == (0, (0, 1, FINAL_TOLERANCE))
    assert len(fits.made) == 4


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_ties_go_to_the_first_candidate_and_cost(sign: float) -> None:
    fits = Fits(np.full((2, 3), sign * 4.0), np.zeros((2, 3)))
    candidate, ranker, _ = fits.best()
    assert (candidate, ranker) == (0, (0, 0, SELECTION_TOLERANCES[-1]))


def test_a_path_that_a_callback_ended_is_chosen_from() -> None:
    fits = Fits(EXACT, np.zeros_like(EXACT))
    fits.ended = True  # after the first of each call
    assert fits.best()[0] == 0
    assert (0, 10.0, FINAL_TOLERANCE) in fits.made


def test_candidates_are_tried_next_to_what_is_close_only() -> None:
    row = (10.0, 1.0, 100.0)  # outwards from the best
    far = np.array([[9.0, 4.0, 8.0], [9.0, 4.01, 9.0], [9.0, 6.0, 9.0], [1.0, 1.0, 1.0]])
    fits = Fits(far, np.zeros_like(far))
    assert fits.best()[0] == 0
    first = [(k, c) for k, c, gap in fits.made if gap == SELECTION_TOLERANCES[0]]
    # Beyond the third, which is close to the lowest nowhere, nothing was looked at.
    assert first == [(k, c) for k, row in ((0, COSTS), (1, row), (2, row)) for c in row]


def test_the_search_goes_on_while_the_outermost_cost_is_the_best() -> None:
    slope = np.array([[9.0, 8.0, 4.0], [2.0, 3.0, 3.9]])
    fits = Fits(slope, np.zeros_like(slope))
    candidate, ranker, _ = fits.best()
    assert (candidate, ranker[1]) == (1, 0)
    begun = [c for k, c, gap in fits.made if k == 1 and gap == SELECTION_TOLERANCES[0]]
    assert begun == [100.0, 10.0, 1.0]


def test_a_risk_beyond_all_numbers_ends_the_search_there() -> None:
    exact = np.array([[9.0, 4.0, 8.0], [np.inf, 3.0, np.inf]])
    candidate, ranker, _ = Fits(exact, np.zeros_like(exact)).best()
    assert (candidate, ranker[1]) == (1, 1)


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
    assert [(one.clip, one.ranker.cost) for one in found] == [(0.1, 0.3), (0.1, 0.3), (0.5, 3.0)]
