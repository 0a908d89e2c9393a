"""Ranks, orders and ties against their definitions."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.meaning import refused
from ultr_core.corpus.ranking import (
    ChosenDocuments,
    constant_notice,
    expected_ranks,
    in_brief,
    ndcg,
    order_from_ranks,
    query_of_document,
    query_sums,
    rank_documents,
    rank_many,
)

few_scores = st.lists(
    st.lists(
        st.sampled_from([-1.5, 0.0, -0.0, 0.25, 2.0, np.inf, -np.inf]), min_size=1, max_size=9
    ),
    min_size=1,
    max_size=6,
)


def offsets_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def ranks_by_definition(scores, offsets):
    ranks = np.zeros(len(scores))
    for start, end in pairwise(offsets):
        for i in range(start, end):
            better = sum(scores[j] > scores[i] for j in range(start, end))
            tied = sum(scores[j] == scores[i] for j in range(start, end)) - 1
            ranks[i] = 1 + better + tied / 2
    return ranks


@settings(derandomize=True, deadline=None, max_examples=200)
@given(few_scores)
def test_ranks_follow_the_definition_and_invert_the_order(queries):
    scores = np.concatenate([np.array(q) for q in queries])
    offsets = offsets_of([len(q) for q in queries])
    ranks = rank_documents(scores, offsets)
    assert ranks.dtype == np.int32
    assert np.array_equal(expected_ranks(scores, offsets), ranks_by_definition(scores, offsets))
    inside = np.diff(query_of_document(offsets)) == 0
    ordered = scores[order_from_ranks(ranks, offsets)]
    assert np.all(ordered[1:][inside] <= ordered[:-1][inside])

    sizes = np.diff(offsets)
    assert np.array_equal(query_sums(ranks, offsets), sizes * (sizes + 1) // 2)
    order = order_from_ranks(ranks, offsets)
    places = np.arange(scores.size) - np.repeat(offsets[:-1], sizes) + 1
    assert np.array_equal(ranks[order], places)
    assert np.array_equal(np.sort(order), np.arange(scores.size))


def test_many_rankers_equal_one_by_one_for_widely_varying_sizes():
    rng = np.random.default_rng(3)
    offsets = offsets_of([5000, 1, 3, 100, 3, 1, 2, 2500, 100])
    scores = np.round(rng.normal(size=(5, offsets[-1])), 1)  # many ties
    together = rank_many(scores, offsets)
    for row, ranks in zip(scores, together, strict=True):
        assert np.array_equal(ranks, expected_ranks(row, offsets))
        assert np.array_equal(rank_many(row[None], offsets)[0], ranks)
    untied = rng.normal(size=(1, offsets[-1]))
    assert rank_many(untied, offsets).dtype == np.int32
    assert np.array_equal(rank_many(untied, offsets)[0], rank_documents(untied[0], offsets))


def test_integers_beyond_the_reach_of_floats_are_ordered_exactly():
    large = np.array([2**53, 2**53 + 1, -(2**63), 2**63 - 1])
    assert rank_documents(large, [0, 2, 4]).tolist() == [2, 1, 2, 1]
    assert rank_documents(np.array([2**64 - 1, 0, 5], np.uint64), [0, 3]).tolist() == [1, 3, 2]


@pytest.mark.parametrize("tied", [0.0, 0.5])
@pytest.mark.parametrize("most_grouped", [0, 1 << 16])
def test_one_sort_of_all_documents_gives_the_same_ranks(monkeypatch, most_grouped, tied):
    rng = np.random.default_rng(5)
    offsets = offsets_of(rng.integers(1, 30, 300))
    scores = rng.normal(size=offsets[-1])
    scores[rng.random(scores.size) < tied] = 0.0
    monkeypatch.setattr("ultr_core.corpus.ranking._MOST_GROUPED", most_grouped)
    ranks = rank_documents(scores, offsets)
    ordered = scores[order_from_ranks(ranks, offsets)]
    assert np.all((np.diff(ordered) <= 0) | (np.diff(query_of_document(offsets)) > 0))
    means = rank_many(scores[None], offsets)[0]
    assert np.array_equal(means, ranks_by_definition(scores, offsets))
    assert (means.dtype == np.int32) == (tied == 0)


def test_more_queries_than_a_short_number_can_count():
    queries = (1 << 16) + 3
    offsets = 2 * np.arange(queries + 1)
    scores = np.random.default_rng(6).normal(size=2 * queries).reshape(queries, 2)
    ranks = rank_documents(scores.ravel(), offsets).reshape(queries, 2)
    assert np.array_equal(ranks[:, 0] == 1, scores[:, 0] > scores[:, 1])
    assert (ranks.sum(axis=1) == 3).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, np.bool_])
def test_every_kind_of_number_can_be_a_score(dtype):
    scores = np.array([0, 1, 1, 0, 1]).astype(dtype)
    assert expected_ranks(scores, [0, 3, 5]).tolist() == [3, 1.5, 1.5, 2, 1]


def test_the_scores_given_are_left_alone():
    scores = np.array([[1.0, 3.0, 2.0]])
    scores.flags.writeable = False
    assert rank_many(scores, [0, 3]).tolist() == [[3, 1, 2]]
    assert scores.tolist() == [[1.0, 3.0, 2.0]]


def test_neither_labels_nor_the_order_of_the_file_decide_ties():
    # H19: rows sorted by label gave a constant ranker 3.0 and reversed 9.0; false-alarm rate 1e-9.
    queries, size, relevant = 400, 6, 2
    offsets = offsets_of([size] * queries)
    constant, first = np.zeros(queries * size), np.tile(np.arange(size) < relevant, queries)
    mean = relevant * (size + 1) / 2
    for labels in (first, first[::-1]):
        chosen = ChosenDocuments(np.flatnonzero(labels), offsets)
        assert chosen.ranks(constant).sum() == queries * mean
        assert rank_many(constant[None], offsets)[0] @ labels == queries * mean
        shown = rank_documents(constant, offsets) @ labels / queries
        assert abs(shown - mean) < 6 * np.sqrt(14 / 3 / queries)  # variance of two of six ranks


def test_a_constant_ranker_is_noticed():
    offsets = offsets_of([3, 1, 2])
    assert len(constant_notice("It", [0, 0, 0, 9, 1, 1], offsets)) == 1
    assert not constant_notice("It", [0, 0, 1, 9, 1, 1], offsets)
    assert not constant_notice("It", [0.0, 1.0], offsets_of([1, 1]))


def test_random_ties_make_every_order_equally_likely():
    # False-alarm rate 1e-3: chi-square over the 6 orders of three tied documents.
    rng = np.random.default_rng(11)
    offsets = offsets_of([4] * 3000)
    scores = np.tile([0.0, 5.0, 0.0, 0.0], 3000)
    ranks = rank_documents(scores, offsets, tie_rng=rng).reshape(3000, 4)
    assert np.all(ranks[:, 1] == 1)
    codes = ranks[:, [0, 2, 3]] @ [100, 10, 1]
    _, counts = np.unique(codes, return_counts=True)
    assert counts.size == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_random_ties_depend_on_the_seed_alone_and_keep_unequal_scores_in_order():
    rng = np.random.default_rng(5)
    offsets = offsets_of([7, 30, 7, 2])
    scores = rng.integers(0, 4, offsets[-1]).astype(float)
    first = rank_documents(scores, offsets, tie_rng=np.random.default_rng(1))
    again = rank_documents(scores, offsets, tie_rng=np.random.default_rng(1))
    other = rank_documents(scores, offsets, tie_rng=np.random.default_rng(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    ordered = scores[order_from_ranks(first, offsets)]
    inside = np.diff(query_of_document(offsets)) == 0
    assert np.all(np.diff(ordered)[inside] <= 0)


def test_a_constant_ranker_gains_nothing_from_its_labels():
    # Labels 3, 0, 1, all scores 0: expected NDCG over all orders 0.745, worst 0.541.
    labels = np.array([3, 0, 1])
    orders = [ndcg(np.array(p), labels, [0, 3]).value for p in permutations([1, 2, 3])]
    assert np.mean(orders) == pytest.approx(0.745, abs=5e-4)
    assert min(orders) == pytest.approx(0.541, abs=5e-4)
    # The drawn orders of 900 queries, labels best first: 6 standard errors of the mean.
    offsets = offsets_of([3] * 900)
    shown = ndcg(rank_documents(np.zeros(2700), offsets), np.tile([3, 1, 0], 900), offsets)
    assert shown.value == pytest.approx(np.mean(orders), abs=6 * np.std(orders) / 30)

    rng = np.random.default_rng(0)
    offsets = np.arange(0, 3 * 4000 + 1, 3)
    for view in (labels, labels[::-1]):
        ranks = rank_documents(np.zeros(offsets[-1]), offsets, tie_rng=rng)
        drawn = ndcg(ranks, np.tile(view, 4000), offsets).value
        # Four standard errors of the mean of 4000 orders.
        assert drawn == pytest.approx(np.mean(orders), abs=4 * np.std(orders) / 4000**0.5)


def test_segment_sums_of_all_kinds_and_axes():
    offsets = [0, 2, 3]
    assert query_sums(np.array([True, True, True]), offsets).tolist() == [2, 1]
    assert query_sums(np.array([2**31 - 1, 1, 5], np.int32), offsets).tolist() == [2**31, 5]
    halves = query_sums(np.full((2, 4, 3), 0.5, np.float32), offsets)
    assert halves.shape == (2, 4, 2)
    assert halves.dtype == np.float64
    assert np.all(halves == [1.0, 0.5])
    assert query_of_document(offsets).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: rank_documents(np.array([0.0, np.nan]), [0, 2]), ("", "document", 1)),
        (lambda: rank_many(np.array([[0.0, 1.0], [np.nan, 0]]), [0, 2]), ("", "document", 0)),
        (lambda: rank_documents(np.zeros(3), [0, 2]), ("", "documents", 3)),
        (lambda: rank_documents(np.zeros(3), [0, 2, 2, 3]), ("", "query", 1, "document", 2)),
        (lambda: rank_documents(np.zeros((2, 2)), [0, 2]), ("", "axis", 2)),
        (lambda: rank_many(np.zeros(2), [0, 2]), ("", "axes", "rankers", "documents", 2)),
        (lambda: order_from_ranks(np.array([1, 1, 2]), [0, 3]), ("permutation", 1)),
        (lambda: order_from_ranks(np.array([0, 1, 2]), [0, 3]), ("permutation", 1)),
        (lambda: order_from_ranks(np.array([2, 1, 2]), [0, 1, 3]), ("permutation", 1)),
    ],
)
def test_what_cannot_be_ranked_is_refused_in_one_sentence(call, fault: tuple[object, ...]):
    with refused(*fault):
        call()


HIDDEN = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: rank_documents(["a", "b"], [0, 2]), ("real_numbers", "scores", "text")),
        (lambda: rank_documents(HIDDEN, [0, 2]), ("masked", "scores", 1, 2)),
        (lambda: rank_many([HIDDEN, HIDDEN], [0, 2]), ("masked", "scores", 1, 2)),
        (lambda: rank_documents([1.0, 2.0], np.ma.array([0, 2], mask=True)), ("masked", 2)),
        (lambda: rank_documents([1j, 2], [0, 2]), ("real_numbers", "scores", "complex")),
        (lambda: rank_many([[1, 2], [1]], [0, 2]), ("array", "scores")),
        (lambda: rank_documents([1, 2], [0, 1.5, 2]), ("whole_numbers", 1, "1.5")),
        (lambda: rank_documents([1, 2], None), ("real_numbers", "query_offsets")),
        (lambda: rank_documents([1, 2], [0, 2**64 - 1]), ("whole_numbers", 1)),
        (lambda: query_of_document([0, 2, 1]), ("", "query", 1, "document", 2)),
        (lambda: query_sums(3.0, [0, 1]), ("", "axis", "document")),
        (lambda: query_sums(["a"], [0, 1]), ("real_numbers", "text")),
        (lambda: order_from_ranks([1.5, 1], [0, 2]), ("whole_numbers", 0, "1.5")),
        (lambda: order_from_ranks([[1], [2]], [0, 2]), ("", "axis", 1, 2)),
        (lambda: ndcg([1, np.nan], [0, 1], [0, 2]), ("", "rank", "document", 1, 0, "nan")),
        (lambda: ndcg([[1, 2]], [0, 1, 1], [0, 3]), ("", "rank", "grade", 3, 2)),
    ],
)
def test_what_is_no_number_or_does_not_fit_is_refused(call, fault: tuple[object, ...]):
    with refused(*fault):
        call()


def test_values_in_messages_are_short_and_on_one_line():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (10**5000, deep, "x" * 999, np.arange(99.0), "a\nb", np.float64(1.5), None):
        text = in_brief(value)
        assert 0 < len(text) <= 50
        assert "\n" not in text


@pytest.mark.parametrize("decimals", [0, 1, 12])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 0.5, 1.0])
def test_counted_ranks_are_the_sorted_ones_with_and_without_ties(share, decimals):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 40, 60))])
        chosen = np.flatnonzero(rng.random(offsets[-1]) < share)
        counted = ChosenDocuments(chosen, offsets)
        for _ in range(3):
            scores = np.round(rng.normal(size=offsets[-1]), decimals)
            assert np.array_equal(counted.ranks(scores), expected_ranks(scores, offsets)[chosen])


def test_what_is_compared_is_never_many_times_the_documents():
    offsets = np.array([0, 3000, 3001])
    counted = ChosenDocuments(np.arange(0, 3000, 2), offsets)
    held = [array for array in vars(counted).values() if isinstance(array, np.ndarray)]
    assert max(array.size for array in held) <= 8 * offsets[-1]
    scores = np.round(np.random.default_rng(0).normal(size=3001), 1)
    assert np.array_equal(counted.ranks(scores), expected_ranks(scores, offsets)[:3000:2])
