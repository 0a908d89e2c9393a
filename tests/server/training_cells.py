"""Cells for the tests of the training pool; the processes import this module."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from pages.app.training_pool import TrainingPool, end_at_exit


def process_number(cell: str) -> int:
    return os.getpid()


def wait_for_file(path: str) -> int:
    """Return once the file is there."""
    while not Path(path).exists():
        time.sleep(0.01)
    return os.getpid()


def kill_itself(cell: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop_itself(cell: str) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_itself_once(path: str) -> str:
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return "made"
    stop_itself(path)
    return "resumed"


def loaded_modules(cell: str) -> set[str]:
    return set(sys.modules)


def hold_core(cell: str) -> None:
    """Never return, nor let another thread of the process run: all in C."""
    sum(range(10**15))


def ending(when: str) -> None:
    """End while two visitors wait: for the first process, or for cells that it makes."""
    from pages.app.turns import TrainingQueue  # with Streamlit, which the processes do without

    pool = TrainingPool(processes=1)
    end_at_exit(pool)
    queue = TrainingQueue[str](lambda cell: False, lambda cell: pool.run(hold_core, cell))
    pool.when_ready(queue.look_again)
    if when == "working":
        pool.run(process_number, "any")
    for visitor in ("first", "second"):
        queue.order(visitor, [f"{visitor} {number}" for number in range(2)], urgent=1)
    time.sleep(0.2)


def parent(folder: str) -> None:
    """A server of its own: one process stopped, one at work in C, another idle."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    # As in a terminal: what a shell starts in the background ignores Ctrl-C, and so would this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    pool = TrainingPool(processes=3)
    end_at_exit(pool)
    for work in (stop_itself, hold_core):
        threading.Thread(target=pool.run, args=(work, work.__name__), daemon=True).start()
    while pool.room(3) < 3:
        time.sleep(0.05)
    pool.run(process_number, "idle")
    Path(folder, "ready").touch()
    time.sleep(600)
