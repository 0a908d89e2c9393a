"""Training a ranker on a click log from outside, and folds to judge that way of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import expected_ranks, query_of_document
from ultr_core.errors import InputError, quoted
from ultr_core.files.score_files import require_finite_scores, scores_for
from ultr_core.findings import Finding
from ultr_core.inspection import require_covered, unshown_candidates
from ultr_core.inspection.of_together import MANY_UNSHOWN
from ultr_core.lab.logs import VALIDATION_SHARE
from ultr_core.lab.methods import ClickData, Method, method_of
from ultr_core.lab.training import final_fit, informed, select, usable_clips, weights_by
from ultr_core.learners import SVM, LinearRanker, learner_named
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.limits import require_pairs
from ultr_core.learners.problem import Callback
from ultr_core.learners.relevance import Shown, fit_relevance, with_relevance
from ultr_core.learners.selection import COST_WITHOUT_VALIDATION
from ultr_core.limits import Limit
from ultr_core.own_data.agreement import against_weighted_clicks, warned
from ultr_core.own_data.provenance import fingerprint
from ultr_core.own_data.refits import Refits
from ultr_core.propensity import ESTIMATORS, Belief, Estimator, Targets, Weights
from ultr_core.propensity.weights import require_clip
from ultr_core.risk import Estimate, difference_by
from ultr_core.risk.by_rank import RankTest
from ultr_core.users import ClickLog, Cutoff, ExaminationCurve
from ultr_core.users.click_log import require_log
from ultr_core.users.examination import require_curve
from ultr_core.users.query_draws import checked_seed, child
from ultr_core.words import counted, part_of

FloatArray = NDArray[np.float64]

FIT_METHODS = tuple(
    key
    for key, estimator in ESTIMATORS.items()
    if not estimator.normalised and {"noise", "continuation"}.isdisjoint(estimator.needs)
)
"""Ways to weight the clicks of a log of whose users only a curve is known: keys of estimators that
train."""

DEFAULT_METHOD = "ips"
"""What weights clicks where nothing else is asked for, if all lists of a query show the same."""

_HINDSIGHT = ESTIMATORS["hindsight"]

NOBODY_LEAVES = "no user leaves after a click (λ = 1)"
"""What fits and estimates of a reader's log assume beside what their estimators do."""

_BY_DOCUMENT = ESTIMATORS["policy-aware"]

FEW_LEFT_OUT = 0.005
"""Share of (draw, candidate) pairs that lists leave out, times the square root of the clicks, below
which IPS stays: its interval allows for any relevance of what is left out. That widened intervals
by at most 1.7 times this product in `scripts.cut_lists` (0.01% to 1% left out, 3,000 to 3,000,000
clicks), so by less than 1% below this limit, and one broken row of a large log changes nothing."""

Tell = Callable[[str], None]
_NO_THRESHOLD = "; validation chose τ = 0, no threshold"


def require_continuation(continuation: float, method: str, log: ClickLog) -> None:
    """Raise InputError unless lambda is above 0 and at most 1, and the log is by clicks above.

    Below 1 only hindsight propensities are right for a curve alone, and without a click above
    another the log does not seem to count clicks above.
    """
    if not 0 < continuation <= 1:
        raise InputError(
            f"λ is {continuation:g}; the probability of continuing after a click must be above 0 "
            "and at most 1.",
            "continuation",
        )
    if method not in ("", _HINDSIGHT.key):
        raise InputError(
            f"λ is used by hindsight propensities, not by the method {method}; leave out one of "
            "the two.",
            "method",
        )
    if log.context_is_given or not log.context.any():
        raise InputError(
            "The log has no click below another click in the same presentation, so λ has no effect "
            "on it; count the log by the number of clicks above.",
            "continuation",
        )


