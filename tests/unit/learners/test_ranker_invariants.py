"""What must not change a ranker, and what must be refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.learners import LinearModel, fit_path, fit_ranker, objective_value, score_many
from ultr_core.propensity.weights import Weights


def corpus_of(features, sizes):
    features = np.asarray(features, np.float32)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Corpus(
        features=features, grades=np.zeros(len(features), np.int16), query_offsets=offsets
    )


def test_a_duplicate_click_is_a_weight_of_two(small_problem):
    corpus, weights = small_problem(3)
    doubled = corpus.features.copy()
    clicked = int(np.flatnonzero(weights.values)[0])
    values = weights.values.copy()
    values[clicked] += 1
    found = fit_ranker(corpus, Weights(values, weights.clicks + 1), cost=5.0, tolerance=1e-9)

    # The same two clicks as two training examples, each in a query of its own.
    query = int(np.searchsorted(corpus.query_offsets, clicked, side="right")) - 1
    begin, end = corpus.query_offsets[query : query + 2]
    more = corpus_of(np.vstack([doubled, doubled[begin:end]]), [*corpus.sizes, end - begin])
    copied = np.concatenate([weights.values, np.zeros(end - begin)])
    copied[corpus.n_documents + clicked - begin] = 1
    other = fit_ranker(more, Weights(copied, weights.clicks + 1), cost=5.0, tolerance=1e-9)
    np.testing.assert_allclose(found.coefficients, other.coefficients, atol=1e-4)
    assert found.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-8)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_ten_times_the_same_counts_give_the_same_coefficients(medium_problem, tolerance):
    corpus, weights = medium_problem
    ten = Weights(10 * weights.values, 10 * weights.clicks)
    one = fit_ranker(corpus, weights, cost=10.0, tolerance=tolerance)
    other = fit_ranker(corpus, ten, cost=10.0, tolerance=tolerance)
    assert np.array_equal(one.coefficients, other.coefficients)


def test_scaling_the_propensities_is_scaling_the_cost(medium_problem):
    corpus, weights = medium_problem
    third = Weights(3 * weights.values, weights.clicks)
    one = fit_ranker(corpus, weights, cost=6.0, tolerance=1e-6)
    other = fit_ranker(corpus, third, cost=2.0, tolerance=1e-6)
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-6)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=2e-2)


def test_order_of_the_queries_does_not_matter(small_problem):
    corpus, weights = small_problem(11, queries=12)
    order = np.random.default_rng(0).permutation(corpus.n_queries)
    spans = [np.arange(corpus.query_offsets[q], corpus.query_offsets[q + 1]) for q in order]
    moved = Weights(weights.values[np.concatenate(spans)], weights.clicks)
    one = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-9)
    other = fit_ranker(corpus.subset(order), moved, cost=1.0, tolerance=1e-9)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-4)


def test_queries_that_give_no_pair_change_nothing(small_problem):
    corpus, weights = small_problem(2)
    x = np.vstack([np.full((1, 4), 9.0), corpus.features, np.full((3, 4), -9.0)])
    more = corpus_of(x, [1, *corpus.sizes, 3])
    # A click on the only document of a query, and a query without a click.
    values = np.concatenate([[1.0], weights.values, np.zeros(3)])
    one = fit_ranker(corpus, weights, cost=3.0, tolerance=1e-9)
    other = fit_ranker(more, Weights(values, weights.clicks), cost=3.0, tolerance=1e-9)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-5)


def test_identical_documents_leave_the_zero_ranker():
    corpus = corpus_of(np.ones((5, 3)), [5])
    ranker = fit_ranker(corpus, Weights(np.array([0, 2.0, 0, 0, 1]), 3), cost=7.0)
    assert np.array_equal(ranker.coefficients, np.zeros(3))
    # Every pair violates its margin by exactly 1: three clicks, four others each.
    assert ranker.certificate.primal == pytest.approx(7.0 / 3 * 3 * 4)
    assert ranker.certificate.converged


def test_one_pair_has_the_known_solution():
    corpus = corpus_of([[2.0, 0.0], [0.0, 0.0]], [2])
    weights = Weights(np.array([1.0, 0.0]), 1)
    # w = min(C, 1/4) * (2, 0): the multiplier of the only pair is capped by C.
    for cost, expected in [(0.1, 0.2), (10.0, 0.5)]:
        found = fit_ranker(corpus, weights, cost=cost, tolerance=1e-10)
        np.testing.assert_allclose(found.coefficients, [expected, 0.0], atol=1e-5)


def test_constant_and_duplicate_features(small_problem):
    corpus, weights = small_problem(4)
    x = corpus.features
    wide = corpus_of(np.hstack([x, x[:, :1], np.full((len(x), 1), 5.0)]), corpus.sizes)
    found = fit_ranker(wide, weights, cost=2.0, tolerance=1e-9).coefficients
    assert found[4] == pytest.approx(found[0], abs=1e-4)
    assert abs(found[5]) < 1e-12


@pytest.mark.parametrize("sizes, clicked", [([1, 1, 1], 0), ([3], None)])
def test_no_pair_is_one_clear_sentence(sizes, clicked):
    corpus = corpus_of(np.eye(3), sizes)
    values = np.zeros(3)
    if clicked is not None:
        values[clicked] = 1
    with refused("no_pairs"):
        fit_ranker(corpus, Weights(values, 1), cost=1.0)


def test_what_cannot_be_used_is_refused(small_problem):
    corpus, weights = small_problem(0)
    for cost in (0.0, -1.0, np.nan, np.inf):
        with refused("cost", "C"):
            fit_ranker(corpus, weights, cost=cost)
        with refused("cost", "C"):
            fit_path(corpus, weights, [1.0, cost])
    with pytest.raises(InputError, match="tolerance"):
        fit_ranker(corpus, weights, cost=1.0, tolerance=0.0)
    with refused("", "weights", 26, 27):
        fit_ranker(corpus, Weights(weights.values[1:], 1.0), cost=1.0)
    ranker = fit_ranker(corpus, weights, cost=1.0)
    narrow = corpus_of(corpus.features[:, :2], corpus.sizes)
    with refused("", "features", 1, 2, 4):
        ranker.score(narrow)
    with refused("", "initial", "ranker", 1, 2, 4):
        fit_ranker(narrow, weights, cost=1.0, initial=ranker)


def test_scores_are_the_features_times_the_coefficients(small_problem):
    corpus, weights = small_problem(1)
    ranker = fit_ranker(corpus, weights, cost=1.0)
    expected = corpus.features.astype(np.float64) @ ranker.coefficients
    np.testing.assert_allclose(ranker.score(corpus), expected, rtol=1e-12)
    assert not ranker.coefficients.flags.writeable
    value = objective_value(corpus, weights, 1.0, ranker.coefficients)
    assert value == pytest.approx(ranker.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_many_rankers_are_those_of_each_to_the_last_digit(dtype):
    rng = np.random.default_rng(0)
    corpus = corpus_of(rng.normal(size=(5000, 31)).astype(dtype), [50] * 100)
    models = [LinearModel(rng.normal(size=31), corpus.feature_ids) for _ in range(3)]
    many = score_many(models, corpus)
    assert np.array_equal(many, np.stack([model.score(corpus) for model in models]))
    with refused("no_ranker"):
        score_many([], corpus)


@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
def test_the_certificate_is_of_the_stated_objective_to_a_trillionth(small_problem, method):
    corpus, weights = small_problem(3)
    odd = Weights(weights.values / 3.0, 181.0)
    found = fit_ranker(corpus, odd, cost=0.01, tolerance=1e-9, method=method)
    value = objective_value(corpus, odd, 0.01, found.coefficients)
    assert found.certificate.primal == pytest.approx(value, rel=1e-11)
    assert found.certificate.dual <= value * (1 + 1e-11)
