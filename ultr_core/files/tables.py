"""CSV tables: rows as text, and how lines for documents of a corpus find their documents."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files.disk import lines_of
from ultr_core.limits import COLUMNS, ROW_BYTES
from ultr_core.words import counted

if TYPE_CHECKING:
    from ultr_core.corpus.model import Corpus

DELIMITERS: Mapping[str, str] = MappingProxyType(
    {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
)
"""Characters that may stand between columns, and what they are called."""


def table_text(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> str:
    """CSV text with these columns, or those of the first row; a missing value is an empty cell.

    >>> table_text([{"a": 1, "b": None}, {"a": 2}])
    'a,b\\n1,\\n2,\\n'
    """
    out = io.StringIO()
    names = list(columns or (rows[0] if rows else ()))
    table = csv.DictWriter(out, names, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def split_line(line: str, known: Collection[str], name: str) -> tuple[str, list[str]]:
    """Delimiter of a header line, and its cells.

    The delimiter is the one under which most columns have one of the ``known`` names, in lower
    case; among equals, the delimiter that gives the most columns, then the order of ``DELIMITERS``.
    Raises InputError for more than ``COLUMNS``; ``name`` is the table's, for the message.

    >>> split_line("propensity; rank", ("rank", "propensity"), "the curve")
    (';', ['propensity', ' rank'])
    """

    # Counted before anything is taken apart, which takes many times the text.
    COLUMNS.require(1 + max(map(line.count, DELIMITERS)), name)

    def split(delimiter: str) -> list[str]:
        try:
            return next(csv.reader([line.replace("\r", " ")], delimiter=delimiter), [])
        except csv.Error:
            return []

    def worth(delimiter: str) -> tuple[int, int]:
        cells = split(delimiter)
        return sum(cell.strip().lower() in known for cell in cells), len(cells)

    best = max(DELIMITERS, key=worth)
    return best, split(best)


def table_rows(text: str, known: Collection[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that are not blank: number of the last line and cells of each.

    Its first line that is not blank tells the delimiter, by the ``known`` names; see `split_line`.
    Raises InputError for a row that is not CSV, or with more than ``ROW_BYTES`` characters, whose
    cells would take many times the text.

    >>> list(table_rows("rank;p\\n\\n1;.5\\n", ("rank", "p"), "the curve"))
    [(1, ['rank', 'p']), (3, ['1', '.5'])]
    """
    delimiter, _ = split_line(text.lstrip().partition("\n")[0], known, name)
    length = 0

    def lines() -> Iterator[str]:
        nonlocal length
        for number, line in enumerate(lines_of(text, name), 1):
            length += len(line)
            if length > ROW_BYTES.most:
                raise ROW_BYTES.exceeded(f"The row in {name} that reaches line {number}")
            yield line

    rows = csv.reader(lines(), delimiter=delimiter)
    try:
        for cells in rows:
            length = 0
            if any(cell.strip() for cell in cells):
                yield rows.line_num, cells
    except csv.Error as error:
        raise InputError(f"{name}, line {rows.line_num} is not CSV ({error}).", "not_csv") from None


MADE_WITH = "made_with"
"""Column of a table that is written, and entry of other files, that holds its origin."""

QUERY_COLUMNS = ("query", "query_id", "qid")
CANDIDATE_COLUMNS = ("candidate",)
DOCUMENT_COLUMNS = ("document", "document_id", "doc", "doc_id", "docid")


def candidate_rows(corpus: Corpus, documents: NDArray[np.int64]) -> Iterator[list[str]]:
    """Cells query, candidate and, where the corpus has them, document id of the given documents.

    Raises InputError if two queries have the same id, for their lines could not be told apart.
    """
    if len(set(corpus.query_ids)) < corpus.n_queries:
        raise InputError(
            "Two queries have the same id, so a table would mix them; rename one.", "same_query_id"
        )
    query = np.searchsorted(corpus.query_offsets, documents, side="right") - 1
    candidate = documents - corpus.query_offsets[query] + 1
    ids = corpus.document_ids
    for number, q, c in zip(documents.tolist(), query.tolist(), candidate.tolist(), strict=True):
        yield [corpus.query_ids[q], str(c), *([] if ids is None else [ids[number]])]


def read_header(
    text: str, name: str, known: Collection[str]
) -> tuple[list[str], Iterator[list[str]]]:
    """Lower-case column names of a CSV text and the rows after them, each with its line number.

    The ``known`` names reveal the separator, one of ``DELIMITERS``. A row's last cell is its line
    number. Raises InputError for CSV that cannot be split into cells.
    """
    rows = table_rows(text, known, name)
    header = [cell.strip().lower() for cell in next(rows, (0, [""]))[1]]
    return header, ([*cells, str(number)] for number, cells in rows)


