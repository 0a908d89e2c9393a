"""Claims of sections 7.1 to 7.5: the simulated experiment's setting and its four figures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import COST, Measure, study_settings, study_source
from ultr_core.corpus import Corpus
from ultr_core.findings import Finding
from ultr_core.lab import Lab, simulate_logs
from ultr_core.lab.logs import VALIDATION_SHARE
from ultr_core.learners import fit_ranker
from ultr_core.propensity import Weights, ips_weights
from ultr_core.risk import expected_risk, kendall_tau, noise_share
from ultr_core.settings import Settings
from ultr_core.studies import DEFAULT_LOSS, LOSSES, shipped_result
from ultr_core.studies.claims import PAPER_NOISE_SHARE
from ultr_core.users import PowerLaw

YAHOO_QUERIES = (19_944, 2_994, 6_983)
YAHOO_DOCUMENTS = (473_134, 71_083, 165_660)
"""Training, validation and test part of the public description of Yahoo's set 1."""

PRINTED_SHARE, PRINTED_NOISE = 0.33, 0.1
PRINTED_WORST_NOISE = 0.3
PRODUCTION_SHARE = 0.01
HALF_A_PERCENT = 0.005


def _fifteen_percent(_: Lab) -> Finding:
    share = YAHOO_QUERIES[1] / YAHOO_QUERIES[0]
    return Finding(
        f"{YAHOO_QUERIES[1]:,} of {YAHOO_QUERIES[0]:,} queries: {share:.2%}.",
        share,
        limit=VALIDATION_SHARE,
        tolerance=HALF_A_PERCENT,
        reason="Arithmetic on the data set's published sizes; the data are not at hand.",
    )


def _candidates(lab: Lab) -> Finding:
    yahoo = YAHOO_DOCUMENTS[0] / YAHOO_QUERIES[0]
    corpus = lab.world().train.corpus
    ours = corpus.n_documents / corpus.n_queries
    return Finding(
        f"{yahoo:.1f} documents a query in Yahoo's training part, {ours:.1f} here.",
        ours / yahoo,
        limit=1.0,
        tolerance=0.05,
        reason="A property of the corpus in use; the built-in one is made so.",
    )


def _production(lab: Lab) -> Finding:
    queries = lab.world().train.corpus.n_queries
    used = len(lab.world().production.queries)
    return Finding(
        f"Production is trained on the labels of {used} of {queries:,} queries, "
        f"{used / queries:.1%}.",
        used / queries,
        limit=PRODUCTION_SHARE,
        tolerance=max(HALF_A_PERCENT, 1 / queries),
    )


def _whole_lists(lab: Lab) -> Finding:
    log = lab.logs().train
    drawn = np.repeat(log.draws, np.diff(log.query_offsets))
    wrong = int(np.count_nonzero(log.impressions != drawn))
    return Finding(
        f"{log.query_draws:,} random draws of {log.query_offsets.size - 1:,} queries; {wrong} "
        "documents were left out of a list that was shown.",
        float(wrong),
    )


def _power_law(lab: Lab) -> Finding:
    ranks = np.arange(1, 101)
    worst = float(np.max(np.abs(lab.users.curve.at(ranks) - 1.0 / ranks)))
    tenth = float(lab.users.curve.at(10))
    return Finding(
        f"Rank 10 is examined with probability {tenth:.0%}; p_r = 1/r to {worst:.1g}.",
        tenth,
        limit=0.1,
        tolerance=1e-12,
    )


def _share(lab: Lab) -> Finding:
    relevance, presented, _ = lab.world().train.shown
    share = lab.users.noise_share(relevance, presented)
    return Finding(
        f"{share:.1%} of the clicks are expected on irrelevant documents.",
        share,
        limit=PRINTED_SHARE,
        tolerance=HALF_A_PERCENT,
        reason="The built-in corpus is calibrated to this number, so that here it only says that "
        "the calibration works.",
    )


def _shares_agree(_: Lab) -> Finding:
    odds = PAPER_NOISE_SHARE / (1 - PAPER_NOISE_SHARE) / PRINTED_WORST_NOISE
    share = noise_share(1.0, PRINTED_NOISE, odds)
    return Finding(
        f"{PAPER_NOISE_SHARE:.1%} at ε₋ = {PRINTED_WORST_NOISE:g} means {odds:.2f} "
        "examined "
        f"irrelevant documents for each relevant one, hence {share:.1%} at ε₋ = "
        f"{PRINTED_NOISE:g}.",
        share,
        limit=PRINTED_SHARE,
        tolerance=HALF_A_PERCENT,
    )


