"""A time limit for training or scoring within a block, looked at in each iteration or tree.

with within(Limit(600, "seconds", "others wait", "choose C yourself")):
    fit_from_log(corpus, log, curve)
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ultr_core.errors import InputError
from ultr_core.limits import Limit

_until: ContextVar[tuple[float, Limit, str] | None] = ContextVar("until", default=None)


@contextmanager
def within(limit: Limit, what: str = "Training") -> Iterator[None]:
    """Let this block, in this thread, take ``limit`` seconds for ``what`` it does.

    A block around it may end it earlier.
    """
    own, around = (time.monotonic() + limit.most, limit, what), _until.get()
    token = _until.set(own if around is None or own[0] < around[0] else around)
    try:
        yield
    finally:
        _until.reset(token)


def require_time() -> None:
    """Raise InputError once the time of a block is over."""
    until = _until.get()
    if until is None or time.monotonic() < until[0]:
        return
    _, limit, what = until
    raise InputError(
        f"{what} took more than {limit.most:,} {limit.unit} and was stopped, because "
        f"{limit.reason}; {limit.remedy}.",
        "training_time",
    )
