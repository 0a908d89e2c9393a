"""Trees in place of the ranking SVM: the methods of the comparison with another learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ultr_core.lab.logs import Logs
from ultr_core.lab.methods import FED_METHODS, METHODS, TRAINED_METHODS, ClickData
from ultr_core.lab.training import TrainedMethod, click_data, informed
from ultr_core.lab.world import TestRisk, World
from ultr_core.learners.trees import TREES, TreeRanker, TreeSelection, select_trees
from ultr_core.propensity import Estimator, RowNumbers, SwapCounts, Targets
from ultr_core.risk.by_rank import RankTest
from ultr_core.settings import Settings
from ultr_core.users import ClickLog

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


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees grown on one log, and how: threshold, key of the estimator that fed them, and its test.

    estimator is "" where none did; by_rank: the test of a fitted relevance, if there is one.
    """

    ranker: TreeRanker
    clip: float = 1.0
    estimator: str = ""
    by_rank: RankTest | None = None


def grow(
    world: World,
    settings: Settings,
    draw: int,
    method: str,
    logs: Logs,
    swaps: SwapCounts | None = None,
) -> Grown:
    """Grow trees by one of ``TREE_METHODS`` on the clicks of a draw.

    swaps: as in `train_method`. Raises InputError as `choose_trees` does, and where LightGBM is not
    installed.
    """
    chosen = METHODS[TREE_METHODS[method]]
    data = click_data(world, settings, draw, chosen, logs, swaps)
    if chosen.grower is not None:
        return Grown(chosen.grower(data))
    way = informed(chosen, data)
    estimator = way.method.estimator
    assert estimator is not None
    clips = tuple(estimator.clips_for(logs.train))
    found, clip = choose_trees(estimator, way.data, clips, settings.seed)
    return Grown(found.ranker, clip, estimator.key, way.test)


def grow_on_labels(world: World) -> Grown:
    """Grow trees as on clicks, but as if everything were looked at once: the skyline of trees.

    Every training label counts, and those of the validation queries choose the number of trees.
    Raises InputError where LightGBM is not installed.
    """
    train, validation = (_seen(part.presentation, part.relevance)
                         for part in (world.train, world.validation))  # fmt: skip
    found = select_trees(
        world.splits.train, [Targets.of_log(train, _once(train))],
        world.splits.validation, validation, _once(validation),
    )  # fmt: skip
    return Grown(found.ranker)


def _seen(shown: ClickLog, relevance: NDArray[np.bool_]) -> ClickLog:
    """The log of users who look at all that is shown, and click what is relevant."""
    return replace(shown, clicks=relevance[shown.document].astype(np.int64))


def _once(log: ClickLog) -> RowNumbers:
    return RowNumbers(np.ones(log.clicks.size))


def train_trees(
    world: World,
    settings: Settings,
    draw: int,
    method: str,
    logs: Logs,
    swaps: SwapCounts | None = None,
) -> TrainedMethod:
    """Grow trees by one of ``TREE_METHODS`` on the clicks of a draw, and test them.

    swaps: as in `train_method`. What is returned has the number of trees in the place of C, and no
    coefficients.
    """
    grown = grow(world, settings, draw, method, logs, swaps)
    ranks = world.relevant_test_documents.ranks(grown.ranker.score(world.splits.test))
    total = float(ranks.sum())
    return TrainedMethod(
        method, draw, TestRisk(total / world.splits.test.n_queries, total / len(ranks)),
        grown.ranker.trees, grown.clip, 0.0, logs.train.total_clicks, logs.train.query_draws,
        np.empty(0), grown.estimator, grown.by_rank,
    )  # fmt: skip
