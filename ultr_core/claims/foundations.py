"""Claims of sections 1 to 4: why clicks lie, and why dividing by propensities repairs it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    LANDMARK,
    LAST_RANK,
    REACH,
    Measure,
    clean_users,
    examined,
    from_proof,
    judged,
    largest_error,
    skyline_ranks,
    true_swap_ratios,
    wrong_order,
)
from ultr_core.corpus.ranking import query_sums
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.lab.propensity_study import agreement_with
from ultr_core.proofs import DERIVATIONS, Ways, default_world
from ultr_core.propensity import (
    displays_of_logs,
    estimate_by_em,
    naive_weights,
    neighbour_swap_cost,
    shuffling_cost,
    swap_cost,
)
from ultr_core.risk import estimate_risk, true_risk, true_risks
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.users import ClickLog, simulate_counts

POOL = 5
"""Documents judged a query in the check on pooling."""

SAMPLES = 1_000
"""Random samples of queries in the check on equation 1."""

NEAR = 0.1
"""Share by which their error may differ from chance: about four standard errors of it."""


def _naive_is_biased(lab: Lab) -> Finding:
    return replace(from_proof("naive-order")(lab), relation=">")


def _em_needs_repeats(lab: Lab) -> Finding:
    """Curve error of EM, two rankers sharing r presentations a query, for rising r."""
    relevance, presented, offsets = lab.world().train.shown
    truth = true_swap_ratios(lab)
    errors: dict[int, float] = {}
    for repeats in (2, 20, 200):
        logs = [
            simulate_counts(
                lab.users.click_probability(relevance, ranks), ranks, offsets,
                repeats * (offsets.size - 1) // 2, lab.settings.seed + number,
            )
            for number, ranks in enumerate((presented, lab.second_ranker().ranks))
        ]  # fmt: skip
        try:
            estimate = estimate_by_em(displays_of_logs(logs), last_rank=LAST_RANK)
        except InputError:
            continue
        error = agreement_with(estimate, truth).error
        if error is not None:
            errors[repeats] = error
    listed = ", ".join(f"{error:.2f} with {n}" for n, error in errors.items())
    few, many = (errors.get(n) for n in (2, 200))
    return Finding(
        f"Error of the logarithm of the estimated curve by presentations of each query: {listed}.",
        None if few is None or many is None else few / many,
        ">",
        2.0,
        reason="Holds here if a hundred times the presentations at least halve the error.",
    )


def _randomising_costs(lab: Lab) -> Finding:
    costs = experiment_costs(lab)
    listed = ", ".join(f"{name} {cost:+.2f}" for name, cost in costs.items())
    return Finding(
        f"Summed ranks of relevant documents, a presentation: {listed}.",
        min(costs.values()),
        ">",
        reason="Exact, on the training queries.",
    )


def experiment_costs(lab: Lab) -> dict[str, float]:
    """Extra loss (equation 2) of one presentation in each kind of experiment, exact."""
    relevance, presented, offsets = lab.world().train.shown
    return {
        "shuffling": shuffling_cost(relevance, presented, offsets),
        "swap with rank 1": swap_cost(
            relevance, presented, offsets, landmark=LANDMARK, last_rank=LAST_RANK
        ),
        "swap of neighbours": neighbour_swap_cost(
            relevance, presented, offsets, last_rank=LAST_RANK
        ),
    }


def _each_query_once(lab: Lab) -> Finding:
    """Risk of the skyline from one presentation of every query, against the truth."""
    relevance, presented, offsets = lab.world().train.shown
    chance = clean_users(lab).click_probability(relevance, presented)
    clicked = np.random.default_rng(lab.settings.seed).random(chance.size) < chance
    queries = offsets.size - 1
    log = ClickLog(
        np.arange(chance.size), presented, np.ones(chance.size, np.int64), clicked.astype(np.int64),
        queries, offsets,
    )  # fmt: skip
    found = estimate_risk(log, skyline_ranks(lab), examined(lab))
    truth = true_risk(skyline_ranks(lab), relevance, offsets)
    return Finding(
        f"Each of {queries:,} queries shown once, ε₋ = 0: {found.value:.2f}; the true risk "
        f"is {truth:.2f}.",
        found.value,
        "=",
        truth,
        REACH * found.standard_error,
        interval=(found.low, found.high),
    )


def _sample_mean(lab: Lab) -> Finding:
    """Error of the mean loss of many random tenths of the queries, against what chance makes.

    Chance alone: sqrt((1 - n/N) / n) standard deviations, for n of N queries without replacement.
    A bias would add to it.
    """
    relevance, presented, offsets = lab.world().train.shown
    sums = query_sums(presented * relevance.astype(np.int64), offsets).astype(np.float64)
    queries = len(sums)
    size = max(2, queries // 10)
    chance = float(sums.std(ddof=1)) if queries >= 2 * size else 0.0
    if chance == 0:
        raise InputError("Too few queries, or all of one loss: samples of them say nothing.")
    random = np.random.default_rng(lab.settings.seed)
    drawn = np.stack([random.choice(sums, size, replace=False) for _ in range(SAMPLES)])
    missed = drawn.mean(axis=1) - true_risk(presented, relevance, offsets)
    error = float(np.sqrt(np.mean(missed**2)))
    shrink = math.sqrt((1 - size / queries) / size)
    chance *= shrink
    reach = NORMAL_QUANTILE * drawn.std(axis=1, ddof=1) * shrink
    held = float(np.mean(np.abs(missed) <= reach))
    return Finding(
        f"{SAMPLES:,} random samples of {size:,} queries miss the risk of production on all "
        f"{queries:,}, {true_risk(presented, relevance, offsets):.2f}, by {error:.2f} (root mean "
        f"square); chance without any bias makes {chance:.2f}. Within {NEAR:.0%} of it counts "
        "as no bias.",
        error / chance,
        "=",
        1.0,
        NEAR,
        reason=f"{held:.0%} of the samples' own 95% intervals hold the risk: few queries "
        "with large losses make the losses skewed, and intervals of small samples too short.",
    )


def _pooling_is_biased(lab: Lab) -> Finding:
    """Pairs of rankers that change their order when only the top of production is judged."""
    relevance, presented, offsets = lab.world().train.shown
    judged = relevance & (presented <= POOL)
    pooled = true_risks(lab.family().ranks, judged, offsets)
    swapped, pairs = wrong_order(lab.family().true_risk, pooled)
    return Finding(
        f"With the top {POOL} of production judged, {1 - judged.sum() / relevance.sum():.0%} "
        "of "
        f"the relevant documents count as irrelevant and {swapped} of {pairs:,} "
        "pairs of rankers change their order.",
        float(swapped),
        ">",
    )


def _labels_train(lab: Lab) -> Finding:
    risks = {name: found.risk for name, found in lab.world().baselines.items()}
    return Finding(
        f"Test risk of the ranking SVM with all labels {risks['skyline']:.2f}, of production "
        f"{risks['production']:.2f}.",
        risks["production"] - risks["skyline"],
        ">",
    )


def _sum_not_mean(lab: Lab) -> Finding:
    """Equation (2) on the small query, by definition and by the first line of the proof."""
    query = default_world().query
    line = DERIVATIONS["ips-unbiased"].derive(Ways(default_world())).lines[-1].value.closed
    loss = query.loss(query.new)
    return Finding(
        f"The small query's S₁ has its {sum(query.relevance)} relevant documents at ranks that "
        f"add up to {loss}.",
        float(loss - line),
    )


def _irrelevant_may_be_unseen(lab: Lab) -> Finding:
    worst = largest_error(default_world().clean.breaking("zero-irrelevant"), "ips-unbiased")
    return Finding(
        f"With an irrelevant document that nobody sees, and ε₋ = 0, the largest error of a line "
        f"is {worst}.",
        float(worst),
    )


def _relevant_must_be_seen(lab: Lab) -> Finding:
    worst = largest_error(default_world().clean.breaking("zero-relevant"), "ips-unbiased")
    return Finding(
        f"With a relevant document that nobody sees, and ε₋ = 0, the loss is off by {worst}.",
        float(worst),
        ">",
    )


def _only_clicks_count(lab: Lab) -> Finding:
    """Change of the estimate when the propensities of unclicked documents are halved."""
    log, q = lab.logs().train, examined(lab)
    changed = np.where(log.clicks > 0, q, q / 2)
    before = estimate_risk(log, skyline_ranks(lab), q).value
    after = estimate_risk(log, skyline_ranks(lab), changed).value
    unclicked = int(np.count_nonzero(log.clicks == 0))
    return Finding(
        f"Halving the propensities of {unclicked:,} unclicked documents changes the estimate "
        f"{before:.3f} by {after - before:g}.",
        after - before,
    )


def _unconfoundedness(lab: Lab) -> Finding:
    worst = largest_error(default_world().clean.breaking("attraction"), "ips-unbiased")
    return Finding(
        f"When relevance attracts the eye, the average is off by {worst} (exact), with any number "
        "of users; ε₋ = 0.",
        float(worst),
        ">",
    )


def _one_number_a_document(lab: Lab) -> Finding:
    log = lab.logs().train
    weights = naive_weights(log)
    repeats = int(np.count_nonzero(log.clicks > 1))
    return Finding(
        f"{log.total_clicks:,} clicks, {repeats:,} documents clicked more than once, n = "
        f"{weights.clicks:,.0f}.",
        weights.clicks - log.total_clicks,
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "1a": _naive_is_biased,
        "1b": partial(judged, "learning-curve", "skip-above-reverses"),
        "1c": _em_needs_repeats,
        "1d": _randomising_costs,
        "1e": _each_query_once,
        "3a": _sample_mean,
        "3b": _pooling_is_biased,
        "3c": _labels_train,
        "4a": _sum_not_mean,
        "4c": _irrelevant_may_be_unseen,
        "4d": _relevant_must_be_seen,
        "4e": _only_clicks_count,
        "4f": _unconfoundedness,
        "4j": partial(judged, "learning-curve", "approaches-skyline"),
        "4k": _one_number_a_document,
    }
)
"""How the claims are measured, by key."""
