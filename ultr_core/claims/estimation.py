"""Claims of sections 5.3 and 5.4: propensities from swaps, and other models of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.claims.common import (
    COST,
    LANDMARK,
    LAST_RANK,
    MANY_SWAPS,
    REACH,
    SWAP_SESSIONS,
    SWEEPS,
    FloatArray,
    Measure,
    Sizes,
    breaking,
    clean_small,
    clean_users,
    examined,
    largest_error,
    looked_at,
    queries_of,
    sizes_of,
    small,
    swap_counts,
    sweep_seed,
    true_swap_ratios,
    weighted_mean,
    wrong_order,
)
from ultr_core.claims.foundations import experiment_costs
from ultr_core.errors import InputError
from ultr_core.findings import Finding, all_of, compared
from ultr_core.lab import LOG_FIELDS, WEIGHTED_FIELDS, Lab
from ultr_core.lab.propensity_study import SwapDesign, sessions_for_precision, true_ratios
from ultr_core.learners import fit_ranker
from ultr_core.proofs import BREAKS
from ultr_core.proofs.enumeration import click_law
from ultr_core.propensity import (
    CurveOptions,
    SwapCounts,
    Weights,
    assemble_curve,
    estimate_swaps,
    ips_weights,
    simulate_swaps,
    swap_cost,
    swap_limit,
)
from ultr_core.risk import estimate_risks, expected_risk, interval_over_draws, kendall_tau
from ultr_core.users import ClickModel, PositionModel, TrustBiasModel

TIGHT, SAME = 1e-6, 1e-3
"""Relative duality gap of two compared fits, and the relative difference that it leaves."""

EXPERIMENTS, FEW_SESSIONS = 100, 20_000
PRECISION, PRECISE_RANK = 0.1, 10

MEASURED = (1, 2, 5, 10, 21)
"""Ranks that are measured where the others are interpolated."""

SALIENCE, PILOT = 0.5, 200
"""Exponent of p for documents that stand out, and pilot presentations of each document."""


def _swap_users(lab: Lab, plus: float, minus: float) -> ClickModel:
    """Users of a swap experiment, with this noise."""
    users: ClickModel = lab.remember(
        lab.cell("swap_users", LOG_FIELDS, plus, minus),
        lambda at: PositionModel(at.users.curve, plus, minus),
    )
    return users


def _limit_is_the_ratio(lab: Lab) -> Finding:
    """Limit of the swap estimate against p_r / p_1, over settings of the noise."""
    truth = true_swap_ratios(lab)
    worst, noises = 0.0, ((1.0, 0.0), (1.0, 0.3), (0.8, 0.2))
    for noise in noises:
        limit = swap_limit(_swap_users(lab, *noise), *lab.world().train.shown)
        known = ~np.isnan(limit)
        worst = max(worst, float(np.max(np.abs(limit - truth)[known])))
    return Finding(
        f"At ε₊ and ε₋ of {_pairs(noises)}, the limit equals p_r / p_1 to within {worst:.1e}.",
        worst,
        tolerance=1e-12,
    )


def _pairs(noises: Sequence[tuple[float, float]]) -> str:
    return "; ".join(f"{plus:g} and {minus:g}" for plus, minus in noises)


def _few_swaps(lab: Lab, number: int) -> SwapCounts:
    """One of many small swap experiments."""
    seed = np.random.SeedSequence(lab.settings.seed, spawn_key=(53, number))
    return lab.remember(
        lab.cell("few_swaps", (*LOG_FIELDS, "seed"), number),
        lambda at: simulate_swaps(
            at.users, *at.world().train.shown, sessions=FEW_SESSIONS, seed=seed
        ),
    )


def _intervals_cover(lab: Lab) -> Finding:
    """Share of delta-method intervals that hold the truth, over independent experiments."""
    truth = true_swap_ratios(lab)
    shares = []
    for number in range(EXPERIMENTS):
        points = [
            p
            for p in estimate_swaps(_few_swaps(lab, number)).points
            if p.low is not None and p.rank > 1
        ]
        held = [p.low <= truth[p.rank - 1] <= p.high for p in points if p.low and p.high]
        if held:
            shares.append(float(np.mean(held)))
    found = interval_over_draws(shares)
    return Finding(
        f"Over {found.n} experiments of {FEW_SESSIONS:,} presentations each, {found.value:.1%} of "
        f"the intervals contain the true ratio (95% interval for this share {found.low:.1%} to "
        f"{found.high:.1%}).",
        found.value,
        "=",
        0.95,
        REACH * found.standard_error,
        reason=f"Holds if 95% is within {REACH:g} standard errors of the share.",
    )


def _swaps_estimate(lab: Lab) -> Finding:
    """Farthest swap ratio from the truth, in standard errors of its logarithm."""
    truth = true_swap_ratios(lab)
    points = estimate_swaps(swap_counts(lab)).points
    known = [p for p in points if p.value and p.standard_error and p.rank != LANDMARK]
    if not known:
        raise InputError("No swapped rank was clicked, so there is no ratio.")
    distances = [abs(np.log(p.value / truth[p.rank - 1])) / p.standard_error for p in known]
    last = max(known, key=lambda p: p.rank)
    return Finding(
        f"With {MANY_SWAPS:,} presentations, p_{last.rank} / p_1 is estimated as "
        f"{last.value:.4f}; the true value is {truth[last.rank - 1]:.4f}. The least accurate of "
        f"the {len(known)} ratios is {max(distances):.1f} standard errors off.",
        float(max(distances)),
        "<",
        REACH,
    )


def _swaps_cost_less(lab: Lab) -> Finding:
    costs = experiment_costs(lab)
    swap, shuffle = costs["swap with rank 1"], costs["shuffling"]
    return Finding(
        f"Per presentation, a swap adds {swap:.3f} to the summed ranks, and shuffling "
        f"adds {shuffle:.2f}.",
        shuffle - swap,
        ">",
    )


def _cost_formula(lab: Lab) -> Finding:
    """Exact cost of swaps against what the simulated presentations lost."""
    relevance, presented, offsets = lab.world().train.shown
    exact = swap_cost(relevance, presented, offsets, landmark=LANDMARK, last_rank=LAST_RANK)
    found = interval_over_draws(
        [_few_swaps(lab, number).extra_rank_sum for number in range(EXPERIMENTS)]
    )
    return Finding(
        f"(j − k)(r(d_k) − r(d_j)) is {exact:.3f} on average; {EXPERIMENTS} simulated experiments "
        f"of {FEW_SESSIONS:,} presentations give {found.value:.3f}.",
        found.value,
        "=",
        exact,
        REACH * found.standard_error,
    )


def _landmark_matters(lab: Lab) -> Finding:
    relevance, presented, offsets = lab.world().train.shown
    costs = {
        k: swap_cost(relevance, presented, offsets, landmark=k, last_rank=LAST_RANK)
        for k in range(1, 11)
    }
    best = min(costs, key=lambda k: costs[k])
    return Finding(
        f"A presentation costs {costs[LANDMARK]:.3f} with landmark 1 and {costs[best]:.3f} with "
        f"landmark {best}, the cheapest of ranks 1 to 10.",
        costs[LANDMARK] - costs[best],
        ">",
    )


def _uneven_users(lab: Lab) -> PositionModel:
    """Users whose examination is not a power law, which interpolation would reproduce exactly."""
    curve, noise = TrustBiasModel.published().curve, (lab.users.eps_plus, lab.users.eps_minus)
    return lab.remember(
        lab.cell("uneven_users", LOG_FIELDS), lambda _: PositionModel(curve, *noise)
    )


def _uneven_swaps(lab: Lab) -> SwapCounts:
    """Their swap experiment."""
    return lab.remember(
        lab.cell("uneven_swaps", (*LOG_FIELDS, "seed")),
        lambda at: simulate_swaps(
            _uneven_users(at), *at.world().train.shown,
            sessions=SWAP_SESSIONS, seed=at.settings.seed,
        ),
    )  # fmt: skip


def _interpolation(lab: Lab) -> Finding:
    """Error of interpolation alone, over half the interval that the swaps leave at each rank."""
    estimate = estimate_swaps(_uneven_swaps(lab))
    truth = true_ratios(_uneven_users(lab).curve, SwapDesign())
    # The ratios of endless traffic, so that what is left is the error of interpolating.
    exact = replace(
        estimate,
        points=tuple(
            replace(point, value=float(truth[point.rank - 1])) for point in estimate.points
        ),
    )
    few = assemble_curve(exact, CurveOptions(ranks=MEASURED))
    shares = {
        point.rank: abs(few.values[point.rank - 1] - truth[point.rank - 1])
        / ((point.high - point.low) / 2)
        for point in estimate.points
        if point.low is not None and point.high is not None and point.rank not in MEASURED
    }
    if not shares:
        raise InputError("No swapped rank was clicked, so there is no ratio.")
    worst = max(shares, key=lambda rank: shares[rank])
    return Finding(
        f"Users follow a published curve, which is not a power law; ratios are exact, but only at "
        f"ranks {', '.join(map(str, MEASURED))}. The interpolation error is largest at rank "
        f"{worst}: {shares[worst]:.2f} times the half-width of the 95% interval that "
        f"{SWAP_SESSIONS:,} presentations give there.",
        float(shares[worst]),
        "<",
        1.0,
        reason="Holds here if interpolation adds less error than the measurement itself. The "
        "lab's own (1/r)^η would be interpolated exactly, which would show nothing.",
    )


def _traffic(lab: Lab) -> Finding:
    needed = sessions_for_precision(lab.world(), lab.users, SwapDesign(), PRECISE_RANK, PRECISION)
    return Finding(
        f"{needed:,} presentations measure p_{PRECISE_RANK} / p_1 to within ±{PRECISION:.0%}.",
        decided="not checkable",
        reason="Whether that is a small share depends on the engine's traffic, which the paper "
        "does not give.",
    )


def _scaled_order(lab: Lab) -> Finding:
    """Order of sixty estimates with propensities p and p / 3."""
    log, family = lab.logs().train, lab.family()

    def estimates(scale: float) -> FloatArray:
        q: FloatArray = lab.remember(
            lab.cell("divided_by", WEIGHTED_FIELDS, scale), lambda at: examined(at) * scale
        )
        return estimate_risks(log, family.ranks, q).value

    plain, scaled = estimates(1.0), estimates(1 / 3)
    wrong, pairs = wrong_order(plain, scaled)
    return Finding(
        f"With all propensities divided by 3, {wrong} of {pairs:,} pairs of rankers change order; "
        f"the estimates are {float(np.mean(scaled / plain)):.2f} times as large.",
        float(wrong),
    )


def _scaled_svm(lab: Lab) -> Finding:
    """Difference of coefficients when p and C are both multiplied by 1/2, and when p alone is."""
    corpus, log = lab.world().train.corpus, lab.logs().train
    plain = ips_weights(log, lab.users.curve)
    doubled = Weights(2 * plain.values, plain.clicks)

    def trained(factor: int, cost: float) -> FloatArray:
        weights = doubled if factor == 2 else plain
        fitted: FloatArray = lab.remember(
            lab.cell("scaled_fit", WEIGHTED_FIELDS, factor, cost),
            lambda _: fit_ranker(corpus, weights, cost=cost, tolerance=TIGHT).coefficients,
        )
        return fitted

    with_cost, alone, base = trained(2, COST / 2), trained(2, COST), trained(1, COST)
    size = float(np.linalg.norm(base))
    worst = float(np.linalg.norm(with_cost - base)) / size
    moved = float(np.linalg.norm(alone - base)) / size
    return Finding(
        f"With propensities and C both halved, the ranker's relative change is {worst:.1g}; "
        f"with C unchanged, it is {moved:.1g}.",
        worst,
        tolerance=SAME,
        decided=all_of((compared(worst, "=", 0.0, SAME), compared(moved, ">", SAME))),
        reason="Both fits stop at a relative duality gap of 1e-6, so each is within about a "
        "thousandth of its optimum.",
    )


def _trust_is_corrected(lab: Lab) -> Finding:
    world = breaking(small(lab, "54a"), "trust")
    corrected = largest_error(world, "affine-correction")
    plain = largest_error(world, "affine-law")
    return Finding(
        f"Under trust bias, the affine correction is off by {corrected}, and plain weighting "
        f"is off by {float(plain):.3f}.",
        float(corrected),
        reason="The paper mentions tests with rank-dependent noise but gives no results; the "
        "correction is later work.",
    )


def _swaps_under_trust(lab: Lab) -> Finding:
    users: ClickModel = lab.remember(
        lab.cell("trusting_users", ()), lambda _: TrustBiasModel.published()
    )
    limit = swap_limit(users, *lab.world().train.shown)[1]
    curve = TrustBiasModel.published().curve
    truth = float(curve.at(2) / curve.at(1))
    return Finding(
        f"With the published trust bias, the swap ratio for rank 2 converges to {limit:.2f}; the "
        f"relative examination of rank 2 is {truth:.2f}.",
        abs(float(limit) - truth),
        ">",
        1e-9,
    )


def _cascade(lab: Lab) -> Finding:
    """Weights from the cascade's own marginal examination, given all relevances; enumerated."""
    world = breaking(clean_small(lab, "54c"), "cascade")
    missing = BREAKS["cascade"].missing(clean_small(lab, "54c"))
    weights = [
        rank / (q * (1 - lost))
        for rank, q, lost in zip(world.query.new, world.propensity, missing, strict=True)
    ]
    found = click_law(world.users).mean(weights)
    plain = click_law(world.users).mean(
        [Fraction(r) / q for r, q in zip(world.query.new, world.propensity, strict=True)]
    )
    loss = world.query.loss(world.query.new)
    return Finding(
        "For users who stop after a click (ε₋ = 0), dividing by the probability that they "
        f"reached the document gives {found} on average; dividing by the examination of its rank "
        f"gives {float(plain):.3g}; the true loss is {loss}.",
        float(found - loss),
    )


