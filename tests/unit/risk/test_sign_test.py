"""The sign test of Section 7.6: the paper's table, exactness, power, traffic."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from tests.meaning import mentions, refused
from ultr_core.lab.interleaving import Contest
from ultr_core.risk.sign_test import (
    comparisons_needed,
    p_words,
    sign_test,
    sign_test_power,
    traffic_words,
    wins_by_chance,
)

PAPER = {
    (87, 48, 83): (0.0009995, 0.711, 0.644, 0.558, 0.725, 0.91),
    (95, 60, 102): (0.006133, 0.774, 0.613, 0.531, 0.690, 0.77),
}


@pytest.mark.parametrize("counts", PAPER)
def test_the_papers_table(counts: tuple[int, int, int]) -> None:
    test = sign_test(*counts)
    p_value, risk, share, low, high, power = PAPER[counts]
    assert float(f"{test.p_value:.4g}") == p_value
    assert round(test.relative_risk, 3) == risk
    assert (round(test.win_share, 3), round(test.low, 3), round(test.high, 3)) == (share, low, high)
    assert round(test.power, 2) == power
    assert test.significant
    assert mentions(test.sentence, p_words(test.p_value), f"{test.win_share:.1%}")
    assert min(1.0, 2 * test.p_value) == pytest.approx(
        {87: 0.0020, 95: 0.0123}[counts[0]], abs=5e-5
    )


@settings(derandomize=True, deadline=None, max_examples=80)
@given(st.integers(0, 400), st.integers(0, 400))
def test_p_and_interval_equal_an_independent_implementation(wins: int, losses: int) -> None:
    if wins + losses == 0:
        return
    test, reference = sign_test(wins, losses), binomtest(wins, wins + losses)
    interval = reference.proportion_ci(method="exact")
    assert test.p_value == pytest.approx(reference.pvalue, rel=1e-9)
    assert (test.low, test.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_ties_change_nothing_but_their_number() -> None:
    few, many = sign_test(10, 5), sign_test(10, 5, 1_000)
    assert few.p_value == many.p_value
    assert not many.significant
    assert mentions(many.sentence, "10 wins", "5 losses", "1,000 ties")


@pytest.mark.parametrize(("decided", "share"), [(1, 0.9), (6, 0.9), (40, 0.6), (135, 0.6444)])
def test_power_is_the_sum_of_the_outcomes_that_reject(decided: int, share: float) -> None:
    by_outcome = sum(
        float(binom.pmf(wins, decided, share))
        for wins in range(decided + 1)
        if binomtest(wins, decided).pvalue <= 0.05
    )
    assert sign_test_power(decided, share) == pytest.approx(by_outcome, abs=1e-12)


def test_the_range_of_chance_is_where_the_test_does_not_reject() -> None:
    """For every n from 1 to 2,000: p > 0.05 at both ends, and nowhere beyond them."""
    sizes = np.arange(1, 2_001)
    fewest, most = np.array([wins_by_chance(int(n)) for n in sizes]).T
    assert np.array_equal(fewest + most, sizes)
    assert (2 * binom.cdf(fewest, sizes, 0.5) > 0.05).all()
    assert (2 * binom.cdf(fewest - 1, sizes, 0.5) <= 0.05).all()
    assert (fewest <= most).all()
    with refused("no_comparison", 0):
        wins_by_chance(0)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 4_000), st.floats(0.3, 0.7))
def test_a_contest_is_within_its_range_exactly_if_it_is_not_significant(
    decided: int, share: float
) -> None:
    wins = round(share * decided)
    test = sign_test(wins, decided - wins)
    contest = Contest("naive", "the naive ranker", test, decided, 0, None, 0.5)
    fewest, most = wins_by_chance(decided)
    assert (fewest <= wins <= most) == (test.p_value > 0.05) == (not test.significant)
    assert mentions(contest.null_sentence, f"{fewest:,} to {most:,}")


def test_the_range_of_a_contest_that_was_printed_too_wide() -> None:
    """1,767 of 3,654 wins have p = 0.049, and were called within the range of chance."""
    fewest, most = wins_by_chance(3_654)
    assert sign_test(1_767, 1_887).p_value < 0.05
    assert (fewest, most) == (1_768, 1_886)


def test_traffic_reaches_the_power_for_good() -> None:
    needed = comparisons_needed(0.6444)
    assert needed is not None
    assert sign_test_power(needed - 1, 0.6444) < 0.8
    assert all(sign_test_power(n, 0.6444) >= 0.8 for n in range(needed, 2 * needed))
    assert comparisons_needed(0.3556) == needed
    assert comparisons_needed(0.5) is None
    assert comparisons_needed(0.5 + 1e-5) is None
    # Normal approximation beyond 5,000: within 1% of the exact power.
    large = comparisons_needed(0.51)
    assert large is not None
    assert sign_test_power(large, 0.51) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((0, 0, 5), ("only_ties",)),
        ((0, 0), ("no_comparison",)),
        ((-1, 3), ("count", "wins", -1)),
        ((3, 1.5), ("count", "losses", "1.5")),
    ],
)
def test_impossible_counts_are_refused(arguments: tuple, fault: tuple[object, ...]) -> None:
    with refused(*fault):
        sign_test(*arguments)
    with refused("power", 0, "0.5"):
        sign_test_power(0, 0.5)
    with refused("power", "0.6", "1.0"):
        comparisons_needed(0.6, power=1.0)


@pytest.mark.parametrize("count", [float("nan"), float("inf"), 1.5, "x", None, -1])
def test_what_is_no_count_is_refused(count):
    for arguments in ((count, 1), (1, count), (1, 1, count)):
        with refused("count", 0):
            sign_test(*arguments)
    with refused("power", "0.5"):
        sign_test_power(count, 0.5)


def test_words_never_say_that_p_is_zero_or_that_a_difference_cannot_be_shown() -> None:
    assert ", p below 0.0001." in sign_test(87, 999_999).sentence
    assert "p = 0.000999." in sign_test(87, 48, 83).sentence
    assert not re.search(r"\d", traffic_words(0.5))
    assert mentions(traffic_words(0.5 + 1e-7), "10,000,000")
    assert mentions(traffic_words(87 / 135), comparisons_needed(87 / 135))
