"""The position model with noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.users import PositionModel, PowerLaw, TrustBiasModel, clicks_per_query_draw

RANKS = np.array([3, 1, 2, 1, 2])
RELEVANCE = np.array([True, False, True, False, False])
OFFSETS = np.array([0, 3, 5])


def test_click_probabilities_by_hand():
    model = PositionModel(PowerLaw(1), 0.8, 0.2)
    expected = [0.8 / 3, 0.2, 0.4, 0.2, 0.1]
    assert model.click_probability(RELEVANCE, RANKS) == pytest.approx(expected, rel=1e-15)
    rate = clicks_per_query_draw(model.click_probability(RELEVANCE, RANKS), OFFSETS)
    assert rate == pytest.approx(sum(expected) / 2, rel=1e-15)
    share = model.noise_share(RELEVANCE, RANKS)
    assert share == pytest.approx(0.5 / sum(expected), rel=1e-15)


def test_without_noise_a_click_is_an_examined_relevant_document():
    clean = PositionModel(PowerLaw(1), 1, 0)
    assert np.array_equal(clean.click_probability(RELEVANCE, RANKS), RELEVANCE / RANKS)
    assert clean.noise_share(RELEVANCE, RANKS) == 0


@settings(derandomize=True, deadline=None)
@given(st.floats(0, 2), st.floats(0.01, 1), st.floats(0, 1, exclude_max=True))
def test_noise_is_a_clean_click_on_corrupted_relevance(eta, eps_plus, share):
    noisy = PositionModel(PowerLaw(eta), eps_plus, eps_plus * share * 0.999)
    clean = PositionModel(PowerLaw(eta), 1, 0)
    corrupted = noisy.click_given_examined(RELEVANCE)
    one_way = noisy.click_probability(RELEVANCE, RANKS)
    other_way = clean.click_probability(corrupted, RANKS)
    assert one_way == pytest.approx(other_way, rel=1e-15)
    assert np.all((one_way >= 0) & (one_way <= 1))


@pytest.mark.parametrize(
    ("eps_plus", "eps_minus"), [(1.1, 0), (0.5, 0.5), (0.2, 0.4), (1, -0.1), (float("nan"), 0)]
)
def test_impossible_noise_is_refused(eps_plus, eps_minus):
    with pytest.raises(InputError, match="1 >= eps_plus > eps_minus >= 0"):
        PositionModel(PowerLaw(1), eps_plus, eps_minus)


def test_a_world_without_clicks_has_no_noise_share():
    with refused("unclickable"):
        PositionModel(PowerLaw(1), 1, 0).noise_share(np.zeros(2), np.array([1, 2]))


@pytest.mark.parametrize(
    ("relevance", "fault"),
    [
        ([1, np.nan], ("", "relevance", "document", 1, 0, "nan")),
        (["a", "b"], ("real_numbers", "text")),
        ([1, 0, 1], ("", "document", "both", 2, 3)),
        (None, ("real_numbers",)),
    ],
)
def test_relevance_that_is_no_number_is_refused(relevance, fault: tuple[object, ...]):
    model = PositionModel(PowerLaw(1), 1, 0.1)
    with refused(*fault):
        model.click_probability(relevance, [1, 2])


@pytest.mark.parametrize("value", [None, "x", float("nan"), 1j, [1]])
def test_noise_that_is_no_number_is_refused(value):
    for noise in ((value, 0.1), (1.0, value)):
        with pytest.raises(InputError, match="1 >= eps_plus > eps_minus >= 0"):
            PositionModel(PowerLaw(1), *noise)


@pytest.mark.parametrize(
    "users", [PositionModel(PowerLaw(0.7), 0.9, 0.2), TrustBiasModel.published()]
)
def test_a_click_is_affine_in_relevance_at_every_rank(users):
    """Degrees of relevance, too: alpha r + beta is the probability of a click."""
    ranks = np.arange(1, 41)
    alpha, beta = users.affine(ranks)
    assert np.all(alpha > 0)
    for degree in (0.0, 0.3, 1.0):
        chance = users.click_probability(np.full(40, degree), ranks)
        assert alpha * degree + beta == pytest.approx(chance, rel=1e-14)
