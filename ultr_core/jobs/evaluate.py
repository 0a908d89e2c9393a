"""``evaluate``: what a click log says about a ranker that was never shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.measures import Measure, measure_named, rule_of
from ultr_core.errors import InputError, named
from ultr_core.fields import Choice, Field, Switch
from ultr_core.files.log_reading import SHOWN_WHOLE
from ultr_core.files.score_files import read_score_file
from ultr_core.files.tree_files import read_model, read_model_record, score_model
from ultr_core.inspection import Inspection, Overlap, trust_bias_found
from ultr_core.jobs.files import File
from ultr_core.jobs.job import Given, Job, setting_fields
from ultr_core.jobs.output import finding_line, print_notes
from ultr_core.jobs.own_files import (
    CANDIDATES,
    CLIP,
    CONTINUATION,
    LOGGER_SCORES,
    METHOD,
    OWN_FIELDS,
    check_propensities,
    own_checks,
    own_continuation,
    own_corpus,
    own_join,
    own_log,
    own_logger_scores,
    own_propensities,
    print_beside,
)
from ultr_core.own_data.deployment import PROMISE, Gate, gate, reason_against
from ultr_core.own_data.evaluation import (
    INTERVALS_ARE_FOR,
    MEAN_RANK_BY_GRADES,
    NDCG,
    SHOWN_CLIP,
    WITH_GRADES,
    Evaluation,
    RankerDifference,
    TrueQuality,
    evaluate_ranker,
    judge_by,
)
from ultr_core.own_data.provenance import Provenance, trained_on
from ultr_core.propensity import ESTIMATORS
from ultr_core.users import ClickLog
from ultr_core.words import counted

_EVERY = [one for one in ESTIMATORS.values() if one.beside_others]
_NOTES = (
    f"{', '.join(estimator.label for estimator in _EVERY)}: each with a 95% interval, and the "
    "true risk and NDCG if the corpus has grades. --json prints ranker, clicks, "
    "query_draws, clip, judge, continuation (λ, or null), intervals, tied_documents, estimates "
    f"({', '.join(one.key for one in _EVERY)}, and that of --method: label, scale, "
    "assumes, value, low, high, standard_error, effective_sample_size, no_interval, words), true "
    "(risk, risk_of_log, graded_risk_of_log, clicks_by_grade (whether clicks follow the grades), "
    "estimated_risk (the one of the two that such clicks estimate), mean_rank, ndcg@10, their "
    "rules and counts, measures by name, or null), "
    "never_shown (candidates, never_shown, lasting, covered, top_places, top_never_shown, "
    "withheld), sentence, notices, against_shown (first, second, difference, low, high, "
    "unseen_low and unseen_high, bounds on what left-out candidates could add, which low and "
    "high include, no_interval, intervals, withheld, sentence, and risk_of_shown, the judge's risk "
    "estimate for what users saw), overlap and checks. If no_interval gives a reason, low and high "
    "are null. With --gate it also prints gate (deploy, difference, bound, promise, candidates, "
    "passes_at, power, declined, sentence), and the exit code is 1 if the ranker does not pass."
)
_WITH_CLIP = [estimator.label for estimator in _EVERY if "clip" in estimator.needs]


@dataclass(frozen=True)
class Measures(Field):
    """Measures by their names in ``ir_measures``; None for the usual ones."""

    @property
    def wanted(self) -> str:
        """How they are written."""
        return "measures by their names in ir_measures, separated by spaces"

    def checked(self, value: Any) -> tuple[Measure, ...]:
        """Each once; raises InputError for a name that is not known."""
        named = [measure_named(text) for text in str(value).split()]
        if not named:
            raise self.refused(value)
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class Evidence:
    """What the log says of a ranker, against what was shown, and what its files are worth."""

    evaluation: Evaluation
    against: RankerDifference
    overlap: Overlap
    checks: Inspection
    gate: Gate | None = None

    @property
    def risk_of_shown(self) -> float | None:
        """The judge's estimate of what users saw; None where the two cannot be compared."""
        own, less = self.evaluation.judged.estimate, self.against.estimate
        if own is None or less is None or self.against.withheld:
            return None
        return own.value - less.value

    @property
    def passed(self) -> bool:
        """Whether the ranker passes the gate, if there is one."""
        return self.gate is None or self.gate.deploy

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **self.evaluation.as_dict(),
            "against_shown": {**self.against.as_dict(), "risk_of_shown": self.risk_of_shown},
            "overlap": self.overlap.as_dict(),
            "checks": self.checks.as_dict(),
            **({} if self.gate is None else {"gate": self.gate.as_dict()}),
        }

    def show(self) -> None:
        """Print the estimates, the truth where it is known, and the checks."""
        result = self.evaluation
        tied = counted(result.tied, "document")
        print(
            f"{result.name}: {counted(result.clicks, 'click')} in "
            f"{counted(result.query_draws, 'presentation')}"
            + (f"; {tied} with equal scores count at their mean rank" if result.tied else "")
            + "."
        )
        print()
        if self.gate is not None:
            print(self.gate.sentence)
        print(self.against.sentence)
        print()
        wide = max(22, *(len(report.label) + 1 for report in result.reports.values()))
        print(f"{'estimate':{wide}}{'value':>10}  95% interval")
        for report in result.reports.values():
            found = report.estimate
            if found is None:
                print(f"{report.label:{wide}}{'-':>10}  {report.words}")
            else:
                about = f"  ({report.scale})" if report.normalised else ""
                print(f"{report.label:{wide}}{found.value:10.3f}  {found.interval_text()}{about}")
        if self.risk_of_shown is not None:
            by = f"by {result.judged.label}, from the same clicks"
            print(f"{'What users saw':{wide}}{self.risk_of_shown:10.3f}  {by}")
        print(f"{result.units.sentence} {INTERVALS_ARE_FOR}")
        for assumed in result.assumptions:
            print(f"  {assumed}")
        # The values are above, and what was never shown is below.
        print(result.about_level, end="\n" if result.about_level else "")
        print()
        if result.true is not None:
            _show_grades(result.true)
        for finding in self.checks.warnings:
            print(finding_line(finding))
        good = len(self.checks.findings) - len(self.checks.warnings)
        other = "other check" if self.checks.warnings else "check"
        print(f"  {'good':8}{counted(good, other)} of the log, corpus and propensities.")


