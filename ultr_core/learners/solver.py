"""The two-phase solver on plain arrays: smoothed Newton, augmented Lagrangian, certificate.

In high dimensions cutting planes go before.
Knows neither corpora nor clicks: features, query offsets, one weight a document, a cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.augmented_lagrangian import augmented_lagrangian
from ultr_core.learners.certificate import Attempt, Certificate, Solver, certify
from ultr_core.learners.cutting_plane import cutting_plane
from ultr_core.learners.dual_bound import DualBundle
from ultr_core.learners.limits import LARGEST_FEATURE, FeatureRanges, check_features, feature_ranges
from ultr_core.learners.newton import smoothed_newton
from ultr_core.learners.pair_sums import PairSums
from ultr_core.learners.problem import Callback, Iterate, Problem, Progress, Record
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.steps import FIRST_WIDTH, SampledCurvature
from ultr_core.learners.subspace import MANY_FEATURES, Subspace, find_subspace

# A gap of LOOSE and more is left to phase 1 alone; below, multipliers take over at SWITCH_GAP.
LOOSE = 5e-5
SWITCH_GAP = 1e-3
# A given start is likely to be good: smoothing is narrow there from the first step on, provided
# that the window's part of the hinge (sum of a u (1 - beta)) is no smaller a share of it than this.
WARM_WIDTH, LEAST_INSIDE = 0.1, 1e-4
# Phase 1 gives up after this many iterations that do not halve the gap, and where a small gap is
# wanted and HARD_GAP took this many.
PATIENCE = 8
HARD_GAP, HARD_AFTER, HARD_TOLERANCE = 5e-3, 12, 3e-4
# With more pairs than this, all of which phase 2 has to enumerate, there is phase 1 only.
MOST_MULTIPLIERS = 100_000_000
# Quotients of scaled counts differ in their last bits; so many of them are kept.
KEPT_BITS = 40
# Features as small as this are used in float64 from the start.
SMALL_FEATURES = 200_000
# Rows of queries that take part are copied if they are less than this share of all; more readily
# where the copy is small (in entries).
COPIED_SHARE, SMALL_COPY_SHARE = 0.35, 0.75
SMALL_COPY = 50_000_000
# After this many iterations that do not halve the gap, a precision has given what it can.
STALLED_AFTER = {"float32": 25, "float64": 200}
CUTTING_PLANE_STALLED_AFTER = 150
# In more dimensions than this cutting planes come first, as long as they halve the gap within so
# many iterations: the curvature costs too much, and pairs are often too few to tell it.
MOST_CURVED, CUTTING_PLANE_PATIENCE = 800, 30


@dataclass(frozen=True)
class Data:
    """Features and pairs of the queries that take part, at cost 1.

    ``features`` are those of ``subspace``, in which the solvers work; ``query_offsets`` are
    theirs, ``used`` [queries of the corpus] says which queries take part, and ``rows`` [documents
    of the corpus] which documents were copied, None for all.
    """

    features: Any
    pairs: PairSums
    dtype: type[np.floating[Any]]
    subspace: Subspace
    query_offsets: IntArray
    used: NDArray[np.bool_]
    rows: NDArray[np.bool_] | None

    def reweighted(self, weights: NDArray[np.float64], query_offsets: IntArray) -> Data | None:
        """The same features for other weights; None if other queries take part.

        ``weights`` [documents] and ``query_offsets`` [queries + 1] as for ``prepare``.
        """
        weights = _rounded(weights)
        if not np.array_equal(_takes_part(weights, query_offsets), self.used):
            return None
        if self.rows is not None:
            weights = weights[self.rows]
        return replace(self, pairs=PairSums(weights, self.query_offsets))

    def problem(self, cost: float, dtype: type[np.floating[Any]]) -> Problem:
        """The problem at a cost, with its products in a precision."""
        features = self.features
        if dtype is np.float64 and features.size <= SMALL_FEATURES:
            features = features.astype(np.float64, copy=False)
        return Problem(FeatureProducts(features, dtype), self.pairs, cost)


@dataclass(frozen=True)
class State:
    """Where a solver stands.

    ``vector`` is X' pull of the iterate, and ``curvature`` what is known of it, if they are known.
    """

    iterate: Iterate
    width: float
    bundle: DualBundle
    multipliers: FloatArray | None = None
    vector: NDArray[np.float64] | None = None
    curvature: SampledCurvature | None = None


@dataclass(frozen=True)
class Options:
    """How far and how long to solve."""

    tolerance: float
    max_iterations: int
    seed: int
    callback: Callback | None = None
    solver: Solver = "newton"

    def record(self, subspace: Subspace) -> Record:
        """A fresh record; the callback is told of coefficients of the features."""
        callback = self.callback
        if callback is None or subspace.is_whole:
            return Record(self.tolerance, self.max_iterations, callback)

        def told(progress: Progress) -> object:
            constraint = progress.constraint
            if constraint is not None:
                constraint = replace(constraint, vector=subspace.widened(constraint.vector))
            widened = subspace.widened(progress.coefficients)
            return callback(replace(progress, coefficients=widened, constraint=constraint))

        return Record(self.tolerance, self.max_iterations, told)


def prepare(
    features: Any,
    feature_ids: IntArray,
    query_offsets: IntArray,
    weights: NDArray[np.float64],
    ranges: FeatureRanges,
) -> Data:
    """Lay out the pairs; copy the rows of the queries that take part if they are few.

    ``features`` [documents, features], ``feature_ids`` [features], ``query_offsets`` [queries + 1],
    ``weights`` [documents], ``ranges`` over all documents. Weights are rounded to 40 bits, which
    makes fits on scaled counts agree bit for bit. Raises InputError if no query has both a weighted
    document and another document, or if features are too large or too many.
    """
    weights = _rounded(weights)
    sizes, used = np.diff(query_offsets), _takes_part(weights, query_offsets)
    if not used.any():
        raise InputError(
            "There is nothing to learn from: no document with a positive weight shares its query "
            "with another document, so raise the number of clicks or use queries with two or more "
            "documents.",
            "no_pairs",
        )
    rows, copied = np.repeat(used, sizes), None
    share = float(rows.mean())
    small = share * features.shape[0] * features.shape[1] <= SMALL_COPY
    wide = features.shape[1] > MANY_FEATURES
    if share < (1.0 if wide else SMALL_COPY_SHARE if small else COPIED_SHARE):
        copied = rows
        features, weights = features[rows], weights[rows]
        query_offsets = np.concatenate([[0], np.cumsum(sizes[used])])
        rows = np.ones(len(weights), np.bool_)
    if ranges.largest.max(initial=0.0) > LARGEST_FEATURE:
        check_features(feature_ranges(features[rows]), feature_ids)
    if wide or features.shape[0] * features.shape[1] <= SMALL_FEATURES:
        ranges = feature_ranges(features)
    subspace, features = find_subspace(features, ranges.largest > 0)
    dtype: type[np.floating[Any]] = (
        np.float64
        if features.dtype == np.float64 or features.shape[0] * features.shape[1] <= SMALL_FEATURES
        else np.float32
    )
    pairs = PairSums(weights, query_offsets)
    return Data(features, pairs, dtype, subspace, query_offsets, used, copied)


def _takes_part(weights: NDArray[np.float64], query_offsets: IntArray) -> NDArray[np.bool_]:
    """Which queries have a weighted document and another one [queries]."""
    return (np.add.reduceat(weights, query_offsets[:-1]) > 0) & (np.diff(query_offsets) > 1)


def _rounded(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights [documents] to ``KEPT_BITS`` binary digits: a relative change below 1e-12."""
    mantissa, exponent = np.frexp(weights)
    scale = 2.0**KEPT_BITS
    return np.asarray(np.ldexp(np.round(mantissa * scale) / scale, exponent))


