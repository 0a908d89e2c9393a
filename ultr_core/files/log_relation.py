"""A click log as a relation of DuckDB: files or uploads, their columns as text, within bounds.

Nothing from outside enters a statement: columns are c0, c1, ... by their place, files have names of
ours, and paths into JSON are bound as parameters. Before a file is opened, access to all else is
off and the configuration locked.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.files.disk import BYTE_ORDER_MARK, GZIP, ZSTD
from ultr_core.files.json_keys import key_twice
from ultr_core.files.letor_lines import Source
from ultr_core.files.locks import UNFOLLOWED, abandoned, hold
from ultr_core.files.log_columns import found_columns, split_header
from ultr_core.files.log_database import disk_full, is_disk_full, with_tables
from ultr_core.files.log_parts import PARQUET, LogParts, first_bytes, is_parquet, stored
from ultr_core.files.parquet_pages import Budget, damaged, groups_of, require_pages
from ultr_core.files.tables import DELIMITERS
from ultr_core.limits import (
    COLUMNS,
    FOOTER_BYTES,
    JSON_LINE_BYTES,
    LOG_MEMORY,
    ROW_BYTES,
    Limit,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[float], object]
"""Told the share of a log that has been read, from 0 to 1."""

PIECE_ROWS = 20_000_000
"""Rows of a log that one statement groups: what it finds is added up from piece to piece."""

ADDED_AT_ONCE = 4_000_000
"""Rows of what pieces found that one statement adds up."""

MOST_BUCKETS = 256
"""Buckets that rows are split into; each takes memory while it is being written."""

LONGEST_SHOWN = 1_000
"""Characters of a cell in a preview."""

_MOST_THREADS = 8
_SECONDS = 0.02  # between two shares that are told
_ROWS_AT_ONCE = 1 << 17
_ROWS_SPLIT = 1 << 16
_BATCH_BYTES = 1 << 26  # of texts; CELL_BYTES leave room for thousands of them
_PIECE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 20
_LONG_TEXT = 1 << 31  # bytes
_HEAD_OBJECTS = 10_000
_DEEPEST = 8
_FOLDER = "ultr-log-"
_ABSENT = "\x01\x02"  # what no cell holds, so that an empty cell is told from one that is missing
_BLANK = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(160)"
_FLOATS = ("DOUBLE", "FLOAT")
_LOST = "abs({0}) >= 9007199254740992 AND isfinite({0})"  # whole numbers that floats may merge
_LISTS = "lists"  # the type of a column of JSON whose values are lists
_LOST_ERROR = re.compile(r"Invalid Input Error: door lost (\d+)")
_CELLS_ERROR = "Invalid Input Error: door cells"
_LINE_ERROR = re.compile(r"Invalid Input Error: CSV Error on Line: (\d+)")


@dataclass(frozen=True, eq=False)
class Part:
    """One file of a log: its columns c0, c1, ... as they are named in ``header``.

    name: what messages call it. form: its format in words. row_noun: what a row is called there.
    types: of the columns, as DuckDB has them. scan: what stands after FROM, with a list of files as
    its parameter; of CSV it has one more column, ``rest``, for a cell beyond the header, and of
    JSON lines one column ``line``. skip: lines of text up to the header; 0 for the others. leaves:
    of Parquet, the place of each column as it is stored, None for lists and other nested ones.
    rows: how many a Parquet file says it has. lines: how many a CSV file has; quotes:
    how many quotation marks; unquoted: the most bytes behind one of them without another. pointers:
    of JSON, the way to each column. action: what each row is, "view" or "click", where no column
    says it.
    """

    source: Source
    form: str
    row_noun: str
    header: tuple[str, ...]
    types: tuple[str, ...]
    scan: str
    path: str
    stream: IO[bytes]
    delimiter: str = ","
    skip: int = 0
    leaves: tuple[int | None, ...] = ()
    rows: int = 0
    lines: int = 0
    quotes: int = 0
    unquoted: int = 0
    pointers: tuple[str, ...] = ()
    action: str = ""

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self.source.name

    @property
    def is_text(self) -> bool:
        """Whether it came as text, with lines."""
        return self.row_noun == "line"

    @property
    def is_csv(self) -> bool:
        """Whether its rows are cells between delimiters."""
        return self.is_text and not self.pointers

    @property
    def layout(self) -> tuple[Any, ...]:
        """What files that one scan can read together share."""
        return self.scan, self.header, self.types, self.pointers, self.action

    def text_of(self, place: int, *, is_name: bool = False) -> str:
        """SQL for a column as text, '' where it has no value; whole numbers as whole numbers.

        Ids are lost in numbers of 2^53 or more that are no whole numbers by type; those stop.
        Raises InputError for a column of lists or other values that have no text.
        """
        column, kind = f"c{place}", self.types[place]
        if is_nested(kind):
            raise InputError(
                f"The column {quoted(self.header[place])} of {self.name} contains "
                f"{_in_words(kind)} instead of numbers or text; write one row for each document "
                "shown.",
                "lists",
            )
        if self.is_text or kind == "VARCHAR":
            return f"coalesce({column}, '')"
        if kind in _FLOATS:
            lost = f"WHEN {_LOST.format(column)} THEN error('door lost {place}')" if is_name else ""
            whole = f"{column} = trunc({column}) AND abs({column}) < 9007199254740992"
            return (
                f"coalesce(CASE WHEN {whole} THEN try_cast({column} AS BIGINT)::VARCHAR {lost} "
                f"ELSE {column}::VARCHAR END, '')"
            )
        if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
            return f"coalesce(rtrim(rtrim({column}::VARCHAR, '0'), '.'), '')"
        if kind == "BLOB":
            return f"coalesce(decode({column}), '')"
        return f"coalesce({column}::VARCHAR, '')"

    def is_blank(self) -> str:
        """SQL for rows of text that are none: blank, or a comment after the header."""
        if not self.is_csv:
            return f"trim(line, {_BLANK}) = ''"
        cells = ", ".join(f"c{place}" for place in range(len(self.header)))
        blank = f"trim(concat({cells}), {_BLANK}) = ''"
        comment = "starts_with(c0, '#') AND c1 IS NULL" if len(self.header) > 1 else "false"
        return f"({blank} OR ({comment}))"

    def places(self, records: Sequence[int]) -> dict[int, int]:
        """By number of a record, from 1, the line that it begins in; for Parquet itself."""
        if not self.is_text:
            return {record: record for record in records}
        found = self._lines_of(records)
        return {record: found.get(record, self.skip + record) for record in records}

    def _lines_of(self, records: Sequence[int]) -> dict[int, int]:
        delimiter = self.delimiter if self.is_csv else None
        return _lines_of(self.stream, self.skip, set(records), delimiter)

    @property
    def may_be_open(self) -> bool:
        """Whether a quotation mark may hold the end of a file, by their number and places."""
        return bool(self.quotes % 2) or self.unquoted > ROW_BYTES.most

    def require_last(self, record: int) -> None:
        """Raise InputError if another record follows this one, the last that the engine gave.

        A quotation that is longer than its buffer and never closed is left out without a word.
        """
        if line := self._lines_of([record + 1]).get(record + 1):
            raise self._never_closed(line)

    def _never_closed(self, line: int) -> InputError:
        return InputError(
            f"Line {line} of {self.name} opens a quotation mark that is never closed.", "open_quote"
        )

    def holds_rows(self, position: int) -> str:
        """SQL for whether a cell of a row holds whole rows, as a quotation closed too late does.

        Between its line ends is a row with as many delimiters as the header and a number for its
        position, or what is before its line end completes the row that it began in, and what is
        behind it begins another.
        """
        other = f"[^{re.escape(self.delimiter)}\\r\\n]*"
        cells = [other] * len(self.header)
        cells[position] = r" *[0-9]+(?:\.0)? *"
        end, between = r"(?:\r\n|\n|\r)", re.escape(self.delimiter)
        row, found = between.join(cells), []
        for place in range(len(cells)):
            # The cells at both ends of a quotation are cut.
            head = between.join([*cells[:place], other])
            tail = between.join([other, *cells[place + 1 :]])
            rows = f"{end}{row}{end}|^{tail}{end}(?:{row}{end})*{head}$"
            found.append(
                f"(contains(c{place}, {_literal(self.delimiter)}) AND "
                f"regexp_matches(c{place}, {_literal(rows)}))"
            )
        return f"coalesce({' OR '.join(found)}, false)"

    def quoted_rows(self, record: int) -> InputError:
        """The error for a row of which a cell holds others."""
        line = self.places([record])[record]
        return InputError(
            f"The row that begins on line {line} of {self.name} has further rows between two "
            "quotation marks; close the first where its cell ends, or double both.",
            "open_quote",
        )

    def _last_lines(self, number: int) -> list[bytes]:
        size = self.stream.seek(0, os.SEEK_END)
        self.stream.seek(max(size - 2 * ROW_BYTES.most, 0))
        return self.stream.read().rstrip().split(b"\n")[-number:]

    def last_rows(self) -> Iterator[list[str]]:
        """Cells of the last line of CSV and of the line above it, if each is a row."""
        for line in reversed(self._last_lines(2) if self.is_csv else []):
            text = line.decode("utf-8", "replace").rstrip("\r")
            with suppress(csv.Error):
                yield from csv.reader([text], delimiter=self.delimiter, strict=True)

    def require_closed(self, record: int, breaks: int) -> None:
        """Raise InputError if the last record, of so many line breaks, has an open quotation."""
        lines = self._last_lines(1 + breaks)
        text = io.StringIO(b"\n".join(lines).decode("utf-8", "replace"), newline="")
        try:
            for _ in csv.reader(text, delimiter=self.delimiter, strict=True):
                pass
        except csv.Error as error:
            # Of one line, other faults are no open quotation.
            if breaks or "end of data" in str(error):
                raise self._never_closed(self.places([record])[record]) from None

    def lost_ids(self, place: int) -> InputError:
        """The error for a column of ids that are floats of 2^53 or more."""
        return InputError(
            f"The column {quoted(self.header[place])} of {self.name} contains numbers of 2^53 or "
            "more as floats, so different ids may have become equal; write the ids as text or as "
            "whole numbers.",
            "lost_ids",
        )

    def in_one_sentence(self, text: str, error: Exception) -> InputError:
        """What DuckDB says of this file, for a reader."""
        if own := _LOST_ERROR.match(text):
            return self.lost_ids(int(own[1]))
        if not self.is_text:
            if "UTF8" in text or "UTF-8" in text or isinstance(error, UnicodeError):
                return InputError(f"{self.name} has text that is not UTF-8; write it as UTF-8.")
            return damaged(self.name)
        if found := _LINE_ERROR.match(text):
            place = f"ine {found[1]} of {self.name}"
            if "Maximum line size" in text:
                return ROW_BYTES.exceeded(f"The row that begins in l{place}")
            if "nvalid unicode" in text or "not utf-8" in text:
                return _not_utf8(f"L{place}")
            return InputError(
                f"L{place} is not CSV; give every row the columns named on the first line."
            )
        kind = "JSON lines" if self.pointers else "CSV"
        return InputError(
            f"{self.name} cannot be read as {kind}; save it as plain {kind} in UTF-8."
        )


def _not_utf8(place: str) -> InputError:
    return InputError(
        f"{place} is not UTF-8 text; save the file as UTF-8, or give its encoding.",
        "encoding",
    )


class LongCellsError(Exception):
    """A row of a log has a cell beyond ``CELL_BYTES``; which one, its first reader finds out."""


@dataclass(frozen=True, eq=False)
class Relation:
    """An opened log: its parts, and the database that counts them.

    folder: where rows may be kept as Parquet, for another look at them. parameters: by name, of
    its scans: lists of files, ways into JSON.
    """

    name: str
    parts: tuple[Part, ...]
    connection: DuckDBPyConnection
    folder: Path = Path()
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> Part:
        """The part whose header names the columns."""
        return self.parts[0]

    @property
    def is_long_text(self) -> bool:
        """Whether text of the log is too long to be counted in one piece."""
        sizes = [part.stream.seek(0, os.SEEK_END) for part in self.parts if part.is_text]
        return sum(sizes) > _LONG_TEXT

    def scans(self) -> Iterator[tuple[Part, str]]:
        """One of the parts of each layout, and what stands after FROM for a piece of them.

        A piece is as many whole parts as have about ``PIECE_ROWS``, or so many rows of a larger
        one. How many rows a text has is not known, so texts of one layout are one piece.
        """
        together: dict[tuple[Any, ...], list[Part]] = {}
        for part in self.parts:
            together.setdefault(part.layout, []).append(part)
        for parts in together.values():
            piece: list[Part] = []
            for part in parts:
                if part.rows > PIECE_ROWS:
                    # What the footer says in sum need not be what its groups have.
                    rows = sum(group.rows for group in groups_of(part.stream, part.name))
                    yield from ((part, f"(SELECT * FROM {self.scan_of(part)} {only})")
                                for only in row_ranges(rows))  # fmt: skip
                    continue
                if piece and sum(each.rows for each in piece) + part.rows > PIECE_ROWS:
                    yield piece[0], self.scan_of(*piece)
                    piece = []
                piece.append(part)
            if piece:
                yield piece[0], self.scan_of(*piece)

    def scan_of(self, *parts: Part) -> str:
        """What stands after FROM for parts of one layout."""
        return (
            parts[0]
            .scan.replace("?", f"${self.bound([part.path for part in parts])}")
            .replace("!", f"${self.bound(list(parts[0].pointers))}")
        )

    def encoded(self, statement: str) -> tuple[NDArray[np.int32], list[str]]:
        """The one column of text of a statement: places among its different texts, and those."""
        import pyarrow as pa  # type: ignore[import-untyped]

        codes: list[NDArray[np.int32]] = []
        number: dict[str, int] = {}
        longest = self.run(f"SELECT coalesce(max(strlen(text)), 0) FROM ({statement}) AS t(text)")
        # A batch at a time: the texts of all rows would take many times their numbers.
        rows = min(_ROWS_AT_ONCE, _BATCH_BYTES // (1 + int(longest[0][0])))
        with self._told():
            for batch in self.connection.sql(statement).to_arrow_reader(rows):
                column = batch.column(0).dictionary_encode()
                texts = column.dictionary.to_pylist()
                if column.null_count or None in texts:  # where the statement lets none be missing
                    raise damaged(self.name)
                own = [number.setdefault(text, len(number)) for text in texts]
                codes.append(np.array(own, np.int32)[column.indices.to_numpy()])
        pa.default_memory_pool().release_unused()
        return np.concatenate([np.zeros(0, np.int32), *codes]), list(number)

    def each_batch(
        self,
        statements: Sequence[str],
        take: Callable[..., None],
        progress: Progress | None = None,
    ) -> None:
        """Give ``take`` the columns of numbers that each statement finds, some rows at a time."""
        for number, statement in enumerate(statements):
            # With parameters the engine would make all rows at once; a variable is none.
            for name in self._used(statement):
                self.run(f"SET VARIABLE {name} = ${name}")
            plain = re.sub(r"\$(p\d+)", r"getvariable('\1')", statement)

            def rows(plain: str = plain) -> None:
                for batch in self.connection.sql(plain).to_arrow_reader(_ROWS_AT_ONCE):
                    take(*(column.to_numpy() for column in batch.columns))

            # Watched from outside in any case: no signal gets into the making of a batch.
            told = share_of(progress or (lambda share: None), number, len(statements))
            self._watched(rows, told)

    def kept(self, rows: Sequence[str], progress: Progress | None = None) -> list[str]:
        """SQL for rows that are taken out of text once; each look at text takes many times as long.

        rows: SQL of each piece, as it is given back if all of them are Parquet.
        """
        if not any(part.is_text for part in self.parts):
            return list(rows)
        copy, copied = self.written("rows", together(rows), progress)
        kept = f"SELECT * FROM read_parquet({copy})"
        return [f"{kept} {only}" for only in row_ranges(copied)]

    def written(self, name: str, rows: str, progress: Progress | None = None) -> tuple[str, int]:
        """Write rows of SQL to a file of ours; returns SQL of its path, and how many there are."""
        path = _literal(str(self.folder / f"{name}.parquet"))
        return path, int(self.run(f"COPY ({rows}) TO {path} (FORMAT parquet)", progress)[0][0])

    def gathered(
        self,
        table: str,
        found: Sequence[str],
        keys: Sequence[str] = (),
        sums: Mapping[str, str] = MappingProxyType({}),
        progress: Progress | None = None,
    ) -> None:
        """Make a table of the rows that statements find, one after the other.

        keys, sums: columns of the statements. Rows of several of them with equal keys become one,
        with the SQL of each sum, such as "sum(rows)::BIGINT". Without keys all rows stay. Memory
        follows ``ADDED_AT_ONCE``; a table that is larger is put on disk.
        """
        least = ADDED_AT_ONCE
        for number, statement in enumerate(found, 1):
            start = f"INSERT INTO {table}" if number > 1 else f"CREATE TEMP TABLE {table} AS"
            self.run(f"{start} {statement}", share_of(progress, number - 1, len(found)))
            if not keys or len(found) == 1:
                continue
            rows = self.size_of(table)
            if rows > least or number == len(found):
                self._add_up(table, rows, keys, sums, progress)
                least = ADDED_AT_ONCE + 2 * self.size_of(table)

    def size_of(self, table: str) -> int:
        """How many rows a table has."""
        return int(self.run(f"SELECT count(*) FROM {table}")[0][0])

    def _add_up(
        self,
        table: str,
        rows: int,
        keys: Sequence[str],
        sums: Mapping[str, str],
        progress: Progress | None,
    ) -> None:
        by = ", ".join(keys)
        columns = ", ".join((by, *(f"{sql} AS {name}" for name, sql in sums.items())))
        self.run(f"CREATE TEMP TABLE added AS SELECT * FROM {table} LIMIT 0")
        with self.split([f"SELECT * FROM {table}"], f"hash({by})", rows, progress) as buckets:
            if len(buckets) > 1:
                self.run(f"DROP TABLE {table}")
            for place, some in enumerate(buckets):
                added = f"SELECT {columns} FROM ({some}) GROUP BY {by}"
                self.run(f"INSERT INTO added {added}", share_of(progress, place, len(buckets)))
        self.run(f"DROP TABLE IF EXISTS {table}")
        self.run(f"ALTER TABLE added RENAME TO {table}")

    @contextmanager
    def split(
        self,
        statements: Sequence[str],
        number: str,
        rows: int,
        progress: Progress | None = None,
        at_once: int | None = None,
    ) -> Iterator[list[str]]:
        """SQL for the rows of statements in buckets, each with all rows of equal ``number``.

        rows: how many there are, about. at_once: how many of them a bucket has, about; None for
        ``ADDED_AT_ONCE``. Several buckets are files, so that each row is looked at once more,
        however many buckets there are.
        """
        buckets = min(-(-rows // (at_once or ADDED_AT_ONCE)), MOST_BUCKETS)
        if buckets <= 1:
            yield [together(statements)]
            return
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for place, statement in enumerate(statements):
                self.run(
                    f"COPY (SELECT *, {number} % {buckets} AS bucket FROM ({statement})) TO "
                    f"{_literal(f'{folder}/{place}')} (FORMAT parquet, PARTITION_BY (bucket))",
                    share_of(progress, place, len(statements)),
                )
            found = [
                f"SELECT * FROM read_parquet({_literal(f'{folder}/*/bucket={bucket}/*')}, "
                "hive_partitioning = false)"
                for bucket in range(buckets)
                if any(Path(folder).glob(f"*/bucket={bucket}"))
            ]
            yield found or [f"SELECT * FROM ({together(statements)}) LIMIT 0"]

    def put(self, table: str, **columns: NDArray[Any]) -> None:
        """Make a table, by name of each column."""
        import pyarrow as pa

        self.connection.register("given", pa.table(columns))
        self.connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM given")
        self.connection.unregister("given")

    def bound(self, value: Any) -> str:
        """The name of a parameter of statements with this value."""
        for name, known in self.parameters.items():
            if known == value:
                return name
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name

    def run(self, statement: str, progress: Progress | None = None, *, arrays: bool = False) -> Any:
        """The rows of a statement, or with ``arrays`` its columns by name; tells how far it is.

        What ``progress`` raises ends the statement. Raises InputError for what is wrong in the log.
        """
        used = self._used(statement)

        def rows() -> Any:
            done = self.connection.execute(statement, used)
            return done.fetchnumpy() if arrays else done.fetchall()

        return self._watched(rows, progress)

    def _watched(self, rows: Callable[[], Any], progress: Progress | None) -> Any:
        with self._told():
            if progress is None:
                return rows()
            progress(0.0)
            with ThreadPoolExecutor(1) as pool:
                done = pool.submit(rows)
                try:
                    while wait([done], _SECONDS).not_done:
                        progress(min(max(self.connection.query_progress() / 100, 0.0), 1.0))
                    return done.result()
                except BaseException:
                    self.connection.interrupt()
                    raise

    def _used(self, statement: str) -> dict[str, Any]:
        return {name: self.parameters[name] for name in re.findall(r"\$(p\d+)", statement)}

    @contextmanager
    def _told(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except (duckdb.Error, UnicodeError, OverflowError) as error:
            if str(error).startswith(_CELLS_ERROR):
                raise LongCellsError from None
            if is_disk_full(str(error)):
                raise disk_full(self.name) from None
            if isinstance(error, duckdb.OutOfMemoryException):
                raise LOG_MEMORY.exceeded(f"Reading {self.name}") from None
            raise self._part_in(str(error)).in_one_sentence(str(error), error) from None
        except RuntimeError as error:  # Ctrl-C, which the engine sees before Python does
            if "interrupted" not in str(error).lower():
                raise
            raise KeyboardInterrupt from None
        except OSError as error:  # of a batch that is fetched
            if "Out of Memory" not in str(error):
                raise
            raise LOG_MEMORY.exceeded(f"Reading {self.name}") from None

    def _part_in(self, text: str) -> Part:
        """The part that an error of DuckDB is about; a part of no name where that is not known."""
        for part in self.parts:
            if re.search(re.escape(part.path) + r"(?!\d)", text):
                return part
        if own := _LOST_ERROR.match(text):
            floats = (part for part in self.parts if self._loses(part, int(own[1])))
            return next(floats, self.first)
        if len(self.parts) == 1:
            return self.first
        return replace(self.first, source=replace(self.first.source, name=f"A file of {self.name}"))

    def _loses(self, part: Part, place: int) -> bool:
        """Whether a column of a part has floats in which ids are lost."""
        if place >= len(part.types) or part.types[place] not in _FLOATS:
            return False
        lost = f"SELECT 1 FROM {self.scan_of(part)} WHERE {_LOST.format(f'c{place}')} LIMIT 1"
        return bool(self.run(lost))


@contextmanager
def opened_log(
    log: LogParts, columns: Mapping[str, str] | None = None, encoding: str | None = None
) -> Iterator[Relation]:
    """The relation of a log; raises InputError if it is damaged, too large or not a log."""
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        own = with_tables(log, folder)
        copied = [ours is not source for ours, source in zip(own.parts, log.parts, strict=True)]
        log = own
        forms = [is_parquet(source) for source in log.parts]
        streams = []
        for source in log.parts:
            try:
                streams.append(stored(source, folder, encoding, stack))
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    raise disk_full(source.name) from None
                told = error.strerror or error
                raise InputError(f"{source.name} cannot be read ({told}).") from None
        paths = [_path_of(stream) for stream in streams]
        connection = stack.enter_context(_engine(paths, folder))
        made = [
            _parquet(source, stream, path, connection)
            if parquet
            else _text(source, columns, stream, path)
            for source, parquet, stream, path in zip(log.parts, forms, streams, paths, strict=True)
        ]
        actions = log.actions or ("",) * len(made)
        parts = tuple(
            replace(
                part,
                action=action,
                form="DuckDB" if table else part.form.replace("UTF-8", encoding or "UTF-8"),
            )
            for part, action, table in zip(made, actions, copied, strict=True)
        )
        log.room.rows.require(sum(part.rows for part in parts), log.name)
        yield Relation(log.name, parts, connection, folder)


def together(rows: Iterable[str]) -> str:
    """SQL for the rows of all pieces."""
    return " UNION ALL ".join(rows)


def row_ranges(rows: int) -> list[str]:
    """SQL for the rows of a Parquet file in pieces of ``PIECE_ROWS``; the last one has no end."""
    starts = range(0, max(rows, 1), PIECE_ROWS)
    if len(starts) == 1:
        return [""]
    ends = [f" AND file_row_number < {start}" for start in starts[1:]]
    return [
        f"WHERE file_row_number >= {start}{end}"
        for start, end in zip(starts, [*ends, ""], strict=True)
    ]


def share_of(progress: Progress | None, number: int, pieces: int) -> Progress | None:
    """What tells the share of one of several pieces as one of all."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / pieces)


