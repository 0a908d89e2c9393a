"""Rankers, scores and curves made to fill a memory or an hour: refused, or read in little of both.

Found by uploads of some 1 MB that took the server 1.3 to 2.3 GB, or hours.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.inputs import soon
from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import parse_scores, tree_files
from ultr_core.files.curve_files import parse_context_values
from ultr_core.files.tree_files import parse_model, parse_model_record
from ultr_core.learners import forest
from ultr_core.limits import CONTEXTS, CURVE_RANKS, JSON_PARTS, MODEL_FEATURES, TREE_NUMBERS

TREE = (
    "num_leaves=2\nsplit_feature=0\nthreshold=0.5\ndecision_type=2\nleft_child=-1\n"
    "right_child=-2\nleaf_value=0.25 -1\nis_linear=0\n"
)


def model(head: str = "", tree: str = TREE, record: str = "", end: str = "") -> bytes:
    return (
        f"tree\nnum_class=1\nnum_tree_per_iteration=1\nfeature_names=1 2\n{head}\nTree=0\n{tree}\n"
        f"end of trees\n\n{record}pandas_categorical:null\n{end}"
    ).encode()


def recorded(text: str) -> bytes:
    return model(record=f"ultr_lab:{text}\n\n")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "9" * 10_000, "[1]", '{"a": [' + "[]," * JSON_PARTS.most],
)
def test_a_record_that_is_none_is_left_out(text: str) -> None:
    assert parse_model_record(recorded(text), "m.txt") == {}


def test_a_record_is_read_however_many_lines_follow_it() -> None:
    data = recorded(json.dumps({"clicks": 7, "a": "b\u2028c"}, ensure_ascii=False)) + b"\n" * 1_000
    assert parse_model_record(data, "m.txt") == {"clicks": 7, "a": "b\u2028c"}


@pytest.mark.parametrize("fill", ["\n", "a\n", "a=\n"])
@pytest.mark.parametrize("place", ["head", "tree", "end"])
def test_lines_of_trees_are_bounded(fill: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_files, "TREE_NUMBERS", replace(TREE_NUMBERS, most=200))
    parse_model(model(), "m.txt")
    before = TREE if place == "tree" else ""
    with refused("too_large", "m.txt"):
        parse_model(model(**{place: before + fill * 200}), "m.txt")


def test_feature_names_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "MODEL_FEATURES", replace(MODEL_FEATURES, most=2))
    parse_model(model(), "m.txt")
    with refused("too_large", "m.txt", "3 features"):
        parse_model(model().replace(b"names=1 2", b"names=1 2 3"), "m.txt")


@pytest.mark.parametrize("odd", ["1_0", "\u0661", "\uff10"])
@pytest.mark.parametrize("was", ["threshold=0.5", "leaf_value=0.25", "split_feature=0"])
def test_odd_digits_in_a_tree_are_refused(was: str, odd: str) -> None:
    name = was.partition("=")[0]
    with refused("tree_model", "m.txt"):
        parse_model(model(tree=TREE.replace(was, f"{name}={odd}")), "m.txt")


def one_query(documents: int) -> Corpus:
    names = tuple(f"d{number}" for number in range(documents))
    grades = np.zeros(documents, int)
    return Corpus(np.zeros((documents, 1)), grades, np.array([0, documents]), ("q",), names)


@pytest.mark.parametrize(
    ("header", "row"),
    [("query,document,score", "q,d{0},{0}"), ("query,candidate,document,score", "q,{1},d{0},{0}")],
)
def test_scores_of_a_long_query_take_no_square_of_it(header: str, row: str) -> None:
    documents = 40_000
    rows = [row.format(number, number + 1) for number in reversed(range(documents))]
    corpus = one_query(documents)
    with soon():
        scores = parse_scores("\n".join([header, *rows]).encode(), corpus, "s.csv")
    assert scores.tolist() == list(range(documents))


def test_contexts_of_curves_are_bounded() -> None:
    def text(contexts: int, ranks: int = 1) -> str:
        rows = [f"c{c},{rank},1" for rank in range(1, ranks + 1) for c in range(contexts)]
        return "\n".join(["context,rank,propensity", *rows])

    assert len(parse_context_values(text(CONTEXTS.most))) == CONTEXTS.most
    with refused("too_large", "c.csv"):
        parse_context_values(text(CONTEXTS.most + 1), "c.csv")
    assert len(parse_context_values(text(1, CURVE_RANKS.most))["c0"]) == CURVE_RANKS.most


@pytest.mark.parametrize("row", ["c,1,1", "c,10001,1"])
def test_rows_of_a_context_are_bounded(row: str) -> None:
    """Of more rows than ranks, one is at fault; the others are not kept."""
    good = [f"c,{rank},1" for rank in range(1, CURVE_RANKS.most + 1)]
    more = [row] * 50_000
    with soon(), pytest.raises(InputError) as caught:
        parse_context_values("\n".join(["context,rank,propensity", *good, *more]), "c.csv")
    assert mentions(caught.value, "c.csv", "10002")
