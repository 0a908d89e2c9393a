"""Models of LightGBM read without it: by hand, and damaged ones in one sentence."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.meaning import refused
from ultr_core.deadline import within
from ultr_core.learners.forest import Forest
from ultr_core.limits import Limit

MODEL = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=1 2 7
feature_infos=none none none
tree_sizes=300 200

Tree=0
num_leaves=3
num_cat=0
split_feature=0 2
split_gain=1 1
threshold=0.5 2
decision_type=2 2
left_child=1 -1
right_child=-2 -3
leaf_value=0.25 -1 4
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
split_feature=
split_gain=
threshold=
decision_type=
left_child=
right_child=
leaf_value=0.5
is_linear=0
shrinkage=1


end of trees

pandas_categorical:null
"""
X = np.array([[0.5, 9, 2], [0.5, 9, 2.5], [0.6, 9, 0], [0, 0, 0]], np.float32)
"""Feature 1 at most 0.5: leaf 0 or 2 by feature 7 at most 2; otherwise leaf 1."""


def test_a_document_goes_left_at_the_threshold_and_trees_are_added() -> None:
    forest = Forest.parse(MODEL, "m.txt")
    assert forest.feature_ids.tolist() == [1, 2, 7]
    assert forest.score(X).tolist() == [0.75, 4.5, -0.5, 0.75]
    assert forest.score(csr_array(X)).tolist() == [0.75, 4.5, -0.5, 0.75]
    assert (
        Forest.parse(MODEL.replace("1 2 7", "Column_1 Column_2 Column_7"), "m").score(X)[1] == 4.5
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tree\nversion", "forest\nversion"),
        (MODEL[MODEL.index("end") :], ""),
        (MODEL[MODEL.index("Tree=1") :], ""),
        ("num_class=1", "num_class=3"),
        ("num_tree_per_iteration=1\n", ""),
        ("feature_names=1 2 7", "feature_names=age price clicks"),
        ("feature_names=1 2 7", "feature_names=7 2 1"),
        ("feature_names=1 2 7", "feature_names="),
        ("num_leaves=3", "num_leaves=4"),
        ("num_leaves=3\n", ""),
        ("split_feature=0 2", "split_feature=0 3"),
        ("split_feature=0 2", "split_feature=0 -1"),
        ("threshold=0.5 2", "threshold=0.5"),
        ("threshold=0.5 2", "threshold=0.5 x"),
        ("threshold=0.5 2", "threshold=nan 2"),
        ("decision_type=2 2", "decision_type=1 2"),
        ("decision_type=2 2", "decision_type=6 2"),
        ("left_child=1 -1", "left_child=0 -1"),
        ("left_child=1 -1", "left_child=1 0"),
        ("right_child=-2 -3", "right_child=-2 -4"),
        ("right_child=-2 -3", "right_child=5 -3"),
        ("right_child=-2 -3", "right_child=99999999999999999999 -3"),
        ("leaf_value=0.25 -1 4", "leaf_value=0.25 -1"),
        ("leaf_value=0.25 -1 4", "leaf_value=0.25 inf 4"),
        ("is_linear=0", "is_linear=1"),
    ],
)
def test_a_damaged_or_foreign_model_is_refused_in_one_sentence(old: str, new: str) -> None:
    assert old in MODEL
    with refused("tree_model", "m.txt"):
        Forest.parse(MODEL.replace(old, new, 1), "m.txt")


def test_a_tree_that_is_one_long_way_is_refused() -> None:
    def chain(inner: int) -> str:
        values = {
            "num_leaves=3": f"num_leaves={inner + 1}",
            "split_feature=0 2": "split_feature=" + "0 " * inner,
            "threshold=0.5 2": "threshold=" + "0 " * inner,
            "decision_type=2 2": "decision_type=" + "2 " * inner,
            "left_child=1 -1": "left_child=" + " ".join(str(-1 - n) for n in range(inner)),
            "right_child=-2 -3": "right_child="
            + " ".join([*map(str, range(1, inner)), str(-1 - inner)]),
            "leaf_value=0.25 -1 4": "leaf_value=" + "0 " * (inner + 1),
        }
        text = MODEL
        for old, new in values.items():
            text = text.replace(old, new, 1)
        return text

    assert len(Forest.parse(chain(1_000), "m.txt").trees) == 2
    with refused("tree_model", "m.txt"):
        Forest.parse(chain(1_001), "m.txt")


def wide(features: int) -> str:
    """One tree that splits on so many features, all the way to the right."""

    def children(side: int) -> str:
        found = (2 * node + side for node in range(features))
        return " ".join(str(c if c < features else features - 1 - c) for c in found)

    lines = {
        "num_leaves": features + 1,
        "num_cat": 0,
        "split_feature": " ".join(map(str, range(features))),
        "threshold": " ".join(["0"] * features),
        "decision_type": " ".join(["2"] * features),
        # A balanced tree: the children of node i are 2i + 1 and 2i + 2, or leaves behind them.
        "left_child": children(1),
        "right_child": children(2),
        "leaf_value": " ".join(["1"] * features + ["2"]),
    }  # fmt: skip
    names = " ".join(map(str, range(1, features + 1)))
    tree = "".join(f"{key}={value}\n" for key, value in lines.items())
    return (
        f"tree\nnum_class=1\nnum_tree_per_iteration=1\nfeature_names={names}\n\n"
        f"Tree=0\n{tree}\nend of trees\n"
    )


def test_features_that_a_corpus_lacks_take_no_memory() -> None:
    """A block of 16,384 documents with 60,000 features would take 4 GB."""
    forest = Forest.parse(wide(60_000), "m")
    x = np.ones((20_000, 2), np.float32)
    columns = np.full(60_000, -1)
    columns[:2] = (0, 1)
    tracemalloc.start()
    found = forest.score(x, columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert set(found) == {1.0}


def test_many_features_are_taken_in_smaller_blocks() -> None:
    forest = Forest.parse(wide(6_000), "m")
    tracemalloc.start()
    forest.score(csr_array((np.ones(1), ([0], [0])), (16_384, 6_000), dtype=np.float32))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6  # a block of all of them takes 400 MB


def test_scoring_ends_with_its_time() -> None:
    forest = Forest.parse(MODEL, "m")
    limit = Limit(0, "seconds", "others wait", "use fewer")
    with within(limit, "Scoring"), refused("training_time", "Scoring", "0 seconds"):
        forest.score(X)
