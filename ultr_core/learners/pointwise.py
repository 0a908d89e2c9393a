"""Pointwise losses: each document on its own, with the relevance that its clicks estimate.

    1/2 (w.w + b^2) + (C / n) sum over documents of N_d loss(x_d.w + b, t_d)

t and N are value and draws of the `Targets`, for a document without a click is evidence as well. A
loss of single documents must also learn how relevant documents are on the whole, the level b. It
adds the same number to every score, so that it ranks nothing and is not part of the ranker.

`minimised` finds the minimum, over w and b together.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.learner import Fit
from ultr_core.learners.problem import Callback
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.ranker import LinearRanker
from ultr_core.learners.smooth import minimised
from ultr_core.propensity.targets import Targets, no_impressions
from ultr_core.propensity.weights import Weights

FloatArray = NDArray[np.float64]


class DocumentLoss(Protocol):
    """Loss of documents with scores s and targets t [documents], and two derivatives by s."""

    def __call__(self, s: FloatArray, t: FloatArray, /) -> tuple[FloatArray, ...]:
        """Value, slope and curvature; the curvature is never negative."""


def targets_of(weights: Weights) -> Targets:
    """The targets of weights; raises InputError where impressions are not known."""
    if weights.targets is None:
        raise no_impressions()
    return weights.targets


class _Pointwise:
    """The objective as a function of w and b [features + 1].

    Documents without a draw add nothing to it; where they are most, as after a few clicks, they are
    left out of every product. Otherwise the sums stay the same to the last digit.
    """

    def __init__(self, corpus: Corpus, weights: Weights, cost: float, loss: DocumentLoss) -> None:
        features, targets = corpus.features, targets_of(weights)
        drawn = np.flatnonzero(targets.draws)
        if 2 * drawn.size < corpus.n_documents:
            features, targets = features[drawn], targets.of_documents(drawn)
        self.products = FeatureProducts(features, np.float64)
        self.wanted, self.draws = targets.value, cost / weights.clicks * targets.draws
        self.loss = loss

    def _scores(self, w: FloatArray) -> FloatArray:
        found: FloatArray = np.asarray(self.products.scores(w[:-1]), np.float64) + w[-1]
        return found

    def _pulled(self, pull: FloatArray) -> FloatArray:
        return np.append(self.products.pulled(pull), pull.sum())

    def at(self, w: FloatArray) -> tuple[float, FloatArray]:
        """The objective, and slope and curvature of each document's loss [2, documents]."""
        value, slope, curvature = self.loss(self._scores(w), self.wanted)
        found = 0.5 * float(w @ w) + float(self.draws @ value)
        return found, self.draws * np.stack((slope, curvature))

    def gradient(self, w: FloatArray, by_document: FloatArray) -> FloatArray:
        """(w, b) + (C / n) (X, 1)' N slope."""
        return w + self._pulled(by_document[0])

    def curved(self, by_document: FloatArray, v: FloatArray) -> FloatArray:
        """The second derivative times v [features + 1]."""
        return v + self._pulled(by_document[1] * self._scores(v))


def fit_of(loss: DocumentLoss) -> Fit:
    """The fit of a learner with this loss, to a norm of the gradient by w and b."""

    @one_blas_thread()
    def fit(
        corpus: Corpus,
        weights: Weights,
        *,
        cost: float,
        tolerance: float = 1e-3,
        initial: LinearRanker | None = None,
        seed: int = 0,
        callback: Callback | None = None,
    ) -> LinearRanker:
        w = np.zeros(corpus.n_features + 1)
        if initial is not None:
            w[:-1] = initial.coefficients
        problem = _Pointwise(corpus, weights, cost, loss)
        found, certificate = minimised(problem, w, tolerance, callback)
        return LinearRanker(found[:-1], corpus.feature_ids, cost, certificate)

    return fit
