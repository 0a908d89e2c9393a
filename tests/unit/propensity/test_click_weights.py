"""Weights: naive, propensity-weighted, clipped and full information; their diagnostics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up import SHRUNK
from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    Weights,
    click_weight_diagnostics,
    clipping_effect,
    full_information_weights,
    inverse_propensities,
    ips_weights,
    naive_weights,
)
from ultr_core.users import ClickLog, Cutoff, PositionModel, PowerLaw, TableCurve, simulate_counts

CLIPPED = ESTIMATORS["clipped"]


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(4)
    offsets = np.arange(0, 401, 8)
    ranks = np.concatenate([rng.permutation(8) + 1 for _ in range(50)])
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(rng.random(400) < 0.2, ranks)
    return simulate_counts(pi, ranks, offsets, 3000, 7)


@pytest.fixture
def moved():
    """Document 0 seen at ranks 1 and 2, document 1 at rank 3, 2 never clicked, 3 unseen."""
    return ClickLog([0, 0, 1, 2], [1, 2, 3, 4], [5, 5, 10, 10], [2, 3, 1, 0], 10, [0, 4])


def test_every_click_counts_once_or_by_its_own_rank(moved):
    naive = naive_weights(moved)
    assert naive.values.tolist() == [5, 1, 0, 0]
    assert naive.clicks == 6
    ips = ips_weights(moved, PowerLaw(1))
    assert ips.values == pytest.approx([2 * 1 + 3 * 2, 3, 0, 0], rel=1e-15)
    assert ips.clicks == 6
    clipped = ips_weights(moved, PowerLaw(1), clip=0.4)
    assert clipped.values == pytest.approx([2 + 3 * 2, 2.5, 0, 0], rel=1e-15)


def test_no_bias_weights_every_click_the_same(log):
    assert np.array_equal(ips_weights(log, PowerLaw(0)).values, naive_weights(log).values)
    diagnostics = click_weight_diagnostics(log, np.ones(400))
    assert diagnostics.effective_sample_size == log.total_clicks == diagnostics.clicks
    assert diagnostics.largest_weight == 1


def test_clipping_runs_from_inverse_propensities_to_naive(log):
    curve = PowerLaw(1.3)
    unclipped = ips_weights(log, curve)
    assert np.array_equal(unclipped.values, ips_weights(log, curve, clip=0.0).values)
    assert unclipped.values == pytest.approx(log.clicks / curve.at(log.rank), rel=1e-15)
    assert np.array_equal(ips_weights(log, curve, clip=1).values, naive_weights(log).values)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.floats(0, 2), st.floats(0, 1), st.floats(0, 1))
def test_more_clipping_never_adds_weight(log, eta, a, b):
    less, more = sorted((a, b))
    heavy = ips_weights(log, PowerLaw(eta), clip=less)
    light = ips_weights(log, PowerLaw(eta), clip=more)
    assert np.all(light.values <= heavy.values)
    assert np.all(light.values >= log.clicks)
    assert light.clicks == heavy.clicks == log.total_clicks
    effective = [
        click_weight_diagnostics(log, np.maximum(PowerLaw(eta).at(log.rank), tau))
        for tau in (less, more)
    ]
    # The more equal the weights, the more each click is worth.
    sizes = [d.effective_sample_size for d in effective]
    assert 1 <= sizes[0] <= sizes[1] * (1 + 1e-12)
    assert sizes[1] <= log.total_clicks * (1 + 1e-12)


def test_scaling_propensities_scales_the_weights(log):
    q = PowerLaw(1).at(log.rank)
    whole, half = inverse_propensities(log, q), inverse_propensities(log, q / 2)
    assert np.array_equal(2 * whole, half)
    sizes = [click_weight_diagnostics(log, p).effective_sample_size for p in (q, q / 2)]
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-12)


def test_propensities_of_unclicked_ranks_do_not_matter(moved):
    table = ips_weights(moved, TableCurve((1, 0.5, 0.25, 0.25)))
    ended = ips_weights(moved, TableCurve((1, 0.5, 0.25, 0.0)))
    assert np.array_equal(table.values, ended.values)


def test_a_click_without_propensity_is_refused_by_rank_and_count():
    # Propensities 1, 0.5 and 0 at ranks 1, 2 and 3, and one click at rank 3.
    curve = TableCurve((1, 0.5, 0))
    log = ClickLog([0, 1, 2], [1, 2, 3], [4, 4, 4], [0, 0, 1], 4, [0, 3])
    for call in (
        lambda: ips_weights(log, curve),
        lambda: click_weight_diagnostics(log, curve.at(log.rank)),
    ):
        with refused("", "rank", 3, 1, "click", "propensity", 0):
            call()
    many = ClickLog([0, 1, 2], [1, 2, 3], [4, 4, 4], [0, 0, 3], 4, [0, 3])
    with pytest.raises(InputError, match="Rank 3 has 3 clicks"):
        ips_weights(many, Cutoff(PowerLaw(1), 2))
    assert ips_weights(log, curve, clip=0.1).values.tolist() == [0, 0, 10]
    effect = clipping_effect(log, CLIPPED, Belief(curve, 0.1))
    assert (effect.clicks_changed, effect.clicks_without_propensity) == (1, 1)
    assert (effect.weight_after, effect.weight_removed) == (10, 0)


def test_what_clipping_changed_is_counted(moved):
    curve = PowerLaw(1)
    effect = clipping_effect(moved, CLIPPED, Belief(curve, 0.4))
    assert (effect.threshold, effect.clicks, effect.clicks_changed) == (0.4, 6, 1)
    assert effect.weight_after == pytest.approx(8 + 2.5)
    assert effect.weight_removed == pytest.approx(0.5)
    nothing = clipping_effect(moved, CLIPPED, Belief(curve))
    assert (nothing.clicks_changed, nothing.weight_removed) == (0, 0)
    with refused("", "clipping", "threshold", "1.5"):
        clipping_effect(moved, CLIPPED, Belief(curve, 1.5))


def test_what_another_threshold_changed_is_counted_by_its_own_numbers(moved):
    """p / (p^2 + tau^2/4) at tau = 1: 4/5 for 1, 1 for 2 and 12/13 for 3, on 2, 3 and 1 clicks."""
    effect = clipping_effect(moved, SHRUNK, Belief(PowerLaw(1), 1.0))
    assert (effect.clicks_changed, effect.clicks_without_propensity) == (6, 0)
    assert effect.weight_after == pytest.approx(2 * 4 / 5 + 3 * 1 + 12 / 13)
    assert effect.weight_removed == pytest.approx(2 * 1 / 5 + 3 * 1 + 27 / 13)
    gone = clipping_effect(moved, SHRUNK, Belief(TableCurve((1, 0, 0.5, 0.5)), 1.0))
    assert (gone.clicks_changed, gone.clicks_without_propensity) == (6, 3)
    assert gone.weight_after == pytest.approx(2 * 4 / 5 + 1)
    assert gone.weight_removed == pytest.approx(2 * 1 / 5 + 1)


def test_diagnostics_by_hand():
    log = ClickLog(np.arange(7), np.arange(1, 8), [9] * 7, [1, 2, 0, 1, 1, 1, 1], 9, [0, 7])
    q = np.array([1, 0.5, 0.0, 0.25, 1, 1, 0.5])
    diagnostics = click_weight_diagnostics(log, q)
    weights = np.array([1, 2, 2, 4, 1, 1, 2])
    expected = weights.sum() ** 2 / (weights**2).sum()
    assert diagnostics.effective_sample_size == pytest.approx(expected, rel=1e-15)
    assert diagnostics.largest_weight == 4
    assert diagnostics.heaviest_share == pytest.approx((4 + 4 + 2 + 1 + 1) / 13, rel=1e-15)


def test_full_information_takes_relevance_as_weight():
    weights = full_information_weights(np.array([True, False, True]))
    assert weights.values.tolist() == [1, 0, 1]
    assert weights.clicks == 2
    with refused("nothing_relevant"):
        full_information_weights(np.zeros(3))


def test_a_log_without_clicks_teaches_nothing():
    log = ClickLog([0, 1], [1, 2], [5, 5], [0, 0], 5, [0, 2])
    for weights in (naive_weights, lambda log: ips_weights(log, PowerLaw(1))):
        with refused("", "click", 5, "presentations"):
            weights(log)
    assert click_weight_diagnostics(log, [1, 0.5]).effective_sample_size == 0


@pytest.mark.parametrize(
    ("values", "clicks", "fault"),
    [
        ([1.0, np.inf], 1, ("", "document", 1, "inf")),
        ([np.nan], 1, ("", "document", 0, "nan")),
        ([1.0, -2.0], 1, ("", "document", 1, "-2.0")),
        ([[1.0]], 1, ("", "axis", 1)),
        ([1.0], 0, ("examples", 0)),
        ([1.0], float("nan"), ("examples", 0)),
    ],
)
def test_unusable_weights_are_refused(values, clicks, fault: tuple[object, ...]):
    with refused(*fault):
        Weights(np.array(values), clicks)


@pytest.mark.parametrize("clip", [-0.1, 1.1, float("nan")])
def test_a_clip_is_a_probability(log, clip):
    with refused("", "clipping", "threshold"):
        ips_weights(log, PowerLaw(1), clip=clip)


@pytest.mark.parametrize("q", [np.nan, 1.5, -0.5, 1e-320])
def test_impossible_propensities_are_refused(moved, q):
    with pytest.raises(InputError, match="Rank 2 has 3 clicks"):
        inverse_propensities(moved, [1, q, 0.5, 0.5])
    with refused("", 3, "propensities", 4):
        inverse_propensities(moved, [1, 0.5, 0.5])


def test_weights_cannot_be_changed(log):
    weights = naive_weights(log)
    with pytest.raises(ValueError, match="read-only"):
        weights.values[0] = 3
