"""DCG and the top k in place of the sum of ranks: unbiased, with the same law under noise."""

from __future__ import annotations

from itertools import permutations, product
from math import log2

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus.measures import measure_named
from ultr_core.risk import (
    DCG,
    RANK,
    RANK_METRICS,
    RankMetric,
    affine_law,
    estimate_differences,
    estimate_risk,
    estimate_risks,
    expected_delta,
    expected_risk,
    missing_from_top,
    true_risk,
    true_risks,
    variance_of_delta,
    variance_of_risk,
)
from ultr_core.users import PositionModel, PowerLaw, simulate_counts

RELEVANCE = np.array([0, 1, 0, 1, 1, 0])
OFFSETS, SHOWN = np.array([0, 4, 6]), np.array([1, 2, 3, 4, 1, 2])
USERS = PositionModel(PowerLaw(1.0), eps_plus=0.9, eps_minus=0.2)
P = PowerLaw(1.0).at(SHOWN)
RANKINGS = [
    np.array([*one, *two])
    for one, two in product(permutations(range(1, 5)), permutations(range(1, 3)))
]
OTHERS = [DCG, missing_from_top(2)]
every_metric = pytest.mark.parametrize("metric", [RANK, *OTHERS], ids=lambda one: one.key)


def cost(metric: RankMetric, rank: int) -> float:
    """Written again."""
    return {"rank": rank, "dcg": -1.0 / log2(rank + 1), "top-2": float(rank > 2)}[metric.key]


@every_metric
def test_weighted_clicks_are_on_one_line_with_every_metric(metric: RankMetric) -> None:
    """E[R_hat] = slope R + intercept for all 48 rankings of two queries, by enumerated clicks."""
    pi = USERS.click_probability(RELEVANCE, SHOWN)
    law = affine_law(USERS.eps_plus, USERS.eps_minus, [4, 2], metric=metric)
    everything = sum(cost(metric, rank) for rank in (1, 2, 3, 4, 1, 2))
    assert law.intercept == pytest.approx(USERS.eps_minus * everything / 2, abs=1e-15)
    patterns = np.array(list(product((0, 1), repeat=4)))
    for ranks in RANKINGS:
        gains = np.array([cost(metric, rank) for rank in ranks])
        risk = float(gains @ RELEVANCE) / 2
        assert true_risk(ranks, RELEVANCE, OFFSETS, metric=metric) == pytest.approx(risk)
        expected = float(expected_risk(pi, P, ranks, OFFSETS, metric=metric))
        assert expected == pytest.approx(float(law.expected(risk)), abs=4e-15)
        chance = np.prod(np.where(patterns, pi[:4], 1 - pi[:4]), axis=1)
        found = patterns @ (gains[:4] / P[:4])
        mean = expected_delta(pi, P, ranks, OFFSETS, metric=metric)[0]
        variance = variance_of_delta(pi, P, ranks, OFFSETS, metric=metric)[0]
        assert mean == pytest.approx(chance @ found, abs=1e-14)
        assert variance == pytest.approx(chance @ (found - mean) ** 2, abs=1e-13)


def test_estimates_and_intervals_are_around_the_exact_risk() -> None:
    """Of 80 logs: means, deviations and coverage within 4 standard errors of theirs."""
    pi, ranks = USERS.click_probability(RELEVANCE, SHOWN), np.array([[4, 3, 2, 1, 2, 1]])
    logs = [simulate_counts(pi, SHOWN, OFFSETS, 2_000, seed) for seed in range(80)]
    for metric in OTHERS:
        exact = float(expected_risk(pi, P, ranks[0], OFFSETS, metric=metric))
        sd = float(variance_of_risk(pi, P, ranks[0], OFFSETS, 2_000, metric=metric)) ** 0.5
        found = [estimate_risks(log, ranks, P, metric=metric).estimate(0) for log in logs]
        values = [one.value for one in found]
        assert np.mean(values) == pytest.approx(exact, abs=4 * sd / 80**0.5)
        assert np.std(values) == pytest.approx(sd, rel=4 / 160**0.5)
        assert np.mean([one.standard_error for one in found]) == pytest.approx(sd, rel=0.03)
        assert sum(one.low <= exact <= one.high for one in found) >= 68


def test_differences_of_gains_are_differences_of_estimates() -> None:
    pi = USERS.click_probability(RELEVANCE, SHOWN)
    log = simulate_counts(pi, SHOWN, OFFSETS, 5_000, 0)
    ranks = np.array(RANKINGS[:2])
    for metric in RANK_METRICS.values():
        values = estimate_risks(log, ranks, P, metric=metric).value
        apart = metric.gain(ranks[0]) - metric.gain(ranks[1])
        found = estimate_differences(log, apart[None], P)
        assert found.value[0] == pytest.approx(values[0] - values[1], abs=1e-12)
        assert estimate_risk(log, ranks[1], P, metric=metric).value == values[1]


def test_dcg_is_that_of_the_measures_but_for_its_sign() -> None:
    """nDCG of one query with whole gains: DCG over that of the best order."""
    grades, scores = np.array([0, 1, 0, 1]), np.array([0.4, 0.1, 0.3, 0.2])
    ranks = np.array([1, 4, 2, 3])
    found = true_risk(ranks, grades, [0, 4], metric=DCG)
    best = true_risk([3, 1, 4, 2], grades, [0, 4], metric=DCG)
    wanted = measure_named("nDCG").of(scores, grades, np.array([0, 4])).value
    assert found / best == pytest.approx(wanted, rel=1e-12)


def test_ranks_are_checked_whatever_the_metric() -> None:
    for metric in RANK_METRICS.values():
        assert true_risks([[1, 2]], [1, 0], [0, 2], metric=metric)[0] == metric.gain(1)
        with refused("", 0):
            true_risk([0, 1], [1, 0], [0, 2], metric=metric)
