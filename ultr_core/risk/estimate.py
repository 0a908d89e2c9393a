"""A number that is not exact, with what it takes to read it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ultr_core.corpus.ranking import in_brief, number_or_nan, real_numbers
from ultr_core.errors import InputError

UPPER_TAIL = 0.975
"""Level of the upper end of a 95% interval."""
_MOST_DECIMALS = 12
_ROUNDING = 1e-12  # relative spread that equal numbers may show
NORMAL_QUANTILE = float(ndtri(UPPER_TAIL))
"""Standard errors from the middle of a 95% normal interval to its end, about 1.96."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error and 95% interval.

    value: the estimate; standard_error: of that value; low, high: ends of the interval.
    n: number of independent observations (presentations, or repetitions of a whole experiment).
    effective_sample_size: number of equally weighted observations with the same information.
    no_interval: why there is no interval, such as too few clicks; "" if there is one. The ends are
    then infinite: nothing is excluded.
    """

    value: float
    standard_error: float
    low: float
    high: float
    n: int
    effective_sample_size: float
    no_interval: str = ""

    @classmethod
    def normal(
        cls, value: float, standard_error: float, n: int, effective_sample_size: float
    ) -> Estimate:
        """Estimate with the interval value -+ 1.96 standard errors; see `between`."""
        reach = NORMAL_QUANTILE * number_or_nan(standard_error)
        ends = number_or_nan(value) - reach, number_or_nan(value) + reach
        return cls.between(value, standard_error, ends, n, effective_sample_size)

    @classmethod
    def between(
        cls,
        value: float,
        standard_error: float,
        ends: tuple[float, float],
        n: int,
        effective_sample_size: float,
        no_interval: str = "",
    ) -> Estimate:
        """Estimate with an interval, or with the reason why there is none.

        Raises InputError if value, standard error or interval is not finite, or if the error is
        negative.
        """
        centre, error = number_or_nan(value), number_or_nan(standard_error)
        if not (math.isfinite(centre) and 0 <= error < math.inf):
            raise InputError(
                f"An estimate needs a finite value and standard error, "
                f"not {in_brief(value)} and {in_brief(standard_error)}."
            )
        if no_interval:
            ends = -math.inf, math.inf
        else:
            _require_finite(*ends)
        return cls(value, standard_error, *ends, n, effective_sample_size, no_interval)

    def without_interval(self, reason: str) -> Estimate:
        """The estimate without its interval, for this reason; unchanged if the reason is ""."""
        if not reason:
            return self
        return replace(self, low=-math.inf, high=math.inf, no_interval=reason)

    def interval_text(self, decimals: int = 3, sign: str = "") -> str:
        """The ends of the interval as text, or why there is none.

        >>> Estimate.normal(1.0, 0.5, 9, 9.0).interval_text(2)
        '0.02 to 1.98'
        """
        if self.no_interval:
            return self.no_interval
        return f"{self.low:{sign}.{decimals}f} to {self.high:{sign}.{decimals}f}"

    def interval_words(self, decimals: int = 3, sign: str = "") -> str:
        """`interval_text` with a label, for use in brackets."""
        return f"{'' if self.no_interval else '95% interval '}{self.interval_text(decimals, sign)}"

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval as tables and charts expect them, NaN where there is no interval.

        A single draw has none, and neither has an estimate with `no_interval`: a width of 0 would
        suggest certainty.

        >>> interval_over_draws([3.0]).ends
        (nan, nan)
        """
        return (math.nan, math.nan) if self.no_interval or self.n < 2 else (self.low, self.high)

    @property
    def side(self) -> int:
        """Side of 0 on which the whole interval lies, 1 or -1; 0 if it contains 0."""
        return int(self.low > 0) - int(self.high < 0)


NO_INTERVAL = "A single click log gives no interval; an interval needs at least two logs."
"""Why a value over draws may have no interval."""

FOR_ONE_WORLD = "of this corpus, production ranker and test queries"
"""All click logs of a comparison or study share these; intervals over logs hold for them alone."""


