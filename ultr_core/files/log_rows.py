"""Rows of a click log, counted by what stands in them: numbers and faults of the usable ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files.log_columns import NO_NAME, is_known_name, whole_context, whole_name
from ultr_core.files.log_events import VIEWS_AMONG_CLICKS
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_relation import LongCellsError, Part, Progress, Relation, share_of
from ultr_core.files.parquet_pages import Budget
from ultr_core.limits import CELL_BYTES, UNPACKED_FROM_BYTES
from ultr_core.propensity.presentations import GROUPS, RowFault

IntArray = NDArray[np.int64]

NAMES = ("query", "document", "ranker", "context")
"""Meanings whose cells are names that rows are counted by."""

IDS = ("presentation", "session")
"""Meanings that say what belongs together, by which rows are not counted."""

IN_COUNTS = ("group", "query_presentations")
"""Meanings of columns that counts of a log have in place of ``IDS``."""

CLICK_WITHOUT_POSITION = "a click without a position"
CLICK_WITHOUT_NUMBER = "a click value in the clicks file that is not a whole number of 0 or more"
CLICK_WITHOUT_VIEW = "a click on a document not shown in its presentation"
WITHOUT_PRESENTATION = "no presentation id"

_VALUES = {
    "click": "a click value",
    "impressions": "an impressions value",
    "position": "a position",
    "swap": "a swapped rank",
    "page": "a page",
    "offset": "an offset",
    "group": "a session group",
    "query_presentations": "a number of presentations",
}
_TRUTHS = ("click", "impressions")  # may be true or false
_LIMITS = {
    "position": 10**9, "swap": 10**9, "page": 10**6, "offset": 10**9,  # fit int32
    "group": GROUPS,
}  # fmt: skip
_LIMIT = 2**53  # of the others, which are added up
_WITHOUT = {"click": "1", "impressions": "1", "offset": "0"}  # of parts without such a column
_GOOD, _EMPTY, _TEXT, _BROKEN, _HUGE = 0, 1, 2, 3, 4
_MOST_BREAKS = 1 << 23  # in one row, of which ROW_BYTES are accepted
_LARGEST_FAULTY = 2**40  # so that clicks on faulty rows can be added
_SMALLEST_ID, _NEARLY_ALL = 100, 0.9
_BYTES = {"VARCHAR": "strlen", "JSON": "strlen", "BLOB": "octet_length"}
_LONG_TEXTS = 1_000  # bytes of a row that no log has on average
_LOOKED_AT, _NEARLY_NONE = 100_000, 0.99  # first rows of a file, and how many of them are none
_FEW_AGAIN = 0.2  # of the clicked rows, with more clicks than one
_FEW, _MANY = 0.02, 0.9  # of the rows at position 0, in those at 1
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows with equal cells in the columns that are counted by are one entry [entries].

    codes: by meaning, int32, the place of the cell among ``texts`` of that meaning. rows: how many
    rows of the log an entry stands for. number: of the entry in the table ``counted``. short:
    whether the rows end before one of the columns needed. broken: whether they are not JSON. long:
    how many rows have cells beyond the last column that the header names.
    """

    codes: Mapping[str, NDArray[np.int32]]
    texts: Mapping[str, list[str]]
    rows: IntArray
    number: IntArray
    short: NDArray[np.bool_]
    broken: NDArray[np.bool_]
    long: int


Places = Mapping[tuple[Any, ...], Mapping[str, int]]
"""By layout of a part, the place of the column of each meaning."""


def cells_of(relation: Relation, places: Places) -> list[str]:
    """SQL for the rows of all parts in pieces, as text in columns k_query, k_document, ..."""
    meanings = meanings_of(places)
    if any(part.action for part in relation.parts):
        meanings.append("action")
    return [
        cells_of_part(part, scan, places[part.layout], meanings) for part, scan in relation.scans()
    ]


def meanings_of(places: Places) -> list[str]:
    """The meanings that columns of a log have, each once."""
    return list(dict.fromkeys(meaning for found in places.values() for meaning in found))


