"""Training within a block of limited time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import Corpus
from ultr_core.deadline import require_time, within
from ultr_core.errors import InputError
from ultr_core.learners import fit_path, fit_ranker
from ultr_core.learners.selection import Candidate, select_by_clicks
from ultr_core.limits import VISITORS_TRAINING_SECONDS
from ultr_core.propensity import Weights
from ultr_core.users import ClickLog

ENOUGH = replace(VISITORS_TRAINING_SECONDS, most=1_000)
NONE_AT_ALL = replace(VISITORS_TRAINING_SECONDS, most=0)
CORPUS = Corpus(np.eye(4), np.zeros(4, int), np.array([0, 4]))
WEIGHTS = Weights(np.array([1.0, 0.0, 2.0, 0.0]), 3)


@pytest.mark.parametrize("method", ["newton", "cutting-plane"])
def test_a_fit_ends_when_its_time_is_over(method: str) -> None:
    with refused("training_time", 0), within(NONE_AT_ALL):
        fit_ranker(CORPUS, WEIGHTS, cost=1.0, method=method)
    with refused("training_time", "visitors", 0), within(NONE_AT_ALL):
        fit_path(CORPUS, WEIGHTS, [0.1, 1.0])
    assert fit_ranker(CORPUS, WEIGHTS, cost=1.0, method=method).certificate.converged
    with within(ENOUGH):
        assert fit_ranker(CORPUS, WEIGHTS, cost=1.0, method=method).certificate.converged


def test_the_shorter_of_two_blocks_counts_and_none_is_left_behind() -> None:
    with within(ENOUGH):
        with pytest.raises(InputError), within(NONE_AT_ALL):
            require_time()
        require_time()
    with within(NONE_AT_ALL), pytest.raises(InputError), within(ENOUGH):
        require_time()
    require_time()


def test_a_fit_without_a_click_to_choose_on_can_be_stopped_too() -> None:
    none = ClickLog(
        np.arange(4), np.arange(1, 5), np.ones(4, int), np.zeros(4, int), 1, CORPUS.query_offsets,
        np.ones(1, int),
    )  # fmt: skip
    told: list[object] = []
    ways = [Candidate(WEIGHTS)]
    with refused("training_time", 0), within(NONE_AT_ALL):
        select_by_clicks(CORPUS, ways, CORPUS, none, np.ones(4))
    select_by_clicks(CORPUS, ways, CORPUS, none, np.ones(4), callback=told.append)
    assert told
