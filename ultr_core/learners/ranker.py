"""Linear rankers from weighted clicks: the face of the room.

The learner sees one non-negative weight a document and nothing else: naive, propensity-weighted,
clipped and full-information training differ in no line of this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.certificate import Attempt, Certificate, Solver, certify
from ultr_core.learners.limits import (
    RangesOf,
    check_callback,
    check_counts,
    check_weights,
    checked_cost,
    checked_costs,
    checked_tolerance,
)
from ultr_core.learners.objective import weighted_hinge
from ultr_core.learners.problem import Callback, Iterate, Problem
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.solver import Data, Options, State, prepare, solve, start, two_phases
from ultr_core.learners.steps import line_search
from ultr_core.propensity.weights import Weights
from ultr_core.words import counted

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


# A fit that gave up is tried again from this many times smaller costs on, one after the other.
STEPS_FROM_BELOW = (1e4, 1e3, 1e2, 1e1, 1.0)

_ranges_of = RangesOf()


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores are ``X w``: what a ranker of any origin comes down to."""

    coefficients: NDArray[np.float64]
    feature_ids: NDArray[np.int64]

    def score(self, corpus: Corpus) -> NDArray[np.float64]:
        """Scores [documents] of a corpus with the same features.

        Raises InputError if the corpus has other features than the ranker was trained on.
        """
        return np.asarray(score_many([self], corpus)[0])


def score_many(models: Sequence[LinearModel], corpus: Corpus) -> NDArray[np.float64]:
    """Scores [models, documents] in one reading of the features; each row as ``score`` gives it.

    Raises InputError as ``LinearModel.score`` does, and without a model.
    """
    if isinstance(models, LinearModel):
        raise InputError(
            "One ranker was given where several are expected; put it into a list.", "one_ranker"
        )
    models = list(models)
    _check_corpus(corpus)
    if not models:
        raise InputError("There is no ranker to score with; give one or more.", "no_ranker")
    for model in models:
        _check_model(model)
        if not np.array_equal(corpus.feature_ids, model.feature_ids):
            raise InputError(
                f"The ranker was trained on features {_span(model.feature_ids)} but the corpus has "
                f"features {_span(corpus.feature_ids)}; load both with the same feature columns."
            )
    products = FeatureProducts(corpus.features, np.float64)
    # A score beyond float64 is infinite, and whoever needs a finite one looks for that.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(products.scores_of_many(np.stack([m.coefficients for m in models])))


@dataclass(frozen=True, eq=False)
class LinearRanker(LinearModel):
    """A trained linear model; ``cost`` is the paper's C that it was trained with."""

    cost: float
    certificate: Certificate


def fit_ranker(
    corpus: Corpus,
    weights: Weights,
    *,
    cost: float,
    tolerance: float = 1e-3,
    initial: LinearRanker | None = None,
    seed: int = 0,
    max_iterations: int = 500,
    callback: Callback | None = None,
    method: Solver = "newton",
) -> LinearRanker:
    """Train Propensity SVM-Rank (Section 6) to a certified relative duality gap.

    Minimises ``1/2 w.w + (C/n) sum_i values_i sum_{j != i} max(0, 1 - s_i + s_j)`` with
    n = ``weights.clicks`` and C = ``cost``, until (primal - dual) / primal <= ``tolerance``. The
    same C as svm_rank's option -c if every click is a ranking of its own.

    ``method`` "newton" is the fast solver (with more than 800 features it begins with cutting
    planes); "cutting-plane" is the one of the paper's reference, slower, and shows each constraint
    it adds to the callback. Both reach the same optimum.

    A fit that gives up far from the optimum is tried again up a path of smaller costs.
    ``initial`` is a ranker to start from. ``callback`` receives a Progress after each iteration;
    if it returns True, the best ranker so far is returned with its gap. The result depends on
    ``seed`` only within the tolerance, and never on the number of threads.

    Raises InputError for weights of another corpus, an initial ranker with other features, weights
    that give no pair, too many features and documents, and for features, weights, cost or tolerance
    beyond the limits within which a gap can be certified.

    Two queries in which the second feature marks what is relevant:

    >>> from ultr_core.files import parse_corpus
    >>> from ultr_core.propensity import full_information_weights
    >>> lines = b"1 qid:1 1:1 2:1\\n0 qid:1 1:1\\n0 qid:2 1:1\\n1 qid:2 2:1\\n"
    >>> corpus = parse_corpus(lines, "example")
    >>> ranker = fit_ranker(corpus, full_information_weights(corpus.relevance(1)), cost=10.0)
    >>> bool(ranker.coefficients[1] > 0 and ranker.certificate.gap < 1e-3)
    True
    """
    _check_kinds(corpus, weights)
    check_counts(max_iterations, seed)
    check_callback(callback)
    cost, tolerance = checked_cost(cost), checked_tolerance(tolerance)
    start = _coefficients_of(initial, corpus)
    if method not in get_args(Solver):
        raise InputError(
            f"The method is {method!r}; it must be one of {', '.join(get_args(Solver))}.", "solver"
        )
    options = Options(tolerance, max_iterations, seed, callback, method)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        data = _data(corpus, weights)
        coefficients, certificate = solve(data, cost, options, start)
        given_up = not certificate.converged and not certificate.stopped_early
        if given_up and method == "newton" and certificate.iterations < max_iterations:
            coefficients, certificate = _from_below(data, cost, options, coefficients, certificate)
    return _ranker(corpus, cost, coefficients, certificate)


