"""What a text is by its beginning: a reader that is given another kind says so.

with expecting("ranker", text, "log.jsonl"):
    ...  # an InputError in here becomes: log.jsonl looks like a click log; give a ranker here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType

from ultr_core.errors import InputError
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_columns import found_columns, split_header
from ultr_core.files.log_parts import PARQUET, first_bytes
from ultr_core.files.parquet_pages import columns_of
from ultr_core.learners.forest import FIRST_LINE as TREES

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "corpus": "a corpus",
        "log": "a click log",
        "curve": "a propensity curve",
        "ranker": "a linear ranker",
        "trees": "a LightGBM model",
        "model": "a ranker (JSON, svm_light or LightGBM)",
        "scores": "a ranker's scores",
        "groups": "a list of numbers, such as group sizes or scores",
        "training": "an svm_proprank training file",
        "weights": "a table of weights",
        "targets": "a table of targets for another learner",
        "names": "a table of names",
        "judgements": "judgements",
        "notebook": "a notebook",
        "results": "results from this lab",
        "json": "a JSON document",
        "markup": "a web page or a drawing (HTML, SVG)",
        "statement": "an SQL statement",
        "link": "a link",
    }
)
"""Kinds of files in words; a model is a ranker of any kind."""

NOT_ALONE = ("weights", "names", "judgements")
"""Kinds that are read together with another file, and so are not looked at by themselves."""

UNREAD = ("targets", "notebook", "results", "json", "markup", "statement", "link")
"""Kinds that no reader takes."""

ROW = re.compile(r"\s*[+-]?[\d.]\S*[ \t]+(qid:\S|cost:\S|\d+:)")
COSTS = re.compile(r"[ \t]cost:\S")
NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*(#.*)?")
_JUDGEMENT = re.compile(r"\s*\S+\s+0\s+\S+\s+-?\d+\s*")
_RANKER = re.compile(r'\A\s*\{\s*"format"\s*:|"(feature_ids|coefficients)"\s*:')
_NOTEBOOK = re.compile(r'\A\s*\{\s*"(cells|metadata|nbformat(_minor)?)"\s*:')
_CELLS = re.compile(r'"(cell_type|nbformat)"\s*:')
_RESULTS = re.compile(
    r'\A\s*\{\s*"(format": "unbiased LTR lab|command": "python -m ultr_core|study": ")'
)
_RESULT_COLUMNS = ({"study", "method"}, {"key", "sum-of-ranks"})
_STATEMENT = re.compile(r"\s*(WITH|SELECT)\s", re.IGNORECASE)
_LINK = re.compile(r"\s*https?://\S+\s*")
_ALIKE: Mapping[str, tuple[str, ...]] = {
    "corpus": ("groups",), "training": ("groups", "corpus"), "scores": ("groups",),
    "model": ("ranker", "trees", "json"), "ranker": ("json",), "log": ("json",),
}  # fmt: skip
"""Kinds that a file may begin like: rows of a corpus may have lost all but their grades.

Readers of JSON say themselves what they miss in it.
"""

_BEGINNING = 1 << 16  # characters of a text, and of a row as JSON that is looked at


def first_line(start: str) -> str:
    """The first line of a text that is neither blank nor a comment; "" if there is none."""
    lines = (line for line in start.splitlines() if line.strip())
    return next((line for line in lines if not line.lstrip().startswith("#")), "")


def is_ranker_json(start: str) -> bool:
    """Whether a text that begins like JSON has the names of a ranker's parts."""
    return _RANKER.search(start) is not None and not _RESULTS.match(start)


@contextmanager
def expecting(kind: str, given: str | Source, name: str = "", encoding: str = "") -> Iterator[None]:
    """Let an InputError say that a file is of another kind, where its beginning leaves no doubt.

    kind: a key of ``KINDS``. given: a text called ``name``, or where it comes from.
    """
    try:
        yield
    except InputError as error:
        other = kind_beyond_doubt(given, encoding)
        if other is None or other in (kind, *_ALIKE.get(kind, ())):
            raise
        called = given.name if isinstance(given, Source) else name
        raise of_another_kind(called, KINDS[other], KINDS[kind]) from error


