from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultr_core.figures.axes import round_up, stable_range

finite = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(finite, min_size=1, max_size=30))
def test_range_holds_every_value(values: list[float]) -> None:
    low, high = stable_range(values)
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    assert low - slack <= min(values)
    assert max(values) <= high + slack
    assert low < high or low == pytest.approx(high)


def test_range_stays_while_data_move_a_little() -> None:
    assert stable_range([7.35, 9.40]) == stable_range([7.31, 9.44])


def test_range_holds_what_is_included() -> None:
    low, high = stable_range([1.0, 2.0], include=[-3.0])
    assert low <= -3.0
    assert high >= 2.0


@given(st.floats(1e-6, 1e6))
def test_round_up_is_above_and_not_far(value: float) -> None:
    rounded = round_up(value)
    assert value * (1 - 1e-9) <= rounded <= value * 1.51