def sweep_folders() -> None:
    """Remove the folders of processes that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_FOLDER) and abandoned(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder for spill files that goes at the end; those of killed processes go first."""
    sweep_folders()
    with ExitStack() as stack:
        folder, held = "", False
        while not held:
            # Another process may sweep a folder that is not held yet.
            folder = tempfile.mkdtemp(prefix=_FOLDER)
            held = os.name == "nt" or _held(folder, stack)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield Path(folder)


def _held(folder: str, stack: ExitStack) -> bool:
    """Hold a folder until the end of a stack; False if somebody swept it away before."""
    try:
        descriptor = os.open(folder, UNFOLLOWED)
    except FileNotFoundError:
        return False
    stack.callback(os.close, descriptor)
    return hold(descriptor, folder)


def _path_of(stream: IO[bytes]) -> str:
    own = f"/proc/self/fd/{stream.fileno()}"
    return own if os.path.exists(own) else str(stream.name)


@contextmanager
def _engine(paths: Sequence[str], folder: Path) -> Iterator[DuckDBPyConnection]:
    """A database in memory that can open these files, those in ``folder`` and nothing else."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": min(os.cpu_count() or 1, _MOST_THREADS),
            "memory_limit": f"{LOG_MEMORY.most}B",
            "temp_directory": str(folder),
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
        },
    )
    try:
        connection.execute(f"SET allowed_paths = [{', '.join(map(_literal, paths))}]")
        connection.execute(f"SET allowed_directories = [{_literal(f'{folder}/')}]")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_progress_bar = false")
        # Rows that are split, on each core; those of long texts would fill the memory.
        connection.execute(f"SET partitioned_write_flush_threshold = {_ROWS_SPLIT}")
        # Smallest and largest values that a damaged Parquet file tells would change what is read.
        connection.execute("SET disabled_optimizers = 'compressed_materialization'")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(source: Source, columns: Mapping[str, str] | None, stream: IO[bytes], path: str) -> Part:
    if _first_byte(stream) in (b"{", b"["):
        return _json(source, stream, path)
    header, delimiter, skip = _head(stream, source.name, columns)
    lines, quotes, unquoted = _quotes_in_lines(stream, source)
    names = [*(f"c{place}" for place in range(len(header))), "rest", "further"]
    # A quotation mark can hold line ends, and only the lines from the start on tell which do.
    scan = _csv_scan(names, delimiter, quote="'\"'", skip=skip, parallel=not quotes)
    return Part(
        source,
        _packing(source, f"CSV, {DELIMITERS[delimiter]}-separated, UTF-8"),
        "line",
        tuple(header),
        ("VARCHAR",) * len(header),
        scan,
        path,
        stream,
        delimiter,
        skip,
        lines=lines,
        quotes=quotes,
        unquoted=unquoted,
    )


def _quotes_in_lines(
    stream: IO[bytes], source: Source, longest: Limit = ROW_BYTES
) -> tuple[int, int, int]:
    """How many lines and quotation marks a text has, and the most bytes behind one without another.

    Those between two in one piece are not counted. Raises InputError for a line beyond ``longest``.

    The engine leaves such a line out without a word where it reads a file in several places. More
    lines than there is room for rows are refused before it takes its time for them.
    """
    quotes = length = lines = since = unquoted = 0
    for piece in iter(lambda: stream.read(_PIECE_BYTES), b""):
        first = piece.find(b'"')
        since += len(piece) if first < 0 else first
        unquoted = max(unquoted, since if quotes else 0)
        if first >= 0:
            quotes += piece.count(b'"')
            since = len(piece) - 1 - piece.rfind(b'"')
        ends = [place for mark in (b"\n", b"\r") if (place := piece.find(mark)) >= 0]
        length += min(ends, default=len(piece))
        if length > longest.most:
            raise longest.exceeded(f"The row that begins on line {lines + 1} of {source.name}")
        if ends:
            length = len(piece) - 1 - max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            lines += piece.count(b"\n") or piece.count(b"\r")
    stream.seek(0)
    # Without quotation marks no row has two lines; one line is the header's.
    if not quotes and lines > source.room.rows.most + 1:
        raise source.room.rows.exceeded(source.name)
    return lines + bool(length), quotes, max(unquoted, since if quotes else 0)


def _csv_scan(
    names: Sequence[str], delimiter: str, *, quote: str, skip: int, parallel: bool
) -> str:
    typed = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    return (
        f"read_csv(?, auto_detect=false, header=false, skip={skip}, delim={_literal(delimiter)}, "
        f"quote={quote}, escape={quote}, nullstr={_literal(_ABSENT)}, null_padding=true, "
        f"strict_mode=false, parallel={str(parallel).lower()}, compression='none', "
        f"encoding='utf-8', max_line_size={ROW_BYTES.most}, buffer_size={4 * ROW_BYTES.most}, "
        f"columns={{{typed}}})"
    )


def _packing(source: Source, form: str) -> str:
    start = first_bytes(source, len(ZSTD))
    if start == ZSTD:
        return f"{form}, zstandard"
    return f"{form}, gzip" if start.startswith(GZIP) else form


def _first_byte(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    start = stream.read(_HEAD_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
    stream.seek(0)
    return start[:1]


def _json(source: Source, stream: IO[bytes], path: str) -> Part:
    """JSON lines: one object a line, nested ones by their names with dots between them."""
    found: dict[tuple[str, ...], str] = {}
    stream.seek(len(BYTE_ORDER_MARK) if stream.read(3) == BYTE_ORDER_MARK else 0)
    for number in range(_HEAD_OBJECTS):
        line = stream.readline(ROW_BYTES.most + 1)
        if not line:
            break
        if line.isspace():
            continue
        if _add_row(found, line):
            COLUMNS.require(len(found), source.name)
        elif number == 0:
            raise InputError(
                f"{source.name} begins like JSON, but its first line is not a single object; write "
                "JSON lines: one object per row, each on a separate line.",
                "json_lines",
            )
    stream.seek(0)
    header = tuple(".".join(way) for way in found)
    pointers = tuple(
        "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in way) for way in found
    )
    _quotes_in_lines(stream, source, JSON_LINE_BYTES)
    # No line of JSON holds the character that stands between columns here.
    lines = _csv_scan(["line"], "\x03", quote="''", skip=0, parallel=True)
    cells = ", ".join(f"cells[{place + 1}] AS c{place}" for place in range(len(header)))
    scan = (
        f"(SELECT {cells}, line, cells IS NULL AS broken FROM (SELECT line, CASE WHEN "
        f"json_valid(line) AND json_type(line) = 'OBJECT' THEN json_extract_string(line, !) END "
        f"AS cells FROM {lines}))"
    )
    return Part(
        source, _packing(source, "JSON lines, UTF-8"), "line", header, tuple(found.values()),
        scan, path, stream, pointers=pointers,
    )  # fmt: skip


def _add_row(found: dict[tuple[str, ...], str], line: str | bytes) -> bool:
    """Add the columns of one line of JSON, with their types; False if it is not an object."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if isinstance(row, dict):
        _add_columns(found, row, ())
    return isinstance(row, dict)


