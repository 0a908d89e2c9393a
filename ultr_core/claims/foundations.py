"""Claims of sections 1 to 4: why clicks lie, and why dividing by propensities repairs it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    LANDMARK,
    LAST_RANK,
    REACH,
    SWEEPS,
    Measure,
    Sizes,
    breaking,
    clean_small,
    clean_users,
    click_chance,
    examined,
    from_proof,
    judged,
    largest_error,
    looked_at,
    queries_of,
    sizes_of,
    sweep_seed,
    true_swap_ratios,
    weighted_mean,
    wrong_order,
)
from ultr_core.corpus.ranking import query_sums, rank_documents
from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.lab import LOG_FIELDS, WORLD_FIELDS, Lab
from ultr_core.lab.propensity_study import agreement_with
from ultr_core.proofs.enumeration import click_law
from ultr_core.propensity import (
    displays_of_logs,
    estimate_by_em,
    neighbour_swap_cost,
    shuffling_cost,
    swap_cost,
)
from ultr_core.risk import (
    expected_risk,
    interval_over_draws,
    kendall_tau,
    true_risk,
    true_risks,
)
from ultr_core.users import ClickLog, Cutoff, simulate_counts

POOL = 5
"""Documents judged a query in the check on pooling."""

REPEATS = (2, 200)
"""Presentations of each query in the check on click models."""

SAMPLES = 20_000
"""Random samples of queries in the check on the mean loss of a sample (section 3, unnumbered)."""

LEAST = 1e-9
"""In place of a propensity of 0, at a document that nobody sees and nobody clicks."""


def _naive_is_biased(lab: Lab) -> Finding:
    return replace(from_proof("naive-order")(lab), relation=">")


def repeated_logs(lab: Lab, repeats: int) -> list[ClickLog]:
    """Logs of two rankers that share so many presentations of each query."""
    relevance, presented, offsets = lab.world().train.shown
    return [
        simulate_counts(
            lab.users.click_probability(relevance, ranks), ranks, offsets,
            repeats * (offsets.size - 1) // 2, lab.settings.seed + number,
        )
        for number, ranks in enumerate((presented, lab.second_ranker().ranks))
    ]  # fmt: skip


def _logs_with(lab: Lab, repeats: int) -> list[ClickLog]:
    cell = lab.cell("repeated_logs", (*LOG_FIELDS, "seed"), repeats)
    return lab.remember(cell, partial(repeated_logs, repeats=repeats))


def _sizes_of_repeats(lab: Lab) -> Sizes:
    few, many = (sum(log.total_clicks for log in _logs_with(lab, n)) for n in REPEATS)
    return sizes_of((few, many), queries_of(lab), 1)


def _em_needs_repeats(lab: Lab) -> Finding:
    """Curve error of EM, two rankers sharing r presentations a query, for rising r."""
    truth = true_swap_ratios(lab)
    errors: dict[int, float] = {}
    for repeats in REPEATS:
        try:
            logs = displays_of_logs(_logs_with(lab, repeats))
            estimate = estimate_by_em(logs, last_rank=LAST_RANK)
        except InputError:
            continue
        error = agreement_with(estimate, truth).error
        if error is not None:
            errors[repeats] = error
    listed = ", ".join(f"{error:.2f} with {n}" for n, error in errors.items())
    few, many = (errors.get(n) for n in REPEATS)
    return Finding(
        f"Error in the logarithm of the estimated curve, by presentations per query: {listed}.",
        None if few is None or many is None else few / many,
        ">",
        2.0,
        reason="Holds here if 100 times as many presentations at least halve the error.",
    )


def _randomising_costs(lab: Lab) -> Finding:
    costs = experiment_costs(lab)
    listed = ", ".join(f"{name} {cost:+.2f}" for name, cost in costs.items())
    return Finding(
        f"Change in the summed ranks of relevant documents, per presentation: {listed}.",
        min(costs.values()),
        ">",
        reason="The costs are exact, on the training queries.",
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
    """Risk of the skyline when every query is shown once, in one ranking: mean of many sweeps."""
    relevance, _, offsets = lab.world().train.shown
    rng = sweep_seed(lab, 0)
    clicks = rng.binomial(SWEEPS, click_chance(lab, clean_users(lab)))
    found = weighted_mean(lab, clicks, examined(lab), relevance.astype(np.float64))
    return replace(
        found,
        sentence=f"Each log presents each of {offsets.size - 1:,} queries once, in production's "
        f"order; ε₋ = 0. Over {SWEEPS:,} logs, the estimate is {found.value:.2f} on average; the "
        f"true risk is {found.limit:.2f}.",
    )


def _sample_mean(lab: Lab) -> Finding:
    """Mean over many random samples of a tenth of the queries, against the risk on all of them."""
    relevance, presented, offsets = lab.world().train.shown
    sums = query_sums(presented * relevance.astype(np.int64), offsets).astype(np.float64)
    queries = len(sums)
    size = max(2, queries // 10)
    law = lab.remember(
        lab.cell("judged_queries", WORLD_FIELDS), lambda _: np.full(queries, 1 / queries)
    )
    drawn = sums[sweep_seed(lab, 1).choice(queries, (SAMPLES, size), p=law)].mean(axis=1)
    truth = true_risk(presented, relevance, offsets)
    error = float(sums.std()) / math.sqrt(SAMPLES * size)
    return Finding(
        f"The mean loss over {SAMPLES:,} random samples of {size:,} queries is {drawn.mean():.2f} "
        f"(standard deviation between samples {drawn.std():.2f}); over all {queries:,} queries it "
        f"is {truth:.2f}.",
        float(drawn.mean()),
        "=",
        truth,
        REACH * error,
    )


def _pooling_is_biased(lab: Lab) -> Finding:
    """Pairs of rankers that change their order when only the top of production is judged."""
    relevance, presented, offsets = lab.world().train.shown
    judged = relevance & (presented <= POOL)
    pooled = true_risks(lab.family().ranks, judged, offsets)
    swapped, pairs = wrong_order(lab.family().true_risk, pooled)
    return Finding(
        f"If only production's top {POOL} documents are judged, "
        f"{1 - judged.sum() / relevance.sum():.0%} of the relevant documents count as irrelevant, "
        f"and {swapped} of {pairs:,} pairs of rankers change order.",
        float(swapped),
        ">",
    )


def _labels_train(lab: Lab) -> Finding:
    """How much better the skyline is than production, with its interval over test queries."""
    world, test = lab.world(), lab.world().splits.test
    production, skyline = (
        query_sums(
            rank_documents(ranker.score(test), test.query_offsets) * world.test_relevance,
            test.query_offsets,
        )
        for ranker in (world.production.ranker, world.skyline)
    )
    better = interval_over_draws(production - skyline)
    return Finding(
        f"The test risk is {skyline.mean():.2f} for the ranking SVM with all labels and "
        f"{production.mean():.2f} for production; the 95% interval for the difference over "
        f"{test.n_queries:,} queries is {better.low:.2f} to {better.high:.2f}.",
        better.value,
        ">",
        interval=(better.low, better.high),
    )


def _any_ranking(lab: Lab) -> Finding:
    """Largest error of the expected loss over all rankings of the small query, in fractions."""
    world = clean_small(lab, "4b")
    law, query = click_law(world.users), world.query
    rankings = list(permutations(range(1, query.size + 1)))
    errors = [
        abs(
            law.mean([rank * w for rank, w in zip(ranks, world.inverse, strict=True)])
            - query.loss(ranks)
        )
        for ranks in rankings
    ]
    return Finding(
        f"Over all click patterns, the average weighted loss of each of the {len(rankings)} "
        f"rankings is its true loss; the largest error is {max(errors)}; ε₋ = 0.",
        float(max(errors)),
    )


def _irrelevant_may_be_unseen(lab: Lab) -> Finding:
    worst = largest_error(breaking(clean_small(lab, "4c"), "zero-irrelevant"), "ips-unbiased")
    return Finding(
        f"With an irrelevant document that nobody sees, and ε₋ = 0, the largest error in any line "
        f"is {worst}.",
        float(worst),
    )


def _relevant_must_be_seen(lab: Lab) -> Finding:
    worst = largest_error(breaking(clean_small(lab, "4d"), "zero-relevant"), "ips-unbiased")
    return Finding(
        f"With a relevant document that nobody sees, and ε₋ = 0, the loss is off by {worst}.",
        float(worst),
        ">",
    )


def _only_relevant_propensities(lab: Lab) -> Finding:
    """Error of the expected loss when propensities of irrelevant documents are twice too small."""
    world = clean_small(lab, "4e")
    weights = [
        Fraction(rank) / (q if relevant else q / 2)
        for rank, q, relevant in zip(
            world.query.new, world.propensity, world.query.relevance, strict=True
        )
    ]
    found, loss = click_law(world.users).mean(weights), world.query.loss(world.query.new)
    return Finding(
        f"With the propensities of all irrelevant documents halved, and ε₋ = 0, the average "
        f"weighted loss is {found}; the true loss is {loss}.",
        float(found - loss),
    )


def _unconfoundedness(lab: Lab) -> Finding:
    worst = largest_error(breaking(clean_small(lab, "4f"), "attraction"), "ips-unbiased")
    return Finding(
        f"If relevance attracts the eye, the average is off by exactly {worst}, regardless of "
        "the number of users; ε₋ = 0.",
        float(worst),
        ">",
    )


def _relevance_of_users(lab: Lab) -> Finding:
    """Clicks of users who disagree on relevance, against the risk with their mean relevance."""
    corpus = lab.world().train.corpus
    mean = corpus.grades / max(1, int(corpus.grades.max()))
    rng = sweep_seed(lab, 2)
    clicks = rng.binomial(rng.binomial(SWEEPS, looked_at(lab, clean_users(lab))), mean)
    found = weighted_mean(lab, clicks, examined(lab), mean, squares=mean)
    return replace(
        found,
        sentence="Each user finds a document relevant with a probability that grows with its "
        f"grade. Over {SWEEPS:,} presentations of each query, the estimate is {found.value:.2f}; "
        f"the risk under the mean relevance is {found.limit:.2f}; ε₋ = 0.",
    )


def _not_at_random(lab: Lab) -> Finding:
    """How much more often relevant documents are examined than irrelevant ones."""
    relevance = lab.world().train.relevance
    seen = looked_at(lab, clean_users(lab))
    shares = [float(seen[relevance == relevant].mean()) for relevant in (True, False)]
    return Finding(
        f"A relevant document is examined in {shares[0]:.0%} of its impressions, an irrelevant "
        f"document in {shares[1]:.0%}.",
        shares[0] - shares[1],
        ">",
    )


def _randomised_data(lab: Lab) -> Finding:
    """Order of sixty rankers from shuffled and from fixed lists, users looking at the top only."""
    world = lab.world()
    relevance, presented, offsets = world.train.shown
    sizes = np.diff(offsets)
    seen = Cutoff(lab.users.curve, POOL)
    fixed = np.where(relevance, seen.at(presented), 0.0)
    upto = np.cumsum(seen.at(np.arange(1, sizes.max() + 1)))
    anywhere = np.repeat(upto[sizes - 1] / sizes, sizes)  # mean over the places of a shuffled list
    chance = lab.remember(
        lab.cell("shuffled_chance", LOG_FIELDS), lambda _: np.where(relevance, anywhere, 0.0)
    )
    clicks = sweep_seed(lab, 3).binomial(SWEEPS, chance) / SWEEPS
    truth = lab.family().true_risk
    found = [
        kendall_tau(expected_risk(rate, np.maximum(q, LEAST), lab.family().ranks, offsets), truth)
        for rate, q in ((clicks, anywhere), (fixed, seen.at(presented)))
    ]
    return Finding(
        f"Users look only at the top {POOL}; ε₋ = 0. Kendall's τ between the estimated and true "
        f"risks of sixty rankers is {found[0]:.3f} with {SWEEPS:,} shuffled lists for each query, "
        f"and {found[1]:.3f} with production's fixed list, however often it is shown.",
        found[0] - found[1],
        ">",
        reason="Shuffling brings every document within reach; a document's propensity is the mean "
        "over its possible ranks.",
    )


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "repeated logs": _sizes_of_repeats,
        "samples": lambda lab: sizes_of(queries=queries_of(lab), seeds=SAMPLES),
    }
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "1a": _naive_is_biased,
        "1b": partial(judged, "learning-curve", "skip-above-reverses"),
        "1c": _em_needs_repeats,
        "1d": _randomising_costs,
        "1e": _each_query_once,
        "2a": _randomised_data,
        "3a": _sample_mean,
        "3b": _pooling_is_biased,
        "3c": _labels_train,
        "4b": _any_ranking,
        "4c": _irrelevant_may_be_unseen,
        "4d": _relevant_must_be_seen,
        "4e": _only_relevant_propensities,
        "4f": _unconfoundedness,
        "4l": _relevance_of_users,
        "4m": _not_at_random,
    }
)
"""How the claims are measured, by key."""
