"""Claims of sections 7.6 and 8: the live experiment, its table, and what is left for later."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    REACH,
    SWEEPS,
    Measure,
    Sizes,
    examined,
    printed,
    queries_of,
    sizes_of,
    swap_counts,
    sweep_seed,
    weighted_mean,
)
from ultr_core.findings import Finding
from ultr_core.lab import WORLD_FIELDS, Lab
from ultr_core.lab.interleaved_lists import Clicks, exact_verdicts, one_random_click
from ultr_core.lab.live import LiveDesign
from ultr_core.risk import interval_over_draws, kendall_tau
from ultr_core.risk.sign_test import SignTest, sign_test
from ultr_core.users import PowerLaw

SMALLEST_RANK = 21
LOGS = 10
"""Click logs of the comparison of click-DCG."""

JUDGED_TOP, JUDGED_BELOW = 5, 0.2
"""Every document down to this rank is judged, and this share of the others."""


def _click_counts(lab: Lab) -> Finding:
    """Share of the clicks in the training days, against the share of the days."""
    design, found = LiveDesign(), printed(lab)
    total = found.training_clicks + found.validation_clicks
    share, expected = found.training_clicks / total, design.training_days / design.days
    return Finding(
        f"{found.training_clicks:,} of {total:,} clicks ({share:.1%}) came in "
        f"{design.training_days} of {design.days} days ({expected:.1%}).",
        share,
        limit=expected,
        tolerance=REACH * math.sqrt(expected * (1 - expected) / total),
    )


def _control_share(lab: Lab) -> Finding:
    counts, ranks = swap_counts(lab), LiveDesign().last_rank
    control = int(counts.swapped.impressions[counts.landmark - 1])
    share, expected = control / counts.sessions, 1 / ranks
    error = math.sqrt(expected * (1 - expected) / counts.sessions)
    return Finding(
        f"{control:,} of {counts.sessions:,} presentations ({share:.2%}) swapped rank 1 with "
        f"itself; 1/{ranks} is {expected:.2%}.",
        share,
        limit=expected,
        tolerance=REACH * error,
    )


def _milder_than_one(lab: Lab) -> Finding:
    smallest = printed(lab).smallest
    eta = -math.log(smallest) / math.log(SMALLEST_RANK)
    there = float(PowerLaw(1.0).at(SMALLEST_RANK))
    return Finding(
        f"{smallest:g} at rank {SMALLEST_RANK} is (1/r)^η with η = {eta:.2f}; η = 1 would give "
        f"{there:.3f}.",
        smallest - there,
        ">",
        reason="The paper prints the smallest propensity; we infer that it belongs to rank 21.",
    )


def _last_value(lab: Lab) -> Finding:
    curve, last = lab.live().curve.curve, lab.live().design.last_rank
    values = curve.at(np.array([last, last + 1, last + 20]))
    return Finding(
        f"At ranks {last}, {last + 1} and {last + 20} the measured curve is "
        f"{', '.join(f'{value:.3f}' for value in values)}.",
        float(np.ptp(values)),
    )


def _tests(lab: Lab) -> list[SignTest]:
    return [sign_test(*row) for row in printed(lab).results.values()]


def _table(lab: Lab) -> Finding:
    """Lower end of the win share's interval, in the closer of the two contests."""
    tests = _tests(lab)
    listed = " and ".join(
        f"{t.wins} to {t.losses} (win share {t.win_share:.1%}, 95% interval {t.low:.1%} to "
        f"{t.high:.1%})"
        for t in tests
    )
    least = min(tests, key=lambda test: test.low)
    return Finding(
        f"The weighted ranker wins {listed}.",
        least.win_share,
        ">",
        0.5,
        interval=(least.low, least.high),
        reason="Exact intervals from the paper's counts; the experiment cannot be repeated. "
        f"Corrected for two tests, the p-values are {2 * tests[0].p_value:.4f} and "
        f"{2 * tests[1].p_value:.4f}.",
    )


