"""Click logs as CSV files: what was shown where, and what was clicked, from a real system."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, checked_path, named
from ultr_core.propensity.displays import DisplayCounts, display_counts
from ultr_core.propensity.points import Counts
from ultr_core.propensity.swaps import SwapCounts

IntArray = NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)

COLUMNS: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "search_query"),
    "document": ("document", "document_id", "doc", "doc_id", "docid", "item", "item_id", "url"),
    "position": ("position", "pos", "rank", "slot"),
    "click": ("click", "clicks", "clicked", "is_click"),
    "impressions": ("impressions", "impression", "views", "displays", "shown"),
    "swap": ("swapped_rank", "swap_rank", "swapped_with", "swap"),
    "ranker": ("ranker", "ranker_id", "system", "policy", "logger"),
    "page": ("page", "page_id", "serp", "serp_id", "impression_id", "request_id"),
}
"""Meaning of a column and the names it may have, letters of any case."""

_REQUIRED = ("document", "position", "click")
_VALUES = {
    "position": "a position",
    "click": "a click",
    "impressions": "an impressions value",
    "swap": "a swapped rank",
}


@dataclass(frozen=True, eq=False)
class PresentationLog:
    """The usable rows of a click log from a file, int64 [rows] each, and what was found in it.

    query, document: numbered from 0; a document of two queries has two numbers. position: from 1.
    impressions, clicks: of the row. swap: the rank that the landmark traded places with in this
    presentation, 0 where none was noted. ranker: numbered from 0.
    documents: number of different document names. has_swaps: whether the file has a column of
    swapped ranks. first_position: 0 or 1, as found.
    notices: one sentence for each thing a reader should know.
    """

    query: IntArray
    document: IntArray
    position: IntArray
    impressions: IntArray
    clicks: IntArray
    swap: IntArray
    ranker: IntArray
    documents: int
    has_swaps: bool
    first_position: int
    notices: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """Sizes of the log, for tables and JSON."""
        return {
            "rows": int(self.query.size),
            "queries": int(np.unique(self.query).size),
            "documents": self.documents,
            "query_document_pairs": int(np.unique(self.document).size),
            "rankers": int(np.unique(self.ranker).size),
            "positions": int(np.unique(self.position).size),
            "last_position": int(self.position.max()),
            "impressions": int(self.impressions.sum()),
            "clicks": int(self.clicks.sum()),
        }

    def displays(self) -> DisplayCounts:
        """Displays counted by document and position, over all rankers and swaps."""
        return display_counts(
            self.query, self.document, self.position, self.impressions, self.clicks
        )

    def swap_counts(self, landmark: int, last_rank: int) -> SwapCounts:
        """The landmark swap experiment that the rows record.

        A row at its presentation's swapped rank is the landmark document, one at the landmark the
        document that moved up; swapped rank = landmark is the control. A query's list is as long as
        the lowest position it was logged at; where only the two swapped documents are logged,
        every list is taken to be long enough. Raises InputError without the column, or without a
        single swap or control presentation.
        """
        if not self.has_swaps:
            raise InputError(
                "The log has no column swapped_rank, so there is no swap experiment in it; add the "
                "rank that the landmark was swapped with, or use --method harvest."
            )
        if not 1 <= landmark <= last_rank:
            raise InputError(
                f"The landmark is rank {landmark}; it must lie between 1 and {last_rank}."
            )
        drawn, place = self.swap, self.position
        long_enough = self._list_length(landmark)[self.query]
        own = (drawn == landmark) & (place == landmark)
        if not own.any():
            raise InputError(
                f"No presentation is a control for landmark {landmark}: rows at position "
                f"{landmark} with swapped_rank {landmark} are needed."
            )
        changed = (drawn > 0) & (drawn != landmark)
        if not changed.any():
            raise InputError(f"No presentation swapped rank {landmark} with another rank.")
        in_experiment = drawn > 0
        still = in_experiment & (place != drawn) & (place != landmark)
        control = [self._total(own & (long_enough >= r)) for r in range(1, last_rank + 1)]
        return SwapCounts(
            landmark,
            self._by(place, in_experiment & (place == drawn), last_rank),
            Counts(np.array([n for n, _ in control]), np.array([c for _, c in control])),
            self._by(drawn, changed & (place == landmark), last_rank),
            self._by(place, still, last_rank),
            int(self.impressions[own | (changed & (place == landmark))].sum()),
        )

    def _list_length(self, landmark: int) -> IntArray:
        """Length of each query's list as far as the log shows it."""
        length = np.zeros(int(self.query.max()) + 1, dtype=np.int64)
        if np.all((self.position == self.swap) | (self.position == landmark)):
            return length + np.iinfo(np.int64).max
        np.maximum.at(length, self.query, self.position)
        return length

    def _total(self, rows: NDArray[np.bool_]) -> tuple[int, int]:
        return int(self.impressions[rows].sum()), int(self.clicks[rows].sum())

    def _by(self, rank: IntArray, rows: NDArray[np.bool_], last_rank: int) -> Counts:
        kept = rows & (rank >= 1) & (rank <= last_rank)

        def total(values: IntArray) -> IntArray:
            sums = np.bincount(rank[kept] - 1, weights=values[kept], minlength=last_rank)
            return np.rint(sums).astype(np.int64)

        return Counts(total(self.impressions), total(self.clicks))


