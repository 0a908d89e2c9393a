"""Choosing C, and the clipping threshold, on held-out clicks (sections 7.1 and 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_many
from ultr_core.errors import InputError
from ultr_core.learners.learner import COST_GRID, Learner
from ultr_core.learners.problem import Callback
from ultr_core.learners.ranker import LinearRanker, fit_path, fit_ranker, score_many
from ultr_core.learners.registry import SVM
from ultr_core.propensity import Numbers, Weights
from ultr_core.risk import estimate_risks, true_risks
from ultr_core.users import ClickLog
from ultr_core.words import counted

COST_WITHOUT_VALIDATION = 1.0
"""C when validation has nothing to say, as with no click on a validation query."""

PATH_TOLERANCE = 1e-2
"""Duality gap of the fits that are only compared with each other."""

FINAL_TOLERANCE = 1e-3
"""Duality gap of the ranker that is kept."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Training weights that compete on the validation clicks, and the threshold behind them."""

    weights: Weights
    clip: float = 0.0


@dataclass(frozen=True, eq=False)
class Selection:
    """The ranker that validation chose.

    ``estimates`` [candidates, costs] are the validation risks that the choice was made from.
    """

    ranker: LinearRanker
    clip: float
    estimates: NDArray[np.float64]


def validation_risks(
    rankers: Sequence[LinearRanker],
    validation: Corpus,
    log: ClickLog,
    numbers: Numbers,
) -> NDArray[np.float64]:
    """Estimated risk of each ranker on the validation clicks, float64 [rankers].

    Args:
        rankers: the candidates.
        validation: the validation queries.
        log: their clicks.
        numbers: [rows of the log], those of the estimator that judges them (section 7.1).
    """
    scores = score_many(rankers, validation)
    return estimate_risks(log, rank_many(scores, validation.query_offsets), numbers).value


def converged(ranker: LinearRanker, tolerance: float) -> LinearRanker:
    """The ranker itself, if its gap is the one asked for, or a callback has ended its training.

    Raises:
        InputError: its training gave up before it reached ``tolerance``.
    """
    found = ranker.certificate
    if found.converged or found.stopped_early:
        return ranker
    raise InputError(
        f"Training with C = {ranker.cost:g} ended after {counted(found.iterations, 'iteration')} "
        f"with a {found.measure} of {found.gap:.2g}, above the required {tolerance:g}; "
        "scale the features to about the same range, such as 0 to 1, or choose a smaller C.",
        "not_converged",
    )


def select_by_clicks(
    train: Corpus,
    candidates: Sequence[Candidate],
    validation: Corpus,
    log: ClickLog,
    numbers: Numbers,
    *,
    learner: Learner = SVM,
    costs: Sequence[float] | None = None,
    tolerance: float = FINAL_TOLERANCE,
    callback: Callback | None = None,
) -> Selection:
    """Fit every candidate along a grid of C and keep the lowest estimated validation risk.

    Ties go to the first candidate and the smallest C. Without a validation click the first
    candidate is fitted with ``COST_WITHOUT_VALIDATION``.

    Args:
        train: the training queries.
        candidates: training weights to choose from, each with its clipping threshold.
        validation: the validation queries.
        log: clicks on them.
        numbers: [rows of the log], u and v of the estimate that judges the candidates (or
            propensities): as little clipped as the clicks allow, plain counts for the naive one.
        learner: what is trained.
        costs: values of C, None for the learner's own.
        tolerance: relative duality gap of the ranker that is returned.
        callback: told of every iteration of every fit (see ``fit_ranker``).

    Raises:
        InputError: no click gives a pair to learn from, or the ranker cannot be certified.

    Source: sections 7.1 and 7.2; hold-out validation.
    """
    tried = learner.costs if costs is None else costs
    if log.total_clicks == 0:
        first = candidates[0]
        ranker = learner.fit(
            train,
            first.weights,
            cost=COST_WITHOUT_VALIDATION,
            tolerance=tolerance,
            callback=callback,
        )
        ranker = converged(ranker, tolerance)
        return Selection(ranker, first.clip, np.full((len(candidates), len(tried)), np.nan))
    paths = [
        learner.along(train, candidate.weights, tried, tolerance=PATH_TOLERANCE, callback=callback)
        for candidate in candidates
    ]
    estimates = np.stack([validation_risks(path, validation, log, numbers) for path in paths])
    best, cost = divmod(int(np.argmin(estimates)), len(tried))
    ranker = learner.fit(
        train,
        candidates[best].weights,
        cost=tried[cost],
        tolerance=tolerance,
        initial=paths[best][cost],
        callback=callback,
    )
    return Selection(converged(ranker, tolerance), candidates[best].clip, estimates)


def select_by_labels(
    train: Corpus,
    weights: Weights,
    validation: Corpus,
    relevance: NDArray[np.bool_],
    *,
    costs: Sequence[float] = COST_GRID,
    tolerance: float = FINAL_TOLERANCE,
) -> LinearRanker:
    """Fit along a grid of C and keep the lowest true risk on the validation queries.

    This is how the skyline is chosen: it sees all labels. ``relevance`` is bool [documents of
    ``validation``]; where nothing is relevant, ``COST_WITHOUT_VALIDATION`` is taken.

    Raises:
        InputError: no query has a pair to learn from, or the ranker cannot be certified.
    """
    if not relevance.any():
        ranker = fit_ranker(train, weights, cost=COST_WITHOUT_VALIDATION, tolerance=tolerance)
        return converged(ranker, tolerance)
    path = fit_path(train, weights, costs, tolerance=PATH_TOLERANCE)
    ranks = rank_many(score_many(path, validation), validation.query_offsets)
    best = int(np.argmin(true_risks(ranks, relevance, validation.query_offsets)))
    ranker = fit_ranker(train, weights, cost=costs[best], tolerance=tolerance, initial=path[best])
    return converged(ranker, tolerance)
