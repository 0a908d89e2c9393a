"""Claims of sections 5.1 and 5.2: the position model, and what click noise does to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    Measure,
    clean_users,
    expected_risks,
    largest_error,
    wrong_order,
)
from ultr_core.corpus.ranking import order_from_ranks, query_sums, rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.proofs import SmallWorld, default_world
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.users import dot
from ultr_core.risk import kendall_tau
from ultr_core.users import PositionModel, simulate_sessions

ROUNDING = 1e-9
SESSIONS = 20_000

CUT = 5
"""Last rank that is shown, or seen, in the checks of what must have a positive propensity."""


def _clicks_without_noise(lab: Lab) -> Finding:
    """Clicks on irrelevant documents, event by event, if users make no mistakes."""
    relevance, presented, offsets = lab.world().train.shown
    users = clean_users(lab)
    log, _ = simulate_sessions(
        users.click_probability(relevance, presented), presented, offsets, SESSIONS,
        lab.settings.seed,
    )  # fmt: skip
    top = presented == 1
    wrong = int(log.clicks[~relevance].sum())
    missed = int((log.impressions - log.clicks)[top & relevance].sum())
    return Finding(
        f"{log.total_clicks:,} clicks of {SESSIONS:,} sessions, ε₋ = 0: {wrong} on irrelevant "
        "documents, "
        f"and {missed} times no click on a relevant document at rank 1, which everybody examines.",
        float(wrong + missed),
    )


def _equation_5(lab: Lab) -> Finding:
    """Largest relative distance of E[R_IPS] from R over sixty rankers, without noise."""
    relevance, presented, _ = lab.world().train.shown
    found = expected_risks(lab, clean_users(lab).click_probability(relevance, presented))
    worst = float(np.max(np.abs(found / lab.family().true_risk - 1)))
    return Finding(
        f"Over {len(found)} rankers expectation and true risk differ by {worst:.1g} at most, "
        "relative; ε₋ = 0.",
        worst,
        tolerance=ROUNDING,
    )


def _unclicked_is_not_irrelevant(lab: Lab) -> Finding:
    log, relevance = lab.logs().train, lab.world().train.shown[0]
    missed = (log.impressions - log.clicks)[relevance].sum() / log.impressions[relevance].sum()
    return Finding(
        f"Shown relevant documents were passed over in {missed:.0%} of their presentations.",
        float(missed),
        ">",
    )


def _noise_is_corrupted_relevance(lab: Lab) -> Finding:
    """Noisy clicks on r against noise-free clicks on a relevance that is drawn with that rate."""
    relevance, presented, _ = lab.world().train.shown
    users = lab.users
    noisy = users.click_probability(relevance, presented)
    corrupted = users.click_given_examined(relevance)
    same = PositionModel(users.curve).click_probability(corrupted, presented)
    worst = float(np.max(np.abs(noisy - same)))
    return Finding(
        f"The click probabilities of {len(noisy):,} documents differ by {worst:.1g} at most.",
        worst,
        tolerance=ROUNDING,
    )


def _additive_metrics(lab: Lab) -> Finding:
    """The affine law with 1/rank instead of rank, in fractions, for many rankings."""
    world = default_world()
    spread, size = world.eps_plus - world.eps_minus, world.query.size
    constant = world.eps_minus * sum((Fraction(1, k) for k in range(1, size + 1)), Fraction(0))
    worst, count = Fraction(0), 0
    for ranking in permutations(range(1, size + 1)):
        gain = [Fraction(1, rank) for rank in ranking]
        found = world.users.mean([g * w for g, w in zip(gain, world.inverse, strict=True)])
        worst = max(worst, abs(found - spread * dot(gain, world.query.relevance) - constant))
        count += 1
    return Finding(
        f"With 1/rank in place of rank, {count} rankings obey the same law; largest error {worst}.",
        float(worst),
    )


def _order_with_unseen(lab: Lab) -> Finding:
    """Pairs of rankers in the wrong order if irrelevant documents below rank 5 are unseen."""
    relevance, presented, _ = lab.world().train.shown
    chance = lab.users.click_probability(relevance, presented)
    pi = np.where(relevance | (presented <= CUT), chance, 0.0)
    expected, truth = expected_risks(lab, pi), lab.family().true_risk
    wrong, pairs = wrong_order(truth, expected)
    return Finding(
        f"Once nobody sees irrelevant documents below rank {CUT}, {wrong:,} of {pairs:,} "
        "pairs of rankers are in the wrong order in expectation, however many users come.",
        float(wrong),
        reason="The proof sums over all candidates: with noise every document that is shown needs "
        "a positive propensity, as section 5.1 asks.",
    )


def _wrong_pairs(world: SmallWorld) -> tuple[int, int]:
    """Pairs of all rankings whose expected risks contradict their losses."""
    rankings = list(permutations(range(1, world.query.size + 1)))[::9]
    values = [
        (
            world.query.loss(ranking),
            world.users.mean([r * w for r, w in zip(ranking, world.inverse, strict=True)]),
        )
        for ranking in rankings
    ]
    pairs = [(a, b) for i, a in enumerate(values) for b in values[:i] if a[0] != b[0]]
    wrong = sum((a[0] - b[0]) * (a[1] - b[1]) <= 0 for a, b in pairs)
    return wrong, len(pairs)


def _order_without_conditions(lab: Lab) -> Finding:
    found = {
        label: _wrong_pairs(default_world().breaking(name))[0]
        for label, name in (("a wrong curve", "wrong-curve"), ("trust bias", "trust"))
    }
    pairs = _wrong_pairs(default_world().breaking())[1]
    listed = ", ".join(f"{count:,} with {label}" for label, count in found.items())
    return Finding(
        f"Of {pairs:,} pairs of rankings in the wrong order: {listed}.",
        float(min(found.values())),
        ">",
    )


def _shifted_noise(lab: Lab) -> Finding:
    """The law's slope and intercept on the small query at three settings of the noise."""
    worst, parts = Fraction(0), list[str]()
    for plus, minus in (
        (1, Fraction(1, 10)),
        (1, Fraction(3, 10)),
        (Fraction(4, 5), Fraction(1, 5)),
    ):
        world = replace(default_world(), eps_plus=Fraction(plus), eps_minus=minus)
        worst = max(worst, largest_error(world, "affine-law"))
        size = world.query.size
        law = f"{float(plus - minus):g} and {float(minus * size * (size + 1) / 2):g}"
        parts.append(f"{law} (ε₊ = {float(plus):g}, ε₋ = {float(minus):g})")
    return Finding(
        f"Slope and intercept: {'; '.join(parts)}; largest error {worst}.",
        float(worst),
    )


