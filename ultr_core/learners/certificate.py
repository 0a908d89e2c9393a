"""The proof that a fit is as good as claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.problem import Problem, Record
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.subspace import Subspace

Solver = Literal["newton", "cutting-plane"]

# From this gap on a bound on rounding takes the place of a second sum over all pairs.
ROUNDING_IS_SMALL = 1e-3


@dataclass(frozen=True)
class Certificate:
    """Objective, lower bound and cost of a fit.

    ``primal`` is the objective P(w), ``dual`` a value that no w can go below, and
    ``gap = (primal - dual) / primal`` bounds the relative suboptimality; all three are computed in
    float64 after the solver has stopped. Where a gap of 1e-3 or more was asked for, ``primal`` is
    a bound above P(w), by a share of 1e-4 at most (about 1e-5), which allows for all rounding in
    float32. ``passes`` counts products with the feature matrix (the final check included),
    ``stopped_early`` says that a callback ended the fit.
    """

    primal: float
    dual: float
    gap: float
    iterations: int
    passes: int
    solver: str
    converged: bool
    stopped_early: bool


@dataclass(frozen=True)
class Attempt:
    """An end of the solver that awaits its certificate.

    ``linear`` and ``pull`` [documents] belong to its best dual point.
    """

    cost: float
    record: Record
    passes: int
    linear: float
    pull: NDArray[np.float64]


def certify(
    problem: Problem,
    subspace: Subspace,
    attempts: Sequence[Attempt],
    solver: Solver = "newton",
) -> list[Certificate]:
    """P at the best point and D of the best combination of gradients, in float64; one pass.

    For gaps that are large against rounding the pairs are not summed again: the hinge sum of the
    solver, raised by all that rounding can have taken from it, takes its place.
    """
    in_basis = subspace.mixing is not None
    features = subspace.features if in_basis else problem.products.features
    exact = FeatureProducts(features, np.float64)
    coefficients = [subspace.within_columns(a.record.coefficients) for a in attempts]
    scores, vectors = exact.scores_and_pulled(
        np.stack(coefficients), np.stack([a.pull for a in attempts])
    )
    certificates = []
    for k, attempt in enumerate(attempts):
        record, w, vector, at = attempt.record, coefficients[k], vectors[k], scores[k]
        best = record.best
        if best is not None and record.tolerance_wanted >= ROUNDING_IS_SMALL:
            summed = best.totals.hinge / attempt.cost
            hinge = problem.pairs.hinge_at_most(summed, best.scores, at)
        else:
            hinge = problem.pairs.hinge(at)
        primal = 0.5 * float(w @ w) + attempt.cost * hinge
        square = float(vector @ vector)
        share = min(1.0, attempt.linear / square) if square > 0 else 1.0
        dual = max(0.0, share * attempt.linear - 0.5 * share**2 * square)
        gap = max(0.0, primal - dual) / primal if primal > 0 else 0.0
        certificates.append(
            Certificate(
                primal=primal,
                dual=dual,
                gap=gap,
                iterations=record.iterations,
                passes=attempt.passes + exact.passes,
                solver=solver,
                converged=gap <= record.tolerance_wanted,
                stopped_early=record.interrupted,
            )
        )
    return certificates
