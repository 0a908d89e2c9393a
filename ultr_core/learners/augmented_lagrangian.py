"""Phase 2: augmented Lagrangian, for gaps that smoothing alone reaches slowly or not at all.

A multiplier for each pair moves the window of the hinge, so that its width need not go to zero:

    beta_ij = clip(b_ij + u_ij / h, 0, 1),
    b <- beta once the inner problem is solved well enough.
"""

from __future__ import annotations

import numpy as np

from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.problem import Iterate, Problem, Record
from ultr_core.learners.steps import SampledCurvature, line_search
from ultr_core.learners.types import FloatArray

# The inner problem is solved well enough when 1/2 |gradient|^2 is this share of the present gap.
INNER_SHARE = 0.5
# If the gap fell by less than this factor since the last update, the width shrinks.
WANTED_DECREASE = 0.2
WIDTH_FACTOR = 0.3


def augmented_lagrangian(
    problem: Problem,
    start: Iterate,
    width: float,
    multipliers: FloatArray | None,
    record: Record,
    bundle: DualBundle,
    rng: np.random.Generator,
) -> tuple[Iterate, float, FloatArray]:
    """Minimise P to ``record.tolerance``; returns the last iterate, its width and multipliers."""
    products = problem.products
    curvature = SampledCurvature(problem, rng, blend=0.3)
    width = min(1.0, width)
    if multipliers is None:
        multipliers = np.zeros(problem.pairs.n_cells, start.scores.dtype)
    iterate = Iterate(
        start.coefficients, start.scores, problem.totals(start.scores, width, multipliers)
    )
    first, last_gap = True, np.inf
    while True:
        totals, w = iterate.totals, iterate.coefficients
        vector = products.pulled(totals.pull)
        bound = bundle.add(totals.linear, vector, totals.pull)
        if record.note(iterate, bound, products.passes):
            return iterate, width, multipliers
        gradient = w - vector
        gap = iterate.primal - (totals.linear - 0.5 * float(vector @ vector))
        if not first and 0.5 * float(gradient @ gradient) <= INNER_SHARE * gap:
            problem.totals(iterate.scores, width, multipliers, keep=multipliers)
            if gap > WANTED_DECREASE * last_gap:
                width *= WIDTH_FACTOR
            last_gap = gap
            totals = problem.totals(iterate.scores, width, multipliers)
            iterate = Iterate(w, iterate.scores, totals)
            vector = products.pulled(totals.pull)
            gradient = w - vector
        first = False
        direction = curvature.direction(iterate.scores, width, multipliers, gradient)
        slope = float(gradient @ direction)
        if not slope < 0:
            return iterate, width, multipliers
        iterate = line_search(problem, iterate, direction, slope, width, multipliers)
