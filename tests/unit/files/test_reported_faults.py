"""Faults that users of similar programs reported, in files with documents: none of them here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.inputs import dense
from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_documents
from ultr_core.files import load_corpus
from ultr_core.files.proprank_files import parse_proprank
from ultr_core.learners import fit_ranker
from ultr_core.propensity import full_information_weights
from ultr_core.risk import true_risk


def read(folder: Path, text: str) -> Corpus:
    (folder / "rows.txt").write_text(text)
    return load_corpus(folder / "rows.txt")


def test_a_comment_at_the_end_of_a_row_gives_its_document_and_nothing_else(tmp_path: Path) -> None:
    """dmlc/xgboost#4135, #2140."""
    text = (
        "2 qid:11 1:0.3 2:0.7 # docid = AX-1 inc = 1 prob = 0.41\n"
        "0 qid:11 1:0.1 2:0.2 # docid = AX-2 inc = 1 prob = 0.09\n"
    )
    corpus = read(tmp_path, text)
    assert corpus.grades.tolist() == [2, 0]
    assert corpus.feature_ids.tolist() == [1, 2]
    assert np.allclose(dense(corpus), [[0.3, 0.7], [0.1, 0.2]])
    assert corpus.document_ids == ("AX-1", "AX-2")
    plain = read(tmp_path, "".join(line.partition(" #")[0] + "\n" for line in text.splitlines()))
    assert np.array_equal(dense(plain), dense(corpus))
    assert plain.document_ids is None


def test_query_0_and_feature_0_are_like_all_others(tmp_path: Path) -> None:
    """lightgbm-org/LightGBM#1117, #2538, #2559."""
    corpus = read(
        tmp_path, "0 qid:0 0:31 3:4.5 9:2\n1 qid:0 0:8 2:5\n1 qid:4 10:0.61 251:3.1e-05\n"
    )
    assert corpus.query_ids == ("0", "4")
    assert corpus.sizes.tolist() == [2, 1]
    assert corpus.feature_ids.tolist() == [0, 2, 3, 9, 10, 251]
    expected = np.array(
        [[31, 0, 4.5, 2, 0, 0], [8, 5, 0, 0, 0, 0], [0, 0, 0, 0, 0.61, 3.1e-05]], np.float32
    )
    assert np.array_equal(dense(corpus), expected)


def test_values_never_land_under_another_id_when_ids_are_not_rising(tmp_path: Path) -> None:
    """ibayer/fastFM#66."""
    corpus = read(tmp_path, "1 qid:5 3:0.3 1:0.1 2:0.2\n")
    assert corpus.feature_ids.tolist() == [1, 2, 3]
    assert np.allclose(dense(corpus), [[0.1, 0.2, 0.3]])
    with refused("feature_twice", "line 2", "column 17", "feature 3"):
        read(tmp_path, "1 qid:5 3:0.3\n1 qid:5 3:0.3   3:0.1\n")


def test_rows_of_a_query_that_stand_apart_give_the_same_model_and_risk(tmp_path: Path) -> None:
    """dmlc/xgboost#10463, #10142; catboost/catboost#1481."""
    torn = "1 qid:7 1:0.9\n0 qid:3 1:0.2\n0 qid:7 1:0.1\n1 qid:3 1:0.8\n"
    found = []
    for text in (torn, "".join(sorted(torn.splitlines(keepends=True), key=lambda row: row[6]))):
        corpus = read(tmp_path, text)
        assert corpus.sizes.tolist() == [2, 2]
        weights = full_information_weights(corpus.relevance(1))
        ranker = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-10)
        ranks = rank_documents(ranker.score(corpus), corpus.query_offsets)
        risk = true_risk(ranks, corpus.relevance(1), corpus.query_offsets)
        found.append((ranker.coefficients[0], risk))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9)
    assert found[0][1] == found[1][1]


def test_the_first_line_of_group_sizes_is_no_header_and_a_missing_one_is_noticed(
    tmp_path: Path,
) -> None:
    """lightgbm-org/LightGBM#4241: sizes that began with 1 added up to one row less."""
    sizes = [1, 13, 5, 8, 10]
    rows = "".join(f"{row % 3} {1 + row % 4}:0.5\n" for row in range(sum(sizes)))
    (tmp_path / "rank.train").write_text(rows)
    beside = tmp_path / "rank.train.query"
    beside.write_text("".join(f"{size}\n" for size in sizes))
    assert load_corpus(tmp_path / "rank.train").sizes.tolist() == sizes
    beside.write_text("".join(f"{size}\n" for size in sizes[:-1]))
    with refused("group_sizes_sum", "27 documents", "37 rows"):
        load_corpus(tmp_path / "rank.train")


def test_group_sizes_may_have_another_name(tmp_path: Path) -> None:
    (tmp_path / "rank.train").write_text("1 1:1\n0 1:2\n1 1:3\n")
    (tmp_path / "rank.train.group").write_text("1\n2\n")
    (tmp_path / "sizes").write_text("2\n1\n")
    assert load_corpus(tmp_path / "rank.train").sizes.tolist() == [1, 2]
    assert load_corpus(tmp_path / "rank.train", groups=tmp_path / "sizes").sizes.tolist() == [2, 1]
    (tmp_path / "named").write_text("1 qid:1 1:1\n")
    with refused("groups_not_needed", tmp_path / "named", tmp_path / "sizes"):
        load_corpus(tmp_path / "named", groups=tmp_path / "sizes")


@pytest.mark.parametrize("usual", [True, False])
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"1 qid:1 1:1 # docid = \xe9a\n0 qid:1 1:0 # docid = \xe8a\n", 1),
        (b"1 qid:1 1:1 # docid = D1\n0 qid:1 1:0 # docid=D\xfc\n", 2),
        (b"1 qid:1 1:1\n1 qid:\xe9 1:1\n0 qid:\xe8 1:0\n", 2),
    ],
)
def test_names_in_another_encoding_are_refused_for_different_ones_would_be_one(
    tmp_path: Path, content: bytes, line: int, usual: bool
) -> None:
    if not usual:  # the fast reader knows no other letters
        content += b"0 qid:\xc3\xa9 1:1 # docid = D9\n"
    (tmp_path / "rows.txt").write_bytes(content)
    with refused("not_utf8", tmp_path / "rows.txt", f"line {line}"):
        load_corpus(tmp_path / "rows.txt")


def test_another_encoding_does_no_harm_where_no_name_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_bytes(
        b"1 qid:1 1:1 # docid = D1 caf\xe9\n0 qid:1 1:0 # \xff docid = \xc3\xa9\n"
    )
    assert load_corpus(tmp_path / "rows.txt").document_ids == ("D1", "\xe9")


def test_training_files_do_not_mix_queries_of_another_encoding() -> None:
    row = b"%d qid:1 %s1:1 # query = \xe9 candidate = %d\n"
    rows = row % (1, b"cost:1 ", 1) + row % (0, b"", 2)
    with refused("not_utf8", "train.dat", "line 1"):
        parse_proprank(rows, "train.dat")
