"""Every estimator's interval covers the truth at its nominal rate in a position-model world.

Each test repeats a whole experiment with seeds 0, 1, 2, ... and counts how often a 95 % interval
holds the true ratio, pooled over the ranks 2..K. The count of one rank is binomial; ranks share
the reference, so pooled counts vary more, at most K - 1 times as much. The bounds are the pooled
rate +- 3.3 standard errors of ONE rank's count: with exact 95% intervals, which the percentile and
jackknife ones approach, a test raises a false alarm in less than 1 of 1,000 seed sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.meaning import mentions
from ultr_core.corpus.ranking import rank_documents
from ultr_core.propensity import (
    DisplayCounts,
    PropensityEstimate,
    displays_of_logs,
    estimate_by_em,
    estimate_click_rates,
    estimate_neighbour_swaps,
    estimate_shuffling,
    estimate_swaps,
    harvest,
    interventional_sets,
    simulate_neighbour_swaps,
    simulate_shuffling,
    simulate_swaps,
)
from ultr_core.users import PositionModel, PowerLaw, simulate_counts

K = 6
USERS = PositionModel(PowerLaw(1.0), 0.9, 0.1)


def world(queries: int, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 12, queries)
    offsets = np.append(0, np.cumsum(sizes))
    relevance = rng.random(offsets[-1]) < 0.3
    first, second = (
        rank_documents(relevance + rng.normal(0, 1, offsets[-1]), offsets) for _ in range(2)
    )
    return {"relevance": relevance, "first": first, "second": second, "offsets": offsets}


LARGE, SMALL = world(200), world(25)


def shown(place: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return place["relevance"], place["first"], place["offsets"]


def two_logs(place: dict[str, np.ndarray], seed: int, draws: int) -> DisplayCounts:
    return displays_of_logs(
        [
            simulate_counts(
                USERS.click_probability(place["relevance"], place[name]),
                place[name],
                place["offsets"],
                draws,
                np.random.SeedSequence(seed, spawn_key=(number,)),
            )
            for number, name in enumerate(("first", "second"))
        ]
    )


def by_swaps(seed: int, landmark: int = 1, **options: object) -> PropensityEstimate:
    counts = simulate_swaps(
        USERS, *shown(LARGE), landmark=landmark, last_rank=K, sessions=40_000, seed=seed
    )
    return estimate_swaps(counts, **options)  # type: ignore[arg-type]


def by_shuffling(seed: int) -> PropensityEstimate:
    return estimate_shuffling(
        simulate_shuffling(USERS, *shown(LARGE), last_rank=K, sessions=8_000, seed=seed)
    )


def by_neighbours(seed: int) -> PropensityEstimate:
    return estimate_neighbour_swaps(
        simulate_neighbour_swaps(USERS, *shown(LARGE), last_rank=K, sessions=40_000, seed=seed)
    )


def by_harvest(method: str, reference: int = 1) -> Callable[[int], PropensityEstimate]:
    return lambda seed: harvest(
        interventional_sets(two_logs(LARGE, seed, 15_000), K),
        method=method,  # type: ignore[arg-type]
        reference=reference,
    )


def by_em(seed: int) -> PropensityEstimate:
    return estimate_by_em(two_logs(SMALL, seed, 100_000), last_rank=K)


def by_rates(seed: int) -> PropensityEstimate:
    """Click rates are right where order says nothing about relevance: one relevance for all."""
    same = np.full(LARGE["relevance"].size, 0.3)
    log = simulate_counts(
        USERS.click_probability(same, LARGE["first"]),
        LARGE["first"],
        LARGE["offsets"],
        10_000,
        seed,
    )
    return estimate_click_rates(displays_of_logs([log]), last_rank=K)


ESTIMATORS: dict[str, tuple[Callable[[int], PropensityEstimate], int]] = {
    "swap": (by_swaps, 300),
    "swap, landmark 3": (lambda seed: by_swaps(seed, landmark=3), 300),
    "swap, bootstrap": (lambda seed: by_swaps(seed, bootstrap_seed=seed), 200),
    "swap-pooled": (lambda seed: by_swaps(seed, ratio="pooled"), 300),
    "uniform": (by_shuffling, 40),
    "adjacent": (by_neighbours, 200),
    "pivot": (by_harvest("pivot"), 150),
    "chain": (by_harvest("chain"), 150),
    "all-pairs": (by_harvest("all-pairs"), 100),
    "all-pairs, reference 2": (by_harvest("all-pairs", 2), 60),
    "em": (by_em, 40),
    "ctr": (by_rates, 200),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_intervals_cover_the_truth_at_their_nominal_rate(name: str) -> None:
    estimate, trials = ESTIMATORS[name]
    covered = total = 0
    logs: list[list[float]] = []
    for seed in range(trials):
        result = estimate(seed)
        truth = result.reference / np.arange(1.0, K + 1.0)
        others = [point for point in result.points if point.rank != result.reference]
        assert all(point.low is not None and point.high is not None for point in others)
        for point in others:
            covered += point.low <= truth[point.rank - 1] <= point.high  # type: ignore[operator]
            total += 1
        logs.append([math.log(p.value / truth[p.rank - 1]) for p in others])  # type: ignore[operator]
    margin = 3.3 * math.sqrt(0.95 * 0.05 / trials)
    assert 0.95 - margin < covered / total <= min(1.0, 0.95 + margin), covered / total
    # Recovery: the mean of the estimates is at the truth, 4 standard errors on each of 5 ranks.
    spread = np.std(logs, axis=0) / math.sqrt(trials)
    bias = np.abs(np.mean(logs, axis=0))
    # A logarithm of a ratio is biased by half its variance; EM by its incidental parameters.
    slack = 0.02 if name == "em" else 0.5 * np.var(logs, axis=0)
    assert np.all(bias < 4 * spread + slack), bias / spread


def test_sparse_em_gives_no_interval_and_says_why() -> None:
    result = estimate_by_em(two_logs(LARGE, 0, 2_000), last_rank=K)
    assert all(point.low is None for point in result.points)
    assert any(mentions(notice, "interval") for notice in result.notices)
