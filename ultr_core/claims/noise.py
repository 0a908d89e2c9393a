"""Claims of sections 5.1 and 5.2: the position model, and what click noise does to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    REACH,
    SWEEPS,
    Measure,
    Sizes,
    breaking,
    clean_users,
    click_chance,
    evidence,
    examined,
    expected_risks,
    largest_error,
    looked_at,
    many_logs,
    queries_of,
    sizes_of,
    small,
    sweep_seed,
    wrong_order,
)
from ultr_core.corpus.ranking import rank_documents
from ultr_core.findings import Finding, all_of, compared
from ultr_core.lab import LOG_FIELDS, Lab
from ultr_core.proofs import PROOFS, SmallWorld, default_world
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.monte_carlo import draw_users
from ultr_core.proofs.users import dot, times
from ultr_core.risk import kendall_tau, true_risk
from ultr_core.users import ClickLog, simulate_sessions

FIRST_RANKS = range(1, 6)
"""Ranks at which the clicks of two kinds of users are compared."""

ROUNDING = 1e-9
SESSIONS = 20_000
USERS = 500_000
"""Simulated users of the small query, enough to notice an error of 1%."""

CUT = 5
"""Last rank that is shown, or seen, in the checks of what must have a positive propensity."""


def _users_follow_the_model(lab: Lab) -> Finding:
    """Simulated users of the small query against the expectation of the position model."""
    tally, model = draw_users(small(lab, "51a"), USERS, lab.settings.seed).noisy, default_world()
    worst = 0.0
    for weights in model.click_weights.values():
        values = times(model.query.new, weights)
        found = tally.mean(values)
        worst = max(
            worst, abs(found.value - float(model.users.mean(values))) / found.standard_error
        )
    return Finding(
        f"Over {USERS:,} users, each of the {len(model.click_weights)} mean loss estimates is "
        f"within {worst:.2f} standard errors of the model's expectation.",
        worst,
        "<",
        REACH,
    )


def _clean_log(lab: Lab) -> ClickLog:
    """Sessions of users who make no mistakes."""

    def made(at: Lab) -> ClickLog:
        _, presented, offsets = at.world().train.shown
        chance = click_chance(at, clean_users(at))
        return simulate_sessions(chance, presented, offsets, SESSIONS, at.settings.seed)[0]

    return lab.remember(lab.cell("clean_log", (*LOG_FIELDS, "seed")), made)


def _clicks_without_noise(lab: Lab) -> Finding:
    """Clicks on irrelevant documents, event by event, if users make no mistakes."""
    relevance, presented, _ = lab.world().train.shown
    log, top = _clean_log(lab), presented == 1
    wrong = int(log.clicks[~relevance].sum())
    missed = int((log.impressions - log.clicks)[top & relevance].sum())
    return Finding(
        f"Of {log.total_clicks:,} clicks in {SESSIONS:,} presentations (ε₋ = 0), {wrong} were on "
        f"irrelevant documents; relevant documents at rank 1, which everybody examines, went "
        f"unclicked {missed} times.",
        float(wrong + missed),
    )


def _equation_5(lab: Lab) -> Finding:
    """Largest relative distance of E[R_IPS] from R over sixty rankers, without noise."""
    found = expected_risks(lab, click_chance(lab, clean_users(lab)))
    worst = float(np.max(np.abs(found / lab.family().true_risk - 1)))
    return Finding(
        f"Over {len(found)} rankers, the largest relative difference between expected and true "
        f"risk is {worst:.1g}; ε₋ = 0.",
        worst,
        tolerance=ROUNDING,
    )


def _unclicked_is_not_irrelevant(lab: Lab) -> Finding:
    log, relevance = lab.logs().train, lab.world().train.shown[0]
    missed = (log.impressions - log.clicks)[relevance].sum() / log.impressions[relevance].sum()
    return Finding(
        f"Relevant documents went unclicked in {missed:.0%} of their impressions.",
        float(missed),
        ">",
    )


def _noise_is_corrupted_relevance(lab: Lab) -> Finding:
    """Clicks of users who judge with noise, against users who are sure of a corrupted relevance.

    The second draw each document's relevance separately for each presentation, 1 with probability
    eps+ if it is relevant and eps- if not, and click it if and only if they look and it is 1. Both
    are counted for relevant and for irrelevant documents at each of the first ranks.
    """
    relevance, presented, _ = lab.world().train.shown
    users, rng = lab.users, sweep_seed(lab, 4)
    noisy = rng.binomial(SWEEPS, click_chance(lab, users))
    looks = rng.binomial(SWEEPS, looked_at(lab, users))
    corrupted = rng.binomial(looks, np.where(relevance, users.eps_plus, users.eps_minus))
    groups = [(relevance == r) & (presented == k) for r in (True, False) for k in FIRST_RANKS]
    worst = 0.0
    for group in groups:
        one, other = int(noisy[group].sum()), int(corrupted[group].sum())
        worst = max(worst, abs(one - other) / max(1.0, (one + other) ** 0.5))
    return Finding(
        f"There are {int(noisy.sum()):,} clicks with noise and {int(corrupted.sum()):,} on "
        f"corrupted relevance; in {len(groups)} groups by rank and relevance, the counts differ by "
        f"at most {worst:.1f} standard errors.",
        worst,
        "<",
        REACH,
    )


def _simulation_follows_the_model(lab: Lab) -> Finding:
    """The skyline's estimate from many logs, against its exact expectation."""
    return PROOFS["simulation-agrees"].evaluate(replace(evidence(lab), log=many_logs(lab).train))


