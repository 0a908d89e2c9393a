"""Gradient-boosted trees that learn relevance and position together, by LightGBM; no propensities.

LightGBM's lambdarank with ``position`` gives a document at rank k of a list the score f(x) + b_k:
trees f, and a number b for each rank. Both move by the gradients of

    sum over lists, over pairs of a clicked i and another j, of
        |change of NDCG if i and j trade places| log(1 + exp(-(f(x_i) + b_ki - f(x_j) - b_kj)))

and only f ranks. It needs impressions without a click and the rank of each. It assumes that
position adds to the log odds of a click (`ultr_core.learners.towers`, the additive form). What is
no longer known is how wrong that is: unlike weights, no propensity is there to be measured or
checked, and with one list per query only features that documents share separate f from b.

The number of trees is chosen without propensities: a log odds a f(x) + b_k + c is fitted to the
validation clicks after every ``STEP`` trees, and the highest likelihood wins.

A log counts clicks by document and rank, not by list. Its clicks are dealt at random to as many
lists as there were: exactly the distribution of the lists, given the counts, if a list's clicks do
not depend on each other and lists are fixed; otherwise only counts by document and rank are right.
Equal lists are one list with a weight, and lists without a click say nothing.

Source: LightGBM 4, ``position`` of a data set, after Wang et al. (WSDM 2018) and Zhao et al.
(RecSys 2019); Burges (2010) for lambdarank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.learners.towers import JOINS, LAST_RANK, TowerRows, fit_towers
from ultr_core.learners.trees import (
    GROWTH,
    STEP,
    TreeRanker,
    columns_of,
    lightgbm,
    ranker_of,
    scores_by_step,
)
from ultr_core.users import ClickLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

KEY = "trees-by-position"
LABEL = "Trees by position"

MOST_TREES = 200
TREES_WITHOUT_VALIDATION = 50

_OPTIONS = {**GROWTH, "objective": "lambdarank", "learning_rate": 0.1}

MOST_ROWS = 1_000_000
"""Documents in all lists, at most; of more lists a random part is used."""

LONGEST_LIST = 10_000
"""Of LightGBM."""

_RIDGE = 1e-6  # of the one coefficient a of the likelihood


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists with a click, one after the other.

    document, rank int64, clicked bool: [rows]. sizes, times int64 [lists]: documents of a list, and
    how often it was shown.
    """

    document: IntArray
    rank: IntArray
    clicked: NDArray[np.bool_]
    sizes: IntArray
    times: IntArray

    @classmethod
    def of_log(
        cls, log: ClickLog, seed: SeedSequence | int = 0, *, most_rows: int = MOST_ROWS
    ) -> Lists:
        """Deal the clicks of a log to its lists.

        Raises InputError for a log of clicks only, without clicks, or with a list that is too long.
        """
        if log.total_clicks == 0 or log.clicks_only:
            raise InputError(
                "Trees by position need impressions with and without a click; this log has only "
                "one kind.",
                "towers_clicks",
            )
        rng = np.random.default_rng(seed)
        order = np.lexsort((log.rank, log.document))
        order = order[log.impressions[order] > 0]
        ends = np.searchsorted(log.document[order], log.query_offsets)
        clicks = np.add.reduceat(np.append(log.clicks[order], 0), ends[:-1])
        clicks[ends[1:] == ends[:-1]] = 0
        expected = float(np.minimum(clicks, log.draws) @ np.diff(ends))
        share = min(1.0, most_rows / max(expected, 1.0))
        found = [
            _dealt(log, order[ends[query] : ends[query + 1]], int(log.draws[query]), rng, share)
            for query in np.flatnonzero(clicks).tolist()
        ]
        document, rank, clicked, sizes, times = (
            np.concatenate(column) for column in zip(*found, strict=True)
        )
        longest = int(sizes.max(initial=0))
        if longest > LONGEST_LIST:
            raise InputError(
                f"A list in the log has {counted(longest, 'document')}, but trees by position take "
                f"at most {LONGEST_LIST:,}; choose other trees or a linear ranker.",
                "too_large",
            )
        return cls(document, rank, clicked, sizes, times)


