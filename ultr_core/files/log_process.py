"""Binary files are read in a process of their own: a damaged one can end it, and nothing else.

The process gets its call by its standard input and answers by its standard output: shares of the
log that it has read, then the result or the error. It ends with the one that started it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from ultr_core.errors import InputError
from ultr_core.files.log_parts import PARQUET, LogParts, first_bytes, is_duckdb
from ultr_core.files.log_relation import Progress, sweep_folders
from ultr_core.files.parquet_pages import damaged
from ultr_core.limits import LOG_MEMORY
from ultr_core.workers import starting_workers

Result = TypeVar("Result")

_ROOT = str(Path(os.path.realpath(__file__)).parents[2])
_START = "from ultr_core.files.log_process import answer; answer()"
_SECONDS = 0.05  # between two shares that are told
_READERS = threading.BoundedSemaphore(2)  # each may take LOG_MEMORY


def in_own_process(
    call: Callable[..., Result], log: LogParts, *given: Any, progress: Progress | None = None
) -> Result:
    """``call(log, *given, progress)``, in a process of its own if a file of the log is binary.

    What ``progress`` raises ends it. Raises InputError as the call does, and for a file that is so
    damaged that the process ended.
    """
    with _READERS:
        if not any(first_bytes(each, 4) == PARQUET or is_duckdb(each) for each in log.parts):
            return call(log, *given, **({} if progress is None else {"progress": progress}))
        return _asked(call, log, given, progress)


def _asked(
    call: Callable[..., Result], log: LogParts, given: tuple[Any, ...], progress: Progress | None
) -> Result:
    path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH", ""))))
    with starting_workers():
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        with suppress(BrokenPipeError):
            pickle.dump((call, log, given, progress is not None), process.stdin)
            process.stdin.close()
        while True:
            try:
                kind, told = pickle.load(process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise damaged(log.name) from None
            if kind == "share":
                if progress is not None:
                    progress(told)
            elif kind == "error":
                raise InputError(*told)
            else:
                result: Result = told
                return result
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()
        sweep_folders()


def answer() -> None:
    """In the process: make the call and tell how it goes."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    os.dup2(sys.stderr.fileno(), 1)  # a library writes there without asking Python
    call, log, given, tells = pickle.load(sys.stdin.buffer)
    last = 0.0

    def progress(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS:
            last = time.monotonic()
            _tell(out, "share", share)

    try:
        _tell(out, "done", call(log, *given, **({"progress": progress} if tells else {})))
    except InputError as error:
        _tell(out, "error", (str(error), error.about))
    except MemoryError:
        _tell(out, "error", (str(LOG_MEMORY.exceeded(f"Reading {log.name}")), ""))


def _end_with(parent: int) -> None:
    """End this process, whatever it does, soon after its parent: a large log takes many minutes."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _tell(out: IO[bytes], kind: str, what: object) -> None:
    pickle.dump((kind, what), out)
    out.flush()
