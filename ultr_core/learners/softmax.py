"""The propensity-weighted softmax loss: a list at a time instead of a pair at a time.

    1/2 w.w + (C / n) sum over queries of (A_q log sum_j exp(s_j) - sum_d a_d s_d),   s = X w,

a being the weights of the documents of a query and A_q their sum. It is convex as long as a >= 0,
and nothing changes if all scores of a query rise by the same. `minimised` finds its minimum.

Source: Ai et al. (SIGIR 2018) for weights in the loss of ListNet (Cao et al., ICML 2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.learner import Learner
from ultr_core.learners.problem import Callback
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.ranker import LinearRanker
from ultr_core.learners.smooth import minimised
from ultr_core.propensity.weights import Weights

FloatArray = NDArray[np.float64]


class _Softmax:
    """The objective of weighted documents [documents] as a function of w [features]."""

    def __init__(self, corpus: Corpus, weights: Weights, cost: float) -> None:
        self.products = FeatureProducts(corpus.features, np.float64)
        self.query = query_of_document(corpus.query_offsets)
        self.starts = corpus.query_offsets[:-1]
        self.values = weights.values
        self.totals = self._by_query(weights.values)
        self.scale = cost / weights.clicks

    def _by_query(self, values: FloatArray) -> FloatArray:
        """Sums over the documents of each query, [queries]."""
        found: FloatArray = np.add.reduceat(values, self.starts)
        return found

    def at(self, w: FloatArray) -> tuple[float, FloatArray]:
        """The objective, and the share of each document in its query, exp(s) / sum exp(s)."""
        s = np.asarray(self.products.scores(w), np.float64)
        highest = np.maximum.reduceat(s, self.starts)
        raised = np.exp(s - highest[self.query])
        sums = self._by_query(raised)
        loss = self.totals @ (np.log(sums) + highest) - self.values @ s
        return 0.5 * float(w @ w) + self.scale * float(loss), raised / sums[self.query]

    def gradient(self, w: FloatArray, share: FloatArray) -> FloatArray:
        """w + (C / n) X' (A_q share - a)."""
        pull = self.totals[self.query] * share - self.values
        return w + self.scale * self.products.pulled(pull)

    def curved(self, share: FloatArray, v: FloatArray) -> FloatArray:
        """The second derivative times v [features]."""
        t = np.asarray(self.products.scores(v), np.float64)
        pull = self.totals[self.query] * share * (t - self._by_query(share * t)[self.query])
        return v + self.scale * self.products.pulled(pull)


def objective(corpus: Corpus, weights: Weights, cost: float, coefficients: FloatArray) -> float:
    """The formula at the top, query by query."""
    s = np.asarray(corpus.features @ coefficients, np.float64)
    loss = 0.0
    for first, last in zip(corpus.query_offsets[:-1], corpus.query_offsets[1:], strict=True):
        own, a = s[first:last], weights.values[first:last]
        loss += float(a.sum() * np.logaddexp.reduce(own) - a @ own)
    return 0.5 * float(coefficients @ coefficients) + cost / weights.clicks * loss


@one_blas_thread()
def fit(
    corpus: Corpus,
    weights: Weights,
    *,
    cost: float,
    tolerance: float = 1e-3,
    initial: LinearRanker | None = None,
    callback: Callback | None = None,
    **_: Any,
) -> LinearRanker:
    """Minimise the objective until the norm of its gradient is at most ``tolerance``."""
    w = np.zeros(corpus.n_features) if initial is None else initial.coefficients
    found, certificate = minimised(_Softmax(corpus, weights, cost), w, tolerance, callback)
    return LinearRanker(found, corpus.feature_ids, cost, certificate)


SOFTMAX = Learner(
    "softmax",
    "Softmax",
    "Minimises the weighted softmax loss: minus the log of each clicked document's probability "
    "in its query.",
    "Ai et al. (SIGIR 2018), Cao et al. (ICML 2007)",
    fit,
    objective,
    ((-1.0, 1.3132616875182228), (0.5, 0.4740769841801067), (2.0, 0.1269280110429726)),
)
