"""Experiments on propensities and the live experiment, remembered under what they depend on."""

from __future__ import annotations

import streamlit as st

from pages.shared import cached
from ultr_core.experiments import (
    LOG_FIELDS,
    WORLD_FIELDS,
    TestRisk,
    stage,
    true_curve,
    user_model,
)
from ultr_core.experiments.live import LiveDesign, LiveResult, run_live
from ultr_core.experiments.propensity_study import (
    MethodResult,
    SecondRanker,
    SwapDesign,
    estimate_by,
    risks_with_curves,
    second_ranker,
    sessions_for_precision,
    swap_bias,
)
from ultr_core.export.page_links import TRUST
from ultr_core.feedback import ClickModel, ExaminationCurve, TrustBiasModel
from ultr_core.settings import Settings

USER_FIELDS = (*WORLD_FIELDS, "eta", "curve", "eps_minus", "eps_plus", "seed")
"""Settings that a propensity experiment depends on."""


def users_of(kind: str, settings: Settings) -> ClickModel:
    """The click model of the chosen users."""
    return TrustBiasModel.published() if kind == TRUST else user_model(settings)


def examination_of(kind: str, settings: Settings) -> ExaminationCurve:
    """The true examination of the chosen users."""
    return TrustBiasModel.published().curve if kind == TRUST else true_curve(settings)


def method_result(
    corpus: str | None, settings: Settings, kind: str, design: SwapDesign, key: str
) -> MethodResult:
    """What one method makes of the design's traffic."""
    return _method_result(corpus, stage(settings, USER_FIELDS), kind, design, key)


@st.cache_data(max_entries=600, show_spinner=False)
def _method_result(
    corpus: str | None, key: Settings, kind: str, design: SwapDesign, method: str
) -> MethodResult:
    return estimate_by(
        method,
        cached.world(corpus, key),
        users_of(kind, key),
        design,
        _second(corpus, stage(key, WORLD_FIELDS)),
        key.seed,
    )


@st.cache_resource(max_entries=3, show_spinner=False)
def _second(corpus: str | None, key: Settings) -> SecondRanker:
    return second_ranker(cached.world(corpus, key), key)


def limit(
    corpus: str | None, settings: Settings, kind: str, landmark: int, last_rank: int
) -> list[float]:
    """What swaps tend to with endless traffic, by rank; NaN beyond every list."""
    return _limit(corpus, stage(settings, USER_FIELDS), kind, landmark, last_rank)


@st.cache_data(max_entries=200, show_spinner=False)
def _limit(
    corpus: str | None, key: Settings, kind: str, landmark: int, last_rank: int
) -> list[float]:
    design = SwapDesign(landmark=landmark, last_rank=last_rank)
    values: list[float] = swap_bias(cached.world(corpus, key), users_of(kind, key), design).tolist()
    return values


def traffic_needed(
    corpus: str | None,
    settings: Settings,
    kind: str,
    design: SwapDesign,
    rank: int,
    precision: float,
) -> int:
    """Presentations for a wanted precision at one rank."""
    world = cached.world(corpus, settings)
    return sessions_for_precision(world, users_of(kind, settings), design, rank, precision)


def risk_with(corpus: str | None, settings: Settings, curve: ExaminationCurve | None) -> TestRisk:
    """Test risk after training on the first click log with these propensities; None: no weights."""
    return _risk_with(corpus, stage(settings, LOG_FIELDS), curve)


@st.cache_data(max_entries=600, show_spinner=False)
def _risk_with(corpus: str | None, key: Settings, curve: ExaminationCurve | None) -> TestRisk:
    world, logs = cached.world(corpus, key), cached.logs(corpus, key, 0)
    return risks_with_curves(world, logs, {"curve": curve})["curve"]


def live(corpus: str | None, settings: Settings, design: LiveDesign) -> LiveResult:
    """The live experiment of one design."""
    return _live(corpus, stage(settings, LOG_FIELDS), design)


@st.cache_data(max_entries=60, show_spinner=False)
def _live(corpus: str | None, key: Settings, design: LiveDesign) -> LiveResult:
    return run_live(cached.world(corpus, key), key, design)
