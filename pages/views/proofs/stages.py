"""What the proofs page computes, held in the store of the server's lab under the small world."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pages.app.server_lab import HERE
from ultr_core.proofs import DERIVATIONS, Sample, SmallWorld, Walk, Ways, draw_users
from ultr_core.proofs.monte_carlo import (
    Convergence,
    Race,
    convergence,
    log_grid,
    race,
    running_mean,
    simulate,
)

BLOCK = 100_000
"""Users that are simulated in one go; more are put together from remembered blocks."""

USERS_OF_CONVERGENCE = log_grid(10, 100_000, 13)
USERS_OF_RACE = log_grid(1, 1_000, 19)

Running = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
_get = HERE.store.get


def walk(world: SmallWorld, name: str, users: int, seed: int) -> Walk:
    """The lines of a derivation, with the first ``users`` simulated users."""
    derive = DERIVATIONS[name].derive
    return _get(
        "walk", (world, name, users, seed), lambda: derive(Ways(world, sample(world, users, seed)))
    )


def sample(world: SmallWorld, users: int, seed: int) -> Sample:
    """The first ``users`` users of a seed."""

    def draw() -> Sample:
        before = (users - 1) // BLOCK * BLOCK
        after = sample(world, before, seed) if before else None
        return draw_users(world, users - before, seed, after=after)

    return _get("sample", (world, users, seed), draw)


def running(
    world: SmallWorld, users: int, seed: int, weights: Sequence[Fraction], *, clean: bool
) -> Running:
    """How the average of a weighted loss settles over the first users."""

    def average() -> Running:
        noisy, without_noise = simulate(world, users, seed)
        return running_mean(without_noise if clean else noisy, weights)

    return _get("running", (world, users, seed, tuple(weights), clean), average)


def errors(world: SmallWorld, seed: int, *, clean: bool) -> Convergence:
    """Errors of the weighted risk over numbers of users; ``clean``: without click noise."""
    return _get(
        "errors",
        (world, seed, clean),
        lambda: convergence(world, seed=seed, users=USERS_OF_CONVERGENCE, noisy=not clean),
    )


def competition(world: SmallWorld, seed: int) -> Race:
    """Errors of three estimators over numbers of users."""
    return _get(
        "race",
        (world, seed),
        lambda: race(world, seed=seed, users=USERS_OF_RACE, repetitions=1000),
    )
