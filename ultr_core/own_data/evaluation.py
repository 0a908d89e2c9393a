"""Off-policy evaluation: what a click log says about rankers that were never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, propose_relevance_threshold
from ultr_core.corpus.measures import Empty, Measure, Measured, usual_measures
from ultr_core.corpus.ranking import (
    constant_notice,
    expected_ranks,
    query_of_document,
    query_sums,
    tied_groups,
)
from ultr_core.errors import InputError
from ultr_core.files.score_files import require_finite_scores, scores_for
from ultr_core.findings import Finding
from ultr_core.inspection import (
    Sees,
    Unshown,
    require_covered,
    seen_impressions,
    sees_of,
    unshown_candidates,
)
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.relevance import Shown
from ultr_core.own_data.agreement import (
    against_weighted_clicks,
    contradiction,
    ranks_over_draws,
    shown_ranks,
    warned,
)
from ultr_core.own_data.continued import Continued, against_log
from ultr_core.own_data.fitting import (
    DEFAULT_METHOD,
    NOBODY_LEAVES,
    check_clip,
    default_estimator,
    informed_on_all,
    logger_feature,
    method_of_key,
    require_continuation,
    with_never_shown,
)
from ultr_core.own_data.graded import ClicksByGrade, clicks_by_grade
from ultr_core.own_data.refits import Refits
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    ContinuationEstimate,
    Estimator,
    RowNumbers,
)
from ultr_core.risk import (
    Estimate,
    difference_by,
    empty_queries,
    estimate_by,
    mean_rank_of_relevant,
    too_few_clicks,
    too_few_telling,
)
from ultr_core.settings import PARAMETERS
from ultr_core.users import ClickLog, Cutoff, ExaminationCurve, GroupedLog, degree_of_relevance
from ultr_core.users.click_log import require_log
from ultr_core.users.examination import require_curve
from ultr_core.users.grades import HIGHEST_GRADE
from ultr_core.users.grouped_log import BY_PRESENTATION, Units
from ultr_core.words import counted, in_sentence, part_of

NDCG_CUTOFF = 10
NDCG = Measure("nDCG", NDCG_CUTOFF, exponential=True)


@dataclass(frozen=True)
class RiskReport:
    """One estimate of a ranker's risk.

    key: of the estimator in ``ESTIMATORS``. label: its name. scale: what the number is, in words.
    estimate: with its 95% interval, or why clicks are too few for one; None where there is no
    estimate. words: how it is made, or why there is none. normalised: whether it is a mean rank of
    clicks instead of a risk.
    """

    key: str
    label: str
    scale: str
    estimate: Estimate | None
    words: str
    normalised: bool = False

    @property
    def assumes(self) -> str:
        """When its estimate is unbiased, in words."""
        return ESTIMATORS[self.key].assumes

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "label": self.label,
            "scale": self.scale,
            "assumes": self.assumes,
            **_numbers(
                self.estimate, "value", "low", "high", "standard_error", "effective_sample_size"
            ),
            "no_interval": getattr(self.estimate, "no_interval", ""),
            "words": self.words,
        }


def _numbers(estimate: Estimate | None, *names: str) -> dict[str, float | None]:
    """Some numbers of an estimate by name, each None where there is no estimate or no interval."""
    found = {name: getattr(estimate, name, None) for name in names}
    return {
        name: value if value is None or isfinite(value) else None for name, value in found.items()
    }


@dataclass(frozen=True)
class TrueQuality:
    """How good the ranker is according to the grades of the corpus.

    risk: mean over all queries of the summed ranks of relevant documents (equation 2).
    risk_of_log: the same with each query as often as the log shows it. Estimates aim at queries as
    often as users ask them, of which the log is a sample, so that their intervals include the draw
    of queries and are wider than this risk needs. graded_risk_of_log: the same with (2^grade - 1) /
    (2^G - 1) as relevance, which clicks by grade estimate; None if a grade is above
    ``HIGHEST_GRADE``. clicks: which of the two these clicks estimate; None if that is unknown.
    mean_rank: over all relevant documents, each once. ndcg: at ``NDCG_CUTOFF``,
    gain 2^grade - 1, with its rule. measures: others, by the names that ``ir_measures`` uses.
    relevant_grade: the grade from which on a document is relevant; queries_without_relevant: count
    0 in the risk.
    """

    risk: float
    risk_of_log: float
    mean_rank: float
    ndcg: Measured
    relevant_grade: int
    queries_without_relevant: int
    queries: int
    measures: Mapping[Measure, Measured] = field(default_factory=dict)
    graded_risk_of_log: float | None = None
    clicks: ClicksByGrade | None = None

    @property
    def by_grade(self) -> bool:
        """Whether clicks follow the grades, so that estimates are of ``graded_risk_of_log``."""
        return self.clicks is not None and self.clicks.graded

    @property
    def estimated(self) -> float:
        """The risk that weighted clicks estimate, queries counted as in the log."""
        graded = self.graded_risk_of_log
        return graded if graded is not None and self.by_grade else self.risk_of_log

    @property
    def rule(self) -> str:
        """How queries without relevance count, in one sentence."""
        without = self.queries_without_relevant
        return (
            f"Relevant means grade {self.relevant_grade} or more; "
            f"{part_of(without, self.queries, 'query', 'queries')} no relevant document and "
            f"{'counts' if 1 in (without, self.queries) else 'count'} as 0 in the risk."
        )

    def as_dict(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "risk": self.risk,
            "risk_of_log": self.risk_of_log,
            "graded_risk_of_log": self.graded_risk_of_log,
            "clicks_by_grade": self.by_grade,
            "estimated_risk": self.estimated,
            "mean_rank": self.mean_rank,
            f"ndcg@{NDCG_CUTOFF}": self.ndcg.value,
            "ndcg_rule": self.ndcg.rule,
            "relevant_grade": self.relevant_grade,
            "queries_without_relevant": self.queries_without_relevant,
            "queries": self.queries,
            "rule": self.rule,
            "measures": {
                measure.name: {
                    "value": found.value,
                    "queries": found.counted,
                    "left_out": found.left_out,
                    "as_zero": found.as_zero,
                    "words": measure.words,
                }
                for measure, found in self.measures.items()
            },
        }


@dataclass(frozen=True)
class Evaluation:
    """Evidence about one ranker from a log and any grades.

    reports: by key, one for each of ``ESTIMATORS`` that needs no fitted relevance, and the judge's.
    true: the risk from the grades, None if there are none. tied: documents that share their score
    with another document for the same query. unshown: what the log leaves out of the candidate
    sets. notices: sentences. judge: key of the report that sentences use, see `judge_by`.
    units: what the intervals take as independent. agreement:
    `against_weighted_clicks`. continuation: as in `Judge`. unfit: of the judge, `Estimator.unfit`.
    """

    name: str
    reports: dict[str, RiskReport]
    true: TrueQuality | None
    clicks: int
    query_draws: int
    clip: float
    tied: int
    unshown: Unshown
    notices: tuple[str, ...]
    judge: str = "ips"
    units: Units = field(default_factory=Units)
    agreement: tuple[Finding, ...] = ()
    continuation: float | None = None
    unfit: str = ""

    @property
    def judged(self) -> RiskReport:
        """The report on which the sentences are based."""
        return self.reports[self.judge]

    @property
    def risks(self) -> tuple[RiskReport, ...]:
        """The reports that are on the scale of a risk, comparable with the true risk."""
        return tuple(report for report in self.reports.values() if not report.normalised)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions of the risk estimates; estimates that share them are listed together."""
        labels: dict[str, list[str]] = {}
        for report in self.risks:
            labels.setdefault(report.assumes, []).append(report.label)
        told = [f"{_listed(names)}: {assumed}." for assumed, names in labels.items()]
        if self.true is not None and self.true.by_grade and self.true.clicks is not None:
            told.append(self.true.clicks.sentence)
        others = "All" if self.continuation is None else "All others"
        return (*told, f"{others}: {NOBODY_LEAVES}.")

    @property
    def sentence(self) -> str:
        """Sentences that say what the numbers mean."""
        found = self.judged
        if found.estimate is None:
            return found.words
        estimate = found.estimate
        text = (
            f"By {found.label}, {self.name} has an estimated risk of {estimate.value:.3f} "
            f"({estimate.interval_words()})."
        )
        if self.true is not None:
            what = "it is"
            if self.true.by_grade:
                what = "the risk with (2^grade − 1)/(2^G − 1) as relevance, which clicks follow, is"
            text += f" From the grades, {what} {self.true.estimated:.3f} on the logged queries"
            also = "; the interval also allows for the random choice of queries"
            text += "." if estimate.no_interval else f"{also}."
        left_out = self.unshown.finding().sentence if self.unshown.what else ""
        return " ".join(filter(None, (text, left_out, self.about_level)))

    @property
    def about_level(self) -> str:
        """Why the estimate need not equal the true risk, in words; "" if no reason is known."""
        if self.true is None or self.judged.estimate is None or self.unshown.clicks_only:
            return ""
        if self.unfit:
            return ""
        if self.unshown.what:
            if self.unshown.sees == "fit":
                return ""
            return (
                "Clicks on irrelevant documents raise the estimate, so it may lie above or below "
                "the true risk."
            )
        text = (
            "Clicks on irrelevant documents change the estimate by a factor and a constant that "
            "are the same for every ranker, so compare rankers, not levels."
        )
        if "clip" in ESTIMATORS[self.judge].needs:
            text += " Clipping lowers the estimate wherever a propensity is below τ."
        return text

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as plain values, as printed by ``--json``."""
        return {
            "ranker": self.name,
            "clicks": self.clicks,
            "query_draws": self.query_draws,
            "clip": self.clip,
            "intervals": self.units.words,
            "judge": self.judge,
            "continuation": self.continuation,
            "tied_documents": self.tied,
            "estimates": {key: report.as_dict() for key, report in self.reports.items()},
            "true": None if self.true is None else self.true.as_dict(),
            "never_shown": self.unshown.as_dict(),
            "sentence": self.sentence,
            "notices": list(self.notices),
        }


INTERVALS_ARE_FOR = (
    "An interval is for the estimate's limit after infinitely many clicks, with queries as "
    "frequent as in the log's traffic. This limit is the true risk if the estimate's assumptions "
    "hold; if not, the interval need not contain the true risk. It does not include the error of "
    "an estimated curve. The assumptions:"
)
"""What the intervals of all estimates are for, as it is said before `Evaluation.assumptions`."""

MEAN_RANK_BY_GRADES = "mean rank of the relevant documents for all queries, each query counted once"
WITH_GRADES = (
    "with (2^grade − 1)/(2^G − 1) as relevance, where G is the highest grade; queries as in the log"
)
"""Which risk ``graded_risk_of_log`` is."""

_HINDSIGHT = ESTIMATORS["hindsight"]
JUDGE = ESTIMATORS[DEFAULT_METHOD]
"""The estimator of every verdict, whatever a ranker was trained by: only one judge for both can
compare two rankers. Click noise does not change its order where every candidate was shown."""

SHOWN_CLIP = 0.1
"""The threshold of all estimates beside it that have one, where none is asked for."""


def default_judge(
    log: ClickLog,
    curve: ExaminationCurve,
    clip: float | None = None,
    *,
    name_of: Callable[[int], str] | None = None,
) -> Judge:
    """The judge of every verdict where none is asked for: `default_estimator`."""
    estimator, told = default_estimator(log, curve, clip, name_of=name_of)
    return Judge(estimator, Belief(curve, clip or 0.0), told)


@dataclass(frozen=True, eq=False)
class Judge:
    """Who says which of two rankers is better, with what it believes; a relevance may be fitted.

    notices: sentences on why this estimator judges, where another might. log: with candidates that
    were never shown, where these count as well. refits: for intervals that know of the noise of the
    fit; not by session. contradicted: why the log contradicts the belief, in which case nothing is
    estimated by it; "" if it does not. biased: why the curve is not that of examination, in which
    case nothing is estimated by the curve and there is no verdict; "" if no reason is known.
    """

    estimator: Estimator
    belief: Belief
    notices: tuple[str, ...] = ()
    log: ClickLog | None = None
    refits: Refits | Continued | None = None
    contradicted: str = ""
    biased: str = ""

    @property
    def label(self) -> str:
        """The estimator's name, with the threshold and λ that it uses."""
        return self.estimator.label_with(self.belief)

    @property
    def continuation(self) -> float | None:
        """The λ of users who leave after a click, None if nobody is assumed to leave."""
        return self.belief.continuation if self.estimator.uses_continuation else None

    @property
    def sees(self) -> Sees:
        """What it divides clicks by; a fit by session does not know what was never shown."""
        found = sees_of(self.estimator)
        return "document" if found == "fit" and self.log is None else found

    def risk(self, log: ClickLog, ranks: NDArray[np.float64]) -> Estimate:
        """What it says of a ranker."""
        found = estimate_by(self.estimator, self.log or log, ranks, self.belief)
        return found if self.refits is None else self.refits.interval(found, ranks)

    def difference(self, log: ClickLog, ranks: NDArray[np.float64]) -> Estimate:
        """What it says of two, by the differences of their ranks."""
        found = difference_by(self.estimator, self.log or log, ranks, self.belief)
        return found if self.refits is None else self.refits.interval(found, ranks)


