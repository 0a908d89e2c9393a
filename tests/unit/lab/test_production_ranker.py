"""The production ranker: which queries it learns from, and what it says about them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus, synthetic_splits
from ultr_core.lab.production import PRODUCTION_TOLERANCE, train_production_ranker


def corpus_of(grades_by_query: list[list[int]]) -> Corpus:
    grades = np.concatenate(grades_by_query)
    features = np.random.default_rng(0).random((len(grades), 3))
    offsets = np.concatenate([[0], np.cumsum([len(grades) for grades in grades_by_query])])
    return Corpus(features, grades, offsets)


def test_one_percent_of_the_queries_fitted_tightly_and_reproducibly() -> None:
    train = synthetic_splits(0).train
    first, again = (train_production_ranker(train, 3, 0) for _ in range(2))
    assert len(first.queries) == len(np.unique(first.queries)) == 20
    assert first.notices == ()
    assert first.ranker.certificate.gap <= PRODUCTION_TOLERANCE
    assert np.array_equal(first.ranker.coefficients, again.ranker.coefficients)
    assert not np.array_equal(first.queries, train_production_ranker(train, 3, 1).queries)


def test_less_than_one_query_takes_one_and_says_so() -> None:
    production = train_production_ranker(corpus_of([[0, 1]] * 27), 1, 0)
    assert len(production.queries) == 1
    (notice,) = production.notices
    assert mentions(notice, "1%", 27)


def test_takes_as_many_queries_as_hold_a_preference_and_says_so() -> None:
    train = corpus_of([[0, 0], [1, 1], [1], [0, 1]])
    for seed in range(8):
        production = train_production_ranker(train, 1, seed)
        assert 3 in production.queries
        taken = len(production.queries)
        assert mentions(production.notices[0], "one query" if taken == 1 else f"{taken} queries")
    many = [[0, 0]] * 199 + [[0, 1]]
    production = train_production_ranker(corpus_of(many), 1, 0)
    assert mentions(production.notices[0], "1%", 200, "2 queries")


@pytest.mark.parametrize("grades", [[[2, 2], [1]], [[0, 0], [0]], [[1, 1], [0]]])
def test_no_preference_pair_anywhere_is_refused(grades: list[list[int]]) -> None:
    with refused("relevant_grade", 1):
        train_production_ranker(corpus_of(grades), 1, 0)
