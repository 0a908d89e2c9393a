"""Swap interventions: the landmark experiment of Section 5.3, simulated and estimated.

Before a ranking is displayed, the document at the landmark rank k trades places with the one at
a rank j drawn uniformly from 1..K; the draw of k itself changes nothing and is the control. The
click rate of the landmark document at j over its click rate at k estimates p_j / p_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ultr_core.corpus.ranking import in_brief, number_or_nan, order_from_ranks, whole_in_range
from ultr_core.errors import InputError
from ultr_core.propensity.points import (
    BOOTSTRAP_DRAWS,
    MOST_PAIRED,
    Counts,
    Gap,
    PropensityEstimate,
    RankEstimate,
    checked_last_rank,
    checked_reference,
    doubts,
    explained,
    ratio_point,
)
from ultr_core.users.click_log import MOST_COUNTED
from ultr_core.users.click_models import ClickModel, checked_relevance
from ultr_core.users.query_draws import checked_seed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Ratio = Literal["landmark", "pooled"]


@dataclass(frozen=True, eq=False)
class SwapCounts:
    """The counts of a landmark swap experiment, each [ranks 1..K].

    landmark: k. swapped: the landmark document, shown at rank r. control: the landmark document at
    k when k was drawn, for queries whose lists are long enough to swap at r: short lists are
    missing from both parts of a ratio or from neither. moved: the document from rank r, shown at k.
    unmoved: the document at rank r while other ranks were swapped, for the same queries. sessions:
    presentations. extra_rank_sum: observed mean increase in the sum of ranks (equation 2) per
    presentation; 0 if relevance is unknown.
    """

    landmark: int
    swapped: Counts
    control: Counts
    moved: Counts
    unmoved: Counts
    sessions: int
    extra_rank_sum: float = 0.0

    @property
    def ranks(self) -> int:
        """K, the number of ranks in the experiment."""
        return int(self.swapped.clicks.size)

    @property
    def own_place(self) -> Counts:
        """Documents at their own rank, [ranks 1..K]: the overall click rates of the ranking.

        The landmark's counts come from the control; in the other presentations in the experiment,
        another document is at the landmark.
        """
        row = self.landmark - 1
        shown, clicked = self.unmoved.impressions.copy(), self.unmoved.clicks.copy()
        shown[row], clicked[row] = self.swapped.impressions[row], self.swapped.clicks[row]
        return Counts(shown, clicked)

    @property
    def total_clicks(self) -> int:
        """Clicks at ranks 1..K in all presentations in the experiment."""
        parts = (self.swapped, self.moved, self.unmoved)
        return int(sum(part.clicks.sum() for part in parts))


def documents_at_places(ranks: ArrayLike, query_offsets: ArrayLike, last_rank: int) -> IntArray:
    """Document at each of the ranks 1..K of each query, -1 beyond its list, [queries, K].

    Raises InputError if `order_from_ranks` does.
    """
    order = order_from_ranks(ranks, query_offsets)
    offsets, place = np.asarray(query_offsets, dtype=np.int64), np.arange(last_rank)
    inside = place < np.diff(offsets)[:, None]
    rows = np.where(inside, offsets[:-1, None] + place, 0)
    return np.where(inside, order[rows], -1)


def simulate_swaps(
    users: ClickModel,
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    landmark: int = 1,
    last_rank: int = 21,
    sessions: int,
    seed: SeedSequence | int,
) -> SwapCounts:
    """Run the swap experiment on presented rankings, drawing the counts directly.

    Queries and ranks j are drawn uniformly and independently: N_qj is multinomial; given N_qj,
    clicks on a document are binomial, and independent across documents. Lists too short for a draw
    are shown unchanged and not counted; queries without a document at the landmark are left out.
    Section 7.6 uses landmark 1 and K = 21.

    relevance, ranks [documents]; query_offsets [queries + 1]. Raises InputError for a landmark
    outside the range 1 to K, a K that is not a whole number from 1 to ``MOST_PAIRED``, fewer than 1
    presentation, an invalid seed, lists that are all shorter than the landmark, or arrays whose
    shapes do not match.
    """
    landmark, last_rank = _checked_design(landmark, last_rank)
    sessions = checked_sessions(sessions)
    at = documents_at_places(ranks, query_offsets, last_rank)
    at = at[at[:, landmark - 1] >= 0]
    if not len(at):
        raise InputError(
            f"No query has {landmark} results, so rank {landmark} cannot be the landmark."
        )
    rng = np.random.default_rng(checked_seed(seed))
    usable = at >= 0
    cells = rng.multinomial(sessions, np.full(at.size, 1.0 / at.size)).reshape(at.shape)
    of_query = cells.sum(axis=1, keepdims=True)
    relevant = np.where(usable, relevance_of_all(relevance, ranks)[at], 0.0)
    place = np.arange(1, last_rank + 1)
    lead = relevant[:, [landmark - 1]]

    def clicks(shown: IntArray, relevance_of: FloatArray, rank: ArrayLike) -> IntArray:
        chance = users.click_probability(relevance_of, np.broadcast_to(rank, shown.shape))
        return rng.binomial(shown, chance)

    swaps = np.where(usable, cells, 0)
    swapped = clicks(swaps, np.broadcast_to(lead, at.shape), place)
    others = np.where(usable & (place != landmark), swaps, 0)
    moved = clicks(others, relevant, landmark)
    stays = np.where(usable & (place != landmark), of_query - swaps, 0)
    unmoved = clicks(stays, relevant, place)
    own = usable * swaps[:, [landmark - 1]], usable * swapped[:, [landmark - 1]]
    extra = float(np.sum(swaps * (place - landmark) * (lead - relevant))) / sessions
    return SwapCounts(
        landmark,
        _summed(swaps, swapped),
        _summed(*own),
        _summed(others, moved),
        _summed(stays, unmoved),
        sessions,
        extra,
    )


def _summed(shown: NDArray[Any], clicked: NDArray[Any]) -> Counts:
    return Counts(shown.sum(axis=0), clicked.sum(axis=0))


def checked_sessions(sessions: object, most: int = MOST_COUNTED) -> int:
    """How often something is shown; raises InputError unless it is whole and in 1..most."""
    return whole_in_range(sessions, "The number of presentations", 1, most)


def relevance_of_all(relevance: ArrayLike, ranks: ArrayLike) -> FloatArray:
    """Relevance as float64 [documents]; raises InputError unless finite and as many as ranks."""
    values = checked_relevance(relevance)
    if values.shape != np.shape(ranks):
        raise InputError(
            f"Relevance has the shape {values.shape} but ranks have {np.shape(ranks)}; every "
            "document needs both."
        )
    return values


def _checked_design(landmark: object, last_rank: object) -> tuple[int, int]:
    last = checked_last_rank(last_rank, MOST_PAIRED)
    return checked_reference(landmark, last, "landmark"), last


def estimate_swaps(
    counts: SwapCounts, *, ratio: Ratio = "landmark", bootstrap_seed: int | None = None
) -> PropensityEstimate:
    """p_r / p_k for each rank from a swap experiment.

    "landmark" is the paper's ratio: the click rate of the landmark document at r over its rate at
    k. "pooled" adds to both parts the click rates of the document that moved up; both documents
    have the same ratio of expectations under the position model, and clicks on two documents in one
    presentation are treated as independent. Intervals come from the delta method or, given
    ``bootstrap_seed``, are percentiles of ``BOOTSTRAP_DRAWS`` resampled experiments.

    Ratios above 1 are kept; ranks that were not swapped with k are missing. Raises InputError if
    the landmark document was never clicked at its own rank, ``ratio`` is neither of the two, or the
    seed is invalid.
    """
    if ratio not in get_args(Ratio):
        raise InputError(f"The ratio must be landmark or pooled, not {in_brief(ratio)}.")
    if counts.swapped.clicks.sum() + counts.control.clicks.sum() == 0:
        raise InputError(
            "The landmark document was never clicked, whether swapped or at its own rank, "
            "so there is no ratio; collect more presentations or choose a landmark nearer the top.",
            "landmark_clicks",
        )
    if counts.control.clicks[counts.landmark - 1] == 0:
        raise InputError(
            "The control presentations have no clicks on the landmark document, so ratios have no "
            f"denominator at rank {counts.landmark}; collect more presentations in which "
            "swapped_rank is "
            f"{counts.landmark}.",
            "control_clicks",
        )
    rng = None if bootstrap_seed is None else np.random.default_rng(checked_seed(bootstrap_seed))
    found = [_swap_point(counts, rank, ratio, rng) for rank in range(1, counts.ranks + 1)]
    gaps = _swap_gaps(found, counts)
    points = explained(found, gaps)
    method = "swap" if ratio == "landmark" else "swap-pooled"
    return PropensityEstimate(
        method, counts.landmark, points, len(points) - 1, doubts(points, gaps), gaps
    )


def swap_ratios(counts: NDArray[Any], *, reference: int, ratio: Ratio = "landmark") -> FloatArray:
    """The ratios of `estimate_swaps` alone, float64 [K]; NaN where there is none.

    counts [4, 2, K]: impressions and clicks of swapped, control, moved and unmoved.
    """
    shown, clicked = counts[:, 0].astype(np.float64), counts[:, 1].astype(np.float64)
    rates = np.divide(clicked, shown, out=np.full(shown.shape, np.nan), where=shown > 0)
    swapped, control, moved, unmoved = rates
    if ratio == "pooled":
        both = np.isfinite(moved) & np.isfinite(unmoved)
        swapped, control = swapped + np.where(both, unmoved, 0), control + np.where(both, moved, 0)
    quotient: FloatArray = np.divide(
        swapped, control, out=np.full(swapped.shape, np.nan), where=control > 0
    )
    quotient[reference - 1] = 1.0
    return quotient


def _swap_gaps(points: Sequence[RankEstimate], counts: SwapCounts) -> tuple[Gap, ...]:
    """Ranks without a ratio: never swapped with k, or without a click at k in lists as long."""
    k = counts.landmark
    missing = [point.rank for point in points if point.value is None]
    never = tuple(rank for rank in missing if counts.swapped.impressions[rank - 1] == 0)
    without = tuple(rank for rank in missing if rank not in never)
    found = (
        Gap("not_linked", never, f"there were no swaps with rank {k}", "include such swaps"),
        Gap("no_click", without, f"the control has no clicks at rank {k} in long enough lists",
            "collect more control presentations"),
    )  # fmt: skip
    return tuple(gap for gap in found if gap.ranks)


def _swap_point(
    counts: SwapCounts, rank: int, ratio: Ratio, rng: np.random.Generator | None
) -> RankEstimate:
    row = rank - 1
    if rank == counts.landmark:
        return RankEstimate(rank, 1.0, 1.0, 1.0, 0.0, *_pair(counts.control, row))
    upper, lower = [_pair(counts.swapped, row)], [_pair(counts.control, row)]
    second = _pair(counts.unmoved, row), _pair(counts.moved, row)
    if ratio == "pooled" and second[0][0] > 0 and second[1][0] > 0:
        upper.append(second[0])
        lower.append(second[1])
    point = ratio_point(rank, upper, lower)
    if rng is None or point.standard_error is None:
        return point
    low, high = _bootstrap_interval(upper, lower, rng)
    return RankEstimate(
        rank, point.value, low, high, point.standard_error, point.impressions, point.clicks
    )


def _pair(counts: Counts, row: int) -> tuple[int, int]:
    return int(counts.impressions[row]), int(counts.clicks[row])


def _bootstrap_interval(
    upper: list[tuple[int, int]], lower: list[tuple[int, int]], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile interval; a resampled side without a click counts half a click."""

    def rates(counts: list[tuple[int, int]]) -> FloatArray:
        total = np.zeros(BOOTSTRAP_DRAWS)
        for shown, clicked in counts:
            total += rng.binomial(shown, clicked / shown, BOOTSTRAP_DRAWS) / shown
        return np.maximum(total, 0.5 / sum(shown for shown, _ in counts))

    ends = np.percentile(rates(upper) / rates(lower), [2.5, 97.5])
    return float(ends[0]), float(ends[1])


