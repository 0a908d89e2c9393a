"""Rows of a click log, counted by what stands in them: numbers and faults of the usable ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import number_in_text, quoted
from ultr_core.files.log_columns import COLUMNS
from ultr_core.files.log_relation import Progress, Relation
from ultr_core.limits import CELL_BYTES, Room
from ultr_core.propensity.presentations import RowFault

IntArray = NDArray[np.int64]

NAMES = ("query", "document", "ranker", "page")
"""Meanings whose cells are names; those of the others are numbers."""

UNUSED = ("session",)
"""Meanings that are recognised and told, but that nothing is made from."""

CLICK_WITHOUT_POSITION = "a click without a position"

_VALUES = {
    "click": "a click",
    "impressions": "an impressions value",
    "position": "a position",
    "swap": "a swapped rank",
}
_TRUTHS = ("click", "impressions")  # may be true or false
_LIMITS = {"position": 10**9, "swap": 10**9}  # so that a number fits int32
_LIMIT = 2**53  # of the others, which are added up
_GOOD, _EMPTY, _TEXT, _BROKEN, _HUGE = 0, 1, 2, 3, 4
_MOST_BREAKS = 1 << 23  # in one row, of which ROW_BYTES are accepted
_LARGEST_FAULTY = 2**40  # so that clicks on faulty rows can be added


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows with equal cells in the wanted columns are counted as one entry [entries].

    codes: by meaning, int32, the place of the cell among ``texts`` of that meaning. rows: how many
    rows of the file an entry stands for. first: number of the first of them, from 1, rising.
    short: whether the rows end before one of the wanted columns. long: how many rows have cells
    beyond the last column that the header names, and the number of the first.
    """

    codes: Mapping[str, NDArray[np.int32]]
    texts: Mapping[str, list[str]]
    rows: IntArray
    first: IntArray
    short: NDArray[np.bool_]
    long: tuple[int, int]


def counted_rows(
    relation: Relation, places: Mapping[str, int], room: Room, progress: Progress | None = None
) -> CountedRows:
    """Count the rows of a log by the cells of the columns at ``places``, by meaning.

    Raises InputError for more rows than there is room for, cells beyond ``CELL_BYTES``, and what
    is damaged.
    """
    relation.run(f"CREATE TEMP TABLE counted AS {_count(relation, places)}", [relation.path],
                 progress)  # fmt: skip
    entries, rows, last, broken, long, first_long = relation.run(
        "SELECT count(*), coalesce(sum(rows), 0), max(last), max(broken), "
        "coalesce(sum(long), 0), min(first_long) FROM counted"
    )[0]
    if rows > room.rows.most:
        raise room.rows.exceeded(relation.name)
    if entries and broken // _MOST_BREAKS == last:
        relation.require_closed(int(last), int(broken % _MOST_BREAKS))
    texts = {}
    for place, meaning in enumerate(places):
        relation.run(
            f"CREATE TEMP TABLE names{place} AS "
            "SELECT text, row_number() OVER (ORDER BY first) - 1 AS code FROM "
            f"(SELECT k{place} AS text, min(first) AS first FROM counted GROUP BY ALL)"
        )
        found = relation.run(f"SELECT text FROM names{place} ORDER BY code")
        texts[meaning] = [text for (text,) in found]
    codes = ", ".join(f"names{place}.code::INTEGER AS code{place}" for place in range(len(places)))
    joins = " ".join(
        f"JOIN names{place} ON names{place}.text = k{place}" for place in range(len(places))
    )
    table = relation.run(
        f"SELECT {codes}, rows, first, short FROM counted {joins} ORDER BY first",
        arrays=True,
    )
    return CountedRows(
        {meaning: np.asarray(table[f"code{place}"]) for place, meaning in enumerate(places)},
        texts,
        np.asarray(table["rows"], np.int64),
        np.asarray(table["first"], np.int64),
        np.asarray(table["short"], bool),
        (int(long), int(first_long or 0)),
    )


