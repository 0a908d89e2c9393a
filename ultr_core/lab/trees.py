"""Trees in place of the ranking SVM: the methods of the comparison with another learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ultr_core.lab.logs import Logs
from ultr_core.lab.methods import FED_METHODS, METHODS, TRAINED_METHODS, ClickData
from ultr_core.lab.training import TrainedMethod, click_data, informed
from ultr_core.lab.world import TestRisk, World
from ultr_core.learners.trees import TREES, TreeSelection, select_trees
from ultr_core.propensity import Estimator, Targets
from ultr_core.settings import Settings

TREE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **{f"{key}-{TREES}": key for key in FED_METHODS},
        **{key: key for key in TRAINED_METHODS if METHODS[key].grower is not None},
    }
)
"""Methods that grow trees: each with the method whose estimator feeds them, or itself."""


def choose_trees(
    estimator: Estimator, data: ClickData, clips: tuple[float, ...], seed: int
) -> tuple[TreeSelection, float]:
    """The trees and the threshold with the lowest loss on validation clicks.

    There the estimator gives the targets at the smallest of its thresholds. Raises InputError as
    `select_trees` and `Targets.of_log` do.
    """
    held_out, belief = data.validation_log, data.judging_belief
    at = estimator.clips_for(held_out)[0] if estimator.falls else min(clips)
    numbers = estimator.weigh(held_out, replace(belief, clip=at)).on_log(held_out)
    candidates: dict[float, Targets] = {}
    for clip in clips:
        numbers_here = estimator.weigh(data.log, replace(data.belief, clip=clip))
        targets = Targets.of_log(data.log, numbers_here)
        # Thresholds may clip nothing new, as all of them do for a flat curve.
        if not any(np.array_equal(targets.value, each.value) for each in candidates.values()):
            candidates[clip] = targets
    found = select_trees(
        data.corpus, list(candidates.values()), data.validation, held_out, numbers, seed=seed
    )
    return found, list(candidates)[found.candidate]


def train_trees(
    world: World, settings: Settings, draw: int, method: str, logs: Logs
) -> TrainedMethod:
    """Grow trees by one of ``TREE_METHODS`` on the clicks of a draw, and test them.

    What is returned has the number of trees in the place of C, and no coefficients.
    """
    chosen = METHODS[TREE_METHODS[method]]
    data = click_data(world, settings, draw, chosen, logs)
    if chosen.grower is not None:
        ranker, clip, key, test = chosen.grower(data), 1.0, "", None
    else:
        way = informed(chosen, data)
        estimator = way.method.estimator
        assert estimator is not None
        clips = tuple(estimator.clips_for(logs.train))
        found, clip = choose_trees(estimator, way.data, clips, settings.seed)
        ranker, key, test = found.ranker, estimator.key, way.test
    ranks = world.relevant_test_documents.ranks(ranker.score(world.splits.test))
    total = float(ranks.sum())
    return TrainedMethod(
        method, draw, TestRisk(total / world.splits.test.n_queries, total / len(ranks)),
        ranker.trees, clip, 0.0, logs.train.total_clicks, logs.train.query_draws, np.empty(0),
        key, test,
    )  # fmt: skip
