"""A click log as a relation of DuckDB: a file or an upload, its columns as text, within bounds.

Nothing from outside enters a statement: columns are c0, c1, ... by their place, a file is named by
a number of the system or bound as a parameter. Before it is opened, access to all else is off and
the configuration locked.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ultr_core.errors import InputError, quoted
from ultr_core.files.disk import BYTE_ORDER_MARK, GZIP, other_format, unpacked
from ultr_core.files.letor_lines import Source
from ultr_core.files.locks import UNFOLLOWED, abandoned, hold
from ultr_core.files.log_columns import found_columns, split_header
from ultr_core.files.parquet_pages import Budget, damaged, groups_of, require_pages
from ultr_core.files.tables import DELIMITERS
from ultr_core.limits import (
    CELL_BYTES,
    COLUMNS,
    FOOTER_BYTES,
    LOG_MEMORY,
    OWN_FILES,
    ROW_BYTES,
    Room,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[float], object]
"""Told the share of a file that has been read, from 0 to 1."""

PARQUET = b"PAR1"
LONGEST_SHOWN = 1_000
"""Characters of a cell in a preview."""

_MOST_THREADS = 8
_PIECE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 20
_FOLDER = "ultr-log-"
_ABSENT = "\x01\x02"  # what no cell holds, so that an empty cell is told from one that is missing
_BLANK = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(160)"
_OWN_ERROR = re.compile(r"Invalid Input Error: door (\w+) (\d+) (\d+)")
_LINE_ERROR = re.compile(r"Invalid Input Error: CSV Error on Line: (\d+)")


def log_source(
    content: str | Path | bytes, name: str = "the click log", room: Room = OWN_FILES
) -> Source:
    """The file at a path, or bytes under the name that messages call them by.

    room: what may come of bytes. Raises InputError for anything but a regular file at the path.
    """
    if isinstance(content, bytes):
        return Source.upload(content, name, room)
    return Source.file(content, "The click log")


def is_parquet(source: Source) -> bool:
    """Whether the bytes are Parquet; raises InputError for other formats that are no text."""
    start = _first_bytes(source, 8)
    if start.startswith(PARQUET):
        return True
    if found := other_format(start):
        raise InputError(
            f"{source.name} is {found}; give a CSV file in UTF-8, plain or gzip, or a Parquet file."
        )
    return False


def _first_bytes(source: Source, size: int) -> bytes:
    try:
        with source.open() as stream:
            return stream.read(size)
    except OSError as error:
        raise InputError(f"{source.name} cannot be read ({error.strerror or error}).") from None


@dataclass(frozen=True, eq=False)
class Relation:
    """An opened log: its columns c0, c1, ... as they are named in ``header``.

    name: what messages call it. form: its format in words. row_noun: what a row is called there.
    types: of the columns, as DuckDB has them. scan: what stands after FROM, with the columns,
    and for text one more, ``rest``, for a cell beyond the header. path: its parameter. skip: lines
    of text up to the header; 0 for Parquet, which has none. leaves: of Parquet, the place of each
    column as it is stored, None for lists and other nested ones.
    """

    name: str
    form: str
    row_noun: str
    header: tuple[str, ...]
    types: tuple[str, ...]
    scan: str
    path: str
    delimiter: str
    skip: int
    stream: IO[bytes]
    connection: DuckDBPyConnection
    leaves: tuple[int | None, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it came as text, with lines."""
        return self.skip > 0

    def text_of(self, place: int, *, is_name: bool = False) -> str:
        """SQL for a column as text, '' where it has no value; whole numbers as whole numbers.

        Ids are lost in numbers of 2^53 or more that are no whole numbers by type; those stop.
        Raises InputError for a column of lists or other values that have no text.
        """
        column, kind = f"c{place}", self.types[place]
        if self.is_text or kind == "VARCHAR":
            return f"coalesce({column}, '')"
        if _is_nested(kind):
            raise InputError(
                f"The column {quoted(self.header[place])} of {self.name} holds {_in_words(kind)}; "
                "numbers or text are needed."
            )
        if kind in ("DOUBLE", "FLOAT"):
            lost = (
                f"WHEN abs({column}) >= 9007199254740992 AND isfinite({column}) "
                f"THEN error('door lost {place} 0')"
                if is_name
                else ""
            )
            whole = f"{column} = trunc({column}) AND abs({column}) < 9007199254740992"
            return (
                f"coalesce(CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR {lost} "
                f"ELSE {column}::VARCHAR END, '')"
            )
        if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
            return f"coalesce(rtrim(rtrim({column}::VARCHAR, '0'), '.'), '')"
        if kind == "BLOB":
            return f"coalesce(decode({column}), '')"
        return f"coalesce({column}::VARCHAR, '')"

    def is_blank(self) -> str:
        """SQL for rows of text that are none: blank, or a comment after the header."""
        cells = ", ".join(f"c{place}" for place in range(len(self.header)))
        blank = f"trim(concat({cells}), {_BLANK}) = ''"
        comment = "starts_with(c0, '#') AND c1 IS NULL" if len(self.header) > 1 else "false"
        return f"({blank} OR ({comment}))"

    def has_quotes(self) -> bool:
        """Whether quotation marks are where one that is never closed would be."""
        size = self.stream.seek(0, os.SEEK_END)
        self.stream.seek(max(size - 2 * ROW_BYTES.most, 0))
        return b'"' in self.stream.read()

    def run(
        self,
        statement: str,
        parameters: Sequence[Any] = (),
        progress: Progress | None = None,
        *,
        arrays: bool = False,
    ) -> Any:
        """The rows of a statement, or with ``arrays`` its columns by name; tells how far it is.

        What ``progress`` raises ends the statement. Raises InputError for what is wrong in the log.
        """

        def rows() -> Any:
            done = self.connection.execute(statement, list(parameters))
            return done.fetchnumpy() if arrays else done.fetchall()

        with self._told():
            if progress is None:
                return rows()
            with ThreadPoolExecutor(1) as pool:
                done = pool.submit(rows)
                try:
                    while not done.done():
                        time.sleep(0.02)
                        progress(min(max(self.connection.query_progress() / 100, 0.0), 1.0))
                    return done.result()
                except BaseException:
                    self.connection.interrupt()
                    raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except (duckdb.Error, UnicodeError, OverflowError) as error:
            raise self._in_one_sentence(str(error), error) from None

    def _in_one_sentence(self, text: str, error: Exception) -> InputError:
        import duckdb

        if isinstance(error, duckdb.OutOfMemoryException):
            return LOG_MEMORY.exceeded(f"Reading {self.name}")
        if own := _OWN_ERROR.match(text):
            return self._cell_error(own[1], int(own[2]), int(own[3]))
        if not self.is_text:
            if "UTF8" in text or "UTF-8" in text or isinstance(error, UnicodeError):
                return InputError(f"{self.name} has text that is no UTF-8; write it as UTF-8.")
            return damaged(self.name)
        if found := _LINE_ERROR.match(text):
            place = f"ine {found[1]} of {self.name}"
            if "Maximum line size" in text:
                return ROW_BYTES.exceeded(f"The row that begins in l{place}")
            if "Invalid unicode" in text:
                return InputError(f"L{place} is no UTF-8 text; save the file as UTF-8.")
            return InputError(f"L{place} is no CSV; give every row the columns of the first line.")
        return InputError(f"{self.name} cannot be read as CSV; save it as plain CSV in UTF-8.")

    def _cell_error(self, meaning: str, number: int, size: int) -> InputError:
        if meaning == "lost":
            return InputError(
                f"The column {quoted(self.header[number])} of {self.name} holds numbers of 2^53 or "
                "more as floats, which merges ids; write the ids as text or as whole numbers."
            )
        place = self.places([number])[number]
        subject = f"The {meaning} in {self.row_noun} {place} of {self.name}"
        return CELL_BYTES.exceeded(subject, size)

    def places(self, records: Sequence[int]) -> dict[int, int]:
        """By number of a record, from 1, the line that it begins in; for Parquet itself."""
        if not self.is_text:
            return {record: record for record in records}
        return _lines_of(self.stream, self.skip, set(records), self.delimiter)

    def require_closed(self, record: int, breaks: int) -> None:
        """Raise InputError if the last record, of so many line breaks, has an open quotation."""
        size = self.stream.seek(0, os.SEEK_END)
        self.stream.seek(max(size - 2 * ROW_BYTES.most, 0))
        lines = self.stream.read().rstrip().split(b"\n")[-1 - breaks :]
        text = io.StringIO(b"\n".join(lines).decode("utf-8", "replace"), newline="")
        try:
            for _ in csv.reader(text, delimiter=self.delimiter, strict=True):
                pass
        except csv.Error:
            line = self.places([record])[record]
            raise InputError(
                f"Line {line} of {self.name} opens a quotation mark that is never closed."
            ) from None


