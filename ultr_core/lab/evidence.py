"""Gathering what the proof checks look at from one world."""

from __future__ import annotations

from ultr_core.lab import assumed_curve
from ultr_core.lab.logs import Logs, simulate_logs, user_model
from ultr_core.lab.picture import RankerFamily
from ultr_core.lab.training import TrainedMethod, train_method
from ultr_core.lab.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.selection import FINAL_TOLERANCE
from ultr_core.proofs import Check, Evidence, run_checks
from ultr_core.settings import Settings


@one_blas_thread()
def proof_checks(
    world: World,
    family: RankerFamily,
    settings: Settings,
    *,
    logs: Logs | None = None,
    trained: TrainedMethod | None = None,
) -> tuple[Check, ...]:
    """Evaluate all proofs on the first draw of clicks.

    ``logs`` and ``trained`` (the propensity-weighted ranker of draw 0) are made here where they
    are not at hand.

    Raises:
        InputError: the clicks give no pair to learn from.
    """
    logs = logs if logs is not None else simulate_logs(world, settings, 0)
    if trained is None:
        trained = train_method(world, settings, 0, "propensity", logs)
    corpus = world.train.corpus
    return run_checks(
        Evidence(
            users=user_model(settings),
            assumed_curve=assumed_curve(settings),
            query_offsets=corpus.query_offsets,
            relevance=world.train.relevance,
            presented_ranks=world.train.presented_ranks,
            family_ranks=family.ranks,
            true_risk=family.true_risk,
            log=logs.train,
            scores={
                "production": world.production.ranker.score(corpus),
                "propensity-weighted": corpus.features @ trained.coefficients,
                "skyline": world.skyline.score(corpus),
            },
            gap=trained.gap,
            gap_tolerance=FINAL_TOLERANCE,
        )
    )
