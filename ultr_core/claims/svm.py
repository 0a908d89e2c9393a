"""Claims of section 6: the bound, the solvers, and the naive learner as a special case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ultr_core.claims.common import COST, FloatArray, Measure, Sizes, examined, sizes_of
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_sums, rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import WEIGHTED_FIELDS, Lab
from ultr_core.learners import fit_ranker, objective_value
from ultr_core.learners.certificate import Solver
from ultr_core.propensity import Weights, ips_weights

IntArray: TypeAlias = "NDArray[np.int64]"

ROUNDING = 1e-9
FEW = 40
"""Queries of the checks that go click by click or solve twice."""

SOLVED = 1e-3
"""Relative duality gap of the two solvers that are compared."""


def _weighted_bound(lab: Lab) -> Finding:
    """Slacks of the trained ranker's objective against the weighted ranks that it makes.

    (1/n) sum_j (1/q_j) sum_d xi_jd >= (1/n) sum_j (rank_j - 1) / q_j for every feasible (w, xi).
    """
    corpus, log = lab.world().train.corpus, lab.logs().train
    weights = ips_weights(log, lab.users.curve)
    trained = lab.trained(0, "propensity")
    w = trained.coefficients
    objective = objective_value(corpus, weights, trained.cost, w)
    slacks = lab.remember(
        lab.cell("slacks", WEIGHTED_FIELDS),
        lambda _: (objective - float(w @ w) / 2) / trained.cost,
    )
    ranks = rank_documents(corpus.features @ w, corpus.query_offsets)
    left = float(weights.values @ (ranks - 1.0)) / weights.clicks
    return Finding(
        f"The trained ranker's slacks sum to {slacks:.2f} per click; its weighted mean rank minus "
        f"1 is {left:.2f}.",
        slacks - left,
        "≥",
    )


def _each_click_is_an_example(lab: Lab) -> Finding:
    """The trained ranker's objective against one written out click by click."""
    corpus = lab.world().train.corpus.subset(
        np.arange(min(FEW, lab.world().train.corpus.n_queries))
    )
    rows = slice(0, corpus.n_documents)
    log, trained = lab.logs().train, lab.trained(0, "propensity")
    clicks = log.sum_by_document(log.clicks)[rows].astype(np.int64)
    q = examined(lab)[rows]
    values = lab.remember(lab.cell("example_weights", WEIGHTED_FIELDS), lambda _: clicks / q)
    n, w = int(clicks.sum()), trained.coefficients
    objective = objective_value(corpus, Weights(values, float(n)), trained.cost, w)
    written = float(w @ w) / 2 + trained.cost / n * _slacks(corpus, clicks, q, w)
    several = int(np.count_nonzero(query_sums(clicks > 0, corpus.query_offsets) > 1))
    return Finding(
        f"On {corpus.n_queries} queries, {several} of them with clicks on several documents, the "
        f"objective is {objective:.6g}; with {n:,} clicks written out, each with its own slacks, "
        f"it is {written:.6g}.",
        objective / written,
        "=",
        1.0,
        ROUNDING,
    )


def _slacks(corpus: Corpus, clicks: IntArray, q: FloatArray, w: FloatArray) -> float:
    """sum over clicks j of (1/q_j) sum over d of xi_jd, one click after the other."""
    scores, total = np.asarray(corpus.features @ w, dtype=np.float64), 0.0
    for start, stop in pairwise(corpus.query_offsets):
        of_query = scores[start:stop]
        for document in range(start, stop):
            xi = np.maximum(0.0, 1.0 - (scores[document] - of_query)).sum() - 1.0  # not its own
            for _ in range(int(clicks[document])):
                total += float(xi) / q[document]
    return total


def _two_solvers(lab: Lab) -> Finding:
    """Objectives that Newton's method and the one-slack cutting plane reach on some queries."""
    corpus, weights = _few_queries(lab)

    def solved(method: Solver) -> FloatArray:
        coefficients: FloatArray = lab.remember(
            lab.cell("solved", WEIGHTED_FIELDS, method),
            lambda _: (
                fit_ranker(corpus, weights, cost=COST, tolerance=SOLVED, method=method).coefficients
            ),
        )
        return coefficients

    newton, plane = (
        objective_value(corpus, weights, COST, solved(method)) for method in get_args(Solver)
    )
    difference = abs(newton - plane) / newton
    return Finding(
        f"On the clicks of {corpus.n_queries} queries, the objective is {newton:.6g} with Newton's "
        f"method and {plane:.6g} with cutting planes, a relative difference of "
        f"{difference:.1e}.",
        difference,
        tolerance=2 * SOLVED,
        reason=f"Each stops at a relative duality gap of {SOLVED:g}.",
    )


def _few_queries(lab: Lab) -> tuple[Corpus, Weights]:
    """The first training queries and the weights of their clicks."""
    whole, log = lab.world().train.corpus, lab.logs().train
    corpus = whole.subset(np.arange(min(FEW, whole.n_queries)))
    clicks = log.sum_by_document(log.clicks)[: corpus.n_documents].astype(np.float64)
    return corpus, Weights(clicks / examined(lab)[: corpus.n_documents], float(clicks.sum()))


def _equal_weights_are_naive(lab: Lab) -> Finding:
    """Coefficients of the weighted learner that believes in no bias, against the naive one's."""
    flat = lab.at(lab.settings.with_values(assumed_eta=0.0, assumed_curve=()))
    weighted, naive = (
        at.trained(0, name).coefficients for at, name in ((flat, "propensity"), (lab, "naive"))
    )
    worst = float(np.linalg.norm(weighted - naive)) / float(np.linalg.norm(naive))
    return Finding(
        f"Trained with η′ = 0 on the same clicks, the weighted ranker's coefficients differ "
        f"from the naive ranker's by {worst:.1g} in relative terms.",
        worst,
        tolerance=ROUNDING,
    )


def _sizes_of_few(lab: Lab) -> Sizes:
    corpus, weights = _few_queries(lab)
    return sizes_of(int(weights.clicks), corpus.n_queries, 1)


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType({"some queries": _sizes_of_few})
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "6c": _weighted_bound,
        "4k": _each_click_is_an_example,
        "6e": _two_solvers,
        "6g": _equal_weights_are_naive,
    }
)
"""How the claims are measured, by key."""
