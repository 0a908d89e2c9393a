"""The production ranker S_0, which presents the results that users click on.

Section 7.1 of the paper (Joachims, Swaminathan and Schnabel, 2017): a ranking SVM on the full
information of about 1% of the training queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document, query_sums
from ultr_core.errors import InputError
from ultr_core.learners import LinearRanker, fit_ranker
from ultr_core.learners.limits import require_pairs
from ultr_core.learners.selection import converged
from ultr_core.limits import Limit
from ultr_core.propensity import full_information_weights
from ultr_core.users.query_draws import checked_seed, child
from ultr_core.words import counted

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


QUERIES_PER_PRODUCTION_QUERY = 100
"""One training query in so many trains the production ranker: 1% of them."""

PRODUCTION_COST = 1.0
"""C of the production ranker, fixed so that it does not depend on a validation set."""

PRODUCTION_TOLERANCE = 1e-6
"""Duality gap: tight, since every click depends on the ranking that users see."""


@dataclass(frozen=True, eq=False)
class ProductionRanker:
    """The ranker that users see, and how it came about.

    Attributes:
        ranker: the ranking SVM.
        queries: int64 [chosen] numbers of the training queries it learned from, rising.
        notices: sentences on where it departs from 1% of the queries.

    """

    ranker: LinearRanker
    queries: NDArray[np.int64]
    notices: tuple[str, ...] = ()


def train_production_ranker(
    train: Corpus, relevance_threshold: int, seed: int, *, pairs: Limit | None = None
) -> ProductionRanker:
    """Train a ranking SVM on the relevance labels of 1% of the training queries.

    The queries are the first of a random order that ``seed`` fixes. Where 1% is less than one
    query, one is taken; where those taken hold no relevant beside an irrelevant document, the next
    ones are added until one does. The objective is the one of ``fit_ranker`` with relevance as
    weights and C = 1. ``pairs`` is the most that it may be trained on.

    Raises:
        InputError: no training query has both a relevant and an irrelevant document, the
            threshold is below 1, or there are more pairs than that.

    """
    relevance = train.relevance(relevance_threshold)
    order = np.random.default_rng(checked_seed(seed)).permutation(train.n_queries)
    wanted = max(1, round(train.n_queries / QUERIES_PER_PRODUCTION_QUERY))
    relevant = query_sums(relevance, train.query_offsets)
    usable = np.flatnonzero(((relevant > 0) & (relevant < train.sizes))[order])
    if not usable.size:
        raise InputError(
            f"No training query has both a document with grade {relevance_threshold} or more and "
            "a document with a lower grade, so there is no preference to learn; add queries with "
            "both, or choose another grade.",
            "relevant_grade",
        )
    taken = max(wanted, int(usable[0]) + 1)
    queries = np.sort(order[:taken]).astype(np.int64)
    sample = train.subset(queries)
    wanted_first = sample.relevance(relevance_threshold)
    if pairs is not None:
        require_pairs(wanted_first, sample.query_offsets, pairs)
    ranker = fit_ranker(
        sample,
        full_information_weights(wanted_first),
        cost=PRODUCTION_COST,
        tolerance=PRODUCTION_TOLERANCE,
    )
    ranker = converged(ranker, PRODUCTION_TOLERANCE)
    return ProductionRanker(ranker, queries, _notices(train.n_queries, wanted, taken))


def _notices(n_queries: int, wanted: int, taken: int) -> tuple[str, ...]:
    """Say where more than 1% of the queries were taken, and why."""
    few = n_queries < QUERIES_PER_PRODUCTION_QUERY
    if not few and taken == wanted:
        return ()
    share = f"1% of the {n_queries} training queries is "
    share += "less than one query" if few else counted(wanted, "query", "queries")
    if taken == wanted:
        return (f"{share}; the production ranker learned from one query instead.",)
    return (
        f"{share}; the production ranker learned from {counted(taken, 'query', 'queries')} "
        "instead: queries in a random order, up to the first with both a relevant and an "
        "irrelevant document.",
    )