def _count(relation: Relation, places: Mapping[str, int]) -> str:
    """SQL that counts rows by their cells k0, k1, ..., which are in the order of ``places``."""
    keys = [f"k{number}" for number in range(len(places))]
    cells = [
        f"{relation.text_of(place, is_name=meaning in NAMES)} AS {key}"
        for key, (meaning, place) in zip(keys, places.items(), strict=True)
    ]
    cells.append("row_number() OVER () AS n")
    checks = " ".join(
        f"WHEN strlen({key}) > {CELL_BYTES.most} "
        f"THEN error('door {meaning} ' || n || ' ' || strlen({key}))"
        for key, meaning in zip(keys, places, strict=True)
    )
    # One comparison for most rows.
    size = " + ".join(f"strlen({key})" for key in keys)
    kept = f"({size} <= {CELL_BYTES.most} OR CASE {checks} ELSE true END)"
    short, last, broken, long, first_long = "false", "0", "-1", "0", "0"
    if relation.is_text:
        cells.append("*")
        short = f"c{max(places.values())} IS NULL"
        keys = [f"CASE WHEN {short} THEN '' ELSE {key} END AS {key}" for key in keys]
        beyond = "trim(coalesce(rest, '') || coalesce(further, '')) <> ''"
        long, first_long = f"count(*) FILTER ({beyond})", f"min(n) FILTER ({beyond})"
        # All columns are looked at only where there is no position.
        position = f"k{list(places).index('position')}"
        kept += (
            f" AND NOT CASE WHEN trim({position}) = '' THEN {relation.is_blank()} ELSE false END"
        )
        if relation.has_quotes():
            every = f"concat({', '.join(f'c{place}' for place in range(len(relation.header)))})"
            last, broken = (
                "max(n)",
                f"max(CASE WHEN contains({every}, chr(10)) THEN n * {_MOST_BREAKS} + "
                f"strlen({every}) - strlen(replace({every}, chr(10), '')) ELSE 0 END)",
            )
    return (
        f"SELECT {', '.join(keys)}, {short} AS short, count(*) AS rows, min(n) AS first, "
        f"{last} AS last, {broken} AS broken, {long} AS long, {first_long} AS first_long "
        f"FROM (SELECT {', '.join(cells)} FROM {relation.scan}) WHERE {kept} GROUP BY ALL"
    )


@dataclass(frozen=True, eq=False)
class UsableRows:
    """The usable entries of a log.

    numbers: by meaning, of each entry over all of its rows for clicks and impressions, else of
    each row; swap is -1 where none is noted. rows: of the file. names: by meaning, numbers of the
    names in ``texts``. propensity: float64, NaN where there is no number, or None without that
    column. faults: of the others, in the order of the file, by number of the record.
    """

    numbers: Mapping[str, NDArray[Any]]
    rows: IntArray
    names: Mapping[str, NDArray[np.int32]]
    texts: Mapping[str, tuple[str, ...]]
    propensity: NDArray[np.float64] | None
    faults: tuple[RowFault, ...]


