"""Starting from a ranker: fewer passes where it is good, no harm where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ultr_core.learners import COST_GRID, fit_path, fit_ranker, objective_value, path
from ultr_core.learners.limits import RangesOf, feature_ranges
from ultr_core.learners.ranker import fit_paths


def test_a_good_start_saves_passes(medium_problem):
    corpus, weights = medium_problem
    loose = fit_path(corpus, weights, [1.0, 3.0, 10.0], tolerance=1e-2)[-1]
    cold = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-3).certificate
    warm = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-3, initial=loose).certificate
    assert warm.converged and warm.gap <= 1e-3
    assert warm.passes < cold.passes


@pytest.mark.parametrize("factor", [1e-9, -1.0, 1e6])
def test_a_bad_start_reaches_the_same_optimum(medium_problem, factor):
    corpus, weights = medium_problem
    best = fit_ranker(corpus, weights, cost=3.0, tolerance=1e-5)
    start = replace(best, coefficients=factor * best.coefficients)
    found = fit_ranker(corpus, weights, cost=3.0, tolerance=1e-5, initial=start)
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=2e-5)


def test_a_path_carries_its_curvature_on(medium_problem):
    corpus, weights = medium_problem
    costs = [0.1, 0.3, 1.0, 3.0, 10.0]
    first = fit_path(corpus, weights, costs, tolerance=1e-2)
    again = fit_path(corpus, weights, costs, tolerance=1e-2)
    single = [fit_ranker(corpus, weights, cost=c, tolerance=1e-2).certificate for c in costs]
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
    assert all(ranker.certificate.gap <= 1e-2 for ranker in first)
    # The pass of the certificate is common to the path.
    assert 1 + sum(r.certificate.passes - 1 for r in first) < sum(c.passes for c in single)


def test_certificates_of_a_path_bound_the_objective_closely(medium_problem):
    corpus, weights = medium_problem
    for ranker in fit_path(corpus, weights, [0.1, 1.0, 10.0, 100.0], tolerance=1e-2):
        found = ranker.certificate
        value = objective_value(corpus, weights, ranker.cost, ranker.coefficients)
        assert value <= found.primal <= value * (1 + 1e-4)
        best = fit_ranker(corpus, weights, cost=ranker.cost, tolerance=1e-6).certificate
        assert found.dual <= best.primal
        assert found.gap == pytest.approx(1 - found.dual / found.primal)


@pytest.mark.parametrize("costs", [[1.0, 1.001, 500.0], [1e-4, 1e4], [3.0, 3.0, 3.0]])
def test_costs_of_a_path_may_lie_unevenly(medium_problem, costs):
    corpus, weights = medium_problem
    found = fit_path(corpus, weights, costs, tolerance=1e-2)
    assert [ranker.cost for ranker in found] == costs
    assert all(ranker.certificate.gap <= 1e-2 for ranker in found)


def test_the_line_through_two_solutions_saves_work(medium_problem, monkeypatch):
    corpus, weights = medium_problem
    passes = {}
    for furthest in (0.0, path.FURTHEST):
        monkeypatch.setattr(path, "FURTHEST", furthest)
        found = fit_path(corpus, weights, COST_GRID, tolerance=1e-2)
        passes[furthest] = sum(ranker.certificate.iterations for ranker in found)
    assert passes[path.FURTHEST] < passes[0.0]


def test_feature_ranges_are_found_once_and_block_by_block(medium_problem, monkeypatch):
    corpus, _ = medium_problem
    ranges_of = RangesOf()
    assert ranges_of(corpus) is ranges_of(corpus)
    features = np.array(corpus.features)
    features[-1, 3], features[0, 4] = -7.0, 9.0
    monkeypatch.setattr("ultr_core.learners.limits.ENTRIES_PER_BLOCK", 100)
    for given in (features, sp.csr_array(features)):
        found = feature_ranges(given)
        np.testing.assert_array_equal(found.low, features.min(axis=0))
        np.testing.assert_array_equal(found.high, features.max(axis=0))
        np.testing.assert_array_equal(found.largest, np.abs(features).max(axis=0))


def test_a_path_goes_on_from_where_it_stood(medium_problem):
    corpus, weights = medium_problem
    costs = [1.0, 10.0, 100.0]
    (path_of_one,) = fit_paths(corpus, [weights])
    rough = path_of_one.near(costs, 1e-2)
    path_of_one.keep(costs[1:])
    finer = path_of_one.to(costs[1:], 1e-5)
    assert [one.cost for one in finer] == costs[1:]
    for before, ranker in zip(rough[1:], finer, strict=True):
        found = ranker.certificate
        assert found.converged and found.gap <= 1e-5
        cold = fit_ranker(corpus, weights, cost=ranker.cost, tolerance=1e-5).certificate
        assert found.primal == pytest.approx(cold.primal, rel=2e-5)
        assert found.iterations < cold.iterations
        value = objective_value(corpus, weights, ranker.cost, before.coefficients)
        assert cold.dual <= value <= cold.dual * (1 + 1.1e-2)


def test_paths_of_one_corpus_share_its_features(medium_problem):
    corpus, weights = medium_problem
    heavier = replace(weights, values=2.0 * weights.values)
    few = replace(weights, values=np.where(np.arange(len(weights.values)) < 500, weights.values, 0))
    first, second, third = fit_paths(corpus, [weights, heavier, few])
    data = [one.solver._data for one in (first, second, third)]
    assert data[0].features is data[1].features and data[0].features is not data[2].features
    for path_of_one, given in ((second, heavier), (third, few)):
        alone = fit_ranker(corpus, given, cost=1.0, tolerance=1e-6).certificate.primal
        assert path_of_one.to([1.0], 1e-6)[0].certificate.primal == pytest.approx(alone, rel=2e-6)
