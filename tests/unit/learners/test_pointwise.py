"""Pointwise losses: their minimum by other means, and what they make of impressions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import approx_fprime, minimize

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.learners import LEARNERS, SVM, pointwise
from ultr_core.learners.logistic import LOGISTIC
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.squared import SQUARED
from ultr_core.propensity import RowNumbers, Targets, Weights, weights_of_log
from ultr_core.users import ClickLog

BOTH = pytest.mark.parametrize("learner", [SQUARED, LOGISTIC], ids=["squared", "logistic"])


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Queries of 1 to 9 documents, whose features say nothing of a level."""
    rng = np.random.default_rng(0)
    offsets = np.append(0, np.cumsum(rng.integers(1, 10, 40)))
    return Corpus(rng.normal(size=(offsets[-1], 6)), np.zeros(offsets[-1], int), offsets)


@pytest.fixture(scope="module")
def weights(corpus: Corpus) -> Weights:
    """Sums of either sign, also above the number of presentations, and documents not shown."""
    rng = np.random.default_rng(1)
    draws = np.repeat(rng.integers(1, 30, corpus.n_queries), corpus.sizes).astype(float)
    draws[rng.random(draws.size) < 0.1] = 0.0
    value = np.where(draws > 0, rng.normal(0.2, 0.7, draws.size), 0.0)
    signed = value * draws
    return Weights.from_signed(signed, corpus.query_offsets, 200.0, Targets(value, draws))


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_squared_loss_is_solved_as_linear_equations(
    corpus: Corpus, weights: Weights, cost: float, kind: str
) -> None:
    """By a solver that knows only the sums a and the presentations N, in closed form."""
    assert weights.targets is not None
    x = np.hstack([corpus.features, np.ones((corpus.n_documents, 1))])
    draws, scale = weights.targets.draws, cost / weights.clicks
    a = weights.targets.value * draws
    best = np.linalg.solve(scale * (x.T * draws) @ x + np.eye(7), scale * x.T @ a)
    given = corpus
    if kind == "sparse":
        given = replace(corpus, features=sparse.csr_matrix(corpus.features))
    found = SQUARED.fit(given, weights, cost=cost, tolerance=1e-9)
    np.testing.assert_allclose(found.coefficients, best[:-1], atol=1e-8)
    lowest = SQUARED.objective(corpus, weights, cost, best)
    assert found.certificate.primal == pytest.approx(lowest, rel=1e-12)
    rough = SQUARED.fit(given, weights, cost=cost, tolerance=0.3).certificate
    assert -1e-9 <= rough.primal - lowest <= 0.5 * rough.gap**2 + 1e-9


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_the_logistic_loss_is_minimal_by_another_minimiser(
    corpus: Corpus, weights: Weights, cost: float
) -> None:
    def objective(w: np.ndarray) -> float:
        return LOGISTIC.objective(corpus, weights, cost, w)

    best = minimize(objective, np.zeros(7), options={"gtol": 1e-7})
    found = LOGISTIC.fit(corpus, weights, cost=cost, tolerance=1e-8)
    assert found.certificate.gap <= 1e-8
    np.testing.assert_allclose(found.coefficients, best.x[:-1], atol=1e-4)
    assert found.certificate.primal <= best.fun + 1e-9
    assert np.abs(approx_fprime(best.x, objective, 1e-6)).max() < 1e-3
    rough = LOGISTIC.fit(corpus, weights, cost=cost, tolerance=0.3).certificate
    assert -1e-9 <= rough.primal - best.fun <= 0.5 * rough.gap**2 + 1e-9


def test_of_labels_the_logistic_loss_is_logistic_regression(corpus: Corpus) -> None:
    """Whole labels, each presented once: the likelihood of a label by its own formula."""
    labels = np.random.default_rng(2).integers(0, 2, corpus.n_documents)
    weights = Weights(labels, 1.0, Targets(labels.astype(float), np.ones(labels.size)))
    w = np.linspace(-1.0, 1.0, 7)
    odds = corpus.features @ w[:-1] + w[-1]
    likelihood = np.where(labels, 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(odds)))
    expected = 0.5 * w @ w - np.log(likelihood).sum()
    assert LOGISTIC.objective(corpus, weights, 1.0, w) == pytest.approx(expected, rel=1e-12)


