"""The click log refuses contradictions and adds up documents that moved."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.users import ClickLog


def make(**changes):
    columns = {
        "document": [0, 1, 1, 0, 2],
        "rank": [1, 2, 1, 2, 1],
        "impressions": [3, 3, 2, 2, 4],
        "clicks": [1, 0, 2, 1, 4],
        "query_draws": 10,
        "query_offsets": [0, 2, 3],
    }
    return ClickLog(**{**columns, **changes})


def test_a_moved_document_is_one_document():
    log = make()
    assert log.clicks_per_document.tolist() == [2, 2, 4]
    assert log.impressions_per_document.tolist() == [5, 5, 4]
    assert log.draws.tolist() == [5, 4]
    assert log.total_clicks == 8
    assert log.query_draws == 10
    assert not log.covers_corpus
    by_document = log.sum_by_document(np.array([0.5, 1, 1, 0.25, 0.125]))
    assert by_document.tolist() == [0.75, 2.0, 0.125]


def test_types_are_fixed_and_nothing_can_be_changed():
    given = np.array([1, 0, 2, 1, 4], dtype=np.int64)
    log = make(clicks=given)
    given[0] = 0
    assert log.clicks[0] == 1
    assert (log.rank.dtype, log.document.dtype, log.clicks.dtype) == (np.int32, np.int64, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        log.clicks[0] = 5
    with pytest.raises(AttributeError):
        log.query_draws = 3


def test_rows_of_the_whole_corpus_in_order_are_recognised():
    log = make(document=[0, 1, 2], rank=[1, 2, 1], impressions=[5, 5, 4], clicks=[1, 2, 3])
    assert log.covers_corpus
    assert log.clicks_per_document.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"clicks": [4, 0, 2, 1, 4]}, ("", "row", 0, "click", "impression", 1, 3, 4)),
        ({"clicks": [1, -1, 2, 1, 4]}, ("", "row", 1, 0, -1, 2, 3)),
        ({"rank": [1, 2, 0, 2, 1]}, ("", "row", 2, "rank", 1, 0)),
        ({"document": [0, 1, 1, 0, 3]}, ("", "row", 4, "document", 3, 1)),
        ({"document": [0, 1, 1, 0, -1]}, ("", "row", 4, "document", 3, 1)),
        ({"rank": [1, 1, 1, 2, 1]}, ("", "document", 1, "rank")),
        ({"query_draws": 0}, ("no_draw", 1, 0)),
        ({"query_draws": 8}, ("", 9, "presentations", 8)),
        ({"clicks": [1, 0, 2]}, ("equal_lengths",)),
        ({"query_offsets": [0, 2, 2, 3]}, ("", "query", 1, "document", 2)),
        ({"query_offsets": []}, ("", "query_offsets", 0)),
    ],
)
def test_contradictions_are_named(changes, fault: tuple[object, ...]):
    with refused(*fault):
        make(**changes)


@pytest.mark.parametrize("name", ["document", "rank", "impressions", "clicks"])
@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ([1.5, 0, 2, 1, 4], ("whole_numbers", 0, "1.5")),
        ([0, np.nan, 2, 1, 4], ("whole_numbers", 1, "nan")),
        ([0, np.inf, 2, 1, 4], ("whole_numbers", 1, "inf")),
        ([0, 2, 1e30, 1, 4], ("whole_numbers", 2, "1e+30")),
        (["a", "b", "c", "d", "e"], ("real_numbers", "text")),
        ([1j, 2, 3, 4, 5], ("real_numbers", "complex")),
        ([None, 1, 1, 1, 1], ("real_numbers",)),
        ([[1], [1, 2]], ("array",)),
    ],
)
def test_columns_are_never_rounded_or_guessed(name, values, fault):
    with refused(*fault, "column", name):
        make(**{name: values})


def test_whole_numbers_of_any_type_are_taken():
    log = make(clicks=[1.0, 0.0, 2.0, 1.0, 4.0], rank=np.array([1, 2, 1, 2, 1], np.uint64))
    assert log.clicks.tolist() == [1, 0, 2, 1, 4]
    assert make(query_draws=np.float64(10)).query_draws == 10


@pytest.mark.parametrize("draws", [float("nan"), float("inf"), 9.5, "x", None, [10]])
def test_query_draws_are_a_whole_number(draws):
    with refused("no_draw", 1):
        make(query_draws=draws)


def test_no_document_is_shown_below_the_end_of_its_list():
    with refused("", "row", 4, "document", 2, "rank", 1):
        make(rank=[1, 2, 1, 2, 2])
    with refused("", "row", 1, "rank", 99, 2):
        make(rank=[1, 99, 1, 2, 1])


def test_a_list_that_is_not_the_candidates_may_go_on_below_the_last_of_them():
    log = make(rank=[1, 99, 1, 2, 2], whole_lists=False)
    assert log.rank.max() == 99
    assert not log.whole_lists
    assert make().whole_lists


def test_draws_are_always_known():
    assert make().draws.tolist() == [5, 4]
    given = make(draws=[5, 5])
    assert given.draws.tolist() == [5, 5]
    assert given.draws.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        given.draws[0] = 1
    with refused("", 2, "queries", "draws"):
        make(draws=[5])
    with refused("", 11, "presentations", 10):
        make(draws=[5, 6])


def test_rows_are_counts_of_one_document_rank_and_context():
    assert make().context.tolist() == [0] * 5
    same = {"document": [0, 1, 1, 0, 2], "rank": [1, 1, 1, 2, 1]}
    log = make(**same, context=[0, 0, 3, 0, 1])
    assert log.context.dtype == np.int32
    assert log.clicks_per_document.tolist() == [2, 2, 4]
    with refused("", "document", 1, "rank", "context", 3):
        make(**same, context=[0, 3, 3, 0, 1])
    with refused("", "row", 1, "context", 0, 2, 3):
        make(context=[0, -1, 3, 0, 1])
    with refused("equal_lengths"):
        make(context=[0, 1])


def test_a_log_of_clicks_only_is_recognised():
    assert make(clicks=[3, 3, 2, 2, 4]).clicks_only
    assert not make().clicks_only
    assert not make(clicks=[0] * 5, impressions=[0] * 5).clicks_only


def test_a_copy_with_other_clicks_keeps_everything_else():
    log = make(draws=[6, 4], context=[0, 1, 0, 0, 2], whole_lists=False)
    silent = dataclasses.replace(log, clicks=[0] * 5)
    assert silent.total_clicks == 0
    assert silent.draws.tolist() == [6, 4]
    assert silent.context.tolist() == [0, 1, 0, 0, 2]
    assert not silent.whole_lists
