"""Rows of a click log, a block at a time: cells in, numbers and faults out."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files.log_blocks import TextBlock
from ultr_core.files.log_columns import COLUMNS

IntArray = NDArray[np.int64]

NAMES = ("query", "document", "ranker", "page")
"""Meanings whose cells are names; those of the others are numbers."""

WHOLE = ("position", "click", "impressions", "swap")
"""Meanings whose cells are whole numbers."""

UNUSED = ("session",)
"""Meanings that are recognised and told, but that nothing is made from."""

_VALUES = {
    "click": "a click",
    "impressions": "an impressions value",
    "position": "a position",
    "swap": "a swapped rank",
}
CLICK_WITHOUT_POSITION = "a click without a position"
_MOST_DIGITS = 9  # so that a number fits int32
_LIMITS = {"position": 10**_MOST_DIGITS, "swap": 10**_MOST_DIGITS}
_LIMIT = 2**53  # of the others, which are added up


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Cells of the wanted columns: by meaning, trimmed text as arrow dictionary arrays [rows].

    whole: by meaning, int64 [rows], the columns that hold nothing but whole numbers of 0 or more,
    which are not among ``cells``. lines: int64 [rows], the line or row of the file that each
    stands in.
    short: bool [rows], whether a row ends before one of the wanted columns. long: bool [rows],
    whether something stands beyond the last column that the header names; None where nothing can.
    """

    cells: Mapping[str, Any]
    lines: IntArray
    short: NDArray[np.bool_]
    whole: Mapping[str, IntArray] = field(default_factory=dict)
    long: NDArray[np.bool_] | None = None


