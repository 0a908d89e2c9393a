"""Claims of section 6 and of the clipped and naive learners, which differ in their weights only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import Measure, clean_users, examined
from ultr_core.corpus.ranking import rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.learners import objective_value
from ultr_core.propensity import (
    Weights,
    click_weight_diagnostics,
    ips_weights,
    naive_weights,
)
from ultr_core.risk import estimate_risks, kendall_tau, true_risk
from ultr_core.users import PositionModel, PowerLaw, simulate_counts


def _weighted_bound(lab: Lab) -> Finding:
    """(Objective - 1/2 w.w) / C against (1/n) sum (rank - 1) / q, for the trained ranker."""
    corpus, log = lab.world().train.corpus, lab.logs().train
    weights = ips_weights(log, lab.users.curve)
    trained = lab.trained(0, "propensity")
    w, cost = trained.coefficients, trained.cost
    objective = objective_value(corpus, weights, cost, w)
    hinge = (objective - float(w @ w) / 2) / cost
    ranks = rank_documents(corpus.features @ w, corpus.query_offsets)
    left = float(weights.values @ (ranks - 1.0)) / weights.clicks
    return Finding(
        f"The trained ranker's loss term is {hinge:.2f}; its weighted mean rank minus one is "
        f"{left:.2f}.",
        hinge - left,
        "≥",
    )


def _twice_the_weight(lab: Lab) -> Finding:
    """A click with q = 1/2 against the click duplicated, n kept, in the objective."""
    corpus, log = lab.world().train.corpus, lab.logs().train
    naive = naive_weights(log)
    halved = Weights(log.sum_by_document(log.clicks / 0.5), naive.clicks)
    doubled = Weights(naive.values + naive.values, naive.clicks)
    trained = lab.trained(0, "propensity")
    one, other = (
        objective_value(corpus, weights, trained.cost, trained.coefficients)
        for weights in (halved, doubled)
    )
    return Finding(
        f"Objective {one:.6g} with q = 1/2 and {other:.6g} with every click twice.",
        one - other,
        tolerance=1e-9 * abs(other),
    )


def _no_bias_no_difference(lab: Lab) -> Finding:
    """Weights and effective sample size at eta = 0."""
    flat = PositionModel(PowerLaw(0.0), lab.users.eps_plus, lab.users.eps_minus)
    relevance, presented, offsets = lab.world().train.shown
    log = simulate_counts(
        flat.click_probability(relevance, presented), presented, offsets, 1_000,
        lab.settings.seed,
    )  # fmt: skip
    naive, weighted = naive_weights(log), ips_weights(log, flat.curve)
    worst = float(np.max(np.abs(naive.values - weighted.values)))
    size = click_weight_diagnostics(log, flat.curve.at(log.rank)).effective_sample_size
    return Finding(
        f"At η = 0, and η′ = 0, weighted and naive weights differ by {worst:g}, and {size:,.0f} "
        f"effective clicks are all of {log.total_clicks:,}.",
        worst + abs(size - log.total_clicks),
    )


def _clip_ends(lab: Lab) -> Finding:
    log, curve = lab.logs().train, lab.users.curve
    plain, naive = ips_weights(log, curve), naive_weights(log)
    unclipped, full = ips_weights(log, curve, clip=0.0), ips_weights(log, curve, clip=1.0)
    worst = max(
        float(np.max(np.abs(plain.values - unclipped.values))),
        float(np.max(np.abs(naive.values - full.values))),
    )
    return Finding(
        f"τ = 0 gives the weighted and τ = 1 the naive weights, to {worst:g}.",
        worst,
    )


def _self_normalised(lab: Lab) -> Finding:
    """SNIPS without noise: its order of rankers, and its limit R / mean relevant documents."""
    relevance, presented, offsets = lab.world().train.shown
    clean = clean_users(lab)
    log = simulate_counts(
        clean.click_probability(relevance, presented), presented, offsets, 200_000,
        lab.settings.seed,
    )  # fmt: skip
    estimates = estimate_risks(log, lab.family().ranks, examined(lab)).value
    total = float((log.clicks / examined(lab)).sum()) / log.query_draws
    best = int(np.argmin(lab.family().true_risk))
    limit = true_risk(lab.family().ranks[best], relevance, offsets) / (
        relevance.sum() / (offsets.size - 1)
    )
    normalised = estimates / total
    tau = kendall_tau(normalised, estimates)
    return Finding(
        f"At ε₋ = 0: self-normalised {normalised[best]:.3f}, limit {limit:.3f}; Kendall's τ of its "
        f"order of rankers with the plain one {tau:g}.",
        tau,
        "=",
        1.0,
        reason="Its denominator is the same for every ranker, so that it cannot change what is "
        "learned.",
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "6c": _weighted_bound,
        "6h": _twice_the_weight,
        "6i": _no_bias_no_difference,
        "6j": _clip_ends,
        "6k": _self_normalised,
    }
)
"""How the claims are measured, by key."""
