"""Runs and judgements as TREC's programs write them.

A run has lines ``query Q0 document rank score tag``; judgements (qrels) have lines
``query 0 document grade``. Documents are named by their ids; where a corpus has none, by their
place within the query, from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.model import LARGEST_GRADE, Corpus
from ultr_core.corpus.ranking import order_from_ranks, query_of_document, rank_documents
from ultr_core.errors import InputError, named, quoted
from ultr_core.files.disk import lines_of, read_text, text_of, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.tables import parse_number
from ultr_core.words import counted, part_of

_RUN = re.compile(r"\s*\S+\s+[Qq]0\s+\S+\s+\d+\s+\S+\s+\S+\s*")
_TAG = "ultr-lab"


def is_run(first: str) -> bool:
    """Whether a line is of a TREC run.

    >>> is_run("7 Q0 GX-1 1 2.5 bm25"), is_run("7 0 GX-1 2")
    (True, False)
    """
    return _RUN.fullmatch(first) is not None


def parse_run(text: str, corpus: Corpus, name: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Scores [documents] of a run, in which each document of the corpus must have one, and notices.

    Scores count and not the column of ranks, as in trec_eval; where they contradict each other, a
    notice says how often. Lines about other queries and documents are passed over. Raises
    InputError for a line that is none, lines of several runs, a second line about a document, a
    document without a score, or ranks that mostly contradict the scores, which are then no scores.
    """
    scores = np.full(corpus.n_documents, np.nan)
    ranks = np.zeros(corpus.n_documents, dtype=np.int64)
    for row, cells, place in _lines(text, corpus, name, 6):
        scores[row] = parse_number(cells[4], f"{place}, score")
        if cells[3].isascii() and cells[3].isdigit() and len(cells[3]) < 10:
            ranks[row] = int(cells[3])
    missing = np.flatnonzero(np.isnan(scores))
    if missing.size:
        query, document = list(_names(corpus))[missing[0]]
        raise InputError(
            f"{name} has no score for {missing.size:,} of "
            f"{counted(corpus.n_documents, 'document')}, such as {quoted(document)} of query "
            f"{quoted(query)}; give each document a score.",
            "score_missing",
        )
    return scores, _contradictions(scores, ranks, corpus.query_offsets, name)


def _contradictions(
    scores: NDArray[np.float64], ranks: NDArray[np.int64], offsets: NDArray[np.int64], name: str
) -> tuple[str, ...]:
    """How often the next document by rank has the higher score, where ranks tell them apart."""
    query = query_of_document(offsets)
    order = np.lexsort((ranks, query))
    step, rise = np.diff(ranks[order]), np.diff(scores[order])
    compared = (np.diff(query[order]) == 0) & (step > 0) & (ranks[order][:-1] > 0) & (rise != 0)
    against, pairs = int(np.count_nonzero(compared & (rise > 0))), int(np.count_nonzero(compared))
    if not against:
        return ()
    told = (
        f"{name} ranks {against:,} of {counted(pairs, 'document')} directly above a document with "
        "a higher score"
    )
    if against > pairs / 2:
        raise InputError(
            f"{told}, so its scores may be distances, or may not match its ranks; give scores that "
            "decrease down the list.",
            "ranks_against_scores",
        )
    return (f"{told}; the scores are used, not the ranks, as in trec_eval.",)


def run_text(corpus: Corpus, scores: NDArray[np.float64]) -> str:
    """A run of finite scores [documents], highest first; equal scores are in random order."""
    ranks = rank_documents(scores, corpus.query_offsets)
    names, values = list(_names(corpus)), scores.tolist()
    lines = []
    for row in order_from_ranks(ranks, corpus.query_offsets).tolist():
        query, document = names[row]
        lines.append(f"{query} Q0 {document} {ranks[row]} {values[row]!r} {_TAG}\n")
    return "".join(lines)


def read_qrels(path: str | Path, corpus: Corpus) -> Corpus:
    """The corpus with the grades of a file of judgements; see `parse_qrels`."""
    return parse_qrels(read_text(path, "The judgements"), corpus, named(path))


