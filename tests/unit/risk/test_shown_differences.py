"""A difference beside its two terms is the difference of what is shown."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultr_core.risk import Estimate, difference_with_reach, plus_minus, shown_difference

VALUES = st.floats(0.0, 500.0)


@given(VALUES, VALUES, st.integers(0, 4))
def test_it_is_what_a_reader_works_out(first: float, second: float, decimals: int) -> None:
    read = Decimal(f"{first:.{decimals}f}") - Decimal(f"{second:.{decimals}f}")
    assert Decimal(f"{shown_difference(first, second, decimals):.{decimals}f}") == read


@given(VALUES, VALUES, st.floats(0.0, 20.0))
def test_texts_add_up_and_hide_no_difference(first: float, second: float, reach: float) -> None:
    shown = difference_with_reach(first, second, reach)
    margin = Decimal(shown.margin.split(" ")[0])
    assert abs(Decimal(shown.first) - Decimal(shown.second)) == margin
    if abs(first - second) > max(reach, 1e-9):
        assert margin > 0


def test_rounding_each_on_its_own_would_often_not_add_up() -> None:
    rng = np.random.default_rng(5)
    pairs = rng.uniform(5, 20, (2_000, 2))
    alone = sum(
        Decimal(f"{a:.2f}") - Decimal(f"{b:.2f}") != Decimal(f"{a - b:.2f}") for a, b in pairs
    )
    assert alone > 200
    for a, b in pairs:
        texts = difference_with_reach(a, b, 0.3)
        assert texts.margin.endswith("± 0.30")
        assert abs(Decimal(texts.first) - Decimal(texts.second)) == Decimal(texts.margin[:-7])


def test_decimals_are_those_of_the_interval() -> None:
    for value, reach in ((1.0, 0.3), (1.0, 0.003), (0.0684, 0.0031), (2.5, 0.0)):
        text = difference_with_reach(10.0 + value, 10.0, reach).margin
        assert text == plus_minus(value, reach)


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(0.1, 0.3, 1), (0.0, 0.3, 0), (-0.1, 0.3, 0), (-0.3, 0.0, 0), (-0.3, -0.1, -1)],
)
def test_the_side_of_an_interval(low: float, high: float, side: int) -> None:
    assert Estimate((low + high) / 2, 0.05, low, high, 9, 9.0).side == side
