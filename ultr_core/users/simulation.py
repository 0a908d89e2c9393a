"""Simulated click logs: directly as counts, or session by session; the same law.

Both samplers share one sequence of independent, uniformly drawn queries that depends on the
seed alone, so that the first N draws are a prefix of the first N + 1 whatever the click model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, ndtr, ndtri

from ultr_core.corpus.ranking import checked_offsets, in_brief, number_or_nan, real_numbers
from ultr_core.errors import InputError
from ultr_core.users.click_log import ClickLog
from ultr_core.users.query_draws import (
    MOST_SESSIONS,
    MOST_SIMULATED,
    Seed,
    checked_draws,
    child,
    count_queries,
    draw_queries,
)

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

# Above this variance the expansion below is sharp; under it summing probabilities is cheap.
_LEAST_EXPANDED_VARIANCE = 8.0
# The expansion misses the true boundary k + 1/2 by at most 0.0033 (1 + z^2)^2.5 / variance^1.5
# for variance >= 8 and |z| <= 6 (largest of 400,000 cases); three times that is searched exactly.
_EXPANSION_MARGIN = 0.01
_LARGEST_EXPANDED_Z = 6.0
_LEAST_ORDINARY = float(ndtr(-_LARGEST_EXPANDED_Z))


def binomial_quantile(u: ArrayLike, n: ArrayLike, p: ArrayLike) -> IntArray:
    """Smallest k with P(X <= k) >= u for X ~ Binomial(n, p), element by element.

    With u uniform on [0, 1) the result has exactly the binomial distribution; with u held fixed it
    never falls as n or p grows, which makes logs drawn with it comparable.

    For small variances, probabilities are summed upwards. For large variances, a Cornish-Fisher
    expansion is used, or, if its value is too close to a boundary to be rounded, a search on the
    regularised incomplete beta function.

    u in [0, 1) (0 means the smallest possible value), n >= 0 trials (whole numbers), p in [0, 1];
    arrays of the same shape after broadcasting. Returns an int64 array of that shape.
    Raises InputError for values outside these ranges.
    """
    given = [
        real_numbers(values, f"The {name} of a binomial quantile").astype(np.float64, copy=False)
        for values, name in ((u, "uniform numbers"), (n, "trials"), (p, "probabilities"))
    ]
    try:
        u_all, n_all, p_all = np.broadcast_arrays(*given)
    except ValueError:
        raise InputError(
            "The arrays of a binomial quantile do not have the same shape.", "shapes"
        ) from None
    shape = u_all.shape
    u_all, n_all, p_all = u_all.ravel(), n_all.ravel(), p_all.ravel()
    _check(u_all, n_all, p_all)

    rarer = np.minimum(p_all, 1.0 - p_all)
    variance = n_all * rarer * (1.0 - rarer)
    # Those of u = 0, whose normal quantile is infinite, are searched, too.
    ordinary = (u_all > _LEAST_ORDINARY) & (u_all < 1.0 - _LEAST_ORDINARY)
    small = variance < _LEAST_EXPANDED_VARIANCE

    result = np.empty(u_all.size)
    rows = np.flatnonzero(ordinary & small)
    result[rows] = _summed(u_all[rows], n_all[rows], p_all[rows])
    rows = np.flatnonzero(ordinary & ~small)
    result[rows] = _expanded(ndtri(u_all[rows]), u_all[rows], n_all[rows], p_all[rows])
    rows = np.flatnonzero(~ordinary)
    below = np.full(rows.size, -1.0)
    result[rows] = _searched(below, n_all[rows], u_all[rows], n_all[rows], p_all[rows])
    return result.astype(np.int64).reshape(shape)


def _check(u: FloatArray, n: FloatArray, p: FloatArray) -> None:
    """Refuse what is not a uniform number, a number of trials or a probability."""
    if not np.all((u >= 0) & (u < 1)):
        raise InputError("The uniform numbers for a binomial quantile must lie in [0, 1).")
    if not np.all((n >= 0) & (n < 2.0**53) & (n == np.floor(n))):
        raise InputError("The number of trials of a binomial must be a whole number, 0 or more.")
    if not np.all((p >= 0) & (p <= 1)):
        raise InputError("The probability of a binomial must lie in [0, 1].")


def _summed(u: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Quantiles by summing probabilities upwards, for small variance.

    For p > 1/2 the failures are counted: k >= Q(u) exactly when P(failures <= n - k - 1) <= 1 - u,
    hence k = n - min{j : P(failures <= j) > 1 - u}; the strict sign is the next larger target.
    """
    mirrored = p > 0.5
    rarer = np.where(mirrored, 1.0 - p, p)
    target = np.where(mirrored, np.nextafter(1.0 - u, 2.0), u)
    count = np.zeros(u.size)

    # P(X = 0) >= 1 - n p: few clicks are expected in most places, where the bound is enough.
    rows = np.flatnonzero(target > 1.0 - n * rarer)
    trials, rarer, target = n[rows], rarer[rows], target[rows]
    odds = rarer / (1.0 - rarer)
    mass = np.exp(trials * np.log1p(-rarer))
    total = mass.copy()
    more = np.flatnonzero(total < target)
    rows, trials, odds = rows[more], trials[more], odds[more]
    mass, total, target = mass[more], total[more], target[more]
    k = 0
    while rows.size:
        k += 1
        mass = mass * odds * ((trials - (k - 1)) / k)
        total = total + mass
        count[rows] = k
        # Beyond n only rounding is left between the total and the target.
        go_on = np.flatnonzero((total < target) & (k < trials))
        if go_on.size < rows.size:
            rows, trials, odds = rows[go_on], trials[go_on], odds[go_on]
            mass, total, target = mass[go_on], total[go_on], target[go_on]
    return np.where(mirrored, n - count, count)


