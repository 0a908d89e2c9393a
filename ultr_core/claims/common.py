"""What several claims look at, besides the stages of a lab."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import rank_documents
from ultr_core.lab import WORLD_FIELDS, Lab
from ultr_core.proofs import Check
from ultr_core.propensity import SwapCounts, simulate_swaps
from ultr_core.studies import (
    DEFAULT_LOSS,
    LOSSES,
    Claim,
    judge,
    load_shipped,
    settings_words,
    shipped_result,
)

SWAP_SESSIONS = 200_000
"""Presentations of the swap experiments of the ledger."""


def examined(lab: Lab) -> NDArray[np.float64]:
    """Examination probability of every training document as presented."""
    return lab.users.curve.at(lab.world().train.presented_ranks)


def skyline_ranks(lab: Lab) -> NDArray[np.int32]:
    """Ranks of the skyline on the training queries."""
    corpus = lab.world().train.corpus
    return rank_documents(lab.world().skyline.score(corpus), corpus.query_offsets)


def check_of(lab: Lab, name: str) -> Check:
    """One of the proof checks."""
    return next(check for check in lab.checks() if check.name == name)


def swap_counts(lab: Lab) -> SwapCounts:
    """The swap experiment of section 7.6's design with these users."""
    users = lab.users
    return lab.remember(
        lab.cell("swap_counts", (*WORLD_FIELDS, "seed"), users),
        lambda at: simulate_swaps(
            users, *at.world().train.shown, sessions=SWAP_SESSIONS, seed=at.settings.seed
        ),
    )


@lru_cache(maxsize=8)
def study_claims(study: str) -> Mapping[str, Claim]:
    """The verdicts of a figure's study at paper scale, as shipped with the code, by key."""
    result = shipped_result(study, LOSSES[DEFAULT_LOSS])
    return MappingProxyType({claim.rule.key: claim for claim in judge(result)})


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
