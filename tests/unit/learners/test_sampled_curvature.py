"""How the curvature comes by its sample of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.learners import fit_ranker
from ultr_core.learners.dense_pairs import DensePairs
from ultr_core.learners.pair_sums import PairSums
from ultr_core.propensity.weights import Weights


def short_lists(size: int, queries: int = 6000) -> tuple[Corpus, Weights]:
    rng = np.random.default_rng(size)
    x = rng.random((size * queries, 12)).astype(np.float32)
    counts = (rng.random(size * queries) < 0.5) * rng.integers(1, 9, size * queries)
    offsets = size * np.arange(queries + 1)
    corpus = Corpus(x, np.zeros(size * queries, np.int16), offsets)
    return corpus, Weights(counts * 1.0, float(counts.sum()))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The rate of every search for pairs."""
    rates: list[float] = []
    search = PairSums.sample_window

    def noted(self, scores, width, multipliers, rng, rate, most):
        rates.append(rate)
        assert len(rates) < 1000, "the search for pairs does not end"
        return search(self, scores, width, multipliers, rng, rate, most)

    monkeypatch.setattr(PairSums, "sample_window", noted)
    return rates


@pytest.mark.parametrize("size", [2, 3, 9])
def test_few_searches_find_enough_pairs_in_short_lists(asked, size):
    corpus, weights = short_lists(size)
    found = fit_ranker(corpus, weights, cost=1000.0, tolerance=1e-4).certificate
    assert found.converged
    assert len(asked) <= 3 * found.iterations


def test_a_search_that_promises_too_much_ends_with_all_pairs(asked, monkeypatch):
    drawn = DensePairs._drawn

    def promising(self, *given):
        sample = drawn(self, *given)
        few = (sample.preferred[:1], sample.other[:1], sample.weights[:1])
        return replace(sample, window_pairs=1e12, preferred=few[0], other=few[1], weights=few[2])

    monkeypatch.setattr(DensePairs, "_drawn", promising)
    corpus, weights = short_lists(9)
    assert fit_ranker(corpus, weights, cost=1.0, tolerance=1e-3).certificate.converged


def test_the_share_of_the_window_is_judged_rightly_in_short_lists(monkeypatch):
    monkeypatch.setattr("ultr_core.learners.dense_pairs.CELLS_PER_DRAW", 0)
    for size in (2, 3, 9, 30):
        corpus, weights = short_lists(size, queries=3000)
        pairs = DensePairs(weights.values, corpus.query_offsets)
        scores = np.random.default_rng(1).normal(size=corpus.n_documents)
        whole = pairs.sample_window(scores, 0.5, None, np.random.default_rng(2), 1.0, 10**6)
        guess = pairs.sample_window(scores, 0.5, None, np.random.default_rng(2), 0.5, 10**6)
        assert guess.window_pairs == pytest.approx(whole.window_pairs, rel=0.15)