def _add_columns(
    found: dict[tuple[str, ...], str], row: Mapping[str, Any], way: tuple[str, ...]
) -> None:
    for name, value in row.items():
        if isinstance(value, dict) and len(way) < _DEEPEST:
            _add_columns(found, value, (*way, name))
        elif isinstance(value, list):
            found[*way, name] = _LISTS
        else:
            found.setdefault((*way, name), "VARCHAR")


def _head(
    stream: IO[bytes], name: str, columns: Mapping[str, str] | None
) -> tuple[list[str], str, int]:
    """Column names, what stands between columns, and how many lines end with the header.

    Blank lines, ``sep=;`` and lines of comment may come before it.
    """
    stream.seek(0)
    start = stream.read(_HEAD_BYTES + len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    stream.seek(0)
    lines = re.split(rb"\r\n|\n|\r", start) if b"\n" not in start else start.split(b"\n")
    for number, line in enumerate(lines, 1):
        plain = line.strip()
        if not plain or re.fullmatch(rb'"?sep=.?"?', plain):
            continue
        if b"\0" in line or len(line) >= _HEAD_BYTES:
            break
        text = line.rstrip(b"\r").decode("utf-8", "replace")
        delimiter, cells = split_header(text, columns, name)
        header = [cell.strip() for cell in cells] or [""]
        if "\N{REPLACEMENT CHARACTER}" in text:
            raise _not_utf8(f"Line {number} of {name}")
        if not (plain.startswith(b"#") and not found_columns(header, None, name)):
            return header, delimiter, number
    else:
        raise _without_header(stream, name)
    # Counted before it is refused: a line of many columns says so.
    split_header(line.decode("utf-8", "replace"), columns, name)
    raise InputError(
        f"{name} is not UTF-8 text with a line of column names; give a CSV file in UTF-8, plain or "
        "gzipped, or a Parquet file."
    )


def _without_header(stream: IO[bytes], name: str) -> InputError:
    """The error for a text log that begins without a line of column names."""
    size, has_content = 0, False
    for piece in iter(lambda: stream.read(_PIECE_BYTES), b""):
        size += len(piece)
        has_content |= bool(piece.removeprefix(BYTE_ORDER_MARK).strip())
    what = "is empty" if not size else "has only blank lines"
    if has_content:
        what = "has no line of column names"
        if size > _HEAD_BYTES:
            what += f" in its first {_HEAD_BYTES:,} bytes"
    return InputError(
        f"{name} {what}; start the click log with its column names, such as "
        "query,document,position,click.",
        "empty_file",
    )


def _parquet(source: Source, stream: IO[bytes], path: str, connection: DuckDBPyConnection) -> Part:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 8, 0))
    end = stream.read(8)
    length = int.from_bytes(end[:4], "little")
    if not end.endswith(PARQUET) or length > size:
        raise damaged(source.name)
    FOOTER_BYTES.require(length, f"The footer of {source.name}")
    bare = Part(source, "Parquet", "row", (), (), "read_parquet(?)", path, stream)
    database = Relation(source.name, (bare,), connection, parameters={"p0": path})
    nodes = database.run("SELECT name, num_children FROM parquet_schema($p0)")
    header, leaves = _columns_of(nodes[1:])
    COLUMNS.require(len(header), source.name)
    described = database.run("DESCRIBE SELECT * FROM read_parquet($p0)")
    types = tuple(str(row[1]) for row in described)
    if len(types) != len(header) or not header:
        raise damaged(source.name)
    rows = database.run("SELECT num_rows FROM parquet_file_metadata($p0)")[0][0]
    named = ", ".join(f"c{place}" for place in range(len(header)))
    return Part(
        source, "Parquet", "row", tuple(header), types, f"read_parquet(?) AS log({named})", path,
        stream, leaves=leaves, rows=int(rows),
    )  # fmt: skip


