"""Fits at several costs, each of which continues from what is already known.

A fit at a new cost starts where the fit at the cost below ended. A fit at a known cost continues
from its own state, so a smaller gap takes only the missing iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
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


class SolverPath:
    """Minimises P of one problem at any cost, to smaller and smaller gaps.

    Keeps the state of each fit: scores and dual points [documents], and in phase 2 one multiplier
    for each pair. ``keep`` drops the states that are no longer needed.
    """

    def __init__(self, data: Data, options: Options) -> None:
        self._data, self._options = data, options
        self._states: dict[float, State] = {}
        self._rng = np.random.default_rng(options.seed)

    def to(
        self, costs: Iterable[float], tolerance: float
    ) -> list[tuple[NDArray[np.float64], Certificate]]:
        """Minimise P at each of several rising costs, to a gap; fewer if a callback says so.

        All certificates come from one common pass, which is counted for each; a fit that fails its
        check is repeated alone.
        """
        options = replace(self._options, tolerance=tolerance)
        subspace = self._data.subspace
        problem, attempts = self._attempts(costs, options)
        if problem is None:
            return []
        found = []
        certificates = certify(problem, subspace, attempts)
        for attempt, certificate in zip(attempts, certificates, strict=True):
            w = subspace.widened(attempt.record.coefficients)
            if not certificate.converged and not attempt.record.exhausted:
                self._states.pop(attempt.cost, None)
                w, certificate = solve(self._data, attempt.cost, options, w)
            found.append((w, certificate))
        return found

    def near(self, costs: Iterable[float], tolerance: float) -> list[NDArray[np.float64]]:
        """What ``to`` finds, without certificates: the gap is what the solver believes.

        A certificate reads all features again, which takes half as long as continuing a fit. In
        float32 the solver's gap was off by at most 2e-5 at gaps from 1e-3, and by 6e-8 below.
        """
        options = replace(self._options, tolerance=tolerance)
        found = []
        for attempt in self._attempts(costs, options)[1]:
            w = self._data.subspace.widened(attempt.record.coefficients)
            if not attempt.record.gap <= tolerance and not attempt.record.exhausted:
                self._states.pop(attempt.cost, None)
                w, _ = solve(self._data, attempt.cost, options, w)
            found.append(w)
        return found

    def _attempts(
        self, costs: Iterable[float], options: Options
    ) -> tuple[Problem | None, list[Attempt]]:
        """A fit at each of several rising costs, and the problem at the last of them.

        A fit at a new cost takes over weights, scores, pair sums and dual points of the one
        before, the latter times the ratio of the costs. From the third new one on it first follows
        the line through the last two solutions.
        """
        attempts: list[Attempt] = []
        problem = None
        ends: list[_End] = []  # of the last two fits
        for cost in costs:
            problem = self._data.problem(cost, self._data.dtype)
            state = self._states.get(cost)
            if state is not None and state.multipliers is None and state.curvature is not None:
                state = replace(state, curvature=state.curvature.trusted())
            elif state is None:
                state = _carried(ends[-1], problem) if ends else start(problem)
                if len(ends) == 2:
                    state = _further(problem, state, *ends)
            record = options.record(self._data.subspace)
            state = two_phases(problem, state, record, options.tolerance, self._rng)
            attempts.append(
                Attempt(cost, record, problem.products.passes, *state.bundle.combined())
            )
            if record.broken:
                ends = []
                self._states.pop(cost, None)
            else:
                ends = [*ends[-1:], _End(cost, state)]
                self._states[cost] = state
            if record.interrupted:
                break
        return problem, attempts

    def keep(self, costs: Collection[float]) -> None:
        """Forget where fits at other costs stood."""
        self._states = {cost: state for cost, state in self._states.items() if cost in costs}


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
