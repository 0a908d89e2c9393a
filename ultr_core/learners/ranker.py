"""Linear rankers from weighted clicks: the public face of the subpackage.

The learner sees one non-negative weight a document and nothing else: naive, propensity-weighted,
clipped and full-information training differ in no line of this file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.certificate import Certificate, Solver
from ultr_core.learners.limits import (
    SMALLEST_TOLERANCE,
    RangesOf,
    check_callback,
    check_counts,
    check_weights,
    checked_cost,
    checked_costs,
    checked_tolerance,
)
from ultr_core.learners.objective import weighted_hinge
from ultr_core.learners.path import SolverPath
from ultr_core.learners.problem import Callback
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.solver import Data, Options, prepare, solve
from ultr_core.propensity.weights import Weights
from ultr_core.words import counted

Fit = TypeVar("Fit")

# A fit that gave up is tried again from this many times smaller costs on, one after the other.
STEPS_FROM_BELOW = (1e4, 1e3, 1e2, 1e1, 1.0)

_ranges_of = RangesOf()


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear ranker of any origin, with scores ``X w``."""

    coefficients: NDArray[np.float64]
    feature_ids: NDArray[np.int64]

    def score(self, corpus: Corpus) -> NDArray[np.float64]:
        """Scores [documents] for a corpus with the same features.

        Raises InputError if the corpus has features other than those the ranker was trained on.
        """
        return np.asarray(score_many([self], corpus)[0])


def score_many(models: Sequence[LinearModel], corpus: Corpus) -> NDArray[np.float64]:
    """Scores [models, documents]; features are read once, and each row is what ``score`` returns.

    Raises InputError if ``LinearModel.score`` does, or if there is no model.
    """
    if isinstance(models, LinearModel):
        raise InputError(
            "One ranker was given where several are expected; put it in a list.", "one_ranker"
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
    """A trained linear model; ``cost`` is the value of the paper's C used in training."""

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
    n = ``weights.clicks`` and C = ``cost``, until (primal - dual) / primal <= ``tolerance``. C
    equals svm_rank's option -c if every click is a separate ranking.

    ``method`` "newton" is the fast solver (with more than 800 features it begins with cutting
    planes); "cutting-plane" is the algorithm that the paper cites; it is slower, and gives the
    callback each constraint that it adds. Both reach the same optimum.

    A fit that stops far from the optimum is tried again along a path of smaller costs.
    ``initial`` is a ranker to start from. ``callback`` receives a Progress after each iteration;
    if it returns True, the best ranker so far is returned with its gap. The result depends on
    ``seed`` only within the tolerance, and never on the number of threads.

    Raises InputError for weights made for another corpus, an initial ranker with other features,
    weights that give no pairs, too many features and documents, and features, weights, cost or
    tolerance outside the limits within which a gap can be certified.

    Two queries in which the second feature marks the relevant document:

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


@dataclass(frozen=True, eq=False)
class RankerPath:
    """Rankers of one weighting of a corpus at any C; each can continue to a smaller gap."""

    corpus: Corpus
    solver: SolverPath

    def to(self, costs: Sequence[float], tolerance: float) -> tuple[LinearRanker, ...]:
        """One ranker for each C, in the order given, with a gap of at most ``tolerance``.

        Raises InputError for a C or a tolerance out of range.
        """
        fits = _in_order(self.solver.to, costs, tolerance)
        return tuple(_ranker(self.corpus, cost, *fit) for cost, fit in fits)

    def near(self, costs: Sequence[float], tolerance: float) -> tuple[LinearModel, ...]:
        """What ``to`` finds, without certificates and so sooner: enough to compare settings.

        Raises InputError as ``to`` does.
        """
        fits = _in_order(self.solver.near, costs, tolerance)
        return tuple(LinearModel(w, self.corpus.feature_ids) for _, w in fits)

    def keep(self, costs: Collection[float]) -> None:
        """Drop the fits at any other C."""
        self.solver.keep(costs)


def _in_order(
    solve_all: Callable[[list[float], float], list[Fit]], costs: Sequence[float], tolerance: float
) -> list[tuple[float, Fit]]:
    """What a solver finds at rising costs, in the order given; fewer if a callback stopped it."""
    costs, tolerance = checked_costs(costs), checked_tolerance(tolerance)
    rising = sorted(set(costs))
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        found = dict(zip(rising, solve_all(rising, tolerance), strict=False))
    return [(cost, found[cost]) for cost in costs if cost in found]


def fit_paths(
    corpus: Corpus,
    weights: Sequence[Weights],
    *,
    seed: int = 0,
    max_iterations: int = 500,
    callback: Callback | None = None,
) -> tuple[RankerPath, ...]:
    """A path for each of several weightings, whose fits are made when they are asked for.

    Rows of features that have to be copied are copied once for all that weigh documents of the
    same queries. Raises InputError as ``fit_ranker`` does.
    """
    for one in weights:
        _check_kinds(corpus, one)
    check_counts(max_iterations, seed)
    check_callback(callback)
    options = Options(SMALLEST_TOLERANCE, max_iterations, seed, callback)
    paths: list[RankerPath] = []
    data: Data | None = None
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for one in weights:
            data = _data(corpus, one, data)
            paths.append(RankerPath(corpus, SolverPath(data, options)))
    return tuple(paths)


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

    Solves from the smallest C upwards. Each fit starts from the previous fit: its weights, its
    scores and its dual points, which stay feasible at another C once multiplied by the ratio of
    the two values. If a callback stops the path, costs not yet tried are left out. Raises
    InputError as ``fit_ranker`` does.
    """
    (path,) = fit_paths(
        corpus, [weights], seed=seed, max_iterations=max_iterations, callback=callback
    )
    return path.to(costs, tolerance)


def _from_below(
    data: Data,
    cost: float,
    options: Options,
    coefficients: NDArray[np.float64],
    certificate: Certificate,
) -> tuple[NDArray[np.float64], Certificate]:
    """The same fit up a path of smaller costs, for problems too uneven to be solved from zero."""
    path = SolverPath(data, options)
    found = path.to([cost / step for step in STEPS_FROM_BELOW], options.tolerance)
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

    Raises InputError for a cost out of range, coefficients that are not finite, or a P(w) that is
    not finite.
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
            "The objective is too large to be represented: coefficients reach "
            f"{np.abs(coefficients).max():g}; give smaller ones.",
            "objective",
        )
    return value


def _data(corpus: Corpus, weights: Weights, like: Data | None = None) -> Data:
    """The problem's data; ``like`` holds rows of features of the same corpus, copied before."""
    if len(weights.values) != corpus.n_documents:
        raise InputError(
            f"The weights are for {counted(len(weights.values), 'document')} but the corpus has "
            f"{corpus.n_documents}; make them from a click log for this corpus."
        )
    check_weights(weights.values, weights.clicks)
    per_click = weights.values / weights.clicks
    again = None if like is None else like.reweighted(per_click, corpus.query_offsets)
    if again is not None:
        return again
    ranges = _ranges_of(corpus)
    return prepare(corpus.features, corpus.feature_ids, corpus.query_offsets, per_click, ranges)


def _check_corpus(corpus: object) -> None:
    if not isinstance(corpus, Corpus):
        raise InputError(f"The corpus is {quoted(corpus)}; it must be a Corpus.", "not_a_corpus")


def _check_kinds(corpus: object, weights: object) -> None:
    """Raise InputError unless these are a corpus and weights, in that order."""
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
            f"features {_span(corpus.feature_ids)}; start from a ranker with the same features."
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