@one_blas_thread()
def judge_by(
    method: str,
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    *,
    clip: float | None = None,
    logger_scores: NDArray[np.float64] | None = None,
    continuation: float | ContinuationEstimate | None = None,
    biased: str = "",
) -> Judge:
    """The estimator of this key as the judge, with the relevance fitted to the log if it needs one.

    method: one of ``FIT_METHODS``, or "" for `default_judge`. clip: its threshold, where it has
    one; None for ``SHOWN_CLIP``, or the one that falls with the clicks. Where a test rejects the
    fitted relevance, `default_judge` judges: what trains in its place may be biased. logger_scores:
    as in `fit_from_log`. continuation: lambda of users who leave after a click; hindsight
    propensities judge then, and intervals leave out groups of a `GroupedLog`; if lambda was
    estimated from the log, they allow for its noise; if the log contradicts it, there is no
    estimate. biased: as in `Judge`, such as `trust_bias_found`. Raises InputError for a clip
    outside (0, 1] or for an estimator that has none, and if `fit_from_log` does.
    """
    judge = _judge_by(method, corpus, log, curve, clip, logger_scores, continuation)
    return replace(judge, biased=biased)


def _judge_by(
    method: str,
    corpus: Corpus,
    log: ClickLog,
    curve: ExaminationCurve,
    clip: float | None,
    logger_scores: NDArray[np.float64] | None,
    continuation: float | ContinuationEstimate | None,
) -> Judge:
    require_log(log)
    scores = logger_feature(ESTIMATORS[method or JUDGE.key], corpus, logger_scores)
    if continuation is not None:
        again, contradicted = None, ""
        if isinstance(continuation, ContinuationEstimate):
            if isinstance(log, GroupedLog):
                again = Continued.of(log, curve)
            continuation = continuation.probability
        require_continuation(continuation, method, log)
        check_clip(_HINDSIGHT, clip)
        require_covered(log, curve)
        if again is None:
            held = against_log(continuation, log)
            contradicted = "".join(found.sentence for found in held if found.severity == "stop")
        belief = Belief(curve, continuation=continuation)
        return Judge(_HINDSIGHT, belief, refits=again, contradicted=contradicted)
    if not method:
        return default_judge(log, curve, clip, name_of=corpus.name_of_document)
    asked = method_of_key(method)
    check_clip(ESTIMATORS[method], clip)
    require_covered(log, curve)
    whole = None
    # By session a candidate that no session saw is in no group.
    if ESTIMATORS[method].fits_relevance and not isinstance(log, GroupedLog):
        whole, curve = with_never_shown(log), Cutoff(curve, int(log.rank.max()))
    shown = Shown(corpus, whole or log, scores)
    known = informed_on_all(asked, shown, Belief(curve))
    judge = ESTIMATORS[known.estimator]
    if known.test is not None and known.test.rejected:
        instead = default_judge(log, known.belief.curve, clip, name_of=corpus.name_of_document)
        threshold, used = instead.belief.clip, instead.label
        told = f"{known.test.finding.sentence} The verdict uses {used}."
        belief = replace(known.belief, clip=threshold)
        return Judge(instead.estimator, belief, (told,), whole)
    if clip is None and "clip" in judge.needs:
        clip = judge.clips_for(log)[0] if judge.falls else SHOWN_CLIP
    belief = replace(known.belief, clip=clip or 0.0)
    refits = None
    if whole is not None and judge.fits_relevance:
        refits = Refits.dealt(shown, judge, belief, known.ridge, seed=0)
    return Judge(judge, belief, known.notices, whole, refits)


