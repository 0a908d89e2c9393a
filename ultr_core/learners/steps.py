"""What both phases share: the Newton direction from sampled curvature, and the line search.

The smoothed hinge of width h has curvature 1/h inside its window and none outside, so the Hessian
of the smoothed objective is

    H = I + (cost / h) * sum over pairs in the window of a_i (x_i - x_j)(x_i - x_j)'.

A sample of about 20 pairs a feature is enough for a good direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.problem import Iterate, Problem
from ultr_core.learners.types import FloatArray

SAMPLES_PER_FEATURE = 20
SMALLEST_SAMPLE = 2000
SLOPE_TOLERANCE = 0.3
LINE_SEARCH_TRIALS = 20


class SampledCurvature:
    """Newton directions; averages the curvature with that of the iteration before."""

    def __init__(self, problem: Problem, rng: np.random.Generator, blend: float) -> None:
        self._problem, self._rng, self._blend = problem, rng, blend
        n_features = problem.products.n_features
        self._most = max(SAMPLES_PER_FEATURE * n_features, SMALLEST_SAMPLE)
        self._rate = min(1.0, 4.0 * self._most / max(problem.pairs.n_pairs, 1))
        self._before: NDArray[np.float64] | None = None

    def direction(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None,
        gradient: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """``-H^{-1} gradient`` [features]."""
        problem = self._problem
        sample = problem.pairs.sample_window(
            scores, width, multipliers, self._rng, self._rate, self._most
        )
        self._rate = min(1.0, 2 * self._rate, 2.0 * self._most / max(sample.window_pairs, 1.0))
        hessian = problem.products.curvature(
            sample.preferred, sample.other, sample.weights * (problem.cost / width)
        )
        n_features = len(gradient)
        if self._before is not None and sample.window_pairs > 3 * n_features:
            hessian = (1 - self._blend) * hessian + self._blend * self._before
        self._before = hessian
        hessian = hessian.copy()
        hessian.flat[:: n_features + 1] += 1.0
        return np.asarray(-np.linalg.solve(hessian, gradient))


def line_search(
    problem: Problem,
    start: Iterate,
    direction: NDArray[np.float64],
    slope: float,
    width: float,
    multipliers: FloatArray | None,
) -> Iterate:
    """Step along ``direction`` to where the slope is a small part of the initial ``slope``.

    One pass (``X p``); after that every trial is a pair sum. Doubles the step until the slope
    changes its sign, then interpolates. The last trial is returned with its own sums, even when
    the trials are used up.
    """
    moves = problem.products.scores(direction)
    moves64 = moves.astype(np.float64)
    along = float(start.coefficients @ direction)
    square = float(direction @ direction)
    low, high, slope_low, slope_high, step = 0.0, np.inf, slope, 0.0, 1.0
    for _ in range(LINE_SEARCH_TRIALS):
        scores = start.scores + moves.dtype.type(step) * moves
        totals = problem.totals(scores, width, multipliers)
        trial = along + step * square - float(totals.pull @ moves64)
        iterate = Iterate(start.coefficients + step * direction, scores, totals)
        if abs(trial) <= SLOPE_TOLERANCE * abs(slope):
            break
        if trial < 0:
            low, slope_low = step, trial
            if high == np.inf:
                step *= min(4.0, max(1.5, -slope / max(trial - slope, 1e-300)))
                continue
        else:
            high, slope_high = step, trial
        step = low + (high - low) * min(0.9, max(0.1, -slope_low / (slope_high - slope_low)))
    return iterate
