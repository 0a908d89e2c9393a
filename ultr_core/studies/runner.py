"""Running cells: in this process, in several, or on a Dask cluster; the numbers are the same."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ultr_core import __version__
from ultr_core.errors import InputError, quoted
from ultr_core.lab.world import World
from ultr_core.studies.cells import Cell, CellResult, groups_of, run_group
from ultr_core.studies.source import WorldDescription, WorldSource, description_of, world_of
from ultr_core.workers import (
    end_with_parent,
    end_workers,
    starting_workers,
    workers_end_first,
)

CONNECTION_TIMEOUT = "20s"
_FLUSHED = 0.1  # seconds after which a pool has let go of what was cancelled


@dataclass(frozen=True)
class Runner:
    """Anything that can run cells.

    ``describe()`` describes the workers' world. ``run(cells)`` yields results as they arrive, in
    any order; closing the generator cancels cells that have not started.
    """

    describe: Callable[[], WorldDescription]
    run: Callable[[Iterable[Cell]], Iterator[CellResult]]


def run_in_process(world: World, cells: Iterable[Cell]) -> Iterator[CellResult]:
    """Run cells one by one on an existing world; to stop, do not request the next result."""
    for group in groups_of(cells):
        yield from run_group(world, group)


@contextmanager
def open_runner(source: WorldSource, *, jobs: int = 1, dask: str | None = None) -> Iterator[Runner]:
    """A runner for the world of ``source``: here, in ``jobs`` processes, or on a Dask cluster.

    Each process builds the corpus and the production ranker once, and then receives only cells.

    Raises:
        InputError: the cluster cannot be reached, Dask is not installed, or a worker died.
    """
    if dask is not None:
        with _dask_client(dask) as client:
            yield Runner(
                lambda: _first(client, source), lambda cells: _run_on_dask(client, source, cells)
            )
    elif jobs > 1:
        with _pool(source, jobs) as pool:
            yield Runner(
                lambda: _result(_submitted(pool, _describe_here)),
                lambda cells: _run_in_pool(pool, cells),
            )
    else:
        yield Runner(
            lambda: description_of(source),
            lambda cells: run_in_process(world_of(source), cells),
        )


@contextmanager
def _pool(source: WorldSource, jobs: int) -> Iterator[ProcessPoolExecutor]:
    # Spawned, not forked: a fork copies locks that BLAS threads may hold.
    context = multiprocessing.get_context("spawn")
    with workers_end_first():
        pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=(source,))
        # What waits is cancelled before the workers end: Python 3.11 trips over it.
        ending = threading.Timer(_FLUSHED, end_workers)
        try:
            yield pool
        except BaseException:
            ending.start()  # nobody takes what they are at
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            ending.cancel()


_source: WorldSource | None = None


def _start_worker(source: WorldSource) -> None:
    global _source
    _source = source
    # Ctrl-C is for the parent, which then ends the workers; see `starting_workers`.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _describe_here() -> WorldDescription:
    assert _source is not None
    return description_of(_source)


def _run_here(cells: Sequence[Cell]) -> list[CellResult]:
    assert _source is not None
    return list(run_group(world_of(_source), cells))


def _submitted(pool: ProcessPoolExecutor, work: Callable[..., Any], *given: Any) -> Any:
    with starting_workers():  # a pool starts its processes when it is given work
        return pool.submit(work, *given)


def _run_in_pool(pool: ProcessPoolExecutor, cells: Iterable[Cell]) -> Iterator[CellResult]:
    futures = [_submitted(pool, _run_here, group) for group in groups_of(cells)]
    try:
        for future in as_completed(futures):
            yield from _result(future)
    finally:
        for future in futures:
            future.cancel()


def _result(future: Any) -> Any:
    try:
        return future.result()
    except BrokenProcessPool:
        raise InputError(
            "A worker process died, probably for lack of memory. Run the same command again with "
            "fewer jobs; it resumes.",
            "jobs",
        ) from None


def _distributed() -> Any:
    """Dask's package; only those who ask for a cluster need it."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "A Dask cluster needs the package 'distributed'; install it with pip install "
            "distributed.",
            "dask",
        ) from None


@contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    distributed = _distributed()
    _require_answer(address)
    try:
        client = distributed.Client(address, timeout=CONNECTION_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise _no_scheduler(address) from error
    try:
        _require_lab(client)
        yield client
    finally:
        client.close()


def _require_lab(client: Any) -> None:
    """Ask scheduler and workers for this version of the lab, by words that need nothing of it."""
    version = f"__import__({__name__!r}).__version__"  # imports the module, gives the package
    try:
        found = {client.run_on_scheduler(eval, version), *client.run(eval, version).values()}
    except (ImportError, AttributeError) as error:
        raise _no_lab(error) from None
    if other := found - {__version__}:
        raise _no_lab(f"it has version {', '.join(sorted(other))}, not {__version__}")


def _no_lab(reason: object) -> InputError:
    return InputError(
        f"The Dask cluster cannot run the lab ({reason}); install the same version (pip install . "
        "in its folder) where the scheduler and workers run."
    )


def _require_answer(address: str) -> None:
    """Knock before Dask does: its client goes on trying long after it has given up."""
    place = urlsplit(address if "//" in address else f"tcp://{address}")
    try:
        if not place.hostname or not place.port:
            raise _no_scheduler(address)
        socket.create_connection((place.hostname, place.port), timeout=5).close()
    except (OSError, ValueError) as error:
        raise _no_scheduler(address) from error


def _no_scheduler(address: str) -> InputError:
    return InputError(
        f"No Dask scheduler answers at {quoted(address)}; give an address such as "
        "tcp://10.0.0.1:8786.",
        "dask",
    )


def _first(client: Any, source: WorldSource) -> WorldDescription:
    description: WorldDescription = _remote(client.submit(description_of, source, pure=False))
    return description


def _run_there(cells: Sequence[Cell], source: WorldSource, fingerprint: str) -> list[CellResult]:
    if description_of(source).fingerprint != fingerprint:
        raise InputError(
            "Two Dask workers have different corpora; every worker needs the same files in the "
            "corpus directory.",
            "corpus",
        )
    return list(run_group(world_of(source), cells))


def _run_on_dask(client: Any, source: WorldSource, cells: Iterable[Cell]) -> Iterator[CellResult]:
    fingerprint = _first(client, source).fingerprint
    futures = [
        client.submit(_run_there, group, source, fingerprint, pure=False)
        for group in groups_of(cells)
    ]
    try:
        for future in _distributed().as_completed(futures, loop=client.loop):
            yield from _remote(future)
    finally:
        client.cancel(futures)


def _remote(future: Any) -> Any:
    try:
        return future.result()
    except InputError:
        raise
    except (ImportError, AttributeError) as error:  # of a worker that came later
        raise _no_lab(error) from None
    except Exception as error:
        if not type(error).__module__.startswith("distributed"):
            raise
        raise InputError(
            f"The Dask cluster lost its work ({type(error).__name__}); when it is back, run the "
            "same command again to resume."
        ) from None