def _columns_of(
    nodes: Sequence[tuple[str, int | None]],
) -> tuple[list[str], tuple[int | None, ...]]:
    """Names of the columns and their places as they are stored, from the tree of a schema."""
    header: list[str] = []
    leaves: list[int | None] = []
    below = leaf = 0
    for name, children in nodes:
        if below:
            below -= 1
        else:
            header.append(str(name))
            leaves.append(None if children else leaf)
        below += children or 0
        leaf += not children
    return header, tuple(leaves)


def require_sound(part: Part, places: Sequence[int], groups: int | None = None) -> None:
    """Raise InputError for columns of a Parquet file that are damaged or unpack to too much.

    DuckDB takes a page that says it has fewer cells as it is, and what follows in the file for
    them. groups: how many groups of rows are going to be read; None for all.
    """
    if part.is_text:
        return
    budget = Budget(part.name, part.source.size, part.source.room.unpacked)
    for group in groups_of(part.stream, part.name)[:groups]:
        for place in places:
            leaf = part.leaves[place]
            if leaf is None or leaf >= len(group.chunks):
                continue
            require_pages(part.stream, group.chunks[leaf], group.rows, budget)


def require_sound_json(
    relation: Relation, part: Part, places: Sequence[int], names: Sequence[int]
) -> None:
    """Raise InputError for a line of JSON that no two programs read alike, in one scan.

    places: columns that no line may name twice: DuckDB takes the first of the values, others the
    last. names: columns in which a float of 2^53 or more merges ids.
    """
    if not part.pointers:
        return
    twice, keys = _named_twice(relation, part, places)
    lost = [_lost_in_line(relation, part, place) for place in names]
    # The engine reads a whole number of 2^64 or more as a float, too.
    suspect = "regexp_matches(line, '[0-9]{16}[0-9]*[.]|[0-9]{20}|[0-9][eE][+]?[0-9]')"
    found = relation.run(
        f"SELECT line, {', '.join((twice, *lost))} FROM {relation.scan_of(part)} "
        f"WHERE {twice} OR {_where_so(suspect, ' OR '.join(lost))} LIMIT 1"
    )
    if not found:
        return
    line, is_twice, *are_lost = found[0]
    if not is_twice:
        raise part.lost_ids(names[are_lost.index(True)])
    part.stream.seek(0)
    rows = enumerate(part.stream, 1)
    number = next((number for number, row in rows if row.rstrip(b"\r\n") == line.encode()), 1)
    raise key_twice(line, part.name, number, keys)