@one_blas_thread()
def evaluate_ranker(
    corpus: Corpus,
    log: ClickLog,
    scores: NDArray[np.float64],
    curve: ExaminationCurve,
    *,
    clip: float | None = None,
    relevant_grade: int = int(PARAMETERS["relevant_grade"].default),
    name: str = "the ranker",
    judge: Judge | None = None,
    measures: Sequence[Measure] | None = None,
    empty: Empty = "skip",
) -> Evaluation:
    """Estimate a ranker's risk from a log for this corpus, and compute it from the grades.

    scores [documents] of the ranker. Documents with equal scores get their mean rank over all
    orders. Estimates: all of ``ESTIMATORS`` that need no fitted relevance, such as IPS (equation
    5), with tau = ``clip`` (``SHOWN_CLIP`` by default) if they have a threshold (section 7.2). The
    verdict uses ``judge`` (`judge_by`), by default ``JUDGE``, or the clipped estimator if ``clip``
    is given. If relevance is fitted, it is refitted for the interval (`Refits`). ``measures``: also
    computed from the grades, None for `usual_measures`; ``empty`` says whether they leave out
    queries without a relevant document or count them as 0. Intervals come from groups of sessions
    for a `GroupedLog`; otherwise they treat presentations as independent, and documents in a
    presentation as examined independently. If every candidate was shown, click noise changes IPS by
    a factor and a constant (section 5.2); what the log leaves out is in ``unshown``.

    Raises InputError for scores that are from another corpus or not finite, a clip outside (0, 1],
    a clicked position that the curve does not cover, or a log with clicks in fewer than two
    presentations. A log without clicks gives no estimate.
    """
    require_log(log)
    require_curve(curve)
    values = scores_for(corpus, scores)
    require_finite_scores(values, name)
    judge = judge or judge_by("", corpus, log, curve, clip=clip)
    threshold = SHOWN_CLIP if clip is None else clip
    require_covered(log, curve)
    ranks = expected_ranks(values, corpus.query_offsets)
    # Which documents users below a click have seen is not known by rank.
    told_by = None if judge.continuation is not None else judge.belief.curve
    true, notices = _true_quality(corpus, log, values, ranks, relevant_grade, told_by)
    if true is not None:
        asked = usual_measures(true.relevant_grade) if measures is None else measures
        found = {
            one: one.of(values, corpus.grades, corpus.query_offsets, empty=empty) for one in asked
        }
        true = replace(true, measures=found)
    elif measures is not None or empty != "skip":
        notices = (*notices, "The requested measures based on grades are left out.")
    units = Units.of_log(log)
    if units.groups:
        notices = (*notices, units.sentence)
    agreement = _agreement(judge, log, ranks)
    return Evaluation(
        name,
        {
            estimator.key: _report(estimator, log, ranks, judge, threshold)
            for estimator in ESTIMATORS.values()
            if estimator.beside_others or estimator.key == judge.estimator.key
        },
        true,
        log.total_clicks,
        log.query_draws,
        threshold,
        tied_groups(values, corpus.query_offsets).tied,
        unshown_candidates(
            log,
            judge.belief.curve,
            sees=judge.sees,
            rankers={name: ranks},
            name_of=corpus.name_of_document,
        ),
        (
            *notices,
            *judge.notices,
            *constant_notice(name, values, corpus.query_offsets),
            *warned(agreement),
        ),
        judge.estimator.key,
        units,
        agreement,
        judge.continuation,
        judge.estimator.unfit(log, judge.belief),
    )