def _additive_metrics(lab: Lab) -> Finding:
    """The affine law with 1/rank instead of rank, in fractions, for many rankings."""
    world = small(lab, "52g")
    spread, size = world.eps_plus - world.eps_minus, world.query.size
    constant = world.eps_minus * sum((Fraction(1, k) for k in range(1, size + 1)), Fraction(0))
    worst, count = Fraction(0), 0
    for ranking in permutations(range(1, size + 1)):
        gain = [Fraction(1, rank) for rank in ranking]
        found = world.users.mean([g * w for g, w in zip(gain, world.inverse, strict=True)])
        worst = max(worst, abs(found - spread * dot(gain, world.query.relevance) - constant))
        count += 1
    return Finding(
        f"With 1/rank instead of rank, {count} rankings obey the same law; the "
        f"largest error is {worst}.",
        float(worst),
    )


def _irrelevant_must_be_seen(lab: Lab) -> Finding:
    """Pairs of rankers in the wrong order if irrelevant documents below rank 5 are unseen."""
    relevance, presented, _ = lab.world().train.shown
    pi = np.where(relevance | (presented <= CUT), click_chance(lab, lab.users), 0.0)
    expected, truth = expected_risks(lab, pi), lab.family().true_risk
    wrong, pairs = wrong_order(truth, expected)
    return Finding(
        f"If nobody sees irrelevant documents below rank {CUT}, {wrong:,} of {pairs:,} pairs of "
        "rankers are in the wrong order in expectation, regardless of the number of users.",
        float(wrong),
        ">",
        reason="The proof sums over all candidates, so with noise every document shown needs a "
        "positive propensity. Section 4 requires this only of relevant documents, section 5.1 of "
        "all ranks.",
    )


def _risk_minimiser(lab: Lab) -> Finding:
    """True risk of the rankings with the least expected weighted risk, above the least possible.

    sum_d rank(d) P(c_d = 1) / q_d is least if documents are ranked by falling P(c_d = 1) / q_d.
    """
    relevance, _, offsets = lab.world().train.shown
    weights = click_chance(lab, lab.users) / examined(lab)
    found, best = (
        true_risk(rank_documents(score, offsets), relevance, offsets)
        for score in (weights, relevance.astype(np.float64))
    )
    return Finding(
        f"Of all rankings for {offsets.size - 1:,} queries, those with the lowest expected "
        f"weighted risk at ε₋ = {lab.users.eps_minus:g} have a true risk of {found:.2f}; the "
        f"lowest possible is {best:.2f}.",
        found - best,
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
        label: _wrong_pairs(breaking(small(lab, "52i"), name))[0]
        for label, name in (("a wrong curve", "wrong-curve"), ("trust bias", "trust"))
    }
    pairs = _wrong_pairs(small(lab, "52i"))[1]
    listed = ", ".join(f"{count:,} with {label}" for label, count in found.items())
    return Finding(
        f"Pairs of rankings in the wrong order, out of {pairs:,}: {listed}.",
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
        world = replace(small(lab, "52d"), eps_plus=Fraction(plus), eps_minus=minus)
        worst = max(worst, largest_error(world, "affine-law"))
        size = world.query.size
        law = f"{float(plus - minus):g} and {float(minus * size * (size + 1) / 2):g}"
        parts.append(f"{law} (ε₊ = {float(plus):g}, ε₋ = {float(minus):g})")
    return Finding(
        f"Slope and intercept: {'; '.join(parts)}; the largest error is {worst}.",
        float(worst),
    )


def _independent_clicks(lab: Lab) -> Finding:
    """Clicks on two documents of one user: joint probability minus product, enumerated."""
    worst = _dependence(small(lab, "51g"))
    cascade = _dependence(breaking(small(lab, "51g"), "cascade"))
    return Finding(
        f"The largest covariance between two clicks by one user is {worst}; for users who stop "
        f"after the first click it is {float(cascade):.3f}.",
        float(worst),
        decided=all_of((compared(float(worst), "="), compared(float(cascade), ">"))),
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


def _longest_lists(lab: Lab) -> Finding:
    """Agreement of the expected risk with the truth when the list is cut, with noise."""
    seen = lab.world().train.presented_ranks <= CUT
    tau = {}
    for label, users in (("without", clean_users(lab)), ("with", lab.users)):
        pi = np.where(seen, click_chance(lab, users), 0.0)
        tau[label] = kendall_tau(expected_risks(lab, pi), lab.family().true_risk)
    return Finding(
        f"If nothing below rank {CUT} is shown, Kendall's τ with the true risk is "
        f"{tau['without']:.3f} at ε₋ = 0 and {tau['with']:.3f} at ε₋ = {lab.users.eps_minus:g}, "
        "instead of 1.",
        max(tau.values()),
        "<",
        1.0,
    )


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {"sessions": lambda lab: sizes_of(_clean_log(lab).total_clicks, queries_of(lab), 1)}
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "51a": _users_follow_the_model,
        "51b": _clicks_without_noise,
        "51c": _equation_5,
        "51d": _unclicked_is_not_irrelevant,
        "51e": _longest_lists,
        "51g": _independent_clicks,
        "52a": _noise_is_corrupted_relevance,
        "52d": _shifted_noise,
        "52g": _additive_metrics,
        "52h": _irrelevant_must_be_seen,
        "52i": _order_without_conditions,
        "52l": _simulation_follows_the_model,
        "52m": _risk_minimiser,
    }
)
"""How the claims are measured, by key."""
