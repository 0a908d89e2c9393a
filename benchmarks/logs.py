"""Time and memory for counting click logs: ours, and DuckDB's bare GROUP BY of the same files."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np

ROWS = 20_000_000
"""Rows of the measured log, ``ULTR_LOG_ROWS``; each presentation has ten documents, each session
three presentations.

Queries are heavy-tailed, 4,000 with 15 candidates each, so that some 500,000 pairs of a document
and a position occur.
"""

PARTS = 0
"""``ULTR_LOG_PARTS=25``: also this many Parquet parts of as many rows each, read together."""

_LOG = """
SELECT 'u' || left(md5((i // 3)::VARCHAR), 12) AS session, left(md5('p' || i), 16) AS presentation,
    'query ' || q AS query, 'https://shop.example/item/' || (q * 15 + (r + shift) % 15) AS document,
    (r + 1)::INTEGER AS position, (hash(i * 10 + r) % 1000 < 300 / (r + 1))::INTEGER AS click
FROM (SELECT i, floor(4000 * pow((hash(i * 31 + 7) % 1000003) / 1000003.0, 3))::BIGINT AS q,
    hash(i * 17 + 3) % 6 AS shift FROM range($first, $last) AS lists(i)), range(10) AS ranks(r)
ORDER BY i, r
"""
_CHILD = """
import json, os, resource, sys, time

kind, paths = sys.argv[1], sys.argv[2:]
if kind == "bare":
    import duckdb
    spill = os.path.join(os.path.dirname(paths[0]), "spill")
    connection = duckdb.connect(config={"memory_limit": "500MB", "temp_directory": spill})
    connection.execute("SET enable_progress_bar = false")
    files = ", ".join("'" + path + "'" for path in paths)
    read = "read_parquet" if paths[0].endswith("parquet") else "read_csv"
else:
    from ultr_core.files import read_log
    columns = {"session": "-", "presentation": "-"} if kind == "counted" else None
wall = time.perf_counter()
if kind == "bare":
    table = connection.execute(
        "SELECT query, document, position, count(*) AS n, sum(click) AS clicks "
        f"FROM {read}([{files}]) GROUP BY ALL"
    ).fetchnumpy()
    rows, clicks, entries = int(table["n"].sum()), int(table["clicks"].sum()), table["n"].size
else:
    log = read_log(paths, columns=columns)
    rows, clicks, entries = log.rows, int(log.clicks.sum()), log.clicks.size
wall = time.perf_counter() - wall
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
cpu = sum(each.ru_utime + each.ru_stime for each in used)
peak = max(each.ru_maxrss for each in used) / 1e3
print(json.dumps([cpu, wall, peak, rows, clicks, entries]))
"""
_KINDS = {
    "bare": "DuckDB's bare GROUP BY",
    "counted": "ours, counted",
    "checked": "ours, with sessions, presentations and all checks",
}


def write_part(path: Path, rows: int, first: int = 0) -> None:
    """A log of this many rows as Parquet; parts with different starts share nothing."""
    # Spill files go where the log does, and with it.
    connection = duckdb.connect(
        config={"memory_limit": "1GB", "temp_directory": str(path.parent / "spill")}
    )
    connection.execute(
        f"COPY ({_LOG}) TO '{path}' (FORMAT parquet)",
        {"first": first, "last": first + rows // 10},
    )
    connection.close()


def write_csv(parquet: Path, csv: Path) -> None:
    """The same rows as CSV with a header."""
    duckdb.execute(f"COPY (SELECT * FROM '{parquet}') TO '{csv}' (HEADER)")


def _elsewhere(write: Callable[..., None], *given: object) -> None:
    # What this process once held would be the least peak that a process started by it reports.
    process = multiprocessing.get_context("spawn").Process(target=write, args=given)
    process.start()
    process.join()
    if process.exitcode:
        raise ChildProcessError(f"{write.__name__} ended with exit code {process.exitcode}")


def logs(rounds: int) -> Iterator[str]:
    """Each entrant in a separate process, in turn; medians over the rounds."""
    rows = int(os.environ.get("ULTR_LOG_ROWS", ROWS))
    parts = int(os.environ.get("ULTR_LOG_PARTS", PARTS))
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder, "log.parquet"), Path(folder, "log.csv")
        _elsewhere(write_part, parquet, rows)
        _elsewhere(write_csv, parquet, csv)
        for path in (parquet, csv):
            yield from _compared(f"log of {rows:,} rows, {path.suffix[1:]}", [path], rounds)
        csv.unlink()
        if parts:
            several = [parquet]
            for number in range(1, parts):
                several.append(Path(folder, f"part-{number:03d}.parquet"))
                _elsewhere(write_part, several[-1], rows, number * rows // 10)
            title = f"log of {parts * rows:,} rows, parquet in {parts} parts"
            yield from _compared(title, several, 1)


def _compared(title: str, paths: list[Path], rounds: int) -> Iterator[str]:
    found: dict[str, list[list[float]]] = {kind: [] for kind in _KINDS}
    for _ in range(rounds):
        for kind in _KINDS:
            found[kind].append(_run(kind, paths))
    medians = {kind: np.median(np.array(runs), axis=0) for kind, runs in found.items()}
    assert len({tuple(median[3:5]) for median in medians.values()}) == 1
    for kind, (cpu, wall, peak, _, _, _) in medians.items():
        ratio = wall / medians["bare"][1]
        yield (
            f"| {title} | {_KINDS[kind]}, wall relative to the bare GROUP BY; peak {peak:,.0f} MB "
            f"| {cpu:.2f} | {wall:.2f} | {ratio:.2f} | | |"
        )


def _run(kind: str, paths: list[Path]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, kind, *map(str, paths)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    numbers: list[float] = json.loads(done.stdout)
    return numbers
