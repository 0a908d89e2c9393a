"""The process that trains rankers for all pages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.shared import cached
from pages.shared.workshop import SWITCH, Workshop
from ultr_core.errors import InputError
from ultr_core.experiments import TrainedMethod
from ultr_core.settings import Settings

SETTINGS = Settings(clicks=2_000)
CELL = cached.cell(None, SETTINGS, 0, "naive")


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    started = Workshop()
    yield started
    started.stop()


def process_of(workshop: Workshop) -> int:
    process = workshop._process
    assert process is not None and process.poll() is None
    return process.pid


def test_a_ranker_from_there_is_the_one_made_here(workshop: Workshop) -> None:
    there: TrainedMethod = workshop.make(CELL, cached.make)
    here: TrainedMethod = cached.make(CELL)
    assert process_of(workshop) != os.getpid()
    assert there.coefficients.tobytes() == here.coefficients.tobytes()
    assert (there.test, there.cost, there.gap) == (here.test, here.cost, here.gap)


def test_after_a_kill_it_is_started_again(workshop: Workshop) -> None:
    before = workshop.make(CELL, cached.make).coefficients.tobytes()
    killed = process_of(workshop)
    os.kill(killed, signal.SIGKILL)
    assert workshop.make(CELL, cached.make).coefficients.tobytes() == before
    assert process_of(workshop) != killed


def test_what_cannot_be_trained_is_said_as_everywhere(workshop: Workshop) -> None:
    with pytest.raises(InputError, match="does not learn from clicks"):
        workshop.make(cached.cell(None, SETTINGS, 0, "skyline"), cached.make)
    workshop.make(CELL, cached.make)


def refuse(cell: cached.Cell, here: object) -> None:
    raise AssertionError(cell)


def test_a_corpus_of_the_readers_own_is_not_held_twice(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached.WORKSHOP, "make", refuse)
    cached.make_apart(cached.cell(str(small_corpus), SETTINGS, 0, "naive"))
    with pytest.raises(AssertionError):
        cached.make_apart(CELL)


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")
    unused = Workshop()
    unused.make(CELL, cached.make)
    assert unused._process is None


def test_it_ends_with_the_server(workshop: Workshop) -> None:
    workshop.make(CELL, cached.make)
    process = workshop._process
    assert process is not None and process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=20) == 0
