"""True risk, intervals over draws, and agreement of two orders."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from tests.meaning import refused
from ultr_core.risk import (
    Estimate,
    interval_over_draws,
    kendall_tau,
    mean_rank_of_relevant,
    order_agreement,
    true_risk,
    true_risks,
)

OFFSETS = [0, 3, 5]
RANKS = np.array([[2, 1, 3, 1, 2], [1, 2, 3, 2, 1]])
RELEVANCE = np.array([True, False, True, False, False])


def test_true_risk_is_the_mean_over_all_queries():
    assert true_risk(RANKS[0], RELEVANCE, OFFSETS) == 2.5
    assert true_risks(RANKS, RELEVANCE, OFFSETS).tolist() == [2.5, 2.0]
    assert true_risk(RANKS[0], RELEVANCE, OFFSETS, only_with_relevant=True) == 5
    assert isinstance(true_risk(RANKS[0], RELEVANCE, OFFSETS), float)
    assert mean_rank_of_relevant(RANKS[0], RELEVANCE) == 2.5
    assert mean_rank_of_relevant(RANKS[1], RELEVANCE) == 2.0


def test_a_corpus_without_relevance_has_risk_zero_but_no_mean_rank():
    assert true_risk(RANKS[0], np.zeros(5, bool), OFFSETS) == 0
    with refused("nothing_relevant"):
        true_risk(RANKS[0], np.zeros(5, bool), OFFSETS, only_with_relevant=True)
    with refused("nothing_relevant"):
        mean_rank_of_relevant(RANKS[0], np.zeros(5))
    with refused("", "document", 1, 4, 5):
        true_risk(RANKS[0], np.zeros(4, bool), OFFSETS)


def test_an_interval_over_draws_is_students():
    values = [12.1, 11.4, 12.9, 12.2, 11.8]
    estimate = interval_over_draws(values)
    reference = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert estimate.value == pytest.approx(np.mean(values), rel=1e-14)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(reference), rel=1e-12)
    assert estimate.standard_error == pytest.approx(stats.sem(values), rel=1e-12)
    assert (estimate.n, estimate.effective_sample_size) == (5, 5)


def test_a_single_draw_has_no_interval():
    assert interval_over_draws([3.0]) == Estimate(3.0, 0.0, 3.0, 3.0, 1, 1.0)
    assert np.isnan(interval_over_draws([3.0]).ends).all()
    assert np.isnan(interval_over_draws([3.0, 4.0]).without_interval("Too few.").ends).all()
    low, high = interval_over_draws([3.0, 4.0]).ends
    assert low < 3.5 < high
    for values in ([], [1.0, np.nan], [[1.0], [2.0]]):
        with refused("no_draw"):
            interval_over_draws(values)


def test_a_normal_interval():
    estimate = Estimate.normal(10, 2, 100, 50)
    assert (estimate.low, estimate.high) == pytest.approx((6.080072, 13.919928), rel=1e-6)
    for value, error in ((np.nan, 1), (1, np.inf), (1, -1)):
        with refused("", "standard", 1):
            Estimate.normal(value, error, 1, 1)


def test_kendalls_tau_is_the_same_in_blocks(monkeypatch):
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 30, (2, 101))
    whole = kendall_tau(first, second)
    monkeypatch.setattr("ultr_core.risk.agreement._PAIRS_AT_ONCE", 700)  # seven rows each
    assert (
        kendall_tau(first, second)
        == whole
        == pytest.approx(stats.kendalltau(first, second).statistic)
    )


def test_kendalls_tau():
    assert kendall_tau([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert kendall_tau([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    # Five concordant pairs and one discordant.
    assert kendall_tau([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(4 / 6)


@pytest.mark.parametrize("items", [2, 60, 1_000])
def test_tau_has_the_digits_of_scipy_also_with_ties(items: int) -> None:
    random = np.random.default_rng(items)
    a = np.append(random.integers(0, items, items - 1).astype(float), -1.0)
    b = (a + random.normal(0, items, items)).round(0)
    b[0] = b[-1] + 1
    assert kendall_tau(a, b) == stats.kendalltau(a, b).statistic


@pytest.mark.parametrize(
    ("a", "b", "fault"),
    [
        ([1, 2], [1, 2, 3], ("two_lists", 2, 3)),
        ([1], [1], ("two_lists", 1)),
        ([1, np.nan], [1, 2], ("not_finite",)),
        ([1, 1], [1, 2], ("equal_numbers",)),
    ],
)
def test_tau_that_is_not_defined_is_refused(a, b, fault: tuple[object, ...]):
    with refused(*fault):
        kendall_tau(a, b)


def test_equal_numbers_agree_with_no_order() -> None:
    assert order_agreement([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) == 0.0
    assert order_agreement([3.0, 2.0, 1.0], [1.0, 2.0, 3.0]) == -1.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("document", [0, 1])
def test_ranks_that_are_no_number_are_refused_also_where_nothing_is_relevant(value, document):
    ranks = RANKS.astype(float)
    ranks[1, document] = value
    for call in (
        lambda: true_risks(ranks, RELEVANCE, OFFSETS),
        lambda: true_risk(ranks[1], RELEVANCE, OFFSETS),
        lambda: mean_rank_of_relevant(ranks[1], RELEVANCE),
    ):
        with refused("", "rank", "document", document, value):
            call()


@pytest.mark.parametrize(
    ("ranks", "relevance", "fault"),
    [
        (["a"] * 5, RELEVANCE, ("real_numbers", "ranks", "text")),
        ([1, [2, 3]], RELEVANCE, ("array", "ranks")),
        (None, RELEVANCE, ("real_numbers", "ranks")),
        (RANKS[0], [1, np.nan, 0, 0, 0], ("", "relevance", "document", 1, "nan", 0)),
        (RANKS[0], [1, 0, -1, 0, 0], ("", "relevance", "document", 2, 0, -1)),
        (RANKS[0], [1j] * 5, ("real_numbers", "complex")),
        ([1], [1, 0], ("", "document", "both", 1, 2)),
        (np.array(RANKS[0]) - 1, RELEVANCE, ("", "rank", 0, "ranks", 1)),
    ],
)
def test_what_is_no_rank_or_relevance_is_refused(ranks, relevance, fault: tuple[object, ...]):
    with refused(*fault):
        true_risk(ranks, relevance, OFFSETS)
    with refused(*fault):
        mean_rank_of_relevant(ranks, relevance)


@pytest.mark.parametrize("values", [[1e308, -1e308], [1.7e308] * 3, [1e200, 1e308], [1e308] * 2])
def test_an_interval_beyond_all_numbers_is_refused(values):
    with refused("too_large", "1.8e+308") as caught:
        interval_over_draws(values)
    assert not re.search("nan|inf", str(caught.value))
    with refused("too_large", "1.8e+308"):
        Estimate.normal(1e308, 1e308, 2, 2.0)


@pytest.mark.parametrize("compare", [kendall_tau, order_agreement])
@pytest.mark.parametrize("lists", [([], []), ([1, 2], [1]), ([1, 1], [1]), ([1], [1]), (1, 2)])
def test_lists_that_cannot_be_compared_are_refused_by_both(compare, lists):
    with refused("two_lists"):
        compare(*lists)
    for value, about in ((np.nan, "not_finite"), ("b", "real_numbers"), (None, "real_numbers")):
        with refused(about):
            compare([1, 2], [3, value] if value != "b" else ["a", "b"])
