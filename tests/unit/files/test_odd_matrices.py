"""Features that are no sound matrix: sparse ones with entries outside, masks, values too small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.files import load_directory, parse_corpus
from ultr_core.inspection import inspect_corpus

GRADES, OFFSETS, ONES = [0, 1, 2], [0, 3], np.ones(3)


@pytest.mark.parametrize("column", [5, 2, -1, -(2**31)])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_a_column_outside_the_shape_is_refused_with_its_place(column: int, kind: Any) -> None:
    indices = np.array([0, 1, column], np.int32)
    matrix = kind((ONES, indices, np.arange(4, dtype=np.int32)), shape=(3, 2))
    with refused("sparse_matrix", "document 2", f"column {column}"):
        Corpus(matrix, GRADES, OFFSETS)


@pytest.mark.parametrize("document", [5, 3, -1])
def test_a_document_outside_the_shape_is_refused_before_it_is_converted(document: int) -> None:
    matrix = sparse.csc_array((ONES, np.array([0, 1, document]), np.array([0, 1, 3])), shape=(3, 2))
    with refused("sparse_matrix", "column 1", f"document {document}"):
        Corpus(matrix, GRADES, OFFSETS)


@pytest.mark.parametrize(
    ("pointers", "values"),
    [
        ([0, 2, 1, 3], ("2 to 1", "document 1")),
        ([0, 1, 2, 9], ("2 to 9", "document 2")),
        ([0, -5, 2, 3], ("0 to -5", "document 0")),
        ([1, 1, 2, 3], ("4 pointers", "from 1")),
        ([0, 1, 3], ("3 pointers", "3 documents", 4)),
    ],
)
def test_pointers_that_fall_or_leave_the_entries_are_refused(
    pointers: Any, values: tuple[object, ...]
) -> None:
    matrix = sparse.csr_array(np.ones((3, 1)))
    matrix.indptr = np.array(pointers)
    with refused("sparse_matrix", *values):
        Corpus(matrix, GRADES, OFFSETS)


def test_other_formats_with_places_outside_are_refused() -> None:
    blocks, triples = sparse.bsr_array(np.ones((3, 2))), sparse.coo_array(np.ones((3, 2)))
    blocks.indices = blocks.indices + 7
    triples.coords = (triples.coords[0], triples.coords[1] + 7)
    for matrix in (blocks, triples):
        with refused("sparse_matrix"):
            Corpus(matrix, GRADES, OFFSETS)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_every_sound_format_is_taken(kind: str) -> None:
    dense = np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 4]])
    corpus = Corpus(sparse.csr_array(dense).asformat(kind), GRADES, OFFSETS)
    assert np.array_equal(corpus.features.toarray(), dense)


def test_entries_behind_the_last_pointer_are_left_out() -> None:
    matrix = sparse.csr_array((np.array([1.0, 2, 3]), [0, 1, 0], [0, 1, 2, 3]), shape=(3, 2))
    matrix.data, matrix.indices = np.append(matrix.data, np.nan), np.append(matrix.indices, 99)
    corpus = Corpus(matrix, GRADES, OFFSETS)
    assert corpus.features.data.tolist() == [1, 2, 3]
    assert matrix.data.size == 4


@pytest.mark.parametrize("field", [0, 1, 2])
def test_a_mask_that_hides_something_is_refused(field: int) -> None:
    given = [np.arange(6.0).reshape(3, 2), np.array(GRADES), np.array(OFFSETS)]
    given[field] = np.ma.masked_equal(given[field], given[field].flat[-1])
    with refused("masked", "1 of"):
        Corpus(*given)
    given[field] = np.ma.array(given[field].data)
    assert Corpus(*given).n_documents == 3


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_least_that_float32_holds_is_kept(kind: Any) -> None:
    features = np.array([[1.0, 0.0], [0.0, 1e-45], [2.0, 7.1e-46]])
    corpus = Corpus(kind(features), GRADES, OFFSETS)
    assert corpus.notices == () and (corpus.features != 0).sum() == 4


@pytest.mark.parametrize("plus", ["", "+"])  # the sign sends a block to the careful reader
def test_a_file_tells_its_lines_with_values_too_small(plus: str) -> None:
    text = f"1 qid:1 1:1 7:3\n# nothing\n0 qid:1 1:2 7:-1e-50\n0 qid:1 1:{plus}1e-46 7:1\n"
    corpus = parse_corpus(text.encode(), "file")
    (told,) = corpus.notices
    assert mentions(told, "2 values", "±7e-46", "line 3", "feature 7")
    features = corpus.features.toarray() if corpus.is_sparse else corpus.features
    assert features.tolist() == [[1, 3], [2, 0], [0, 1]]


def test_a_file_of_values_too_small_is_all_zeros_and_says_so() -> None:
    corpus = parse_corpus(b"1 qid:1 1:1 7:1e-50\n0 qid:1 1:2 7:1e-49\n", "file")
    assert mentions(corpus.notices[0], "2 values", "±7e-46")
    assert inspect_corpus(corpus).findings


def test_lines_are_counted_over_blocks_and_parts_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultr_core.files.letor_lines.BLOCK_BYTES", 40, raising=True)
    rows = [f"{row % 2} qid:{row // 4} 1:{row + 1} 2:0.5\n" for row in range(40)]
    for name in ("train", "vali", "test"):
        rows[0] = f"0 qid:0 1:{len(name)} 2:1\n"
        lines = rows.copy()
        if name == "train":
            lines[30] = "0 qid:7 1:31 2:1e-50\n"
            lines[33] = "1 qid:8 1:1e-70 2:1\n"
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    told = [text for text in load_directory(tmp_path).notices if mentions(text, "±7e-46")]
    assert len(told) == 1
    assert mentions(told[0], "training", "2 values", "line 31", "feature 2")
