"""Intervals for a difference, with the true curve and with one estimated from the same log."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from scripts.curve_intervals import JUDGED, corpus, covered

LOGS = 60
FALSE_ALARM = 1e-4


def test_an_estimated_curve_costs_a_large_difference_its_coverage() -> None:
    """A part of the table of the guide; each limit raises a false alarm once in 10,000 logs."""
    of = corpus()
    found = [covered(seed, 2_000, of) for seed in range(LOGS)]
    held = {name: np.sum([each[name] for each in found], axis=0).tolist() for name in JUDGED}
    enough = int(binom.ppf(FALSE_ALARM, LOGS, 0.95))
    true, estimated = held["relevant first"]
    assert true >= enough
    assert estimated <= int(binom.isf(FALSE_ALARM, LOGS, 0.83))
    assert estimated < true
    assert min(held["less noisy"]) >= enough
