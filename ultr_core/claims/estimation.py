"""Claims of sections 5.3 and 5.4: propensities from swaps, and other models of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    COST,
    LANDMARK,
    LAST_RANK,
    REACH,
    SWAP_SESSIONS,
    Measure,
    examined,
    largest_error,
    skyline_ranks,
    swap_counts,
    true_swap_ratios,
)
from ultr_core.claims.foundations import experiment_costs
from ultr_core.corpus.ranking import query_sums
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.lab.propensity_study import SwapDesign, sessions_for_precision
from ultr_core.learners import fit_ranker
from ultr_core.proofs import BREAKS, default_world
from ultr_core.proofs.enumeration import click_law
from ultr_core.propensity import (
    CurveOptions,
    Weights,
    assemble_curve,
    estimate_swaps,
    ips_weights,
    simulate_swaps,
    swap_cost,
    swap_limit,
)
from ultr_core.risk import interval_over_draws, true_risk
from ultr_core.users import PositionModel, TrustBiasModel

TIGHT = 1e-6
EXPERIMENTS, FEW_SESSIONS = 40, 20_000
PRECISION, PRECISE_RANK = 0.1, 10


def _limit_is_the_ratio(lab: Lab) -> Finding:
    """Limit of the swap estimate against p_r / p_1, over settings of the noise."""
    truth = true_swap_ratios(lab)
    worst, noises = 0.0, ((1.0, 0.0), (1.0, 0.3), (0.8, 0.2))
    for plus, minus in noises:
        limit = swap_limit(PositionModel(lab.users.curve, plus, minus), *lab.world().train.shown)
        known = ~np.isnan(limit)
        worst = max(worst, float(np.max(np.abs(limit - truth)[known])))
    return Finding(
        f"At ε₊ and ε₋ of {_pairs(noises)} the limit is p_r / p_1, to {worst:.1e}.",
        worst,
        tolerance=1e-12,
    )


def _pairs(noises: Sequence[tuple[float, float]]) -> str:
    return "; ".join(f"{plus:g} and {minus:g}" for plus, minus in noises)


def _intervals_cover(lab: Lab) -> Finding:
    """Share of delta-method intervals that hold the truth, over independent experiments."""
    truth = true_swap_ratios(lab)
    shares = []
    for number in range(EXPERIMENTS):
        seed = np.random.SeedSequence(lab.settings.seed, spawn_key=(53, number))
        counts = simulate_swaps(
            lab.users, *lab.world().train.shown, sessions=FEW_SESSIONS, seed=seed
        )
        points = [p for p in estimate_swaps(counts).points if p.low is not None and p.rank > 1]
        held = [p.low <= truth[p.rank - 1] <= p.high for p in points if p.low and p.high]
        if held:
            shares.append(float(np.mean(held)))
    found = interval_over_draws(shares)
    return Finding(
        f"{found.value:.1%} of the intervals hold the true ratio, over {found.n} "
        "experiments of "
        f"{FEW_SESSIONS:,} presentations; 95% interval of this share {found.low:.1%} to "
        f"{found.high:.1%}. Within two percentage points of 95% counts as right.",
        found.value,
        "=",
        0.95,
        0.02,
        interval=(found.low, found.high),
    )


def _swaps_estimate(lab: Lab) -> Finding:
    """Farthest swap ratio from the truth, in standard errors of its logarithm."""
    truth = true_swap_ratios(lab)
    points = estimate_swaps(swap_counts(lab)).points
    known = [p for p in points if p.value and p.standard_error and p.rank != LANDMARK]
    if not known:
        raise InputError("No swapped rank was clicked, so that there is no ratio.")
    distances = [abs(np.log(p.value / truth[p.rank - 1])) / p.standard_error for p in known]
    last = max(known, key=lambda p: p.rank)
    return Finding(
        f"{SWAP_SESSIONS:,} presentations: p_{last.rank} / p_1 is {last.value:.3f}, truly "
        f"{truth[last.rank - 1]:.3f}; the farthest of {len(known)} ratios is "
        f"{max(distances):.1f} standard errors off.",
        float(max(distances)),
        "<",
        REACH,
    )


def _swaps_cost_less(lab: Lab) -> Finding:
    costs = experiment_costs(lab)
    swap, shuffle = costs["swap with rank 1"], costs["shuffling"]
    return Finding(
        f"A swap costs {swap:.3f} of the summed ranks a presentation, shuffling {shuffle:.2f}.",
        shuffle - swap,
        ">",
    )


def _cost_formula(lab: Lab) -> Finding:
    """Exact cost of swaps against what the simulated presentations lost."""
    relevance, presented, offsets = lab.world().train.shown
    exact = swap_cost(relevance, presented, offsets, landmark=LANDMARK, last_rank=LAST_RANK)
    drawn = [
        simulate_swaps(
            lab.users, relevance, presented, offsets,
            sessions=FEW_SESSIONS, seed=lab.settings.seed + number,
        ).extra_rank_sum
        for number in range(10)
    ]  # fmt: skip
    found = interval_over_draws(drawn)
    return Finding(
        f"(j − k)(r(d_k) − r(d_j)) is {exact:.3f} on average; as it happened in ten "
        f"experiments: {found.value:.3f}.",
        found.value,
        "=",
        exact,
        REACH * found.standard_error,
        interval=(found.low, found.high),
    )


def _landmark_matters(lab: Lab) -> Finding:
    relevance, presented, offsets = lab.world().train.shown
    costs = {
        k: swap_cost(relevance, presented, offsets, landmark=k, last_rank=LAST_RANK)
        for k in range(1, 11)
    }
    best = min(costs, key=lambda k: costs[k])
    return Finding(
        f"A presentation loses {costs[LANDMARK]:.3f} with landmark 1 and {costs[best]:.3f} with "
        f"landmark {best}, the cheapest of 1 to 10.",
        costs[LANDMARK] - costs[best],
        ">",
    )


def _interpolation(lab: Lab) -> Finding:
    """Error of a curve measured at 1, 2, 4, 8, 16 and interpolated, against all ranks measured."""
    estimate = estimate_swaps(swap_counts(lab))
    truth = true_swap_ratios(lab)
    few = assemble_curve(estimate, CurveOptions(ranks=(1, 2, 4, 8, 16)))
    worst = float(np.max(np.abs(np.asarray(few.values) - truth)))
    return Finding(
        f"Measured at ranks 1, 2, 4, 8 and 16 only, the curve is at most {worst:.3f} away from the "
        "truth at any of 21 ranks.",
        worst,
        "<",
        0.05,
        reason="Holds here if no propensity is off by 0.05 or more.",
    )


def _traffic(lab: Lab) -> Finding:
    needed = sessions_for_precision(lab.world(), lab.users, SwapDesign(), PRECISE_RANK, PRECISION)
    return Finding(
        f"{needed:,} presentations give p_{PRECISE_RANK} / p_1 to ± {PRECISION:.0%}.",
        decided="not checkable",
        reason="Whether that is a small share depends on an engine's traffic, which the paper does "
        "not give.",
    )


def _second_ratio(lab: Lab) -> Finding:
    """Standard errors of the pooled ratio over those of the paper's, on average over ranks."""
    single, pooled = (
        {p.rank: p.standard_error for p in estimate_swaps(swap_counts(lab), ratio=ratio).points}
        for ratio in ("landmark", "pooled")
    )
    pairs = [
        (pooled[rank], error)
        for rank, error in single.items()
        if error and pooled[rank] is not None
    ]
    if not pairs:
        raise InputError("No rank has two ratios to compare.")
    ratio = float(np.mean([one / other for one, other in pairs if one is not None]))
    return Finding(
        f"With the document that moved up as well, standard errors are {ratio:.2f} times as large.",
        ratio,
        "<",
        1.0,
    )


