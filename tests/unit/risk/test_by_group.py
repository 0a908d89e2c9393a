"""Intervals by session: the jackknife over groups against plain Python, and where it is exact."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from tests.meaning import mentions, refused
from ultr_core.propensity import ESTIMATORS, Belief, RowNumbers
from ultr_core.risk import (
    difference_by,
    estimate_by,
    estimate_by_group,
    estimate_difference,
    estimate_mean_rank,
    estimate_risk,
    estimates_by_group,
)
from ultr_core.risk.by_group import FEWEST_GROUPS
from ultr_core.risk.intervals import Sums, difference_ends
from ultr_core.users import ClickLog, GroupCounts, GroupedLog, PowerLaw

OFFSETS = np.array([0, 3, 5, 9])


def grouped(rng: np.random.Generator, groups: int, most: int = 6) -> GroupedLog:
    """Every row in every group with random counts; draws that need not be whole."""
    rows = 12
    document, rank = np.sort(rng.integers(9, size=rows)), np.arange(rows) + 1
    shown = rng.integers(1, most + 1, (groups, rows))
    clicks = rng.integers(0, shown + 1)
    clicks[0, 0] = clicks[1, 1] = 1
    draws = rng.random(groups) + shown.max(axis=1)
    drawn = math.ceil(draws.sum() + shown.sum())
    draws *= drawn / draws.sum()
    of_query = [drawn, 0, 0]
    log = ClickLog(
        document, rank, shown.sum(axis=0), clicks.sum(axis=0), drawn, OFFSETS, of_query,
        whole_lists=False,
    )  # fmt: skip
    row, group = np.tile(np.arange(rows), groups), np.repeat(np.arange(groups), rows)
    return GroupedLog(log, GroupCounts(row, group, shown.ravel(), clicks.ravel(), draws))


def by_hand(
    log: GroupedLog, ranks: list[float], numbers: RowNumbers, *, normalised: bool
) -> tuple[float, float]:
    """Value and standard error, one group and one row after the other."""
    counts = log.by_group

    def value(left_out: int | None) -> float:
        upper, weights, draws = [], [], []
        for row, group, shown, clicks in zip(
            counts.row.tolist(), counts.group.tolist(), counts.impressions.tolist(),
            counts.clicks.tolist(), strict=True,
        ):  # fmt: skip
            if group != left_out:
                weight = float(numbers.u[row]) * clicks + float(numbers.v[row]) * shown
                weights.append(weight)
                upper.append(weight * ranks[int(log.document[row])])
        draws = [d for g, d in enumerate(counts.draws.tolist()) if g != left_out]
        return math.fsum(upper) / math.fsum(weights if normalised else draws)

    without = [value(group) for group in range(counts.number)]
    mean = math.fsum(without) / len(without)
    spread = math.fsum((each - mean) ** 2 for each in without)
    return value(None), math.sqrt((len(without) - 1) / len(without) * spread)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    groups=st.integers(2, 12),
    with_v=st.booleans(),
    normalised=st.booleans(),
)
def test_it_is_the_jackknife_of_plain_python(
    seed: int, groups: int, with_v: bool, normalised: bool
) -> None:
    rng = np.random.default_rng(seed)
    log = grouped(rng, groups)
    numbers = RowNumbers(rng.random(12) + 0.5, rng.random(12) if with_v else 0.0)
    ranks = rng.normal(0, 5, (20, 9))
    found = estimates_by_group(log, ranks, numbers, normalised=normalised)
    for ranker in range(20):
        value, error = by_hand(log, ranks[ranker].tolist(), numbers, normalised=normalised)
        assert found.value[ranker] == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert found.standard_error[ranker] == pytest.approx(error, rel=1e-12, abs=1e-12)
    assert mentions(found.no_interval, groups, FEWEST_GROUPS)
    assert np.isinf(found.low).all()
    assert np.isinf(found.high).all()


def test_where_impressions_count_the_interval_is_by_students_t() -> None:
    log = grouped(np.random.default_rng(1), 60)
    numbers = RowNumbers(np.ones(12), np.linspace(0.1, 1, 12))
    found = estimate_by_group(log, np.arange(9) + 1.0, numbers)
    reach = t.ppf(0.975, 59) * found.standard_error
    assert (found.value - found.low, found.high - found.value) == pytest.approx((reach, reach))


@pytest.mark.parametrize("normalised", [False, True])
def test_ends_by_hand_from_what_each_group_adds(normalised: bool) -> None:
    log, ranks = grouped(np.random.default_rng(2), 70), np.arange(9.0) - 3
    found = estimate_by_group(log, ranks, RowNumbers(np.ones(12)), normalised=normalised)
    counts = log.by_group
    centred = ranks[log.document[counts.row]] - (found.value if normalised else 0.0)
    sums = []
    for side in (np.maximum(centred, 0), np.maximum(-centred, 0), centred):
        added = np.bincount(counts.group, side * counts.clicks)
        mean = added.sum() / counts.draws.sum()
        without = (added.sum() - added) / (counts.draws.sum() - counts.draws)
        error = np.sqrt(69 / 70 * np.square(without - without.mean()).sum())
        largest = (added - mean * counts.draws).max() / counts.draws.sum()
        sums.append(Sums(*(np.array([each]) for each in (mean, error, largest))))
    scale = log.total_clicks / log.query_draws if normalised else 1.0
    low, high = difference_ends(sums[0], sums[1], found.standard_error * np.array([scale]))
    middle = float(sums[0].value[0] - sums[1].value[0])
    stretch = t.ppf(0.975, 69) / NormalDist().inv_cdf(0.975) / scale
    by_hand = (middle - low[0]) * stretch, (high[0] - middle) * stretch
    assert (found.value - found.low, found.high - found.value) == pytest.approx(by_hand, rel=1e-6)


def each_its_own(presentations: int = 40, seed: int = 3) -> tuple[GroupedLog, np.ndarray]:
    """Every query presented once, each presentation a group of its own."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, presentations)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rank = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    clicks = (rng.random(rank.size) < 0.4).astype(int)
    ones, rows = np.ones(rank.size, dtype=int), np.arange(rank.size)
    log = ClickLog(rows, rank, ones, clicks, presentations, offsets)
    group = np.repeat(np.arange(presentations), sizes)
    judged = np.concatenate([rng.permutation(m) + 1.0 for m in sizes])
    return GroupedLog(log, GroupCounts(rows, group, ones, clicks, np.ones(presentations))), judged


