"""Claims of sections 7.2 to 7.5: the four figures, and the formulas behind them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ultr_core.claims import entry as links
from ultr_core.claims.common import study_claims, study_settings, study_source
from ultr_core.claims.entry import (
    Entry,
    from_proof,
    from_study_claim,
    not_checkable,
)
from ultr_core.corpus import Corpus
from ultr_core.findings import Finding
from ultr_core.lab import Lab, simulate_logs
from ultr_core.learners import fit_ranker
from ultr_core.propensity import Weights, ips_weights
from ultr_core.risk import expected_risk, kendall_tau, misspecified_expectation
from ultr_core.studies import DEFAULT_LOSS, LOSSES, RULES, STUDIES, shipped_result
from ultr_core.users import PowerLaw

ASSUMED = (0.0, 0.5, 1.0, 1.5, 2.0)
FEW, MANY = 17_000, 1_700_000
COST = 10.0

_PLACES = {
    "learning-curve": links.LEARNING_CURVES,
    "bias": links.robustness("bias"),
    "noise": links.robustness("noise"),
    "misspecification": links.robustness("misspecification"),
}
_ELSEWHERE = ("skip-above-reverses",)  # a claim of section 1, on the same study


def _judged(study: str, key: str, _: Lab) -> Finding:
    return from_study_claim(study_claims(study)[key], study_source(), study_settings(study))


def _on_figures() -> tuple[Entry, ...]:
    """The claims that the studies judge, one entry each."""
    entries = []
    for study, place in _PLACES.items():
        figure = STUDIES[study].figure
        for rule in RULES[study]:
            if rule.key not in _ELSEWHERE:
                measure: Callable[[Lab], Finding] = partial(_judged, study, rule.key)
                ours = "not printed" in rule.statement
                entries.append(
                    Entry(
                        (f"F{figure}.{rule.key}",), rule.section, f"figure {figure}",
                        rule.statement, f"Paper-scale study. {rule.test}", measure, *place,
                        ours=ours,
                    )
                )  # fmt: skip
    return tuple(entries)


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
    taus = {
        eta: kendall_tau(
            misspecified_expectation(
                lab.users, PowerLaw(eta), relevance, presented, lab.family().ranks, offsets
            ),
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


ENTRIES = (
    Entry(("F0.scale",), "Abstract", "text", "Training scales to many clicks.",
          f"Seconds to train with {FEW:,} and with {MANY:,} clicks, the better of two runs each.",
          _time_does_not_grow,
          *links.lab()),
    Entry(("F0.levels",), "7.2", "figures 1 to 4", "The levels of the curves in the "
          "figures.", "Neither text nor tables print them.", not_checkable(
              "The figures' values are not printed, and Yahoo's data are not at hand; shapes are "
              "compared instead."), *links.LEARNING_CURVES),
    *_on_figures(),
    Entry(("F1.production",), "7.2", "figure 1", "Production is a horizontal line.",
          "Its loss at every point of the grid.", _production_is_flat, *links.LEARNING_CURVES),
    Entry(("F1.tau",), "7.2", "figure 1", "With very few clicks validation does not reliably "
          "choose τ = 1.", "The τ that was chosen in each click log.", _tau_one_is_not_always_found,
          *links.LEARNING_CURVES),
    Entry(("F1.clipped",), "7.2", "ours", "Clipping lowers the estimate by a known bias and its "
          "variance by a known factor.", "Line by line, enumerated in fractions.",
          from_proof("clipped-moments"), *links.derivation("clipped-moments"), ours=True),
    Entry(("F1.crossing",), "7.2", "ours", "Naive beats weighted at first because of its variance; "
          "where they cross is known.", "Line by line on the small query.",
          from_proof("overtaking"), *links.derivation("overtaking"), ours=True),
    Entry(("F1.naive",), "7.2", "ours", "What the naive risk settles at has a closed form.",
          "Line by line, enumerated.", from_proof("naive-expectation"),
          *links.derivation("naive-expectation"), ours=True),
    Entry(("F3.naive",), "7.4", "text", "The naive learner is pulled towards the ranking that was "
          "shown.", "Expected naive risk of production and of the better skyline.",
          _naive_rewards_production, *links.lab()),
    Entry(("F4.expectation",), "7.5", "ours", "What a wrong curve does to the risk has a closed "
          "form.", "Line by line, enumerated.", from_proof("misspecified-expectation"),
          *links.derivation("misspecified-expectation", "wrong-curve"), ours=True),
    Entry(("F4.order",), "7.5", "ours", "The right exponent orders rankers best, wrong ones worse "
          "on either side.", "Exact expectations of sixty rankers at five assumed η.",
          _right_exponent_orders_best, *links.robustness("misspecification"), ours=True),
)  # fmt: skip
"""Claims of sections 7.2 to 7.5, and the abstract's on scale."""
