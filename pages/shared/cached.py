"""The core's stages, each remembered under only the settings that it depends on.

All are read-only and shared by all sessions. Every memory is bounded. The processes that train
import this module too, so it does without Streamlit.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pages.shared.memory import Memory
from pages.shared.training_pool import TrainingPool, end_at_exit
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
_CORPORA: Memory[CorpusSplits] = Memory(1)
_WORLDS: Memory[World] = Memory(3)
_FAMILIES: Memory[RankerFamily] = Memory(3)
_TRAINING_LOGS: Memory[ClickLog] = Memory(40)
_LOGS: Memory[Logs] = Memory(40)
_PICTURES: Memory[RiskPicture] = Memory(400)
RESULTS: Memory[Any] = Memory(4_000)
"""Trained methods and proof checks by :class:`Cell`; small, and slow to make."""

POOL = TrainingPool(__name__)
"""The processes of this server that train on built-in corpora."""

end_at_exit(POOL)


def world(corpus: str | None, settings: Settings) -> World:
    """The world of ``settings`` on the corpus directory, or on the built-in corpus for None.

    Raises InputError for a directory that cannot be read.
    """
    key = stage(settings, WORLD_FIELDS)

    def make() -> World:
        with _BUILDING:
            if corpus is None:
                return experiments.build_world(key)
            splits = _CORPORA.get(corpus, lambda: load_directory(corpus))
            return experiments.build_world(key, splits)

    return _WORLDS.get((corpus, key), make)


def has_world(corpus: str | None, settings: Settings) -> bool:
    """Whether the world of ``settings`` need not be built first."""
    return _WORLDS.peek((corpus, stage(settings, WORLD_FIELDS))) is not None


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
_CHECKED = "propensity"


def cell(corpus: str | None, settings: Settings, draw: int, what: str) -> Cell:
    """The cell of a method or of ``CHECKS``, with only the settings that it depends on."""
    fields = WEIGHTED_FIELDS if what == CHECKS else METHODS[what].fields
    return Cell(corpus, stage(settings, fields), draw, what)


def make(wanted: Cell, ranker: TrainedMethod | None = None) -> Any:
    """Train the method of a cell, or check the claims; not remembered.

    The checks look at the weighted ranker of the first click log, ``ranker`` if it is at hand.
    """
    corpus, settings, draw = wanted.corpus, wanted.settings, wanted.draw
    built, seen = world(corpus, settings), logs(corpus, settings, draw)
    if wanted.what != CHECKS:
        return experiments.train_method(built, settings, draw, wanted.what, seen)
    ranker = ranker or experiments.train_method(built, settings, 0, _CHECKED, seen)
    rankers = family(corpus, settings)
    found = experiments.proof_checks(built, rankers, settings, logs=seen, trained=ranker)
    return [{**check.as_dict(), "formula": PROOFS[check.name].formula} for check in found]


def is_made_apart(wanted: Cell) -> bool:
    """Whether one of the processes makes a cell.

    A corpus of the reader's own may be large and is not held in memory twice: it is used here.
    """
    return wanted.corpus is None and POOL.processes > 0


def make_apart(wanted: Cell) -> Any:
    """The same as ``make``, in one of the processes that train for all pages."""
    ranker = None
    if wanted.what == CHECKS:
        ranker = RESULTS.peek(cell(wanted.corpus, wanted.settings, 0, _CHECKED))
    if is_made_apart(wanted):
        return POOL.run(make, wanted, ranker)
    return make(wanted, ranker)


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