def _independent_clicks(lab: Lab) -> Finding:
    """Clicks on two documents of one user: joint probability minus product, enumerated."""
    worst = _dependence(default_world())
    cascade = _dependence(default_world().breaking("cascade"))
    return Finding(
        f"Largest covariance of two clicks of one user: {worst}; with users who stop after the "
        f"first click it is {float(cascade):.3f}.",
        float(worst),
    )


def _dependence(world: SmallWorld) -> Fraction:
    """Largest |cov(c_d, c_e)|, from variances of sums over all click patterns."""
    law = click_law(world.users)
    size, worst = world.query.size, Fraction(0)
    for d in range(size):
        for e in range(d):
            both, one, two = (
                law.variance([Fraction(k in group) for k in range(size)])
                for group in ((d, e), (d,), (e,))
            )
            worst = max(worst, abs(both - one - two) / 2)
    return worst


def _ranks_invert(lab: Lab) -> Finding:
    """Sum of ranks of every query, and order against ranks, over all training queries."""
    _, presented, offsets = lab.world().train.shown
    sizes = np.diff(offsets)
    sums = query_sums(presented, offsets)
    order = order_from_ranks(presented, offsets)
    back = np.empty_like(presented)
    back[order] = np.arange(len(order)) - np.repeat(offsets[:-1], sizes) + 1
    again = rank_documents(-presented.astype(np.float64), offsets)
    wrong = int(
        np.count_nonzero(sums != sizes * (sizes + 1) // 2)
        + np.count_nonzero(back != presented)
        + np.count_nonzero(again != presented)
    )
    return Finding(
        f"In {len(sizes):,} queries the ranks add up to m(m+1)/2 and come back from their order; "
        f"{wrong} exceptions.",
        float(wrong),
    )


def _longest_lists(lab: Lab) -> Finding:
    """Agreement of the expected risk with the truth when the list is cut, with noise."""
    relevance, presented, _ = lab.world().train.shown
    seen = presented <= CUT
    tau = {}
    for label, users in (("without", clean_users(lab)), ("with", lab.users)):
        pi = np.where(seen, users.click_probability(relevance, presented), 0.0)
        tau[label] = kendall_tau(expected_risks(lab, pi), lab.family().true_risk)
    return Finding(
        f"Nothing below rank {CUT} shown: Kendall's τ with the true risk is {tau['without']:.3f} "
        f"at ε₋ = 0 and {tau['with']:.3f} at ε₋ = {lab.users.eps_minus:g}, instead of 1.",
        max(tau.values()),
        "<",
        1.0,
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "51b": _clicks_without_noise,
        "51c": _equation_5,
        "51d": _unclicked_is_not_irrelevant,
        "51e": _longest_lists,
        "51f": _ranks_invert,
        "51g": _independent_clicks,
        "52a": _noise_is_corrupted_relevance,
        "52f": _shifted_noise,
        "52g": _additive_metrics,
        "52h": _order_with_unseen,
        "52i": _order_without_conditions,
    }
)
"""How the claims are measured, by key."""
