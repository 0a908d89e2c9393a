"""Doubly robust on a reader's log: trained, judged, told, and refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import inspect_together, join_log
from ultr_core.inspection.joined import JoinedLog
from ultr_core.learners.relevance import Shown, fit_relevance, with_relevance
from ultr_core.own_data import agreement, fitting
from ultr_core.own_data.agreement import shown_ranks
from ultr_core.own_data.evaluation import compare_with_shown, evaluate_ranker, judge_by
from ultr_core.own_data.fitting import (
    fit_from_log,
    fold_scores,
    part_of_log,
    with_never_shown,
)
from ultr_core.own_data.samples import sample_files
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk import Estimate, by_rank, difference_by, estimate_by
from ultr_core.risk.by_rank import _ranks
from ultr_core.users import ClickLog, Cutoff, PowerLaw

CURVE = PowerLaw(1.0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(sample_files()["corpus"].data, "sample")


@pytest.fixture(scope="module")
def joined(corpus: Corpus) -> JoinedLog:
    return join_log(parse_log(sample_files()["log"].data), corpus)


@pytest.mark.parametrize("method", ["direct", "doubly-robust"])
def test_it_trains_and_says_what_the_test_by_rank_found(
    corpus: Corpus, joined: JoinedLog, method: str
) -> None:
    fit = fit_from_log(corpus, joined.clicks, CURVE, method=method)
    told = fit.as_dict()
    assert (told["asked"], told["method"]) == (method, method)
    assert told["clicks_by_rank"]["rejected"] is False
    assert sum(told["clicks_by_rank"]["observed"]) > 0
    checks = inspect_together(joined, corpus, CURVE, estimator=ESTIMATORS[method], clip=fit.clip)
    keys = {finding.key for finding in checks.findings}
    assert ("largest_weight" in keys) is (method == "doubly-robust")
    assert "asked" not in fit_from_log(corpus, joined.clicks, CURVE, cost=0.1).as_dict()


def test_the_sentence_says_how_threshold_and_cost_came_about(
    corpus: Corpus, joined: JoinedLog
) -> None:
    """Validation chooses no threshold of a doubly robust fit, and nothing that was given."""
    told = {
        given: fit_from_log(corpus, joined.clicks, CURVE, method=method, cost=cost, clip=clip)
        for given, method, cost, clip in (
            ("nothing", "doubly-robust", None, None), ("cost", "doubly-robust", 1.0, None),
            ("clip", "clipped", None, 0.2), ("both", "clipped", 1.0, 0.2),
        )
    }  # fmt: skip
    words = {given: fit.sentence for given, fit in told.items()}
    falls = f"τ = {told['nothing'].clip:.3g} (set by the number of clicks), C = "
    assert falls in words["nothing"] and falls in words["cost"]
    assert f"C = {told['nothing'].cost:g} ({told['nothing'].chosen_by})" in words["nothing"]
    assert "C = 1 (given)" in words["cost"]
    assert f"τ = 0.2 (given), C = {told['clip'].cost:g} (chosen" in words["clip"]
    assert "τ = 0.2, C = 1 (given)" in words["both"]


def blinded(log: ClickLog, corpus: Corpus) -> tuple[ClickLog, Corpus]:
    """Forty times the clicks, and a corpus whose one feature says nothing."""
    many = ClickLog(
        log.document, log.rank, log.impressions * 40, log.clicks * 40, log.query_draws * 40,
        log.query_offsets, log.draws * 40, whole_lists=log.whole_lists,
    )  # fmt: skip
    same = np.ones((corpus.n_documents, 1), np.float32)
    return many, Corpus(same, corpus.grades, corpus.query_offsets)


def test_a_rejected_fit_trains_with_clipped_weights(joined: JoinedLog, corpus: Corpus) -> None:
    """One feature that is the same everywhere knows nothing of why a document was shown low."""
    many, blind = blinded(joined.clicks, corpus)
    fit = fit_from_log(blind, many, CURVE, method="doubly-robust", cost=0.1)
    assert (fit.method, fit.asked) == ("clipped", "doubly-robust")
    assert fit.by_rank is not None and fit.by_rank.rejected and len(fit.notices) >= 1
    assert fit.label == ESTIMATORS["clipped"].label
    assert mentions(fit.sentence, fit.label, ESTIMATORS["doubly-robust"].label)
    # Clipped weights train well and are biased: they give no verdict.
    judge = judge_by("doubly-robust", blind, many, CURVE)
    assert judge.estimator is ESTIMATORS["ips"] and judge.notices
    assert mentions(judge.notices[0], "IPS")
    assert judge_by("doubly-robust", blind, many, CURVE, clip=0.2).belief.clip == 0.2


def test_a_rejected_direct_fit_does_not_judge(joined: JoinedLog, corpus: Corpus) -> None:
    """It says which ranks the log has, none below the deepest list."""
    many, blind = blinded(joined.clicks, corpus)
    judge = judge_by("direct", blind, many, CURVE)
    assert judge.estimator is ESTIMATORS["ips"] and judge.refits is None
    assert len(judge.notices) == 1 and mentions(judge.notices[0], "IPS")
    scores = blind.grades.astype(float)
    found = compare_with_shown(many, scores, CURVE, name="it", judge=judge)
    assert found.estimate is not None and found.estimate.side == -1 and not found.withheld
    fit = fit_from_log(blind, many, CURVE, method="direct", cost=0.1)
    deepest = int(many.rank.max())
    assert (fit.method, fit.asked) == ("clipped", "direct")
    assert fit.by_rank is not None and fit.by_rank.deepest == deepest == 34
    assert fit.by_rank.rejected
    assert _ranks(4, 15) == "rank 16" and _ranks(4, 30) == "ranks 16 to 30"
    assert _ranks(3, 9) == "ranks 8 to 9" and _ranks(0, 9) == "rank 1"


def test_scores_by_fold_see_no_click_of_their_queries(corpus: Corpus, joined: JoinedLog) -> None:
    """Neither in weights nor in the fitted relevance: the weights of a fold are made anew."""
    log = joined.clicks
    fit = fit_from_log(corpus, log, CURVE, method="doubly-robust", cost=0.1)
    rest = np.arange(corpus.n_queries - 5)
    kept = np.arange(corpus.n_documents) < corpus.query_offsets[rest.size]
    found = fitting._weights_of_rest(corpus, log, fit, rest)
    shown = Shown(corpus.subset(rest), part_of_log(corpus, with_never_shown(log), rest))
    belief = Belief(Cutoff(CURVE, int(log.rank.max())), fit.clip)
    known = with_relevance(belief, fit_relevance(shown, belief, ridges=(fit.ridge,)), shown)
    again = fitting.weights_by(ESTIMATORS["doubly-robust"], shown.log, known)
    assert np.array_equal(found.values, again.values)
    assert not np.array_equal(found.values, fit.weights.values[kept])
    assert np.isfinite(fold_scores(corpus, log, fit)).all()


def test_it_judges_where_it_is_asked_to(corpus: Corpus, joined: JoinedLog) -> None:
    log, scores = joined.clicks, np.arange(corpus.n_documents, dtype=float)
    plain = evaluate_ranker(corpus, log, scores, CURVE)
    assert plain.judge == "ips" and "doubly-robust" not in plain.reports
    judge = judge_by("doubly-robust", corpus, log, CURVE)
    found = evaluate_ranker(corpus, log, scores, CURVE, judge=judge)
    assert list(found.reports) == [
        key for key in ESTIMATORS if key in {*plain.reports, "doubly-robust"}
    ]
    assert found.reports["ips"] == plain.reports["ips"]
    for key, report in found.reports.items():
        label = re.compile(rf"\b{re.escape(report.label)}\b")
        said = [text for text in found.assumptions if label.search(text)]
        is_risk = not ESTIMATORS[key].normalised
        assert [ESTIMATORS[key].assumes in text for text in said] == [True] * is_risk
    own = found.judged.estimate
    assert judge.refits is not None
    ranks = np.concatenate([np.arange(m, 0, -1) for m in corpus.sizes])
    plain_interval = estimate_by(judge.estimator, with_never_shown(log), ranks, judge.belief)
    assert own == judge.refits.interval(plain_interval, ranks.astype(float))
    assert own is not None and own.low < own.value < own.high
    against = compare_with_shown(log, scores, CURVE, name="it", judge=judge)
    known = {"judge": judge, "agreement": found.agreement}
    assert compare_with_shown(log, scores, CURVE, name="it", **known) == against
    assert against.judge == judge.label
    assert judge_by("doubly-robust", corpus, log, CURVE, clip=0.5).belief.clip == 0.5
    with refused("", "direct", "doubly-robust"):
        judge_by("direct", corpus, log, CURVE, clip=0.5)


def test_candidates_that_were_never_shown_count_what_the_fit_says() -> None:
    """Lists of two of three: the third weighs its fitted relevance in each of ten draws."""
    log = ClickLog([0, 1, 3], [1, 2, 1], [10, 10, 4], [6, 1, 2], 14, [0, 3, 5], whole_lists=False)
    whole = with_never_shown(log)
    assert (whole.document.tolist(), whole.rank.tolist()) == ([0, 1, 3, 2, 4], [1, 2, 1, 3, 3])
    assert whole.impressions.tolist() == [10, 10, 4, 10, 4]
    assert whole.total_clicks == log.total_clicks and whole.draws.tolist() == log.draws.tolist()
    fitted = np.array([0.5, 0.25, 0.75, 0.5, 0.25])
    belief = Belief(Cutoff(CURVE, 2), 0.75, fitted)
    numbers = ESTIMATORS["doubly-robust"].weigh(whole, belief)
    weights = whole.sum_by_document(whole.clicks * numbers.u + whole.impressions * numbers.v)
    assert weights[[2, 4]].tolist() == [7.5, 1.0]


def test_intervals_are_a_jackknife_that_fits_the_relevance_anew(
    corpus: Corpus, joined: JoinedLog
) -> None:
    """Against the estimate of a log without the queries of a group, from the start."""
    log = with_never_shown(joined.clicks)
    judge = judge_by("doubly-robust", corpus, joined.clicks, CURVE)
    refits = judge.refits
    assert refits is not None
    places = np.arange(corpus.n_documents, 0, -1) / 7.0
    values = refits._others @ places
    drawn = refits.group[log.draws > 0]
    assert set(np.bincount(drawn)) <= {drawn.size // values.size, drawn.size // values.size + 1}
    for number in (0, values.size - 1):
        rest = np.flatnonzero(refits.group != number)
        part = Shown(corpus.subset(rest), part_of_log(corpus, log, rest))
        fit = fit_relevance(part, judge.belief, ridges=(refits.ridge,))
        known = with_relevance(judge.belief, fit, part)
        numbers = judge.estimator.weigh(part.log, known)
        counts = part.log.clicks * numbers.u + part.log.impressions * numbers.v
        kept = np.repeat(refits.group != number, corpus.sizes)
        found = places[kept][part.log.document] @ counts / part.log.query_draws
        assert values[number] == pytest.approx(found, rel=1e-9)
    ranks = np.concatenate([np.arange(1.0, m + 1) for m in corpus.sizes])
    plain = estimate_by(judge.estimator, log, ranks, judge.belief)
    wide = judge.risk(joined.clicks, ranks)
    assert wide.value == plain.value and wide.standard_error != plain.standard_error
    each = refits._others @ ranks
    spread = (each.size - 1) / each.size * np.square(each - each.mean()).sum()
    assert wide.standard_error == pytest.approx(np.sqrt(spread))


@pytest.mark.parametrize("method", ["direct", "doubly-robust"])
def test_a_fit_that_contradicts_the_weighted_clicks_is_said(
    corpus: Corpus, joined: JoinedLog, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A feature of noise makes all documents of a query about equally relevant."""
    monkeypatch.setattr(by_rank, "DEVIATIONS", np.inf)  # the test by rank would reject it before
    log = joined.clicks
    noise = np.random.default_rng(0).normal(size=(corpus.n_documents, 1)).astype(np.float32)
    blind = Corpus(noise, corpus.grades, corpus.query_offsets)
    scores = fit_from_log(corpus, log, CURVE, cost=0.1).ranker.score(corpus)
    cases = ((corpus, "good"), (blind, "warning"))
    for given, severity in cases if method == "direct" else cases[:1]:
        judge = judge_by(method, given, log, CURVE)
        found = evaluate_ranker(given, log, scores, CURVE, judge=judge)
        fit = fit_from_log(given, log, CURVE, method=method, cost=0.1)
        assert judge.estimator.key == fit.method == method
        for finding in (*found.agreement, *fit.agreement):
            assert (finding.key, finding.severity) == ("weighted_clicks", severity)
        assert len(found.agreement) == len(fit.agreement) == 1
        assert (found.agreement[0].sentence in found.notices) is (severity == "warning")
        assert (fit.agreement[0].sentence in fit.notices) is (severity == "warning")
    if method == "direct":
        own = compare_with_shown(log, scores, CURVE, name="it", judge=judge).estimate
        other = judge_by("policy-aware", corpus, log, CURVE).difference(
            log, expected_ranks(scores, log.query_offsets) - shown_ranks(log)
        )
        assert own is not None and abs(other.value) > 1
        assert own.side == 0 and own.no_interval  # no verdict by a fit that the clicks contradict
        assert mentions(found.agreement[0].sentence, f"{own.value:.2f}", f"{other.value:.2f}")
    assert evaluate_ranker(corpus, log, scores, CURVE).agreement == ()


