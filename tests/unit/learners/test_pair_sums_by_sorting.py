"""Sorting and enumeration give the same sums, and the same rankers."""

from __future__ import annotations

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.learners import fit_ranker
from ultr_core.learners.dense_pairs import DensePairs
from ultr_core.learners.pair_sums import PairSums, SortedPairs
from ultr_core.propensity.weights import Weights


def example(seed, decimals):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 5, 40, 200], size=12)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = np.round(2 * rng.normal(size=offsets[-1]), decimals)
    weights = rng.random(offsets[-1]) * (rng.random(offsets[-1]) < 0.5)
    return weights, offsets, scores


@pytest.mark.parametrize("width", [2.0, 1.0, 0.3])
@pytest.mark.parametrize("decimals", [1, 9])  # with and without ties
def test_sums_agree(width, decimals):
    for seed in range(3):
        weights, offsets, scores = example(seed, decimals)
        by_sorting = SortedPairs(weights, offsets)
        dense = DensePairs(weights, offsets)
        one, other = by_sorting.evaluate(scores, width), dense.evaluate(scores, width)
        assert by_sorting.n_pairs == dense.n_pairs
        assert one.hinge == pytest.approx(other.hinge, rel=1e-12)
        assert one.linear == pytest.approx(other.linear, rel=1e-12)
        np.testing.assert_allclose(one.pull, other.pull, atol=1e-10)
        assert by_sorting.hinge(scores) == pytest.approx(dense.hinge(scores), rel=1e-12)


@pytest.mark.parametrize("width", [1.7, 0.3])
def test_windows_agree(width):
    weights, offsets, scores = example(0, 9)
    rng = np.random.default_rng(0)
    dense = DensePairs(weights, offsets).sample_window(scores, width, None, rng, 1.0, 10**7)
    whole = SortedPairs(weights, offsets).sample_window(scores, width, rng, 10**7)
    pairs = [set(zip(p.preferred.tolist(), p.other.tolist(), strict=True)) for p in (dense, whole)]
    assert pairs[0] == pairs[1]
    assert whole.weights.sum() == pytest.approx(dense.weights.sum())
    drawn = [
        SortedPairs(weights, offsets).sample_window(scores, width, rng, 200).weights.sum()
        for _ in range(200)
    ]
    # Mean of 200 samples within 4 standard errors: one false alarm in 16,000 seeds.
    assert abs(np.mean(drawn) - whole.weights.sum()) <= 4 * np.std(drawn) / np.sqrt(200) + 1e-9


def test_long_lists_are_sorted_and_short_ones_enumerated():
    weights, offsets, scores = example(4, 9)
    weights[offsets[0] :] = 1.0
    mixed = PairSums(weights, offsets)
    assert not mixed.is_enumerated and mixed.enumerated().is_enumerated
    one, other = mixed.evaluate(scores, 0.4), mixed.enumerated().evaluate(scores, 0.4)
    assert mixed.n_pairs == mixed.enumerated().n_pairs
    assert one.hinge == pytest.approx(other.hinge)
    np.testing.assert_allclose(one.pull, other.pull, atol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_candidate_lists_of_thousands(tolerance):
    rng = np.random.default_rng(7)
    sizes = [3000, 2, 1500, 40]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    x = rng.normal(size=(offsets[-1], 8)).astype(np.float32)
    clicked = rng.random(len(x)) < 1 / (1 + np.exp(3 - 2 * x @ rng.normal(size=8)))
    corpus = Corpus(features=x, grades=clicked.astype(np.int16), query_offsets=offsets)
    weights = Weights(clicked.astype(float), float(clicked.sum()))
    found = fit_ranker(corpus, weights, cost=1.0, tolerance=tolerance).certificate
    assert found.converged and found.gap <= tolerance


def test_too_many_pairs_to_enumerate_are_left_to_smoothing(monkeypatch):
    monkeypatch.setattr("ultr_core.learners.solver.MOST_MULTIPLIERS", 0)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(900, 5)).astype(np.float32)
    corpus = Corpus(
        features=x, grades=np.zeros(900, np.int16), query_offsets=np.array([0, 600, 900])
    )
    clicked = rng.random(900) < 0.5 / (1 + np.exp(-2 * x[:, 0]))
    weights = Weights(clicked.astype(float), float(clicked.sum()))
    found = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-4).certificate
    assert found.converged