def plus_minus(value: float, reach: float, decimals: int = 2) -> str:
    """A value and the half-width of its interval, which is never rounded to 0.

    A half-width below the last decimal is given to its first digit, and the value to as many
    decimals; if it is 0, up to rounding, or NaN, only the value is given.

    >>> plus_minus(10.128, 0.013), plus_minus(10.0684, 0.0031), plus_minus(10.0684, 0.0)
    ('10.13 ± 0.01', '10.068 ± 0.003', '10.07')
    """
    if not reach > _ROUNDING * max(1.0, abs(value)):
        return f"{value:.{decimals}f}"
    digits = (
        max(decimals, -math.floor(math.log10(reach))) if reach < 0.5 / 10**decimals else decimals
    )
    return f"{value:.{digits}f} ± {reach:.{digits}f}"


def shown_difference(first: float, second: float, decimals: int = 2) -> float:
    """``first`` - ``second`` as a reader would compute it from the numbers shown.

    If a difference is shown with its terms, all rounded alike, the three must add up; a difference
    rounded separately may be off by one in the last decimal.

    >>> round(11.087 - 10.0932, 2), shown_difference(11.087, 10.0932)
    (0.99, 1.0)
    """
    return round(round(first, decimals) - round(second, decimals), decimals)


@dataclass(frozen=True)
class ShownDifference:
    """Strings for two values and the size of their difference, which add up as shown."""

    first: str
    second: str
    margin: str


def difference_with_reach(
    first: float, second: float, reach: float, decimals: int = 2
) -> ShownDifference:
    """Two values, the size of their difference, and the half-width of its interval.

    All have as many decimals as :func:`plus_minus` gives the difference, and more if a difference
    beyond its interval would look like 0.

    >>> difference_with_reach(11.087, 10.0932, 0.29)
    ShownDifference(first='11.09', second='10.09', margin='1.00 ± 0.29')
    """
    exact = abs(first - second)
    digits = len(plus_minus(exact, reach, decimals).split(" ")[0].partition(".")[2])
    while digits < _MOST_DECIMALS and exact > max(reach, _ROUNDING * max(abs(first), abs(second))):
        if shown_difference(first, second, digits):
            break
        digits += 1
    margin = plus_minus(abs(shown_difference(first, second, digits)), reach, digits)
    return ShownDifference(f"{first:.{digits}f}", f"{second:.{digits}f}", margin)


def interval_over_draws(values: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """Mean of repeated experiments with its 95% interval by Student's t.

    value = mean, standard_error = s / sqrt(n), interval = value -+ t_{n-1} standard errors.
    A single draw has no interval: standard_error is 0 and low = high = value.
    values [draws]. Raises InputError if there are no values, a value is not finite, or the values
    are so far apart that the interval is not finite.
    """
    draws = real_numbers(values, "Draws").astype(np.float64)
    if draws.ndim != 1 or draws.size == 0 or not np.all(np.isfinite(draws)):
        raise InputError(
            "An interval needs at least one value, and all values must be finite.", "no_draw"
        )
    n = int(draws.size)
    # What overflows here is infinite and refused with the interval.
    with np.errstate(over="ignore", invalid="ignore"):
        value = float(draws.mean())
        spread = float(draws.std(ddof=1)) if n > 1 else 0.0
    if n == 1:
        return Estimate(value, 0.0, value, value, 1, 1.0)
    standard_error = spread / math.sqrt(n)
    reach = float(stdtrit(n - 1, UPPER_TAIL)) * standard_error
    low, high = value - reach, value + reach
    _require_finite(low, high)
    return Estimate(value, standard_error, low, high, n, float(n))


def _require_finite(low: float, high: float) -> None:
    """Raise InputError for an interval that goes beyond the range of a float."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(
            "The numbers are too large for an interval, whose ends must lie within "
            f"±{sys.float_info.max:.3g}; rescale them.",
            "too_large",
        )