def cells_of_part(
    part: Part,
    scan: str,
    places: Mapping[str, int],
    meanings: list[str],
    *,
    numbered: bool = False,
) -> str:
    """SQL for the rows of parts of one layout; n is the number of each where it is ``numbered``."""
    short, broken, long, where = "false", "false", "false", ""
    if part.is_csv:
        short = f"c{max(places.values())} IS NULL"
        long = "trim(coalesce(rest, '') || coalesce(further, '')) <> ''"
    elif part.is_text:
        broken = "broken"
    cells = [
        f"{part.text_of(places[meaning], is_name=meaning in (*NAMES, *IDS))} AS k_{meaning}"
        if meaning in places
        else f"'{part.action if meaning == 'action' else _WITHOUT.get(meaning, '')}' AS k_{meaning}"
        for meaning in meanings
    ]
    if part.action == "click" and "action" in places:
        cells[meanings.index("action")] = VIEWS_AMONG_CLICKS.format(part.text_of(places["action"]))
    if part.is_text:
        # All columns are looked at only where the first ones are empty.
        where = f"WHERE NOT CASE WHEN {_may_be_blank(part)} THEN {part.is_blank()} ELSE false END"
        if part.is_csv:
            cells = [
                f"CASE WHEN {short} THEN '' ELSE {cell.replace(' AS ', ' END AS ')}"
                for cell in cells
            ]
    # Parquet has the numbers, and is read on all cores where they need not be counted.
    number = "row_number() OVER ()" if part.is_text else "file_row_number + 1"
    inside = f"(SELECT *, {number} AS n FROM {scan})" if numbered else scan
    return (
        f"SELECT {', '.join(cells)}, {short} AS short, {broken} AS broken, {long} AS long"
        f"{', n' if numbered else ''} FROM {inside} {where}"
    )


def _numbered_cells(relation: Relation, part: Part, places: Places, meanings: list[str]) -> str:
    """SQL for the rows of one file with the number of each in it, from 1."""
    scan = relation.scan_of(part)
    return cells_of_part(part, scan, places[part.layout], meanings, numbered=True)


def _may_be_blank(part: Part) -> str:
    """SQL for rows of text that are looked at whole: few, where rows are what they should be."""
    if not part.is_csv:
        return "broken"
    # By its first character, which takes a tenth of what trimming does: "#" and blanks are below.
    first = "(c0 IS NULL OR c0 < '$' OR starts_with(c0, chr(160)))"
    return f"{first} AND (c1 IS NULL OR trim(c1) = '')" if len(part.header) > 1 else first


def require_rows(relation: Relation, places: Places) -> None:
    """Raise InputError for a part of text of which nearly all of the first rows are none.

    Millions of rows that end too soon take the engine a minute, and fit into a small packed file;
    so do long texts in the dictionary of a Parquet file that all its rows refer to.
    """
    for part in relation.parts:
        if not part.is_text:
            _require_names(relation, part, places[part.layout].values())
            continue
        last = max(places[part.layout].values())
        fault = f"c{last} IS NULL" if part.is_csv else "broken"
        rows, faulty = relation.run(
            f"SELECT count(*), count(*) FILTER ({fault}) FROM "
            f"(SELECT * FROM {relation.scan_of(part)} LIMIT {_LOOKED_AT})"
        )[0]
        if rows < _LOOKED_AT or faulty < _NEARLY_NONE * rows:
            continue
        what = (
            f"end before the column {quoted(part.header[last])}; give every row the columns named "
            f"on line {part.skip}"
            if part.is_csv
            else "are not JSON objects; write one object per row, each on a separate line"
        )
        raise InputError(
            f"{faulty:,} of the first {rows:,} rows of {part.name} {what}.",
            "short_rows" if part.is_csv else "json_lines",
        )


def _require_names(relation: Relation, part: Part, places: Collection[int]) -> None:
    """Raise InputError for a small Parquet file of long texts that unpacks to too much."""
    texts = [
        f"coalesce({_BYTES[part.types[place]]}(c{place}), 0)"
        for place in places
        if part.types[place] in _BYTES
    ]
    if not texts or part.source.size > UNPACKED_FROM_BYTES:
        return
    size, rows = relation.run(
        f"SELECT coalesce(sum({' + '.join(texts)}), 0), count(*) FROM {relation.scan_of(part)}"
    )[0]
    if size > _LONG_TEXTS * rows:
        Budget(part.name, part.source.size, part.source.room.unpacked).add(int(size))


