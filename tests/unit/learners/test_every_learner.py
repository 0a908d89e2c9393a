"""Every learner of the registry keeps what training asks of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.learners import LEARNERS, SVM, Learner, LinearRanker, learner_named
from ultr_core.propensity import full_information_weights

EVERY = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(4)
    features = rng.random((120, 5))
    grades = (features[:, 0] + 0.1 * rng.random(120) > 0.7).astype(int)
    return Corpus(features=features, grades=grades, query_offsets=np.arange(0, 121, 6))


@EVERY
def test_it_trains_a_linear_ranker_with_a_certificate(learner: Learner, corpus: Corpus) -> None:
    weights = full_information_weights(corpus.relevance(1))
    ranker = learner.fit(corpus, weights, cost=10.0, tolerance=1e-4)
    assert isinstance(ranker, LinearRanker)
    assert ranker.cost == 10.0
    assert ranker.certificate.converged
    assert ranker.certificate.gap <= 1e-4
    assert ranker.certificate.measure
    assert ranker.certificate.sentence.endswith(".")
    # The first feature marks what is relevant.
    assert np.argmax(ranker.coefficients) == 0
    again = learner.fit(corpus, weights, cost=10.0, tolerance=1e-4)
    assert np.array_equal(ranker.coefficients, again.coefficients)


@EVERY
def test_a_path_has_a_ranker_for_each_cost_in_their_order(learner: Learner, corpus: Corpus) -> None:
    weights = full_information_weights(corpus.relevance(1))
    one_by_one = replace(learner, path=None)
    for way in (learner, one_by_one):
        found = way.along(corpus, weights, (10.0, 0.1, 1.0), tolerance=1e-6)
        assert [ranker.cost for ranker in found] == [10.0, 0.1, 1.0]
        alone = learner.fit(corpus, weights, cost=0.1, tolerance=1e-6)
        assert found[1].coefficients == pytest.approx(alone.coefficients, abs=2e-2)


def test_the_registry_is_by_key() -> None:
    assert LEARNERS["svm"] is SVM
    assert all(key == learner.key for key, learner in LEARNERS.items())
    assert learner_named("svm") is SVM
    with pytest.raises(InputError, match="'tree' is no learner; choose from svm"):
        learner_named("tree")
