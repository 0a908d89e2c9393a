"""The proof that a fit is as good as claimed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """Objective, lower bound and cost of a fit.

    ``primal`` is P(w), ``dual`` a value that no w can go below, ``gap = (primal - dual) / primal``
    bounds the relative suboptimality; all three are computed in float64 after the solver has
    stopped. ``passes`` counts products with the feature matrix (the final check included),
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
