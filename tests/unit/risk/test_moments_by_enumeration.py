"""Exact moments of one presentation: every click pattern of small queries, weighted and summed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.propensity import clipped_propensities
from ultr_core.risk import (
    affine_law,
    expected_delta,
    expected_risk,
    kendall_tau,
    noise_share,
    true_risk,
    true_risks,
    variance_of_delta,
    variance_of_risk,
)
from ultr_core.users import Cutoff, PositionModel, PowerLaw, TableCurve


def enumerate_patterns(pi):
    """All click patterns [2^m, m] of m documents and the probability of each."""
    patterns = np.array(list(product([0, 1], repeat=len(pi))))
    return patterns, np.prod(np.where(patterns, pi, 1 - np.asarray(pi)), axis=1)


def exact_moments(pi, q, ranks):
    """Mean and variance of sum over clicks of rank / q by enumeration."""
    patterns, probability = enumerate_patterns(pi)
    delta = patterns @ (ranks / q)
    mean = probability @ delta
    return mean, probability @ (delta - mean) ** 2


@st.composite
def single_queries(draw, least_propensity=0.05):
    """Relevance, presented ranks, judged ranks and a positive examination table of one query."""
    m = draw(st.integers(1, 9))
    relevance = np.array(draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    presented = np.array(draw(st.permutations(range(1, m + 1))))
    judged = np.array(draw(st.permutations(range(1, m + 1))))
    rest = st.lists(st.floats(least_propensity, 1), min_size=m - 1, max_size=m - 1)
    return relevance, presented, judged, TableCurve((1.0, *draw(rest)))


noise_levels = st.sampled_from([(1, 0), (1, 0.1), (1, 0.3), (0.8, 0.2), (0.5, 0.4)])


@settings(derandomize=True, deadline=None, max_examples=80)
@given(single_queries())
def test_weighting_is_unbiased_for_any_ranking_and_any_positive_curve(query):
    relevance, presented, judged, curve = query
    p = curve.at(presented)
    model = PositionModel(curve, 1, 0)
    delta = judged @ relevance
    mean, variance = exact_moments(model.click_probability(relevance, presented), p, judged)
    assert mean == pytest.approx(delta, rel=1e-12, abs=1e-12)
    # Noise-free: sum rank^2 r (1 - p) / p.
    assert variance == pytest.approx(
        np.sum(judged**2 * relevance * (1 - p) / p), rel=1e-12, abs=1e-12
    )


@settings(derandomize=True, deadline=None, max_examples=80)
@given(single_queries(), noise_levels, st.floats(0, 1), st.floats(0, 2))
def test_closed_forms_equal_enumeration(query, noise, clip, assumed_eta):
    relevance, presented, judged, curve = query
    offsets = [0, relevance.size]
    model = PositionModel(curve, *noise)
    pi = model.click_probability(relevance, presented)
    p = curve.at(presented)
    for q in (
        p,
        np.ones(p.size),
        clipped_propensities(p, clip),
        PowerLaw(assumed_eta).at(presented),
    ):
        mean, variance = exact_moments(pi, q, judged)
        closed_mean = expected_delta(pi, q, judged, offsets)[0]
        closed_variance = variance_of_delta(pi, q, judged, offsets)[0]
        assert closed_mean == pytest.approx(mean, rel=1e-12, abs=1e-12)
        assert closed_variance == pytest.approx(variance, rel=1e-12, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(single_queries(), noise_levels)
def test_noise_changes_the_risk_by_one_line_for_all_rankings(query, noise):
    relevance, presented, judged, curve = query
    m = relevance.size
    pi = PositionModel(curve, *noise).click_probability(relevance, presented)
    mean, _ = exact_moments(pi, curve.at(presented), judged)
    law = affine_law(*noise, [m])
    risk = true_risk(judged, relevance, [0, m])
    assert mean == pytest.approx(law.expected(risk), rel=1e-12, abs=1e-12)
    assert law.invert(mean) == pytest.approx(risk, rel=1e-11, abs=1e-11)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(single_queries(), noise_levels, st.floats(0, 1))
def test_clipping_lowers_the_estimate_by_its_closed_bias(query, noise, clip):
    relevance, presented, judged, curve = query
    offsets = [0, relevance.size]
    model = PositionModel(curve, *noise)
    pi, p = model.click_probability(relevance, presented), curve.at(presented)
    clipped, _ = exact_moments(pi, np.maximum(p, clip), judged)
    unclipped, variance = exact_moments(pi, p, judged)
    bias = float(expected_risk(pi, clipped_propensities(p, clip), judged, offsets)) - unclipped
    assert bias == pytest.approx(clipped - unclipped, rel=1e-11, abs=1e-11)
    assert bias <= 1e-12
    assert variance_of_delta(pi, clipped_propensities(p, clip), judged, offsets)[0] <= (
        variance * (1 + 1e-12) + 1e-12
    )


def rankings_of(documents, how_many, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(documents) + 1 for _ in range(how_many)])


TWELVE = np.array([0, 12])
PRESENTED = np.arange(1, 13)


@pytest.mark.parametrize(
    ("eps_plus", "eps_minus", "slope", "intercept"),
    [(1, 0.1, 0.9, 7.8), (1, 0.3, 0.7, 23.4), (0.8, 0.2, 0.6, 15.6)],
)
def test_the_line_of_twelve_documents(eps_plus, eps_minus, slope, intercept):
    law = affine_law(eps_plus, eps_minus, [12])
    assert law == pytest.approx((slope, intercept), rel=1e-12)
    relevance = np.random.default_rng(3).random(12) < 0.35
    rankings = rankings_of(12, 200)
    pi = PositionModel(PowerLaw(1), eps_plus, eps_minus).click_probability(relevance, PRESENTED)
    expected = expected_risk(pi, 1 / PRESENTED, rankings, TWELVE)
    risks = true_risks(rankings, relevance, TWELVE)
    fitted = np.polyfit(risks, expected, 1)
    assert fitted == pytest.approx([slope, intercept], rel=1e-10)
    assert kendall_tau(np.round(expected, 9), risks) == pytest.approx(1, abs=1e-12)


def test_the_line_of_a_corpus_uses_the_mean_over_queries():
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 30, 40)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    relevance = rng.random(offsets[-1]) < 0.2
    presented, judged = (np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(2))
    pi = PositionModel(PowerLaw(1.2), 0.9, 0.25).click_probability(relevance, presented)
    law = affine_law(0.9, 0.25, sizes)
    expected = expected_risk(pi, PowerLaw(1.2).at(presented), judged, offsets)
    risk = true_risk(judged, relevance, offsets)
    assert expected == pytest.approx(law.expected(risk), rel=1e-13)


def test_a_wrong_curve_bends_the_line_and_loses_the_order():
    # Kendall's tau with the true risk is 1 at the true eta and falls to both sides.
    relevance = np.isin(PRESENTED, [2, 5, 9])
    rankings = rankings_of(12, 200)
    risks = true_risks(rankings, relevance, TWELVE)
    model = PositionModel(PowerLaw(1), 1, 0)
    taus = []
    for assumed in (0, 0.5, 1, 1.5, 2):
        pi, q = model.click_probability(relevance, PRESENTED), PowerLaw(assumed).at(PRESENTED)
        expected = expected_risk(pi, q, rankings, TWELVE)
        by_hand = rankings @ (relevance * PRESENTED ** (assumed - 1.0))
        assert expected == pytest.approx(by_hand, rel=1e-12)
        taus.append(kendall_tau(np.round(expected, 9), risks))
    assert taus[2] == pytest.approx(1, abs=1e-12)
    assert taus[0] < taus[1] < 0.95
    assert taus[4] < taus[3] < 0.95
    naive = expected_risk(
        model.click_probability(relevance, PRESENTED), np.ones(12), rankings, TWELVE
    )
    assert naive == pytest.approx(rankings @ (relevance / PRESENTED), rel=1e-12)


def test_scaled_propensities_scale_the_risk_and_keep_the_best():
    relevance = np.isin(PRESENTED, [1, 6])
    rankings = rankings_of(12, 50)
    pi = PositionModel(PowerLaw(1), 1, 0.1).click_probability(relevance, PRESENTED)
    q = PowerLaw(1).at(PRESENTED)
    whole, scaled = (expected_risk(pi, s * q, rankings, TWELVE) for s in (1, 0.25))
    assert scaled == pytest.approx(4 * whole, rel=1e-12)
    assert np.argmin(scaled) == np.argmin(whole)


def test_the_order_needs_positive_propensities_of_all_that_can_be_clicked():
    # Only the top five are examined. All relevant documents inside: the order survives without
    # noise but not with it. A relevant one below: it is lost already without noise.
    rankings = rankings_of(12, 200)
    curve = Cutoff(PowerLaw(1), 5)
    taus = {}
    for name, relevant in (("inside", [2, 4]), ("below", [2, 9])):
        relevance = np.isin(PRESENTED, relevant)
        risks = true_risks(rankings, relevance, TWELVE)
        for eps_minus in (0, 0.1, 0.3):
            pi = PositionModel(curve, 1, eps_minus).click_probability(relevance, PRESENTED)
            estimate = expected_risk(pi, curve.at(PRESENTED), rankings, TWELVE)
            taus[name, eps_minus] = kendall_tau(np.round(estimate, 9), risks)
    assert taus["inside", 0] == pytest.approx(1, abs=1e-12)
    assert 1 > taus["inside", 0.1] > taus["inside", 0.3]
    assert taus["below", 0] < 0.75


def test_noise_shares_that_the_paper_prints():
    # 59.8% at 0.3 fixes A / B = 4.96, which predicts 33.1% at 0.1.
    ratio = 0.598 / (1 - 0.598) / 0.3
    assert ratio == pytest.approx(4.96, abs=5e-3)
    assert noise_share(1, 0.3, ratio) == pytest.approx(0.598, rel=1e-12)
    assert noise_share(1, 0.1, ratio) == pytest.approx(0.331, abs=5e-4)
    assert noise_share(1, 0, ratio) == 0
    relevance = np.isin(PRESENTED, [3, 7])
    model = PositionModel(PowerLaw(1), 0.9, 0.2)
    examined = PowerLaw(1).at(PRESENTED)
    ratio = examined[~relevance].sum() / examined[relevance].sum()
    assert model.noise_share(relevance, PRESENTED) == pytest.approx(noise_share(0.9, 0.2, ratio))


def test_unclickable_documents_need_no_propensity_and_others_do():
    pi, q = np.array([0.5, 0.0]), np.array([0.5, 0.0])
    assert expected_delta(pi, q, np.array([2, 1]), [0, 2]).tolist() == [2.0]
    assert variance_of_delta(pi, q, np.array([2, 1]), [0, 2]).tolist() == [4.0]
    for moment in (expected_delta, variance_of_delta):
        with pytest.raises(InputError, match=r"Document 1 .* propensity 0"):
            moment(np.array([0.5, 0.1]), q, np.array([2, 1]), [0, 2])
        with refused("", 3, "propensities", 2, "documents"):
            moment(pi, np.ones(3), np.array([2, 1]), [0, 2])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(single_queries(), noise_levels, st.integers(0, 10**6))
def test_any_two_rankings_keep_their_true_order_under_noise(query, noise, seed):
    relevance, presented, judged, curve = query
    m = relevance.size
    other = np.random.default_rng(seed).permutation(m) + 1
    both = np.stack([judged, other])
    risks = true_risks(both, relevance, [0, m])
    assume(risks[0] != risks[1])
    pi = PositionModel(curve, *noise).click_probability(relevance, presented)
    expected = expected_risk(pi, curve.at(presented), both, [0, m])
    assert (expected[0] < expected[1]) == (risks[0] < risks[1])


@pytest.mark.parametrize(
    "arguments", [(0.3, 0.3, [3]), (1, -0.1, [3]), (1, 0.1, [0, 3]), (1, 0.1, [])]
)
def test_an_impossible_law_is_refused(arguments):
    with pytest.raises(InputError):
        affine_law(*arguments)


@pytest.mark.parametrize("arguments", [(1, 0.1, -1), (0, 0, 2)])
def test_an_impossible_noise_share_is_refused(arguments):
    with pytest.raises(InputError):
        noise_share(*arguments)


UNUSABLE = [
    ("pi", [0.1, np.nan], ("", "probability", "document", 1, "nan")),
    ("pi", [0.1, 2], ("", "probability", "document", 1, "[0, 1]")),
    ("pi", [-0.1, 0.2], ("", "probability", "document", 0, "[0, 1]")),
    ("pi", ["a", "b"], ("real_numbers", "probabilities", "text")),
    ("pi", [0.5], ("", 1, 2)),
    ("q", [1, np.nan], ("", "propensity", "document", 1, "nan")),
    ("q", [np.inf, 1], ("", "propensity", "document", 0, "inf")),
    ("q", [-1, 1], ("", "propensity", "document", 0, "-1.0")),
    ("q", [1j, 1], ("real_numbers", "propensities", "complex")),
    ("ranks", [1, np.nan], ("", "rank", "document", 1, "nan")),
    ("ranks", [np.inf, 1], ("", "rank", "document", 0, "inf")),
    ("ranks", [1, 2, 3], ("", "ranks", 2, 3)),
    ("ranks", None, ("real_numbers", "ranks", "None")),
    ("offsets", [0, 1.5, 2], ("whole_numbers", "query_offsets", 1, "1.5")),
    ("offsets", [0, np.nan], ("whole_numbers", "query_offsets", 1, "nan")),
    ("offsets", [0, 3], ("", "query_offsets", 2)),
]


@pytest.mark.parametrize("moment", [expected_delta, variance_of_delta, expected_risk, "of risk"])
@pytest.mark.parametrize(("name", "value", "fault"), UNUSABLE)
def test_every_moment_refuses_the_same_numbers(moment, name, value, fault):
    given = {"pi": [0.1, 0.0], "q": [1.0, 0.5], "ranks": [2, 1], "offsets": [0, 2]} | {name: value}
    with refused(*fault):
        if moment == "of risk":
            variance_of_risk(*given.values(), 10)
        else:
            moment(*given.values())


@pytest.mark.parametrize("draws", [0, -1, 1.5, np.nan, np.inf, "x", None])
def test_a_variance_needs_a_whole_number_of_draws(draws):
    with refused("no_draw", 1):
        variance_of_risk([0.1], [1.0], [1], [0, 1], draws)


@pytest.mark.parametrize(
    "arguments",
    [(np.nan, 0, 1), (1, np.nan, 1), (1, 0.1, np.nan), (1, 0.1, np.inf), (2, 0, 1), ("x", 0, 1)],
)
def test_a_noise_share_is_never_nan(arguments):
    with pytest.raises(InputError):
        noise_share(*arguments)


@pytest.mark.parametrize(
    "arguments", [(np.nan, 0, [1]), ("1", 0, [1]), (1, 0, [np.nan]), (1, 0, [np.inf]), (1, 0, "x")]
)
def test_an_affine_law_is_never_nan(arguments):
    with pytest.raises(InputError):
        affine_law(*arguments)
