"""The processes that train rankers for all pages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pages.app import server_lab, training_pool
from pages.app.server_lab import LAB, make_here
from pages.app.training_pool import (
    FORMER_SWITCH,
    MOST_PROCESSES,
    PROCESSES,
    REFUSED_SECONDS,
    TrainingPool,
    processes_wanted,
)
from scripts.serving import ROOT
from tests.meaning import refused
from tests.server import training_cells
from ultr_core.errors import InputError
from ultr_core.lab import Cell, Lab, TrainedMethod
from ultr_core.lab import lab as stages
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.settings import Settings

SETTINGS = Settings(clicks=2_000)
ASKED = Lab(SETTINGS)
CELL = ASKED.trained_cell(0, "naive")
PATIENCE = 60.0  # seconds; a busy machine starts a process in 10
SHORT = 1.5  # seconds that a cell of these tests may take

PARENT = "import sys; from tests.server.training_cells import parent; parent(sys.argv[1])"
ENDING = "import sys; from tests.server.training_cells import ending; ending(sys.argv[1])"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@pytest.fixture(scope="module")
def pool() -> Iterator[TrainingPool]:
    started = TrainingPool(processes=1)
    yield started
    started.stop()


@pytest.fixture
def pool_of() -> Iterator[Callable[..., TrainingPool]]:
    started: list[TrainingPool] = []

    def start(processes: int, **options: Any) -> TrainingPool:
        pool = TrainingPool(processes=processes, **options)
        started.append(pool)
        until(lambda: pool.room(processes) == processes)
        return pool

    yield start
    for pool in started:
        pool.stop()


@pytest.fixture(scope="module")
def here() -> Iterator[Callable[[Cell], Any]]:
    """Makes cells in this process, with one BLAS thread from the corpus on, as the server does.

    Its lab remembers them: each is made once for all tests that compare with it.
    """
    with one_blas_thread():
        yield Lab().make


def until(true: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def require_same(one: TrainedMethod, other: TrainedMethod) -> None:
    assert one.coefficients.tobytes() == other.coefficients.tobytes()
    for name in ("method", "draw", "test", "cost", "clip", "gap", "clicks", "query_draws"):
        assert getattr(one, name) == getattr(other, name)


def test_a_ranker_from_there_is_the_one_made_here(
    pool: TrainingPool, here: Callable[..., Any]
) -> None:
    require_same(pool.run(make_here, CELL, {}), here(CELL))
    assert pool.run(training_cells.process_number, "any") != os.getpid()


def test_what_cannot_be_trained_is_said_as_everywhere(pool: TrainingPool) -> None:
    with refused("not_from_clicks"):
        pool.run(make_here, ASKED.trained_cell(0, "skyline"), {})
    pool.run(make_here, CELL, {})


def test_the_processes_do_without_streamlit(pool: TrainingPool) -> None:
    pool.run(make_here, CELL, {})
    loaded = pool.run(training_cells.loaded_modules, "any")
    assert "ultr_core.lab" in loaded
    assert not {"streamlit", "pytest"} & loaded


def test_the_processes_never_run_the_servers_main_module(
    pool_of: Callable[..., TrainingPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a Streamlit server it is the page that ran last."""
    page = ModuleType("__main__")
    page.__file__ = str(tmp_path / "page.py")
    Path(page.__file__).write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\n")
    monkeypatch.setitem(sys.modules, "__main__", page)
    pool_of(1).run(training_cells.process_number, "any")
    assert not (tmp_path / "was_run").exists()


@on_linux
def test_the_processes_have_the_lowest_priority_and_ignore_ctrl_c(pool: TrainingPool) -> None:
    number = pool.run(training_cells.process_number, "any")
    assert os.getpriority(os.PRIO_PROCESS, number) == 19
    os.kill(number, signal.SIGINT)
    assert pool.run(training_cells.process_number, "any") == number


def test_a_process_that_is_killed_while_idle_is_replaced(pool: TrainingPool) -> None:
    before = pool.run(training_cells.process_number, "any")
    os.kill(before, signal.SIGKILL)
    assert pool.run(training_cells.process_number, "any") != before


