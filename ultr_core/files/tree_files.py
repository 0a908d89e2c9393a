"""Trees as files in LightGBM's own format, which LightGBM reads as it reads its own.

write_trees(ranker, "trees.txt", trained={"clicks": 45_000})
ranker = read_trees("trees.txt")          # also a model that LightGBM saved
model = read_model("ranker.json")         # trees or a linear ranker
scores, notices = score_model(model, corpus)

Features are named by their ids. How a ranker was trained is one more line near the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.model import Corpus
from ultr_core.errors import named
from ultr_core.files.disk import read_text, text_of, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.ranker_files import (
    on_columns_of,
    ranker_of,
    require_few_parts,
    training_record_of,
)
from ultr_core.learners import LinearModel
from ultr_core.learners.forest import FIRST_LINE, Forest
from ultr_core.learners.trees import TreeRanker
from ultr_core.limits import TREE_NUMBERS, TREES

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


def _is_trees(text: str) -> bool:
    return text.partition("\n")[0].strip() == FIRST_LINE


def read_trees(path: str | Path) -> TreeRanker:
    """Trees out of a model of LightGBM; raises InputError if `Forest.parse` does."""
    return _parsed(read_text(path, _WHAT), named(path))


def parse_trees(data: bytes, name: str) -> TreeRanker:
    """`read_trees` for the bytes of an upload called ``name``."""
    return _parsed(text_of(data, name), name)


def _parsed(text: str, name: str) -> TreeRanker:
    with expecting("trees", text, name):
        TREE_NUMBERS.require(sum(map(text.count, " =\n")), name)
        TREES.require(text.count("\nTree="), name)
        return TreeRanker(text, Forest.parse(text, name))


def read_model(path: str | Path) -> TreeRanker | LinearModel:
    """Trees or a linear ranker; raises InputError as `read_trees` and `read_ranker` do."""
    return _model_of(read_text(path, _WHAT), named(path))


def parse_model(data: bytes, name: str) -> TreeRanker | LinearModel:
    """`read_model` for the bytes of an upload called ``name``."""
    return _model_of(text_of(data, name), name)


def _model_of(text: str, name: str) -> TreeRanker | LinearModel:
    with expecting("model", text, name):
        return _parsed(text, name) if _is_trees(text) else ranker_of(text, name)


def score_model(
    model: TreeRanker | LinearModel, corpus: Corpus, *, missing_zero: bool = False
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Scores [documents] of a corpus, and sentences on features that one of the two lacks.

    Raises InputError as `TreeRanker.score_with_notices` and `on_columns_of` do.
    """
    if isinstance(model, TreeRanker):
        return model.score_with_notices(corpus, missing_zero=missing_zero)
    fitting, notices = on_columns_of(corpus, model, missing_zero=missing_zero)
    return fitting.score(corpus), notices


def read_model_record(path: str | Path) -> dict[str, Any]:
    """How the ranker in a file was trained, as given when it was written; {} where nobody said."""
    return _record_of(read_text(path, _WHAT), named(path))


def parse_model_record(data: bytes, name: str) -> dict[str, Any]:
    """`read_model_record` for the bytes of an upload called ``name``."""
    return _record_of(text_of(data, name), name)


def _record_of(text: str, name: str) -> dict[str, Any]:
    if not _is_trees(text):
        return training_record_of(text, name)
    rest = text.rpartition(f"\n{_RECORD}")[2]
    line = rest.partition("\n")[0]
    try:
        require_few_parts(line, name)
        found = json.loads(line)
    except (ValueError, RecursionError):  # no record, or one that somebody changed
        return {}
    return dict(found) if isinstance(found, dict) else {}
