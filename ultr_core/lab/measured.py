"""What swaps let a learner believe: the experiment of section 5.3, before it learns from clicks."""

from __future__ import annotations

from numpy.random import SeedSequence

from ultr_core.errors import InputError
from ultr_core.lab.logs import click_model
from ultr_core.lab.world import World
from ultr_core.propensity import (
    Belief,
    SwapCounts,
    assemble_curve,
    estimate_swaps,
    simulate_swaps,
    trust_lines,
)
from ultr_core.propensity.points import LANDMARK, LAST_RANK
from ultr_core.settings import USERS_FIELD, Settings
from ultr_core.users import ExaminationCurve, LeavingUsers

PRESENTATIONS = 1_000_000
"""Presentations of a swap experiment that measures before a learner trains."""

_STREAM = 3  # of a draw; 0 and 1 are those of its clicks, 2 that of a method that samples


def swaps_of(world: World, settings: Settings, draw: int) -> SwapCounts:
    """Swaps of rank 1 with ranks 1 to 21 by the users of the settings, apart from their clicks.

    Raises InputError for users who leave after a click: their clicks on the two documents that
    trade places depend on those above. The counts do not depend on the number of clicks in the
    settings, nor on their logger.
    """
    users = click_model(settings)
    if isinstance(users, LeavingUsers):
        value = USERS_FIELD.shown(settings.users)
        raise InputError(
            "Swaps are simulated only for users whose clicks are independent, so nothing can be "
            f"measured with {USERS_FIELD.label} = {value}; choose other users or methods.",
            USERS_FIELD.name,
        )
    return simulate_swaps(
        users, *world.train.shown, landmark=int(LANDMARK.default),
        last_rank=int(LAST_RANK.default), sessions=PRESENTATIONS,
        seed=SeedSequence(settings.seed, spawn_key=(draw, _STREAM)),
    )  # fmt: skip


def ratio_belief(counts: SwapCounts) -> Belief:
    """The ratios of the swaps as propensities, which under trust bias they are not."""
    return Belief(_curve(counts))


def line_belief(counts: SwapCounts) -> Belief:
    """Slope A and intercept B of each rank from the same swaps, as alpha and beta."""
    return Belief(_curve(counts), users=trust_lines(counts))


def _curve(counts: SwapCounts) -> ExaminationCurve:
    """The curve of the ratios; raises InputError for a reader who chose users, if there is none."""
    try:
        return assemble_curve(estimate_swaps(counts)).curve
    except InputError as error:
        raise InputError(
            f"{counts.sessions:,} simulated presentations with swaps have too few clicks on the "
            f"documents that trade places (ranks 1 to {counts.ranks}), so swaps measure no "
            "propensities here; choose longer lists or other users, or methods without swaps.",
            "no_swaps",
        ) from error
