"""Work is counted in passes over the features, which do not depend on the machine."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.learners import fit_path, fit_ranker
from ultr_core.propensity.weights import Weights

BARS = {1e-3: 34, 1e-4: 41, 1e-6: 69}


def click_problem(queries, features, clicks, *, weighted, seed=0):
    """Bounded noisy features, relevance not linear in them, clicks that fall with rank."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(np.round(rng.gamma(2.6, 24 / 2.6, queries)), 3, 120).astype(int)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    factors = rng.normal(size=(offsets[-1], 12))
    mixing = rng.normal(size=(12, features)) * (rng.random((12, features)) < 0.35)
    noise = 0.5 * rng.normal(size=(offsets[-1], features))
    x = (1 / (1 + np.exp(-(factors @ mixing + noise)))).astype(np.float32)
    x[rng.random(x.shape) < 0.2] = 0
    utility = factors @ rng.normal(size=12) + factors[:, 0] * factors[:, 1]
    relevant = utility > np.quantile(utility, 0.92)
    shown_by = utility + 6 * rng.normal(size=len(utility))
    rank = np.concatenate(
        [1 + np.argsort(np.argsort(-shown_by[begin:end])) for begin, end in pairwise(offsets)]
    )
    chance = np.where(relevant, 1.0, 0.1) / rank
    counts = rng.multinomial(clicks, chance / chance.sum()).astype(float)
    corpus = Corpus(features=x, grades=relevant.astype(np.int16), query_offsets=offsets)
    return corpus, Weights(counts * (rank if weighted else 1), clicks)


def check(queries, features, clicks, weighted, costs):
    corpus, weights = click_problem(queries, features, clicks, weighted=weighted)
    for cost in costs:
        for tolerance, most in BARS.items():
            found = fit_ranker(corpus, weights, cost=cost, tolerance=tolerance).certificate
            assert found.converged
            assert found.passes <= most, (cost, tolerance, found)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clicks", [5_000, 45_000])
def test_passes_on_the_small_corpus(clicks, weighted):
    check(2_000, 50, clicks, weighted, [1.0, 100.0])


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clicks", [5_000, 45_000, 850_000])
@pytest.mark.parametrize("queries, features", [(2_000, 50), (5_000, 200)])
def test_passes_on_small_and_medium_corpora(queries, features, clicks, weighted):
    check(queries, features, clicks, weighted, [1.0, 10.0, 100.0])


def test_a_grid_of_nine_costs_is_at_most_four_hard_fits():
    corpus, weights = click_problem(2_000, 50, 45_000, weighted=True)
    costs = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
    grid = fit_path(corpus, weights, costs, tolerance=1e-2)
    hardest = fit_ranker(corpus, weights, cost=100.0, tolerance=1e-2).certificate
    assert all(r.certificate.gap <= 1e-2 for r in grid)
    # The pass of the certificate is common to the grid.
    passes = 1 + sum(r.certificate.passes - 1 for r in grid)
    assert passes <= 4 * hardest.passes


def test_more_clicks_on_the_same_corpus_cost_no_more_passes():
    few = click_problem(2_000, 50, 170_000, weighted=True)
    many = click_problem(2_000, 50, 850_000, weighted=True)
    passes = [
        fit_ranker(corpus, weights, cost=10.0).certificate.passes for corpus, weights in (few, many)
    ]
    assert passes[1] <= passes[0] + 6
