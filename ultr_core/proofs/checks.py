"""The checks of a world besides the derivations, and all proofs in one registry.

On all logged queries: closed form, simulated clicks and order; on the trained ranker: bound and
certificate; on the small query: simulated users.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_documents
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.learners import fit_ranker, objective_value, weighted_hinge
from ultr_core.learners.certificate import Solver
from ultr_core.learners.selection import converged
from ultr_core.proofs.concentration import FALSE_ALARM_RATE, RARE_QUANTILE
from ultr_core.proofs.derivations import section_4, section_5, section_6, section_7
from ultr_core.proofs.monte_carlo import convergence, draw_users, log_grid
from ultr_core.proofs.proof import (
    INDEPENDENT_USERS,
    NO_POSITION_BIAS,
    POSITIVE_RELEVANT,
    PROPENSITIES,
    Check,
    Derivation,
    Evidence,
    Proof,
    proof,
)
from ultr_core.proofs.small_world import default_world
from ultr_core.proofs.users import times
from ultr_core.propensity import Weights, ips_weights, naive_weights
from ultr_core.risk import (
    AffineLaw,
    affine_law,
    estimate_values,
    order_agreement,
    plus_minus,
)
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.words import counted, part_of, with_minus

ROUNDING = 1e-10
"""Relative difference that float64 sums over a whole corpus may show."""


def _law(evidence: Evidence) -> AffineLaw:
    """E[R_IPS] = (eps+ - eps-) R + eps- E[m(m+1)/2] for the logged queries."""
    users = evidence.users
    return affine_law(users.eps_plus, users.eps_minus, np.diff(evidence.query_offsets))


@proof(
    "corpus-affine-law",
    section="5.2",
    formula=r"\mathbb{E}[\hat R_{IPS}(S)] = (\epsilon_+-\epsilon_-)R(S)"
    r" + \epsilon_-\,\mathbb{E}\big[\tfrac{m(m+1)}{2}\big]",
    assumes=(PROPENSITIES, "constant noise"),
)
def corpus_affine_law(evidence: Evidence) -> Finding:
    """Largest relative distance of the exact expectation from the line, over the family."""
    predicted = _law(evidence).expected(evidence.true_risk)
    expected = evidence.expected_risk
    worst = float(np.max(np.abs(expected - predicted) / predicted))
    if evidence.curve_is_right:
        sentence = (
            f"All {len(predicted)} rankers lie on the line; the largest relative distance is "
            f"{worst:.1e}, which is rounding error."
        )
    else:
        sentence = (
            f"With the wrong curve the line bends: {len(predicted)} rankers are up to "
            f"{worst:.1%} away from it."
        )
    return Finding(sentence, worst, tolerance=ROUNDING, should_hold=evidence.curve_is_right)


def _order(evidence: Evidence, expected: NDArray[np.float64], guaranteed: bool) -> Finding:
    """How many pairs of rankers ``expected`` puts in another order than the true risk."""
    risk = evidence.true_risk
    first, second = np.triu_indices(len(risk), k=1)
    risk_difference = risk[first] - risk[second]
    expected_difference = expected[first] - expected[second]
    # Rankers of equal risk have no order; rounding must not give them one.
    ordered = np.abs(risk_difference) > ROUNDING * risk.max()
    swapped = ordered & (risk_difference * expected_difference <= 0)
    count, pairs = int(swapped.sum()), int(ordered.sum())
    tau = order_agreement(expected, risk)
    sentence = (
        f"{part_of(count, pairs, 'pair of rankers', 'pairs of rankers', does='is', do='are')} in "
        "the wrong order; Kendall's τ between the "
        f"expectation and the true risk is {tau:.3f}. The estimate from a single log is noisier."
    )
    details = (("Kendall's τ", f"{tau:.4f}"), ("pairs of rankers", f"{pairs:,}"))
    return Finding(sentence, float(count), should_hold=guaranteed, details=details)


@proof(
    "order-preserved",
    section="5.2",
    formula=r"R(S_1) < R(S_2) \Leftrightarrow "
    r"\mathbb{E}[\hat R_{IPS}(S_1)] < \mathbb{E}[\hat R_{IPS}(S_2)]",
    assumes=(PROPENSITIES, "ε₊ > ε₋", "constant noise"),
)
def order_preserved(evidence: Evidence) -> Finding:
    """Pairs of the family whose expected weighted risks are in the wrong order."""
    return _order(evidence, evidence.expected_risk, evidence.curve_is_right)


@proof(
    "naive-order",
    section="1, 4",
    formula=r"\mathbb{E}[\hat R_{naive}(S)] = \mathbb{E}\Big[\sum_d \mathrm{rank}(d|S)\,p_d"
    r"\,(\epsilon_+ r_d + \epsilon_-(1-r_d))\Big]",
    assumes=(NO_POSITION_BIAS,),
)
def naive_order(evidence: Evidence) -> Finding:
    """Pairs of the family whose expected naive risks are in the wrong order."""
    expected = evidence.expected_with(np.ones_like(evidence.assumed_propensity))
    return _order(evidence, expected, evidence.is_unbiased_by_position)


@proof(
    "simulation-agrees",
    section="4, 5.1",
    formula=r"\hat R(S) = \frac1N\sum_i\sum_{d:c_i(d)=1}\frac{\mathrm{rank}(d|S(x_i))}{q_d}"
    r"\;\to\;\mathbb{E}[\hat R(S)]",
    assumes=("independent queries and examinations",),
)
def simulation_agrees(evidence: Evidence) -> Finding:
    """Estimate of the best ranker against its exact expectation, by Chernoff's bound."""
    best = evidence.best_ranker
    z = (best.value - best.mean) / best.deviation
    sentence = (
        f"{counted(evidence.log.total_clicks, 'click')} from "
        f"{counted(evidence.log.query_draws, 'presentation')} give "
        f"{best.value:.4f}; the expectation is {best.mean:.4f}, a difference of "
        f"{with_minus(f'{z:+.2f}')} standard errors."
    )
    return Finding(
        sentence,
        best.value,
        "=",
        best.mean,
        best.radius,
        details=(
            ("z-score", f"{z:+.3f}"),
            ("standard error", f"{best.deviation:.4g}"),
            ("false alarm rate", f"{FALSE_ALARM_RATE:g}"),
        ),
    )