def fast_cells(
    block: TextBlock, columns: Mapping[str, int], width: int, delimiter: str
) -> CellBlock | None:
    """Cells of a block of CSV text, read by arrow; ``width`` is how many columns the header names.

    None for a block with anything unusual in it: rows of another width, blank lines, stray
    quotation marks. `careful_cells` reads those.
    """
    names = [str(place) for place in range(width)]
    wanted = {names[place]: pa.string() for place in columns.values()}
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(block.data),
            read_options=arrow_csv.ReadOptions(
                column_names=names, use_threads=False, block_size=len(block.data) + 1
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=b'"' in block.data
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=wanted, include_columns=list(wanted), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    rows = table.num_rows
    if rows != (block.lines if block.ends is None else block.ends.size):
        return None
    cells, whole = {}, {}
    for meaning, place in columns.items():
        texts = table.column(names[place]).combine_chunks()
        numbers = digits_of(texts) if meaning in WHOLE else None
        if numbers is None:
            cells[meaning] = encoded(texts)
        else:
            whole[meaning] = numbers
    # Rows of blanks alone are no rows, but only the careful reader sees the other columns.
    if _all_empty(cells).any():
        return None
    lines = np.arange(block.first_line, block.first_line + rows, dtype=np.int64)
    if rows != block.lines and block.ends is not None:
        every = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n")) + 1
        before = np.searchsorted(every, np.append(0, block.ends[:-1]), side="right")
        lines = block.first_line + before
    return CellBlock(cells, lines, np.zeros(rows, dtype=bool), whole)


def digits_of(texts: Any) -> IntArray | None:
    """Numbers of an arrow text array [rows], int64; None unless each cell is 1 to 9 digits."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    lengths = np.diff(offsets)
    if not lengths.size or texts.null_count or lengths.min() < 1 or lengths.max() > _MOST_DIGITS:
        return None
    characters = np.frombuffer(texts.buffers()[2], np.uint8)
    values = np.zeros(lengths.size, dtype=np.int32)
    for place in range(int(lengths.max())):
        # Before the first digit of a cell others stand, or nothing; they count 0.
        digit = characters[np.maximum(offsets[1:] - (1 + place), 0)] - np.uint8(ord("0"))
        digit[lengths <= place] = 0
        if (digit > 9).any():
            return None
        values += digit * np.int32(10**place)
    return values.astype(np.int64)


def _all_empty(cells: Mapping[str, Any]) -> NDArray[np.bool_]:
    if not {"click", "position", "document"} <= set(cells):
        # A column of numbers alone has no empty cell.
        return np.zeros(1, dtype=bool)
    wanted = [cells[m] for m in ("click", "position", "document")]
    empty: NDArray[np.bool_] = np.logical_and.reduce([_empty(column) for column in wanted])
    return empty


def _empty(column: Any) -> NDArray[np.bool_]:
    return rows_with(column, pc.equal(pc.binary_length(column.dictionary), 0))


def rows_with(column: Any, names: Any) -> NDArray[np.bool_]:
    """Rows [rows] of a dictionary array whose name is one of those marked, a bool arrow array."""
    marked = names.to_numpy(zero_copy_only=False)
    # Codes are looked at only where some name is marked.
    if not marked.any():
        return np.zeros(len(column), dtype=bool)
    flags: NDArray[np.bool_] = marked[column.indices.to_numpy()]
    return flags


def encoded(texts: Any) -> Any:
    """An arrow text array as a dictionary array of trimmed texts."""
    found = texts.dictionary_encode()
    trimmed = pc.utf8_trim_whitespace(found.dictionary)
    if trimmed.equals(found.dictionary):
        return found
    again = trimmed.dictionary_encode()
    return pa.DictionaryArray.from_arrays(again.indices.take(found.indices), again.dictionary)


def careful_cells(
    block: TextBlock, columns: Mapping[str, int], width: int, delimiter: str, name: str
) -> CellBlock:
    """`fast_cells` row by row, for any text.

    Raises InputError naming the line of text that is no UTF-8 or no CSV.
    """
    try:
        text = block.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = block.first_line + block.data.count(b"\n", 0, error.start)
        raise InputError(
            f"Line {line} of {name} is no UTF-8 text; save the file as UTF-8."
        ) from None
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    places = list(columns.values())
    last = max(places)
    kept: list[list[str]] = []
    lines, short, long = [], [], []
    before = 0
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                is_short = len(cells) <= last
                kept.append([""] * len(places) if is_short else [cells[p] for p in places])
                lines.append(block.first_line + before)
                short.append(is_short)
                long.append(any(cell.strip() for cell in cells[width:]))
            before = rows.line_num
    except csv.Error as error:
        raise InputError(
            f"Line {block.first_line + rows.line_num - 1} of {name} is no CSV: {error}."
        ) from None
    by_column = list(zip(*kept, strict=True)) if kept else [()] * len(places)
    cells_by_meaning = {
        meaning: encoded(pa.array(column, pa.string()))
        for meaning, column in zip(columns, by_column, strict=True)
    }
    return CellBlock(
        cells_by_meaning,
        np.array(lines, dtype=np.int64),
        np.array(short, dtype=bool),
        long=np.array(long, dtype=bool),
    )


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The usable rows of a block.

    numbers: by meaning, int64 or int32 [rows]; swap is -1 where none is noted.
    names: by meaning, arrow dictionary arrays [rows]. propensity: float64 [rows], NaN where there
    is no number, or None without that column.
    """

    numbers: Mapping[str, NDArray[Any]]
    names: Mapping[str, Any]
    propensity: NDArray[np.float64] | None

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.numbers["position"].size)


@dataclass
class Fault:
    """Rows that cannot be used for one reason: how many, their clicks, where the first is."""

    kind: str
    rows: int = 0
    clicks: int = 0
    first: int = 0


