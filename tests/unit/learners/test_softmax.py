"""The softmax loss: its derivatives, and its minimum by a minimiser that knows only the formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import approx_fprime, minimize

from ultr_core.corpus import Corpus
from ultr_core.learners.softmax import SOFTMAX, _Softmax, objective
from ultr_core.propensity import Weights


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Queries of 1 to 9 documents."""
    rng = np.random.default_rng(0)
    offsets = np.append(0, np.cumsum(rng.integers(1, 10, 40)))
    return Corpus(rng.normal(size=(offsets[-1], 6)), np.zeros(offsets[-1], int), offsets)


@pytest.fixture(scope="module")
def weights(corpus: Corpus) -> Weights:
    rng = np.random.default_rng(1)
    values = np.where(rng.random(corpus.n_documents) < 0.3, rng.uniform(1, 20, 1), 0.0)
    return Weights(values, float((values > 0).sum()))


def test_derivatives_are_those_of_finite_differences(corpus: Corpus, weights: Weights) -> None:
    problem, w = _Softmax(corpus, weights, 3.0), 0.5 * np.random.default_rng(2).normal(size=6)
    value, share = problem.at(w)
    assert value == pytest.approx(objective(corpus, weights, 3.0, w), rel=1e-13)
    gradient = problem.gradient(w, share)
    by_differences = approx_fprime(w, lambda at: objective(corpus, weights, 3.0, at), 1e-6)
    np.testing.assert_allclose(gradient, by_differences, rtol=1e-4, atol=1e-4)
    for along in np.eye(6):
        ends = [problem.gradient(w + step * along, problem.at(w + step * along)[1])
                for step in (1e-5, -1e-5)]  # fmt: skip
        np.testing.assert_allclose(
            problem.curved(share, along), (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_minimum_is_that_of_another_minimiser(
    corpus: Corpus, weights: Weights, cost: float, kind: str
) -> None:
    """And the norm of the gradient bounds how far above it the objective is."""
    if kind == "sparse":
        corpus = replace(corpus, features=sparse.csr_matrix(corpus.features))
    best = minimize(
        lambda w: objective(corpus, weights, cost, w), np.zeros(6), options={"gtol": 1e-6}
    )
    found = SOFTMAX.fit(corpus, weights, cost=cost, tolerance=1e-8)
    assert found.certificate.gap <= 1e-8
    np.testing.assert_allclose(found.coefficients, best.x, atol=1e-5)
    rough = SOFTMAX.fit(corpus, weights, cost=cost, tolerance=0.3).certificate
    assert 0 <= rough.primal - best.fun <= 0.5 * rough.gap**2 + 1e-9


def test_scores_that_rise_together_change_nothing(corpus: Corpus, weights: Weights) -> None:
    per_query = np.random.default_rng(3).normal(size=corpus.n_queries)
    column = np.repeat(per_query, corpus.sizes)[:, None]
    more = replace(
        corpus, features=np.hstack([corpus.features, column]), feature_ids=np.arange(1, 8)
    )
    found = SOFTMAX.fit(more, weights, cost=1.0, tolerance=1e-9)
    alone = SOFTMAX.fit(corpus, weights, cost=1.0, tolerance=1e-9)
    np.testing.assert_allclose(found.coefficients, [*alone.coefficients, 0.0], atol=1e-7)


def test_of_one_document_a_query_it_learns_nothing() -> None:
    corpus = Corpus(np.eye(3), np.zeros(3, int), np.arange(4))
    found = SOFTMAX.fit(corpus, Weights(np.ones(3), 3.0), cost=10.0)
    assert not found.coefficients.any()
