"""Examination curves: the numbers of the paper and of its live experiment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.users import Cutoff, PowerLaw, TableCurve


@settings(derandomize=True, deadline=None)
@given(st.floats(0, 3), st.integers(1, 10**6))
def test_power_law_at_any_rank(eta, rank):
    assert PowerLaw(eta).at(rank) == pytest.approx(rank**-eta, rel=1e-12)
    assert PowerLaw(eta).at(1) == 1


def test_numbers_that_the_paper_states():
    assert PowerLaw(1).at(10) == pytest.approx(0.1)
    # 24 candidates shown in full: p_24 and the largest weights for eta = 1, 1.5 and 2.
    assert PowerLaw(1).at(24) == pytest.approx(0.042, abs=5e-4)
    assert [round(float(1 / PowerLaw(eta).at(24))) for eta in (1, 1.5, 2)] == [24, 118, 576]
    # The live engine's smallest propensity, about 0.12 at rank 21, is the curve of eta = 0.70.
    assert np.log(1 / 0.12) / np.log(21) == pytest.approx(0.70, abs=5e-3)
    assert PowerLaw(0.7).at(21) == pytest.approx(0.12, abs=2e-3)


def test_no_bias_means_one_everywhere():
    assert np.all(PowerLaw(0).at(np.arange(1, 5000)) == 1)


def test_a_table_is_normalised_and_carried_on():
    curve = TableCurve((0.8, 0.4, 0.2))
    assert curve.at([1, 2, 3, 4, 500]).tolist() == [1, 0.5, 0.25, 0.25, 0.25]
    assert TableCurve((1.0,)).at(np.array([[1, 7]])).tolist() == [[1, 1]]


def test_a_cutoff_ends_a_curve():
    curve = Cutoff(PowerLaw(1), 2)
    assert curve.at(np.array([1, 2, 3, 40], np.int32)).tolist() == [1, 0.5, 0, 0]
    assert mentions(curve.describe(), PowerLaw(1).describe(), "rank 2")
    assert "3 ranks" in TableCurve((1, 0.5, 0.2)).describe()


@pytest.mark.parametrize("curve", [PowerLaw(1.3), TableCurve((2, 1)), Cutoff(PowerLaw(1), 3)])
def test_curves_have_value_and_refuse_ranks_below_one(curve):
    assert curve == type(curve)(**vars(curve))
    assert hash(curve) == hash(type(curve)(**vars(curve)))
    assert curve.at(np.array([], dtype=int)).shape == (0,)
    for ranks in ([1, 0], [-3]):
        with refused("rank_from_1", "rank", ranks[-1]):
            curve.at(ranks)
    with refused("whole_numbers", "ranks", "1.5"):
        curve.at([1.5])


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: PowerLaw(-0.1), ("exponent",)),
        (lambda: PowerLaw(float("nan")), ("exponent",)),
        (lambda: TableCurve(()), ("empty_curve",)),
        (lambda: TableCurve((1, float("inf"))), ("", "inf", "rank", 2)),
        (lambda: TableCurve((1, -0.5)), ("", "-0.5", "rank", 2)),
        (lambda: TableCurve((0.5, 0.4, 0.6)), ("", "0.6", "rank", 3, "0.5")),
        (lambda: TableCurve((0.0, 0.0)), ("", 0, "rank", 1)),
        (lambda: Cutoff(PowerLaw(1), 0), ("cutoff", 0)),
    ],
)
def test_impossible_curves_are_refused(make, fault: tuple[object, ...]):
    with refused(*fault):
        make()


@pytest.mark.parametrize("ranks", [[np.nan], [np.inf], ["a"], None, [1j], [[1], [1, 2]], [1e30]])
@pytest.mark.parametrize("curve", [PowerLaw(1), TableCurve((1, 0.5)), Cutoff(PowerLaw(1), 3)])
def test_ranks_that_are_no_numbers_are_refused_by_every_curve(curve, ranks):
    with pytest.raises(InputError) as caught:
        curve.at(ranks)
    assert caught.value.about in {"array", "real_numbers", "whole_numbers"}
    assert mentions(caught.value, "ranks")


@pytest.mark.parametrize("value", [None, "x", 1j, [1], np.nan])
def test_parameters_that_are_no_numbers_are_refused(value):
    with refused("exponent", value):
        PowerLaw(value)
    with refused("cutoff", value):
        Cutoff(PowerLaw(1), value)
    with pytest.raises(InputError):
        TableCurve((1, value))