def default_estimator(
    log: ClickLog,
    curve: ExaminationCurve,
    clip: float | None = None,
    *,
    name_of: Callable[[int], str] | None = None,
) -> tuple[Estimator, tuple[str, ...]]:
    """The estimator that trains and judges where none is asked for, and a sentence on it if needed.

    IPS, or the clipped estimator for a ``clip``. IPS divides by the examination of a rank, so a
    candidate counts only in the draws that show it; where lists leave out candidates that other
    lists of the query show, policy-aware weights divide by rho, the examination over all draws,
    unless so many candidates are never shown that these give no verdict either (``MANY_UNSHOWN``;
    the sentence then says so), or so few are left out that what they could add is small beside the
    interval (``FEW_LEFT_OUT``). The two are equal where all lists of a query show the same
    candidates at the same ranks. name_of: names a document by its number, for the sentence.

    Raises InputError for a clip outside (0, 1], a clicked position that the curve does not cover,
    or a wrong type of log or curve.
    """
    require_log(log)
    require_curve(curve)
    if clip is not None:
        require_clip(clip)
        return ESTIMATORS["clipped"], ()
    require_covered(log, curve)
    usual = ESTIMATORS[DEFAULT_METHOD]
    found = unshown_candidates(log, curve, sees="document", name_of=name_of)
    few = found.sometimes * sqrt(log.total_clicks) < FEW_LEFT_OUT
    if found.clicks_only or few:
        return usual, ()
    if found.withheld:
        told = (
            f"{usual.label} is used although {found.lists_in_words}: {found.what}, and "
            f"{_BY_DOCUMENT.label} is the default only if fewer than {MANY_UNSHOWN:.0%} were. You "
            "can choose it as the method."
        )
        return usual, (told,)
    told = (
        f"{_BY_DOCUMENT.label} is used instead of {usual.label} because {found.lists_in_words}: it "
        "divides by the mean examination of a document over all presentations."
    )
    return _BY_DOCUMENT, (told,)


@dataclass(frozen=True, eq=False)
class OwnFit:
    """A ranker trained on a log, with everything used to train it.

    weights: of all clicks. method: key of the estimator that weighted them. cost: C; clip: the
    threshold tau, 0 for none, 1 for naive. chosen_by: how C and the threshold were chosen, in
    words. notices: sentences for the user. clicked_documents: how many documents in the log were
    clicked. learner: key of the learner.

    asked: key of the method asked for, which differs from ``method`` if a test rejected its fitted
    relevance. by_rank: that test, None if no relevance was fitted. belief: what the estimator was
    given; ridge: the penalty of the fit. given: which of "cost" and "clip" were given.
    fingerprint: of the log. logger_scores: those that the relevance fit used, as `logger_feature`
    returns them.
    """

    ranker: LinearRanker
    weights: Weights
    method: str
    cost: float
    clip: float
    chosen_by: str
    query_draws: int
    notices: tuple[str, ...]
    clicked_documents: int
    learner: str = SVM.key
    asked: str = ""
    by_rank: RankTest | None = None
    belief: Belief | None = None
    ridge: float = 0.0
    given: frozenset[str] = frozenset()
    agreement: tuple[Finding, ...] = ()
    logger_scores: FloatArray | None = None
    fingerprint: Sequence[str] = ()

    @property
    def targets(self) -> Targets | None:
        """The weighted clicks of each document per presentation; None if only clicks are known."""
        return self.weights.targets

    @property
    def estimator(self) -> Estimator:
        """The estimator that weighted the clicks."""
        return ESTIMATORS[self.method]

    @property
    def continuation(self) -> float | None:
        """The λ of users who leave after a click, None if nobody is assumed to leave."""
        uses = self.belief is not None and self.estimator.uses_continuation
        return self.belief.continuation if self.belief is not None and uses else None

    @property
    def label(self) -> str:
        """The method's name."""
        return method_of_key(self.method, self.learner).label

    @property
    def sentence(self) -> str:
        """A sentence that says what was trained."""
        instead = ""
        if self.asked not in ("", self.method):
            asked = ESTIMATORS[self.asked].label
            instead = f" (instead of {asked}, whose fitted relevance a test rejected)"
        why = "given" if "cost" in self.given else self.chosen_by
        return (
            f"{self.label} ranker{instead} from {counted(round(self.weights.clicks), 'click')}"
            f"{self._threshold(why)}, C = {self.cost:g} ({why}), {self.ranker.certificate.measure} "
            f"{self.ranker.certificate.gap:.2g}."
        )

    def _threshold(self, why_cost: str) -> str:
        """The threshold, and how it came about if that is not how C did."""
        estimator = self.estimator
        if "clip" not in estimator.needs:
            return ""
        if not self.clip:
            return _NO_THRESHOLD
        why = self.chosen_by
        if "clip" in self.given:
            why = "given"
        elif estimator.falls:
            why = "set by the number of clicks"
        return f", τ = {self.clip:.3g}" + (f" ({why})" if why != why_cost else "")

    def as_dict(self) -> dict[str, Any]:
        """The fit as plain values, as printed by ``--json``."""
        return {
            "method": self.method,
            "label": self.label,
            "learner": self.learner,
            "cost": self.cost,
            "clip": self.clip,
            "chosen_by": self.chosen_by,
            "continuation": self.continuation,
            "clicks": round(self.weights.clicks),
            "query_draws": self.query_draws,
            "clicked_documents": self.clicked_documents,
            "features": int(self.ranker.feature_ids.size),
            "certificate": asdict(self.ranker.certificate),
            "sentence": self.sentence,
            "notices": list(self.notices),
            **(
                {}
                if self.by_rank is None
                else {"asked": self.asked, "clicks_by_rank": self.by_rank.as_dict()}
            ),
        }


