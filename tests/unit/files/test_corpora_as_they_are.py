"""Corpora as they come: ids in comments, marks of missing values, other features, blocks apart."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.files import load_corpus, load_directory, on_columns_of, parse_corpus, parse_log
from ultr_core.files.comment_ids import id_pattern, usual_id
from ultr_core.inspection import inspect_corpus, inspect_file, join_log
from ultr_core.jobs.job import Given
from ultr_core.jobs.own_files import own_propensities
from ultr_core.learners import LinearModel

ROWS = ("4 qid:1 1:1 2:0", "0 qid:1 1:0 2:1", "0 qid:1 1:0 2:2")
LOG = b"query,document,position,click\n1,2,1,1\n1,3,2,0\n1,1,3,0\n"


def corpus_with(*comments: str, ids: str | None = None):
    text = "".join(f"{row} {comment}\n" for row, comment in zip(ROWS, comments, strict=True))
    return parse_corpus(text.encode(), "corpus", ids=ids)


# H21: ids in comments.


@pytest.mark.parametrize(
    "form",
    ["# docid = {}", "#docid={} inc = 1", "# docid: {}", "# doc_id={}", "# DocNo = {}", "# url={}",
     "# document_id: {}", "# inc = 1, id = {}", "# {}", "#{}"],
)  # fmt: skip
def test_usual_forms_of_ids_are_read(form):
    assert corpus_with(*map(form.format, "231")).document_ids == ("2", "3", "1")


def test_ids_that_are_present_and_unread_stop_a_join():
    corpus = corpus_with("# 2 lamp", "# 3 lamp", "# 1 lamp")
    assert corpus.document_ids is None
    with refused("document_ids", "2 lamp"):
        join_log(parse_log(LOG, "log"), corpus)
    assert inspect_corpus(corpus).finding("document_ids").severity == "warning"
    joined = join_log(
        parse_log(LOG, "log"), corpus_with("# 2 lamp", "# 3 lamp", "# 1 lamp", ids="{id}")
    )
    assert joined.clicks.clicks_per_document.tolist() == [1, 0, 0]
    numbered = corpus_with("# 2 lamp", "# 3 lamp", "# 1 lamp", ids="none")
    assert join_log(parse_log(LOG, "log"), numbered).clicks.clicks_per_document.tolist() == [
        0,
        1,
        0,
    ]


def test_ids_of_some_rows_only_are_unread_and_topics_are_no_ids():
    assert corpus_with("# docid = a", "# docid = b", "").unread_ids
    assert not corpus_with("# lamp", "# lamp", "# lamp").unread_ids
    assert corpus_with("# lamp", "# lamp", "# lamp").document_ids is None
    assert not corpus_with("", "# lamp", "").unread_ids


@pytest.mark.parametrize(
    ("pattern", "comment", "found"),
    [
        ("{id}", " 2 lamp", "2"),
        ("name {text}", "2 name  lamp 4 ", "lamp 4"),
        ("doc: {id};", "x doc: a;b", "a"),
        ("({id})", "desk (a+)", "a+"),
        ("doc {id}", "lamp", None),
        ("doc {id}", "docs 17 doc 18", "18"),
        ("{id} ", " 2", "2"),
        ("{text} |", "lamp  4 | 7", "lamp 4"),
        ("{text} |", "desk lamp", None),
        ("{id}", "", None),
        ("none", "2 lamp", None),
    ],
)
def test_patterns_are_literal_text_around_an_id(pattern, comment, found):
    assert id_pattern(pattern)(comment) == found


@pytest.mark.parametrize("pattern", ["", "doc", "{id}{id}", "{id} {text}", "(.*)+"])
def test_other_patterns_are_refused(pattern):
    with refused("id_pattern"):
        id_pattern(pattern)


def test_a_long_comment_takes_no_longer_than_it_is():
    # 2 million blanks; trying each place again would take hours.
    comment = "x" + " " * 2_000_000 + "id" * 1_000_000
    began = time.process_time()
    for pattern in ("{text}", "id {text} id", "{id} z"):
        id_pattern(pattern)(comment)
    usual_id(comment)
    assert time.process_time() - began < 5.0


def test_a_pattern_must_fit_each_row():
    with refused("id_pattern", "line 2"):
        corpus_with("# doc a", "# b", "# doc c", ids="doc {id}")


# H26: Istella's mark, in any spelling.


@pytest.mark.parametrize(
    "mark",
    ["1.7976931348623157e+308", "1.79769313486e+308", "1.797693e+308", "-1.797693E308",
     "1.79769e+308", "1.797694e+308", "1.7976931348623159e308", "17976.93e304"],
)  # fmt: skip
def test_every_spelling_of_the_mark_is_read_as_0(mark):
    corpus = parse_corpus(f"1 qid:1 1:{mark} 2:1\n0 qid:1 1:2 2:0\n".encode(), "istella")
    assert np.asarray(corpus.features)[0].tolist() == [0, 1]
    assert len(corpus.notices) == 1


@pytest.mark.parametrize("value", ["1.7e308", "1.8e308", "1e999", "1e9999999999999999999"])
def test_other_large_numbers_are_refused(value):
    with refused("feature_range", "feature 1", value):
        parse_corpus(f"1 qid:1 1:{value} 2:1\n".encode(), "istella")


# H20: other features.


def directory(folder: Path, test_features: int, *, sparse: bool = False) -> Path:
    rng = np.random.default_rng(0)
    for name, width in (("train", 5), ("vali", 5), ("test", test_features)):
        rows = []
        for row in range(40):
            ids = range(1, width + 1) if not sparse else [1 + row % width]
            cells = " ".join(f"{i}:{rng.random():.3f}" for i in ids)
            rows.append(f"{row % 4} qid:{row // 4} {cells}\n")
        (folder / f"{name}.txt").write_text("".join(rows))
    return folder


def test_parts_of_other_features_are_refused_unless_missing_ones_are_0(tmp_path):
    path = directory(tmp_path, 9)
    with refused("missing_zero", 5, 9):
        load_directory(path)
    assert load_directory(path, missing_zero=True).train.n_features == 9


def test_sparse_parts_leave_zeros_out(tmp_path):
    assert load_directory(directory(tmp_path, 9, sparse=True)).train.n_features == 9


def test_a_ranker_of_other_features_is_refused_unless_missing_ones_are_0(tmp_path):
    corpus = load_corpus(directory(tmp_path, 5) / "train.txt")
    for ids in (np.arange(1, 10), np.arange(1, 4)):
        model = LinearModel(np.ones(ids.size), ids)
        with refused("missing_zero", ids.size, 5):
            on_columns_of(corpus, model)
        fitted, notices = on_columns_of(corpus, model, missing_zero=True)
        assert len(notices) == 1
        assert fitted.coefficients.tolist() == [float(i in ids) for i in range(1, 6)]
    between = LinearModel(np.ones(2), np.array([1, 5]))  # svm_light leaves zeros out
    assert on_columns_of(corpus, between)[0].coefficients.tolist() == [1, 0, 0, 0, 1]


# H38: blocks apart.


def test_separate_blocks_of_one_query_are_said():
    rows = ["1 qid:1 1:1\n", "0 qid:2 1:2\n", "0 qid:1 1:3\n", "1 qid:2 1:0\n", "0 qid:3 1:1\n"]
    found = parse_corpus("".join(rows).encode(), "corpus")
    assert len(found.notices) == 1
    assert mentions(found.notices[0], 2, 3)
    assert not parse_corpus("".join(sorted(rows, key=lambda r: r[2:7])).encode(), "c").notices


# H32: the mapping of a log's columns is for logs.


def test_the_columns_of_a_log_are_no_columns_of_a_curve(tmp_path):
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,1\n2,0.5\n")
    (tmp_path / "log.csv").write_text("search_id,url,position,click\n1,a,1,1\n1,b,2,0\n")
    columns = {"query": "search_id", "document": "url"}
    kinds = [
        inspect_file(tmp_path / name, columns=columns)[0].kind for name in ("curve.csv", "log.csv")
    ]
    assert kinds == ["curve", "log"]


def test_a_mapped_column_that_a_log_lacks_is_still_refused(tmp_path):
    (tmp_path / "log.csv").write_text("query,document,position,click\n1,a,1,1\n1,b,2,0\n")
    with refused("", "search_id"):
        inspect_file(tmp_path / "log.csv", columns={"query": "search_id"})


# H36 and H37: said before training.


def test_features_that_make_training_slow_are_said_by_the_reader(tmp_path):
    path = directory(tmp_path, 5)
    assert not load_directory(path).notices
    test = path / "test.txt"
    test.write_text(test.read_text().replace(" 3:0.", " 3:7", 1))
    assert not load_directory(path).notices
    test.write_text(test.read_text().replace(" 3:7", " 3:70000000", 1))
    (notice,) = load_directory(path).notices
    assert mentions(notice, "feature 3")


def test_a_curve_above_1_is_said_where_it_is_used(tmp_path):
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,4\n2,2\n3,1\n")
    given = Given(propensities=str(tmp_path / "curve.csv"), eta=None, carry_on=False)
    (odd,) = own_propensities(given, parse_log(LOG, "log"))[1]
    assert (odd.key, odd.value) == ("scale", 4) and mentions(odd.sentence, 4)
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,1\n2,0.5\n3,0.25\n")
    assert not own_propensities(given, parse_log(LOG, "log"))[1]


def test_a_curve_that_rises_is_said_where_it_is_used(tmp_path):
    """Weights in place of propensities turn every verdict; ``check`` warned, and nobody else."""
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,1\n2,2\n3,3\n")
    given = Given(propensities=str(tmp_path / "curve.csv"), eta=None, carry_on=False)
    _, odd = own_propensities(given, parse_log(LOG, "log"))
    assert {finding.key: finding.value for finding in odd} == {"scale": 3, "shape": 2}
    assert mentions(odd[1].sentence, "rank 2")