def _report(
    estimator: Estimator,
    log: ClickLog,
    ranks: NDArray[np.float64],
    judge: Judge,
    threshold: float,
) -> RiskReport:
    """What an estimator says: the judge with its own belief, others by its curve at a threshold."""
    if estimator.key != judge.estimator.key:
        judge = Judge(estimator, Belief(judge.belief.curve, threshold), biased=judge.biased)
    label, normalised = judge.label, estimator.normalised
    scale = estimator.scale
    # Without clicks every sum is 0 with an interval of 0, which is no finding.
    if log.total_clicks == 0:
        return RiskReport(estimator.key, label, scale, None, no_click(log), normalised)
    if reason := judge.contradicted or (judge.biased if estimator.needs_curve else ""):
        return RiskReport(estimator.key, label, scale, None, reason, normalised)
    try:
        found = judge.risk(log, ranks)
    except InputError as error:
        # Propensities too small for a finite estimate leave those that need none.
        if not estimator.needs:
            raise
        return RiskReport(estimator.key, label, scale, None, str(error), normalised)
    return RiskReport(estimator.key, label, scale, found, estimator.words, normalised)


def no_click(log: ClickLog) -> str:
    """Why a log without clicks gives no estimate, in one sentence."""
    draws = counted(log.query_draws, "presentation")
    return f"There are no clicks in {draws}, so nothing can be estimated."


