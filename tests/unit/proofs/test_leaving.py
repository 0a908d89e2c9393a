"""Users who leave after a click, enumerated in fractions, and the numbers of the estimators."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ultr_core.proofs.leaving import NUMBERS, LeavingCase
from ultr_core.proofs.repairs import CLIP, FITTED, RANKINGS, RELEVANCE
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk import leaving_moments
from ultr_core.users import LeavingUsers, TableCurve, rows_by_clicks_above

HALF, FIFTH = Fraction(1, 2), Fraction(1, 5)
SATISFIED = LeavingCase("hindsight", Fraction(4, 5), satisfied=Fraction(3, 10), assumed=HALF)
CURVE = TableCurve((1.0, 0.5, 1 / 3, 0.25))
ROWS = rows_by_clicks_above([1, 2, 3, 4], [0, 4])


@pytest.mark.parametrize(
    ("case", "error"),
    [
        (LeavingCase("hindsight"), "0"),
        (LeavingCase("hindsight", FIFTH), "0"),
        (LeavingCase("hindsight", eps_minus=Fraction(0)), "0"),
        (LeavingCase("hindsight", Fraction(1)), "0"),
        (LeavingCase("ips", Fraction(1)), "0"),
        (LeavingCase("ips"), "-281/200"),
        (LeavingCase("ips", FIFTH), "-6814/3125"),
        (LeavingCase("naive"), "-8043/1600"),
        (LeavingCase("hindsight", assumed=Fraction(3, 4)), "-1543/1620"),
        (SATISFIED, "-1643/3125"),
        # Nobody who clicked is seen again: all that lambda can do is nothing.
        (LeavingCase("hindsight", Fraction(0), assumed=Fraction(1)), "-267/100"),
        (LeavingCase("hindsight-doubly-robust"), "0"),
        (LeavingCase("hindsight-doubly-robust", clip=CLIP), "-2927/8000"),
    ],
)
def test_the_largest_error_is_this_fraction(case: LeavingCase, error: str) -> None:
    assert sum(case.law.values()) == 1
    assert case.largest_error == Fraction(error)
    if case.estimator == "ips" and case.continuation == 1:
        assert len(case.law) == 16


def test_the_law_of_one_list_by_hand() -> None:
    """p = 1, 1/2, ..., B and D relevant, no noise: B half of the time, then D behind lambda."""
    case = LeavingCase("naive", eps_minus=Fraction(0))
    assert case.law == {
        (0, 0, 0, 0): HALF * Fraction(3, 4),
        (0, 1, 0, 0): HALF * HALF + HALF * HALF * Fraction(3, 4),
        (0, 0, 0, 1): HALF * Fraction(1, 4),
        (0, 1, 0, 1): HALF * HALF * Fraction(1, 4),
        **dict.fromkeys((key for key in case.law if key[0] or key[2]), Fraction(0)),
    }


@pytest.mark.parametrize("stay", [FIFTH, HALF, Fraction(1)])
@pytest.mark.parametrize("key", ["naive", "ips", "hindsight"])
def test_the_recursion_is_the_enumeration(key: str, stay: Fraction) -> None:
    case = LeavingCase(key, stay)
    for new in RANKINGS[::3]:
        assert case.recursion(new) == case.moments(new)


def test_doubly_robust_is_right_with_a_right_fit_and_ignores_one_without_a_threshold() -> None:
    right = LeavingCase("hindsight-doubly-robust", clip=CLIP)
    right = replace(right, fitted=right.clicked)
    assert set(right.errors.values()) == {Fraction(0)}
    plain = LeavingCase("hindsight-doubly-robust", fitted=tuple(1 - f for f in FITTED))
    for document in range(4):
        for above in range(document + 1):
            ips = replace(plain, estimator="hindsight").numbers(document, above)
            assert plain.numbers(document, above) == ips


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("clip", [Fraction(0), CLIP])
def test_fractions_are_the_numbers_and_moments_of_the_estimators(key: str, clip: Fraction) -> None:
    """The registry's clipped divisor only where the estimator clips."""
    clip = clip if "clip" in ESTIMATORS[key].needs else Fraction(0)
    case = LeavingCase(key, clip=clip)
    fitted = np.array([float(f) for f in FITTED])
    numbers = ESTIMATORS[key].weigh(ROWS, Belief(CURVE, float(clip), fitted, continuation=0.5))
    for row, (document, above) in enumerate(zip(ROWS.document, ROWS.context, strict=True)):
        wanted = [float(number) for number in case.numbers(int(document), int(above))]
        assert [numbers.u[row], numbers.v[row]] == pytest.approx(wanted, rel=1e-12, abs=1e-14)
    users = LeavingUsers(CURVE, 1.0, 0.1, 0.5)
    for new in RANKINGS[::11]:
        found = leaving_moments(users, numbers, RELEVANCE, [1, 2, 3, 4], new, [0, 4])
        moments = [float(moment) for moment in case.moments(new)]
        assert [found.mean[0], found.variance[0]] == pytest.approx(moments, rel=1e-12)
        assert found.variance_of_risk(10) == pytest.approx(moments[1] / 10)