def solve(
    data: Data,
    cost: float,
    options: Options,
    coefficients: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Certificate]:
    """Minimise P to a relative duality gap ``tolerance``, checked in float64.

    Starts from zero or from ``coefficients``. Works in the precision of ``data``; tightens its
    aim, and goes on in float64, if the check in float64 does not confirm the gap.
    """
    rng = np.random.default_rng(options.seed)
    record = options.record(data.subspace)
    problem = data.problem(cost, data.dtype)
    if coefficients is not None:
        coefficients = data.subspace.narrowed(coefficients)
    state = start(problem, coefficients)
    target, passes = options.tolerance, 0
    while True:
        begun = record.iterations
        if options.solver == "cutting-plane":
            state = _cutting_plane(problem, state, record, target)
        else:
            state = two_phases(problem, state, record, target, rng)
        passes += problem.products.passes
        attempt = Attempt(cost, record, passes, *state.bundle.combined())
        (certificate,) = certify(problem, data.subspace, [attempt], options.solver)
        exact = problem.products.dtype == np.float64
        if certificate.converged or record.exhausted or (exact and record.stalled):
            return data.subspace.widened(record.coefficients), certificate
        passes, target = certificate.passes, 0.5 * target
        if not exact and (record.stalled or target < 0.2 * options.tolerance):
            problem = data.problem(cost, np.float64)
            state = _in_float64(problem, state, record)
            continue
        problem.products.passes = 0
        if exact and record.iterations == begun:
            # The record believes in a gap that the check does not confirm: scores that were moved
            # step by step have drifted. They are computed anew, so that every round iterates.
            state = _in_float64(problem, state, record)


