"""Trust bias from a swap experiment: click rates at a rank as a line in those at the landmark.

Under users whose clicks are affine in the relevance, P(c = 1 | r, k) = alpha_k r + beta_k, any
group of documents has its click rates on one line,

    CTR_k = A_k CTR_1 + B_k,   A_k = alpha_k / alpha_1,   B_k = beta_k - alpha_k beta_1 / alpha_1,

and B_k is 0 at every rank if and only if noise is constant: position bias alone. Two groups give
the line: the landmark documents, and those of the rank that trades places with them. Only A and B
can be known, and they are enough: the affine correction with them orders rankers as that with alpha
and beta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from ultr_core.findings import Finding
from ultr_core.propensity.points import FEWEST_CLICKS, Counts, ranks_in_words
from ultr_core.propensity.swaps import SwapCounts
from ultr_core.users.click_models import checked_relevance
from ultr_core.users.examination import looked_up
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

LEVEL = 0.05
"""Of the test for trust bias, over all ranks together."""

TRUST_BIAS = ("found", "not found", "untested")
"""What the test finds in a log with swaps; untested where no rank has a line."""

FEWEST_DEVIATIONS = 4.0
"""By which the groups must differ at the landmark: a line through one point has no slope."""


@dataclass(frozen=True, eq=False)
class TrustLines:
    """Slope A and intercept B for each rank, float64 [ranks 1..K], with their standard errors.

    NaN at the landmark's own rank, and if the two groups of documents are too similar, one of them
    was not shown, or clicks are too few (`trust_lines`). groups: number of groups of sessions, if
    errors come from leaving out one at a time; 0 if presentations are treated as independent.
    landmark: the rank whose click rates the lines start from.
    """

    slope: FloatArray
    intercept: FloatArray
    slope_error: FloatArray
    intercept_error: FloatArray
    groups: int = 0
    landmark: int = 1

    def reach(self, level: float) -> float:
        """How many standard errors an interval extends to each side if it misses at this rate."""
        quantile = 1.0 - level / 2.0
        return float(stdtrit(self.groups - 1, quantile) if self.groups else ndtri(quantile))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Ranks that have a line; without a single click, there is nothing to draw it through."""
        return np.isfinite(self.slope) & (self.intercept_error > 0)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Ranks whose line rises with relevance, as it must if it is to correct clicks."""
        return self.known & (self.slope > 0)

    @property
    def finding(self) -> Finding:
        """Whether every intercept may be 0: the largest is tested against its error.

        With a Bonferroni correction over the ranks, the test rejects with probability at most
        ``LEVEL`` if there is no trust bias.
        """
        about = ("trust_bias", "Click rates by rank are lines through 0")
        known = np.flatnonzero(self.known)
        if not known.size:
            said = (
                "No rank has a line that could show trust bias: there are too few clicks, the two "
                "groups of documents are clicked about equally often, or the documents that did "
                "not trade places are missing from the log."
            )
            return Finding(said, limit=None, key=about[0], title=about[1])
        reach = self.reach(LEVEL / known.size)
        distance = np.abs(self.intercept[known]) / self.intercept_error[known]
        row = int(known[np.argmax(distance)])
        value, error = float(self.intercept[row]), float(self.intercept_error[row])
        interval = (value - reach * error, value + reach * error)
        trust = not interval[0] <= 0 <= interval[1]
        said = (
            f"Lines for {counted(known.size, 'rank')} were tested for trust bias. The clearest, "
            f"for rank {row + 1}, has an intercept of {value:.3f} ({interval[0]:.3f} to "
            f"{interval[1]:.3f}), "
        )
        said += (
            "so noise depends on the rank: the estimated curve is not that of examination, and the "
            "affine correction is needed (docs/trust.md)."
            if trust
            else "which position bias with constant noise can explain."
        )
        said += self._without_lines()
        return Finding(
            said, value, "=", interval=interval, decided="does not hold" if trust else "holds",
            key=about[0], title=about[1],
        )  # fmt: skip

    @property
    def trust_bias(self) -> str:
        """What the test found: one of ``TRUST_BIAS``."""
        found, not_found, untested = TRUST_BIAS
        return {"does not hold": found, "holds": not_found}.get(self.finding.outcome, untested)

    def _without_lines(self) -> str:
        lacking = [rank + 1 for rank in np.flatnonzero(~self.usable).tolist()]
        if self.landmark in lacking:
            lacking.remove(self.landmark)
        if not lacking:
            return ""
        return (
            f" {ranks_in_words(lacking, 'Rank')} {'has' if len(lacking) == 1 else 'have'} no line "
            "for a correction; a correction would use the line of the nearest rank above."
        )

    def affine(self, ranks: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """A and B as the alpha and beta that an estimator gets; 1 and 0 at the landmark.

        Ranks without a `usable` line take that of the nearest usable rank above, also beyond the
        last rank.
        """
        usable = self.usable
        slope = np.where(usable, self.slope, 1.0)
        intercept = np.where(usable, self.intercept, 0.0)
        source = np.maximum.accumulate(np.where(usable, np.arange(slope.size), 0))
        at = np.asarray(ranks, dtype=np.int64)
        return looked_up(slope[source], at), looked_up(intercept[source], at)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, with 95% intervals; None for a rank without a line."""
        reach = self.reach(LEVEL)

        def line(value: float, error: float) -> dict[str, float] | None:
            if not error > 0:  # NaN, or no click
                return None
            return {"value": value, "low": value - reach * error, "high": value + reach * error}

        slopes, intercepts = (
            [line(*each) for each in zip(value.tolist(), error.tolist(), strict=True)]
            for value, error in (
                (self.slope, self.slope_error), (self.intercept, self.intercept_error),
            )
        )  # fmt: skip
        ranks = [
            {"rank": rank, "slope": slope, "intercept": intercept}
            for rank, (slope, intercept) in enumerate(zip(slopes, intercepts, strict=True), 1)
        ]
        found = self.finding
        return {"ranks": ranks, "verdict": found.outcome, "words": found.sentence}

    def click_probability(self, relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
        """Click rate at a rank, for documents whose rate at the landmark is their relevance."""
        slope, intercept = self.affine(ranks)
        found: FloatArray = slope * checked_relevance(relevance) + intercept
        return found


def trust_lines(counts: SwapCounts) -> TrustLines:
    """The line for each rank from the four click rates in its swaps.

    Standard errors come from the delta method. The two documents in a swap belong to the same
    query, so their clicks are correlated. The correlation was not recorded and is assumed to be as
    large as possible, which makes the errors too large.

    A rank has no line, and is not tested for trust bias, if its landmark documents have fewer than
    ``FEWEST_CLICKS`` clicks or one of the four rates is 0 or 1, and so has no spread to estimate a
    variance from; neither counts as known well in a curve of ratios.
    """
    lines = _lines(counts)
    few = counts.swapped.clicks < FEWEST_CLICKS
    for part in (counts.control, counts.swapped, counts.moved, counts.unmoved):
        few |= (part.clicks == 0) | (part.clicks == part.impressions)
    return _where(~few, lines)


def _where(known: NDArray[np.bool_], lines: TrustLines) -> TrustLines:
    """The lines of some ranks, NaN at the others."""
    return replace(
        lines,
        slope=np.where(known, lines.slope, np.nan),
        intercept=np.where(known, lines.intercept, np.nan),
        slope_error=np.where(known, lines.slope_error, np.nan),
        intercept_error=np.where(known, lines.intercept_error, np.nan),
    )


def _lines(counts: SwapCounts) -> TrustLines:
    """`trust_lines` for ranks with any number of clicks."""
    (x1, v1), (y1, w1), (x2, v2), (y2, w2) = (
        _rates(each) for each in (counts.control, counts.swapped, counts.moved, counts.unmoved)
    )
    apart = x1 - x2
    with np.errstate(invalid="ignore", divide="ignore"):
        usable = np.abs(apart) > FEWEST_DEVIATIONS * np.sqrt(v1 + v2)
        apart = np.where(usable, apart, np.nan)
        slope = (y1 - y2) / apart
        pair = (np.sqrt(w1) + np.abs(slope) * np.sqrt(v2)) ** 2
        slope_variance = (pair + w2 + slope**2 * v1) / apart**2
        intercept = y1 - slope * x1
        # d B = -x2 / (x1 - x2) (d y1 - A d x1) + x1 / (x1 - x2) (d y2 - A d x2)
        first, second = np.abs(x2 / apart), np.abs(x1 / apart)
        pair = (first * np.sqrt(w1) + np.abs(second * slope) * np.sqrt(v2)) ** 2
        variance = pair + (first * slope) ** 2 * v1 + second**2 * w2
    slope[counts.landmark - 1] = np.nan
    intercept[counts.landmark - 1] = np.nan
    return TrustLines(
        slope, intercept, np.sqrt(slope_variance), np.sqrt(variance), landmark=counts.landmark
    )


def trust_lines_by_group(sums: NDArray[np.int64], landmark: int) -> TrustLines:
    """The lines of `trust_lines`, with errors from leaving out one group of sessions at a time.

    sums: as `PresentationLog.swaps_by_group` gives them, [groups, 4, 2, ranks]. Rows of one session
    may depend on each other in any way. A rank has a line only if it
    still has one when any group is left out.
    """
    groups, total = sums.shape[0], sums.sum(axis=0)
    whole = trust_lines(_counts(total, landmark))
    parts = [_lines(_counts(total - part, landmark)) for part in sums]
    errors = []
    for name in ("slope", "intercept"):
        values = np.stack([getattr(part, name) for part in parts])
        errors.append(np.sqrt((groups - 1) * values.var(axis=0)))
    known = whole.known & np.isfinite(errors[0])
    slope_error, intercept_error = errors
    found = replace(whole, slope_error=slope_error, intercept_error=intercept_error, groups=groups)
    return _where(known, found)


def _counts(sums: NDArray[np.int64], landmark: int) -> SwapCounts:
    """The counts of swapped, control, moved and unmoved [4, 2, ranks]."""
    swapped, control, moved, unmoved = (Counts(*part) for part in sums)
    return SwapCounts(landmark, swapped, control, moved, unmoved, int(sums[:3, 0].sum()))


def _rates(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Click rates and their variances, NaN where nothing was shown."""
    shown = counts.impressions.astype(np.float64)
    rate = np.divide(counts.clicks, shown, out=np.full(shown.size, np.nan), where=shown > 0)
    variance: FloatArray = rate * (1.0 - rate) / np.where(shown > 0, shown, np.nan)
    return rate, variance
