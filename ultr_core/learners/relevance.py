"""Relevance fitted to clicks: least squares on the features, by how often each rank is examined.

    minimise sum over rows of impressions (CTR - beta - alpha f(x))^2 + ridge |w|^2

with f(x) = x.w + b. No click is divided by a propensity, so that its variance stays small with few
clicks. It must see whatever the ranker saw that showed the documents, whose score is one more
feature where it is known: a fit that sees less takes a document shown high for as relevant as one
shown low.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.products import FeatureProducts
from ultr_core.limits import REGRESSED_FEATURES
from ultr_core.propensity.estimator import Belief
from ultr_core.users.click_log import ClickLog

FloatArray = NDArray[np.float64]

RIDGES = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Penalties that held-out clicks choose from."""

RIDGE_WITHOUT_VALIDATION = 10.0

_DOCUMENTS = 2048  # of a block, which stays in the cache until it is used


@dataclass(frozen=True, eq=False)
class Shown:
    """Queries with their clicks, and the scores by which they were shown.

    scores: float64 [documents] of the ranker that showed them; None where it is not known.
    """

    corpus: Corpus
    log: ClickLog
    scores: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class FittedRelevance:
    """The fit: float64 [features], with one more for the logger's score if it was given."""

    coefficients: FloatArray
    constant: float
    ridge: float

    def of(self, corpus: Corpus, scores: FloatArray | None = None) -> FloatArray:
        """r_hat of each document, float64 [documents], between 0 and 1."""
        (found,) = _values([self], corpus, scores)
        clipped: FloatArray = found.clip(0.0, 1.0)
        return clipped


@one_blas_thread()
def fit_relevance(
    train: Shown,
    belief: Belief,
    *,
    validation: Shown | None = None,
    ridges: Sequence[float] = RIDGES,
) -> FittedRelevance:
    """Fit r_hat to the clicks of a log, with the penalty that is best on held-out clicks.

    belief: how the users of both logs examine and click. Without ``validation`` clicks the penalty
    is ``RIDGE_WITHOUT_VALIDATION``; one that is given alone is taken. Raises InputError for a log
    of clicks only, one with no impression at a rank that is examined, or too many features.

    Source: Oosterhuis (TOIS 2023), with least squares in place of a cross entropy.
    """
    if train.log.clicks_only:
        raise InputError(
            "The log contains only clicks, but relevance is also fitted to impressions without a "
            "click; give a log of everything that was shown, or choose an estimator that counts "
            "only clicks.",
            "clicks_only",
        )
    REGRESSED_FEATURES.require(train.corpus.n_features, "The corpus")
    gram, right = _normal_equations(train, belief)
    if not gram[-1, -1] > 0:
        raise InputError(
            "Nothing was shown at a rank that users examine, so relevance cannot be fitted.",
            "relevance",
        )
    if len(ridges) > 1 and (validation is None or not validation.log.total_clicks):
        ridges = (RIDGE_WITHOUT_VALIDATION,)
    found = [_solved(gram, right, ridge) for ridge in ridges]
    if len(found) == 1 or validation is None:
        return found[0]
    return found[int(np.argmin(_losses(found, validation, belief)))]


def relevance_without(
    shown: Shown, belief: Belief, group: NDArray[np.int64], ridge: float
) -> Iterator[FloatArray]:
    """r_hat of all documents [documents], fitted without each group of queries in turn.

    group [queries], from 0. Of all clicks the equations are made once.
    """
    of_document = group[query_of_document(shown.log.query_offsets)]
    groups = int(group.max()) + 1
    parts = [_normal_equations(shown, belief, of_document == number) for number in range(groups)]
    gram, right = sum(part[0] for part in parts), sum(part[1] for part in parts)
    for own, of_own in parts:
        yield _solved(gram - own, right - of_own, ridge).of(shown.corpus, shown.scores)


def with_relevance(belief: Belief, fit: FittedRelevance, shown: Shown) -> Belief:
    """The belief with what the fit says of these documents."""
    return replace(belief, relevance=fit.of(shown.corpus, shown.scores))


def _values(
    fits: Sequence[FittedRelevance], corpus: Corpus, scores: FloatArray | None
) -> FloatArray:
    """f of each fit [fits, documents]; features are read once for all of them."""
    coefficients = np.array([fit.coefficients for fit in fits])
    features = corpus.n_features
    products = FeatureProducts(corpus.features, np.float64)
    found = np.asarray(products.scores_of_many(coefficients[:, :features]), np.float64)
    found += np.array([[fit.constant] for fit in fits])
    return found if scores is None else found + coefficients[:, features:] * scores


def _losses(fits: Sequence[FittedRelevance], shown: Shown, belief: Belief) -> FloatArray:
    """The squares of ``shown`` for each fit [fits], less a constant; unclipped."""
    squares, products = _by_document(shown.log, belief)
    found = _values(fits, shown.corpus, shown.scores)
    return np.asarray(found**2 @ squares - 2.0 * (found @ products))


def _solved(gram: FloatArray, right: FloatArray, ridge: float) -> FittedRelevance:
    penalty = np.full(right.size, ridge)
    penalty[-1] = 0.0  # the constant is free
    solution = np.asarray(np.linalg.solve(gram + np.diag(penalty), right), np.float64)
    return FittedRelevance(solution[:-1], float(solution[-1]), ridge)


def _by_document(log: ClickLog, belief: Belief) -> tuple[FloatArray, FloatArray]:
    """Sums over the rows of a document: impressions alpha^2, alpha (clicks - impressions beta)."""
    alpha, beta = belief.affine(log.rank)
    alpha = np.where(belief.follows(log), alpha, 0.0)
    return (
        log.sum_by_document(log.impressions * alpha**2),
        log.sum_by_document(alpha * (log.clicks - log.impressions * beta)),
    )


def _normal_equations(
    shown: Shown, belief: Belief, among: NDArray[np.bool_] | None = None
) -> tuple[FloatArray, FloatArray]:
    """X' S X [features + 1 or 2, the same] and X' y, over the documents that were shown.

    among [documents]: which of them; None for all.
    """
    squares, products = _by_document(shown.log, belief)
    if among is not None:
        squares, products = squares * among, products * among
    root = np.sqrt(squares)
    # Both are 0 at a document that was not shown where users look.
    right_of = np.divide(products, root, out=np.zeros(root.size), where=root > 0)
    features = shown.corpus.n_features
    size = features + (shown.scores is not None) + 1
    gram, right = np.zeros((size, size)), np.zeros(size)
    for start in range(0, root.size, _DOCUMENTS):
        rows = slice(start, min(start + _DOCUMENTS, root.size))
        x = shown.corpus.features[rows]
        dense = x.toarray() if sparse.issparse(x) else x
        of_rows = root[rows, None]
        block = np.empty((len(of_rows), size))
        np.multiply(dense, of_rows, out=block[:, :features])
        if shown.scores is not None:
            block[:, -2] = shown.scores[rows] * root[rows]
        block[:, -1] = root[rows]
        # A matrix times its own transpose takes half as long as a product of two matrices.
        gram += block.T @ block
        right += block.T @ right_of[rows]
    return gram, right
