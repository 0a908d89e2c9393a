"""The same problem at several costs, one after the other: what validation chooses C from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.certificate import Attempt, Certificate, certify
from ultr_core.learners.problem import Iterate, Problem
from ultr_core.learners.solver import Data, Options, State, solve, start, two_phases
from ultr_core.learners.steps import line_search

# Solutions are extrapolated by this share of what a straight line would give, as the line bends,
# and by at most so many times their last distance. The first trial is taken unless it goes far
# beyond the lowest point: what follows is a Newton step.
SHARE_OF_LINE, FURTHEST = 0.85, 2.0
SLOPE_TOLERANCE = 0.9


@dataclass(frozen=True)
class _End:
    """Where a fit ended."""

    cost: float
    state: State


def solve_path(
    data: Data, costs: Iterable[float], options: Options
) -> list[tuple[NDArray[np.float64], Certificate]]:
    """Minimise P at each of several rising costs.

    Each fit goes on from where the one before stood: its weights and scores, its pair sums and
    its dual points, which only have to be multiplied by the ratio of the costs. From the third on
    it first follows the line through the last two solutions. All certificates come from one common
    pass, counted for each; a fit that fails its check is repeated alone.
    """
    attempts: list[Attempt] = []
    problem = None
    ends: list[_End] = []  # of the last two fits
    rng = np.random.default_rng(options.seed)
    for cost in costs:
        problem = data.problem(cost, data.dtype)
        state = _carried(ends[-1], problem) if ends else start(problem)
        if len(ends) == 2:
            state = _further(problem, state, *ends)
        record = options.record(data.subspace)
        state = two_phases(problem, state, record, options.tolerance, rng)
        attempts.append(Attempt(cost, record, problem.products.passes, *state.bundle.combined()))
        ends = [] if record.broken else [*ends[-1:], _End(cost, state)]
        if record.interrupted:
            break
    if problem is None:
        return []
    found = []
    certificates = certify(problem, data.subspace, attempts)
    for attempt, certificate in zip(attempts, certificates, strict=True):
        w = data.subspace.widened(attempt.record.coefficients)
        if not certificate.converged and not attempt.record.exhausted:
            w, certificate = solve(data, attempt.cost, options, w)
        found.append((w, certificate))
    return found


def _carried(end: _End, problem: Problem) -> State:
    """The end of one fit as the start of the next, at another cost."""
    state, ratio = end.state, problem.cost / end.cost
    iterate, vector = state.iterate, state.vector
    if state.multipliers is None and vector is not None:
        totals = iterate.totals.times(ratio)
        vector = vector * ratio
    else:
        totals, vector = problem.totals(iterate.scores, state.width), None
    iterate = Iterate(iterate.coefficients, iterate.scores, totals)
    bundle = state.bundle.rescaled(ratio)
    return State(iterate, state.width, bundle, None, vector, state.curvature)


def _further(problem: Problem, state: State, one: _End, two: _End) -> State:
    """The state after a step along the line through the solutions at the last two costs.

    Solutions move about evenly with the logarithm of the cost. Their scores are known: no pass.
    """
    ratio = float(np.log(problem.cost / two.cost) / np.log(two.cost / one.cost))
    share = SHARE_OF_LINE * ratio
    if state.vector is None or share > FURTHEST:
        return state
    before, last = one.state.iterate, two.state.iterate
    direction = share * (last.coefficients - before.coefficients)
    slope = float((last.coefficients - state.vector) @ direction)
    if not slope < 0:
        return state
    moves = last.scores.dtype.type(share) * (last.scores - before.scores)
    iterate = line_search(
        problem, state.iterate, direction, slope, state.width, None, moves, SLOPE_TOLERANCE
    )
    return replace(state, iterate=iterate, vector=None)