def _expanded(z: FloatArray, u: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Quantiles by a Cornish-Fisher expansion at k + 1/2, settled exactly near boundaries.

    Cumulants of the binomial, the second one with Sheppard's correction -1/12 for a lattice;
    expansion to the fifth cumulant (Abramowitz and Stegun 26.2.49).
    """
    spread = n * p * (1.0 - p)
    skew = 1.0 - 2.0 * p
    sd = np.sqrt(spread - 1.0 / 12.0)
    g1 = spread * skew / sd**3
    g2 = spread * (1.0 - 6.0 * p * (1.0 - p)) / sd**4
    g3 = spread * skew * (1.0 - 12.0 * p * (1.0 - p)) / sd**5
    z2 = z * z
    x = z + g1 * (z2 - 1.0) / 6.0
    x += g2 * z * (z2 - 3.0) / 24.0 - g1 * g1 * z * (2.0 * z2 - 5.0) / 36.0
    x += g3 * (z2 * (z2 - 6.0) + 3.0) / 120.0 - g1 * g2 * (z2 * (z2 - 5.0) + 2.0) / 24.0
    x += g1 * g1 * g1 * (z2 * (12.0 * z2 - 53.0) + 17.0) / 324.0
    x = n * p + sd * x - 0.5

    one_plus_z2 = 1.0 + z2
    margin = _EXPANSION_MARGIN * one_plus_z2 * one_plus_z2 * np.sqrt(one_plus_z2)
    margin = margin / (spread * np.sqrt(spread)) + 1e-9 + 1e-12 * n
    low = np.ceil(x - margin)
    high = np.ceil(x + margin)
    result: FloatArray = np.clip(high, 0.0, n)
    rows = np.flatnonzero(low < high)
    result[rows] = _searched(
        np.clip(low[rows] - 1.0, -1.0, n[rows] - 1.0), result[rows], u[rows], n[rows], p[rows]
    )
    return result


def _searched(
    below: FloatArray, reached: FloatArray, u: FloatArray, n: FloatArray, p: FloatArray
) -> FloatArray:
    """Quantiles by bisection, given P(X <= below) < u <= P(X <= reached)."""
    below, reached = below.copy(), reached.copy()
    rows = np.flatnonzero(reached - below > 1)
    while rows.size:
        middle = np.floor((below[rows] + reached[rows]) / 2.0)
        enough = _reaches(middle, u[rows], n[rows], p[rows])
        reached[rows[enough]] = middle[enough]
        below[rows[~enough]] = middle[~enough]
        rows = rows[reached[rows] - below[rows] > 1]
    return reached


def _reaches(k: FloatArray, u: FloatArray, n: FloatArray, p: FloatArray) -> BoolArray:
    """Whether P(X <= k) >= u, for 0 <= k < n, compared in the smaller tail for precision."""
    upper = u > 0.5
    tail = np.empty(u.size)
    tail[upper] = betainc(k[upper] + 1.0, n[upper] - k[upper], p[upper])
    tail[~upper] = betaincc(k[~upper] + 1.0, n[~upper] - k[~upper], p[~upper])
    # u = 0 asks for the smallest possible value, so a probability of 0 does not reach it.
    return np.where(upper, tail <= 1.0 - u, (tail >= u) & (tail > 0.0))


# Documents presented at once by the session sampler, which bounds its memory.
_PRESENTED_AT_ONCE = 1 << 21


def query_draws_for(clicks: float, rate: float) -> int:
    """Number of presentations N after which ``clicks`` clicks are expected.

    N = clicks / rate, rounded, at least 1; rate is the expected number of clicks per presentation
    (`clicks_per_query_draw`). Raises InputError unless clicks and rate are positive
    and N is at most ``MOST_SIMULATED``.

    >>> query_draws_for(clicks=170_000, rate=2.0)
    85000
    """
    if not 0 < number_or_nan(rate) < math.inf:
        raise InputError(f"Clicks per presentation must be above 0, not {in_brief(rate)}.")
    if not 0 < number_or_nan(clicks) < math.inf:
        raise InputError(f"The number of clicks must be above 0, not {in_brief(clicks)}.")
    draws = float(clicks) / float(rate)
    if draws > MOST_SIMULATED:
        raise InputError(
            f"{clicks:g} clicks at {rate:g} per presentation need more than {MOST_SIMULATED:,} "
            "presentations, the most that can be simulated; ask for fewer clicks."
        )
    return max(1, round(draws))


def simulate_counts(
    click_probability: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    query_draws: int,
    seed: Seed,
) -> ClickLog:
    """Draw a click log directly as counts: clicks take no time; each presentation takes about 5 ns.

    N_q is the count of query q among the first N terms of the fixed query sequence. Given N_q, the
    clicks on document d are Binomial(N_q, pi_d), independent across documents (position model):
    each is the quantile at u_d, one fixed uniform number per document. So the distribution is exact
    at every setting, counts never fall as N or pi_d grows, and changing pi changes no other random
    number. The price is that logs from the same seed at several N are more alike than stages of a
    growing log, so an interval over N needs several seeds.

    click_probability pi [documents], ranks [documents] as presented, query_offsets [queries + 1].
    The same seed gives the same log. Raises InputError for probabilities outside [0, 1], draws
    outside the range 1 to ``MOST_SIMULATED``, or arrays whose shapes do not match.

    Two queries with two documents each; users always look at rank 1, half of them also look at
    rank 2, and they click on relevant documents:

    >>> clicked = [1.0, 0.0, 0.0, 0.5]
    >>> log = simulate_counts(clicked, [1, 2, 1, 2], [0, 2, 4], query_draws=1000, seed=0)
    >>> log.query_draws
    1000
    >>> bool(log.total_clicks == log.clicks.sum() and 600 < log.total_clicks < 900)
    True
    """
    probability, offsets = _checked(click_probability, ranks, query_offsets)
    drawn = count_queries(offsets.size - 1, query_draws, seed)
    impressions = np.repeat(drawn, np.diff(offsets))
    uniform = np.random.default_rng(child(seed, 1)).random(probability.size)
    return ClickLog(
        document=np.arange(probability.size),
        rank=ranks,
        impressions=impressions,
        clicks=binomial_quantile(uniform, impressions, probability),
        query_draws=query_draws,
        query_offsets=offsets,
    )


@dataclass(frozen=True, eq=False)
class Sessions:
    """Every event in a simulated log, in order.

    query: int32 [N], the query of each presentation.
    click_draw: int64 [n], in increasing order, the presentation (0 to N - 1) of each click.
    click_document: int64 [n], the corpus row that was clicked.
    """

    query: NDArray[np.int32]
    click_draw: IntArray
    click_document: IntArray


def simulate_sessions(
    click_probability: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    query_draws: int,
    seed: Seed,
) -> tuple[ClickLog, Sessions]:
    """Draw a click log event by event: each presented document is clicked or not.

    The log has the same distribution as one from `simulate_counts`, which is far faster; with the
    same seed, the queries drawn are the same, but the clicks are not. The first N draws of a longer
    simulation equal a simulation of N draws.

    Arguments and errors as in `simulate_counts`, but with at most ``MOST_SESSIONS`` draws. Returns
    the log and its events.
    """
    probability, offsets = _checked(click_probability, ranks, query_offsets)
    sizes, draws = np.diff(offsets), checked_draws(query_draws, MOST_SESSIONS)
    query = np.concatenate(list(draw_queries(sizes.size, draws, seed)))
    rng = np.random.default_rng(child(seed, 2))
    ends = np.cumsum(sizes[query])
    click_draw, click_document = [], []
    for start, stop in _pieces(ends):
        shown = sizes[query[start:stop]]
        first = np.cumsum(shown) - shown
        draw = np.repeat(np.arange(start, stop), shown)
        place = np.arange(draw.size) - np.repeat(first, shown)
        document = offsets[query[draw]] + place
        clicked = rng.random(draw.size) < probability[document]
        click_draw.append(draw[clicked])
        click_document.append(document[clicked])
    sessions = Sessions(query, np.concatenate(click_draw), np.concatenate(click_document))
    log = ClickLog(
        document=np.arange(probability.size),
        rank=ranks,
        impressions=np.repeat(np.bincount(query, minlength=sizes.size), sizes),
        clicks=np.bincount(sessions.click_document, minlength=probability.size),
        query_draws=draws,
        query_offsets=offsets,
    )
    return log, sessions


def _pieces(ends: IntArray) -> Iterator[tuple[int, int]]:
    """Ranges of draws that present about as many documents as fit into memory at once."""
    start = 0
    while start < ends.size:
        done = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, done + _PRESENTED_AT_ONCE, side="right"))
        stop = max(stop, start + 1)
        yield start, stop
        start = stop


def _checked(
    click_probability: ArrayLike, ranks: ArrayLike, query_offsets: ArrayLike
) -> tuple[FloatArray, IntArray]:
    """Probabilities and offsets in their types; raises InputError if something cannot be used."""
    probability = real_numbers(click_probability, "Click probabilities").astype(np.float64)
    offsets = checked_offsets(query_offsets, probability.size)
    if np.shape(ranks) != probability.shape:
        raise InputError(
            f"There are {np.size(ranks)} ranks for {probability.size} click probabilities; each "
            "document needs both."
        )
    outside = np.flatnonzero(~((probability >= 0) & (probability <= 1)))
    if outside.size:
        raise InputError(
            f"The click probability of document {outside[0]} (counted from 0) is "
            f"{probability[outside[0]]}; it must lie in [0, 1]."
        )
    return probability, offsets
