"""Trees as files in LightGBM's own format, which LightGBM reads as it reads its own.

write_trees(ranker, "trees.txt", trained={"clicks": 45_000})
ranker = read_trees("trees.txt")          # also a model that LightGBM saved

Features are named by their ids. How a ranker was trained is one more line near the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultr_core.errors import named
from ultr_core.files.disk import read_text, writing
from ultr_core.learners.forest import FIRST_LINE, Forest
from ultr_core.learners.trees import TreeRanker

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
    return read_text(path, _WHAT).partition("\n")[0].strip() == FIRST_LINE


def read_trees(path: str | Path) -> TreeRanker:
    """Trees out of a model of LightGBM; raises InputError as `Forest.parse` does."""
    text = read_text(path, _WHAT)
    return TreeRanker(text, Forest.parse(text, named(path)))


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
