"""A table or one SELECT of a DuckDB file is a click log, and can do nothing else."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import log_database, parse_log, preview_log, read_log
from ultr_core.files.log_database import with_tables
from ultr_core.files.log_parts import log_parts
from ultr_core.files.log_reading import Reading
from ultr_core.limits import TABLE_SECONDS, UPLOADS, Limit, Room

Made = Callable[[str], Path]
ROWS = "('q', 1, 1, true), ('q', 2, 2, false), ('r', 1, 2, false)"
LOG = f"CREATE TABLE log AS SELECT * FROM (VALUES {ROWS}) AS log(query, document, position, click)"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A function that makes a DuckDB file with statements."""

    def make(statements: str) -> Path:
        path = tmp_path / "it's a log.duckdb"
        with duckdb.connect(path) as database:
            database.execute(statements)
        return path

    return make


def copied(path: Path, **what: str) -> Path:
    """Where the table or SELECT of a file is put, in this process."""
    folder = path.parent / "private"
    folder.mkdir(exist_ok=True)
    (part,) = with_tables(replace(log_parts(path), **what), folder).parts
    assert part.path is not None
    return part.path


@pytest.mark.usefixtures("read_here")
def test_a_table_a_view_and_a_select_are_the_log_and_the_file_stays_as_it_is(made: Made) -> None:
    path = made(
        f"{LOG}; CREATE SCHEMA shop; CREATE TABLE shop.\"a.b\" AS FROM log WHERE query = 'q';"
        "CREATE VIEW seen AS FROM log WHERE position = 2; CREATE TABLE counted AS FROM log"
    )
    before = hashlib.sha256(path.read_bytes()).digest()
    for how, clicks, documents in (
        (Reading(table="log"), [1, 0, 0], ("1", "2")),
        (Reading(table="MAIN.LOG"), [1, 0, 0], ("1", "2")),
        (Reading(table="counted"), [1, 0, 0], ("1", "2")),
        (Reading(table='shop."a.b"'), [1, 0], ("1", "2")),
        (Reading(table="seen"), [0, 0], ("1", "2")),
        (Reading(select="FROM log WHERE document = 1 -- the first"), [1, 0], ("1",)),
        (Reading(select=" SELECT * FROM counted JOIN log USING (query, document, position, click)"
                 " ;\n"), [1, 0, 0], ("1", "2")),
    ):  # fmt: skip
        log = read_log(path, how=how)
        assert log.clicks.tolist() == clicks, how
        assert log.document_names == documents, how
        assert log.format == "DuckDB"
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert preview_log(path, table="log").rows[0] == ("q", "1", "1", "true")


def test_the_only_table_needs_no_name(made: Made) -> None:
    path = made(LOG)
    assert read_log(path).clicks.tolist() == [1, 0, 0]
    assert parse_log(path.read_bytes(), "it", room=UPLOADS).query_names == ("q", "r")
    path.unlink()
    with refused("table", "several", "log", "other"):
        read_log(made(f"{LOG}; CREATE TABLE other AS FROM log"))
    with refused("table", "'lag'", "'log'", "'other'"):
        read_log(path, how=Reading(table="lag"))


