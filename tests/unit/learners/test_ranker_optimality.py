"""The fit against an independent solver of the quadratic program, and its own certificate."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import scipy.sparse as sparse

from ultr_core.corpus import Corpus
from ultr_core.learners import fit_path, fit_ranker, objective_value
from ultr_core.propensity.weights import Weights


def exact_optimum(corpus: Corpus, weights: Weights, cost: float) -> float:
    """Minimum of the objective with one slack variable a pair, by an interior-point method."""
    x = corpus.features.astype(np.float64)
    differences, factors = [], []
    for begin, end in zip(corpus.query_offsets[:-1], corpus.query_offsets[1:], strict=True):
        for i in range(begin, end):
            for j in range(begin, end):
                if i != j and weights.values[i] > 0:
                    differences.append(x[i] - x[j])
                    factors.append(cost * weights.values[i] / weights.clicks)
    pairs, features = len(factors), x.shape[1]
    # Variables (w, slacks); rows: 1 - difference.w - slack <= 0, then -slack <= 0.
    quadratic = sparse.diags_array(np.repeat([1.0, 0.0], [features, pairs]), format="csc")
    margins = sparse.hstack([sparse.csc_array(-np.array(differences)), -sparse.eye_array(pairs)])
    signs = sparse.hstack([sparse.csc_array((pairs, features)), -sparse.eye_array(pairs)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    problem = clarabel.DefaultSolver(
        sparse.csc_matrix(quadratic),
        np.concatenate([np.zeros(features), factors]),
        sparse.csc_matrix(sparse.vstack([margins, signs])),
        np.repeat([-1.0, 0.0], pairs),
        [clarabel.NonnegativeConeT(2 * pairs)],
        settings,
    )
    solution = problem.solve()
    assert solution.status == clarabel.SolverStatus.Solved
    return float(solution.obj_val)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_agrees_with_an_interior_point_solver(small_problem, ties, weighted, cost):
    check_optimum(small_problem, range(6), ties, weighted, cost)


@pytest.mark.slow
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_agrees_on_three_hundred_problems(small_problem, ties, weighted, cost):
    check_optimum(small_problem, range(6, 31), ties, weighted, cost)


def check_optimum(small_problem, seeds, ties, weighted, cost):
    for seed in seeds:
        corpus, weights = small_problem(seed, ties=ties, weighted=weighted, scales=2.0)
        optimum = exact_optimum(corpus, weights, cost)
        ranker = fit_ranker(corpus, weights, cost=cost, tolerance=1e-8)
        reached = objective_value(corpus, weights, cost, ranker.coefficients)
        assert ranker.certificate.converged
        assert abs(reached - optimum) <= 1e-6 * optimum, (seed, reached, optimum)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3])
def test_gap_is_never_below_the_true_suboptimality(small_problem, tolerance):
    # Weights are rounded to float32 in the fit: 6e-8 between its objective and the exact one.
    for seed in range(20):
        corpus, weights = small_problem(seed, ties=seed % 2 == 0, weighted=seed % 3 == 0)
        best = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-10).certificate.dual
        found = fit_ranker(corpus, weights, cost=10.0, tolerance=tolerance)
        value = objective_value(corpus, weights, 10.0, found.coefficients)
        assert found.certificate.gap <= tolerance
        assert found.certificate.gap >= (value - best) / value - 1e-7
        assert found.certificate.primal == pytest.approx(value, rel=1e-7)
        assert found.certificate.dual <= best * (1 + 1e-9) + 1e-10 * value


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("cost", [0.1, 10.0, 1000.0])
def test_float32_features_reach_every_gap(medium_problem, tolerance, cost):
    corpus, weights = medium_problem
    found = fit_ranker(corpus, weights, cost=cost, tolerance=tolerance).certificate
    assert found.converged and found.gap <= tolerance
    assert found.dual <= found.primal


def test_path_gives_the_same_optima_as_single_fits(medium_problem):
    corpus, weights = medium_problem
    costs = [10.0, 0.1, 1.0, 100.0]
    rankers = fit_path(corpus, weights, costs, tolerance=1e-4)
    assert [r.cost for r in rankers] == costs
    for ranker in rankers:
        alone = fit_ranker(corpus, weights, cost=ranker.cost, tolerance=1e-4).certificate
        assert ranker.certificate.gap <= 1e-4
        assert ranker.certificate.primal == pytest.approx(alone.primal, rel=2e-4)


def test_warm_start_from_the_optimum_is_certified_soon(medium_problem):
    corpus, weights = medium_problem
    first = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-4)
    again = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-3, initial=first)
    fresh = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-3)
    assert again.certificate.gap <= 1e-3
    assert again.certificate.passes <= fresh.certificate.passes + 2