@proof(
    "risk-recovered",
    section="4, 5.2",
    formula=r"\frac{\hat R_{IPS}(S) - \epsilon_-\mathbb{E}[m(m+1)/2]}"
    r"{\epsilon_+-\epsilon_-} \approx R(S)",
    assumes=(PROPENSITIES, "known constant noise"),
)
def risk_recovered(evidence: Evidence) -> Finding:
    """The corrected estimate of the best ranker against its true risk."""
    best, law = evidence.best_ranker, _law(evidence)
    slope = law.slope
    recovered = float(law.invert(best.value))
    truth = float(evidence.true_risk.min())
    z = (recovered - truth) * slope / best.deviation
    reach = NORMAL_QUANTILE * best.deviation / slope
    sentence = (
        f"Estimated from clicks, the best ranker's risk is {plus_minus(recovered, reach, 3)}; its "
        f"true risk is {truth:.3f}, a difference of {with_minus(f'{z:+.1f}')} standard errors."
    )
    return Finding(
        sentence,
        recovered,
        "=",
        truth,
        # Without its assumption nothing is promised, so that a normal interval may judge.
        (best.radius if evidence.curve_is_right else RARE_QUANTILE * best.deviation) / slope,
        should_hold=evidence.curve_is_right,
        details=(("z-score", f"{z:+.3f}"), ("false alarm rate", f"{FALSE_ALARM_RATE:g}")),
    )


