"""Two towers fitted to expected clicks: what they find without any sampling noise.

Queries of eight documents with normal features x; relevance sigma(x.w + curved x_1 x_2 - 1), and
examination 1/k. A logger shows documents in the order of their relevance, of noise, or of both.
Expected clicks enter the likelihood where clicks would: its maximum is what any number of clicks
tends to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ultr_core.learners.towers import JOINS, TowerRows, Towers, fit_towers, ranks_apart
from ultr_core.users import ClickLog

FloatArray = NDArray[np.float64]

QUERIES, SIZE, FEATURES = 400, 8, 6
CURVED = 0.9
"""Weight of the product of two features in a relevance that is not linear."""

PLACES, LISTS = 4, 5
"""Ranks and queries of `LinkedRanks`."""

SWAPS = ((), ((1, 3),), ((1, 2), (2, 3), (3, 4)))
"""What three of its loggers swap: nothing, two ranks, and a chain of neighbours."""

_RIDGE = 1e-9
_LENGTH = 1.4  # of w

LOGGERS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"random": (0.0, 1.0), "fair": (1.0, 1.0), "perfect": (1.0, 0.0)}
)
"""How much relevance, and how much noise, decides the order: the standard deviations of both."""

LOG_EXAMINATION: FloatArray = -np.log(np.arange(1.0, SIZE + 1.0))
"""True b of both forms at the ranks 1, 2, ..."""


@lru_cache(maxsize=1)
def _drawn() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features [documents, features], w [features], and the noise of loggers [documents]."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(QUERIES * SIZE, FEATURES))
    w = rng.normal(size=FEATURES)
    return features, _LENGTH * w / np.linalg.norm(w), rng.normal(size=QUERIES * SIZE)


@dataclass(frozen=True)
class TowerCase:
    """Users, whose clicks follow one form of two towers, and the form that is fitted.

    clicks, fitted: keys of ``JOINS``; fitted is None for the same. curved: by how much relevance is
    not linear in the features.
    """

    clicks: str = "additive"
    fitted: str | None = None
    curved: float = 0.0

    @property
    def relevance(self) -> FloatArray:
        """Log odds of relevance, float64 [documents]."""
        features, w, _ = _drawn()
        return features @ w + self.curved * features[:, 0] * features[:, 1] - 1.0

    def rows(self, logger: str) -> TowerRows:
        """Every document where a logger shows it, with its expected clicks in one presentation."""
        features, _, noise = _drawn()
        s, (signal, spread) = self.relevance, LOGGERS[logger]
        order = (signal * s / s.std() + spread * noise).reshape(QUERIES, SIZE)
        rank = 1 + np.argsort(np.argsort(-order, axis=1), axis=1).ravel()
        clicks = expit(JOINS[self.clicks].log_odds(s, LOG_EXAMINATION[rank - 1]))
        return TowerRows(features, np.arange(rank.size), rank, np.ones(rank.size), clicks)

    def fit(self, logger: str) -> Towers:
        """Both towers, with almost no penalty."""
        form = JOINS[self.clicks if self.fitted is None else self.fitted]
        return fit_towers(self.rows(logger), form, ridge=_RIDGE)

    def off(self, logger: str) -> FloatArray:
        """Fitted b minus the logarithm of examination, float64 [ranks]."""
        found: FloatArray = self.fit(logger).bias - LOG_EXAMINATION
        return found


@dataclass(frozen=True)
class LinkedRanks:
    """A logger that always shows the same lists of four, and in one more presentation swaps.

    swaps: ranks that change places, each pair in one more presentation of a query of its own.
    shared: whether relevance is one feature of all documents instead of free for each.
    """

    swaps: tuple[tuple[int, int], ...] = ()
    shared: bool = False

    @property
    def log(self) -> ClickLog:
        """What is shown where; nobody has clicked yet."""
        lists = [(query, list(range(1, PLACES + 1))) for query in range(LISTS)]
        for query, (one, other) in enumerate(self.swaps):
            ranks = list(range(1, PLACES + 1))
            ranks[one - 1], ranks[other - 1] = other, one
            lists.append((query, ranks))
        shown = sorted(
            {(query * PLACES + d, rank) for query, ranks in lists for d, rank in enumerate(ranks)}
        )
        document, rank = np.array(shown).T
        nothing = np.zeros(rank.size, np.int64)
        offsets = np.arange(0, LISTS * PLACES + 1, PLACES)
        return ClickLog(document, rank, nothing + 1, nothing, 2 * len(lists), offsets)

    @property
    def parts(self) -> int:
        """Parts of the ranks that documents link."""
        return int(ranks_apart(self.log, PLACES).max()) + 1

    @property
    def undetermined(self) -> int:
        """Directions of (s, b) in which no probability of a click changes.

        Clicks depend on s_d and b_k only through s_d + b_k, so they are the directions that the
        matrix of rows by documents and ranks takes to 0.
        """
        log = self.log
        documents = np.eye(log.n_documents)[log.document]
        if self.shared:
            documents = documents @ np.random.default_rng(0).normal(size=(log.n_documents, 1))
        design = np.hstack([documents, np.eye(PLACES)[log.rank - 1]])
        return int(design.shape[1] - np.linalg.matrix_rank(design))
