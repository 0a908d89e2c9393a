"""A log of sessions joined with a corpus: counts by group, draws, and what intervals are by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scripts.session_intervals import corpus as six_documents
from scripts.session_intervals import simulated
from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus, parse_log
from ultr_core.inspection import join_log
from ultr_core.own_data.evaluation import compare_rankers, compare_with_shown, evaluate_ranker
from ultr_core.risk import estimate_by_group
from ultr_core.users import ClickLog, GroupedLog, PowerLaw
from ultr_core.users.grouped_log import BY_PRESENTATION, Units

ROWS = b"1 qid:A 1:1 2:0 # docid = x\n0 qid:A 1:2 2:0 # docid = y\n0 qid:B 1:3 2:1 # docid = x\n"
HEADER = "session,query_id,query,document,position,click\n"
LOG = (
    "s1,1,A,x,1,1\ns1,1,A,y,2,0\ns1,2,A,y,1,0\ns1,2,A,x,2,1\ns2,3,A,x,1,0\ns2,3,A,y,2,1\n"
    "s3,4,B,x,1,1\ns4,5,C,x,1,1\ns2,6,A,z,1,1\n"
)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(ROWS, "corpus.txt")


def test_a_joined_log_of_sessions_counts_by_group(corpus: Corpus) -> None:
    """Sessions 1 to 3 have the groups 72, 76 and 7; s4 saw no query of the corpus."""
    log = parse_log(HEADER + LOG)
    found = join_log(log, corpus).clicks
    assert isinstance(found, GroupedLog)
    plain = join_log(replace(log, group=None), corpus).clicks
    assert type(plain) is ClickLog
    for name, value in vars(plain).items():
        np.testing.assert_array_equal(getattr(found, name), value)
    counts = found.by_group
    # Rows are x at 1 and 2, y at 1 and 2, all of A, and x at 1 of B.
    assert counts.row.tolist() == [0, 0, 1, 2, 3, 3, 4]
    assert counts.group.tolist() == [1, 2, 1, 1, 1, 2, 0]
    assert counts.impressions.tolist() == [1] * 7
    assert counts.clicks.tolist() == [1, 0, 1, 0, 0, 1, 1]
    assert counts.draws.tolist() == [1.0, 2.0, 2.0]


def test_draws_of_groups_add_up_where_lists_lack_positions(corpus: Corpus) -> None:
    """Each list of A lacks one of two positions: two lists a session, of which one row is left."""
    text = "s1,1,A,x,1,1\ns1,2,A,x,2,0\ns2,3,A,x,1,1\ns2,4,A,y,2,0\ns2,5,B,x,1,0\n"
    found = join_log(parse_log(HEADER + text), corpus).clicks
    assert isinstance(found, GroupedLog)
    assert (found.draws.tolist(), found.query_draws) == ([4, 1], 5)
    assert sorted(found.by_group.draws.tolist()) == pytest.approx([2.0, 3.0])


@pytest.mark.parametrize(
    "text",
    [
        LOG.replace("s2", "s1").replace("s3", "s1"),
        "".join(f",{line.partition(',')[2]}\n" for line in LOG.splitlines()),
    ],
    ids=["one session", "no session"],
)
def test_fewer_than_two_sessions_leave_the_log_as_it_is(corpus: Corpus, text: str) -> None:
    assert type(join_log(parse_log(HEADER + text), corpus).clicks) is ClickLog


def test_rows_of_no_session_are_in_the_groups_of_their_presentations() -> None:
    """Otherwise a log half of which has no session would have half its rows in one group."""
    named = "".join(f"s{n},p{n},A,x,1,0\n" for n in range(50))
    without = "".join(f",p{n},A,x,1,0\n" for n in range(50, 350))
    log = parse_log(HEADER + named + without)
    assert log.group is not None
    largest = np.bincount(log.group, weights=log.impressions).max()
    assert np.unique(log.group).size > 80
    assert largest <= 15


def test_evaluation_and_comparisons_say_what_their_intervals_are_by() -> None:
    log, of = simulated(1, 2_000, strong=True), six_documents()
    curve, rng = PowerLaw(1.0), np.random.default_rng(0)
    scores, others = rng.random((2, of.n_documents))
    grouped, plain = (join_log(each, of).clicks for each in (log, replace(log, group=None)))
    assert isinstance(grouped, GroupedLog)
    for joined, words in ((grouped, Units(100, "session").words), (plain, BY_PRESENTATION)):
        found = evaluate_ranker(of, joined, scores, curve)
        assert found.as_dict()["intervals"] == words
        for difference in (
            compare_with_shown(joined, scores, curve, name="a"),
            compare_rankers(joined, scores, others, curve, names=("a", "b")),
        ):
            assert difference.as_dict()["intervals"] == words
    wide, narrow = (
        compare_rankers(joined, scores, others, curve, names=("a", "b")).estimate
        for joined in (grouped, plain)
    )
    assert wide is not None
    assert narrow is not None
    assert wide.value == pytest.approx(narrow.value, rel=1e-12)
    assert wide.standard_error > 1.5 * narrow.standard_error
    ranks = np.concatenate([6.0 - np.argsort(np.argsort(q)) for q in scores.reshape(-1, 6)])
    report = evaluate_ranker(of, grouped, scores, curve).reports["ips"]
    assert report.estimate == estimate_by_group(grouped, ranks, curve.at(grouped.rank))
