"""Monte Carlo on a small query: simulated users, how fast estimates settle, which wins when.

Users are kept as counts of what they clicked. The errors of three estimators are exact beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from ultr_core.corpus.ranking import in_brief, whole_or_none
from ultr_core.errors import InputError
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.proofs.users import Users, dot, times
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
    """The same users with and without click noise, and the seed that generates them."""

    seed: int
    noisy: Tally
    clean: Tally

    @property
    def users(self) -> int:
        """Number of users so far."""
        return self.noisy.users


def draw_users(world: SmallWorld, users: int, seed: int, *, after: Sample | None = None) -> Sample:
    """Simulate ``users`` more users, after those in ``after``.

    User i uses the same random numbers in every world, however the users are split across
    calls: estimates converge as users arrive, and editing a query redraws nothing.

    Raises:
        InputError: fewer than 1 user, or more than ``MOST_USERS`` in total.
    """
    before = 0 if after is None else after.users
    if not 1 <= (whole_or_none(users) or 0) <= MOST_USERS - before:
        raise InputError(
            f"{in_brief(users)} users cannot be added to {before:,}; the number must be at "
            f"least 1, and the total at most {MOST_USERS:,}."
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
    """How an estimate converges: users, mean of sum_d c_d v_d and standard error, each [marks].

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
            f"There is no user {in_brief(number)}; users are numbered 1 to {MOST_USERS:,}."
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


@dataclass(frozen=True)
class Watched:
    """The weighted examples of users who are watched one by one.

    clicks: (user from 1, document) in their order, up to where the last user is. finished: users
    who have seen the whole list. mean: (1/N) sum over their clicks of rank(d | S_1) / p_d, the
    weighted loss of S_1 so far (equation 5), None before the first has finished. expected: what it
    tends to.
    """

    clicks: tuple[tuple[int, int], ...]
    finished: int
    mean: float | None
    expected: float


def watch_users(world: SmallWorld, last: int, reached: int, seed: int) -> Watched:
    """Users 1 to ``last`` as `watch_user` returns them; the last has read ``reached`` ranks.

    Raises InputError if `watch_user` does.
    """
    query, losses = world.query, times(world.query.new, world.inverse)
    clicks: list[tuple[int, int]] = []
    for user in range(1, last + 1):
        clicked = watch_user(world, user, seed)[1]
        read = query.shown[: reached if user == last else query.size]
        clicks += [(user, document) for document in read if clicked[document]]
    finished = last - 1 + (reached == query.size)
    total = sum((losses[document] for user, document in clicks if user <= finished), Fraction(0))
    mean = float(total / finished) if finished else None
    return Watched(tuple(clicks), finished, mean, float(world.users.mean(losses)))


def _chance(size: int, skip: int, seed: int) -> np.random.Generator:
    """The stream of random numbers, from user number ``skip`` (counted from 0) on."""
    checked_seed(seed)
    generator = np.random.PCG64(np.random.SeedSequence([seed, size]))
    generator.advance(2 * size * skip)
    return np.random.Generator(generator)


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
            "The weighted loss is the same for every user, so its average is constant from the "
            "first user.",
            "no_variance",
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


@dataclass(frozen=True)
class Errors:
    """Bias and one-user variance of the estimated difference R(S_1) - R(S_2), exact.

    ``bias`` is the distance of the expectation from (eps+ - eps-) times the true difference.
    """

    bias: Fraction
    variance: Fraction

    def mean_squared(self, users: Fraction | int) -> Fraction:
        """bias^2 + variance / N after N users."""
        return self.bias**2 + self.variance / users


def difference_errors(world: SmallWorld) -> dict[str, Errors]:
    """Exact errors of the naive, the weighted and the clipped estimator."""
    delta = world.query.difference
    target = dot(world.constant_noise, delta)
    found = {}
    for estimator, weights in world.click_weights.items():
        values, users = times(delta, weights), world.users
        found[estimator] = Errors(users.mean(values) - target, users.variance(values))
    return found


def crossing(first: Errors, second: Errors) -> Fraction | None:
    """Number of users N* from which ``second`` has the smaller mean squared error, if any.

    N* = (Var_2 - Var_1) / (bias_1^2 - bias_2^2). None if it never overtakes or always leads.
    """
    gained = first.bias**2 - second.bias**2
    paid = second.variance - first.variance
    return paid / gained if gained > 0 and paid > 0 else None


@dataclass(frozen=True, eq=False)
class Race:
    """Mean squared errors of estimators of R(S_1) - R(S_2) over numbers of users.

    users int [grid]; exact and seen: float64 [grid] for each estimator; error: standard error of
    ``seen``; predicted: users N* at which weighting overtakes the naive estimate; observed: the
    same read off the simulation. Both are None if there is no crossing.
    """

    users: NDArray[np.int64]
    exact: Mapping[str, FloatArray]
    seen: Mapping[str, FloatArray]
    error: Mapping[str, FloatArray]
    clicks_per_user: float
    predicted: float | None
    observed: float | None

    @property
    def predicted_clicks(self) -> int | None:
        """Clicks by which N* users have come, rounded up."""
        return self._clicks_of(self.predicted)

    @property
    def observed_clicks(self) -> int | None:
        """Clicks at the crossing that was observed, rounded up."""
        return self._clicks_of(self.observed)

    def _clicks_of(self, users: float | None) -> int | None:
        return None if users is None else math.ceil(users * self.clicks_per_user)


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
        name: np.array([float(v) for v in times(delta, of_click)])
        for name, of_click in world.click_weights.items()
    }
    seen: dict[str, list[float]] = {name: [] for name in weights}
    noise: dict[str, list[float]] = {name: [] for name in weights}
    for child, count in zip(checked_seed(seed).spawn(len(users)), users, strict=True):
        totals = click_totals(world.users, count, repetitions, np.random.default_rng(child))
        for name, of_click in weights.items():
            squares = (totals @ of_click / count - target) ** 2
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
