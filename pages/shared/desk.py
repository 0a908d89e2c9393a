"""Work for many visitors, done by one thread: who came first is served first, in small cells.

Training is mostly Python and small products, so two threads on it are no faster than one (1.1
times, measured), and a thread for each visitor makes everybody wait for everybody. One thread
that takes cells in turn keeps the pages quick, and nobody's work is done twice or in vain.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from pages.shared.memory import Memory

FORGOTTEN = 20.0  # seconds without a sign of the visitor after which nobody works for them
FEW = 3  # other visitors beside whom a page may wait for its own cells


CellT = TypeVar("CellT", bound=Hashable)


@dataclass
class _Order(Generic[CellT]):
    """What one visitor waits for: cells in order, the first ``urgent`` of them before others'."""

    cells: Sequence[CellT]
    urgent: int
    ticket: int
    seen: float
    done: int = 0
    error: Exception | None = None


class Desk(Generic[CellT]):
    """Makes the cells that visitors order and remembers them.

    A visitor has one order; a new one takes the old one's place. First come all visitors'
    urgent cells, then the others, and among equals whoever was served longest ago. Orders of
    visitors who have not been seen for a while are dropped.
    """

    def __init__(
        self,
        memory: Memory[Any],
        make: Callable[[CellT], Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._make = make
        self._clock = clock
        self._orders: dict[str, _Order[CellT]] = {}
        self._tickets = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def order(self, visitor: str, cells: Sequence[CellT], *, urgent: int = 0) -> None:
        """Ask for ``cells``, the first ``urgent`` of them before others' further ones.

        Cells that are remembered cost nothing.
        """
        with self._changed:
            former = self._orders.get(visitor)
            if former is not None and former.cells == cells and former.error is None:
                former.seen = self._clock()
                return
            self._tickets += 1
            ticket = self._tickets if former is None else former.ticket
            order = _Order(cells, urgent, ticket, self._clock())
            self._skip_known(order)
            if order.done == len(cells):
                self._orders.pop(visitor, None)
                return
            self._orders[visitor] = order
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="desk", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, visitor: str, cell: CellT, seconds: float) -> bool:
        """Whether ``cell`` has been made, after waiting for it at most ``seconds``.

        Raises what making a cell of this visitor has raised.
        """

        def ready() -> bool:
            order = self._orders.get(visitor)
            return order is None or order.error is not None or self._memory.peek(cell) is not None

        with self._changed:
            self._see(visitor)
            made = self._changed.wait_for(ready, seconds)
            self._see(visitor)
            order = self._orders.get(visitor)
            if order is not None and order.error is not None:
                del self._orders[visitor]
                raise order.error
        return made

    def before(self, visitor: str) -> int:
        """How many other visitors are served before this one's next cell."""
        with self._changed:
            self._see(visitor)
            own = self._orders.get(visitor)
            if own is None:
                return 0
            others = (o for name, o in self._orders.items() if name != visitor)
            return sum(_turn(other) < _turn(own) for other in others if self._alive(other))

    def crowded(self, visitor: str) -> bool:
        """Whether others wait for urgent cells, or many for any."""
        with self._changed:
            others = [
                order
                for name, order in self._orders.items()
                if name != visitor and self._alive(order)
            ]
            return len(others) > FEW or any(other.done < other.urgent for other in others)

    def done(self, visitor: str) -> bool:
        """Whether nothing is left to do for this visitor."""
        with self._changed:
            self._see(visitor)
            return visitor not in self._orders

    def _see(self, visitor: str) -> None:
        if visitor in self._orders:
            self._orders[visitor].seen = self._clock()

    def _alive(self, order: _Order[CellT]) -> bool:
        return self._clock() - order.seen < FORGOTTEN

    def _skip_known(self, order: _Order[CellT]) -> None:
        while order.done < len(order.cells) and self._known(order.cells[order.done]):
            order.done += 1

    def _known(self, cell: CellT) -> bool:
        return self._memory.peek(cell) is not None

    def _next(self) -> tuple[str, _Order[CellT]] | None:
        """The order whose turn it is; those of visitors who left are dropped."""
        for visitor in [name for name, order in self._orders.items() if not self._alive(order)]:
            del self._orders[visitor]
        waiting = [item for item in self._orders.items() if item[1].error is None]
        return min(waiting, key=lambda item: _turn(item[1]), default=None)

    def _work(self) -> None:
        while True:
            with self._changed:
                found = self._next()
                while found is None:
                    self._changed.wait(FORGOTTEN)
                    found = self._next()
                visitor, order = found
                cell = order.cells[order.done]
            error = None
            try:
                self._memory.get(cell, partial(self._make, cell))
            except Exception as problem:
                error = problem
            with self._changed:
                self._tickets += 1
                order.ticket, order.error = self._tickets, error
                self._skip_known(order)
                if order.done == len(order.cells) and self._orders.get(visitor) is order:
                    del self._orders[visitor]
                self._changed.notify_all()


def _turn(order: _Order[Any]) -> tuple[bool, int]:
    return order.done >= order.urgent, order.ticket
