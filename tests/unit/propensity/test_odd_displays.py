"""Displays, ranks, seeds and sessions of a wrong kind, each refused in one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.meaning import refused
from tests.unit.propensity.test_swap_experiment import SHOWN
from ultr_core.errors import InputError
from ultr_core.files import parse_log
from ultr_core.inspection import inspect_curve
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    Counts,
    RelativeCurve,
    Weights,
    clipped_propensities,
    clipping_effect,
    display_counts,
    estimate_by_em,
    estimate_click_rates,
    estimate_from_log,
    estimate_swaps,
    full_information_weights,
    harvest,
    interventional_sets,
    ips_weights,
    neighbour_swap_cost,
    sessions_needed,
    shuffling_cost,
    simulate_neighbour_swaps,
    simulate_shuffling,
    simulate_swaps,
    swap_cost,
    swap_limit,
    table_curve,
)
from ultr_core.propensity.points import MOST_PAIRED, MOST_RANKS
from ultr_core.users import ClickLog, PositionModel, PowerLaw, TrustBiasModel, simulate_counts

QUERY, DOCUMENT, RANK, SHOWN_AT, CLICKS = (
    [0] * 4,
    [0, 1, 0, 1],
    [1, 2, 2, 1],
    [30] * 4,
    [20, 9, 11, 18],
)
DISPLAYS = display_counts(QUERY, DOCUMENT, RANK, SHOWN_AT, CLICKS)
USERS = PositionModel(PowerLaw(1.0))
LOG = simulate_counts([1.0, 1.0], [1, 2], [0, 2], 10, 0)
MASKED = np.ma.array([1.0, 0.5], mask=[False, True])


def test_impressions_that_cannot_be_counted_are_refused() -> None:
    """Their sums came out negative."""
    with refused("too_large", "1.84e+19", "4.61e+18"):
        display_counts(QUERY, DOCUMENT, RANK, [2**62] * 4, CLICKS)
    with refused("too_large", "4.61e+18"):
        ClickLog([0, 1], [1, 2], [2**61, 2**61], [1, 1], 2**61, [0, 2])
    most = display_counts(QUERY, DOCUMENT, RANK, [2**59] * 4, CLICKS)
    assert estimate_click_rates(most, last_rank=2).points[0].impressions == 2**60


@pytest.mark.parametrize(
    ("column", "given", "fault"),
    [
        (0, ["a", "b", "a", "b"], ("real_numbers", "column", "query", "text")),
        (1, [0, 1, 0.5, 1], ("whole_numbers", "column", "document", 2, "0.5")),
        (2, [1, 2, 2], ("", "query", 4, "rank", 3)),
        (2, [[1, 2, 2, 1]], ("", 1, 4)),
        (3, np.ma.masked_equal([30, 30, 30, 1], 1), ("masked", 1, 4)),
        (4, [20, 9, np.nan, 18], ("whole_numbers", "column", "clicks", 2, "nan")),
        (4, [20, 9, None, 18], ("real_numbers", "column", "clicks")),
    ],
)
def test_columns_of_a_wrong_kind_are_refused(
    column: int, given: Any, fault: tuple[object, ...]
) -> None:
    columns: list[Any] = [QUERY, DOCUMENT, RANK, SHOWN_AT, CLICKS]
    columns[column] = given
    with refused(*fault):
        display_counts(*columns)


def test_counts_are_whole_and_equally_many() -> None:
    for impressions, clicks, fault in (
        ([3, 4], [1.5, 2], ("whole_numbers", "clicks", 0, "1.5")),
        ([3, 4], ["a", "b"], ("real_numbers", "clicks", "text")),
        ([3, 4], [1], ("", "impressions", "clicks")),
    ):
        with refused(*fault):
            Counts(impressions, clicks)


CSV = "query,document,position,click\nq,a,1,1\nq,b,2,0\nr,a,2,1\nr,b,1,0\n"
TAKES_LAST_RANK: dict[str, tuple[Callable[..., object], int]] = {
    "by_rank": (DISPLAYS.by_rank, MOST_RANKS),
    "em": (partial(estimate_by_em, DISPLAYS), MOST_RANKS),
    "ctr": (partial(estimate_click_rates, DISPLAYS), MOST_RANKS),
    "log": (partial(estimate_from_log, parse_log(CSV.encode(), "log")), MOST_RANKS),
    "sets": (partial(interventional_sets, DISPLAYS), MOST_PAIRED),
    "swaps": (partial(simulate_swaps, USERS, *SHOWN, sessions=9, seed=0), MOST_PAIRED),
    "shuffling": (partial(simulate_shuffling, USERS, *SHOWN, sessions=9, seed=0), MOST_PAIRED),
    "neighbours": (
        partial(simulate_neighbour_swaps, USERS, *SHOWN, sessions=9, seed=0), MOST_PAIRED,
    ),
    "limit": (partial(swap_limit, USERS, *SHOWN), MOST_PAIRED),
    "cost": (partial(swap_cost, *SHOWN, landmark=1), MOST_PAIRED),
    "neighbour cost": (partial(neighbour_swap_cost, *SHOWN), MOST_PAIRED),
}  # fmt: skip


@pytest.mark.parametrize("last_rank", [0, -1, 1.5, None, "3", 10**9, 2**80])
@pytest.mark.parametrize("name", TAKES_LAST_RANK)
def test_a_last_rank_out_of_range_is_refused_at_once(name: str, last_rank: Any) -> None:
    call, most = TAKES_LAST_RANK[name]
    if name == "log" and last_rank is None:
        return
    start = time.perf_counter()
    with refused("whole_number", "rank", 1, f"{most:,}"):
        call(last_rank=last_rank)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("reference", [0, 5, 1.5, None])
def test_a_reference_outside_the_ranks_is_refused(reference: Any) -> None:
    for call in (
        partial(estimate_by_em, DISPLAYS, last_rank=2),
        partial(estimate_click_rates, DISPLAYS, last_rank=2),
        partial(harvest, interventional_sets(DISPLAYS, 2)),
    ):
        with refused("whole_number", "reference", "rank", 1, 2):
            call(reference=reference)


@pytest.mark.parametrize("simulate", [simulate_swaps, simulate_shuffling, simulate_neighbour_swaps])
@pytest.mark.parametrize(
    "change", [{"sessions": 1.5}, {"sessions": 0}, {"seed": -1}, {"seed": "x"}]
)
def test_sessions_and_seeds_of_no_use_are_refused(simulate: Any, change: dict[str, Any]) -> None:
    given = {"last_rank": 4, "sessions": 10, "seed": 0} | change
    with refused("random_seed" if "seed" in change else "whole_number", *change.values()):
        simulate(USERS, *SHOWN, **given)


def test_presentations_one_by_one_have_a_limit() -> None:
    with refused("whole_number", "presentations", "100,000,000"):
        simulate_shuffling(USERS, *SHOWN, sessions=10**12, seed=0)


def test_other_faults_of_experiments_are_refused() -> None:
    users = PositionModel(PowerLaw(1.0), eps_minus=0.5)
    counts = simulate_swaps(users, *SHOWN, last_rank=3, sessions=100, seed=0)
    with refused("", "landmark", "both"):
        estimate_swaps(counts, ratio="both")  # type: ignore[arg-type]
    with refused("random_seed", -1):
        estimate_swaps(counts, bootstrap_seed=-1)
    short = np.ones(2)
    for call in (
        lambda: simulate_swaps(USERS, short, *SHOWN[1:], sessions=9, seed=0),
        lambda: swap_cost(short, *SHOWN[1:], landmark=1, last_rank=3),
        lambda: shuffling_cost(short, *SHOWN[1:]),
        lambda: neighbour_swap_cost(short, *SHOWN[1:], last_rank=3),
    ):
        with refused("", "document", "both", 2, 6):
            call()
    for change in ({"last_rank": 2.5}, {"landmark": 1.5}, {"sessions": 1.5}, {"sessions": "x"}):
        with pytest.raises(InputError):
            SwapDesign(**change)  # type: ignore[arg-type]
    for ranks in (10**9, 1.5, 0):
        with pytest.raises(InputError, match="from 1 to 1,000,000"):
            TrustBiasModel.published(ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ((1e-300, 0.5, 21, 1e-10), ("", "presentations", "4.61e+18", "0.5", "1e-10", "1e-300")),
        ((1e-300, 0.5, 21, 1e-320), ("", "presentations", "0.5", "4.61e+18")),
        ((0.1, 0.5, 21, 1e-30), ("", "presentations", "0.5", "4.61e+18")),
        ((0.1, 0.5, 2.5, 0.1), ("whole_number", "rank", "2.5", 1, 500)),
        (("a", 0.5, 21, 0.1), ("", "click", 0)),
        ((0.1, 0.5, 21, "b"), ("", 0, "0.1", "b")),
        ((0.1, 0.5, 21, np.nan), ("", "precision", "nan")),
    ],
)
def test_sessions_that_cannot_be_counted_are_refused(given: Any, fault: tuple[object, ...]) -> None:
    with refused(*fault):
        sessions_needed(*given)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: clipped_propensities([np.nan, 0.1], 0.2), ("", "propensity", 0, "nan")),
        (lambda: clipped_propensities([0.1, np.inf], 0.2), ("", "propensity", 1, "inf")),
        (lambda: clipped_propensities([0.1, -0.5], 0.2), ("", "propensity", 1, "-0.5")),
        (lambda: clipped_propensities(MASKED, 0.2), ("masked", 1, 2)),
        (lambda: clipped_propensities("ab", 0.2), ("real_numbers", "text")),
        (lambda: clipped_propensities([0.1], "x"), ("", 0, 1, "x")),
        (lambda: clipped_propensities([0.1], np.nan), ("", 0, 1, "nan")),
        (
            lambda: clipping_effect(LOG, ESTIMATORS["clipped"], Belief(PowerLaw(1.0), "x")),
            ("", 0, 1),
        ),
        (lambda: ips_weights(LOG, PowerLaw(1.0), clip="x"), ("", 0, 1, "x")),
        (lambda: full_information_weights(["a"]), ("real_numbers", "text")),
        (lambda: full_information_weights(MASKED), ("masked", 1, 2)),
        (lambda: Weights(MASKED, 1.0), ("masked", 1, 2)),
        (lambda: PositionModel((1, 0.5)), ("not_a_curve",)),
        (lambda: RelativeCurve(("a", 1)), ("real_numbers", "text")),
        (lambda: table_curve(["a"]), ("", "propensity", "rank", 1, "a")),
        (lambda: inspect_curve(["a"]), ("real_numbers", "text")),
        (lambda: inspect_curve(MASKED), ("masked", 1, 2)),
    ],
)
def test_weights_and_curves_of_a_wrong_kind_are_refused(
    call: Any, fault: tuple[object, ...]
) -> None:
    with refused(*fault) as caught:
        call()
    assert str(caught.value).endswith(".")
