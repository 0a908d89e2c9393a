"""Corpora: construction, checks, subsets and the relevance threshold."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from ultr_core.corpus import Corpus, CorpusSplits, propose_relevance_threshold
from ultr_core.errors import InputError, about


def make(features: Any = None, grades: Any = (1, 4, 0, 2, 0), offsets: Any = (0, 2, 5), **ids: Any):
    if features is None:
        features = np.arange(15.0).reshape(5, 3)
    return Corpus(features, np.array(grades), np.array(offsets), **ids)


def test_types_and_default_ids() -> None:
    corpus = make()
    assert corpus.features.dtype == np.float32
    assert corpus.features.flags.c_contiguous
    assert corpus.grades.dtype == np.int16
    assert corpus.query_offsets.dtype == np.int64
    assert corpus.query_ids == ("0", "1")
    assert corpus.document_ids is None
    assert corpus.feature_ids.tolist() == [1, 2, 3]
    assert (corpus.n_queries, corpus.n_documents, corpus.n_features) == (2, 5, 3)
    assert corpus.sizes.tolist() == [2, 3]
    assert corpus.max_grade == 4
    assert not corpus.is_sparse


def test_sparse_features_are_brought_to_canonical_float32() -> None:
    doubled = sparse.coo_array(([1.0, 2.0, 5.0], ([0, 0, 4], [1, 1, 0])), shape=(5, 3))
    corpus = make(doubled)
    assert corpus.is_sparse
    assert corpus.features.dtype == np.float32
    assert corpus.features.toarray()[0, 1] == 3.0
    assert corpus.features.nnz == 2


@pytest.mark.parametrize("features", [np.ones((5, 3)), sparse.csr_matrix(np.ones((5, 3)))])
@pytest.mark.parametrize(
    "copied",
    [
        lambda c: c,
        lambda c: pickle.loads(pickle.dumps(c)),
        copy.deepcopy,
        lambda c: c.subset([1, 0]),
    ],
)
def test_arrays_are_read_only_also_after_copying(features: Any, copied: Any) -> None:
    corpus = copied(make(features))
    values = corpus.features.data if corpus.is_sparse else corpus.features
    for array in (values, corpus.grades, corpus.query_offsets, corpus.feature_ids):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        corpus.grades = corpus.grades


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_subset_keeps_the_given_order(kind: Any) -> None:
    corpus = make(
        kind(np.arange(15.0).reshape(5, 3)),
        query_ids=("a", "b"),
        document_ids=tuple("vwxyz"),
        feature_ids=np.array([0, 7, 9]),
    )
    subset = corpus.subset([1, 0])
    dense = subset.features.toarray() if subset.is_sparse else subset.features
    assert dense[:, 0].tolist() == [6, 9, 12, 0, 3]
    assert subset.grades.tolist() == [0, 2, 0, 1, 4]
    assert subset.query_offsets.tolist() == [0, 3, 5]
    assert subset.query_ids == ("b", "a")
    assert subset.document_ids == tuple("xyzvw")
    assert subset.feature_ids.tolist() == [0, 7, 9]
    assert subset.is_sparse == corpus.is_sparse


@pytest.mark.parametrize("queries", [[], [2], [-1], [0.0], [[0]]])
def test_subset_refuses_what_is_no_query(queries: Any) -> None:
    with pytest.raises(InputError, match=r"[Qq]uery"):
        make().subset(queries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": (0, 2, 2, 5)}, "Query number 1 .* has no document"),
        ({"offsets": (0, 3, 2, 5)}, "Query number 1 .* has no document"),
        ({"offsets": (0, 4)}, "from 0 to the number of documents, 5"),
        ({"offsets": (1, 5)}, "from 0 to the number of documents, 5"),
        ({"offsets": (0,)}, "at least one query"),
        ({"grades": (1, 4, 0, 2)}, "grades has 4 entries for 5 documents"),
        ({"grades": (1, 4, -1, 2, 0)}, "grade of document 2 .* is -1"),
        ({"grades": (1, 4, 0.5, 2, 0)}, "grade of document 2 .* is 0.5"),
        ({"grades": (1, 4, np.nan, 2, 0)}, "grade of document 2 .* is nan"),
        ({"grades": (1, 4, 40_000, 2, 0)}, "grade of document 2 .* is 40000"),
        ({"grades": ((1, 4, 0, 2, 0),)}, "2 dimensions"),
        ({"query_ids": ("a",)}, "query_ids has 1 entry for 2 queries"),
        ({"document_ids": ("a",)}, "document_ids has 1 entry for 5 documents"),
        ({"feature_ids": np.array([1, 1, 2])}, "rising"),
        ({"feature_ids": np.array([-1, 1, 2])}, "0 or more"),
        ({"feature_ids": np.array([1, 2])}, "feature_ids has 2 entries for 3"),
        ({"features": np.ones(5)}, "1 dimensions"),
    ],
)
def test_refusals_name_the_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**change)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.8e308, 1e39, -1e39])
def test_values_beyond_float32_are_refused_and_never_become_infinite(
    kind: Any, value: float
) -> None:
    features = np.ones((5, 3))
    features[3, 1] = value
    with pytest.raises(InputError, match=r"Feature 8 of document 3 .*float32"):
        make(kind(features), feature_ids=np.array([2, 8, 9]))


def test_a_bad_value_far_down_is_found() -> None:
    features = np.zeros((40_000, 2), np.float32)
    features[39_999, 1] = np.nan
    with pytest.raises(InputError, match="Feature 2 of document 39999"):
        Corpus(features, np.zeros(40_000), np.array([0, 40_000]))


def test_relevance_cuts_at_the_threshold() -> None:
    assert make().relevance(2).tolist() == [False, True, False, True, False]
    with pytest.raises(InputError, match="threshold of 0"):
        make().relevance(0)


def graded(*grades: int) -> Corpus:
    return Corpus(np.ones((len(grades), 1)), np.array(grades), np.array([0, len(grades)]))


@pytest.mark.parametrize(
    ("largest", "wanted", "threshold"),
    [(4, 3, 3), (3, 3, 3), (2, 3, 1), (1, 3, 1), (2, 2, 2), (4, 5, 3), (4, 1, 1)],
)
def test_proposed_threshold(largest: int, wanted: int, threshold: int) -> None:
    found, sentence = propose_relevance_threshold([graded(0, largest)], wanted)
    assert found == threshold
    assert (sentence is None) == (found == wanted)
    if sentence is not None:
        assert f"Grades stop at {largest}" in sentence
        assert f"grade {threshold} and above" in sentence
        assert about(sentence) == "relevant_grade"


def test_threshold_is_one_that_every_part_reaches() -> None:
    found, sentence = propose_relevance_threshold([graded(0, 4), graded(0, 2), graded(0, 4)])
    assert found == 1
    assert sentence is not None
    assert "validation part" in sentence


def test_nothing_relevant_is_refused_and_named() -> None:
    with pytest.raises(InputError, match="Nothing is relevant in the test part"):
        propose_relevance_threshold([graded(0, 4), graded(0, 2), graded(0, 0)])
    with pytest.raises(InputError, match="Nothing is relevant in the corpus"):
        propose_relevance_threshold([graded(0, 0)])
    with pytest.raises(InputError, match="at least one corpus"):
        propose_relevance_threshold([])
    with pytest.raises(InputError, match="makes every document relevant"):
        propose_relevance_threshold([graded(0, 1)], 0)


def test_splits_need_the_same_features() -> None:
    two = Corpus(np.ones((2, 2)), np.array([0, 1]), np.array([0, 2]))
    with pytest.raises(InputError, match="test part of mine has 2 features"):
        CorpusSplits("mine", graded(0, 1), graded(0, 1), two, "files")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.zeros((5, 3), complex)}, "Features .* not complex"),
        ({"features": sparse.csr_array(np.zeros((5, 3), complex))}, "Features .* complex128"),
        ({"features": np.full((5, 3), "a")}, "Features .* not text"),
        ({"features": [[1, 2], [3]]}, "Features must be an array of numbers"),
        ({"features": [[None, 1]] * 5}, "Features must be real numbers"),
        ({"features": 3}, "0 dimensions"),
        ({"grades": ("a", "b", "c", "d", "e")}, "Grades .* not text"),
        ({"grades": (None, 1, 1, 1, 1)}, "Grades must be real numbers"),
        ({"grades": (1j, 1, 1, 1, 1)}, "Grades .* not complex"),
        ({"offsets": (0, 1.5, 5)}, "Query offsets must be whole numbers, but entry 1 .* 1.5"),
        ({"offsets": (0, np.nan, 5)}, "Query offsets must be whole numbers, but entry 1 .* nan"),
        ({"offsets": ("a",)}, "Query offsets .* not text"),
        ({"feature_ids": [1, 2.5, 3]}, "Feature ids must be whole numbers, but entry 1"),
        ({"query_ids": 7}, "query_ids must be a sequence of names, not 7"),
        ({"document_ids": "abcde"}, "document_ids must be a sequence of names"),
    ],
)
def test_nothing_is_rounded_cut_or_guessed(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**change)


def test_no_features_at_all_are_refused_and_nested_lists_are_a_matrix() -> None:
    with pytest.raises(InputError, match="Features must be real numbers, not None"):
        Corpus(None, [0], [0, 1])  # type: ignore[arg-type]
    assert Corpus([[1, 2], [3, 4]], [0, 1], [0, 2]).features.tolist() == [[1, 2], [3, 4]]  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [1.5, float("nan"), "x", None])
def test_a_threshold_is_a_whole_grade(threshold: Any) -> None:
    with pytest.raises(InputError, match="whole grade"):
        make().relevance(threshold)
    with pytest.raises(InputError, match="whole grade"):
        propose_relevance_threshold([make()], threshold)
