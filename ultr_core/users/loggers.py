"""Who shows what: a logger is a law over the lists that users see, one draw after the other.

A list holds the first k documents. One that a draw leaves out counts as shown at rank k + 1, which
nobody examines, so that every draw of a query has all of its candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ultr_core.errors import InputError, quoted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SPREAD = 2.0
"""Standard deviation of the scores of a query, beside Gumbel noise whose own is 1.28."""

_KEYS = 1 << 20  # of documents in random order at once


@dataclass(frozen=True, eq=False)
class Query:
    """Candidates of a query as the production ranker has them, the best first.

    scores: float64 [candidates], falling. shown: k, how many a list holds. draws: N_q.
    """

    scores: FloatArray
    shown: int
    draws: int

    @property
    def places(self) -> int:
        """How many ranks a list has."""
        return min(self.shown, self.scores.size)


@dataclass(frozen=True)
class Logger:
    """One logger.

    key, label: its stable name, and the name that readers see. words: what it shows, in a sentence.
    counts: int64 [candidates, places], how often it showed each candidate at each rank in the draws
    of a query. chances: float64 [candidates, places], the probability of that in one draw.
    mean_ranks: float64 [candidates], the mean rank in all of its rankings, which go on below the
    lists. fixed: whether it always shows the same list. source: where it comes from.
    """

    key: str
    label: str
    words: str
    counts: Callable[[Query, np.random.Generator], IntArray]
    chances: Callable[[Query], FloatArray]
    mean_ranks: Callable[[Query], FloatArray]
    source: str
    fixed: bool = False

    def exposure(self, query: Query, examined: FloatArray) -> FloatArray:
        """rho of each candidate, float64 [candidates]: its mean propensity over all lists.

        examined: float64, examination of the ranks 1, 2, ...; at least ``query.places`` of them.

        >>> query = Query(np.array([3.0, 2.0, 1.0, 0.0]), 2, 1)
        >>> LOGGERS["replace-last"].exposure(query, np.array([1.0, 0.75])).tolist()
        [1.0, 0.25, 0.25, 0.25]
        """
        found: FloatArray = self.chances(query) @ examined[: query.places]
        return found


def _always(query: Query) -> FloatArray:
    return np.eye(query.scores.size, query.places)


def _at_its_place(query: Query) -> FloatArray:
    return np.arange(1.0, query.scores.size + 1)


def _always_counts(query: Query, rng: np.random.Generator) -> IntArray:
    return np.eye(query.scores.size, query.places, dtype=np.int64) * query.draws


def replace_last(query: Query, rng: np.random.Generator) -> IntArray:
    """The first k - 1 documents, and at rank k one of the others, each as often."""
    last = query.places - 1
    found = np.zeros((query.scores.size, query.places), np.int64)
    found[np.arange(last), np.arange(last)] = query.draws
    others = query.scores.size - last
    found[last:, last] = rng.multinomial(query.draws, np.full(others, 1.0 / others))
    return found


def _replaced_chances(query: Query) -> FloatArray:
    last = query.places - 1
    found = _always(query)
    found[last:, last] = 1.0 / (query.scores.size - last)
    return found


def _replaced_ranks(query: Query) -> FloatArray:
    """The document of rank k and the one in its place change places, one pair in a draw."""
    last, found = query.places - 1, _at_its_place(query)
    below = found[last:].copy()
    found[last:] -= (below - query.places) / below.size
    found[last] = below.mean()
    return found


def plackett_luce(query: Query, rng: np.random.Generator) -> IntArray:
    """Lists in the order of score + Gumbel noise, scores with deviation ``SPREAD``."""
    size, places, keys = query.scores.size, query.places, _spread(query.scores)
    found = np.zeros(size * places, np.int64)
    at_once = max(1, _KEYS // size)
    for start in range(0, query.draws, at_once):
        draws = min(at_once, query.draws - start)
        order = np.argsort(-(keys + rng.gumbel(size=(draws, size))), axis=1)[:, :places]
        cells = order * places + np.arange(places)
        found += np.bincount(cells.ravel(), minlength=found.size)
    return found.reshape(size, places)


def _spread(scores: FloatArray) -> FloatArray:
    deviation = float(scores.std())
    centred: FloatArray = scores - scores.mean()
    return SPREAD * centred / deviation if deviation > 0 else centred


_STEP, _EARLIEST, _LATEST = 0.2, 25.0, 4.0  # of the logarithm of the time


def _luce_chances(query: Query) -> FloatArray:
    """By the times at which clocks with the rates exp(key) ring, whose order is that of the list.

    At a given time all other clocks have rung independently; the time is integrated over its
    logarithm, where the trapezoidal rule converges so fast that 1e-9 is left for 100 candidates.
    """
    keys = _spread(query.scores)
    times = np.arange(-keys.max() - _EARLIEST, -keys.min() + _LATEST, _STEP)
    rates = np.exp(keys[:, None] + times)
    rung, density = -np.expm1(-rates), rates * np.exp(-rates) * _STEP
    found = np.empty((keys.size, query.places))
    at_once = max(1, _KEYS // (query.places * times.size))
    for start in range(0, keys.size, at_once):
        some = slice(start, start + at_once)
        before = np.zeros((query.places, *rates[some].shape))  # [others before, candidates, times]
        before[0] = 1.0
        for other in range(keys.size):
            chance = np.broadcast_to(rung[other], rates[some].shape).copy()
            if some.start <= other < some.stop:
                chance[other - start] = 0.0
            moved = before[:-1] * chance
            before *= 1.0 - chance
            before[1:] += moved
        found[some] = np.einsum("jdt,dt->dj", before, density[some])
    return found


def _luce_ranks(query: Query) -> FloatArray:
    """1 + the probabilities with which each other one is before it: exact."""
    keys = _spread(query.scores)
    at_once = max(1, _KEYS // keys.size)
    parts = (
        expit(keys - keys[start : start + at_once, None]).sum(axis=1)
        for start in range(0, keys.size, at_once)
    )
    return 0.5 + np.concatenate(list(parts))


def mixture(
    key: str, label: str, words: str, parts: tuple[tuple[float, Logger], ...], source: str
) -> Logger:
    """Each draw by one of several loggers: lists, exposure and mean ranks are their averages.

    parts: probability and logger of each.
    """

    def counts(query: Query, rng: np.random.Generator) -> IntArray:
        draws = rng.multinomial(query.draws, [share for share, _ in parts])
        found = (
            logger.counts(replace(query, draws=int(n)), rng)
            for n, (_, logger) in zip(draws, parts, strict=True)
        )
        shown: IntArray = np.sum(list(found), axis=0, dtype=np.int64)
        return shown

    def average(of: Callable[[Logger], FloatArray]) -> FloatArray:
        found: FloatArray = np.sum([share * of(logger) for share, logger in parts], axis=0)
        return found

    return Logger(
        key, label, words, counts,
        lambda query: average(lambda logger: logger.chances(query)),
        lambda query: average(lambda logger: logger.mean_ranks(query)),
        source, fixed=False,
    )  # fmt: skip


def _unscored(query: Query) -> Query:
    return replace(query, scores=np.zeros(query.scores.size))


PRODUCTION = Logger(
    "production",
    "Production",
    "Always shows the production ranker's list; documents below the last rank are never seen.",
    _always_counts,
    _always,
    _at_its_place,
    "section 7.1 of Joachims, Swaminathan and Schnabel (2017)",
    fixed=True,
)
RANDOM = Logger(
    "random",
    "Random",
    "Shows the candidates in random order.",
    lambda query, rng: plackett_luce(_unscored(query), rng),
    lambda query: np.full((query.scores.size, query.places), 1.0 / query.scores.size),
    lambda query: np.full(query.scores.size, (query.scores.size + 1) / 2.0),
    "the uniform logger of counterfactual evaluation",
)
"""Alone it is not a logger that anybody would run; it is a part of a mixture."""

LOGGERS: Mapping[str, Logger] = MappingProxyType(
    {
        logger.key: logger
        for logger in (
            PRODUCTION,
            Logger(
                "replace-last",
                "Replace last",
                "Shows the production ranker's list, but fills the last rank with a document drawn "
                "at random from those not shown above it.",
                replace_last,
                _replaced_chances,
                _replaced_ranks,
                "Oosterhuis and de Rijke (SIGIR 2020)",
            ),
            Logger(
                "plackett-luce",
                "Plackett-Luce",
                "Draws a new list for every presentation by adding noise to the production "
                "ranker's scores.",
                plackett_luce,
                _luce_chances,
                _luce_ranks,
                "Plackett (1975), Luce (1959)",
            ),
            mixture(
                "mixture",
                "Mixture of rankers",
                "Shows the production ranker's list in 80% of the presentations, and the "
                "candidates in random order in the rest.",
                ((0.8, PRODUCTION), (0.2, RANDOM)),
                "Agarwal, Basu, Schnabel and Joachims (KDD 2017)",
            ),
        )
    }
)
"""All loggers by key, for settings, simulation, the command line and tests."""


EXAMPLE = Query(np.arange(20.0, 0.0, -1.0), 10, 1)
"""Twenty candidates with scores at equal distances, in lists of ten: what loggers differ in."""


@dataclass(frozen=True, eq=False)
class ShownByLogger:
    """What a logger does with a query: float64 [candidates], in production's order.

    exposure: rho. moved: mean rank minus production's, so that relevance in a document costs users
    so many ranks, or saves them where it is below 0.
    """

    logger: Logger
    exposure: FloatArray
    moved: FloatArray

    @property
    def holes(self) -> int:
        """Candidates that no list shows."""
        return int(np.count_nonzero(self.exposure == 0))

    @property
    def heaviest(self) -> float:
        """The largest weight 1 / rho of a click."""
        return float(1.0 / self.exposure[self.exposure > 0].min())


def shown_by(logger: Logger, query: Query, examined: FloatArray) -> ShownByLogger:
    """Exposure and mean ranks of the candidates of a query, exactly.

    examined: float64, examination of the ranks 1, 2, ...; at least ``query.places`` of them.
    """
    moved = logger.mean_ranks(query) - np.arange(1, query.scores.size + 1)
    return ShownByLogger(logger, logger.exposure(query, examined), moved)


def logger_named(key: str) -> Logger:
    """The logger with that key; raises InputError for an unknown key."""
    if key not in LOGGERS:
        raise InputError(f"{quoted(key)} is not a logger; choose from {', '.join(LOGGERS)}.")
    return LOGGERS[key]