def _scaled_svm(lab: Lab) -> Finding:
    """Difference of coefficients when p and C are both multiplied by 1/2, and when p alone is."""
    corpus, log = lab.world().train.corpus, lab.logs().train
    plain = ips_weights(log, lab.users.curve)
    doubled = Weights(2 * plain.values, plain.clicks)
    with_cost, alone, base = (
        fit_ranker(corpus, weights, cost=cost, tolerance=TIGHT).coefficients
        for weights, cost in ((doubled, COST / 2), (doubled, COST), (plain, COST))
    )
    size = float(np.linalg.norm(base))
    worst = float(np.linalg.norm(with_cost - base)) / size
    moved = float(np.linalg.norm(alone - base)) / size
    return Finding(
        f"Halved propensities and half of C: the ranker moves by {worst:.1g}, relative; with C "
        f"kept it moves by {moved:.1g}.",
        worst,
        tolerance=1e-2,
        reason="Both fits stop at a relative duality gap of 1e-6.",
    )


def _trust_is_corrected(lab: Lab) -> Finding:
    world = default_world().breaking("trust")
    corrected = largest_error(world, "affine-correction")
    plain = largest_error(world, "affine-law")
    return Finding(
        f"Under trust bias the affine correction is off by {corrected}, plain weighting by "
        f"{float(plain):.3f}.",
        float(corrected),
        reason="The paper says that it looked at rank-dependent noise and leaves the results out; "
        "the correction is later work.",
    )


