"""Claims of sections 7.1 to 7.5: the simulated experiment's setting and its four figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, pairwise, product
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    COST,
    REACH,
    Measure,
    Sizes,
    click_chance,
    many_logs,
    printed,
    queries_of,
    sizes_of,
    sizes_of_points,
    study,
    study_settings,
    study_source,
)
from ultr_core.corpus import Corpus
from ultr_core.findings import Finding, all_of, compared
from ultr_core.lab import Lab
from ultr_core.lab.logs import VALIDATION_SHARE
from ultr_core.lab.production import PRODUCTION_COST
from ultr_core.learners import fit_ranker
from ultr_core.propensity import full_information_weights, ips_weights
from ultr_core.risk import expected_risk, interval_over_draws, kendall_tau, noise_share
from ultr_core.studies import FIGURES
from ultr_core.studies.cells import STUDY_METHODS
from ultr_core.studies.claims import FLAT
from ultr_core.studies.curves import FIXED_METHODS
from ultr_core.users import ClickLog, PowerLaw

PRODUCTION_SHARE = 0.01
HALF_A_PERCENT = 0.005
"""What "about 15%" and "about 33%" are rounded to."""

SAME = 0.9999
"""Cosine of two rankers' coefficients from which on they are one."""


def _fifteen_percent(lab: Lab) -> Finding:
    train, validation, _ = printed(lab).queries
    share = validation / train
    return Finding(
        f"{validation:,} of {train:,} queries: {share:.2%}.",
        share,
        limit=VALIDATION_SHARE,
        tolerance=HALF_A_PERCENT,
        reason="Arithmetic on the data set's published sizes; the data are not available here.",
    )


def _candidates(lab: Lab) -> Finding:
    """Mean length of candidate lists against Yahoo's, in standard errors over queries."""
    yahoo = printed(lab).documents[0] / printed(lab).queries[0]
    sizes = lab.world().train.corpus.sizes
    error = float(sizes.std()) / len(sizes) ** 0.5
    return Finding(
        f"There are {yahoo:.1f} documents per query in Yahoo's training part and "
        f"{sizes.mean():.1f} here.",
        float(sizes.mean()),
        limit=yahoo,
        tolerance=REACH * error,
        reason="This is a property of the corpus in use; the built-in corpus is designed to have "
        "it.",
    )


def _production(lab: Lab) -> Finding:
    """Production against a ranking SVM that is trained again on the labels of its queries."""
    world = lab.world()
    corpus, chosen = world.train.corpus, world.production.queries
    own = corpus.subset(np.sort(chosen))
    weights = full_information_weights(own.relevance(world.relevant_grade))
    again = fit_ranker(own, weights, cost=PRODUCTION_COST, tolerance=1e-4).coefficients
    shipped = world.production.ranker.coefficients
    cosine = float(again @ shipped) / float(np.linalg.norm(again) * np.linalg.norm(shipped))
    share = len(chosen) / corpus.n_queries
    few = compared(share, "=", PRODUCTION_SHARE, max(HALF_A_PERCENT, 1 / corpus.n_queries))
    return Finding(
        f"Production has seen the labels for {len(chosen)} of {corpus.n_queries:,} queries, "
        f"{share:.1%}; a ranking SVM retrained on them points in the same direction (cosine "
        f"{cosine:.6f}).",
        cosine,
        ">",
        SAME,
        decided=all_of((few, compared(cosine, ">", SAME))),
    )


def _drawn_at_random(lab: Lab) -> Finding:
    """How evenly queries were drawn in many logs: the chi-squared statistic, in standard errors."""
    draws = many_logs(lab).train.draws
    expected = draws.sum() / len(draws)
    freedom = len(draws) - 1
    statistic = float(((draws - expected) ** 2).sum() / expected)
    z = (statistic - freedom) / (2 * freedom) ** 0.5
    return Finding(
        f"{draws.sum():,} presentations of {len(draws):,} queries: χ² = {statistic:,.0f} with "
        f"{freedom:,} degrees of freedom, {z:+.1f} standard errors from its mean.",
        z,
        tolerance=REACH,
    )


