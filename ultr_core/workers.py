"""A clean end for several processes: what a signal asks for, once the workers are gone."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = ("SIGTERM", "SIGHUP")  # some systems have only the first


class _EndedError(BaseException):
    """A signal asked this process to end."""


@contextmanager
def workers_end_first() -> Iterator[None]:
    """End this process's workers where the block is left early, then do what a signal asks for.

    Without it a signal ends this process at once, and what the workers share with it is left to be
    cleared away by others. A second signal does not wait.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are not for others
        yield
        return
    asked: list[int] = []
    numbers = [number for name in _SIGNALS if (number := getattr(signal, name, None)) is not None]

    def end(number: int, _: FrameType | None) -> NoReturn:
        asked.append(number)
        _put_back(former)
        raise _EndedError

    former = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    except _EndedError:
        gc.collect()  # takes away what the workers shared with this process
        os.kill(os.getpid(), asked[0])
        raise
    finally:
        _put_back(former)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Processes that are started inside never see Ctrl-C: it is for this one, which ends them.

    They inherit what is held back here, and so need no handler, which they would have too late:
    a process that is interrupted while it loads its libraries prints where it was.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _put_back(former: Mapping[int, Any]) -> None:
    for number, handler in former.items():
        # None is a handler that was not set from Python.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


def end_workers() -> None:
    """Terminate the processes that this one has started."""
    for worker in multiprocessing.active_children():
        worker.terminate()


def end_with_parent() -> None:
    """In a worker: end at once when the process that started it is gone, even by SIGKILL."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody would ever take our results