def _swaps_under_trust(lab: Lab) -> Finding:
    users = TrustBiasModel.published()
    limit = swap_limit(users, *lab.world().train.shown)[1]
    truth = float(users.curve.at(2) / users.curve.at(1))
    return Finding(
        f"With the published trust bias the swap ratio of rank 2 tends to {limit:.2f}; examination "
        f"is {truth:.2f}.",
        abs(float(limit) - truth),
        ">",
    )


def _cascade(lab: Lab) -> Finding:
    """Weights from the cascade's own marginal examination, enumerated."""
    world = default_world().clean.breaking("cascade")
    missing = BREAKS["cascade"].missing(default_world().clean)
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
        "Users who stop after a click, ε₋ = 0: divided by the chance that they got there, the "
        "average is "
        f"{found}; by the position alone {float(plain):.3g}; the true loss is {loss}.",
        float(found - loss),
    )


def _graded(lab: Lab) -> Finding:
    """Star ratings revealed with the propensity: expectation against the graded loss."""
    corpus, seen, ranks = lab.world().train.corpus, examined(lab), skyline_ranks(lab)
    offsets, grades = corpus.query_offsets, corpus.grades / 4
    expected = query_sums(ranks * (seen * grades / seen), offsets).mean()
    truth = true_risk(ranks, grades, offsets)
    return Finding(
        f"Grades in place of clicks: expectation {expected:.4f}, graded loss {truth:.4f}.",
        float(expected / truth - 1),
        tolerance=1e-9,
    )


def _swaps_any_relevance(lab: Lab) -> Finding:
    """Exact line of the derivation for two shares of relevant documents at rank 1."""
    worst, levels = Fraction(0), (Fraction(0), Fraction(1, 10), Fraction(1, 2))
    for minus in levels:
        worst = max(worst, largest_error(replace(default_world(), eps_minus=minus), "swap-ratio"))
    return Finding(
        f"At ε₋ = {', '.join(str(level) for level in levels)} the ratio is exact; largest error "
        f"{worst}.",
        float(worst),
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "53b": _scaled_svm,
        "53d": _limit_is_the_ratio,
        "53e": _swaps_any_relevance,
        "53f": _swaps_estimate,
        "53g": _intervals_cover,
        "53h": _swaps_cost_less,
        "53i": _cost_formula,
        "53j": _landmark_matters,
        "53k": _interpolation,
        "53l": _traffic,
        "53m": _second_ratio,
        "54a": _trust_is_corrected,
        "54b": _swaps_under_trust,
        "54c": _cascade,
        "54d": _graded,
    }
)
"""How the claims are measured, by key."""