def swap_limit(
    users: ClickModel,
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    landmark: int = 1,
    last_rank: int = 21,
) -> FloatArray:
    """The limit of the swap estimate with infinite traffic, float64 [K].

    sum_q P(click | landmark document of q, rank r) / the same at rank k, over the queries with a
    result at both ranks. It equals p_r / p_k in a position model; under trust bias it depends on
    the relevance of the landmark documents, and no amount of traffic corrects that. Ranks beyond
    every list are NaN. Raises InputError if `simulate_swaps` does.
    """
    landmark, last_rank = _checked_design(landmark, last_rank)
    at = documents_at_places(ranks, query_offsets, last_rank)
    at = at[at[:, landmark - 1] >= 0]
    lead = relevance_of_all(relevance, ranks)[at[:, landmark - 1]][:, None]
    usable = at >= 0
    place = np.broadcast_to(np.arange(1, last_rank + 1), at.shape)
    at_rank = np.where(usable, users.click_probability(np.broadcast_to(lead, at.shape), place), 0.0)
    in_place = usable * users.click_probability(lead, np.full(lead.shape, landmark))
    below = in_place.sum(axis=0)
    quotient: FloatArray = np.divide(
        at_rank.sum(axis=0), below, out=np.full(last_rank, np.nan), where=below > 0
    )
    return quotient


