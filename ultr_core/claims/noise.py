"""Claims of sections 5.1 and 5.2: the position model, and what click noise does to it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np

from ultr_core.claims import entry as links
from ultr_core.claims.common import examined
from ultr_core.claims.entry import Entry, from_proof
from ultr_core.claims.foundations import largest_error, walk
from ultr_core.corpus.ranking import order_from_ranks, query_sums, rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.proofs import SmallWorld, default_world
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.users import dot
from ultr_core.risk import expected_risk, kendall_tau
from ultr_core.users import PositionModel, simulate_sessions

ROUNDING = 1e-9
SESSIONS = 20_000

CUT = 5
"""Last rank that is shown, or seen, in the checks of what must have a positive propensity."""


def _clicks_without_noise(lab: Lab) -> Finding:
    """Clicks on irrelevant documents, event by event, if users make no mistakes."""
    relevance, presented, offsets = lab.world().train.shown
    users = PositionModel(lab.users.curve)
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
    relevance, presented, offsets = lab.world().train.shown
    clean = PositionModel(lab.users.curve)
    found = expected_risk(
        clean.click_probability(relevance, presented), examined(lab), lab.family().ranks, offsets
    )
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
    relevance, presented, offsets = lab.world().train.shown
    chance = lab.users.click_probability(relevance, presented)
    pi = np.where(relevance | (presented <= CUT), chance, 0.0)
    expected = expected_risk(pi, examined(lab), lab.family().ranks, offsets)
    truth = lab.family().true_risk
    first, second = np.triu_indices(len(truth), k=1)
    wrong = int(
        np.count_nonzero((truth[first] - truth[second]) * (expected[first] - expected[second]) < 0)
    )
    return Finding(
        f"Once nobody sees irrelevant documents below rank {CUT}, {wrong:,} of {len(first):,} "
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
        worst = max(worst, largest_error(walk(world, "affine-law")))
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
    relevance, presented, offsets = lab.world().train.shown
    seen = presented <= CUT
    tau = {}
    for label, users in (("without", PositionModel(lab.users.curve)), ("with", lab.users)):
        pi = np.where(seen, users.click_probability(relevance, presented), 0.0)
        expected = expected_risk(pi, examined(lab), lab.family().ranks, offsets)
        tau[label] = kendall_tau(expected, lab.family().true_risk)
    return Finding(
        f"Nothing below rank {CUT} shown: Kendall's τ with the true risk is {tau['without']:.3f} "
        f"at ε₋ = 0 and {tau['with']:.3f} at ε₋ = {lab.users.eps_minus:g}, instead of 1.",
        max(tau.values()),
        "<",
        1.0,
    )


ENTRIES = (
    Entry(("51a",), "5.1", "text", "A click comes from an examination, which depends on the rank, "
          "and from what the document is.", "20,000 simulated users of the small query against the "
          "enumeration of the model.", from_proof("small-simulation"),
          *links.derivation("naive-expectation")),
    Entry(("51b",), "5.1", "text", "Without noise a document is clicked if and only if it is "
          "examined and relevant.", "Every event of 20,000 simulated sessions.",
          _clicks_without_noise, *links.lab(eps_minus=0.0)),
    Entry(("51c",), "5.1", "equation 5", "The weighted risk over clicks is unbiased under the "
          "position model.", "Exact expectation against the true risk of sixty rankers.",
          _equation_5, *links.lab(eps_minus=0.0)),
    Entry(("51d",), "5.1", "text", "No click does not mean irrelevant.",
          "Presentations of relevant documents without a click in the simulated log.",
          _unclicked_is_not_irrelevant, *links.lab()),
    Entry(("51e",), "5.1", "text", "All ranks must have a positive propensity.",
          "Expected risk when the list is cut at rank 5.", _longest_lists,
          *links.derivation("affine-law", "cut")),
    Entry(("51f", "I1"), "5.1", "ours", "Ranks and order are two views of one list; ranks add up "
          "to m(m+1)/2.", "Every training query.", _ranks_invert, *links.ABOUT, ours=True),
    Entry(("51g", "I11"), "5.1", "ours", "Clicks of one user are independent in the position "
          "model, not for users who stop.", "Covariances over all enumerated click patterns.",
          _independent_clicks, *links.derivation("variance", "cascade"), ours=True),
    Entry(("52a",), "5.2", "text", "Noisy clicks are noise-free clicks on corrupted relevance.",
          "Click probabilities of both, document by document.", _noise_is_corrupted_relevance,
          *links.lab()),
    Entry(("52b",), "5.2", "text", "With noise the weighted risk still puts rankers in the right "
          "order.", "Exact expectations of sixty rankers, all pairs.",
          from_proof("order-preserved"), *links.lab()),
    Entry(("52c",), "5.2", "proof", "All six steps of the proof that order is kept are right.",
          "Each line for two rankings, enumerated in fractions, for three pairs of rankings.",
          from_proof("noise-keeps-order"), *links.derivation("noise-keeps-order")),
    Entry(("52d", "I3"), "5.2", "ours", "Noise stretches and shifts the risk: (ε₊ − ε₋) R plus a "
          "constant.", "Line by line on the small query.", from_proof("affine-law"),
          *links.derivation("affine-law"), ours=True),
    Entry(("52e",), "5.2", "ours", "On a whole corpus, too, the law is a straight line.",
          "Exact expectations of sixty rankers.", from_proof("corpus-affine-law"), *links.lab(),
          ours=True),
    Entry(("52f",), "5.2", "ours", "The law's slope and intercept are ε₊ − ε₋ and ε₋ m(m+1)/2 at "
          "every setting of the noise.", "Three settings, enumerated.", _shifted_noise,
          *links.derivation("affine-law"), ours=True),
    Entry(("52g",), "5.2", "text", "The argument carries over to other additive metrics.",
          "1/rank in place of rank for all rankings of six documents.", _additive_metrics,
          *links.derivation("affine-law")),
    Entry(("52h",), "5.2", "ours", "With noise, too, only relevant documents need a positive "
          "propensity (section 4's condition).", "Sixty rankers when irrelevant documents below "
          "rank 5 are never seen.",
          _order_with_unseen, *links.derivation("noise-keeps-order", "zero-irrelevant"),
          ours=True),
    Entry(("52i",), "5.2", "ours", "The argument needs correct propensities and noise that does "
          "not depend on the rank.", "Pairs of rankings in the wrong order without either.",
          _order_without_conditions, *links.derivation("noise-keeps-order", "trust"), ours=True),
    Entry(("52j",), "5.2", "ours", "For the hinge loss, noise adds a penalty on score gaps above "
          "1: order is kept for ranks, not for the surrogate.", "The identity line by line.",
          from_proof("noisy-hinge"), *links.derivation("noisy-hinge"), ours=True),
    Entry(("52k",), "5.2", "ours", "Known noise can be undone: the true risk comes back.",
          "Slope and intercept undone on the simulated clicks.", from_proof("risk-recovered"),
          *links.lab(), ours=True),
    Entry(("52l",), "5.2", "text", "Simulated clicks follow the model with noise.",
          "Risk estimated from the log against its exact expectation.",
          from_proof("simulation-agrees"), *links.lab()),
)  # fmt: skip
"""Claims of sections 5.1 and 5.2."""
