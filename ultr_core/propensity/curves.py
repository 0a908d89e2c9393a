"""From estimated ratios to an examination curve that can stand in for a true or assumed one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import in_brief, number_or_nan, real_numbers
from ultr_core.errors import InputError
from ultr_core.fields import Choice, Number, set_checked
from ultr_core.propensity.points import (
    FEWEST_CLICKS,
    PropensityEstimate,
    RankEstimate,
    ranks_in_words,
)
from ultr_core.users.examination import PowerLaw, TableCurve, checked_ranks, looked_up
from ultr_core.words import counted, part_of

FloatArray = NDArray[np.float64]

KNOWN_WELL = 1.5
"""A rank is known well if its ratio has a 95% interval with an upper end of at most this many times
the lower: 22% on either side, which takes some 100 clicks at both ranks; and at least
``FEWEST_CLICKS`` clicks."""

LARGEST_ERROR = 0.3
"""Standard error of log ratio up to which a rank shapes the curve.

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


Fit = Callable[[FloatArray, FloatArray, FloatArray, int], tuple[FloatArray, tuple[str, ...]]]
"""From ratios at all ranks, those that are known (NaN elsewhere) and their weights, each [K], and
the reference rank, to the fitted ratios [K] and sentences for the reader."""


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
        raise InputError("A power law needs a ratio at a rank other than the reference.")
    x = np.log(rank[use] / reference)
    y = np.log(values[use])
    # Values are relative errors on the logarithmic scale: var(log v) = var(v) / v^2.
    w = weights[use] * values[use] ** 2
    return max(0.0, -float((w * x * y).sum() / (w * x * x).sum()))


