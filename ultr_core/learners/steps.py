"""What both phases share: the Newton direction from sampled curvature, and the line search.

The smoothed hinge of width h has curvature 1/h inside its window and none outside, so the Hessian
of the smoothed objective is

    H = I + (cost / h) * sum over pairs in the window of a_i (x_i - x_j)(x_i - x_j)'.

A sample of some dozens of pairs a feature is enough for a good direction.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ultr_core.learners.array_types import FloatArray
from ultr_core.learners.pair_totals import PairSample
from ultr_core.learners.problem import Iterate, Problem

# The curvature may take this many operations an entry of the features: as long as a pass, which
# waits for memory. So many pairs a feature are sampled at least and at most, and in all.
OPERATIONS_PER_ENTRY = 4
FEWEST_PER_FEATURE, MOST_PER_FEATURE = 12, 160
SMALLEST_SAMPLE = 2000
# At w = 0 every pair has u = 1: the window must hold them all, or there is no curvature to use.
FIRST_WIDTH = 2.0
SLOPE_TOLERANCE = 0.5
LINE_SEARCH_TRIALS = 20
SMALLEST_PIVOTS = (1e-13, 1e-10, 1e-7)


class SampledCurvature:
    """Newton directions; averages the curvature with that of the iteration before.

    ``blend`` is the share of the old curvature. The first direction at another cost, or of a fit
    that is carried on, trusts it wholly: one step is often enough there, and looking at pairs costs
    as much as the step.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.blend = 0.0
        self._problem, self._rng = problem, rng
        products = problem.products
        cheap = OPERATIONS_PER_ENTRY * products.n_entries // products.n_features**2
        most = min(
            max(cheap, FEWEST_PER_FEATURE * products.n_features),
            MOST_PER_FEATURE * products.n_features,
        )
        self._most = max(most, SMALLEST_SAMPLE)
        self._rate = min(1.0, self._most / max(problem.pairs.n_pairs, 1))
        self._width = FIRST_WIDTH
        self._before: NDArray[np.float64] | None = None
        self._trusted = False

    def of(self, problem: Problem) -> SampledCurvature:
        """The same for another form of the same problem, or at another cost."""
        other = copy(self)
        ratio = problem.cost / self._problem.cost
        if self._before is not None and ratio != 1:
            other._before, other._trusted = self._before * ratio, True
        other._problem = problem
        return other

    def trusted(self) -> SampledCurvature:
        """The same, to be relied on wholly for the next direction."""
        other = copy(self)
        other._trusted = self._before is not None
        return other

    def direction(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None,
        gradient: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """``-H^{-1} gradient`` [features]."""
        if self._before is None or not self._trusted:
            self._before = self._looked_at(scores, width, multipliers)
        self._trusted = False
        return -_solve_scaled(self._before + np.eye(len(gradient)), gradient)

    def _looked_at(
        self, scores: FloatArray, width: float, multipliers: FloatArray | None
    ) -> NDArray[np.float64]:
        """The curvature of the hinge [features, features] from a sample of the window."""
        problem = self._problem
        sample = self._sample(scores, width, multipliers)
        hessian = problem.products.curvature(
            sample.preferred, sample.other, sample.weights * (problem.cost / width)
        )
        if self._before is None or 0 < sample.window_pairs <= 3 * len(hessian):
            return hessian
        if sample.window_pairs == 0:
            return self._before
        return np.asarray((1 - self.blend) * hessian + self.blend * self._before)

    def _sample(
        self, scores: FloatArray, width: float, multipliers: FloatArray | None
    ) -> PairSample:
        """Pairs of the window: all of them, or about what is wanted, at least half of it."""
        # A window half as wide holds about half as many pairs.
        self._rate = min(1.0, self._rate * self._width / width)
        self._width = width
        while True:
            rate = self._rate
            sample = self._problem.pairs.sample_window(
                scores, width, multipliers, self._rng, rate, self._most
            )
            enough = sample.whole or 2 * len(sample.weights) >= self._most
            promising = self._most / max(sample.window_pairs, 1.0)
            # What was not enough is at least doubled, whatever it promised: the end is all pairs.
            self._rate = min(1.0, 4 * rate, max(promising, 0.0 if enough else 2 * rate))
            if enough:
                return sample


def _solve_scaled(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve with a unit diagonal, so that badly scaled features do no harm.

    NaN where the matrix overflowed.
    """
    scale = 1.0 / np.sqrt(matrix.diagonal())
    matrix = matrix * scale * scale[:, None]
    for pivot in SMALLEST_PIVOTS:
        matrix.flat[:: len(scale) + 1] += pivot
        try:
            factor = linalg.cho_factor(matrix, lower=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        return np.asarray(scale * linalg.cho_solve(factor, scale * right, check_finite=False))
    return np.full_like(right, np.nan)


def line_search(
    problem: Problem,
    start: Iterate,
    direction: NDArray[np.float64],
    slope: float,
    width: float,
    multipliers: FloatArray | None,
    moves: FloatArray | None = None,
    share: float = SLOPE_TOLERANCE,
) -> Iterate:
    """Step along ``direction`` to where the slope is at most a ``share`` of the initial ``slope``.

    One pass, unless ``moves`` (``X direction``) is known; after that every trial is a pair sum.
    Lengthens the step until the slope changes its sign, then interpolates. The last trial is
    returned with its own sums, even when the trials are used up.

    ``slope`` may belong to another width than ``width``. If the trials say that the direction
    leads upwards at this width, the start is returned with its sums at this width.
    """
    if moves is None:
        moves = problem.products.scores(direction)
    moves64 = moves.astype(np.float64)
    along = float(start.coefficients @ direction)
    square = float(direction @ direction)

    def at(step: float) -> tuple[Iterate, float]:
        scores = start.scores + moves.dtype.type(step) * moves
        totals = problem.totals(scores, width, multipliers)
        iterate = Iterate(start.coefficients + step * direction, scores, totals)
        return iterate, along + step * square - float(totals.pull @ moves64)

    bracket = _Bracket(slope)
    step = 1.0
    for _ in range(LINE_SEARCH_TRIALS):
        iterate, trial = at(step)
        if abs(trial) <= share * bracket.steepest:
            break
        bracket.take(step, trial)
        if bracket.doubtful:
            iterate, trial = at(0.0)
            if trial >= 0:
                break
            bracket.restart(trial)
        step = bracket.next_step()
    return iterate


class _Bracket:
    """Interval that holds a zero of an increasing function, with its values at both ends."""

    def __init__(self, slope: float) -> None:
        self.steepest = abs(slope)
        self._low, self._high = 0.0, np.inf
        self._slope_low, self._slope_high = slope, np.inf
        self._highs = 0
        self.doubtful = False

    def take(self, step: float, slope: float) -> None:
        """Shorten the interval; halve the value at an end that stays for long (Illinois)."""
        self.doubtful = False
        if slope < 0:
            self._low, self._slope_low, self._highs = step, slope, 0
            self.steepest = max(self.steepest, -slope)
            return
        if self._low == 0 and self._highs > 0:
            bend = (self._slope_high - slope) / (self._high - step)
            self.doubtful = self._highs == 1 and slope - bend * step > 0
        self._high, self._slope_high = step, slope
        self._highs += 1
        if self._highs > 1:
            self._slope_low *= 0.5

    def restart(self, slope: float) -> None:
        """Put the right value at step 0."""
        self._slope_low = slope

    def next_step(self) -> float:
        """Zero of the chord, or a longer step while there is no upper end."""
        if self._high == np.inf:
            return 2.0 * self._low
        share = -self._slope_low / (self._slope_high - self._slope_low)
        return self._low + (self._high - self._low) * min(0.9, max(0.1, share))
