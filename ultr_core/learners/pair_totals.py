"""What the solvers need to know of all pairs at one point.

Throughout the subpackage ``a_i >= 0`` is the weight of document i, its query has the other
documents j, and the margin violation of the pair is ``u_ij = 1 - s_i + s_j``. Everything the
solvers need is

    hinge  = sum_i a_i sum_j max(0, u_ij)
    linear = sum_i a_i sum_j beta_ij
    pull_d = sum_j a_d beta_dj - sum_i a_i beta_id,    X' pull = sum a_i beta_ij (x_i - x_j)

with beta_ij = clip(b_ij + u_ij / h, 0, 1) for a smoothing width h and multipliers b (zero unless
given): functions of the scores only, the features are never touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ultr_core.learners.array_types import FloatArray, IntArray


@dataclass(frozen=True)
class PairTotals:
    """The three sums at one point; ``pull`` has one entry a document."""

    hinge: float
    linear: float
    pull: FloatArray

    def times(self, factor: float) -> PairTotals:
        """The sums for weights times a factor."""
        pull = self.pull * self.pull.dtype.type(factor)
        return PairTotals(factor * self.hinge, factor * self.linear, pull)

    def plus(self, other: PairTotals) -> PairTotals:
        """The sums over both sets of pairs."""
        return PairTotals(
            self.hinge + other.hinge, self.linear + other.linear, self.pull + other.pull
        )


@dataclass(frozen=True)
class PairSample:
    """Pairs (i, j) inside the smoothing window with the weights that make their sum unbiased.

    ``window_pairs`` is about how many the window has; ``whole`` says that no search would find
    more of them.
    """

    preferred: IntArray
    other: IntArray
    weights: FloatArray
    window_pairs: float
    whole: bool = False

    def plus(self, other: PairSample) -> PairSample:
        """Both samples together."""
        return PairSample(
            np.concatenate([self.preferred, other.preferred]),
            np.concatenate([self.other, other.other]),
            np.concatenate([self.weights, other.weights]),
            self.window_pairs + other.window_pairs,
            self.whole and other.whole,
        )
