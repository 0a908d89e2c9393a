"""Repeated experiments on a small query: how fast estimates settle, and which is better when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from ultr_core.errors import InputError
from ultr_core.proofs.derivations.section_7 import (
    CLICK_WEIGHTS,
    crossing,
    difference_errors,
)
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.proofs.users import Users, dot, times
from ultr_core.users.query_draws import checked_seed

FloatArray = NDArray[np.float64]


def click_totals(
    users: Users, count: int, repetitions: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Clicks on each document by ``count`` users, int64 [repetitions, documents].

    Exact in law at a cost that does not depend on ``count``: binomial counts for independent
    clicks, multinomial ones for users who stop after the first click.
    """
    probability = np.array([float(p) for p in users.clicked])
    if users.stops:
        nothing = max(0.0, 1.0 - probability.sum())
        return rng.multinomial(count, [*probability, nothing], repetitions)[:, :-1]
    return rng.binomial(count, probability, (repetitions, len(probability)))


@dataclass(frozen=True, eq=False)
class Convergence:
    """Errors of the weighted risk of S_1 over numbers of users N, from what it should settle at.

    users int [grid]; error: root mean squared error over the repetitions; low, high: where that
    should be in 95 of 100 cases; exact: sqrt(bias^2 + Var / N); all float64 [grid].
    slope: least-squares slope of log error over log N. is_unbiased: whether the expectation is
    what it should be, exactly.
    """

    users: NDArray[np.int64]
    error: FloatArray
    exact: FloatArray
    low: FloatArray
    high: FloatArray
    slope: float
    is_unbiased: bool


def convergence(
    world: SmallWorld,
    *,
    seed: int,
    users: Sequence[int],
    repetitions: int = 400,
    noisy: bool = False,
) -> Convergence:
    """Repeat the experiment of section 4 for each number of users.

    The estimate should settle at the true risk; if ``noisy``, with the clicks of section 5.2, at
    that risk stretched and shifted: sum_d rank(d) (eps+ r_d + eps- (1 - r_d)).

    Raises:
        InputError: no relevant document can be clicked, or the estimate has no spread.
    """
    law, query = (world if noisy else world.clean).users, world.query
    counted = query.new if noisy else times(query.new, query.relevance)
    values = times(counted, world.inverse)
    variance = float(law.variance(values))
    if variance == 0.0:
        raise InputError(
            "The weighted loss is the same for every user, so nothing settles.", "no_variance"
        )
    target = dot(query.new, world.constant_noise) if noisy else query.loss(query.new)
    truth, bias = float(target), float(law.mean(values) - target)
    weights = np.array([float(v) for v in values])
    errors = []
    for child, count in zip(checked_seed(seed).spawn(len(users)), users, strict=True):
        totals = click_totals(law, count, repetitions, np.random.default_rng(child))
        errors.append(math.sqrt(float(np.mean((totals @ weights / count - truth) ** 2))))
    grid = np.asarray(users, dtype=np.int64)
    exact = np.sqrt(bias**2 + variance / grid)
    # Squares of R nearly normal errors add up to a chi-squared variable; a bias only narrows it.
    low = exact * math.sqrt(float(chdtri(repetitions, 0.975)) / repetitions)
    high = exact * math.sqrt(float(chdtri(repetitions, 0.025)) / repetitions)
    error = np.array(errors)
    slope = float(np.polyfit(np.log(grid), np.log(error), 1)[0]) if len(grid) > 1 else 0.0
    return Convergence(grid, error, exact, low, high, slope, bias == 0.0)


@dataclass(frozen=True, eq=False)
class Race:
    """Mean squared errors of estimators of R(S_1) - R(S_2) over numbers of users.

    users int [grid]; exact and seen: float64 [grid] for each estimator; error: standard error of
    ``seen``; predicted: users N* at which weighting overtakes naive; observed: the same read off
    the simulation. Both are None if there is no crossing.
    """

    users: NDArray[np.int64]
    exact: Mapping[str, FloatArray]
    seen: Mapping[str, FloatArray]
    error: Mapping[str, FloatArray]
    clicks_per_user: float
    predicted: float | None
    observed: float | None


def race(world: SmallWorld, *, seed: int, users: Sequence[int], repetitions: int = 2000) -> Race:
    """Let naive, weighted and clipped estimates of a difference compete on the same clicks.

    Raises:
        InputError: nobody ever clicks in this world.
    """
    if world.users.clicks_per_user == 0:
        raise InputError(
            "Nobody clicks in this world, so there is nothing to estimate from.", "no_click"
        )
    delta = world.query.difference
    target = float(dot(world.constant_noise, delta))
    errors = difference_errors(world)
    weights = {
        name: np.array([float(v) for v in times(delta, CLICK_WEIGHTS[name](world))])
        for name in CLICK_WEIGHTS
    }
    seen: dict[str, list[float]] = {name: [] for name in CLICK_WEIGHTS}
    noise: dict[str, list[float]] = {name: [] for name in CLICK_WEIGHTS}
    for child, count in zip(checked_seed(seed).spawn(len(users)), users, strict=True):
        totals = click_totals(world.users, count, repetitions, np.random.default_rng(child))
        for name in CLICK_WEIGHTS:
            squares = (totals @ weights[name] / count - target) ** 2
            seen[name].append(float(squares.mean()))
            noise[name].append(float(squares.std(ddof=1)) / math.sqrt(repetitions))
    grid = np.asarray(users, dtype=np.int64)
    measured = {name: np.array(values) for name, values in seen.items()}
    predicted = crossing(errors["naive"], errors["propensity"])
    return Race(
        grid,
        {
            name: float(e.bias) ** 2 + float(e.variance) / grid.astype(np.float64)
            for name, e in errors.items()
        },
        measured,
        {name: np.array(values) for name, values in noise.items()},
        float(world.users.clicks_per_user),
        None if predicted is None else float(predicted),
        _first_crossing(grid, measured["naive"], measured["propensity"]),
    )


def _first_crossing(
    users: NDArray[np.int64], first: FloatArray, second: FloatArray
) -> float | None:
    """Where log(second / first) passes through 0, interpolated in log users."""
    if not (np.all(first > 0) and np.all(second > 0)):
        return None
    ratio = np.log(second / first)
    for i in range(len(users) - 1):
        if ratio[i] > 0 >= ratio[i + 1]:
            share = ratio[i] / (ratio[i] - ratio[i + 1])
            logs = np.log(users[i : i + 2].astype(np.float64))
            return float(np.exp(logs[0] + share * (logs[1] - logs[0])))
    return None


def log_grid(low: int, high: int, points: int) -> tuple[int, ...]:
    """Whole numbers from low to high, evenly spaced on a logarithmic axis, each once."""
    return tuple(int(n) for n in np.unique(np.geomspace(low, high, points).round()))