def usable_rows(counted: CountedRows, columns: Mapping[str, str]) -> UsableRows:
    """Numbers of the usable rows of a log, and what is wrong with the others.

    columns: meaning to column name, for the words of a fault.
    """
    kind = np.zeros(counted.rows.size, dtype=np.int8)
    kinds = [""]

    def mark(rows: NDArray[np.bool_], what: str) -> None:
        new = rows & (kind == 0)
        if new.any():
            kinds.append(what)
            kind[new] = len(kinds) - 1

    def mark_values(meaning: str, fault: NDArray[np.int8]) -> None:
        for rows, what in _value_faults(meaning, fault):
            mark(rows, f"{_VALUES[meaning]} {what}{_in_column(meaning, columns)}")

    mark(counted.short, "too few columns")
    zero = [_where(counted, meaning, lambda text: "\0" in text) for meaning in counted.codes]
    mark(np.logical_or.reduce(zero), "a zero byte")
    clicks, faulty = _whole(counted, "click")
    mark_values("click", faulty)
    shown = None
    if "impressions" in counted.codes:
        shown, faulty = _whole(counted, "impressions")
        mark_values("impressions", faulty)
    position, faulty = _whole(counted, "position")
    mark((faulty == _EMPTY) & (clicks > 0), CLICK_WITHOUT_POSITION)
    mark(faulty == _EMPTY, "no position")
    mark_values("position", faulty)
    mark(clicks > (1 if shown is None else shown), "more clicks than impressions")
    swap = None
    if "swap" in counted.codes:
        swap, faulty = _whole(counted, "swap")
        swap = np.where(faulty == _EMPTY, -1, swap)
        mark_values("swap", np.where(faulty == _EMPTY, 0, faulty))
    mark(_where(counted, "document", lambda text: not text.strip()), "no document")

    faults = []
    for code in range(1, len(kinds)):
        rows = kind == code
        lost = np.minimum(clicks[rows], _LARGEST_FAULTY) * counted.rows[rows]
        first = int(counted.first[rows].min())
        faults.append(RowFault(kinds[code], int(counted.rows[rows].sum()), int(lost.sum()), first))
    usable = kind == 0
    rows_of = counted.rows[usable]
    ones = np.ones(counted.rows.size, np.int64)
    numbers = {
        "position": position[usable],
        "click": clicks[usable],
        "impressions": (ones if shown is None else shown)[usable],
        "swap": (-ones if swap is None else swap)[usable],
    }
    names, texts = {}, {}
    for meaning in NAMES:
        if meaning in counted.codes:
            names[meaning], texts[meaning] = _names(counted, meaning, usable)
    propensity = None
    if "propensity" in counted.codes:
        found = [_number(text) for text in counted.texts["propensity"]]
        values = np.array([np.nan if n is None else n for n in found], dtype=np.float64)
        propensity = values[counted.codes["propensity"][usable]]
    faults.sort(key=lambda fault: fault.first)
    return UsableRows(numbers, rows_of, names, texts, propensity, tuple(faults))


def _where(counted: CountedRows, meaning: str, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    marked = np.array([holds(text) for text in counted.texts[meaning]], dtype=bool)
    found: NDArray[np.bool_] = marked[counted.codes[meaning]]
    return found


def _names(
    counted: CountedRows, meaning: str, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Number of each usable row's trimmed name, by first appearance, and the names."""
    codes = counted.codes[meaning][usable]
    texts = counted.texts[meaning]
    used, first = np.unique(codes, return_index=True)
    number: dict[str, int] = {}
    place = np.zeros(len(texts), dtype=np.int32)
    for code in used[np.argsort(first)].tolist():
        place[code] = number.setdefault(texts[code].strip(), len(number))
    return place[codes], tuple(number)


def _whole(counted: CountedRows, meaning: str) -> tuple[IntArray, NDArray[np.int8]]:
    """Whole numbers of a column, int64 [entries], 0 for a fault, and which fault."""
    limit = _LIMITS.get(meaning, _LIMIT)
    texts = counted.texts[meaning]
    read = _number_or_truth if meaning in _TRUTHS else _number
    values = np.zeros(len(texts), dtype=np.int64)
    fault = np.zeros(len(texts), dtype=np.int8)
    for place, cell in enumerate(texts):
        text = cell.strip()
        number = read(text)
        if number is None:
            fault[place] = _TEXT if text else _EMPTY
        elif number >= limit and any(map(str.isdigit, text)):  # not the words for infinity
            fault[place] = _HUGE
        elif not 0 <= number < limit or number != int(number):
            fault[place] = _BROKEN
        else:
            values[place] = int(number)
    codes = counted.codes[meaning]
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