def start(problem: Problem, coefficients: NDArray[np.float64] | None = None) -> State:
    """The first state: at zero, where nothing has to be computed, or at given coefficients."""
    products, width = problem.products, FIRST_WIDTH
    if coefficients is None or not coefficients.any():
        w = np.zeros(products.n_features)
        scores = np.zeros(products.n_documents, products.dtype)
        totals = problem.totals_at_zero(FIRST_WIDTH)
    else:
        w = coefficients
        scores = products.scores(w)
        width, totals = WARM_WIDTH, problem.totals(scores, WARM_WIDTH)
        inside = totals.hinge - totals.linear + float(totals.pull @ scores.astype(np.float64))
        if not inside > LEAST_INSIDE * totals.hinge:
            width, totals = FIRST_WIDTH, problem.totals(scores, FIRST_WIDTH)
    return State(Iterate(w, scores, totals), width, DualBundle(products.n_features))


def two_phases(
    problem: Problem, state: State, record: Record, target: float, rng: np.random.Generator
) -> State:
    """Phase 1 until the switch, then phase 2, down to the gap ``target``.

    In high dimensions only from where cutting planes stall.
    """
    if problem.products.n_features > MOST_CURVED:
        state = _cutting_plane(problem, state, record, target, CUTTING_PLANE_PATIENCE)
        if record.gap <= target or record.exhausted:
            return state
        record.forget_values()
    record.stall_limit = STALLED_AFTER[problem.products.dtype.name]
    iterate, width, bundle = state.iterate, state.width, state.bundle
    if not len(record.coefficients):
        record.coefficients = iterate.coefficients
    multipliers, vector = state.multipliers, state.vector
    curvature = state.curvature.of(problem) if state.curvature else SampledCurvature(problem, rng)
    both = problem.pairs.is_enumerated or problem.pairs.n_pairs <= MOST_MULTIPLIERS
    if multipliers is None:
        record.tolerance = target if target >= LOOSE or not both else SWITCH_GAP
        iterate, width, vector = smoothed_newton(
            problem,
            iterate,
            vector,
            width,
            record,
            bundle,
            curvature,
            lambda record: both and _is_slow(record, target),
        )
    record.tolerance = target
    if both and not record.done:
        vector = None
        problem = replace(problem, pairs=problem.pairs.enumerated())
        curvature = curvature.of(problem)
        iterate, width, multipliers = augmented_lagrangian(
            problem, iterate, width, multipliers, record, bundle, curvature
        )
    return State(iterate, width, bundle, multipliers, vector, curvature)


def _is_slow(record: Record, target: float) -> bool:
    """Whether multipliers promise to be faster than smoothing from here on."""
    hard = record.gap <= HARD_GAP and record.iterations >= HARD_AFTER
    return record.waited > PATIENCE or (hard and target <= HARD_TOLERANCE)


def _cutting_plane(
    problem: Problem,
    state: State,
    record: Record,
    target: float,
    patience: int = CUTTING_PLANE_STALLED_AFTER,
) -> State:
    """The one-slack cutting plane down to the gap ``target``, from the state's point."""
    record.stall_limit, record.tolerance = patience, target
    if not len(record.coefficients):
        record.coefficients = state.iterate.coefficients
    bundle = cutting_plane(problem, state.iterate, record)
    w = record.coefficients
    scores = problem.products.scores(w)
    iterate = Iterate(w, scores, problem.totals(scores, state.width))
    return State(iterate, state.width, bundle)


def _in_float64(problem: Problem, state: State, record: Record) -> State:
    """The same state for a problem in float64; what float32 believed of P and D is forgotten."""
    record.forget_values()
    w = record.coefficients
    scores = problem.products.scores(w)
    multipliers = state.multipliers
    if multipliers is not None:
        multipliers = multipliers.astype(np.float64)
    # Phase 2 computes its own sums.
    totals = problem.totals(scores, state.width)
    bundle = DualBundle(problem.products.n_features)
    return State(Iterate(w, scores, totals), state.width, bundle, multipliers)
