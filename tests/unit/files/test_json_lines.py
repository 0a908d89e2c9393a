"""Click logs as JSON lines: values as they are, nested names, broken lines, hostile keys."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pytest

from tests.meaning import refused
from ultr_core.files import parse_log, preview_log

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
