"""Runs of pages, one after another.

Threads of one Python process that compute at the same time only slow each other down: with fifty
visitors at once, all of them wait as long as the last. One after another, half of them have their
page in half of the time, and even the last one is sooner, for nothing is spent on taking turns
within a run.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONG_RUN = 0.5
"""Seconds after which a run no longer holds up the next one. Most take 0.1 s of one core."""


class OneByOne:
    """Lets threads in one by one, in the order in which they came.

    A thread that stays inside for more than ``most`` seconds goes on beside the next one.
    """

    def __init__(self, most: float = LONG_RUN, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._lock = threading.Lock()
        self._line: deque[threading.Condition] = deque()
        self._inside: threading.Condition | None = None
        self._since = 0.0
        self._own = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this thread's turn; it ends with the block."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Let others in during the block, in which this thread waits; then stand in line again."""
        had_turn = getattr(self._own, "place", None) is not None
        if had_turn:
            self._leave()
        try:
            yield
        finally:
            if had_turn:
                self._enter()

    def _enter(self) -> None:
        with self._lock:
            place = self._own.place = threading.Condition(self._lock)
            self._line.append(place)
            try:
                while self._line[0] is not place:
                    place.wait()
                while (left := self._seconds_left()) > 0:
                    place.wait(left)
                self._inside, self._since = place, self._clock()
            finally:  # even if the thread is ended while it waits
                self._line.remove(place)
                self._call_next()

    def _leave(self) -> None:
        with self._lock:
            if self._inside is self._own.place:
                self._inside = None
                self._call_next()
            self._own.place = None

    def _seconds_left(self) -> float:
        """How long whoever is inside may still hold up the first in line."""
        return 0.0 if self._inside is None else self._since + self._most - self._clock()

    def _call_next(self) -> None:
        if self._line:
            self._line[0].notify()


PAGE_RUNS = OneByOne()
"""The runs of this server's pages."""
