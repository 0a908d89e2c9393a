"""Both samplers: the same law, nested logs, common random numbers.

Statistical tests have fixed seeds; each states the rate at which it would fail by chance for a
correct sampler.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import SeedSequence
from scipy import stats

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.users import (
    PositionModel,
    PowerLaw,
    clicks_per_query_draw,
    count_queries,
    draw_queries,
    query_draws_for,
    simulate_counts,
    simulate_sessions,
)
from ultr_core.users import simulation as simulation_module

OFFSETS = np.array([0, 3, 5, 6])
RANKS = np.array([1, 2, 3, 2, 1, 1])
PROBABILITY = np.array([0.9, 0.35, 0.1, 0.5, 0.02, 0.6])
DRAWS, LOGS = 12, 4000


def counts_only(click_probability, seed):
    return simulate_counts(click_probability, RANKS, OFFSETS, DRAWS, seed)


def sessions_only(click_probability, seed):
    return simulate_sessions(click_probability, RANKS, OFFSETS, DRAWS, seed)[0]


@pytest.fixture(scope="module")
def samples():
    """Clicks [logs, documents] from either sampler, all logs independent."""
    root = SeedSequence(20)
    first, second = root.spawn(2)
    return {
        "counts": np.stack([counts_only(PROBABILITY, s).clicks for s in first.spawn(LOGS)]),
        "sessions": np.stack([sessions_only(PROBABILITY, s).clicks for s in second.spawn(LOGS)]),
    }


@pytest.mark.parametrize("sampler", ["counts", "sessions"])
def test_clicks_of_a_document_are_binomial_over_all_draws(samples, sampler):
    # c_d ~ Binomial(N, pi_d / Q) over random queries. False-alarm rate 1e-3 over six documents.
    for clicks, pi in zip(samples[sampler].T, PROBABILITY, strict=True):
        expected = stats.binom.pmf(np.arange(DRAWS + 1), DRAWS, pi / 3) * LOGS
        last = np.flatnonzero(expected >= 5)[-1]
        observed = np.bincount(np.minimum(clicks, last), minlength=last + 1)
        expected = np.append(expected[:last], expected[last:].sum())
        assert stats.chisquare(observed, expected).pvalue > 1e-3 / 6


@pytest.mark.parametrize("sampler", ["counts", "sessions"])
def test_documents_share_their_query_draws(samples, sampler):
    # Cov(c_a, c_b) = pi_a pi_b N (1/Q)([same query] - 1/Q). Five standard errors for each of 15
    # pairs: false-alarm rate below 1e-5.
    centred = samples[sampler] - samples[sampler].mean(axis=0)
    query = np.repeat([0, 1, 2], [3, 2, 1])
    for a in range(6):
        for b in range(a):
            products = centred[:, a] * centred[:, b]
            exact = PROBABILITY[a] * PROBABILITY[b] * DRAWS / 3 * ((query[a] == query[b]) - 1 / 3)
            assert abs(products.mean() - exact) < 5 * products.std() / LOGS**0.5


def test_both_samplers_agree_on_pairs_of_documents(samples):
    # Two-sample chi-square on the joint counts of three pairs. False-alarm rate 1e-3 in all.
    for a, b in [(0, 1), (3, 4), (0, 5)]:
        tables = []
        for sampler in ("counts", "sessions"):
            capped = np.minimum(samples[sampler][:, [a, b]], 5)
            tables.append(np.bincount(capped @ [6, 1], minlength=36))
        table = np.array(tables)[:, np.sum(tables, axis=0) >= 20]
        assert table.shape[1] > 5
        assert stats.chi2_contingency(table).pvalue > 1e-3 / 3


def test_the_click_sum_has_the_exact_law_given_the_queries():
    # One query, so N_q = N: the joint law is a product of binomials. False-alarm rate 1e-3.
    offsets, pi = np.array([0, 2]), np.array([0.4, 0.15])
    table = np.zeros((5, 5))
    for seed in SeedSequence(3).spawn(4000):
        clicks = simulate_counts(pi, np.array([1, 2]), offsets, 4, seed).clicks
        table[clicks[0], clicks[1]] += 1
    law = np.outer(*[stats.binom.pmf(np.arange(5), 4, p) for p in pi]) * 4000
    rare = law < 5
    observed = np.append(table[~rare], table[rare].sum())
    expected = np.append(law[~rare], law[rare].sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_examinations_of_one_list_are_independent():
    # 2x2 table of two documents' clicks over 50,000 draws of one query. False-alarm rate 1e-3.
    _, events = simulate_sessions([0.6, 0.3], [1, 2], [0, 2], 50_000, 8)
    clicked = np.zeros((50_000, 2), int)
    clicked[events.click_draw, events.click_document] = 1
    table = np.bincount(clicked @ [2, 1], minlength=4).reshape(2, 2)
    assert stats.chi2_contingency(table).pvalue > 1e-3


def test_queries_are_drawn_uniformly():
    # False-alarm rate 1e-3.
    drawn = np.concatenate(list(draw_queries(7, 70_000, 4)))
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-3


@pytest.mark.parametrize("sampler", [counts_only, sessions_only])
def test_the_same_seed_gives_the_same_log(sampler):
    seed = SeedSequence(9, spawn_key=(4,))
    first, again = sampler(PROBABILITY, seed), sampler(PROBABILITY, seed)
    assert np.array_equal(first.clicks, again.clicks)
    assert np.array_equal(first.impressions, again.impressions)
    assert seed.n_children_spawned == 0
    same = sampler(PROBABILITY, SeedSequence(9, spawn_key=(4,)))
    assert np.array_equal(first.clicks, same.clicks)
    others = [sampler(PROBABILITY, SeedSequence(9, spawn_key=(k,))).clicks for k in range(5, 9)]
    assert not all(np.array_equal(first.clicks, clicks) for clicks in others)
    assert np.array_equal(sampler(PROBABILITY, 9).clicks, sampler(PROBABILITY, 9).clicks)


def world(queries=300, seed=1):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 40, queries))])
    ranks = np.concatenate([rng.permutation(m) + 1 for m in np.diff(offsets)])
    return offsets, ranks, rng.random(offsets[-1]) < 0.15


@pytest.mark.parametrize("sampler", [simulate_counts, simulate_sessions])
def test_fewer_draws_are_a_prefix_of_more(sampler):
    offsets, ranks, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, ranks)
    before = np.zeros(offsets[-1], int), np.zeros(offsets[-1], int)
    for draws in (1, 2, 10, 300, 301, 5000, 20_000):
        log = sampler(pi, ranks, offsets, draws, 5)
        log = log if sampler is simulate_counts else log[0]
        assert np.all(log.impressions >= before[0])
        assert np.all(log.clicks >= before[1])
        assert log.draws.sum() == log.query_draws == draws
        before = log.impressions, log.clicks


def test_a_growing_log_adds_at_most_one_click_for_each_new_impression():
    offsets, ranks, relevance = world()
    pi = PositionModel(PowerLaw(0.5), 0.9, 0.3).click_probability(relevance, ranks)
    small = simulate_counts(pi, ranks, offsets, 4000, 2)
    large = simulate_counts(pi, ranks, offsets, 6000, 2)
    gained = large.clicks - small.clicks
    assert np.all((gained >= 0) & (gained <= large.impressions - small.impressions))


def test_the_query_sequence_is_one_whatever_its_length():
    long = np.concatenate(list(draw_queries(1000, 600_001, 3)))
    for draws in (1, 2, 262_144, 262_145, 600_000):
        assert np.array_equal(np.concatenate(list(draw_queries(1000, draws, 3))), long[:draws])


@pytest.mark.parametrize("queries", [1, 7, 1000, 30_000])
def test_counts_are_those_of_the_sequence_whatever_was_asked_before(queries):
    rng = np.random.default_rng(0)
    for seed in (3, SeedSequence(3, spawn_key=(1,)), SeedSequence([3, 4]), 3):
        long = np.concatenate(list(draw_queries(queries, 9_000_000, seed)))
        lengths = [1, 65_535, 65_536, 65_537, 400_000, 8_900_000, *rng.integers(1, 800_000, 4)]
        for draws in rng.permutation(lengths):
            counts = count_queries(queries, int(draws), seed)
            assert np.array_equal(counts, np.bincount(long[:draws], minlength=queries))
        counts[:] = -1  # what is remembered is not handed out
        counts = count_queries(queries, int(draws), seed)
        assert np.array_equal(counts, np.bincount(long[:draws], minlength=queries))


def test_sessions_in_pieces_are_the_sessions_in_one(monkeypatch):
    offsets, ranks, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, ranks)
    log, events = simulate_sessions(pi, ranks, offsets, 2000, 6)
    monkeypatch.setattr(simulation_module, "_PRESENTED_AT_ONCE", 37)
    again, same_events = simulate_sessions(pi, ranks, offsets, 2000, 6)
    assert np.array_equal(log.clicks, again.clicks)
    assert np.array_equal(events.click_draw, same_events.click_draw)
    assert np.array_equal(events.click_document, same_events.click_document)


def test_events_and_counts_of_sessions_tell_the_same_story():
    offsets, ranks, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0).click_probability(relevance, ranks)
    log, events = simulate_sessions(pi, ranks, offsets, 3000, 6)
    assert np.array_equal(log.draws, np.bincount(events.query, minlength=300))
    of_click = np.searchsorted(offsets, events.click_document, side="right") - 1
    assert np.array_equal(events.query[events.click_draw], of_click)
    pairs = events.click_draw * offsets[-1] + events.click_document
    assert np.unique(pairs).size == pairs.size == log.total_clicks
    # Without noise every click is on a relevant document.
    assert np.all(relevance[events.click_document])


def test_both_samplers_draw_the_same_queries():
    offsets, ranks, relevance = world()
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, ranks)
    direct = simulate_counts(pi, ranks, offsets, 5000, 6)
    by_sessions, _ = simulate_sessions(pi, ranks, offsets, 5000, 6)
    assert np.array_equal(direct.impressions, by_sessions.impressions)


def test_moving_the_model_redraws_nothing():
    offsets, ranks, relevance = world()
    before = np.zeros(offsets[-1], int)
    impressions = None
    for eta, eps_minus in [(2, 0), (1.5, 0), (1, 0), (1, 0.05), (1, 0.3), (0.5, 0.3), (0, 0.3)]:
        pi = PositionModel(PowerLaw(eta), 1, eps_minus).click_probability(relevance, ranks)
        log = simulate_counts(pi, ranks, offsets, 20_000, 1)
        assert impressions is None or np.array_equal(impressions, log.impressions)
        assert np.all(log.clicks >= before)
        impressions, before = log.impressions, log.clicks


def test_a_small_step_of_eta_changes_few_counts():
    offsets, ranks, relevance = world()
    logs = []
    for eta in (1.0, 1.0001):
        pi = PositionModel(PowerLaw(eta), 1, 0.1).click_probability(relevance, ranks)
        logs.append(simulate_counts(pi, ranks, offsets, 20_000, 1).clicks)
    assert np.mean(logs[0] != logs[1]) < 0.01
    assert np.abs(logs[0] - logs[1]).max() <= 1


def test_query_draws_from_clicks():
    assert query_draws_for(170_000, 0.5) == 340_000
    assert query_draws_for(1, 100) == 1
    offsets, ranks, relevance = world()
    model = PositionModel(PowerLaw(1), 1, 0.1)
    pi = model.click_probability(relevance, ranks)
    rate = clicks_per_query_draw(pi, offsets)
    draws = query_draws_for(50_000, rate)
    log = simulate_counts(pi, ranks, offsets, draws, 0)
    # Five standard errors of the number of clicks, queries counted as random: below 1e-6.
    per_query = np.add.reduceat(pi, offsets[:-1])
    variance = draws * (per_query.var() + np.sum(pi * (1 - pi)) / 300)
    assert abs(log.total_clicks - draws * rate) < 5 * variance**0.5


@pytest.mark.parametrize("sampler", [simulate_counts, simulate_sessions])
@pytest.mark.parametrize(
    ("probability", "ranks", "draws", "fault"),
    [
        ([0.5, 1.2], [1, 2], 5, ("", "document", 1, "1.2")),
        ([0.5, np.nan], [1, 2], 5, ("", "document", 1, "nan")),
        ([0.5, 0.1], [1, 2, 3], 5, ("", 3, "ranks", 2)),
        ([0.5, 0.1], [1, 2], 0, ("no_draw", 1, 0)),
        ([0.5, 0.1, 0.1], [1, 2, 3], 5, ("", "query_offsets", 3)),
    ],
)
def test_nonsense_is_refused(sampler, probability, ranks, draws, fault: tuple[object, ...]):
    with refused(*fault):
        sampler(np.array(probability), np.array(ranks), [0, 2], draws, 0)


@pytest.mark.parametrize("arguments", [(0, 1), (10, 0), (np.inf, 1), (10, np.nan)])
def test_impossible_rates_are_refused(arguments):
    with pytest.raises(InputError):
        query_draws_for(*arguments)


@pytest.mark.parametrize("sampler", [simulate_counts, simulate_sessions])
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"pi": ["a", "b"]}, ("real_numbers", "text")),
        ({"pi": [0.5, np.nan]}, ("", "document", 1, "nan")),
        ({"ranks": [1.5, 2]}, ("whole_numbers", 0, "1.5")),
        ({"ranks": [1, 3]}, ("", 2, "documents", 1, 3)),
        ({"offsets": [0, 1.5, 2]}, ("whole_numbers", 1, "1.5")),
        ({"draws": 1.5}, ("no_draw", 1, "1.5")),
        ({"draws": np.nan}, ("no_draw", 1, "nan")),
        ({"draws": "x"}, ("no_draw", 1, "x")),
        ({"seed": -1}, ("random_seed",)),
        ({"seed": "x"}, ("random_seed",)),
    ],
)
def test_samplers_never_round_or_guess(sampler, change, fault: tuple[object, ...]):
    given = {"pi": [0.5, 0.5], "ranks": [1, 2], "offsets": [0, 2], "draws": 3, "seed": 0} | change
    with refused(*fault):
        sampler(*given.values())


@pytest.mark.parametrize(
    ("sampler", "most"), [(simulate_counts, "500,000,000"), (simulate_sessions, "100,000,000")]
)
@pytest.mark.parametrize("draws", [10**9, 2**61])
def test_more_draws_than_can_be_waited_for_are_refused_at_once(sampler, most, draws):
    with refused("too_many_draws", most, draws):
        sampler([0.5, 0.5], [1, 2], [0, 2], draws, 0)
    with refused("", "500,000,000", "presentations", "clicks", 1):
        query_draws_for(draws, 1.0)


@pytest.mark.parametrize("arguments", [(None, 1), ("x", 1), (1, "x"), (1e300, 1e-300)])
def test_query_draws_for_what_is_no_number_are_refused(arguments):
    with pytest.raises(InputError):
        query_draws_for(*arguments)


@pytest.mark.parametrize("simulate", [simulate_counts, simulate_sessions])
def test_a_whole_number_of_draws_may_be_a_float(simulate) -> None:
    given = ([0.1, 0.2], [1, 2], [0, 2])
    one, other = simulate(*given, 10, 0), simulate(*given, np.float64(10.0), 0)
    logs = [found[0] if isinstance(found, tuple) else found for found in (one, other)]
    assert np.array_equal(logs[0].clicks, logs[1].clicks)
    assert type(logs[1].query_draws) is int
    for draws in (10.5, "10", None, 0, 2.0**62, np.nan):
        with refused("too_many_draws" if draws == 2.0**62 else "no_draw"):
            simulate(*given, draws, 0)
