"""Risk and time of learners on the same clicks: ours, LightGBM's and XGBoost's.

Every entrant trains on the clicks of the same logs of the default world and chooses its setting (C,
tau, the number of trees) on the same validation clicks. Lambdarank learns from the lists that
`Lists` makes. Using 1/p as row weights is a known trap: a row's weight multiplies all its pairs,
including those in which the row is the unclicked document.

Another package stops growing trees on a log after `SECONDS` of CPU time. What it has then is
judged, and the table says how many trees that were.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.lab import Lab, Logs, World
from ultr_core.learners.towers import LAST_RANK
from ultr_core.learners.trees import STEP
from ultr_core.learners.trees_by_position import MOST_TREES, Lists, click_loss
from ultr_core.risk import interval_over_draws
from ultr_core.settings import Settings
from ultr_core.users import PowerLaw

CLICKS = (5_000, 45_000)
"""``ULTR_LEARNER_CLICKS=5000`` selects one size."""

SECONDS = float(os.environ.get("ULTR_LEARNER_SECONDS", "600"))
"""CPU seconds of another package on one log; ``ULTR_LEARNER_SECONDS=60`` stops it earlier."""

DRAWS = 3

FloatArray = NDArray[np.float64]
Scores = Callable[[int], FloatArray]
"""Scores of validation or of test documents after this many trees."""

_GROWN = {"num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 50, "num_threads": 1}
_XGBOOST = {
    "max_leaves": 15, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": 0.1,
    "tree_method": "hist", "nthread": 1, "lambdarank_pair_method": "topk",
}  # fmt: skip


def learners(rounds: int) -> Iterator[str]:
    """Test risk over the click logs, with its 95% interval, and median CPU seconds."""
    sizes = os.environ.get("ULTR_LEARNER_CLICKS")
    for clicks in CLICKS if sizes is None else map(int, sizes.split(",")):
        lab = Lab(Settings(clicks=clicks, draws=DRAWS))
        lab.world()
        for draw in range(DRAWS):
            lab.logs(draw)
        for name, train in _ENTRANTS.items():
            risks, grown, cpu, wall = [], [], [], []
            for draw in range(DRAWS):
                started = time.process_time(), time.perf_counter()
                clock = Clock()
                risks.append(train(lab, draw, clock))
                grown.append(clock.trees)
                cpu.append(time.process_time() - started[0])
                wall.append(time.perf_counter() - started[1])
            risk = _risk(risks) + _stopped(grown)
            yield (
                f"| default, {clicks:,} clicks, {DRAWS} logs | {name}: test risk {risk} | "
                f"{statistics.median(cpu):.2f} | {statistics.median(wall):.2f} | | | |"
            )


@dataclass
class Clock:
    """How many trees another package has grown on a log, and whether its time is up."""

    trees: int = MOST_TREES

    def __post_init__(self) -> None:
        """Begin to count time; trees are counted by `up`."""
        self._started, self._grown = time.process_time(), 0

    def up(self) -> bool:
        """Count a tree; whether no more may be grown."""
        self._grown += 1
        late = time.process_time() - self._started > SECONDS
        if late:
            self.trees = self._grown
        return late


def _risk(risks: list[float]) -> str:
    """Mean test risk with its interval; without a number if a log has none."""
    if any(map(math.isnan, risks)):
        return "none"
    found = interval_over_draws(risks)
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _stopped(grown: list[int]) -> str:
    """Where time was up: with how many trees."""
    if min(grown) == MOST_TREES:
        return ""
    trees = " to ".join(dict.fromkeys(map(str, (min(grown), max(grown)))))
    return f"; stopped after {SECONDS:g} CPU s per log with {trees} of {MOST_TREES} trees"


Train = Callable[[Lab, int, Clock], float]


def _ours(method: str) -> Train:
    return lambda lab, draw, _: lab.trained(draw, method).test.risk


def _other(name: str) -> Train:
    def train(lab: Lab, draw: int, clock: Clock) -> float:
        world, logs = lab.world(), lab.logs(draw)
        corpora = [
            np.asarray(part.features) for part in (world.splits.validation, world.splits.test)
        ]
        grow = _lightgbm_weighted if name == "lightgbm" else _xgboost
        held_out, test = grow(world, logs, name, corpora, clock)
        steps = range(STEP, clock.trees + 1, STEP)
        if not steps:
            return math.nan
        losses = [click_loss(held_out(step), logs.validation) for step in steps]
        ranks = world.relevant_test_documents.ranks(test(steps[int(np.argmin(losses))]))
        return float(ranks.sum()) / world.splits.test.n_queries

    return train


def _lightgbm_weighted(
    world: World, logs: Logs, _: str, features: list[NDArray[Any]], clock: Clock
) -> list[Scores]:
    import lightgbm

    lists = Lists.of_log(logs.train)
    weight = np.where(lists.clicked, 1.0 / PowerLaw(1.0).at(lists.rank), 1.0)
    data = lightgbm.Dataset(
        np.asarray(world.splits.train.features)[lists.document],
        lists.clicked,
        group=lists.sizes,
        weight=weight * np.repeat(lists.times, lists.sizes),
    )
    options = {"objective": "lambdarank", "verbosity": -1, **_GROWN}

    def stop(grown: lightgbm.callback.CallbackEnv) -> None:
        if clock.up():
            raise lightgbm.callback.EarlyStopException(grown.iteration, [])

    booster = lightgbm.train(options, data, num_boost_round=MOST_TREES, callbacks=[stop])
    return [lambda step, x=x: booster.predict(x, num_iteration=step) for x in features]


def _xgboost(
    world: World, logs: Logs, name: str, features: list[NDArray[Any]], clock: Clock
) -> list[Scores]:
    import xgboost

    lists = Lists.of_log(logs.train)
    # XGBoost takes the place of a row in its list as its rank.
    of_list = np.repeat(np.arange(lists.sizes.size), lists.sizes)
    order = np.lexsort((lists.rank, of_list))
    data = xgboost.DMatrix(
        np.asarray(world.splits.train.features)[lists.document[order]],
        lists.clicked[order],
        weight=lists.times,
    )
    data.set_group(lists.sizes)
    objective, *unbiased = name.split()
    options = {
        "objective": objective,
        **_XGBOOST,
        **({"lambdarank_unbiased": True, "lambdarank_bias_norm": 1.0} if unbiased else {}),
        "lambdarank_num_pair_per_sample": LAST_RANK,
    }

    class Stop(xgboost.callback.TrainingCallback):
        def after_iteration(self, *_: object) -> bool:
            return clock.up()

    booster = xgboost.train(options, data, num_boost_round=MOST_TREES, callbacks=[Stop()])
    matrices = [xgboost.DMatrix(x) for x in features]
    return [
        lambda step, m=m: booster.predict(m, iteration_range=(0, step), output_margin=True)
        for m in matrices
    ]


_ENTRANTS: dict[str, Train] = {
    "ours, propensity": _ours("propensity"),
    "ours, clipped": _ours("clipped"),
    "LightGBM, regression on targets 1/p": _ours("propensity-trees"),
    "LightGBM, lambdarank with `position`": _ours("trees-by-position"),
    "LightGBM, lambdarank with 1/p as row weights": _other("lightgbm"),
    "XGBoost, rank:ndcg": _other("rank:ndcg"),
    "XGBoost, rank:ndcg with lambdarank_unbiased": _other("rank:ndcg unbiased"),
    "XGBoost, rank:pairwise": _other("rank:pairwise"),
    "XGBoost, rank:pairwise with lambdarank_unbiased": _other("rank:pairwise unbiased"),
}
