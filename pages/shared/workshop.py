"""A process of its own in which rankers are trained, so that pages need not wait for it.

Training and page runs are both Python and cannot run at the same time in one process: with thirty
visitors every page waited for whatever was being trained for somebody else. The process here makes
one cell at a time, with lower priority, and has a world of its own. ``cached`` sends it what is
slow, whichever page asks.

It runs ``python -m pages.shared.workshop``, is asked through its standard input and ends with it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ultr_core.errors import InputError
from ultr_core.learners.blas_threads import one_blas_thread_for_good

CellT = TypeVar("CellT")

SWITCH = "ULTR_WORKSHOP"
"""Environment variable that, set to ``off``, keeps all work in the server's own process."""

_ROOT = Path(__file__).resolve().parents[2]
_LOWER_PRIORITY = 19  # the lowest: a hundred visitors on two cores wait half as long for a page
_TRIES = 2  # a process that was killed is started once more


class Workshop:
    """The process, started when it is first needed and again if it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the process ahead of the first cell."""
        with self._lock, suppress(OSError):
            self._running()

    def make(self, cell: CellT, here: Callable[[CellT], Any]) -> Any:
        """What ``here`` gives for the cell, made there; raises what it raises.

        Made here where the process is switched off, or cannot be had.
        """
        if os.environ.get(SWITCH) == "off":
            return here(cell)
        with self._lock:
            for _ in range(_TRIES):
                try:
                    value, error = self._ask(cell)
                except (OSError, EOFError, pickle.UnpicklingError):
                    self._end()
                    continue
                if error is not None:
                    raise error
                return value
        return here(cell)

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _ask(self, cell: Any) -> tuple[Any, Exception | None]:
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        pickle.dump(cell, process.stdin)
        process.stdin.flush()
        answer: tuple[Any, Exception | None] = pickle.load(process.stdout)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pages.shared.workshop"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, SWITCH: "off"},
                cwd=_ROOT,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()


WORKSHOP = Workshop()
"""The one of this server."""

atexit.register(WORKSHOP.stop)


def _serve() -> None:
    """Make cells until standard input ends."""
    from pages.shared import cached  # which needs this module in the server

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when this ends
    with suppress(OSError, AttributeError):
        os.nice(_LOWER_PRIORITY)
    one_blas_thread_for_good()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not come between the answers
    while True:
        try:
            cell = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_answer(cached.result, cell), answers)
        answers.flush()


def _answer(make: Callable[[CellT], Any], cell: CellT) -> tuple[Any, Exception | None]:
    try:
        return make(cell), None
    except InputError as error:
        return None, error
    except Exception as error:
        return None, RuntimeError(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    _serve()
