"""The users of the registry, and what trust bias lets an estimator know."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

from tests.meaning import refused
from tests.unit.risk.test_every_estimator import exactly
from ultr_core.jobs.job import _settings_from
from ultr_core.lab import Comparison
from ultr_core.lab.logs import belief_about, click_model
from ultr_core.lab.methods import WEIGHTED_FIELDS, WORLD_FIELDS, stage
from ultr_core.propensity import ESTIMATORS, Belief, RowNumbers, weights_of_log
from ultr_core.settings import USERS_FIELD, Settings
from ultr_core.studies.cells import key_of_log
from ultr_core.users import USERS, ClickLog, PositionModel, TrustBiasModel, users_named

AFFINE = ESTIMATORS["affine"]
TRUSTING = ["trust-mild", "trust-steep"]
OFFSETS = np.array([0, 5])
SHOWN = np.array([2, 1, 4, 3, 5])
ROWS = ClickLog.presented(SHOWN, OFFSETS)
RELEVANCE = np.array([True, False, True, True, False])


def test_every_kind_of_users_can_be_chosen_and_says_what_acts() -> None:
    assert {key: users.label for key, users in USERS.items()} == USERS_FIELD.options
    for key, users in USERS.items():
        assert users.key == key and users.source
        assert all(symbol in users.words for symbol in ("η′", "ε₊", "ε₋", "IPS divides by"))
        one, two = (click_model(Settings(users=key, eta=eta)) for eta in (0.5, 1.0))
        assert (one == two) is users.own
        assert belief_about(Settings(users=key)).users == click_model(Settings(users=key))
    with refused("", "trust-stee", *USERS):
        users_named("trust-stee")
    assert users_named("trust-steep") is USERS["trust-steep"]


def test_the_steep_curve_is_the_published_table() -> None:
    """1/alpha and beta of ``click_policy.json`` for theta = 1/k, in its four digits."""
    alpha, beta = TrustBiasModel.steep().affine([1, 2, 3])
    assert (1 / alpha).round(4).tolist() == [3.0303, 3.1008, 4.0359]
    assert beta.round(4).tolist() == [0.65, 0.1625, 0.0722]
    far = TrustBiasModel.steep(300)
    assert min(far.eps_plus) == 0.5 and far.eps_plus[47] == pytest.approx(0.51)


def test_users_are_in_links_keys_and_notes_where_they_are_not_the_default() -> None:
    trusting = Settings(users="trust-mild")
    assert trusting.to_query() == "click_model=trust-mild"
    assert Settings.from_query({"click_model": "trust-mild"}) == (trusting, ())
    assert trusting.as_dict()["users"] == "trust-mild" and "users" not in Settings().as_dict()
    read, notices = Settings.from_query({"click_model": "nobody"})
    assert read == Settings() and len(notices) == 1
    assert stage(trusting, WORLD_FIELDS) == Settings()
    assert stage(trusting, WEIGHTED_FIELDS) == trusting
    assert key_of_log("naive", trusting) != key_of_log("naive", Settings())
    with refused("users", *USERS):
        Settings(users="nobody")
    settings, notes = _settings_from({"users": "trust-steep", "eta": "1", "clicks": "45000"})
    assert settings.users == "trust-steep"
    assert len(notes) == 1 and "--eta" in notes[0] and "--clicks" not in notes[0]
    assert _settings_from({"users": "trust-steep", "clicks": "45000"})[1] == ()


def test_a_comparison_lists_only_settings_that_act_and_names_the_others() -> None:
    trusting, plain = (
        Comparison(settings, {}, {}, 1, 1, 1, None, None, ()).as_dict()
        for settings in (Settings(users="trust-steep", curve=(1.0, 0.5)), Settings())
    )
    idle = {"eta", "eps_minus", "eps_plus", "assumed_eta", "curve"}
    assert set(trusting["without_effect"]) == idle
    assert not idle & set(trusting["settings"]) and trusting["settings"]["clicks"] == 170_000
    assert "without_effect" not in plain and plain["settings"]["eta"] == 1.0


@dataclass(frozen=True)
class Lines:
    """What swaps identify of other users: click rates by rank as lines in that at rank 1."""

    users: TrustBiasModel

    def affine(self, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        alpha, beta = self.users.affine(ranks)
        first, least = (float(x[0]) for x in self.users.affine([1]))
        return alpha / first, beta - alpha * least / first


@pytest.mark.parametrize("key", TRUSTING)
def test_lines_that_swaps_identify_give_the_order_and_the_weights_of_alpha_and_beta(
    key: str,
) -> None:
    """E = alpha_1 R + beta_1 sum of ranks; floored weights differ by the factor alpha_1 alone."""
    users = click_model(Settings(users=key))
    pi = users.click_probability(RELEVANCE, SHOWN)
    first, least = (float(x[0]) for x in users.affine([1]))
    slope, offset = Lines(users).affine(SHOWN)
    numbers = RowNumbers(1.0 / slope, -offset / slope)
    right = AFFINE.weigh(ROWS, Belief(users.curve, users=users))
    for ranks in list(permutations(range(1, 6)))[::31]:
        judged = np.array(ranks)
        risk = int(judged @ RELEVANCE)
        assert float(exactly(right, pi, judged)[0]) == pytest.approx(risk, rel=1e-12)
        found = float(exactly(numbers, pi, judged)[0])
        assert found == pytest.approx(first * risk + least * judged.sum(), rel=1e-12)
    times = np.array([9, 9, 9, 9, 9])
    log = ClickLog(np.arange(5), SHOWN, times, [3, 6, 1, 0, 2], 9, OFFSETS)
    by_lines, by_alpha = (
        weights_of_log(log, one).values
        for one in (numbers, AFFINE.weigh(log, Belief(users.curve, users=users)))
    )
    assert by_lines == pytest.approx(first * by_alpha, rel=1e-12)


@pytest.mark.parametrize("key", TRUSTING)
def test_no_divisor_repairs_trust_and_one_repairs_constant_noise(key: str) -> None:
    """Weights w of clicks keep the order only if w alpha and w beta are constant over ranks."""
    users = click_model(Settings(users=key))
    alpha, beta = users.affine([1, 2, 3, 10])
    assert np.all(np.diff(beta / alpha) < -0.01)
    alpha, beta = PositionModel(users.curve, 0.9, 0.1).affine([1, 2, 3, 10])
    assert beta / alpha == pytest.approx(np.full(4, 0.125))


def test_an_affine_correction_needs_what_was_shown_and_not_clicked() -> None:
    users = TrustBiasModel.steep()
    only = ClickLog([0, 1], [2, 1], [3, 1], [3, 1], 4, OFFSETS)
    with refused("clicks_only"):
        weights_of_log(only, AFFINE.weigh(only, Belief(users.curve, users=users)))
