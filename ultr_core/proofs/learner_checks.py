"""Claims of section 6 about the ranking SVM, and the naive learner as a special case."""

from __future__ import annotations

import numpy as np

from ultr_core.learners import weighted_hinge
from ultr_core.proofs.check import Finding, proof
from ultr_core.proofs.evidence import Evidence
from ultr_core.propensity import ips_weights, naive_weights
from ultr_core.ranking import rank_documents


@proof(
    name="hinge-bound",
    title="The hinge loss bounds the weighted rank loss",
    section="6",
    statement="For any scores, the weighted sum of hinge losses over all pairs is at least the "
    "weighted sum of ranks minus one of the clicked documents: minimising the SVM objective "
    "pushes down the empirical risk.",
    formula=r"\mathrm{rank}(d_j)-1 \le \sum_{d\ne d_j}\max(0,\,1-w\cdot[\phi(d_j)-\phi(d)])",
    assumes=(),
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
        finite,
        1.0,
        1e-9,
        True,
        f"The bound is tightest for the {tightest} ranker, where the hinge loss is "
        f"{finite:.3g} times the weighted ranks.",
        relation="≥",
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
)
def duality_gap(evidence: Evidence) -> Finding:
    """Relative gap of the propensity-weighted ranker, re-evaluated in float64."""
    return Finding(
        evidence.gap,
        0.0,
        evidence.gap_tolerance,
        True,
        f"The objective is within {evidence.gap:.1e} of its optimum, relative; "
        f"{evidence.gap_tolerance:g} was asked for.",
    )


@proof(
    name="naive-special-case",
    title="Naive is the special case of full clipping",
    section="6, 7.2",
    statement="Clipping propensities at 1 gives every click the weight 1: the same learner, with "
    "equal weights, is the naive ranking SVM.",
    formula=r"\max(\tau, p) = 1 \ \text{for}\ \tau = 1",
    assumes=("the curve starts at p_1 = 1",),
)
def naive_special_case(evidence: Evidence) -> Finding:
    """Largest difference between naive weights and IPS weights clipped at 1."""
    naive = naive_weights(evidence.log)
    clipped = ips_weights(evidence.log, evidence.assumed_curve, clip=1.0)
    unclipped = ips_weights(evidence.log, evidence.assumed_curve)
    worst = float(np.max(np.abs(naive.values - clipped.values)))
    changed = int(evidence.log.clicks[evidence.assumed_curve.at(evidence.log.rank) < 1].sum())
    return Finding(
        worst,
        0.0,
        0.0,
        True,
        f"The two weight vectors are equal; without clipping {changed:,} clicks weigh more than "
        f"1 and the largest weight of a document is {unclipped.values.max():,.4g}.",
    )


PROOFS = (hinge_bound, duality_gap, naive_special_case)
"""The proofs of this module, in the order in which they are shown."""
