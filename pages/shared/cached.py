"""The core's stages, each remembered under only the settings that it depends on.

All are read-only and shared by all sessions. Every memory is bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.shared.memory import Memory
from pages.shared.workshop import WORKSHOP
from ultr_core import experiments
from ultr_core.corpus import CorpusSplits, load_directory
from ultr_core.experiments import (
    CLICK_METHODS,
    LOG_FIELDS,
    METHODS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    Comparison,
    Logs,
    RankerFamily,
    RiskPicture,
    TrainedMethod,
    World,
    stage,
)
from ultr_core.feedback import ClickLog
from ultr_core.proofs import PROOFS
from ultr_core.settings import Settings

# One world is built at a time, however many sessions ask for however many worlds.
_BUILDING = threading.Lock()
# Pictures too: many at once slow each other down and are all late.
_PICTURING = threading.Lock()
PAINTING = threading.Lock()
"""Held by a page from its first picture to its last, for the same reason: a tenth less work."""
_WORLDS: Memory[World] = Memory(3)
_FAMILIES: Memory[RankerFamily] = Memory(3)
_TRAINING_LOGS: Memory[ClickLog] = Memory(40)
_LOGS: Memory[Logs] = Memory(40)
_PICTURES: Memory[RiskPicture] = Memory(400)
RESULTS: Memory[Any] = Memory(4_000)
"""Trained methods and proof checks by :class:`Cell`; small, and slow to make."""


def world(corpus: str | None, settings: Settings) -> World:
    """The world of ``settings`` on the corpus directory, or on the built-in corpus for None.

    Raises InputError for a directory that cannot be read.
    """
    key = stage(settings, WORLD_FIELDS)

    def make() -> World:
        with _BUILDING:
            return experiments.build_world(key, None if corpus is None else _splits(corpus))

    return _WORLDS.get((corpus, key), make)


def has_world(corpus: str | None, settings: Settings) -> bool:
    """Whether the world of ``settings`` need not be built first."""
    return _WORLDS.peek((corpus, stage(settings, WORLD_FIELDS))) is not None


@st.cache_resource(max_entries=1, show_spinner=False)
def _splits(corpus: str) -> CorpusSplits:
    return load_directory(corpus)


def family(corpus: str | None, settings: Settings) -> RankerFamily:
    """The sixty rankers of a world."""
    key = stage(settings, WORLD_FIELDS)
    return _FAMILIES.get((corpus, key), lambda: experiments.ranker_family(world(corpus, key)))


def logs(corpus: str | None, settings: Settings, draw: int) -> Logs:
    """The simulated clicks of one draw."""
    key = stage(settings, LOG_FIELDS)

    def make() -> Logs:
        log = training_log(corpus, key, draw)
        return experiments.simulate_logs(world(corpus, key), key, draw, training=log)

    return _LOGS.get((corpus, key, draw), make)


def training_log(corpus: str | None, settings: Settings, draw: int) -> ClickLog:
    """The simulated clicks of one draw on the training queries: all that a picture needs."""
    key = stage(settings, LOG_FIELDS)
    return _TRAINING_LOGS.get(
        (corpus, key, draw),
        lambda: experiments.simulate_training_log(world(corpus, key), key, draw),
    )


def picture(corpus: str | None, settings: Settings) -> RiskPicture:
    """Empirical against true risk."""
    key = stage(settings, WEIGHTED_FIELDS)

    def make() -> RiskPicture:
        built, rankers = world(corpus, key), family(corpus, key)
        with _PICTURING:
            return experiments.risk_picture(built, rankers, key, training_log(corpus, key, 0))

    return _PICTURES.get((corpus, key), make)


@dataclass(frozen=True)
class Cell:
    """What is slow to make: one method on one click log, or (``CHECKS``) the proof checks."""

    corpus: str | None
    settings: Settings
    draw: int
    what: str


CHECKS = "checks"


def cell(corpus: str | None, settings: Settings, draw: int, what: str) -> Cell:
    """The cell of a method or of ``CHECKS``, with only the settings that it depends on."""
    fields = WEIGHTED_FIELDS if what == CHECKS else METHODS[what].fields
    return Cell(corpus, stage(settings, fields), draw, what)


def make(wanted: Cell) -> Any:
    """Train the method of a cell, or check the claims; not remembered."""
    corpus, settings, draw = wanted.corpus, wanted.settings, wanted.draw
    seen = logs(corpus, settings, draw)
    if wanted.what != CHECKS:
        return experiments.train_method(world(corpus, settings), settings, draw, wanted.what, seen)
    found = experiments.proof_checks(
        world(corpus, settings),
        family(corpus, settings),
        settings,
        logs=seen,
        trained=trained(corpus, settings, 0, "propensity"),
    )
    return [{**check.as_dict(), "formula": PROOFS[check.name].formula} for check in found]


def make_apart(wanted: Cell) -> Any:
    """The same as ``make``, in the process that trains for all pages.

    A corpus of the reader's own may be large and is not held in memory twice: it is used here.
    """
    return make(wanted) if wanted.corpus is not None else WORKSHOP.make(wanted, make)


def result(wanted: Cell) -> Any:
    """What a cell holds, made by whoever asks first."""
    return RESULTS.get(wanted, lambda: make_apart(wanted))


def trained(corpus: str | None, settings: Settings, draw: int, method: str) -> TrainedMethod:
    """One method trained on one draw and tested."""
    found: TrainedMethod = result(cell(corpus, settings, draw, method))
    return found


def checks(corpus: str | None, settings: Settings) -> list[dict[str, Any]]:
    """The proof checks as plain values, with their formulas."""
    found: list[dict[str, Any]] = result(cell(corpus, settings, 0, CHECKS))
    return found


def comparison(
    corpus: str | None, settings: Settings, done: Collection[tuple[int, str]]
) -> Comparison:
    """The comparison of rankers after the cells ``done``, each a (draw, method)."""
    return experiments.summarise(
        world(corpus, settings),
        settings,
        {
            method: [trained(corpus, settings, draw, method) for draw, m in done if m == method]
            for method in CLICK_METHODS
        },
    )
