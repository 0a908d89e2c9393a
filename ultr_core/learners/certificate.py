"""The proof that a fit is as good as claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray
from ultr_core.learners.pair_sums import PairSums
from ultr_core.learners.problem import Problem, Record
from ultr_core.learners.products import FeatureProducts
from ultr_core.learners.subspace import Subspace

Solver = Literal["newton", "cutting-plane"]

DUALITY_GAP = "relative duality gap"

# From this gap on a bound on rounding takes the place of a second sum over all pairs.
ROUNDING_IS_SMALL = 1e-3


@dataclass(frozen=True)
class Certificate:
    """Objective, lower bound and cost of a fit.

    ``primal`` is the objective P(w), ``dual`` a lower bound on it for every w, and
    ``gap = (primal - dual) / primal`` bounds the relative suboptimality; all three are computed in
    float64 after the solver has stopped. If the requested gap was 1e-3 or more, ``primal`` is an
    upper bound on P(w), above it by a fraction of at most 1e-4 (usually about 1e-5), which allows
    for all rounding in float32. ``passes`` counts products with the feature matrix (including the
    final check), and ``stopped_early`` records whether a callback ended the fit.

    ``measure`` names what ``gap`` is; a learner without a duality gap gives another name, and
    ``converged`` says whether ``gap`` is within the tolerance. A learner may subclass this to
    provide a ``sentence`` that says what its own measure proves.
    """

    primal: float
    dual: float
    gap: float
    iterations: int
    passes: int
    solver: str
    converged: bool
    stopped_early: bool
    measure: str = DUALITY_GAP

    @property
    def sentence(self) -> str:
        """What the certificate says, in words."""
        if self.measure != DUALITY_GAP:
            return (
                f"Certificate: the training objective is {self.primal:.4g}, with a {self.measure} "
                f"of {self.gap:.2g}."
            )
        return (
            f"Certificate: the training objective is {self.primal:.4g}, and no ranker of this kind "
            f"can lower it by more than {self.gap:.2%}. Retraining gives essentially the same "
            "ranker."
        )


@dataclass(frozen=True)
class Attempt:
    """An end of the solver that awaits its certificate.

    Its best dual point has the value ``linear`` and the pull ``sum share * pull`` [documents] over
    ``parts``.
    """

    cost: float
    record: Record
    passes: int
    linear: float
    parts: Sequence[tuple[float, FloatArray]]


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
    coefficients = np.stack([subspace.within_columns(a.record.coefficients) for a in attempts])
    read = _read(exact, coefficients, attempts, problem.pairs)
    certificates = []
    for k, attempt in enumerate(attempts):
        record, w, vector = attempt.record, coefficients[k], read.vectors[k]
        hinge = None
        if record.best is not None and k not in read.scores:
            summed = record.best.totals.hinge / attempt.cost
            hinge = problem.pairs.hinge_at_most(summed, record.best.scores, float(read.away[k]))
        if hinge is None:
            if k not in read.scores:
                read.scores[k] = np.asarray(exact.scores(w), np.float64)
            hinge = problem.pairs.hinge(read.scores[k])
        primal = 0.5 * float(w @ w) + attempt.cost * hinge
        square = float(vector @ vector)
        share = min(1.0, attempt.linear / square) if square > 0 else 1.0
        dual = max(0.0, share * attempt.linear - 0.5 * share**2 * square)
        gap = max(0.0, primal - dual) / primal if primal > 0 else 0.0
        if not np.isfinite(primal):
            gap = np.inf  # it proves nothing
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


@dataclass(frozen=True)
class _Reading:
    """What one reading of the features in float64 tells of several attempts.

    ``vectors`` [attempts, features] are X' pull. ``scores`` holds X w [documents] of the attempts
    whose pairs are to be summed again, ``away`` [attempts] the largest distance of the scores of
    the others from those that the solver used.
    """

    vectors: NDArray[np.float64]
    scores: dict[int, NDArray[np.float64]]
    away: NDArray[np.float64]


def _read(
    exact: FeatureProducts,
    coefficients: NDArray[np.float64],
    attempts: Sequence[Attempt],
    pairs: PairSums,
) -> _Reading:
    used = [
        a.record.best.scores
        if a.record.best is not None
        and a.record.tolerance_wanted >= ROUNDING_IS_SMALL
        and pairs.bounds_rounding(a.record.best.scores)
        else None
        for a in attempts
    ]
    scores = {k: np.empty(exact.n_documents) for k, own in enumerate(used) if own is None}
    near = [k for k, own in enumerate(used) if own is not None]
    found = [own for own in used if own is not None]
    away = np.zeros(len(attempts))
    vectors = np.zeros(coefficients.shape)
    pulls, mixing = _distinct(attempts, exact.n_documents)
    for rows, block in exact.blocks():
        at = coefficients @ block.T
        for k, whole in scores.items():
            whole[rows] = at[k]
        if near:
            distance = at[near] if scores else at
            distance -= np.stack([own[rows] for own in found], dtype=np.float64)
            away[near] = np.maximum(away[near], np.abs(distance, out=distance).max(axis=1))
        vectors += (mixing @ np.stack([pull[rows] for pull in pulls], dtype=np.float64)) @ block
    return _Reading(vectors, scores, away)


def _distinct(
    attempts: Sequence[Attempt], n_documents: int
) -> tuple[list[FloatArray], NDArray[np.float64]]:
    """Pulls of all parts, each once, and their shares [attempts, pulls]: fits of a path share many.

    Those of one attempt are mixed at once.
    """
    if len(attempts) == 1:
        mixed = np.zeros(n_documents)
        for share, pull in attempts[0].parts:
            mixed += share * pull.astype(np.float64)
        return [mixed], np.ones((1, 1))
    places: dict[int, int] = {}
    pulls: list[FloatArray] = [] if any(a.parts for a in attempts) else [np.zeros(n_documents)]
    for attempt in attempts:
        for _, pull in attempt.parts:
            if id(pull) not in places:
                places[id(pull)] = len(pulls)
                pulls.append(pull)
    mixing = np.zeros((len(attempts), len(pulls)))
    for shares, attempt in zip(mixing, attempts, strict=True):
        for share, pull in attempt.parts:
            shares[places[id(pull)]] += share
    return pulls, mixing
