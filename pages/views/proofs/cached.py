"""What the proofs page computes, remembered under the world's link; every memory is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st
from numpy.typing import NDArray

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


def world_of(link: str) -> SmallWorld:
    """The world of a URL query string."""
    return SmallWorld.from_query(dict(parse_qsl(link)))


@st.cache_data(max_entries=400, show_spinner=False)
def walk(link: str, name: str, users: int, seed: int) -> Walk:
    """The lines of a derivation, with the first ``users`` simulated users."""
    return DERIVATIONS[name].derive(Ways(world_of(link), sample(link, users, seed)))


@st.cache_data(max_entries=200, show_spinner=False)
def sample(link: str, users: int, seed: int) -> Sample:
    """The first ``users`` users of a seed."""
    before = (users - 1) // BLOCK * BLOCK
    after = sample(link, before, seed) if before else None
    return draw_users(world_of(link), users - before, seed, after=after)


@st.cache_data(max_entries=100, show_spinner=False)
def running(
    link: str, users: int, seed: int, weights: Sequence[Fraction], *, clean: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """How the average of a weighted loss settles over the first users."""
    noisy, without_noise = simulate(world_of(link), users, seed)
    return running_mean(without_noise if clean else noisy, weights)


@st.cache_data(max_entries=50, show_spinner=False)
def errors(link: str, seed: int, *, clean: bool) -> Convergence:
    """Errors of the weighted risk over numbers of users; ``clean``: without click noise."""
    return convergence(world_of(link), seed=seed, users=USERS_OF_CONVERGENCE, noisy=not clean)


@st.cache_data(max_entries=50, show_spinner=False)
def competition(link: str, seed: int) -> Race:
    """Errors of three estimators over numbers of users."""
    return race(world_of(link), seed=seed, users=USERS_OF_RACE, repetitions=1000)
