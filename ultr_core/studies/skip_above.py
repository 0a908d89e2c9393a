"""The baseline that the paper's introduction criticises: a click beats what was skipped above it.

A session in which document i is clicked and document j, presented above it, is not, is read as
the preference "i over j". Every such preference points against the order that was shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import RankArray, order_from_ranks, query_of_document
from ultr_core.errors import InputError
from ultr_core.lab.methods import ClickData
from ultr_core.lab.training import final_fit
from ultr_core.learners import COST_GRID, SVM, LinearModel
from ultr_core.learners.selection import COST_WITHOUT_VALIDATION, Selection, best_setting
from ultr_core.propensity import Weights
from ultr_core.users import ClickLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_PAIRS = 30_000
"""Pairs that a ranker learns from at most; beyond that they are sampled in proportion."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """Pairs of documents with the expected number of sessions that prefer one to the other.

    preferred, skipped: int64 [pairs], rows of the corpus; count: float64 [pairs], above 0.
    """

    preferred: IntArray
    skipped: IntArray
    count: FloatArray


def pairs_below(
    chosen: IntArray, ranks: RankArray, query_offsets: IntArray
) -> tuple[IntArray, IntArray]:
    """All pairs (d, e) of a chosen document d and a document e presented above it.

    ``chosen`` [any number of documents], ``ranks`` [documents] from 1, ``query_offsets``
    [queries + 1]; returns two int64 [pairs].
    """
    order = order_from_ranks(ranks, query_offsets)
    above = ranks[chosen].astype(np.int64) - 1
    first = query_offsets[query_of_document(query_offsets)[chosen]]
    place = np.arange(int(above.sum())) - np.repeat(np.cumsum(above) - above, above)
    return np.repeat(chosen, above), order[np.repeat(first, above) + place]


def skip_above_preferences(log: ClickLog) -> Preferences:
    """Expected number of sessions with a click on i and none on j above it, given the log.

    Users of the position model examine, and so click, the documents of a session independently.
    Given the counts c_i, c_j and the N_q sessions of the query, every distribution of the clicks
    over sessions is equally likely, so that c_i (N_q - c_j) / N_q sessions are expected: the mean
    of a hypergeometric law. The sessions themselves are not needed.

    Raises:
        InputError: the log shows a document at several ranks.
    """
    if not log.covers_corpus:
        raise InputError(
            "Skip-above preferences need a log with exactly one rank for every document.",
            "one_rank",
        )
    clicked = np.flatnonzero(log.clicks)
    preferred, skipped = pairs_below(clicked, log.rank, log.query_offsets)
    clicks, shown = log.clicks[skipped], np.maximum(log.impressions[skipped], 1)
    count = log.clicks[preferred] * ((shown - clicks) / shown)
    kept = count > 0
    return Preferences(preferred[kept], skipped[kept], count[kept])


def sampled(preferences: Preferences, most: int, rng: np.random.Generator) -> Preferences:
    """At most ``most`` pairs, drawn systematically in proportion to their count.

    The expected count of every pair is kept; fewer pairs than that are returned as they are.
    """
    if len(preferences.count) <= most:
        return preferences
    total = np.cumsum(preferences.count)
    steps = (np.arange(most) + rng.random()) * (total[-1] / most)
    pair, times = np.unique(
        np.minimum(np.searchsorted(total, steps, side="right"), len(total) - 1),
        return_counts=True,
    )
    return Preferences(
        preferences.preferred[pair], preferences.skipped[pair], times * (total[-1] / most)
    )


def train_skip_above(data: ClickData) -> Selection:
    """Ranking SVM on skip-above preferences: 1/2 w.w + (C/n) sum count_ij max(0, 1 - s_i + s_j).

    n is the number of clicks. C is the one whose ranker contradicts the fewest preferences of
    the validation clicks, since this learner believes in them. Each pair enters the learner as a
    query of two documents. The threshold told is 1: every click counts 1.

    Raises:
        InputError: no clicked document has a skipped one above it.
    """
    rng = np.random.default_rng(data.seed)
    preferences = sampled(skip_above_preferences(data.log), MOST_PAIRS, rng)
    if not preferences.count.size:
        raise InputError(
            "No click has a skipped document above it, so there is no skip-above preference to "
            "learn from; raise the number of clicks."
        )
    pairs, weights = _as_queries(data.corpus, preferences, data.log.total_clicks)
    held_out = skip_above_preferences(data.validation_log)
    if not held_out.count.size:
        ranker = final_fit(SVM, pairs, weights, cost=COST_WITHOUT_VALIDATION)
        return Selection(ranker, 1.0, np.full((1, len(COST_GRID)), np.nan))
    _, ranker, against = best_setting(
        SVM.paths_of(pairs, [weights]),
        lambda rankers: np.array(
            [_contradicted(one, data.validation, held_out) for one in rankers]
        ),
        COST_GRID,
        data.validation_log.total_clicks,
    )
    return Selection(ranker, 1.0, against)


def _as_queries(corpus: Corpus, preferences: Preferences, clicks: int) -> tuple[Corpus, Weights]:
    n_pairs = len(preferences.count)
    rows = np.stack([preferences.preferred, preferences.skipped], axis=1).ravel()
    values = np.zeros(2 * n_pairs)
    values[::2] = preferences.count
    pairs = Corpus(
        corpus.features[rows],
        corpus.grades[rows],
        np.arange(0, 2 * n_pairs + 1, 2),
        feature_ids=corpus.feature_ids,
    )
    return pairs, Weights(values, clicks)


def _contradicted(ranker: LinearModel, corpus: Corpus, preferences: Preferences) -> float:
    scores = ranker.score(corpus)
    wrong = scores[preferences.preferred] <= scores[preferences.skipped]
    return float(preferences.count[wrong].sum())


def agreement_with(ranks: RankArray, presented_ranks: RankArray, query_offsets: IntArray) -> float:
    """Mean over queries of Kendall's tau between two rankings of the same candidates.

    Both [documents]; 1 is the same order, -1 the reversed one. Queries of one document are left
    out; without any other query the agreement is 1.
    """
    upper, lower = pairs_below(np.arange(len(ranks)), presented_ranks, query_offsets)
    sizes = np.diff(query_offsets)
    inverted = np.bincount(
        query_of_document(query_offsets)[upper],
        weights=ranks[upper] < ranks[lower],
        minlength=len(sizes),
    )
    n_pairs = sizes * (sizes - 1) / 2
    several = sizes > 1
    if not several.any():
        return 1.0
    return float(np.mean(1 - 2 * inverted[several] / n_pairs[several]))
