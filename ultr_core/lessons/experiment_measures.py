"""The numbers of the lessons on experiments: swaps that measure propensities, and the live test."""

from __future__ import annotations

import numpy as np

from ultr_core.errors import InputError
from ultr_core.lab import Lab
from ultr_core.lab.logs import true_curve
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.lessons.model import Found
from ultr_core.risk.sign_test import SignTest, sign_test

PAPER_RESULT = (87, 48, 83)
"""Wins, losses and ties against the production ranker, Section 7.6 of the paper."""

CLASS_RESULT = (9, 1, 5)
"""Wins, losses and ties of the exercise on the sign test."""


def rank_of_swap(lab: Lab) -> dict[str, float]:
    """The rank that lesson 8 is about, and how often it is truly looked at."""
    numbers = swapped(lab).numbers
    return {name: numbers[name] for name in ("rank", "real")}


def swapped(lab: Lab) -> Found:
    """Lesson 8: swapping two ranks measures examination; plain click rates do not."""
    design = SwapDesign()
    found = lab.swaps(design)
    rates = lab.swaps(design, "ctr")
    if found.estimate is None or rates.estimate is None:
        raise InputError(f"The swap experiment gives no curve here: {found.reason}")
    known = [p for p in found.estimate.points[1:10] if p.value and p.low and p.high]
    plain = {p.rank: p.value for p in rates.estimate.observed}
    known = [point for point in known if point.rank in plain]
    if not known:
        raise InputError("The swap experiment has too few clicks here; choose a larger corpus.")
    last, task = known[-1], known[min(2, len(known) - 1)]
    top = found.estimate.points[0]
    assert last.value and last.low and last.high and task.value
    # The ratio of all that was shown; the estimate compares lists of the same lengths.
    rate, top_rate = task.clicks / task.impressions, top.clicks / top.impressions
    naive, truth = plain[last.rank] or 0.0, float(true_curve(lab.settings).at(last.rank))
    numbers = {
        "rank": last.rank, "swap": last.value, "low": last.low, "high": last.high,
        "real": truth, "plain": naive, "sessions": design.sessions,
        "truth": 0 if naive < 0.9 * truth else 2 if naive > 1.1 * truth else 1,
        "task": task.rank, "shown": task.impressions, "clicked": task.clicks,
        "top_shown": top.impressions, "top_clicked": top.clicks,
        "rate": rate, "top_rate": top_rate,
        "clicks_only": task.clicks / top.clicks, "upside_down": top_rate / rate,
        "answer": rate / top_rate,
    }  # fmt: skip
    inside = "holds" if last.low <= truth <= last.high else "misses"
    return Found.told("swaps", numbers, inside=inside)


def live_test(lab: Lab) -> Found:
    """Lesson 9: the paper's counts, the sign test, and the same experiment on simulated users."""
    paper, mine = sign_test(*PAPER_RESULT), sign_test(*CLASS_RESULT)
    result = lab.live()
    contest = result.contests[0]
    outcomes = 2**mine.decided
    numbers = {
        "wins": paper.wins, "losses": paper.losses, "ties": paper.ties, "p": paper.p_value,
        "decided": paper.decided, "half": paper.decided / 2, "truth": _size_of(paper),
        "share": 100 * contest.test.win_share, "power": 100 * contest.paper_power,
        "queries": result.design.interleaved,
        "my_wins": mine.wins, "my_losses": mine.losses, "my_ties": mine.ties,
        "my_decided": mine.decided, "outcomes": outcomes,
        "as_uneven": mine.p_value * outcomes / 2,
        "one_sided": mine.p_value / 2, "only_this": 2 * mine.decided / outcomes,
        "only_this_side": mine.decided / outcomes, "answer": mine.p_value,
    }  # fmt: skip
    return Found.told("live", numbers, contest=contest.sentence)


def _size_of(test: SignTest) -> int:
    """Nearest of 1 in 10, 1 in 100, 1 in 1,000, by the logarithm."""
    return int(np.clip(round(-np.log10(test.p_value)), 1, 3)) - 1