def _show_grades(true: TrueQuality) -> None:
    """Print what the grades say, and once how queries without a relevant document count."""
    measures = {NDCG: true.ndcg, **true.measures}
    wide = max(22, *(len(measure.name) + 1 for measure in measures))
    print(
        f"{'From the grades':{wide}}{true.risk:10.3f}  risk, each query counted once. {true.rule}"
    )
    print(f"{'':{wide}}{true.risk_of_log:10.3f}  risk, queries counted as often as in the log")
    if true.graded_risk_of_log is not None:
        print(f"{'':{wide}}{true.graded_risk_of_log:10.3f}  risk {WITH_GRADES}")
    print(f"{'':{wide}}{true.mean_rank:10.3f}  {MEAN_RANK_BY_GRADES}")
    for measure, mean in measures.items():
        print(f"{measure.name:{wide}}{mean.value:10.3f}  {measure.words}")
    print(rule_of(measures.values()))
    print()


def run(given: Given) -> Evidence:
    """Evaluate."""
    if (given.model is None) == (given.scores is None):
        raise InputError(
            "Give the ranker to evaluate: either --model FILE or --scores FILE.", "model_or_scores"
        )
    if given.propensities is None and given.eta is None:
        raise InputError(
            "Estimates need propensities; give --propensities CURVE.csv or --eta X (0 for no "
            "bias).",
            "no_propensities",
        )
    if "candidates" in given.asked and not given.gate:
        raise InputError("--candidates has an effect only with --gate; give both.", "gate")
    check_propensities(given)
    own, log = own_corpus(given), own_log(given)
    curve, odd = own_propensities(given, log)
    assert curve is not None
    every = own_join(given, log, own.corpus, own.name)
    joined = every
    if given.shown_whole:
        joined = own_join(given, log, own.corpus, own.name, shown_whole=True)
    print_notes(joined.notices)
    continuation, tested = own_continuation(given, joined.clicks, own.corpus)
    name, scores = _scores(given, own.corpus)
    judge = judge_by(
        given.method, own.corpus, joined.clicks, curve, clip=given.clip,
        logger_scores=own_logger_scores(given, own.corpus), continuation=continuation,
        biased=trust_bias_found(odd),
    )  # fmt: skip
    result = evaluate_ranker(
        own.corpus, joined.clicks, scores, curve, clip=given.clip,
        relevant_grade=given.relevant_grade, name=name, judge=judge, measures=given.measures,
        empty=given.empty_queries,
    )  # fmt: skip
    # A file of scores cannot be deployed, and of scores by fold no single ranker gave them.
    ranker = name if given.scores is None else f"the ranker behind {name}"
    origin = _origin(given, own.corpus, every.clicks)
    if told := origin.told(name):
        way_out = "Judge the scores written by fit --fold-scores-out, or use another log."
        result = replace(result, notices=(*result.notices, f"{told} {way_out}"))
    checks = own_checks(
        log, joined, own.corpus, curve, clip=given.clip or 0.0, sees=judge.sees,
        estimator=ESTIMATORS["clipped"] if continuation is None else judge.estimator,
        continuation=judge.belief.continuation, more=(*odd, *tested, *result.agreement),
    )  # fmt: skip
    # Text says it above the assumptions.
    said = [text for text in result.notices if given.json or text != result.units.sentence]
    print_beside(given, log, checks, said)
    passing = gate(
        joined.clicks, scores, curve, name=ranker, clip=given.clip, judge=judge,
        candidates=given.candidates,
        declined=reason_against(checks.findings, copies=log.copies), agreement=result.agreement,
        trained=origin.trained,
    )  # fmt: skip
    return Evidence(
        result, passing.difference, joined.overlap, checks, passing if given.gate else None
    )