def counted_rows(
    relation: Relation,
    places: Places,
    cells: Sequence[str],
    meanings: list[str],
    progress: Progress | None,
) -> CountedRows:
    """Count the rows of a log by their cells, SQL of `cells_of`, in the table ``counted``.

    Raises InputError for more rows than the limit, cells larger than ``CELL_BYTES``, and damaged
    files.
    """
    keys = [f"k_{meaning}" for meaning in meanings if meaning not in IDS]
    by = [*keys, "short", "broken"]
    sizes = [f"strlen(k_{meaning})" for meaning in meanings]
    # One comparison for most rows.
    kept = (
        f"CASE WHEN {' + '.join(sizes)} <= {CELL_BYTES.most} OR greatest({', '.join(sizes)}) <= "
        f"{CELL_BYTES.most} THEN true ELSE error('door cells') END"
    )
    try:
        relation.gathered(
            "entries",
            [
                f"SELECT {', '.join(by)}, count(*) AS rows, count(*) FILTER (long) AS long "
                f"FROM ({piece}) WHERE {kept} GROUP BY ALL"
                for piece in cells
            ],
            by,
            {name: f"sum({name})::BIGINT" for name in ("rows", "long")},
            progress,
        )
    except LongCellsError:
        raise _long_cell(relation, places) from None
    relation.run("CREATE TEMP VIEW counted AS SELECT rowid AS number, * FROM entries")
    rows, long = relation.run("SELECT coalesce(sum(rows), 0), coalesce(sum(long), 0) FROM counted")[
        0
    ]
    room = relation.first.source.room
    if rows > room.rows.most:
        raise room.rows.exceeded(relation.name)
    _require_closed(relation, keys)
    _require_no_quoted_rows(relation, places, int(rows))
    codes, texts = {}, {}
    for key in keys:
        codes[key[2:]], texts[key[2:]] = relation.encoded(f"SELECT {key} FROM counted")
    table = relation.run("SELECT rows, number, short, broken FROM counted", arrays=True)
    return CountedRows(
        codes,
        texts,
        np.asarray(table["rows"], np.int64),
        np.asarray(table["number"], np.int64),
        np.asarray(table["short"], bool),
        np.asarray(table["broken"], bool),
        int(long),
    )


def _long_cell(relation: Relation, places: Places) -> InputError:
    """The error for the first cell beyond ``CELL_BYTES``."""
    meanings = meanings_of(places)
    sizes = ", ".join(f"strlen(k_{meaning})" for meaning in meanings)
    for part in relation.parts:
        cells = _numbered_cells(relation, part, places, meanings)
        found = relation.run(
            f"SELECT n, {sizes} FROM ({cells}) WHERE greatest({sizes}) > {CELL_BYTES.most} "
            "ORDER BY n LIMIT 1"
        )
        if found:
            record, *lengths = found[0]
            place = part.places([int(record)])[int(record)]
            size = max(lengths)
            subject = (
                f"The {meanings[lengths.index(size)]} in {part.row_noun} {place} of {part.name}"
            )
            return CELL_BYTES.exceeded(subject, int(size))
    return CELL_BYTES.exceeded(f"A cell of {relation.name}")


def _require_closed(relation: Relation, keys: list[str]) -> None:
    """Raise InputError for a quotation mark that swallows the end of a file."""
    held = " OR ".join(f"contains({key}, chr(10))" for key in keys)
    # A mark in the last line holds no line end, but what is behind it is one cell.
    swallowed = bool(relation.run(f"SELECT 1 FROM counted WHERE short OR {held} LIMIT 1"))
    for part in relation.parts:
        if not (part.may_be_open or (part.quotes and swallowed)):
            continue
        cells = (*(f"c{place}" for place in range(len(part.header))), "rest", "further")
        every = f"concat({', '.join(cells)})"
        last, breaks = relation.run(
            f"SELECT max(n), max(CASE WHEN contains(line, chr(10)) THEN n * {_MOST_BREAKS} + "
            f"strlen(line) - strlen(replace(line, chr(10), '')) ELSE 0 END) FROM "
            f"(SELECT {every} AS line, row_number() OVER () AS n FROM {relation.scan_of(part)})"
        )[0]
        if last:
            of_last = breaks // _MOST_BREAKS == last
            part.require_closed(int(last), int(breaks % _MOST_BREAKS) if of_last else 0)
        if part.may_be_open:
            part.require_last(int(last or 0))


