"""With the same clicks, C, tau and penalty, rankers are those of another implementation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ultr_core.lab import World, build_world, simulate_logs
from ultr_core.lab import test_risk as known_risk
from ultr_core.lab.logs import belief_about
from ultr_core.learners import fit_ranker
from ultr_core.learners.relevance import Shown, fit_relevance, with_relevance
from ultr_core.propensity import ESTIMATORS, weights_of_log
from ultr_core.settings import Settings

# Summed weights and test risks with C = 1 to a gap of 1e-8, by seed of the clicks: 1,000 from the
# default users, 9,000 from users with steep trust. There tau was 0.2, the ridge penalty 10, no fit
# saw the logger's score, and weights were written out with an earlier version of the solver.
ELSEWHERE = {
    "naive": ((993.0, 11.908), (968.0, 12.2515)),
    "ips": ((4_583.0, 14.004), (4_350.0, 14.4505)),
    "clipped": ((2_671.0, 11.382), (2_555.0, 11.906)),
    "direct": ((3_741.467431089, 10.8425), (3_623.800608447, 10.894)),
    "doubly-robust": ((3_952.732351457, 10.665), (3_768.978841346, 10.8835)),
    "affine": ((87_142.624341514, 10.933), (84_594.540177646, 11.2675)),
}
TAU, RIDGE = 0.2, 10.0


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


@pytest.mark.parametrize("key", ELSEWHERE)
def test_where_selection_is_the_same_risks_are_equal_to_1e_6(world: World, key: str) -> None:
    corpus, estimator = world.splits.train, ESTIMATORS[key]
    for seed, (total, risk) in enumerate(ELSEWHERE[key]):
        users = {"clicks": 9_000, "users": "trust-steep"} if key == "affine" else {"clicks": 1_000}
        settings = Settings(seed=seed, **users)
        log = simulate_logs(world, settings, 0).train
        belief = estimator.told(replace(belief_about(settings), clip=TAU))
        if estimator.fits_relevance:
            shown = Shown(corpus, log)
            belief = with_relevance(belief, fit_relevance(shown, belief, ridges=(RIDGE,)), shown)
        weights = weights_of_log(log, estimator.weigh(log, belief))
        assert weights.values.sum() == pytest.approx(total, rel=1e-9)
        ranker = fit_ranker(corpus, weights, cost=1.0, tolerance=1e-8)
        assert known_risk(world, ranker).risk == pytest.approx(risk, abs=1e-6)
