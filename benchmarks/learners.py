"""Risk and time of learners on the same clicks: ours, LightGBM's and XGBoost's.

Every entrant trains on the clicks of the same logs of the default world and chooses its setting (C,
tau, the number of trees) on the same validation clicks. Lambdarank learns from the lists that
`Lists` makes. Using 1/p as row weights is a known trap: a row's weight multiplies all its pairs,
including those in which the row is the unclicked document.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
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
            risks, cpu, wall = [], [], []
            for draw in range(DRAWS):
                started = time.process_time(), time.perf_counter()
                risks.append(train(lab, draw))
                cpu.append(time.process_time() - started[0])
                wall.append(time.perf_counter() - started[1])
            found = interval_over_draws(risks)
            risk = f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
            yield (
                f"| default, {clicks:,} clicks, {DRAWS} logs | {name}: test risk {risk} | "
                f"{statistics.median(cpu):.2f} | {statistics.median(wall):.2f} | | | |"
            )


def _ours(method: str) -> Callable[[Lab, int], float]:
    return lambda lab, draw: lab.trained(draw, method).test.risk


def _other(name: str) -> Callable[[Lab, int], float]:
    def train(lab: Lab, draw: int) -> float:
        world, logs = lab.world(), lab.logs(draw)
        corpora = [
            np.asarray(part.features) for part in (world.splits.validation, world.splits.test)
        ]
        grow = _lightgbm_weighted if name == "lightgbm" else _xgboost
        held_out, test = grow(world, logs, name, corpora)
        steps = range(STEP, MOST_TREES + 1, STEP)
        losses = [click_loss(held_out(step), logs.validation) for step in steps]
        ranks = world.relevant_test_documents.ranks(test(steps[int(np.argmin(losses))]))
        return float(ranks.sum()) / world.splits.test.n_queries

    return train


def _lightgbm_weighted(
    world: World, logs: Logs, _: str, features: list[NDArray[Any]]
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
    booster = lightgbm.train(options, data, num_boost_round=MOST_TREES)
    return [lambda step, x=x: booster.predict(x, num_iteration=step) for x in features]


def _xgboost(
    world: World, logs: Logs, objective: str, features: list[NDArray[Any]]
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
    unbiased = {"lambdarank_unbiased": True, "lambdarank_bias_norm": 1.0}
    options = {
        "objective": "rank:ndcg",
        **_XGBOOST,
        **(unbiased if objective == "unbiased" else {}),
        "lambdarank_num_pair_per_sample": LAST_RANK,
    }
    booster = xgboost.train(options, data, num_boost_round=MOST_TREES)
    matrices = [xgboost.DMatrix(x) for x in features]
    return [
        lambda step, m=m: booster.predict(m, iteration_range=(0, step), output_margin=True)
        for m in matrices
    ]


_ENTRANTS: dict[str, Callable[[Lab, int], float]] = {
    "ours, propensity": _ours("propensity"),
    "ours, clipped": _ours("clipped"),
    "LightGBM, regression on targets 1/p": _ours("propensity-trees"),
    "LightGBM, lambdarank with `position`": _ours("trees-by-position"),
    "LightGBM, lambdarank with 1/p as row weights": _other("lightgbm"),
    "XGBoost, rank:ndcg": _other("plain"),
    "XGBoost, rank:ndcg with lambdarank_unbiased": _other("unbiased"),
}