def _require_no_quoted_rows(relation: Relation, places: Places, rows: int) -> None:
    """Raise InputError for two quotation marks that hold rows of the log between them."""
    lines = sum(part.lines - part.skip for part in relation.parts)
    if lines <= rows and all(part.is_csv for part in relation.parts):
        return
    for part in relation.parts:
        position = places[part.layout].get("position")
        if not part.quotes or position is None:
            continue
        found = relation.run(
            f"SELECT n FROM (SELECT *, row_number() OVER () AS n FROM {relation.scan_of(part)}) "
            f"WHERE {part.holds_rows(position)} ORDER BY n LIMIT 1"
        )
        if found:
            raise part.quoted_rows(int(found[0][0]))


@dataclass(frozen=True, eq=False)
class UsableRows:
    """The usable entries of a log.

    entry: their places among all entries. numbers: by meaning, of each row of the entry, as int64;
    swap is -1 where none is noted; those of ``IN_COUNTS`` exist only for counted logs. position:
    from 1. rows: of the log. names: by meaning, numbers of the names in ``texts``. propensity:
    float64, NaN if there is no number, None if there is no such column. first_position: 0 or 1, as
    found. page_size: by which the positions of a page were moved down for each page before it, 0
    for none. clicked_again: rows that count as clicked once and had more clicks. faults: of the
    other entries, the largest first, each with the entries that have it.
    """

    entry: IntArray
    numbers: Mapping[str, IntArray]
    rows: IntArray
    names: Mapping[str, NDArray[np.int32]]
    texts: Mapping[str, tuple[str, ...]]
    propensity: NDArray[np.float64] | None
    first_position: int
    page_size: int
    clicked_again: int
    faults: tuple[tuple[RowFault, IntArray], ...]


def usable_rows(
    counted: CountedRows, columns: Mapping[str, str], how: Reading, said: Collection[str] = ()
) -> UsableRows:
    """Numbers of the usable rows of a log, and what is wrong with the others.

    columns: meaning to column name, for the words of a fault. said: meanings that the reader gave
    to columns; those are not doubted. Raises InputError where positions
    leave in doubt at which number they start, or what stands below a page.
    """
    marks = _Marks(counted, columns)
    marks.add(counted.broken, "no JSON object")
    marks.add(counted.short, "too few columns")
    zero = [_where(counted, meaning, lambda text: "\0" in text) for meaning in counted.codes]
    marks.add(np.logical_or.reduce(zero), "a null byte")
    clicks, faulty = _whole(counted, "click")
    marks.add_values("click", faulty)
    shown = np.ones(counted.rows.size, np.int64)
    if "impressions" in counted.codes:
        shown, faulty = _whole(counted, "impressions")
        marks.add_values("impressions", faulty)
    position, faulty = _whole(counted, "position")
    marks.add((faulty == _EMPTY) & (clicks > 0), CLICK_WITHOUT_POSITION)
    marks.add(faulty == _EMPTY, "no position")
    marks.add_values("position", faulty)
    if not {"impressions", "group"} - counted.codes.keys():
        said = {*said, "impressions"}  # for counts have them
    if "impressions" in counted.codes and "impressions" not in said:
        _require_counts(counted, shown, clicks, marks.kind == 0, columns["impressions"])
    _require_not_swapped(counted, clicks, position, marks.kind == 0, columns)
    clicks, again = _clicked_once(counted, clicks, shown, marks, how)
    marks.add(clicks > shown, "more clicks than impressions")
    swap = np.full(counted.rows.size, -1, np.int64)
    if "swap" in counted.codes:
        found, faulty = _whole(counted, "swap")
        swap = np.where(faulty == _EMPTY, -1, found)
        marks.add_values("swap", np.where(faulty == _EMPTY, 0, faulty))
    groups = {}
    for meaning in IN_COUNTS:
        if meaning in counted.codes:
            groups[meaning], faulty = _whole(counted, meaning)
            marks.add_values(meaning, faulty)
    for meaning in ("query", "document", "context"):
        if meaning in counted.codes:
            marks.add(_where(counted, meaning, _is_no_name), f"no {meaning}")
    first = _first_position(counted, position, shown, marks, how)
    position, swap = position + 1 - first, swap + np.where(swap >= 0, 1 - first, 0)
    position, size = _down_the_pages(counted, position, marks, how)

    usable = marks.kind == 0
    names, texts = {}, {}
    for meaning in NAMES:
        if meaning in counted.codes:
            names[meaning], texts[meaning] = _names(counted, meaning, usable)
    propensity = None
    if "propensity" in counted.codes:
        numbers = [_number(text) for text in counted.texts["propensity"]]
        values = np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)
        propensity = values[counted.codes["propensity"][usable]]
    return UsableRows(
        np.flatnonzero(usable),
        {
            "position": position[usable],
            "click": clicks[usable],
            "impressions": shown[usable],
            "swap": swap[usable],
            **{meaning: numbers[usable] for meaning, numbers in groups.items()},
        },
        counted.rows[usable],
        names,
        texts,
        propensity,
        first,
        size,
        again,
        marks.faults(clicks),
    )


