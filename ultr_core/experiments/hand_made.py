"""The production ranker (Prod) of Section 7.6: a linear ranker whose weights were set by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ultr_core.corpus import Corpus
from ultr_core.feedback.query_draws import child
from ultr_core.ranking import query_of_document, query_sums

QUERIES_LOOKED_AT = 20
"""Judged queries that the engineer looks at."""

FEATURES_USED = 5
"""Features that get a weight: 5 the one that seems to matter most, down to 1."""


def hand_made_weights(corpus: Corpus, relevance_threshold: int, seed: int) -> NDArray[np.float64]:
    """Weights as an engineer would set them by hand, float64 [features].

    Looks at 20 random queries, orders the features by how strongly they go along with relevance
    within a query (correlation of the values centred by query), and gives the first five the
    round weights 5, 4, 3, 2, 1 with the sign of the correlation; all others get 0. Nothing is
    optimised. ``seed`` fixes the queries.
    """
    rng = np.random.default_rng(child(seed, 76))
    relevant = corpus.relevance(relevance_threshold)
    mixed = query_sums(relevant, corpus.query_offsets)
    usable = np.flatnonzero((mixed > 0) & (mixed < corpus.sizes))
    chosen = rng.permutation(usable)[:QUERIES_LOOKED_AT]
    sample = corpus.subset(np.sort(chosen)) if chosen.size else corpus
    features = sample.features
    values = features.toarray() if sparse.issparse(features) else features
    centred = _centred(np.asarray(values, dtype=np.float64), sample.query_offsets)
    label = sample.relevance(relevance_threshold).astype(np.float64)
    target = _centred(label[:, None], sample.query_offsets)[:, 0]
    spread = np.sqrt((centred**2).sum(axis=0) * float(target @ target))
    together = np.divide(target @ centred, spread, out=np.zeros(spread.size), where=spread > 0)
    best = np.argsort(-np.abs(together), kind="stable")[:FEATURES_USED]
    weights = np.zeros(spread.size)
    weights[best] = np.sign(together[best]) * np.arange(best.size, 0, -1)
    return weights


def _centred(values: NDArray[np.float64], query_offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values [documents, columns] minus their mean over the documents of the query."""
    sums = query_sums(values.T, query_offsets).T
    means = sums / np.diff(query_offsets)[:, None]
    centred: NDArray[np.float64] = values - means[query_of_document(query_offsets)]
    return centred
