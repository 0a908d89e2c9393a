"""Arguments of a wrong kind, each refused in one sentence; ends of the solver without a bound."""

from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.files.ranker_files import ranker_text
from ultr_core.learners import (
    LinearModel,
    fit_path,
    fit_ranker,
    objective_value,
    score_many,
    weighted_hinge,
)
from ultr_core.propensity.weights import Weights

FEATURES = np.array([[1, 0], [0, 1], [0, 0], [1, 0], [0, 1], [0, 0.5]], np.float32)
CORPUS = Corpus(FEATURES, np.array([1, 0, 0, 1, 0, 0]), np.array([0, 3, 6]))
WEIGHTS = Weights(np.array([1.0, 0, 0, 2, 0, 0]), 3)
RANKER = fit_ranker(CORPUS, WEIGHTS, cost=10.0)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
@pytest.mark.parametrize("stop", [{"max_iterations": 1}, {"callback": lambda progress: True}])
def test_a_start_from_which_no_bound_is_known_gives_the_best_so_far(tolerance, method, stop):
    apart = replace(RANKER, coefficients=np.array([1000.0, -1000.0]))  # every pair is in order
    found = fit_ranker(
        CORPUS, WEIGHTS, cost=10.0, initial=apart, tolerance=tolerance, method=method, **stop
    )
    proof = found.certificate
    assert not proof.converged and 0 <= proof.dual <= proof.primal
    value = objective_value(CORPUS, WEIGHTS, 10.0, found.coefficients)
    assert value <= proof.primal <= value * (1 + 1e-4)


@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
@pytest.mark.parametrize("unused", [0, 3])
def test_a_callback_cannot_spoil_the_fit(method, unused):
    wide = np.hstack([FEATURES, np.zeros((6, unused), np.float32)])
    corpus = Corpus(wide, CORPUS.grades, CORPUS.query_offsets)
    seen = []

    def spoil(progress):
        arrays = [progress.coefficients]
        if progress.constraint is not None:
            arrays.append(progress.constraint.vector)
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[:] = np.nan
            seen.append(array)

    proof = fit_ranker(corpus, WEIGHTS, cost=10.0, method=method, callback=spoil).certificate
    assert seen and proof.converged and 0 < proof.primal < np.inf


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_ranker_that_is_not_finite_is_refused(bad):
    odd = replace(RANKER, coefficients=np.array([bad, 0.0]))
    for call in (
        lambda: fit_ranker(CORPUS, WEIGHTS, cost=1.0, initial=odd),
        lambda: score_many([RANKER, odd], CORPUS),
        lambda: objective_value(CORPUS, WEIGHTS, 1.0, odd.coefficients),
    ):
        with refused("coefficient", 0):
            call()


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: score_many(RANKER, CORPUS), ("one_ranker",)),
        (lambda: score_many([5], CORPUS), ("not_a_ranker", 5)),
        (lambda: score_many(iter([]), CORPUS), ("no_ranker",)),
        (
            lambda: score_many([LinearModel(np.zeros(3), CORPUS.feature_ids)], CORPUS),
            ("", "2 features"),
        ),
        (lambda: objective_value(CORPUS, WEIGHTS, 1.0, np.zeros(3)), ("", "2 features")),
        (lambda: objective_value(CORPUS, WEIGHTS, 1.0, ["a", "b"]), ("", "2 features")),
        (lambda: fit_ranker(CORPUS, WEIGHTS, cost=1.0, initial=5), ("not_a_ranker", 5)),
        (lambda: fit_ranker(CORPUS, WEIGHTS, cost=1.0, callback=5), ("callback",)),
        (lambda: fit_ranker(None, WEIGHTS, cost=1.0), ("not_a_corpus", None)),
        (lambda: fit_ranker(CORPUS, WEIGHTS.values, cost=1.0), ("not_weights",)),
        (
            lambda: fit_ranker(CORPUS, Weights([1, 0, 0, 2, 0, 0], 1e308), cost=1.0),
            ("", "1e+12"),
        ),
        (lambda: fit_path(WEIGHTS, CORPUS, [1.0]), ("not_a_corpus",)),
        (lambda: fit_path(CORPUS, None, [1.0]), ("not_weights", None)),
        (lambda: objective_value(None, WEIGHTS, 1.0, [0.0, 0.0]), ("not_a_corpus", None)),
        (lambda: objective_value(CORPUS, [1.0], 1.0, [0.0, 0.0]), ("not_weights",)),
        (lambda: objective_value(CORPUS, WEIGHTS, 1.0, [1e300, 0.0]), ("objective", "1e+300")),
        (lambda: RANKER.score(None), ("not_a_corpus", None)),
        (lambda: fit_path(CORPUS, WEIGHTS, None), ("costs", "C")),
        (lambda: fit_path(CORPUS, WEIGHTS, "12"), ("costs", "C")),
        (lambda: fit_path(CORPUS, WEIGHTS, [1.0], callback="x"), ("callback",)),
        (lambda: weighted_hinge([1.0, 2.0], [1.0, np.nan], [0, 2]), ("", "weight", "document 1")),
        (lambda: weighted_hinge([1.0, 2.0], [1.0, -1.0], [0, 2]), ("", "weight", "document 1")),
        (lambda: weighted_hinge([1.0, 2.0], [1.0, 1.0], [0, 0, 2]), ("", "query_offsets")),
        (lambda: weighted_hinge("ab", [1.0, 1.0], [0, 2]), ("real_numbers", "scores")),
        (lambda: weighted_hinge([[1.0, 2.0]], [[1.0, 1.0]], [0, 2]), ("", "(1, 2)")),
        (lambda: Weights("abc", 1.0), ("real_numbers", "weights")),
        (lambda: Weights(["a"], 1.0), ("real_numbers", "weights")),
        (lambda: Weights([1j], 1.0), ("real_numbers", "weights")),
        *((lambda n=n: Weights([1.0], n), ("examples", 0)) for n in ("a", None, [1], 1j, 10**400)),
    ],
)
def test_what_is_of_another_kind_is_refused_in_one_sentence(call, fault):
    with refused(*fault) as error:
        call()
    assert str(error.value).endswith(".")


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64, Fraction, int])
def test_numbers_of_any_kind_become_plain_ones(kind):
    one, low = kind(1), np.float32(0.01)
    rankers = [
        fit_ranker(CORPUS, WEIGHTS, cost=one, tolerance=low, max_iterations=np.int64(500)),
        *fit_path(CORPUS, WEIGHTS, [one], tolerance=low),
    ]
    plain = fit_ranker(CORPUS, WEIGHTS, cost=1.0, tolerance=float(low))
    for ranker in rankers:
        assert type(ranker.cost) is float
        kinds = {type(value) for value in asdict(ranker.certificate).values()}
        assert kinds == {float, int, str, bool}
        assert '"C": 1.0' in ranker_text(ranker)
    assert np.array_equal(rankers[0].coefficients, plain.coefficients)
    value = objective_value(CORPUS, WEIGHTS, one, plain.coefficients)
    assert type(value) is float and value == objective_value(
        CORPUS, WEIGHTS, 1.0, plain.coefficients
    )


def test_several_rankers_may_come_from_a_generator():
    many = score_many((model for model in [RANKER, RANKER]), CORPUS)
    assert np.array_equal(many[0], RANKER.score(CORPUS)) and len(many) == 2
    assert fit_path(CORPUS, WEIGHTS, (c for c in [1.0, 2.0]))[1].cost == 2.0
