"""Running a study on the page: cell by cell, one study at a time on this server, stoppable."""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app.slots import Slot
from pages.app.turns import turn
from pages.views.studies.chart import show_partial
from ultr_core.errors import InputError
from ultr_core.lab import Lab
from ultr_core.studies import (
    Cell,
    CellResult,
    Loss,
    Plan,
    StudyResult,
    WorldDescription,
    describe_world,
    description_cell,
    run_in_process,
)
from ultr_core.words import part_of

_RUNNING = "study_running"
_PICTURE_EVERY = 0.7  # seconds between partial pictures


def _cell(lab: Lab, cell: Cell) -> CellResult:
    def make(at: Lab) -> CellResult:
        (result,) = run_in_process(at.at(cell.settings).world(), [cell])
        return result

    return lab.remember(lab.cell("study_cell", (), cell), make)


def finished(lab: Lab, plan: Plan) -> Mapping[str, CellResult]:
    """All cells of a plan if the server remembers them, else what this session has run so far."""
    found: Mapping[str, CellResult] = st.session_state.get(_name(lab, plan), {})
    return _remembered(lab, plan) or found


def _remembered(lab: Lab, plan: Plan) -> dict[str, CellResult]:
    """The cells of a plan, whoever ran them; none if one, or their world, would be to be made.

    A part that others left is not shown: it would be no one's stopped run.
    """
    if lab.peek(description_cell(lab.at(plan.base))) is None:
        return {}
    held = {}
    try:
        cells = plan.cells
    except InputError:
        return {}  # settings that make no world have no cells
    for cell in cells:
        result: CellResult | None = lab.peek(lab.cell("study_cell", (), cell))
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


def run(lab: Lab, plan: Plan, loss: Loss, chart: Slot, headline: Slot) -> None:
    """Run the cells of a plan with progress and partial pictures, then show the page again.

    Every message to the page is a point at which a click on Stop ends the run, and on anything
    else begins it again; finished cells are remembered by the server, so that nothing is lost.
    """
    st.button("Stop", key="stop-study", icon=":material/stop_circle:", on_click=stop)
    place = st.empty()
    world = describe_world(lab.at(plan.base))
    with turn(place):
        _run_cells(lab, plan, loss, world, place, chart, headline)
    st.session_state[_RUNNING] = None
    st.rerun()


def _run_cells(
    lab: Lab,
    plan: Plan,
    loss: Loss,
    world: WorldDescription,
    place: DeltaGenerator,
    chart: Slot,
    headline: Slot,
) -> None:
    done: dict[str, CellResult] = {}
    st.session_state[_name(lab, plan)] = done
    whole, ready, started = sum(c.weight for c in plan.cells), 0.0, time.monotonic()
    painted = 0.0
    for number, cell in enumerate(plan.cells):
        left = (time.monotonic() - started) * (whole - ready) / ready if ready > 2 else None
        when = "" if left is None else f", about {left:.0f} s left"
        place.progress(ready / whole, f"Ranker {number + 1} of {len(plan.cells)}{when}")
        done[cell.key] = _cell(lab, cell)
        ready += cell.weight
        if time.monotonic() - painted > _PICTURE_EVERY:
            headline.place().markdown(
                f"{part_of(len(done), len(plan.cells), 'ranker', does='is', do='are')} trained."
            )
            with chart.place().container():
                show_partial(StudyResult(plan, loss, done, world))
            painted = time.monotonic()


def _name(lab: Lab, plan: Plan) -> str:
    return f"study {lab.corpus} {plan.study.name} {plan.scale} {plan.base}"
