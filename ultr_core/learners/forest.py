"""Trees in LightGBM's text format, read and evaluated without LightGBM.

    forest = Forest.parse(text, "trees.txt")
    forest.score(features)

LightGBM ends its process on a damaged model, and whoever only evaluates trees does not need it. Its
scores are reproduced to the last bit: a feature goes left if it is at most the threshold, both as
float64, and leaf values are added tree after tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.deadline import require_time
from ultr_core.errors import InputError
from ultr_core.limits import MODEL_FEATURES

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FIRST_LINE = "tree"
_END = "end of trees"
_ID = re.compile(r"(?:Column_)?(\d{1,9})", re.ASCII)
"""A feature of ours, or of a model that LightGBM grew on LETOR files, whose columns are ids."""

_CATEGORICAL, _MISSING, _MISSING_ZERO = 1, 12, 4
"""Bits of a decision: a category; which values are missing, and that it is zeros."""

_SETTING = re.compile(
    "^(num_class|num_tree_per_iteration|feature_names|num_leaves|is_linear|decision_type"
    "|split_feature|threshold|left_child|right_child|leaf_value)=(.*)$",
    re.MULTILINE,
)
"""Of all that a model says, what is read."""

_FIRST_COLUMN = "Column_0"
"""The first name that LightGBM gives itself, to a column of a matrix or to the id 0."""

_DEEPEST = 1_000
"""Decisions on one way through a tree: scoring takes a step for each."""

_BLOCK, _VALUES = 16_384, 1 << 23  # documents, and values of their features, at once


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree: of each inner node its feature, threshold and children, and the leaf values.

    A child is an inner node behind its parent, or -1 less a leaf.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    leaf: FloatArray

    def values(self, x: NDArray[Any]) -> FloatArray:
        """The leaf value of each row of x [documents, features], float64 [documents]."""
        rows = np.arange(len(x))
        node = np.full(len(x), 0 if self.feature.size else -1)
        while rows.size:
            at = node[rows]
            rows = rows[at >= 0]
            at = node[rows]
            goes_left = x[rows, self.feature[at]] <= self.threshold[at]
            node[rows] = np.where(goes_left, self.left[at], self.right[at])
        reached: FloatArray = self.leaf[-1 - node]
        return reached


@dataclass(frozen=True, eq=False)
class Forest:
    """A sum of trees over the features of these ids, int64 [features], which rise.

    from_column_0: whether names are Column_0, Column_1, ..., which LightGBM gives both to ids, with
    a column for the id 0, and to the columns of a matrix, which may have any ids.
    """

    trees: tuple[Tree, ...]
    feature_ids: IntArray
    from_column_0: bool = False

    @property
    def split_on(self) -> IntArray:
        """Places in ``feature_ids`` of the features that some tree splits on."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(t.feature for t in self.trees)]))

    def score(self, features: Any, columns: IntArray | None = None) -> FloatArray:
        """Scores [documents] of features [documents, features], dense or sparse.

        columns [features of the trees]: where each is, -1 for one that is 0 in every document.
        Raises InputError when the time of a block of `ultr_core.deadline.within` is over.
        """
        used = self.split_on
        places = used if columns is None else columns[used]
        present = places >= 0
        known = int(present.sum())
        # All features that are absent share the last column, which is 0.
        of_used = np.where(present, np.cumsum(present) - 1, known)
        trees = [
            replace(tree, feature=of_used[np.searchsorted(used, tree.feature)])
            for tree in self.trees
        ]
        found = np.zeros(features.shape[0])
        block = min(_BLOCK, max(_VALUES // (known + 1), 1))
        for start in range(0, found.size, block):
            x = features[start : start + block][:, places[present]]
            dense = np.zeros((x.shape[0], known + 1), x.dtype)
            dense[:, :known] = x if isinstance(x, np.ndarray) else x.toarray()
            for tree in trees:
                require_time()
                found[start : start + block] += tree.values(dense)
        return found

    @classmethod
    def parse(cls, text: str, name: str) -> Forest:
        """Trees out of a model of LightGBM called ``name``.

        Raises InputError for a text that is none or damaged, features that are not named by rising
        ids, several scores a document, and decisions by category or by zeros as missing.
        """
        head, *blocks = re.split(r"^Tree=", text.partition(f"\n{_END}")[0], flags=re.MULTILINE)
        if not head.startswith(f"{FIRST_LINE}\n") or f"\n{_END}" not in text:
            raise InputError(
                f"{name} is not a complete LightGBM model: a model file begins with the "
                "line 'tree', and 'end of trees' follows its last tree.",
                "tree_model",
            )
        values = _values(head)
        named, outputs = values.get("feature_names", ""), values.get("num_class", "")
        MODEL_FEATURES.require(named.count(" ") + 1, name)
        names = named.split()
        if outputs != "1" or values.get("num_tree_per_iteration") != "1":
            raise InputError(
                f"{name} has more than one score for each document, or does not say how many; a "
                "ranker has one.",
                "tree_model",
            )
        found = (_ID.fullmatch(each) for each in names)
        ids = np.fromiter((-1 if each is None else int(each[1]) for each in found), np.int64)
        if not names or ids[0] < 0 or np.any(np.diff(ids) <= 0):
            raise InputError(
                f"{name} does not name its features by ids in increasing order, such as 1 or "
                "Column_1, so they cannot be found in a corpus.",
                "tree_model",
            )
        return cls(tuple(_trees(blocks, ids.size, name)), ids, names[0] == _FIRST_COLUMN)


def _values(block: str) -> dict[str, str]:
    return {found[1]: found[2] for found in _SETTING.finditer(block)}


def _trees(blocks: list[str], features: int, name: str) -> Iterator[Tree]:
    for number, block in enumerate(blocks, 1):
        try:
            tree = _tree(_values(block))
            good = _is_sound(tree, features)
        except (KeyError, ValueError, OverflowError):
            good = False
        if not good:
            raise InputError(
                f"Tree {number} of {name} is damaged, or of an unsupported kind (linear, "
                "with categories, with zeros as missing values, or more than "
                f"{_DEEPEST:,} decisions deep).",
                "tree_model",
            )
        yield tree


def _tree(values: dict[str, str]) -> Tree:
    """One tree; raises KeyError or ValueError where something is missing or no number."""

    def whole(key: str) -> IntArray:
        return np.array([int(_plain(each)) for each in values.get(key, "").split()], np.int64)

    def real(key: str) -> FloatArray:
        return np.array([float(_plain(each)) for each in values.get(key, "").split()])

    kinds, leaves = whole("decision_type"), int(_plain(values["num_leaves"]))
    if values.get("is_linear", "0") != "0" or np.any(kinds & _CATEGORICAL):
        raise ValueError
    if np.any(kinds & _MISSING == _MISSING_ZERO):
        raise ValueError
    found = Tree(
        whole("split_feature"), real("threshold"), whole("left_child"), whole("right_child"),
        real("leaf_value"),
    )  # fmt: skip
    sizes = {each.size for each in (found.feature, found.threshold, found.left, found.right, kinds)}
    if sizes != {leaves - 1} or found.leaf.size != leaves:
        raise ValueError
    return found


def _plain(text: str) -> str:
    """A number's text; raises ValueError for underscores and digits of other scripts."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return text


def _is_sound(tree: Tree, features: int) -> bool:
    """Whether every way through the tree ends at a leaf."""
    inner = np.arange(tree.feature.size)
    ends = all(
        np.all((child < inner.size) & (child >= -tree.leaf.size) & ((child < 0) | (child > inner)))
        for child in (tree.left, tree.right)
    )
    numbers = np.isfinite(tree.leaf).all() and not np.isnan(tree.threshold).any()
    known = np.all((tree.feature >= 0) & (tree.feature < features))
    return bool(ends and numbers and known) and _depth(tree) <= _DEEPEST


def _depth(tree: Tree) -> int:
    """The most decisions on a way; children are behind their parents."""
    depth = np.ones(tree.feature.size + 1, np.int64)
    for node, children in enumerate(zip(tree.left.tolist(), tree.right.tolist(), strict=True)):
        for child in children:
            if child >= 0:
                depth[child] = depth[node] + 1
    return int(depth.max())
