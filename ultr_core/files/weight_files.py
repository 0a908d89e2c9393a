"""Weights of documents as a CSV table: what a learner sees, to look at or to bring along.

Columns ``query``, ``candidate`` (place of the document within its query, from 1), ``document``
(its id, where the corpus has ids), ``weight`` (summed over the training examples on it) and
``examples`` (n, how many examples all weights stand for; the same number in each line).
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError, named, quoted
from ultr_core.files.disk import read_text, text_of, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.letor_lines import Source
from ultr_core.files.tables import (
    QUERY_COLUMNS,
    CandidateTable,
    candidate_rows,
    parse_number,
    split_line,
)
from ultr_core.propensity.weights import Weights
from ultr_core.words import counted

WEIGHT_COLUMNS = ("weight",)
EXAMPLE_COLUMNS = ("examples", "n")
_WHAT = "The weights table"


def weights_text(corpus: Corpus, weights: Weights, *, all_documents: bool = False) -> str:
    """CSV text of the documents with a weight above 0, or of all of them, with all digits.

    Raises InputError for weights of another corpus, and for query ids that occur twice.
    """
    values = weights.values
    if len(values) != corpus.n_documents:
        raise InputError(
            f"{counted(len(values), 'weight was', 'weights were')} given for "
            f"{counted(corpus.n_documents, 'document')}; make them from a click log for this "
            "corpus.",
            "one_weight_each",
        )
    shown = np.arange(len(values)) if all_documents else np.flatnonzero(values)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    named = corpus.document_ids is not None
    table.writerow(["query", "candidate", *["document"] * named, "weight", "examples"])
    total = _plain(weights.clicks)
    for cells, value in zip(candidate_rows(corpus, shown), values[shown].tolist(), strict=True):
        table.writerow([*cells, _plain(value), total])
    return out.getvalue()


def write_weights(
    path: str | Path, corpus: Corpus, weights: Weights, *, all_documents: bool = False
) -> None:
    """Write `weights_text` to a file; raises InputError if the file cannot be written."""
    text = weights_text(corpus, weights, all_documents=all_documents)
    with writing(path, _WHAT) as file:
        file.write(text)


def read_weights(path: str | Path, corpus: Corpus) -> Weights:
    """Read the weights of a corpus's documents; documents not listed have weight 0.

    A line's document is found by query and candidate, or by query and document if there is no
    candidate column. n is the value in the column ``examples`` or, without it, the number of lines
    with a weight above 0. Raises InputError, which names the line of the first fault.
    """
    return parse_weights(read_text(path, _WHAT), corpus, named(path))


def is_weights_table(source: Source) -> bool:
    """Whether a file begins with the column names of a weights table."""
    first = source.beginning().splitlines()[:1]
    known = (*QUERY_COLUMNS, *WEIGHT_COLUMNS)
    cells = [cell for line in first for cell in split_line(line, known, source.name)[1]]
    names = {cell.strip().lower() for cell in cells}
    return bool(names & set(WEIGHT_COLUMNS)) and bool(names & set(QUERY_COLUMNS))


def parse_weights(text: str | bytes, corpus: Corpus, name: str = "the weights table") -> Weights:
    """Weights from CSV text, or from the bytes of an upload; see `read_weights`."""
    text = text_of(text, name) if isinstance(text, bytes) else text
    with expecting("weights", text, name):
        table = CandidateTable(text, name, corpus, WEIGHT_COLUMNS, "weight")
    examples = table.column(EXAMPLE_COLUMNS)
    values = np.zeros(corpus.n_documents)
    total: float | None = None
    for document, cells, place in table.rows():
        value = parse_number(cells[table.value], f"{place}, column weight")
        if value < 0:
            raise InputError(
                f"{place} has weight {value:g}; it must be 0 or more.", "negative_weight"
            )
        values[document] = value
        if examples is None:
            continue
        given = parse_number(cells[examples], f"{place}, column examples")
        if given <= 0 or (total is not None and given != total):
            raise InputError(
                f"{place} has {quoted(cells[examples])} examples; give the same number above 0 on "
                "each line: the number of training examples behind the weights.",
                "weight_examples",
            )
        total = given
    if not values.any():
        raise InputError(
            f"{name} has no weight above 0, so there is nothing to learn from.", "no_weight"
        )
    return Weights(values, float(np.count_nonzero(values)) if total is None else total)


def _plain(value: float) -> str:
    """A number with all its digits, whole ones without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
