"""Empirical against true risk of every ranker in the family, from one simulated log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.experiments.family import RankerFamily
from ultr_core.experiments.logs import simulate_training_log, user_model
from ultr_core.experiments.world import World
from ultr_core.feedback import ClickLog
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.propensity import ESTIMATORS, Belief, assumed_curve
from ultr_core.risk import (
    RiskEstimates,
    affine_law,
    estimates_and_expectations,
    order_agreement,
)
from ultr_core.settings import Settings
from ultr_core.words import counted

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EstimatedRisks:
    """What one estimator says about every ranker of the family.

    Attributes:
        value: float64 [rankers], the estimate from the log.
        low, high: float64 [rankers], its 95% interval.
        expected: float64 [rankers], its exact expectation.
        kendall: Kendall's tau between ``value`` and the true risk.
        kendall_expected: the same for ``expected``: what endless data would give.
        effective_sample_size: (sum of weights)^2 / sum of squared weights, over clicks.
        largest_weight: largest weight of one click in the log.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    expected: FloatArray
    kendall: float
    kendall_expected: float
    effective_sample_size: float
    largest_weight: float


@dataclass(frozen=True, eq=False)
class RiskPicture:
    """Naive and propensity-weighted estimates beside the true risk, and the affine law.

    With correct propensities the expected weighted risk is ``slope`` times the true risk plus
    ``intercept`` (section 5.2).
    """

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    true_risk: FloatArray
    naive: EstimatedRisks
    weighted: EstimatedRisks
    slope: float
    intercept: float
    clicks: int
    query_draws: int

    @property
    def sentence(self) -> str:
        """What the picture shows, in words."""
        weighted, naive = self.weighted.kendall, self.naive.kendall
        return (
            f"{counted(self.clicks, 'click orders', 'clicks order')} the {len(self.kinds)} rankers "
            "with Kendall's τ = "
            f"{weighted:.2f} when each is weighted by 1/p, and with τ = {naive:.2f} when they are "
            "counted as they come; 1 is the true order."
        )


@one_blas_thread()
def risk_picture(
    world: World, family: RankerFamily, settings: Settings, log: ClickLog | None = None
) -> RiskPicture:
    """Estimate the risk of every ranker of the family from the first click log.

    Both estimators see the same clicks on the training queries; ``log`` is that of draw 0 where
    it is at hand.
    """
    log = log if log is not None else simulate_training_log(world, settings, 0)
    queries = world.train
    probability = user_model(settings).click_probability(queries.relevance, queries.presented_ranks)
    belief = Belief(assumed_curve(settings))
    law = affine_law(settings.eps_plus, settings.eps_minus, queries.corpus.sizes)
    naive, weighted = estimates_and_expectations(
        log,
        family.ranks,
        probability,
        [
            (estimator.weigh(log, belief), estimator.numbers(queries.presentation, belief))
            for estimator in (ESTIMATORS["naive"], ESTIMATORS["ips"])
        ],
    )
    return RiskPicture(
        family.kinds,
        family.labels,
        family.true_risk,
        _estimates(family, *naive),
        _estimates(family, *weighted),
        law.slope,
        law.intercept,
        log.total_clicks,
        log.query_draws,
    )


def _estimates(family: RankerFamily, risks: RiskEstimates, expected: FloatArray) -> EstimatedRisks:
    return EstimatedRisks(
        risks.value,
        risks.low,
        risks.high,
        expected,
        order_agreement(risks.value, family.true_risk),
        order_agreement(expected, family.true_risk),
        risks.effective_sample_size,
        risks.largest_weight,
    )
