"""A line of visitors for the few places that this server has for long work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class WaitingLine:
    """``places`` visitors work at a time; the others wait in the order in which they came."""

    def __init__(self, places: int = 1) -> None:
        self._places = places
        self._line: list[object] = []
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._line)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Stand in the line; whatever ends the block, a closed tab too, leaves it."""
        ticket = object()
        with self._changed:
            self._line.append(ticket)
        try:
            yield Turn(self, ticket)
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()

    def before(self, ticket: object) -> int:
        """How many have to finish before ``ticket`` may begin; 0 if it may."""
        return max(0, self._line.index(ticket) - self._places + 1)

    def wait(self, ticket: object, seconds: float) -> bool:
        """Whether ``ticket`` may begin, after waiting for it at most ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: self.before(ticket) == 0, seconds)


class Turn:
    """A visitor's place in the line."""

    def __init__(self, line: WaitingLine, ticket: object) -> None:
        self._line, self._ticket = line, ticket

    @property
    def before(self) -> int:
        """How many others have to finish first."""
        return self._line.before(self._ticket)

    def comes(self, seconds: float) -> bool:
        """Whether it is this visitor's turn, after waiting at most ``seconds``."""
        return self._line.wait(self._ticket, seconds)
