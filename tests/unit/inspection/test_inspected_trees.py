"""Trees as a file to check: what they split on, and whether a corpus has their features."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.meaning import mentions
from tests.unit.learners.test_forest import MODEL
from ultr_core.cli import main
from ultr_core.errors import InputError
from ultr_core.files import parse_corpus
from ultr_core.files.tree_files import parse_trees
from ultr_core.inspection.of_ranker import inspect_trees
from ultr_core.limits import TREE_NUMBERS

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
        "good", 3, 0,
    )  # fmt: skip
    other = parse_corpus(b"2 qid:7 1:0.4\n0 qid:7 1:0.9\n", "corpus")
    assert inspect_trees(TREES, other).finding("features").severity == "stop"


def test_a_model_of_too_many_numbers_is_refused_before_it_is_taken_apart() -> None:
    many = MODEL.replace("leaf_value=0.25 -1 4", "leaf_value=" + "1 " * TREE_NUMBERS.most)
    with pytest.raises(InputError) as caught:
        parse_trees(many.encode(), "trees.txt")
    assert mentions(caught.value, "trees.txt", f"{TREE_NUMBERS.most:,}")


def test_trees_without_a_split_rank_nothing() -> None:
    leaf = MODEL.partition("Tree=1")
    blind = parse_trees((leaf[0].partition("Tree=0")[0] + "Tree=0" + leaf[2]).encode(), "t")
    found = inspect_trees(blind, CORPUS)
    assert found.finding("splits").severity == "stop"
    assert found.finding("ties").severity == "stop"
