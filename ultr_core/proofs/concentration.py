"""How far a mean of bounded terms may stray from its expectation."""

from __future__ import annotations

import math
from statistics import NormalDist

FALSE_ALARM_RATE = 1e-6
"""Chance that a true expectation is declared wrong, for any sample size."""

RARE_QUANTILE = NormalDist().inv_cdf(1.0 - FALSE_ALARM_RATE / 2.0)
"""As many standard errors a normal mean strays that rarely."""


def bernstein_radius(variance: float, bound: float, draws: int) -> float:
    """Half width t with P(|mean - expectation| >= t) <= ``FALSE_ALARM_RATE``.

    Solves 2 exp(-N t^2 / (2 sigma^2 + 2 M t / 3)) = rate for t. Unlike a normal interval it is
    valid for few draws and skewed weights.

    Args:
        variance: variance sigma^2 of one term.
        bound: largest distance M of one term from its expectation.
        draws: number N of independent terms.

    Source: Bernstein's inequality, for example Boucheron, Lugosi and Massart, Concentration
    Inequalities (2013), section 2.8.
    """
    log_term = math.log(2.0 / FALSE_ALARM_RATE)
    linear = bound * log_term / (3.0 * draws)
    return linear + math.sqrt(linear * linear + 2.0 * variance * log_term / draws)
