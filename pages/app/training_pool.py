"""Processes in which rankers are trained, so that pages need not wait for it.

Training and page runs are both Python and cannot run at the same time in one process. A pool has
one single-process executor per core: an executor is lost as a whole when its process dies, and
then only that one is replaced. Nothing heavy is imported here, because every process imports this
module before it lowers its priority.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib
import logging
import multiprocessing.spawn
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, TypeVar

from pages.app.resources import PROCESSES, usable_cores, usable_memory
from ultr_core.errors import InputError, quoted
from ultr_core.limits import Limit
from ultr_core.words import counted
from ultr_core.workers import end_with_parent, starting_workers

T = TypeVar("T")

FORMER_SWITCH = "ULTR_WORKSHOP"
"""The former name, of which only ``off`` had a meaning."""

MOST_PROCESSES = 64
TRAINING_SECONDS = Limit(
    600,
    "seconds",
    # 1 s at most where nothing else runs, with the corpus built first. Five times that on a slow
    # machine, and a process of lowest priority gets 1/69 of a core that others keep busy: 350 s.
    "even a slow, busy machine needs less time than that, so the process must be stuck",
    "change a setting, or try again in ten minutes",
)
REFUSED_SECONDS = 600.0
"""How long a cell that has cost two processes is not tried again."""

_TRIES = 2
_START_SECONDS = 120.0  # importing NumPy takes 1 s on an idle machine
_LOWEST_PRIORITY = 19
_MEMORY_EACH = 400e6  # bytes, measured: 250 MB, 380 MB once it remembers three corpora
_MEMORY_OF_SERVER = 600e6
_SIGKILL_AT_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>
_NAME = "TrainingProcess"
_LOG = logging.getLogger(__name__)


def processes_wanted(environment: Mapping[str, str] = os.environ) -> tuple[int, str | None]:
    """How many processes are to be used, 0 for none, and a sentence if the variable is wrong.

    By default one per usable core, fewer where memory is short.
    """
    given = environment.get(PROCESSES, "").strip().lower()
    if not given:
        off = environment.get(FORMER_SWITCH, "").strip().lower() == "off"
        return 0 if off else _default_processes(), None
    if given in ("off", "0"):
        return 0, None
    if (
        given.isascii()
        and given.isdecimal()
        and len(given) < 9
        and 1 <= int(given) <= MOST_PROCESSES
    ):
        return int(given), None
    default = _default_processes()
    return default, (
        f"The environment variable {PROCESSES} is {quoted(environment[PROCESSES])}; it must be off "
        f"or a whole number from 1 to {MOST_PROCESSES}, so the server uses "
        f"{counted(default, 'process', 'processes')}."
    )


@functools.cache
def _default_processes() -> int:
    fit = (usable_memory() - _MEMORY_OF_SERVER) / _MEMORY_EACH
    return max(1, int(min(usable_cores(), fit, MOST_PROCESSES)))


class _Process(SpawnProcess):
    """A process that is not given the parent's main module."""


