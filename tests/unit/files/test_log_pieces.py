"""A log that is counted in pieces, added up, and in passes by hashes, is counted as a whole."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from ultr_core.files import log_events, log_presentations, log_relation, parse_log
from ultr_core.files.log_parts import log_parts
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_relation import Relation, opened_log
from ultr_core.files.log_rows import (
    CLICK_WITHOUT_VIEW,
    cells_of,
    counted_rows,
    first_records,
)
from ultr_core.propensity.presentations import PresentationLog, RowFault

LISTS, LENGTH = 60, 4


def log(ids: tuple[str, ...], repeats: int) -> pa.Table:
    """Lists of four documents in no order; some rows twice, a few rows that cannot be used."""
    rng = np.random.default_rng(7)
    lists = np.repeat(np.arange(LISTS), LENGTH)
    rank = np.tile(np.arange(LENGTH), LISTS)
    columns = {
        "query": [f"q{each % 7}" for each in lists],
        "document": [f"d{each}" for each in (rank + lists // 7) % 6],
        "position": [str(each + 1) for each in rank],
        "click": [str(each) for each in rng.integers(0, 2, lists.size)],
        "presentation": [f"p{each}" if each % 9 else "" for each in lists],
        "session": [f"s{each // 5}" for each in lists],
    }
    columns["position"][5] = columns["click"][8] = "x"
    kept = {name: values for name, values in columns.items() if name in (*columns,)[:4] + ids}
    order = rng.permutation(np.concatenate([np.arange(lists.size), np.arange(repeats)]))
    return pa.table(kept).take(order)


def parquet(table: pa.Table) -> list[bytes]:
    """Three files: a small one, one of many pieces, and another small one."""
    found = []
    for start, stop in ((0, 5), (5, 230), (230, None)):
        stream = io.BytesIO()
        pq.write_table(table.slice(start, stop and stop - start), stream, row_group_size=20)
        found.append(stream.getvalue())
    return found


def text(table: pa.Table) -> list[bytes]:
    stream = io.BytesIO()
    pa_csv.write_csv(table, stream)
    return [stream.getvalue()]


def values(found: PresentationLog) -> dict[str, Any]:
    shown = {each.name: getattr(found, each.name) for each in fields(found)}
    if found.presentations is not None:
        shown |= {f"lists {name}": value for name, value in vars(found.presentations).items()}
    del shown["presentations"]
    return shown


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("made", [parquet, text])
@pytest.mark.parametrize(
    ("ids", "repeats", "how"),
    [
        ((), 0, Reading()),
        (("presentation", "session"), 0, Reading()),
        (("presentation", "session"), 30, Reading(most_presentations=4)),
        (("presentation",), 30, Reading(clicks_above=True)),
        (("session",), 0, Reading()),
    ],
)
def test_pieces_and_passes_give_what_the_whole_gives(
    made: Callable[[pa.Table], list[bytes]],
    ids: tuple[str, ...],
    repeats: int,
    how: Reading,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_relation, "_LONG_TEXT", 0)
    data = made(log(ids, repeats))
    whole = values(parse_log(data, how=how))
    for module in (log_relation, log_presentations):
        for name, rows in (("PIECE_ROWS", 50), ("ADDED_AT_ONCE", 60)):
            monkeypatch.setattr(module, name, rows, raising=False)
    statements = []
    run = Relation.run
    monkeypatch.setattr(
        Relation, "run", lambda *given, **more: statements.append(given[1]) or run(*given, **more)
    )
    shares: list[float] = []
    pieces = values(parse_log(data, how=how, progress=shares.append))
    assert sum(each.split()[2] == "entries" for each in statements) >= 4
    assert sum(each.split()[2] == "added" for each in statements) >= 4
    assert all(0 <= share <= 1 for share in shares)
    for name, value in whole.items():
        np.testing.assert_array_equal(value, pieces[name], err_msg=name)


def events(table: pa.Table) -> pa.Table:
    """A view for each row, a click for each that was clicked, some at another position or alone."""
    columns = table.to_pydict()
    made = {name: list(values) for name, values in columns.items() if name != "click"}
    made["action"] = ["view"] * table.num_rows
    for row, click in enumerate(columns["click"]):
        if click == "1":
            for name in set(made) - {"action"}:
                made[name].append(columns[name][row])
            made["action"].append("click")
    made["document"][-1], made["position"][-2] = "never shown", "9"
    return pa.table(made)


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("made", [parquet, text])
def test_events_are_joined_in_buckets_as_all_at_once(
    made: Callable[[pa.Table], list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made(events(log(("presentation", "session"), 30)))
    whole = values(parse_log(data))
    monkeypatch.setattr(log_events, "JOINED_AT_ONCE", 60)
    monkeypatch.setattr(log_events, "PIECE_ROWS", 120)
    written = []
    write = Relation.written
    monkeypatch.setattr(
        Relation, "written", lambda *given: written.append(given[1]) or write(*given)
    )
    pieces = values(parse_log(data))
    assert sum(name.startswith("joined") for name in written) >= 4
    assert [fault.kind for fault in whole["faults"]].count(CLICK_WITHOUT_VIEW) == 1
    for name, value in whole.items():
        np.testing.assert_array_equal(value, pieces[name], err_msg=name)


@pytest.mark.usefixtures("read_here")
def test_rows_that_repeat_are_looked_for_in_buckets_of_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not in as many looks at the log as it has pieces, each with the texts of its rows."""
    monkeypatch.setattr(log_relation, "ADDED_AT_ONCE", 60)
    sizes: list[int] = []
    each_batch = Relation.each_batch

    def recorded(relation: Relation, statements: list[str], *more: Any) -> None:
        for statement in statements:
            assert "bucket=" in statement and "k_" not in statement and "$p" not in statement
            sizes.append(relation.run(f"SELECT count(*) FROM ({statement})")[0][0])
        each_batch(relation, statements, *more)

    monkeypatch.setattr(Relation, "each_batch", recorded)
    found = parse_log(parquet(log(("presentation",), 30)))
    assert found.presentations is not None and found.presentations.repeated > 0
    assert len(sizes) == 5 and sum(sizes) == found.impressions.sum() and max(sizes) < 120


