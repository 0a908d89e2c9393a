"""Extreme inputs, sparse features, interruption, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.learners import fit_path, fit_ranker, objective_value, solver
from ultr_core.propensity.weights import Weights


def with_features(corpus, features):
    return Corpus(features=features, grades=corpus.grades, query_offsets=corpus.query_offsets)


@pytest.mark.parametrize("cost", [1e-4, 1.0, 1e4])
def test_weights_from_a_millionth_to_a_million(medium_problem, small_problem, cost):
    for corpus, weights in (medium_problem, small_problem(1, queries=30, most=12)):
        spread = 10.0 ** np.random.default_rng(0).uniform(-6, 6, corpus.n_documents)
        extreme = Weights(np.where(weights.values > 0, spread, 0), weights.clicks)
        found = fit_ranker(corpus, extreme, cost=cost, tolerance=1e-6).certificate
        assert found.converged and found.gap <= 1e-6


@pytest.mark.parametrize("factor", [1e-4, 1e4, 1e6])
def test_features_of_any_scale(medium_problem, factor):
    corpus, weights = medium_problem
    scaled = with_features(corpus, corpus.features * np.float32(factor))
    found = fit_ranker(scaled, weights, cost=1.0, tolerance=1e-6).certificate
    assert found.converged and found.gap <= 1e-6


def test_badly_scaled_and_shifted_features(medium_problem):
    corpus, weights = medium_problem
    features = corpus.features.copy()
    features[:, 0] *= 1e5
    features[:, 1] *= 1e-5
    features[:, 2] += 1e4
    found = fit_ranker(with_features(corpus, features), weights, cost=10.0, tolerance=1e-5)
    assert found.certificate.converged


def test_sparse_features_give_the_same_ranker(medium_problem):
    corpus, weights = medium_problem
    kept = np.random.default_rng(0).random(corpus.features.shape) < 0.3
    thin = np.where(kept, corpus.features, 0).astype(np.float32)
    dense = fit_ranker(with_features(corpus, thin), weights, cost=1.0, tolerance=1e-6)
    sparse_corpus = with_features(corpus, sp.csr_array(thin))
    sparse = fit_ranker(sparse_corpus, weights, cost=1.0, tolerance=1e-6)
    assert sparse.certificate.converged
    assert sparse.certificate.primal == pytest.approx(dense.certificate.primal, rel=2e-6)
    expected = thin.astype(np.float64) @ sparse.coefficients
    np.testing.assert_allclose(sparse.score(sparse_corpus), expected, rtol=1e-9, atol=1e-12)


def test_few_clicked_queries_copy_no_more_than_they_need(medium_problem):
    corpus, weights = medium_problem
    values = weights.values.copy()
    values[corpus.query_offsets[100] :] = 0
    some = Weights(values, weights.clicks)
    part = corpus.subset(np.arange(100))
    alone = Weights(values[: part.n_documents], weights.clicks)
    one = fit_ranker(corpus, some, cost=10.0, tolerance=1e-6).certificate
    other = fit_ranker(part, alone, cost=10.0, tolerance=1e-6).certificate
    assert one.primal == pytest.approx(other.primal, rel=2e-6)


@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
def test_a_callback_may_stop_and_gets_the_best_so_far(medium_problem, method):
    corpus, weights = medium_problem
    seen = []

    def stop_at_third(progress):
        seen.append(progress)
        return progress.iteration == 3

    found = fit_ranker(
        corpus, weights, cost=10.0, tolerance=1e-6, callback=stop_at_third, method=method
    )
    assert [p.iteration for p in seen] == [1, 2, 3]
    assert found.certificate.stopped_early and not found.certificate.converged
    assert np.array_equal(found.coefficients, seen[-1].coefficients)
    assert found.certificate.gap == pytest.approx(seen[-1].gap, rel=1e-3)
    assert found.certificate.solver == method
    assert all(late.gap <= early.gap for early, late in pairwise(seen))


def test_a_stopped_path_keeps_what_was_begun(medium_problem):
    corpus, weights = medium_problem
    rankers = fit_path(corpus, weights, [1.0, 10.0, 100.0], callback=lambda progress: True)
    assert [r.cost for r in rankers] == [1.0]
    assert rankers[0].certificate.stopped_early


def test_iterations_used_up_is_said(medium_problem):
    corpus, weights = medium_problem
    found = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-8, max_iterations=4).certificate
    assert not found.converged and not found.stopped_early
    assert 0 < found.gap < 1 and found.iterations == 4


def test_same_bits_for_any_number_of_threads(medium_problem):
    corpus, weights = medium_problem

    def fit(seed):
        return fit_ranker(corpus, weights, cost=10.0, tolerance=1e-5, seed=seed).coefficients

    with threadpool_limits(1):
        one = fit(0)
    with threadpool_limits(2):
        two = fit(0)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(fit, [0, 0, 0]))
    for other in (two, *together):
        assert np.array_equal(one, other)


def test_cutting_plane_reaches_the_same_optimum(small_problem):
    for seed in range(8):
        corpus, weights = small_problem(seed, ties=seed % 2 == 0, weighted=True)
        for cost in (0.1, 10.0):
            shown = []
            one = fit_ranker(
                corpus,
                weights,
                cost=cost,
                tolerance=1e-8,
                method="cutting-plane",
                callback=lambda p, shown=shown: shown.append(p.constraint) and None,
            )
            other = fit_ranker(corpus, weights, cost=cost, tolerance=1e-8)
            assert one.certificate.converged
            assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-8)
            assert [c.number for c in shown] == list(range(1, len(shown) + 1))
            # One slack = n slacks: at the optimum xi is the sum of all hinge losses.
            hinge = one.certificate.primal - 0.5 * one.coefficients @ one.coefficients
            worst = max(c.linear - c.vector @ one.coefficients for c in shown)
            assert max(worst, 0.0) == pytest.approx(hinge, rel=1e-3, abs=1e-6)


def test_an_unknown_method_is_refused(small_problem):
    corpus, weights = small_problem(0)
    with refused("solver"):
        fit_ranker(corpus, weights, cost=1.0, method="simplex")


@pytest.mark.parametrize("seed", range(4))
def test_a_gap_near_rounding_ends(monkeypatch, seed):
    rounds = 0
    check = solver.certify

    def counted(*given):
        nonlocal rounds
        rounds += 1
        assert rounds < 60, "the same point is certified again and again"
        return check(*given)

    monkeypatch.setattr(solver, "certify", counted)
    rng = np.random.default_rng(seed)
    corpus = Corpus(rng.normal(size=(300, 120)), np.zeros(300, np.int16), np.array([0, 300]))
    weights = Weights((rng.random(300) < 0.3) * rng.uniform(0.1, 100.0, 300), 50.0)
    for cost in (30.0, 1500.0):
        found = fit_ranker(corpus, weights, cost=cost, tolerance=1e-10).certificate
        assert found.converged or found.iterations > 100


def test_large_costs_with_uneven_weights_converge():
    # The window is soon narrow against scores that have far to go: it has to widen again.
    for seed, cost in ((0, 300.0), (1, 3_000.0), (2, 10_000.0)):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(2, 4, 2500)
        x = rng.normal(size=(sizes.sum(), 120))
        preferred = x @ rng.normal(size=120) + rng.normal(size=len(x))
        clicked = preferred > np.quantile(preferred, 0.8)
        weights = Weights(clicked * 10.0 ** rng.uniform(-3, 3, len(x)), float(clicked.sum()))
        corpus = Corpus(x, np.zeros(len(x), np.int16), np.concatenate([[0], np.cumsum(sizes)]))
        found = fit_ranker(corpus, weights, cost=cost, tolerance=1e-2).certificate
        assert found.converged and found.gap <= 1e-2 and found.iterations <= 80


@pytest.mark.parametrize("seed", [12, 239, 255])
def test_a_fit_that_gave_up_from_zero_comes_from_smaller_costs(seed):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((8, 4)).astype(np.float32)
    corpus = Corpus(features, [0] * 8, [0, 8])
    weights = Weights(10.0 ** rng.uniform(-6, 6, 8), 1.0)
    for cost in (1.0, 1e2, 1e3, 1e4):
        ranker = fit_ranker(corpus, weights, cost=cost, tolerance=1e-2)
        assert ranker.certificate.converged
        assert ranker.certificate.primal == pytest.approx(
            objective_value(corpus, weights, cost, ranker.coefficients), rel=2e-4
        )


@pytest.mark.parametrize("as_features", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_documents_that_nothing_tells_apart_are_ranked_by_zero(as_features, dtype):
    values = np.zeros((4, 3), dtype)
    values[2:] = [[1, 0, 0], [0, 3, 0]]
    corpus = Corpus(as_features(values), [1, 0, 0, 1], [0, 2, 4])
    weights = Weights(np.array([1.0, 0.0, 0.0, 0.0]), 1.0)
    for method in ("newton", "cutting-plane"):
        ranker = fit_ranker(corpus, weights, cost=2.0, method=method)
        assert not ranker.coefficients.any()
        assert ranker.certificate.primal == ranker.certificate.dual == 2.0
    assert all(r.certificate.converged for r in fit_path(corpus, weights, [0.1, 1.0, 10.0]))
