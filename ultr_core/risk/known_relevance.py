"""The true risk of a ranker, from known relevance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, query_sums, real_numbers
from ultr_core.errors import InputError
from ultr_core.risk.inputs import checked_places, checked_relevance
from ultr_core.risk.rank_metrics import RANK, RankMetric

FloatArray = NDArray[np.float64]


def true_risk(
    ranks: ArrayLike,
    relevance: ArrayLike,
    query_offsets: ArrayLike,
    *,
    only_with_relevant: bool = False,
    metric: RankMetric = RANK,
) -> float:
    """Mean over queries of the sum of the ranks of relevant documents; lower is better.

    R(S) = (1 / Q) sum_q sum_d rank(d | S(x_q)) r_q(d), equations (1) and (2) of Joachims,
    Swaminathan and Schnabel (2017); with another ``metric``, its gain replaces the rank. Queries
    without a relevant document count as 0, unless ``only_with_relevant`` leaves them out.

    ranks and relevance [documents], query_offsets [queries + 1]. Raises InputError if the shapes do
    not match, a value is not finite, a relevance is negative, or no query is left.

    Relevant documents at ranks 1 and 3 for one query, and at rank 2 for another:

    >>> true_risk([1, 2, 3, 1, 2], relevance=[1, 0, 1, 0, 1], query_offsets=[0, 3, 5])
    3.0
    """
    one = real_numbers(ranks, "Ranks")[None, ...]
    risks = true_risks(
        one, relevance, query_offsets, only_with_relevant=only_with_relevant, metric=metric
    )
    return float(risks[0])


def true_risks(
    ranks: ArrayLike,
    relevance: ArrayLike,
    query_offsets: ArrayLike,
    *,
    only_with_relevant: bool = False,
    metric: RankMetric = RANK,
) -> FloatArray:
    """`true_risk` of several rankers: ranks [rankers, documents] to float64 [rankers]."""
    places, relevant = _fitting(ranks, relevance, axes=2)
    offsets = checked_offsets(query_offsets, relevant.size)
    queries = offsets.size - 1
    if only_with_relevant:
        queries -= empty_queries(relevant, offsets)
        if queries == 0:
            raise InputError(
                "No query has a relevant document, so there is no risk to average.",
                "nothing_relevant",
            )
    rows = np.flatnonzero(relevant)
    sums: FloatArray = metric.gain(places[:, rows]) @ relevant[rows].astype(np.float64)
    return sums / queries


def empty_queries(relevance: ArrayLike, query_offsets: ArrayLike) -> int:
    """How many queries have no relevant document; relevance [documents], offsets [queries + 1].

    Raises InputError if `query_sums` does.
    """
    relevant = real_numbers(relevance, "Relevance") != 0
    return int(np.count_nonzero(query_sums(relevant, query_offsets) == 0))


def mean_rank_of_relevant(ranks: ArrayLike, relevance: ArrayLike) -> float:
    """Mean rank over all relevant documents: sum_d rank(d) r(d) / sum_d r(d).

    ranks and relevance [documents]. The paper's text calls equation (2) an average rank; this is
    that average. Raises InputError if the shapes do not match or no document is relevant.

    >>> mean_rank_of_relevant([1, 2, 3, 1, 2], relevance=[1, 0, 1, 0, 1])
    2.0
    """
    places, relevant = _fitting(ranks, relevance, axes=1)
    total = float(relevant.sum())
    if total <= 0:
        raise InputError(
            "No document is relevant, so there is no mean rank of relevant documents.",
            "nothing_relevant",
        )
    return float(places.astype(np.float64) @ relevant.astype(np.float64)) / total


def _fitting(
    ranks: ArrayLike, relevance: ArrayLike, *, axes: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ranks with so many axes, and the relevance of the documents on the last of them."""
    places, relevant = real_numbers(ranks, "Ranks"), checked_relevance(relevance)
    if places.ndim != axes or relevant.shape != places.shape[-1:]:
        raise InputError(
            f"Ranks have the shape {places.shape} but relevance has {relevant.shape}; every "
            "document needs both."
        )
    return checked_places(places, relevant.size), relevant
