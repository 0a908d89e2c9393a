"""A class on the real server, through websockets: every session gets its answer, and leaves."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.load_test import SLIDERS, Load, Measured, measure, percentiles, report
from scripts.serving import Running, running_server
from scripts.visitor import Visitor, different_values
from tests.server.in_time import LIMIT, finished


@pytest.fixture(scope="module")
def running(small_corpus: Path) -> Iterator[Running]:
    # Sessions of closed tabs are forgotten at once.
    options = ("--server.disconnectedSessionTTL", "0")
    with running_server(*options, after=("--corpus", str(small_corpus))) as started:
        yield started


def test_a_class_that_moves_sliders_gets_all_its_answers(running: Running) -> None:
    load = Load(8, 0.5, "lab", settle=60.0, limit=LIMIT, memory_limit=2_000.0)
    found = finished(measure(load, running))
    assert found.errors == []
    assert len(found.waited) == len(found.answered) == len(found.settled) == load.sessions
    assert all(
        waited <= answered <= settled + 1e-9
        for waited, answered, settled in zip(
            sorted(found.waited), sorted(found.answered), sorted(found.settled), strict=True
        )
    )
    assert 0 < found.cold["words"] <= found.cold["chart"] <= found.cold["intervals"]
    # The first words do not wait for libraries (it was 0.6 of the time when they did, now 0.1).
    assert found.cold["words"] < 0.4 * found.cold["chart"]
    # Ten quick moves cost no ten computations: the abandoned ones are not finished first.
    assert found.quick["last of ten"] < 6 * max(found.quick["one"], 0.5)
    words = report(load, found)
    assert "errors                     0" in words
    assert "p95" in words


def test_every_visitor_sees_numbers_of_their_own(running: Running) -> None:
    async def visit() -> list[str]:
        visitors = [Visitor(running.address, "lab", {"draws": "1"}) for _ in range(4)]
        await asyncio.gather(*(visitor.open() for visitor in visitors))
        for visitor, values in zip(visitors, different_values(4, SLIDERS), strict=True):
            await visitor.ask(**values)
        shown = ["\n".join(visitor.texts.values()) for visitor in visitors]
        again = await visitors[0].ask(**next(different_values(1, SLIDERS)))
        assert again < LIMIT
        shown.append("\n".join(visitors[0].texts.values()))
        for visitor in visitors:
            await visitor.close()
            assert visitor.errors == []
        return shown

    *first, again = finished(visit())
    lines = [next(line for line in text.splitlines() if "Kendall" in line) for text in first]
    assert len(set(lines)) > 1
    assert lines[0] in again


def test_a_large_message_that_a_visitor_has_is_not_sent_again(running: Running) -> None:
    async def visit() -> int:
        visitor = Visitor(running.address, "lab")
        await visitor.open()
        assert visitor.repeated == 0
        await visitor.ask(eta=0.75)
        await visitor.close()
        assert visitor.errors == []
        return visitor.repeated

    assert finished(visit()) > 0


def test_values_are_all_different_and_within_the_sliders() -> None:
    values = [tuple(found[name] for name in SLIDERS) for found in different_values(300, SLIDERS)]
    assert len(set(values)) == 300
    assert all(0 < value < 1 for found in values for value in found)


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentiles([3.0, 1.0, 2.0]) == {"p50": 2.0, "p95": 3.0, "max": 3.0}
    assert percentiles(list(range(1, 101))) == {"p50": 50, "p95": 95, "max": 100}
    assert all(math.isnan(value) for value in percentiles([]).values())
    assert Measured().as_dict()["waited"].keys() == {"p50", "p95", "max"}


def test_threads_of_closed_tabs_end(running: Running) -> None:
    tasks = Path(f"/proc/{running.pid}/task")
    if not tasks.is_dir():
        pytest.skip("this system does not show the threads of a process")

    async def come_and_go() -> None:
        visitors = [Visitor(running.address, "about") for _ in range(10)]
        await asyncio.gather(*(visitor.open() for visitor in visitors))
        for visitor in visitors:
            await visitor.close()

    finished(come_and_go())
    before = len(list(tasks.iterdir()))
    for _ in range(3):
        finished(come_and_go())
    threading.Event().wait(1.0)
    assert len(list(tasks.iterdir())) <= before + 3
