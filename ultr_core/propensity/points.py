"""Estimated examination, rank by rank, with intervals: what every propensity method returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ultr_core.corpus.ranking import whole_in_range, whole_numbers
from ultr_core.errors import InputError
from ultr_core.fields import Number
from ultr_core.limits import CURVE_RANKS
from ultr_core.words import counted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

JACKKNIFE_GROUPS = 20
"""Groups of queries that the jackknife leaves out one after the other."""

BOOTSTRAP_DRAWS = 2_000
"""Resampled experiments behind a bootstrap interval."""

FEWEST_CLICKS = 10
"""Clicks below which an interval from a normal approximation is too narrow."""

MOST_RANKS = CURVE_RANKS.most
"""Ranks that a curve from a log may have."""

MOST_PAIRED = 500
"""Ranks that may be compared pair by pair, which takes seconds here, and time with their cube."""

LANDMARK = Number(
    "landmark", "Landmark k", 1, MOST_PAIRED, default=1,
    help="The rank that trades places with a random rank; the other ranks are compared with it.",
)  # fmt: skip
LAST_RANK = Number(
    "last_rank", "Last rank K", 2, MOST_PAIRED, default=21,
    help="The lowest rank in the experiment.",
)  # fmt: skip

_Z = float(ndtri(0.975))
_TOO_FEW = "too few clicks for an interval"

Cause = Literal["not_logged", "not_linked", "other_part", "no_click"]
"""Why a rank has no ratio: never logged; logged, but no item links it; linked with ranks that do
not reach the reference; linked with it, but not by clicks at both ends."""


def checked_last_rank(last_rank: object, most: int = MOST_RANKS) -> int:
    """K, how many ranks are estimated; raises InputError unless it is whole and in 1..most."""
    return whole_in_range(last_rank, "The last rank", 1, most)


def checked_reference(rank: object, last_rank: int, name: str = "reference") -> int:
    """The rank that others are compared with; raises InputError unless whole and in 1..K."""
    return whole_in_range(rank, f"The {name} rank", 1, last_rank)


@dataclass(frozen=True)
class RankEstimate:
    """Examination of one rank relative to the reference rank: p_r / p_reference.

    rank: r, from 1. value: the ratio, None if the data do not determine it (never 0). low, high:
    95% interval, None if there is none. standard_error: of the logarithm.
    impressions, clicks: of the documents at this rank on which the ratio is based.
    reason: why there is no value or no interval, in words.
    """

    rank: int
    value: float | None
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    impressions: int = 0
    clicks: int = 0
    reason: str = ""

    @property
    def value_text(self) -> str:
        """The ratio as tables show it, or words for a missing value or a rank without clicks."""
        if self.value is None:
            return "missing"
        return "no click" if self.value == 0 else ratio_text(self.value)

    @property
    def interval_text(self) -> str:
        """The interval as tables show it, "" if there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{ratio_text(self.low)} to {ratio_text(self.high)}"

    @property
    def above_one(self) -> bool:
        """Whether the rank seems to be examined more often than the reference rank."""
        return self.value is not None and self.value > 1.0


@dataclass(frozen=True)
class Gap:
    """Ranks without a ratio for one cause, what is the matter, and what traffic would give one."""

    cause: Cause
    ranks: tuple[int, ...]
    reason: str
    remedy: str

    @property
    def sentence(self) -> str:
        """Which ranks, why, and what would help."""
        have = "has" if len(self.ranks) == 1 else "have"
        ranks = ranks_in_words(self.ranks, "Rank")
        return f"{ranks} {have} no estimate: {self.reason}; {self.remedy}."


