"""Estimated risks and their standard errors: over every possible log, and over many simulated."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.random import SeedSequence

from tests.meaning import refused
from ultr_core.corpus.ranking import query_sums
from ultr_core.errors import InputError
from ultr_core.propensity import clipped_propensities
from ultr_core.risk import (
    affine_law,
    estimate_differences,
    estimate_risk,
    estimate_risks,
    expected_risk,
    judgements,
    plus_minus,
    true_risk,
    true_risks,
    variance_of_risk,
)
from ultr_core.risk.inputs import rank_blocks
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts, simulate_sessions

# Two queries of three and two documents.
OFFSETS = np.array([0, 3, 5])
PRESENTED = np.array([2, 1, 3, 1, 2])
JUDGED = np.array([[1, 3, 2, 2, 1], [3, 1, 2, 1, 2], [2, 1, 3, 2, 1]])
RELEVANCE = np.array([True, False, True, False, True])


def every_log(pi, query_draws):
    """Every log of N draws (each outcome of queries and clicks) and its probability."""
    per_query = []
    for start, end in ((0, 3), (3, 5)):
        patterns = np.array(list(product([0, 1], repeat=end - start)))
        probability = np.prod(np.where(patterns, pi[start:end], 1 - pi[start:end]), axis=1)
        clicks = np.zeros((len(patterns), 5), int)
        clicks[:, start:end] = patterns
        shown = np.zeros(5, int)
        shown[start:end] = 1
        per_query += [(shown, row, p / 2) for row, p in zip(clicks, probability, strict=True)]
    for draws in product(per_query, repeat=query_draws):
        log = ClickLog(
            document=np.arange(5),
            rank=PRESENTED,
            impressions=sum(d[0] for d in draws),
            clicks=sum(d[1] for d in draws),
            query_draws=query_draws,
            query_offsets=OFFSETS,
        )
        yield log, np.prod([d[2] for d in draws])


@pytest.mark.parametrize("query_draws", [2, 3])
@pytest.mark.parametrize("estimator", ["naive", "propensity", "clipped"])
def test_mean_variance_and_standard_error_over_every_possible_log(query_draws, estimator):
    pi = PositionModel(PowerLaw(1), 0.9, 0.2).click_probability(RELEVANCE, PRESENTED)
    clip = {"naive": 1, "propensity": 0, "clipped": 0.4}[estimator]
    q = clipped_propensities(PowerLaw(1).at(PRESENTED), clip)
    mean, square, squared_error, total = 0, 0, 0, 0
    for log, probability in every_log(pi, query_draws):
        estimates = estimate_risks(log, JUDGED, q)
        mean = mean + probability * estimates.value
        square = square + probability * estimates.value**2
        squared_error = squared_error + probability * estimates.standard_error**2
        total += probability
    variance = variance_of_risk(pi, q, JUDGED, OFFSETS, query_draws)
    assert total == pytest.approx(1, rel=1e-12)
    assert mean == pytest.approx(expected_risk(pi, q, JUDGED, OFFSETS), rel=1e-12)
    assert square - mean**2 == pytest.approx(variance, rel=1e-12)
    # The squared standard error is unbiased for the variance.
    assert squared_error == pytest.approx(variance, rel=1e-12)


def world(queries=60, seed=5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 25, queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    presented = np.concatenate([rng.permutation(m) + 1 for m in sizes])
    judged = np.stack([np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(4)])
    return offsets, presented, judged, rng.random(offsets[-1]) < 0.25


@pytest.mark.parametrize(("eta", "eps_minus", "query_draws"), [(1, 0.1, 400), (0.5, 0, 5000)])
def test_intervals_cover_and_errors_are_calibrated(eta, eps_minus, query_draws):
    # 400 logs: the intervals hold 95% or more less 4.4 points (four standard errors), for three
    # rankers; mean and spread within five standard errors. False-alarm rate below 1e-3.
    offsets, presented, judged, relevance = world()
    judged = judged[:3]
    model = PositionModel(PowerLaw(eta), 1, eps_minus)
    pi, q = model.click_probability(relevance, presented), PowerLaw(eta).at(presented)
    truth = expected_risk(pi, q, judged, offsets)
    errors = np.sqrt(variance_of_risk(pi, q, judged, offsets, query_draws))
    seeds = SeedSequence(17).spawn(400)
    logs = (simulate_counts(pi, presented, offsets, query_draws, seed) for seed in seeds)
    estimates = [estimate_risks(log, judged, q) for log in logs]
    values = np.stack([e.value for e in estimates])
    standard_errors = np.stack([e.standard_error for e in estimates])
    covered = np.stack([(e.low <= truth) & (truth <= e.high) for e in estimates])
    assert np.all(covered.mean(axis=0) >= 0.906)
    assert np.all(np.abs(values.mean(axis=0) - truth) < 5 * errors / 400**0.5)
    assert values.std(axis=0) == pytest.approx(errors, rel=5 / (2 * 400) ** 0.5)
    assert np.mean(standard_errors**2, axis=0) == pytest.approx(errors**2, rel=0.05)


def test_the_error_falls_with_the_root_of_the_draws():
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, presented)
    errors = []
    for query_draws in (10_000, 1_000_000):
        log = simulate_counts(pi, presented, offsets, query_draws, 3)
        errors.append(estimate_risks(log, judged, 1 / presented).standard_error)
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.1)


def test_weighting_finds_the_risk_and_the_noise_line():
    # Within five standard errors at 100,000 draws, for four rankers and two noise levels.
    offsets, presented, judged, relevance = world()
    risks = true_risks(judged, relevance, offsets)
    for eps_plus, eps_minus in ((1, 0), (1, 0.1), (0.8, 0.2)):
        model = PositionModel(PowerLaw(1), eps_plus, eps_minus)
        pi = model.click_probability(relevance, presented)
        log = simulate_counts(pi, presented, offsets, 100_000, 12)
        estimates = estimate_risks(log, judged, PowerLaw(1).at(log.rank))
        expected = affine_law(eps_plus, eps_minus, np.diff(offsets)).expected(risks)
        assert np.all(np.abs(estimates.value - expected) < 5 * estimates.standard_error)
        naive = estimate_risks(log, judged, np.ones(log.rank.size))
        assert np.all(np.abs(naive.value - expected) > 5 * naive.standard_error)


def test_one_ranker_is_a_row_of_many():
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, presented)
    log = simulate_counts(pi, presented, offsets, 3000, 2)
    q = PowerLaw(1).at(log.rank)
    many = estimate_risks(log, judged, q)
    for ranker in range(4):
        one = estimate_risk(log, judged[ranker], q)
        assert one == many.estimate(ranker)
        assert one.value == many.value[ranker]
        assert one.n == 3000
        # Skewed: below by a little less than a normal interval, above by more.
        below, above = one.value - one.low, one.high - one.value
        assert 1.7 < below / one.standard_error < 1.959964 < above / one.standard_error < 2.5
        assert one.effective_sample_size < log.total_clicks
    # Straight from the definition.
    by_hand = np.sum(log.clicks * judged / q, axis=1) / 3000
    assert many.value == pytest.approx(by_hand, rel=1e-12)


def test_no_bias_or_full_clipping_is_naive_click_by_click():
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, presented)
    log = simulate_counts(pi, presented, offsets, 3000, 2)
    naive = estimate_risks(log, judged, np.ones(log.rank.size))
    for q in (PowerLaw(0).at(log.rank), clipped_propensities(PowerLaw(1).at(log.rank), 1)):
        same = estimate_risks(log, judged, q)
        assert np.array_equal(same.value, naive.value)
        assert np.array_equal(same.standard_error, naive.standard_error)
        assert same.effective_sample_size == naive.effective_sample_size == log.total_clicks
    ips = PowerLaw(1).at(log.rank)
    unclipped = estimate_risks(log, judged, clipped_propensities(ips, 0))
    assert np.array_equal(unclipped.value, estimate_risks(log, judged, ips).value)


def test_scaled_propensities_scale_estimates_and_keep_their_order():
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, presented)
    log = simulate_counts(pi, presented, offsets, 3000, 2)
    q = PowerLaw(1).at(log.rank)
    whole, half = estimate_risks(log, judged, q), estimate_risks(log, judged, q / 2)
    assert half.value == pytest.approx(2 * whole.value, rel=1e-12)
    assert half.standard_error == pytest.approx(2 * whole.standard_error, rel=1e-9)
    assert np.array_equal(np.argsort(half.value), np.argsort(whole.value))
    assert half.effective_sample_size == pytest.approx(whole.effective_sample_size, rel=1e-12)


def test_self_normalised_estimates_tend_to_the_risk_per_relevant_document():
    # SNIPS = sum(rank / p) / sum(1 / p) over clicks, noise-free; its denominator is the same for
    # all rankers, so that their order is that of IPS.
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0).click_probability(relevance, presented)
    log = simulate_counts(pi, presented, offsets, 2_000_000, 2)
    q = PowerLaw(1).at(log.rank)
    ips = estimate_risks(log, judged, q).value
    snips = ips * log.query_draws / np.sum(log.clicks / q)
    limit = true_risks(judged, relevance, offsets) / query_sums(relevance, offsets).mean()
    assert snips == pytest.approx(limit, rel=0.01)
    assert np.array_equal(np.argsort(snips), np.argsort(ips))


def test_both_samplers_give_the_same_risk_within_its_error():
    offsets, presented, judged, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, presented)
    q = PowerLaw(1).at(presented)
    direct = estimate_risks(simulate_counts(pi, presented, offsets, 20_000, 4), judged, q)
    log, _ = simulate_sessions(pi, presented, offsets, 20_000, 40)
    by_sessions = estimate_risks(log, judged, q)
    error = np.hypot(direct.standard_error, by_sessions.standard_error)
    assert np.all(np.abs(direct.value - by_sessions.value) < 5 * error)
    assert direct.standard_error == pytest.approx(by_sessions.standard_error, rel=0.1)


def test_a_document_that_moved_is_weighted_by_each_rank():
    log = ClickLog([0, 0, 1, 1], [1, 2, 2, 1], [6, 4, 6, 4], [3, 2, 1, 2], 10, [0, 2])
    estimate = estimate_risk(log, [2, 1], PowerLaw(1).at(log.rank))
    assert estimate.value == pytest.approx((2 * (3 + 2 * 2) + 1 * (1 * 2 + 2)) / 10)
    # One query: the variance within it, sum rank^2 (A - B^2 / N_q), over N - 1.
    within = 4 * (3 + 2 * 4 - 7**2 / 10) + (1 * 4 + 2 - 4**2 / 10)
    assert estimate.standard_error**2 == pytest.approx(within / 10 / 9, rel=1e-12)


def test_propensities_of_unclicked_rows_do_not_matter():
    log = ClickLog([0, 1], [1, 2], [6, 6], [3, 0], 6, [0, 2])
    assert estimate_risk(log, [2, 1], [1, 0.5]) == estimate_risk(log, [2, 1], [1, 0.0])


def test_a_log_without_clicks_has_risk_zero():
    estimate = estimate_risk(ClickLog([0], [1], [6], [0], 6, [0, 1]), [1], [1.0])
    assert (estimate.value, estimate.standard_error, estimate.effective_sample_size) == (0, 0, 0)


@pytest.mark.parametrize(
    ("ranks", "q", "draws", "fault"),
    [
        ([2, 1], [1, 0.0], 6, ("", "rank", 2, 4, "clicks", "propensity", 0)),
        ([2, 1, 3], [1, 0.5], 6, ("", "for", 2, "documents", 1, 3)),
        ([2, 1], [1, 0.5, 0.3], 6, ("", 3, "propensities", 2)),
        ([2, 1], [1, 0.5], 1, ("", "presentations")),
        ([2, np.nan], [1, 0.5], 6, ("", "rank", "document", 1, 0, "nan")),
        ([1, 0], [1, 0.5], 6, ("", "document", 1, "rank", 0, "ranks")),
        (np.ma.array([2, 1], mask=[0, 1]), [1, 0.5], 6, ("masked", 1, 2)),
        (["a", "b"], [1, 0.5], 6, ("real_numbers", "ranks", "text")),
        ([2, 1], ["a", "b"], 6, ("real_numbers", "propensities", "text")),
        ([2, 1], [1, np.nan], 6, ("", "rank", 2, 4, "clicks", "propensity", "nan")),
    ],
)
def test_what_cannot_be_estimated_is_refused(ranks, q, draws, fault: tuple[object, ...]):
    log = ClickLog([0, 1], [1, 2], [draws] * 2, [0, min(draws, 4)], draws, [0, 2])
    with refused(*fault):
        estimate_risk(log, ranks, q)


def test_one_draw_has_a_variance_but_none_has_not():
    pi, q = np.array([0.5, 0.2]), np.array([0.5, 0.2])
    variance = variance_of_risk(pi, q, np.array([1, 2]), [0, 2], 1)
    assert variance == pytest.approx(1 + 4 * 4)
    with refused("no_draw", 1, 0):
        variance_of_risk(pi, q, np.array([1, 2]), [0, 2], 0)
    assert true_risk([1, 2], [True, True], [0, 2]) == 3


def test_blocks_are_whole_queries_and_hold_every_rank_once():
    places = np.random.default_rng(0).integers(1, 40, (3, 100)).astype(np.int32)
    offsets = np.array([0, 7, 7, 60, 61, 90, 100])  # one empty query, one longer than a block
    for layout in (np.ascontiguousarray(places), np.asfortranarray(places)):
        seen, last = np.zeros_like(places, dtype=float), 0
        for queries, documents, ranks in rank_blocks(layout, offsets, most=31):
            assert queries.start == last
            assert documents == slice(offsets[queries.start], offsets[queries.stop])
            assert documents.stop - documents.start <= 31 or queries.stop - queries.start == 1
            seen[:, documents] += ranks.T
            ranks *= 0.0  # a block may be changed
            last = queries.stop
        assert last == 6
        assert np.array_equal(seen, places)


def test_estimates_do_not_depend_on_blocks_or_on_the_layout_of_ranks(monkeypatch):
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0, *rng.integers(1, 30, 200)])
    presented = np.concatenate([np.arange(1, n + 1) for n in np.diff(offsets)])
    judged = np.stack([presented, *(rng.permutation(presented) for _ in range(4))])
    log = simulate_counts(np.full(presented.size, 0.3), presented, offsets, 5_000, 2)
    q = PowerLaw(1).at(log.rank)
    whole = estimate_risks(log, judged, q)
    pi = np.full(presented.size, 0.3)
    expected = expected_risk(pi, PowerLaw(1).at(presented), judged, offsets)
    by_hand = judged @ (pi * presented) / 200
    assert expected == pytest.approx(by_hand, rel=1e-13)
    monkeypatch.setattr("ultr_core.risk.estimators.rank_blocks", partial(rank_blocks, most=50))
    parts = estimate_risks(log, np.asfortranarray(judged), q)
    assert parts.value == pytest.approx(whole.value, rel=1e-13)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-10)


@pytest.mark.parametrize("decimals", [0, 2, 3])
@pytest.mark.parametrize("value", [0.0, -3.21, 10.0684, 12345.6])
def test_half_an_interval_is_never_written_as_nothing(value: float, decimals: int) -> None:
    for reach in np.geomspace(1e-6, 1e3, 200).tolist():
        said, half = plus_minus(value, reach, decimals).split(" ± ")
        assert float(half) > 0
        assert float(half) == pytest.approx(reach, abs=0.5 / 10**decimals, rel=0.5)
        assert len(said.partition(".")[2]) == len(half.partition(".")[2]) >= decimals
        assert float(said) == pytest.approx(value, abs=0.5 / 10**decimals)
    assert plus_minus(value, 0.0, decimals) == f"{value:.{decimals}f}"
    assert "±" not in plus_minus(value, 1e-16 * abs(value), decimals)


def test_several_propensities_at_once_are_each_alone_to_the_last_digit():
    rng = np.random.default_rng(3)
    offsets = np.cumsum([0, *rng.integers(1, 30, 900)])  # more documents than one block holds
    presented = np.concatenate([np.arange(1, n + 1) for n in np.diff(offsets)])
    judged = np.stack([presented, *(rng.permutation(presented) for _ in range(6))])
    judged[3] = judged[2]  # two rankers alike
    pi = rng.uniform(0, 0.4, presented.size) * (rng.random(presented.size) < 0.7)
    log = simulate_counts(pi, presented, offsets, 2_500, 4)  # some queries are never drawn
    ones, ips = np.ones(presented.size), PowerLaw(0.7).at(presented)
    pairs = [(ones[log.document], ones), (PowerLaw(0.7).at(log.rank), ips)]
    assert presented.size > 8_192
    for layout in (judged, np.asfortranarray(judged.astype(np.int32)), judged + 0.5):
        together = judgements(log, layout, pi, pairs, 2)
        for (of_rows, of_documents), (estimates, apart, expected) in zip(
            pairs, together, strict=True
        ):
            alone = estimate_risks(log, layout, of_rows)
            differences = estimate_differences(log, layout - layout[2], of_rows)
            for name in ("value", "standard_error", "low", "high"):
                assert np.array_equal(getattr(estimates, name), getattr(alone, name))
                assert np.array_equal(getattr(apart, name), getattr(differences, name))
            assert estimates.effective_sample_size == alone.effective_sample_size
            assert estimates.largest_weight == alone.largest_weight
            assert np.array_equal(expected, expected_risk(pi, of_documents, layout, offsets))
    with pytest.raises(InputError, match="axes"):
        judgements(log, presented, pi, pairs, 0)
    with refused("not_finite", 0):
        judgements(log, judged, pi, [(ones, np.zeros(presented.size))], 0)


def test_documents_without_clicks_change_no_digit_of_an_estimate():
    rng = np.random.default_rng(5)
    offsets = np.array([0, 4, 9])
    presented = np.array([1, 2, 3, 4, 1, 2, 3, 4, 5])
    log = ClickLog(
        np.arange(9), presented, [7] * 4 + [9] * 5, [3, 0, 1, 0, 0, 0, 2, 0, 0], 16, offsets
    )
    q = PowerLaw(1).at(presented)
    judged = np.stack([rng.permutation(9) + 1 for _ in range(3)])
    total = np.zeros(3)
    for document in np.flatnonzero(log.clicks):
        total += log.clicks[document] / q[document] * judged[:, document]
    assert estimate_risks(log, judged, q).value == pytest.approx(total / 16, rel=1e-15)
