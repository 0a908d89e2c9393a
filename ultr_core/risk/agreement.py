"""Do two ways of judging rankers put them in the same order?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError

FloatArray = NDArray[np.float64]

SHORT = 300
"""Items up to which every pair is looked at: ten times as fast as sorting for sixty rankers."""


def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b of two lists of numbers, from -1 (reversed) to 1 (same order).

    (concordant - discordant) / sqrt((pairs - ties in a) (pairs - ties in b)), Kendall (1945).
    a and b [items]. Raises InputError if they differ in length, have fewer than two items, hold a
    number that is not finite, or if all numbers of one list are equal (tau is not defined then).

    >>> kendall_tau([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.33333333333333337
    """
    first, second = _two_lists(a, b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise InputError(
            "Kendall's tau is not defined if all numbers of one list are equal.", "equal_numbers"
        )
    return _tau(first, second)


def _tau(first: FloatArray, second: FloatArray) -> float:
    count = _balance_of_all_pairs if first.size <= SHORT else _balance_by_sorting
    balance, untied_in_one, untied_in_other = count(first, second)
    tau = balance / np.sqrt(untied_in_one) / np.sqrt(untied_in_other)
    return float(np.clip(tau, -1.0, 1.0))


def _balance_of_all_pairs(first: FloatArray, second: FloatArray) -> tuple[int, int, int]:
    """Concordant less discordant pairs; pairs that are not tied in one list, and in the other."""
    above, over = (np.greater.outer(values, values) for values in (first, second))
    concordant, discordant, untied_in_one, untied_in_other = (
        int(np.count_nonzero(pairs)) for pairs in (above & over, above & over.T, above, over)
    )
    return concordant - discordant, untied_in_one, untied_in_other


def _balance_by_sorting(first: FloatArray, second: FloatArray) -> tuple[int, int, int]:
    """The same in O(n log^2 n)."""
    one, other = (np.unique(values, return_inverse=True)[1] for values in (first, second))
    pairs = one.size * (one.size - 1) // 2
    untied_in_one, untied_in_other = pairs - _tied_pairs(one), pairs - _tied_pairs(other)
    ties_in_both = _tied_pairs(one * other.size + other)
    discordant = _inversions(other[np.lexsort((other, one))])
    balance = untied_in_one + untied_in_other - pairs + ties_in_both - 2 * discordant
    return balance, untied_in_one, untied_in_other


def _tied_pairs(values: NDArray[np.int64]) -> int:
    """Pairs of equal numbers."""
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: NDArray[np.int64]) -> int:
    """Pairs whose first member is larger, among whole numbers from 0, in O(n log^2 n).

    Two numbers are told apart at the highest bit that differs: numbers that agree above a bit stand
    together in their old order, and in front of each 0 there is one inversion for each 1.
    """
    inversions = 0
    for bit in reversed(range(int(ranks.max()).bit_length())):
        above = ranks >> (bit + 1)
        is_one = (ranks >> bit) & 1
        ones = np.concatenate(([0], np.cumsum(is_one)))
        before = ones[:-1] - ones[np.searchsorted(above, above)]
        inversions += int(before[is_one == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return inversions


def order_agreement(a: ArrayLike, b: ArrayLike) -> float:
    """`kendall_tau`, and 0 where one list has equal numbers only: it says nothing on the order.

    Raises InputError as `kendall_tau` does, but for equal numbers.
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
            f"Kendall's tau needs two equally long lists of two numbers or more, "
            f"not shapes {first.shape} and {second.shape}.",
            "two_lists",
        )
    if not (np.all(np.isfinite(first)) and np.all(np.isfinite(second))):
        raise InputError("Kendall's tau needs finite numbers.", "not_finite")
    return first, second