def _require_not_swapped(
    counted: CountedRows,
    clicks: IntArray,
    position: IntArray,
    usable: NDArray[np.bool_],
    columns: Mapping[str, str],
) -> None:
    """Raise InputError for a column of positions that holds clicks, beside one that holds ranks."""
    if "impressions" in counted.codes or not usable.any():
        return
    most, last = int(clicks[usable].max()), int(position[usable].max())
    if most <= 1 or last > 1 or not (position[usable] == 0).any():
        return
    raise InputError(
        f"The column {quoted(columns['position'])}, taken as the position, contains only 0 and 1, "
        f"and the column {quoted(columns['click'])}, taken as clicks, has numbers up to {most:,}: "
        "they seem to be the other way round; say which is which.",
        "columns",
    )


def _clicked_once(
    counted: CountedRows, clicks: IntArray, shown: IntArray, marks: _Marks, how: Reading
) -> tuple[IntArray, int]:
    """Clicks of each row, one for each row that is an impression, and how many had more.

    Raises InputError where so many rows have more that they may be sums.
    """
    usable = marks.kind == 0
    if "impressions" in counted.codes:
        return clicks, 0
    again = int(counted.rows[usable & (clicks > 1)].sum())
    clicked = int(counted.rows[usable & (clicks > 0)].sum())
    if again > _FEW_AGAIN * clicked and not how.clicks_once:
        raise InputError(
            f"{again:,} of {clicked:,} clicked rows have more than one click, and no column "
            "contains the impressions; add that column or, if each row is one impression, say that "
            "its clicks count once.",
            "clicks_once",
        )
    return np.minimum(clicks, 1), again


def _require_counts(
    counted: CountedRows,
    shown: IntArray,
    clicks: IntArray,
    usable: NDArray[np.bool_],
    column: str,
) -> None:
    """Raise InputError for impressions that look like ids of presentations."""
    if not usable.any() or clicks[usable].max() > 1:
        return
    number, of, rows = np.unique(shown[usable], return_inverse=True, return_counts=True)
    weight = counted.rows[usable]
    shared = rows[of] > 1
    if int(number[0]) < _SMALLEST_ID:
        # Small ones are ids where each is of one query, and has a position once.
        if "query" not in counted.codes or number.size < _SMALLEST_ID:
            return
        query, place = counted.codes["query"][usable], counted.codes["position"][usable]
        one_query = np.bincount(np.unique(np.stack([of, query]), axis=1)[0]) == 1
        once = np.unique(np.stack([of, place]), axis=1).shape[1] / int(weight.sum())
        if once < _NEARLY_ALL or np.average(one_query[of], weights=weight) < _NEARLY_ALL:
            return
    if np.average(shared, weights=weight) < _NEARLY_ALL:
        return
    example = int(shown[usable][shared].min())  # the engine gives rows in any order
    raise InputError(
        f"In the column {quoted(column)}, the rows of each list share a number, such as "
        f"{example:,}, as presentation ids do, and no row of the log has more than one click; say "
        "whether the column contains impressions or presentation ids.",
        "columns",
    )