class _Context(SpawnContext):
    """Starts processes by ``spawn`` (a threaded server must not fork) and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Process] = []

    def Process(self, *args: Any, **options: Any) -> _Process:  # type: ignore[override]  # noqa: N802
        """A process of this context."""
        process = _Process(*args, **options)
        process.name = f"{_NAME}-{len(self.started) + 1}"
        self.started.append(process)
        return process


_prepared = multiprocessing.spawn.get_preparation_data


def _prepared_without_main(name: str) -> dict[str, Any]:
    """What a new process is told; ours are not told of a main module.

    They would run it, and in a Streamlit server it is whatever page ran last.
    """
    data: dict[str, Any] = _prepared(name)
    if name.startswith(_NAME):
        data.pop("init_main_from_name", None)
        data.pop("init_main_from_path", None)
    return data


multiprocessing.spawn.get_preparation_data = _prepared_without_main


class _Worker:
    """One process and its executor."""

    def __init__(self, needs: tuple[str, ...]) -> None:
        self._context = _Context()
        self._ended = False
        self._executor = ProcessPoolExecutor(
            1, self._context, initializer=_begin, initargs=(os.getpid(), needs)
        )

    def submit(self, work: Callable[..., T], *given: Any) -> Future[T]:
        """Have the process do ``work(*given)`` next; the first time, start it."""
        return self._executor.submit(work, *given)

    def lives(self) -> bool:
        """Whether the process runs and has not been killed here."""
        return not self._ended and any(process.is_alive() for process in self._context.started)

    def end(self) -> None:
        """Kill the process, stopped or not."""
        self._ended = True
        for process in self._context.started:
            with suppress(ValueError, AttributeError):  # closed, or never started
                process.kill()
        self._executor.shutdown(wait=False, cancel_futures=True)


class TrainingPool:
    """At most ``processes`` processes, each started when it is needed and replaced when it dies.

    Without ``processes`` the environment decides, see `processes_wanted`. ``needs`` are modules
    that each imports first, and whose ``prepare()`` it calls where there is one; ``seconds`` is how
    long a cell may take.
    """

    def __init__(
        self,
        *needs: str,
        processes: int | None = None,
        seconds: float = TRAINING_SECONDS.most,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._needs, self._processes, self._seconds = needs, processes, seconds
        self._clock = clock
        self._changed = threading.Condition()
        self._ready: list[_Worker] = []
        self._free: list[_Worker] = []
        self._growing = self._at_once = False
        self._begun: _Worker | None = None
        self._failures = 0
        self._refused: dict[Hashable, tuple[float, str]] = {}
        self._stopped = False
        self._told: Callable[[], None] = lambda: None
        # One thread starts them all, and lives as long as they shall: Linux takes its end for the
        # parent's.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="training-starter")

    @property
    def processes(self) -> int:
        """How many processes there may be; 0 if cells are made by whoever asks."""
        return processes_wanted()[0] if self._processes is None else self._processes

    def when_ready(self, tell: Callable[[], None]) -> None:
        """Call ``tell`` whenever a process has become ready."""
        self._told = tell

    def start(self) -> None:
        """Begin to start all processes, one after another, ahead of the first cell."""
        with self._changed:
            self._at_once = True
            self._grow()

    def room(self, wanted: int) -> int:
        """How many of ``wanted`` cells can be made at once now, at least 1.

        If that is fewer, another process is being started.
        """
        with self._changed:
            if wanted > len(self._ready):
                self._grow()
            return max(1, len(self._ready))

    def run(self, make: Callable[..., T], cell: Hashable, *given: Any) -> T:
        """What ``make(cell, *given)`` gives in one of the processes; raises what it raises.

        Raises:
            InputError: no process can be started, or two have died or hung at this cell.
        """
        if not self.processes:
            return make(cell, *given)
        self._require_accepted(cell)
        for _ in range(_TRIES):
            worker = self._take()
            try:
                future = worker.submit(make, cell, *given)
                wait([future], self._seconds)
                if future.done():
                    return future.result()
                worker.end()
                reason = (
                    f"training for these settings has twice taken more than {self._seconds:,.0f} "
                    f"{TRAINING_SECONDS.unit}; {TRAINING_SECONDS.reason}"
                )
            except BrokenProcessPool:
                worker.end()
                reason = "the process that was training for these settings has died twice"
            finally:
                self._give_back(worker)
        raise self._refuse(cell, reason)

    def stop(self) -> None:
        """Kill all processes; nothing can be run afterwards."""
        with self._changed:
            self._stopped = True
            workers = [*self._ready, *filter(None, [self._begun])]
            self._ready, self._free = [], []
            self._changed.notify_all()
        for worker in workers:
            worker.end()
        self._starter.shutdown(wait=False, cancel_futures=True)

    def _take(self) -> _Worker:
        with self._changed:
            failures = self._failures
            while True:
                if self._stopped:
                    raise RuntimeError("the training processes have been stopped")
                while self._free:
                    worker = self._free.pop()
                    if worker.lives():
                        return worker
                    self._ready.remove(worker)  # died while nobody used it
                if not self._ready and self._failures > failures:
                    raise InputError(
                        "This server could not start a process that trains rankers; try again in "
                        "a minute, or ask whoever runs the server for help."
                    )
                self._grow()
                self._changed.wait()

    def _give_back(self, worker: _Worker) -> None:
        with self._changed:
            if worker in self._ready:
                if worker.lives():
                    self._free.append(worker)
                else:
                    self._ready.remove(worker)
            self._changed.notify_all()

    def _grow(self) -> None:
        """Begin to start one more process; one at a time, so that pages are not slowed down."""
        if not (self._growing or self._stopped) and len(self._ready) < self.processes:
            self._growing = True
            self._starter.submit(self._start)

    def _start(self) -> None:
        worker = None
        try:
            worker = _Worker(self._needs)
            with self._changed:
                self._begun = worker
            with starting_workers():
                begun = worker.submit(os.getpid)
            begun.result(_START_SECONDS)
        except Exception:
            if not self._stopped:  # else it was killed on purpose
                _LOG.warning("A process that trains rankers could not be started", exc_info=True)
            self._started(None)
            if worker is not None:
                worker.end()
        else:
            self._started(worker)
        self._told()

    def _started(self, worker: _Worker | None) -> None:
        with self._changed:
            self._growing, self._begun = False, None
            if worker is None:
                self._failures += 1
            elif self._stopped:
                worker.end()
            else:
                self._ready.append(worker)
                self._free.append(worker)
                if self._at_once:
                    self._grow()
            self._changed.notify_all()

    def _require_accepted(self, cell: Hashable) -> None:
        with self._changed:
            until, sentence = self._refused.get(cell, (0.0, ""))
            if self._clock() < until:
                raise InputError(sentence)

    def _refuse(self, cell: Hashable, reason: str) -> InputError:
        sentence = f"No ranker was trained: {reason}; {TRAINING_SECONDS.remedy}."
        with self._changed:
            now = self._clock()
            kept = {cell: known for cell, known in self._refused.items() if now < known[0]}
            self._refused = {**kept, cell: (now + REFUSED_SECONDS, sentence)}
        return InputError(sentence)


def _begin(parent: int, needs: tuple[str, ...]) -> None:
    """First work of a new process: lowest priority, an end with its parent, imports."""
    with suppress(OSError, AttributeError):
        os.nice(_LOWEST_PRIORITY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when this ends
    _end_with(parent)
    end_with_parent()
    from ultr_core.learners.blas_threads import one_blas_thread_for_good

    for name in needs:
        getattr(importlib.import_module(name), "prepare", _nothing)()
    one_blas_thread_for_good()


def _nothing() -> None:
    """What a module without a ``prepare`` needs."""


def _end_with(parent: int) -> None:
    """Let Linux kill this process with its parent, even while it is stopped or in C code."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SIGKILL_AT_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before
        os._exit(1)


def end_at_exit(pool: TrainingPool) -> None:
    """Kill the pool's processes when this process ends.

    Before the standard library waits for what they are at, which may take for ever: where Python
    lets threads be ended first, as ``concurrent.futures`` itself has it.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    register(pool.stop)


POOL = TrainingPool("pages.app.server_lab")
"""The processes of this server that train on built-in corpora."""

end_at_exit(POOL)
