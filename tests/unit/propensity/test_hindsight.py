"""Hindsight propensities are of users and ranks that can be."""

from __future__ import annotations

import math

import pytest

from tests.meaning import refused
from ultr_core.propensity.hindsight import hindsight_propensities
from ultr_core.users import PowerLaw

CURVE = PowerLaw(1.0)


@pytest.mark.parametrize("continuation", [math.nan, -1.0, 1.014, 2, "a"])
def test_a_probability_of_continuing_is_one(continuation: float) -> None:
    with refused("continuation", 0, 1):
        hindsight_propensities(CURVE, continuation, [1, 2], [0, 1])


@pytest.mark.parametrize(("rank", "above"), [(1, -1), (2, 2), (2, 5), (3, 0.5)])
def test_clicks_above_a_rank_are_fewer_than_it(rank: int, above: float) -> None:
    with refused("clicks_above", 0):
        hindsight_propensities(CURVE, 0.5, [rank], [above])


def test_nobody_continues_and_everybody_does() -> None:
    assert hindsight_propensities(CURVE, 0, [1, 2], [0, 1]).tolist() == [1.0, 0.0]
    assert hindsight_propensities(CURVE, 1, [1, 2], [0, 1]).tolist() == [1.0, 0.5]
