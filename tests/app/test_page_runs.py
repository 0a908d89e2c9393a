"""Runs of pages one after another: order, limit, and the way out of every ending."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from pages.app.page_runs import OneByOne


class MovedOn(BaseException):
    """As Streamlit ends a run."""


SOON = 10.0  # seconds that nothing here should take


def _in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _wait_until(found: Callable[[], bool]) -> None:
    until = time.monotonic() + SOON
    while not found():
        assert time.monotonic() < until
        time.sleep(0.001)


def _line_up(runs: OneByOne, count: int, entered: list[int]) -> list[threading.Thread]:
    """Threads that have come one after the other and wait."""

    def enter(number: int) -> None:
        with runs.turn():
            entered.append(number)

    threads = []
    for number in range(count):
        threads.append(_in_thread(lambda number=number: enter(number)))  # type: ignore[misc]
        _wait_until(lambda: len(runs._line) == len(threads))
    return threads


def test_who_comes_first_goes_first() -> None:
    runs, entered = OneByOne(most=SOON), list[int]()
    with runs.turn():
        threads = _line_up(runs, 8, entered)
        assert entered == []
    for thread in threads:
        thread.join(SOON)
    assert entered == list(range(8))


def test_never_two_at_once_unless_one_takes_too_long() -> None:
    runs = OneByOne(most=SOON)
    inside, most = 0, 0

    def run() -> None:
        nonlocal inside, most
        for _ in range(50):
            with runs.turn():
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    for thread in [_in_thread(run) for _ in range(8)]:
        thread.join(SOON)
    assert most == 1


def test_a_long_run_holds_up_the_next_for_its_limit_only() -> None:
    runs, entered = OneByOne(most=0.1), list[int]()
    began = time.monotonic()
    with runs.turn():
        _line_up(runs, 1, entered)[0].join(SOON)
        assert 0.1 <= time.monotonic() - began < SOON
        assert entered == [0]
        # Its end is not taken for the end of the run that is inside now.
        with_place = threading.Event()
        ends = threading.Event()

        def stay() -> None:
            with runs.turn():
                with_place.set()
                ends.wait(SOON)

        other = _in_thread(stay)
        assert with_place.wait(SOON)
    assert runs._inside is not None
    ends.set()
    other.join(SOON)
    assert runs._inside is None


def test_who_is_away_lets_others_in_and_stands_in_line_again() -> None:
    runs, entered = OneByOne(most=SOON), list[int]()
    with runs.turn():
        threads = _line_up(runs, 2, entered)
        with runs.away():
            for thread in threads:
                thread.join(SOON)
        assert entered == [0, 1]
        assert runs._inside is not None
    assert runs._inside is None


def test_without_a_turn_there_is_nothing_to_give_away() -> None:
    runs = OneByOne(most=SOON)
    with runs.away():
        assert runs._inside is None
    assert runs._inside is None


@pytest.mark.parametrize("away", [False, True])
def test_a_run_that_is_ended_leaves_no_place_behind(away: bool) -> None:
    runs = OneByOne(most=SOON)
    with pytest.raises(MovedOn), runs.turn():
        if away:
            with runs.away():
                raise MovedOn
        raise MovedOn
    assert runs._inside is None
    assert not runs._line


def test_a_thread_that_is_ended_in_the_line_leaves_no_place_behind() -> None:
    runs = OneByOne(most=SOON)
    steps: list[str] = []

    class Ends(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            raise MovedOn

    def enter() -> None:
        _wait_until(lambda: "go" in steps)
        with pytest.raises(MovedOn), runs.turn():
            pass
        steps.append("ended")

    _in_thread(enter)
    with runs.turn(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "Condition", Ends)
        steps.append("go")
        _wait_until(lambda: "ended" in steps)
        assert not runs._line
    assert runs._inside is None
