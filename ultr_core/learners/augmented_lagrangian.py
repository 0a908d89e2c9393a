"""Phase 2: augmented Lagrangian, for gaps that smoothing alone reaches slowly or not at all.

A multiplier for each pair moves the window of the hinge, so that its width need not go to zero:

    beta_ij = clip(b_ij + u_ij / h, 0, 1),
    b <- beta once the inner problem is solved well enough.

The gap of the pair (w, beta) is ``1/2 |w - v|^2``, which Newton steps of the inner problem remove,
plus the slack ``hinge - A + c.s = sum a (max(0, u) - beta u)``, which updates of b remove.
"""

from __future__ import annotations

import numpy as np

from ultr_core.learners.array_types import FloatArray
from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.pair_totals import PairTotals
from ultr_core.learners.problem import Iterate, Problem, Record
from ultr_core.learners.steps import FIRST_WIDTH, SampledCurvature, line_search

# If the slack fell by less than this factor since the last update, the width shrinks, unless
# the inner problem was hard already.
WANTED_DECREASE = 0.05
WIDTH_FACTOR = 0.3
EASY_STEPS = 2
# An inner problem that is not solved after so many steps is given a wider window, over which its
# curvature says more.
STUCK_AFTER, WIDER = 8, 5.0
# Share of the curvature of the iteration before.
BLEND = 0.1
# Pair sums are tried ahead, to save a pass, if there are this many features' entries a cell.
ENTRIES_PER_CELL = 8


def augmented_lagrangian(
    problem: Problem,
    start: Iterate,
    width: float,
    multipliers: FloatArray | None,
    record: Record,
    bundle: DualBundle,
    curvature: SampledCurvature,
) -> tuple[Iterate, float, FloatArray]:
    """Minimise P to ``record.tolerance``; returns the last iterate, its width and multipliers.

    Multipliers are updated as soon as ``1/2 |w - v|^2`` is below the slack.
    """
    products = problem.products
    curvature.blend = BLEND
    width = min(1.0, width)
    if multipliers is None:
        multipliers = np.zeros(problem.pairs.n_cells, start.scores.dtype)
    totals = problem.totals(start.scores, width, multipliers)
    iterate = Iterate(start.coefficients, start.scores, totals)
    ahead = ENTRIES_PER_CELL * problem.pairs.n_cells < products.n_entries
    steps, last_slack = 0, np.inf
    while True:
        totals, w, scores = iterate.totals, iterate.coefficients, iterate.scores
        slack = totals.hinge - totals.linear + float(totals.pull @ scores.astype(np.float64))
        too_slow = slack > WANTED_DECREASE * last_slack and steps <= EASY_STEPS
        next_width = width * WIDTH_FACTOR if too_slow else width
        if ahead:
            updated, next_totals = _update(problem, scores, width, multipliers, next_width)
            vector, next_vector = products.pulled_both(totals.pull, next_totals.pull)
        else:
            vector = products.pulled(totals.pull)
        bound = bundle.add(totals.linear, vector, totals.pull)
        if record.note(iterate, bound, products.passes):
            return iterate, width, multipliers
        gradient = w - vector
        steps += 1
        if 0.5 * float(gradient @ gradient) <= slack:
            if not ahead:
                updated, next_totals = _update(problem, scores, width, multipliers, next_width)
                next_vector = products.pulled(next_totals.pull)
            bundle.add(next_totals.linear, next_vector, next_totals.pull)
            multipliers, width, last_slack, steps = updated, next_width, slack, 0
            iterate, gradient = Iterate(w, scores, next_totals), w - next_vector
        elif steps % STUCK_AFTER == 0 and width < FIRST_WIDTH:
            width = min(WIDER * width, FIRST_WIDTH)
            iterate = Iterate(w, scores, problem.totals(scores, width, multipliers))
            gradient = w - products.pulled(iterate.totals.pull)
        direction = curvature.direction(scores, width, multipliers, gradient)
        slope = float(gradient @ direction)
        if not slope < 0:
            record.broken = not np.isfinite(slope)
            return iterate, width, multipliers
        iterate = line_search(problem, iterate, direction, slope, width, multipliers)


def _update(
    problem: Problem,
    scores: FloatArray,
    width: float,
    multipliers: FloatArray,
    next_width: float,
) -> tuple[FloatArray, PairTotals]:
    """The multipliers b <- beta, and the pair sums with them at the next width."""
    updated = np.empty_like(multipliers)
    problem.totals(scores, width, multipliers, keep=updated)
    return updated, problem.totals(scores, next_width, updated)
