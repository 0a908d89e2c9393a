"""Who is served when many visitors want what only one can have at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

import pytest

from pages.app import turns
from pages.app.turns import FORGOTTEN, TrainingQueue, WaitingLine
from tests.meaning import mentions

PATIENCE = 10.0  # seconds


class Bench:
    """A queue whose cells are made when the test says so, ``room`` at once, by the test's clock."""

    def __init__(self, room: int = 1, needs: Mapping[str, Sequence[str]] | None = None) -> None:
        self.begun: list[str] = []
        self.made: list[str] = []
        self.room = room
        self.now = 0.0
        self.kept: dict[str, str] = {}
        self._go = threading.Semaphore(0)
        self.queue: TrainingQueue[str] = TrainingQueue(
            self.kept.__contains__,
            self._make,
            lambda cell, wanted: self.room,
            lambda: self.now,
            lambda cell: (needs or {}).get(cell, ()),
        )

    def _make(self, cell: str) -> None:
        self.begun.append(cell)
        self._go.acquire(timeout=PATIENCE)
        self.made.append(cell)
        if "bad" in cell:
            raise ValueError(cell)
        self.kept[cell] = cell.upper()

    def let(self, cells: int) -> None:
        """Let so many cells be made, and wait for them."""
        wanted = len(self.made) + cells
        self._go.release(cells)
        until(lambda: len(self.made) >= wanted)

    def begin(self, cells: int) -> None:
        """Wait until so many cells have been begun."""
        until(lambda: len(self.begun) >= cells)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def test_first_answers_of_all_come_before_anybodys_rest() -> None:
    bench = Bench()
    bench.queue.order("a", ["a1", "a2", "a3"], urgent=1)
    until(lambda: bench.queue.before("a") == 0)
    bench.queue.order("b", ["b1", "b2"], urgent=1)
    bench.queue.order("c", ["c1"], urgent=1)
    bench.let(6)
    assert bench.made[0] == "a1"
    assert bench.made[1:3] == ["b1", "c1"]
    assert sorted(bench.made[3:]) == ["a2", "a3", "b2"]
    assert bench.made.index("a2") < bench.made.index("a3")
    until(lambda: all(bench.queue.done(visitor) for visitor in "abc"))


def test_with_room_for_two_first_answers_still_come_first_and_then_everybody_in_turn() -> None:
    bench = Bench(room=2)
    bench.queue.order("a", ["a1", "a2", "a3", "a4"], urgent=1)
    bench.begin(2)
    assert sorted(bench.begun) == ["a1", "a2"]  # one visitor alone has all the room
    bench.queue.order("b", ["b1", "b2", "b3"], urgent=2)
    bench.queue.order("c", ["c1", "c2"], urgent=1)
    for number in range(3, 10):
        bench.let(1)
        bench.begin(number)
        assert len(bench.begun) == number  # never more than two at once
    bench.let(2)
    # Visitor after visitor: b has both of its first answers before c has one.
    assert bench.begun[2:5] == ["b1", "b2", "c1"]
    assert bench.begun[5:8] in (["a3", "c2", "b3"], ["c2", "a3", "b3"], ["a3", "b3", "c2"])
    assert bench.begun[8] == "a4"
    until(lambda: all(bench.queue.done(visitor) for visitor in "abc"))


def test_a_cell_waits_while_one_that_it_needs_is_being_made() -> None:
    bench = Bench(room=2, needs={"a2": ["a1"]})
    bench.queue.order("a", ["a1", "a2", "a3"], urgent=2)
    bench.begin(2)
    assert sorted(bench.begun) == ["a1", "a3"]
    bench.let(2)
    bench.begin(3)
    assert bench.begun[2] == "a2"
    bench.let(1)
    until(lambda: bench.queue.done("a"))


def test_a_cell_whose_need_nobody_makes_is_made_all_the_same() -> None:
    bench = Bench(needs={"a2": ["elsewhere"]})
    bench.queue.order("a", ["a2"], urgent=1)
    bench.let(1)
    until(lambda: bench.queue.done("a"))


def test_who_changes_while_waiting_keeps_the_place_and_who_was_served_does_not() -> None:
    bench = Bench()
    bench.queue.order("a", ["a1", "a2"], urgent=2)
    bench.begin(1)
    bench.queue.order("b", ["b1"], urgent=1)
    bench.queue.order("c", ["c1"], urgent=1)
    bench.queue.order("b", ["b2"], urgent=1)  # b moved a slider again
    bench.queue.order("a", ["a3"], urgent=1)  # and so did a, after a1 had been begun
    bench.let(4)
    assert bench.made == ["a1", "b2", "c1", "a3"]