def test_scores_of_the_logger_are_a_feature_of_the_fit_at_every_place(
    corpus: Corpus, joined: JoinedLog
) -> None:
    """A corpus whose one feature says nothing: with the scores a fit knows why documents were low.

    In training, in the folds, in the judge and in its intervals.
    """
    many, blind = blinded(joined.clicks, corpus)
    scores = (corpus.grades >= 3).astype(np.float64)
    without = fit_from_log(blind, many, CURVE, method="doubly-robust", cost=0.1)
    fit = fit_from_log(
        blind, many, CURVE, method="doubly-robust", cost=0.1, logger_scores=1e6 * scores + 3
    )
    assert (without.method, fit.method) == ("clipped", "doubly-robust")
    assert fit.logger_scores is not None and fit.belief is not None
    assert fit.logger_scores.mean() == pytest.approx(0.0, abs=1e-9)
    assert fit.logger_scores.std() == pytest.approx(1.0)
    assert fit.belief.relevance is not None and np.ptp(fit.belief.relevance) > 0.1
    feature = fitting.logger_feature(ESTIMATORS["direct"], blind, scores)
    assert feature == pytest.approx(fit.logger_scores, abs=1e-9)

    rest = np.arange(corpus.n_queries - 5)
    kept = np.arange(corpus.n_documents) < corpus.query_offsets[rest.size]
    found = fitting._weights_of_rest(blind, many, fit, rest)
    shown = Shown(
        blind.subset(rest), part_of_log(blind, with_never_shown(many), rest),
        fit.logger_scores[kept],
    )  # fmt: skip
    known = with_relevance(fit.belief, fit_relevance(shown, fit.belief, ridges=(fit.ridge,)), shown)
    own = fitting.weights_by(ESTIMATORS["doubly-robust"], shown.log, known)
    assert np.array_equal(found.values, own.values)

    judge = judge_by("doubly-robust", blind, many, CURVE, logger_scores=scores)
    assert judge.estimator.key == "doubly-robust"
    assert judge.refits is not None and judge.refits.shown.scores is not None
    assert judge.belief.relevance is not None and np.ptp(judge.belief.relevance) > 0.1
    for call in (fit_from_log, lambda *given, **more: judge_by("ips", *given, **more)):
        with refused("", "direct", "doubly-robust", "ips"):
            call(blind, many, CURVE, logger_scores=scores)
    with refused("one_score_each"):
        fit_from_log(blind, many, CURVE, method="direct", logger_scores=scores[1:])


