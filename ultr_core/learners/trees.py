"""Gradient-boosted regression trees on the relevance that clicks estimate, by LightGBM.

    sum over documents of N_q (f(x_d) - target_d)^2

with the `Targets` of any estimator and N_q the draws of the query, so that the mean of a target is
the relevance of its document wherever the estimator is unbiased. Trees minimise this sum, and their
number minimises it on validation clicks: up to a constant it is unbiased where the targets are, and
it varies far less than the estimated risk does. Unlike the learners of
``LEARNERS`` they give no linear ranker, have no C and no certificate. LightGBM (Ke et al., NeurIPS
2017) is not needed for anything else.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.feature_matrix import MISSING_ZERO, some_ids
from ultr_core.errors import InputError
from ultr_core.learners.forest import Forest
from ultr_core.propensity import Numbers, Targets
from ultr_core.users import ClickLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

TREES = "trees"
"""What this learner is called where learners are chosen."""

LABEL = "Trees"

MOST_TREES, STEP = 400, 25
"""How many trees are grown, and every how many of them the validation clicks judge."""

TREES_WITHOUT_VALIDATION = 100

GROWTH = {
    "objective": "regression", "num_leaves": 15, "learning_rate": 0.05, "min_data_in_leaf": 50,
    "deterministic": True, "force_col_wise": True, "num_threads": 1, "verbosity": -1,
}  # fmt: skip
"""How trees are grown: parameters of LightGBM."""


def has_lightgbm() -> bool:
    """Whether the package is installed."""
    return importlib.util.find_spec("lightgbm") is not None


def lightgbm() -> Any:
    """The package; raises InputError if it is not installed."""
    try:
        return importlib.import_module("lightgbm")
    except (ImportError, OSError):  # OSError: of the library that it loads
        raise InputError(
            "Trees need the package LightGBM, which is not installed or lacks a library; install "
            "it with pip install lightgbm (on a minimal Linux, also install libgomp1).",
            "lightgbm",
        ) from None


@dataclass(frozen=True, eq=False)
class TreeRanker:
    """A sum of trees. text: the model as LightGBM writes it; forest: what it says."""

    text: str
    forest: Forest

    @property
    def trees(self) -> int:
        """How many trees there are."""
        return len(self.forest.trees)

    def score(self, corpus: Corpus) -> FloatArray:
        """Scores [documents] of a corpus; raises InputError if `score_with_notices` does."""
        return self.score_with_notices(corpus)[0]

    def score_with_notices(
        self, corpus: Corpus, *, missing_zero: bool = False
    ) -> tuple[FloatArray, tuple[str, ...]]:
        """Scores [documents], and sentences on features that are absent or named by columns.

        Raises InputError if trees split on a feature that the corpus lacks, unless ``missing_zero``
        says that it is 0 or the corpus is sparse and omits zeros; if they have none in common; and
        if the names Column_0, Column_1, ... need not be ids.
        """
        ids = self.forest.feature_ids
        used = ids[self.forest.split_on]
        absent = np.setdiff1d(used, corpus.feature_ids)
        if self.forest.from_column_0:
            _require_ids(corpus, ids, absent)
        zero = (missing_zero or corpus.is_sparse) and absent.size < used.size
        if absent.size and not zero:
            raise InputError(
                f"The trees split on {counted(absent.size, 'feature')} that the corpus does not "
                f"have ({some_ids(absent)}); use a corpus with the same features or, if it "
                "has some of them, say that missing features are 0.",
                MISSING_ZERO,
            )
        place = np.minimum(np.searchsorted(corpus.feature_ids, ids), corpus.n_features - 1)
        columns = np.where(corpus.feature_ids[place] == ids, place, -1)
        return self.forest.score(corpus.features, columns), tuple(_notices(self.forest, absent))


def _require_ids(corpus: Corpus, ids: NDArray[np.int64], absent: NDArray[np.int64]) -> None:
    """Raise InputError unless Column_N is feature N: both end alike, and no split says otherwise.

    Columns of a matrix are counted from 0 and end one below the highest id, or earlier.
    """
    unnamed = np.setdiff1d(corpus.feature_ids, ids)
    if absent.size or unnamed.size or ids[-1] != corpus.feature_ids[-1]:
        raise InputError(
            f"The trees name their features Column_0 to Column_{ids[-1]}, which may number the "
            f"columns of a matrix, and the corpus has {counted(corpus.n_features, 'feature')} "
            f"({some_ids(corpus.feature_ids)}); write the ids of the features on the model's "
            "feature_names line, as in feature_names=1 2 3, or pass them to LightGBM as "
            "feature_name.",
            "tree_features",
        )


def _notices(forest: Forest, absent: NDArray[np.int64]) -> Iterator[str]:
    if forest.from_column_0:
        yield (
            f"The trees name their features Column_0 to Column_{forest.feature_ids[-1]}; Column_N "
            "is read as feature N of the corpus."
        )
    if absent.size:
        yield (
            f"The corpus lacks {counted(absent.size, 'feature')} that the trees split on "
            f"({some_ids(absent)}); missing features count as 0 in every document."
        )


@dataclass(frozen=True, eq=False)
class TreeSelection:
    """The trees of the best setting, the place of its targets, and the loss of every setting.

    losses: float64 [candidates, steps], on the validation clicks after every ``STEP`` trees, per
    query draw and document; no number without validation clicks.
    """

    ranker: TreeRanker
    candidate: int
    losses: FloatArray


def fit_trees(
    corpus: Corpus, targets: Targets, *, trees: int = MOST_TREES, seed: int = 0
) -> TreeRanker:
    """Grow trees on the targets of a corpus's documents.

    The same seed gives the same trees. Raises InputError where LightGBM is not installed or nothing
    was shown.
    """
    return ranker_of(_grown(corpus, targets, trees, seed), corpus, trees)


def select_trees(
    corpus: Corpus,
    candidates: Sequence[Targets],
    validation: Corpus,
    log: ClickLog,
    numbers: Numbers,
    *,
    seed: int = 0,
) -> TreeSelection:
    """Grow trees on each candidate's targets; keep the number with the lowest validation loss.

    log, numbers: the clicks on the validation queries, and u and v of the estimator that gives the
    targets there, for all candidates alike. Ties go to the first candidate and the fewest trees.
    Without a validation click the first candidate gets ``TREES_WITHOUT_VALIDATION``. Raises
    InputError as `fit_trees` and `Targets.of_log` do.
    """
    steps = range(STEP, MOST_TREES + 1, STEP)
    losses = np.full((len(candidates), len(steps)), np.nan)
    if log.total_clicks == 0:
        ranker = fit_trees(corpus, candidates[0], trees=TREES_WITHOUT_VALIDATION, seed=seed)
        return TreeSelection(ranker, 0, losses)
    wanted, grown = Targets.of_log(log, numbers), []
    held_out = columns_of(validation, corpus.feature_ids)
    for number, targets in enumerate(candidates):
        booster = _grown(corpus, targets, MOST_TREES, seed)
        scores = scores_by_step(booster, held_out, MOST_TREES)
        losses[number] = np.square(scores - wanted.value) @ wanted.draws / wanted.draws.sum()
        grown.append(booster)
    candidate, place = divmod(int(np.argmin(losses)), len(steps))
    return TreeSelection(ranker_of(grown[candidate], corpus, steps[place]), candidate, losses)


def _grown(corpus: Corpus, targets: Targets, trees: int, seed: int) -> Any:
    package = lightgbm()
    counting = np.flatnonzero(targets.draws > 0)
    if not counting.size:
        raise InputError("Nothing was shown, so there is nothing to learn from.", "nothing_shown")
    data = package.Dataset(
        columns_of(corpus, corpus.feature_ids)[counting],
        targets.value[counting],
        weight=targets.draws[counting],
        feature_name=[str(number) for number in corpus.feature_ids.tolist()],
    )
    return package.train({**GROWTH, "seed": seed % 2**31}, data, num_boost_round=trees)


def ranker_of(booster: Any, corpus: Corpus, trees: int) -> TreeRanker:
    """The first trees of a booster that was grown on all features of a corpus."""
    text = booster.model_to_string(num_iteration=trees)
    return TreeRanker(text, Forest.parse(text, "The model"))


def scores_by_step(booster: Any, features: Any, trees: int) -> FloatArray:
    """Scores [steps, documents] after every ``STEP`` of so many trees."""
    parts = [
        booster.predict(features, start_iteration=start, num_iteration=STEP, num_threads=1)
        for start in range(0, trees, STEP)
    ]
    found: FloatArray = np.cumsum(np.asarray(parts, np.float64), axis=0)
    return found


def columns_of(corpus: Corpus, feature_ids: NDArray[np.int64]) -> Any:
    """The columns of these features, dense or sparse as they are."""
    features = corpus.features
    if not np.array_equal(corpus.feature_ids, feature_ids):
        absent = np.setdiff1d(feature_ids, corpus.feature_ids)
        if absent.size:
            raise InputError(
                f"The trees were grown on features that the corpus does not have "
                f"({some_ids(absent)}); use a corpus with the same features.",
                "tree_features",
            )
        features = features[:, np.searchsorted(corpus.feature_ids, feature_ids)]
    return sparse.csr_matrix(features) if sparse.issparse(features) else features
