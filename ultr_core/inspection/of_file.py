"""Any file that a reader brings: what it is, told by its content, and what was found in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, checked_path, named, quoted
from ultr_core.files import (
    load_corpus,
    load_directory,
    parse_context_values,
    parse_corpus,
    parse_curve_values,
    parse_log,
    parse_trust_bias,
    read_log,
)
from ultr_core.files.curve_files import PROPENSITY_NAMES, RANK_NAMES
from ultr_core.files.disk import text_of
from ultr_core.files.kinds import (
    COSTS,
    KINDS,
    NOT_ALONE,
    NUMBER,
    ROW,
    UNREAD,
    first_line,
    is_ranker_json,
    kind_beyond_doubt,
    of_another_kind,
)
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_columns import REQUIRED, found_columns, split_header
from ultr_core.files.log_parts import is_duckdb, is_in_parts, is_parquet
from ultr_core.files.log_reading import Reading
from ultr_core.files.proprank_files import parse_proprank
from ultr_core.files.ranker_files import parse_ranker
from ultr_core.files.score_files import SCORE_COLUMNS, parse_score_file
from ultr_core.files.trec_files import is_run
from ultr_core.files.tree_files import parse_trees
from ultr_core.findings import Finding
from ultr_core.inspection.inspection import Inspection, Kind, reader_notes
from ultr_core.inspection.of_corpus import inspect_corpus, inspect_splits
from ultr_core.inspection.of_curve import inspect_curve, inspect_curves
from ultr_core.inspection.of_log import inspect_log
from ultr_core.inspection.of_ranker import inspect_ranker, inspect_scores, inspect_trees
from ultr_core.learners.forest import FIRST_LINE as TREES
from ultr_core.limits import GROUPS
from ultr_core.words import counted

Progress = Callable[[float], object]

_ENTRY = re.compile(r"\S+")
_SIZE = re.compile(r"[0-9]{1,9}")
_GROUP_NAMES = (".query", ".group")


@dataclass(frozen=True)
class _Given:
    """A file or an upload, and what is needed to read it."""

    source: Source
    columns: Mapping[str, str] | None
    ids: str | None
    missing_zero: bool
    how: Reading
    corpus: Corpus | None
    relevant_grade: int
    progress: Progress | None

    @property
    def name(self) -> str:
        return self.source.name

    def data(self) -> bytes:
        """All bytes, of files that are read as one text."""
        if self.source.path is None:
            return self.source.data
        return self.source.path.read_bytes()


def inspect_file(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    ids: str | None = None,
    missing_zero: bool = False,
    how: Reading | None = None,
    corpus: Corpus | None = None,
    relevant_grade: int = 3,
    progress: Progress | None = None,
) -> tuple[Inspection, ...]:
    """Recognise a file by its content and check it.

    It may be a corpus (LETOR; a directory gives one inspection per part), a click log (CSV, JSON
    lines, Parquet; a pattern or a directory of parts is one log), a propensity curve, a ranker
    (JSON, svm_light or LightGBM), an svm_proprank training file, group sizes, or scores together
    with the ``corpus`` they belong to. columns, how: for a click log. ids, missing_zero: as in
    `load_directory`.

    Raises InputError, which says in one sentence what is wrong and where.
    """
    if is_in_parts(checked_path(path, "The file")):
        log = read_log(path, columns=columns, how=how, progress=progress)
        return (inspect_log(log, name=named(path)),)
    if Path(path).is_dir():
        splits = load_directory(path, ids=ids, missing_zero=missing_zero, progress=progress)
        return inspect_splits(splits, relevant_grade=relevant_grade)
    source = Source.file(path, "The file")
    given = _Given(
        source, columns, ids, missing_zero, how or Reading(), corpus, relevant_grade, progress
    )
    return (_inspect(given),)


def inspect_upload(
    data: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    how: Reading | None = None,
    corpus: Corpus | None = None,
    relevant_grade: int = 3,
) -> Inspection:
    """`inspect_file` for the bytes of an upload called ``name``."""
    source = Source.upload(data, name)
    return _inspect(
        _Given(source, columns, None, False, how or Reading(), corpus, relevant_grade, None)
    )


def is_log(
    path: str | Path, columns: Mapping[str, str] | None = None, encoding: str | None = None
) -> bool:
    """Whether the file at a path is a click log; raises InputError if `kind_of` does."""
    if is_in_parts(checked_path(path, "The file")):
        return True
    if Path(path).is_dir():
        return False
    return kind_of(Source.file(path, "The file"), columns, encoding) == "log"


def kind_of(
    source: Source, columns: Mapping[str, str] | None = None, encoding: str | None = None
) -> Kind:
    """The kind of a file, judged by its content; raises InputError if it is not recognised.

    columns, encoding: for a click log, if the user gives them.
    """
    if is_duckdb(source):
        return "log"
    parquet = is_parquet(source)
    sure = None if columns else kind_beyond_doubt(source, encoding or "")
    if sure in NOT_ALONE or (sure in UNREAD and sure != "json"):
        raise of_another_kind(source.name, f"{KINDS[sure]}{_GOES_WITH.get(sure, '')}", _TAKEN)
    if parquet:
        return "log"
    start = source.beginning(encoding or "utf-8")
    first = first_line(start)
    if first.lstrip().startswith(("{", "[")):
        return "ranker" if is_ranker_json(start) else "log"
    if first.startswith("SVM-light"):
        return "ranker"
    if first.strip() == TREES:
        return "trees"
    if match := ROW.match(first):
        costs = match[1].startswith("cost") or COSTS.search(first)
        return "training" if costs else "corpus"
    if first and NUMBER.fullmatch(first):
        return "groups" if source.name.endswith(_GROUP_NAMES) else "scores"
    if is_run(first):
        return "scores"
    kind = _kind_of_table(first, columns, source.name)
    if kind is None:
        told = f"begins with {quoted(first.strip())}" if first else "has no line with content"
        if "\0" in first or "\N{REPLACEMENT CHARACTER}" in first:
            told = "is a binary file"
        raise InputError(
            f"{source.name} {told}, so it is not a corpus (rows such as 2 qid:7 1:0.5), a click "
            "log or curve (starting with a line of column names), a ranker or a list of scores.",
            "unknown_kind",
        )
    return kind


_TAKEN = "a corpus, click log, curve, ranker, scores or an svm_proprank training file"
_GOES_WITH = {
    "weights": ", which goes with a corpus",
    "names": ", which goes with a click log and a corpus",
    "judgements": ", which go with a corpus",
}


def _kind_of_table(first: str, columns: Mapping[str, str] | None, name: str) -> Kind | None:
    """The kind of a table by its column names; ``columns`` are those of logs, and no others."""
    _, cells = split_header(first, columns, name)
    plain = {cell.strip().lower() for cell in cells}
    mapped = {column.strip().lower() for column in (columns or {}).values()}
    if "click" in found_columns(cells, None, name) or (mapped and mapped <= plain):
        return "log"
    if plain & set(PROPENSITY_NAMES) and plain & set(RANK_NAMES):
        return "curve"
    if plain & set(SCORE_COLUMNS):
        return "scores"
    known = any(meaning in found_columns(cells, None, name) for meaning in REQUIRED)
    return "log" if known or mapped & plain else None


def _inspect(given: _Given) -> Inspection:
    kind = kind_of(given.source, given.columns, given.how.encoding)
    return _INSPECTORS[kind](given)


def _corpus(given: _Given) -> Inspection:
    path = given.source.path
    if path is None:
        corpus = parse_corpus(given.source.data, given.name, ids=given.ids)
    else:
        corpus = load_corpus(path, ids=given.ids, progress=given.progress)
    return inspect_corpus(corpus, name=given.name, relevant_grade=given.relevant_grade)


def _log(given: _Given) -> Inspection:
    if given.source.path is None:
        log = parse_log(given.source.data, given.name, columns=given.columns, how=given.how)
    else:
        log = read_log(
            given.source.path, columns=given.columns, how=given.how, progress=given.progress
        )
    return inspect_log(log, name=given.name)


def _curve(given: _Given) -> Inspection:
    text = text_of(given.data(), given.name)
    contexts = parse_context_values(text, given.name)
    values = [] if contexts else parse_curve_values(text, given.name)
    trust = parse_trust_bias(text, given.name)
    if contexts:
        return inspect_curves(contexts, name=given.name, trust_bias=trust)
    return inspect_curve(values, name=given.name, trust_bias=trust.get("", ""))


def _ranker(given: _Given) -> Inspection:
    data = given.data()
    ranker = parse_ranker(data, given.name)
    is_json = text_of(data, given.name).lstrip().startswith("{")
    form = "JSON" if is_json else "svm_light model text"
    return inspect_ranker(
        ranker, given.corpus, name=given.name, form=form, missing_zero=given.missing_zero
    )


def _trees(given: _Given) -> Inspection:
    trees = parse_trees(given.data(), given.name)
    return inspect_trees(trees, given.corpus, name=given.name, missing_zero=given.missing_zero)


def _scores(given: _Given) -> Inspection:
    if given.corpus is None:
        raise InputError(
            f"{given.name} contains a ranker's scores; say which corpus they belong to.", "corpus"
        )
    scores, notices = parse_score_file(given.data(), given.corpus, given.name)
    return inspect_scores(scores, given.corpus, name=given.name, notices=notices)


def _groups(given: _Given) -> Inspection:
    """Group sizes beside a corpus file, which is read with them."""
    rows = number = 0
    for number, size in enumerate(_ENTRY.finditer(text_of(given.data(), given.name)), 1):
        GROUPS.require(number, given.name)
        if not _SIZE.fullmatch(size[0]):
            raise InputError(
                f"{given.name}, entry {number} is {quoted(size[0])}; give the number of documents "
                "in a query."
            )
        rows += int(size[0])
    words = f"{counted(number, 'query', 'queries')} with {counted(rows, 'document')} in all."
    beside = None if given.source.path is None else given.source.path.with_suffix("")
    if beside is not None and beside.is_file():
        corpus = load_corpus(beside, groups=given.source.path)
        has = counted(corpus.n_documents, "row")
        words = f"{words} {named(beside.name)} beside this file also has {has}."
    finding = Finding.of_file("group_sizes", "Group sizes", number, "good", words)
    counts = {"queries": number, "documents": rows}
    return Inspection("groups", given.name, "one number per line", (finding,), counts)


def _training(given: _Given) -> Inspection:
    corpus, weights = parse_proprank(given.data(), given.name)
    weighted = int((weights.values > 0).sum())
    finding = Finding.of_file(
        "weights", "Weights", weighted, "good",
        f"{counted(weighted, 'document has', 'documents have')} a weight, in a corpus of "
        f"{counted(corpus.n_queries, 'query', 'queries')}; the weights come from "
        f"{counted(round(weights.clicks), 'training example')}.",
    )  # fmt: skip
    counts = {
        "queries": corpus.n_queries,
        "documents": corpus.n_documents,
        "features": corpus.n_features,
    }
    findings = (finding, *reader_notes(corpus.notices))
    return Inspection("training", given.name, "svm_proprank training file", findings, counts)


_INSPECTORS: Mapping[str, Callable[[_Given], Inspection]] = {
    "corpus": _corpus,
    "log": _log,
    "curve": _curve,
    "ranker": _ranker,
    "trees": _trees,
    "scores": _scores,
    "groups": _groups,
    "training": _training,
}
