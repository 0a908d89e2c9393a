"""The true risk of a ranker, from known relevance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.ranking import checked_offsets, query_sums

FloatArray = NDArray[np.float64]


def true_risk(
    ranks: ArrayLike,
    relevance: ArrayLike,
    query_offsets: ArrayLike,
    *,
    only_with_relevant: bool = False,
) -> float:
    """Mean over queries of the sum of the ranks of relevant documents; lower is better.

    R(S) = (1 / Q) sum_q sum_d rank(d | S(x_q)) r_q(d), equations (1) and (2) of Joachims,
    Swaminathan and Schnabel (2017). Queries without a relevant document count with 0, unless
    ``only_with_relevant`` leaves them out.

    ranks and relevance [documents], query_offsets [queries + 1]. Raises InputError if the arrays
    do not fit or no query is left.
    """
    one = np.asarray(ranks)[None, ...]
    risks = true_risks(one, relevance, query_offsets, only_with_relevant=only_with_relevant)
    return float(risks[0])


def true_risks(
    ranks: ArrayLike,
    relevance: ArrayLike,
    query_offsets: ArrayLike,
    *,
    only_with_relevant: bool = False,
) -> FloatArray:
    """`true_risk` of several rankers: ranks [rankers, documents] to float64 [rankers]."""
    places, relevant = np.asarray(ranks), np.asarray(relevance)
    if places.ndim != 2 or relevant.shape != places.shape[1:]:
        raise InputError(
            f"There are ranks of shape {places.shape} for relevance of shape {relevant.shape}; "
            f"every document needs one of both."
        )
    offsets = checked_offsets(query_offsets, relevant.size)
    queries = offsets.size - 1
    if only_with_relevant:
        queries = int(np.count_nonzero(query_sums(relevant != 0, offsets)))
        if queries == 0:
            raise InputError("No query has a relevant document, so there is no risk to average.")
    rows = np.flatnonzero(relevant)
    sums: FloatArray = places[:, rows].astype(np.float64) @ relevant[rows].astype(np.float64)
    return sums / queries


def mean_rank_of_relevant(ranks: ArrayLike, relevance: ArrayLike) -> float:
    """Mean rank over all relevant documents: sum_d rank(d) r(d) / sum_d r(d).

    ranks and relevance [documents]. The paper's text calls equation (2) an average rank; this is
    that average. Raises InputError if no document is relevant.
    """
    relevant = np.asarray(relevance, dtype=np.float64)
    total = float(relevant.sum())
    if total <= 0:
        raise InputError("No document is relevant, so there is no mean rank of relevant ones.")
    return float(np.asarray(ranks, dtype=np.float64) @ relevant) / total