def of_another_kind(name: str, found: str, wanted: str) -> InputError:
    """What to say of a file that is ``found``, in words, where another kind is ``wanted``."""
    return InputError(f"{name} looks like {found}; give {wanted} here.", "other_kind")


def kind_beyond_doubt(given: str | Source, encoding: str = "") -> str | None:
    """A key of ``KINDS`` for a text or file whose beginning leaves no doubt; else None."""
    start = ""
    with suppress(InputError):  # of a damaged file, which its reader has told
        if isinstance(given, Source) and first_bytes(given, len(PARQUET)) == PARQUET:
            with given.open() as raw:
                table = _kind_of_columns(columns_of(raw, given.name))
            return table if table in UNREAD else None  # all other kinds but logs are texts
        start = (
            given[:_BEGINNING] if isinstance(given, str) else given.beginning(encoding or "utf-8")
        )
    first = first_line(start)
    if first.lstrip().startswith(("{", "[")):
        return _kind_of_json(start, first)
    if first.startswith("SVM-light"):
        return "ranker"
    if first.strip() == TREES:
        return "trees"
    if match := ROW.match(first):
        return "training" if match[1].startswith("cost") or COSTS.search(first) else "corpus"
    if NUMBER.fullmatch(first):
        return "groups"
    if _JUDGEMENT.fullmatch(first):
        return "judgements"
    if table := _kind_of_table(first):
        return table
    if first.lstrip().startswith("<"):
        return "markup"
    if _LINK.fullmatch(first):
        return "link"
    return "statement" if _STATEMENT.match(first) else None


def _kind_of_json(start: str, first: str) -> str | None:
    if _RESULTS.match(start):
        return "results"
    if _NOTEBOOK.match(start) and _CELLS.search(start):
        return "notebook"
    if is_ranker_json(start):
        return "ranker"
    if first.strip() == "{":
        return "json"
    return "log" if _is_row(first) else None


def _is_row(first: str) -> bool:
    """Whether a line is one object of JSON with texts or a known column, or begins a list of some.

    Numbers alone may be a curve that was written as JSON.
    """
    row = first.strip().removesuffix(",")
    if row.startswith("["):
        return row[1:].strip()[:1] in ("", "{")
    with suppress(ValueError, RecursionError):
        found = json.loads(row) if len(row) <= _BEGINNING else None
        if isinstance(found, dict):
            known = set(found_columns(list(found), None, "")) - {"position", "propensity"}
            return bool(known) or any(isinstance(v, str | dict | list) for v in found.values())
    return False


def _kind_of_table(first: str) -> str | None:
    """The kind of a table by its first line, or of a TREC run."""
    from ultr_core.files.trec_files import is_run

    if is_run(first):
        return "scores"
    with suppress(InputError):
        return _kind_of_columns(split_header(first, None, "")[1])
    return None


def _kind_of_columns(cells: Sequence[str]) -> str | None:
    """The kind of a table with columns that no other one has; raises InputError for odd ones."""
    from ultr_core.files.curve_files import PROPENSITY_NAMES, RANK_NAMES
    from ultr_core.files.score_files import SCORE_COLUMNS
    from ultr_core.files.tables import QUERY_COLUMNS
    from ultr_core.files.target_files import TARGET_COLUMNS
    from ultr_core.files.weight_files import WEIGHT_COLUMNS

    found = set(found_columns(list(cells), None, ""))
    plain = {cell.strip().lower() for cell in cells}
    if not {"query", "document", "position"} & found and any(
        names <= plain for names in _RESULT_COLUMNS
    ):
        return "results"
    if {"click", "action"} & found:
        return "log" if {"query", "document", "position"} & found else None
    if not plain & set(QUERY_COLUMNS) and "document" not in found:
        return "curve" if plain & set(RANK_NAMES) and plain & set(PROPENSITY_NAMES) else None
    if "position" in found:
        return None
    if plain >= set(TARGET_COLUMNS):
        return "targets"
    if plain & set(WEIGHT_COLUMNS):
        return "weights"
    if plain & set(SCORE_COLUMNS):
        return "scores"
    return "names" if len(plain) == 2 and {"text", "name", "title"} & plain else None
