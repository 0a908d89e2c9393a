"""Click logs as JSON lines: values as they are, nested names, broken lines, hostile keys."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pyarrow as pa
import pytest

from tests.meaning import refused
from ultr_core.files import parse_log, parse_ranker, preview_log
from ultr_core.files.log_relation import Relation
from ultr_core.limits import JSON_LINE_BYTES

ROWS: tuple[dict[str, object], ...] = (
    {"query": "q1", "document": "a", "position": 1, "click": True},
    {"query": "q1", "document": "b", "position": 2, "click": False},
    {"query": "q2", "document": 7, "position": 1.0, "click": 0},
)


def lines(*rows: object, newline: str = "\n") -> bytes:
    return newline.join(json.dumps(row) for row in rows).encode() + newline.encode()


@pytest.mark.parametrize(
    "data",
    [
        lines(*ROWS),
        lines(*ROWS, newline="\r\n"),
        b"\xef\xbb\xbf" + lines(*ROWS),
        b"\n  \n" + lines(*ROWS) + b"\n\n",
        lines(*(dict(reversed(row.items())) for row in ROWS)),
        gzip.compress(lines(*ROWS)),
        pa.compress(lines(*ROWS), "zstd", asbytes=True),
        lines(*ROWS).decode().encode("utf-16"),
        lines(*ROWS).rstrip(),
    ],
)
def test_one_log_in_many_forms(data: bytes) -> None:
    log = parse_log(data, "log")
    assert (log.query_names, log.document_names) == (("q1", "q2"), ("7", "a", "b"))
    assert (log.position.tolist(), log.clicks.tolist()) == ([1, 2, 1], [1, 0, 0])
    assert log.faults == ()


def test_nested_names_have_dots_and_are_mapped() -> None:
    row = {"s": {"id": "q"}, "item": {"a/b": {"~": "a"}}, "position": 1, "click": 1}
    log = parse_log(lines(row), columns={"query": "s.id", "document": "item.a/b.~"})
    assert (log.query_names, log.document_names) == (("q",), ("a",))
    seen = preview_log(lines(row), columns={"query": "s.id", "document": "item.a/b.~"})
    assert seen.header == ("s.id", "item.a/b.~", "position", "click")
    assert (seen.rows, seen.missing) == ((("q", "a", "1", "1"),), ())


def test_broken_lines_and_lines_without_a_value_are_counted_with_their_lines() -> None:
    broken = b'{"query": "q", "document"\n[1]\n7\n\n{"query": null, "document": "a"}\n'
    log = parse_log(lines(*ROWS) + broken + lines({**ROWS[1], "query": ""}), "log")
    assert log.counts()["rows"] == 3
    assert sorted((f.rows, f.first) for f in log.faults) == [(1, 8), (1, 9), (3, 4)]


@pytest.mark.parametrize("first", ['[{"query": "q"}]', '{"query":', "{\n"])
def test_json_that_is_no_lines_says_so(first: str) -> None:
    with refused("json_lines", "log"):
        parse_log((first + "\n").encode(), "log")


def test_lists_in_a_cell_are_refused_only_where_they_are_used() -> None:
    row = {"query": "q", "document": ["a", "b"], "position": 1, "click": 1}
    with refused("lists", "'document'", "log"):
        parse_log(lines(row), "log")
    assert parse_log(lines({**ROWS[0], "shown_to": [1, 2]}), "log").counts()["rows"] == 1


HOSTILE = ("$1", "?", "!", "'); DROP TABLE counted; --", '"', "c0", "\\", "a.b", "/", "~0", "\x03",
           "\u00e9", "line", "broken")  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_keys_and_values_change_nothing(name: str) -> None:
    rows = [{name: name, "document": name, "position": 1, "click": 1, "x": {name: 1}}]
    log = parse_log(lines(*rows), "log", columns={"query": name})
    assert (log.query_names, log.document_names) == ((name,), (name,))
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([1], [1])


def test_numbers_keep_their_digits() -> None:
    """Ids above 2^53 are whole numbers here as they stand."""
    rows = [{**ROWS[0], "document": 2**53 + place} for place in range(4)]
    log = parse_log(lines(*rows))
    assert log.document_names == tuple(str(2**53 + place) for place in range(4))


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ('{"query": "q", "document": "b", "position": 2, "click": 0, "position": 9}', "position"),
        ('{"query": "q", "document": "b", "p\\u006fsition": 2, "click": 0, "position": 9}',
         "position"),
        ('{"query": "q", "document": "b", "a\\/b": 1, "a/b": 2, "position": 2, "click": 0}', ""),
        ('{"query": "q", "document": "b", "position": 2, "click": 0, "other": 1, "other": 2}', ""),
        ('{"query": "click", "document": "click", "position": 2, "click": 0, "of": {"click": 1}}',
         ""),
    ],
)  # fmt: skip
def test_a_key_twice_in_a_row_is_refused_where_it_matters(row: str, key: str) -> None:
    """DuckDB takes the first value, and most programs the last one."""
    first = '{"query": "q", "document": "a", "position": 1, "click": 1}'
    data = f"{first}\n\n{row}\nno JSON\n".encode()
    if key:
        with refused("key_twice", "given", 3, key):
            parse_log(data, "given")
    else:
        assert parse_log(data, "given").rows == 2


@pytest.mark.parametrize(
    ("row", "key"),
    [
        (
            '{"of": {"query": "q", "document": "b", "query": "r"}, "position": 2, "click": 0}',
            "query",
        ),
        ('{"of": {"query": "q", "document": "b"}, "of": {}, "position": 2, "click": 0}', "of"),
    ],
)
def test_a_key_twice_counts_in_nested_rows_too(row: str, key: str) -> None:
    first = '{"of": {"query": "q", "document": "a"}, "position": 1, "click": 1}'
    columns = {"query": "of.query", "document": "of.document"}
    assert parse_log(f"{first}\n", columns=columns).rows == 1
    with refused("key_twice", "given", 2, key):
        parse_log(f"{first}\n{row}\n".encode(), "given", columns=columns)


@pytest.mark.parametrize(
    ("more", "key"), [('"C": 1,\n"C": 2', "C"), ('"of": {"a": [],\n"a": {}}', "a")]
)
def test_a_key_twice_in_a_ranker_is_refused(more: str, key: str) -> None:
    text = (
        '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1],\n'
        f'"coefficients": [0.5], {more}}}'
    )
    with refused("key_twice", "mine.json", 3, key):
        parse_ranker(text.encode(), "mine.json")


@pytest.mark.parametrize("query", ["9007199254740992.0", "9.007199254740993e15", "1" + "0" * 24])
def test_ids_that_are_floats_and_merge_are_refused(query: str) -> None:
    row = '{"query": %s, "document": "a", "position": 1, "click": 1}\n'
    with refused("lost_ids", "'query'"):
        parse_log((row % "1.5" + row % query).encode(), "log.jsonl")
    for kept in ("9007199254740993", "123.0", f'"{query}"'):
        log = parse_log((row % kept).encode(), "log.jsonl")
        assert len(log.query_names) == 1


def test_rows_are_looked_at_once_for_keys_twice_and_for_ids_that_merge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    run = Relation.run

    def noted(relation: Relation, statement: str, *given: Any, **more: Any) -> Any:
        asked.append(statement)
        return run(relation, statement, *given, **more)

    monkeypatch.setattr(Relation, "run", noted)
    row = '{"query": 1, "document": "a", "position": 1, "click": 1}\n'
    merged = row.replace("1,", "9007199254740992.0,", 1)
    twice = row.replace("}", ', "click": 0}')
    assert parse_log((row * 2).encode()).rows == 2
    (scan,) = (each for each in asked if "json_keys" in each)
    assert [each for each in asked if "json_type(line, $" in each] == [scan]
    for text, about in ((row + merged + twice, "lost_ids"), (row + twice + merged, "key_twice")):
        with refused(about):
            parse_log(text.encode())


def test_a_line_has_at_most_a_mebibyte_however_deep_it_is() -> None:
    """Lists nested 2,000,000 deep took 213 MB of a server that had read the log as a whole."""
    whole = lines(*ROWS)
    deep = b'{"query": "q", "more": ' + b"[" * JSON_LINE_BYTES.most + b"}\n"
    with refused("too_large", "log", "line 4", "1 MiB"):
        parse_log(whole + deep, "log")
    assert parse_log(whole + b'{"more": "' + b"a" * 500_000 + b'"}\n', "log").rows
