"""Interventional sets, pair by pair, and the three ways to turn them into a curve."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    DisplayCounts,
    display_counts,
    estimate_by_em,
    estimate_click_rates,
    harvest,
    interventional_sets,
    pair_relevance,
)

TRUTH = np.array([1.0, 0.6, 0.5, 0.2])


def expected_displays(pairs: list[tuple[int, int]], displays: int = 10_000) -> DisplayCounts:
    """Documents shown at two ranks each, clicked exactly as often as expected; 40 queries."""
    rows = []
    for query in range(40):
        for number, (k, other) in enumerate(pairs):
            document = query * 100 + number
            relevance = 0.2 + 0.1 * number
            for rank in (k, other):
                clicks = round(displays * TRUTH[rank - 1] * relevance)
                rows.append((query, document, rank, displays, clicks))
    return display_counts(*np.array(rows).T)


ALL = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]


@pytest.mark.parametrize("method", ["pivot", "chain", "all-pairs"])
def test_expected_clicks_give_the_true_curve(method: str) -> None:
    estimate = harvest(interventional_sets(expected_displays(ALL), 4), method=method)  # type: ignore[arg-type]
    assert [point.value for point in estimate.points] == pytest.approx(TRUTH, rel=1e-9)


def test_one_relevance_for_each_unordered_pair_and_the_right_one() -> None:
    sets = interventional_sets(expected_displays(ALL), 4)
    assert [tuple(pair) for pair in sets.pairs] == ALL
    assert pair_relevance(sets, TRUTH) == pytest.approx(0.2 + 0.1 * np.arange(6), rel=1e-9)
    assert harvest(sets).pairs == len(ALL)
    assert harvest(sets, method="chain").pairs == 3
    assert harvest(sets, method="pivot").pairs == 3
    fewer = interventional_sets(expected_displays([(1, 2), (2, 4)]), 4)
    assert harvest(fewer).pairs == len(fewer.pairs) == pair_relevance(fewer, TRUTH).size == 2


def test_a_pair_never_shown_is_missing() -> None:
    """Documents moved between 1 and 2 and between 3 and 4 only: nothing links the halves."""
    sets = interventional_sets(expected_displays([(1, 2), (3, 4)]), 4)
    assert sets.exposure[0, 2] == sets.exposure[1, 2] == 0
    for method in ("pivot", "chain", "all-pairs"):
        estimate = harvest(sets, method=method)  # type: ignore[arg-type]
        assert estimate.missing == (3, 4)
        assert estimate.points[1].value == pytest.approx(0.6)


def test_all_pairs_reaches_ranks_that_the_others_cannot() -> None:
    """1-3 and 3-2: no pair (1, 2) for the pivot and the chain, but a way round for all pairs."""
    sets = interventional_sets(expected_displays([(1, 3), (2, 3)]), 3)
    assert harvest(sets, method="pivot").missing == (2,)
    with refused("reference_not_linked", "rank 1", "rank 2"):
        harvest(sets, method="chain")
    assert [p.value for p in harvest(sets).points] == pytest.approx(TRUTH[:3], rel=1e-9)


def test_weights_are_display_counts() -> None:
    """10 and 40 displays of one document stand for 10 x 40 / 50 comparable displays at each."""
    sets = interventional_sets(display_counts([0, 0], [0, 0], [1, 2], [10, 40], [5, 8]), 2)
    assert sets.exposure[0, 1] == pytest.approx(8)
    assert sets.clicks.sum(axis=0)[0, 1] == pytest.approx(5 * 40 / 50)
    assert sets.clicks.sum(axis=0)[1, 0] == pytest.approx(8 * 10 / 50)


def test_a_moved_document_is_one_document_with_two_positions() -> None:
    """Query lamp: a at 2 (clicked) and 5, b at 1."""
    log = display_counts([0, 0, 0], [0, 0, 1], [2, 5, 1], [1, 1, 1], [1, 0, 0])
    assert np.unique(log.document).size == 2
    views = log.by_rank(5)
    assert views.impressions.tolist() == [1, 1, 0, 0, 1]
    assert views.clicks.tolist() == [0, 1, 0, 0, 0]


def test_one_ranker_gives_nothing_to_harvest() -> None:
    still = display_counts([0, 0], [0, 1], [1, 2], [9, 9], [3, 1])
    with refused("two_rankers"):
        interventional_sets(still, 2)
    with refused("two_rankers"):
        estimate_by_em(still, last_rank=2)


def test_faults_are_named() -> None:
    unclicked = interventional_sets(display_counts([0, 0], [0, 0], [1, 2], [9, 9], [0, 0]), 2)
    with refused("no_click"):
        harvest(unclicked)
    sets = interventional_sets(expected_displays(ALL), 4)
    with pytest.raises(InputError, match="from 1 to 4"):
        harvest(sets, reference=5)
    with refused("harvest_way"):
        harvest(sets, method="pairs")  # type: ignore[arg-type]
    with refused("", "click", 1, 2):
        display_counts([0], [0], [1], [1], [2])
    with refused("rank_from_1", 0):
        display_counts([0], [0], [0], [1], [1])
    with refused("", "rank", 2, "clicked"):
        estimate_click_rates(
            display_counts([0, 0], [0, 1], [1, 2], [9, 9], [3, 0]), last_rank=2, reference=2
        )


def test_too_few_clicks_for_an_interval_are_said() -> None:
    few = display_counts([0, 0], [0, 0], [1, 2], [9, 9], [3, 1])
    point = harvest(interventional_sets(few, 2)).points[1]
    assert point.value == pytest.approx(1 / 3)
    assert point.low is None
    assert point.reason


@pytest.mark.parametrize("method", ["pivot", "chain", "all-pairs"])
def test_which_ranker_served_may_depend_on_the_query(method: str) -> None:
    """With expected counts the ratios are exact: each document is weighted by its own displays.

    Queries with many relevant documents are served nearly always by the first ranker, the others
    nearly always by the second one.
    """
    curve = np.array([1.0, 0.5, 0.25])
    orders = ([0, 1, 2], [2, 0, 1])
    rows = []
    for query, (rates, draws) in enumerate([([0.8, 0.4, 0.8], (3600, 400)),
                                            ([0.1, 0.2, 0.1], (400, 3600))]):  # fmt: skip
        for order, shown in zip(orders, draws, strict=True):
            for place, document in enumerate(order):
                clicks = round(shown * curve[place] * rates[document])
                assert clicks == pytest.approx(shown * curve[place] * rates[document])
                rows.append((query, 3 * query + document, place + 1, shown, clicks))
    displays = display_counts(*np.array(rows).T)
    found = harvest(interventional_sets(displays, 3), method=method)  # type: ignore[arg-type]
    values = [point.value for point in found.points]
    assert values == pytest.approx(curve.tolist(), rel=1e-9)
    assert mentions(PROPENSITY_METHODS[method].assumes, "query")
    # Which rows are compared matters: click rates as they are depend on who served what.
    rates = [p.value for p in estimate_click_rates(displays, last_rank=3).points]
    assert rates[1] != pytest.approx(0.5, rel=0.05)