def _parts_are_disjoint(lab: Lab) -> Finding:
    """Queries whose candidates, with all their features, occur in two parts of the corpus."""
    splits = lab.world().splits
    parts = [_fingerprints(part) for part in (splits.train, splits.validation, splits.test)]
    train, validation, test = (f"{len(part):,}" for part in parts)
    shared = sum(len(one & other) for one, other in combinations(parts, 2))
    return Finding(
        f"Of {train}, {validation} and {test} different queries for training, validation and "
        f"test, {shared} are in more than one part.",
        float(shared),
    )


def _fingerprints(corpus: Corpus) -> set[int]:
    """One number a query, from the features of its candidates."""
    rng = np.random.default_rng(0)
    sums = corpus.features @ rng.random(corpus.n_features)
    edges = corpus.query_offsets
    return {hash(np.round(sums[start:stop], 6).tobytes()) for start, stop in pairwise(edges)}


def _power_law(lab: Lab) -> Finding:
    ranks = np.arange(1, 101)
    seen = lab.users.curve.at(ranks)
    worst = float(np.max(np.abs(seen - 1.0 / ranks)))
    return Finding(
        f"Rank 10 is examined with probability {seen[9]:.0%}; p_r is 1/r to within {worst:.1g}.",
        worst,
        tolerance=1e-12,
    )


def _shares_agree(lab: Lab) -> Finding:
    (low, low_share), (high, high_share) = sorted(printed(lab).noise.items())
    odds = high_share / (1 - high_share) / high
    share = noise_share(1.0, low, odds)
    return Finding(
        f"A share of {high_share:.1%} at ε₋ = {high:g} means that users examine {odds:.2f} "
        f"irrelevant documents for each relevant document, hence {share:.1%} at ε₋ = {low:g}.",
        share,
        limit=low_share,
        tolerance=HALF_A_PERCENT,
        reason="The built-in corpus is calibrated to these shares, so measuring them on it would "
        "check nothing.",
    )


def _validation_clicks(lab: Lab) -> Finding:
    """Validation clicks for each training click, in standard errors of the ratio of two counts."""
    train, held_out = many_logs(lab).train.total_clicks, many_logs(lab).validation_clicks
    share = held_out / train
    error = share * (1 / train + 1 / held_out) ** 0.5
    return Finding(
        f"There are {held_out:,} validation clicks for {train:,} training clicks, {share:.1%}.",
        share,
        limit=VALIDATION_SHARE,
        # A presentation gives several clicks, so that counts vary up to twice as much as Poisson's.
        tolerance=2 * REACH * error,
        reason="C is chosen by the unclipped weighted estimate; for the naive ranker, by the naive "
        "estimate.",
    )


def _skyline(lab: Lab) -> Finding:
    """The least loss above the skyline's of any ranker that learns from clicks in the figures."""
    above = []
    for result in (study(lab, name) for name in FIGURES):
        margin = FLAT * (result.gap() or 0.0)
        for method, point in product(result.plan.study.methods, result.plan.points):
            if method not in FIXED_METHODS:
                excess = result.excess((method, point), ("skyline", point)).values()
                above.append((interval_over_draws(list(excess)), margin, method, point.settings))
    least, margin, method, at = min(above, key=lambda found: found[0].low)
    return Finding(
        f"In {len(above)} comparisons between a ranker trained on clicks and the skyline, the "
        f"lowest difference in loss is {least.value:+.3f} [{least.low:+.3f}, {least.high:+.3f}] "
        f"({STUDY_METHODS[method].label}, η = {at.eta:g}, η′ = {at.assumed_eta:g}, ε₋ = "
        f"{at.eps_minus:g}, {at.clicks:,} clicks, 95% interval). A ranker counts as better only "
        f"if its loss is lower by more than {margin:.3f} ({FLAT:.0%} of the gap).",
        least.value,
        ">",
        -margin,
        interval=(least.low, least.high),
        reason=study_source(),
    )


# The figures.

ASSUMED = (0.0, 0.5, 1.0, 1.5, 2.0)
FEW, MANY = 17_000, 1_700_000
TENFOLD = 10.0


