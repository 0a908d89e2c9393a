"""NDCG of rankers that give equal scores: the mean over all orders of their ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import dcg, query_sums, rank_documents, tied_groups
from ultr_core.errors import InputError
from ultr_core.words import part_of


@dataclass(frozen=True)
class NdcgOverTies:
    """Mean NDCG over all orders of ties, and the rule for queries without relevant documents.

    value: mean over the queries counted. counted: how many. left_out: queries without a document
    with a grade above 0, which have no NDCG.
    """

    value: float
    counted: int
    left_out: int

    @property
    def rule(self) -> str:
        """The rule in one sentence, with its counts."""
        left_out = part_of(self.left_out, self.counted + self.left_out, "query", "queries")
        return (
            f"{left_out} no document with a grade above 0 and "
            f"{'is' if self.left_out == 1 else 'are'} left out; equal scores are averaged over all "
            "their orders."
        )


def ndcg_over_ties(
    scores: NDArray[np.float64],
    grades: NDArray[np.int16],
    query_offsets: NDArray[np.int64],
    cutoff: int = 10,
) -> NdcgOverTies:
    """Mean NDCG@k with gain 2^grade - 1, expected over all orders of equal scores.

    A tied document gets the mean discount of its group's ranks, where discounts beyond ``cutoff``
    are 0 (McSherry and Najork, ECIR 2008). scores and grades [documents]. Raises InputError if no
    query has a document with a grade above 0.
    """
    ties = tied_groups(scores, query_offsets)
    longest = int(np.diff(query_offsets).max())
    ranks = np.arange(1.0, longest + 1.0)
    discount = np.where(ranks <= cutoff, 1.0 / np.log2(1.0 + ranks), 0.0)
    summed = np.append(0.0, np.cumsum(discount))
    mean = (summed[ties.first - 1 + ties.size] - summed[ties.first - 1]) / ties.size
    gains = _gains(grades, query_offsets)
    order = rank_documents(grades, query_offsets)
    ideal = dcg(order, gains, query_offsets, cutoff=cutoff, gain="linear")
    reached = query_sums(gains * mean, query_offsets)
    counted = ideal > 0
    if not counted.any():
        raise InputError("No query has a document with a grade above 0, so there is no NDCG.")
    return NdcgOverTies(
        float((reached[counted] / ideal[counted]).mean()),
        int(np.count_nonzero(counted)),
        int(np.count_nonzero(~counted)),
    )


def _gains(grades: NDArray[np.int16], query_offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """2^grade - 1 over 2^m, m the query's largest grade: finite for every grade.

    A power of two changes no digit, and the ratio to the ideal not at all.
    """
    largest = np.maximum.reduceat(grades.astype(np.int64), query_offsets[:-1])
    shift = np.repeat(largest, np.diff(query_offsets))
    gains: NDArray[np.float64] = np.exp2((grades - shift).astype(float)) - np.exp2(-1.0 * shift)
    return gains