@one_blas_thread()
def fit_from_log(
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    *,
    method: str = "",
    learner: str = SVM.key,
    cost: float | None = None,
    clip: float | None = None,
    validation: tuple[Corpus, ClickLog] | None = None,
    seed: int = 0,
    progress: Tell | None = None,
    callback: Callback | None = None,
    pairs: Limit | None = None,
    logger_scores: FloatArray | None = None,
    continuation: float | None = None,
) -> OwnFit:
    """Train a ranker on a log for this corpus, as in section 6.

    method: one of ``FIT_METHODS``, or "" for `default_estimator`. learner: a key of ``LEARNERS``.
    cost: the paper's C. If it is None, C is chosen on clicks for held-out queries by the
    estimator's own estimate, unclipped if the clicks allow it (sections 7.1 and 7.2), and so is the
    estimator's threshold, if it has one and ``clip`` is None. The held-out queries are the
    ``validation`` queries; without them, ``VALIDATION_SHARE`` of the clicked queries, drawn with
    ``seed``, are held out, and the returned ranker is trained on all queries with the chosen
    values. ``callback`` is called at every iteration of every fit, of which there are `fits_of`
    before close settings are fitted again; it may raise an exception to end the work. ``pairs``
    limits the number of pairs of a weighted document and another document for the same query, for
    learners that learn from pairs. ``logger_scores`` [documents]: scores from the ranker that
    showed the documents, as one more feature for the relevance fit; held-out queries are then drawn
    from this corpus, because no scores are known for ``validation``. ``continuation``: lambda of
    users who leave after a click; the log is then split by the number of clicks above, and its
    clicks are weighted with hindsight propensities. None if nobody leaves.

    Raises InputError for an unknown method or learner, a clip that is outside (0, 1] or that the
    method does not use, scores for a method that fits no relevance, a clicked position without a
    propensity, an invalid seed, or a log or curve of the wrong type; for a learner that needs
    pairs, also for clicks that give no pairs or more than ``pairs``.
    """
    tell = progress if progress is not None else lambda text: None
    from_pairs = learner_named(learner).from_pairs
    if continuation is not None:
        require_continuation(continuation, method, log)
        method = _HINDSIGHT.key
    method, instead = method_or_default(method, log, curve, clip, name_of=corpus.name_of_document)
    ready = prepared(
        method_of_key(method, learner), corpus, log, curve, clip=clip, validation=validation,
        seed=seed, logger_scores=logger_scores, from_pairs=from_pairs,
        continuation=1.0 if continuation is None else continuation,
    )  # fmt: skip
    known, whole, clips = ready.known, ready.whole, ready.clips
    way, belief, estimator = known.way, known.belief, ESTIMATORS[known.estimator]
    shown, log = log, whole.log
    if pairs is not None and way.learner.from_pairs:
        for tried in clips:  # documents without a click may have a weight as well
            weights = weights_by(estimator, log, replace(belief, clip=tried))
            require_pairs(weights.values > 0, corpus.query_offsets, pairs)
    if cost is not None and len(clips) == 1:
        chosen = _Chosen(cost, clips[0], "given")
    elif (data := ready.data(seed)) is None:
        fixed = COST_WITHOUT_VALIDATION if cost is None else cost
        why = "fixed, because too few clicked queries with a second candidate can be held out"
        chosen = _Chosen(fixed, clips[0], why)
    else:
        tell("choosing C on held-out clicks")
        chosen = _by_validation(way, data, cost, clips, callback)
    tell("training on all clicks")
    weights = weights_by(estimator, log, replace(belief, clip=chosen.clip))
    ranker = final_fit(
        way.learner, corpus, weights, cost=chosen.cost, initial=chosen.ranker, seed=seed,
        callback=callback,
    )  # fmt: skip
    belief = replace(belief, clip=chosen.clip)
    scored = ranker.score(corpus)
    agreement = agreement_on(estimator, whole, belief, known.ridge, scored, shown)
    said = (*instead, *ready.notices, *known.notices, *chosen.notices, *warned(agreement))
    given = frozenset(name for name, value in (("cost", cost), ("clip", clip)) if value is not None)
    return OwnFit(
        ranker, weights, estimator.key, float(chosen.cost), chosen.clip, chosen.words,
        log.query_draws, said, clicked_documents(log), learner, method, known.test, belief,
        known.ridge, given, agreement, whole.scores, fingerprint(corpus, shown),
    )  # fmt: skip