def _named_twice(relation: Relation, part: Part, places: Sequence[int]) -> tuple[str, set[str]]:
    """SQL for whether a line of JSON names one of these columns twice, and all their names."""
    keys: dict[str, set[str]] = {}
    for place in places:
        *above, _ = ways = part.pointers[place].split("/")
        for depth in range(len(above)):
            key = ways[depth + 1].replace("~1", "/").replace("~0", "~")
            keys.setdefault("/".join(ways[: depth + 1]), set()).add(key)
    again, twice = [], []
    for pointer, names in keys.items():
        way = f", ${relation.bound(pointer)}" if pointer else ""
        known = f"${relation.bound(sorted(names))}"
        named = f"list_filter(json_keys(line{way}), lambda key: list_contains({known}, key))"
        twice.append(f"list_unique({named}) < len({named})")
        # Most lines have each name once as a text, which costs much less to see. A wildcard in a
        # name finds more lines than needed.
        texts = [json.dumps(each, ensure_ascii=False) for each in sorted(names)]
        again += [f"line LIKE ${relation.bound(f'%{text}%{text}%')}" for text in texts]
    again.append(r"contains(line, '\')")  # a name may be written with escapes
    told = _where_so("json_valid(line)", " OR ".join(twice))
    return _where_so(" OR ".join(again), told), set().union(*keys.values())


