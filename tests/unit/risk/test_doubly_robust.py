"""Direct and doubly robust, enumerated in fractions: exact bias, where it is 0, what breaks it."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from tests.meaning import refused
from tests.unit.risk.test_every_estimator import exactly
from ultr_core.propensity import ESTIMATORS, Belief, RowNumbers, weights_of_log
from ultr_core.risk import expected_delta, variance_of_delta
from ultr_core.users import ClickLog, PositionModel, TableCurve

CURVE = TableCurve((1.0, 0.5, 0.25, 0.125))
SHOWN, OFFSETS = np.array([2, 1, 4, 3]), np.array([0, 4])
ROWS = ClickLog.presented(SHOWN, OFFSETS)
RELEVANCE = np.array([True, False, True, True])
FITS = {
    "none": np.zeros(4),
    "poor": np.array([0.5, 0.375, 0.625, 0.25]),
    "good": np.array([0.875, 0.125, 0.875, 0.875]),
    "right": RELEVANCE.astype(float),
}
ROBUST, DIRECT = ESTIMATORS["doubly-robust"], ESTIMATORS["direct"]
RANKINGS = [np.array(ranks) for ranks in permutations((1, 2, 3, 4))]


def true_risk(ranks: np.ndarray) -> int:
    return int(ranks @ RELEVANCE)


def bias_of(numbers: RowNumbers, ranks: np.ndarray) -> Fraction:
    pi = PositionModel(CURVE).click_probability(RELEVANCE, SHOWN)
    return exactly(numbers, pi, ranks)[0] - true_risk(ranks)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("clip", [0.0, 0.25, 1.0])
def test_its_bias_is_what_the_fit_leaves_of_that_of_clipping(fit: str, clip: float) -> None:
    """Sum of rank (r - r_hat) (p / max(tau, p) - 1): exactly, for all 24 rankings."""
    p, fitted = CURVE.at(SHOWN), FITS[fit]
    numbers = ROBUST.weigh(ROWS, Belief(CURVE, clip, fitted))
    of_one = (RELEVANCE - fitted) * (p / np.maximum(p, clip) - 1.0)
    worst = Fraction(0)
    for ranks in RANKINGS:
        bias = bias_of(numbers, ranks)
        assert bias == sum(int(k) * Fraction(x) for k, x in zip(ranks, of_one, strict=True))
        worst = max(worst, abs(bias))
    assert (worst == 0) is (clip == 0.0 or fit == "right")


def test_a_better_fit_has_less_bias_and_all_have_the_spread_of_clipping() -> None:
    pi = PositionModel(CURVE).click_probability(RELEVANCE, SHOWN)
    found = {}
    for fit, fitted in FITS.items():
        numbers = ROBUST.weigh(ROWS, Belief(CURVE, 0.25, fitted))
        found[fit] = max(abs(bias_of(numbers, ranks)) for ranks in RANKINGS)
        for ranks in RANKINGS[::5]:
            mean, spread = exactly(numbers, pi, ranks)
            assert expected_delta(pi, numbers, ranks, OFFSETS)[0] == mean
            assert variance_of_delta(pi, numbers, ranks, OFFSETS)[0] == spread
            assert spread == sum(
                (int(k) / Fraction(d)) ** 2 * Fraction(x) * (1 - Fraction(x))
                for k, d, x in zip(ranks, np.maximum(CURVE.at(SHOWN), 0.25), pi, strict=True)
            )
    assert found["none"] > found["poor"] > found["good"] > found["right"] == 0


def test_without_a_fit_it_is_clipped_and_without_clipping_it_is_ips() -> None:
    clipped = ESTIMATORS["clipped"].weigh(ROWS, Belief(CURVE, 0.25))
    found = ROBUST.weigh(ROWS, Belief(CURVE, 0.25, FITS["none"]))
    assert np.array_equal(found.u, clipped.u) and not found.counts_impressions
    for fitted in FITS.values():
        for clip in (0.0, 0.125):  # tau below every propensity
            found = ROBUST.weigh(ROWS, Belief(CURVE, clip, fitted))
            assert np.array_equal(found.u, 1.0 / CURVE.at(SHOWN))
            assert not found.counts_impressions  # v = 0 to the last bit: a fixed list leaves one


def test_the_direct_method_is_as_biased_as_its_fit() -> None:
    for fitted in FITS.values():
        numbers = DIRECT.weigh(ROWS, Belief(CURVE, 0.25, fitted))
        for ranks in RANKINGS[::5]:
            left = zip(ranks, fitted - RELEVANCE, strict=True)
            assert bias_of(numbers, ranks) == sum(int(k) * Fraction(x) for k, x in left)
            pi = PositionModel(CURVE).click_probability(RELEVANCE, SHOWN)
            assert exactly(numbers, pi, ranks)[1] == 0


def test_a_wrong_curve_is_not_covered_by_a_right_fit() -> None:
    """A share f of p believed, 1/2 below rank 1: r_hat (1 - f) p / D more for each document."""
    believed = TableCurve((1.0, 0.25, 0.125, 0.0625))
    p, share = CURVE.at(SHOWN), np.where(SHOWN == 1, 1.0, 0.5)
    for fit, clip in product(("right", "poor"), (0.0, 0.125)):
        fitted, d = FITS[fit], np.maximum(believed.at(SHOWN), clip)
        numbers = ROBUST.weigh(ROWS, Belief(believed, clip, fitted))
        of_one = (RELEVANCE - fitted) * (p / d - 1.0) + fitted * p * (1.0 - share) / d
        biases = [bias_of(numbers, ranks) for ranks in RANKINGS]
        for ranks, bias in zip(RANKINGS, biases, strict=True):
            assert bias == sum(int(k) * Fraction(x) for k, x in zip(ranks, of_one, strict=True))
        assert max(map(abs, biases)) >= 4


def test_weights_are_never_negative_and_clicks_alone_are_refused() -> None:
    for clicks in product((0, 1), repeat=4):
        log = ClickLog(np.arange(4), SHOWN, np.ones(4, int), clicks, 1, OFFSETS)
        for fitted in FITS.values():
            numbers = ROBUST.weigh(log, Belief(CURVE, 0.25, fitted))
            assert (log.clicks * numbers.u + numbers.v >= 0).all()
    only = ClickLog([0, 1], [2, 1], [3, 1], [3, 1], 4, OFFSETS)
    for estimator in (ROBUST, DIRECT):
        with refused("clicks_only"):
            weights_of_log(only, estimator.weigh(only, Belief(CURVE, 0.75, FITS["poor"])))
        with refused("relevance", 4):
            estimator.weigh(ROWS, Belief(CURVE, 0.25))
        with refused("relevance", 4):
            estimator.weigh(ROWS, Belief(CURVE, 0.25, np.ones(3)))


def test_a_rank_that_nobody_examines_counts_nothing_without_a_click() -> None:
    gone = TableCurve((1.0, 0.5, 0.25, 0.0))
    numbers = ROBUST.weigh(ROWS, Belief(gone, 0.0, FITS["poor"])).on_log(ROWS)
    assert numbers.v.tolist() == [0.0] * 4


def test_the_threshold_falls_with_the_clicks() -> None:
    def at(clicks: int) -> float:
        log = ClickLog([0], [1], [2 * clicks], [clicks], 2 * clicks, [0, 1])
        (clip,) = ROBUST.clips_for(log)
        return clip

    assert [at(n) for n in (1, 1_000, 170_000)] == [1.0, 0.196, 0.054]
    assert at(10**15) == 0.001
