"""The file of finished cells on a disk that fills: one sentence, and what was written is kept."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.meaning import refused
from ultr_core.studies.cells import CellResult
from ultr_core.studies.grids import GRID_VERSION, STUDIES
from ultr_core.studies.journal import load_shipped, open_journal, read_journal
from ultr_core.studies.losses import LOSSES

HEADER = {"setting": {"--seed": 0}}


def cell(number: int) -> CellResult:
    return CellResult(
        key=f"cell {number}", losses=dict.fromkeys(LOSSES, 0.5), agreement=0.5, cost=0.1,
        clip=0.0, gap=0.0, clicks=10, query_draws=20, noise_share=0.1, seconds=1.0, peak_mib=100.0,
    )  # fmt: skip


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file of this process may grow beyond ``size`` bytes, as on a disk without room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_once_and_finished_cells_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with open_journal(path, HEADER) as journal:
        journal.append(cell(0))
    room = path.stat().st_size + 20  # a line is longer
    with (
        refused("out") as told,
        files_up_to(room),
        open_journal(path, HEADER) as journal,
    ):
        journal.append(cell(1))
    assert str(path) in str(told.value)
    assert str(told.value).count(". ") == 0
    with open_journal(path, HEADER) as journal:
        assert list(journal.done) == ["cell 0"]
        journal.append(cell(1))
    assert list(read_journal(path)[1]) == ["cell 0", "cell 1"]


def test_a_disk_without_room_for_the_header_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with (
        refused("out"),
        files_up_to(10),
        open_journal(path, HEADER),
    ):
        pass
    with open_journal(path, HEADER) as journal:
        assert not journal.done


def test_results_of_an_older_version_are_refused_and_kept(tmp_path: Path) -> None:
    """C and τ are chosen otherwise since version 2; the two would be shown as one figure."""
    path = tmp_path / "cells.jsonl"
    with open_journal(path, {"grid version": 1}) as journal:
        journal.append(cell(0))
    before = path.read_bytes()
    with refused("out") as told, open_journal(path, {"grid version": GRID_VERSION}):
        pass
    assert str(told.value).count(". ") == 0
    assert path.read_bytes() == before


def test_shipped_results_load_in_every_version() -> None:
    parts = {study.shipped_in for study in STUDIES.values()}
    cells = {part: len(load_shipped(part).done) for part in parts}
    assert all(cells.values())


FIRST = next(iter(LOSSES))


@pytest.mark.parametrize(
    "changed",
    [
        {"losses": {**dict.fromkeys(LOSSES, 0.5), FIRST: "9"}},
        {"losses": {**dict.fromkeys(LOSSES, 0.5), FIRST: None}},
        {"losses": {**dict.fromkeys(LOSSES, 0.5), FIRST: float("nan")}},
        {"losses": {**dict.fromkeys(LOSSES, 0.5), FIRST: -5}},
        {"losses": {FIRST: 0.5}},
        {"losses": [1]},
        {"losses": None},
        {"cost": None},
        {"gap": float("inf")},
        {"clicks": "many"},
        {"clicks": -3},
        {"clicks": 1.5},
        {"clicks": 10**400},
        {"agreement": 7},
        {"agreement": True},
        {"noise_share": 1.1},
        {"key": 5},
        {"key": "cell 0"},  # a second time
        {"more": 1},
    ],
    ids=lambda changed: "-".join(f"{name}={value}" for name, value in changed.items())[:40],
)
def test_a_changed_line_is_refused_and_the_file_kept(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "cells.jsonl"
    with open_journal(path, HEADER) as journal:
        journal.append(cell(0))
    line = json.dumps({**cell(1).as_dict(), **changed}) + "\n"
    before = path.read_bytes() + line.encode()
    path.write_bytes(before)
    with refused("", "line 3") as told, open_journal(path, HEADER):
        pass
    assert str(told.value).count(". ") == 0
    assert path.read_bytes() == before


def test_a_file_that_is_no_journal_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with open_journal(path, HEADER) as journal:
        journal.append(cell(0))
    whole = path.read_bytes()
    for content in (b"my diary", b'{"format": "a diary"}', whole + b"my notes", b"a\nb"):
        path.write_bytes(content)
        with refused("out"), open_journal(path, HEADER):
            pass
        assert path.read_bytes() == content


def test_a_line_cut_anywhere_is_run_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    with open_journal(path, HEADER) as journal:
        journal.append(cell(0))
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with open_journal(path, HEADER) as journal:
            assert not journal.done
        assert path.read_bytes() == whole[:header]