def _true_quality(
    corpus: Corpus,
    log: ClickLog,
    scores: NDArray[np.float64],
    ranks: NDArray[np.float64],
    wanted: int,
    curve: ExaminationCurve | None,
) -> tuple[TrueQuality | None, tuple[str, ...]]:
    if corpus.max_grade == 0:
        return None, ("Every grade in the corpus is 0, so there is no true risk to compare with.",)
    threshold, notice = propose_relevance_threshold((corpus,), wanted)
    relevance = corpus.relevance(threshold)
    draws = log.draws

    def of_log(by_query: NDArray[np.float64]) -> float:
        return float(by_query @ draws) / max(int(draws.sum()), 1)

    of_query = query_sums(ranks * relevance, corpus.query_offsets)
    graded = clicks = None
    if corpus.max_grade <= HIGHEST_GRADE:
        if curve is not None and log.total_clicks:
            clicks = clicks_by_grade(log, curve, corpus.grades, threshold)
        degree = degree_of_relevance(corpus.grades)
        graded = of_log(query_sums(ranks * degree, corpus.query_offsets))
    quality = TrueQuality(
        risk=float(of_query.mean()),
        risk_of_log=of_log(of_query),
        mean_rank=mean_rank_of_relevant(ranks, relevance),
        ndcg=NDCG.of(scores, corpus.grades, corpus.query_offsets),
        relevant_grade=threshold,
        queries_without_relevant=empty_queries(relevance, corpus.query_offsets),
        queries=corpus.n_queries,
        graded_risk_of_log=graded,
        clicks=clicks,
    )
    return quality, () if notice is None else (notice,)


