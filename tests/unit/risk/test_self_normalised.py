"""The self-normalised estimate: its value by hand, its error by enumeration and derivative."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.risk import estimate_difference, estimate_mean_rank, estimate_risk
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts

OFFSETS = np.array([0, 3, 5])
PRESENTED = np.array([2, 1, 3, 1, 2])
JUDGED = np.array([1, 3, 2, 2, 1])
RELEVANCE = np.array([True, False, True, False, True])


def log_of(clicks: np.ndarray, draws: tuple[int, int]) -> ClickLog:
    shown = np.repeat(draws, [3, 2])
    return ClickLog(np.arange(5), PRESENTED, shown, clicks, sum(draws), OFFSETS)


def test_value_by_hand_and_scale_free() -> None:
    log = log_of(np.array([2, 1, 0, 0, 3]), (4, 5))
    q = np.array([0.5, 1.0, 0.25, 1.0, 0.5])
    found = estimate_mean_rank(log, JUDGED, q)
    assert found.value == (2 / 0.5 * 1 + 1 * 3 + 3 / 0.5 * 1) / (2 / 0.5 + 1 + 3 / 0.5)
    half = estimate_mean_rank(log, JUDGED, q / 2)
    assert (half.value, half.standard_error) == pytest.approx((found.value, found.standard_error))
    assert half.low < half.value < half.high


def test_a_ranker_that_ranks_every_clicked_document_alike_has_no_error() -> None:
    log = log_of(np.array([2, 0, 0, 0, 3]), (4, 5))
    found = estimate_mean_rank(log, np.array([2, 1, 3, 1, 2]), PowerLaw(1).at(PRESENTED))
    assert found.value == 2
    assert found.standard_error == pytest.approx(0, abs=1e-12)


def test_the_error_is_that_of_the_linearised_ratio() -> None:
    """Delta method: the estimated risk of ranks - value, over the mean weight of a draw."""
    log = log_of(np.array([2, 1, 1, 2, 3]), (6, 5))
    q = PowerLaw(1).at(PRESENTED)
    found = estimate_mean_rank(log, JUDGED, q)
    weight = estimate_risk(log, np.ones(5), q).value
    residual = estimate_difference(log, JUDGED - found.value, q)
    assert residual.value == pytest.approx(0, abs=1e-12)
    assert found.standard_error == pytest.approx(residual.standard_error / weight, rel=1e-12)


def test_mean_over_every_log_of_two_draws_by_enumeration() -> None:
    """Numerator and denominator of the ratio are unbiased: their expectations are the truth's."""
    pi = PositionModel(PowerLaw(1), 1.0, 0.0).click_probability(RELEVANCE, PRESENTED)
    q = PowerLaw(1).at(PRESENTED)
    top = bottom = 0.0
    for first, second in product(range(2), repeat=2):
        draws = (2 - first - second, first + second)
        for clicks in product(*(range(n + 1) for n in np.repeat(draws, [3, 2]))):
            n = np.repeat(draws, [3, 2])
            chance = 0.25 * np.prod(
                [
                    {0: (1 - p) ** m, m: p**m}.get(c, m * p * (1 - p)) if m else 1.0
                    for c, m, p in zip(clicks, n, pi, strict=True)
                ]
            )
            log = log_of(np.array(clicks), draws)
            weight = float((log.clicks / q).sum()) / 2
            value = estimate_mean_rank(log, JUDGED, q).value if weight else 0.0
            top, bottom = top + chance * value * weight, bottom + chance * weight
    assert top == pytest.approx(float((JUDGED * RELEVANCE).sum()) / 2, rel=1e-12)
    assert bottom == pytest.approx(RELEVANCE.sum() / 2, rel=1e-12)


def test_intervals_cover_as_often_as_they_say() -> None:
    """400 logs at 95%: below 365 or above 393 hits has a chance under 1 in 500 (fixed seeds)."""
    pi = PositionModel(PowerLaw(1), 0.9, 0.1).click_probability(RELEVANCE, PRESENTED)
    q = PowerLaw(1).at(PRESENTED)
    truth = float((JUDGED * pi / q).sum() / (pi / q).sum())
    hits = 0
    for seed in range(400):
        log = simulate_counts(pi, PRESENTED, OFFSETS, 400, seed)
        found = estimate_mean_rank(log, JUDGED, q)
        hits += found.low <= truth <= found.high
    assert 365 <= hits <= 393


def test_what_has_no_estimate() -> None:
    empty = log_of(np.zeros(5, int), (2, 2))
    with refused("", "click", 4, "presentations"):
        estimate_mean_rank(empty, JUDGED, np.ones(5))
    with refused("", "axis", 1, 5):
        estimate_mean_rank(empty, JUDGED[None, :], np.ones(5))
