"""A table, or one SELECT, of a DuckDB file: copied into a Parquet file of ours and read like any.

What a visitor wrote (the file, the name, the statement) meets a database of its own, which is gone
before anything is counted. It has the file attached to be read, and can open and change nothing
else.
"""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ultr_core.errors import InputError, one_line, quoted
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_columns import in_words
from ultr_core.files.log_parts import LogParts, is_duckdb
from ultr_core.files.log_query import DIALECTS, table_parts
from ultr_core.limits import COLUMNS, LOG_MEMORY, TABLE_SECONDS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PIECE_BYTES = 1 << 20
_THREADS = 2  # each holds a group of rows, and all are to fit into LOG_MEMORY
_LONGEST_TOLD = 300
_MOST_SPILLED = "max_temp_directory_size"  # what is free on the disk, unless it is set
_AS_THEY_ARE = re.compile(
    r"BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|BLOB"
    r"|STRUCT.*|MAP.*|.*\]"
)
_quoted = DIALECTS["duckdb"].identifier


def with_tables(log: LogParts, folder: Path) -> LogParts:
    """The log with Parquet files in ``folder`` instead of its DuckDB files.

    Raises InputError if the table or SELECT cannot be read, is not a table or SELECT, or exceeds
    the limits, and if one is named although no file is a DuckDB file.
    """
    if log.table and log.select:
        raise InputError(
            "Both a table and a SELECT are given; give only one of them.", "one_of_two"
        )
    found = [is_duckdb(source) for source in log.parts]
    if (log.table or log.select) and not any(found):
        raise InputError(
            f"{log.name} is not a DuckDB file, so it has no tables to choose from.",
            "table" if log.table else "select",
        )
    parts = tuple(
        _copied(source, log, folder, number) if duckdb else source
        for number, (source, duckdb) in enumerate(zip(log.parts, found, strict=True))
    )
    return replace(log, parts=parts)


def _copied(source: Source, log: LogParts, folder: Path, number: int) -> Source:
    if log.select and source.path is None:
        raise InputError(
            f"Only a table can be read from the upload {source.name}; name one.", "table"
        )
    target = folder / f"table-{number}.parquet"
    with _attached(source, folder, target) as connection:
        if log.select:
            rows = single_select(log.select, connection)
        else:
            rows = _table(source, log.table, connection)
        described = connection.execute(f"DESCRIBE SELECT * FROM ({rows}\n)").fetchall()
        COLUMNS.require(len(described), source.name)
        names = [f"c{place}" for place in range(len(described))]
        inside = f"({rows}\n) AS log({', '.join(names)})"
        _require_room(source, names, inside, connection)
        cells = ", ".join(
            (name if _AS_THEY_ARE.fullmatch(kind) else f"CAST({name} AS VARCHAR)")
            + f" AS {_quoted(column)}"
            for name, (column, kind, *_) in zip(names, described, strict=True)
        )
        connection.execute(
            f"COPY (SELECT {cells} FROM {inside}) TO {_literal(str(target))} (FORMAT parquet)"
        )
    return replace(source, path=target, data=b"", size=target.stat().st_size)


@contextmanager
def _attached(source: Source, folder: Path, target: Path) -> Iterator[DuckDBPyConnection]:
    """A database that has the file attached and may write ``target``; its errors in a sentence."""
    import duckdb

    path = source.path
    if path is None:
        path = folder / "upload.duckdb"
        path.write_bytes(source.data)
    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": _THREADS,
            "memory_limit": f"{LOG_MEMORY.most}B",
            "temp_directory": str(folder),
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
        },
    )
    late = threading.Event()

    def stop() -> None:
        late.set()
        connection.interrupt()

    timer = threading.Timer(TABLE_SECONDS.most, stop)
    timer.daemon = True
    timer.start()
    try:
        connection.execute(f"ATTACH {_literal(str(path))} AS log (TYPE duckdb, READ_ONLY)")
        connection.execute("USE log")
        connection.execute(f"SET allowed_paths = [{_literal(str(target))}]")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    except (duckdb.Error, UnicodeError) as error:
        if late.is_set():
            raise _too_late(source.name) from None
        if is_disk_full(str(error)):
            raise disk_full(source.name) from None
        if isinstance(error, duckdb.OutOfMemoryException):
            raise LOG_MEMORY.exceeded(f"Reading {source.name}") from None
        told = one_line(str(error).partition("\n")[0])[:_LONGEST_TOLD].rstrip(".")
        raise InputError(f"{source.name} cannot be read by DuckDB ({told}).", "duckdb") from None
    finally:
        timer.cancel()
        connection.close()
        if source.path is None:
            path.unlink()


