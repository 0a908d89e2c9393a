"""Claims of sections 7.6 and 8: the live experiment, its table, and what is left for later."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import REACH, SWAP_SESSIONS, Measure, swap_counts
from ultr_core.findings import Finding
from ultr_core.lab import Lab
from ultr_core.lab.interleaving import exact_verdicts, one_random_click
from ultr_core.lab.live import PAPER_CLICKS, PAPER_RESULTS, LiveDesign
from ultr_core.risk.sign_test import sign_test
from ultr_core.users import PowerLaw
from ultr_core.words import counted

TRAINING_CLICKS, VALIDATION_CLICKS = 5_437, 1_755
P_VALUES, RELATIVE_RISKS = (0.001, 0.006), (0.71, 0.77)
SMALLEST, SMALLEST_RANK = 0.12, 21


def _click_counts(_: Lab) -> Finding:
    design = LiveDesign()
    total = TRAINING_CLICKS + VALIDATION_CLICKS
    return Finding(
        f"{TRAINING_CLICKS:,} + {VALIDATION_CLICKS:,} = {total:,}; "
        f"{TRAINING_CLICKS / total:.1%} "
        f"of the clicks in {design.training_days / design.days:.1%} of the days.",
        float(total - PAPER_CLICKS),
    )


def _all_days(lab: Lab) -> Finding:
    clicks = lab.live().clicks
    share = clicks["training"] / (clicks["training"] + clicks["validation"])
    design = lab.live().design
    return Finding(
        f"Simulated: {clicks['training']:,} clicks in the first {design.training_days} days, "
        f"{clicks['validation']:,} in the last {design.validation_days}; both rankers are "
        "retrained on all of them.",
        share,
        limit=design.training_days / design.days,
        tolerance=0.02,
    )


def _control_share(lab: Lab) -> Finding:
    counts, ranks = swap_counts(lab), LiveDesign().last_rank
    control = int(counts.swapped.impressions[counts.landmark - 1])
    share, expected = control / counts.sessions, 1 / ranks
    error = math.sqrt(expected * (1 - expected) / counts.sessions)
    return Finding(
        f"{control:,} of {SWAP_SESSIONS:,} presentations swapped rank 1 with itself, "
        f"{share:.2%}; "
        f"1/{ranks} is {expected:.2%}.",
        share,
        limit=expected,
        tolerance=REACH * error,
    )


def _milder_than_one(_: Lab) -> Finding:
    eta = -math.log(SMALLEST) / math.log(SMALLEST_RANK)
    there = float(PowerLaw(1.0).at(SMALLEST_RANK))
    return Finding(
        f"{SMALLEST:g} at rank {SMALLEST_RANK} is (1/r)^η with η = {eta:.2f}; η = 1 would give "
        f"{there:.3f}.",
        SMALLEST - there,
        ">",
        reason="The curve itself is that of the paper's engine; here it is taken as printed.",
    )


def _last_value(lab: Lab) -> Finding:
    curve, last = lab.live().curve.curve, lab.live().design.last_rank
    values = curve.at(np.array([last, last + 1, last + 20]))
    return Finding(
        f"Measured curve at ranks {last}, {last + 1} and {last + 20}: "
        f"{', '.join(f'{value:.3f}' for value in values)}.",
        float(np.ptp(values)),
    )


def _ties_apart(lab: Lab) -> Finding:
    contest = lab.live().contests[0]
    test = contest.test
    total = test.wins + test.losses + test.ties + contest.without_click
    return Finding(
        f"Simulated: {counted(test.wins, 'win')}, {counted(test.losses, 'loss', 'losses')}, "
        f"{counted(test.ties, 'tie')} and "
        f"{contest.without_click:,} queries without a click are all {contest.queries:,}.",
        float(total - contest.queries),
    )


def _totals(_: Lab) -> Finding:
    sums = [sum(row) for row in PAPER_RESULTS.values()]
    tests = [sign_test(*row) for row in PAPER_RESULTS.values()]
    least = min(test.wins - test.losses for test in tests)
    return Finding(
        f"{sums[0]} and {sums[1]} queries; the weighted ranker wins {tests[0].wins} to "
        f"{tests[0].losses} and {tests[1].wins} to {tests[1].losses}.",
        float(least),
        ">",
        reason="Wins and losses are the paper's table; nothing was run again with its users.",
    )


def _simulated_contest(number: int, lab: Lab) -> Finding:
    contest = lab.live().contests[number]
    return Finding(
        contest.sentence,
        contest.test.win_share,
        ">",
        0.5,
        interval=(contest.test.low, contest.test.high),
        reason="Users of the position model, on this lab's corpus; the live page's default.",
    )


def _p_values(_: Lab) -> Finding:
    found = [sign_test(*row).p_value for row in PAPER_RESULTS.values()]
    return Finding(
        f"Exact two-tailed, ties dropped: {found[0]:.4g} and {found[1]:.4g}, printed as "
        f"{P_VALUES[0]:g} and {P_VALUES[1]:g}.",
        _off_print(found, P_VALUES, 3),
        tolerance=1e-9,
    )


def _relative_risks(_: Lab) -> Finding:
    found = [sign_test(*row).relative_risk for row in PAPER_RESULTS.values()]
    return Finding(
        f"Losses among the decided, over one half: {found[0]:.3f} and {found[1]:.3f}, printed as "
        f"{RELATIVE_RISKS[0]:g} and {RELATIVE_RISKS[1]:g}.",
        _off_print(found, RELATIVE_RISKS, 2),
        tolerance=1e-9,
    )


def _off_print(found: Iterable[float], printed: Iterable[float], decimals: int) -> float:
    """The largest distance of rounded numbers from the printed ones."""
    return max(abs(round(a, decimals) - b) for a, b in zip(found, printed, strict=True))


def _win_share(number: int, _: Lab) -> Finding:
    test = sign_test(*tuple(PAPER_RESULTS.values())[number])
    return Finding(
        f"Win share {test.win_share:.3f}; power at that share {test.power:.2f}; p times two, for "
        f"two tests, {2 * test.p_value:.4f}.",
        test.win_share,
        ">",
        0.5,
        interval=(test.low, test.high),
        reason="From the paper's counts, exact 95% interval.",
    )


def _interleaving_errs(_: Lab) -> Finding:
    verdict = exact_verdicts("abc", "bca", one_random_click)
    return Finding(
        f"A = abc, B = bca and one click at random: B wins with probability {verdict.b}.",
        float(verdict.b),
        ">",
        0.5,
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "L2": _click_counts,
        "L3": _all_days,
        "L4": _control_share,
        "L6": _milder_than_one,
        "L7": _last_value,
        "L8": _ties_apart,
        "L8b": _interleaving_errs,
        "L9": _totals,
        "L9b": partial(_simulated_contest, 0),
        "L9c": partial(_simulated_contest, 1),
        "L10": _p_values,
        "L11": _relative_risks,
        "L12a": partial(_win_share, 0),
        "L12b": partial(_win_share, 1),
    }
)
"""How the claims are measured, by key."""
