"""Choosing C, and the clipping threshold, on held-out clicks (sections 7.1 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""Duality gap of the first fits, which say which settings are worth a closer look."""

SELECTION_TOLERANCES = (PATH_TOLERANCE, 1e-3, 1e-4, 1e-5, 1e-6)
"""Duality gaps at which settings are compared, each time only those that can still win.

On fits to 1% the winner was that of fits to 1e-7 in 38% to 71% of the logs of 1,000 and 5,000
clicks with a threshold to choose; see `best_setting`.
"""

SMALLEST_MARGIN = 0.01
"""Share of the lowest estimate within which settings stay after the first fits, at least."""

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

    ``estimates`` [candidates, costs] are the validation risks that the choice was made from, each
    of the last fit of that setting.
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


def best_setting(
    fit: Callable[[int, Sequence[float], float], Sequence[LinearRanker]],
    risks: Callable[[Sequence[LinearRanker]], NDArray[np.float64]],
    candidates: int,
    costs: Sequence[float],
    held_out: int,
) -> tuple[int, LinearRanker, NDArray[np.float64]]:
    """The setting with the lowest risk, chosen on fits that are as exact as the choice needs.

    All settings are fitted to the first of ``SELECTION_TOLERANCES``; to each further one only those
    that may still win. After the first fits that is a risk within max(``SMALLEST_MARGIN``,
    1/(2 sqrt(held_out))) of the lowest, in shares of it, since risks move by ranks of single
    clicks; after the others within the largest change that the step made to the risk of any of
    them, since the distance to the optimum falls with the root of the gap. Ties go to the first
    candidate and the first C. Risks within 0.2% of each other are not always told apart, for fits
    to 1e-6 may still differ by that.

    Args:
        fit: rankers of a candidate, one for each of some C, at a duality gap.
        risks: what they are compared by, float64 [rankers].
        candidates: how many compete.
        costs: values of C.
        held_out: how many clicks, or relevant documents, the risks are of.

    Returns:
        The candidate that wins, its ranker at the last gap that it was fitted to, and the risk of
        each setting at its last gap, float64 [candidates, costs].
    """
    found = np.full((candidates, len(costs)), np.inf)
    remaining = np.ones(found.shape, bool)
    rankers: dict[tuple[int, int], LinearRanker] = {}
    for tolerance in SELECTION_TOLERANCES:
        before = found.copy()
        for candidate in np.flatnonzero(remaining.any(axis=1)).tolist():
            places = np.flatnonzero(remaining[candidate]).tolist()
            path = fit(candidate, [costs[place] for place in places], tolerance)
            fitted = places[: len(path)]  # all, unless a callback ended the path
            found[candidate, fitted] = risks(path)
            rankers.update(zip(((candidate, place) for place in fitted), path, strict=True))
        lowest = found[remaining].min()
        if tolerance == SELECTION_TOLERANCES[0]:
            margin = abs(lowest) * max(SMALLEST_MARGIN, 0.5 / np.sqrt(max(held_out, 1)))
        else:
            margin = np.abs(found - before)[remaining].max()
        remaining &= found <= lowest + margin
        if np.count_nonzero(remaining) == 1:
            break
    best, cost = divmod(int(np.argmin(np.where(remaining, found, np.inf))), len(costs))
    return best, rankers[best, cost], found


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
    best, start, estimates = best_setting(
        lambda place, some, gap: learner.along(
            train, candidates[place].weights, some, tolerance=gap, callback=callback
        ),
        lambda rankers: validation_risks(rankers, validation, log, numbers),
        len(candidates),
        tried,
        log.total_clicks,
    )
    ranker = learner.fit(
        train,
        candidates[best].weights,
        cost=start.cost,
        tolerance=tolerance,
        initial=start,
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

    def risks(rankers: Sequence[LinearRanker]) -> NDArray[np.float64]:
        ranks = rank_many(score_many(rankers, validation), validation.query_offsets)
        return true_risks(ranks, relevance, validation.query_offsets)

    _, start, _ = best_setting(
        lambda _, some, gap: fit_path(train, weights, some, tolerance=gap),
        risks,
        1,
        costs,
        int(np.count_nonzero(relevance)),
    )
    ranker = fit_ranker(train, weights, cost=start.cost, tolerance=tolerance, initial=start)
    return converged(ranker, tolerance)