def test_a_process_that_is_killed_at_work_is_replaced_and_the_cell_made(
    pool: TrainingPool, tmp_path: Path
) -> None:
    killed = pool.run(training_cells.process_number, "any")
    go = tmp_path / "go"
    with ThreadPoolExecutor(1) as thread:
        made = thread.submit(pool.run, training_cells.wait_for_file, str(go))
        time.sleep(0.3)  # by then the cell has most likely been begun; if not, the test above holds
        os.kill(killed, signal.SIGKILL)
        go.touch()
        assert made.result(PATIENCE) != killed


def test_a_stopped_process_is_killed_and_the_cell_made_by_another(
    pool_of: Callable[..., TrainingPool], tmp_path: Path
) -> None:
    pool = pool_of(1, seconds=SHORT)
    stopped = pool.run(training_cells.process_number, "any")
    assert pool.run(training_cells.stop_itself_once, str(tmp_path / "stopped")) == "made"
    until(lambda: not alive(stopped))


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (training_cells.kill_itself, "died"),
        (training_cells.stop_itself, "2 seconds"),
    ],
)
def test_a_cell_that_costs_two_processes_is_refused_for_a_while_and_never_made_here(
    pool_of: Callable[..., TrainingPool],
    work: Callable[[str], None],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = 0.0
    pool = pool_of(2, seconds=SHORT, clock=lambda: time.monotonic() + later)
    made: list[float] = []
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(pool.run, work, "bad")
        while not asked.done():  # others go on meanwhile
            pool.run(training_cells.process_number, "good")
            made.append(time.monotonic())
        with pytest.raises(InputError, match=words) as first:
            asked.result()
    assert len(made) > 3
    monkeypatch.setattr(pool, "_take", no_process)
    with pytest.raises(InputError) as again:
        pool.run(work, "bad")
    assert str(again.value) == str(first.value)
    later += REFUSED_SECONDS + 1
    with pytest.raises(AssertionError):  # is tried again
        pool.run(work, "bad")


def no_process() -> None:
    raise AssertionError("asked for a process")


def test_a_process_that_cannot_be_started_is_a_sentence() -> None:
    pool = TrainingPool("no_such_module", processes=1)
    for _ in range(2):
        with pytest.raises(InputError, match="process"):
            pool.run(training_cells.process_number, "any")
    pool.stop()


@pytest.mark.parametrize("processes", [1, 2])
def test_numbers_are_the_same_for_any_number_of_processes(
    pool_of: Callable[..., TrainingPool], here: Callable[..., Any], processes: int
) -> None:
    plan = [(0, "naive"), (0, "propensity"), (1, "propensity"), (0, "clipped"), (1, "naive")]
    cells = [ASKED.trained_cell(draw, method) for draw, method in plan]
    pool = pool_of(processes)
    with ThreadPoolExecutor(processes) as threads:
        found = list(threads.map(lambda cell: pool.run(make_here, cell, {}), cells))
        checks = pool.run(make_here, ASKED.checks_cell(), {cells[1]: found[1]})
    for cell, there in zip(cells, found, strict=True):
        require_same(there, here(cell))
    assert checks == here(ASKED.checks_cell())


def test_two_processes_work_at_once(pool_of: Callable[..., TrainingPool], tmp_path: Path) -> None:
    pool = pool_of(2)
    go = tmp_path / "go"
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(pool.run, training_cells.wait_for_file, str(go))
        until(lambda: pool.run(training_cells.process_number, "any") is not None)
        go.touch()
        assert first.result(PATIENCE)


def test_a_corpus_of_the_readers_own_is_not_held_twice(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(server_lab.POOL, "run", refuse)
    monkeypatch.delenv(PROCESSES, raising=False)
    replace(LAB, corpus=str(small_corpus), settings=SETTINGS).trained(0, "naive")
    with pytest.raises(AssertionError):
        server_lab.LAB.make(CELL)


def test_what_the_server_trains_itself_has_a_time_limit(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own process nothing can be killed, so that the solver looks at the time."""
    lab = replace(LAB, corpus=str(small_corpus), settings=SETTINGS.with_values(seed=9))
    lab.world()
    limit = replace(server_lab.SERVER_TRAINING_SECONDS, most=0)
    with monkeypatch.context() as patch:
        patch.setattr(server_lab, "SERVER_TRAINING_SECONDS", limit)
        with refused("training_time", "0 seconds", "server's"):
            lab.trained(0, "naive")
    assert lab.trained(0, "naive").clicks > 0


def test_checks_are_made_with_the_ranker_that_is_there_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = Lab(SETTINGS.with_values(seed=8))
    (need,) = lab.needs(lab.checks_cell())
    found, checks = lab.make(need), lab.checks()
    monkeypatch.setattr(stages, "train_method", lambda *_: pytest.fail("trained again"))
    assert make_here(lab.checks_cell(), {need: found}) == checks
    assert lab.needs(need) == ()


@pytest.mark.parametrize(("name", "value"), [(PROCESSES, "off"), (FORMER_SWITCH, "off")])
def test_it_can_be_switched_off(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    unused = TrainingPool()
    assert unused.run(training_cells.process_number, "any") == os.getpid()
    assert unused.room(5) == 1
    unused.start()
    assert not unused._growing


def test_how_many_processes_there_are_is_one_for_each_core_or_as_given() -> None:
    default, fault = processes_wanted({})
    assert fault is None
    assert 1 <= default <= (os.cpu_count() or 1)
    assert processes_wanted({FORMER_SWITCH: "on"}) == (default, None)
    for text, wanted in (("3", 3), (" 1 ", 1), ("0", 0), ("OFF", 0), ("64", MOST_PROCESSES)):
        assert processes_wanted({PROCESSES: text, FORMER_SWITCH: "off"}) == (wanted, None)
    for text in ("65", "-1", "two", "1.5", "\N{SUPERSCRIPT TWO}", "9" * 5_000):
        found, fault = processes_wanted({PROCESSES: text})
        assert found == default
        assert fault is not None
        assert PROCESSES in fault
        assert "from 1 to 64" in fault
        assert len(fault) < 250


def test_the_default_leaves_room_in_a_small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_pool, "usable_cores", lambda: 16)
    for memory, processes in ((5e8, 1), (1e9, 1), (1.5e9, 2), (4e9, 8), (float("inf"), 16)):
        monkeypatch.setattr(training_pool, "usable_memory", lambda memory=memory: memory)
        training_pool._default_processes.cache_clear()
        assert processes_wanted({}) == (processes, None)
    training_pool._default_processes.cache_clear()


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1]
    except OSError:
        return False
    return state.split()[0] not in "ZX"


def children(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


@pytest.mark.parametrize("when", ["starting", "working"])
def test_a_server_that_ends_prints_no_traceback(when: str) -> None:
    """Not of the process that it kills while it starts or trains, as pages ask for rankers."""
    ended = subprocess.run(
        [sys.executable, "-c", ENDING, when], cwd=ROOT, capture_output=True, timeout=5 * PATIENCE,
        check=True,
    )  # fmt: skip
    assert ended.stderr == b""


@on_linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_server_that_ends(tmp_path: Path, number: signal.Signals) -> None:
    """Also not what is stopped, or is at work in C, and Ctrl-C is told to all of them."""
    server = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT, start_new_session=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until((tmp_path / "ready").exists)
        started = children(server.pid)
        assert len(started) >= 3
        if number == signal.SIGINT:
            os.killpg(server.pid, number)
        else:
            server.send_signal(number)
        _, errors = server.communicate(timeout=PATIENCE)
        until(lambda: not any(map(alive, started)), 5.0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
    assert b"TrainingProcess" not in errors
    # After a SIGKILL the standard library's own process clears away semaphores, and says so.
    assert number == signal.SIGKILL or b"leaked" not in errors


def test_it_ends_while_one_is_being_started(caplog: pytest.LogCaptureFixture) -> None:
    """What is killed on purpose is not logged as a process that could not be started."""
    pool = TrainingPool(processes=1)
    waiting = threading.Thread(target=pool.start)
    waiting.start()
    waiting.join()
    until(lambda: pool._begun is not None and bool(pool._begun._context.started))
    pool.stop()
    pool._starter.shutdown(wait=True)
    assert caplog.records == []
    with pytest.raises(RuntimeError, match="stopped"):
        pool.run(training_cells.process_number, "any")
