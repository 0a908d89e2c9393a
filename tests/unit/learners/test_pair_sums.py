"""The pair sums against the definition, one pair after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.learners import weighted_hinge
from ultr_core.learners.dense_pairs import DensePairs
from ultr_core.learners.pair_sums import MOST_ROUNDING, PairSums


def by_definition(weights, offsets, scores, width):
    hinge = linear = 0.0
    pull = np.zeros(len(scores))
    for begin, end in pairwise(offsets):
        for i in range(begin, end):
            for j in range(begin, end):
                if i != j:
                    u = 1 - scores[i] + scores[j]
                    beta = weights[i] * min(1.0, max(0.0, u / width))
                    hinge += weights[i] * max(0.0, u)
                    linear += beta
                    pull[i] += beta
                    pull[j] -= beta
    return hinge, linear, pull


def example(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 7, 8, 30], size=25)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = np.round(rng.normal(size=offsets[-1]), 1)
    weights = rng.random(offsets[-1]) * (rng.random(offsets[-1]) < 0.3)
    return weights, offsets, scores


@pytest.mark.parametrize("width", [2.0, 1.0, 0.1])
@pytest.mark.parametrize("dtype, accuracy", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_sums_equal_the_definition(width, dtype, accuracy):
    for seed in range(5):
        weights, offsets, scores = example(seed)
        found = DensePairs(weights, offsets).evaluate(scores.astype(dtype), width)
        hinge, linear, pull = by_definition(weights, offsets, scores, width)
        assert found.hinge == pytest.approx(hinge, rel=accuracy)
        assert found.linear == pytest.approx(linear, rel=accuracy)
        np.testing.assert_allclose(found.pull, pull, atol=10 * accuracy)
        assert weighted_hinge(scores, weights, offsets) == pytest.approx(hinge, rel=1e-12)


def test_what_float32_found_bounds_the_exact_sum():
    below = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        weights, offsets, _ = example(seed)
        pairs = DensePairs(weights, offsets)
        exact = 10.0 ** rng.uniform(-3, 3) * rng.normal(size=len(weights))
        used = (exact + 1e-6 * rng.normal(size=len(exact))).astype(np.float32)
        found = pairs.evaluate(used, 10.0 ** rng.uniform(-4, 1)).hinge
        away = float(abs(exact - used).max())
        most, sum_there = pairs.hinge_at_most(found, used, away), pairs.hinge(exact)
        assert sum_there <= most <= sum_there + 1e-3 * (1 + abs(exact).max()) * weights.sum()
        below += found < sum_there
    # Without the bound what float32 found would often be too small.
    assert below > 5


def test_a_bound_on_rounding_is_a_small_share_or_there_is_none():
    bounds = none = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights, offsets, _ = example(seed)
        pairs = PairSums(weights, offsets)
        # The better clicked documents are told from others, the smaller the sum beside the scores.
        exact = rng.normal(size=len(weights)) + 10.0 ** rng.uniform(-3, 6) * (weights > 0)
        used = exact.astype(np.float32)
        found, there = pairs.evaluate(used, 1.0).hinge, pairs.hinge(exact)
        most = pairs.hinge_at_most(found, used, float(abs(exact - used).max()))
        if most is None:
            none += 1
            continue
        assert there <= most <= (1 + 2 * MOST_ROUNDING) * there
        bounds += 1
    assert bounds > 5 and none > 5


def test_multipliers_move_the_window():
    weights, offsets, scores = example(1)
    pairs = DensePairs(weights, offsets)
    kept = np.zeros(pairs.n_cells)
    first = pairs.evaluate(scores, 0.5, None, keep=kept)
    assert kept.min() >= 0 and kept.max() <= 1
    # With an infinitely wide window nothing is added: the sums are those of the kept values.
    again = pairs.evaluate(scores, 1e15, kept)
    assert again.linear == pytest.approx(first.linear, rel=1e-10)
    np.testing.assert_allclose(again.pull, first.pull, atol=1e-10)


def test_window_sample_is_complete_or_unbiased():
    weights, offsets, scores = example(2)
    scores = scores + 1e-4 * np.arange(len(scores))  # no pair on the edge of the window
    pairs = DensePairs(weights, offsets)
    rng = np.random.default_rng(0)
    whole = pairs.sample_window(scores, 0.83, None, rng, 1.0, 10**6)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    expected = {
        (i, j)
        for i in np.flatnonzero(weights)
        for j in np.flatnonzero(query == query[i])
        if i != j and 0 < (1 - scores[i] + scores[j]) / 0.83 < 1
    }
    assert set(zip(whole.preferred.tolist(), whole.other.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(whole.weights, weights[whole.preferred])
    totals = [
        pairs.sample_window(scores, 0.83, None, rng, 0.5, 20).weights.sum() for _ in range(400)
    ]
    # Mean of 400 samples within 4 standard errors: one false alarm in 16,000 seeds.
    error = abs(np.mean(totals) - whole.weights.sum())
    assert error <= 4 * np.std(totals) / np.sqrt(len(totals))


def test_hinge_bounds_the_weighted_rank():
    for seed in range(5):
        weights, offsets, scores = example(seed)
        bound = sum(
            weights[i] * np.count_nonzero(scores[begin:end] > scores[i])
            for begin, end in pairwise(offsets)
            for i in range(begin, end)
        )
        assert weighted_hinge(scores, weights, offsets) >= bound


def test_wrong_scores_are_refused():
    weights, offsets, scores = example(0)
    with refused("", 222, 223):
        weighted_hinge(scores[1:], weights, offsets)
    scores[3] = np.nan
    with pytest.raises(InputError, match="document 3"):
        weighted_hinge(scores, weights, offsets)


@pytest.mark.parametrize("width", [2.0, 0.5])
def test_sums_at_zero_scores_are_known(width):
    weights, offsets, scores = example(3)
    pairs = DensePairs(weights, offsets)
    known = pairs.at_zero(width, np.dtype(np.float64))
    summed = pairs.evaluate(np.zeros(len(scores)), width)
    assert known.hinge == pytest.approx(summed.hinge)
    assert known.linear == pytest.approx(summed.linear)
    np.testing.assert_allclose(known.pull, summed.pull, atol=1e-12)