class _Marks:
    """What is wrong with entries; the first fault of an entry counts."""

    def __init__(self, counted: CountedRows, columns: Mapping[str, str]) -> None:
        self.counted, self.columns = counted, columns
        self.kind = np.zeros(counted.rows.size, dtype=np.int8)
        self.kinds = [""]

    def add(self, rows: NDArray[np.bool_], what: str) -> None:
        """Mark entries without a fault so far."""
        new = rows & (self.kind == 0)
        if new.any():
            self.kinds.append(what)
            self.kind[new] = len(self.kinds) - 1

    def add_values(self, meaning: str, fault: NDArray[np.int8]) -> None:
        """Mark entries whose number of that meaning is none, each kind of fault by itself."""
        for rows, what in _value_faults(meaning, fault):
            self.add(rows, f"{_VALUES[meaning]} {what}{_in_column(meaning, self.columns)}")

    def faults(self, clicks: IntArray) -> tuple[tuple[RowFault, IntArray], ...]:
        """The faults with the numbers of their entries, largest first."""
        found = []
        for code in range(1, len(self.kinds)):
            rows = self.kind == code
            lost = np.minimum(clicks[rows], _LARGEST_FAULTY) * self.counted.rows[rows]
            fault = RowFault(
                self.kinds[code], int(self.counted.rows[rows].sum()), int(lost.sum()), 0
            )
            found.append((fault, self.counted.number[rows]))
        return tuple(sorted(found, key=lambda pair: -pair[0].rows))


def _first_position(
    counted: CountedRows, position: IntArray, shown: IntArray, marks: _Marks, how: Reading
) -> int:
    """The number of the top position; marks rows above it. Raises InputError if it is unclear."""
    usable = marks.kind == 0
    impressions = counted.rows * shown.astype(float)  # so that counts say what their rows said
    at_zero = int(impressions[usable & (position == 0)].sum())
    at_one = int(impressions[usable & (position == 1)].sum())
    first = how.first_position
    if first is None:
        if not usable.any():
            return 1
        if _FEW * at_one < at_zero < _MANY * at_one:
            raise InputError(
                f"{at_zero:,} impressions are at position 0 and {at_one:,} at position 1, so it is "
                "unclear whether positions start at 0 or at 1; say which.",
                "first_position",
            )
        first = 0 if at_zero and at_zero >= _MANY * at_one else 1
    if first == 1:
        marks.add(usable & (position == 0), "position 0, although positions start at 1")
    return first


def _down_the_pages(
    counted: CountedRows, position: IntArray, marks: _Marks, how: Reading
) -> tuple[IntArray, int]:
    """Ranks from positions that start again on each page, and the size of a page, 0 for none.

    Raises InputError where positions start again and the size of a page is unclear.
    """
    if "offset" in counted.codes:
        offset, faulty = _whole(counted, "offset")
        marks.add_values("offset", faulty)
        usable = marks.kind == 0
        # An offset that positions hold already leaves no position at or above it.
        again = usable & (offset > 0) & (position <= offset)
        if not again.any():
            return position, 0
        return position + offset, -1
    if "page" not in counted.codes:
        return position, 0
    page, faulty = _whole(counted, "page")
    marks.add_values("page", faulty)
    usable = marks.kind == 0
    if not usable.any():
        return position, 0
    page = page - page[usable].min()
    last = [int(position[usable & (page == number)].max(initial=0)) for number in (0, 1)]
    top = int(position[usable & (page == 1)].min(initial=0))
    if last[1] == 0 or (how.page_size is None and top > last[0]):
        return position, 0  # one page, or positions that go on from page to page
    size = how.page_size
    if size is None:
        # A page that another follows is full, and no later one is longer.
        full = counted.rows[usable & (page == 0) & (position == last[0])].sum()
        begun = counted.rows[usable & (page == 0) & (position == 1)].sum()
        longest = int(position[usable].max())
        if longest > last[0] or full < 0.9 * begun:
            raise InputError(
                "Positions restart on each results page, and the number of documents per page is "
                f"unclear (up to {longest:,}); say how many.",
                "page_size",
            )
        size = last[0]
    return position + page * size, size


