"""Phase 1: Newton steps on a smoothed hinge whose width follows the duality gap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.problem import Iterate, Problem, Record
from ultr_core.learners.steps import SampledCurvature, line_search

# The smoothing part of the gap is kept below this share of what a step is expected to gain ...
SHARE_OF_STEP = 0.02
# ... but not below this part of the tolerance.
SHARE_OF_TOLERANCE = 0.3
# Share of the curvature of the iteration before.
BLEND = 0.1


def smoothed_newton(
    problem: Problem,
    start: Iterate,
    vector: NDArray[np.float64] | None,
    width: float,
    record: Record,
    bundle: DualBundle,
    curvature: SampledCurvature,
    give_up: Callable[[Record], bool],
) -> tuple[Iterate, float, NDArray[np.float64]]:
    """Minimise P to ``record.tolerance``; returns the last iterate, its width and X' pull.

    ``vector`` is X' pull of ``start`` if it is known.
    Stops earlier where ``give_up`` says that phase 2 will do better.

    The gap of the present pair (w, beta) has two parts: ``1/2 |w - v|^2``, which Newton steps
    remove, and the smoothing part ``hinge - A + c.s = sum a u (1 - beta)`` over the window, which
    falls about as h^2. The width shrinks when the second part is no longer small beside the first.
    """
    curvature.blend = BLEND
    iterate = start
    while True:
        totals, w = iterate.totals, iterate.coefficients
        if vector is None:
            vector = problem.products.pulled(totals.pull)
        bound = bundle.add(totals.linear, vector, totals.pull)
        if record.note(iterate, bound, problem.products.passes) or give_up(record):
            return iterate, width, vector
        gradient = w - vector
        direction = curvature.direction(iterate.scores, width, None, gradient)
        slope = float(gradient @ direction)
        if not slope < 0:
            record.broken = not np.isfinite(slope)
            return iterate, width, vector
        aim = _aim(record, slope, iterate.primal)
        smoothing = (
            iterate.primal
            - totals.linear
            + 0.5 * float(vector @ vector)
            - 0.5 * float(gradient @ gradient)
        )
        if smoothing > aim:
            width *= max(0.1, float(np.sqrt(aim / smoothing)))
        iterate = line_search(problem, iterate, direction, slope, width, None)
        vector = None

        totals = iterate.totals
        smoothing = totals.hinge - totals.linear
        smoothing += float(totals.pull @ iterate.scores.astype(np.float64))
        aim = _aim(record, slope, iterate.primal)
        if smoothing > 4 * aim:
            width *= max(0.1, float(np.sqrt(aim / smoothing)))
            totals = problem.totals(iterate.scores, width)
            iterate = Iterate(iterate.coefficients, iterate.scores, totals)


def _aim(record: Record, slope: float, primal: float) -> float:
    """How large the smoothing part of the gap may be."""
    return max(
        SHARE_OF_STEP * min(-slope, record.primal - record.dual),
        SHARE_OF_TOLERANCE * record.tolerance * primal,
    )
