"""Rankers that give equal scores: what they are worth on average over all orders of their ties.

No rule here looks at labels, and the order of documents in a file plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import (
    dcg,
    query_of_document,
    query_sums,
    rank_documents,
    real_numbers,
)
from ultr_core.errors import InputError
from ultr_core.words import part_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """Which documents of a query have one score.

    group: int64 [documents], numbered by query and place. first, size: int64 [documents], the
    best rank that the document's group takes, and how many documents it has.
    """

    group: IntArray
    first: IntArray
    size: IntArray

    @property
    def tied(self) -> int:
        """Documents that share their score with another one of their query."""
        return int(np.count_nonzero(self.size > 1))


def tied_groups(scores: FloatArray, query_offsets: IntArray) -> TiedGroups:
    """Groups of equal scores within each query.

    scores [documents], query_offsets [queries + 1]; equally infinite ones are tied. Raises
    InputError for a NaN score or offsets that do not fit.
    """
    ranks = rank_documents(scores, query_offsets)
    query = query_of_document(query_offsets)
    order = np.lexsort((ranks, query))
    ordered = real_numbers(scores, "Scores")[order]
    # Compared, not subtracted: infinite scores are equal, and their difference is no number.
    new = np.append(True, (np.diff(query[order]) != 0) | (ordered[1:] != ordered[:-1]))
    number = np.cumsum(new) - 1
    size = np.bincount(number)
    first = ranks[order][np.flatnonzero(new)].astype(np.int64)
    group = np.empty(ranks.size, dtype=np.int64)
    group[order] = number
    return TiedGroups(group, first[group], size[group])


def expected_ranks(scores: FloatArray, query_offsets: IntArray) -> FloatArray:
    """Mean rank of each document over all orders of tied ones, float64 [documents].

    first + (size - 1) / 2. Every risk here is linear in the ranks, so with these it is the mean
    risk over all orders. Raises InputError as `tied_groups` does.
    """
    ties = tied_groups(scores, query_offsets)
    mean: FloatArray = ties.first + (ties.size - 1) / 2.0
    return mean


@dataclass(frozen=True)
class NdcgOverTies:
    """Mean NDCG over all orders of ties, and the rule for queries without relevance.

    value: mean over the counted queries. counted: how many. left_out: queries without a document
    of a grade above 0, which have no NDCG.
    """

    value: float
    counted: int
    left_out: int

    @property
    def rule(self) -> str:
        """The rule in one sentence, with its counts."""
        left_out = part_of(self.left_out, self.counted + self.left_out, "query", "queries")
        return (
            f"{left_out} no document of a grade above 0 and "
            f"{'is' if self.left_out == 1 else 'are'} left out; equal scores count with the mean "
            "over all their orders."
        )


def ndcg_over_ties(
    scores: FloatArray, grades: NDArray[np.int16], query_offsets: IntArray, cutoff: int = 10
) -> NdcgOverTies:
    """Mean NDCG@k with gain 2^grade - 1, expected over all orders of equal scores.

    A tied document has the mean discount of its group's ranks, discounts beyond ``cutoff`` being
    0 (McSherry and Najork, ECIR 2008). scores and grades [documents]. Raises InputError if no
    query has a document of a grade above 0.
    """
    ties = tied_groups(scores, query_offsets)
    longest = int(np.diff(query_offsets).max())
    ranks = np.arange(1.0, longest + 1.0)
    discount = np.where(ranks <= cutoff, 1.0 / np.log2(1.0 + ranks), 0.0)
    summed = np.append(0.0, np.cumsum(discount))
    mean = (summed[ties.first - 1 + ties.size] - summed[ties.first - 1]) / ties.size
    ideal = dcg(rank_documents(grades, query_offsets), grades, query_offsets, cutoff=cutoff)
    reached = query_sums((np.exp2(grades.astype(np.float64)) - 1.0) * mean, query_offsets)
    counted = ideal > 0
    if not counted.any():
        raise InputError("No query has a document of a grade above 0, so there is no NDCG.")
    return NdcgOverTies(
        float((reached[counted] / ideal[counted]).mean()),
        int(np.count_nonzero(counted)),
        int(np.count_nonzero(~counted)),
    )