@contextmanager
def opened_log(source: Source, columns: Mapping[str, str] | None = None) -> Iterator[Relation]:
    """The relation of a log; raises InputError for what is no log, damaged or beyond the bounds."""
    parquet = is_parquet(source)
    with ExitStack() as stack:
        folder = stack.enter_context(_private_folder())
        try:
            stream = _stored(source, folder, stack)
        except OSError as error:
            raise InputError(f"{source.name} cannot be read ({error.strerror or error}).") from None
        path = _path_of(stream)
        connection = stack.enter_context(_engine(path, folder))
        made = _parquet if parquet else _text
        yield made(source, columns, stream, path, connection)


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder for spill files that goes at the end; those of killed processes go first."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_FOLDER) and abandoned(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)
    with ExitStack() as stack:
        folder = tempfile.mkdtemp(prefix=_FOLDER)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if os.name != "nt":
            descriptor = os.open(folder, UNFOLLOWED)
            stack.callback(os.close, descriptor)
            hold(descriptor, folder)
        yield Path(folder)


def _stored(source: Source, folder: Path, stack: ExitStack) -> IO[bytes]:
    """A file with the plain bytes: the reader's own, or one without a name that goes when closed.

    Raises InputError for a damaged or exploding gzip file, and beyond the room of an upload.
    """
    packed = _first_bytes(source, 2) == GZIP
    if source.path is not None and not packed:
        return stack.enter_context(source.path.open("rb"))
    private: IO[bytes] = stack.enter_context(
        tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    )
    if not packed:
        private.write(source.data)
    else:
        done = 0
        with source.open() as raw:
            for piece in unpacked(raw, source.size, source.name, _PIECE_BYTES):
                done += len(piece)
                if source.room.unpacked is not None and done > source.room.unpacked.most:
                    raise source.room.unpacked.exceeded(f"{source.name}, unpacked,")
                private.write(piece)
    private.flush()
    private.seek(0)
    return private