def _too_late(name: str) -> InputError:
    limit = TABLE_SECONDS
    return InputError(
        f"Reading {name} took more than {limit.most:,} {limit.unit} and was stopped, because "
        f"{limit.reason}; {limit.remedy}.",
        "reading_time",
    )


def is_disk_full(text: str) -> bool:
    """Whether DuckDB says that there is no space on disk for its temporary files."""
    return "No space left" in text or f'"errno":"{errno.ENOSPC}"' in text or _MOST_SPILLED in text


def disk_full(name: str) -> InputError:
    """The error for a log whose reading filled the disk."""
    return InputError(
        f"Reading {name} filled the temporary directory, which stores data that does not fit "
        "in memory; free up several times the log's size there, or set TMPDIR to another "
        "directory.",
        "disk",
    )


def single_select(text: str, connection: DuckDBPyConnection) -> str:
    """A statement that can be put in brackets; raises InputError for anything but one SELECT."""
    import duckdb

    plain = text.strip().rstrip("; \t\r\n")
    try:
        alone = connection.extract_statements(plain)
        inside = connection.extract_statements(f"SELECT * FROM ({plain}\n)")
    except duckdb.ParserException as error:
        told = one_line(str(error).partition("\n")[0])[:_LONGEST_TOLD].rstrip(".")
        raise InputError(f"DuckDB cannot parse the SELECT ({told}).", "select") from None
    kinds = [statement.type for statement in (*alone, *inside)]
    if kinds != [duckdb.StatementType.SELECT] * 2:
        raise InputError(
            f"{quoted(text)} is not a single SELECT; give one SELECT and nothing else.", "select"
        )
    return plain


def _table(source: Source, name: str, connection: DuckDBPyConnection) -> str:
    """A SELECT of a table by its name; without one of the only table.

    A view or a generated column is read only from a file on this machine: its expression is that
    of whoever sent it, and may take hours.
    """
    views = "" if source.path is None else (
        " UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
        "WHERE database_name = 'log' AND NOT internal"
    )  # fmt: skip
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'log' "
        f"AND NOT internal{views} ORDER BY ALL"
    ).fetchall()
    wanted = tuple(part.lower() for part in table_parts(name)) if name else ()
    fits = [
        (schema, table)
        for schema, table in tables
        if wanted in ((), (table.lower(),), (schema.lower(), table.lower()))
    ]
    if len(fits) == 1:
        place = f"log.{_quoted(fits[0][0])}.{_quoted(fits[0][1])}"
        if source.path is None:
            _require_stored(source, place, connection)
        return f"SELECT * FROM {place}"
    there = in_words(
        [table if schema == "main" else f"{schema}.{table}" for schema, table in tables]
    )
    if not tables:
        raise InputError(f"{source.name} has no tables.", "table")
    if not name:
        raise InputError(f"{source.name} has several tables: {there}; name one of them.", "table")
    raise InputError(f"{source.name} has no table {quoted(name)}; it has {there}.", "table")


def _require_stored(source: Source, place: str, connection: DuckDBPyConnection) -> None:
    """Raise InputError for a table with generated columns, whose values are in no file."""
    columns = connection.execute(f"DESCRIBE {place}").fetchall()
    found = f"SELECT DISTINCT column_name FROM pragma_storage_info({_literal(place)})"
    stored = {name for (name,) in connection.execute(found).fetchall()}
    generated = [name for name, *_ in columns if name not in stored]
    if stored and generated:  # without rows nothing is stored, and nothing computed
        raise InputError(
            f"The column {quoted(generated[0])} of {source.name} is generated, so its values are "
            "not in the file; copy the table with CREATE TABLE ... AS FROM ... and upload the "
            "copy.",
            "table",
        )


def _require_room(
    source: Source, names: list[str], inside: str, connection: DuckDBPyConnection
) -> None:
    """Raise InputError for an upload with more rows or text than there is room for."""
    if source.room.unpacked is None:
        return
    sizes = " + ".join(f"coalesce(sum(strlen(CAST({name} AS VARCHAR))), 0)" for name in names)
    rows = connection.execute(f"SELECT count(*) FROM {inside}").fetchall()[0][0]
    source.room.rows.require(int(rows), source.name)
    size = connection.execute(f"SELECT {sizes} FROM {inside}").fetchall()[0][0]
    source.room.unpacked.require(int(size), f"{source.name}, unpacked,")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