@dataclass(frozen=True)
class PropensityEstimate:
    """Ratios p_r / p_reference for ranks 1, 2, ..., K, from one method.

    method: key in ``PROPENSITY_METHODS``. reference: the rank whose ratio is 1.
    points: one per rank, from rank 1. pairs: number of pairs of ranks that were compared.
    notices: sentences that a reader should see. gaps: why ranks have no ratio.
    """

    method: str
    reference: int
    points: tuple[RankEstimate, ...]
    pairs: int = 0
    notices: tuple[str, ...] = field(default=())
    gaps: tuple[Gap, ...] = ()

    @property
    def observed(self) -> tuple[RankEstimate, ...]:
        """The ranks that have a value."""
        return tuple(point for point in self.points if point.value is not None)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks without a value."""
        return tuple(point.rank for point in self.points if point.value is None)

    @property
    def above_one(self) -> tuple[int, ...]:
        """The ranks whose ratio to the reference is above 1."""
        return tuple(point.rank for point in self.points if point.above_one)


@dataclass(frozen=True, eq=False)
class Counts:
    """Impressions and clicks of one kind of presentation, int64 [ranks], rank 1 first."""

    impressions: IntArray
    clicks: IntArray

    def __post_init__(self) -> None:
        """Check that they are whole, equally many, and no more clicks than impressions."""
        for name in ("impressions", "clicks"):
            column = whole_numbers(getattr(self, name), f"Counts of {name}", np.int64).copy()
            object.__setattr__(self, name, column)
        if self.impressions.ndim != 1 or self.impressions.shape != self.clicks.shape:
            raise InputError(
                "Counts need impressions and clicks for each rank, in two arrays of equal length; "
                f"these have the shapes {self.impressions.shape} and {self.clicks.shape}."
            )
        wrong = np.flatnonzero((self.clicks > self.impressions) | (self.clicks < 0))
        if wrong.size:
            rank = int(wrong[0])
            raise InputError(
                f"Rank {rank + 1} has {counted(int(self.clicks[rank]), 'click')} in "
                f"{counted(int(self.impressions[rank]), 'impression')}; there can be at most one "
                "click for each impression."
            )

    @property
    def rates(self) -> FloatArray:
        """Clicks per impression; 0 if there are no impressions."""
        return np.divide(
            self.clicks,
            self.impressions,
            out=np.zeros(self.clicks.size),
            where=self.impressions > 0,
        )


def ratio_text(value: float) -> str:
    """Three decimals, or one significant digit if they would show 0: 0.048, 0.0002."""
    if 0 < value < 0.0005:
        return f"{value:.{min(9, -math.floor(math.log10(value)))}f}"
    return f"{value:.3f}"


def ratio_point(
    rank: int, upper: list[tuple[int, int]], lower: list[tuple[int, int]]
) -> RankEstimate:
    """Ratio of two sums of click rates with its delta-method interval.

    value = sum_i c_i/n_i over ``upper`` / the same over ``lower``; variance of its logarithm =
    sum of rate (1 - rate)/n over each side divided by the squared sum of that side. For one rate
    a side this is (1 - c_r)/(n_r c_r) + (1 - c_k)/(n_k c_k) in rates c. Without a click in
    ``upper`` the ratio is 0 and its upper end the exact 97.5% limit of the rate, 1 - 0.025^(1/n),
    over the rate below. Other ratios with a rate of 0 or 1 have no interval: such a rate has no
    spread to estimate a variance from, and is not certain.

    upper, lower: pairs (impressions, clicks). Without an impression above, or a click below, the
    value is None.
    """
    shown, clicked = sum(n for n, _ in upper), sum(c for _, c in upper)
    if any(n == 0 for n, _ in upper):
        return RankEstimate(rank, None, reason=f"nothing was shown at rank {rank}")
    if sum(c for _, c in lower) == 0 or any(n == 0 for n, _ in lower):
        return RankEstimate(
            rank, None, impressions=shown, clicks=clicked, reason="the reference has no clicks"
        )
    top, top_variance = _summed_rate(upper)
    base, base_variance = _summed_rate(lower)
    value = top / base
    if clicked == 0:
        high = sum(1.0 - 0.025 ** (1.0 / n) for n, _ in upper) / base
        return RankEstimate(rank, 0.0, 0.0, high, None, shown, 0, "no clicks at this rank")
    if any(c in (0, n) for n, c in (*upper, *lower)):
        return RankEstimate(rank, value, impressions=shown, clicks=clicked, reason=_TOO_FEW)
    error = math.sqrt(top_variance / top**2 + base_variance / base**2)
    reach = math.exp(_Z * error)
    return RankEstimate(rank, value, value / reach, value * reach, error, shown, clicked)


def _summed_rate(counts: list[tuple[int, int]]) -> tuple[float, float]:
    rates = [(c / n, n) for n, c in counts]
    return sum(rate for rate, _ in rates), sum(rate * (1 - rate) / n for rate, n in rates)


def explained(points: Sequence[RankEstimate], gaps: Sequence[Gap]) -> tuple[RankEstimate, ...]:
    """The points, those in a gap without a value and with its reason."""
    reason = {rank: gap.reason for gap in gaps for rank in gap.ranks}
    return tuple(
        RankEstimate(p.rank, None, None, None, None, p.impressions, p.clicks, reason[p.rank])
        if p.rank in reason
        else p
        for p in points
    )


def doubts(points: Sequence[RankEstimate], gaps: Sequence[Gap] = ()) -> tuple[str, ...]:
    """Sentences on ranks with few clicks or without a value, for the notices of an estimate."""
    notices = []
    few = [point.rank for point in points if 0 < point.clicks < FEWEST_CLICKS]
    if few:
        notices.append(
            f"{_having(few)} fewer than {FEWEST_CLICKS} clicks to compare, too few to rely on."
        )
    notices += [gap.sentence for gap in gaps]
    told = {rank for gap in gaps for rank in gap.ranks}
    missing = [p.rank for p in points if p.value is None and p.rank not in told]
    if missing:
        notices.append(
            f"{_having(missing)} no estimate: there is nothing to compare, and a missing "
            "estimate does not mean 0."
        )
    return tuple(notices)


def _having(ranks: list[int]) -> str:
    names = ", ".join(map(str, ranks[:6])) + (" and others" if len(ranks) > 6 else "")
    return f"Rank {names} has" if len(ranks) == 1 else f"Ranks {names} have"


def ranks_in_words(ranks: Sequence[int], noun: str = "rank") -> str:
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
    return f"{noun}{'' if len(ranks) == 1 else 's'} {listed}"


def wilson_interval(clicks: int, impressions: int) -> tuple[float, float]:
    """95% interval for a click rate, Wilson (1927); InputError if there are no impressions."""
    if impressions < 1 or not 0 <= clicks <= impressions:
        raise InputError(
            "A click rate needs impressions, and at most one click for each, not "
            f"{counted(clicks, 'click')} in {counted(impressions, 'impression')}."
        )
    rate, z2 = clicks / impressions, _Z**2
    middle = rate + z2 / (2 * impressions)
    reach = _Z * math.sqrt(rate * (1 - rate) / impressions + z2 / (4 * impressions**2))
    scale = 1 + z2 / impressions
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def group_of_query(query: IntArray, document: IntArray) -> IntArray:
    """Jackknife group of each row: queries are dealt out in turn, documents where they are few.

    query, document: int64 [rows]; returns int64 [rows] in 0..JACKKNIFE_GROUPS - 1.
    """
    enough = np.unique(query).size >= JACKKNIFE_GROUPS
    _, number = np.unique(query if enough else document, return_inverse=True)
    return number.astype(np.int64) % JACKKNIFE_GROUPS


def jackknife_points(
    estimate: Callable[[FloatArray], FloatArray],
    sums: FloatArray,
    counts: Counts,
    reference: int = 1,
) -> tuple[RankEstimate, ...]:
    """Ratios and their intervals by a jackknife over groups, on the logarithmic scale.

    ``estimate`` turns summed data into ratios [ranks], NaN where it has no answer; it is called on
    all the data and on the data without each group. Variance of the logarithm =
    (G - 1)/G sum_g (log value_g - mean)^2, interval with Student's t of G - 1 degrees of freedom.
    As in `ratio_point`, a rank has no interval if each of its impressions, or of the reference's,
    was clicked.

    sums [groups, ...]: what each group adds to the data. counts: shown beside the ratios.
    """
    total = sums.sum(axis=0)
    value = estimate(total)
    left_out = np.stack([estimate(total - part) for part in sums])
    always = (counts.clicks > 0) & (counts.clicks == counts.impressions)
    left_out[:, always | always[reference - 1]] = np.nan
    return tuple(
        _reference_point(rank, float(value[rank - 1]), counts)
        if rank == reference
        else _jackknife_point(rank, float(value[rank - 1]), left_out[:, rank - 1], counts)
        for rank in range(1, value.size + 1)
    )


def _reference_point(rank: int, value: float, counts: Counts) -> RankEstimate:
    shown, clicked = int(counts.impressions[rank - 1]), int(counts.clicks[rank - 1])
    if not math.isfinite(value):
        return RankEstimate(
            rank, None, None, None, None, shown, clicked, "no clicks at the reference"
        )
    return RankEstimate(rank, 1.0, 1.0, 1.0, 0.0, shown, clicked)


def _jackknife_point(rank: int, value: float, left_out: FloatArray, counts: Counts) -> RankEstimate:
    shown, clicked = int(counts.impressions[rank - 1]), int(counts.clicks[rank - 1])
    if not (math.isfinite(value) and value > 0):
        reason = "nothing to compare this rank with" if clicked else "no clicks at this rank"
        return RankEstimate(rank, None, impressions=shown, clicks=clicked, reason=reason)
    if not np.all(np.isfinite(left_out) & (left_out > 0)):
        return RankEstimate(rank, value, impressions=shown, clicks=clicked, reason=_TOO_FEW)
    logs, groups = np.log(left_out), left_out.size
    error = math.sqrt((groups - 1) / groups * float(np.sum((logs - logs.mean()) ** 2)))
    reach = math.exp(float(stdtrit(groups - 1, 0.975)) * error)
    return RankEstimate(rank, value, value / reach, value * reach, error, shown, clicked)
