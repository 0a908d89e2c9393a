"""Click logs from CSV and Parquet files: what was shown where, and what was clicked."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ultr_core.files.disk import GZIP
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_blocks import (
    Progress,
    TextBlock,
    first_bytes,
    is_parquet,
    log_source,
    text_blocks,
)
from ultr_core.files.log_columns import REQUIRED, found_columns, require_columns, split_header
from ultr_core.files.log_parquet import (
    LONGEST_SHOWN,
    parquet_blocks,
    parquet_file,
    parquet_header,
    parquet_rows,
)
from ultr_core.files.log_rows import UNUSED, CellBlock, careful_cells, fast_cells
from ultr_core.files.log_table import LogTable
from ultr_core.files.tables import DELIMITERS
from ultr_core.limits import CAREFUL_ROWS, OWN_FILES, Room
from ultr_core.propensity.presentations import PresentationLog


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
    if is_parquet(source):
        with parquet_file(source) as file:
            header, form = parquet_header(file, source.name), "Parquet"
        first = parquet_rows(source, header, rows)
    else:
        header, form, first = _text_preview(source, columns, rows)
    places = found_columns(header, columns, source.name)
    return LogPreview(
        source.name,
        form,
        tuple(header),
        {meaning: header[place] for meaning, place in places.items()},
        tuple(meaning for meaning in REQUIRED if meaning not in places),
        tuple(first),
    )


def _text_preview(
    source: Source, columns: Mapping[str, str] | None, rows: int
) -> tuple[list[str], str, list[tuple[str, ...]]]:
    with ExitStack() as stack:
        text = _Text(source, columns)
        blocks = text_blocks(source, text.delimiter_of)
        stack.callback(blocks.close)  # type: ignore[attr-defined]
        header = text.header(next(blocks))
        first = next(blocks, None)
        if first is None or not header:
            return header, text.form, []
        start = b"".join(islice(io.BytesIO(first.data), rows + 20))
        everything = {str(place): place for place in range(len(header))}
        cells = careful_cells(
            TextBlock(start, first.first_line, start.count(b"\n")),
            everything,
            len(header),
            text.delimiter,
            source.name,
        )
        by_column = [
            [cell[:LONGEST_SHOWN] for cell in column.to_pylist()[:rows]]
            for column in cells.cells.values()
        ]
        return header, text.form, list(zip(*by_column, strict=True))


def _read(
    source: Source, columns: Mapping[str, str] | None, progress: Progress | None
) -> PresentationLog:
    if is_parquet(source):
        with parquet_file(source) as file:
            header, form, row_noun = parquet_header(file, source.name), "Parquet", "row"
        places = found_columns(header, columns, source.name)
        needed = _needed(places)
        require_columns(needed, header, source.name, "the Parquet schema")
        blocks = parquet_blocks(source, needed, progress)
    else:
        text = _Text(source, columns)
        parts = text_blocks(source, text.delimiter_of, progress)
        header, row_noun = text.header(next(parts)), "line"
        form = text.form
        places = found_columns(header, columns, source.name)
        needed = _needed(places)
        require_columns(needed, header, source.name, "line 1")
        blocks = _cells(parts, needed, len(header), text.delimiter, source.name)
    named = {meaning: header[place] for meaning, place in places.items()}
    table = LogTable(source.name, row_noun, named, source.room)
    for block in blocks:
        table.add(block)
    return table.log(form)


def _needed(places: Mapping[str, int]) -> dict[str, int]:
    return {meaning: place for meaning, place in places.items() if meaning not in UNUSED}


def _cells(
    parts: Iterator[TextBlock], places: Mapping[str, int], width: int, delimiter: str, name: str
) -> Iterator[CellBlock]:
    careful = 0
    for part in parts:
        # The first of these pieces is the next one; what cannot be read fast is cut in halves.
        pieces = [part]
        while pieces:
            piece = pieces.pop()
            cells = fast_cells(piece, places, width, delimiter)
            if cells is None and (halves := piece.halves()):
                pieces += reversed(halves)
                continue
            if cells is None:
                careful += piece.lines
                CAREFUL_ROWS.require(careful, name)
                cells = careful_cells(piece, places, width, delimiter, name)
            yield cells


class _Text:
    """What the header line of a text file says about the file."""

    def __init__(self, source: Source, columns: Mapping[str, str] | None) -> None:
        self.columns, self.name = columns, source.name
        self.packed = first_bytes(source, 2) == GZIP
        self.delimiter = ","

    def delimiter_of(self, line: str) -> str:
        """The delimiter, once the header line is known."""
        self.delimiter, _ = split_header(line, self.columns, self.name)
        return self.delimiter

    def header(self, block: TextBlock) -> list[str]:
        """The column names."""
        line = block.data.decode("utf-8", "replace")
        self.delimiter, cells = split_header(line, self.columns, self.name)
        return [cell.strip() for cell in cells]

    @property
    def form(self) -> str:
        """The format in words."""
        form = f"CSV, {DELIMITERS[self.delimiter]} between columns, UTF-8"
        return f"{form}, gzip" if self.packed else form
