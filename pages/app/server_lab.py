"""The lab of this server: one store for all visitors, and the processes that train for it.

The processes import this module too, so it does without Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pages.app.training_pool import POOL
from ultr_core.deadline import within
from ultr_core.lab import Cell, Lab, Store
from ultr_core.limits import SERVER_TRAINING_SECONDS

BOUNDS = {
    "splits": 1, "world": 4,  # one of them the small corpus of the claims
    "family": 3, "rank_sums": 3, "second_ranker": 3,
    "logs": 40, "training_log": 40, "picture": 400, "first_picture": 40,
    "trained": 4_000, "checks": 400,  # small, and slow to make
    "swaps": 600, "swap_limit": 200, "risk_with": 600, "live": 60,
    "description": 20, "study_cell": 5_000, "claim": 400, "swap_counts": 1,
    "evidence": 1, "looked_at": 2, "judged_relevant": 4, "examined": 2, "few_swaps": 40,
    "walk": 400, "sample": 200, "running": 100, "errors": 50, "race": 50,  # of small worlds
}  # fmt: skip
OF_ANY_OTHER = 40
APART = ("trained", "checks", "picture")
"""Kinds of cells that the processes make."""

HERE = Lab(store=Store(BOUNDS, OF_ANY_OTHER))
"""Makes everything in this process, be it the server or one that trains for it."""


def is_made_apart(cell: Cell) -> bool:
    """Whether one of the processes makes a cell.

    A corpus of the reader's own may be large and is not held in memory twice: it is used here.
    """
    return cell.kind in APART and cell.corpus is None and POOL.processes > 0


def prepare() -> None:
    """Make the world of the first page in a new process, which has time until somebody asks."""
    HERE.world()


def _run(cell: Cell, make: Callable[[], Any]) -> Any:
    if not is_made_apart(cell):
        with within(SERVER_TRAINING_SECONDS):
            return make()
    known = {need: found for need in HERE.needs(cell) if (found := HERE.peek(need)) is not None}
    return POOL.run(make_here, cell, known)


def make_here(cell: Cell, known: Mapping[Cell, Any]) -> Any:
    """Make a cell in this process; ``known`` are cells it needs that have been made elsewhere."""
    for need, found in known.items():
        HERE.store.get(need.kind, need, partial(_given, found))
    return HERE.make(cell)


def _given(found: Any) -> Any:
    return found


LAB = replace(HERE, run=_run)
"""The lab that pages use."""
