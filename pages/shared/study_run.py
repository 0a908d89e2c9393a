"""Running a study on the page: cell by cell, one study at a time on this server, stoppable."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import cached
from pages.shared.memory import Memory
from pages.shared.slots import Slot
from pages.shared.study_chart import show_partial
from pages.shared.waiting_line import WaitingLine
from ultr_core.errors import InputError
from ultr_core.experiments import WORLD_FIELDS, stage
from ultr_core.experiments.studies import (
    Cell,
    CellResult,
    Loss,
    Plan,
    StudyResult,
    WorldDescription,
    describe,
    run_in_process,
)
from ultr_core.settings import Settings
from ultr_core.words import part_of

_RUNNING = "study_running"
_PICTURE_EVERY = 0.7  # seconds between partial pictures
_DESCRIPTIONS: Memory[WorldDescription] = Memory(20)
_CELLS: Memory[CellResult] = Memory(5_000)

LINE = WaitingLine()
"""For the one place for a study that this server has."""


def description(corpus: str | None, settings: Settings) -> WorldDescription:
    """What the world of these settings is, in plain values."""
    key = stage(settings, WORLD_FIELDS)
    return _DESCRIPTIONS.get((corpus, key), lambda: describe(cached.world(corpus, key)))


def _cell(corpus: str | None, cell: Cell) -> CellResult:
    def make() -> CellResult:
        (result,) = run_in_process(cached.world(corpus, cell.settings), [cell])
        return result

    return _CELLS.get((corpus, cell), make)


def finished(corpus: str | None, plan: Plan) -> Mapping[str, CellResult]:
    """All cells of a plan if the server remembers them, else what this session has run so far."""
    found: Mapping[str, CellResult] = st.session_state.get(_name(corpus, plan), {})
    return _remembered(corpus, plan) or found


def _remembered(corpus: str | None, plan: Plan) -> dict[str, CellResult]:
    """The cells of a plan, whoever ran them; none if one, or their world, would be to be made.

    A part that others left is not shown: it would be no one's stopped run.
    """
    if _DESCRIPTIONS.peek((corpus, stage(plan.base, WORLD_FIELDS))) is None:
        return {}
    held = {}
    try:
        cells = plan.cells
    except InputError:
        return {}  # settings that make no world have no cells
    for cell in cells:
        result = _CELLS.peek((corpus, cell))
        if result is None:
            return {}
        held[cell.key] = result
    return held


def is_running(plan: Plan) -> bool:
    """Whether this session has asked for the plan and it is not finished."""
    return bool(st.session_state.get(_RUNNING) == plan)


def start(plan: Plan) -> None:
    """Callback of the run button."""
    st.session_state[_RUNNING] = plan


def stop() -> None:
    """Callback of the stop button."""
    st.session_state[_RUNNING] = None


def run(corpus: str | None, plan: Plan, loss: Loss, chart: Slot, headline: Slot) -> None:
    """Run the cells of a plan with progress and partial pictures, then show the page anew.

    Every message to the page is a point at which a click on Stop ends the run, and on anything
    else begins it anew; finished cells are remembered by the server, so that nothing is lost.
    """
    st.button("Stop", key="stop-study", icon=":material/stop_circle:", on_click=stop)
    place = st.empty()
    world = description(corpus, plan.base)
    with turn(place):
        _run_cells(corpus, plan, loss, world, place, chart, headline)
    st.session_state[_RUNNING] = None
    st.rerun()


def _run_cells(
    corpus: str | None,
    plan: Plan,
    loss: Loss,
    world: WorldDescription,
    place: DeltaGenerator,
    chart: Slot,
    headline: Slot,
) -> None:
    done: dict[str, CellResult] = {}
    st.session_state[_name(corpus, plan)] = done
    whole, ready, started = sum(c.weight for c in plan.cells), 0.0, time.monotonic()
    painted = 0.0
    for number, cell in enumerate(plan.cells):
        left = (time.monotonic() - started) * (whole - ready) / ready if ready > 2 else None
        when = "" if left is None else f", about {left:.0f} s left"
        place.progress(ready / whole, f"Ranker {number + 1} of {len(plan.cells)}{when}")
        done[cell.key] = _cell(corpus, cell)
        ready += cell.weight
        if time.monotonic() - painted > _PICTURE_EVERY:
            headline.place().markdown(
                f"{part_of(len(done), len(plan.cells), 'ranker', does='is', do='are')} trained."
            )
            with chart.place().container():
                show_partial(StudyResult(plan, loss, done, world))
            painted = time.monotonic()


@contextmanager
def turn(place: DeltaGenerator) -> Iterator[None]:
    """Wait until no other visitor runs a study, or trains on data of their own, here."""
    waited = time.monotonic()
    with LINE.turn() as turn:
        while not turn.comes(0.5):
            place.markdown(line_sentence(turn.before, time.monotonic() - waited))
        yield


def line_sentence(before: int, seconds: float) -> str:
    """How many studies come first and how long the visitor has waited, in words."""
    others = "One study of another visitor is" if before == 1 else f"{before} other studies are"
    return (
        f":material/hourglass_top: {others} served before yours on this server; yours begins by "
        f"itself ({seconds:.0f} s so far). Stop leaves the line."
    )


def _name(corpus: str | None, plan: Plan) -> str:
    return f"study {corpus} {plan.study.name} {plan.scale} {plan.base}"
