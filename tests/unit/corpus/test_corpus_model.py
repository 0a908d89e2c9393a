"""Corpora: construction, checks, subsets and the relevance threshold."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from tests.meaning import mentions, refused
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
    ("change", "fault"),
    [
        ({"offsets": (0, 2, 2, 5)}, ("", "query", 1, "document")),
        ({"offsets": (0, 3, 2, 5)}, ("", "query", 1, "document")),
        ({"offsets": (0, 4)}, ("", 0, "documents", 5)),
        ({"offsets": (1, 5)}, ("", 0, "documents", 5)),
        ({"offsets": (0,)}, ("empty_corpus",)),
        ({"grades": (1, 4, 0, 2)}, ("", "grades", 4, 5, "documents")),
        ({"grades": (1, 4, -1, 2, 0)}, ("", "grade", "document", 2, -1, 32767)),
        ({"grades": (1, 4, 0.5, 2, 0)}, ("", "grade", "document", 2, "0.5", 32767)),
        ({"grades": (1, 4, np.nan, 2, 0)}, ("", "grade", "document", 2, "nan", 32767)),
        ({"grades": (1, 4, 40_000, 2, 0)}, ("", "grade", "document", 2, 40000, 32767)),
        ({"grades": ((1, 4, 0, 2, 0),)}, ("", 2, "dimensions")),
        ({"query_ids": ("a",)}, ("", "query_ids", 1, 2, "queries")),
        ({"document_ids": ("a",)}, ("", "document_ids", 1, 5, "documents")),
        ({"feature_ids": np.array([1, 1, 2])}, ("feature_ids",)),
        ({"feature_ids": np.array([-1, 1, 2])}, ("feature_ids", 0)),
        ({"feature_ids": np.array([1, 2])}, ("", "feature_ids", 2, 3)),
        ({"features": np.ones(5)}, ("", 1, "dimensions")),
    ],
)
def test_refusals_name_the_place(change: dict[str, Any], fault: tuple[object, ...]) -> None:
    with refused(*fault):
        make(**change)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.8e308, 1e39, -1e39])
def test_values_beyond_float32_are_refused_and_never_become_infinite(
    kind: Any, value: float
) -> None:
    features = np.ones((5, 3))
    features[3, 1] = value
    with refused("", "feature", 8, "document", 3, "float32", "3.4e+38"):
        make(kind(features), feature_ids=np.array([2, 8, 9]))


def test_a_bad_value_far_down_is_found() -> None:
    features = np.zeros((40_000, 2), np.float32)
    features[39_999, 1] = np.nan
    with refused("", "feature", 2, "document", 39999, "3.4e+38"):
        Corpus(features, np.zeros(40_000), np.array([0, 40_000]))


def test_relevance_cuts_at_the_threshold() -> None:
    assert make().relevance(2).tolist() == [False, True, False, True, False]
    with refused("threshold", 0):
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
        assert mentions(sentence, largest, threshold)
        assert about(sentence) == "relevant_grade"


def test_threshold_is_one_that_every_part_reaches() -> None:
    found, sentence = propose_relevance_threshold([graded(0, 4), graded(0, 2), graded(0, 4)])
    assert found == 1
    assert sentence is not None
    assert mentions(sentence, "validation", 2)


def test_nothing_relevant_is_refused_and_named() -> None:
    with refused("nothing_relevant"):
        propose_relevance_threshold([graded(0, 4), graded(0, 2), graded(0, 0)])
    with refused("nothing_relevant"):
        propose_relevance_threshold([graded(0, 0)])
    with refused("no_corpus"):
        propose_relevance_threshold([])
    with refused("threshold", "document", 0):
        propose_relevance_threshold([graded(0, 1)], 0)


def test_splits_need_the_same_features() -> None:
    two = Corpus(np.ones((2, 2)), np.array([0, 1]), np.array([0, 2]))
    with refused("", "test", "part", 2, "features", 1):
        CorpusSplits("mine", graded(0, 1), graded(0, 1), two, "files")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"features": np.zeros((5, 3), complex)}, ("real_numbers", "features", "complex")),
        ({"features": sparse.csr_array(np.zeros((5, 3), complex))}, ("", "features", "complex128")),
        ({"features": np.full((5, 3), "a")}, ("real_numbers", "features", "text")),
        ({"features": [[1, 2], [3]]}, ("array", "features")),
        ({"features": [[None, 1]] * 5}, ("real_numbers", "features")),
        ({"features": 3}, ("", 0, "dimensions")),
        ({"grades": ("a", "b", "c", "d", "e")}, ("real_numbers", "grades", "text")),
        ({"grades": (None, 1, 1, 1, 1)}, ("real_numbers", "grades")),
        ({"grades": (1j, 1, 1, 1, 1)}, ("real_numbers", "grades", "complex")),
        ({"offsets": (0, 1.5, 5)}, ("whole_numbers", "query", "offsets", 1, "1.5")),
        ({"offsets": (0, np.nan, 5)}, ("whole_numbers", "query", "offsets", 1, "nan")),
        ({"offsets": ("a",)}, ("real_numbers", "query", "offsets", "text")),
        ({"feature_ids": [1, 2.5, 3]}, ("whole_numbers", "feature", "ids", 1, "2.5")),
        ({"query_ids": 7}, ("names", "query_ids", "sequence", 7)),
        ({"document_ids": "abcde"}, ("names", "document_ids", "sequence")),
    ],
)
def test_nothing_is_rounded_cut_or_guessed(
    change: dict[str, Any], fault: tuple[object, ...]
) -> None:
    with refused(*fault):
        make(**change)


def test_no_features_at_all_are_refused_and_nested_lists_are_a_matrix() -> None:
    with refused("real_numbers", "features"):
        Corpus(None, [0], [0, 1])  # type: ignore[arg-type]
    assert Corpus([[1, 2], [3, 4]], [0, 1], [0, 2]).features.tolist() == [[1, 2], [3, 4]]  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [1.5, float("nan"), "x", None])
def test_a_threshold_is_a_whole_grade(threshold: Any) -> None:
    with refused("threshold", "grade"):
        make().relevance(threshold)
    with refused("threshold", "grade"):
        propose_relevance_threshold([make()], threshold)