@proof(
    "positivity",
    section="4, 5.2",
    formula=r"p_{\mathrm{rank}(d|\bar y)} > 0",
    assumes=("the whole list is shown",),
)
def positivity(evidence: Evidence) -> Finding:
    """Smallest true propensity of any shown document."""
    propensity = evidence.users.curve.at(evidence.presented_ranks)
    rarest = int(np.argmin(propensity))
    smallest, rank = float(propensity[rarest]), int(evidence.presented_ranks[rarest])
    if smallest > 0:
        sentence = (
            f"The rank seen least often is {rank}: it is examined with probability {smallest:.3g}, "
            f"so a click there has a weight of {1.0 / smallest:,.4g} with the true curve."
        )
    else:
        sentence = f"Nobody examines rank {rank}; no number of clicks can show what is there."
    return Finding(sentence, smallest, ">", 0.0)


@proof(
    "scale-free",
    section="5.3",
    formula=r"\hat R_{IPS}^{\,sq}(S) = \tfrac1s\,\hat R_{IPS}^{\,q}(S)",
)
def scale_free(evidence: Evidence) -> Finding:
    """Largest relative difference between the two sides for s = 1/3, over the family."""
    scale = 1.0 / 3.0
    propensity = evidence.assumed_curve.at(evidence.log.rank)
    (plain, _), (scaled, _) = estimate_values(
        evidence.log, evidence.family_ranks, [propensity, scale * propensity], pairs=[(0, 1)]
    )
    worst = float(np.max(np.abs(scaled * scale - plain) / np.maximum(plain, np.finfo(float).tiny)))
    return Finding(
        f"With all propensities divided by 3, the {len(plain)} estimates are 3 times as large, to "
        f"within {worst:.1e}.",
        worst,
        tolerance=ROUNDING,
    )


SMALL_QUERIES = 8
SMALL_COST = 10.0
SMALL_TOLERANCE = 1e-4
"""Relative duality gap that both programs are asked for on the small problem."""


@proof(
    "hinge-bound",
    section="6",
    formula=r"\mathrm{rank}(d_j)-1 \le \sum_{d\ne d_j}\max(0,\,1-w\cdot[\phi(d_j)-\phi(d)])",
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
        f"The bound is tightest for the {tightest} ranker, for which the hinge loss is "
        f"{finite:.3g} times the sum of the weighted ranks.",
        finite,
        "≥",
        1.0,
        1e-9,
        details=tuple((f"{label}: hinge ÷ ranks", f"{r:.4g}") for label, r in ratios.items()),
    )


@proof(
    "duality-gap",
    section="6",
    formula=r"\min_{w,\xi}\ \tfrac12 w\cdot w + \tfrac{C}{n}\sum_j\tfrac1{q_j}"
    r"\sum_{d\ne d_j}\xi_{jd}",
)
def duality_gap(evidence: Evidence) -> Finding:
    """Relative gap of the propensity-weighted ranker, re-evaluated in float64."""
    return Finding(
        f"The objective is within a relative distance of {evidence.gap:.1e} of its optimum; "
        f"{evidence.gap_tolerance:g} was required.",
        evidence.gap,
        tolerance=evidence.gap_tolerance,
    )


@proof(
    "naive-special-case",
    section="6, 7.2",
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
        f"The two weight vectors are equal; without clipping "
        f"{counted(changed, 'click has', 'clicks have')} a weight above 1, and the largest weight "
        f"of a document is {unclipped.values.max():,.4g}.",
        worst,
    )


