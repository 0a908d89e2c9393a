"""From estimated ratios to an examination curve that can stand in for a true or assumed one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.feedback.examination import PowerLaw, TableCurve, checked_ranks
from ultr_core.propensity.points import PropensityEstimate

FloatArray = NDArray[np.float64]
Fit = Literal["none", "monotone", "power-law"]

FITS: tuple[Fit, ...] = ("none", "monotone", "power-law")
"""What may be fitted to the ratios: nothing, a curve that never rises, or (1/r)^eta."""


@dataclass(frozen=True)
class RelativeCurve:
    """A table in which some rank is examined more than rank 1, divided by its largest value.

    Only ratios of examination matter (Section 5.3), so p_1 is below 1 here and the largest value
    is 1. The last value is carried on beyond the end. Raises InputError unless the numbers are
    finite, not negative and not all 0.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the numbers and divide them by the largest."""
        given = np.asarray(self.values, dtype=np.float64)
        if not given.size or not np.all(np.isfinite(given) & (given >= 0)) or given.max() == 0:
            raise InputError("A propensity curve needs finite numbers of 0 or more, not all 0.")
        object.__setattr__(self, "values", tuple((given / given.max()).tolist()))

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Examination of each rank relative to the most examined one, float64."""
        table = np.asarray(self.values)
        found: FloatArray = table[np.minimum(checked_ranks(ranks), table.size) - 1]
        return found

    def describe(self) -> str:
        """Name the curve with its length and its most examined rank."""
        top = int(np.argmax(self.values)) + 1
        return f"table of {len(self.values)} ranks, rank {top} examined most"


MeasuredCurve = TableCurve | RelativeCurve | PowerLaw


def table_curve(values: Sequence[float]) -> TableCurve | RelativeCurve:
    """The curve with the given values at ranks 1, 2, ..., of any scale.

    Normalised to p_1 = 1; where a later rank exceeds rank 1, to a largest value of 1 instead, so
    that no examination exceeds 1. Raises InputError for values that make no curve, rank named.
    """
    for rank, value in enumerate(values, start=1):
        if not (math.isfinite(value) and value >= 0):
            raise InputError(
                f"The propensity of rank {rank} is {value:g}; it must be a number of 0 or more."
            )
    if len(values) and values[0] == 0:
        raise InputError("The propensity of rank 1 is 0; it must be above 0, the others follow it.")
    if len(values) and max(values) > values[0]:
        return RelativeCurve(tuple(values))
    return TableCurve(tuple(values))


@dataclass(frozen=True)
class CurveOptions:
    """How ratios become a curve.

    smoothing: weight of the overall click rate, 0 (swaps alone) to 1 (click rates alone). Section
        7.6 smooths in this way and does not say how much.
    ranks: the ranks whose ratio is used, others are interpolated; empty for all of them.
    fit: "none", "monotone" or "power-law".
    """

    smoothing: float = 0.0
    ranks: tuple[int, ...] = ()
    fit: Fit = "none"

    def __post_init__(self) -> None:
        """Check the options."""
        if not 0 <= self.smoothing <= 1:
            raise InputError(f"The smoothing weight is {self.smoothing}; it must lie in [0, 1].")
        if self.fit not in FITS:
            raise InputError(f"{quoted(self.fit)} is no fit; choose from {', '.join(FITS)}.")


@dataclass(frozen=True)
class AssembledCurve:
    """A curve and what was done to get it.

    curve: for use as propensities. values: the same at ranks 1..K, relative to rank 1.
    interpolated: ranks without a ratio of their own. notices: sentences for the reader.
    """

    curve: MeasuredCurve
    values: tuple[float, ...]
    interpolated: tuple[int, ...]
    notices: tuple[str, ...]


def assemble_curve(
    estimate: PropensityEstimate,
    options: CurveOptions | None = None,
    *,
    click_rates: ArrayLike | None = None,
) -> AssembledCurve:
    """Smooth, interpolate, fit and normalise estimated ratios, in this order.

    1. (1 - s) ratio_r + s rate_r / rate_reference at each chosen rank with a ratio (Section 7.6);
    2. other ranks up to K from their neighbours, straight in log rank and log ratio, the last
       value carried on (a rank without data is never taken as 0);
    3. weighted isotonic regression, or the least squares exponent of (r / k)^-eta in logarithms,
       weights from the standard errors;
    4. division by the value at rank 1; beyond K the last value holds.

    click_rates: overall rate at each rank [K], needed for smoothing. Raises InputError if no
    chosen rank has a ratio above 0, or if smoothing lacks rates.
    """
    chosen = options if options is not None else CurveOptions()
    values, weights = _chosen_ratios(estimate, chosen)
    if chosen.smoothing > 0:
        values = _smoothed(values, estimate.reference, chosen.smoothing, click_rates)
    unclicked = np.flatnonzero(values == 0) + 1
    notices = []
    if unclicked.size:
        notices.append(
            f"{_names(unclicked)}: no click, so the ratio is 0 and no weight 1/p exists; the value "
            "was interpolated instead."
        )
        values[unclicked - 1] = np.nan
    known = np.isfinite(values)
    if not known.any():
        raise InputError("No rank has a ratio above 0, so there is no propensity curve.")
    filled = np.flatnonzero(~known) + 1
    if filled.size:
        notices.append(f"{_names(filled)}: interpolated between the ranks that were measured.")
    full = _interpolated(values)
    if chosen.fit == "monotone":
        full = falling(full, np.where(known, weights, 0.0))
    elif chosen.fit == "power-law":
        eta = power_law_exponent(values, weights, estimate.reference)
        full = np.arange(1.0, full.size + 1) ** -eta
        notices.append(f"Fitted power law: p_r = (1/r)^{eta:.3f}.")
    full = full / full[0]
    above = np.flatnonzero(full > 1) + 1
    if above.size:
        notices.append(
            f"{_names(above)}: examined more than rank 1 by this estimate; kept as it is."
        )
    return AssembledCurve(
        table_curve(full.tolist()), tuple(full.tolist()), tuple(filled.tolist()), tuple(notices)
    )