# Two rankers on the same clicks.

SHOWN = "what users saw"


@dataclass(frozen=True)
class RankerDifference:
    """How much lower or higher the first ranker's risk is than the second's, on the same clicks.

    estimate: risk(first) - risk(second), estimated by ``judge``; negative means that the first is
    better; None for a log without clicks, and ``reason`` then says why. unshown: what the log
    leaves out of the candidate sets; if that is too much, there is no verdict. unseen: the least
    and the most that this could add to the difference (`unseen_part`). intervals: the words
    of their `Units`. trained: the ranker that was trained on these clicks, "" for neither; there is
    no verdict on a ranker trained on them. unfit: why the judge is not expected to be right for its
    belief, "" if it is; if not, there is no verdict (`Estimator.unfit`).
    """

    first: str
    second: str
    estimate: Estimate | None
    unshown: Unshown | None = None
    reason: str = ""
    intervals: str = BY_PRESENTATION
    judge: str = JUDGE.label
    trained: str = ""
    unseen: tuple[float, float] = (0.0, 0.0)
    unfit: str = ""

    @property
    def whole(self) -> Estimate | None:
        """The estimate, with its interval widened to allow for all values of what was left out."""
        found = self.estimate
        if found is None:
            return None
        return replace(found, low=found.low + self.unseen[0], high=found.high + self.unseen[1])

    @property
    def because(self) -> str:
        """Why there is an estimate and yet no verdict, as a clause; "" if there is a verdict."""
        if self.trained:
            return f"{self.trained} was probably trained on them, which makes it look too good"
        if self.unfit:
            return self.unfit
        unshown = self.unshown
        return f"{unshown.what}, and {unshown.consequence}" if unshown and unshown.withheld else ""

    @property
    def withheld(self) -> bool:
        """Whether these clicks give no verdict by this judge."""
        return bool(self.because)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence and, in a second sentence, what the log leaves out."""
        found = self.whole
        if found is None:
            return f"These clicks cannot compare {self.first} with {self.second}: {self.reason}"
        if self.withheld:
            return (
                f"These clicks do not show whether {self.first} is better than {self.second}: "
                f"{self.because}."
            )
        return f"{self._verdict(found)}{self._but}"

    @property
    def _but(self) -> str:
        """What the log leaves out, as a sentence after the verdict, and what follows."""
        if self.unshown is None or not self.unshown.what:
            return ""
        if self.unseen == (0.0, 0.0):
            return f" But {self.unshown.what}, and {self.unshown.consequence}."
        left_out = self.unshown.what
        return f" The interval allows for any relevance of what the log leaves out: {left_out}."

    def _verdict(self, found: Estimate) -> str:
        size = abs(found.value)
        if found.side == 0:
            return (
                f"These clicks cannot tell {self.first} from {self.second}: the difference in risk "
                f"by {self.judge} is {found.value:+.2f} ({found.interval_words(2, '+')})."
            )
        word, low, high = (
            ("better", -found.high, -found.low) if found.value < 0 else
            ("worse", found.low, found.high)
        )  # fmt: skip
        side = "lower" if found.value < 0 else "higher"
        return (
            f"These clicks show that {self.first} is {word} than {self.second}: its risk by "
            f"{self.judge} is {size:.2f} {side} (95% interval {low:.2f} to {high:.2f})."
        )

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain values."""
        return {
            "first": self.first,
            "second": self.second,
            "difference": getattr(self.estimate, "value", None),
            **_numbers(self.whole, "low", "high"),
            "unseen_low": self.unseen[0],
            "unseen_high": self.unseen[1],
            "no_interval": getattr(self.estimate, "no_interval", ""),
            "intervals": self.intervals,
            "withheld": self.withheld,
            "sentence": self.sentence,
        }