def read_log(path: str | Path) -> PresentationLog:
    """Read a click log from a CSV file; see `parse_log`."""
    file = checked_path(path, "The click log")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"The click log {named(path)} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"The click log {named(path)} is no UTF-8 text; give a CSV file."
        ) from None
    return parse_log(text, named(file.name))


def parse_log(text: str, name: str = "the click log") -> PresentationLog:
    """Click log from CSV text with a header line; unusable rows are left out and told.

    Columns (aliases in ``COLUMNS``): document, position, click; optionally query, impressions (1
    a row without it), swapped rank, ranker and page. Other columns are ignored. Positions that
    start at 0 are recognised and raised by one. Raises InputError if a column is missing, or if
    no row can be used.
    """
    rows = csv.reader(io.StringIO(text))
    try:
        header = [cell.strip().lower() for cell in next(rows, [])]
        columns = _columns(header, name)
        table = _Rows(columns)
        for cells in rows:
            if any(cell.strip() for cell in cells):
                table.add(cells, rows.line_num)
    except csv.Error as error:
        raise InputError(f"Line {rows.line_num} of {name} is no CSV: {error}.") from None
    return table.log(name)


def _columns(header: list[str], name: str) -> dict[str, int]:
    found = {}
    for meaning, aliases in COLUMNS.items():
        places = [header.index(alias) for alias in aliases if alias in header]
        if places:
            found[meaning] = places[0]
    for meaning in _REQUIRED:
        if meaning not in found:
            raise InputError(
                f"{name} has no column {meaning}: its first line must name the columns, such as "
                f"query,document,position,click (also understood for {meaning}: "
                f"{', '.join(COLUMNS[meaning][1:])})."
            )
    return found


class _RowError(Exception):
    """A row that cannot be used: which kind of fault."""


