"""Checks of a propensity curve."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.inspection.findings import Inspection

LARGE_WEIGHT = 100.0
"""Weight of one click, beside one at the most examined rank, from which a reader should look."""


def inspect_curve(
    values: Sequence[float], *, name: str = "the curve", form: str = "CSV, rank and propensity"
) -> Inspection:
    """Check the numbers given for ranks 1, 2, ..., K; only their ratios matter (section 5.3).

    Raises InputError for an empty curve or a number that is negative or not finite.
    """
    numbers = real_numbers(values, f"The propensities of {name}").astype(np.float64)
    if numbers.ndim != 1 or not numbers.size:
        raise InputError(f"{name} has no propensity; one for each rank from 1 is needed.")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        raise InputError(
            f"{name} has {numbers[wrong[0]]:g} at rank {wrong[0] + 1}; a number of 0 or more is "
            "needed."
        )
    findings = [_length(numbers), _zeros(numbers), _scale(numbers)]
    if numbers.max() > 0:
        findings += [_shape(numbers), _largest_weight(numbers)]
    counts = {"ranks": int(numbers.size)}
    return Inspection("curve", name, form, tuple(findings), counts)


def _length(numbers: NDArray[np.float64]) -> Finding:
    return Finding.of_file(
        "ranks", "Ranks", int(numbers.size), "good",
        f"Propensities for ranks 1 to {numbers.size:,}; rank 1 is the reference. Ranks that a log "
        "never shows do no harm; a clicked position beyond the last one has no propensity.",
    )  # fmt: skip


def _zeros(numbers: NDArray[np.float64]) -> Finding:
    zero = np.flatnonzero(numbers == 0) + 1
    if not zero.size:
        return Finding.of_file("zeros", "Propensities of 0", 0, "good", "No propensity is 0.")
    names = ", ".join(map(str, zero[:5].tolist())) + (", ..." if zero.size > 5 else "")
    return Finding.of_file(
        "zeros", "Propensities of 0", int(zero.size), "stop",
        f"The propensity is 0 at position {names}, so a click there has an infinite weight; give a "
        "number above 0 or clip.",
    )  # fmt: skip


def _scale(numbers: NDArray[np.float64]) -> Finding:
    top = float(numbers.max())
    if top > 1:
        return Finding.of_file(
            "scale", "Range", top, "warning",
            f"The largest number is {top:g}, above 1, so they are no probabilities; they are taken "
            "as ratios and divided by the largest.",
        )  # fmt: skip
    return Finding.of_file("scale", "Range", top, "good", "All numbers lie between 0 and 1.")


def _shape(numbers: NDArray[np.float64]) -> Finding:
    key, label = "shape", "Shape"
    rises = np.flatnonzero(np.diff(numbers) > 0) + 2
    if numbers.size > 1 and np.ptp(numbers) <= 1e-9 * numbers.max():
        return Finding.of_file(
            key, label, float(numbers[0]), "warning",
            f"Every rank has the same propensity, {numbers[0]:g}. As examination that means no "
            "position bias, and weighting changes nothing; the chance that an item was chosen "
            "is not its examination.",
        )  # fmt: skip
    # Shares are 1 at most; the sum of larger numbers may be none.
    if numbers.size > 2 and numbers.max() <= 1 and abs(numbers.sum() - 1) < 1e-6:
        return Finding.of_file(
            key, label, 1.0, "warning",
            "The numbers add up to 1, as shares of clicks or of impressions do; examination of "
            "each rank is a probability of its own.",
        )  # fmt: skip
    if rises.size:
        return Finding.of_file(
            key, label, int(rises[0]), "warning",
            f"Rank {rises[0]} has a larger propensity than the rank above it; in a list that is "
            "noise or an error, in a row of pictures it can be true.",
        )  # fmt: skip
    return Finding.of_file(
        key, label, 0, "good", "Propensities never rise from one rank to the next."
    )


def _largest_weight(numbers: NDArray[np.float64]) -> Finding:
    least = int(np.argmin(np.where(numbers > 0, numbers, np.inf)))
    # Python's numbers, which tell of a quotient beyond float64 by no warning.
    top, lowest = float(numbers.max()), float(numbers[least])
    weight = top / lowest
    if math.isinf(weight):
        return Finding.of_file(
            "largest_weight", "Largest weight", None, "warning",
            f"A click at rank {least + 1} weighs more than {sys.float_info.max:.0e} times as much "
            "as one at the most examined rank; clip, or give a larger propensity there.",
        )  # fmt: skip
    return Finding.of_file(
        "largest_weight", "Largest weight", weight, "warning" if weight > LARGE_WEIGHT else "good",
        f"A click at rank {least + 1} weighs {weight:.3g} times as much as one at the most "
        f"examined rank{'; clip, or expect wide intervals' if weight > LARGE_WEIGHT else ''}.",
    )  # fmt: skip
