"""What several claims look at, besides the stages of a lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import rank_documents
from ultr_core.findings import Finding
from ultr_core.lab import WORLD_FIELDS, Lab
from ultr_core.lab.propensity_study import SwapDesign, true_ratios
from ultr_core.proofs import DERIVATIONS, SmallWorld, Ways
from ultr_core.propensity import SwapCounts, simulate_swaps
from ultr_core.risk import expected_risk
from ultr_core.studies import (
    DEFAULT_LOSS,
    LOSSES,
    Claim,
    judge,
    load_shipped,
    settings_words,
    shipped_result,
)
from ultr_core.users import PositionModel

Measure: TypeAlias = "Callable[[Lab], Finding]"
"""How a claim is measured."""

REACH = 4.0
"""Standard errors that a simulated number may be off; one normal number in 16,000 is further."""

LANDMARK, LAST_RANK = 1, 21

COST = 10.0
"""C of the rankers that are trained for a claim."""

SWAP_SESSIONS = 200_000
"""Presentations of the swap experiments of the ledger."""


def examined(lab: Lab) -> NDArray[np.float64]:
    """Examination probability of every training document as presented."""
    return lab.users.curve.at(lab.world().train.presented_ranks)


def skyline_ranks(lab: Lab) -> NDArray[np.int32]:
    """Ranks of the skyline on the training queries."""
    corpus = lab.world().train.corpus
    return rank_documents(lab.world().skyline.score(corpus), corpus.query_offsets)


def clean_users(lab: Lab) -> PositionModel:
    """Users who examine as those of the lab, and make no mistakes."""
    return PositionModel(lab.users.curve)


def expected_risks(lab: Lab, click_probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected weighted risks of the sixty rankers, if documents are clicked so often."""
    offsets = lab.world().train.shown[2]
    return expected_risk(click_probability, examined(lab), lab.family().ranks, offsets)


def wrong_order(truth: NDArray[np.float64], found: NDArray[np.float64]) -> tuple[int, int]:
    """Pairs of rankers that ``found`` puts in the other order than ``truth``, and all pairs."""
    first, second = np.triu_indices(len(truth), k=1)
    wrong = (truth[first] - truth[second]) * (found[first] - found[second]) < 0
    return int(np.count_nonzero(wrong)), len(first)


def true_swap_ratios(lab: Lab) -> NDArray[np.float64]:
    """p_r / p_1 at the ranks that swaps measure."""
    return true_ratios(lab.users.curve, SwapDesign())


def largest_error(world: SmallWorld, name: str) -> Fraction:
    """The largest amount by which a line of a derivation fails on a small world, enumerated."""
    return DERIVATIONS[name].derive(Ways(world)).largest_error


def from_proof(name: str) -> Measure:
    """What a proof of ``PROOFS`` finds on the lab's world."""
    return lambda lab: next(check for check in lab.checks() if check.name == name).finding


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


def judged(study: str, key: str, _: Lab) -> Finding:
    """What the study of a figure found on one claim, at paper scale."""
    return from_study_claim(study_claims(study)[key], study_source(), study_settings(study))


def from_study_claim(claim: Claim, source: str, settings: str) -> Finding:
    """What a study found on its figure: ``source`` of the study, and the ``settings`` it had."""
    reason = f"{source} {claim.rule.test}"
    if claim.finding.outcome == "open":
        reason = f"Its interval contains the limit, so that these click logs cannot tell. {reason}"
    numbers = claim.finding.sentence
    if "[" in numbers:
        numbers = f"With 95% intervals: {numbers}"
    return Finding(f"{numbers} {settings}", decided=claim.finding.outcome, reason=reason)