def fit_path(
    corpus: Corpus,
    weights: Weights,
    costs: Sequence[float],
    *,
    tolerance: float = 1e-2,
    seed: int = 0,
    max_iterations: int = 500,
    callback: Callback | None = None,
) -> tuple[LinearRanker, ...]:
    """One ranker for each value of C, in the order given, each with its own certificate.

    Solves from the smallest C upwards, every fit starting from the one before: its weights, its
    scores and its dual points, which stay feasible at another C once multiplied by the ratio of
    the two. A callback that stops the path leaves out the costs that were not begun. Raises
    InputError as ``fit_ranker`` does.
    """
    _check_kinds(corpus, weights)
    check_counts(max_iterations, seed)
    check_callback(callback)
    costs, tolerance = checked_costs(costs), checked_tolerance(tolerance)
    options = Options(tolerance, max_iterations, seed, callback)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        data = _data(corpus, weights)
        rising = sorted(set(costs))
        found = solve_path(data, rising, options)
    rankers = {cost: _ranker(corpus, cost, *fit) for cost, fit in zip(rising, found, strict=False)}
    return tuple(rankers[cost] for cost in costs if cost in rankers)


def _from_below(
    data: Data,
    cost: float,
    options: Options,
    coefficients: NDArray[np.float64],
    certificate: Certificate,
) -> tuple[NDArray[np.float64], Certificate]:
    """The same fit up a path of smaller costs, for problems too uneven to be solved from zero."""
    found = solve_path(data, [cost / step for step in STEPS_FROM_BELOW], options)
    w, last = found[-1]
    if last.gap >= certificate.gap or len(found) < len(STEPS_FROM_BELOW):
        w, last = coefficients, certificate
    tried = [one for _, one in found]
    return w, replace(
        last,
        iterations=certificate.iterations + sum(one.iterations for one in tried),
        passes=certificate.passes + sum(one.passes for one in tried),
        stopped_early=any(one.stopped_early for one in tried),
    )


def objective_value(
    corpus: Corpus, weights: Weights, cost: float, coefficients: NDArray[np.float64]
) -> float:
    """P(w) in float64: ``1/2 w.w + (C/n) sum_i values_i sum_{j != i} max(0, 1 - s_i + s_j)``.

    Raises InputError for a cost out of range, coefficients that are no finite number each, or a
    P(w) that is none.
    """
    _check_kinds(corpus, weights)
    cost = checked_cost(cost)
    _check_coefficients(coefficients, corpus.n_features)
    coefficients = np.asarray(coefficients, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = FeatureProducts(corpus.features, np.float64).scores(coefficients)
        value = 0.5 * float(coefficients @ coefficients)
        if np.isfinite(value) and np.isfinite(scores).all():
            hinge = weighted_hinge(scores, weights.values, corpus.query_offsets)
            value += cost / weights.clicks * hinge
        else:
            value = np.inf
    if not np.isfinite(value):
        raise InputError(
            f"The objective is too large for a number: coefficients reach "
            f"{np.abs(coefficients).max():g}; give smaller ones.",
            "objective",
        )
    return value


def _data(corpus: Corpus, weights: Weights) -> Data:
    if len(weights.values) != corpus.n_documents:
        raise InputError(
            f"The weights are for {counted(len(weights.values), 'document')} but the corpus has "
            f"{corpus.n_documents}; make them from a click log of this corpus."
        )
    check_weights(weights.values, weights.clicks)
    per_click = weights.values / weights.clicks
    ranges = _ranges_of(corpus)
    return prepare(corpus.features, corpus.feature_ids, corpus.query_offsets, per_click, ranges)


def _check_corpus(corpus: object) -> None:
    if not isinstance(corpus, Corpus):
        raise InputError(f"The corpus is {quoted(corpus)}; it must be a Corpus.", "not_a_corpus")


def _check_kinds(corpus: object, weights: object) -> None:
    """Raise InputError unless these are a corpus and weights, in this order."""
    _check_corpus(corpus)
    if not isinstance(weights, Weights):
        raise InputError(
            f"The weights are {quoted(weights)}; they must be Weights, such as Weights(values, "
            "clicks) with one number per document.",
            "not_weights",
        )


def _check_model(model: LinearModel) -> None:
    """Raise InputError unless it is a linear model with a finite coefficient for each feature."""
    if not isinstance(model, LinearModel):
        raise InputError(f"A ranker must be a LinearModel, not {quoted(model)}.", "not_a_ranker")
    _check_coefficients(model.coefficients, len(model.feature_ids))


def _check_coefficients(coefficients: object, n_features: int) -> None:
    w = np.asarray(coefficients)
    if w.shape != (n_features,) or w.dtype.kind not in "fiu":
        raise InputError(
            f"A ranker needs one number for each of its {n_features} features, not coefficients "
            f"of shape {w.shape} and type {w.dtype}."
        )
    if not np.isfinite(w).all():
        first = int(np.flatnonzero(~np.isfinite(w))[0])
        raise InputError(
            f"Coefficient {first} (counted from 0) of the ranker is {w[first]}; it must be finite.",
            "coefficient",
        )


def _coefficients_of(initial: LinearRanker | None, corpus: Corpus) -> NDArray[np.float64] | None:
    if initial is None:
        return None
    _check_model(initial)
    if not np.array_equal(initial.feature_ids, corpus.feature_ids):
        raise InputError(
            f"The initial ranker has features {_span(initial.feature_ids)} but the corpus has "
            f"features {_span(corpus.feature_ids)}; start from a ranker of the same features."
        )
    return initial.coefficients


def _ranker(
    corpus: Corpus, cost: float, coefficients: NDArray[np.float64], certificate: Certificate
) -> LinearRanker:
    kept = coefficients.copy()
    kept.setflags(write=False)
    return LinearRanker(kept, corpus.feature_ids, cost, certificate)


def _span(ids: NDArray[np.int64]) -> str:
    return f"{ids.min()} to {ids.max()} ({len(ids)} in all)" if len(ids) else "(none)"
