"""Scores by rankers that have not seen a query's clicks, so that the log can judge them fairly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.learners import learner_named
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.problem import Callback
from ultr_core.learners.selection import FINAL_TOLERANCE, converged
from ultr_core.own_data.fitting import OwnFit
from ultr_core.propensity import Weights
from ultr_core.users import ClickLog
from ultr_core.users.query_draws import child

FOLDS = 5


@one_blas_thread()
def fold_scores(
    corpus: Corpus,
    log: ClickLog,
    fit: OwnFit,
    *,
    seed: int = 0,
    callback: Callback | None = None,
) -> NDArray[np.float64]:
    """Scores [documents], those of each query by a ranker that was trained without its fold.

    The clicked queries are dealt into ``FOLDS`` folds (fewer where there are fewer), in an order
    drawn with ``seed``; for each fold a ranker is trained on the clicks of all other queries with
    the weights, C and threshold of ``fit``. Judging a ranker on the clicks that it was trained on
    flatters it; these scores are of the same way to train, and fair. A query without clicks goes
    with the first fold. ``callback`` is told of every iteration and may raise to end the work.

    Raises InputError if fewer than two clicked queries give a preference pair, or for a seed that
    is none.
    """
    clicks = log.clicks_per_query
    useful = np.flatnonzero((clicks > 0) & (corpus.sizes > 1))
    if useful.size < 2:
        raise InputError(
            "Fewer than two clicked queries give a preference pair, so none can be held out to "
            "judge the ranker on.",
            "held_out",
        )
    folds = min(FOLDS, useful.size)
    fold = np.zeros(corpus.n_queries, dtype=np.int64)
    order = np.random.default_rng(child(seed, 1)).permutation(useful)
    fold[order] = np.arange(useful.size) % folds
    scores = np.zeros(corpus.n_documents)
    for number in range(folds):
        rest = np.flatnonzero(fold != number)
        held = np.repeat(fold == number, corpus.sizes)
        weights = Weights(fit.weights.values[~held], float(clicks[rest].sum()))
        ranker = learner_named(fit.learner).fit(
            corpus.subset(rest), weights, cost=fit.cost, tolerance=FINAL_TOLERANCE, seed=seed,
            callback=callback,
        )  # fmt: skip
        scores[held] = converged(ranker, FINAL_TOLERANCE).score(corpus)[held]
    return scores
