"""How long visitors wait when many of them use the app at once.

``python scripts/load_test.py`` starts the app on this machine and opens 30 sessions. Once their
pages are complete, all of them move sliders to different values within 3 seconds. The script prints
how long each session waited for the end of its page run and for all its rankers to be trained, and
the server's memory.
``--sessions 100 --over 5`` is a large class, ``--servers 2`` starts two servers at one address
(``serve_class.py``), and ``--url`` measures a running server (without its memory). The times
include this client, which shares the machine.

The run is bounded: it ends with an error after ``--limit`` seconds or above ``--memory-limit`` MB.
The exit code is 1 if a session saw an error or, with ``--bar``, if the 95th percentile is above it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import proxy
from scripts.serve_class import MOST_SERVERS
from scripts.serving import Running, running_class, running_server
from scripts.visitor import Visitor, different_values

SLIDERS = ("eta", "assumed_eta", "eps_minus")
QUICK_CHANGES = 10
BETWEEN_QUICK_CHANGES = 0.1  # seconds
LOOKS = 0.1  # seconds between two looks whether a session has its answer; each costs this client
COLD = (("words", "heading"), ("chart", "vega_lite_chart"))
KEPT = 1  # seconds that the server started here keeps the session of a closed tab


@dataclass(frozen=True)
class Load:
    """What to measure: how many sessions change within how many seconds, on which page."""

    sessions: int
    over: float
    page: str
    settle: float
    limit: float
    memory_limit: float


@dataclass
class Measured:
    """Measured times in seconds, and memory in MB.

    ``waited``: from a change to the end of the page's run. ``answered``: until no placeholder is
    left on the page, and the first rankers are shown beside the checks. ``settled``: until all
    click logs are done. A session that did not get that far is missing from the list.
    ``cold``: the first visit to the server, from the connection to the first words, to the first
    chart and to all intervals.
    """

    opening: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    settled: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)
    cold: dict[str, float] = field(default_factory=dict)
    quick: dict[str, float] = field(default_factory=dict)
    kilobytes: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for ``--json``."""
        times = ("opening", "waited", "answered", "settled")
        return {**asdict(self), **{name: percentiles(getattr(self, name)) for name in times}}


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The smallest values that 50%, 95% and 100% of the times do not exceed."""
    ordered = sorted(seconds)
    ranks = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    if not ordered:
        return dict.fromkeys(ranks, float("nan"))
    return {name: ordered[-int(-len(ordered) * share // 1) - 1] for name, share in ranks.items()}


async def measure(load: Load, running: Running | str) -> Measured:
    """Open the sessions, move their sliders at the planned times, and leave."""
    address = running if isinstance(running, str) else running.address
    found = Measured()

    def note_memory(moment: str) -> None:
        if isinstance(running, Running):
            found.memory[moment] = round(running.memory(), 1)
            if found.memory[moment] > load.memory_limit:
                raise SystemExit(
                    f"The server uses {found.memory[moment]:.0f} MB {moment}; the limit is "
                    f"{load.memory_limit:.0f} MB."
                )

    first = Visitor(address, load.page)
    started = time.perf_counter()
    await first.open()
    await first.settled()
    found.cold = {name: first.seen[kind] - started for name, kind in COLD if kind in first.seen}
    found.cold["intervals"] = time.perf_counter() - started
    found.quick = await _quick_changes(first)
    await first.close()
    note_memory("before")
    visitors = [Visitor(address, load.page) for _ in range(load.sessions)]
    found.opening = list(await asyncio.gather(*(_timed_open(v) for v in visitors)))
    # A class reads the page before it moves a slider: by then the last of them has all of it.
    with suppress(TimeoutError):
        async with asyncio.timeout(load.settle):
            await asyncio.gather(*(visitor.settled() for visitor in visitors))
    note_memory("open")
    begin = asyncio.get_running_loop().time()

    async def move(number: int, values: dict[str, float]) -> None:
        await asyncio.sleep(
            max(0.0, begin + load.over * number / load.sessions - asyncio.get_running_loop().time())
        )
        started = time.perf_counter()
        found.waited.append(await visitors[number].ask(**values))
        with suppress(TimeoutError):
            async with asyncio.timeout(load.settle):
                await _until(visitors[number], lambda visitor: not visitor.pending)
                found.answered.append(time.perf_counter() - started)
                await visitors[number].settled()
                found.settled.append(time.perf_counter() - started)

    changes = enumerate(different_values(load.sessions, SLIDERS))
    await asyncio.gather(*(move(number, values) for number, values in changes))
    note_memory("changed")
    found.kilobytes = sum(v.received for v in visitors) / load.sessions / 2 / 1e3
    found.errors = [error for visitor in visitors for error in visitor.errors] + first.errors
    for visitor in visitors:
        await visitor.close()
    await _forget_sessions(address)
    note_memory("all left")
    return found


async def _forget_sessions(address: str) -> None:
    """Come and go, because the server drops sessions of closed tabs when another visitor leaves."""
    for _ in range(2):
        await asyncio.sleep(2 * KEPT)
        visitor = Visitor(address, "about")
        await visitor.open()
        await visitor.close()


async def _timed_open(visitor: Visitor) -> float:
    started = time.perf_counter()
    await visitor.open()
    return time.perf_counter() - started


async def _until(visitor: Visitor, true: Callable[[Visitor], bool]) -> None:
    while not true(visitor):
        await asyncio.sleep(LOOKS)


async def _quick_changes(visitor: Visitor) -> dict[str, float]:
    """One change alone, then ten in a row: how long until the last of them is shown."""
    started = time.perf_counter()
    await visitor.ask(eta=1.9, assumed_eta=0.1)
    await visitor.settled()
    one = time.perf_counter() - started
    for number in range(QUICK_CHANGES - 1):
        await visitor.move(eta=round(1.8 - 0.05 * number, 2))
        await asyncio.sleep(BETWEEN_QUICK_CHANGES)
    started = time.perf_counter()
    await visitor.ask(eta=round(1.8 - 0.05 * QUICK_CHANGES, 2))
    await visitor.settled()
    return {"one": one, "last of ten": time.perf_counter() - started}


def report(load: Load, found: Measured) -> str:
    """What was measured, as text."""
    lines = [
        f"{load.sessions} sessions, all with different values, over {load.over:g} s on /{load.page}"
    ]
    names = {
        "opening": "page opened, all at once",
        "waited": "change to end of run",
        "answered": "change to first rankers",
        "settled": "change to all intervals",
    }
    for name, words in names.items():
        seconds = getattr(found, name)
        values = percentiles(seconds)
        there = "" if len(seconds) == load.sessions else f"  ({len(seconds)} sessions)"
        times = "  ".join(f"{key} {value:.3f} s" for key, value in values.items())
        lines.append(f"{words:<26} {times}{there}")
    cold = "  ".join(f"{name} {value:.3f} s" for name, value in found.cold.items())
    lines += [f"{'first visit':<26} {cold}"]
    lines += [f"{'one change, alone':<26} {found.quick['one']:.3f} s"]
    lines += [f"{'last of ten quick changes':<26} {found.quick['last of ten']:.3f} s"]
    lines += [f"{'received per run':<26} {found.kilobytes:.0f} kB"]
    for moment, megabytes in found.memory.items():
        lines.append(f"{'memory, ' + moment:<26} {megabytes:.0f} MB")
    lines.append(f"{'errors':<26} {len(found.errors)}")
    lines += [f"  {error}" for error in sorted(set(found.errors))]
    return "\n".join(lines)


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--over", type=float, default=3.0, metavar="SECONDS")
    parser.add_argument("--page", default="lab", help="path of the page below the root")
    parser.add_argument("--url", help="measure this running server instead of starting one")
    parser.add_argument(
        "--servers", type=int, default=1, metavar="N", help="start this many servers at one address"
    )
    parser.add_argument("--corpus", metavar="DIR", help="start the server on this corpus")
    parser.add_argument(
        "--settle", type=float, default=60.0, metavar="SECONDS",
        help="how long to wait for trained rankers after a change",
    )  # fmt: skip
    parser.add_argument("--limit", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--memory-limit", type=float, default=2000.0, metavar="MB")
    parser.add_argument("--bar", type=float, metavar="SECONDS", help="largest p95 allowed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if not 1 <= given.sessions <= 1000:
        parser.error(f"--sessions is {given.sessions}; it must be from 1 to 1,000.")
    if not 1 <= given.servers <= MOST_SERVERS:
        parser.error(f"--servers is {given.servers}; it must be from 1 to {MOST_SERVERS}.")
    if given.servers > 1 and proxy.find() is None:
        parser.error(f"--servers is {given.servers}; more than 1 needs HAProxy, which is missing.")
    if not 0 <= given.over <= 600:
        parser.error(f"--over is {given.over:g}; it must be from 0 to 600 seconds.")
    return given


def main() -> int:
    """Measure and print; the exit code says whether all went well."""
    given = read_arguments()
    load = Load(
        given.sessions, given.over, given.page, given.settle, given.limit, given.memory_limit
    )
    after = ("--corpus", given.corpus) if given.corpus else ()

    async def bounded(running: Running | str) -> Measured:
        async with asyncio.timeout(load.limit):
            return await measure(load, running)

    try:
        if given.url:
            found = asyncio.run(bounded(given.url.rstrip("/")))
        else:
            kept = ("--server.disconnectedSessionTTL", str(KEPT))
            start = running_server if given.servers == 1 else partial(running_class, given.servers)
            with start(*kept, after=after) as running:
                found = asyncio.run(bounded(running))
    except TimeoutError:
        print(f"Not finished after {load.limit:g} s.", file=sys.stderr)
        return 1
    print(json.dumps(found.as_dict()) if given.json else report(load, found))
    too_slow = given.bar is not None and percentiles(found.waited)["p95"] > given.bar
    return 1 if found.errors or too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
