"""Every estimator of the registry: exact moments by enumeration, and the digits that it has had."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ultr_core.errors import InputError
from ultr_core.feedback import ClickLog, PositionModel, PowerLaw, TableCurve, simulate_counts
from ultr_core.propensity import (
    CLIP_GRID,
    ESTIMATORS,
    Belief,
    Estimator,
    RowNumbers,
    estimator_named,
    weights_of_log,
)
from ultr_core.risk import (
    estimate_by,
    estimate_risk,
    estimate_risks,
    expected_delta,
    expected_risk,
    true_risk,
    variance_of_delta,
    variance_of_risk,
)

EVERY = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)

# Powers of two, so that floats are exact and fractions equal them to the last bit.
CURVE = TableCurve((1.0, 0.5, 0.25, 0.125))
NOISY = PositionModel(CURVE, 1.0, 0.25)
CLEAN = PositionModel(CURVE, 1.0, 0.0)
BELIEF = Belief(CURVE, 0.25)
PRESENTED, JUDGED = np.array([2, 1, 4, 3]), np.array([1, 3, 2, 4])
RELEVANCE, OFFSETS = np.array([True, False, True, True]), np.array([0, 4])
ROWS = ClickLog.presented(PRESENTED, OFFSETS)


def exactly(numbers: RowNumbers, pi: np.ndarray, ranks: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean and variance of one presentation, over every click pattern, in fractions."""
    u, v, chance = ([Fraction(x) for x in a.tolist()] for a in (numbers.u, numbers.v, pi))
    mean = square = Fraction(0)
    for clicks in product((0, 1), repeat=len(chance)):
        weight = Fraction(1)
        for c, p in zip(clicks, chance, strict=True):
            weight *= p if c else 1 - p
        total = sum(int(k) * (a * c + b) for k, a, b, c in zip(ranks, u, v, clicks, strict=True))
        mean += weight * total
        square += weight * total**2
    return mean, square - mean**2


@EVERY
@pytest.mark.parametrize("users", [NOISY, CLEAN], ids=["noisy", "clean"])
def test_closed_forms_are_the_enumeration(estimator: Estimator, users: PositionModel) -> None:
    """Of the sum; what divides a normalised one is the same sum with every rank 1."""
    pi = users.click_probability(RELEVANCE, PRESENTED)
    numbers = estimator.numbers(ROWS, BELIEF)
    for ranks in (JUDGED, np.ones(4, int)):
        mean, variance = exactly(numbers, pi, ranks)
        assert expected_delta(pi, numbers, ranks, OFFSETS)[0] == float(mean)
        assert variance_of_delta(pi, numbers, ranks, OFFSETS)[0] == float(variance)


UNBIASED = {"naive": {"naive", "ips", "clipped", "snips"}, "right": {"ips", "snips"}}
"""Keys that are right without position bias, and with it where the propensities are right."""


@EVERY
def test_it_is_unbiased_where_it_says_so_and_nowhere_else(estimator: Estimator) -> None:
    assert estimator.assumes and estimator.source and estimator.words and estimator.counts
    truth = true_risk(JUDGED, RELEVANCE, OFFSETS)
    flat = PositionModel(PowerLaw(0.0))
    for users, belief, right in (
        (flat, Belief(flat.curve, 0.25), UNBIASED["naive"]),
        (CLEAN, BELIEF, UNBIASED["right"]),
        (NOISY, BELIEF, set()),
    ):
        pi = users.click_probability(RELEVANCE, PRESENTED)
        numbers = estimator.numbers(ROWS, belief)
        expected = expected_risk(pi, numbers, JUDGED, OFFSETS)
        assert bool(expected == truth) is (estimator.key in right), users


def test_clipping_at_0_is_ips_and_at_1_is_naive() -> None:
    clipped = ESTIMATORS["clipped"]
    for clip, same in ((0.0, "ips"), (1.0, "naive")):
        ours = clipped.numbers(ROWS, replace(BELIEF, clip=clip))
        assert np.array_equal(ours.u, ESTIMATORS[same].numbers(ROWS, BELIEF).u)
    assert clipped.clips == CLIP_GRID
    assert clipped.label_at(0.1) == "Clipped, τ = 0.1"
    assert ESTIMATORS["ips"].label_at(0.1) == "IPS"


