"""Loggers that leave documents out of lists, and what their logs still say: exact, by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.lab.logs import click_model, simulate_training_log
from ultr_core.lab.methods import LOG_FIELDS, WORLD_FIELDS, stage
from ultr_core.lab.world import World, build_world
from ultr_core.propensity import ESTIMATORS, Belief, Estimator
from ultr_core.propensity.policy_aware import draws_per_impression, realised_exposure
from ultr_core.settings import LOGGER_FIELD, Settings
from ultr_core.users import LOGGERS, ClickLog, Cutoff, PowerLaw, TableCurve, logger_named
from ultr_core.users.loggers import Query

SCORES = np.array([4.0, 3.0, 1.0, 0.5, 0.0])
VARIED = [key for key, logger in LOGGERS.items() if logger.counts is not None]
CURVE = Cutoff(TableCurve((1.0, 0.5, 0.25, 0.125)), 2)


def counted(key: str, shown: int, draws: int = 1_000, seed: int = 0) -> np.ndarray:
    counts = LOGGERS[key].counts
    assert counts is not None
    return counts(Query(SCORES, shown, draws), np.random.default_rng(seed))


@pytest.mark.parametrize("key", VARIED)
@pytest.mark.parametrize("shown", [1, 2, 5, 9])
def test_every_rank_of_every_draw_shows_one_document(key: str, shown: int) -> None:
    found = counted(key, shown)
    assert found.shape == (5, min(shown, 5))
    assert (found.sum(axis=0) == 1_000).all()
    assert (found.sum(axis=1) <= 1_000).all()
    assert np.array_equal(found, counted(key, shown))
    # Better documents are shown higher, but each of them now and then.
    assert found[0, 0] > found[4, 0] or shown == 1
    assert (found.sum(axis=1) > 0).all()


def test_replace_last_moves_one_rank_alone() -> None:
    found = counted("replace-last", 3)
    assert found[:2, :2].tolist() == [[1_000, 0], [0, 1_000]]
    assert found[:2, 2].tolist() == [0, 0]
    # A third each; 5 standard deviations of a binomial are 75.
    assert np.abs(found[2:, 2] - 1_000 / 3).max() < 75


def test_plackett_luce_shows_first_by_the_softmax_of_scores() -> None:
    """5 standard deviations of 20,000 draws."""
    draws = 20_000
    found = counted("plackett-luce", 1, draws)[:, 0] / draws
    keys = np.exp(2.0 * (SCORES - SCORES.mean()) / SCORES.std())
    share = keys / keys.sum()
    assert (np.abs(found - share) < 5 * np.sqrt(share * (1 - share) / draws)).all()
    same = LOGGERS["plackett-luce"].counts
    assert same is not None
    flat = same(Query(np.ones(2), 1, draws), np.random.default_rng(0))[:, 0]
    assert abs(flat[0] - draws / 2) < 5 * np.sqrt(draws / 4)


def test_the_registry_is_what_the_setting_offers() -> None:
    assert {key: logger.label for key, logger in LOGGERS.items()} == LOGGER_FIELD.options
    assert all(logger.key == key and logger.words for key, logger in LOGGERS.items())
    with refused("", "random", *LOGGERS):
        logger_named("random")
    cut = Settings(logger="replace-last", shown=10)
    assert cut.to_query() == "logger=replace-last&shown=10"
    assert Settings.from_query({"logger": "replace-last", "shown": "10"}) == (cut, ())
    assert cut.as_dict()["shown"] == 10 and "shown" not in Settings().as_dict()
    assert stage(cut, WORLD_FIELDS) == Settings() and stage(cut, LOG_FIELDS) == cut
    assert click_model(cut).curve == Cutoff(PowerLaw(1.0), 10)


# Four documents, lists of two, three draws: the first always, the others at rank 2 once each.
LOG = ClickLog(
    [0, 1, 1, 2, 2, 3, 3], [1, 2, 3, 2, 3, 2, 3], [3, 1, 2, 1, 2, 1, 2], np.zeros(7, int),
    3, [0, 4], draws=[3],
)  # fmt: skip
RELEVANT = np.array([True, False, True, True])


def mean_of(estimator: Estimator, log: ClickLog, belief: Belief) -> list[Fraction]:
    """What each document counts in a draw on average over clicks, given the lists, in fractions."""
    numbers = estimator.weigh(log, belief)
    p = CURVE.at(log.rank)
    found = [Fraction(0)] * log.n_documents
    for row, document in enumerate(log.document.tolist()):
        chance = Fraction(float(p[row])) * int(RELEVANT[document])
        each = Fraction(float(numbers.v[row]))
        if chance:
            each += Fraction(float(numbers.u[row])) * chance
        found[document] += int(log.impressions[row]) * each / log.query_draws
    return found


def test_exposure_of_documents_adds_up_to_that_of_the_ranks() -> None:
    found = realised_exposure(LOG, CURVE.at(LOG.rank))
    assert found.tolist() == pytest.approx([1.0, *[0.5 / 3] * 6])
    of_document = found[np.unique(LOG.document, return_index=True)[1]]
    assert of_document.sum() == pytest.approx(1.5)


def test_policy_aware_is_right_where_rank_based_weights_are_not() -> None:
    """By rank a document shown in one draw of three counts a third; by exposure all of it."""
    belief = Belief(CURVE)
    aware = [float(m) for m in mean_of(ESTIMATORS["policy-aware"], LOG, belief)]
    assert aware == pytest.approx(RELEVANT.astype(float), rel=1e-12, abs=1e-12)
    by_rank = mean_of(ESTIMATORS["ips"], LOG, belief)
    assert by_rank == [1, 0, Fraction(1, 3), Fraction(1, 3)]
    # Shown whole and always the same it is IPS, to the last bit.
    whole = ClickLog.presented([2, 1, 4, 3], [0, 4])
    curve = Belief(TableCurve((1.0, 0.5, 0.25, 0.125)))
    one, two = (ESTIMATORS[key].weigh(whole, curve) for key in ("policy-aware", "ips"))
    assert np.array_equal(one.u, two.u)


@pytest.mark.parametrize("clip", [0.0, 0.25])
def test_doubly_robust_has_the_bias_of_exposure(clip: float) -> None:
    """(r - r_hat) (rho / max(tau, rho) - 1); also from a log without rows of what was left out."""
    fitted = np.array([0.5, 0.25, 0.75, 0.5])
    rho = np.array([1.0, *[0.5 / 3] * 3])
    wanted = (RELEVANT - fitted) * (rho / np.maximum(rho, clip) - 1.0) + RELEVANT
    seen = LOG.rank <= 2
    short = ClickLog(
        LOG.document[seen], LOG.rank[seen], LOG.impressions[seen], LOG.clicks[seen], 3, [0, 4],
        draws=[3],
    )  # fmt: skip
    assert draws_per_impression(LOG).tolist() == [1.0] * 7
    assert draws_per_impression(short).tolist() == [1.0, 3.0, 3.0, 3.0]
    for log in (LOG, short):
        found = mean_of(ESTIMATORS["doubly-robust"], log, Belief(CURVE, clip, fitted))
        assert [float(m) for m in found] == pytest.approx(wanted, rel=1e-12)
        direct = mean_of(ESTIMATORS["direct"], log, Belief(CURVE, clip, fitted))
        assert [float(m) for m in direct] == pytest.approx(fitted, rel=1e-12)


def test_no_data_fills_a_hole_but_a_fitted_relevance_is_what_it_says() -> None:
    never = ClickLog([0, 1, 2, 3], [1, 2, 3, 4], [3, 3, 3, 3], np.zeros(4, int), 3, [0, 4])
    for key in ("ips", "policy-aware"):
        assert mean_of(ESTIMATORS[key], never, Belief(CURVE)) == [1, 0, 0, 0]
    fitted = np.array([0.5, 0.25, 0.75, 0.5])
    found = mean_of(ESTIMATORS["doubly-robust"], never, Belief(CURVE, 0.0, fitted))
    assert [float(m) for m in found] == [1.0, 0.0, 0.75, 0.5]


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


@pytest.mark.parametrize("logger", LOGGERS)
def test_logs_of_cut_lists_hold_every_candidate_of_every_draw(world: World, logger: str) -> None:
    settings = Settings(logger=logger, shown=10, clicks=1_000)
    log = simulate_training_log(world, settings)
    # Of what a draw brings 1% is not known better for varied lists; then sqrt(1,000) is 32.
    assert log.total_clicks == pytest.approx(1_000, abs=170)
    assert not log.clicks[log.rank > 10].any()
    sizes = np.diff(log.query_offsets)
    assert np.array_equal(log.impressions_per_document, np.repeat(log.draws, sizes))
    assert int(log.draws.sum()) == log.query_draws
    if logger != "production":
        assert log.rank.max() == 11
        assert np.array_equal(simulate_training_log(world, settings).clicks, log.clicks)
