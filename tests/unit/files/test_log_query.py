"""Counts that the printed statement makes are the log that the reader makes of its rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests import odd_logs
from tests.meaning import mentions, refused
from ultr_core.files import parse_log, read_log
from ultr_core.files.log_query import DIALECTS, counting_query, table_parts
from ultr_core.files.log_reading import Reading
from ultr_core.propensity.presentations import PresentationLog

DUCKDB = DIALECTS["duckdb"]
ONCE = Reading(clicks_once=True)


def counted(
    tmp_path: Path,
    columns: dict[str, str],
    header: tuple[str, ...] = odd_logs.HEADER,
    body: list[tuple[str, ...]] | None = None,
    end: str = "parquet",
) -> tuple[PresentationLog, PresentationLog]:
    """A log read from the counts of DuckDB, and from its rows."""
    raw = tmp_path / "raw.csv"
    raw.write_bytes(odd_logs.as_csv(header, odd_logs.rows(1) if body is None else body))
    counts = tmp_path / f"counts.{end}"
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE log AS SELECT * FROM read_csv(?, all_varchar=true, nullstr='\x01')",
            [str(raw)],
        )
        query = counting_query("log", columns, DUCKDB)
        database.execute(f"COPY ({query}) TO '{counts}'")
    return read_log(counts), read_log(raw, columns=columns, how=ONCE)


MAPPINGS = [
    odd_logs.COLUMNS,
    {"presentation": "page view"},
    {"session": "who"},
    {"session": "who", "presentation": "page view"},
    {"query": "-", "presentation": "page view"},
    {"query": "by", "ranker": "-", "swap": "moved"},
]


@pytest.mark.parametrize("columns", MAPPINGS, ids=lambda columns: ",".join(columns))
def test_counts_of_the_statement_are_the_log(columns: dict[str, str], tmp_path: Path) -> None:
    end = "parquet" if columns is odd_logs.COLUMNS else "csv"
    body = odd_logs.rows(1)
    if "session" in columns and "presentation" not in columns:
        body = list(dict.fromkeys(body))  # whether rows of one session repeat is the reader's guess
    counts, raw = counted(tmp_path, columns, body=body, end=end)
    odd_logs.same_counts(counts, raw)
    by_session = raw.presentations is not None and raw.presentations.sessions > 0
    for log in (counts, raw):  # intervals of counts leave out the groups that those of rows do
        assert (log.session_groups is not None) is by_session
    if "presentation" in columns and "query" not in columns:
        assert counts.presentations is not None and raw.presentations is not None
        assert raw.presentations.repeated > 0
        np.testing.assert_array_equal(counts.presentations.draws, raw.presentations.draws)


def test_faults_keep_their_kind_and_their_clicks(tmp_path: Path) -> None:
    counts, raw = counted(tmp_path, odd_logs.COLUMNS)
    found, clicks = ({fault.kind: fault.clicks for fault in log.faults} for log in (counts, raw))
    # The statement does not say what is wrong with a click that is no number.
    (other,) = clicks.keys() - found.keys()
    assert clicks.pop(other) == 0
    assert found.keys() == clicks.keys()
    assert len(found) == 7
    # A row that repeats an unusable one is not counted once more.
    assert all(0 <= clicks[kind] - found[kind] <= 0.2 * clicks[kind] for kind in found)


def test_impressions_are_added_and_repeats_of_views_are_one(tmp_path: Path) -> None:
    header = ("query", "document", "position", "click", "shown", "view")
    counts_of_rows = [("q", "a", "1", "2", "5", "v"), ("q", "a", "1", "1", "2", "v"),
                      ("q", "b", "2", "3", "2", "w"), ("q", "b", "2", "0", "x", "w")]  # fmt: skip
    views = [("q", "a", "1", "0", "1", "v"), ("q", "a", "1", "1", "1", "v"),
             ("q", "b", "2", "0", "0", "v"), ("q", "b", "2", "0", "1", "w")]  # fmt: skip
    columns = {"impressions": "shown", "presentation": "view"}
    for body, impressions, clicks in ((counts_of_rows, [7], [3]), (views, [1, 0, 1], [1, 0, 0])):
        counts, raw = counted(tmp_path, columns, header, body)
        odd_logs.same_counts(counts, raw)
        assert sorted(counts.impressions.tolist()) == sorted(impressions)
        assert sorted(counts.clicks.tolist()) == sorted(clicks)


def test_presentations_without_a_context_are_counted_by_neither(tmp_path: Path) -> None:
    header = ("query", "document", "position", "click", "view", "device")
    body = [("q", "a", "1", str(n % 2), f"v{n}", ("desk", "", "null")[n % 3]) for n in range(60)]
    counts, raw = counted(tmp_path, {"presentation": "view", "context": "device"}, header, body)
    odd_logs.same_counts(counts, raw)
    for log in (counts, raw):
        assert log.presentations is not None
        assert log.presentations.draws is not None
        assert log.presentations.draws.tolist() == [20]


HOSTILE = [
    'a"b', "a.b", "a b", "a`b", "'; DROP TABLE x; --", '"; DROP TABLE x; --', "log", "ultr_cells",
    "$1", "?", "é", "query", "SELECT", "a\nb", "\\",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_outside_stay_names(name: str) -> None:
    table = name.replace('"', '""')
    with duckdb.connect() as database:
        database.execute("CREATE TABLE x (a INT)")
        database.execute(
            f"CREATE TABLE \"{table}\" AS SELECT 'q' AS q, 1 AS \"{table}\", 'd' AS document, "
            "2 AS position"
        )
        columns = {"query": "q", "click": name}
        query = counting_query(f'"{table}"', columns, DUCKDB)
        assert database.execute(query).fetchall() == [("q", "d", "2", 1, 1)]
        assert database.execute("SELECT count(*) FROM x").fetchone() == (0,)


@pytest.mark.parametrize(
    ("dialect", "name", "written"),
    [
        ("duckdb", 'a"b.c', '"a""b.c"'),
        ("postgres", 'a"b`c', '"a""b`c"'),
        ("spark", 'a"b`c.d', '`a"b``c.d`'),
    ],
)
def test_each_engine_quotes_in_its_way(dialect: str, name: str, written: str) -> None:
    assert DIALECTS[dialect].identifier(name) == written
    assert f"log.{written}" in counting_query("t", {"query": name}, DIALECTS[dialect])


def test_a_table_has_up_to_three_parts() -> None:
    assert table_parts('main."a.b"."c""d"') == ["main", "a.b", 'c"d']
    for text in ("", "a..b", "a.b.c.d", '"a', 'a."b', ".a"):
        with refused("table", repr(text)):
            table_parts(text)
    with refused("table"):
        counting_query("a\0b", None, DUCKDB)


@pytest.mark.parametrize("meaning", ["page", "offset", "action", "group"])
def test_what_takes_more_than_one_look_is_refused(meaning: str) -> None:
    with refused("columns", meaning):
        counting_query("log", {meaning: "x"}, DUCKDB)
    with refused("columns", "click"):
        counting_query("log", {"click": "-"}, DUCKDB)


COUNTS = "query,document,position,impressions,clicks,session_group\n"


def test_groups_are_whole_numbers_below_a_hundred() -> None:
    log = parse_log(COUNTS + "q,a,1,3,1,0\nq,a,1,2,0,99\nq,a,1,1,1,100\nq,b,2,1,0,x\n")
    assert log.group is not None
    assert log.group.tolist() == [0, 99]
    assert log.impressions.tolist() == [3, 2]
    assert {(fault.rows, fault.clicks, fault.first) for fault in log.faults} == {
        (1, 1, 4), (1, 0, 5),
    }  # fmt: skip
    assert all(mentions(fault.kind, "group") for fault in log.faults)


def test_a_column_called_group_is_another_one() -> None:
    log = parse_log("query,document,position,click,group\nq,a,1,1,1\nq,b,2,0,0\n")
    assert log.group is None
    assert "group" not in log.columns


def test_counts_of_groups_are_never_asked_about_ids() -> None:
    """Large numbers that repeat look like ids of presentations, but not beside a group."""
    body = "".join(f"q,{d},{p},500,{d % 2},{p}\n" for d in range(9) for p in range(1, 5))
    assert parse_log(COUNTS + body).impressions.sum() == 36 * 500
    with refused("columns", "500"):
        parse_log((COUNTS + body).replace(",session_group", ",arm"))


def test_groups_beside_sessions_are_refused() -> None:
    with refused("columns", "session"):
        parse_log("query,document,position,click,session,session_group\nq,a,1,1,s,3\n")


def test_the_first_position_is_told_by_impressions() -> None:
    """As many rows of a log are at position 0 as at 1; in their counts there are fewer."""
    body = "q,a,0,90,1,3\n" + "".join(f"q,{d},1,30,1,{d}\n" for d in range(3))
    assert parse_log(COUNTS + body).first_position == 0
