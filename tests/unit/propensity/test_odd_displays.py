"""Displays, ranks, seeds and sessions of a wrong kind, each refused in one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.unit.propensity.test_swap_experiment import SHOWN
from ultr_core.errors import InputError
from ultr_core.files import parse_log
from ultr_core.inspection import inspect_curve
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.propensity import (
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
    with pytest.raises(InputError, match=r"add up to 1.84e\+19, more than can be counted"):
        display_counts(QUERY, DOCUMENT, RANK, [2**62] * 4, CLICKS)
    with pytest.raises(InputError, match="more than can be counted"):
        ClickLog([0, 1], [1, 2], [2**61, 2**61], [1, 1], 2**61, [0, 2])
    most = display_counts(QUERY, DOCUMENT, RANK, [2**59] * 4, CLICKS)
    assert estimate_click_rates(most, last_rank=2).points[0].impressions == 2**60


@pytest.mark.parametrize(
    ("column", "given", "words"),
    [
        (0, ["a", "b", "a", "b"], "column query must be real numbers, not text"),
        (1, [0, 1, 0.5, 1], "column document must be whole numbers, but entry 2"),
        (2, [1, 2, 2], r"equally long lists, not of shapes query \(4,\), .* rank \(3,\)"),
        (2, [[1, 2, 2, 1]], "equally long"),
        (3, np.ma.masked_equal([30, 30, 30, 1], 1), "1 of 4 entries are masked"),
        (4, [20, 9, np.nan, 18], "column clicks must be whole numbers, but entry 2 .* nan"),
        (4, [20, 9, None, 18], "column clicks must be real numbers"),
    ],
)
def test_columns_of_a_wrong_kind_are_refused(column: int, given: Any, words: str) -> None:
    columns: list[Any] = [QUERY, DOCUMENT, RANK, SHOWN_AT, CLICKS]
    columns[column] = given
    with pytest.raises(InputError, match=words):
        display_counts(*columns)


def test_counts_are_whole_and_equally_many() -> None:
    for impressions, clicks, words in (
        ([3, 4], [1.5, 2], "must be whole numbers, but entry 0"),
        ([3, 4], ["a", "b"], "not text"),
        ([3, 4], [1], "one number of impressions and one of clicks"),
    ):
        with pytest.raises(InputError, match=words):
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
    with pytest.raises(InputError, match=rf"last rank is .* whole number from 1 to {most:,}"):
        call(last_rank=last_rank)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("reference", [0, 5, 1.5, None])
def test_a_reference_outside_the_ranks_is_refused(reference: Any) -> None:
    for call in (
        partial(estimate_by_em, DISPLAYS, last_rank=2),
        partial(estimate_click_rates, DISPLAYS, last_rank=2),
        partial(harvest, interventional_sets(DISPLAYS, 2)),
    ):
        with pytest.raises(InputError, match=r"reference rank is .* whole number from 1 to 2"):
            call(reference=reference)


@pytest.mark.parametrize("simulate", [simulate_swaps, simulate_shuffling, simulate_neighbour_swaps])
@pytest.mark.parametrize(
    "change", [{"sessions": 1.5}, {"sessions": 0}, {"seed": -1}, {"seed": "x"}]
)
def test_sessions_and_seeds_of_no_use_are_refused(simulate: Any, change: dict[str, Any]) -> None:
    given = {"last_rank": 4, "sessions": 10, "seed": 0} | change
    with pytest.raises(InputError, match=r"number of presentations|seed must be"):
        simulate(USERS, *SHOWN, **given)


def test_presentations_one_by_one_have_a_limit() -> None:
    with pytest.raises(InputError, match="from 1 to 100,000,000"):
        simulate_shuffling(USERS, *SHOWN, sessions=10**12, seed=0)


def test_other_faults_of_experiments_are_refused() -> None:
    users = PositionModel(PowerLaw(1.0), eps_minus=0.5)
    counts = simulate_swaps(users, *SHOWN, last_rank=3, sessions=100, seed=0)
    with pytest.raises(InputError, match="landmark or pooled, not 'both'"):
        estimate_swaps(counts, ratio="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="seed must be"):
        estimate_swaps(counts, bootstrap_seed=-1)
    short = np.ones(2)
    for call in (
        lambda: simulate_swaps(USERS, short, *SHOWN[1:], sessions=9, seed=0),
        lambda: swap_cost(short, *SHOWN[1:], landmark=1, last_rank=3),
        lambda: shuffling_cost(short, *SHOWN[1:]),
        lambda: neighbour_swap_cost(short, *SHOWN[1:], last_rank=3),
    ):
        with pytest.raises(InputError, match="every document needs one of both"):
            call()
    for change in ({"last_rank": 2.5}, {"landmark": 1.5}, {"sessions": 1.5}, {"sessions": "x"}):
        with pytest.raises(InputError):
            SwapDesign(**change)  # type: ignore[arg-type]
    for ranks in (10**9, 1.5, 0):
        with pytest.raises(InputError, match="from 1 to 1,000,000"):
            TrustBiasModel.published(ranks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((1e-300, 0.5, 21, 1e-10), r"more presentations than can be counted, 4.61e\+18"),
        ((1e-300, 0.5, 21, 1e-320), "more presentations"),
        ((0.1, 0.5, 21, 1e-30), "more presentations"),
        ((0.1, 0.5, 2.5, 0.1), "last rank is 2.5"),
        (("a", 0.5, 21, 0.1), "click rates above 0"),
        ((0.1, 0.5, 21, "b"), "precision must be above 0, for example 0.1, not 'b'"),
        ((0.1, 0.5, 21, np.nan), "precision"),
    ],
)
def test_sessions_that_cannot_be_counted_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sessions_needed(*given)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: clipped_propensities([np.nan, 0.1], 0.2), "Propensity 0 .* is nan"),
        (lambda: clipped_propensities([0.1, np.inf], 0.2), "Propensity 1 .* is inf"),
        (lambda: clipped_propensities([0.1, -0.5], 0.2), "Propensity 1 .* is -0.5"),
        (lambda: clipped_propensities(MASKED, 0.2), "masked"),
        (lambda: clipped_propensities("ab", 0.2), "not text"),
        (lambda: clipped_propensities([0.1], "x"), r"lie in \[0, 1\], not 'x'"),
        (lambda: clipped_propensities([0.1], np.nan), r"lie in \[0, 1\], not nan"),
        (lambda: clipping_effect(LOG, [1.0, 0.5], "x"), r"lie in \[0, 1\]"),
        (lambda: ips_weights(LOG, PowerLaw(1.0), clip="x"), r"lie in \[0, 1\], not 'x'"),
        (lambda: full_information_weights(["a"]), "not text"),
        (lambda: full_information_weights(MASKED), "masked"),
        (lambda: Weights(MASKED, 1.0), "masked"),
        (lambda: PositionModel((1, 0.5)), "must be a curve such as"),
        (lambda: RelativeCurve(("a", 1)), "not text"),
        (lambda: table_curve(["a"]), "propensity of rank 1 is 'a'"),
        (lambda: inspect_curve(["a"]), "not text"),
        (lambda: inspect_curve(MASKED), "masked"),
    ],
)
def test_weights_and_curves_of_a_wrong_kind_are_refused(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")