@pytest.mark.usefixtures("read_here")
def test_what_was_written_last_is_read_before_it_is_in_the_file(tmp_path: Path, made: Made) -> None:
    """Changes stand in a file beside the database until a checkpoint."""
    path = made(LOG)
    later = tmp_path / "later.duckdb"
    with duckdb.connect(path) as database:
        database.execute("SET checkpoint_threshold = '1GB'; PRAGMA disable_checkpoint_on_shutdown")
        database.execute("INSERT INTO log VALUES ('s', 9, 1, true)")
        for end in ("", ".wal"):
            later.with_name(later.name + end).write_bytes(Path(f"{path}{end}").read_bytes())
    assert read_log(later).query_names == ("q", "r", "s")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT 1; SELECT 2",
        "DROP TABLE log",
        "INSERT INTO log VALUES ('x', 1, 1, true)",
        "COPY log TO 'x.csv'",
        "EXPLAIN SELECT 1",
        "SELECT 1) TO 'x.csv'; --",
        "SELECT * FROM log) AS a, (SELECT 1",
        "SELECT 1 /*",
        "PIVOT log ON query",
        "SET memory_limit = '9GB'",
        "CALL pragma_version()",
        ";",
        "-- nothing",
        "",
    ],
)
def test_anything_but_one_select_is_refused(select: str, made: Made) -> None:
    path = made(LOG)
    with refused("select"):
        copied(path, select=select or " ")
    assert sorted(os.listdir(path.parent)) == [path.name, "private"]
    assert not os.listdir(path.parent / "private")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT * FROM read_csv('{other}')",
        "SELECT * FROM '{other}'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM opened",
        "SELECT getenv('HOME') AS document, 1 AS position, 1 AS click",
        "SELECT * FROM LOG_MEMORY",
        "SELECT * FROM duckdb_secrets()",
    ],
)
def test_a_select_reads_nothing_but_the_file(select: str, made: Made, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("query,document,position,click\nq,a,1,1\n")
    path = made(f"{LOG}; CREATE VIEW opened AS SELECT * FROM read_csv('{other}')")
    with refused("duckdb"):
        copied(path, select=select.format(other=other))
    with refused("duckdb"):
        copied(path, table="opened")
    assert not os.listdir(tmp_path / "private")


@pytest.mark.usefixtures("read_here")
def test_an_upload_gives_a_table_by_its_name_alone(made: Made) -> None:
    data = made(f"{LOG}; CREATE VIEW seen AS FROM log").read_bytes()
    assert parse_log(data, "up", room=UPLOADS, how=Reading(table="log")).clicks.sum() == 1
    with refused("table", "up"):
        parse_log(data, "up", room=UPLOADS, how=Reading(select="FROM log"))
    with refused("table", "'seen'", "'log'"):
        parse_log(data, "up", room=UPLOADS, how=Reading(table="seen"))


@pytest.mark.usefixtures("read_here")
def test_generated_columns_of_an_upload_are_not_computed(made: Made) -> None:
    """Of half a megabyte one took the only place for reading for half an hour."""
    path = made(
        'CREATE SCHEMA s; CREATE TABLE s."a.b"(query INT, document INT, position INT, click INT, '
        "x VARCHAR AS (repeat('x', query))); INSERT INTO s.\"a.b\" SELECT i, 1, 1, 1 "
        "FROM range(9) t(i)"
    )
    assert read_log(path).clicks.sum() == 9
    with refused("table", "'x'"):
        parse_log(path.read_bytes(), "up", room=UPLOADS)
    empty = made('DELETE FROM s."a.b"; CHECKPOINT')
    with pytest.raises(InputError) as caught:
        parse_log(empty.read_bytes(), "up", room=UPLOADS)
    assert not mentions(caught.value, "generated")


@pytest.mark.parametrize("name", ['a"b', "a.b", "a b", "'; DROP --", "c0", "é", "log"])
def test_hostile_names_of_tables_and_columns_change_nothing(name: str, made: Made) -> None:
    table, query = (f'"{each.replace(chr(34), chr(34) * 2)}"' for each in (name, f"{name} "))
    path = made(f"CREATE TABLE {table} AS SELECT 'q' AS {query}, 1 AS document, 1 AS position, "
                "1 AS click")  # fmt: skip
    asked = '"' + name.replace('"', '""') + '"'
    table_of = pq.read_table(copied(path, table=asked))
    assert table_of.column_names == [f"{name} ", "document", "position", "click"]
    assert table_of.to_pylist()[0][f"{name} "] == "q"


@pytest.mark.usefixtures("read_here")
def test_types_that_parquet_lacks_are_text(made: Made) -> None:
    path = made(
        "CREATE TYPE kind AS ENUM ('a', 'b'); CREATE TABLE log AS SELECT 'a'::kind AS query, "
        "170141183460469231731687303715884105727::HUGEINT AS document, 1::UTINYINT AS position, "
        "1.0::DECIMAL(3, 1) AS click, [1] AS lists, DATE '2020-01-01' AS session"
    )
    log = read_log(path)
    assert log.query_names == ("a",)
    assert log.document_names == ("170141183460469231731687303715884105727",)
    with refused("lists", "'lists'"):
        read_log(path, columns={"query": "lists"})
    with refused("clicks_apart", "click"):
        read_log(path, how=Reading(select="SELECT document, position FROM log"))


@pytest.mark.usefixtures("read_here")
def test_an_upload_that_unpacks_to_too_much_is_refused(made: Made) -> None:
    path = made(
        "CREATE TABLE log AS SELECT repeat('x', 1000) AS query, 1 AS document, 1 AS position, "
        "0 AS click FROM range(100000)"
    )
    data = path.read_bytes()
    assert len(data) < 2_000_000
    few = Room(Limit(1000, "rows", "", ""), unpacked=Limit(10**9, "bytes", "", ""))
    small = Room(Limit(10**6, "rows", "", ""), unpacked=Limit(10**7, "bytes", "", ""))
    with refused("too_large", "100,000"):
        parse_log(data, "up", room=few)
    with refused("too_large", "unpacked"):
        parse_log(data, "up", room=small)


@pytest.mark.parametrize("kind", ["select", "table"])
def test_a_statement_that_never_ends_is_stopped(
    kind: str, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT 1 FROM n) SELECT * FROM n"
    path = made(f"{LOG}; CREATE VIEW endless AS {endless}")
    monkeypatch.setattr(log_database, "TABLE_SECONDS", replace(TABLE_SECONDS, most=0.2))
    with refused("reading_time", path.name, 0.2):
        copied(path, **{kind: endless if kind == "select" else "endless"})
    monkeypatch.setattr(log_database, "TABLE_SECONDS", TABLE_SECONDS)
    assert pq.read_table(copied(path, table="log")).num_rows == 3


def test_damaged_files_and_other_files_are_one_sentence(made: Made) -> None:
    data = made(LOG).read_bytes()
    for broken in (data[:12], data[:5000], data[:8] + b"DUCK" + bytes(20_000)):
        with refused("duckdb", "up"):
            parse_log(broken, "up")
    plain = b"query,document,position,click\nq,a,1,1\n"
    with refused("table"):
        parse_log(plain, how=Reading(table="log"))
    with refused("one_of_two"):
        parse_log(data, how=Reading(table="log", select="FROM log"))
    assert not [name for name in os.listdir(tempfile.gettempdir()) if name.endswith(".duckdb")]


def test_a_table_has_views_and_a_csv_file_the_clicks(made: Made, tmp_path: Path) -> None:
    path = made(LOG.replace("click)", "presentation)").replace("true", "1").replace("false", "2"))
    clicks = tmp_path / "clicks.csv"
    clicks.write_text("document,presentation\n2,2\n")
    assert read_log(path, clicks=clicks).clicks.tolist() == [0, 1, 0]