def _lost_in_line(relation: Relation, part: Part, place: int) -> str:
    """SQL for whether a line of JSON has a float in a column that merges ids."""
    pointer = f"${relation.bound(part.pointers[place])}"
    value = f"try_cast(json_extract_string(line, {pointer}) AS DOUBLE)"
    return _where_so(
        "json_valid(line)", f"json_type(line, {pointer}) = 'DOUBLE' AND {_LOST.format(value)}"
    )


def _where_so(cheap: str, dear: str) -> str:
    """SQL for a condition that is looked at only where a cheaper one holds."""
    return f"coalesce(CASE WHEN {cheap} THEN {dear} END, false)"


def copies_in(parts: Sequence[Part]) -> tuple[tuple[str, str], ...]:
    """Names of parts whose content, unpacked, is that of an earlier one, with the name of that one.

    Parts without a row may well be alike. Only parts of one size are looked at, and few of them to
    their ends.
    """
    sizes = [part.stream.seek(0, os.SEEK_END) for part in parts]
    alike = Counter(sizes)
    marks = [
        _mark(part, size) if alike[size] > 1 else b""
        for part, size in zip(parts, sizes, strict=True)
    ]
    alike_in_marks, first = Counter(marks), dict[bytes, str]()
    found = []
    for part, mark in zip(parts, marks, strict=True):
        if not mark or alike_in_marks[mark] == 1:
            continue
        part.stream.seek(0)
        whole = hashlib.sha256()
        for piece in iter(partial(part.stream.read, _PIECE_BYTES), b""):
            whole.update(piece)
        content = whole.digest()
        if content in first:
            found.append((part.name, first[content]))
        else:
            first[content] = part.name
    return tuple(found)


