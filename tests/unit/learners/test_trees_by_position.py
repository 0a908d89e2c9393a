"""Trees that learn position: the lists they are dealt, and that position does not mislead them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_many
from ultr_core.learners import trees_by_position as by_position
from ultr_core.learners.trees import STEP
from ultr_core.learners.trees_by_position import (
    Lists,
    click_loss,
    fit_by_position,
    select_by_position,
)
from ultr_core.own_data.samples import sample_corpus
from ultr_core.risk import true_risk
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return sample_corpus()


def clicks_on(corpus: Corpus, seed: int, draws: int = 20_000) -> ClickLog:
    """Lists in the order of the first feature that is against relevance: position misleads."""
    against = -np.asarray(corpus.features, np.float64) @ np.ones(corpus.n_features)
    ranks = rank_many(against[None], corpus.query_offsets)[0]
    pi = PositionModel(PowerLaw(1.5), 1.0, 0.05).click_probability(corpus.relevance(3), ranks)
    return simulate_counts(pi, ranks, corpus.query_offsets, draws, seed)


def varied() -> ClickLog:
    """Two queries; in the first, documents change rank and one is missing from some lists."""
    return ClickLog(
        document=np.array([0, 0, 1, 1, 2, 3, 4]), rank=np.array([1, 2, 1, 2, 3, 1, 2]),
        impressions=np.array([6, 4, 4, 6, 7, 5, 5]), clicks=np.array([3, 1, 2, 0, 2, 5, 1]),
        query_draws=15, query_offsets=np.array([0, 3, 5]), draws=np.array([10, 5]),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_lists_contain_every_click_at_its_rank_and_each_document_once(seed: int) -> None:
    log, lists = varied(), Lists.of_log(varied(), seed)
    times = np.repeat(lists.times, lists.sizes)
    of_list = np.repeat(np.arange(lists.sizes.size), lists.sizes)
    assert np.unique(np.stack([of_list, lists.document]), axis=1).shape[1] == of_list.size
    for row in range(log.document.size):
        here = (lists.document == log.document[row]) & (lists.rank == log.rank[row])
        assert times[here & lists.clicked].sum() == log.clicks[row]
        assert times[here].sum() <= log.impressions[row]
    assert np.bincount(of_list, lists.clicked).min() >= 1
    query = (lists.document > 2).astype(int)
    assert all(np.unique(query[of_list == each]).size == 1 for each in range(lists.sizes.size))
    assert lists.times[:].sum() <= 15


def test_fixed_lists_are_dealt_as_independent_clicks_fall() -> None:
    """Two documents, 4 draws, 2 clicks each: both in one list with hypergeometric chances.

    Chances 1/6, 4/6, 1/6 for 0, 1 and 2 common lists; 3,000 deals, beyond 4.5 standard errors with
    probability below 1e-5 each.
    """
    log = ClickLog([0, 1], [1, 2], [4, 4], [2, 2], 4, [0, 2])
    found = np.zeros(3)
    for seed in range(3_000):
        lists = Lists.of_log(log, seed)
        of_list = np.repeat(np.arange(lists.sizes.size), lists.sizes)
        both = np.bincount(of_list, lists.clicked) == 2
        found[int(lists.times[both].sum())] += 1
    chance = np.array([1, 4, 1]) / 6
    assert np.all(np.abs(found / 3_000 - chance) < 4.5 * np.sqrt(chance * (1 - chance) / 3_000))


def test_of_too_many_lists_a_random_part_is_kept(corpus: Corpus) -> None:
    log = clicks_on(corpus, 0)
    whole, part = Lists.of_log(log), Lists.of_log(log, most_rows=20_000)
    rows = (lists.sizes @ lists.times for lists in (whole, part))
    share = 1 / (next(rows) / next(rows))
    expected = 20_000 / float(np.minimum(log.clicks_per_query, log.draws) @ corpus.sizes)
    assert share == pytest.approx(expected, rel=0.1)
    assert part.document.size < 20_000


def test_logs_that_say_nothing_are_refused() -> None:
    only = ClickLog([0, 1], [1, 2], [3, 2], [3, 2], 3, [0, 2])
    for log in (only, ClickLog([0, 1], [1, 2], [3, 3], [0, 0], 3, [0, 2])):
        with refused("towers_clicks"):
            Lists.of_log(log)


def test_lists_that_lightgbm_cannot_take_are_refused() -> None:
    size = by_position.LONGEST_LIST + 1
    clicks = np.zeros(size, np.int64)
    clicks[5] = 1
    log = ClickLog(np.arange(size), np.arange(size) + 1, np.full(size, 2), clicks, 2, [0, size])
    with refused("too_large", f"{size:,}"):
        Lists.of_log(log)


def test_the_loss_is_the_lowest_over_scale_and_positions(corpus: Corpus) -> None:
    """The same by a general minimiser; scaling and shifting scores changes nothing."""
    log = clicks_on(corpus, 1, 2_000)
    rng = np.random.default_rng(0)
    scores = corpus.relevance(3) + rng.normal(size=corpus.n_documents)
    rank = np.minimum(log.rank, by_position.LAST_RANK)
    used = np.bincount(rank, log.clicks)[rank] > 0
    ranks, place = np.unique(rank[used], return_inverse=True)
    s, n, c = scores[log.document][used], log.impressions[used], log.clicks[used]

    def loss(t: np.ndarray) -> float:
        z = t[0] * s + t[1:][place]
        return float(n @ np.logaddexp(0, z) - c @ z) / c.sum()

    best = minimize(loss, np.zeros(1 + ranks.size), options={"gtol": 1e-7})
    assert click_loss(scores, log) == pytest.approx(best.fun, abs=1e-6)
    assert click_loss(3 * scores - 2, log) == pytest.approx(best.fun, abs=1e-6)
    assert click_loss(rng.permutation(scores), log) > best.fun


def test_relevance_is_learned_although_position_hides_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Better than without positions, and far better than what was shown; reproducible."""
    monkeypatch.setattr(by_position, "MOST_TREES", 2 * STEP)
    log, held_out = clicks_on(corpus, 0), clicks_on(corpus, 1)
    found = select_by_position(corpus, log, corpus, held_out)
    assert found.trees in (STEP, 2 * STEP)
    assert fit_by_position(corpus, log, trees=found.trees).text == found.text
    monkeypatch.setattr(by_position, "LAST_RANK", 1)
    blind = fit_by_position(corpus, log, trees=found.trees)
    ranks = rank_many(
        np.stack([found.score(corpus), blind.score(corpus), -log.rank.astype(float)]),
        corpus.query_offsets,
    )
    own, without, shown = (
        true_risk(each, corpus.relevance(3), corpus.query_offsets) for each in ranks
    )
    assert own < without < shown
    assert own < 0.7 * shown


def test_without_validation_clicks_the_number_of_trees_is_fixed(corpus: Corpus) -> None:
    log = clicks_on(corpus, 0, 500)
    none = ClickLog.presented(log.rank, corpus.query_offsets)
    found = select_by_position(corpus, log, corpus, none)
    assert found.trees == by_position.TREES_WITHOUT_VALIDATION


def test_lightgbm_is_asked_for_where_it_is_missing(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with refused("lightgbm"):
        fit_by_position(corpus, clicks_on(corpus, 0, 100), trees=1)
