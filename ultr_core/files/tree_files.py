"""Trees as files in LightGBM's own format, which LightGBM reads as it reads its own.

write_trees(ranker, "trees.txt", trained={"clicks": 45_000})
ranker = read_trees("trees.txt")          # also a model that LightGBM saved
model = read_model("ranker.json")         # trees or a linear ranker

Features are named by their ids. How a ranker was trained is one more line near the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultr_core.errors import named
from ultr_core.files.disk import read_text, text_of, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.ranker_files import ranker_of
from ultr_core.learners import LinearModel
from ultr_core.learners.forest import FIRST_LINE, Forest
from ultr_core.learners.trees import TreeRanker
from ultr_core.limits import TREE_NUMBERS

_RECORD, _LAST = "ultr_lab:", "pandas_categorical:"
_WHAT = "The ranker"


def trees_text(ranker: TreeRanker, trained: Mapping[str, Any] | None = None) -> str:
    """The model as LightGBM writes it, with one line on how it was trained."""
    if trained is None:
        return ranker.text
    body, last, rest = ranker.text.rpartition(_LAST)
    record = f"{_RECORD}{json.dumps(dict(trained), ensure_ascii=False, allow_nan=False)}\n\n"
    return f"{body}{record}{last}{rest}"


def write_trees(
    ranker: TreeRanker, path: str | Path, *, trained: Mapping[str, Any] | None = None
) -> None:
    """Write `trees_text` to a file; raises InputError if that cannot be done."""
    with writing(path, _WHAT) as file:
        file.write(trees_text(ranker, trained))


def is_tree_file(path: str | Path) -> bool:
    """Whether a file begins as a model of LightGBM does; raises InputError if it cannot be read."""
    return _is_trees(read_text(path, _WHAT))


def _is_trees(text: str) -> bool:
    return text.partition("\n")[0].strip() == FIRST_LINE


def read_trees(path: str | Path) -> TreeRanker:
    """Trees out of a model of LightGBM; raises InputError as `Forest.parse` does."""
    return _parsed(read_text(path, _WHAT), named(path))


def parse_trees(data: bytes, name: str) -> TreeRanker:
    """`read_trees` for the bytes of an upload called ``name``."""
    return _parsed(text_of(data, name), name)


def _parsed(text: str, name: str) -> TreeRanker:
    with expecting("trees", text, name):
        TREE_NUMBERS.require(text.count(" ") + text.count("="), name)
        return TreeRanker(text, Forest.parse(text, name))


def read_model(path: str | Path) -> TreeRanker | LinearModel:
    """Trees or a linear ranker; raises InputError as `read_trees` and `read_ranker` do."""
    text, name = read_text(path, _WHAT), named(path)
    with expecting("model", text, name):
        return _parsed(text, name) if _is_trees(text) else ranker_of(text, name)


def read_tree_record(path: str | Path) -> dict[str, Any]:
    """How the trees in a file were trained, as given to `write_trees`; empty where nobody said."""
    for line in reversed(read_text(path, _WHAT).splitlines()[-8:]):
        if line.startswith(_RECORD):
            try:
                found = json.loads(line.removeprefix(_RECORD))
            except ValueError:  # of a line that somebody changed
                return {}
            return dict(found) if isinstance(found, dict) else {}
    return {}
