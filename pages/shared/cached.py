"""The core's stages, each remembered under only the settings that it depends on.

Large read-only objects (corpus, family, logs) are shared by all sessions; results are small and
copied. Every memory is bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

import streamlit as st

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
from ultr_core.proofs import PROOFS
from ultr_core.settings import Settings

# One world is built at a time, however many sessions ask for however many worlds.
_BUILDING = threading.Lock()


def world(corpus: str | None, settings: Settings) -> World:
    """The world of ``settings`` on the corpus directory, or on the built-in corpus for None.

    Raises InputError for a directory that cannot be read.
    """
    return _world(corpus, stage(settings, WORLD_FIELDS))


@st.cache_resource(max_entries=3, show_spinner=False)
def _world(corpus: str | None, key: Settings) -> World:
    with _BUILDING:
        return experiments.build_world(key, None if corpus is None else _splits(corpus))


@st.cache_resource(max_entries=1, show_spinner=False)
def _splits(corpus: str) -> CorpusSplits:
    return load_directory(corpus)


def family(corpus: str | None, settings: Settings) -> RankerFamily:
    """The sixty rankers of a world."""
    return _family(corpus, stage(settings, WORLD_FIELDS))


@st.cache_resource(max_entries=3, show_spinner=False)
def _family(corpus: str | None, key: Settings) -> RankerFamily:
    return experiments.ranker_family(_world(corpus, key))


def logs(corpus: str | None, settings: Settings, draw: int) -> Logs:
    """The simulated clicks of one draw."""
    return _logs(corpus, stage(settings, LOG_FIELDS), draw)


@st.cache_resource(max_entries=12, show_spinner=False)
def _logs(corpus: str | None, key: Settings, draw: int) -> Logs:
    return experiments.simulate_logs(world(corpus, key), key, draw)


def picture(corpus: str | None, settings: Settings) -> RiskPicture:
    """Empirical against true risk."""
    return _picture(corpus, stage(settings, WEIGHTED_FIELDS))


@st.cache_data(max_entries=400, show_spinner=False)
def _picture(corpus: str | None, key: Settings) -> RiskPicture:
    return experiments.risk_picture(
        world(corpus, key), family(corpus, key), key, logs(corpus, key, 0)
    )


def trained(corpus: str | None, settings: Settings, draw: int, method: str) -> TrainedMethod:
    """One method trained on one draw and tested."""
    return _trained(corpus, stage(settings, METHODS[method].fields), draw, method)


@st.cache_data(max_entries=4000, show_spinner=False)
def _trained(corpus: str | None, key: Settings, draw: int, method: str) -> TrainedMethod:
    return experiments.train_method(world(corpus, key), key, draw, method, logs(corpus, key, draw))


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


def checks(corpus: str | None, settings: Settings) -> list[dict[str, Any]]:
    """The proof checks as plain values, with their formulas."""
    return _checks(corpus, stage(settings, WEIGHTED_FIELDS))


@st.cache_data(max_entries=400, show_spinner=False)
def _checks(corpus: str | None, key: Settings) -> list[dict[str, Any]]:
    found = experiments.proof_checks(
        world(corpus, key),
        family(corpus, key),
        key,
        logs=logs(corpus, key, 0),
        trained=trained(corpus, key, 0, "propensity"),
    )
    return [{**check.as_dict(), "formula": PROOFS[check.name].formula} for check in found]
