"""The two-phase solver on plain arrays: smoothed Newton, augmented Lagrangian, certificate.

Knows neither corpora nor clicks: features, query offsets, one weight a document, a cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.learners.augmented_lagrangian import augmented_lagrangian
from ultr_core.learners.certificate import Certificate
from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.newton import FIRST_WIDTH, smoothed_newton
from ultr_core.learners.pair_sums import DensePairs
from ultr_core.learners.problem import Callback, Iterate, Problem, Record
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.types import FloatArray, IntArray

# Newton on the smoothed hinge down to this gap, multipliers from there on.
SWITCH_GAP = 5e-3
# Features as small as this are used in float64 from the start.
SMALL_FEATURES = 200_000
# Rows of queries that take part are copied if they are less than this share of all.
COPIED_SHARE = 0.5
# After this many iterations that do not halve the gap, float32 has given what it can.
STALLED_AFTER = 25


@dataclass(frozen=True)
class Data:
    """Features and pairs of the queries that take part, at cost 1."""

    features: Any
    pairs: DensePairs
    dtype: type[np.floating[Any]]

    def problem(self, cost: float, dtype: type[np.floating[Any]]) -> Problem:
        """The problem at a cost, with its products in a precision."""
        features = self.features
        if dtype is np.float64 and features.size <= SMALL_FEATURES:
            features = features.astype(np.float64, copy=False)
        return Problem(FeatureProducts(features, dtype), self.pairs, cost)


@dataclass(frozen=True)
class Solution:
    """Weight vector, certificate, and the state that a fit at another cost can start from."""

    coefficients: NDArray[np.float64]
    certificate: Certificate
    cost: float
    last: Iterate
    width: float
    bundle: DualBundle


def prepare(features: Any, query_offsets: IntArray, weights: NDArray[np.float64]) -> Data:
    """Lay out the pairs; copy the rows of the queries that take part if they are few.

    ``features`` [documents, features], ``query_offsets`` [queries + 1], ``weights`` [documents].
    Weights are rounded to float32, which makes fits on scaled counts agree bit for bit.
    Raises InputError if no query has both a weighted document and another one.
    """
    weights = weights.astype(np.float32).astype(np.float64)
    sizes = np.diff(query_offsets)
    used = (np.add.reduceat(weights, query_offsets[:-1]) > 0) & (sizes > 1)
    if not used.any():
        raise InputError(
            "There is nothing to learn from: no document with a positive weight shares its query "
            "with another document, so raise the number of clicks or use queries with two or more "
            "documents."
        )
    rows = np.repeat(used, sizes)
    if rows.mean() < COPIED_SHARE:
        features, weights = features[rows], weights[rows]
        query_offsets = np.concatenate([[0], np.cumsum(sizes[used])])
    dtype: type[np.floating[Any]] = (
        np.float64
        if features.dtype == np.float64 or features.shape[0] * features.shape[1] <= SMALL_FEATURES
        else np.float32
    )
    return Data(features, DensePairs(weights, query_offsets), dtype)


def solve(
    data: Data,
    cost: float,
    *,
    tolerance: float,
    max_iterations: int,
    seed: int,
    callback: Callback | None = None,
    coefficients: NDArray[np.float64] | None = None,
    near: Solution | None = None,
) -> Solution:
    """Minimise P to a relative duality gap ``tolerance``, checked in float64.

    Starts from zero, from ``coefficients``, or from the solution at another cost. Works in the
    precision of ``data``; goes on in float64 if float32 does not get there.
    """
    rng = np.random.default_rng(seed)
    record = Record(tolerance, max_iterations, callback)
    problem = data.problem(cost, data.dtype)
    state = _start(problem, coefficients, near)
    target, passes = tolerance, 0
    while True:
        record.stall_limit = STALLED_AFTER if problem.products.dtype == np.float32 else None
        state = _two_phases(problem, state, record, target, rng)
        certificate = _certify(problem, state, record, tolerance, passes)
        if certificate.converged or record.exhausted:
            break
        passes, target = certificate.passes, 0.5 * target
        if not record.stalled and target > 0.2 * tolerance:
            problem.products.passes = 0
            continue
        problem = data.problem(cost, np.float64)
        state = _in_float64(problem, state, record)
    return Solution(
        record.coefficients, certificate, cost, state.iterate, state.width, state.bundle
    )


@dataclass(frozen=True)
class _State:
    iterate: Iterate
    width: float
    bundle: DualBundle
    multipliers: FloatArray | None = None


def _start(
    problem: Problem, coefficients: NDArray[np.float64] | None, near: Solution | None
) -> _State:
    products = problem.products
    if near is not None:
        scores = near.last.scores.astype(products.dtype, copy=False)
        totals = problem.totals(scores, near.width)
        iterate = Iterate(near.last.coefficients, scores, totals)
        return _State(iterate, near.width, near.bundle.rescaled(problem.cost / near.cost))
    w = np.zeros(products.n_features) if coefficients is None else coefficients
    scores = products.scores(w) if w.any() else np.zeros(products.n_documents, products.dtype)
    iterate = Iterate(w, scores, problem.totals(scores, FIRST_WIDTH))
    return _State(iterate, FIRST_WIDTH, DualBundle(products.n_features))


def _two_phases(
    problem: Problem, state: _State, record: Record, target: float, rng: np.random.Generator
) -> _State:
    """Phase 1 until the switch, then phase 2, down to the gap ``target``."""
    iterate, width, bundle = state.iterate, state.width, state.bundle
    multipliers = state.multipliers
    if multipliers is None:
        record.tolerance = max(target, SWITCH_GAP)
        iterate, width = smoothed_newton(problem, iterate, width, record, bundle, rng)
    record.tolerance = target
    if not record.done:
        iterate, width, multipliers = augmented_lagrangian(
            problem, iterate, width, multipliers, record, bundle, rng
        )
    return _State(iterate, width, bundle, multipliers)


def _in_float64(problem: Problem, state: _State, record: Record) -> _State:
    """The same state for a problem in float64; what float32 believed of P and D is forgotten."""
    record.forget_values()
    w = record.coefficients
    scores = problem.products.scores(w)
    multipliers = state.multipliers
    if multipliers is not None:
        multipliers = multipliers.astype(np.float64)
    totals = problem.totals(scores, state.width, multipliers)
    bundle = DualBundle(problem.products.n_features)
    return _State(Iterate(w, scores, totals), state.width, bundle, multipliers)


def _certify(
    problem: Problem, state: _State, record: Record, tolerance: float, passes: int
) -> Certificate:
    """P at the best point and D of the best combination of gradients, in float64; one pass."""
    exact = FeatureProducts(problem.products.features, np.float64)
    linear, pull = state.bundle.combined()
    scores, vector = exact.scores_and_pulled(record.coefficients, pull)
    hinge = problem.cost * problem.pairs.evaluate(scores, 1.0).hinge
    primal = 0.5 * float(record.coefficients @ record.coefficients) + hinge
    square = float(vector @ vector)
    share = min(1.0, linear / square) if square > 0 else 1.0
    dual = max(0.0, share * linear - 0.5 * share**2 * square)
    gap = max(0.0, primal - dual) / primal if primal > 0 else 0.0
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        iterations=record.iterations,
        passes=passes + problem.products.passes + exact.passes,
        solver="newton",
        converged=gap <= tolerance,
        stopped_early=record.interrupted,
    )