def method_or_default(
    method: str,
    log: ClickLog,
    curve: ExaminationCurve,
    clip: float | None,
    *,
    name_of: Callable[[int], str],
) -> tuple[str, tuple[str, ...]]:
    """The key of the estimator asked for, or of `default_estimator` for "" with its sentence."""
    if method:
        return method, ()
    estimator, told = default_estimator(log, curve, clip, name_of=name_of)
    return estimator.key, told


@dataclass(frozen=True, eq=False)
class Ready:
    """A log that was checked and prepared for a fit.

    whole: corpus, log and the logger's scores; where a relevance is fitted, the log has a row for
    each candidate that it never shows. known: what trains. clips: the thresholds to try.
    validation: queries to choose on, None to hold some out. notices: sentences for the user.
    """

    whole: Shown
    known: Known
    clips: tuple[float, ...]
    validation: tuple[Corpus, ClickLog] | None
    notices: tuple[str, ...]

    def data(self, seed: int) -> ClickData | None:
        """Clicks to train on, and others to choose on; None where there are too few."""
        return self.known.data or click_data(self.whole, self.validation, self.known.belief, seed)


def prepared(
    way: Method,
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    *,
    clip: float | None,
    validation: tuple[Corpus, ClickLog] | None,
    seed: int,
    logger_scores: FloatArray | None,
    from_pairs: bool,
    continuation: float = 1.0,
) -> Ready:
    """Check what a fit is given, and fit the relevance that its method needs.

    Arguments are those of `fit_from_log`; from_pairs: whether the learner learns from pairs. Raises
    InputError if `fit_from_log` does.
    """
    estimator = way.estimator
    assert estimator is not None
    check_clip(estimator, clip)
    require_log(log)
    require_curve(curve)
    checked_seed(seed)
    if estimator.needs_curve:
        require_covered(log, curve)
    notices = _require_clicks(log, corpus, from_pairs=from_pairs)
    scores = logger_feature(estimator, corpus, logger_scores)
    validation = validation if scores is None else None
    if estimator.fits_relevance:
        log, curve = with_never_shown(log), Cutoff(curve, int(log.rank.max()))
    whole = Shown(corpus, log, scores)
    belief = Belief(curve, continuation=continuation)
    known = informed_on_all(way, whole, belief, validation, seed)
    used = ESTIMATORS[known.estimator]
    clips = usable_clips(used, log, known.belief) if clip is None else (clip,)
    return Ready(whole, known, clips, validation, notices)