def _tau_one_is_not_always_found(lab: Lab) -> Finding:
    """How often validation chose tau = 1 at the fewest clicks."""
    result = study(lab, "learning-curve")
    first = result.plan.points[0]
    found = [result.result("clipped", first, d) for d in range(result.plan.base.draws)]
    chosen = [cell.clip for cell in found if cell is not None]
    hits = sum(clip == 1.0 for clip in chosen)
    return Finding(
        f"At n = {first.x:,.0f}, validation chose τ = 1 in {hits} of {len(chosen)} click logs. "
        f"{study_settings('learning-curve')}",
        hits / len(chosen),
        "<",
        1.0,
        reason=study_source(),
    )


def _naive_rewards_production(lab: Lab) -> Finding:
    """Expected naive risks of production and skyline beside their true ones."""
    offsets = lab.world().train.shown[2]
    pi = click_chance(lab, lab.users)
    production, skyline = lab.family().true_risk[:2]
    ranks = lab.family().ranks[:2]
    naive = expected_risk(pi, np.ones_like(pi), ranks, offsets)
    return Finding(
        f"Expected naive risk: production {naive[0]:.2f}, skyline {naive[1]:.2f}; true risks "
        f"{production:.2f} and {skyline:.2f}.",
        float(naive[1] - naive[0]),
        ">",
    )


def _right_exponent_orders_best(lab: Lab) -> Finding:
    """Kendall's tau of the expected weighted risk with the true one over assumed exponents."""
    _, presented, offsets = lab.world().train.shown
    pi = click_chance(lab, lab.users)
    taus = {
        eta: kendall_tau(
            expected_risk(pi, PowerLaw(eta).at(presented), lab.family().ranks, offsets),
            lab.family().true_risk,
        )
        for eta in ASSUMED
    }
    listed = ", ".join(f"{tau:.2f} at η′ = {eta:g}" for eta, tau in taus.items())
    others = max(tau for eta, tau in taus.items() if eta != 1.0)
    return Finding(
        f"Kendall's τ between expected weighted risk and true risk: {listed}.",
        taus[1.0] - others,
        ">",
    )


def _work_does_not_grow(lab: Lab) -> Finding:
    """Work to train at a hundred times the clicks over that at the fewer.

    Work: iterations times the pairs (clicked document, other candidate), which is what an iteration
    goes through. A click on a document that was clicked before adds to its weight and no pair.
    """
    corpus, work = lab.world().train.corpus, {}
    for clicks in (FEW, MANY):
        log = lab.at(lab.settings.with_values(clicks=clicks)).training_log()
        ranker = fit_ranker(corpus, ips_weights(log, lab.users.curve), cost=COST)
        work[clicks] = ranker.certificate.iterations * _pairs(log)
    ratio = work[MANY] / work[FEW]
    return Finding(
        f"The solver processes {work[FEW]:,} pairs with {FEW:,} clicks and {work[MANY]:,} with "
        f"{MANY:,}: {ratio:.1f} times as many.",
        ratio,
        "<",
        TENFOLD,
        reason="Holds if 100 times as many clicks take less than 10 times the work. Clicks are "
        "counted by document, so the work grows with the number of clicked documents.",
    )


def _pairs(log: ClickLog) -> int:
    clicked = log.sum_by_document(log.clicks) > 0
    return int(
        (clicked * np.repeat(np.diff(log.query_offsets) - 1, np.diff(log.query_offsets))).sum()
    )


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "few and many clicks": lambda lab: sizes_of((FEW, MANY), queries_of(lab), 1),
        "fewest clicks": lambda lab: sizes_of_points(
            study(lab, "learning-curve"), study(lab, "learning-curve").plan.points[:1]
        ),
        "all figures": lambda lab: sizes_of_points(
            study(lab, FIGURES[0]),
            (point for name in FIGURES for point in study(lab, name).plan.points),
        ),
    }
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "S2": _fifteen_percent,
        "S2b": _candidates,
        "S3": _production,
        "S4": _drawn_at_random,
        "S5": _power_law,
        "S6c": _shares_agree,
        "S7": _validation_clicks,
        "S9": _skyline,
        "S10": _parts_are_disjoint,
        "F0.scale": _work_does_not_grow,
        "F1.tau": _tau_one_is_not_always_found,
        "F3.naive": _naive_rewards_production,
        "F4.order": _right_exponent_orders_best,
    }
)
"""How the claims are measured, by key."""
