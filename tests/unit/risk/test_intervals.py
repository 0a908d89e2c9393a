"""Intervals of skewed sums: exact cases, by hand, and how often they hold what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from scripts.risk_intervals import BY_CURVE, cases, table
from tests.meaning import mentions
from ultr_core.propensity import ESTIMATORS, RowNumbers
from ultr_core.risk import (
    Estimate,
    estimate_difference,
    estimate_mean_rank,
    estimate_risk,
    estimate_risks,
    too_few_clicks,
)
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.risk.estimators import LARGER
from ultr_core.risk.intervals import Sums, difference_ends, gamma_ends
from ultr_core.users import ClickLog, PowerLaw, simulate_counts


def sums(value: float, error: float, largest: float) -> Sums:
    return Sums(np.array([value]), np.array([error]), np.array([largest]))


@pytest.mark.parametrize("count", [1, 3, 40, 10**6])
@pytest.mark.parametrize("weight", [1.0, 1e-3])
def test_of_equal_clicks_it_is_the_exact_interval_of_a_poisson_count(
    count: int, weight: float
) -> None:
    low, high = gamma_ends(sums(weight * count, weight * count**0.5, weight))
    exact = chi2.ppf(0.025, 2 * count) / 2, chi2.ppf(0.975, 2 * count + 2) / 2
    assert (low[0], high[0]) == pytest.approx((weight * exact[0], weight * exact[1]), rel=1e-8)


def test_without_spread_there_is_nothing_but_the_next_draw() -> None:
    assert gamma_ends(sums(2.0, 0.0, 0.0)) == (2.0, 2.0)
    assert gamma_ends(sums(0.0, 0.0, 0.0)) == (0.0, 0.0)
    low, high = gamma_ends(sums(0.0, 0.0, 1.0))
    assert (low[0], high[0]) == pytest.approx((0.0, chi2.ppf(0.975, 2) / 2))


positive = st.floats(0.1, 50.0)


@settings(max_examples=80, deadline=None)
@given(positive, positive, positive, positive, st.floats(-1, 1))
def test_parts_are_put_together(
    first: float, second: float, error: float, other: float, r: float
) -> None:
    """The larger value lies within, turned round the ends change sides, one part is itself."""
    above, below = sums(first, error, error), sums(second, other, other)
    spread = np.sqrt(error**2 + other**2 - 2 * r * error * other).reshape(1)
    low, high = difference_ends(above, below, spread)
    back = difference_ends(below, above, spread)
    assert low[0] <= first - second <= high[0]
    assert (-back[1][0], -back[0][0]) == pytest.approx((low[0], high[0]), rel=1e-9, abs=1e-9)
    alone = difference_ends(above, sums(0.0, 0.0, 0.0), above.error)
    assert np.array(alone) == pytest.approx(np.array(gamma_ends(above)), rel=1e-9)


def test_of_many_clicks_it_is_the_normal_interval() -> None:
    above, below, spread = sums(900.0, 1e-2, 1e-6), sums(700.0, 2e-2, 1e-6), np.array([2.5e-2])
    low, high = difference_ends(above, below, spread)
    reach = NORMAL_QUANTILE * 2.5e-2
    assert (200 - low[0], high[0] - 200) == pytest.approx((reach, reach), rel=1e-3)


def some_log(queries: int = 700, draws: int = 2_000, seed: int = 4) -> tuple[ClickLog, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, queries)
    offsets = np.append(0, np.cumsum(sizes))
    presented = np.concatenate([np.arange(size) + 1 for size in sizes])
    log = simulate_counts(rng.uniform(0.2, 1, presented.size), presented, offsets, draws, seed)
    return log, np.stack(
        [np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(5)]
    )


def largest_by_hand(log: ClickLog, places: np.ndarray, u: np.ndarray) -> float:
    added = places[log.document] * u
    query = np.searchsorted(log.query_offsets, log.document, side="right") - 1
    of_query = np.bincount(query, added * log.clicks) / np.maximum(log.draws, 1)
    return LARGER * max(of_query.max(), added[log.clicks > 0].max()) / log.query_draws


def test_estimates_have_the_ends_of_their_value_error_and_largest_draw() -> None:
    """More clicked documents than the heaviest is sought among: it is still found."""
    log, ranks = some_log()
    assert np.count_nonzero(log.clicks) > 3_000
    u = 1 / PowerLaw(1.0).at(log.rank)
    found = estimate_risks(log, ranks, RowNumbers(u))
    for ranker, places in enumerate(ranks):
        by_hand = gamma_ends(
            sums(found.value[ranker], found.standard_error[ranker], largest_by_hand(log, places, u))
        )
        ends = found.low[ranker], found.high[ranker]
        assert ends == pytest.approx(np.ravel(by_hand), rel=1e-9)


def test_differences_and_mean_ranks_are_parts_above_and_below_0() -> None:
    log, ranks = some_log()
    u = 1 / PowerLaw(1.0).at(log.rank)
    numbers = RowNumbers(u)

    def ends(signed: np.ndarray) -> tuple[Estimate, np.ndarray]:
        parts = []
        for side in (np.maximum(signed, 0), np.maximum(-signed, 0)):
            alone = (
                estimate_risk(log, side + 1.0, numbers),
                estimate_risk(log, np.ones(side.size), numbers),
            )
            part = estimate_difference(log, side, numbers)
            assert part.value == pytest.approx(alone[0].value - alone[1].value)
            parts.append(sums(part.value, part.standard_error, largest_by_hand(log, side, u)))
        both = estimate_difference(log, signed, numbers)
        return both, np.ravel(difference_ends(*parts, np.array([both.standard_error])))

    both, by_hand = ends((ranks[0] - ranks[1]).astype(float))
    assert (both.low, both.high) == pytest.approx(by_hand, rel=1e-9)
    mean = estimate_mean_rank(log, ranks[0], numbers)
    _, by_hand = ends(ranks[0] - mean.value)
    weight = estimate_risk(log, np.ones(ranks[0].size), numbers).value
    assert (mean.low, mean.high) == pytest.approx(mean.value + by_hand / weight, rel=1e-9)


def test_where_impressions_count_the_interval_is_normal() -> None:
    log, ranks = some_log()
    found = estimate_risk(log, ranks[0], RowNumbers(np.ones(log.rank.size), 0.1))
    reach = NORMAL_QUANTILE * found.standard_error
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def log_with(
    clicks: list[int], draws: int, shown: list[int] | None = None, ranks: list[int] | None = None
) -> ClickLog:
    places = np.arange(len(clicks))
    return ClickLog(
        places, places + 1 if ranks is None else ranks, shown or [draws] * len(clicks), clicks,
        draws, [0, len(clicks)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("clicks", "draws", "q", "needed"),
    [
        ([250, 0], 250, [1, 1], ""),
        ([199, 0], 400, [1, 1], "200"),
        ([130, 100], 150, [1, 1], "310"),
        ([0, 0], 400, [1, 1], "400"),
        # Weights 1 and 10, 10 clicks expected at the first for one at the second, wherever they
        # are: m_2 = 110 / 11 and m_3 = 1010 / 11, so that 55 m_3^2 / m_2^3 = 463.7 are needed.
        ([400, 0], 400, [1, 0.1], "470"),
        ([0, 400], 400, [1, 0.1], "470"),
        ([600, 0], 600, [1, 0.1], ""),
        ([250, 0], 250, [1, 0.0], ""),
    ],
)
def test_too_few_clicks_say_how_many_it_takes(
    clicks: list[int], draws: int, q: list[float], needed: str
) -> None:
    log = log_with(clicks, draws)
    reason = too_few_clicks(log, q)
    assert bool(reason) == bool(needed)
    assert mentions(reason, needed)
    found = estimate_risk(log, [1, 2], q)
    assert found.no_interval == reason
    assert np.isfinite([found.low, found.high]).all() == (not reason)
    assert found.side == (0 if reason else 1)
    assert mentions(found.interval_text(), reason or f"{found.low:.3f}")


def test_the_evenness_of_a_log_of_clicks_is_that_of_its_clicks() -> None:
    few, many = ([90, 10], [900, 100])
    weight, share = np.array([1.0, 10.0]), np.array([0.9, 0.1])
    evenness = (share @ weight**2) ** 3 / (share @ weight**3) ** 2
    for clicks in (few, many):
        log = log_with(clicks, 1_000, shown=clicks)
        assert log.clicks_only
        enough = evenness * sum(clicks) >= 55
        assert (too_few_clicks(log, 1 / weight) == "") == enough


def test_a_part_of_the_table_of_coverage() -> None:
    """60 logs of about 500 clicks, ε₋ = 0, with the paper's estimators: a part of the table in
    docs/intervals.md. A new estimator is in the script's rows; its coverage is its own to measure.

    Were the coverage of one kind 0.93, the limit asked for, it would hold in 47 logs or fewer with
    probability 0.0004; ten kinds: below 0.004. Normal intervals of the same logs hold less often.
    """
    every = table(cases(1.0, 0.0, 500, 60, seed=2))
    assert len(every) == sum(1 if each.normalised else 3 for each in BY_CURVE.values())
    of_paper = tuple(f"{ESTIMATORS[key].label}, " for key in ("naive", "ips", "clipped", "snips"))
    rows = [row for row in every if row.kind.startswith(of_paper)]
    assert len(rows) == 10
    for row in rows:
        assert row.shown == 1
        assert row.held * 60 > 47, row
        assert 1 < row.width < 1.6, row
    weighted = [row for row in rows if not row.kind.startswith("Naive")]
    assert sum(row.held for row in weighted) > sum(row.normal for row in weighted) + 0.1