def _graded(lab: Lab) -> Finding:
    """Star ratings, revealed where users look: average over propensity against the graded loss."""
    corpus = lab.world().train.corpus
    grades = corpus.grades / max(1, int(corpus.grades.max()))
    revealed = grades * sweep_seed(lab, 5).binomial(SWEEPS, looked_at(lab, clean_users(lab)))
    found = weighted_mean(lab, revealed, examined(lab), grades)
    return replace(
        found,
        sentence=f"If {SWEEPS:,} presentations of each query reveal grades instead of clicks, the "
        f"estimate is {found.value:.3f} on average; the graded loss is {found.limit:.3f}.",
    )


def _salience(lab: Lab) -> Finding:
    """Propensities from a regression on rank and salience, against those of the rank alone.

    Half of the documents stand out: users look at them with probability p^(1/2) instead of p. A
    shuffled pilot gives click rates by rank and salience; the regression of their logarithm on
    ln(rank) for either kind gives the propensities, relative to rank 1.
    """
    world, rng = lab.world(), sweep_seed(lab, 6)
    relevance, presented, offsets = world.train.shown
    salient = rng.random(relevance.size) < 0.5
    power = lab.remember(lab.cell("salience", ()), lambda _: SALIENCE)
    pilot = rng.permutation(relevance.size) % LAST_RANK + 1
    chance = _with_salience(lab, pilot, salient, power) * relevance
    clicks = rng.binomial(PILOT, chance)
    q = np.empty(relevance.size)
    for kind in (True, False):
        of_kind = salient == kind
        shown, clicked = (
            np.bincount(pilot[of_kind], weights=values[of_kind], minlength=LAST_RANK + 1)[1:]
            for values in (np.full(relevance.size, PILOT) * relevance, clicks)
        )
        ranks = np.log(np.arange(1, LAST_RANK + 1))
        used = clicked > 0
        slope = np.polyfit(
            ranks[used], np.log(clicked[used] / shown[used]), 1, w=clicked[used] ** 0.5
        )
        q[of_kind] = np.exp(slope[0] * np.log(presented[of_kind]))
    true = _with_salience(lab, presented, salient, SALIENCE) * relevance
    truth, family = lab.family().true_risk, lab.family().ranks
    taus = [kendall_tau(expected_risk(true, p, family, offsets), truth) for p in (q, examined(lab))]
    return Finding(
        f"Half of the documents stand out; ε₋ = 0. Kendall's τ between expected and true risk is "
        f"{taus[0]:.3f} with propensities from a regression on rank and salience, and "
        f"{taus[1]:.3f} with propensities by rank alone.",
        taus[0] - taus[1],
        ">",
    )


def _with_salience(
    lab: Lab, ranks: NDArray[Any], salient: NDArray[np.bool_], power: float
) -> FloatArray:
    p = lab.users.curve.at(ranks)
    looked: FloatArray = np.where(salient, p**power, p)
    return looked


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "small swaps": lambda lab: sizes_of(
            _few_swaps(lab, 0).total_clicks, queries_of(lab), EXPERIMENTS
        ),
        "swaps without a power law": lambda lab: sizes_of(
            _uneven_swaps(lab).total_clicks, queries_of(lab), 1
        ),
        "pilot": lambda lab: sizes_of(queries=queries_of(lab), seeds=PILOT),
    }
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "53a": _scaled_order,
        "53b": _scaled_svm,
        "53d": _limit_is_the_ratio,
        "53f": _swaps_estimate,
        "53g": _intervals_cover,
        "53h": _swaps_cost_less,
        "53i": _cost_formula,
        "53j": _landmark_matters,
        "53k": _interpolation,
        "53l": _traffic,
        "54a": _trust_is_corrected,
        "54b": _swaps_under_trust,
        "54c": _cascade,
        "54d": _graded,
        "54e": _salience,
    }
)
"""How the claims are measured, by key."""