def test_one_presentation_a_group_gives_the_standard_error_of_independent_draws() -> None:
    """Of the ends as well, but for t and the largest group, which is that beyond the mean."""
    log, ranks = each_its_own(400)
    numbers = PowerLaw(1.0).at(log.rank)
    pairs = [
        (estimate_risk(log, ranks, numbers), estimate_by_group(log, ranks, numbers)),
        (
            estimate_difference(log, ranks - log.rank, numbers),
            estimate_by_group(log, ranks - log.rank, numbers),
        ),
    ]
    for independent, by_group in pairs:
        assert by_group.value == pytest.approx(independent.value, rel=1e-12)
        assert by_group.standard_error == pytest.approx(independent.standard_error, rel=1e-12)
        assert by_group.high - by_group.value == pytest.approx(
            independent.high - independent.value, rel=0.1
        )
        assert by_group.n == independent.n
        assert by_group.effective_sample_size == independent.effective_sample_size


def test_a_ratio_is_near_the_delta_method_where_presentations_are_groups() -> None:
    log, ranks = each_its_own(presentations=4_000)
    numbers = PowerLaw(1.0).at(log.rank)
    delta = estimate_mean_rank(log, ranks, numbers)
    by_group = estimate_by_group(log, ranks, numbers, normalised=True)
    assert by_group.value == pytest.approx(delta.value, rel=1e-12)
    assert by_group.standard_error == pytest.approx(delta.standard_error, rel=2e-3)


def test_a_log_of_sessions_is_judged_by_session_by_every_estimator() -> None:
    log, ranks = each_its_own()
    belief = Belief(PowerLaw(1.0), 0.1, np.linspace(0.0, 1.0, log.n_documents))
    for estimator in ESTIMATORS.values():
        numbers = estimator.weigh(log, belief)
        expected = estimate_by_group(log, ranks, numbers, normalised=estimator.normalised)
        assert estimate_by(estimator, log, ranks, belief) == expected
    ips = ESTIMATORS["ips"]
    found = difference_by(ips, log, ranks - log.rank, belief)
    assert found == estimate_by_group(log, ranks - log.rank, ips.weigh(log, belief))


def test_repeated_sessions_widen_the_interval_by_the_root_of_the_repeats() -> None:
    """Nine copies of every presentation say no more than one, which only groups know."""
    log, ranks = each_its_own()
    counts = log.by_group
    nine = ClickLog(
        log.document, log.rank, log.impressions * 9, log.clicks * 9, log.query_draws * 9,
        log.query_offsets,
    )  # fmt: skip
    copied = GroupedLog(
        nine,
        replace(
            counts, impressions=counts.impressions * 9, clicks=counts.clicks * 9,
            draws=counts.draws * 9,
        ),
    )  # fmt: skip
    numbers = PowerLaw(1.0).at(log.rank)
    once = estimate_by_group(log, ranks, numbers)
    again = estimate_by_group(copied, ranks, numbers)
    assert again.standard_error == pytest.approx(once.standard_error, rel=1e-12)
    assert again.value == pytest.approx(once.value, rel=1e-12)


def test_groups_that_cannot_be_left_out_are_refused() -> None:
    log, ranks = each_its_own()
    counts = log.by_group
    one = np.zeros_like(counts.group)
    with refused("groups"):
        GroupCounts(counts.row, one, counts.impressions, counts.clicks, np.array([40.0]))
    with refused("groups"):
        replace(counts, draws=np.append(counts.draws, 0.0))
    with refused("groups"):
        GroupedLog(log, replace(counts, clicks=counts.impressions))
    with refused("groups"):
        GroupedLog(log, replace(counts, draws=counts.draws * 2))
    clicks = np.where(counts.group == 0, 1, 0)
    lone = GroupedLog(
        ClickLog(log.document, log.rank, log.impressions, clicks, 40, log.query_offsets),
        replace(counts, clicks=clicks),
    )
    numbers = PowerLaw(1.0).at(log.rank)
    assert estimate_by_group(lone, ranks, numbers).standard_error > 0
    with refused("sum_of_weights"):
        estimate_by_group(lone, ranks, numbers, normalised=True)
    with refused("", ranks.shape):
        estimates_by_group(log, ranks, numbers)