def _mark(part: Part, size: int) -> bytes:
    """A hash of both ends of a part; b"" where it has no row."""
    part.stream.seek(0)
    start = part.stream.read(_PIECE_BYTES)
    rows = part.rows
    if part.is_text:
        rows = any(line.strip() for line in re.split(rb"\r\n|\n|\r", start)[part.skip :])
    part.stream.seek(max(size - _PIECE_BYTES, 0))
    return hashlib.sha256(start + part.stream.read()).digest() if rows else b""


def first_rows(relation: Relation, rows: int) -> list[tuple[str, ...]]:
    """The first rows as text, for a preview; long cells are cut short, lists show their type."""
    part = relation.first
    require_sound(part, range(len(part.header)), groups=1)
    shown = ", ".join(
        f"'({_in_words(kind)})'"
        if is_nested(kind)
        else f"left(coalesce(c{place}::VARCHAR, ''), {LONGEST_SHOWN})"
        for place, kind in enumerate(part.types)
    )
    where = f"WHERE NOT {part.is_blank()}" if part.is_text else ""
    found = relation.run(
        f"SELECT {shown} FROM {relation.scan_of(part)} {where} LIMIT {max(rows, 1)}"
    )
    return [tuple((cell or "").strip() for cell in row) for row in found]


def is_nested(kind: str) -> bool:
    """Whether cells of a type, as DuckDB has it, hold several values."""
    return (
        kind == _LISTS
        or kind.endswith("]")
        or kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT", "GEOMETRY"))
    )


