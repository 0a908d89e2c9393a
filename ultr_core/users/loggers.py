"""Who shows what: a logger is a law over the lists that users see, one draw after the other.

A list holds the first k documents. One that a draw leaves out counts as shown at rank k + 1, which
nobody examines, so that every draw of a query has all of its candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

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
    of a query; None for the production ranker, which always shows the same list. source: where it
    comes from.
    """

    key: str
    label: str
    words: str
    counts: Callable[[Query, np.random.Generator], IntArray] | None
    source: str


def replace_last(query: Query, rng: np.random.Generator) -> IntArray:
    """The first k - 1 documents, and at rank k one of the others, each as often."""
    last = query.places - 1
    found = np.zeros((query.scores.size, query.places), np.int64)
    found[np.arange(last), np.arange(last)] = query.draws
    others = query.scores.size - last
    found[last:, last] = rng.multinomial(query.draws, np.full(others, 1.0 / others))
    return found


def plackett_luce(query: Query, rng: np.random.Generator) -> IntArray:
    """Lists in the order of score + Gumbel noise, scores with deviation ``SPREAD``."""
    size, places = query.scores.size, query.places
    deviation = float(query.scores.std())
    centred = query.scores - query.scores.mean()
    keys = SPREAD * centred / deviation if deviation > 0 else centred
    found = np.zeros(size * places, np.int64)
    at_once = max(1, _KEYS // size)
    for start in range(0, query.draws, at_once):
        draws = min(at_once, query.draws - start)
        order = np.argsort(-(keys + rng.gumbel(size=(draws, size))), axis=1)[:, :places]
        cells = order * places + np.arange(places)
        found += np.bincount(cells.ravel(), minlength=found.size)
    return found.reshape(size, places)


LOGGERS: Mapping[str, Logger] = MappingProxyType(
    {
        logger.key: logger
        for logger in (
            Logger(
                "production",
                "Production",
                "It always shows the list of the production ranker; documents below the last rank "
                "are never seen.",
                None,
                "section 7.1 of Joachims, Swaminathan and Schnabel (2017)",
            ),
            Logger(
                "replace-last",
                "Replace last",
                "It shows the list of the production ranker, but at the last rank any of the "
                "lower documents, all equally likely.",
                replace_last,
                "Oosterhuis and de Rijke (SIGIR 2020)",
            ),
            Logger(
                "plackett-luce",
                "Plackett-Luce",
                "It draws a new list for every presentation: the production ranker's scores with "
                "noise.",
                plackett_luce,
                "Plackett (1975), Luce (1959)",
            ),
        )
    }
)
"""All loggers by key; settings, simulation, command line and tests read this."""


def logger_named(key: str) -> Logger:
    """The logger with that key; raises InputError for any other name."""
    if key not in LOGGERS:
        raise InputError(f"{quoted(key)} is not a logger; choose from {', '.join(LOGGERS)}.")
    return LOGGERS[key]