def _where(counted: CountedRows, meaning: str, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    marked = np.array([holds(text) for text in counted.texts[meaning]], dtype=bool)
    found: NDArray[np.bool_] = marked[counted.codes[meaning]]
    return found


def _is_no_name(text: str) -> bool:
    plain = text.strip()
    return not plain or plain in NO_NAME


def _names(
    counted: CountedRows, meaning: str, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Number of each usable row's name, in the order of the names, and the names.

    Names that are all whole numbers are written as such: 7.0 is 7. So is each context that is one.
    """
    codes = counted.codes[meaning][usable]
    used = np.unique(codes)
    plain = [counted.texts[meaning][code].strip() for code in used.tolist()]
    if meaning == "context":
        # Each by itself: 1 and 1.0 name one, whatever else is a context.
        plain = [whole_context(text) for text in plain]
    elif all(map(_DIGITS.fullmatch, whole := [whole_name(text) for text in plain])):
        plain = whole
    names = sorted(set(plain))
    number = {name: place for place, name in enumerate(names)}
    place = np.zeros(len(counted.texts[meaning]), dtype=np.int32)
    place[used] = [number[text] for text in plain]
    return place[codes], tuple(names)


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
    yield (fault == _TEXT) | (fault == _EMPTY), "that is not a number"
    yield fault == _BROKEN, "that is not a whole number of 0 or more"
    limit = f"{_LIMITS[meaning]:,}" if meaning in _LIMITS else "2^53"
    yield fault == _HUGE, f"that is too large ({limit} or more)"


def _in_column(meaning: str, columns: Mapping[str, str]) -> str:
    """Where the value stands, if the column does not have a name of that meaning."""
    column = columns.get(meaning)
    known = column is None or is_known_name(meaning, column)
    return "" if known else f" in the column {quoted(column)}"


def first_records(
    relation: Relation,
    places: Places,
    faults: tuple[tuple[RowFault, IntArray], ...],
    progress: Progress | None,
) -> dict[int, tuple[str, int]]:
    """By place of a fault, the part and the record of the first row that has it.

    The log is read once more, from its start, until each fault has been met.
    """
    meanings = meanings_of(places)
    keys = [f"k_{meaning}" for meaning in meanings if meaning not in IDS]
    relation.put(
        "marked",
        number=np.concatenate([entries for _, entries in faults]),
        fault=np.repeat(np.arange(len(faults)), [entries.size for _, entries in faults]),
    )
    same = " AND ".join(f"rows.{key} = counted.{key}" for key in (*keys, "short", "broken"))
    found: dict[int, tuple[str, int]] = {}
    for place, part in enumerate(relation.parts):
        if len(found) == len(faults):
            break
        cells = _numbered_cells(relation, part, places, meanings)
        first: Any = relation.run(
            f"SELECT fault, min(n) FROM ({cells}) AS rows JOIN counted ON {same} "
            "JOIN marked USING (number) GROUP BY fault",
            share_of(progress, place, len(relation.parts)),
        )
        lines = part.places([int(record) for _, record in first])
        for fault, record in first:
            found.setdefault(int(fault), (part.name, lines[int(record)]))
    return found


def first_long(relation: Relation, places: Places) -> tuple[int, str]:
    """The line of the first row with more cells than the header, and its file if there are more."""
    for part in relation.parts:
        if not part.is_csv:
            continue
        cells = _numbered_cells(relation, part, places, ["document"])
        found = relation.run(f"SELECT n FROM ({cells}) WHERE long ORDER BY n LIMIT 1")
        if found:
            record = int(found[0][0])
            return part.places([record])[record], part.name if len(relation.parts) > 1 else ""
    return 0, ""
