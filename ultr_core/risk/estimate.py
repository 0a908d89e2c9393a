"""A number that is not exact, with what it takes to read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ultr_core.errors import InputError

_UPPER_TAIL = 0.975
NORMAL_QUANTILE = float(ndtri(_UPPER_TAIL))
"""Standard errors from the middle of a 95 % normal interval to its end, about 1.96."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error and 95 % interval.

    value: the estimate; standard_error: of that value; low, high: ends of the interval.
    n: number of independent observations (query draws, or repetitions of a whole experiment).
    effective_sample_size: observations of equal weight that would be worth as much.
    """

    value: float
    standard_error: float
    low: float
    high: float
    n: int
    effective_sample_size: float

    @classmethod
    def normal(
        cls, value: float, standard_error: float, n: int, effective_sample_size: float
    ) -> Estimate:
        """Estimate with the interval value -+ 1.96 standard errors.

        Raises InputError if value or standard error is not finite, or the latter negative.
        """
        if not (math.isfinite(value) and math.isfinite(standard_error) and standard_error >= 0):
            raise InputError(
                f"An estimate needs a finite value and standard error, "
                f"not {value} and {standard_error}."
            )
        reach = NORMAL_QUANTILE * standard_error
        return cls(value, standard_error, value - reach, value + reach, n, effective_sample_size)


def interval_over_draws(values: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """Mean of repeated experiments with its 95 % interval by Student's t.

    value = mean, standard_error = s / sqrt(n), interval = value -+ t_{n-1} standard errors.
    A single draw has no interval: standard_error is 0 and low = high = value.
    values [draws]. Raises InputError if there is none or one is not finite.
    """
    draws = np.asarray(values, dtype=np.float64)
    if draws.ndim != 1 or draws.size == 0 or not np.all(np.isfinite(draws)):
        raise InputError("An interval over draws needs at least one draw, all of them finite.")
    n = int(draws.size)
    value = float(draws.mean())
    if n == 1:
        return Estimate(value, 0.0, value, value, 1, 1.0)
    standard_error = float(draws.std(ddof=1)) / math.sqrt(n)
    reach = float(stdtrit(n - 1, _UPPER_TAIL)) * standard_error
    return Estimate(value, standard_error, value - reach, value + reach, n, float(n))
