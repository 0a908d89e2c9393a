"""What the page on a reader's own data adds to the commands: samples, folds, comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused, without_numbers
from ultr_core.corpus import Corpus
from ultr_core.corpus.measures import measure_named
from ultr_core.corpus.ranking import rank_documents
from ultr_core.figures import evidence_figure
from ultr_core.files import parse_corpus, parse_log, parse_proprank, parse_scores
from ultr_core.inspection import join_log
from ultr_core.learners import fit_ranker
from ultr_core.learners.problem import Progress
from ultr_core.learners.selection import SELECTION_TOLERANCES
from ultr_core.own_data.agreement import shown_ranks
from ultr_core.own_data.curves import curve_for_log, training_file
from ultr_core.own_data.evaluation import (
    RankerDifference,
    compare_rankers,
    compare_with_shown,
    evaluate_ranker,
    judge_by,
    truth_sentence,
)
from ultr_core.own_data.fitting import (
    FIT_METHODS,
    FOLDS,
    fit_from_log,
    fits_of,
    fold_scores,
    part_of_log,
)
from ultr_core.own_data.samples import sample_corpus, sample_files
from ultr_core.propensity import ips_weights
from ultr_core.risk import Estimate
from ultr_core.users import ClickLog, PowerLaw, simulate_counts
from ultr_core.words import in_sentence

CURVE = PowerLaw(1.0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(sample_files()["corpus"].data, "sample")


@pytest.fixture(scope="module")
def clicks(corpus: Corpus) -> ClickLog:
    return join_log(parse_log(sample_files()["log"].data), corpus).clicks


def test_samples_read_back_as_what_they_are(corpus: Corpus, clicks: ClickLog) -> None:
    made = sample_corpus()
    assert corpus.document_ids == made.document_ids
    np.testing.assert_array_equal(corpus.features, made.features)
    assert parse_scores(sample_files()["scores"].data, corpus).size == corpus.n_documents
    assert clicks.total_clicks > 10_000


def test_what_users_saw_is_no_better_than_itself(corpus: Corpus) -> None:
    scores = np.arange(corpus.n_documents, dtype=np.float64)
    ranks = rank_documents(scores, corpus.query_offsets)
    log = simulate_counts(
        np.full(corpus.n_documents, 0.3), ranks, corpus.query_offsets, 5_000, seed=0
    )
    seen = np.bincount(log.document, log.impressions, corpus.n_documents) > 0
    np.testing.assert_array_equal(shown_ranks(log)[seen], ranks[seen])
    found = compare_with_shown(log, scores, CURVE, name="it")
    assert found.estimate is not None
    assert found.estimate.value == found.estimate.side == 0


def test_a_document_that_moved_counts_with_its_mean_rank() -> None:
    log = ClickLog(
        document=np.array([0, 0, 1, 1]), rank=np.array([1, 2, 2, 1]),
        impressions=np.array([3, 1, 3, 1]), clicks=np.array([3, 1, 0, 0]),
        query_draws=4, query_offsets=np.array([0, 2]), draws=np.array([4]),
    )  # fmt: skip
    np.testing.assert_array_equal(shown_ranks(log), [1.25, 1.75])
    # Clicks weigh 3 + 2 in 4 draws; the reversed ranking has the clicked document at rank 2.
    worse = compare_with_shown(log, np.array([0.0, 1.0]), CURVE, name="the reverse")
    assert worse.estimate.value == pytest.approx(5 / 4 * (2 - 1.25))
    better = compare_with_shown(log, np.array([1.0, 0.0]), CURVE, name="the best")
    assert better.estimate.value == pytest.approx(5 / 4 * (1 - 1.25))


@pytest.mark.parametrize(("reach", "shown"), [(0.1, "0.40"), (9.0, "-9.50")])
def test_a_verdict_names_rankers_as_they_are(reach: float, shown: str) -> None:
    found = Estimate(-0.5, reach / 2, -0.5 - reach, -0.5 + reach, 9, 9.0)
    sentence = RankerDifference("mine.json", "theirs.json", found).sentence
    assert mentions(sentence, "mine.json", "theirs.json", shown)


def test_a_difference_is_that_of_the_estimates(corpus: Corpus, clicks: ClickLog) -> None:
    one, other = np.random.default_rng(0).normal(size=(2, corpus.n_documents))
    found = compare_rankers(clicks, one, other, CURVE, names=("one", "other"))
    values = [
        evaluate_ranker(corpus, clicks, scores, CURVE).reports["ips"].estimate
        for scores in (one, other)
    ]
    assert values[0] is not None
    assert values[1] is not None
    assert found.estimate.value == pytest.approx(values[0].value - values[1].value)
    back = compare_rankers(clicks, other, one, CURVE, names=("other", "one"))
    assert back.estimate.value == pytest.approx(-found.estimate.value)
    assert {"better", "worse", "cannot"} & set(found.sentence.split())


def test_a_querys_scores_come_from_rankers_without_its_clicks(
    corpus: Corpus, clicks: ClickLog
) -> None:
    fit = fit_from_log(corpus, clicks, CURVE, cost=0.1)
    scores = fold_scores(corpus, clicks, fit)
    # Clicks of one query do not change what ranks it: without them the others' folds are dealt
    # anew, so the ranker of its fold is rebuilt here from the definition.
    useful = np.flatnonzero(
        (np.add.reduceat(clicks.clicks_per_document, corpus.query_offsets[:-1]) > 0)
        & (corpus.sizes > 1)
    )
    order = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(1,))).permutation(useful)
    held = order[2::FOLDS]
    rest = np.setdiff1d(np.arange(corpus.n_queries), held)
    weights = ips_weights(part_of_log(corpus, clicks, rest), CURVE)
    ranker = fit_ranker(corpus.subset(rest), weights, cost=0.1, tolerance=1e-3)
    documents = np.concatenate([np.arange(*corpus.query_offsets[q : q + 2]) for q in np.sort(held)])
    np.testing.assert_allclose(scores[documents], ranker.score(corpus)[documents], rtol=1e-12)


def test_too_few_clicked_queries_have_no_folds(corpus: Corpus, clicks: ClickLog) -> None:
    fit = fit_from_log(corpus, clicks, CURVE, cost=0.1)
    one = part_of_log(corpus, clicks, np.array([0]))
    with refused("held_out"):
        fold_scores(corpus.subset([0]), one, fit)


def test_the_trained_ranker_looks_better_on_its_own_clicks(
    corpus: Corpus, clicks: ClickLog
) -> None:
    fit = fit_from_log(corpus, clicks, CURVE, cost=1.0)
    own = compare_with_shown(clicks, fit.ranker.score(corpus), CURVE, name="own")
    fair = compare_with_shown(clicks, fold_scores(corpus, clicks, fit), CURVE, name="fair")
    assert own.estimate.value < fair.estimate.value


def test_a_threshold_of_0_is_said_to_be_no_clipping(corpus: Corpus, clicks: ClickLog) -> None:
    fit = replace(fit_from_log(corpus, clicks, CURVE, cost=0.1), method="clipped")
    not_clipped, clipped, ips = (
        replace(fit, clip=0.0), replace(fit, clip=0.05), replace(fit, method="ips")
    )  # fmt: skip
    assert mentions(not_clipped.sentence, "τ = 0", "C = 0.1")
    assert mentions(clipped.sentence, "τ = 0.05", "C = 0.1")
    assert without_numbers(not_clipped.sentence) != without_numbers(clipped.sentence)
    assert "τ" not in ips.sentence


@pytest.mark.parametrize("method", ["naive", "ips", "clipped"])
def test_a_callback_sees_every_fit_and_can_end_it(
    corpus: Corpus, clicks: ClickLog, method: str
) -> None:
    fits = last = 0

    def count(progress: Progress) -> None:
        nonlocal fits, last
        fits += progress.iteration <= last or not fits
        last = progress.iteration

    fit_from_log(corpus, clicks, CURVE, method=method, callback=count)
    assert 3 <= fits <= len(SELECTION_TOLERANCES) * fits_of(method, None, None)

    def end(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_from_log(corpus, clicks, CURVE, method=method, callback=end)


def test_the_truth_is_inside_or_outside_of_each_interval(corpus: Corpus, clicks: ClickLog) -> None:
    scores = np.random.default_rng(1).normal(size=corpus.n_documents)
    found = evaluate_ranker(corpus, clicks, scores, CURVE)
    assert found.true is not None
    naive = found.reports["naive"].estimate
    assert naive is not None
    assert naive.high < found.true.risk_of_log
    labels = [report.label for report in found.risks]
    assert labels[:3] == ["Naive", "IPS", "Clipped, τ = 0.1"]
    labels = [in_sentence(label) for label in labels]
    told = truth_sentence(found)
    assert mentions(told, f"{found.true.risk_of_log:.2f}", *labels)
    assert told.index("naive") > told.index("IPS"), "those that hold it come first"
    missed = truth_sentence(replace(found, true=replace(found.true, risk_of_log=1e6)))
    assert mentions(missed, *labels)
    assert missed.index("naive") < missed.index("IPS"), "all miss it, in their order"


def test_a_log_without_clicks_is_no_finding(corpus: Corpus, clicks: ClickLog) -> None:
    silent = replace(clicks, clicks=np.zeros_like(clicks.clicks))
    scores = np.random.default_rng(1).normal(size=corpus.n_documents)
    found = evaluate_ranker(corpus, silent, scores, CURVE)
    for report in found.reports.values():
        assert report.estimate is None
        assert mentions(report.words, "click")
        numbers = report.as_dict()
        assert [numbers[part] for part in ("value", "low", "high")] == [None] * 3
    assert found.sentence == found.reports["ips"].words
    assert truth_sentence(found) == ""
    with refused("no_estimate"):
        evidence_figure(found)
    for against in (
        compare_with_shown(silent, scores, CURVE, name="it"),
        compare_rankers(silent, scores, -scores, CURVE, names=("it", "that")),
    ):
        assert against.estimate is None
        assert mentions(against.sentence, against.first, against.second)
        assert against.reason in against.sentence
        assert "+0.00" not in against.sentence
        assert [against.as_dict()[part] for part in ("difference", "low", "high")] == [None] * 3


def test_too_few_clicks_have_estimates_and_no_interval(corpus: Corpus, clicks: ClickLog) -> None:
    few = replace(clicks, clicks=np.where(np.arange(clicks.clicks.size) < 60, clicks.clicks, 0))
    assert 0 < few.total_clicks < 200
    scores = np.random.default_rng(1).normal(size=corpus.n_documents)
    found = evaluate_ranker(corpus, few, scores, CURVE)
    for report in found.reports.values():
        numbers = report.as_dict()
        assert numbers["value"] == report.estimate.value
        assert (numbers["low"], numbers["high"]) == (None, None)
        assert mentions(numbers["no_interval"], few.total_clicks)
    assert mentions(found.sentence, found.reports["ips"].estimate.no_interval)
    assert truth_sentence(found) == ""
    assert "inf" not in evidence_figure(found).alt
    against = compare_with_shown(few, scores, CURVE, name="it")
    numbers = against.as_dict()
    assert (numbers["low"], numbers["high"]) == (None, None)
    assert mentions(against.sentence, "cannot", numbers["no_interval"])
    whole = evaluate_ranker(corpus, clicks, scores, CURVE).reports["ips"].as_dict()
    assert whole["no_interval"] == ""
    assert whole["low"] < whole["value"] < whole["high"]


def test_a_curve_is_carried_on_only_when_asked() -> None:
    log = parse_log("query,document,position,click\nq,a,1,1\nq,b,4,1\n")
    assert curve_for_log([1.0, 0.5], log, carry_on=True).at([4]).tolist() == [0.5]
    assert len(curve_for_log([1.0, 0.5], log).values) == 2  # type: ignore[union-attr]
    assert len(curve_for_log([1.0, 0.5], None, carry_on=True).values) == 2  # type: ignore[union-attr]


def test_the_training_file_holds_the_weights(corpus: Corpus, clicks: ClickLog) -> None:
    few = part_of_log(corpus, clicks, np.arange(20))
    small = corpus.subset(np.arange(20))
    weights = ips_weights(few, CURVE)
    _, back = parse_proprank(training_file(small, weights), "training.txt.gz")
    assert np.count_nonzero(back.values) == np.count_nonzero(weights.values)
    assert back.clicks == weights.clicks


def test_sentences_are_of_the_estimate_that_was_asked_for() -> None:
    # H33: a click of weight 1,000 was clipped in the table and not in the sentences.
    corpus = parse_corpus(b"1 qid:1 1:1\n0 qid:1 1:2\n0 qid:1 1:3\n", "corpus")
    rows = "".join(f"1,{n},{n},{100},{clicks}\n" for n, clicks in ((1, 40), (2, 10), (3, 5)))
    log = parse_log(f"query,document,position,impressions,clicks\n{rows}", "log")
    clicks, curve = join_log(log, corpus).clicks, curve_for_log([1.0, 0.5, 0.001], log)
    scores = np.array([3.0, 2.0, 1.0])
    for clip, key in ((None, "ips"), (0.1, "clipped")):
        found = evaluate_ranker(corpus, clicks, scores, curve, clip=clip)
        against = compare_with_shown(clicks, -scores, curve, name="it", clip=clip)
        assert found.judge == key
        assert mentions(found.sentence, f"{found.reports[key].estimate.value:.3f}")
        reverse = evaluate_ranker(corpus, clicks, -scores, curve, clip=clip).reports[key]
        assert against.estimate.value == pytest.approx(
            reverse.estimate.value - found.reports[key].estimate.value
        )
    assert found.reports["ips"].estimate.value > 10 * found.reports["clipped"].estimate.value


@pytest.mark.parametrize(("asked", "said"), [
    ({}, 1), ({"measures": (measure_named("RR"),)}, 2), ({"empty": "zero"}, 2),
])  # fmt: skip
def test_measures_without_grades_are_said_to_be_left_out(asked: dict[str, Any], said: int) -> None:
    corpus, log = listed()
    found = evaluate_ranker(corpus, log, np.arange(1_000.0), CURVE, **asked)
    assert found.true is None and len(found.notices) == said


def listed(*more: tuple[int, int, int]) -> tuple[Corpus, ClickLog]:
    """200 queries of five documents, each shown whole ten times; more: document, rank, clicks."""
    ranks = np.tile(np.arange(1, 6), 200)
    offsets = np.arange(0, 1_001, 5)
    features = np.random.default_rng(0).normal(size=(1_000, 2)).astype(np.float32)
    log = simulate_counts(np.full(1_000, 0.4), ranks, offsets, 2_000, seed=0)
    new = np.array(more, dtype=np.int64).reshape(-1, 3)
    rows = [
        np.append(log.document, new[:, 0]), np.append(log.rank, new[:, 1]),
        np.append(log.impressions, np.ones(len(new), np.int64)), np.append(log.clicks, new[:, 2]),
    ]  # fmt: skip
    order = np.lexsort(rows[1::-1])
    return (
        Corpus(features, np.zeros(1_000, np.int16), offsets),
        ClickLog(*(row[order] for row in rows), 2_000, offsets, log.draws, whole_lists=False),
    )


@pytest.mark.parametrize("method", ["", *FIT_METHODS])
@pytest.mark.parametrize("clicks", [0, 1])
def test_one_row_far_below_the_candidates_decides_nothing(method: str, clicks: int) -> None:
    """Whatever the weight of a click there, what users saw counts 100,000 ranks for it."""
    scores = np.tile(np.arange(5.0, 0.0, -1.0), 200)
    corpus, log = listed((0, 100_000, clicks))
    judge = judge_by(method, corpus, log, CURVE)
    found = compare_with_shown(log, scores, CURVE, name="it", judge=judge)
    assert found.estimate is not None and found.estimate.value < 0
    assert found.estimate.side == 0
    assert mentions(found.as_dict()["no_interval"], f"{log.total_clicks:,}")
    corpus, log = listed((0, 5, clicks))
    judge = judge_by(method, corpus, log, CURVE)
    near = compare_with_shown(log, -scores, CURVE, name="it", judge=judge).estimate
    # Features of noise: the clicks reject what is fitted to them, so that IPS judges.
    assert near is not None and near.no_interval == ""
    assert (judge.estimator.key == "ips") == (method in ("", "ips", "direct", "doubly-robust"))


@pytest.mark.parametrize("clicks", [1, 5, 6])
def test_fewer_than_six_clicks_that_tell_are_no_verdict(clicks: int) -> None:
    """Five that point the same way by chance are too likely: 2 / 2^5 is above 5%."""
    _, log = listed()
    pair = np.isin(log.document, (3, 4))
    few = replace(
        log,
        clicks=np.where(pair, np.where(log.document == 4, clicks, 0), log.clicks),
        impressions=np.maximum(log.impressions, 6),
    )
    scores = np.tile(np.arange(5.0, 0.0, -1.0), 200)
    scores[[3, 4]] = scores[[4, 3]]
    found = compare_with_shown(few, scores, CURVE, name="it").estimate
    assert found is not None and found.value < 0
    assert (found.no_interval == "") == (clicks == 6)
    assert found.side == (-1 if clicks == 6 else 0)