@BOTH
def test_impressions_without_a_click_count(learner, corpus: Corpus) -> None:
    """Clicks and sums are the same, presentations are not; the SVM cannot tell them apart."""
    values = np.where(np.arange(corpus.n_documents) % 5 == 0, 2.0, 0.0)

    def fitted(way, draws: np.ndarray) -> np.ndarray:
        weights = Weights(values, 50.0, Targets(values / draws, draws))
        return way.fit(corpus, weights, cost=10.0, tolerance=1e-6).coefficients

    few, many = np.full(values.size, 2.0), np.linspace(2.0, 40.0, values.size)
    assert np.array_equal(fitted(SVM, few), fitted(SVM, many))
    assert np.abs(fitted(learner, few) - fitted(learner, many)).max() > 0.05


@BOTH
def test_documents_never_shown_say_nothing(learner, corpus: Corpus) -> None:
    shown = np.arange(corpus.n_documents) % 3 > 0
    value = np.where(shown, 0.5, 0.0)
    found = [
        learner.fit(
            replace(corpus, features=corpus.features + np.where(shown, 0.0, other)[:, None]),
            Weights(value, 9.0, Targets(value, 4.0 * shown)), cost=5.0, tolerance=1e-9,
        ).coefficients
        for other in (0.0, 7.0)
    ]  # fmt: skip
    np.testing.assert_allclose(*found, atol=1e-8)


@BOTH
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_where_few_documents_were_drawn_only_those_are_multiplied(
    learner, kind: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fit is that of a corpus of those documents, and of the whole."""
    if kind == "sparse":
        corpus = replace(corpus, features=sparse.csr_array(corpus.features))
    read: list[int] = []

    class Counted(FeatureProducts):
        def scores_of_many(self, coefficients: np.ndarray) -> np.ndarray:
            read.append(self.n_documents)
            return super().scores_of_many(coefficients)

    monkeypatch.setattr(pointwise, "FeatureProducts", Counted)
    queries = np.arange(9)
    few = int(corpus.query_offsets[9])
    drawn = np.arange(corpus.n_documents) < few
    value, draws = np.where(drawn, 0.3 + 0.1 * np.arange(drawn.size) % 1, 0.0), 4.0 * drawn

    def fitted(of: Corpus, kept: slice) -> np.ndarray:
        weights = Weights(value[kept], 9.0, Targets(value[kept], draws[kept]))
        return learner.fit(of, weights, cost=5.0, tolerance=1e-9).coefficients

    found = fitted(corpus, slice(None))
    assert set(read) == {few}
    assert np.array_equal(found, fitted(corpus.subset(queries), slice(few)))
    draws = np.where(drawn, 4.0, 1e-300)  # as good as never, but all are read
    read.clear()
    np.testing.assert_allclose(fitted(corpus, slice(None)), found, rtol=1e-8)
    assert set(read) == {corpus.n_documents}


def made_log(**changes: object) -> ClickLog:
    """Document 0 at two ranks, 1 without a click, 2 never shown; 8 presentations."""
    given: dict = {
        "document": [0, 0, 1], "rank": [1, 2, 1], "impressions": [4, 4, 4], "clicks": [2, 3, 0],
        "query_draws": 8, "query_offsets": [0, 3], "draws": [8], "whole_lists": False,
    }  # fmt: skip
    return ClickLog(**{name: np.array(value) for name, value in (given | changes).items()})


def test_weights_of_a_log_carry_the_sums_before_any_shift() -> None:
    """With v = 0 the weights are the sums themselves; with v they are shifted, targets are not."""
    plain = weights_of_log(made_log(), RowNumbers([2.0, 0.5, np.inf]))
    assert plain.targets is not None
    assert plain.values.tolist() == [5.5, 0.0, 0.0]
    assert (8 * plain.targets.value).tolist() == [5.5, 0.0, 0.0]
    assert plain.targets.draws.tolist() == [8.0, 8.0, 0.0]
    v = np.array([-0.25, 0.0, -0.5])
    signed = weights_of_log(made_log(), RowNumbers([2.0, 0.5, 0.0], v))
    assert signed.targets is not None
    assert signed.values.tolist() == [6.5, 0.0, 2.0]
    assert (8 * signed.targets.value).tolist() == [4.5, -2.0, 0.0]


@BOTH
def test_clicks_alone_are_refused(learner) -> None:
    only = weights_of_log(made_log(impressions=[2, 3, 0]), RowNumbers(np.ones(3)))
    assert only.targets is None
    corpus = Corpus(np.eye(3), np.zeros(3, int), [0, 3])
    with refused("clicks_only"):
        learner.fit(corpus, only, cost=1.0)
    with refused(""):
        replace(only, targets=Targets(np.zeros(2), np.ones(2)))


def test_the_registry_has_them() -> None:
    assert LEARNERS["squared"] is SQUARED
    assert LEARNERS["logistic"] is LOGISTIC