@proof(
    "one-slack-solver",
    section="6",
    formula=r"\min_{w}\tfrac12 w\cdot w+C\,\xi(w)=\min_{w}\tfrac12 w\cdot w"
    r"+\tfrac Cn\sum_j\tfrac1{q_j}\sum_d\max(0,1-w\cdot[\phi_j-\phi_d])",
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


SEED = 0
USERS = 20_000
MOST_STANDARD_ERRORS = 6.0
"""Reached by one normal estimate in 500 million."""

USERS_OF_SLOPE = log_grid(1_000, 100_000, 9)
REPETITIONS = 400
SLOPE_TOLERANCE = 0.03
"""Each error is known to 1/sqrt(2 · 400) = 3.5%, which makes the slope's standard error 0.008
over a factor of 100 in users; the tolerance is about four of them."""


@proof(
    "small-simulation",
    section="4, 5, 7.2",
    formula=r"\frac1N\sum_{i=1}^N\hat\Delta_i\;\to\;\sum_d\mathrm{rank}(d|S)\,\frac{\pi_d}{q_d}",
    assumes=(INDEPENDENT_USERS,),
)
def small_simulation(evidence: Evidence) -> Finding:
    """The largest distance from the expectation, in standard errors."""
    world = evidence.small_world
    tally = draw_users(world, USERS, SEED).noisy
    worst = 0.0
    for ranking in (world.query.new, world.query.other):
        for weights in world.click_weights.values():
            values = times(ranking, weights)
            found, exact = tally.mean(values), float(world.users.mean(values))
            distance = abs(found.value - exact)
            # Without chance the estimate is exact, up to rounding.
            error = max(found.standard_error, 1e-9 * max(exact, 1.0))
            worst = max(worst, distance / error)
    return Finding(
        f"Over {USERS:,} users, each of the {2 * len(world.click_weights)} averages is within "
        f"{worst:.2f} standard errors of its expectation.",
        worst,
        tolerance=MOST_STANDARD_ERRORS,
        details=(("users", f"{USERS:,}"), ("seed", str(SEED))),
    )


@proof(
    "errors-fall",
    section="4",
    formula=r"\sqrt{\mathbb E[(\hat R_{IPS}-R)^2]}=\sqrt{\mathrm{Var}[\hat\Delta_{IPS}]/N}",
    assumes=(PROPENSITIES, POSITIVE_RELEVANT, INDEPENDENT_USERS),
)
def errors_fall(evidence: Evidence) -> Finding:
    """Least-squares slope of the simulated errors of the small query, without noise."""
    world = evidence.small_world
    try:
        found = convergence(world, seed=SEED, users=USERS_OF_SLOPE, repetitions=REPETITIONS)
    except InputError as error:
        if world.curve_is_right:
            return Finding(f"{error} Its error is 0 from the first user.", 0.0)
        return Finding(
            f"{error} All of its error is bias.",
            0.0,
            "=",
            -0.5,
            SLOPE_TOLERANCE,
            should_hold=False,
        )
    return Finding(
        f"From {USERS_OF_SLOPE[0]:,} to {USERS_OF_SLOPE[-1]:,} users the error falls from "
        f"{found.error[0]:.3g} to {found.error[-1]:.3g}, with a slope of "
        f"{with_minus(f'{found.slope:.3f}')}.",
        found.slope,
        "=",
        -0.5,
        SLOPE_TOLERANCE,
        should_hold=world.curve_is_right,
        details=(("repetitions", str(REPETITIONS)), ("seed", str(SEED))),
    )


PROOFS: Mapping[str, Proof] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            section_4.ips_unbiased,
            section_4.risk_converges,
            section_5.noise_keeps_order,
            section_5.affine_law,
            section_5.trust_correction,
            section_5.swap_ratio,
            section_6.hinge_chain,
            section_6.one_slack,
            section_6.noisy_hinge,
            section_4.variance,
            section_7.clipped,
            section_4.naive,
            section_4.misspecified,
            section_7.overtaking,
            small_simulation,
            errors_fall,
            corpus_affine_law,
            order_preserved,
            naive_order,
            simulation_agrees,
            risk_recovered,
            positivity,
            scale_free,
            hinge_bound,
            duality_gap,
            one_slack_solver,
            naive_special_case,
        )
    }
)
"""All proofs by name, in the order in which they are shown."""

DERIVATIONS: Mapping[str, Derivation] = MappingProxyType(
    {name: entry for name, entry in PROOFS.items() if isinstance(entry, Derivation)}
)
"""The proofs that can be walked through line by line."""


def run_checks(evidence: Evidence) -> tuple[Check, ...]:
    """Evaluate every proof on ``evidence``."""
    return tuple(entry.check(evidence) for entry in PROOFS.values())