def test_whoever_is_served_now_is_before_those_who_wait() -> None:
    bench = Bench(room=2)
    bench.queue.order("a", ["a1", "a2"], urgent=1)
    bench.begin(2)
    bench.queue.order("b", ["b1"], urgent=1)
    bench.queue.order("c", ["c1"], urgent=1)
    assert [bench.queue.before(visitor) for visitor in "abc"] == [0, 1, 2]
    bench.let(1)
    bench.begin(3)
    assert [bench.queue.before(visitor) for visitor in "abc"] == [0, 0, 2]
    bench.let(3)


def test_more_room_is_used_when_it_is_there() -> None:
    bench = Bench()
    bench.queue.order("a", ["a1", "a2", "a3"], urgent=1)
    bench.begin(1)
    bench.room = 2
    bench.queue.look_again()
    bench.begin(2)
    assert bench.begun == ["a1", "a2"]
    bench.let(3)


def test_a_cell_that_is_being_made_is_not_made_for_another_too() -> None:
    bench = Bench(room=2)
    bench.queue.order("a", ["one"], urgent=1)
    bench.queue.order("b", ["one", "two"], urgent=1)
    bench.begin(2)
    assert sorted(bench.begun) == ["one", "two"]
    bench.let(2)
    until(lambda: bench.queue.done("a") and bench.queue.done("b"))
    assert len(bench.made) == 2


def test_a_refused_cell_stops_only_what_needs_it_and_is_told_to_all_who_asked() -> None:
    """Wherever it is in the order, urgent or not, and however many need it in turn."""
    needs = {"later": ("needy",), "needy": ("bad",)}
    for cells in (
        ["good", "bad", "needy", "other", "later"],
        ["bad", "good", "needy", "later", "other"],
        ["good", "other", "bad", "later", "needy"],
    ):
        bench = Bench(needs=needs)
        bench.queue.order("a", cells, urgent=1)
        bench.queue.order("b", ["bad"], urgent=1)
        bench.let(4)
        for visitor in "ab":
            until(lambda visitor=visitor, of=bench.queue: of.done(visitor))  # type: ignore[misc]
        assert sorted(bench.made) == ["bad", "bad", "good", "other"]
        assert not bench.queue.crowded("b")
        bench.queue.order("a", cells, urgent=1)  # the page is run again
        for cell in ("good", "other"):
            assert bench.queue.wait("a", cell, PATIENCE)
        for visitor, cell in (("a", "bad"), ("a", "needy"), ("a", "later"), ("b", "bad")):
            with pytest.raises(ValueError, match="bad"):
                bench.queue.wait(visitor, cell, PATIENCE)
        bench.queue.order("a", cells, urgent=1)  # who has heard of it and asks again has it tried
        bench.begin(5)
        assert bench.begun[4:] == ["bad"]
        bench.let(1)


def test_a_new_order_takes_the_place_of_the_old_one() -> None:
    bench = Bench()
    bench.queue.order("a", ["a1", "a2", "a3"], urgent=1)
    bench.queue.order("a", ["x1"], urgent=1)
    bench.let(1)
    if bench.made == ["a1"]:  # was begun before the new order came
        bench.let(1)
    assert bench.made[-1] == "x1"
    until(lambda: bench.queue.done("a"))
    assert "a2" not in bench.made


def test_what_is_remembered_is_not_made_again() -> None:
    bench = Bench()
    bench.queue.order("a", ["one"], urgent=1)
    bench.let(1)
    assert bench.queue.wait("a", "one", PATIENCE)
    bench.queue.order("b", ["one"], urgent=1)
    assert bench.queue.done("b")
    assert bench.made == ["one"]


def test_nobody_works_for_a_visitor_who_left() -> None:
    bench = Bench()
    bench.queue.order("gone", ["g1", "g2"], urgent=2)
    bench.now += FORGOTTEN + 1
    bench.queue.order("here", ["h1"], urgent=1)
    assert bench.queue.before("here") == 0
    assert not bench.queue.crowded("here")
    bench.let(1)
    if bench.made == ["g1"]:  # was begun before the visitor was missed
        bench.let(1)
    assert bench.made[-1] == "h1"
    until(lambda: bench.queue.done("here"))
    assert "g2" not in bench.made


def test_what_goes_wrong_is_told_to_the_one_who_asked_and_others_go_on() -> None:
    bench = Bench()
    bench.queue.order("a", ["bad"], urgent=1)
    bench.queue.order("b", ["good"], urgent=1)
    bench.let(2)
    with pytest.raises(ValueError, match="bad"):
        bench.queue.wait("a", "bad", PATIENCE)
    assert bench.queue.wait("b", "good", PATIENCE)


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
    assert start in turns.trainings_sentence(before, 2, 15)
    assert mentions(turns.trainings_sentence(before, 2, 15), 2, 15)
    assert "75 s" in turns.studies_sentence(max(before, 1), 75)
