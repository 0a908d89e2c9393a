"""Simulated users of a small query, kept as counts of what they clicked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import in_brief, whole_or_none
from ultr_core.errors import InputError
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.proofs.users import Users
from ultr_core.risk import Estimate
from ultr_core.users.query_draws import checked_seed

MOST_USERS = 1_000_000
CHUNK = 8_192  # users simulated at a time, few enough for the processor's cache

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tally:
    """What many users clicked: click patterns and how many users showed each.

    Bit d of a pattern says whether document d was clicked. patterns, counts int64 [k].
    """

    size: int
    patterns: IntArray
    counts: IntArray

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    def values(self, weights: Sequence[Fraction]) -> FloatArray:
        """sum_d c_d v_d of each pattern, float64 [k], for weights v [documents]."""
        bits = (self.patterns[:, None] >> np.arange(self.size)) & 1
        return np.asarray(bits @ np.array([float(w) for w in weights]), dtype=np.float64)

    def mean(self, weights: Sequence[Fraction]) -> Estimate:
        """Estimate of E[sum_d c_d v_d] with its 95% interval."""
        values, users = self.values(weights), self.users
        mean = float(self.counts @ values) / users
        squares = float(self.counts @ (values - mean) ** 2)
        error = math.sqrt(squares / (users - 1) / users) if users > 1 else 0.0
        return Estimate.normal(mean, error, users, float(users))

    def variance(self, weights: Sequence[Fraction]) -> Estimate:
        """Estimate of Var[sum_d c_d v_d]; its standard error comes from the fourth moment."""
        values, users = self.values(weights), self.users
        mean = float(self.counts @ values) / users
        deviations = values - mean
        second = float(self.counts @ deviations**2) / users
        fourth = float(self.counts @ deviations**4) / users
        unbiased = second * users / (users - 1) if users > 1 else 0.0
        error = math.sqrt(max(fourth - second * second, 0.0) / users) if users > 1 else 0.0
        return Estimate.normal(unbiased, error, users, float(users))


@dataclass(frozen=True, eq=False)
class Sample:
    """The same users with click noise and without, and the seed that they come from."""

    seed: int
    noisy: Tally
    clean: Tally

    @property
    def users(self) -> int:
        """Number of users so far."""
        return self.noisy.users


def draw_users(world: SmallWorld, users: int, seed: int, *, after: Sample | None = None) -> Sample:
    """Let ``users`` more users come, after those of ``after``.

    User i uses the same random numbers whatever the world and however the users are divided into
    calls: estimates settle as users arrive, and an edited query redraws nothing.

    Raises:
        InputError: fewer than 1 user, or more than ``MOST_USERS`` altogether.
    """
    before = 0 if after is None else after.users
    if not 1 <= (whole_or_none(users) or 0) <= MOST_USERS - before:
        raise InputError(
            f"{in_brief(users)} users cannot be drawn after {before:,}; 1 to {MOST_USERS:,} are "
            "simulated."
        )
    noisy, clean = simulate(world, users, seed, skip=before)
    tallies = [tally(noisy), tally(clean)]
    if after is not None:
        tallies = [
            _merge(old, new) for old, new in zip((after.noisy, after.clean), tallies, strict=True)
        ]
    return Sample(seed, *tallies)


def simulate(
    world: SmallWorld, users: int, seed: int, *, skip: int = 0
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Clicks bool [users, documents] with noise and without, of users number skip, skip + 1, ..."""
    size = world.query.size
    rng = _chance(size, skip, seed)
    noisy = np.empty((users, size), dtype=bool)
    clean = np.empty((users, size), dtype=bool)
    for start in range(0, users, CHUNK):
        chance = rng.random((min(CHUNK, users - start), 2, size))
        part = slice(start, start + len(chance))
        noisy[part] = _clicks(world.users, chance)
        clean[part] = _clicks(world.clean.users, chance)
    return noisy, clean


def _clicks(users: Users, chance: FloatArray) -> NDArray[np.bool_]:
    """Look if the first number of a document is small enough, click if the second is."""
    look = np.array([float(p) for p in users.look])
    click = np.array([float(p) for p in users.click])
    clicks: NDArray[np.bool_] = (chance[:, 0] < look) & (chance[:, 1] < click)
    if users.stops:
        order = np.array(users.shown)
        in_order = clicks[:, order]
        clicks[:, order] = in_order & (np.cumsum(in_order, axis=1) == 1)
    return clicks


def tally(clicks: NDArray[np.bool_]) -> Tally:
    """Count the click patterns of clicks bool [users, documents]."""
    size = clicks.shape[1]
    # At most 16 documents: a user's clicks are the bits of one or two bytes.
    packed = np.packbits(clicks, axis=1, bitorder="little")
    codes = packed[:, 0] if size <= 8 else packed.view("<u2")[:, 0]
    counts = np.bincount(codes, minlength=1)
    patterns = np.flatnonzero(counts)
    return Tally(size, patterns.astype(np.int64), counts[patterns].astype(np.int64))


def _merge(first: Tally, second: Tally) -> Tally:
    patterns, place = np.unique(
        np.concatenate([first.patterns, second.patterns]), return_inverse=True
    )
    counts = np.zeros(len(patterns), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([first.counts, second.counts]))
    return Tally(first.size, patterns, counts)


def running_mean(
    clicks: NDArray[np.bool_], weights: Sequence[Fraction], marks: int = 60
) -> tuple[IntArray, FloatArray, FloatArray]:
    """How an estimate settles: users so far, mean of sum_d c_d v_d, standard error, each [marks].

    clicks bool [users, documents] in order of arrival; the marks are evenly spaced on a
    logarithmic axis.
    """
    values = clicks @ np.array([float(w) for w in weights])
    users = len(values)
    at = np.unique(np.geomspace(1, users, marks).round().astype(np.int64))
    mean = np.cumsum(values)[at - 1] / at
    second = np.cumsum(values**2)[at - 1] / at
    error = np.sqrt(np.maximum(second - mean**2, 0.0) / np.maximum(at - 1, 1))
    return at, mean, error


def watch_user(
    world: SmallWorld, number: int, seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What user ``number``, from 1, does: documents looked at and clicked, bool [documents] each.

    The same user as in :func:`draw_users` with this seed. Raises InputError for a number outside
    1 .. ``MOST_USERS``.
    """
    if not 1 <= (whole_or_none(number) or 0) <= MOST_USERS:
        raise InputError(
            f"There is no user {in_brief(number)}; they are numbered 1 to {MOST_USERS:,}."
        )
    users = world.users
    chance = _chance(world.query.size, number - 1, seed).random((1, 2, world.query.size))
    clicked = _clicks(users, chance)[0]
    looked = chance[0, 0] < np.array([float(p) for p in users.look])
    if users.stops and clicked.any():
        order = np.array(users.shown)
        left = np.cumsum(clicked[order]) - clicked[order] > 0
        looked[order[left]] = False
    return looked, clicked


def _chance(size: int, skip: int, seed: int) -> np.random.Generator:
    """The stream of random numbers, from user number ``skip`` (counted from 0) on."""
    checked_seed(seed)
    generator = np.random.PCG64(np.random.SeedSequence([seed, size]))
    generator.advance(2 * size * skip)
    return np.random.Generator(generator)
