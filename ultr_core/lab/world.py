"""One world: a corpus, its production ranker and what perfect feedback would reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, CorpusSplits, propose_relevance_threshold, synthetic_splits
from ultr_core.corpus.ranking import (
    ChosenDocuments,
    constant_notice,
    rank_documents,
    require_finite,
)
from ultr_core.errors import InputError
from ultr_core.lab.production import ProductionRanker, train_production_ranker
from ultr_core.learners import LinearRanker, score_many
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.selection import select_by_labels
from ultr_core.propensity import full_information_weights
from ultr_core.settings import Settings
from ultr_core.users import ClickLog

REFERENCE_TOLERANCE = 1e-4
"""Duality gap of the skyline, which every comparison refers to."""


@dataclass(frozen=True, eq=False)
class LoggedQueries:
    """Queries that users see: their corpus, relevance and presented ranking.

    ``relevance`` is bool [documents], ``presented_ranks`` int32 [documents] under the
    production ranker.
    """

    corpus: Corpus
    relevance: NDArray[np.bool_]
    presented_ranks: NDArray[np.int32]

    @property
    def shown(self) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]]:
        """Relevance, presented ranks and query offsets: the input for simulated traffic."""
        return self.relevance, self.presented_ranks, self.corpus.query_offsets

    @cached_property
    def presentation(self) -> ClickLog:
        """Every query shown once and nothing clicked: the rows used for exact moments."""
        return ClickLog.presented(self.presented_ranks, self.corpus.query_offsets)


@dataclass(frozen=True)
class TestRisk:
    """How well a ranker does on the test queries.

    ``risk`` is the mean over all test queries of the summed ranks of relevant documents
    (equation 2), ``mean_rank`` the mean rank of a relevant document.
    """

    __test__ = False  # not a test class, whatever its name begins with

    risk: float
    mean_rank: float


@dataclass(frozen=True, eq=False)
class World:
    """Everything that does not depend on users: corpus, production ranker, skyline.

    It is built once per corpus and relevance threshold, and shared by all sessions.
    """

    name: str
    splits: CorpusSplits
    relevant_grade: int
    production: ProductionRanker
    skyline: LinearRanker
    train: LoggedQueries
    validation: LoggedQueries
    test_relevance: NDArray[np.bool_]
    notices: tuple[str, ...]

    @cached_property
    def baselines(self) -> dict[str, TestRisk]:
        """Test risks of the two rankers that do not learn from clicks, measured once."""
        risks = test_risks(self, [self.production.ranker, self.skyline])
        return dict(zip(("production", "skyline"), risks, strict=True))

    @cached_property
    def relevant_test_documents(self) -> ChosenDocuments:
        """The documents whose ranks make up the risk on the test queries."""
        relevant = np.flatnonzero(self.test_relevance)
        return ChosenDocuments(relevant, self.splits.test.query_offsets)

    @cached_property
    def logger_scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores by which the users' lists are sorted, for training and validation queries."""
        train, validation = (part.corpus for part in (self.train, self.validation))
        return self.production.ranker.score(train), self.production.ranker.score(validation)

    def counts(self) -> dict[str, Any]:
        """Sizes of the corpus as plain values, for captions and exports."""
        parts = {
            "train": (self.splits.train, self.train.relevance),
            "validation": (self.splits.validation, self.validation.relevance),
            "test": (self.splits.test, self.test_relevance),
        }
        counts: dict[str, Any] = {
            "name": self.name,
            "source": self.splits.source,
            "features": self.splits.train.n_features,
            "relevant_grade": self.relevant_grade,
            "production_queries": len(self.production.queries),
        }
        for part, (corpus, relevance) in parts.items():
            counts[part] = {
                "queries": corpus.n_queries,
                "documents": corpus.n_documents,
                "relevant": int(relevance.sum()),
            }
        return counts


def test_risk(world: World, ranker: LinearRanker) -> TestRisk:
    """Risk of ``ranker`` on the test queries of ``world``."""
    return test_risks(world, [ranker])[0]


@one_blas_thread()
def test_risks(world: World, rankers: Sequence[LinearRanker]) -> list[TestRisk]:
    """Risk of each ranker on the test queries, whose features are read once.

    Raises InputError if there is no ranker, or if a ranker has different features.
    """
    many = score_many(rankers, world.splits.test)
    require_finite(many, "Scores")
    ranks = [world.relevant_test_documents.ranks(scores) for scores in many]
    totals = [float(of_one.sum()) for of_one in ranks]
    queries, relevant = world.splits.test.n_queries, len(ranks[0])
    return [TestRisk(total / queries, total / relevant) for total in totals]


@one_blas_thread()
def build_world(settings: Settings, splits: CorpusSplits | None = None) -> World:
    """Build the world for ``settings``, on ``splits`` or on the built-in corpus.

    Only the settings in ``WORLD_FIELDS`` matter. The production ranker and the skyline are
    trained here (section 7.1 of the paper).

    Raises:
        InputError: nothing is relevant in the training or test queries, or no query has a pair of
        documents to learn from.
    """
    corpus = splits if splits is not None else synthetic_splits(settings.corpus_seed)
    threshold, notices = _threshold(corpus, settings.relevant_grade)
    seed = settings.corpus_seed
    production = train_production_ranker(corpus.train, threshold, seed)
    train = _logged(corpus.train, threshold, production.ranker)
    if train.relevance.all():
        raise InputError(
            f"Every one of the {corpus.train.n_documents} training documents has grade "
            f"{threshold} or more, so there is nothing to rank below a relevant document; choose "
            "a higher grade.",
            "relevant_grade",
        )
    validation = _logged(corpus.validation, threshold, production.ranker)
    skyline = select_by_labels(
        corpus.train,
        full_information_weights(train.relevance),
        corpus.validation,
        validation.relevance,
        tolerance=REFERENCE_TOLERANCE,
    )
    flat = [
        text
        for name, ranker in (("production ranker", production.ranker), ("skyline", skyline))
        for text in constant_notice(
            f"The {name}", ranker.score(corpus.test), corpus.test.query_offsets
        )
    ]
    return World(
        corpus.name,
        corpus,
        threshold,
        production,
        skyline,
        train,
        validation,
        corpus.test.relevance(threshold),
        (*corpus.notices, *notices, *production.notices, *flat),
    )


def _threshold(corpus: CorpusSplits, wanted: int) -> tuple[int, tuple[str, ...]]:
    threshold, notice = propose_relevance_threshold(
        (corpus.train, corpus.validation, corpus.test), wanted
    )
    return threshold, () if notice is None else (notice,)


def _logged(corpus: Corpus, threshold: int, production: LinearRanker) -> LoggedQueries:
    relevance = corpus.relevance(threshold)
    ranks = rank_documents(production.score(corpus), corpus.query_offsets)
    return LoggedQueries(corpus, relevance, ranks)
