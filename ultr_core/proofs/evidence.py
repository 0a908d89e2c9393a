"""What the proof checks look at: one world, one click log, a family of rankers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ultr_core.feedback import ClickLog, ExaminationCurve, PositionModel

SAME = 1e-13
"""Relative difference of two propensities that is rounding, as of 0.3 / 0.9 and 0.1 / 0.3."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The inputs of all proof checks.

    Attributes:
        users: how the simulated users examine and click.
        assumed_curve: the examination curve that the learner believes in.
        query_offsets: int64 [queries + 1], the logged queries.
        relevance: bool [documents].
        presented_ranks: int [documents], ranks under the production ranker.
        family_ranks: int [rankers, documents], ranks under each ranker of the family.
        true_risk: float64 [rankers], R(S) of each (equation 2 averaged over the queries).
        log: the simulated training clicks.
        scores: float64 [documents] of the rankers whose hinge bound is checked, by label.
        gap: relative duality gap of the trained propensity-weighted ranker.
        gap_tolerance: the gap that its fit was asked for.
    """

    users: PositionModel
    assumed_curve: ExaminationCurve
    query_offsets: NDArray[np.int64]
    relevance: NDArray[np.bool_]
    presented_ranks: NDArray[np.int32]
    family_ranks: NDArray[np.int32]
    true_risk: NDArray[np.float64]
    log: ClickLog
    scores: Mapping[str, NDArray[np.float64]]
    gap: float
    gap_tolerance: float

    @cached_property
    def click_probability(self) -> NDArray[np.float64]:
        """Exact click probability of each document, float64 [documents]."""
        return self.users.click_probability(self.relevance, self.presented_ranks)

    @cached_property
    def assumed_propensity(self) -> NDArray[np.float64]:
        """Propensity that the learner divides by, float64 [documents]."""
        return self.assumed_curve.at(self.presented_ranks)

    @cached_property
    def curve_is_right(self) -> bool:
        """Whether true and assumed propensity agree at every presented rank."""
        true = self.users.curve.at(self.presented_ranks)
        return bool(np.allclose(true, self.assumed_propensity, rtol=SAME, atol=0.0))

    @cached_property
    def is_unbiased_by_position(self) -> bool:
        """Whether users examine every presented rank equally often."""
        true = self.users.curve.at(self.presented_ranks)
        return bool((true == true[0]).all())
