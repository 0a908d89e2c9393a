"""Time and memory for reading a corpus of MSLR's shape: ours, from the cache, scikit-learn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

FEATURES = 136
ROWS = 100_000
"""Rows of the measured file; ``ULTR_READING_ROWS=1000000`` gives about as many as MSLR-WEB10K."""

_ROWS_AT_A_TIME = 10_000
# The peak of a process as the kernel keeps it from its start on; what getrusage says includes the
# parent's.
_CHILD = """
import json, re, sys, time
import numpy as np
from ultr_core.files import load_corpus
from sklearn.datasets import load_svmlight_file

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

before, cpu, wall = kilobytes("VmRSS"), time.process_time(), time.perf_counter()
kind, path = sys.argv[1:]
if kind == "scikit-learn":
    found = load_svmlight_file(path, query_id=True, dtype=np.float32)[0]
else:
    found = load_corpus(path, cache=kind == "cache").features
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([cpu, wall, (kilobytes("VmHWM") - before) / 1e3, float(found[-1].sum())]))
"""


def write_rows(path: Path, rows: int) -> None:
    """A file like MSLR-WEB: ids 1 to 136 in each row, with integers, zeros and decimals."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, FEATURES)
    query, left = 0, 0
    with path.open("w", encoding="ascii") as file:
        for start in range(0, rows, _ROWS_AT_A_TIME):
            count = min(_ROWS_AT_A_TIME, rows - start)
            columns = [
                [f" {number}:{text}" for text in _column(rng, kind, count)]
                for number, kind in enumerate(kinds.tolist(), 1)
            ]
            for cells in zip(*columns, strict=True):
                if left == 0:
                    query, left = query + 1, int(rng.integers(20, 220))
                left -= 1
                file.write(f"{rng.integers(0, 5)} qid:{query}{''.join(cells)} \n")


def _column(rng: np.random.Generator, kind: int, count: int) -> list[str]:
    if kind == 0:
        return [str(value) for value in rng.integers(0, 500, count)]
    if kind == 1:
        present = rng.random(count) < 0.5
        return [
            f"{v:.6g}" if p else "0" for p, v in zip(present, rng.gamma(1, 20, count), strict=True)
        ]
    return [f"{value:.6f}" for value in rng.random(count)]


def reading(rounds: int) -> Iterator[str]:
    """Each entrant in a separate process, for its peak memory, in turn; medians over the rounds."""
    rows = int(os.environ.get("ULTR_READING_ROWS", ROWS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"
        write_rows(path, rows)
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "ULTR_CACHE": "on"}
        _run("cache", path, environment)
        kinds = ("file", "scikit-learn", "cache")
        found: dict[str, list[list[float]]] = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind in kinds:
                found[kind].append(_run(kind, path, environment))
        size = path.stat().st_size / 1e6
    dense = rows * FEATURES * 4 / 1e6
    medians = {kind: np.median(np.array(runs), axis=0) for kind, runs in found.items()}
    assert len({round(float(median[3]), 2) for median in medians.values()}) == 1
    title = f"{rows:,} x {FEATURES}, {size:,.0f} MB"
    for kind, (cpu, wall, memory, _) in medians.items():
        ratio = medians["scikit-learn"][1] / wall
        what = {
            "file": "ours, speed relative to scikit-learn",
            "scikit-learn": "scikit-learn's load_svmlight_file",
            "cache": "ours from the cache, speed relative to scikit-learn",
        }[kind]
        yield f"| {title} | {what} | {cpu:.3f} | {wall:.3f} | {ratio:.2f} | | |"
        what = f"{kind}: peak memory relative to the dense result of {dense:,.0f} MB"
        yield f"| {title} | {what} | | | {memory / dense:.2f} | | |"
    ratio = medians["file"][1] / medians["cache"][1]
    yield f"| {title} | second read, speed relative to the first | | | {ratio:.1f} | | |"


def _run(kind: str, path: Path, environment: dict[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, kind, str(path)],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    numbers: list[float] = json.loads(done.stdout)
    return numbers
