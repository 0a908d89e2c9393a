"""The one-slack cutting plane, the algorithm of the paper's reference solver.

The quadratic program of Section 6 with all slacks replaced by their weighted sum xi:

    min 1/2 w.w + xi    subject to    w.v_c >= A_c - xi   for every choice c of pairs,

    A_c = cost * sum over chosen pairs of a_i,   v_c = cost * sum over chosen pairs a_i (x_i - x_j).

There are as many constraints as sets of pairs, but few matter. Each round adds the one that is
violated most: the pairs with w.(x_i - x_j) < 1. The program over the constraints found so far is a
lower bound of P, the dual of it is the combination kept by ``DualBundle``. Between rounds a line
search keeps the best point, and the next constraint is taken near it, which needs far fewer rounds
than taking it at the solution of the small program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray
from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.problem import Constraint, Iterate, Problem, Record

# The hinge itself: beta is 1 where u > 0, up to rounding.
NO_WIDTH = 1e-9
# The next constraint is taken this far from the best point towards the small program's solution.
SHARE_OF_STEP = 0.1
LINE_SEARCH_TRIALS = 25
LINE_SEARCH_TOLERANCE = 0.02
MOST_CONSTRAINTS = 500


def cutting_plane(problem: Problem, start: Iterate, record: Record) -> DualBundle:
    """Minimise P to ``record.tolerance``; the best point is left in ``record``.

    Returns the constraints, the last best combination of which is the dual certificate.
    """
    products = problem.products
    bundle = DualBundle(products.n_features, MOST_CONSTRAINTS)
    best = Iterate(start.coefficients, start.scores, problem.totals(start.scores, NO_WIDTH))
    added_at = best
    while True:
        pull = added_at.totals.pull
        vector = products.pulled(pull)
        linear = added_at.totals.linear
        slack = bundle.slack()
        violation = linear - float(bundle.vector() @ vector) - slack
        constraint = Constraint(bundle.n_points + 1, linear, vector, violation, slack)
        bound = bundle.add(linear, vector, pull)
        if record.note(best, bound, products.passes, constraint):
            return bundle
        solution = bundle.vector()
        solution_scores = products.scores(solution)
        best = _best_on_line(problem, best, solution, solution_scores)
        share = best.scores.dtype.type(SHARE_OF_STEP)
        scores = best.scores + share * (solution_scores - best.scores)
        coefficients = best.coefficients + SHARE_OF_STEP * (solution - best.coefficients)
        added_at = Iterate(coefficients, scores, problem.totals(scores, NO_WIDTH))


def _best_on_line(
    problem: Problem,
    start: Iterate,
    target: NDArray[np.float64],
    target_scores: FloatArray,
) -> Iterate:
    """Lowest point of P found on the ray from ``start`` through ``target``; pair sums only."""
    direction = target - start.coefficients
    moves = target_scores - start.scores
    moves64 = moves.astype(np.float64)

    def at(step: float) -> tuple[Iterate, float]:
        scores = start.scores + moves.dtype.type(step) * moves
        totals = problem.totals(scores, NO_WIDTH)
        iterate = Iterate(start.coefficients + step * direction, scores, totals)
        return iterate, float(iterate.coefficients @ direction - totals.pull @ moves64)

    return _bisect(at, start)


def _bisect(at: Callable[[float], tuple[Iterate, float]], start: Iterate) -> Iterate:
    """Halve the interval where the slope changes its sign, keeping the lowest point met."""
    best, low, high, step = start, 0.0, np.inf, 1.0
    for _ in range(LINE_SEARCH_TRIALS):
        iterate, slope = at(step)
        if iterate.primal < best.primal:
            best = iterate
        if slope > 0:
            high = step
        else:
            low = step
        if high - low < LINE_SEARCH_TOLERANCE * high < np.inf:
            break
        step = 0.5 * (low + high) if high < np.inf else 2 * step
    return best
