"""Which ranks are known well enough to shape a curve, and what goes on below them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ultr_core.propensity.points import PropensityEstimate

FloatArray = NDArray[np.float64]

LARGEST_ERROR = 0.3
"""Standard error of log ratio up to which a rank is known well.

Its 95% interval then lies within a factor of 1.8 (1.9 by a jackknife) on either side; an error of
a third is what about 10 clicks leave at best, 1 / sqrt(10). Above it an estimate of 2 clicks can be
ten times too large, and would pull every rank around it along.
"""


def relative_errors(
    estimate: PropensityEstimate, smoothed: FloatArray, smoothing: float
) -> FloatArray:
    """Standard error of the logarithm of each value of a curve, float64 [K].

    Smoothing shrinks it: (1 - s) ratio error / smoothed value, click rates counting as exact. A
    ratio of 0 has half the upper end of its interval for its absolute error. Infinite where
    there is no value or the data give no interval; 0 for a ratio that came without data. Where the
    method has no interval for any rank, 1 / sqrt(clicks) stands in, the least that it can be.

    smoothed [K]: values after smoothing with weight ``smoothing``, NaN where there is none.
    """
    blind = not any(point.standard_error for point in estimate.points)
    errors = np.full(smoothed.size, np.inf)
    for row, point in enumerate(estimate.points):
        if point.value is None or not smoothed[row] > 0:
            continue
        if point.rank == estimate.reference or smoothing == 1:
            errors[row] = 0.0
        elif point.value == 0:
            spread = math.inf if point.high is None else point.high / 2
            errors[row] = (1 - smoothing) * spread / smoothed[row]
        else:
            error = point.standard_error
            if error is None:
                error = 0.0 if not point.reason else math.inf
                if blind and point.clicks:
                    error = 1 / math.sqrt(point.clicks)
            errors[row] = (1 - smoothing) * point.value * error / smoothed[row]
    return errors


def carried_on(values: FloatArray, weights: FloatArray, slope: float, reference: int) -> FloatArray:
    """Values below the last rank that has one, float64 [K - last]: a guess, and never a rise.

    The power law r^-slope at the level of the lower half of the known ranks (last/2, last], since
    the last one alone may be off by its error; never above the value of the last one.

    values [K]: NaN at unknown ranks. weights [K]: 1 / variance of each value.
    """
    rank = np.arange(1.0, values.size + 1)
    known = np.isfinite(values)
    last = int(np.flatnonzero(known)[-1])
    lower = known & (rank > (last + 1) / 2) & (rank != reference)
    level = math.log(reference) * slope
    if lower.any():
        weight = weights[lower] * values[lower] ** 2
        level = float(weight @ (np.log(values[lower]) + slope * np.log(rank[lower])) / weight.sum())
    trend = np.exp(level - slope * np.log(rank[last + 1 :]))
    below: FloatArray = np.minimum(trend, values[last])
    return below


def ranks_in_words(ranks: Sequence[int]) -> str:
    """``rank 4`` or ``ranks 4, 7 and 9 to 113``: neighbours are joined; six parts at most."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    names = []
    for first, last in parts[:6]:
        names += [str(first)] if last == first else (
            [str(first), str(last)] if last == first + 1 else [f"{first:,} to {last:,}"]
        )  # fmt: skip
    if len(parts) > 6:
        names.append("others")
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"rank{'' if len(ranks) == 1 else 's'} {listed}"
