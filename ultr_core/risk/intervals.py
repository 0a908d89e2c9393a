"""Ends of 95% intervals for sums of unequal weights, and when there are too few clicks for one.

A few heavy clicks carry an estimate from clicks, and most logs lack some of them: its law is
skewed to the right, and value -+ 1.96 standard errors ends too low. Instead (Fay and Feuer, 1997),
with y the value, s its standard error, w what the largest draw adds, and G the gamma quantile:

    low  = G(0.025; shape (y / s)^2, mean y)
    high = G(0.975; mean y + w, variance s^2 + w^2)

This is for weights of one sign. Anything else, such as the difference of two rankers or a ratio
made linear, is a part above 0 less a part below 0; their intervals are put together by their
correlation r (MOVER: Zou and Donner, 2008), with l and u the distances to the ends:

    low = y - sqrt(l_1^2 - 2 r l_1 u_2 + u_2^2),   high = y + sqrt(u_1^2 - 2 r u_1 l_2 + l_2^2)

Coverage and the choice of the constants here: ``docs/intervals.md``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, ndtri

from ultr_core.propensity.row_numbers import Numbers, row_numbers
from ultr_core.propensity.weights import effective_sample_size
from ultr_core.risk.estimate import NORMAL_QUANTILE, UPPER_TAIL, Estimate
from ultr_core.users.click_log import ClickLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]

LARGER = 4 / 3
"""How much larger than the largest draw of a log the next one is taken to be."""

FEWEST_CLICKS = 200
FEWEST_DRAWS = 200
"""Clicks, and query draws, below which there is no interval."""

FEWEST_EQUAL = 55
"""Equal clicks whose number is as skewed as the estimate, below which there is no interval."""


FEWEST_TELLING = 6
"""Equal clicks on documents that two rankers place differently, below which neither is better: of
five, all point the same way by chance with probability 2 / 2^5, which is above 5%."""


class Sums(NamedTuple):
    """Weighted sums of one sign, float64 [rankers]: value, standard error, largest contribution."""

    value: FloatArray
    error: FloatArray
    largest: FloatArray


def gamma_ends(sums: Sums) -> Ends:
    """Ends of 95% intervals of sums with weights of 0 or more, each float64 [rankers].

    >>> low, high = gamma_ends(Sums(np.array([10.0]), np.array([2.0]), np.array([1.0])))
    >>> [round(float(end), 2) for end in (low[0], high[0])]
    [6.47, 15.81]
    """
    value, error, largest = sums
    low = _gamma_quantile(value, error, 1.0 - UPPER_TAIL)
    return low, _gamma_quantile(value + largest, np.hypot(error, largest), UPPER_TAIL)


def _gamma_quantile(mean: FloatArray, deviation: FloatArray, level: float) -> FloatArray:
    """Quantiles of gamma laws with this mean and deviation; the mean where there is no spread."""
    spread = deviation > 0
    root = np.divide(mean, deviation, out=np.ones_like(mean), where=spread)
    quantile = gammaincinv(root * root, level) * (deviation / np.where(root > 0, root, 1.0))
    return np.where(spread, quantile, mean)


def difference_ends(above: Sums, below: Sums, error: FloatArray) -> Ends:
    """Ends of 95% intervals of ``above`` - ``below``, whose standard error is known [rankers]."""
    value = above.value - below.value
    first, second = (
        (sums.value - low, high - sums.value)
        for sums, (low, high) in ((above, gamma_ends(above)), (below, gamma_ends(below)))
    )
    scale = 2.0 * above.error * below.error
    twice = np.square(above.error) + np.square(below.error) - np.square(error)
    r = np.clip(np.divide(twice, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0)
    return value - _together(first[0], second[1], r), value + _together(first[1], second[0], r)


def _together(one: FloatArray, other: FloatArray, r: FloatArray) -> FloatArray:
    squared = np.square(one) - 2.0 * r * one * other + np.square(other)
    return np.sqrt(np.maximum(squared, 0.0))


def normal_ends(value: FloatArray, error: FloatArray, quantile: float = NORMAL_QUANTILE) -> Ends:
    """value -+ quantile standard errors, each float64 [rankers]."""
    return value - quantile * error, value + quantile * error


def upper_bound(found: Estimate, misses: float) -> float:
    """A bound above what is estimated, too low in at most this share of logs.

    value + (high - value) z(1 - misses) / z(0.975), z the normal quantile: the upper end of the 95%
    interval, whose skew it keeps, moved to another level. Infinite where there is no interval.

    >>> round(upper_bound(Estimate.normal(0.0, 1.0, 9, 9.0), 0.05), 3)
    1.645
    """
    return found.value + (found.high - found.value) * float(ndtri(1.0 - misses)) / NORMAL_QUANTILE


def no_ends(value: FloatArray) -> Ends:
    """Ends where there is no interval: nothing is excluded."""
    return np.full(value.shape, -np.inf), np.full(value.shape, np.inf)


def too_few_clicks(log: ClickLog, numbers: Numbers, scale: FloatArray | None = None) -> str:
    """Why a log has too few clicks for intervals, and how many are needed; "" if it has enough.

    It needs ``FEWEST_CLICKS``, ``FEWEST_DRAWS``, and weights so even that the estimate is no more
    skewed than with ``FEWEST_EQUAL`` equally weighted clicks; the equivalent number of
    clicks is 1 / skewness^2:

        n m_2^3 / m_3^2,   with m_k the mean of u^k over expected clicks

    Clicks are expected in proportion to impressions / u. Expected clicks are used instead of
    observed clicks, because logs that by chance lack heavy clicks look even, and those are the logs
    whose intervals miss the truth. For a log that contains only clicks, the observed clicks are
    used. numbers [rows] as in `estimate_risks`. scale [rows]: the factor of u in m_2 and m_3, if
    ranks can be far larger in some rows than in others; with it, u = 1 if an estimator counts only
    impressions.
    """
    n = log.total_clicks
    if n == 0:
        return f"no interval: there are no clicks in {counted(log.query_draws, 'presentation')}"
    evenness = _evenness(log, row_numbers(numbers).u, scale)
    needed = max(
        FEWEST_CLICKS, n * FEWEST_DRAWS / log.query_draws, FEWEST_EQUAL / max(evenness, 1e-12)
    )
    if n >= needed:
        return ""
    places = 10.0 ** (math.floor(math.log10(needed)) - 1)
    about = math.ceil(needed / places) * places
    few = f"{counted(n, 'click is', 'clicks are')} too few"
    return f"no interval: {few}; about {about:,.0f} are needed"


def too_few_telling(log: ClickLog, numbers: Numbers, differences: FloatArray) -> str:
    """Why there are too few clicks to say which of two rankers is better; "" if there are enough.

    Clicks on documents that both rankers put at the same rank say nothing; other clicks count
    for x = u |difference|. They must be worth ``FEWEST_TELLING`` equally weighted clicks;
    they are worth (sum of x)^2 / sum of x^2 over clicks. Without these clicks, the difference is
    0, and there is nothing to decide. differences [documents] of ranks; numbers [rows].
    """
    u = np.where(log.clicks > 0, row_numbers(numbers).u, 0.0)
    telling = u * np.abs(differences)[log.document]
    size = effective_sample_size(log.clicks * telling, telling)
    if size == 0 or size >= FEWEST_TELLING - 1e-9:
        return ""
    return (
        "no interval: the clicks on documents that the two rankers place differently are worth "
        f"{size:.1f} equally weighted clicks, and {FEWEST_TELLING} are needed"
    )


def _evenness(log: ClickLog, u: FloatArray, scale: FloatArray | None = None) -> float:
    """m_2^3 / m_3^2 of the weights, times their scale, from 0 to 1."""
    if scale is not None and not u.any():
        u = np.ones_like(u)
    usable = np.flatnonzero((log.impressions > 0) & (u > 0) & (u < np.inf))
    if not usable.size:
        return 1.0
    weight = u[usable] / u[usable].max()
    square = weight * weight
    times = 1.0 if scale is None else scale[usable] / scale[usable].max()
    twice, thrice = times**2, times**3
    if log.clicks_only:
        shown = log.clicks[usable].astype(np.float64)
        total, second = float(shown.sum()), float(shown @ (square * twice))
        third = float(shown @ (square * weight * thrice))
    else:  # impressions / u, times u^k
        shown = log.impressions[usable].astype(np.float64)
        total, second = float((shown / weight).sum()), float(shown @ (weight * twice))
        third = float(shown @ (square * thrice))
    return second**3 / (total * third**2)
