"""Scores without end, and arguments of a wrong kind, on the way from own data to evidence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.lab.interleaving import interleave
from ultr_core.lab.production import hand_made_weights, train_production_ranker
from ultr_core.own_data import (
    compare_rankers,
    compare_with_shown,
    evaluate_ranker,
    fit_from_log,
    fold_scores,
)
from ultr_core.own_data.samples import simulate_own_log
from ultr_core.proofs import default_world, draw_users
from ultr_core.settings import Settings
from ultr_core.users import ClickLog, PositionModel, PowerLaw, simulate_counts

CORPUS = Corpus(
    np.random.default_rng(0).random((12, 3)), [1, 0, 0, 3, 0, 3, 1, 0, 3, 0, 0, 0], [0, 4, 8, 12]
)
PRESENTED = np.tile([1, 2, 3, 4], 3)
CURVE = PowerLaw(1.0)
USERS = PositionModel(CURVE, eps_minus=0.2)
RELEVANT = CORPUS.grades >= 1
LOG = simulate_counts(
    USERS.click_probability(RELEVANT, PRESENTED), PRESENTED, CORPUS.query_offsets, 300, 0
)
FIT = fit_from_log(CORPUS, LOG, CURVE, cost=1.0)


def test_infinite_scores_are_refused_by_name() -> None:
    some = np.tile([np.inf, 3.0, np.inf, -np.inf], 3)
    for call in (
        lambda s: evaluate_ranker(CORPUS, LOG, s, CURVE),
        lambda s: compare_with_shown(LOG, s, CURVE, name="it"),
        lambda s: compare_rankers(LOG, s, np.arange(12.0), CURVE, names=("it", "other")),
    ):
        for scores, first, unusable in ((some, "inf", 9), (np.full(12, -np.inf), "-inf", 12)):
            with refused("score_not_finite", first, unusable, 12, 0), warnings.catch_warnings():
                warnings.simplefilter("error")
                call(scores)


def test_equally_infinite_scores_are_tied() -> None:
    scores = [np.inf, 1.0, np.inf, -np.inf]
    assert expected_ranks(scores, np.array([0, 4])).tolist() == [1.5, 3, 1.5, 4]


def test_whole_scores_that_differ_by_less_than_a_float_can_tell_are_no_ties() -> None:
    scores = np.array([2**60, 2**60 + 1])
    assert expected_ranks(scores, np.array([0, 2])).tolist() == [2, 1]


MASKED = np.ma.array(np.arange(12.0), mask=np.arange(12) == 3)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (
            lambda: evaluate_ranker(CORPUS, LOG, np.full(12, np.nan), CURVE),
            ("score_not_finite", "nan", 12, 0),
        ),
        (lambda: evaluate_ranker(CORPUS, LOG, MASKED, CURVE), ("masked", 1, 12)),
        (lambda: evaluate_ranker(CORPUS, LOG, ["a"] * 12, CURVE), ("real_numbers", "text")),
        (lambda: evaluate_ranker(CORPUS, LOG, np.ones(12), (1, 0.5)), ("not_a_curve",)),
        (lambda: evaluate_ranker(CORPUS, None, np.ones(12), CURVE), ("not_a_click_log",)),
        (
            lambda: evaluate_ranker(CORPUS, LOG, np.ones(12), CURVE, clip="x"),
            ("", "threshold", "x"),
        ),
        (lambda: compare_with_shown(LOG, np.ones(12), None, name="it"), ("not_a_curve",)),
        (lambda: compare_with_shown(5, np.ones(12), CURVE, name="it"), ("not_a_click_log", 5)),
        (lambda: fit_from_log(CORPUS, LOG, CURVE, seed=-1), ("random_seed", -1)),
        (lambda: fit_from_log(CORPUS, LOG, CURVE, seed="x"), ("random_seed", "x")),
        (lambda: fit_from_log(CORPUS, LOG, (1, 0.5)), ("not_a_curve",)),
        (lambda: fit_from_log(CORPUS, CORPUS, CURVE), ("not_a_click_log", 0)),
        (
            lambda: fit_from_log(CORPUS, LOG, CURVE, method="clipped", clip="x"),
            ("", "threshold", "x"),
        ),
        (lambda: fold_scores(CORPUS, LOG, FIT, seed=-1), ("random_seed", -1)),
        (lambda: train_production_ranker(CORPUS, 1, -1), ("random_seed", -1)),
        (lambda: hand_made_weights(CORPUS, 1, -1), ("random_seed", -1)),
        (lambda: synthetic_splits(1.5), ("", "corpus", "seed", "1.5")),
        (lambda: synthetic_splits(-1), ("", "corpus", "seed", -1)),
        (lambda: simulate_own_log(CORPUS, Settings(), rankers=1.5), ("whole_number", 1, 5, "1.5")),
        (lambda: draw_users(default_world(), 1.5, 0), ("", "1.5", "users", 0, "1,000,000")),
        (lambda: draw_users(default_world(), 5, -1), ("random_seed", -1)),
    ],
)
def test_what_is_of_another_kind_is_refused_in_one_sentence(
    call: Any, fault: tuple[object, ...]
) -> None:
    with refused(*fault) as caught:
        call()
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"queries": 1.5}, ("whole_number", "queries", "1.5", 1, "100,000,000")),
        ({"queries": 10**12}, ("whole_number", 1, "100,000,000", "1000000000000")),
        ({"seed": -1}, ("random_seed", -1)),
        ({"relevance": RELEVANT[:5]}, ("", "document", "both", 12, 5)),
        ({"ranks_b": PRESENTED[:5]}, ("", "document", "both", 12, 5)),
        ({"ranks_a": PRESENTED - 1}, ("rank_from_1", 0)),
    ],
)
def test_interleaving_of_no_use_is_refused(
    change: dict[str, Any], fault: tuple[object, ...]
) -> None:
    given = {
        "relevance": RELEVANT,
        "ranks_a": PRESENTED,
        "ranks_b": PRESENTED,
        "query_offsets": CORPUS.query_offsets,
        "queries": 5,
        "seed": 0,
    } | change
    with refused(*fault):
        interleave(USERS, **given)  # type: ignore[arg-type]


def test_documents_that_were_never_shown_do_not_stop_a_comparison() -> None:
    log = ClickLog([0, 1], [1, 2], [9, 9], [4, 1], 9, [0, 3])
    found = compare_with_shown(log, [3.0, 2.0, 1.0], CURVE, name="it")
    assert found.estimate.value == 0