def test_what_progress_raises_ends_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while rows are made that are added up here; nothing is made after it."""

    class StopError(Exception):
        pass

    def stop(share: float) -> None:
        raise StopError

    (data,) = text(log(("presentation",), 30))
    with opened_log(log_parts(data)) as relation:
        made: list[int] = []
        rows = "SELECT 1 FROM range(100_000_000) WHERE hash(range) % 10_000 = 7"
        with pytest.raises(StopError):
            relation.each_batch([rows] * 3, lambda ones: made.append(ones.size), stop)
        taken = len(made)
        assert relation.run("SELECT 1") == [(1,)]
        assert len(made) == taken < 3


def test_the_first_faulty_row_is_told_by_its_number_in_its_file() -> None:
    """Also where a column is called as the engine calls those numbers; the look tells its share."""

    def file(*clicks: str) -> bytes:
        stream = io.BytesIO()
        columns = {"query": "q", "document": "d", "file_row_number": "9"}
        rows = {name: [value] * len(clicks) for name, value in columns.items()}
        rows |= {"position": ["1"] * len(clicks), "click": list(clicks)}
        pq.write_table(pa.table(rows), stream, row_group_size=2)
        return stream.getvalue()

    shares: list[float] = []
    found = parse_log([file(*"01"), file(*"0101x1x-")], progress=shares.append)
    assert [(fault.rows, fault.first, fault.file[-3:]) for fault in found.faults] == [(3, 5, "(2)")]
    with opened_log(log_parts([file(*"01"), file(*"0x")])) as relation:
        places = {part.layout: {"click": 4} for part in relation.parts}
        cells = cells_of(relation, places)
        counted = counted_rows(relation, places, cells, ["click"], None)
        faulty = np.flatnonzero(np.array(counted.texts["click"])[counted.codes["click"]] == "x")
        faults = ((RowFault("a click", 1, 0, 0), counted.number[faulty]),)
        shares.clear()
        assert first_records(relation, places, faults, shares.append) == {
            0: (relation.parts[1].name, 2)
        }
        assert set(shares) >= {0.0, 0.5}


def test_pieces_hold_each_row_of_a_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its columns are called, and whatever its footer says of its rows in sum."""
    monkeypatch.setattr(log_relation, "PIECE_ROWS", 7)
    stream = io.BytesIO()
    rows = np.arange(100)
    pq.write_table(pa.table({"file_row_number": rows[::-1], "a": rows}), stream, row_group_size=9)
    with opened_log(log_parts([stream.getvalue()])) as relation:
        lying = replace(relation, parts=tuple(replace(part, rows=8) for part in relation.parts))
        for each in (relation, lying):
            pieces = [scan for _, scan in each.scans()]
            assert len(pieces) == 15
            found = [each.run(f"SELECT c0, c1 FROM {scan}") for scan in pieces]
            assert max(map(len, found)) == 7
            assert sorted(row[1] for piece in found for row in piece) == rows.tolist()
            assert all(row[0] == 99 - row[1] for piece in found for row in piece)
