"""NDCG: values, and one stated rule for queries without relevant documents."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus.ranking import dcg, ndcg, rank_documents
from ultr_core.errors import InputError


def test_dcg_by_hand():
    ranks, grades = np.array([2, 1, 3]), np.array([3, 0, 1])
    expected = 7 / np.log2(3) + 0 / np.log2(2) + 1 / np.log2(4)
    assert dcg(ranks, grades, [0, 3])[0] == pytest.approx(expected, rel=1e-15)
    assert dcg(ranks, grades, [0, 3], cutoff=2)[0] == pytest.approx(7 / np.log2(3), rel=1e-15)
    linear = dcg(ranks, grades, [0, 3], gain="linear")[0]
    assert linear == pytest.approx(3 / np.log2(3) + 0.5, rel=1e-15)


@pytest.mark.parametrize(("rule", "mean"), [("skip", 1.0), ("zero", 0.5), ("one", 1.0)])
def test_the_rule_for_empty_queries_is_a_choice_and_is_told(rule, mean):
    labels, offsets = np.array([1, 0, 1, 0, 0, 0]), [0, 3, 6]
    summary = ndcg(rank_documents(labels, offsets), labels, offsets, empty=rule)
    assert summary.value == mean
    assert summary.queries_without_relevant == 1
    assert mentions(summary.describe(), "1 of 2 queries")


def test_ndcg_is_at_most_one_and_reached_by_the_ideal_order():
    rng = np.random.default_rng(2)
    offsets = np.arange(0, 401, 8)
    grades = rng.integers(0, 5, 400)
    best = ndcg(rank_documents(grades, offsets), grades, offsets, cutoff=5)
    random = ndcg(rank_documents(rng.normal(size=400), offsets), grades, offsets, cutoff=5)
    assert np.all(best.per_query == 1)
    assert np.all((random.per_query >= 0) & (random.per_query <= 1))
    assert random.value < 1


def test_what_has_no_ndcg_is_refused():
    with refused("", "query", "document"):
        ndcg(np.array([1, 2]), np.zeros(2), [0, 2])
    with refused("negative_grade", 0):
        dcg(np.array([1, 2]), np.array([1, -1]), [0, 2])
    with pytest.raises(InputError, match="cutoff"):
        dcg(np.array([1, 2]), np.array([1, 1]), [0, 2], cutoff=0)
    with refused("empty_queries"):
        ndcg(np.array([1, 2]), np.array([1, 1]), [0, 2], empty="half")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ranks": [1, np.nan]}, ("", "rank", "document", 1, 0, "nan")),
        ({"ranks": [0, 1]}, ("rank_from_1", 0)),
        ({"ranks": [1, 2, 3]}, ("", "document", "rank", "grade", 2, 3)),
        ({"grades": ["a", "b"]}, ("real_numbers", "text")),
        ({"grades": [1, np.nan]}, ("", "grade", "document", 1, 0, "nan")),
        ({"grades": [1, 2000]}, ("", "grades", 900, 2000)),
        ({"cutoff": np.nan}, ("dcg_cutoff",)),
        ({"cutoff": "x"}, ("dcg_cutoff",)),
        ({"gain": "square"}, ("gain",)),
    ],
)
def test_a_gain_is_never_nan_or_guessed(change, fault: tuple[object, ...]):
    given = {"ranks": np.array([1, 2]), "grades": np.array([1, 0]), "query_offsets": [0, 2]}
    with refused(*fault):
        dcg(**(given | change))
