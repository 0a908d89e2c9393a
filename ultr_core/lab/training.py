"""Training: the one way from clicks to a ranker, whatever the method, and its test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.lab.logs import Logs, belief_about, known_exposure, simulate_logs
from ultr_core.lab.measured import swaps_of
from ultr_core.lab.methods import LINEAR_METHODS, METHODS, ClickData, Method
from ultr_core.lab.world import TestRisk, World, test_risk
from ultr_core.learners import Learner, LinearRanker
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.problem import Callback
from ultr_core.learners.relevance import (
    FittedRelevance,
    Shown,
    fit_relevance,
    with_relevance,
)
from ultr_core.learners.selection import (
    FINAL_TOLERANCE,
    Candidate,
    Selection,
    converged,
    select_by_clicks,
)
from ultr_core.propensity import Belief, Estimator, SwapCounts, Weights, weights_of_log
from ultr_core.risk.by_rank import RankTest, clicks_by_rank
from ultr_core.settings import Settings
from ultr_core.users import ClickLog


def select(
    method: Method,
    data: ClickData,
    *,
    costs: Sequence[float] | None = None,
    clips: Sequence[float] | None = None,
    callback: Callback | None = None,
) -> Selection:
    """Train a method, C and the threshold tau chosen on the validation clicks.

    Each threshold gives one set of training weights; those that change nothing are left out. The
    candidates are judged by the method's own estimate, as little clipped as those that compete
    (sections 7.1 and 7.2), or by another that it names.

    Args:
        method: one that learns from clicks.
        data: clicks to train on and to choose on.
        costs: values of C, None for the learner's own.
        clips: thresholds, None for the estimator's own.
        callback: told of every iteration of every fit; it may raise to end them.

    Raises:
        InputError: a method without clicks, clicks that give no pair to learn from, or clicks that
            the estimator cannot weigh.
    """
    if method.trainer is not None:
        return method.trainer(data)
    estimator = method.estimator
    if estimator is None:
        raise InputError(
            f"{method.label} does not learn from clicks; choose a method that does.",
            "not_from_clicks",
        )
    tried = estimator.clips_for(data.log) if clips is None else clips
    judge = estimator if method.validated_by is None else method.validated_by
    held_out = data.validation_log
    at = judge.clips_for(held_out)[0] if judge.falls else min(tried)
    numbers = judge.weigh(held_out, replace(data.judging_belief, clip=at)).on_log(held_out)
    candidates: list[Candidate] = []
    for clip in tried:
        weights = weights_by(estimator, data.log, replace(data.belief, clip=clip))
        # Thresholds may clip nothing new, as all of them do for a flat curve.
        if not any(np.array_equal(weights.values, other.weights.values) for other in candidates):
            candidates.append(Candidate(weights, clip))
    return select_by_clicks(
        data.corpus, candidates, data.validation, held_out, numbers,
        learner=method.learner, costs=costs, callback=callback,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Informed:
    """A method and its data, with the relevance that it needs fitted to the clicks.

    method: the one that was asked for, or the one with the estimator that takes its place. fit, and
    test: of the fitted relevance and whether it predicts the clicks; None where none is needed.
    """

    method: Method
    data: ClickData
    fit: FittedRelevance | None = None
    test: RankTest | None = None


def informed(method: Method, data: ClickData) -> Informed:
    """Fit the relevance that a method needs, and keep to the method only if it predicts the clicks.

    Where the test by rank rejects the fit, the estimator's ``instead`` weighs the clicks, which
    needs none. Raises InputError if `fit_relevance` does.
    """
    estimator = method.estimator
    if estimator is None or not estimator.fits_relevance:
        return Informed(method, data)
    scores = (None, None) if data.scores is None else data.scores
    shown = Shown(data.corpus, data.log, scores[0])
    held_out = Shown(data.validation, data.validation_log, scores[1])
    belief = estimator.told(data.belief)
    fit = fit_relevance(shown, belief, validation=held_out)
    known = with_relevance(belief, fit, shown)
    test = clicks_by_rank(data.log, known)
    if test.rejected and estimator.instead is not None:
        return Informed(replace(method, estimator=estimator.instead), data, fit, test)
    told = replace(data, belief=known, validation_belief=with_relevance(belief, fit, held_out))
    return Informed(method, told, fit, test)


def weights_by(estimator: Estimator, log: ClickLog, belief: Belief) -> Weights:
    """The weights that a learner gets from this log; raises InputError if `weights_of_log` does."""
    return weights_of_log(log, estimator.weigh(log, belief))


def final_fit(
    learner: Learner,
    corpus: Corpus,
    weights: Weights,
    *,
    cost: float,
    initial: LinearRanker | None = None,
    seed: int = 0,
    callback: Callback | None = None,
) -> LinearRanker:
    """The ranker of a learner at one C, to the tolerance of every ranker that is kept.

    initial: where the fit starts. Raises InputError where the tolerance is not reached.
    """
    ranker = learner.fit(
        corpus, weights, cost=cost, tolerance=FINAL_TOLERANCE, initial=initial, seed=seed,
        callback=callback,
    )  # fmt: skip
    return converged(ranker, FINAL_TOLERANCE)


def usable_clips(estimator: Estimator, log: ClickLog, belief: Belief) -> tuple[float, ...]:
    """Thresholds at which every click of the log can be weighed; all of them where none is.

    A click at a propensity of 0 needs a threshold above 0.
    """

    def usable(clip: float) -> bool:
        try:
            estimator.weigh(log, replace(belief, clip=clip)).on_log(log)
        except InputError:
            return False
        return True

    clips = estimator.clips_for(log)
    return clips if len(clips) == 1 else tuple(filter(usable, clips)) or clips


@dataclass(frozen=True, eq=False)
class TrainedMethod:
    """One method trained on one draw of clicks; small, because it does not keep the corpus.

    ``cost`` is the C (for trees, their number) and ``clip`` the tau that validation chose, ``gap``
    the relative duality gap of the fit, ``clicks`` and ``query_draws`` the size of the training
    log; ``estimator`` is the key of the estimator that weighted the clicks, and ``by_rank`` the
    test of a fitted relevance.
    """

    method: str
    draw: int
    test: TestRisk
    cost: float
    clip: float
    gap: float
    clicks: int
    query_draws: int
    coefficients: NDArray[np.float64]
    estimator: str = ""
    by_rank: RankTest | None = None


@one_blas_thread()
def train_method(
    world: World,
    settings: Settings,
    draw: int,
    method: str | Method,
    logs: Logs | None = None,
    swaps: SwapCounts | None = None,
) -> TrainedMethod:
    """Train ``method`` on the clicks of ``draw`` and test its ranker on the test queries.

    Args:
        world: the corpus and its rankers.
        settings: how users click and what the learner assumes.
        draw: which draw of clicks, from 0.
        method: a method, or the key of one in ``LINEAR_METHODS``, that learns from clicks.
        logs: the clicks of this draw, if available.
        swaps: those of this draw, if available, for a method that measures with swaps.

    Raises:
        InputError: an unknown method, or clicks that give no pair to learn from.
    """
    found = LINEAR_METHODS.get(method) if isinstance(method, str) else method
    if found is None or not found.learns_from_clicks:
        known = ", ".join(key for key, one in METHODS.items() if one.learns_from_clicks)
        name = method if isinstance(method, str) else method.key
        raise InputError(
            f"{quoted(name)} does not learn from clicks; methods that do are {known}.",
            "not_from_clicks",
        )
    logs = logs if logs is not None else simulate_logs(world, settings, draw)
    way = informed(found, click_data(world, settings, draw, found, logs, swaps))
    selection = select(way.method, way.data)
    ranker = selection.ranker
    return TrainedMethod(
        found.key,
        draw,
        test_risk(world, ranker),
        ranker.cost,
        selection.clip,
        ranker.certificate.gap,
        logs.train.total_clicks,
        logs.train.query_draws,
        ranker.coefficients,
        "" if way.method.estimator is None else way.method.estimator.key,
        way.test,
    )


@dataclass(frozen=True)
class SeenByFit:
    """What a fitted relevance sees: one feature in so many, and whether the logger's scores.

    Less than everything shows what the test by rank is for.
    """

    every: int = 1
    scores: bool = True

    def of(self, data: ClickData) -> ClickData:
        """The same clicks, with what the fit sees of the documents."""
        if self.every > 1:
            data = replace(data, corpus=self._of(data.corpus), validation=self._of(data.validation))
        return data if self.scores else replace(data, scores=None)

    def _of(self, corpus: Corpus) -> Corpus:
        return Corpus(corpus.features[:, :: self.every], corpus.grades, corpus.query_offsets)


HALF_SEEN = SeenByFit(every=2, scores=False)
"""A fit that misses why production showed documents where it did."""

FITS = {
    "Fit with all features and the ranker’s score": SeenByFit(),
    "Fit with half of the features": HALF_SEEN,
}
"""What is known to a fit that is tested by rank, by name; the first is what methods use."""


@one_blas_thread()
def rank_test(
    world: World, settings: Settings, draw: int, method: str, seen: SeenByFit, logs: Logs
) -> RankTest:
    """The test by rank of the relevance that a method fits to the clicks of one draw.

    With the default ``seen`` it is the test that decides in `train_method`. Raises InputError for
    a method that fits no relevance.
    """
    found = LINEAR_METHODS[method]
    test = informed(found, seen.of(click_data(world, settings, draw, found, logs))).test
    if test is None:
        raise InputError(f"{found.label} fits no relevance, so there is nothing to test by rank.")
    return test


def click_data(
    world: World,
    settings: Settings,
    draw: int,
    method: Method,
    logs: Logs,
    swaps: SwapCounts | None = None,
) -> ClickData:
    """What a method learns from: the clicks of a draw, and what it believes of their users.

    swaps: as in `train_method`.
    """
    if method.measured is None:
        belief = belief_about(settings)
    else:
        belief = method.measured(swaps_of(world, settings, draw) if swaps is None else swaps)
    about_validation = belief
    if method.knows_logger:
        belief, about_validation = (
            replace(belief, exposure=known_exposure(world, part, settings, belief.curve))
            for part in (0, 1)
        )
    return ClickData(
        world.splits.train,
        logs.train,
        world.splits.validation,
        logs.validation,
        belief,
        SeedSequence(settings.seed, spawn_key=(draw, 2)),
        world.logger_scores,
        about_validation,
    )
