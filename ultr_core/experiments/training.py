"""Training each method on one draw of clicks and measuring it on the test queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.experiments.logs import Logs, simulate_logs
from ultr_core.experiments.methods import CLICK_METHODS
from ultr_core.experiments.world import TestRisk, World, test_risk
from ultr_core.feedback import ExaminationCurve
from ultr_core.learners.selection import Candidate, select_by_clicks
from ultr_core.propensity import Weights, assumed_curve, ips_weights, naive_weights
from ultr_core.settings import Settings

CLIP_GRID: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Clipping thresholds tau that validation chooses from; 0 is unclipped, 1 is naive."""


@dataclass(frozen=True, eq=False)
class TrainedMethod:
    """One method trained on one draw of clicks: small, and free of the corpus.

    ``cost`` is the C and ``clip`` the tau that validation chose, ``gap`` the relative duality
    gap of the fit, ``clicks`` and ``query_draws`` the size of the training log.
    """

    method: str
    draw: int
    test: TestRisk
    cost: float
    clip: float
    gap: float
    clicks: int
    query_draws: int
    coefficients: NDArray[np.float64]


def train_method(
    world: World, settings: Settings, draw: int, method: str, logs: Logs | None = None
) -> TrainedMethod:
    """Train ``method`` on the clicks of ``draw`` and measure it on the test queries.

    C (and tau for "clipped") are chosen on the validation clicks by the unclipped IPS estimate,
    for the naive ranker by its own estimate (sections 7.1 and 7.2).

    Args:
        world: the corpus and its rankers.
        settings: how users click and what the learner assumes.
        draw: which draw of clicks, from 0.
        method: "naive", "propensity" or "clipped".
        logs: the clicks of this draw, where they are at hand.

    Raises:
        InputError: an unknown method, or clicks that give no pair to learn from.
    """
    if method not in CLICK_METHODS:
        known = ", ".join(CLICK_METHODS)
        raise InputError(f"{method!r} does not learn from clicks; methods that do are {known}.")
    logs = logs if logs is not None else simulate_logs(world, settings, draw)
    curve = assumed_curve(settings)
    rows = logs.validation.rank
    propensity = np.ones(len(rows)) if method == "naive" else curve.at(rows)
    selection = select_by_clicks(
        world.splits.train,
        _candidates(logs, curve, method),
        world.splits.validation,
        logs.validation,
        propensity,
    )
    ranker = selection.ranker
    return TrainedMethod(
        method,
        draw,
        test_risk(world, ranker),
        ranker.cost,
        selection.clip,
        ranker.certificate.gap,
        logs.train.total_clicks,
        logs.train.query_draws,
        ranker.coefficients,
    )


def _candidates(logs: Logs, curve: ExaminationCurve, method: str) -> list[Candidate]:
    if method == "naive":
        return [Candidate(naive_weights(logs.train), 1.0)]
    if method == "propensity":
        return [Candidate(ips_weights(logs.train, curve))]
    return _distinct(
        [Candidate(ips_weights(logs.train, curve, clip=clip), clip) for clip in CLIP_GRID]
    )


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Drop thresholds that clip nothing new, as all of them do for a flat curve."""
    kept: list[Candidate] = []
    for candidate in candidates:
        if not any(_same(candidate.weights, other.weights) for other in kept):
            kept.append(candidate)
    return kept


def _same(one: Weights, other: Weights) -> bool:
    return bool(np.array_equal(one.values, other.values))
