"""Cells of work for many visitors, handed out one by one: who came first is served first.

A cell is handed out when there is room for it to be made at once, so that newcomers need not wait
for what was merely lined up. Nobody's cell is made twice or in vain.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

FORGOTTEN = 20.0  # seconds without a sign of the visitor after which nobody works for them
FEW = 3  # other visitors beside whom a page may wait for its own cells


CellT = TypeVar("CellT", bound=Hashable)


@dataclass(eq=False)
class _Order(Generic[CellT]):
    """What one visitor waits for: cells in order, the first ``urgent`` of them before others'.

    ``ticket`` is when the visitor was served last; the first ``done`` cells are made.
    """

    cells: Sequence[CellT]
    urgent: int
    ticket: int
    seen: float
    done: int = 0
    error: Exception | None = None


class TrainingQueue(Generic[CellT]):
    """Has the cells made that visitors order.

    A visitor has one order; a new one takes the old one's place. First come all visitors'
    urgent cells, then the others, and among equals whoever was served longest ago. A cell that
    several wait for is made once. Orders of visitors who have not been seen for a while are
    dropped. ``known(cell)`` says whether a cell is made, ``make`` makes and remembers it, and
    ``room(cell, wanted)`` is how many of ``wanted`` cells like this one can be made at once.
    """

    def __init__(
        self,
        known: Callable[[CellT], bool],
        make: Callable[[CellT], object],
        room: Callable[[CellT, int], int] = lambda cell, wanted: 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._known = known
        self._make = make
        self._room = room
        self._clock = clock
        self._orders: dict[str, _Order[CellT]] = {}
        self._tickets = 0
        self._changed = threading.Condition()
        self._making: dict[CellT, _Order[CellT]] = {}
        # Threads stay: to start one means to wait for it, which takes long where pages are busy.
        self._handed_out: SimpleQueue[tuple[_Order[CellT], CellT]] = SimpleQueue()
        self._idle = 0

    def order(self, visitor: str, cells: Sequence[CellT], *, urgent: int = 0) -> None:
        """Ask for ``cells``, the first ``urgent`` of them before others' further ones.

        Cells that are remembered cost nothing.
        """
        with self._changed:
            former = self._orders.get(visitor)
            if former is not None and former.cells == cells:
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
            self._hand_out()
            self._changed.notify_all()

    def look_again(self) -> None:
        """Hand out what waits, now that there may be more room."""
        with self._changed:
            self._hand_out()

    def wait(self, visitor: str, cell: CellT, seconds: float) -> bool:
        """Whether ``cell`` has been made, after waiting for it at most ``seconds``.

        If it has not, raises what making a cell of this visitor has raised.
        """

        def ready() -> bool:
            order = self._orders.get(visitor)
            return order is None or order.error is not None or self._known(cell)

        with self._changed:
            self._see(visitor)
            made = self._changed.wait_for(ready, seconds)
            self._see(visitor)
            order = self._orders.get(visitor)
            if order is not None and order.error is not None and not self._known(cell):
                del self._orders[visitor]
                raise order.error
        return made

    def before(self, visitor: str) -> int:
        """How many other visitors are served before this one's next cell; 0 while it is made."""
        with self._changed:
            self._see(visitor)
            own = self._orders.get(visitor)
            turns = {order: turn for turn, order, _ in self._waiting()}
            served = {*self._making.values()}
            if own is None or own in served or own not in turns:
                return 0
            return sum(
                order in served or (order in turns and turns[order] < turns[own])
                for order in self._orders.values()
                if self._alive(order)
            )

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
        """Whether nothing is left to do for this visitor: all is made, or some cannot be."""
        with self._changed:
            self._see(visitor)
            order = self._orders.get(visitor)
            return order is None or order.error is not None

    def _see(self, visitor: str) -> None:
        if visitor in self._orders:
            self._orders[visitor].seen = self._clock()

    def _alive(self, order: _Order[CellT]) -> bool:
        return self._clock() - order.seen < FORGOTTEN

    def _skip_known(self, order: _Order[CellT]) -> None:
        while order.done < len(order.cells) and self._known(order.cells[order.done]):
            order.done += 1

    def _waiting(self) -> list[tuple[tuple[bool, int], _Order[CellT], CellT]]:
        """Turn, order and next cell of each order that has a cell to be handed out."""
        found = []
        for order in self._orders.values():
            if order.error is None:
                for number in range(order.done, len(order.cells)):
                    cell = order.cells[number]
                    if cell not in self._making and not self._known(cell):
                        found.append(((number >= order.urgent, order.ticket), order, cell))
                        break
        return found

    def _hand_out(self) -> None:
        """Begin as many cells as there is room for; orders of visitors who left are dropped."""
        for visitor in [name for name, order in self._orders.items() if not self._alive(order)]:
            del self._orders[visitor]
        while waiting := self._waiting():
            _, order, cell = min(waiting, key=lambda found: found[0])
            wanted = len(self._making) + 1
            if self._room(cell, wanted) < wanted:
                return
            if self._idle:
                self._idle -= 1
            else:
                threading.Thread(target=self._work, name="training-cells", daemon=True).start()
            self._making[cell] = order
            self._served(order)
            self._handed_out.put((order, cell))

    def _served(self, order: _Order[CellT]) -> None:
        self._tickets += 1
        order.ticket = self._tickets

    def _work(self) -> None:
        while True:
            order, cell = self._handed_out.get()
            error = None
            try:
                self._make(cell)
            except Exception as problem:
                error = problem
            with self._changed:
                self._idle += 1
                del self._making[cell]
                self._served(order)
                order.error = order.error or error
                for visitor, other in list(self._orders.items()):
                    self._skip_known(other)
                    if other.done == len(other.cells):
                        del self._orders[visitor]
                self._hand_out()
                self._changed.notify_all()
