"""Click logs from CSV and Parquet files: what was shown where, and what was clicked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ultr_core.errors import InputError, quoted
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_columns import REQUIRED, found_columns, require_columns
from ultr_core.files.log_relation import (
    Progress,
    Relation,
    first_rows,
    log_source,
    opened_log,
    require_sound,
)
from ultr_core.files.log_rows import (
    CLICK_WITHOUT_POSITION,
    UNUSED,
    UsableRows,
    counted_rows,
    usable_rows,
)
from ultr_core.limits import OWN_FILES, Room
from ultr_core.propensity.presentations import PresentationLog, RowFault
from ultr_core.words import counted, part_of


def read_log(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> PresentationLog:
    """Read a click log from a CSV (plain or gzip) or Parquet file; see `parse_log`."""
    return _read(log_source(path), columns, progress)


def parse_log(
    data: str | bytes,
    name: str = "the click log",
    *,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    room: Room = OWN_FILES,
) -> PresentationLog:
    """Click log from CSV text, or from the bytes of a CSV, gzip or Parquet file.

    Columns (aliases in ``COLUMNS``): document, position, click; optionally query, impressions (1
    a row without it), swapped rank, ranker, page, session and propensity. Other columns are
    ignored, and nothing is made from sessions. ``columns`` maps meanings to columns of other
    names. The delimiter is found from the header line. Positions that start at 0 are recognised
    and raised by one. Rows that cannot be used are left out and told. ``progress`` is told the
    share that has been read. ``room`` is what may come of it; a server gives visitors less than
    their own machine would.

    Raises InputError if a column is missing, if no row can be used, if there is more than that
    room, or if the file is damaged.
    """
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return _read(log_source(content, name, room), columns, progress)


@dataclass(frozen=True)
class LogPreview:
    """What a click log looks like before it is read.

    format: of the file, in words. header: its column names. columns: meaning to column name, as
    recognised or mapped. missing: meanings that are needed and not found yet. rows: the first.
    """

    name: str
    format: str
    header: tuple[str, ...]
    columns: Mapping[str, str]
    missing: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """The preview as plain values."""
        return {
            "name": self.name,
            "format": self.format,
            "header": list(self.header),
            "columns": dict(self.columns),
            "missing": list(self.missing),
            "rows": [list(row) for row in self.rows],
        }


def preview_log(
    content: str | Path | bytes,
    name: str = "the click log",
    *,
    columns: Mapping[str, str] | None = None,
    rows: int = 5,
    room: Room = OWN_FILES,
) -> LogPreview:
    """First rows, columns and format of a click log, by path or as bytes.

    Missing columns are listed, not refused, so that a reader can map them. Raises InputError if
    the file cannot be read at all.
    """
    source = log_source(content, name, room)
    with opened_log(source, columns) as relation:
        places = found_columns(relation.header, columns, source.name)
        return LogPreview(
            source.name,
            relation.form,
            relation.header,
            {meaning: relation.header[place] for meaning, place in places.items()},
            tuple(meaning for meaning in REQUIRED if meaning not in places),
            tuple(first_rows(relation, source, rows)),
        )


def _read(
    source: Source, columns: Mapping[str, str] | None, progress: Progress | None
) -> PresentationLog:
    with opened_log(source, columns) as relation:
        places = found_columns(relation.header, columns, source.name)
        needed = {meaning: place for meaning, place in places.items() if meaning not in UNUSED}
        line = "line 1" if relation.is_text else "the Parquet schema"
        require_columns(needed, relation.header, source.name, line)
        require_sound(relation, source, list(needed.values()))
        found = counted_rows(relation, needed, source.room, progress)
        named = {meaning: relation.header[place] for meaning, place in places.items()}
        rows = usable_rows(found, named)
        records = [fault.first for fault in rows.faults]
        long, first_long = found.long
        at = relation.places([*records, *([first_long] if long else [])]) if records or long else {}
        faults = tuple(replace(fault, first=at[fault.first]) for fault in rows.faults)
        words = [_words(fault, relation) for fault in faults]
        if not rows.rows.size:
            told = "; ".join(words) or "nothing follows its first line"
            raise InputError(f"{source.name} has no usable row: {told}.")
        log = _log(rows, faults, named, relation)
    notices = [f"{text} left out; the other rows are used." for text in words]
    if long:
        beyond = RowFault("more columns than the first line names", long, 0, at[first_long])
        notices.append(f"{_words(beyond, relation)}: what stands there is not read.")
    return replace(log, notices=(*notices, *_sentences(log)))


def _log(
    rows: UsableRows, faults: tuple[RowFault, ...], columns: Mapping[str, str], relation: Relation
) -> PresentationLog:
    """The log without its notices; raises InputError for sums that are no exact numbers."""
    # No more clicks than impressions, so that these are the largest sum of all.
    if float(rows.rows.astype(float) @ rows.numbers["impressions"]) >= 2**53:
        raise InputError(
            f"{relation.name} has impressions that add up to 2^53 or more; smaller counts are "
            "needed."
        )
    position, swap = rows.numbers["position"], rows.numbers["swap"]
    first = 0 if position.min() == 0 else 1
    if first == 0:
        position = position + 1
        swap = swap + (swap >= 0)
    nothing = np.broadcast_to(np.int32(0), rows.rows.size)
    query, document = rows.names.get("query", nothing), rows.names["document"]
    names = rows.texts["document"]
    return PresentationLog(
        query=query,
        document=query.astype(np.int64) * len(names) + document,
        position=position,
        impressions=rows.rows * rows.numbers["impressions"],
        clicks=rows.rows * rows.numbers["click"],
        rows=rows.rows,
        swap=np.maximum(swap, 0),
        ranker=rows.names.get("ranker", nothing),
        propensity=rows.propensity,
        page=rows.names.get("page"),
        query_names=rows.texts.get("query", ("",)),
        document_names=names,
        has_swaps="swap" in columns,
        first_position=first,
        format=relation.form,
        columns=dict(columns),
        faults=faults,
        notices=(),
    )


def _words(fault: RowFault, relation: Relation) -> str:
    count = fault.rows
    if fault.kind == CLICK_WITHOUT_POSITION:
        what = f"{counted(count, 'click')} without a position"
    else:
        what = f"{counted(count, 'row')} with {fault.kind}"
    return f"{what} ({'' if count == 1 else 'first '}{relation.row_noun} {fault.first})"


def _sentences(log: PresentationLog) -> Iterator[str]:
    if log.first_position == 0:
        yield "Positions start at 0 in this log; 1 was added, so that the top one is rank 1."
    elif (top := int(log.position.min())) > 1:
        yield (
            f"The first position in this log is {top}; positions are taken as ranks, so rank 1 was "
            "never logged."
        )
    else:
        yield "Positions are counted from 1; position 1 is the reference."
    if "query" not in log.columns:
        yield "There is no column query, so all rows are taken as one query."
    if "session" in log.columns:
        yield (
            f"The column {quoted(log.columns['session'])} (session) is not used: intervals take "
            "query draws as independent, so they are too narrow where one user repeats searches."
        )
    if log.page is not None:
        yield from _repeats(log)
    moved, pairs = log.moved_pairs, int(log.pairs.size)
    yield (
        f"{part_of(moved, pairs, '(query, document) pair', does='was', do='were')} shown at more "
        "than one position; only documents that moved tell position and relevance apart."
    )
    if int(log.position.max()) == 1:
        yield "Only position 1 occurs in this log, so no position can be compared with it."


def _repeats(log: PresentationLog) -> Iterator[str]:
    pages = log.pages_with_repeats
    if pages:
        noun = counted(pages, "page shows", "pages show")
        yield (
            f"{noun} the same document at two positions; both rows are used, each at its position."
        )
