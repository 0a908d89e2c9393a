"""One BLAS thread while anything is computed whose digits matter.

Small products stall when several threads wait for busy cores, and sums split among threads differ
in their last bits; with one thread the numbers are the same in Python, in a command and on a page.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

_lock = threading.Lock()
_users = 0
_limit: Any = None


@functools.cache
def _controller() -> threadpoolctl.ThreadpoolController:
    # What is not loaded yet would not be found.
    importlib.import_module("scipy.linalg")
    return threadpoolctl.ThreadpoolController()


def _take_control() -> None:
    """Let the limit be set from this thread.

    From threadpoolctl 3.8 on only the thread that set it first may set it again, and others are
    ignored in silence; but the limit is one for the whole process, and so is its count here.
    """
    let_go = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)


def _one_more() -> None:
    global _users, _limit
    with _lock:
        if _users == 0:
            _take_control()
            _limit = _controller().limit(limits=1, user_api="blas")
        _users += 1


def _one_less() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _take_control()
            _limit.restore_original_limits()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; the last of several concurrent fits restores the number."""
    _one_more()
    try:
        yield
    finally:
        _one_less()


def one_blas_thread_for_good() -> None:
    """Limit BLAS to one thread in this process, whatever was or will be fitted."""
    _one_more()


def blas_threads() -> int:
    """The largest number of threads that a loaded BLAS library may use."""
    pools = threadpoolctl.threadpool_info()
    return max((p["num_threads"] for p in pools if p["user_api"] == "blas"), default=1)
