"""More features than documents, unused features, and more of both than can be fitted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.learners import fit_path, fit_ranker, objective_value
from ultr_core.propensity.weights import Weights


def problem(features, seed=0):
    """Queries of four documents; about a third of the documents clicked."""
    n = features.shape[0]
    values = (np.random.default_rng(seed).random(n) < 0.3).astype(float)
    values[0] = 1.0
    corpus = Corpus(
        features=features, grades=np.zeros(n, np.int16), query_offsets=np.arange(0, n + 1, 4)
    )
    return corpus, Weights(values, values.sum())


def random_rows(n, features, seed=0):
    return np.random.default_rng(seed).normal(size=(n, features)).astype(np.float32)


@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
def test_a_rotation_into_more_features_changes_nothing(method):
    """The objective sees w.w and X w only, which an isometry of the rows keeps."""
    narrow = random_rows(32, 20)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3000, 20)))
    wide, weights = problem((narrow @ rotation.T).astype(np.float32))
    one = fit_ranker(problem(narrow)[0], weights, cost=5.0, tolerance=1e-6)
    other = fit_ranker(wide, weights, cost=5.0, tolerance=1e-6, method=method)
    assert other.certificate.converged
    assert other.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-5)
    np.testing.assert_allclose(other.coefficients, rotation @ one.coefficients, atol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_wide_certificate_is_that_of_the_features_themselves(sparse):
    features = random_rows(48, 2500)
    if sparse:
        features = sp.csr_array(np.where(np.abs(features) > 2, features, 0))
    corpus, weights = problem(features)
    for ranker in (
        fit_ranker(corpus, weights, cost=2.0, tolerance=1e-7),
        *fit_path(corpus, weights, [0.01, 2.0], tolerance=1e-7),
    ):
        value = objective_value(corpus, weights, ranker.cost, ranker.coefficients)
        assert ranker.certificate.converged and len(ranker.coefficients) == 2500
        # Up to the weights' rounding to float32.
        assert ranker.certificate.primal == pytest.approx(value, rel=1e-7)


def test_callback_and_warm_start_speak_of_the_features():
    corpus, weights = problem(random_rows(32, 2500))
    seen = []
    first = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-6, callback=seen.append)
    assert all(len(progress.coefficients) == 2500 for progress in seen)
    constraints = [p.constraint for p in seen if p.constraint is not None]
    assert all(len(constraint.vector) == 2500 for constraint in constraints)
    told = objective_value(corpus, weights, 1.0, seen[-1].coefficients)
    assert told == pytest.approx(seen[-1].primal, rel=1e-6)
    again = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-4, initial=first)
    assert again.certificate.primal <= first.certificate.primal * (1 + 1e-9)


def test_two_documents_with_a_great_many_features():
    features = sp.csr_array(
        (np.array([1.0, 1.0], np.float32), ([0, 1], [7, 299_999])), shape=(2, 300_000)
    )
    corpus = Corpus(features=features, grades=np.zeros(2, np.int16), query_offsets=np.array([0, 2]))
    found = fit_ranker(corpus, Weights(np.array([1.0, 0.0]), 1.0), cost=10.0, tolerance=1e-9)
    # The hinge is met with w along x_1 - x_2, of squared length 2.
    assert found.coefficients[7] == pytest.approx(0.5, rel=1e-6)
    assert found.coefficients[-1] == pytest.approx(-0.5, rel=1e-6)
    assert np.count_nonzero(found.coefficients) == 2


@pytest.mark.parametrize("unused", [5, 40, 5000])
def test_unused_features_get_the_coefficient_zero(unused):
    narrow = random_rows(60, 12)
    features = np.zeros((60, 12 + unused), np.float32)
    used = np.random.default_rng(3).permutation(12 + unused)[:12]
    features[:, used] = narrow
    corpus, weights = problem(features)
    one = fit_ranker(problem(narrow)[0], weights, cost=3.0, tolerance=1e-8)
    other = fit_ranker(corpus, weights, cost=3.0, tolerance=1e-8)
    np.testing.assert_allclose(other.coefficients[used], one.coefficients, atol=1e-4)
    assert not other.coefficients[np.setdiff1d(np.arange(12 + unused), used)].any()


@pytest.mark.parametrize("shape", [(200, 1000), (600, 900)])
def test_many_features_for_few_pairs(shape):
    corpus, weights = problem(random_rows(*shape))
    assert fit_ranker(corpus, weights, cost=1.0).certificate.converged


def test_too_many_of_both_are_refused_at_once():
    features = sp.random_array((4400, 6000), density=5e-3, rng=0, dtype=np.float32, format="csr")
    corpus, weights = problem(features)
    weights = Weights(np.ones(corpus.n_documents), corpus.n_documents)
    with refused("", 6000, "features", 4400, "documents", 4000):
        fit_ranker(corpus, weights, cost=1.0)
