"""Who is served when on this server: trained rankers and checked claims, studies, own training.

Cells are handed out one by one: who came first is served first, and when there is room for a cell
to be made at once, so that newcomers need not wait for what was merely lined up. Nobody's cell is
made twice or in vain. For long work there is a line of visitors and one place.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.app.page_runs import PAGE_RUNS
from pages.app.server_lab import LAB, is_made_apart
from pages.app.training_pool import POOL
from ultr_core.errors import InputError
from ultr_core.lab import METHODS, Cell, Lab, training_plan

FORGOTTEN = 20.0  # seconds without a sign of the visitor after which nobody works for them
FEW = 3  # other visitors beside whom a page may wait for its own cells


CellT = TypeVar("CellT", bound=Hashable)


@dataclass(eq=False)
class _Order(Generic[CellT]):
    """What one visitor waits for: cells in order, the first ``urgent`` of them before others'.

    ``ticket`` is the visitor's place in the line, ``served`` says whether a cell of this order has
    been begun; the first ``done`` cells are made or refused. ``refused``: by cell what making it,
    or one that it needs, has raised; ``told``: whether the visitor has heard of it.
    """

    cells: Sequence[CellT]
    urgent: int
    ticket: int
    seen: float
    done: int = 0
    served: bool = False
    refused: dict[CellT, Exception] = field(default_factory=dict)
    told: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing is left to be made."""
        return self.done == len(self.cells)


class TrainingQueue(Generic[CellT]):
    """Has the cells made that visitors order.

    A visitor has one order; a new one replaces it, and keeps its place unless it has been served
    from. First come all visitors' urgent cells, visitor after visitor, so that half of them have
    theirs by half of the time that it takes to serve all; then the others, from whoever was served
    longest ago. A cell that several wait for is made once. Orders of visitors who have not been
    seen for a while are dropped.

    ``known(cell)`` says whether a cell is made, ``make`` makes and remembers it, ``room(cell,
    wanted)`` is how many of ``wanted`` cells like this one can be made at once, and ``needs(cell)``
    are cells that it is computed from: it waits while one of them is being made. A cell that cannot
    be made is refused, and so is what needs it; the visitor's other cells are made all the same.
    """

    def __init__(
        self,
        known: Callable[[CellT], bool],
        make: Callable[[CellT], object],
        room: Callable[[CellT, int], int] = lambda cell, wanted: 1,
        clock: Callable[[], float] = time.monotonic,
        needs: Callable[[CellT], Sequence[CellT]] = lambda cell: (),
    ) -> None:
        self._known = known
        self._make = make
        self._room = room
        self._clock = clock
        self._needs = needs
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
            if former is not None and former.cells == cells and not (former.ended and former.told):
                former.seen = self._clock()
                return
            self._tickets += 1
            waited = former is not None and not former.served
            ticket = former.ticket if former is not None and waited else self._tickets
            order = _Order(cells, urgent, ticket, self._clock())
            self._skip_settled(order)
            if order.ended:
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

        If it is refused, raises what making it has raised.
        """

        def ready() -> bool:
            order = self._orders.get(visitor)
            return order is None or order.ended or cell in order.refused or self._known(cell)

        with self._changed:
            self._see(visitor)
            made = self._changed.wait_for(ready, seconds)
            self._see(visitor)
            order = self._orders.get(visitor)
            if order is not None and cell in order.refused and not self._known(cell):
                order.told = True
                raise order.refused[cell]
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
                if name != visitor and self._alive(order) and not order.ended
            ]
            return len(others) > FEW or any(other.done < other.urgent for other in others)

    def done(self, visitor: str) -> bool:
        """Whether nothing is left to do for this visitor: all is made that can be."""
        with self._changed:
            self._see(visitor)
            order = self._orders.get(visitor)
            return order is None or order.ended

    def _see(self, visitor: str) -> None:
        if visitor in self._orders:
            self._orders[visitor].seen = self._clock()

    def _alive(self, order: _Order[CellT]) -> bool:
        return self._clock() - order.seen < FORGOTTEN

    def _settled(self, order: _Order[CellT], cell: CellT) -> bool:
        return cell in order.refused or self._known(cell)

    def _skip_settled(self, order: _Order[CellT]) -> None:
        while not order.ended and self._settled(order, order.cells[order.done]):
            order.done += 1

    def _refuse(self, order: _Order[CellT], cell: CellT, error: Exception) -> None:
        """Refuse a cell, and in turn what needs it."""
        order.refused[cell] = error
        for other in order.cells:
            if other not in order.refused and cell in self._needs(other):
                self._refuse(order, other, error)

    def _waiting(self) -> list[tuple[tuple[bool, int], _Order[CellT], CellT]]:
        """Turn, order and next cell of each order that has a cell to be handed out."""
        found = []
        for order in self._orders.values():
            for number in range(order.done, len(order.cells)):
                cell = order.cells[number]
                begun = cell in self._making or self._settled(order, cell)
                if not begun and not self._too_early(cell):
                    found.append(((number >= order.urgent, order.ticket), order, cell))
                    break
        return found

    def _too_early(self, cell: CellT) -> bool:
        return any(need in self._making for need in self._needs(cell))

    def _hand_out(self) -> None:
        """Begin as many cells as there is room for; orders of visitors who left are dropped."""
        for visitor in [name for name, order in self._orders.items() if not self._alive(order)]:
            del self._orders[visitor]
        while waiting := self._waiting():
            (further, _), order, cell = min(waiting, key=lambda found: found[0])
            wanted = len(self._making) + 1
            if self._room(cell, wanted) < wanted:
                return
            if self._idle:
                self._idle -= 1
            else:
                threading.Thread(target=self._work, name="training-cells", daemon=True).start()
            self._making[cell] = order
            order.served = True
            if further:
                self._to_the_end(order)
            self._handed_out.put((order, cell))

    def _to_the_end(self, order: _Order[CellT]) -> None:
        """Let the others go before the next cell of this order."""
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
                if error is not None:
                    self._refuse(order, cell, error)
                for visitor, other in list(self._orders.items()):
                    self._skip_settled(other)
                    if other.ended and not other.refused:
                        del self._orders[visitor]
                if order.done >= order.urgent:
                    self._to_the_end(order)
                self._hand_out()
                self._changed.notify_all()


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


LONG_WORK = WaitingLine()
"""For the one place that this server has for a study, or for training on a reader's own data."""


