"""A page's place in the queue for trained rankers and checked claims, one for all visitors."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.app.server_lab import LAB, POOL, is_made_apart
from pages.app.training_queue import TrainingQueue
from ultr_core.errors import InputError
from ultr_core.lab import METHODS, Cell, Lab, training_plan

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


_QUEUE: TrainingQueue[Cell] = TrainingQueue(_known, LAB.make, _room)
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
        order = [*self._cells[:FIRST_CELLS], self._checks, *self._cells[FIRST_CELLS:]]
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
            return _QUEUE.wait(self._visitor, cell, 0.0 if self.leave() else seconds)
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
        st.markdown(line_sentence(before, self._trained(), len(self._cells)))


def line_sentence(before: int, ready: int, cells: int) -> str:
    """How long a visitor's line is and how much of theirs is done, in words."""
    done = f"{ready} of {cells} trainings of yours are done"
    if not before:
        return f":material/hourglass_top: This server is training your rankers: {done}."
    others = "One other visitor is" if before == 1 else f"{before} other visitors are"
    return (
        f":material/hourglass_top: {others} served before you on this server: {done}. The rest "
        "appears here by itself; you may go on moving the controls."
    )


def _visitor() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.session_id