def _p_values(lab: Lab) -> Finding:
    found, said = [test.p_value for test in _tests(lab)], printed(lab).p_values
    return Finding(
        f"Exact two-tailed tests without the ties give p = {found[0]:.4g} and {found[1]:.4g}; the "
        f"paper prints {said[0]:g} and {said[1]:g}.",
        _off_print(found, said, 3),
        tolerance=1e-9,
    )


def _relative_risks(lab: Lab) -> Finding:
    found, said = [test.relative_risk for test in _tests(lab)], printed(lab).relative_risks
    return Finding(
        f"The share of losses among decided queries, divided by one half, is {found[0]:.3f} and "
        f"{found[1]:.3f}; the paper prints {said[0]:g} and {said[1]:g}.",
        _off_print(found, said, 2),
        tolerance=1e-9,
    )


def _off_print(found: Iterable[float], printed: Iterable[float], decimals: int) -> float:
    """The largest distance of rounded numbers from the printed ones."""
    return max(abs(round(a, decimals) - b) for a, b in zip(found, printed, strict=True))


def interleaved_clicks(lab: Lab, claim: str) -> Clicks:
    """What the user of an interleaved list clicks, for one claim: one document at random."""
    return lab.remember(lab.cell("interleaved_clicks", (), claim), lambda _: one_random_click)


def _interleaving_errs(lab: Lab) -> Finding:
    verdict = exact_verdicts("abc", "bca", interleaved_clicks(lab, "L8b"))
    return Finding(
        f"With A = abc, B = bca and one click at random, B wins with probability {verdict.b}.",
        float(verdict.b),
        ">",
        0.5,
    )


def _sampled_judgments(lab: Lab) -> Finding:
    """Loss from judged samples, weighted by the chance of being judged, against all labels."""
    relevance, presented, _ = lab.world().train.shown
    design = np.where(presented <= JUDGED_TOP, 1.0, JUDGED_BELOW)
    judged = lab.remember(lab.cell("judged_share", WORLD_FIELDS), lambda _: design)
    values = relevance.astype(np.float64)
    revealed = values * sweep_seed(lab, 7).binomial(SWEEPS, judged)
    found = weighted_mean(lab, revealed, design, values)
    pooled = weighted_mean(lab, revealed, np.ones_like(design), values)
    return replace(
        found,
        sentence=f"The top {JUDGED_TOP} documents and {JUDGED_BELOW:.0%} of the rest are judged. "
        f"Over {SWEEPS:,} samples, the average loss is {found.value:.3f} with weights and "
        f"{pooled.value:.3f} if unjudged documents count as irrelevant; with all labels it is "
        f"{found.limit:.3f}.",
    )


def _click_dcg(lab: Lab) -> Finding:
    """Agreement of weighted and of plain click-DCG with DCG, over sixty rankers, by click log."""
    gain, offsets = 1 / np.log2(lab.family().ranks + 1.0), lab.world().train.shown[2]
    truth = gain @ lab.world().train.relevance
    logs = [lab.training_log(draw) for draw in range(LOGS)]
    clicks = [log.sum_by_document(log.clicks) for log in logs]
    weighted, plain = (
        np.array([kendall_tau(gain @ (found / q), truth) for found in clicks])
        for q in (examined(lab), 1.0)
    )
    gained = interval_over_draws(weighted - plain)
    return Finding(
        f"Kendall's τ with the true DCG of {len(truth)} rankers on {offsets.size - 1:,} queries, "
        f"averaged over {LOGS} click logs, is {weighted.mean():.3f} for click-DCG weighted by 1/p "
        f"and {plain.mean():.3f} for unweighted click-DCG; the 95% interval for the difference "
        f"is {gained.low:.3f} to {gained.high:.3f}.",
        gained.value,
        ">",
        interval=(gained.low, gained.high),
    )


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {"several logs": lambda lab: sizes_of(lab.training_log().total_clicks, queries_of(lab), LOGS)}
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "L2": _click_counts,
        "L4": _control_share,
        "L6": _milder_than_one,
        "L7": _last_value,
        "L8b": _interleaving_errs,
        "L9": _table,
        "L10": _p_values,
        "L11": _relative_risks,
        "9a": _sampled_judgments,
        "9b": _click_dcg,
    }
)
"""How the claims are measured, by key."""
