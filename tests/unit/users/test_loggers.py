"""Loggers that leave documents out of lists, and what their logs still say: exact, by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.lab import METHODS
from ultr_core.lab.logs import (
    click_model,
    known_exposure,
    logger_price,
    shown_rows,
    simulate_training_log,
    world_notices,
)
from ultr_core.lab.methods import LOG_FIELDS, WORLD_FIELDS, stage
from ultr_core.lab.world import World, build_world
from ultr_core.propensity import ESTIMATORS, Belief, Estimator
from ultr_core.propensity.policy_aware import draws_per_impression, realised_exposure
from ultr_core.settings import LOGGER_FIELD, Settings
from ultr_core.users import LOGGERS, ClickLog, Cutoff, PowerLaw, TableCurve, logger_named
from ultr_core.users.loggers import Query, mixture

SCORES = np.array([4.0, 3.0, 1.0, 0.5, 0.0])
VARIED = [key for key, logger in LOGGERS.items() if not logger.fixed]
CURVE = Cutoff(TableCurve((1.0, 0.5, 0.25, 0.125)), 2)


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


def counted(key: str, shown: int, draws: int = 1_000, seed: int = 0) -> np.ndarray:
    return LOGGERS[key].counts(Query(SCORES, shown, draws), np.random.default_rng(seed))


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
    flat = LOGGERS["plackett-luce"].counts(Query(np.ones(2), 1, draws), np.random.default_rng(0))[
        :, 0
    ]
    assert abs(flat[0] - draws / 2) < 5 * np.sqrt(draws / 4)


def lists_of(key: str, shown: int) -> list[tuple[float, tuple[int, ...]]] | None:
    """Every ranking of the five that a logger may draw, with its probability; None: unknown."""
    everyone, last = tuple(range(5)), min(shown, 5) - 1
    if key == "production":
        return [(1.0, everyone)]
    if key == "replace-last":
        found = []
        for place in range(last, 5):
            order = list(everyone)
            order[last], order[place] = order[place], order[last]
            found.append((1.0 / (5 - last), tuple(order)))
        return found
    if key == "mixture":
        shuffled = [(0.2 / 120, order) for order in permutations(everyone)]
        return [(0.8, everyone), *shuffled]
    if key != "plackett-luce":
        return None
    found, weight = [], np.exp(2.0 * (SCORES - SCORES.mean()) / SCORES.std())
    for order in permutations(everyone):
        left = [weight[list(order[place:])].sum() for place in range(5)]
        found.append((float(np.prod(weight[list(order)] / left)), order))
    return found


@pytest.mark.parametrize("key", LOGGERS)
@pytest.mark.parametrize("shown", [1, 3, 9])
def test_chances_exposure_and_mean_ranks_are_those_of_all_rankings(key: str, shown: int) -> None:
    query, p = Query(SCORES, shown, 1), np.array([1.0, 0.5, 0.25, 0.125, 0.0625])
    places, logger, lists = min(shown, 5), LOGGERS[key], lists_of(key, shown)
    chances, ranks = logger.chances(query), logger.mean_ranks(query)
    assert chances.sum(axis=0) == pytest.approx(np.ones(places), abs=1e-10)
    assert ranks.sum() == pytest.approx(15.0, rel=1e-12)
    if lists is not None:
        by_list, mean = np.zeros((5, places)), np.zeros(5)
        for chance, order in lists:
            mean[list(order)] += chance * np.arange(1, 6)
            by_list[list(order[:places]), np.arange(places)] += chance
        assert chances == pytest.approx(by_list, abs=1e-10)
        assert ranks == pytest.approx(mean, rel=1e-12)
    rho = logger.exposure(query, p)
    assert rho == pytest.approx(chances @ p[:places], abs=1e-10)
    assert rho.sum() == pytest.approx(p[:places].sum(), abs=1e-9)
    assert (rho > 0).all() or logger.fixed
    # Counts have these means: 5 standard deviations of a binomial at the most.
    seen = counted(key, shown, 4_000) / 4_000
    assert np.abs(seen - chances).max() < 5 * np.sqrt(0.25 / 4_000)


def test_rankers_that_share_the_traffic_70_to_30_are_averaged_exactly() -> None:
    """Production's list and its reverse: six candidates, lists of three, nothing in common."""
    backwards = replace(
        LOGGERS["production"],
        chances=lambda query: np.eye(6, query.places)[::-1],
        mean_ranks=lambda query: np.arange(6.0, 0.0, -1.0),
    )
    both = mixture("two", "Two", "w", ((0.75, LOGGERS["production"]), (0.25, backwards)), "s")
    query = Query(np.arange(6.0, 0.0, -1.0), 3, 1)
    rho = both.exposure(query, np.array([1.0, 0.5, 0.25]))
    assert rho.tolist() == [0.75, 0.375, 0.1875, 0.0625, 0.125, 0.25]
    assert both.mean_ranks(query).tolist() == [2.25, 2.75, 3.25, 3.75, 4.25, 4.75]


def test_the_price_of_a_logger_is_its_rankings_risk_less_productions(world: World) -> None:
    prices = {key: logger_price(world, Settings(logger=key, shown=10)) for key in LOGGERS}
    assert prices["production"] == 0.0
    # Of replace-last: one swap in a draw, of rank k and a rank below or at it.
    train, cost = world.train, 0.0
    offsets = train.corpus.query_offsets
    for first, last in pairwise(offsets):
        r = train.relevance[first:last][np.argsort(train.presented_ranks[first:last])]
        if r.size > 10:
            at = np.arange(10, r.size + 1)
            cost += ((at - 10) * (float(r[9]) - r[9:])).mean()
    assert prices["replace-last"] == pytest.approx(cost / train.corpus.n_queries, rel=1e-12)
    assert 0 < prices["replace-last"] < prices["mixture"]
    told = world_notices(world, Settings(logger="mixture", shown=10))
    assert mentions(told[-1], f"+{prices['mixture']:.2f}")
    assert not world_notices(world, Settings())


@pytest.mark.parametrize("key", ["replace-last", "mixture"])
def test_known_exposure_is_what_that_of_a_long_log_tends_to(world: World, key: str) -> None:
    settings = Settings(logger=key, shown=10, clicks=3_000)
    curve = click_model(settings).curve
    known = known_exposure(world, 0, settings, curve)
    drawn = np.where(np.arange(world.train.corpus.n_queries) < 10, 4_000, 0)
    rows = shown_rows(
        world.train, world.logger_scores[0], settings, drawn, np.random.SeedSequence(3)
    )
    offsets = world.train.corpus.query_offsets
    log = ClickLog(*rows, np.zeros(rows[0].size, int), int(drawn.sum()), offsets, draws=drawn)
    realised = realised_exposure(log, curve.at(log.rank))
    off = realised - known[log.document]
    spread = np.sqrt(known[log.document] / drawn.max())  # p is at most 1, and rho its mean
    assert (np.abs(off) < 5 * spread + 1e-12).all()
    assert known[: offsets[10]].min() > 0


def test_known_exposure_divides_clicks_where_it_is_given() -> None:
    known = np.array([1.0, 0.25, 0.125, 0.5])
    found = ESTIMATORS["policy-aware"].weigh(LOG, Belief(CURVE, exposure=known))
    assert found.u.tolist() == (1.0 / known[LOG.document]).tolist()
    with refused("", 3, 4):
        ESTIMATORS["policy-aware"].weigh(LOG, Belief(CURVE, exposure=known[:3]))
    method = METHODS["policy-aware-known"]
    assert method.knows_logger and method.estimator is ESTIMATORS["policy-aware"]


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
