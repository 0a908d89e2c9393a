"""Cores and memory that a process may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pages.app.resources import usable_cores, usable_memory

INFINITE = float("inf")


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture(autouse=True)
def large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10**7}.__getitem__)


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        ({}, 16, 4096e7),
        ({"cpu.max": "200000 100000\n", "memory.max": "1500000000\n"}, 2, 1.5e9),
        ({"cpu.max": "max 100000\n", "memory.max": "max\n"}, 16, 4096e7),
        ({"cpu.max": "50000 100000\n"}, 1, 4096e7),
        ({"a/b/cpu.max": "350000 100000\n", "a/cpu.max": "800000 100000\n"}, 3, 4096e7),
        ({"a/memory.max": "1000000000\n", "a/b/memory.max": "2000000000\n"}, 16, 1e9),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 16, 4096e7),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4, 4096e7),
        ({"memory/memory.limit_in_bytes": "2000000000\n"}, 16, 2e9),
        ({"cpu.max": "", "memory.max": "unclear"}, 16, 4096e7),
    ],
)
def test_containers_limits_count(
    tmp_path: Path, files: dict[str, str], cores: int, memory: float
) -> None:
    groups = written(tmp_path / "cgroup", files)
    own = tmp_path / "own"
    own.write_text("12:cpu,cpuacct:/elsewhere\n0::/a/b\n")
    assert usable_cores(groups, own) == cores
    assert usable_memory(groups, own) == memory


def test_a_system_without_control_groups_counts_the_cores_it_is_pinned_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tmp_path / "nothing"
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert usable_cores(nothing, nothing) == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(nothing, nothing) == 1
