"""What the faces say of an estimator with a threshold and of a learner that forms no pairs."""

from __future__ import annotations

import runpy
from dataclasses import replace

import numpy as np
import pytest

from tests.made_up import RIDGE, SHRUNK, register
from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import JoinedLog, inspect_together, join_log
from ultr_core.jobs.your_data import OwnWork, own_notebook
from ultr_core.learners.problem import Progress
from ultr_core.limits import VISITORS_PAIRS
from ultr_core.own_data.evaluation import evaluate_ranker
from ultr_core.own_data.fitting import fit_from_log, fold_scores
from ultr_core.own_data.samples import sample_files
from ultr_core.users import ClickLog, PowerLaw

CURVE = PowerLaw(1.0)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(sample_files()["corpus"].data, "sample")


@pytest.fixture(scope="module")
def joined(corpus: Corpus) -> JoinedLog:
    return join_log(parse_log(sample_files()["log"].data), corpus)


def alone(queries: int = 6) -> tuple[Corpus, ClickLog]:
    """Queries of one candidate, each shown twice and clicked once."""
    every, ones = np.arange(queries), np.ones(queries, int)
    features = np.random.default_rng(1).random((queries, 3))
    corpus = Corpus(features, np.zeros(queries, int), np.arange(queries + 1))
    return corpus, ClickLog(every, ones, 2 * ones, ones, 2 * queries, np.arange(queries + 1))


def test_the_check_of_a_threshold_is_of_its_own_numbers(corpus: Corpus, joined: JoinedLog) -> None:
    log, tau = joined.clicks, 0.5
    found = inspect_together(joined, corpus, CURVE, estimator=SHRUNK, clip=tau).finding("clipping")
    p = CURVE.at(log.rank)
    after, before = log.clicks @ (p / (p**2 + tau**2 / 4)), log.clicks @ (1 / p)
    assert found.value == log.total_clicks
    assert mentions(found.sentence, "τ = 0.5", f"{before - after:,.1f}", f"{after:,.1f}")
    clipped = inspect_together(joined, corpus, CURVE, clip=tau).finding("clipping")
    assert clipped.value == log.clicks[p < tau].sum() < found.value


def test_a_pointwise_learner_learns_from_queries_of_one_candidate() -> None:
    corpus, log = alone()
    with refused("", "pair"):
        fit_from_log(corpus, log, CURVE, cost=1.0)
    for cost in (1.0, None):
        fit = fit_from_log(corpus, log, CURVE, learner="ridge", cost=cost)
        weights = np.ones(6)
        x = np.asarray(corpus.features, np.float64)
        by_hand = np.linalg.solve(x.T @ x / 6 + np.eye(3), x.T @ weights / 6)
        assert fit.ranker.coefficients == pytest.approx(by_hand)
        assert not fit.notices
    scores = fold_scores(corpus, log, fit)
    assert np.count_nonzero(scores) == 6
    assert not np.allclose(scores, fit.ranker.score(corpus))
    one, one_log = alone(1)
    with refused("held_out", "two"):
        fold_scores(one, one_log, fit_from_log(one, one_log, CURVE, learner="ridge", cost=1.0))


def test_pairs_are_counted_and_bounded_only_where_they_are_formed(
    corpus: Corpus, joined: JoinedLog
) -> None:
    none = replace(VISITORS_PAIRS, most=1)
    fit_from_log(corpus, joined.clicks, CURVE, learner="ridge", cost=1.0, pairs=none)
    with refused("too_large"):
        fit_from_log(corpus, joined.clicks, CURVE, cost=1.0, pairs=none)
    pairwise, pointwise = (
        {finding.key for finding in inspect_together(joined, corpus, CURVE, **chosen).findings}
        for chosen in ({}, {"from_pairs": RIDGE.from_pairs})
    )
    assert pairwise - pointwise == {"pairs"}


def test_a_fit_says_tau_in_words_that_hold_for_every_threshold(
    corpus: Corpus, joined: JoinedLog
) -> None:
    fit = fit_from_log(corpus, joined.clicks, CURVE, method="shrunk", cost=0.1, clip=0.2)
    for clip in (0.2, 0.0):
        sentence = replace(fit, clip=clip).sentence
        assert mentions(sentence, f"τ = {clip:g}")
        assert not mentions(sentence, "clip") and not mentions(sentence, "clipped")
    with refused("", "τ", "clipped", "shrunk", "ips"):
        fit_from_log(corpus, joined.clicks, CURVE, method="ips", clip=0.2)


def test_what_a_document_counts_is_said_at_its_threshold(corpus: Corpus, joined: JoinedLog) -> None:
    scores = np.arange(corpus.n_documents, dtype=float)
    found = evaluate_ranker(corpus, joined.clicks, scores, CURVE, clip=0.1).as_dict()["estimates"]
    assert mentions(found["shrunk"]["assumes"], "0.985", "τ = 0.25")
    assert "0.25" not in found["clipped"]["assumes"] + found["ips"]["assumes"]


@pytest.mark.parametrize("job", ["fit", "evaluate"])
def test_the_option_names_every_estimator_that_has_a_threshold(job: str) -> None:
    made = runpy.run_module(f"ultr_core.jobs.{job}", run_name="made", alter_sys=True)["JOB"]
    (told,) = (option.help for option in made.options if option.name == "clip")
    assert mentions(told, "clipped", "shrunk") and not mentions(told, "naive")


def test_every_estimate_with_a_threshold_is_shown_at_the_one_that_judges(
    corpus: Corpus, joined: JoinedLog
) -> None:
    scores = np.arange(corpus.n_documents, dtype=float)
    for clip, shown, judge in ((0.3, "0.3", "clipped"), (None, "0.1", "ips")):
        found = evaluate_ranker(corpus, joined.clicks, scores, CURVE, clip=clip)
        assert found.judge == judge
        for key in ("clipped", "shrunk"):
            assert mentions(found.reports[key].label, f"τ = {shown}")


def test_the_evidence_of_a_notebook_is_checked_at_the_threshold_that_judges() -> None:
    for clip, told in (
        (0.3, "curve, clip=0.3, sees=judge.sees)"),
        (None, "corpus, curve, sees=judge.sees)"),
    ):
        work = OwnWork("corpus.txt", ("log.csv",), steps=("evaluate",), judging_clip=clip)
        assert told in own_notebook(work).source


def test_progress_is_the_gap_to_the_optimum_whatever_the_certificate_measures() -> None:
    told = Progress(1, 4, 8.0, 6.0, 123.0, np.zeros(2))
    assert told.gap_to_optimum == 0.25
    assert replace(told, primal=0.0, dual=0.0).gap_to_optimum == 0.0
