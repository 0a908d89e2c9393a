"""Doubly robust on a reader's log: trained, judged, told, and refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import inspect_together, join_log
from ultr_core.inspection.joined import JoinedLog
from ultr_core.learners.relevance import Shown, fit_relevance, with_relevance
from ultr_core.own_data import fitting
from ultr_core.own_data.evaluation import compare_with_shown, evaluate_ranker, judge_by
from ultr_core.own_data.fitting import fit_from_log, fold_scores, part_of_log
from ultr_core.own_data.samples import sample_files
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk import estimate_by
from ultr_core.users import ClickLog, PowerLaw

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


def test_a_rejected_fit_trains_with_clipped_weights(joined: JoinedLog, corpus: Corpus) -> None:
    """One feature that is the same everywhere knows nothing of why a document was shown low."""
    log = joined.clicks
    many = ClickLog(
        log.document, log.rank, log.impressions * 40, log.clicks * 40, log.query_draws * 40,
        log.query_offsets, log.draws * 40, whole_lists=log.whole_lists,
    )  # fmt: skip
    blind = Corpus(
        np.ones((corpus.n_documents, 1), np.float32), corpus.grades, corpus.query_offsets
    )
    fit = fit_from_log(blind, many, CURVE, method="doubly-robust", cost=0.1)
    assert (fit.method, fit.asked) == ("clipped", "doubly-robust")
    assert fit.by_rank is not None and fit.by_rank.rejected and len(fit.notices) >= 1
    assert fit.label == ESTIMATORS["clipped"].label
    judge = judge_by("doubly-robust", blind, many, CURVE)
    assert judge.estimator is ESTIMATORS["clipped"] and judge.notices


def test_scores_by_fold_see_no_click_of_their_queries(corpus: Corpus, joined: JoinedLog) -> None:
    """Neither in weights nor in the fitted relevance: the weights of a fold are made anew."""
    log = joined.clicks
    fit = fit_from_log(corpus, log, CURVE, method="doubly-robust", cost=0.1)
    rest = np.arange(corpus.n_queries - 5)
    kept = np.arange(corpus.n_documents) < corpus.query_offsets[rest.size]
    found = fitting._weights_of_rest(corpus, log, fit, rest, kept)
    shown = Shown(corpus.subset(rest), part_of_log(corpus, log, rest))
    belief = Belief(CURVE, fit.clip)
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
    assert list(found.reports) == [*plain.reports, "doubly-robust"]
    assert found.reports["ips"] == plain.reports["ips"]
    own = found.judged.estimate
    ranks = np.concatenate([np.arange(m, 0, -1) for m in corpus.sizes])
    assert own == estimate_by(judge.estimator, log, ranks, judge.belief)
    assert own is not None and own.low < own.value < own.high
    against = compare_with_shown(log, scores, CURVE, name="it", judge=judge)
    assert against.judge == judge.estimator.label_at(judge.belief.clip)
    assert judge_by("doubly-robust", corpus, log, CURVE, clip=0.5).belief.clip == 0.5
    with refused("", "direct", "doubly-robust"):
        judge_by("direct", corpus, log, CURVE, clip=0.5)
