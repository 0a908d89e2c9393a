"""How far an estimate may stray from its expectation by chance, for any number of clicks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ultr_core.corpus.ranking import query_sums
from ultr_core.risk import estimate_risk, expected_risk, variance_of_risk
from ultr_core.users import ClickLog

FALSE_ALARM_RATE = 1e-6
"""Chance that a true expectation is declared wrong, for any sample size."""

RARE_QUANTILE = NormalDist().inv_cdf(1.0 - FALSE_ALARM_RATE / 2.0)
"""As many standard errors a normal mean strays that rarely."""

_REACH = 6.0  # the best exponent is at most e^6 times the one for a normal mean, or less
_ACCURACY = 0.03  # of its logarithm; any exponent is valid, near the best one the radius is flat


@dataclass(frozen=True, eq=False)
class ClickSums:
    """The distribution of one presentation's weighted clicks X = sum_d c_d v_d.

    A draw takes one of the Q queries at random and clicks each of its documents d independently
    with probability pi_d.

    Attributes:
        click_probability: pi, float64 [documents].
        weights: v, float64 [documents], finite where pi is above 0.
        query_offsets: int64 [queries + 1].
    """

    click_probability: NDArray[np.float64]
    weights: NDArray[np.float64]
    query_offsets: NDArray[np.int64]

    def log_moment(self, exponent: float) -> float:
        """ln E[exp(t X)] = ln (1/Q) sum_q prod_d (1 - pi_d + pi_d exp(t v_d)) for t = exponent."""
        never, ever, weights = self._parts
        logs = query_sums(np.logaddexp(never, ever + exponent * weights), self.query_offsets)
        return float(logsumexp(logs)) - math.log(len(logs))

    def radius(
        self, mean: float, variance: float, draws: int, *, upper: bool, rate: float
    ) -> float:
        """Distance t with P(mean of the draws - E[X] >= t) <= ``rate`` / 2, or below it likewise.

        Chernoff's bound with the exact moments: N t = min_s (ln(2 / rate) + N ln E[exp(s X)]) / s
        - N E[X], over s > 0, or s < 0 for the side below. Valid for few draws and skewed weights;
        with many draws t tends to sqrt(2 ln(2 / rate)) standard errors, 5.4 for a rate of 1e-6.

        Args:
            mean: E[X].
            variance: variance of X; if it is 0, the mean cannot deviate.
            draws: number N of independent draws.
            upper: whether means above E[X] are meant.
            rate: probability of deviating that far, on either side.

        Source: Boucheron, Lugosi and Massart, Concentration Inequalities (2013), section 2.2.
        """
        from scipy.optimize import minimize_scalar  # slow to import, and only checks need it

        if variance == 0.0:
            return 0.0
        log_term = math.log(2.0 / rate) / draws
        normal = math.sqrt(2.0 * log_term / variance)
        sign = 1.0 if upper else -1.0

        def reach(log_factor: float) -> float:
            exponent = normal * math.exp(log_factor)
            return (self.log_moment(sign * exponent) + log_term) / exponent - sign * mean

        best = minimize_scalar(
            reach, bounds=(-_REACH, _REACH), method="bounded", options={"xatol": _ACCURACY}
        )
        return float(best.fun)

    @cached_property
    def _parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """ln(1 - pi), ln pi, and v, which is 0 where nobody clicks."""
        with np.errstate(divide="ignore"):
            never, ever = np.log1p(-self.click_probability), np.log(self.click_probability)
        return never, ever, np.where(self.click_probability > 0, self.weights, 0.0)


@dataclass(frozen=True)
class Chance:
    """The estimate of one ranker and how far it may be from its expectation.

    value: the estimate. mean, deviation: its exact expectation and standard error. radius: the
    distance from ``mean``, on the side of ``value``, that is exceeded with a probability of at most
    ``FALSE_ALARM_RATE`` / 2.
    """

    value: float
    mean: float
    deviation: float
    radius: float


def chance_of(
    log: ClickLog,
    propensity: NDArray[np.float64],
    click_probability: NDArray[np.float64],
    assumed: NDArray[np.float64],
    ranks: NDArray[np.int32] | NDArray[np.float64],
) -> Chance:
    """The weighted estimate of one ranker against its exact distribution.

    propensity [rows of the log], and click_probability, assumed propensity and ranks [documents].
    """
    value = estimate_risk(log, ranks, propensity).value
    moments = (click_probability, assumed, ranks, log.query_offsets)
    mean, draws = float(expected_risk(*moments)), log.query_draws
    variance = float(variance_of_risk(*moments, draws))
    law = ClickSums(click_probability, ranks / assumed, log.query_offsets)
    radius = law.radius(mean, variance * draws, draws, upper=value >= mean, rate=FALSE_ALARM_RATE)
    return Chance(value, mean, variance**0.5, radius)