def _path_of(stream: IO[bytes]) -> str:
    own = f"/proc/self/fd/{stream.fileno()}"
    return own if os.path.exists(own) else str(stream.name)


@contextmanager
def _engine(path: str, folder: Path) -> Iterator[DuckDBPyConnection]:
    """A database in memory that can open this file and nothing else."""
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
        connection.execute("SET allowed_paths = [" + _literal(path) + "]")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text(
    source: Source,
    columns: Mapping[str, str] | None,
    stream: IO[bytes],
    path: str,
    connection: DuckDBPyConnection,
) -> Relation:
    header, delimiter, skip = _head(stream, source.name, columns)
    names = [*(f"c{place}" for place in range(len(header))), "rest", "further"]
    typed = ", ".join(f"{name}: 'VARCHAR'" for name in names)
    form = f"CSV, {DELIMITERS[delimiter]} between columns, UTF-8"
    return Relation(
        source.name,
        f"{form}, gzip" if _first_bytes(source, 2) == GZIP else form,
        "line",
        tuple(header),
        ("VARCHAR",) * len(header),
        f"read_csv(?, auto_detect=false, header=false, skip={skip}, delim={_literal(delimiter)}, "
        f"quote='\"', escape='\"', nullstr={_literal(_ABSENT)}, null_padding=true, "
        f"strict_mode=false, parallel=false, compression='none', encoding='utf-8', "
        f"max_line_size={ROW_BYTES.most}, buffer_size={4 * ROW_BYTES.most}, columns={{{typed}}})",
        path,
        delimiter,
        skip,
        stream,
        connection,
    )


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
        if not (plain.startswith(b"#") and not found_columns(header, None, name)):
            return header, delimiter, number
    else:
        return [""], ",", 1
    # Counted before it is refused: a line of many columns says so.
    split_header(line.decode("utf-8", "replace"), columns, name)
    raise InputError(
        f"{name} is no UTF-8 text with a line of column names; give a CSV file in UTF-8, plain or "
        "gzip, or a Parquet file."
    )