def find_column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Place of the first column that has one of these names; None if there is none."""
    return next((header.index(wanted) for wanted in names if wanted in header), None)


def parse_number(text: str, place: str) -> float:
    """A finite number; raises InputError, which begins with ``place``.

    One that would become 0, or another whole number, is refused as well: different ones would
    become equal.
    """
    value = number_in_text(text)
    if not math.isfinite(value):
        raise InputError(f"{place}: {quoted(text)} is not a finite number.", "not_a_number")
    digits = text.strip().lower().partition("e")[0]
    too_small = value == 0 and any(digit in digits for digit in "123456789")
    whole = digits.lstrip("+-").isdigit() and "e" not in text.lower()
    if too_small or (whole and abs(value) >= 2**53 and int(digits) != int(value)):
        raise InputError(
            f"{place}: {quoted(text)} has more digits, or a smaller exponent, than a float can "
            "represent, so different values would become equal; scale or round them.",
            "number_lost",
        )
    return value


class CandidateTable:
    """The lines of a CSV table, each with the document of a corpus that it is about.

    value: place of the column asked for. Raises InputError without the columns needed.
    """

    def __init__(
        self, text: str, name: str, corpus: Corpus, value_names: Sequence[str], value_name: str
    ) -> None:
        self.name, self.corpus = name, corpus
        known = (*QUERY_COLUMNS, *CANDIDATE_COLUMNS, *DOCUMENT_COLUMNS, *value_names)
        self.header, self._lines = read_header(text, name, known)
        self._query = self._needed(QUERY_COLUMNS, f"query,candidate,{value_name}")
        self._candidate = self.column(CANDIDATE_COLUMNS)
        self._document = self.column(DOCUMENT_COLUMNS)
        self.value = self._needed(value_names, f"query,candidate,{value_name}")
        self._places: dict[int, Mapping[str, list[int]]] = {}
        if self._candidate is None and self._document is None:
            self._needed(CANDIDATE_COLUMNS, f"query,candidate,{value_name}")
        if self._candidate is None and corpus.document_ids is None:
            raise InputError(
                f"{name} names documents by id, but the corpus has no document ids (comments '# "
                "docid = X'); give a candidate column with each document's place within its query, "
                "counted from 1.",
                "no_document_ids",
            )

    def column(self, names: Sequence[str]) -> int | None:
        """Place of a column by any of its names; None if there is none.

        Raises InputError if the first line names it twice.
        """
        found = find_column(self.header, names)
        if found is not None and self.header.count(self.header[found]) > 1:
            raise InputError(
                f"{self.name}, line 1 names the column {self.header[found]} twice; keep one.",
                "column_twice",
            )
        return found

    def _needed(self, names: Sequence[str], example: str) -> int:
        found = self.column(names)
        if found is None:
            raise InputError(
                f"{self.name}, line 1 has no column {names[0]}; the first line must name the "
                f"columns, such as {example}.",
                "column_missing",
            )
        return found

    def rows(self) -> Iterator[tuple[int, list[str], str]]:
        """Each line's document (row of the corpus), cells, and place for messages.

        Raises InputError for a line that is too short, is about no document, or a second one
        about the same document.
        """
        seen = np.zeros(self.corpus.n_documents, np.bool_)
        query_of = {name: number for number, name in enumerate(self.corpus.query_ids)}
        for *cells, number in self._lines:
            place = f"{self.name}, line {number}"
            if len(cells) < len(self.header):
                raise InputError(
                    f"{place} has {counted(len(cells), 'cell')}; give {len(self.header)}, one per "
                    "column.",
                    "cells_missing",
                )
            query = query_of.get(cells[self._query], query_of.get(cells[self._query].strip()))
            if query is None:
                raise InputError(
                    f"{place}: the corpus has no query {quoted(cells[self._query])}; give a query "
                    "id from the corpus.",
                    "unknown_query",
                )
            document = self._find(query, cells, place)
            if seen[document]:
                raise InputError(
                    f"{place} is a second line for the same document; keep one.", "document_twice"
                )
            seen[document] = True
            yield document, cells, place

    def _documents_of(self, query: int) -> Mapping[str, list[int]]:
        """Rows of the corpus by document id, of a query; looked up once, as queries may be long."""
        if query not in self._places:
            found: dict[str, list[int]] = {}
            start, stop = self.corpus.query_offsets[query : query + 2].tolist()
            for row, name in enumerate((self.corpus.document_ids or ())[start:stop], start):
                found.setdefault(name, []).append(row)
            self._places[query] = found
        return self._places[query]

    def _find(self, query: int, cells: list[str], place: str) -> int:
        """The document of a line, by candidate or by document id, which must then agree."""
        start, stop = (int(x) for x in self.corpus.query_offsets[query : query + 2])
        ids = self.corpus.document_ids
        name = None if self._document is None else cells[self._document]
        known = self._documents_of(query)
        if name is not None and name not in known:
            name = name.strip()
        if self._candidate is None:
            found = known.get(str(name), [])
            if len(found) != 1:
                raise InputError(
                    f"{place}: query {quoted(cells[self._query])} has {len(found)} documents named "
                    f"{quoted(name)}; there must be exactly one.",
                    "unknown_document",
                )
            return found[0]
        text = cells[self._candidate].strip()
        candidate = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        if not 1 <= candidate <= stop - start:
            raise InputError(
                f"{place}: query {quoted(cells[self._query])} has no candidate {quoted(text)}; "
                f"give a whole number from 1 to {stop - start}.",
                "unknown_candidate",
            )
        document = start + candidate - 1
        if name is not None and ids is not None and ids[document] != name:
            raise InputError(
                f"{place}: candidate {candidate} of query {quoted(cells[self._query])} is "
                f"{quoted(ids[document])} in the corpus and {quoted(name)} here; give a table for "
                "this corpus.",
                "another_corpus",
            )
        return document