def bigger() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, ClickLog]:
    rng = np.random.default_rng(11)
    sizes = rng.integers(2, 20, 150)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    presented = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    judged = np.stack([np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(2)])
    relevance = rng.random(offsets[-1]) < 0.25
    pi = PositionModel(PowerLaw(0.7), 0.9, 0.1).click_probability(relevance, presented)
    return offsets, presented, judged, pi, simulate_counts(pi, presented, offsets, 800, 29)


# Recorded before estimators gave two numbers a row: values and standard errors of two rankers,
# their expectations and variances at 800 draws. Other processors may round powers differently.
RECORDED = {
    "naive": (
        (6.57875, 6.69125), (0.30938618111288646, 0.3180212435730501),
        (6.847641767718367, 6.876185156478897), (0.09900023824125757, 0.10242090319921228),
    ),
    "ips": (
        (20.376155736985705, 20.63033499304406), (1.22673397364927, 1.248152447176822),
        (21.320666666666654, 21.87533333333332), (1.5290554651229582, 1.6520552309885081),
    ),
    "clipped": (
        (15.748071385947076, 15.828687431674615), (0.8325992791538552, 0.8417129527294329),
        (16.480259812757104, 16.66486872363077), (0.7268146126746865, 0.7598962861629478),
    ),
}  # fmt: skip
RECORDED_SNIPS = (7.144622380537777, 0.2058369898123419)


@pytest.mark.parametrize("key", RECORDED)
def test_it_gives_the_numbers_that_it_has_always_given(key: str) -> None:
    offsets, presented, judged, pi, log = bigger()
    belief = Belief(PowerLaw(0.7), 0.3)
    numbers = ESTIMATORS[key].numbers(log, belief)
    p = PowerLaw(0.7).at(log.rank)
    q = {"naive": np.ones(p.size), "ips": p, "clipped": np.maximum(p, 0.3)}[key]
    found = estimate_risks(log, judged, numbers)
    by_propensities = estimate_risks(log, judged, q)
    assert np.array_equal(found.value, by_propensities.value)
    assert np.array_equal(found.standard_error, by_propensities.standard_error)
    shown = ESTIMATORS[key].numbers(ClickLog.presented(presented, offsets), belief)
    ours = (
        found.value,
        found.standard_error,
        expected_risk(pi, shown, judged, offsets),
        variance_of_risk(pi, shown, judged, offsets, 800),
    )
    for computed, recorded in zip(ours, RECORDED[key], strict=True):
        assert computed == pytest.approx(recorded, rel=1e-12)
    # What a learner sees is the product of before, to the last bit.
    assert np.array_equal(weights_of_log(log, numbers).values, log.clicks * (1.0 / q))
    of_one = estimate_by(ESTIMATORS[key], log, judged[0], belief)
    assert (of_one.value, of_one.standard_error) == (found.value[0], found.standard_error[0])


def test_the_registry_is_what_readers_know() -> None:
    assert list(ESTIMATORS)[:4] == ["naive", "ips", "clipped", "snips"]
    assert [key for key, one in ESTIMATORS.items() if one.normalised] == ["snips"]
    assert all(key == estimator.key for key, estimator in ESTIMATORS.items())
    with pytest.raises(InputError, match="'ipsx' is no estimator; choose from naive, ips"):
        estimator_named("ipsx")
    assert estimator_named("ips") is ESTIMATORS["ips"]


def test_a_normalised_estimate_is_the_sum_over_the_summed_weight() -> None:
    _, presented, judged, _, log = bigger()
    belief = Belief(PowerLaw(0.7))
    found = estimate_by(ESTIMATORS["snips"], log, judged[0], belief)
    weight = log.clicks / PowerLaw(0.7).at(presented)
    assert found.value == pytest.approx(judged[0] @ weight / weight.sum(), rel=1e-13)
    assert (found.value, found.standard_error) == pytest.approx(RECORDED_SNIPS, rel=1e-12)
    risk = estimate_by(ESTIMATORS["ips"], log, judged[0], belief)
    assert risk == estimate_risk(log, judged[0], PowerLaw(0.7).at(log.rank))