def falling(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Closest curve that never rises, by weighted least squares (pool adjacent violators).

    values, weights [K]; a weight of 0 counts a little, so that every rank has a place.
    """
    usable = np.maximum(weights, max(1e-6 * float(weights.max(initial=0.0)), 1e-12))
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), usable.tolist(), strict=True):
        mean, mass, count = value, weight, 1
        while blocks and blocks[-1][0] < mean:
            other, other_mass, other_count = blocks.pop()
            mean = (mean * mass + other * other_mass) / (mass + other_mass)
            mass, count = mass + other_mass, count + other_count
        blocks.append((mean, mass, count))
    return np.repeat([mean for mean, _, _ in blocks], [count for _, _, count in blocks])


def power_law_exponent(values: FloatArray, weights: FloatArray, reference: int) -> float:
    """Exponent eta of ratio_r = (r / reference)^-eta by weighted least squares in logarithms.

    Passes through 1 at the reference; ranks whose value is NaN are left out. Raises InputError if
    no rank beside the reference has a value; a rising curve gives 0.
    """
    rank = np.arange(1.0, values.size + 1)
    use = np.isfinite(values) & (rank != reference)
    if not use.any():
        raise InputError("A power law needs a ratio at one rank beside the reference.")
    x = np.log(rank[use] / reference)
    y = np.log(values[use])
    # Values are relative errors on the logarithmic scale: var(log v) = var(v) / v^2.
    w = weights[use] * values[use] ** 2
    return max(0.0, -float((w * x * y).sum() / (w * x * x).sum()))


def _chosen_ratios(
    estimate: PropensityEstimate, options: CurveOptions
) -> tuple[FloatArray, FloatArray]:
    """Ratios of the chosen ranks, NaN elsewhere, and 1 / variance of each."""
    outside = [rank for rank in options.ranks if not 1 <= rank <= len(estimate.points)]
    if outside:
        raise InputError(
            f"Rank {outside[0]} cannot be chosen: the estimate has ranks 1 to "
            f"{len(estimate.points)}."
        )
    values = np.full(len(estimate.points), np.nan)
    weights = np.zeros(values.size)
    for row, point in enumerate(estimate.points):
        wanted = not options.ranks or point.rank in (*options.ranks, estimate.reference)
        if point.value is not None and wanted:
            values[row] = point.value
            if point.standard_error is not None and point.standard_error * point.value > 0:
                weights[row] = (point.standard_error * point.value) ** -2
    # The reference is exact by definition; ranks without an error count like the worst known.
    known = weights[weights > 0]
    least, most = (known.min(), known.max()) if known.size else (1.0, 1.0)
    weights[np.isfinite(values) & (weights == 0)] = least
    weights[estimate.reference - 1] = max(weights[estimate.reference - 1], 100.0 * most)
    return values, weights


def _smoothed(
    values: FloatArray, reference: int, weight: float, click_rates: ArrayLike | None
) -> FloatArray:
    if click_rates is None:
        raise InputError("Smoothing needs the overall click rate of each rank.")
    rates = np.asarray(click_rates, dtype=np.float64)[: values.size]
    if rates.size < values.size or not rates[reference - 1] > 0:
        raise InputError(
            f"Smoothing needs a click rate at each of the {values.size} ranks, above 0 at the "
            f"reference rank {reference}."
        )
    smooth: FloatArray = (1 - weight) * values + weight * rates / rates[reference - 1]
    return smooth


def _interpolated(values: FloatArray) -> FloatArray:
    log_rank = np.log(np.arange(1.0, values.size + 1))
    known = np.isfinite(values)
    filled: FloatArray = np.exp(np.interp(log_rank, log_rank[known], np.log(values[known])))
    return filled


def _names(ranks: NDArray[np.int64]) -> str:
    names = ", ".join(map(str, ranks[:6].tolist())) + (" and others" if ranks.size > 6 else "")
    return f"{'Rank' if ranks.size == 1 else 'Ranks'} {names}"