class _Rows:
    """Rows as they are read, and what was wrong with those that cannot be used."""

    def __init__(self, columns: dict[str, int]) -> None:
        self.columns = columns
        self.numbers: list[tuple[int, ...]] = []
        self.queries: dict[str, int] = {}
        self.documents: dict[tuple[int, str], int] = {}
        self.rankers: dict[str, int] = {}
        self.pages: dict[str, int] = {}
        self.faults: dict[str, list[int]] = {}

    def add(self, cells: list[str], line: int) -> None:
        """Take a row, or note its fault."""
        try:
            self.numbers.append(self._numbers(cells))
        except _RowError as fault:
            self.faults.setdefault(str(fault), []).append(line)

    def _cell(self, cells: list[str], meaning: str, default: str = "") -> str:
        column = self.columns.get(meaning)
        if column is None:
            return default
        if column >= len(cells):
            raise _RowError("too few columns")
        return cells[column].strip()

    def _numbers(self, cells: list[str]) -> tuple[int, ...]:
        clicks = self._whole(cells, "click")
        shown = self._whole(cells, "impressions") if "impressions" in self.columns else 1
        if not self._cell(cells, "position"):
            raise _RowError("a click without a position" if clicks else "no position")
        position = self._whole(cells, "position")
        if clicks > shown:
            raise _RowError("more clicks than impressions")
        swap = self._whole(cells, "swap") if self._cell(cells, "swap") else -1
        document = self._cell(cells, "document")
        if not document:
            raise _RowError("no document")
        query = _number_of(self.queries, self._cell(cells, "query"))
        return (
            query,
            _number_of(self.documents, (query, document)),
            position,
            shown,
            clicks,
            swap,
            _number_of(self.rankers, self._cell(cells, "ranker")),
            _number_of(self.pages, self._cell(cells, "page")),
        )

    def _whole(self, cells: list[str], meaning: str) -> int:
        text = self._cell(cells, meaning)
        if text.lower() in ("true", "false") and meaning == "click":
            return int(text.lower() == "true")
        try:
            value = float(text)
        except ValueError:
            raise _RowError(f"{_VALUES[meaning]} that is no number") from None
        if not 0 <= value < 2**53 or value != int(value):
            raise _RowError(f"{_VALUES[meaning]} that is no whole number of 0 or more")
        return int(value)

    def log(self, name: str) -> PresentationLog:
        """The usable rows; raises InputError if there is none."""
        faults = [_fault_words(kind, lines) for kind, lines in self.faults.items()]
        if not self.numbers:
            told = "; ".join(faults) or "nothing follows its first line"
            raise InputError(f"{name} has no usable row: {told}.")
        notices = [f"{words} left out; the other rows are used." for words in faults]
        table = np.array(self.numbers, dtype=np.int64).T
        query, document, position, shown, clicks, swap, ranker, page = table
        first = 0 if position.min() == 0 else 1
        position = position + (1 - first)
        swap = np.where(swap < 0, 0, swap + (1 - first))
        notices += self._sentences(first, query, document, position, page)
        return PresentationLog(
            query, document, position, shown, clicks, swap, ranker, self.names(),
            "swap" in self.columns, first, tuple(notices),
        )  # fmt: skip

    def names(self) -> int:
        """How many different document names were read."""
        return len({name for _, name in self.documents})

    def _sentences(
        self, first: int, query: IntArray, document: IntArray, position: IntArray, page: IntArray
    ) -> Iterator[str]:
        if first == 0:
            yield "Positions start at 0 in this log; 1 was added, so that the top one is rank 1."
        else:
            yield "Positions are counted from 1; position 1 is the reference."
        if "query" not in self.columns:
            yield "There is no column query, so all rows are taken as one query."
        if "page" in self.columns:
            yield from _repeats(document, position, page)
        pairs = np.unique(np.stack([document, position]), axis=1)
        moved = int(np.count_nonzero(np.bincount(pairs[0]) > 1))
        yield (
            f"{moved:,} of {len(self.documents):,} (query, document) pairs were seen at more than "
            "one position; each counts as one document."
        )
        if int(position.max()) == 1:
            yield "Only position 1 occurs in this log, so no position can be compared with it."


def _repeats(document: IntArray, position: IntArray, page: IntArray) -> Iterator[str]:
    shown = np.unique(np.stack([page, document, position]), axis=1)
    same = np.all(np.diff(shown[:2], axis=1) == 0, axis=0)
    pages = np.unique(shown[0, 1:][same]).size
    if pages:
        noun = "1 page shows" if pages == 1 else f"{pages:,} pages show"
        yield (
            f"{noun} the same document at two positions; both rows are used, each at its position."
        )


def _number_of(numbers: dict[Key, int], key: Key) -> int:
    return numbers.setdefault(key, len(numbers))


def _fault_words(kind: str, lines: list[int]) -> str:
    count = len(lines)
    if kind == "a click without a position":
        what = f"{count:,} click{'' if count == 1 else 's'} without a position"
    else:
        what = f"{count:,} row{'' if count == 1 else 's'} with {kind}"
    where = f"line {lines[0]}" if count == 1 else f"first line {lines[0]}"
    return f"{what} ({where})"
