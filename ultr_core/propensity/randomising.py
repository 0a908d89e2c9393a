"""Two older experiments: shuffling the whole list, and swapping neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, rank_documents
from ultr_core.errors import InputError
from ultr_core.propensity.points import (
    JACKKNIFE_GROUPS,
    MOST_PAIRED,
    Counts,
    PropensityEstimate,
    checked_last_rank,
    doubts,
    jackknife_points,
)
from ultr_core.propensity.swaps import checked_sessions, documents_at_places, relevance_of_all
from ultr_core.users.click_models import ClickModel
from ultr_core.users.examination import checked_ranks
from ultr_core.users.query_draws import MOST_SESSIONS, checked_seed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Documents presented at once, which bounds memory.
_PRESENTED_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class RandomisedCounts:
    """Clicks at pairs of ranks that randomisation makes comparable, by jackknife group.

    upper, lower: float64 [groups, ranks], clicks at rank r and at the rank it is compared with:
    rank 1 after shuffling, rank r - 1 after swaps of neighbours. Entry 0 belongs to rank 1.
    counts: impressions and clicks at each rank within the comparison. sessions: presentations.
    extra_rank_sum: observed mean increase in the sum of ranks (equation 2) per presentation.
    """

    upper: FloatArray
    lower: FloatArray
    counts: Counts
    sessions: int
    extra_rank_sum: float


def simulate_shuffling(
    users: ClickModel,
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    last_rank: int = 21,
    sessions: int,
    seed: SeedSequence | int,
) -> RandomisedCounts:
    """Show every list in a uniformly random order (Wang et al., SIGIR 2016), event by event.

    Clicks at rank r are compared with clicks at rank 1 in the same presentations, those with at
    least r results. Arguments and errors as for `simulate_swaps`, with at most
    ``MOST_SESSIONS`` presentations.
    """
    sessions = checked_sessions(sessions, MOST_SESSIONS)
    last_rank = checked_last_rank(last_rank, MOST_PAIRED)
    relevant = relevance_of_all(relevance, ranks)
    offsets = checked_offsets(query_offsets, relevant.size)
    rng = np.random.default_rng(checked_seed(seed))
    sizes = np.diff(offsets)
    drawn = rng.integers(sizes.size, size=sessions)
    upper, lower = _no_clicks(last_rank), _no_clicks(last_rank)
    shown = np.zeros(last_rank, dtype=np.int64)
    before = np.add.reduceat(relevant * checked_ranks(ranks), offsets[:-1])
    extra = -float(before[drawn].sum())
    step = max(1, _PRESENTED_AT_ONCE // int(sizes.max()))
    for start in range(0, sessions, step):
        query = drawn[start : start + step]
        ends = np.cumsum(sizes[query])
        first = np.append(0, ends)
        session = np.repeat(np.arange(query.size), sizes[query])
        document = offsets[query[session]] + np.arange(ends[-1]) - first[session]
        place = rank_documents(rng.random(document.size), first)
        clicked = rng.random(document.size) < users.click_probability(relevant[document], place)
        extra += float(relevant[document] @ place)
        by_place = np.zeros((query.size, last_rank))
        within = place <= last_rank
        by_place[session[within], place[within] - 1] = clicked[within]
        long = sizes[query][:, None] > np.arange(last_rank)
        group = query % JACKKNIFE_GROUPS
        np.add.at(upper, group, by_place)
        np.add.at(lower, group, long * by_place[:, :1])
        shown += long.sum(axis=0)
    clicks = upper.sum(axis=0).astype(np.int64)
    return RandomisedCounts(upper, lower, Counts(shown, clicks), sessions, extra / sessions)


def estimate_shuffling(counts: RandomisedCounts) -> PropensityEstimate:
    """p_r / p_1 = clicks at rank r / clicks at rank 1 in the same presentations.

    Intervals come from the jackknife over groups of queries.
    Raises InputError if rank 1 has no clicks.
    """
    _check_clicks(counts)

    def ratios(total: FloatArray) -> FloatArray:
        return _divided(total[0], total[1])

    sums = np.stack([counts.upper, counts.lower], axis=1)
    points = jackknife_points(ratios, sums, counts.counts)
    return PropensityEstimate("uniform", 1, points, len(points) - 1, doubts(points))


def simulate_neighbour_swaps(
    users: ClickModel,
    relevance: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    last_rank: int = 21,
    sessions: int,
    seed: SeedSequence | int,
) -> RandomisedCounts:
    """Swap ranks r - 1 and r with probability 1/2 for r drawn uniformly from 2..K; return counts.

    This follows FairPairs (Radlinski and Joachims, 2006). Clicks at rank r are compared with
    those at r - 1 in the presentations for which r was drawn. Arguments and errors as for
    `simulate_swaps`; a single rank is also refused.
    """
    sessions, last_rank = checked_sessions(sessions), _two_or_more(last_rank)
    at = documents_at_places(ranks, query_offsets, last_rank)
    relevant = np.where(at >= 0, relevance_of_all(relevance, ranks)[at], 0.0)
    rng = np.random.default_rng(checked_seed(seed))
    cells = 2 * len(at) * (last_rank - 1)
    drawn = rng.multinomial(sessions, np.full(cells, 1.0 / cells))
    drawn = drawn.reshape(2, len(at), last_rank - 1) * (at[:, 1:] >= 0)
    place = np.broadcast_to(np.arange(2, last_rank + 1), drawn.shape[1:])
    top, bottom = relevant[:, :-1], relevant[:, 1:]
    kept, swapped = drawn
    below = rng.binomial(kept, users.click_probability(bottom, place))
    below += rng.binomial(swapped, users.click_probability(top, place))
    above = rng.binomial(kept, users.click_probability(top, place - 1))
    above += rng.binomial(swapped, users.click_probability(bottom, place - 1))
    upper, lower = _no_clicks(last_rank), _no_clicks(last_rank)
    group = np.arange(len(at)) % JACKKNIFE_GROUPS
    np.add.at(upper[:, 1:], group, below)
    np.add.at(lower[:, 1:], group, above)
    shown = np.append(drawn.sum(axis=(0, 1))[:1], drawn.sum(axis=(0, 1)))
    clicks = np.append(above.sum(axis=0)[:1], below.sum(axis=0))
    extra = float(np.sum(swapped * (top - bottom))) / sessions
    return RandomisedCounts(upper, lower, Counts(shown, clicks), sessions, extra)


def estimate_neighbour_swaps(counts: RandomisedCounts) -> PropensityEstimate:
    """p_r / p_1 as the product of p_i / p_(i - 1), i = 2..r, each from one pair of neighbours.

    Intervals come from the jackknife over groups of queries; errors add up along the chain, and a
    broken link leaves all lower ranks without a value.
    """
    if counts.lower.sum() == 0:
        raise InputError(
            "No swapped pair was clicked, so there is no ratio; collect more presentations."
        )

    def ratios(total: FloatArray) -> FloatArray:
        steps = _divided(total[0], total[1])
        steps[0] = 1.0
        steps[steps <= 0] = np.nan
        chained: FloatArray = np.cumprod(steps, dtype=np.float64)
        return chained

    sums = np.stack([counts.upper, counts.lower], axis=1)
    points = jackknife_points(ratios, sums, counts.counts)
    return PropensityEstimate("adjacent", 1, points, len(points) - 1, doubts(points))


def shuffling_cost(relevance: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike) -> float:
    """Exact mean increase in the sum of ranks (equation 2) when lists are shuffled.

    The mean over queries of sum_d r(d) ((m + 1)/2 - rank(d)), for m documents in the query. Raises
    InputError for arrays whose shapes do not match.
    """
    relevant = relevance_of_all(relevance, ranks)
    offsets = checked_offsets(query_offsets, relevant.size)
    sizes = np.diff(offsets)
    expected = (np.repeat(sizes, sizes) + 1.0) / 2 - checked_ranks(ranks)
    return float(np.add.reduceat(relevant * expected, offsets[:-1]).mean())


def neighbour_swap_cost(
    relevance: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike, *, last_rank: int
) -> float:
    """Exact mean increase in the sum of ranks from a swap of neighbours.

    Half the mean of r(d at r - 1) - r(d at r) over queries and r = 2..K; pairs beyond a list count
    as 0. Raises InputError if `simulate_neighbour_swaps` does.
    """
    at = documents_at_places(ranks, query_offsets, _two_or_more(last_rank))
    relevant = relevance_of_all(relevance, ranks)
    change = np.where(at[:, 1:] >= 0, relevant[at[:, :-1]] - relevant[at[:, 1:]], 0.0)
    return float(change.mean()) / 2


def _no_clicks(last_rank: int) -> FloatArray:
    return np.zeros((JACKKNIFE_GROUPS, last_rank))


def _divided(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Quotients, NaN where there is nothing to divide by."""
    quotient: FloatArray = np.divide(
        upper, lower, out=np.full(upper.shape, np.nan), where=lower > 0
    )
    return quotient


def _two_or_more(last_rank: object) -> int:
    last = checked_last_rank(last_rank, MOST_PAIRED)
    if last < 2:
        raise InputError(f"Swaps of neighbours need two ranks or more, not {last}.")
    return last


def _check_clicks(counts: RandomisedCounts) -> None:
    if counts.lower[:, 0].sum() == 0:
        raise InputError(
            "Rank 1 was never clicked, so there is no ratio; collect more presentations."
        )