@one_blas_thread()
def compare_with_shown(
    log: ClickLog,
    scores: NDArray[np.float64],
    curve: ExaminationCurve,
    *,
    name: str,
    clip: float | None = None,
    judge: Judge | None = None,
    agreement: tuple[Finding, ...] | None = None,
    trained: bool = False,
) -> RankerDifference:
    """Compare a ranker with the rankings in the log, on the same clicks.

    The judge is ``default_judge(clip)`` unless another is given. agreement: between the judge and
    the weighted clicks, if `evaluate_ranker` has found it for the same ranker. trained: whether
    the ranker was trained on these clicks; if so, there is no verdict.

    The risk is linear in the ranks, so the joint risk of the log's rankers is the risk of the mean
    rank at which each document was shown, or of `ranks_over_draws` for a judge that counts draws
    which leave a document out. scores [documents]. A log without clicks gives no
    estimate. Raises InputError if `evaluate_ranker` does.
    """
    require_log(log)
    ranks = _ranks_of(scores, log, name)
    found = _difference(log, ranks, None, curve, (name, SHOWN), clip, judge, agreement)
    return replace(found, trained=name if trained else "")


def compare_rankers(
    log: ClickLog,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    curve: ExaminationCurve,
    *,
    names: tuple[str, str],
    clip: float | None = None,
    judge: Judge | None = None,
    trained: str = "",
) -> RankerDifference:
    """Compare two rankers by their scores [documents].

    The judge is ``default_judge(clip)`` unless another is given. trained: name of a ranker
    trained on these clicks; if there is one, there is no verdict.
    """
    require_log(log)
    ranks, others = (
        _ranks_of(scores, log, name) for scores, name in zip((first, second), names, strict=True)
    )
    return replace(_difference(log, ranks, others, curve, names, clip, judge), trained=trained)


def _ranks_of(scores: NDArray[np.float64], log: ClickLog, name: str) -> NDArray[np.float64]:
    require_finite_scores(np.asarray(scores), name)
    return expected_ranks(scores, log.query_offsets)


def _difference(
    log: ClickLog,
    ranks: NDArray[np.float64],
    others: NDArray[np.float64] | None,
    curve: ExaminationCurve,
    names: tuple[str, str],
    clip: float | None,
    judge: Judge | None = None,
    agreement: tuple[Finding, ...] | None = None,
) -> RankerDifference:
    """Ranks less those of another ranker, or, where that is None, than those that were shown."""
    require_curve(curve)
    require_covered(log, curve)
    judge = judge or default_judge(log, curve, clip)
    label = judge.label
    judged = {names[0]: ranks} if others is None else dict(zip(names, (ranks, others), strict=True))
    unshown = unshown_candidates(log, judge.belief.curve, sees=judge.sees, rankers=judged)
    if reason := no_click(log) if log.total_clicks == 0 else judge.biased or judge.contradicted:
        return RankerDifference(
            *names, None, unshown, f"{reason[:1].lower()}{reason[1:]}", judge=label
        )
    against_shown = others is None
    if others is None:
        others = ranks_over_draws(log)
    differences = every = ranks - others
    if against_shown and judge.sees == "rank":
        # By rank a draw counts what it shows; else also what it leaves out, below its list.
        differences = ranks - shown_ranks(log)
    unseen = unseen_part(log, judge, differences, every)
    estimate = judge.difference(log, differences)
    if not estimate.no_interval:
        numbers = judge.estimator.weigh(log, judge.belief)
        below = _below_candidates(log, numbers) if against_shown else ""
        estimate = estimate.without_interval(
            below
            or too_few_telling(log, numbers, differences)
            or _contradicted(agreement if agreement is not None else _agreement(judge, log, ranks))
        )
    return RankerDifference(
        *names, estimate, unshown, intervals=Units.of_log(log).words, judge=label, unseen=unseen,
        unfit=judge.estimator.unfit(log, judge.belief),
    )  # fmt: skip