def _nothing(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    return full, ()


def _monotone(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    return falling(full, np.where(np.isfinite(values), weights, 0.0)), ()


def _power_law(
    full: FloatArray, values: FloatArray, weights: FloatArray, reference: int
) -> tuple[FloatArray, tuple[str, ...]]:
    eta = power_law_exponent(values, weights, reference)
    fitted: FloatArray = np.arange(1.0, full.size + 1) ** -eta
    return fitted, (f"Fitted power law: p = (1/r)^η with η = {eta:.3f}.",)


FITS: Mapping[str, Fit] = MappingProxyType(
    {"none": _nothing, "monotone": _monotone, "power-law": _power_law}
)
"""No fit, a curve that never rises, or (1/r)^eta, keyed by the name that readers choose."""


@dataclass(frozen=True)
class RelativeCurve:
    """A table in which some rank is examined more often than rank 1, divided by its largest value.

    Only ratios of examination matter (Section 5.3), so p_1 is below 1 here and the largest value
    is 1. The last value is used beyond the end. Raises InputError unless the numbers are finite,
    not negative and not all 0.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the numbers and divide them by the largest."""
        given = real_numbers(self.values, "The numbers of a propensity curve").astype(np.float64)
        if not given.size or not np.all(np.isfinite(given) & (given >= 0)) or given.max() == 0:
            raise InputError(
                "A propensity curve needs finite numbers of 0 or more, not all 0.", "curve_numbers"
            )
        object.__setattr__(self, "values", tuple((given / given.max()).tolist()))

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Examination of each rank relative to that of the most examined rank, float64."""
        return looked_up(np.asarray(self.values), checked_ranks(ranks))

    def describe(self) -> str:
        """Describe the curve by its length and its most examined rank."""
        top = int(np.argmax(self.values)) + 1
        return f"table of {counted(len(self.values), 'rank')}, rank {top} examined most"


MeasuredCurve = TableCurve | RelativeCurve | PowerLaw


def table_curve(values: Sequence[float]) -> TableCurve | RelativeCurve:
    """The curve with the given values at ranks 1, 2, ..., on any scale.

    Normalised to p_1 = 1 or, if a later value exceeds the first, to a largest value of 1, so that
    no value exceeds 1. Raises InputError, naming the rank, for values that do not make a curve.
    """
    for rank, value in enumerate(values, 1):
        if not 0 <= number_or_nan(value) < math.inf:
            raise InputError(
                f"The propensity of rank {rank} is {in_brief(value)}; give a number of 0 or more."
            )
    if len(values) and values[0] == 0:
        raise InputError(
            "The propensity of rank 1 is 0; it must be above 0, because the others are relative "
            "to it.",
            "first_rank",
        )
    if len(values) and max(values) > values[0]:
        return RelativeCurve(tuple(values))
    return TableCurve(tuple(values))


SMOOTHING = Number(
    "smoothing", "Smoothing", 0, 1, default=0, decimals=None, step=0.05,
    help="Weight of overall click rates.",
)  # fmt: skip
FIT = Choice("fit", "Fit", {name: name for name in FITS}, default="none")


@dataclass(frozen=True)
class CurveOptions:
    """How ratios become a curve.

    smoothing: weight of the overall click rate, from 0 (swaps alone) to 1 (click rates alone).
    Section 7.6 describes this smoothing but not its strength. ranks: the ranks whose ratio is used;
    others are interpolated; empty for all ranks. fit: one of ``FITS``.
    """

    smoothing: float = 0.0
    ranks: tuple[int, ...] = ()
    fit: str = "none"

    def __post_init__(self) -> None:
        """Check the options."""
        set_checked(self, (SMOOTHING, FIT))


@dataclass(frozen=True)
class AssembledCurve:
    """A curve and how it was obtained.

    curve: examination, for use as propensities. values: its values at ranks 1..K, relative to rank
    1. used: ranks whose ratio is precise enough to shape the curve. interpolated: ranks between
    those. guessed: the other ranks; all but the reference if no other rank is used. fitted: ranks
    whose value a fit has changed. outside: used ranks, other than the reference, where the fit is
    outside the 95% interval. known: used ranks whose ratio has a narrow interval (``KNOWN_WELL``),
    and the reference. notices: sentences for the reader.
    """

    curve: MeasuredCurve
    values: tuple[float, ...]
    used: tuple[int, ...]
    interpolated: tuple[int, ...]
    guessed: tuple[int, ...]
    notices: tuple[str, ...]
    fitted: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    known: tuple[int, ...] = ()

    @property
    def guess_from(self) -> int | None:
        """The rank from which the curve is only a guess; None if there is no such rank."""
        below = [rank for rank in self.guessed if rank > self.used[-1]]
        return below[0] if below else None

    @property
    def sure(self) -> bool:
        """Whether every rank is known well and the curve goes through the known values."""
        return len(self.known) == len(self.values) and not self.outside

    @property
    def sentence(self) -> str:
        """How many ranks are known well and used, and where the guess begins and the fit fails."""
        if not self.outside:
            return self._known_sentence
        return (
            f"{self._known_sentence} The fit lies outside the 95% interval of "
            f"{len(self.outside):,} of the {counted(len(self.used) - 1, 'rank')} other than the "
            "reference."
        )

    @property
    def _known_sentence(self) -> str:
        ranks = len(self.values)
        if ranks == 1:
            return "The curve has only one rank."
        well = f"known well (95% interval: upper end at most {KNOWN_WELL:g} times the lower)"
        if len(self.known) == ranks:
            return f"All {ranks:,} ranks are {well}."
        if len(self.used) == 1:
            return (
                f"No rank besides rank {self.used[0]} is measured well enough to shape the curve: "
                "the whole curve is a guess."
            )
        words = f"{part_of(len(self.known), ranks, 'rank', does='is', do='are')} {well}"
        words += f"; {len(self.used):,} shape the curve"
        if self.interpolated:
            words += "; ranks between them are interpolated"
        if self.guess_from is not None:
            words += f"; from rank {self.guess_from:,} down, the curve is a guess"
        return f"{words}."

    def made_by(self, rank: int) -> str:
        """How the value of a rank was obtained: fitted, measured, interpolated or guessed."""
        return (
            "guess" if rank in self.guessed
            else "fitted" if rank in self.fitted
            else "measured" if rank in self.used else "interpolated"
        )  # fmt: skip


def assemble_curve(
    estimate: PropensityEstimate,
    options: CurveOptions | None = None,
    *,
    click_rates: ArrayLike | None = None,
) -> AssembledCurve:
    """Smooth, interpolate, extrapolate, fit and normalise estimated ratios, in that order.

    1. (1 - s) ratio_r + s rate_r / rate_reference at each chosen rank with a ratio (Section 7.6);
    2. of these, only ranks whose log value has a standard error of ``LARGEST_ERROR`` or less
       (`relative_errors`) shape the curve, if there is such a rank besides the
       reference;
    3. ranks between used ranks are interpolated, linearly in log rank and log ratio; ranks below
       the last used rank follow the power law of step 4, as in `carried_on`; ranks above the first
       used rank get its value (a rank without data never counts as 0);
    4. weighted isotonic regression, or the least-squares exponent of (r / k)^-eta in logarithms,
       with weights from the standard errors;
    5. division by the value at rank 1; beyond K the last value is used.

    The curve is not forced to fall where values that are known well rise. click_rates: overall rate
    at each rank [K], needed for smoothing. Raises InputError if no chosen rank besides the
    reference has a ratio above 0 (the error names the causes), or if smoothing lacks rates.
    """
    chosen = options if options is not None else CurveOptions()
    values, weights = _chosen_ratios(estimate, chosen)
    if chosen.smoothing > 0:
        values = _smoothed(values, estimate.reference, chosen.smoothing, click_rates)
    unclicked = (np.flatnonzero(values == 0) + 1).tolist()
    values[values == 0] = np.nan
    _require_ratio(estimate, np.isfinite(values), unclicked)
    notices = []
    if unclicked:
        notices.append(
            f"{_ranks(unclicked)}: no clicks, so the ratio is 0 and there is no weight 1/p; not "
            "used by the curve."
        )
    values, blind, told = _precise(values, estimate, chosen.smoothing)
    known = np.isfinite(values)
    used, between, beside = _parts(known)
    notices += [*told, *_filled(between, beside, used)]
    full = _interpolated(values, weights, estimate.reference)
    before = full
    full, fit_notices = FITS[chosen.fit](full, values, weights, estimate.reference)
    notices += fit_notices
    fitted = (np.flatnonzero(~np.isclose(full, before, rtol=1e-9, atol=0.0)) + 1).tolist()
    outside = [] if blind or chosen.smoothing > 0 else _outside(estimate, full, known)
    # A guess at rank 1 is nothing to compare with.
    first = 1 if 1 in used else estimate.reference
    above = (np.flatnonzero(known & (full > full[first - 1])) + 1).tolist()
    full = full / full[0]
    if above:
        notices.append(
            f"{_ranks(above)}: examined more often than rank {first} according to this estimate; "
            "left unchanged."
        )
    well = [rank for rank in used if _well(estimate.points[rank - 1], estimate.reference)]
    if blind:
        used, well, between = [estimate.reference], [estimate.reference], []
        beside = [rank for rank in range(1, full.size + 1) if rank != estimate.reference]
    return AssembledCurve(
        table_curve(full.tolist()),
        tuple(full.tolist()),
        tuple(used),
        tuple(between),
        tuple(beside),
        tuple(notices),
        tuple(fitted),
        tuple(rank for rank in outside if rank in fitted),
        tuple(well),
    )


def _well(point: RankEstimate, reference: int) -> bool:
    """Whether an interval says that the ratio is known well; the reference is so by definition.

    A rank with fewer than ``FEWEST_CLICKS`` clicks is not, however narrow its interval.
    """
    if point.rank == reference:
        return point.value is not None
    if point.clicks < FEWEST_CLICKS:
        return False
    return bool(point.low and point.high and point.high <= KNOWN_WELL * point.low)


def _require_ratio(
    estimate: PropensityEstimate, given: NDArray[np.bool_], unclicked: list[int]
) -> None:
    """Raise InputError, with the causes, if no rank beside the reference has a ratio above 0."""
    if given.size == 1 and given.any():
        return
    if np.delete(given, estimate.reference - 1).any():
        return
    causes = " ".join(gap.sentence for gap in estimate.gaps)
    if unclicked:
        causes = f"{_ranks(unclicked)}: no clicks, so the ratio is 0. {causes}".rstrip()
    raise InputError(
        f"No other rank's ratio to rank {estimate.reference} is above 0, so there is no "
        f"propensity curve. {causes}".rstrip(),
        "no_ratio",
    )


def _outside(
    estimate: PropensityEstimate, values: FloatArray, known: NDArray[np.bool_]
) -> list[int]:
    """Known ranks whose interval does not hold the value [K], a ratio to the reference rank."""
    return [
        point.rank
        for point, value, used in zip(
            estimate.points, values.tolist(), known.tolist(), strict=True
        )
        if used and point.rank != estimate.reference and point.low is not None
        and point.high is not None and not point.low <= value <= point.high
    ]  # fmt: skip


def _parts(known: NDArray[np.bool_]) -> tuple[list[int], list[int], list[int]]:
    """Ranks that are known, ranks between those, and the others."""
    ranks = np.arange(1, known.size + 1)
    inside = (ranks >= ranks[known][0]) & (ranks <= ranks[known][-1])
    return ranks[known].tolist(), ranks[inside & ~known].tolist(), ranks[~inside].tolist()


def _precise(
    values: FloatArray, estimate: PropensityEstimate, smoothing: float
) -> tuple[FloatArray, bool, tuple[str, ...]]:
    """The values precise enough for the curve, NaN elsewhere; all if none beside the reference is.

    Also whether that is so, and a sentence on those that are not.
    """
    given = np.isfinite(values)
    well = given & (relative_errors(estimate, values, smoothing) <= LARGEST_ERROR)
    weak = (np.flatnonzero(given & ~well) + 1).tolist()
    if not weak:
        return values, False, ()
    if not np.any(np.delete(well, estimate.reference - 1)):
        return (
            values,
            True,
            (
                f"No rank besides rank {estimate.reference} is measured precisely; the curve goes "
                "through estimates that may be wrong by any factor, so do not rely on it.",
            ),
        )
    return (
        np.where(well, values, np.nan),
        False,
        (
            f"{_ranks(weak)}: measured on too few clicks (standard error of the log ratio above "
            f"{LARGEST_ERROR:g}, or no interval); not used by the curve.",
        ),
    )


def _filled(between: list[int], beside: list[int], used: list[int]) -> list[str]:
    """Sentences on the ranks that do not shape the curve: what it has there."""
    told, first, last = [], used[0], used[-1]
    if between:
        told.append(
            f"{_ranks(between)}: interpolated between the nearest ranks that the curve uses."
        )
    if above := [rank for rank in beside if rank < first]:
        told.append(f"{_ranks(above)}: a guess (the value of rank {first}, the first rank used).")
    if below := [rank for rank in beside if rank > last]:
        told.append(
            f"{_ranks(below)}: a guess; nothing usable was measured below rank {last}, so the "
            "curve continues to fall as it does at the ranks above."
        )
    return told


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
        raise InputError("Smoothing needs the overall click rate of each rank.", "click_rates")
    rates = np.asarray(click_rates, dtype=np.float64)[: values.size]
    if rates.size < values.size or not rates[reference - 1] > 0:
        raise InputError(
            f"Smoothing needs a click rate at each of the {values.size} ranks, above 0 at the "
            f"reference rank {reference}."
        )
    smooth: FloatArray = (1 - weight) * values + weight * rates / rates[reference - 1]
    return smooth


def _interpolated(values: FloatArray, weights: FloatArray, reference: int) -> FloatArray:
    log_rank = np.log(np.arange(1.0, values.size + 1))
    known = np.isfinite(values)
    filled: FloatArray = np.exp(np.interp(log_rank, log_rank[known], np.log(values[known])))
    last = int(np.flatnonzero(known)[-1])
    if last + 1 < values.size:
        beside = np.any(np.delete(known, reference - 1))
        slope = power_law_exponent(values, weights, reference) if beside else 0.0
        filled[last + 1 :] = carried_on(values, weights, slope, reference)
    return filled


def _ranks(ranks: list[int]) -> str:
    """The ranks as a sentence begins with them."""
    return ranks_in_words(ranks, "Rank")
