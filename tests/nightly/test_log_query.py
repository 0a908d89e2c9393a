"""Spark and PostgreSQL count a log as DuckDB does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tests import odd_logs
from ultr_core.files.log_query import DIALECTS, counting_query

ODD_TABLE = 'odd "table`.'
"""As it is; a statement names it with quotation marks, as in a CSV file."""

ODD = {"presentation": 'the "view"', "session": "who.or`what", "swap": "moved", "ranker": "by"}

MAPPINGS = [
    odd_logs.COLUMNS,
    {"presentation": "page view"},
    {"session": "who"},
    {"query": "-", "presentation": "page view"},
    {"impressions": "n"},
    {"impressions": "n", "presentation": "page view"},
    {"impressions": "by", "presentation": "page view"},
    ODD,
]
Rows = list[tuple[str | None, ...]]


def log_of(columns: dict[str, str]) -> tuple[tuple[str, ...], Rows]:
    """Header and rows, with missing values and a column of impressions; odd names where mapped."""
    header: tuple[str, ...] = (*odd_logs.HEADER, "n")
    if columns is ODD:
        names = {odd_logs.COLUMNS[meaning]: column for meaning, column in ODD.items()}
        header = tuple(names.get(name, name) for name in header)
    ones = ["1", "1.0", "true", " 2\t", "3", "x", "1e1", "1e400", ".5"]
    texts: Rows = [(*row, ones[n % len(ones)]) for n, row in enumerate(odd_logs.rows(2))]
    return header, [
        tuple(None if n % 37 == place else cell for place, cell in enumerate(row))
        for n, row in enumerate(texts)
    ]


def statement(columns: dict[str, str], dialect: str) -> str:
    quoted = '"' + ODD_TABLE.replace('"', '""') + '"'
    return counting_query(quoted, columns, DIALECTS[dialect])


def by_duckdb(header: tuple[str, ...], rows: Rows, columns: dict[str, str]) -> list[Any]:
    identifier = DIALECTS["duckdb"].identifier
    with duckdb.connect() as database:
        names = ", ".join(f"{identifier(name)} VARCHAR" for name in header)
        database.execute(f"CREATE TABLE {identifier(ODD_TABLE)} ({names})")
        given = pa.table([pa.array(cells, pa.string()) for cells in zip(*rows, strict=True)],
                         [f"c{place}" for place in range(len(header))])  # fmt: skip
        database.register("given", given)
        database.execute(f"INSERT INTO {identifier(ODD_TABLE)} SELECT * FROM given")
        found = database.execute(statement(columns, "duckdb"))
        outs = [column[0] for column in found.description]
        return [outs, *sorted(found.fetchall(), key=repr)]


@pytest.mark.parametrize("columns", MAPPINGS, ids=lambda columns: ",".join(columns))
def test_postgres_counts_as_duckdb_does(columns: dict[str, str], postgres: Any) -> None:
    header, rows = log_of(columns)
    identifier = DIALECTS["postgres"].identifier
    with postgres.cursor() as cursor:
        names = ", ".join(f"{identifier(name)} TEXT" for name in header)
        cursor.execute(f"CREATE TEMP TABLE {identifier(ODD_TABLE)} ({names})")
        with cursor.copy(f"COPY {identifier(ODD_TABLE)} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(statement(columns, "postgres"))
        found = [[column.name for column in cursor.description],
                 *sorted(cursor.fetchall(), key=repr)]  # fmt: skip
    postgres.rollback()
    assert len(found) > 5
    assert found == by_duckdb(header, rows, columns)


@pytest.mark.parametrize("columns", MAPPINGS, ids=lambda columns: ",".join(columns))
def test_spark_counts_as_duckdb_does(columns: dict[str, str], spark: Any) -> None:
    from pyspark.sql.types import StringType, StructField, StructType

    header, rows = log_of(columns)
    kinds = StructType([StructField(name, StringType()) for name in header])
    frame = spark.createDataFrame(rows, kinds)
    name = DIALECTS["spark"].identifier(ODD_TABLE)
    frame.createOrReplaceTempView(name)
    counted = spark.sql(statement(columns, "spark"))
    found = [counted.columns, *sorted((tuple(row) for row in counted.collect()), key=repr)]
    assert len(found) > 5
    assert found == by_duckdb(header, rows, columns)


TYPED = [
    (
        f"{7 + n // 8 % 3}",
        f"{n % 4}",
        f"{1 + n % 4}",
        "true" if n % 5 == 0 else "false",
        f"{n // 8}",
    )
    for n in range(80)
]
"""Rows of whole numbers and truth values; two of a presentation are the same document."""


def test_whole_numbers_and_truth_values_count_alike(postgres: Any, spark: Any) -> None:
    columns = {"presentation": "view"}
    header = ("query", "document", "position", "click", "view")
    kinds = ("BIGINT", "INT", "INT", "BOOLEAN", "BIGINT")
    table = ", ".join(f"{name} {kind}" for name, kind in zip(header, kinds, strict=True))
    values = ", ".join(f"({', '.join(row)})" for row in TYPED)
    found = []
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE log ({table}); INSERT INTO log VALUES {values}")
        found.append(
            database.execute(counting_query("log", columns, DIALECTS["duckdb"])).fetchall()
        )
    postgres.execute(f"CREATE TEMP TABLE log ({table})")
    postgres.execute(f"INSERT INTO log VALUES {values}")
    found.append(postgres.execute(counting_query("log", columns, DIALECTS["postgres"])).fetchall())
    postgres.rollback()
    spark.sql(f"SELECT * FROM VALUES {values} AS log({', '.join(header)})").createOrReplaceTempView(
        "log"
    )
    counted = spark.sql(counting_query("log", columns, DIALECTS["spark"])).collect()
    found.append([tuple(row) for row in counted])
    first, *others = (sorted(rows) for rows in found)
    assert sum(row[4] for row in first) == 40 == len(TYPED) / 2
    assert others == [first, first]


def test_engines_number_the_same_group_for_any_text(postgres: Any, spark: Any) -> None:
    texts = ["", "a", "user 7", "größe", "日本", "😀", "x" * 1000, "'", "\\", "7.0"]
    for text in texts:
        quoted = "'" + text.replace("'", "''") + "'"
        first = {}
        with duckdb.connect() as database:
            sql = DIALECTS["duckdb"].first_digits.format("?")
            first["duckdb"] = database.execute(f"SELECT {sql}", [text]).fetchone()[0]  # type: ignore[index]
        sql = DIALECTS["postgres"].first_digits.format(quoted)
        first["postgres"] = postgres.execute(f"SELECT {sql}").fetchone()[0]
        frame = spark.createDataFrame([(text,)], "t STRING")
        sql = DIALECTS["spark"].first_digits.format("t")
        first["spark"] = frame.selectExpr(f"{sql} AS n").collect()[0][0]
        assert len(set(first.values())) == 1, (text, first)


def test_counts_from_spark_are_read_as_the_log(spark: Any, tmp_path: Path) -> None:
    """A directory of parts with its mark, as Spark writes them."""
    from ultr_core.files import read_log
    from ultr_core.files.log_reading import Reading

    raw = tmp_path / "raw.csv"
    raw.write_bytes(odd_logs.as_csv(odd_logs.HEADER, odd_logs.rows(3)))
    spark.createDataFrame(odd_logs.rows(3), list(odd_logs.HEADER)).createOrReplaceTempView("log")
    counted = spark.sql(counting_query("log", odd_logs.COLUMNS, DIALECTS["spark"]))
    counted.write.parquet(str(tmp_path / "counts"))
    how = Reading(clicks_once=True)
    odd_logs.same_counts(
        read_log(tmp_path / "counts"), read_log(raw, columns=odd_logs.COLUMNS, how=how)
    )
