"""Claims of section 6 about the ranking SVM, and the naive learner as a special case."""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_documents
from ultr_core.findings import Finding
from ultr_core.learners import fit_ranker, objective_value, weighted_hinge
from ultr_core.learners.certificate import Solver
from ultr_core.learners.selection import converged
from ultr_core.proofs.check import Evidence, proof
from ultr_core.proofs.small_world import default_world
from ultr_core.propensity import Weights, ips_weights, naive_weights
from ultr_core.words import counted

SMALL_QUERIES = 8
SMALL_COST = 10.0
SMALL_TOLERANCE = 1e-4
"""Relative duality gap that both programs are asked for on the small problem."""


@proof(
    name="hinge-bound",
    title="The hinge loss bounds the weighted rank loss",
    section="6",
    statement="For any scores, the weighted sum of hinge losses over all pairs is at least the "
    "weighted sum of ranks minus one of the clicked documents: minimising the SVM objective "
    "pushes down the empirical risk.",
    formula=r"\mathrm{rank}(d_j)-1 \le \sum_{d\ne d_j}\max(0,\,1-w\cdot[\phi(d_j)-\phi(d)])",
    assumes=(),
    fails_when="it cannot: the hinge is above the step function everywhere.",
)
def hinge_bound(evidence: Evidence) -> Finding:
    """Smallest ratio of the two sides over the rankers whose scores are given."""
    weights = ips_weights(evidence.log, evidence.assumed_curve)
    ratios = {}
    for label, scores in evidence.scores.items():
        ranks = rank_documents(scores, evidence.query_offsets)
        left = float(weights.values @ (ranks - 1.0))
        right = weighted_hinge(scores, weights.values, evidence.query_offsets)
        ratios[label] = right / left if left > 0 else np.inf
    tightest = min(ratios, key=lambda label: ratios[label])
    finite = min(ratios[tightest], float(np.finfo(float).max))
    return Finding(
        f"The bound is tightest for the {tightest} ranker, where the hinge loss is "
        f"{finite:.3g} times the weighted ranks.",
        finite,
        "≥",
        1.0,
        1e-9,
        details=tuple((f"{label}: hinge ÷ ranks", f"{r:.4g}") for label, r in ratios.items()),
    )


@proof(
    name="duality-gap",
    title="The trained ranker is optimal, with a certificate",
    section="6",
    statement="A dual value below and the objective above enclose the optimum of the SVM problem; "
    "their relative distance is the duality gap.",
    formula=r"\min_{w,\xi}\ \tfrac12 w\cdot w + \tfrac{C}{n}\sum_j\tfrac1{q_j}"
    r"\sum_{d\ne d_j}\xi_{jd}",
    assumes=(),
    fails_when="the solver was stopped before it reached its tolerance.",
)
def duality_gap(evidence: Evidence) -> Finding:
    """Relative gap of the propensity-weighted ranker, re-evaluated in float64."""
    return Finding(
        f"The objective is within {evidence.gap:.1e} of its optimum, relative; "
        f"{evidence.gap_tolerance:g} was asked for.",
        evidence.gap,
        tolerance=evidence.gap_tolerance,
    )


@proof(
    name="naive-special-case",
    title="Naive is the special case of full clipping",
    section="6, 7.2",
    statement="Clipping propensities at 1 gives every click the weight 1: the same learner, with "
    "equal weights, is the naive ranking SVM.",
    formula=r"\max(\tau, p) = 1 \ \text{for}\ \tau = 1",
    assumes=("the curve starts at p_1 = 1",),
    fails_when="the curve is not divided by its value at rank 1.",
)
def naive_special_case(evidence: Evidence) -> Finding:
    """Largest difference between naive weights and IPS weights clipped at 1."""
    naive = naive_weights(evidence.log)
    clipped = ips_weights(evidence.log, evidence.assumed_curve, clip=1.0)
    unclipped = ips_weights(evidence.log, evidence.assumed_curve)
    worst = float(np.max(np.abs(naive.values - clipped.values)))
    changed = int(evidence.log.clicks[evidence.assumed_curve.at(evidence.log.rank) < 1].sum())
    return Finding(
        f"The two weight vectors are equal; without clipping "
        f"{counted(changed, 'click weighs', 'clicks weigh')} more than 1 and the largest weight "
        f"of a document is {unclipped.values.max():,.4g}.",
        worst,
    )


@proof(
    name="one-slack-solver",
    title="The one-slack cutting plane trains the same ranker",
    section="6",
    statement="A cutting plane on the one-slack form and Newton's method on the pair losses, two "
    "programs that share no step, reach the same objective on a few small queries whose relevant "
    "documents are clicked and weighted by 1/q with q = 1/rank.",
    formula=r"\min_{w}\tfrac12 w\cdot w+C\,\xi(w)=\min_{w}\tfrac12 w\cdot w"
    r"+\tfrac Cn\sum_j\tfrac1{q_j}\sum_d\max(0,1-w\cdot[\phi_j-\phi_d])",
    assumes=(),
    fails_when="one of the two stops before it has reached its tolerance.",
)
def one_slack_solver(evidence: Evidence) -> Finding:
    """Relative difference of the two objectives, each within its own duality gap."""
    newton, cutting_plane = _small_objectives()
    difference = abs(newton - cutting_plane) / newton
    return Finding(
        f"Newton's method reaches {newton:.6g} and the cutting plane {cutting_plane:.6g}, a "
        f"relative difference of {difference:.1e}.",
        difference,
        tolerance=2 * SMALL_TOLERANCE,
        details=(("C", f"{SMALL_COST:g}"), ("queries", str(SMALL_QUERIES))),
    )


@lru_cache(maxsize=1)
def _small_objectives() -> tuple[float, float]:
    """Objective of either solver on queries like the walker's; the same in every world."""
    query = default_world().query
    rng = np.random.default_rng(0)
    relevance = np.tile(np.array(query.relevance), SMALL_QUERIES)
    inverse = np.tile(np.array([float(w) for w in default_world().inverse]), SMALL_QUERIES)
    features = rng.normal(size=(len(relevance), 3)) + 0.8 * relevance[:, None]
    corpus = Corpus(
        features=features.astype(np.float32),
        grades=relevance.astype(np.int16),
        query_offsets=np.arange(SMALL_QUERIES + 1, dtype=np.int64) * query.size,
        query_ids=tuple(str(number) for number in range(SMALL_QUERIES)),
        document_ids=None,
        feature_ids=np.arange(1, 4, dtype=np.int64),
    )
    weights = Weights(inverse * relevance, float(relevance.sum()))
    newton, cutting_plane = (
        converged(
            fit_ranker(corpus, weights, cost=SMALL_COST, tolerance=SMALL_TOLERANCE, method=method),
            SMALL_TOLERANCE,
        )
        for method in get_args(Solver)
    )
    return (
        objective_value(corpus, weights, SMALL_COST, newton.coefficients),
        objective_value(corpus, weights, SMALL_COST, cutting_plane.coefficients),
    )


PROOFS = (hinge_bound, duality_gap, one_slack_solver, naive_special_case)
"""The proofs of this module, in the order in which they are shown."""
