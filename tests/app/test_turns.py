"""Who is served when many visitors want what only one can have at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from pages.shared import training
from pages.shared.desk import FORGOTTEN, Desk
from pages.shared.memory import Memory
from pages.shared.study_run import line_sentence
from pages.shared.waiting_line import WaitingLine

PATIENCE = 10.0  # seconds


class Bench:
    """A desk whose cells are made when the test says so, with a clock of the test."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.now = 0.0
        self.memory: Memory[str] = Memory(100)
        self._go = threading.Semaphore(0)
        self.desk: Desk[str] = Desk(self.memory, self._make, lambda: self.now)

    def _make(self, cell: str) -> str:
        self._go.acquire(timeout=PATIENCE)
        self.made.append(cell)
        if "bad" in cell:
            raise ValueError(cell)
        return cell.upper()

    def let(self, cells: int) -> None:
        """Let so many cells be made, and wait for them."""
        wanted = len(self.made) + cells
        self._go.release(cells)
        until(lambda: len(self.made) >= wanted)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def test_first_answers_of_all_come_before_anybodys_rest() -> None:
    bench = Bench()
    bench.desk.order("a", ["a1", "a2", "a3"], urgent=1)
    until(lambda: bench.desk.before("a") == 0)
    bench.desk.order("b", ["b1", "b2"], urgent=1)
    bench.desk.order("c", ["c1"], urgent=1)
    bench.let(6)
    assert bench.made[0] == "a1"
    assert bench.made[1:3] == ["b1", "c1"]
    assert sorted(bench.made[3:]) == ["a2", "a3", "b2"]
    assert bench.made.index("a2") < bench.made.index("a3")
    until(lambda: all(bench.desk.done(visitor) for visitor in "abc"))


def test_a_new_order_takes_the_place_of_the_old_one() -> None:
    bench = Bench()
    bench.desk.order("a", ["a1", "a2", "a3"], urgent=1)
    bench.desk.order("a", ["x1"], urgent=1)
    bench.let(1)
    if bench.made == ["a1"]:  # was begun before the new order came
        bench.let(1)
    assert bench.made[-1] == "x1"
    until(lambda: bench.desk.done("a"))
    assert "a2" not in bench.made


def test_what_is_remembered_is_not_made_again() -> None:
    bench = Bench()
    bench.desk.order("a", ["one"], urgent=1)
    bench.let(1)
    assert bench.desk.wait("a", "one", PATIENCE)
    bench.desk.order("b", ["one"], urgent=1)
    assert bench.desk.done("b")
    assert bench.made == ["one"]


def test_nobody_works_for_a_visitor_who_left() -> None:
    bench = Bench()
    bench.desk.order("gone", ["g1", "g2"], urgent=2)
    bench.now += FORGOTTEN + 1
    bench.desk.order("here", ["h1"], urgent=1)
    assert bench.desk.before("here") == 0
    assert not bench.desk.crowded("here")
    bench.let(1)
    if bench.made == ["g1"]:  # was begun before the visitor was missed
        bench.let(1)
    assert bench.made[-1] == "h1"
    until(lambda: bench.desk.done("here"))
    assert "g2" not in bench.made


def test_what_goes_wrong_is_told_to_the_one_who_asked_and_others_go_on() -> None:
    bench = Bench()
    bench.desk.order("a", ["bad"], urgent=1)
    bench.desk.order("b", ["good"], urgent=1)
    bench.let(2)
    with pytest.raises(ValueError, match="bad"):
        bench.desk.wait("a", "bad", PATIENCE)
    assert bench.desk.wait("b", "good", PATIENCE)


def test_memory_keeps_the_newest_and_makes_each_once() -> None:
    memory: Memory[int] = Memory(2)
    calls: list[int] = []

    def make() -> int:
        calls.append(1)
        time.sleep(0.05)
        return len(calls)

    threads = [threading.Thread(target=memory.get, args=("k", make)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    memory.get("second", lambda: 2)
    assert memory.peek("k") == 1
    memory.get("third", lambda: 3)
    assert (memory.peek("second"), memory.peek("k"), memory.peek("third")) == (None, 1, 3)
    assert len(memory) == 2


def test_studies_wait_in_the_order_in_which_they_came() -> None:
    line = WaitingLine()
    with line.turn() as first:
        with line.turn() as second, line.turn() as third:
            assert [turn.before for turn in (first, second, third)] == [0, 1, 2]
            assert first.comes(0)
            assert not second.comes(0.01)
        assert len(line) == 1
    assert len(line) == 0


def test_whoever_leaves_the_line_lets_the_next_one_in() -> None:
    line = WaitingLine()
    begun = threading.Event()

    def later() -> None:
        with line.turn() as turn:
            assert turn.comes(PATIENCE)
            begun.set()

    thread = threading.Thread(target=later)
    with pytest.raises(RuntimeError), line.turn():
        thread.start()
        until(lambda: len(line) == 2)
        assert not begun.is_set()
        raise RuntimeError("the tab was closed")
    assert begun.wait(PATIENCE)
    thread.join()
    assert len(line) == 0


@pytest.mark.parametrize(
    ("before", "start"),
    [(0, "This server is training"), (1, "One other visitor is"), (4, "4 other visitors are")],
)
def test_the_line_is_told_in_words(before: int, start: str) -> None:
    assert start in training.line_sentence(before, 2, 15)
    assert "2 of 15" in training.line_sentence(before, 2, 15)
    assert "75 s" in line_sentence(max(before, 1), 75)