def _parquet(
    source: Source,
    columns: Mapping[str, str] | None,
    stream: IO[bytes],
    path: str,
    connection: DuckDBPyConnection,
) -> Relation:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 8, 0))
    end = stream.read(8)
    length = int.from_bytes(end[:4], "little")
    if not end.endswith(PARQUET) or length > size:
        raise damaged(source.name)
    FOOTER_BYTES.require(length, f"The footer of {source.name}")
    bare = Relation(
        source.name, "Parquet", "row", (), (), "read_parquet(?)", path, ",", 0, stream, connection
    )
    nodes = bare.run("SELECT name, num_children FROM parquet_schema(?)", [path])
    header, leaves = _columns_of(nodes[1:])
    COLUMNS.require(len(header), source.name)
    described = bare.run("DESCRIBE SELECT * FROM read_parquet(?)", [path])
    types = tuple(str(row[1]) for row in described)
    if len(types) != len(header) or not header:
        raise damaged(source.name)
    rows = bare.run("SELECT num_rows FROM parquet_file_metadata(?)", [path])[0][0]
    source.room.rows.require(int(rows), source.name)
    named = ", ".join(f"c{place}" for place in range(len(header)))
    scan = f"read_parquet(?) AS log({named})"
    return Relation(
        source.name, "Parquet", "row", tuple(header), types, scan, path, ",", 0, stream, connection,
        leaves,
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


def require_sound(
    relation: Relation, source: Source, places: Sequence[int], groups: int | None = None
) -> None:
    """Raise InputError for columns of a Parquet file that are damaged or unpack to too much.

    DuckDB takes a page that says it has fewer cells as it is, and what follows in the file for
    them. groups: how many groups of rows are going to be read; None for all.
    """
    if relation.is_text:
        return
    budget = Budget(source.name, source.size, source.room.unpacked)
    for group in groups_of(relation.stream, source.name)[:groups]:
        for place in places:
            leaf = relation.leaves[place]
            if leaf is None or leaf >= len(group.chunks):
                continue
            require_pages(relation.stream, group.chunks[leaf], group.rows, budget)


def first_rows(relation: Relation, source: Source, rows: int) -> list[tuple[str, ...]]:
    """The first rows as text, for a preview; long cells are cut short, lists show their type."""
    if not relation.is_text:
        require_sound(relation, source, range(len(relation.header)), groups=1)
    shown = ", ".join(
        f"'({_in_words(kind)})'"
        if _is_nested(kind)
        else f"left(coalesce(c{place}::VARCHAR, ''), {LONGEST_SHOWN})"
        for place, kind in enumerate(relation.types)
    )
    where = f"WHERE NOT {relation.is_blank()}" if relation.is_text else ""
    found = relation.run(
        f"SELECT {shown} FROM {relation.scan} {where} LIMIT {max(rows, 1)}", [relation.path]
    )
    return [tuple(cell.strip() for cell in row) for row in found]


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT", "GEOMETRY"))


def _in_words(kind: str) -> str:
    """A nested type in words, without the names of its fields, which come from outside."""
    word = re.match(r"[A-Z]+", kind)
    return "lists" if kind.endswith("]") else f"values of type {word[0]}" if word else "values"


def _lines_of(stream: IO[bytes], skip: int, records: set[int], delimiter: str) -> dict[int, int]:
    """The lines that records begin in: blank lines are none, quotation marks hold several."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, "latin-1", newline="")
    found: dict[int, int] = {}
    record, inside = 0, False
    field = re.compile(rf'(?:^|{re.escape(delimiter)}) *"((?:[^"]|"")*)("?)')
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
            if '"' in line:
                if inside:
                    closed = re.match(r'(?:[^"]|"")*"', line)
                    line = "." + line[closed.end() :] if closed else ""
                    inside = not closed
                if not inside:
                    inside = any(not mark[1] for mark in field.findall(line))
    finally:
        text.detach()
    return {record: found.get(record, skip + record) for record in records}
