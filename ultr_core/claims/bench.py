"""What the claims are measured on: one world with the paper's users, made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.experiments import (
    Logs,
    RankerFamily,
    TrainedMethod,
    World,
    proof_checks,
    ranker_family,
    simulate_logs,
    train_method,
    user_model,
)
from ultr_core.experiments.live import LiveResult, run_live
from ultr_core.experiments.propensity_study import SecondRanker, second_ranker
from ultr_core.experiments.studies import (
    DEFAULT_LOSS,
    LOSSES,
    Claim,
    judge,
    load_shipped,
    settings_words,
    shipped_result,
)
from ultr_core.feedback import PositionModel
from ultr_core.proofs import Check, SmallWorld, default_world
from ultr_core.propensity import SwapCounts, simulate_swaps
from ultr_core.ranking import rank_documents
from ultr_core.settings import Settings

FloatArray = NDArray[np.float64]

SWAP_SESSIONS = 200_000
"""Presentations of the swap experiments of the ledger."""


@dataclass(frozen=True, eq=False)
class Bench:
    """A world, users as in section 7.1, and everything that several claims look at.

    Costly parts are made when first asked for, and once.
    """

    world: World
    settings: Settings

    @cached_property
    def users(self) -> PositionModel:
        """The users of the settings."""
        return user_model(self.settings)

    @cached_property
    def shown(self) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]]:
        """Relevance, presented ranks and query offsets of the training queries."""
        train = self.world.train
        return train.relevance, train.presented_ranks, train.corpus.query_offsets

    @cached_property
    def propensity(self) -> FloatArray:
        """Examination probability of every training document as presented."""
        return self.users.curve.at(self.shown[1])

    @cached_property
    def family(self) -> RankerFamily:
        """Sixty rankers that saw no click."""
        return ranker_family(self.world)

    @cached_property
    def skyline_ranks(self) -> NDArray[np.int32]:
        """Ranks of the skyline on the training queries."""
        corpus = self.world.train.corpus
        return rank_documents(self.world.skyline.score(corpus), corpus.query_offsets)

    @cached_property
    def logs(self) -> Logs:
        """The clicks of draw 0."""
        return simulate_logs(self.world, self.settings, 0)

    @cached_property
    def trained(self) -> TrainedMethod:
        """The propensity-weighted ranker of draw 0."""
        return train_method(self.world, self.settings, 0, "propensity", self.logs)

    @cached_property
    def checks(self) -> Mapping[str, Check]:
        """All proof checks on this world, by name."""
        checks = proof_checks(
            self.world, self.family, self.settings, logs=self.logs, trained=self.trained
        )
        return MappingProxyType({check.name: check for check in checks})

    @cached_property
    def small(self) -> SmallWorld:
        """The small query whose derivations are enumerated."""
        return default_world()

    @cached_property
    def swaps(self) -> SwapCounts:
        """The swap experiment of section 7.6's design with these users."""
        return simulate_swaps(
            self.users, *self.shown, sessions=SWAP_SESSIONS, seed=self.settings.seed
        )

    @cached_property
    def second(self) -> SecondRanker:
        """Another production ranker, for logs in which documents move."""
        return second_ranker(self.world, self.settings)

    @cached_property
    def live(self) -> LiveResult:
        """The live experiment as its page shows it at first, so that both give the same numbers."""
        return run_live(self.world, self.settings)


@lru_cache(maxsize=8)
def study_claims(study: str) -> Mapping[str, Claim]:
    """The verdicts of a figure's study at paper scale, as shipped with the code, by key."""
    result = shipped_result(study, LOSSES[DEFAULT_LOSS])
    return MappingProxyType({claim.key: claim for claim in judge(result)})


def study_settings(study: str) -> str:
    """The settings that a figure's study had, in a sentence."""
    return f"Made with {settings_words(shipped_result(study, LOSSES[DEFAULT_LOSS]).plan)}."


def study_source() -> str:
    """Which run the shipped results come from, in a sentence or two."""
    shipped = load_shipped("figures")
    counts: Mapping[str, Any] = shipped.world.counts
    return (
        f"Shipped paper-scale result of {shipped.made}: {shipped.base.draws} click logs a point "
        f"on {counts['name']} with {counts['train']['queries']:,} training and "
        f"{counts['test']['queries']:,} test queries, made by `{shipped.command}`."
    )
