"""LETOR files: round trips, and the fast reader against the careful one."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inputs import FLOATS, assert_equal_corpora, corpora
from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files import letor_rows, load_corpus, write_letor
from ultr_core.files.comment_ids import usual_id
from ultr_core.files.letor_rows import Rows


@given(corpora())
@settings(max_examples=200, deadline=None)
def test_what_is_written_reads_back_equal(corpus: Corpus) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.txt"
        write_letor(corpus, path)
        again = load_corpus(path)
    assert_equal_corpora(again, corpus)


@pytest.mark.parametrize(
    ("ids", "kind", "name"),
    [
        ({"query_ids": ("a b",)}, "query", "'a b'"),
        ({"query_ids": ("a#b",)}, "query", "'a#b'"),
        ({"query_ids": ("",)}, "query", "''"),
        ({"document_ids": ("d 1",)}, "document", "'d 1'"),
    ],
)
def test_ids_that_a_file_cannot_hold(
    tmp_path: Path, ids: dict[str, tuple[str, ...]], kind: str, name: str
) -> None:
    corpus = Corpus(np.ones((1, 1)), np.array([1]), np.array([0, 1]), **ids)
    with refused("unwritable_id", kind, name):
        write_letor(corpus, tmp_path / "corpus.txt")


def test_equal_query_ids_are_not_written(tmp_path: Path) -> None:
    corpus = Corpus(np.ones((1, 1)), np.array([1]), np.array([0, 1]))
    with refused("same_query_id"):
        write_letor(corpus.subset([0, 0]), tmp_path / "corpus.txt")


BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])
GRADES = st.sampled_from(["0", "1", "2", "4", "2.0"])
NUMBERS = st.one_of(
    FLOATS.map(repr), st.integers(-9, 9).map(str), st.sampled_from(["1e-3", ".5", "7.", "0"])
)
COMMENTS = st.sampled_from(["", "", " # docid = D7 inc = 1", "#docid = x:1", " # qid:4 1:2 # 3"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "  ", "# docid = none", "\t#"]))
    ids = draw(st.lists(st.integers(0, 1200), max_size=5, unique=True))
    tokens = [draw(GRADES), "qid:" + draw(st.sampled_from(["0", "7", "12", "rain"]))]
    tokens += [f"{feature}:{draw(NUMBERS)}" for feature in ids]
    return "".join(token + draw(BLANKS) for token in tokens) + draw(COMMENTS)


def equal(one: Rows, other: Rows) -> bool:
    return (
        one.queries == other.queries
        and one.documents == other.documents
        and all(
            np.array_equal(getattr(one, name), getattr(other, name))
            for name in ("grades", "lengths", "ids", "values")
        )
    )


@given(st.lists(lines(), min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_fast_reader_takes_all_usual_rows_and_agrees_with_the_careful_one(
    rows: list[str],
) -> None:
    block = "".join(row + "\n" for row in rows).encode()
    careful = letor_rows._read_carefully("file", 1, block, None, usual_id)
    fast = letor_rows._read_fast(block, usual_id)
    assert fast is not None
    if len(careful.grades):
        assert equal(fast, careful)


@given(
    st.lists(lines(), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 200), st.sampled_from(list("0127:. \t\n-+e#qidnanx_,é")))),
)
@settings(max_examples=500, deadline=None)
def test_fast_reader_never_accepts_what_the_careful_one_refuses(
    rows: list[str], changes: list[tuple[int, str]]
) -> None:
    text = "".join(row + "\n" for row in rows)
    for place, character in changes:
        text = text[:place] + character + text[place + 1 :]
    block = (text.rstrip("\n") + "\n").encode()
    fast = letor_rows._read_fast(block, usual_id)
    if fast is not None and len(fast.grades):
        assert equal(fast, letor_rows._read_carefully("file", 1, block, None, usual_id))