def rows_of(block: CellBlock, faults: dict[str, Fault], columns: Mapping[str, str]) -> RowBlock:
    """Numbers of the usable rows of a block; the others are counted in ``faults``, by kind.

    columns: meaning to column name, for the words of a fault.
    """
    size = block.lines.size
    kind = np.zeros(size, dtype=np.int8)
    kinds = [""]

    def mark(rows: NDArray[np.bool_], what: str) -> None:
        new = rows & (kind == 0)
        if new.any():
            kinds.append(what)
            kind[new] = len(kinds) - 1

    def mark_values(meaning: str, fault: NDArray[np.int8]) -> None:
        for rows, what in _value_faults(meaning, fault):
            mark(rows, f"{_VALUES[meaning]} {what}{_in_column(meaning, columns)}")

    mark(block.short, "too few columns")
    zero = [rows_with(c, pc.match_substring(c.dictionary, "\0")) for c in block.cells.values()]
    if zero:
        mark(np.logical_or.reduce(zero), "a zero byte")
    clicks, faulty = _whole(block, "click", _number_or_truth)
    mark_values("click", faulty)
    shown, faulty = _whole(block, "impressions", _number)
    if shown is not None:
        mark_values("impressions", faulty)
    position, faulty = _whole(block, "position", _number)
    mark((faulty == _EMPTY) & (clicks > 0), CLICK_WITHOUT_POSITION)
    mark(faulty == _EMPTY, "no position")
    mark_values("position", faulty)
    mark(clicks > (1 if shown is None else shown), "more clicks than impressions")
    swap, faulty = _whole(block, "swap", _number)
    if swap is not None:
        swap = np.where(faulty == _EMPTY, -1, swap)
        mark_values("swap", np.where(faulty == _EMPTY, 0, faulty))
    mark(_empty(block.cells["document"]), "no document")

    usable = kind == 0
    for code in np.unique(kind[~usable]).tolist():
        rows = kind == code
        fault = faults.setdefault(kinds[code], Fault(kinds[code]))
        fault.first = fault.first or int(block.lines[np.argmax(rows)])
        fault.rows += int(rows.sum())
        fault.clicks += int(np.minimum(clicks[rows], 2**40).sum())
    every = bool(usable.all())
    numbers = {"position": position, "click": clicks, "impressions": shown, "swap": swap}
    kept = {
        meaning: _small(values if every else values[usable])
        for meaning, values in numbers.items()
        if values is not None
    }
    names = {}
    for meaning in NAMES:
        if meaning in block.cells:
            cells = block.cells[meaning]
            names[meaning] = cells if every else cells.filter(pa.array(usable))
    propensity = _propensity(block)
    if propensity is not None and not every:
        propensity = propensity[usable]
    return RowBlock(kept, names, propensity)


_GOOD, _EMPTY, _TEXT, _BROKEN, _HUGE = 0, 1, 2, 3, 4


def _whole(
    block: CellBlock, meaning: str, read: Callable[[str], float | None]
) -> tuple[Any, NDArray[np.int8]]:
    """Whole numbers of a column, int64 [rows], 0 for a fault, and which fault; None without it."""
    limit = _LIMITS.get(meaning, _LIMIT)
    if meaning not in block.cells:
        whole, good = block.whole.get(meaning), np.zeros(block.lines.size, dtype=np.int8)
        if whole is None or whole.max(initial=0) < limit:
            return whole, good
        return np.where(whole < limit, whole, 0), np.where(whole < limit, good, _HUGE)
    column = block.cells[meaning]
    texts = column.dictionary.to_pylist()
    values = np.zeros(len(texts), dtype=np.int64)
    fault = np.zeros(len(texts), dtype=np.int8)
    for place, text in enumerate(texts):
        number = read(text)
        if number is None:
            fault[place] = _TEXT if text else _EMPTY
        elif number >= limit and any(map(str.isdigit, text)):  # not the words for infinity
            fault[place] = _HUGE
        elif not 0 <= number < limit or number != int(number):
            fault[place] = _BROKEN
        else:
            values[place] = int(number)
    codes = column.indices.to_numpy()
    return values[codes], fault[codes]


def _number(text: str) -> float | None:
    number = number_in_text(text)
    return None if math.isnan(number) else number


def _number_or_truth(text: str) -> float | None:
    lowered = text.lower()
    return float(lowered == "true") if lowered in ("true", "false") else _number(text)


def _value_faults(meaning: str, fault: NDArray[np.int8]) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Rows of each fault of a column, and what is wrong there."""
    yield (fault == _TEXT) | (fault == _EMPTY), "that is no number"
    yield fault == _BROKEN, "that is no whole number of 0 or more"
    limit = f"{_LIMITS[meaning]:,}" if meaning in _LIMITS else "2^53"
    yield fault == _HUGE, f"that is too large ({limit} or more)"


def _in_column(meaning: str, columns: Mapping[str, str]) -> str:
    """Where the value stands, if the column does not have a name of that meaning."""
    column = columns[meaning]
    known = column.strip().lower() in COLUMNS[meaning]
    return "" if known else f" in the column {quoted(column)}"


def _propensity(block: CellBlock) -> NDArray[np.float64] | None:
    if "propensity" not in block.cells:
        return None
    column = block.cells["propensity"]
    numbers = [_number(text) for text in column.dictionary.to_pylist()]
    values = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)
    found: NDArray[np.float64] = values[column.indices.to_numpy()]
    return found


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The numbers in half the memory where they fit."""
    return values.astype(np.int32) if values.size and values.max() < 2**31 else values
