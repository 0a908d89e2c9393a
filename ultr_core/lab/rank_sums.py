"""Expected estimates of all rankers as sums by rank: what a browser needs to draw them itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ultr_core.lab.picture import RankerFamily
from ultr_core.lab.world import World

SCALE = 2
"""Mean ranks of tied documents are halves; twice the sums are whole numbers, which are short."""

MOST_RANKS = 200
"""Ranks kept apart; those below, of the longest lists, are taken together in ranges."""


@dataclass(frozen=True, eq=False)
class RankSums:
    """Sums over documents of rank(d | S) - rank(d | production), by presented rank and relevance.

    With users' examination p_r, the assumed propensity q_r, and Q queries,

        E[R_hat(S)] - E[R_hat(production)] = (1 / Q) sum_r u_r p_r (eps_plus A_r + eps_minus B_r)

    where u_r is 1 for the naive estimate and 1 / q_r for IPS (equations 3 and 5 with the noise of
    section 5.2).

    Attributes:
        ranks: float64 [ranks]; beyond ``MOST_RANKS`` one entry represents a range, and sums are
        approximate.
        relevant, others: A and B, float64 [rankers, ranks].
        true_risk: float64 [rankers], the true risk of each minus that of production.
        queries: Q.
        shown: relevance of each result in one list, by rank; some relevant results are at the top
        and some further down.
    """

    ranks: NDArray[np.float64]
    relevant: NDArray[np.float64]
    others: NDArray[np.float64]
    true_risk: NDArray[np.float64]
    queries: int
    shown: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values; sums are multiplied by ``scale``, and are integers if all are integral."""
        return {
            "ranks": self.ranks.tolist(),
            "relevant": _short(self.relevant),
            "others": _short(self.others),
            "true_risk": self.true_risk.tolist(),
            "queries": self.queries,
            "scale": SCALE,
            "list": list(self.shown),
        }


def rank_sums(world: World, family: RankerFamily) -> RankSums:
    """The sums of a world's training queries as production presents them."""
    queries = world.train
    presented = np.asarray(queries.presented_ranks)
    place, ranks = _places(presented)
    relevance = np.asarray(queries.relevance, dtype=np.float64)
    here = family.kinds.index("production")
    apart = (family.ranks - family.ranks[here]).T.astype(np.float64)
    sums = []
    for weight in (relevance, 1.0 - relevance):
        by_rank = csr_array(
            (weight, (place, np.arange(place.size))), shape=(ranks.size, place.size)
        )
        sums.append(np.ascontiguousarray((by_rank @ apart).T))
    return RankSums(
        ranks,
        sums[0],
        sums[1],
        family.true_risk - family.true_risk[here],
        len(queries.corpus.sizes),
        _shown(relevance, presented, queries.corpus.query_offsets),
    )


def _places(presented: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The place of each document among the ranks kept, and these ranks."""
    longest = int(presented.max())
    ends = np.arange(1, min(longest, MOST_RANKS) + 1)
    if longest > MOST_RANKS:
        ends = np.unique(
            np.concatenate([ends, np.geomspace(MOST_RANKS, longest, 40).round().astype(np.int64)])
        )
    place = np.searchsorted(ends, presented)
    counts = np.bincount(place, minlength=ends.size)
    means = np.bincount(place, weights=presented, minlength=ends.size) / np.maximum(counts, 1)
    return place, np.where(counts > 0, means, ends)


def _shown(
    relevance: NDArray[np.float64], presented: NDArray[Any], offsets: NDArray[np.int64]
) -> tuple[int, ...]:
    """Relevance by rank of ten results: of the first list with relevant ones high and low."""
    best: tuple[int, ...] = ()
    for start, end in pairwise(offsets):
        order = np.argsort(presented[start:end], kind="stable")
        found = tuple(int(value) for value in (relevance[start:end][order] > 0)[:10])
        if len(found) >= len(best) and not best:
            best = found
        if len(found) == 10 and found[0] and any(found[6:]) and 2 <= sum(found) <= 4:
            return found
    return best


def _short(sums: NDArray[np.float64]) -> list[list[float]]:
    scaled = SCALE * sums
    whole = np.rint(scaled)
    if np.array_equal(whole, scaled):
        scaled = whole.astype(np.int64)
    rows: list[list[float]] = scaled.tolist()
    return rows