def _validation_clicks(lab: Lab) -> Finding:
    train, held_out = lab.logs().train.total_clicks, lab.logs().validation.total_clicks
    return Finding(
        f"{held_out:,} validation clicks for {train:,} training clicks, {held_out / train:.1%}.",
        held_out / train,
        limit=VALIDATION_SHARE,
        tolerance=0.01,
        reason="C is chosen by the unclipped weighted estimate, for naive by its own.",
    )


def _draws(_: Lab) -> Finding:
    draws = Settings().draws
    return Finding(
        f"{draws} independent click logs by default.",
        float(draws),
        limit=5.0,
        reason="The paper averages five for its small data sets and does not say which those are; "
        "here every number is a mean over logs, with its interval.",
    )


def _skyline(lab: Lab) -> Finding:
    skyline = lab.world().baselines["skyline"].risk
    weighted = lab.trained(0, "propensity").test.risk
    return Finding(
        f"Test risk {skyline:.2f} with all labels, {weighted:.2f} from "
        f"{lab.logs().train.total_clicks:,} weighted clicks.",
        weighted - skyline,
        ">",
    )


# The figures.

ASSUMED = (0.0, 0.5, 1.0, 1.5, 2.0)
FEW, MANY = 17_000, 1_700_000


def _production_is_flat(_: Lab) -> Finding:
    result = shipped_result("learning-curve", LOSSES[DEFAULT_LOSS])
    levels = {
        value
        for point in result.plan.points
        for value in result.losses("production", point).values()
    }
    return Finding(
        f"Production's loss at {len(result.plan.points)} numbers of clicks: "
        f"{', '.join(f'{level:.3f}' for level in sorted(levels))}. "
        f"{study_settings('learning-curve')}",
        max(levels) - min(levels),
        reason=study_source(),
    )


def _tau_one_is_not_always_found(_: Lab) -> Finding:
    """How often validation chose tau = 1 at the fewest clicks."""
    result = shipped_result("learning-curve", LOSSES[DEFAULT_LOSS])
    first = result.plan.points[0]
    found = [result.result("clipped", first, d) for d in range(result.plan.base.draws)]
    chosen = [cell.clip for cell in found if cell is not None]
    hits = sum(clip == 1.0 for clip in chosen)
    return Finding(
        f"At n = {first.x:,.0f} validation chose τ = 1 in {hits} of {len(chosen)} click logs. "
        f"{study_settings('learning-curve')}",
        hits / len(chosen),
        "<",
        1.0,
        reason=study_source(),
    )


def _naive_rewards_production(lab: Lab) -> Finding:
    """Expected naive risks of production and skyline beside their true ones."""
    relevance, presented, offsets = lab.world().train.shown
    pi = lab.users.click_probability(relevance, presented)
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
    relevance, presented, offsets = lab.world().train.shown
    pi = lab.users.click_probability(relevance, presented)
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
        f"Kendall's τ of the expected weighted risk with the true one: {listed}.",
        taus[1.0] - others,
        ">",
    )


def _time_does_not_grow(lab: Lab) -> Finding:
    """Seconds to train at a hundred times the clicks over those at the fewer."""
    corpus = lab.world().train.corpus
    seconds = {}
    for clicks in (FEW, MANY):
        log = simulate_logs(lab.world(), lab.settings.with_values(clicks=clicks), 0).train
        weights = ips_weights(log, lab.users.curve)
        # The better of two: the first of a process also sets up what all later ones use.
        seconds[clicks] = min(_seconds_to_fit(corpus, weights) for _ in range(2))
    return Finding(
        f"{seconds[FEW]:.2f} s with {FEW:,} clicks and {seconds[MANY]:.2f} s with {MANY:,}.",
        seconds[MANY] / seconds[FEW],
        "<",
        MANY / FEW,
        reason="The only number here that differs from run to run. Holds if time grows less than "
        "in proportion; clicks are counted by document, so that it hardly grows.",
    )


def _seconds_to_fit(corpus: Corpus, weights: Weights) -> float:
    start = time.perf_counter()
    fit_ranker(corpus, weights, cost=COST)
    return time.perf_counter() - start


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "S2": _fifteen_percent,
        "S2b": _candidates,
        "S3": _production,
        "S4": _whole_lists,
        "S5": _power_law,
        "S6b": _share,
        "S6c": _shares_agree,
        "S7": _validation_clicks,
        "S8": _draws,
        "S9": _skyline,
        "F0.scale": _time_does_not_grow,
        "F1.production": _production_is_flat,
        "F1.tau": _tau_one_is_not_always_found,
        "F3.naive": _naive_rewards_production,
        "F4.order": _right_exponent_orders_best,
    }
)
"""How the claims are measured, by key."""
