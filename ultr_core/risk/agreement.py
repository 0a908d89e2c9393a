"""Do two ways of judging rankers put them in the same order?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError

FloatArray = NDArray[np.float64]


def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b for two lists of numbers, from -1 (reversed) to 1 (same order).

    (concordant - discordant) / sqrt((pairs - ties in a) (pairs - ties in b)), Kendall (1945).
    a and b [items]. Raises InputError if they differ in length, have fewer than two items or
    contain a number that is not finite, or if all numbers in one list are equal (tau is then
    undefined).

    >>> kendall_tau([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.33333333333333337
    """
    first, second = _two_lists(a, b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise InputError(
            "Kendall's τ is not defined if all numbers in one list are equal.", "equal_numbers"
        )
    return _tau(first, second)


_PAIRS_AT_ONCE = 4_000_000


def _tau(first: FloatArray, second: FloatArray) -> float:
    """From all pairs, a block of rows at a time: what is judged are tens of rankers."""
    rows = max(_PAIRS_AT_ONCE // first.size, 1)
    counts = np.zeros(4, np.int64)
    for start in range(0, first.size, rows):
        block = slice(start, start + rows)
        above, over = (np.greater.outer(values[block], values) for values in (first, second))
        below = np.less.outer(second[block], second)
        counts += [np.count_nonzero(p) for p in (above & over, above & below, above, over)]
    concordant, discordant, untied_in_one, untied_in_other = map(int, counts)
    tau = (concordant - discordant) / np.sqrt(untied_in_one) / np.sqrt(untied_in_other)
    return float(np.clip(tau, -1.0, 1.0))


def order_agreement(a: ArrayLike, b: ArrayLike) -> float:
    """`kendall_tau`, or 0, which says nothing about the order, if a list has only equal numbers.

    Raises InputError if `kendall_tau` does, except for equal numbers.
    """
    first, second = _two_lists(a, b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return _tau(first, second)


def _two_lists(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both lists as float64, equally long and finite."""
    first, second = (
        real_numbers(values, "Lists to be compared").astype(np.float64) for values in (a, b)
    )
    if first.ndim != 1 or first.shape != second.shape or first.size < 2:
        raise InputError(
            "Kendall's τ needs two lists of equal length with at least two numbers, "
            f"not shapes {first.shape} and {second.shape}.",
            "two_lists",
        )
    if not (np.all(np.isfinite(first)) and np.all(np.isfinite(second))):
        raise InputError("Kendall's τ needs finite numbers.", "not_finite")
    return first, second
