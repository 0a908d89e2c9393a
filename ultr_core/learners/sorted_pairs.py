"""Pair sums by sorting, for queries with very many clicked documents.

Sorted by score, the documents j with u_ij > 0, and those with u_ij >= h, are the ends of the list,
so that counts and prefix sums of scores give every sum in O(m log m) for a query of m documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.pair_totals import PairSample, PairTotals

Float64Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Query:
    documents: slice
    clicked: IntArray  # within the query
    weights: Float64Array  # of the clicked ones


class SortedPairs:
    """The sums of ``DensePairs`` without multipliers, one query after the other, in float64."""

    def __init__(self, weights: FloatArray, query_offsets: IntArray) -> None:
        self.n_documents = len(weights)
        self.n_pairs = 0
        self._queries: list[_Query] = []
        counts = np.add.reduceat(weights > 0, query_offsets[:-1])
        for q in np.flatnonzero((counts > 0) & (np.diff(query_offsets) > 1)):
            documents = slice(int(query_offsets[q]), int(query_offsets[q + 1]))
            clicked = np.flatnonzero(weights[documents] > 0)
            own = weights[documents][clicked].astype(np.float64)
            self._queries.append(_Query(documents, clicked, own))
            self.n_pairs += len(clicked) * (documents.stop - documents.start - 1)

    def evaluate(self, scores: FloatArray, width: float) -> PairTotals:
        """Hinge, linear part and pull at ``scores`` [documents]."""
        hinge = linear = 0.0
        pull = np.zeros(self.n_documents)
        own_beta = min(1.0, 1.0 / width)
        for query in self._queries:
            s = scores[query.documents].astype(np.float64)
            clicked, a = query.clicked, query.weights
            rising, low, high = _windows(s, clicked, width)
            sums = np.concatenate([[0.0], np.cumsum(rising)])
            margin = 1.0 - s[clicked]
            violation = (len(s) - low) * margin + sums[-1] - sums[low]
            hinge += float(a @ (violation - 1.0))
            inside = ((high - low) * margin + sums[high] - sums[low]) / width
            row = a * (len(s) - high + inside - own_beta)
            linear += float(row.sum())
            column = _column_sums(s, s[clicked], a, width)
            column[clicked] -= own_beta * a
            pull[query.documents] -= column
            pull[query.documents.start + clicked] += row
        return PairTotals(hinge, linear, pull.astype(scores.dtype))

    def hinge(self, scores: FloatArray) -> float:
        """The hinge sum alone."""
        total = 0.0
        for query in self._queries:
            s = scores[query.documents].astype(np.float64)
            rising, low, _ = _windows(s, query.clicked, 1.0)
            sums = np.concatenate([[0.0], np.cumsum(rising)])
            violation = (len(s) - low) * (1.0 - s[query.clicked]) + sums[-1] - sums[low]
            total += float(query.weights @ (violation - 1.0))
        return total

    def at_zero(self, width: float, dtype: np.dtype[Any]) -> PairTotals:
        """The sums where all scores are equal."""
        return self.evaluate(np.zeros(self.n_documents, dtype), width)

    def sample_window(
        self, scores: FloatArray, width: float, rng: np.random.Generator, most: int
    ) -> PairSample:
        """All pairs with 0 < beta < 1, or ``most`` draws with probability by weight."""
        parts = list(self._window(scores, width))
        preferred, start, count, weights = (np.concatenate(p) for p in zip(*parts, strict=True))
        order = np.concatenate(
            [q.documents.start + np.argsort(scores[q.documents]) for q in self._queries]
        )
        total = int(count.sum())
        if total <= most:
            row = np.repeat(np.arange(len(count)), count)
            place = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
            drawn = weights[row]
        else:
            mass = np.cumsum(weights * count)
            steps = (np.arange(most) + rng.random(most)) * (mass[-1] / most)
            row = np.minimum(np.searchsorted(mass, steps), len(mass) - 1)
            place = np.minimum((rng.random(most) * count[row]).astype(np.int64), count[row] - 1)
            drawn = np.full(most, mass[-1] / most)
        other = order[start[row] + place]
        real = other != preferred[row]
        return PairSample(preferred[row][real], other[real], drawn[real], float(total), True)

    def _window(
        self, scores: FloatArray, width: float
    ) -> Iterator[tuple[IntArray, IntArray, IntArray, Float64Array]]:
        """Clicked documents, where their window starts in the sorted list, its size, weights."""
        before = 0
        for query in self._queries:
            s = scores[query.documents].astype(np.float64)
            _, low, high = _windows(s, query.clicked, width)
            yield query.documents.start + query.clicked, before + low, high - low, query.weights
            before += len(s)


def _windows(
    s: Float64Array, clicked: IntArray, width: float
) -> tuple[Float64Array, IntArray, IntArray]:
    """Rising scores; first place with u > 0 and first place with u >= h for each clicked one."""
    rising = np.sort(s)
    low = np.searchsorted(rising, s[clicked] - 1.0, side="right")
    high = np.searchsorted(rising, s[clicked] - 1.0 + width, side="left")
    return rising, low, np.maximum(low, high)


def _column_sums(
    s: Float64Array, clicked_scores: Float64Array, weights: Float64Array, width: float
) -> Float64Array:
    """``sum_i a_i beta_ij`` for each document j of the query, i = j included."""
    order = np.argsort(clicked_scores)
    rising, a = clicked_scores[order], weights[order]
    mass = np.concatenate([[0.0], np.cumsum(a)])
    moment = np.concatenate([[0.0], np.cumsum(a * rising)])
    end = np.searchsorted(rising, s + 1.0, side="left")
    full = np.minimum(end, np.searchsorted(rising, s + 1.0 - width, side="right"))
    inside = (mass[end] - mass[full]) * (1.0 + s) - (moment[end] - moment[full])
    return np.asarray(mass[full] + inside / width)
