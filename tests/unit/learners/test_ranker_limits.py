"""What a fit refuses, each time in one sentence, and what bounds its work."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.learners import SVM, fit_path, fit_ranker, objective_value
from ultr_core.learners.selection import Candidate, converged, select_by_clicks, select_by_labels
from ultr_core.propensity.weights import Weights
from ultr_core.users import ClickLog


def with_features(corpus, features):
    return Corpus(features=features, grades=corpus.grades, query_offsets=corpus.query_offsets)


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".") and not re.search(r"[.] [A-Z]", text)
    return text


@pytest.mark.parametrize("cost", [1e300, 1e-300, 0.0, -1.0, np.nan, np.inf, "x", None, True, 1j])
def test_a_cost_that_cannot_be_used_names_the_range(small_problem, cost):
    corpus, weights = small_problem(0)
    for call in (
        lambda: fit_ranker(corpus, weights, cost=cost),
        lambda: fit_path(corpus, weights, [1.0, cost]),
        lambda: objective_value(corpus, weights, cost, np.zeros(corpus.n_features)),
    ):
        with refused("cost", "C", "1e-12", "1e+12") as error:
            call()
        assert repr(cost) in one_sentence(error)


@pytest.mark.parametrize("tolerance", [1e-16, 0.0, -1.0, 1.0, np.nan, np.inf, "x", None])
def test_a_tolerance_that_cannot_be_reached_names_the_range(small_problem, tolerance):
    corpus, weights = small_problem(0)
    with refused("", "tolerance", "1e-12", 1) as error:
        fit_ranker(corpus, weights, cost=1.0, tolerance=tolerance)
    one_sentence(error)


@pytest.mark.parametrize("name", ["max_iterations", "seed"])
@pytest.mark.parametrize("value", [-1, 1.5, "x", None])
def test_counts_must_be_whole(small_problem, name, value):
    corpus, weights = small_problem(0)
    with pytest.raises(InputError, match=name) as error:
        fit_ranker(corpus, weights, cost=1.0, **{name: value})
    one_sentence(error)


@pytest.mark.parametrize("factor", [1e300, 1e20, 1e-20, 1e-300])
def test_weights_that_overflow_or_vanish_name_the_range(small_problem, factor):
    corpus, weights = small_problem(0)
    with refused("", "weight", "document", 1, "1e+12", "1e-12", 22) as error:
        fit_ranker(corpus, Weights(weights.values * factor, weights.clicks), cost=1.0)
    one_sentence(error)


@pytest.mark.parametrize("cost", [1e-12, 1e12])
def test_both_ends_of_the_range_of_costs_work(small_problem, cost):
    corpus, weights = small_problem(1, queries=30, most=12)
    assert fit_ranker(corpus, weights, cost=cost).certificate.converged


def test_both_ends_of_the_ranges_of_weights_and_tolerances_work(small_problem):
    corpus, weights = small_problem(1, queries=30, most=12)
    heaviest = weights.values.max() / weights.clicks
    for size in (1.01e-12, 0.99e12):
        scaled = Weights(weights.values * (size / heaviest), weights.clicks)
        assert fit_ranker(corpus, scaled, cost=1.0).certificate.converged
    assert fit_ranker(corpus, weights, cost=1.0, tolerance=1e-12).certificate.gap <= 1e-12


@pytest.mark.parametrize("largest", [1e13, 1e30, 3e38])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_feature_of_huge_scale_is_named_with_its_range(small_problem, largest, sparse):
    corpus, weights = small_problem(0)
    features = corpus.features.copy()
    features[:, 2] = np.where(np.arange(len(features)) % 2, largest, -largest / 2)
    features[:, 1] *= 1e-30
    huge = with_features(corpus, sp.csr_array(features) if sparse else features)
    for call in (lambda: fit_ranker(huge, weights, cost=1.0), lambda: fit_path(huge, weights, [1])):
        with pytest.raises(InputError) as error:
            call()
        text = one_sentence(error)
        named = corpus.feature_ids[2]
        assert mentions(text, f"feature {named}", f"{-largest / 2:g}", f"{largest:g}")


def test_huge_features_of_documents_that_take_no_part_do_no_harm(small_problem):
    corpus, weights = small_problem(2)
    features = np.vstack([corpus.features, np.full((1, corpus.n_features), 3e38, np.float32)])
    more = Corpus(
        features=features,
        grades=np.append(corpus.grades, 0).astype(np.int16),
        query_offsets=np.append(corpus.query_offsets, len(features)),
    )
    same = Weights(np.append(weights.values, 0.0), weights.clicks)
    one, other = (fit_ranker(*p, cost=1.0) for p in ((corpus, weights), (more, same)))
    assert other.certificate.primal == pytest.approx(one.certificate.primal, rel=2e-3)


def test_the_largest_features_allowed_are_learned_from(medium_problem):
    corpus, weights = medium_problem
    scaled = with_features(corpus, corpus.features * np.float32(0.99e12))
    assert fit_ranker(scaled, weights, cost=1.0).certificate.converged


def test_cutting_planes_give_up_in_bounded_work(small_problem):
    corpus, weights = small_problem(1, queries=30, most=12)
    scaled = with_features(corpus, corpus.features * np.float32(1e10))
    found = fit_ranker(scaled, weights, cost=1.0, method="cutting-plane").certificate
    assert not found.converged and not found.stopped_early and found.iterations < 200


def test_an_uncertified_ranker_does_not_pass_selection(medium_problem, monkeypatch):
    corpus, weights = medium_problem
    short = fit_ranker(corpus, weights, cost=10.0, tolerance=1e-8, max_iterations=3)
    with refused("not_converged", "C", 10, 3, "0.29", "1e-08") as error:
        converged(short, 1e-8)
    one_sentence(error)
    stopped = fit_ranker(corpus, weights, cost=10.0, callback=lambda progress: True)
    assert converged(stopped, 1e-3) is stopped

    monkeypatch.setattr("ultr_core.learners.selection.fit_ranker", lambda *a, **k: short)
    giving_up = replace(SVM, fit=lambda *a, **k: short, paths=None)
    monkeypatch.setattr("ultr_core.learners.selection.SVM", giving_up)
    relevance = corpus.grades > 0
    with refused("not_converged", "0.001", "0.29", 10, 3):
        select_by_labels(corpus, weights, corpus, relevance, costs=[1.0])
    with refused("not_converged", "0.001", "0.29", 10, 3):
        select_by_labels(corpus, weights, corpus, np.zeros_like(relevance), costs=[1.0])
    for clicks in (0, 1):
        log = one_click_each(corpus, clicks)
        with refused("not_converged", "0.001", "0.29", 10, 3):
            select_by_clicks(
                corpus, [Candidate(weights)], corpus, log, np.ones(len(log.rank)),
                learner=giving_up, costs=[1.0],
            )  # fmt: skip


def one_click_each(corpus, clicks):
    firsts = corpus.query_offsets[:-1]
    ones = np.ones(len(firsts), np.int64)
    return ClickLog(
        document=firsts,
        rank=ones.astype(np.int32),
        impressions=ones,
        clicks=clicks * ones,
        query_draws=len(firsts),
        query_offsets=corpus.query_offsets,
    )