def _dealt(
    log: ClickLog, rows: IntArray, draws: int, rng: np.random.Generator, share: float
) -> tuple[IntArray, IntArray, NDArray[np.bool_], IntArray, IntArray]:
    """Columns of `Lists` for the rows of one query, sorted by document.

    Each document's impressions go to lists drawn at random; within a row, clicks come first.
    """
    documents, number = np.unique(log.document[rows], return_inverse=True)
    shown = np.bincount(number, log.impressions[rows]).astype(np.int64)
    draws = max(draws, int(shown.max()))
    # What a list says of a document: 2 rank, and 1 more if clicked; 0 where it was not shown.
    cells = np.zeros((draws, documents.size), np.int64)
    for column in range(documents.size):
        own = rows[number == column]
        said = np.repeat(
            np.stack([2 * log.rank[own] + 1, 2 * log.rank[own]], axis=1).ravel(),
            np.stack([log.clicks[own], (log.impressions - log.clicks)[own]], axis=1).ravel(),
        )
        where = rng.permutation(draws)[: said.size]
        cells[where, column] = said
    lists, times = np.unique(cells[(cells % 2 == 1).any(axis=1)], axis=0, return_counts=True)
    if share < 1.0:
        kept = rng.binomial(times, share)
        lists, times = lists[kept > 0], kept[kept > 0]
    of_list, place = np.nonzero(lists)
    said = lists[of_list, place]
    sizes = np.bincount(of_list, minlength=len(lists)).astype(np.int64)
    return documents[place], said // 2, said % 2 == 1, sizes, times.astype(np.int64)


def fit_by_position(
    corpus: Corpus, log: ClickLog, *, trees: int, seed: SeedSequence | int = 0
) -> TreeRanker:
    """Grow this many trees on a log; the same seed gives the same trees.

    Raises InputError if `Lists.of_log` does, and where LightGBM is not installed.
    """
    return ranker_of(_grown(corpus, log, trees, seed), corpus, trees)


def select_by_position(
    corpus: Corpus,
    log: ClickLog,
    validation: Corpus,
    held_out: ClickLog,
    *,
    seed: SeedSequence | int = 0,
) -> TreeRanker:
    """Grow trees on a log, as many as give validation clicks the highest likelihood.

    log, held_out: the clicks on the queries of ``corpus`` and of ``validation``. Without a
    validation click at rank 1 there are ``TREES_WITHOUT_VALIDATION``. Raises InputError if
    `fit_by_position` does.
    """
    if not held_out.clicks[held_out.rank == 1].any():
        return fit_by_position(corpus, log, trees=TREES_WITHOUT_VALIDATION, seed=seed)
    booster = _grown(corpus, log, MOST_TREES, seed)
    scores = scores_by_step(booster, columns_of(validation, corpus.feature_ids), MOST_TREES)
    losses = [click_loss(each, held_out) for each in scores]
    return ranker_of(booster, corpus, STEP * (1 + int(np.argmin(losses))))


def click_loss(scores: FloatArray, log: ClickLog) -> float:
    """Minus the largest log likelihood of a log's clicks under log odds a s + b_k + c, per click.

    scores s [documents]. Whatever can be fitted is, so that neither scale nor position counts.
    """
    rows = TowerRows.of_scores(scores, log)
    return fit_towers(rows, JOINS["additive"], ridge=_RIDGE).objective


def _grown(corpus: Corpus, log: ClickLog, trees: int, seed: SeedSequence | int) -> object:
    package, lists = lightgbm(), Lists.of_log(log, seed)
    data = package.Dataset(
        columns_of(corpus, corpus.feature_ids)[lists.document],
        lists.clicked.astype(np.float64),
        group=lists.sizes,
        weight=np.repeat(lists.times, lists.sizes).astype(np.float64),
        position=np.minimum(lists.rank, LAST_RANK),
        feature_name=[str(number) for number in corpus.feature_ids.tolist()],
    )
    return package.train(_OPTIONS, data, num_boost_round=trees)
