"""Claims of sections 1 to 4: why clicks lie, and why dividing by propensities repairs it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from ultr_core.claims import entry as links
from ultr_core.claims.common import (
    check_of,
    examined,
    skyline_ranks,
    study_claims,
    study_settings,
    study_source,
)
from ultr_core.claims.entry import Entry, from_proof, from_study_claim
from ultr_core.corpus.ranking import query_sums
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.lab.propensity_study import SwapDesign, agreement_with, true_ratios
from ultr_core.proofs import DERIVATIONS, SmallWorld, Walk, Ways, default_world
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
from ultr_core.users import ClickLog, PositionModel, simulate_counts

REACH = 4.0
"""Standard errors that a simulated number may be off; one normal number in 16,000 is further."""

POOL = 5
"""Documents judged a query in the check on pooling."""

LANDMARK, LAST_RANK = 1, 21

SAMPLES = 1_000
"""Random samples of queries in the check on equation 1."""

NEAR = 0.1
"""Share by which their error may differ from chance: about four standard errors of it."""


def walk(world: SmallWorld, name: str) -> Walk:
    """A derivation on a small world, enumerated."""
    derive = DERIVATIONS[name].derive
    assert derive is not None
    return derive(Ways(world))


def largest_error(found: Walk) -> Fraction:
    """The largest amount by which a line of a derivation fails."""
    return max((abs(line.error) for line in found.lines if not line.holds), default=Fraction(0))


def _naive_is_biased(lab: Lab) -> Finding:
    return replace(check_of(lab, "naive-order").finding, relation=">")


def _on_learning_curve(key: str, _: Lab) -> Finding:
    claim = study_claims("learning-curve")[key]
    return from_study_claim(claim, study_source(), study_settings("learning-curve"))


def _em_needs_repeats(lab: Lab) -> Finding:
    """Curve error of EM, two rankers sharing r presentations a query, for rising r."""
    relevance, presented, offsets = lab.world().train.shown
    design = SwapDesign()
    truth = true_ratios(lab.users.curve, design)
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
    chance = PositionModel(lab.users.curve).click_probability(relevance, presented)
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
    first, second = np.triu_indices(len(pooled), k=1)
    truth = lab.family().true_risk
    swapped = (truth[first] - truth[second]) * (pooled[first] - pooled[second]) < 0
    return Finding(
        f"With the top {POOL} of production judged, {1 - judged.sum() / relevance.sum():.0%} "
        "of "
        f"the relevant documents count as irrelevant and {int(swapped.sum())} of {len(swapped):,} "
        "pairs of rankers change their order.",
        float(swapped.sum()),
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
    line = walk(default_world(), "ips-unbiased").lines[-1].value.closed
    loss = query.loss(query.new)
    return Finding(
        f"The small query's S₁ has its {sum(query.relevance)} relevant documents at ranks that "
        f"add up to {loss}.",
        float(loss - line),
    )


def _irrelevant_may_be_unseen(lab: Lab) -> Finding:
    worst = largest_error(walk(default_world().clean.breaking("zero-irrelevant"), "ips-unbiased"))
    return Finding(
        f"With an irrelevant document that nobody sees, and ε₋ = 0, the largest error of a line "
        f"is {worst}.",
        float(worst),
    )


def _relevant_must_be_seen(lab: Lab) -> Finding:
    worst = largest_error(walk(default_world().clean.breaking("zero-relevant"), "ips-unbiased"))
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
    worst = largest_error(walk(default_world().clean.breaking("attraction"), "ips-unbiased"))
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


ENTRIES = (
    Entry(("1a",), "1", "text", "Taking clicks as relevance is biased by what was shown on top.",
          "Exact expectation of the naive risk of sixty rankers, compared in order with their true "
          "risks.", _naive_is_biased, *links.lab()),
    Entry(("1b",), "1", "text", "Learning from “clicked over skipped above” tends to reverse the "
          "order that was shown.", "Ranking SVM on such preferences; Kendall's τ with production.",
          partial(_on_learning_curve, "skip-above-reverses"), *links.LEARNING_CURVES),
    Entry(("1c",), "1", "text", "Generative click models need queries that repeat.",
          "EM on the logs of two rankers that share 2, 20 or 200 presentations of each query.",
          _em_needs_repeats, *links.PROPENSITIES),
    Entry(("1d",), "1", "text", "Randomising what is shown, to collect data, costs quality.",
          "Exact extra loss of shuffling, of swaps with rank 1 and of swaps of neighbours.",
          _randomising_costs, *links.PROPENSITIES),
    Entry(("1e",), "1", "text", "Weighting does not need queries that repeat.",
          "Every query shown once; the skyline's risk estimated from these clicks.",
          _each_query_once, *links.derivation("ips-unbiased")),
    Entry(("1f",), "1", "text", "The logging ranker may be deterministic; chance comes from users.",
          "One fixed ranking a query is logged; the risk is recovered from its clicks.",
          from_proof("risk-recovered"), *links.lab()),
    Entry(("3a",), "3", "equation 1", "The mean loss over judged queries estimates the risk.",
          f"{SAMPLES:,} random samples of a tenth of the queries against all of "
          "them.", _sample_mean,
          *links.lab()),
    Entry(("3b",), "3", "text", "Counting unjudged documents as irrelevant biases the evaluation.",
          "Relevance known only for the top of production; order of sixty rankers.",
          _pooling_is_biased, *links.lab()),
    Entry(("3c",), "3", "text", "With all labels, the ranking SVM learns a good ranker.",
          "Skyline against production on the test queries.", _labels_train, *links.lab()),
    Entry(("4a",), "4", "equation 2", "The loss of a ranking is the sum of the ranks of its "
          "relevant documents.", "Evaluated on the small query, and as the last line of the proof.",
          _sum_not_mean, *links.derivation("ips-unbiased")),
    Entry(("4b", "I2"), "4", "equation 3", "The weighted loss is unbiased for any ranking.",
          "Every click pattern enumerated in fractions, for every 360th ranking of six documents.",
          from_proof("ips-unbiased"), *links.derivation("ips-unbiased")),
    Entry(("4c",), "4", "text", "Irrelevant documents may have propensity 0.",
          "The derivation with an irrelevant document that nobody sees, without noise.",
          _irrelevant_may_be_unseen, *links.derivation("ips-unbiased", "zero-irrelevant")),
    Entry(("4d",), "4", "text", "Relevant documents must have a positive propensity.",
          "The derivation with a relevant document that nobody sees.", _relevant_must_be_seen,
          *links.derivation("ips-unbiased", "zero-relevant")),
    Entry(("4e",), "4", "text", "Only clicked documents contribute; only their propensities count.",
          "Propensities of all unclicked documents changed.", _only_clicks_count, *links.lab()),
    Entry(("4f",), "4", "text", "Propensities may depend on what is observed only.",
          "The derivation when examination depends on relevance.", _unconfoundedness,
          *links.derivation("ips-unbiased", "attraction")),
    Entry(("4g",), "4", "equation 4", "The weighted risk is unbiased.",
          "The derivation for N users, enumerated.", from_proof("risk-converges"),
          *links.derivation("risk-converges")),
    Entry(("4h",), "4", "equation 4", "The weighted risk converges to the true risk.",
          "Slope of the simulated error over the number of users, on logarithmic axes.",
          from_proof("errors-fall"), *links.derivation("risk-converges")),
    Entry(("4i",), "4", "ours", "The variance of the weighted loss has a closed form.",
          "Enumerated in fractions, with noise.", from_proof("variance"),
          *links.derivation("variance"), ours=True),
    Entry(("4j",), "4", "text", "Minimising the weighted risk is consistent.",
          "A theorem about infinitely many clicks; here the end of the learning curve.",
          partial(_on_learning_curve, "approaches-skyline"), *links.LEARNING_CURVES),
    Entry(("4k",), "4", "text", "Each click counts, also several on one document.",
          "Training examples against clicks of the simulated log.", _one_number_a_document,
          *links.lab()),
)  # fmt: skip
"""Claims of sections 1, 3 and 4."""
