"""How far a simulated mean may stray: never less than the exact law allows, and hardly more."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from ultr_core.proofs.concentration import FALSE_ALARM_RATE, ClickSums

RATES = (0.5, 0.05, 1e-3, FALSE_ALARM_RATE)


def one_document(probability: float, weight: float) -> ClickSums:
    return ClickSums(np.array([probability]), np.array([weight]), np.array([0, 1]))


def exactly(law: ClickSums) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of one draw and their probabilities, by enumeration."""
    values, chances = [], []
    queries = len(law.query_offsets) - 1
    for first, last in zip(law.query_offsets[:-1], law.query_offsets[1:], strict=True):
        for clicks in product((0, 1), repeat=int(last - first)):
            pi, clicked = law.click_probability[first:last], np.array(clicks)
            chances.append(float(np.where(clicked, pi, 1 - pi).prod()) / queries)
            values.append(float(clicked @ law.weights[first:last]))
    return np.array(values), np.array(chances)


def small_law(seed: int) -> ClickSums:
    rng = np.random.default_rng(seed)
    pi = np.array([0.0, 1.0, *rng.random(3)])
    weights = np.array([np.inf, *rng.integers(1, 30, 4)])  # nobody looks at the first
    return ClickSums(pi, weights, np.array([0, 2, 5]))


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_those_of_the_enumerated_law(seed: int) -> None:
    law = small_law(seed)
    finite = replace(law, weights=np.where(np.isfinite(law.weights), law.weights, 0.0))
    values, chances = exactly(finite)
    for exponent in (-1.0, -0.01, 0.0, 0.02, 0.3):
        expected = math.log(float(chances @ np.exp(exponent * values)))
        assert law.log_moment(exponent) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seed", range(5))
def test_no_side_is_passed_more_often_than_stated(seed: int, rate: float) -> None:
    """Exact for three draws of five documents, which no normal interval is valid for."""
    law = small_law(seed)
    values, chances = exactly(replace(law, weights=np.where(law.weights < 99, law.weights, 0.0)))
    mean = float(chances @ values)
    variance = float(chances @ (values - mean) ** 2)
    means = np.add.outer(np.add.outer(values, values), values) / 3
    weights = np.multiply.outer(np.multiply.outer(chances, chances), chances)
    for upper, sign in ((True, 1.0), (False, -1.0)):
        radius = law.radius(mean, variance, 3, upper=upper, rate=rate)
        assert weights[sign * (means - mean) > radius * (1 + 1e-9)].sum() <= rate / 2


@pytest.mark.parametrize("draws", [10, 1_000, 100_000])
def test_rare_heavy_clicks_stay_within_reach(draws: int) -> None:
    """A click in a hundred that weighs 50: the exact binomial tails, on both sides."""
    law, mean, variance = one_document(0.01, 50.0), 0.5, 50.0**2 * 0.01 * 0.99
    for rate in RATES:
        above = law.radius(mean, variance, draws, upper=True, rate=rate)
        below = law.radius(mean, variance, draws, upper=False, rate=rate)
        most, least = (mean + above) * draws / 50, (mean - below) * draws / 50
        assert binom.sf(math.ceil(most - 1e-9) - 1, draws, 0.01) <= rate / 2
        assert binom.cdf(math.floor(least + 1e-9), draws, 0.01) <= rate / 2


def test_with_many_draws_it_is_hardly_more_than_a_normal_interval() -> None:
    law, variance, draws = one_document(0.01, 50.0), 50.0**2 * 0.01 * 0.99, 10_000_000
    limit = math.sqrt(2 * math.log(2 / FALSE_ALARM_RATE))
    for upper in (True, False):
        radius = law.radius(0.5, variance, draws, upper=upper, rate=FALSE_ALARM_RATE)
        assert radius / math.sqrt(variance / draws) == pytest.approx(limit, rel=0.01)


def test_what_does_not_vary_cannot_stray() -> None:
    assert one_document(1.0, 3.0).radius(3.0, 0.0, 5, upper=True, rate=0.1) == 0.0
