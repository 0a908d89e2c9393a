"""Trees as a file to check: what they split on, and whether a corpus has their features."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.inputs import one_sentence
from tests.meaning import mentions, refused
from tests.unit.learners.test_forest import MODEL
from ultr_core.cli import main
from ultr_core.errors import InputError
from ultr_core.files import parse_corpus
from ultr_core.files.tree_files import parse_trees
from ultr_core.inspection.of_ranker import inspect_trees
from ultr_core.limits import TREE_NUMBERS
from ultr_core.limits import TREES as TREES_MOST

TREES = parse_trees(MODEL.encode(), "trees.txt")
CORPUS = parse_corpus(b"2 qid:7 1:0.4 2:1 7:3\n0 qid:7 1:0.9 2:3 7:0\n", "corpus")


def test_check_counts_trees_and_the_features_that_they_split_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trees.txt").write_text(MODEL)
    assert main(["check", str(tmp_path / "trees.txt"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert (found["kind"], found["verdict"]) == ("trees", "good")
    assert found["counts"] == {"features": 3, "trees": 2}
    assert [(each["key"], each["value"]) for each in found["findings"]] == [("splits", 2)]


def test_with_a_corpus_features_and_ties_are_checked() -> None:
    found = inspect_trees(TREES, CORPUS)
    assert [each.key for each in found.findings] == ["splits", "features", "ties"]
    assert (found.severity, found.finding("features").value, found.finding("ties").value) == (
        "good", 2, 0,
    )  # fmt: skip
    other = parse_corpus(b"2 qid:7 1:0.4\n0 qid:7 1:0.9\n", "corpus")
    assert inspect_trees(TREES, other).finding("features").severity == "stop"
    zero = inspect_trees(TREES, other, missing_zero=True).finding("features")
    assert (zero.severity, zero.value) == ("warning", 1)


def test_a_feature_that_no_tree_splits_on_may_be_absent() -> None:
    without = parse_corpus(b"2 qid:7 1:0.4 7:3\n0 qid:7 1:0.9 7:0\n", "corpus")
    found = inspect_trees(TREES, without)
    assert (found.severity, found.finding("features").value) == ("good", 2)


COLUMNS = "Column_0 Column_1 Column_2"
WITH_ZERO = MODEL.replace("1 2 7", COLUMNS).replace("split_feature=0 2", "split_feature=1 2")


def test_columns_that_lightgbm_names_are_ids_only_where_they_end_as_the_corpus_does() -> None:
    """LightGBM's command line gives LETOR's features 1 and 2 a column for the id 0."""
    corpus = parse_corpus(b"2 qid:7 1:0.4 2:3\n0 qid:7 1:0.9 2:0\n", "corpus")
    trees = parse_trees(WITH_ZERO.encode(), "trees.txt")
    scores, notices = trees.score_with_notices(corpus)
    assert scores.tolist() == [4.5, -0.5]
    assert len(notices) == 1
    assert mentions(notices[0], "Column_2")
    named = parse_trees(WITH_ZERO.replace(COLUMNS, "0 1 2").encode(), "trees.txt")
    assert named.score_with_notices(corpus)[1] == ()


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (WITH_ZERO, b"2 qid:7 1:0.4 2:3 3:1\n0 qid:7 1:0.9 2:0 3:2\n"),
        (WITH_ZERO, b"2 qid:7 1:0.4 3:3\n0 qid:7 1:0.9 3:2\n"),
        (MODEL.replace("1 2 7", COLUMNS), b"2 qid:7 1:0.4 2:3\n0 qid:7 1:0.9 2:0\n"),
    ],
)
def test_columns_of_a_matrix_are_not_taken_for_ids(model: str, rows: bytes) -> None:
    """They would be off by one: column 0 of a matrix is feature 1."""
    trees = parse_trees(model.encode(), "trees.txt")
    with refused("tree_features", "feature_names=1 2 3"):
        trees.score_with_notices(parse_corpus(rows, "corpus"), missing_zero=True)


def test_a_model_of_too_many_numbers_is_refused_before_it_is_taken_apart() -> None:
    many = MODEL.replace("leaf_value=0.25 -1 4", "leaf_value=" + "1 " * TREE_NUMBERS.most)
    with pytest.raises(InputError) as caught:
        parse_trees(many.encode(), "trees.txt")
    assert mentions(caught.value, "trees.txt", f"{TREE_NUMBERS.most:,}")


def test_so_are_trees_without_a_number() -> None:
    """700,000 of them are 20 MB and took 800."""
    many = MODEL.replace("end of trees", "Tree=2\nnum_leaves=1\nleaf_value=1\n" * TREES_MOST.most)
    one_sentence(
        lambda: parse_trees(many.encode(), "trees.txt"), f"{TREES_MOST.most:,} are accepted"
    )


def test_trees_without_a_split_rank_nothing() -> None:
    leaf = MODEL.partition("Tree=1")
    blind = parse_trees((leaf[0].partition("Tree=0")[0] + "Tree=0" + leaf[2]).encode(), "t")
    found = inspect_trees(blind, CORPUS)
    assert found.finding("splits").severity == "stop"
    assert found.finding("ties").severity == "stop"
