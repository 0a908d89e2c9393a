"""Cores and memory that this process may use, container limits included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = "ULTR_TRAINING_PROCESSES"
"""Environment variable: how many processes train rankers, or ``off`` for the server's own."""

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def usable_cores(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> int:
    """How many cores this process may keep busy, at least 1.

    The fewest of: the machine's, those it is pinned to, and the quota of its control groups
    (``docker run --cpus``), rounded down.
    """
    pinned = getattr(os, "sched_getaffinity", None)
    cores = float(len(pinned(0)) if pinned else os.cpu_count() or 1)
    for folder in _folders(cgroups, own):
        quota, period = _numbers(folder / "cpu.max", 2)
        cores = min(cores, quota / period)
    (quota,) = _numbers(cgroups / "cpu" / "cpu.cfs_quota_us", 1)
    (period,) = _numbers(cgroups / "cpu" / "cpu.cfs_period_us", 1)
    if quota > 0 and period < float("inf"):  # -1 is no quota
        cores = min(cores, quota / period)
    return max(1, int(cores))


def usable_memory(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> float:
    """Bytes of memory that this process may use at most; infinite where nothing says so."""
    bounds = [float("inf")]
    with suppress(OSError, ValueError, AttributeError):
        bounds.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    for folder in _folders(cgroups, own):
        bounds += _numbers(folder / "memory.max", 1)
    bounds += _numbers(cgroups / "memory" / "memory.limit_in_bytes", 1)
    return min(bounds)


def _folders(cgroups: Path, own: Path) -> Iterator[Path]:
    """The folders of this process's control group (version 2) and of those around it."""
    with suppress(OSError):
        for line in own.read_text(encoding="utf-8").splitlines():
            number, _, path = line.split(":", 2)
            if number == "0":
                inner = Path(path.lstrip("/"))
                # In a container the path may be one of the machine outside; the root is our own.
                yield from (cgroups / folder for folder in (inner, *inner.parents))


def _numbers(file: Path, count: int) -> list[float]:
    """The first numbers of a file; infinity and then 1s for "max", or without the file."""
    try:
        numbers = [float(word) for word in file.read_text(encoding="ascii").split()[:count]]
    except (OSError, ValueError):
        numbers = []
    return numbers if len(numbers) == count else [float("inf"), *[1.0] * (count - 1)]