def swap_cost(
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    landmark: int,
    last_rank: int,
) -> float:
    """Mean increase in the sum of ranks (equation 2) per presentation in the experiment.

    A swap of k and j adds (j - k) (r(d_k) - r(d_j)); this is averaged over queries with a result at
    the landmark and over j uniform on 1..K; draws beyond a list count as 0. The value is exact for
    the intervention in Section 5.3. Raises InputError if `simulate_swaps` does.
    """
    landmark, last_rank = _checked_design(landmark, last_rank)
    at = documents_at_places(ranks, query_offsets, last_rank)
    at = at[at[:, landmark - 1] >= 0]
    relevant = relevance_of_all(relevance, ranks)
    lead = relevant[at[:, landmark - 1]][:, None]
    shift = np.arange(1, last_rank + 1) - landmark
    change = np.where(at >= 0, shift * (lead - relevant[at]), 0.0)
    return float(change.mean()) if change.size else 0.0


def sessions_needed(
    rate_at_rank: float, rate_at_landmark: float, last_rank: int, precision: float
) -> int:
    """Number of presentations at which the 95% interval for p_r / p_k narrows to +- ``precision``.

    The half-width of the interval on the logarithmic scale is log(1 + precision), and each rank
    gets 1/K of the presentations: N = K (1.96 / log(1 + precision))^2 ((1 - a)/a + (1 - b)/b),
    where a and b are the click rates of the landmark document at r and at k. Raises InputError
    if a rate lies outside (0, 1], the precision is not above 0, K is out of range, or more
    presentations are needed than can be counted.
    """
    last_rank = checked_last_rank(last_rank, MOST_PAIRED)
    a, b, wanted = (number_or_nan(x) for x in (rate_at_rank, rate_at_landmark, precision))
    if not (0 < a <= 1 and 0 < b <= 1):
        raise InputError(
            "The traffic needed can be computed only for click rates above 0 and at most 1."
        )
    if not 0 < wanted < math.inf:
        raise InputError(
            f"The target precision must be above 0, for example 0.1, not {in_brief(precision)}."
        )
    # Products, for a power overflows with an error of Python's own.
    errors = float(ndtri(0.975)) / math.log1p(wanted)
    needed = last_rank * errors * errors * ((1 - a) / a + (1 - b) / b)
    if not needed < MOST_COUNTED:
        raise InputError(
            f"Click rates of {a:g} and {b:g} and a precision of {wanted:g} need more presentations "
            f"than can be counted ({MOST_COUNTED:.3g}); ask for less precision or a rank nearer "
            "the top."
        )
    return math.ceil(needed)
