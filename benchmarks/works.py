"""Corpora and click weights for the measurements."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import rank_documents
from ultr_core.corpus.synthetic import synthetic_splits
from ultr_core.learners import fit_ranker
from ultr_core.propensity.weights import (
    Weights,
    full_information_weights,
    ips_weights,
    naive_weights,
)
from ultr_core.users import ClickLog, PositionModel, PowerLaw, query_draws_for, simulate_counts

SHAPES: dict[str, dict[str, Any]] = {
    "small": {"train_queries": 2_000, "features": 50},
    "default": {"train_queries": 2_000, "features": 50},
    "medium": {"train_queries": 5_000, "features": 200},
    "yahoo": {"train_queries": 19_944, "features": 700},
}
FIXED_LISTS = {"small": 20}
"""Works in which every query has the same number of documents; in the others, it varies."""

RELEVANT_GRADE = 3
CURVE = PowerLaw(1.0)
CLICKS = PositionModel(CURVE, eps_plus=1.0, eps_minus=0.1)


@dataclass(frozen=True, eq=False)
class Work:
    """A corpus as presented by a weak production ranker, with the probability of each click."""

    name: str
    corpus: Corpus
    ranks: NDArray[np.int32]
    click_probability: NDArray[np.float64]

    def log(self, clicks: int, seed: int = 0) -> ClickLog:
        """A click log of about this many clicks."""
        rate = float(self.click_probability.sum()) / self.corpus.n_queries
        return simulate_counts(
            self.click_probability,
            self.ranks,
            self.corpus.query_offsets,
            query_draws_for(clicks, rate),
            seed,
        )

    def weights(self, kind: str, clicks: int) -> Weights:
        """Weights of kind "naive" or "ips" from such a log."""
        log = self.log(clicks)
        return naive_weights(log) if kind == "naive" else ips_weights(log, CURVE)


@functools.cache
def work(name: str) -> Work:
    """A corpus by name.

    small: 2,000 queries x 20 documents x 50 features; default: the app's corpus, the same but with
    24 documents on average and up to 113; medium; yahoo: the size of the paper's corpus, dense,
    with a third of the values non-zero.
    """
    shape = dict(SHAPES[name])
    if name in FIXED_LISTS:
        # Lists long enough to be cut to the fixed length, and twice as many as are needed.
        length, queries = FIXED_LISTS[name], shape["train_queries"]
        shape |= {"train_queries": 2 * queries, "mean_candidates": 2.0 * length}
    corpus = synthetic_splits(0, validation_queries=1, test_queries=1, **shape).train
    if name in FIXED_LISTS:
        corpus = _cut_to(corpus, queries, length)
    if name == "yahoo":
        corpus = _thinned(corpus, 0.32 / 0.8)
    few = corpus.subset(np.arange(max(2, corpus.n_queries // 100)))
    production = fit_ranker(
        few, full_information_weights(few.relevance(RELEVANT_GRADE)), cost=0.1, tolerance=1e-5
    )
    ranks = rank_documents(production.score(corpus), corpus.query_offsets)
    chance = CLICKS.click_probability(corpus.relevance(RELEVANT_GRADE), ranks)
    return Work(name, corpus, ranks, chance)


def _cut_to(corpus: Corpus, queries: int, length: int) -> Corpus:
    """The first ``length`` documents of the first ``queries`` queries that have that many."""
    first = corpus.query_offsets[:-1][corpus.sizes >= length][:queries]
    rows = (first[:, None] + np.arange(length)).ravel()
    offsets = length * np.arange(len(first) + 1)
    return Corpus(np.asarray(corpus.features)[rows], corpus.grades[rows], offsets)


def _thinned(corpus: Corpus, kept: float) -> Corpus:
    """Set a random part of the features to zero, block by block."""
    rng = np.random.default_rng(0)
    features = np.array(corpus.features)
    for start in range(0, len(features), 4096):
        block = features[start : start + 4096]
        block[rng.random(block.shape, dtype=np.float32) >= kept] = 0
    return Corpus(features=features, grades=corpus.grades, query_offsets=corpus.query_offsets)
