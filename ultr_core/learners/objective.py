"""The objective of Propensity SVM-Rank, evaluated in float64 without a solver.

Section 6 of the paper, with one weight a document in place of one training example a click:

    P(w) = 1/2 w.w + (C / n) sum_i values_i sum_{j != i, same query} max(0, 1 - s_i + s_j)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import checked_offsets, real_numbers
from ultr_core.errors import InputError
from ultr_core.learners.pair_sums import PairSums


def weighted_hinge(
    scores: ArrayLike, weights_values: ArrayLike, query_offsets: NDArray[np.int64]
) -> float:
    """``sum_i values_i sum_{j != i} max(0, 1 - s_i + s_j)`` over the documents j of i's query.

    ``scores``, ``weights_values`` [documents], ``query_offsets`` [queries + 1]. With values 1/q
    summed over clicks, and s the ranker's scores, it bounds ``sum over clicks (rank - 1) / q``
    (Section 6). Raises InputError if the lengths differ, a score is not finite, or a weight is
    negative or not finite.
    """
    s = real_numbers(scores, "Scores").astype(np.float64)
    values = real_numbers(weights_values, "Weights").astype(np.float64)
    if s.ndim != 1 or s.shape != values.shape:
        raise InputError(
            f"Scores (shape {s.shape}) and weights (shape {values.shape}) must have one entry for "
            "each document."
        )
    offsets = checked_offsets(query_offsets, s.size)
    if not np.isfinite(s).all():
        first = int(np.flatnonzero(~np.isfinite(s))[0])
        raise InputError(f"The score of document {first} is {s[first]}; it must be finite.")
    if not (np.isfinite(values) & (values >= 0)).all():
        first = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        raise InputError(
            f"The weight of document {first} is {values[first]}; it must be finite and 0 or more."
        )
    return PairSums(values, offsets).hinge(s)