def unseen_part(
    log: ClickLog, judge: Judge, differences: NDArray[np.float64], every: NDArray[np.float64]
) -> tuple[float, float]:
    """Sum of least, and of most, that what a log leaves out can add to a difference in risk.

    A document is clicked with some probability r when it is examined. The judge's expectation has
    n_d r differences_d / N of it: n_d draws, by rank those that show it where users look, else all
    N_q or none. The difference over all candidates has N_q r every_d / N. What is missing is least
    or most with r = 0 or 1, for each document on its own.

    differences, every [documents]: of ranks, of the draws that show a document and of all draws.
    (0, 0) for a fitted relevance, which counts all candidates, and for a log of clicks only, which
    does not say what was shown.
    """
    if judge.sees == "fit" or log.clicks_only:
        return 0.0, 0.0
    draws = log.draws[query_of_document(log.query_offsets)]
    seen = seen_impressions(log, judge.belief.curve)
    counted_in = np.minimum(seen, draws) if judge.sees == "rank" else np.where(seen > 0, draws, 0.0)
    missing = (draws * every - counted_in * differences)[counted_in < draws] / log.query_draws
    return float(np.minimum(missing, 0.0).sum()), float(np.maximum(missing, 0.0).sum())


def _agreement(judge: Judge, log: ClickLog, ranks: NDArray[np.float64]) -> tuple[Finding, ...]:
    return against_weighted_clicks(
        judge.estimator, lambda places: judge.difference(log, places), log, judge.belief.curve,
        ranks,
    )  # fmt: skip


def _contradicted(agreement: tuple[Finding, ...]) -> str:
    """Why a fitted relevance gives no verdict on a ranker: the clicks contradict it; or ""."""
    if not contradiction(agreement):
        return ""
    return "the fitted relevance and the weighted clicks contradict each other; use IPS instead"


def _below_candidates(log: ClickLog, numbers: RowNumbers) -> str:
    """Why a few rows far below the candidates decide about what users saw; "" where they do not.

    A propensity says how rare clicks at a rank are, so IPS has no interval for a few clicks at a
    far rank; with a threshold, or over all draws, they weigh little. What users saw multiplies
    them by that rank all the same, which only the log bounds.
    """
    sizes = np.diff(log.query_offsets)[query_of_document(log.query_offsets)][log.document]
    told = too_few_clicks(log, numbers, np.maximum(1.0, log.rank / sizes))
    if not told:
        return ""
    farthest = int(np.argmax(log.rank / sizes))
    return (
        f"{told}, because users saw a document at position {log.rank[farthest]:,} although its "
        f"query has {counted(int(sizes[farthest]), 'candidate')}"
    )


def _listed(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``: the names hold commas, so the last is set off."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def truth_sentence(found: Evaluation) -> str:
    """Which intervals hold the true risk of the logged queries; "" without grades or intervals."""
    if found.true is None:
        return ""
    truth = found.true.estimated
    holds: list[str] = []
    misses: list[str] = []
    for report in found.risks:
        if report.estimate is not None and not report.estimate.no_interval:
            inside = report.estimate.low <= truth <= report.estimate.high
            (holds if inside else misses).append(in_sentence(report.label))
    if not holds and not misses:
        return ""
    parts = []
    if holds:
        parts.append(f"inside the interval for {_listed(holds)}")
    if misses:
        interval = "that" if holds else "the interval"
        parts.append(f"outside {interval} for {_listed(misses)}")
    return f"The true risk from the grades, {truth:.2f}, is {', '.join(parts)}."
