"""Pair sums of a corpus: each query by enumeration or by sorting, whichever costs less."""

from __future__ import annotations

from typing import Any

import numpy as np

from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.dense_pairs import DensePairs
from ultr_core.learners.pair_totals import PairSample, PairTotals
from ultr_core.learners.sorted_pairs import SortedPairs

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