def _origin(given: Given, corpus: Corpus, log: ClickLog) -> Provenance:
    """What the ranker's file says of the clicks that trained it."""
    if given.model is None:
        return Provenance()
    return trained_on(corpus, log, read_model_record(given.model))


def _scores(given: Given, corpus: Corpus) -> tuple[str, NDArray[np.float64]]:
    if given.scores is not None:
        scores, notices = read_score_file(given.scores, corpus)
        print_notes(notices)
        return named(given.scores), scores
    found = read_model(given.model)
    scores, notices = score_model(found, corpus, missing_zero=given.missing_zero)
    print_notes(notices)
    return named(given.model), scores


JOB = Job(
    run,
    options=(
        *OWN_FIELDS,
        File(
            "model", "",
            help="ranker: JSON, or a model file from svm_light or LightGBM; not one trained on "
            "this log, which would look too good on its own clicks (see fit --fold-scores-out)",
        ),
        File(
            "scores", "",
            help="scores to judge instead of a ranker: a list (one score per row of the corpus), "
            "a table or a TREC run",
        ),
        replace(
            METHOD, default="",
            help="estimator for the verdict; default IPS, or Policy-aware if lists leave out "
            "candidates that other lists for the query show (unless too many candidates were never "
            "shown), or, with --clip, the clipped estimate. direct and doubly-robust fit relevance "
            "to the log, and intervals by session treat the fit as known",
        ),
        LOGGER_SCORES,
        CONTINUATION,
        replace(
            CLIP,
            help="judge by the clipped estimate at this threshold; default: judge by IPS. All "
            f"estimators with a threshold ({', '.join(_WITH_CLIP)}) are shown at this threshold, "
            f"by default at {SHOWN_CLIP:g}",
        ),
        SHOWN_WHOLE,
        *setting_fields("relevant_grade"),
        Measures(
            "measures", "",
            help="measures computed from the grades, by their names in ir_measures, such as "
            "\"nDCG@10 RR AP(rel=3) P(rel=3)@5\"; a grade of 1 is relevant unless rel says "
            "otherwise, and nDCG(dcg='exp-log2') uses the gain 2^grade - 1; default: these four at "
            "--relevant-grade",
        ),
        Choice(
            "empty_queries", "", {"skip": "left out", "zero": "counted as 0"}, default="skip",
            help="how --measures treats queries without relevant documents; trec_eval "
            "uses zero",
        ),
        Switch(
            "gate", "",
            help="say whether the ranker may replace what users saw: a ranker that is no better "
            f"passes in at most {PROMISE:.0%} of logs; the exit code is 1 if the ranker does "
            "not pass",
        ),
        CANDIDATES,
    ),
    passed=lambda evidence: evidence.passed,
    show=Evidence.show,
    as_dict=Evidence.as_dict,
    notes=_NOTES,
)  # fmt: skip
