"""Two numbers a row: an estimator with v other than 0, and what v = 0 leaves as it was.

The estimator is the affine correction of constant click noise, u = 1 / (p (eps+ - eps-)) and
v = -eps- / (eps+ - eps-): unbiased for the risk itself, where IPS has a slope and a constant.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from numpy.random import SeedSequence

from tests.meaning import refused
from ultr_core.corpus.ranking import query_sums
from ultr_core.propensity import (
    RowNumbers,
    Weights,
    ips_weights,
    naive_weights,
    weights_of_log,
)
from ultr_core.risk import (
    estimate_difference,
    estimate_differences,
    estimate_mean_rank,
    estimate_risk,
    estimate_risks,
    expected_delta,
    expected_risk,
    judgements,
    true_risks,
    variance_of_delta,
    variance_of_risk,
)
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts

PLUS, MINUS = 0.9, 0.2
USERS = PositionModel(PowerLaw(1.0), PLUS, MINUS)


def affine(ranks: np.ndarray) -> RowNumbers:
    p = PowerLaw(1.0).at(ranks)
    return RowNumbers(1.0 / (p * (PLUS - MINUS)), np.full(p.size, -MINUS / (PLUS - MINUS)))


def world(queries=60, seed=5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 25, queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    presented = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    judged = np.stack([np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(3)])
    return offsets, presented, judged, rng.random(offsets[-1]) < 0.25


def test_affine_numbers_are_unbiased_in_fractions_for_every_ranking() -> None:
    """One query of four documents at ranks 1 to 4, every click pattern: the error is exactly 0."""
    plus, minus = Fraction(9, 10), Fraction(1, 5)
    relevant = (1, 0, 0, 1)
    p = [Fraction(1, rank) for rank in range(1, 5)]
    pi = [x * (plus if r else minus) for x, r in zip(p, relevant, strict=True)]
    u = [1 / (x * (plus - minus)) for x in p]
    v = -minus / (plus - minus)
    for ranking in permutations(range(1, 5)):
        mean = square = Fraction(0)
        for clicks in product((0, 1), repeat=4):
            chance = Fraction(1)
            for c, x in zip(clicks, pi, strict=True):
                chance *= x if c else 1 - x
            total = sum(k * (a * c + v) for k, a, c in zip(ranking, u, clicks, strict=True))
            mean += chance * total
            square += chance * total**2
        assert mean == sum(k * r for k, r in zip(ranking, relevant, strict=True))
        spread = sum(k**2 * a**2 * x * (1 - x) for k, a, x in zip(ranking, u, pi, strict=True))
        assert square - mean**2 == spread
        numbers = RowNumbers([float(a) for a in u], float(v))
        given = ([float(x) for x in pi], numbers, np.array(ranking), [0, 4])
        assert expected_delta(*given)[0] == pytest.approx(float(mean), rel=1e-12)
        assert variance_of_delta(*given)[0] == pytest.approx(float(spread), rel=1e-12)


def test_mean_variance_and_standard_error_over_every_possible_log() -> None:
    offsets, presented = np.array([0, 2, 3]), np.array([2, 1, 1])
    pi = USERS.click_probability([True, False, True], presented)
    judged, numbers = np.array([[1, 2, 1], [2, 1, 1]]), affine(presented)
    outcomes = []
    for start, end in ((0, 2), (2, 3)):
        for pattern in product((0, 1), repeat=end - start):
            clicks, shown = np.zeros(3, int), np.zeros(3, int)
            clicks[start:end], shown[start:end] = pattern, 1
            chance = np.prod(np.where(pattern, pi[start:end], 1 - pi[start:end])) / 2
            outcomes.append((shown, clicks, chance))
    mean, square, squared_error = np.zeros(2), np.zeros(2), np.zeros(2)
    for draws in product(outcomes, repeat=3):
        shown, clicks = sum(d[0] for d in draws), sum(d[1] for d in draws)
        chance = np.prod([d[2] for d in draws])
        log = ClickLog(np.arange(3), presented, shown, clicks, 3, offsets)
        if log.clicks_only:
            # Refused; its estimate is by hand, and its squared error that of the formula.
            value, error = by_hand(log, judged, numbers)
        else:
            found = estimate_risks(log, judged, numbers)
            value, error = found.value, found.standard_error**2
            for ours, other in zip((value, error), by_hand(log, judged, numbers), strict=True):
                assert ours == pytest.approx(other, rel=1e-12, abs=1e-12)
        mean += chance * value
        square += chance * value**2
        squared_error += chance * error
    variance = variance_of_risk(pi, numbers, judged, offsets, 3)
    assert mean == pytest.approx(expected_risk(pi, numbers, judged, offsets), rel=1e-12)
    assert mean == pytest.approx(true_risks(judged, [True, False, True], offsets), rel=1e-12)
    assert square - mean**2 == pytest.approx(variance, rel=1e-12)
    assert squared_error == pytest.approx(variance, rel=1e-12)


def by_hand(log: ClickLog, judged: np.ndarray, numbers: RowNumbers) -> tuple:
    """Value and squared error of `estimate_risks`, written out for a log of whole lists."""
    n, drawn = log.query_draws, np.repeat(log.draws, np.diff(log.query_offsets))
    of_clicks = log.clicks * numbers.u
    total = query_sums(judged * (of_clicks + log.impressions * numbers.v), log.query_offsets)
    seen = log.draws > 0
    within = log.clicks * numbers.u**2 - of_clicks**2 / np.maximum(drawn, 1)
    second = (total[:, seen] ** 2 / log.draws[seen]).sum(axis=1) + judged**2 @ within
    value = total.sum(axis=1) / n
    return value, (second / n - value**2) / (n - 1)


def test_the_standard_error_is_right_on_average() -> None:
    # 1000 logs: the mean of the squared error within 3% (four of its standard errors), coverage
    # within 95% -+ 2.8 points (four standard errors); mean and spread within five. Below 1e-3.
    offsets, presented, judged, relevance = world()
    pi, numbers, draws = USERS.click_probability(relevance, presented), affine(presented), 400
    truth = true_risks(judged, relevance, offsets)
    errors = np.sqrt(variance_of_risk(pi, numbers, judged, offsets, draws))
    assert expected_risk(pi, numbers, judged, offsets) == pytest.approx(truth, rel=1e-12)
    logs = (
        simulate_counts(pi, presented, offsets, draws, seed)
        for seed in SeedSequence(23).spawn(1000)
    )
    found = [estimate_risks(log, judged, numbers) for log in logs]
    values = np.stack([estimate.value for estimate in found])
    reported = np.stack([estimate.standard_error for estimate in found])
    covered = np.abs(values - truth) <= 1.959964 * reported
    assert np.all(np.abs(covered.mean(axis=0) - 0.95) <= 0.028)
    assert np.all(np.abs(values.mean(axis=0) - truth) < 5 * errors / 1000**0.5)
    assert values.std(axis=0) == pytest.approx(errors, rel=5 / (2 * 1000) ** 0.5)
    assert np.mean(reported**2, axis=0) == pytest.approx(errors**2, rel=0.03)


def test_differences_and_means_of_ranks_take_both_numbers() -> None:
    offsets, presented, judged, relevance = world()
    log = simulate_counts(
        USERS.click_probability(relevance, presented), presented, offsets, 2_000, 3
    )
    numbers = affine(presented)
    first, second = (estimate_risk(log, ranks, numbers) for ranks in judged[:2])
    difference = estimate_difference(log, judged[0] - judged[1], numbers)
    assert difference.value == pytest.approx(first.value - second.value, rel=1e-9)
    mean = estimate_mean_rank(log, judged[0], numbers)
    assert mean.value == pytest.approx(
        first.value / estimate_risk(log, np.ones(log.n_documents), numbers).value, rel=1e-12
    )
    with refused("sum_of_weights", "-25292"):
        estimate_mean_rank(log, judged[0], RowNumbers(np.zeros(log.n_documents), -1.0))


def test_each_estimator_of_several_is_to_the_last_digit_what_it_is_alone() -> None:
    offsets, presented, judged, relevance = world(900)
    pi = USERS.click_probability(relevance, presented)
    log = simulate_counts(pi, presented, offsets, 1_500, 4)
    ones, ips = np.ones(presented.size), PowerLaw(1.0).at(presented)
    pairs = [(ones, ones), (affine(presented), affine(presented)), (ips, ips)]
    together = judgements(log, judged, pi, pairs, 1)
    for (numbers, shown), (found, apart, expected) in zip(pairs, together, strict=True):
        alone = estimate_risks(log, judged, numbers)
        assert np.array_equal(found.value, alone.value)
        assert np.array_equal(found.standard_error, alone.standard_error)
        alone = estimate_differences(log, judged - judged[1], numbers)
        assert np.array_equal(apart.value, alone.value)
        assert np.array_equal(apart.standard_error, alone.standard_error)
        assert np.array_equal(expected, expected_risk(pi, shown, judged, offsets))


def test_a_floor_changes_no_difference_of_risk_and_the_smallest_weight_is_0() -> None:
    offsets, presented, judged, relevance = world()
    log = simulate_counts(
        USERS.click_probability(relevance, presented), presented, offsets, 2_000, 3
    )
    numbers = affine(presented)
    weights = weights_of_log(log, numbers)
    assert weights.clicks == log.total_clicks
    assert np.all(np.minimum.reduceat(weights.values, offsets[:-1]) == 0)
    risks = estimate_risks(log, judged, numbers).value
    floored = judged @ weights.values / log.query_draws
    assert np.ptp(floored - risks) == pytest.approx(0, abs=1e-10)


def test_without_v_weights_are_bit_for_bit_the_summed_inverse_propensities() -> None:
    offsets, presented, _, _ = world()
    rng = np.random.default_rng(8)
    pi = rng.uniform(0.2, 0.9, presented.size)
    log = simulate_counts(pi, presented, offsets, 3_000, 3)
    assert log.clicks_per_document.min() > 0  # a floor would move every query
    q = PowerLaw(0.7).at(log.rank)
    assert np.array_equal(ips_weights(log, PowerLaw(0.7)).values, log.clicks * (1.0 / q))
    assert np.array_equal(naive_weights(log).values, log.clicks * np.ones(q.size))
    clipped = ips_weights(log, PowerLaw(0.7), clip=0.3)
    assert np.array_equal(clipped.values, log.clicks * (1.0 / np.maximum(q, 0.3)))
    given = weights_of_log(log, RowNumbers(1.0 / q, np.zeros(q.size)))
    assert np.array_equal(given.values, ips_weights(log, PowerLaw(0.7)).values)


def test_a_click_is_divided_by_its_propensity_in_one_rounding() -> None:
    p = np.arange(1, 100) / 100
    assert np.any(p * (1.0 / p) != 1)
    assert np.all(expected_delta(p, p, np.ones(99), np.arange(100)) == 1)


def test_clicks_alone_cannot_be_counted_by_impressions() -> None:
    log = ClickLog([0, 1], [1, 2], [3, 2], [3, 2], 6, [0, 2])
    numbers = affine(log.rank)
    for use in (
        lambda: weights_of_log(log, numbers),
        lambda: estimate_risk(log, [2, 1], numbers),
        lambda: estimate_mean_rank(log, [2, 1], numbers),
        lambda: estimate_difference(log, [1, -1], numbers),
    ):
        with refused("clicks_only") as error:
            use()
        assert str(error.value).count(". ") == 0
    assert estimate_risk(log, [2, 1], RowNumbers(numbers.u)).value > 0


def test_numbers_of_rows_without_a_click_or_an_impression_do_not_matter() -> None:
    log = ClickLog([0, 1, 1], [1, 2, 1], [6, 6, 0], [3, 0, 0], 6, [0, 2])
    wild = RowNumbers([2.0, np.nan, np.inf], [0.5, 0.25, np.nan])
    plain = RowNumbers([2.0, 0.0, 0.0], [0.5, 0.25, 0.0])
    assert estimate_risk(log, [2, 1], wild) == estimate_risk(log, [2, 1], plain)
    assert estimate_risk(log, [2, 1], plain).value == (2 * (6 + 3) + 1.5) / 6
    assert np.array_equal(weights_of_log(log, wild).values, [7.5, 0])


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [
        (RowNumbers([np.inf, 1.0]), ("", "rank", 1, "click", "inf")),
        (RowNumbers([1.0, 1.0], [0.0, np.nan]), ("", "rank", 2, "impression", "nan")),
        (RowNumbers([1.0, 1.0, 1.0]), ("", 3, "log", 2)),
        (RowNumbers.dividing_by([1.0, 1.0, 1.0]), ("", 3, "propensities", 2)),
        (RowNumbers.dividing_by([0.0, 1.0]), ("", "rank", 1, 3, "clicks", "propensity", 0)),
    ],
)
def test_numbers_that_cannot_be_counted_are_refused(
    numbers: RowNumbers, fault: tuple[object, ...]
) -> None:
    log = ClickLog([0, 1], [1, 2], [6, 6], [3, 1], 6, [0, 2])
    for use in (estimate_risk, estimate_mean_rank):
        with refused(*fault):
            use(log, [2, 1], numbers)
    with refused(*fault):
        weights_of_log(log, numbers)


def test_what_are_no_two_numbers_a_row_is_refused() -> None:
    with refused("row_numbers", 1):
        RowNumbers([[1.0]])
    with refused("row_numbers", 1, 2):
        RowNumbers([1.0, 1.0], [1.0])
    with refused("real_numbers"):
        RowNumbers(["a"])
    with refused("not_finite", "inf", 0):
        expected_risk([0.5], RowNumbers([np.inf]), [1], [0, 1])
    with refused("", 2, 1, "document"):
        expected_risk([0.5], RowNumbers([1.0, 1.0]), [1], [0, 1])
    with refused("", "impression", 0, "nan"):
        expected_risk([0.5], RowNumbers([1.0], np.nan), [1], [0, 1])
    with refused("", 0, "nan"):
        Weights.from_signed([np.nan, 1.0], [0, 2], 1)
