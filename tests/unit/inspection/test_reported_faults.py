"""Faults that people reported in other programs, H6 to H12: each input, and its whole kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.cli import main
from ultr_core.corpus import Corpus, Measure
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.errors import InputError
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import (
    inspect_corpus,
    inspect_curve,
    inspect_log,
    inspect_scores,
    inspect_together,
    inspect_upload,
    join_log,
    require_covered,
)
from ultr_core.learners import fit_ranker
from ultr_core.own_data.evaluation import NDCG, evaluate_ranker
from ultr_core.own_data.fitting import fit_from_log
from ultr_core.propensity import estimate_from_log, full_information_weights, table_curve
from ultr_core.users import ClickLog, PowerLaw

NO_PAIR = b"2 qid:1 1:0.3\n2 qid:1 1:0.6\n1 qid:2 1:0.4\n"


def corpus_of(grades: list[list[int]], names: str = "abcdefgh") -> Corpus:
    """Queries q1, q2, ... with the given grades and documents a, b, ... each."""
    rows = [
        f"{grade} qid:q{q} 1:{0.1 * place + 0.05 * q} 2:{grade} # docid = {names[place]}"
        for q, query in enumerate(grades, 1)
        for place, grade in enumerate(query)
    ]
    return parse_corpus("\n".join(rows).encode(), "corpus.txt")


def log_of(*rows: str, header: str = "query,document,position,click") -> str:
    return "\n".join([header, *rows]) + "\n"


# H6: no preference pair anywhere.


def test_grades_without_any_pair_are_told_and_give_no_model() -> None:
    corpus = parse_corpus(NO_PAIR, "labels.txt")
    found = inspect_corpus(corpus, relevant_grade=1).finding("no_pairs")
    assert (found.severity, found.value) == ("stop", 2)
    with pytest.raises(InputError):
        fit_ranker(corpus, full_information_weights(corpus.relevance(3)), cost=1)


def test_with_usable_queries_the_number_without_a_pair_is_told() -> None:
    corpus = parse_corpus(NO_PAIR + b"0 qid:3 1:1\n3 qid:3 1:2\n", "labels.txt")
    found = inspect_corpus(corpus, relevant_grade=1).finding("no_pairs")
    assert found.value == 2
    assert found.sentence.startswith("2 of 3 queries")
    assert np.isfinite(
        fit_ranker(corpus, full_information_weights(corpus.relevance(3)), cost=1).coefficients
    ).all()


def test_clicks_without_a_pair_are_refused_and_some_are_told() -> None:
    corpus = corpus_of([[1], [1, 0]])
    alone = join_log(parse_log(log_of("q1,a,1,1")), corpus)
    assert inspect_together(alone, corpus).finding("pairs").severity == "stop"
    with pytest.raises(InputError, match="pair"):
        fit_from_log(corpus, alone.clicks, PowerLaw(1.0))
    both = join_log(parse_log(log_of("q1,a,1,1", "q2,a,1,1", "q2,b,2,0")), corpus)
    fit = fit_from_log(corpus, both.clicks, PowerLaw(1.0), cost=1.0)
    (notice,) = fit.notices
    assert mentions(notice, "1 of 2")
    assert np.isfinite(fit.ranker.coefficients).all()


# H7: NDCG of a query without any relevant document.


def test_one_rule_for_queries_without_relevance_with_its_count() -> None:
    grades = np.array([1, 0, 1, 0, 0, 0], dtype=np.int16)
    found = NDCG.of(grades.astype(float), grades, np.array([0, 3, 6]))
    assert found.value == 1.0
    assert (found.counted, found.left_out) == (1, 1)
    assert mentions(found.rule, "1 of 2 queries")
    with refused("no_relevant"):
        NDCG.of(np.zeros(2), np.zeros(2, np.int16), np.array([0, 2]))


def test_risk_and_ndcg_say_how_such_queries_count() -> None:
    corpus = corpus_of([[1, 0, 1], [0, 0, 0]])
    finding = inspect_corpus(corpus, relevant_grade=1).finding("queries_without_relevant")
    assert finding.value == 1
    assert "1 of 2 queries (50%)" in finding.sentence
    assert mentions(finding.sentence, 0, "risk")
    log = join_log(parse_log(log_of("q1,a,1,1", "q2,a,1,0")), corpus).clicks
    true = evaluate_ranker(
        corpus, log, corpus.grades.astype(float), PowerLaw(0.0), relevant_grade=1
    ).true
    assert true is not None
    assert true.risk == (1 + 2) / 2
    assert mentions(true.rule, "1 of 2 queries", 0)


# H8: ties are broken in the model's favour.


def test_ties_count_with_the_mean_over_their_orders_whatever_the_order_of_the_file() -> None:
    grades, offsets = np.array([3, 0, 1], dtype=np.int16), np.array([0, 3])
    constant = np.zeros(3)
    value = NDCG.of(constant, grades, offsets).value
    assert round(value, 3) == 0.745
    assert NDCG.of(constant, grades[::-1].copy(), offsets).value == pytest.approx(value)
    assert expected_ranks(constant, offsets).tolist() == [2, 2, 2]


def test_expected_values_over_ties_equal_the_mean_over_all_orders() -> None:
    from itertools import permutations

    from ultr_core.corpus.ranking import dcg

    rng = np.random.default_rng(4)
    for _ in range(20):
        scores = rng.integers(0, 3, 5).astype(float)
        grades = rng.integers(0, 4, 5).astype(np.int16)
        if not grades.any():
            continue
        offsets = np.array([0, 5])
        ranks, values = [], []
        for order in permutations(range(5)):
            jitter = np.empty(5)
            jitter[list(order)] = np.arange(5) * 1e-6
            place = np.argsort(np.argsort(-(scores + jitter))) + 1
            ranks.append(place)
            ideal = np.argsort(np.argsort(-(grades + jitter))) + 1
            values.append(
                dcg(place, grades, offsets, cutoff=3)[0] / dcg(ideal, grades, offsets, cutoff=3)[0]
            )
        assert expected_ranks(scores, offsets) == pytest.approx(np.mean(ranks, axis=0))
        found = Measure("nDCG", 3, exponential=True).of(scores, grades, offsets)
        assert found.value == pytest.approx(np.mean(values), rel=1e-12)


def test_a_constant_ranker_is_told() -> None:
    corpus = corpus_of([[3, 0, 1]])
    found = inspect_scores(np.zeros(3), corpus).finding("ties")
    assert (found.severity, found.value) == ("stop", 3)


# H9: a propensity of zero gives an infinite weight.


def one_click_at_three() -> tuple[Corpus, ClickLog]:
    corpus = corpus_of([[1, 0, 1]])
    rows = log_of("q1,a,1,0", "q1,b,2,0", "q1,c,3,1", "q1,a,1,0", "q1,b,2,0", "q1,c,3,0")
    return corpus, join_log(parse_log(rows), corpus).clicks


def test_a_zero_propensity_is_refused_with_its_position_or_clipped_with_counts() -> None:
    corpus, log = one_click_at_three()
    curve = table_curve([1, 0.5, 0])
    found = inspect_curve([1, 0.5, 0]).finding("zeros")
    assert (found.severity, found.value) == ("stop", 1)
    assert "position 3" in found.sentence
    with refused("", "rank 3", "1 click", 0):
        fit_from_log(corpus, log, curve, method="ips", cost=1.0)
    with refused("", "rank 3", "1 click", "1e-300"):
        fit_from_log(corpus, log, table_curve([1, 0.5, 1e-300]), method="ips", cost=1.0)
    joined = join_log(parse_log(log_of("q1,a,1,0", "q1,c,3,1")), corpus)
    stopped = inspect_together(joined, corpus, curve)
    assert mentions(stopped.finding("zero_propensities").sentence, "position 3", "1 click")
    clipped = inspect_together(joined, corpus, curve, clip=0.1).finding("clipping")
    assert mentions(clipped.sentence, "τ = 0.1", "1 of 1 click", "propensity 0")


def test_a_zero_propensity_never_reaches_a_number() -> None:
    corpus, log = one_click_at_three()
    result = evaluate_ranker(
        corpus, log, np.arange(3.0), table_curve([1, 0.5, 0]), clip=0.2, relevant_grade=1
    )
    assert result.reports["ips"].estimate is None
    assert "Rank 3" in result.reports["ips"].words
    clipped = result.reports["clipped"].estimate
    assert clipped is not None
    assert clipped.value == 1 / 0.2 / 2
    json.dumps(result.as_dict(), allow_nan=False)


# H10: the same document at two positions becomes two documents.


def test_a_document_at_two_positions_is_one_document() -> None:
    text = "query_id,doc_id,position,click\nlamp,a,2,1\nlamp,a,5,0\nlamp,b,1,0\n"
    corpus = parse_corpus(b"1 qid:lamp 1:1 # docid = a\n0 qid:lamp 1:2 # docid = b\n", "corpus.txt")
    log = parse_log(text)
    assert log.counts()["query_document_pairs"] == 2
    assert log.displays().by_rank(5).impressions.tolist() == [1, 1, 0, 0, 1]
    joined = join_log(log, corpus)
    assert joined.clicks.clicks_per_document.tolist() == [1, 0]
    clicked = joined.clicks.clicks > 0
    assert joined.clicks.rank[clicked].tolist() == [2]
    assert inspect_log(log).finding("rank_changes").value == 1


# H11: clicks on something that was never shown.


def test_a_click_without_a_position_is_reported_and_left_out() -> None:
    text = "session_id,query_id,doc_id,position,click\ns1,q,a,1,0\ns1,q,b,2,0\ns1,q,z,,1\n"
    found = inspect_log(parse_log(text)).finding("clicks_without_position")
    assert (found.severity, found.value) == ("warning", 1)
    assert mentions(found.sentence, "1 click")
    assert parse_log(text).counts()["rows"] == 2


def test_clicks_outside_the_candidates_and_on_unknown_queries_are_counted() -> None:
    corpus = corpus_of([[1, 0]])
    rows = log_of("q1,a,1,1", "q1,z,2,1", "nobody,a,1,1", "q1,b,2,0")
    joined = join_log(parse_log(rows), corpus)
    overlap = joined.overlap
    assert (overlap.clicks_joined, overlap.clicks_outside) == (1, 1)
    assert (overlap.clicks_of_unknown_queries, overlap.unknown_query) == (1, "nobody")
    assert overlap.outside_document == "z"
    assert inspect_together(joined, corpus).finding("clicks_outside").severity == "warning"


# H12: what does "position" mean?


def slots(first: int) -> str:
    rows = [f"q1,{name},{slot + first},1" for slot, name in enumerate("abc")]
    return log_of(*rows, *(row[:-1] + "0" for row in rows))


@pytest.mark.parametrize(("first", "verdict"), [(0, "warning"), (1, "good"), (10, "warning")])
def test_the_base_of_positions_and_the_reference_are_said(first: int, verdict: str) -> None:
    finding = inspect_log(parse_log(slots(first))).finding("positions")
    assert (finding.value, finding.severity) == (first, verdict)
    assert {0: "position 0 in the log", 1: "position 1 is the reference", 10: "first position"}[
        first
    ] in finding.sentence


@pytest.mark.parametrize(("first", "told"), [(2, "rank 1"), (3, "ranks 1 to 2")])
def test_ranks_that_were_never_logged_are_counted_in_words(first: int, told: str) -> None:
    assert mentions(inspect_log(parse_log(slots(first))).finding("positions").sentence, told)


def test_a_binary_file_is_called_one_and_not_repeated() -> None:
    with pytest.raises(InputError, match=r"^noise\.csv\b.*\bbinary\b"):
        inspect_upload(b"\xb5\x00\xff\x81 noise", "noise.csv")


def test_positions_from_zero_give_the_estimates_of_positions_from_one() -> None:
    corpus = corpus_of([[1, 0, 1]])
    results = [
        evaluate_ranker(
            corpus,
            join_log(parse_log(slots(first)), corpus).clicks,
            np.arange(3.0),
            table_curve([1, 0.9, 0.8, 0.7, 0.6]),
            relevant_grade=1,
        ).as_dict()
        for first in (0, 1)
    ]
    assert results[0] == results[1]
    assert results[0]["estimates"]["ips"]["value"] == pytest.approx((3 + 2 / 0.9 + 1 / 0.8) / 2)


def test_a_position_without_a_propensity_is_named_and_spare_ones_do_no_harm() -> None:
    corpus = corpus_of([[1, 0, 1]])
    joined = join_log(parse_log(slots(1)), corpus)
    require_covered(joined.clicks, table_curve([1, 0.9, 0.8, 0.7, 0.6]))
    with refused("carry_on", "position 3", "1 click"):
        evaluate_ranker(corpus, joined.clicks, np.arange(3.0), table_curve([1, 0.9]))
    finding = inspect_together(joined, corpus, table_curve([1, 0.9])).finding(
        "propensity_of_each_position"
    )
    assert finding.severity == "stop"


def test_the_last_propensity_is_carried_on_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.txt").write_text(
        "1 qid:q1 1:1 # docid = a\n0 qid:q1 1:2 # docid = b\n1 qid:q1 1:3 # docid = c\n"
    )
    (tmp_path / "log.csv").write_text(slots(1))
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,1\n2,0.5\n")
    command = ["fit", "--corpus", str(tmp_path / "c.txt"), "--log", str(tmp_path / "log.csv")]
    command += ["--propensities", str(tmp_path / "curve.csv"), "--cost", "1", "--json"]
    assert main(command) == 2
    assert mentions(capsys.readouterr().err, "position 3", "1 click", "--carry-on")
    assert main([*command, "--carry-on"]) == 0
    assert json.loads(capsys.readouterr().out)["clicks"] == 3


@pytest.mark.parametrize(
    ("propensities", "verdict", "named"),
    [
        (["0.03"] * 3, "warning", ("0.03",)),
        (["1", "0.5", "0"], "stop", ("position 3", 0)),
        (["1", "1.5", "0.4"], "stop", (0, 1)),
        (["1", "0.5", "0.4"], "good", ("position",)),
        (["x", "", "y"], "stop", ("number",)),
    ],
)
def test_the_logs_own_propensities_are_of_the_right_kind_or_not_used(
    propensities: list[str], verdict: str, named: tuple[object, ...]
) -> None:
    rows = [f"q,{n},{i},1,{p}" for i, (n, p) in enumerate(zip("abc", propensities, strict=True), 1)]
    log = parse_log(log_of(*rows, header="query,document,position,click,propensity_score"))
    finding = inspect_log(log).finding("propensities")
    assert finding.severity == verdict
    assert mentions(finding.sentence, *named)


def test_propensities_that_vary_within_a_position_are_no_examination() -> None:
    rows = ["q,a,1,1,0.2", "q,b,1,0,0.7", "q,c,2,0,0.5"]
    log = parse_log(log_of(*rows, header="query,document,position,click,propensity"))
    finding = inspect_log(log).finding("propensities")
    assert finding.severity == "warning"
    assert mentions(finding.sentence, "0.2 to 0.7", "position 1")


# H27: grades above 900 have no gain 2^grade that a number holds.


def test_ndcg_takes_every_grade_that_a_corpus_can_have() -> None:
    offsets, scores = np.array([0, 3]), np.array([2.0, 3.0, 1.0])
    small = NDCG.of(scores, np.array([4, 3, 0], np.int16), offsets).value
    large = NDCG.of(scores, np.array([1001, 1000, 0], np.int16), offsets).value
    assert large == pytest.approx((0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3)))
    assert small < large < 1


def test_what_a_log_lacks_is_not_blamed_on_it_where_its_rows_cannot_be_used() -> None:
    """Rank 1, a position between and a candidate are in the file, in rows without a number."""
    corpus = corpus_of([[4, 0, 1, 0], [0, 3, 0, 1]])
    rows = [
        f"q{query},{'abcd'[(place + query) % 4]},{name},{int(place == 1)}"
        for query in (1, 2)
        for place, name in enumerate(("1st", "2", "3rd", "4"))
    ]
    usable = [row for row in rows if "1st" not in row and "3rd" not in row]
    for some, lost in ((rows, 4), (usable, 0)):
        log = parse_log(log_of(*some))
        told = [inspect_log(log).finding(key).sentence for key in ("positions", "position_gaps")]
        told.append(inspect_together(join_log(log, corpus), corpus).finding("never_shown").sentence)
        told += [notice for notice in log.notices if mentions(notice, "never", "rank 1")]
        with refused("reference_not_logged", "rank 1") as caught:
            estimate_from_log(log)
        told.append(str(caught.value))
        assert len(told) == 5
        assert all(mentions(sentence, "4 rows") is (lost > 0) for sentence in told)


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("clicks", ("q,a,1,0", "q,b,2,0", "q,c,3,x")),
        ("only_clicks", ("q,a,1,1", "q,b,2,1", "q,c,3rd,0")),
        ("rank_changes", ("q,a,1,1", "q,b,2,0", "q,b,1st,0")),
        ("positions", ("q,a,1,1", "q,b,1,0", "q,b,2nd,0")),
        ("rows_per_position", ("q,a,1,1", "q,b,2,0", "q,c,2,1", "q,c,1st,0")),
    ],
)
def test_a_check_of_what_a_log_lacks_says_that_rows_cannot_be_used(
    key: str, rows: tuple[str, ...]
) -> None:
    found = inspect_log(parse_log(log_of(*rows))).finding(key)
    assert found.severity != "good" and mentions(found.sentence, "1 row")
    clean = inspect_log(parse_log(log_of(*rows[:-1]))).finding(key)
    assert clean.severity != "good" and not mentions(clean.sentence, "1 row")
