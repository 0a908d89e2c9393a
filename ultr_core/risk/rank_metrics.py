"""What a relevant document costs at its rank: the sum of ranks, DCG, or missing in the top k.

    R(S) = (1 / Q) sum_q sum_d gain(rank(d | S)) r(d)

Section 4 holds for every gain: clicks are weighted by where a document was shown, and ``gain``
only says what its new rank costs. Lower is better, so DCG has a minus sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RankMetric:
    """An additive metric.

    key, label: its stable name, and the name that readers see. words: what it adds up. gain: the
    cost of a relevant document at each of the given ranks, float64, with their shape.
    """

    key: str
    label: str
    words: str
    gain: Callable[[ArrayLike], FloatArray]


def _rank(ranks: ArrayLike) -> FloatArray:
    return np.asarray(ranks, np.float64)


def _dcg(ranks: ArrayLike) -> FloatArray:
    found: FloatArray = -1.0 / np.log2(1.0 + _rank(ranks))
    return found


def missing_from_top(k: int) -> RankMetric:
    """Relevant documents below rank k, 1[rank > k].

    >>> missing_from_top(2).gain([1, 2, 3]).tolist()
    [0.0, 0.0, 1.0]
    """

    def gain(ranks: ArrayLike) -> FloatArray:
        return (_rank(ranks) > k).astype(np.float64)

    label = f"Missing from the top {k}"
    return RankMetric(f"top-{k}", label, f"relevant documents below {k}", gain)


RANK = RankMetric("rank", "Sum of ranks", "ranks of relevant documents, equation 2", _rank)
DCG = RankMetric("dcg", "DCG", "−1/log₂(1 + rank) of relevant documents", _dcg)

RANK_METRICS: Mapping[str, RankMetric] = MappingProxyType(
    {metric.key: metric for metric in (RANK, DCG, missing_from_top(10))}
)
"""All metrics by key; `missing_from_top` makes more."""