def logger_feature(
    estimator: Estimator, corpus: Corpus, scores: FloatArray | None
) -> FloatArray | None:
    """Scores of the ranker that showed the documents as a feature: mean 0, deviation 1; or None.

    scores [documents]. Raises InputError for scores of another corpus or not finite, or for an
    estimator that fits no relevance.
    """
    if scores is None:
        return None
    if not estimator.fits_relevance:
        able = [key for key in FIT_METHODS if ESTIMATORS[key].fits_relevance]
        raise InputError(
            f"Scores of the logging ranker can be used only with the method {' or '.join(able)}, "
            f"which fits relevance, not with {estimator.key}; leave out one of the two."
        )
    values = scores_for(corpus, scores)
    require_finite_scores(values, "the logging ranker")
    centred: FloatArray = values - values.mean()
    deviation = float(centred.std())
    return centred / deviation if deviation > 0 else centred


def agreement_on(
    estimator: Estimator,
    whole: Shown,
    belief: Belief,
    ridge: float,
    scores: NDArray[np.float64],
    log: ClickLog,
) -> tuple[Finding, ...]:
    """What the relevance fitted to the whole says of these scores against the log's clicks."""
    if not estimator.fits_relevance:
        return ()
    refits = Refits.dealt(whole, estimator, belief, ridge, seed=0)

    def say(places: NDArray[np.float64]) -> Estimate:
        return refits.interval(difference_by(estimator, whole.log, places, belief), places)

    ranks = expected_ranks(scores, log.query_offsets)
    return against_weighted_clicks(estimator, say, log, belief.curve, ranks)


