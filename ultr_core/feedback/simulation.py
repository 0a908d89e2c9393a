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

from ultr_core.errors import InputError
from ultr_core.feedback.binomial import binomial_quantile
from ultr_core.feedback.click_log import ClickLog
from ultr_core.feedback.query_draws import (
    MOST_SESSIONS,
    MOST_SIMULATED,
    Seed,
    checked_draws,
    child,
    count_queries,
    draw_queries,
)
from ultr_core.ranking import (
    checked_offsets,
    in_brief,
    number_or_nan,
    real_numbers,
    whole_numbers,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Documents presented at once by the session sampler, which bounds its memory.
_PRESENTED_AT_ONCE = 1 << 21


def query_draws_for(clicks: float, rate: float) -> int:
    """Number of query draws N after which ``clicks`` clicks are expected.

    N = clicks / rate, rounded, at least 1; rate is the expected number of clicks per query draw
    (`clicks_per_query_draw`). Raises InputError unless both are positive
    and N is at most ``MOST_SIMULATED``.

    >>> query_draws_for(clicks=170_000, rate=2.0)
    85000
    """
    if not 0 < number_or_nan(rate) < math.inf:
        raise InputError(f"Clicks per query draw must be above 0, not {in_brief(rate)}.")
    if not 0 < number_or_nan(clicks) < math.inf:
        raise InputError(f"The number of clicks must be above 0, not {in_brief(clicks)}.")
    draws = float(clicks) / float(rate)
    if draws > MOST_SIMULATED:
        raise InputError(
            f"{clicks:g} clicks at {rate:g} a query draw need more than the {MOST_SIMULATED:,} "
            "query draws that are simulated at most; ask for fewer clicks."
        )
    return max(1, round(draws))


def simulate_counts(
    click_probability: ArrayLike,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    query_draws: int,
    seed: Seed,
) -> ClickLog:
    """Draw a click log directly as counts: clicks cost nothing, a query draw some 5 ns.

    N_q is the count of query q among the first N terms of the fixed query sequence. Given N_q the
    clicks of document d are Binomial(N_q, pi_d), independent across documents (position model):
    the quantile at u_d, one fixed uniform number a document. So the law is exact at every
    setting, counts never fall as N or pi_d grows, and changing pi moves no other random number.
    The price: logs of one seed at several N share their luck more than a growing log would, so
    an interval over N needs several seeds.

    click_probability pi [documents], ranks [documents] as presented, query_offsets [queries + 1].
    The same seed gives the same log. Raises InputError for probabilities outside [0, 1], draws
    outside 1 to ``MOST_SIMULATED``, or arrays that do not fit.

    Two queries of two documents; users look at the first place always, at the second half the
    time, and click what is relevant:

    >>> clicked = [1.0, 0.0, 0.0, 0.5]
    >>> log = simulate_counts(clicked, [1, 2, 1, 2], [0, 2, 4], query_draws=1000, seed=0)
    >>> log.query_draws
    1000
    >>> bool(log.total_clicks == log.clicks.sum() and 600 < log.total_clicks < 900)
    True
    """
    probability, offsets = _checked(click_probability, ranks, query_offsets)
    queries, draws = offsets.size - 1, checked_draws(query_draws)
    impressions = np.repeat(count_queries(queries, draws, seed), np.diff(offsets))
    uniform = np.random.default_rng(child(seed, 1)).random(probability.size)
    return ClickLog(
        document=np.arange(probability.size),
        rank=whole_numbers(ranks, "Ranks", np.int32),
        impressions=impressions,
        clicks=binomial_quantile(uniform, impressions, probability),
        query_draws=draws,
        query_offsets=offsets,
    )


@dataclass(frozen=True, eq=False)
class Sessions:
    """Every event of a simulated log, in the order in which it happened.

    query: int32 [N], the query of each draw.
    click_draw: int64 [n], the draw (0 to N - 1) in which each click happened, rising.
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

    The law of the log is that of `simulate_counts`, which is far faster; the queries drawn are
    the same for the same seed, the clicks are not. The first N draws of a longer simulation are
    the simulation of N draws.

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
        rank=whole_numbers(ranks, "Ranks", np.int32),
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
            f"There are {np.size(ranks)} ranks for {probability.size} click probabilities; "
            f"each document needs one of both."
        )
    outside = np.flatnonzero(~((probability >= 0) & (probability <= 1)))
    if outside.size:
        raise InputError(
            f"The click probability of document {outside[0]} (counted from 0) is "
            f"{probability[outside[0]]}; it must lie in [0, 1]."
        )
    return probability, offsets
