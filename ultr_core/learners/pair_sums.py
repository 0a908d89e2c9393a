"""Pair sums of a corpus: each query by enumeration or by sorting, whichever costs less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.dense_pairs import DensePairs
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


# Enumeration costs about 3 ns a pair, sorting about 400 ns a document, in a query with this many
# clicked documents about the same.
MOST_ENUMERATED = 130
# A bound on rounding takes the place of an exact sum where it is no larger a share of it than this.
MOST_ROUNDING = 1e-4


class PairSums:
    """The sums of ``pair_totals`` for weights [documents] and query offsets [queries + 1].

    Queries without a weight, and queries of one document, take no part. Multipliers need all pairs
    to be enumerated: ``enumerated()`` gives the same sums in that form.
    """

    def __init__(
        self, weights: FloatArray, query_offsets: IntArray, *, enumerate_all: bool = False
    ) -> None:
        self._weights, self._offsets = weights, query_offsets
        counts = np.add.reduceat(weights > 0, query_offsets[:-1], dtype=np.int64)
        self._sorted: SortedPairs | None = None
        if counts.max(initial=0) > MOST_ENUMERATED and not enumerate_all:
            many = np.repeat(counts > MOST_ENUMERATED, np.diff(query_offsets))
            self._sorted = SortedPairs(np.where(many, weights, 0.0), query_offsets)
            weights = np.where(many, 0.0, weights)
        self._dense = DensePairs(weights, query_offsets)
        self.n_pairs = self._dense.n_pairs + (self._sorted.n_pairs if self._sorted else 0)
        self.n_cells = self._dense.n_cells
        self._enumerated: PairSums | None = None

    @property
    def is_enumerated(self) -> bool:
        """Whether every pair has a cell, so that multipliers can be used."""
        return self._sorted is None

    def enumerated(self) -> PairSums:
        """The same sums with a cell for every pair."""
        if self.is_enumerated:
            return self
        if self._enumerated is None:
            self._enumerated = PairSums(self._weights, self._offsets, enumerate_all=True)
        return self._enumerated

    def evaluate(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None = None,
        keep: FloatArray | None = None,
    ) -> PairTotals:
        """Hinge, linear part and pull at ``scores`` [documents], in the precision of the scores.

        ``multipliers`` [cells] are the b_ij; ``keep`` [cells] receives the beta_ij.
        """
        totals = self._dense.evaluate(scores, width, multipliers, keep)
        if self._sorted is None:
            return totals
        return totals.plus(self._sorted.evaluate(scores, width))

    def hinge(self, scores: FloatArray) -> float:
        """The hinge sum alone."""
        by_sorting = self._sorted.hinge(scores) if self._sorted else 0.0
        return self._dense.hinge(scores) + by_sorting

    def bounds_rounding(self, scores: FloatArray) -> bool:
        """Whether ``hinge_at_most`` can tell of such scores: float32, all pairs enumerated."""
        return self._sorted is None and scores.dtype == np.float32

    def hinge_at_most(self, hinge: float, used: FloatArray, away: float) -> float | None:
        """What the hinge sum at scores that are up to ``away`` from ``used`` cannot exceed.

        ``hinge`` is what ``evaluate`` found at ``used`` [documents], raised by the bound of
        ``dense_pairs`` on rounding; None if that is not a small share, or cannot be told.
        """
        if not self.bounds_rounding(used):
            return None
        bound = self._dense.hinge_at_most(hinge, used, away)
        return bound if bound <= (1 + MOST_ROUNDING) * hinge else None

    def at_zero(self, width: float, dtype: np.dtype[Any]) -> PairTotals:
        """The sums where all scores are equal: every pair has u = 1."""
        totals = self._dense.at_zero(width, dtype)
        return totals.plus(self._sorted.at_zero(width, dtype)) if self._sorted else totals

    def sample_window(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None,
        rng: np.random.Generator,
        rate: float,
        most: int,
    ) -> PairSample:
        """At most ``most`` pairs with 0 < beta < 1 from each kind of query.

        A share ``rate`` of the clicked documents of enumerated queries is looked at. Beyond
        ``most`` the pairs are drawn with probability proportional to their weight.
        """
        sample = self._dense.sample_window(scores, width, multipliers, rng, rate, most)
        if self._sorted is None:
            return sample
        return sample.plus(self._sorted.sample_window(scores, width, rng, most))
