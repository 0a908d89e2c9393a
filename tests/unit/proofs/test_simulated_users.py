"""Monte Carlo: reproducible, nested, fast, and in agreement with the exact numbers.

All seeds are fixed, so these tests give the same result every time; the stated rates are the
chance that another seed would fail.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.meaning import refused, without_numbers
from ultr_core.figures.proofs import errors_fall
from ultr_core.proofs import BREAKS, DERIVATIONS, SmallWorld, Ways, default_world, draw_users
from ultr_core.proofs.monte_carlo import (
    MOST_USERS,
    convergence,
    log_grid,
    race,
    running_mean,
    simulate,
    watch_user,
    watch_users,
)
from ultr_core.proofs.users import dot, times


@pytest.mark.parametrize("broken", [None, *sorted(BREAKS)])
def test_every_estimate_is_within_five_standard_errors(broken: str | None) -> None:
    """About 40 estimates a world; five standard errors: below 1 in 10,000 for all together."""
    world = default_world().breaking(*([broken] if broken else []))
    sample = draw_users(world, 100_000, seed=3)
    for proof in DERIVATIONS.values():
        for line in proof.derive(Ways(world, sample)).lines:
            estimate = line.value.estimate
            if estimate is not None:
                distance = abs(estimate.value - float(line.value.closed))
                assert distance <= 5 * estimate.standard_error + 1e-9, (proof.name, line.formula)


def test_users_drawn_in_parts_are_the_same_users(twelve: SmallWorld) -> None:
    whole = draw_users(twelve, 30_000, seed=1)
    parts = draw_users(twelve, 12_345, seed=1)
    parts = draw_users(twelve, 17_655, seed=1, after=parts)
    assert parts.users == 30_000
    for one, other in ((whole.noisy, parts.noisy), (whole.clean, parts.clean)):
        assert np.array_equal(one.patterns, other.patterns)
        assert np.array_equal(one.counts, other.counts)
    assert draw_users(twelve, 1_000, seed=2).noisy.counts.sum() == 1_000


def test_an_edited_relevance_redraws_nobody() -> None:
    before, _ = simulate(SmallWorld.from_query({"relevant": "BEF"}), 5_000, 0)
    after, _ = simulate(SmallWorld.from_query({"relevant": "BE"}), 5_000, 0)
    assert np.array_equal(before[:, :5], after[:, :5])
    assert np.all(after[:, 5] <= before[:, 5])


def test_without_noise_clicks_are_examined_relevant_documents() -> None:
    noisy, clean = simulate(default_world(), 5_000, 0)
    relevant = np.array(default_world().query.relevance, dtype=bool)
    assert not clean[:, ~relevant].any()
    assert np.array_equal(noisy[:, relevant], clean[:, relevant])  # ε₊ = 1


def test_whoever_stops_clicks_at_most_once() -> None:
    noisy, clean = simulate(default_world().breaking("cascade"), 5_000, 0)
    assert noisy.sum(axis=1).max() == clean.sum(axis=1).max() == 1


@pytest.mark.parametrize("broken", [(), ("cascade",)])
def test_a_user_that_is_watched_is_the_one_that_is_counted(broken: tuple[str, ...]) -> None:
    world = default_world().breaking(*broken)
    noisy, _ = simulate(world, 300, 9)
    for number in (1, 2, 150, 300):
        looked, clicked = watch_user(world, number, 9)
        assert np.array_equal(clicked, noisy[number - 1])
        assert np.all(looked[clicked])
    watched = [watch_user(world, number, 9) for number in range(1, 301)]
    if broken:
        shown = np.array(world.query.shown)
        for looked, clicked in watched:
            if clicked.any():
                assert not looked[shown][np.argmax(clicked[shown]) + 1 :].any()
    with refused("", "user", 0, "1,000,000"):
        watch_user(world, 0, 9)


@pytest.mark.parametrize(("last", "reached", "finished"), [(1, 0, 0), (1, 6, 1), (40, 2, 39)])
def test_users_that_are_watched_add_up_to_the_mean_of_their_losses(
    last: int, reached: int, finished: int
) -> None:
    world = default_world()
    noisy, _ = simulate(world, last, 9)
    losses = np.array([float(v) for v in times(world.query.new, world.inverse)])
    found = watch_users(world, last, reached, 9)
    assert found.finished == finished
    assert found.expected == float(world.users.mean(times(world.query.new, world.inverse)))
    if not finished:
        assert found.mean is None
    else:
        assert found.mean == pytest.approx(float((noisy[:finished] @ losses).mean()), rel=1e-12)
    read = [set(world.query.shown)] * (last - 1) + [set(world.query.shown[:reached])]
    assert sorted(found.clicks) == [
        (user, document)
        for user in range(1, last + 1)
        for document in range(world.query.size)
        if noisy[user - 1, document] and document in read[user - 1]
    ]


def test_clicks_of_a_race_are_those_of_its_users_rounded_up() -> None:
    found = race(default_world(), seed=0, users=(1, 10, 1_000), repetitions=50)
    for users, clicks in (
        (found.predicted, found.predicted_clicks), (found.observed, found.observed_clicks)
    ):  # fmt: skip
        assert (users is None) is (clicks is None)
        if users is not None and clicks is not None:
            assert clicks - 1 < users * found.clicks_per_user <= clicks
    assert found.predicted is not None


def test_a_hundred_thousand_users_take_a_tenth_of_a_second() -> None:
    """The best of five, for the machine may be busy."""
    world, times_taken = default_world(), []
    for seed in range(5):
        start = time.perf_counter()
        draw_users(world, 100_000, seed)
        times_taken.append(time.perf_counter() - start)
    assert min(times_taken) < 0.1


def test_users_beyond_the_limit_are_refused() -> None:
    for users in (0, MOST_USERS + 1):
        with refused("", "users", 0, "1,000,000"):
            draw_users(default_world(), users, 0)


def test_a_single_user_has_no_interval() -> None:
    one = draw_users(default_world(), 1, 0).noisy.mean(default_world().inverse)
    assert one.low == one.high == one.value


def test_the_running_mean_ends_at_the_mean() -> None:
    world = default_world()
    values = times(world.query.new, world.inverse)
    noisy, _ = simulate(world, 2_000, 5)
    at, mean, error = running_mean(noisy, values)
    final = draw_users(world, 2_000, 5).noisy.mean(values)
    assert at[-1] == 2_000
    assert mean[-1] == pytest.approx(final.value)
    assert error[-1] == pytest.approx(final.standard_error)


def test_errors_fall_with_slope_minus_one_half() -> None:
    """13 points with a standard error of 3.5% each: five standard errors of the slope."""
    found = convergence(default_world(), seed=1, users=log_grid(10, 100_000, 13))
    assert found.slope == pytest.approx(-0.5, abs=5 * 0.035 / np.log(10) / 4.7)
    outside = (found.error < found.low) | (found.error > found.high)
    assert outside.sum() <= 4  # 5% of 13; five or more: 1 in 3,000


def test_with_a_bias_errors_stop_falling() -> None:
    found = convergence(default_world().breaking("zero-relevant"), seed=1, users=(10, 1_000_000))
    assert found.error[-1] == pytest.approx(2.0, rel=0.01)


def test_with_trust_in_the_top_noisy_estimates_stay_off_and_those_without_noise_do_not() -> None:
    world = default_world().breaking("trust")
    off = float(world.users.mean(times(world.query.new, world.inverse)))
    off -= float(dot(world.query.new, world.constant_noise))
    noisy = convergence(world, seed=1, users=(10, 1_000_000), noisy=True)
    assert noisy.error[-1] == pytest.approx(abs(off), rel=0.02)
    assert not noisy.is_unbiased
    clean = convergence(world, seed=1, users=(10, 1_000_000))
    assert clean.is_unbiased
    biased, unbiased = (without_numbers(errors_fall(found).alt) for found in (noisy, clean))
    assert biased != unbiased
    assert convergence(default_world(), seed=1, users=(10, 1_000), noisy=True).is_unbiased


def test_nothing_relevant_means_nothing_settles() -> None:
    with refused("no_variance"):
        convergence(SmallWorld.from_query({"relevant": ""}), seed=1, users=(10,))


@pytest.mark.parametrize("broken", [(), ("cascade",), ("trust",)])
def test_weighting_overtakes_naive_where_predicted(broken: tuple[str, ...]) -> None:
    """4,000 repetitions: errors of 3% where the curves cross at an angle of more than 1."""
    world = default_world().breaking(*broken)
    found = race(world, seed=4, users=log_grid(1, 400, 25), repetitions=4000)
    assert found.predicted is not None
    assert found.observed == pytest.approx(found.predicted, rel=0.15)
    for name, exact in found.exact.items():
        # 75 points in each world: five standard errors.
        assert np.all(np.abs(found.seen[name] - exact) <= 5 * found.error[name])


def test_with_too_wrong_a_curve_weighting_never_overtakes() -> None:
    world = SmallWorld.from_query({"assumed": "1 1/9 1/40 1/90 1/150 1/300"})
    assert race(world, seed=4, users=(1, 100), repetitions=200).predicted is None


def test_without_clicks_there_is_no_race() -> None:
    with refused("no_click"):
        race(SmallWorld.from_query({"relevant": "-", "eps_minus": "0"}), seed=1, users=(1, 2))