def with_never_shown(log: ClickLog) -> ClickLog:
    """The log with a row for each candidate that it never shows in a query that it drew.

    It is shown N_q times below the last rank of the log, where nobody looks: a fitted relevance
    counts there as well. What is known of sessions is not kept.
    """
    of_query = query_of_document(log.query_offsets)
    never = np.flatnonzero((log.impressions_per_document == 0) & (log.draws[of_query] > 0))
    added = np.zeros(never.size, np.int64)
    columns = (
        (log.document, never),
        (log.rank, added + int(log.rank.max()) + 1),
        (log.impressions, log.draws[of_query[never]]),
        (log.clicks, added),
        (log.context, added),
    )
    document, rank, impressions, clicks, context = (np.concatenate(both) for both in columns)
    return ClickLog(
        document, rank, impressions, clicks, log.query_draws, log.query_offsets, log.draws, context,
        whole_lists=False,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Known:
    """The method that trains, with a belief about all documents; data: parts of the log, if any.

    test, ridge, notices: of the fitted relevance, if the method needs one.
    """

    way: Method
    estimator: str
    belief: Belief
    data: ClickData | None = None
    test: RankTest | None = None
    ridge: float = 0.0
    notices: tuple[str, ...] = ()


def informed_on_all(
    way: Method,
    whole: Shown,
    belief: Belief,
    validation: tuple[Corpus, ClickLog] | None = None,
    seed: int = 0,
) -> Known:
    """Fit the relevance that a method needs: on a part of the log to choose, then on all of it.

    Raises InputError if `fit_relevance` does.
    """
    own = way.estimator
    assert own is not None
    if not own.fits_relevance:
        return Known(way, own.key, belief)
    asked = way
    if own.instead is None:  # simulations show what a wrong fit does; a reader's log has no use
        way = replace(way, estimator=replace(own, instead=ESTIMATORS["clipped"]))
    parts = click_data(whole, validation, belief, seed)
    if parts is None:
        corpus, log, scores = whole.corpus, whole.log, whole.scores
        both = None if scores is None else (scores, scores)
        found = informed(way, ClickData(corpus, log, corpus, log, belief, seed, both))
    else:
        found = informed(way, parts)
    fit, test = found.fit, found.test
    assert found.method.estimator is not None and fit is not None and test is not None
    way = asked if found.method.estimator.key == own.key else found.method
    used = ESTIMATORS[found.method.estimator.key]
    notices: tuple[str, ...] = ()
    if test.rejected:
        instead = f"{used.label} is used instead of {own.label}."
        notices = (f"{test.finding.sentence} {instead}",)
    if used.fits_relevance:
        belief = with_relevance(belief, fit_relevance(whole, belief, ridges=(fit.ridge,)), whole)
    data = found.data if parts is not None else None
    return Known(way, used.key, belief, data, test, fit.ridge, notices)


def click_data(
    whole: Shown, validation: tuple[Corpus, ClickLog] | None, belief: Belief, seed: int
) -> ClickData | None:
    """Clicks to train on, and others to choose on; None where there are too few."""
    if validation is not None and validation[1].total_clicks and validation[1].query_draws > 1:
        return ClickData(whole.corpus, whole.log, *validation, belief, seed)
    held = _held_out(whole, seed)
    if held is None:
        return None
    rest, other = held
    scores = None if rest.scores is None or other.scores is None else (rest.scores, other.scores)
    return ClickData(rest.corpus, rest.log, other.corpus, other.log, belief, seed, scores)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """C and threshold to train with, how they came about, and the ranker that they gave."""

    cost: float
    clip: float
    words: str
    ranker: LinearRanker | None = None
    notices: tuple[str, ...] = ()


def chosen_on(log: ClickLog) -> str:
    """Which clicks chose the settings, in words."""
    queries = int(np.count_nonzero(log.clicks_per_query))
    return (
        f"chosen on {counted(log.total_clicks, 'click')} of "
        f"{counted(queries, 'held-out query', 'held-out queries')}"
    )


def _by_validation(
    way: Method,
    data: ClickData,
    cost: float | None,
    clips: tuple[float, ...],
    callback: Callback | None,
) -> _Chosen:
    """The C, unless it is given, and the threshold that do best on the held-out clicks."""
    selection = select(
        way, data, costs=None if cost is None else (cost,), clips=clips, callback=callback
    )
    ranker, words = selection.ranker, chosen_on(data.validation_log)
    notices = () if cost is not None else _at_the_end(ranker.cost, way.learner.costs)
    return _Chosen(ranker.cost, selection.clip, words, ranker, notices)


def _at_the_end(cost: float, tried: tuple[float, ...]) -> tuple[str, ...]:
    """A sentence where validation chose the smallest or the largest C that it tried."""
    if len(tried) == 1 or min(tried) < cost < max(tried):
        return ()
    end, further = ("largest", "larger") if cost == max(tried) else ("smallest", "smaller")
    return (
        f"Validation chose C = {cost:g}, the {end} of {len(tried)} values; a {further} C may be "
        "better, so try one.",
    )


def clicked_documents(log: ClickLog) -> int:
    """Documents of the log with a click."""
    return int(np.count_nonzero(log.clicks_per_document))


def fits_of(method: str, cost: float | None, clip: float | None, learner: str = SVM.key) -> int:
    """How many fits `fit_from_log` makes, without those that tell close settings apart."""
    way = method_of_key(method, learner)
    clips = way.candidates if clip is None else 1
    costs = len(way.learner.costs) if cost is None else 1
    return 1 if clips * costs == 1 else clips * costs + 2


def part_of_log(corpus: Corpus, log: ClickLog, queries: NDArray[np.int64]) -> ClickLog:
    """The rows of the given queries [chosen], as a log of ``corpus.subset(queries)``."""
    place = np.full(corpus.n_queries, -1, dtype=np.int64)
    place[queries] = np.arange(queries.size)
    sizes = corpus.sizes[queries]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    query = query_of_document(corpus.query_offsets)[log.document]
    kept = place[query] >= 0
    new = place[query[kept]]
    draws = log.draws[queries]
    return ClickLog(
        document=log.document[kept] - corpus.query_offsets[query[kept]] + offsets[new],
        rank=log.rank[kept],
        impressions=log.impressions[kept],
        clicks=log.clicks[kept],
        query_draws=max(1, int(draws.sum())),
        query_offsets=offsets,
        draws=draws,
        context=log.context[kept],
        whole_lists=log.whole_lists,
        context_is_given=log.context_is_given,
    )


def part_of_shown(whole: Shown, queries: NDArray[np.int64]) -> Shown:
    """The given queries [chosen, rising], with their clicks and scores."""
    corpus, scores = whole.corpus, whole.scores
    if scores is not None:
        scores = scores[np.isin(query_of_document(corpus.query_offsets), queries)]
    return Shown(corpus.subset(queries), part_of_log(corpus, whole.log, queries), scores)


def method_of_key(method: str, learner: str = SVM.key) -> Method:
    """The estimator and the learner of these keys; raises InputError for others."""
    if method not in (*FIT_METHODS, _HINDSIGHT.key):
        raise InputError(
            f"{quoted(method)} is not a way to weight clicks; choose from {', '.join(FIT_METHODS)}."
        )
    return method_of(ESTIMATORS[method], learner_named(learner))


def check_clip(estimator: Estimator, clip: float | None) -> None:
    """Raise InputError for a threshold outside (0, 1], or for an estimator that has none."""
    if clip is None:
        return
    if "clip" not in estimator.needs:
        able = [key for key in FIT_METHODS if "clip" in ESTIMATORS[key].needs]
        raise InputError(
            f"Only the method {' or '.join(able)} has a threshold τ, not {estimator.key}; change "
            "the method or leave τ out."
        )
    require_clip(clip)


def _require_clicks(log: ClickLog, corpus: Corpus, *, from_pairs: bool) -> tuple[str, ...]:
    """Refuse clicks that teach a learner nothing; a sentence where some do not."""
    clicked = log.clicks_per_query > 0
    if not clicked.any():
        raise InputError(
            "No document in the corpus was clicked, so there is nothing to learn from."
        )
    if not from_pairs:
        return ()
    alone = clicked & (corpus.sizes == 1)
    if alone.sum() == clicked.sum():
        raise InputError(
            "No clicked query has a second candidate, so there are no preference pairs to learn "
            "from; add the documents shown with the clicked documents to the corpus."
        )
    if alone.any():
        return (
            f"{part_of(int(alone.sum()), int(clicked.sum()), 'clicked query', 'clicked queries')} "
            "only one candidate and so no preference pairs.",
        )
    return ()


def _held_out(whole: Shown, seed: int) -> tuple[Shown, Shown] | None:
    """Training and validation queries with their clicks; None if there are not enough."""
    corpus, log = whole.corpus, whole.log
    useful = np.flatnonzero((log.clicks_per_query > 0) & (corpus.sizes > 1))
    if useful.size < 2:
        return None
    held = max(1, round(VALIDATION_SHARE * useful.size))
    chosen = np.sort(np.random.default_rng(checked_seed(seed)).permutation(useful)[:held])
    other = part_of_shown(whole, chosen)
    if other.log.query_draws < 2:
        return None
    return part_of_shown(whole, np.setdiff1d(np.arange(corpus.n_queries), chosen)), other


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
    """Scores [documents] for each query from a ranker trained without that query's fold.

    The clicked queries are split into ``FOLDS`` folds (fewer if there are fewer queries), in an
    order drawn with ``seed``; for each fold, a ranker is trained on the clicks of all other queries
    with the weights, C and threshold of ``fit``. Evaluating a ranker on its own training clicks is
    optimistic; with these scores, the same training procedure can be evaluated without that bias.
    Queries without clicks belong to the first fold. ``callback`` is called at every iteration and
    may raise an exception to end the work.

    Raises InputError if fewer than two clicked queries give the learner anything to learn from, or
    if the seed is invalid.
    """
    learner = learner_named(fit.learner)

    def trained(rest: NDArray[np.int64]) -> LinearRanker:
        weights = _weights_of_rest(corpus, log, fit, rest)
        return final_fit(
            learner, corpus.subset(rest), weights, cost=fit.cost, seed=seed, callback=callback
        )

    return scores_by_fold(corpus, folds_of(corpus, log, seed, learner.from_pairs), trained)


class _Scores(Protocol):
    def score(self, corpus: Corpus) -> FloatArray: ...


def scores_by_fold(
    corpus: Corpus, fold: NDArray[np.int64], trained: Callable[[NDArray[np.int64]], _Scores]
) -> FloatArray:
    """Scores [documents] of each query by what ``trained`` makes of the queries of other folds."""
    scores = np.zeros(corpus.n_documents)
    for number in range(int(fold.max()) + 1):
        held = np.repeat(fold == number, corpus.sizes)
        scores[held] = trained(np.flatnonzero(fold != number)).score(corpus)[held]
    return scores


def folds_of(corpus: Corpus, log: ClickLog, seed: int, from_pairs: bool) -> NDArray[np.int64]:
    """The fold of each query [queries], dealt with a seed; raises InputError as `fold_scores`."""
    useful = np.flatnonzero((log.clicks_per_query > 0) & ((corpus.sizes > 1) | (not from_pairs)))
    if useful.size < 2:
        queries = "clicked queries give a preference pair"
        raise InputError(
            f"Fewer than two {queries if from_pairs else 'queries were clicked'}, so none can be "
            "held out to evaluate the ranker.",
            "held_out",
        )
    fold = np.zeros(corpus.n_queries, dtype=np.int64)
    order = np.random.default_rng(child(seed, 1)).permutation(useful)
    fold[order] = np.arange(useful.size) % min(FOLDS, useful.size)
    return fold


def _weights_of_rest(
    corpus: Corpus, log: ClickLog, fit: OwnFit, rest: NDArray[np.int64]
) -> Weights:
    """The weights of these queries; a fitted relevance is fitted to their clicks alone."""
    estimator = fit.estimator
    if fit.belief is None or not estimator.fits_relevance:
        documents = np.isin(query_of_document(corpus.query_offsets), rest)
        return fit.weights.of_documents(documents, float(log.clicks_per_query[rest].sum()))
    whole = Shown(corpus, with_never_shown(log), fit.logger_scores)
    shown, belief = known_of_rest(whole, fit.belief, fit.ridge, rest)
    return weights_by(estimator, shown.log, belief)


def known_of_rest(
    whole: Shown, belief: Belief, ridge: float, rest: NDArray[np.int64]
) -> tuple[Shown, Belief]:
    """The clicks of these queries, and the belief with a relevance that was fitted to them alone.

    whole: of all queries, as in `Ready`; ridge: the penalty of the fit.
    """
    shown = part_of_shown(whole, rest)
    relevance = fit_relevance(shown, belief, ridges=(ridge,))
    return shown, with_relevance(belief, relevance, shown)
