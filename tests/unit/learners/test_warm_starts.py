"""Starting from a ranker: fewer passes where it is good, no harm where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ultr_core.learners import fit_path, fit_ranker
from ultr_core.learners.limits import RangesOf, feature_ranges


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
    path = fit_path(corpus, weights, costs, tolerance=1e-2)
    again = fit_path(corpus, weights, costs, tolerance=1e-2)
    single = [fit_ranker(corpus, weights, cost=c, tolerance=1e-2).certificate for c in costs]
    for one, other in zip(path, again, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
    assert all(ranker.certificate.gap <= 1e-2 for ranker in path)
    # The pass of the certificate is common to the path.
    assert 1 + sum(r.certificate.passes - 1 for r in path) < sum(c.passes for c in single)


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