def _in_words(kind: str) -> str:
    """A nested type in words, without the names of its fields, which come from outside."""
    word = re.match(r"[A-Z]+", kind)
    return (
        _LISTS
        if kind == _LISTS or kind.endswith("]")
        else f"values of type {word[0]}"
        if word
        else "values"
    )


def _lines_of(
    stream: IO[bytes], skip: int, records: set[int], delimiter: str | None
) -> dict[int, int]:
    """The lines that records begin in: blank lines are none, quotation marks hold several."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, "latin-1", newline="")
    found: dict[int, int] = {}
    record, inside = 0, False
    marks = re.compile(rf'(?:^|{re.escape(delimiter or ",")}) *"((?:[^"]|"")*)("?)')
    try:
        for number, line in enumerate(text, 1):
            if number <= skip:
                continue
            if not inside:
                if not line.strip("\r\n"):
                    continue
                record += 1
                if record in records:
                    found[record] = number
                    if len(found) == len(records):
                        break
            if delimiter is not None and '"' in line:
                if inside:
                    closed = re.match(r'(?:[^"]|"")*"', line)
                    line = "." + line[closed.end() :] if closed else ""
                    inside = not closed
                if not inside:
                    inside = any(not mark[1] for mark in marks.findall(line))
    finally:
        text.detach()
    return found