@contextmanager
def turn(place: DeltaGenerator) -> Iterator[None]:
    """Wait until no other visitor runs a study, or trains on data of their own, here."""
    waited = time.monotonic()
    with PAGE_RUNS.away(), LONG_WORK.turn() as own:
        while not own.comes(0.5):
            place.markdown(studies_sentence(own.before, time.monotonic() - waited))
        yield


def studies_sentence(before: int, seconds: float) -> str:
    """How many studies come first and how long the visitor has waited, in words."""
    others = "Another visitor's study is" if before == 1 else f"{before} other studies are"
    return (
        f":material/hourglass_top: {others} ahead of yours on this server; yours will start "
        f"automatically ({seconds:.0f} s so far). Press Stop to leave the queue."
    )


FIRST_CELLS = 2  # naive and weighted on the first click log
PATIENCE = 0.15  # seconds that a page waits for its rankers while others wait too
COME_BACK = 1.0  # seconds between two looks whether they are there
FOR_EACH_BEFORE = 0.1  # seconds more for each visitor who is served before,
TRAINED_FOR_EACH = 0.2  # and these, shared among the processes: who looks too early looks twice
ROUNDS = 3  # of the visitors between two looks, once only the intervals are still to come


def _known(cell: Cell) -> bool:
    return LAB.peek(cell) is not None


def _room(cell: Cell, wanted: int) -> int:
    """What is made in the server's own process is made one by one."""
    return POOL.room(wanted) if is_made_apart(cell) else 1


_QUEUE: TrainingQueue[Cell] = TrainingQueue(_known, LAB.make, _room, needs=LAB.needs)
POOL.when_ready(_QUEUE.look_again)


class Training:
    """What a page orders: the first answer, its checks, then draw by draw.

    ``plan`` are the cells as (draw, method); a method that tries thresholds takes longest and
    comes last. ``refused`` says why a cell that was waited for cannot be had.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.plan = sorted(
            training_plan(lab.settings.draws), key=lambda cell: METHODS[cell[1]].candidates
        )
        self.refused: InputError | None = None
        self._visitor = _visitor()
        self._began = time.monotonic()
        self._cells = [lab.trained_cell(draw, method) for draw, method in self.plan]
        self._checks = lab.checks_cell()
        answer, further = self._cells[:FIRST_CELLS], self._cells[FIRST_CELLS:]
        order = [*answer, self._checks, lab.picture_cell(), *further]
        _QUEUE.order(self._visitor, order, urgent=FIRST_CELLS + 1)

    def ready(self, number: int, seconds: float) -> bool:
        """Whether cell ``number`` of the plan is trained, after at most so many seconds."""
        return self._wait(self._cells[number], seconds)

    @property
    def complete(self) -> bool:
        """Whether all cells of the plan are trained already."""
        return self._trained() == len(self._cells)

    def _trained(self) -> int:
        return sum(map(_known, self._cells))

    def checked(self, seconds: float) -> bool:
        """Whether the claims are checked, after at most so many seconds."""
        return self._wait(self._checks, seconds)

    def _wait(self, cell: Cell, seconds: float) -> bool:
        try:
            if _known(cell) or self.leave():
                return _QUEUE.wait(self._visitor, cell, 0.0)
            with PAGE_RUNS.away():
                return _QUEUE.wait(self._visitor, cell, seconds)
        except InputError as error:
            self.refused = error
            return False

    def leave(self) -> bool:
        """Whether to end the run now: to come back, as others wait too, or since it is refused."""
        if self.refused is not None:
            return True
        if not _QUEUE.crowded(self._visitor):
            return False
        waited = time.monotonic() - self._began
        return waited > PATIENCE or _QUEUE.before(self._visitor) > 0

    def come_back(self, *, answered: bool) -> None:
        """Say how long the line is, look again by itself, and show the page when there is more."""
        rounds = ROUNDS if answered else 1
        each = FOR_EACH_BEFORE + TRAINED_FOR_EACH / _room(self._checks, 1)
        every = COME_BACK + each * rounds * _QUEUE.before(self._visitor)
        st.fragment(self._look, run_every=every)(answered)

    def _look(self, answered: bool) -> None:
        if _QUEUE.done(self._visitor) or (not answered and self.checked(0)):
            st.rerun()
        before = _QUEUE.before(self._visitor)
        st.markdown(trainings_sentence(before, self._trained(), len(self._cells)))


def trainings_sentence(before: int, ready: int, cells: int) -> str:
    """How long a visitor's line is and how much of theirs is done, in words."""
    done = f"{ready} of your {cells} rankers are trained"
    if not before:
        return f":material/hourglass_top: This server is training your rankers: {done}."
    others = "One other visitor is" if before == 1 else f"{before} other visitors are"
    return (
        f":material/hourglass_top: {others} ahead of you on this server: {done}. The rest "
        "will appear here automatically; you can keep moving the controls."
    )


def _visitor() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.session_id
