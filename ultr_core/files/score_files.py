"""Scores of documents as files: one a line as svm_rank_classify does, a CSV table, a TREC run."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.model import Corpus
from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError, named
from ultr_core.files.disk import lines_of, read_text, text_of, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.tables import DELIMITERS, CandidateTable, candidate_rows, parse_number
from ultr_core.files.trec_files import is_run, parse_run, run_text
from ultr_core.words import counted

SCORE_COLUMNS = ("score", "prediction")
_WHAT = "The score file"

ScoreForm = Literal["lines", "table", "run"]
_FORMS: Mapping[str, ScoreForm] = {".csv": "table", ".run": "run", ".trec": "run"}


def scores_for(corpus: Corpus, scores: ArrayLike) -> NDArray[Any]:
    """The scores [documents] as an array; raises InputError unless there is one a document."""
    values = real_numbers(scores, "Scores")
    if values.shape != (corpus.n_documents,):
        raise InputError(
            f"{counted(values.size, 'score was', 'scores were')} given for "
            f"{counted(corpus.n_documents, 'document')}; give one score per document.",
            "one_score_each",
        )
    return values


def require_finite_scores(scores: NDArray[Any], name: str) -> None:
    """Raise InputError for scores [documents] that are infinite or NaN: they rank nothing.

    Such documents would be ties, or be in no order at all. name: of the ranker.
    """
    unusable = np.flatnonzero(~np.isfinite(scores))
    if unusable.size:
        raise InputError(
            f"{name} gives {unusable.size:,} of {counted(scores.size, 'document')} a score that is "
            f"not a finite number; the first is {scores[unusable[0]]} for document "
            f"{unusable[0]:,} (counted from 0). Scale its coefficients or scores down.",
            "score_not_finite",
        )


def scores_text(corpus: Corpus, scores: NDArray[np.float64], *, form: ScoreForm = "lines") -> str:
    """Scores [documents] as text with all digits.

    One a line, in the order of the rows of the corpus' file; as CSV table with the columns query,
    candidate, document (where the corpus has ids) and score; or as a TREC run. Raises InputError
    for scores that are not finite or not as many as documents.
    """
    values = scores_for(corpus, scores).astype(np.float64)
    require_finite_scores(values, "The ranker")
    if form == "run":
        return run_text(corpus, values)
    if form == "lines":
        in_file = values if corpus.source_rows is None else np.empty_like(values)
        if corpus.source_rows is not None:
            in_file[corpus.source_rows] = values
        return "".join(f"{value!r}\n" for value in in_file.tolist())
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(
        ["query", "candidate", *["document"] * (corpus.document_ids is not None), "score"]
    )
    documents = np.arange(corpus.n_documents)
    for cells, value in zip(candidate_rows(corpus, documents), values.tolist(), strict=True):
        lines.writerow([*cells, repr(value)])
    return out.getvalue()


def write_scores(
    path: str | Path,
    corpus: Corpus,
    scores: NDArray[np.float64],
    *,
    form: ScoreForm | None = None,
) -> None:
    """Write `scores_text`; if no form is given, the file extension before .gz determines it.

    .csv gives a table, and .run or .trec gives a TREC run. Raises InputError if the file cannot be
    written.
    """
    ending = Path(str(path).lower().removesuffix(".gz")).suffix
    text = scores_text(corpus, scores, form=form or _FORMS.get(ending, "lines"))
    with writing(path, _WHAT) as file:
        file.write(text)


class ScoreFile(NamedTuple):
    """The score of each document of a corpus, float64 [documents], and sentences for the reader."""

    scores: NDArray[np.float64]
    notices: tuple[str, ...]


def read_scores(path: str | Path, corpus: Corpus) -> NDArray[np.float64]:
    """Only the scores from `read_score_file`."""
    return read_score_file(path, corpus).scores


def parse_scores(
    text: str | bytes, corpus: Corpus, name: str = "the score file"
) -> NDArray[np.float64]:
    """Only the scores from `parse_score_file`."""
    return parse_score_file(text, corpus, name).scores


def read_score_file(path: str | Path, corpus: Corpus) -> ScoreFile:
    """Read the score of each document of a corpus.

    Either one number a line, as many as the corpus' file has rows and in their order; or a CSV
    table with the columns query, candidate or document, and score, or a TREC run, in any order,
    with each document. Raises InputError, which names the line of the first fault.
    """
    return parse_score_file(read_text(path, _WHAT), corpus, named(path))


def parse_score_file(text: str | bytes, corpus: Corpus, name: str = "the score file") -> ScoreFile:
    """Scores out of text, or the bytes of an upload; see `read_score_file`."""
    text = text_of(text, name) if isinstance(text, bytes) else text
    first = text.lstrip().partition("\n")[0].strip()
    if not first:
        raise InputError(f"{name} contains no scores; give one per document.", "empty_file")
    with expecting("scores", text, name):
        if is_run(first):
            return ScoreFile(*parse_run(text, corpus, name))
        read = _from_table if is_score_table(first) else _from_lines
        return ScoreFile(read(text, corpus, name), ())


def is_score_table(first: str) -> bool:
    """Whether a first line names columns, and so begins a table of scores and no list of them."""
    letters = any(letter.isalpha() for letter in first.lower().replace("e", ""))
    return letters and any(mark in first for mark in DELIMITERS)


def _from_lines(text: str, corpus: Corpus, name: str) -> NDArray[np.float64]:
    values: list[float] = []
    for number, line in enumerate(lines_of(text, name, comments=True), 1):
        cell = line.partition("#")[0].strip()
        if cell:
            values.append(parse_number(cell, f"{name}, line {number}"))
        if len(values) > corpus.n_documents:
            break
    if len(values) != corpus.n_documents:
        more = "more than " if len(values) > corpus.n_documents else ""
        has = min(len(values), corpus.n_documents)
        raise InputError(
            f"{name} has {more}{counted(has, 'score')} and the corpus has "
            f"{counted(corpus.n_documents, 'document')}; give one score per row of the corpus "
            "file, in the same order.",
            "one_score_each",
        )
    scores = np.array(values)
    return scores if corpus.source_rows is None else scores[corpus.source_rows]


def _from_table(text: str, corpus: Corpus, name: str) -> NDArray[np.float64]:
    table = CandidateTable(text, name, corpus, SCORE_COLUMNS, "score")
    scores = np.zeros(corpus.n_documents)
    known = np.zeros(corpus.n_documents, np.bool_)
    for document, cells, place in table.rows():
        scores[document] = parse_number(cells[table.value], f"{place}, column score")
        known[document] = True
    missing = np.flatnonzero(~known)
    if missing.size:
        query, candidate, *_ = next(candidate_rows(corpus, missing[:1]))
        raise InputError(
            f"{name} has no score for {missing.size:,} of "
            f"{counted(corpus.n_documents, 'document')}, such as candidate {candidate} of query "
            f"{query}; give each document a score.",
            "score_missing",
        )
    return scores