@pytest.mark.parametrize(("factor", "keys"), [
    (1.0, ["weighted_clicks"]), (-1.0, ["weighted_clicks", "unshown_decide"]),
])  # fmt: skip
def test_candidates_never_shown_that_turn_the_sign_are_a_warning(
    joined: JoinedLog, factor: float, keys: list[str]
) -> None:
    whole = joined.clicks
    top = whole.rank <= 3
    log = ClickLog(
        document=whole.document[top], rank=whole.rank[top], impressions=whole.impressions[top],
        clicks=whole.clicks[top], query_draws=whole.query_draws,
        query_offsets=whole.query_offsets, draws=whole.draws, whole_lists=False,
    )  # fmt: skip
    unseen = log.impressions_per_document == 0
    assert unseen.any()

    def say(places: NDArray[np.float64]) -> Estimate:
        found = difference_by(
            ESTIMATORS["policy-aware"], log, np.where(unseen, 0.0, places), Belief(CURVE)
        )
        return replace(shown, value=factor * shown.value) if places[unseen].any() else found

    ranks = expected_ranks(np.arange(float(log.n_documents)), log.query_offsets)
    places = np.where(unseen, 0.0, ranks - agreement.shown_ranks(log))
    shown = difference_by(ESTIMATORS["policy-aware"], log, places, Belief(CURVE))
    found = agreement.against_weighted_clicks(ESTIMATORS["direct"], say, log, CURVE, ranks)
    assert [finding.key for finding in found] == keys
    assert not agreement.contradiction(found)
