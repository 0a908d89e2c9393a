"""Checks of a propensity curve."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError, quoted
from ultr_core.findings import Finding
from ultr_core.inspection.inspection import (
    Check,
    Inspection,
    Seen,
    found_by,
    good,
    graded,
    stop,
    warning,
    worst_context,
)

LARGE_WEIGHT = 100.0
"""Weight of one click, beside one at the most examined rank, from which a reader should look."""


def inspect_curve(
    values: Sequence[float],
    *,
    name: str = "the curve",
    form: str = "CSV, rank and propensity",
    trust_bias: str = "",
) -> Inspection:
    """Check the numbers given for ranks 1, 2, ..., K; only their ratios matter (section 5.3).

    trust_bias: what swaps said of it in the log that the curve is from, as in its file.
    Raises InputError for an empty curve or a number that is negative or not finite.
    """
    numbers = real_numbers(values, f"The propensities of {name}").astype(np.float64)
    if numbers.ndim != 1 or not numbers.size:
        raise InputError(f"{name} has no propensities; give one per rank, from rank 1.")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        raise InputError(
            f"{name} has {numbers[wrong[0]]:g} at rank {wrong[0] + 1}; give a number of 0 or more."
        )
    counts = {"ranks": int(numbers.size)}
    findings = (*found_by(CHECKS, numbers), *found_by((OF_TRUST,), trust_bias))
    return Inspection("curve", name, form, findings, counts)


def inspect_curves(
    contexts: Mapping[str, Sequence[float]],
    *,
    name: str,
    trust_bias: Mapping[str, str] = MappingProxyType({}),
) -> Inspection:
    """The checks of `inspect_curve`, each for the context in which it turns out worst."""
    each = {
        context: inspect_curve(
            values,
            name=f"{name}, context {quoted(context)},",
            trust_bias=trust_bias.get(context, ""),
        )
        for context, values in contexts.items()
    }
    findings = []
    for key in dict.fromkeys(found.key for one in each.values() for found in one.findings):
        found = {
            context: finding
            for context, one in each.items()
            for finding in one.findings
            if finding.key == key
        }
        sentence, worst = worst_context(found)
        findings.append(replace(worst, sentence=sentence))
    counts = {"contexts": len(each), "ranks": max(one.counts["ranks"] for one in each.values())}
    form = "CSV, context, rank and propensity"
    return Inspection("curve", name, form, tuple(findings), counts)


def rescaled_notice(values: Sequence[float] | NDArray[np.float64]) -> tuple[str, ...]:
    """A sentence if a rank's number exceeds 1 and the numbers are therefore not probabilities."""
    top = max(values, default=0.0)
    if not top > 1:
        return ()
    return (
        f"The largest propensity is {top:g}, above 1, so the values are not probabilities; they "
        "are used as ratios, and only ratios matter.",
    )


def _length(numbers: NDArray[np.float64]) -> Seen:
    return good(
        int(numbers.size),
        f"Propensities for ranks 1 to {numbers.size:,}; rank 1 is the reference. Ranks that never "
        "occur in a log do no harm; a clicked position beyond the last rank has no propensity.",
    )


def _zeros(numbers: NDArray[np.float64]) -> Seen:
    zero = np.flatnonzero(numbers == 0) + 1
    if not zero.size:
        return good(0, "No propensity is 0.")
    names = ", ".join(map(str, zero[:5].tolist())) + (", ..." if zero.size > 5 else "")
    at = "position" if zero.size == 1 else "positions"
    return stop(
        int(zero.size),
        f"The propensity is 0 at {at} {names}, so a click there has an infinite weight; give a "
        "number above 0, or clip.",
    )


def _scale(numbers: NDArray[np.float64]) -> Seen:
    top = float(numbers.max())
    if told := rescaled_notice(numbers):
        return warning(top, *told)
    return good(top, "All numbers lie between 0 and 1.")


def _shape(numbers: NDArray[np.float64]) -> Seen | None:
    if not numbers.max():
        return None
    rises = np.flatnonzero(np.diff(numbers) > 0) + 2
    if numbers.size > 1 and np.ptp(numbers) <= 1e-9 * numbers.max():
        return warning(
            float(numbers[0]),
            f"Every rank has the same propensity, {numbers[0]:g}. If these values are "
            "examination probabilities, there is no position bias and weighting changes nothing; "
            "check that they are not the probabilities with which items were chosen.",
        )
    # Shares are 1 at most; the sum of larger numbers may be none.
    if numbers.size > 2 and numbers.max() <= 1 and abs(numbers.sum() - 1) < 1e-6:
        return warning(
            1.0,
            "The numbers add up to 1, as shares of clicks or impressions would; the examination "
            "probabilities of ranks need not, so check what these numbers are.",
        )
    if rises.size:
        return warning(
            int(rises[0]),
            f"Rank {rises[0]} has a larger propensity than the rank above it. In a list this is "
            "noise or an error; in a row of pictures it can be correct.",
        )
    return good(0, "Propensities never increase from one rank to the next.")


def _largest_weight(numbers: NDArray[np.float64]) -> Seen | None:
    if not numbers.max():
        return None
    least = int(np.argmin(np.where(numbers > 0, numbers, np.inf)))
    # Python's numbers, which tell of a quotient beyond float64 by no warning.
    top, lowest = float(numbers.max()), float(numbers[least])
    weight = top / lowest
    if math.isinf(weight):
        return warning(
            None,
            f"A click at rank {least + 1} counts more than {sys.float_info.max:.0e} times as much "
            "as a click at the most examined rank; clip, or give a larger propensity there.",
        )
    heavy = weight > LARGE_WEIGHT
    return graded(
        weight,
        f"A click at rank {least + 1} counts {weight:.3g} times as much as a click at the most "
        f"examined rank{'; clip, or expect wide intervals' if heavy else ''}.",
        warning=heavy,
    )


def _trust_bias(found: str) -> Seen | None:
    """What the curve's file says of trust bias."""
    if not found:
        return None
    told = {
        "found": "The log that gave this curve has trust bias, so the curve is not that of "
        "examination and dividing clicks by it leaves a bias; docs/trust.md shows how to correct "
        "for trust in Python.",
        "not found": "The log that gave this curve was tested for trust bias, and none was found.",
    }
    untested = "The swaps that gave this curve could not be tested for trust bias."
    stops = found == "found"
    return graded(None, told.get(found, untested), stop=stops, warning=found != "not found")


OF_TRUST = Check("trust_bias", "Trust bias in the curve's log", _trust_bias)
"""The check of where a curve is from, if its file says so."""


def trust_bias_found(findings: Iterable[Finding]) -> str:
    """Why curves with these findings are not those of examination; "" if no reason is known."""
    stops = (one for one in findings if one.key == OF_TRUST.key and one.severity == "stop")
    return " ".join(one.sentence for one in stops)


CHECKS = (
    Check("ranks", "Ranks", _length),
    Check("zeros", "Propensities of 0", _zeros),
    Check("scale", "Range", _scale),
    Check("shape", "Shape", _shape),
    Check("largest_weight", "Largest weight", _largest_weight),
)
"""The checks of a curve, in the order in which they are read."""