def parse_qrels(text: str | bytes, corpus: Corpus, name: str = "the judgements") -> Corpus:
    """The corpus with the grades of TREC's judgements, text or the bytes of an upload.

    A document without a judgement has grade 0, and so has one below 0 (spam), as in trec_eval;
    a notice of the corpus says how many are judged. Raises InputError for a line that is none, a
    second one about a document, or where no document is judged.
    """
    text = text_of(text, name) if isinstance(text, bytes) else text
    with expecting("judgements", text, name):
        grades, judged = _judged(text, corpus, name)
    told = part_of(judged, corpus.n_documents, "document")
    notice = f"Grades come from {name}: {told} a judgement; the others have grade 0."
    return replace(corpus, grades=grades, notices=(*corpus.notices, notice))


def _judged(text: str, corpus: Corpus, name: str) -> tuple[NDArray[np.int16], int]:
    """Grades [documents] and how many of them are judged."""
    grades = np.zeros(corpus.n_documents, dtype=np.int16)
    judged = 0
    for row, cells, place in _lines(text, corpus, name, 4):
        grade = parse_number(cells[3], f"{place}, grade")
        if grade != int(grade) or grade > LARGEST_GRADE:
            raise InputError(
                f"{place}: {quoted(cells[3])} is not a grade; give a whole number up to "
                f"{LARGEST_GRADE}.",
                "not_a_grade",
            )
        grades[row] = max(int(grade), 0)
        judged += 1
    if not judged:
        query, document = next(_names(corpus))
        raise InputError(
            f"{name} has no judgement of any document in the corpus, such as {quoted(document)} of "
            f"query {quoted(query)}; use the same ids in both.",
            "no_document",
        )
    return grades, judged


def qrels_text(corpus: Corpus) -> str:
    """The grades of all documents as TREC's judgements."""
    rows = zip(_names(corpus), corpus.grades.tolist(), strict=True)
    return "".join(f"{query} 0 {document} {grade}\n" for (query, document), grade in rows)


def write_qrels(path: str | Path, corpus: Corpus) -> None:
    """Write `qrels_text` to a file; raises InputError if that cannot be done."""
    text = qrels_text(corpus)
    with writing(path, "The judgements") as file:
        file.write(text)


def _names(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Query and document as a line names them, for each document."""
    ids = corpus.document_ids
    for query, start, stop in zip(
        corpus.query_ids, corpus.query_offsets[:-1], corpus.query_offsets[1:], strict=True
    ):
        for row in range(start, stop):
            yield query, str(row - start + 1) if ids is None else ids[row]


def _lines(
    text: str, corpus: Corpus, name: str, width: int
) -> Iterator[tuple[int, list[str], str]]:
    """Document, cells and place of each line about a document of the corpus."""
    document_of = {key: row for row, key in enumerate(_names(corpus))}
    if len(document_of) < corpus.n_documents:
        raise InputError(
            f"{name} names documents by id, but two documents of the same query in the corpus have "
            "the same id; rename one.",
            "same_document_id",
        )
    seen = np.zeros(corpus.n_documents, np.bool_)
    tag, tagged = "", 0
    for number, line in enumerate(lines_of(text, name), 1):
        cells = line.split()
        if not cells:
            continue
        place = f"{name}, line {number}"
        if len(cells) != width:
            wanted = "query Q0 document rank score tag" if width == 6 else "query 0 document grade"
            raise InputError(
                f"{place} has {counted(len(cells), 'cell')}; the line must be {wanted}.",
                "cells_missing",
            )
        row = document_of.get((cells[0], cells[2]))
        if row is None:
            continue
        if width == 6:
            tag, tagged = tag or cells[5], tagged or number
            if cells[5] != tag:
                raise InputError(
                    f"{name} has lines from two runs, {quoted(tag)} (line {tagged}) and "
                    f"{quoted(cells[5])} (line {number}), whose scores cannot be compared; give a "
                    "file with one run.",
                    "several_runs",
                )
        if seen[row]:
            raise InputError(
                f"{place} is a second line for the same document; keep one.", "document_twice"
            )
        seen[row] = True
        yield row, cells, place
