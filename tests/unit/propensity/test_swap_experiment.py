"""The landmark swap experiment: its law, its worked numbers, its cost, its faults."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.propensity import (
    Counts,
    SwapCounts,
    estimate_swaps,
    neighbour_swap_cost,
    sessions_needed,
    shuffling_cost,
    simulate_neighbour_swaps,
    simulate_shuffling,
    simulate_swaps,
    swap_cost,
    swap_limit,
)
from ultr_core.users import PositionModel, PowerLaw, TableCurve, TrustBiasModel

# Two queries: four documents and two; relevance by document, ranks as presented.
RELEVANCE = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
RANKS = np.array([2, 1, 4, 3, 1, 2])
OFFSETS = np.array([0, 4, 6])
SHOWN = (RELEVANCE, RANKS, OFFSETS)


def counts(**changes: Counts) -> SwapCounts:
    parts = {
        "swapped": Counts(np.array([1000, 800, 0]), np.array([200, 40, 0])),
        "control": Counts(np.array([1000, 1000, 500]), np.array([200, 200, 100])),
        "moved": Counts(np.array([0, 800, 0]), np.array([0, 120, 0])),
        "unmoved": Counts(np.array([0, 9000, 4000]), np.array([0, 450, 100])),
    } | changes
    return SwapCounts(1, **parts, sessions=10_000)


def test_estimate_and_delta_interval_by_hand() -> None:
    point = estimate_swaps(counts()).points[1]
    assert point.value == pytest.approx((40 / 800) / (200 / 1000), rel=1e-15)
    error = math.sqrt((1 - 0.05) / 40 + (1 - 0.2) / 200)
    assert point.standard_error == pytest.approx(error, rel=1e-12)
    assert point.low == pytest.approx(0.25 * math.exp(-1.959964 * error), rel=1e-6)
    assert point.high == pytest.approx(0.25 * math.exp(1.959964 * error), rel=1e-6)


def test_pooled_ratio_adds_the_document_that_moved_up() -> None:
    point = estimate_swaps(counts(), ratio="pooled").points[1]
    assert point.value == pytest.approx((0.05 + 0.05) / (0.2 + 0.15), rel=1e-12)


def test_a_rank_without_swaps_is_missing_and_not_zero() -> None:
    estimate = estimate_swaps(counts())
    assert estimate.missing == (3,)
    assert estimate.points[2].value is None
    assert [(gap.cause, gap.ranks) for gap in estimate.gaps] == [("not_linked", (3,))]
    assert any(mentions(notice, "rank 3", "rank 1") for notice in estimate.notices)


def test_no_click_at_a_rank_gives_zero_with_an_exact_upper_end() -> None:
    none = Counts(np.array([1000, 800, 0]), np.array([200, 0, 0]))
    point = estimate_swaps(counts(swapped=none)).points[1]
    assert point.value == 0
    assert point.high == pytest.approx((1 - 0.025 ** (1 / 800)) / 0.2, rel=1e-12)


def test_ratios_above_one_are_kept_and_flagged() -> None:
    many = Counts(np.array([1000, 800, 0]), np.array([200, 240, 0]))
    estimate = estimate_swaps(counts(swapped=many))
    assert estimate.points[1].value == pytest.approx(1.5)
    assert estimate.above_one == (2,)


def test_bootstrap_and_delta_intervals_agree_with_many_clicks() -> None:
    delta = estimate_swaps(counts()).points[1]
    boot = estimate_swaps(counts(), bootstrap_seed=0).points[1]
    assert boot.value == delta.value
    assert boot.low == pytest.approx(delta.low, rel=0.08)
    assert boot.high == pytest.approx(delta.high, rel=0.08)


def test_an_experiment_without_clicks_is_refused() -> None:
    nothing = Counts(np.array([10, 10, 0]), np.zeros(3))
    with refused("landmark_clicks"):
        estimate_swaps(counts(swapped=nothing, control=nothing))
    with refused("", "click", 1, 2):
        Counts(np.array([1]), np.array([2]))


def test_limit_is_the_examination_ratio_for_any_relevance_and_noise() -> None:
    for plus, minus in ((1.0, 0.0), (0.8, 0.2), (0.5, 0.4)):
        users = PositionModel(TableCurve((1.0, 0.7, 0.4, 0.3)), plus, minus)
        for landmark in (1, 2):
            limit = swap_limit(users, RELEVANCE + 0.1, *SHOWN[1:], landmark=landmark, last_rank=4)
            truth = np.array([1.0, 0.7, 0.4, 0.3])
            assert limit == pytest.approx(truth / truth[landmark - 1], rel=1e-12)


def test_trust_bias_gives_the_predicted_wrong_ratio() -> None:
    """Relevance probability 0.3, rank 2: 0.55 instead of 0.79."""
    users = TrustBiasModel.published()
    limit = swap_limit(users, np.full(6, 0.3), *SHOWN[1:], landmark=1, last_rank=4)
    assert round(float(limit[1]), 2) == 0.55
    assert round(float(users.curve.at(2)), 2) == 0.79
    result = simulate_swaps(
        users, np.full(6, 0.3), *SHOWN[1:], landmark=1, last_rank=2, sessions=2_000_000, seed=0
    )
    point = estimate_swaps(result).points[1]
    # 2 million sessions: standard error 0.0012 of the logarithm; 4 of them are 0.5%.
    assert point.value == pytest.approx(0.5532, rel=0.005)
    assert point.high < 0.6


def test_trust_bias_is_affine_in_relevance_and_checked() -> None:
    users = TrustBiasModel(PowerLaw(1), (1.0, 0.9), (0.5, 0.2))
    middle = users.click_probability(0.5, np.array([1, 2, 5]))
    ends = users.click_probability(0, np.array([1, 2, 5])) + users.click_probability(
        1, np.array([1, 2, 5])
    )
    assert middle == pytest.approx(ends / 2, rel=1e-15)
    assert users.click_probability(1, np.array([5]))[0] == pytest.approx(0.9 / 5)
    with refused("", "rank", 2, "0.2"):
        TrustBiasModel(PowerLaw(1), (1.0, 0.2), (0.5, 0.2))
    with refused("", "rank", 1):
        TrustBiasModel(PowerLaw(1), (), (0.5,))
    with pytest.raises(InputError, match="from 1 to 1,000,000"):
        TrustBiasModel.published(0)


def test_short_lists_are_missing_from_both_sides_of_a_ratio() -> None:
    """A long query that is never clicked and a short one that always is must not mix."""
    users = PositionModel(PowerLaw(0), 1.0, 0.5)
    offsets, ranks = np.array([0, 3, 4]), np.array([1, 2, 3, 1])
    relevance = np.array([0.0, 0.0, 0.0, 1.0])
    result = simulate_swaps(users, relevance, ranks, offsets, last_rank=3, sessions=400_000, seed=3)
    for point in estimate_swaps(result).points[1:]:
        # Standard error of the logarithm 0.006; without the restriction the ratio is 0.67.
        assert point.value == pytest.approx(1.0, abs=0.024)


def test_costs_by_hand_and_by_simulation() -> None:
    # Landmark 1, K = 4. Query 0: relevance at ranks 1..4 is 0, 1, 0, 1: j = 2 gains 1, j = 4 gains
    # 3. Query 1: 0, 1: j = 2 gains 1. Mean over two queries and four draws: -(1 + 3 + 1) / 8.
    assert swap_cost(*SHOWN, landmark=1, last_rank=4) == pytest.approx(-5 / 8)
    # Neighbours: 0-1 (-1), 1-0 (+1), 0-1 (-1); and -1: sum -2 over 2 x 3 pairs, half of it.
    assert neighbour_swap_cost(*SHOWN, last_rank=4) == pytest.approx(-2 / 6 / 2)
    # Shuffled: 2 x 2.5 + 1.5 against 6 and 2.
    assert shuffling_cost(*SHOWN) == pytest.approx((5 - 6 + 1.5 - 2) / 2)
    users = PositionModel(PowerLaw(1), 1.0, 0.1)
    # Standard errors 0.003 or less at these sizes; 4 of them.
    swaps = simulate_swaps(users, *SHOWN, last_rank=4, sessions=400_000, seed=0)
    assert swaps.extra_rank_sum == pytest.approx(-5 / 8, abs=0.012)
    near = simulate_neighbour_swaps(users, *SHOWN, last_rank=4, sessions=400_000, seed=0)
    assert near.extra_rank_sum == pytest.approx(-1 / 6, abs=0.012)
    mixed = simulate_shuffling(users, *SHOWN, last_rank=4, sessions=200_000, seed=0)
    assert mixed.extra_rank_sum == pytest.approx(-0.75, abs=0.015)


def test_traffic_for_a_precision_is_what_it_takes() -> None:
    """With N from the formula the measured interval reaches the wanted precision."""
    users = PositionModel(PowerLaw(1), 0.9, 0.1)
    relevance = np.array([0.5, 0.5])
    at_rank, in_place = 0.25, 0.5
    needed = sessions_needed(at_rank, in_place, 2, 0.1)
    assert needed == math.ceil(2 * (1.959963984540054 / math.log(1.1)) ** 2 * (3 + 1))
    result = simulate_swaps(
        users, relevance, np.array([1, 2]), np.array([0, 2]), last_rank=2, sessions=needed, seed=1
    )
    point = estimate_swaps(result).points[1]
    assert point.high / point.value - 1 == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"landmark": 0}, ("whole_number", 1, 4)),
        ({"landmark": 5}, ("whole_number", 1, 4)),
        ({"landmark": 1.5}, ("whole_number", "landmark", "rank", "1.5", 1, 4)),
        ({"sessions": 0}, ("whole_number", "presentations", 0, 1)),
        ({"sessions": 1.5}, ("whole_number", "presentations", "1.5", 1)),
        ({"sessions": None}, ("whole_number", "presentations", 1)),
        ({"sessions": 2**63}, ("whole_number", 1, "4,611,686,018,427,387,904")),
        ({"last_rank": 0}, ("whole_number", "rank", 0, 1, 500)),
        ({"last_rank": 10**9}, ("whole_number", 1, 500, "1000000000")),
        ({"last_rank": 2.5}, ("whole_number", "rank", "2.5", 1, 500)),
        ({"seed": -1}, ("random_seed", 0, -1)),
    ],
)
def test_impossible_designs_are_refused(changes: dict[str, int], fault: tuple[object, ...]) -> None:
    design = {"landmark": 1, "last_rank": 4, "sessions": 10, "seed": 0} | changes
    with refused(*fault):
        simulate_swaps(PositionModel(PowerLaw(1)), *SHOWN, **design)


def test_a_landmark_below_every_list_is_refused() -> None:
    with refused("", "landmark", 9):
        simulate_swaps(
            PositionModel(PowerLaw(1)), *SHOWN, landmark=9, last_rank=9, sessions=10, seed=0
        )
    with pytest.raises(InputError, match="above 0"):
        sessions_needed(0.0, 0.5, 2, 0.1)
    with pytest.raises(InputError, match="precision"):
        sessions_needed(0.1, 0.5, 2, 0.0)
    with refused("", "ranks", 1):
        simulate_neighbour_swaps(
            PositionModel(PowerLaw(1)), *SHOWN, last_rank=1, sessions=10, seed=0
        )
