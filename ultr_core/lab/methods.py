"""The rankers that are compared, how each comes about, and which settings it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.curve_values import CURVES
from ultr_core.learners import LEARNERS, SVM, Learner, LinearRanker
from ultr_core.learners.selection import Selection
from ultr_core.learners.softmax import SOFTMAX
from ultr_core.propensity import ESTIMATORS, Belief, Estimator, SwapCounts
from ultr_core.settings import FURTHER_FIELDS, LOGGER_FIELD, PARAMETERS, Settings
from ultr_core.users import ClickLog

if TYPE_CHECKING:
    from ultr_core.lab.world import World
    from ultr_core.learners.trees import TreeRanker

FloatArray = NDArray[np.float64]

WORLD_FIELDS = ("corpus_seed", "relevant_grade")
"""Settings that the corpus, the production ranker and the skyline depend on."""

LOG_FIELDS = (
    *WORLD_FIELDS, "eta", "curve", "eps_minus", "eps_plus", "clicks", "seed",
    *(field.name for field in FURTHER_FIELDS),
)  # fmt: skip
"""Settings that a click log depends on; the naive ranker depends on nothing else."""

SWAP_FIELDS = tuple(name for name in LOG_FIELDS if name not in ("clicks", LOGGER_FIELD.name))
"""Settings that swaps depend on which measure before a learner trains."""

WEIGHTED_FIELDS = (*LOG_FIELDS, "assumed_eta", "assumed_curve")
"""Settings that affect everything that divides by an assumed propensity."""


@lru_cache(maxsize=4_096)
def stage(settings: Settings, names: tuple[str, ...]) -> Settings:
    """The settings with every field outside ``names`` reset to its default.

    Two worlds that differ only in fields that a stage does not use have the same stage, so a stage
    can be a cache key: when the assumed η changes, no clicks are simulated again.
    """
    others: dict[str, Any] = {
        **{name: p.default for name, p in PARAMETERS.items() if name not in names},
        **{name: () for name in CURVES if name not in names},
        **{field.name: field.default for field in FURTHER_FIELDS if field.name not in names},
    }
    # Fields at their default cannot make an invalid pair: ε₊ and ε₋ are always kept together.
    return settings.with_values(**others)


@dataclass(frozen=True, eq=False)
class ClickData:
    """What a method learns from: queries with their clicks, and others to choose C and tau on.

    corpus, log: to train on. validation, validation_log: to choose on. belief: what is believed of
    the users, and of the documents of ``corpus`` where a relevance is fitted; validation_belief: of
    those of ``validation``. seed: for a method that samples. scores: of the ranker that showed the
    documents of each part, where it is known.
    """

    corpus: Corpus
    log: ClickLog
    validation: Corpus
    validation_log: ClickLog
    belief: Belief
    seed: SeedSequence | int = 0
    scores: tuple[FloatArray, FloatArray] | None = None
    validation_belief: Belief | None = None

    @property
    def judging_belief(self) -> Belief:
        """What is believed where candidates are judged."""
        return self.belief if self.validation_belief is None else self.validation_belief


@dataclass(frozen=True)
class Method:
    """A ranker in the comparison: its key, name, a one-line description, and the settings it uses.

    It is made in one of four ways. estimator: weights the clicks, ``learner`` trains, and
    ``validated_by`` estimates the risk of the candidates on held-out clicks; None means the
    estimator itself, at the smallest candidate threshold. trainer: learns from clicks in its own
    way; grower: grows trees on them in its own way. ranker: does not learn from clicks and belongs
    to the world. knows_logger: whether it is given the exposure of each document under the logger's
    distribution over lists, instead of that in the log. measured: what swaps shown to the users of
    a world let it assume about them; None if it assumes what the settings say.
    """

    key: str
    label: str
    description: str
    fields: tuple[str, ...]
    estimator: Estimator | None = None
    learner: Learner = SVM
    validated_by: Estimator | None = None
    trainer: Callable[[ClickData], Selection] | None = None
    grower: Callable[[ClickData], TreeRanker] | None = None
    ranker: Callable[[World], LinearRanker] | None = None
    asked: bool = False
    knows_logger: bool = False
    measured: Callable[[SwapCounts], Belief] | None = None

    @property
    def learns_from_clicks(self) -> bool:
        """Whether it changes from one click log to the next."""
        return self.ranker is None

    @property
    def candidates(self) -> int:
        """The largest number of candidate thresholds in its training; 0 if nothing is trained."""
        if self.ranker is not None:
            return 0
        estimator = self.estimator
        if estimator is None:
            return 1
        ways = (estimator, estimator.instead)
        return max(len(way.clips) for way in ways if way is not None)


def _towers(join: str, *, position: bool = True) -> Callable[[ClickData], Selection]:
    """A trainer of two towers, or of that of relevance alone."""

    def train(data: ClickData) -> Selection:
        from ultr_core.learners.towers import JOINS, select_towers  # few comparisons have them

        return select_towers(
            data.corpus, data.log, data.validation, data.validation_log, JOINS[join],
            position=position,
        )  # fmt: skip

    return train


def _by_ratios(counts: SwapCounts) -> Belief:
    from ultr_core.lab.measured import ratio_belief  # few comparisons measure

    return ratio_belief(counts)


def _by_lines(counts: SwapCounts) -> Belief:
    from ultr_core.lab.measured import line_belief

    return line_belief(counts)


def _grow_by_position(data: ClickData) -> TreeRanker:
    from ultr_core.learners.trees_by_position import select_by_position

    return select_by_position(
        data.corpus, data.log, data.validation, data.validation_log, seed=data.seed
    )


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.key: method
        for method in (
            Method(
                "production",
                "Production",
                "The ranker that was running while the clicks were logged: a ranking SVM trained "
                "on the labels of about 1% of the training queries.",
                WORLD_FIELDS,
                ranker=lambda world: world.production.ranker,
            ),
            Method(
                "naive",
                "Naive",
                "Ranking SVM in which every click counts once.",
                LOG_FIELDS,
                ESTIMATORS["naive"],
            ),
            Method(
                "propensity",
                "Propensity-weighted",
                "The same ranking SVM; a click counts 1/p times, where p is the examination "
                "probability of its rank.",
                WEIGHTED_FIELDS,
                ESTIMATORS["ips"],
            ),
            Method(
                "swap-ratio",
                "Weighted by swap ratios",
                "Propensity-weighted; the propensities are the ratios from a swap experiment with "
                "the same users.",
                LOG_FIELDS,
                ESTIMATORS["ips"],
                asked=True,
                measured=_by_ratios,
            ),
            Method(
                "clipped",
                "Clipped",
                "The same ranking SVM with propensities raised to at least τ; τ and C are chosen "
                "on the validation clicks.",
                WEIGHTED_FIELDS,
                ESTIMATORS["clipped"],
            ),
            Method(
                "direct",
                "Direct",
                "The same ranking SVM, trained on relevance fitted to the clicks by least squares "
                "on the features and the logging ranker's score.",
                WEIGHTED_FIELDS,
                ESTIMATORS["direct"],
                asked=True,
            ),
            Method(
                "doubly-robust",
                "Doubly robust",
                "The fitted relevance, corrected by clicks that count at most 1/τ times; replaced "
                "by clipped weights if a test by rank rejects the fit.",
                WEIGHTED_FIELDS,
                ESTIMATORS["doubly-robust"],
                asked=True,
            ),
            Method(
                "affine",
                "Affine",
                "The same ranking SVM; a click has weight 1/α and an impression −β/α, where "
                "P(click) = α r + β at its rank.",
                WEIGHTED_FIELDS,
                ESTIMATORS["affine"],
                asked=True,
            ),
            Method(
                "affine-swaps",
                "Affine, by swaps",
                "Affine; α and β are measured up to a scale by a swap experiment with the same "
                "users, in two groups of documents.",
                LOG_FIELDS,
                ESTIMATORS["affine"],
                asked=True,
                measured=_by_lines,
            ),
            Method(
                "affine-doubly-robust",
                "Affine doubly robust",
                "Doubly robust, with α and β instead of examination.",
                WEIGHTED_FIELDS,
                ESTIMATORS["affine-doubly-robust"],
                asked=True,
            ),
            Method(
                "policy-aware",
                "Policy-aware",
                "The same ranking SVM; a click counts 1/ρ times, where ρ is the mean examination "
                "of its document over all presentations of the query.",
                WEIGHTED_FIELDS,
                ESTIMATORS["policy-aware"],
                asked=True,
            ),
            Method(
                "policy-aware-known",
                "Policy-aware, known ρ",
                "Policy-aware, with the exact ρ of the logger's distribution over lists, instead "
                "of the ρ of the lists in the log.",
                WEIGHTED_FIELDS,
                ESTIMATORS["policy-aware"],
                asked=True,
                knows_logger=True,
            ),
            Method(
                "hindsight",
                "Hindsight",
                "The same ranking SVM; a click counts 1/(p λʰ) times, where h is the number of "
                "clicks above it and λ the probability of continuing after a click.",
                WEIGHTED_FIELDS,
                ESTIMATORS["hindsight"],
                asked=True,
            ),
            Method(
                "hindsight-doubly-robust",
                "Hindsight doubly robust",
                "Doubly robust, with hindsight propensities and relevance fitted to the "
                "clicks that have no clicks above them.",
                WEIGHTED_FIELDS,
                ESTIMATORS["hindsight-doubly-robust"],
                asked=True,
            ),
            Method(
                "softmax",
                "Softmax",
                "The softmax loss over whole lists instead of pairs; a click counts 1/p times.",
                WEIGHTED_FIELDS,
                ESTIMATORS["ips"],
                SOFTMAX,
                asked=True,
            ),
            Method(
                "one-tower",
                "One tower",
                "Logistic regression of clicks on the features, as if every rank were examined.",
                LOG_FIELDS,
                trainer=_towers("additive", position=False),
                asked=True,
            ),
            Method(
                "two-towers-additive",
                "Two towers, additive",
                "The same regression with a number for each rank added to the log odds; it needs "
                "no propensities.",
                LOG_FIELDS,
                trainer=_towers("additive"),
                asked=True,
            ),
            Method(
                "two-towers-product",
                "Two towers, product",
                "Relevance and examination fitted to the clicks together; a click needs both.",
                LOG_FIELDS,
                trainer=_towers("product"),
                asked=True,
            ),
            Method(
                "trees-by-position",
                "Trees by position",
                "LightGBM's lambdarank with positions: trees and a number for each rank, fitted "
                "to the clicks together; it needs the package lightgbm, but no propensities.",
                LOG_FIELDS,
                grower=_grow_by_position,
                asked=True,
            ),
            Method(
                "skyline",
                "Full information (skyline)",
                "Ranking SVM trained on all training labels: the best linear ranker, which perfect "
                "feedback would give.",
                WORLD_FIELDS,
                ranker=lambda world: world.skyline,
            ),
        )
    }
)

TRAINED_METHODS = tuple(key for key, method in METHODS.items() if method.learns_from_clicks)
"""Keys of all methods that are trained on clicks."""

CLICK_METHODS = tuple(key for key in TRAINED_METHODS if not METHODS[key].asked)
"""Keys of the methods that a comparison trains by default."""

FED_METHODS = tuple(
    key
    for key in TRAINED_METHODS
    if METHODS[key].estimator is not None and METHODS[key].learner == SVM
)
"""Keys of the methods whose estimator can feed any learner."""


def _with_learner(method: Method, learner: Learner) -> Method:
    return replace(
        method,
        key=f"{method.key}-{learner.key}",
        label=f"{method.label}, {learner.label.lower()}",
        description=f"{method.label}, with the learner {learner.label}. {learner.words}",
        learner=learner,
        asked=True,
    )


LEARNER_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        made.key: made
        for key in FED_METHODS
        for learner in LEARNERS.values()
        if learner != SVM
        for made in [_with_learner(METHODS[key], learner)]
    }
)
"""The methods of the comparison with another learner, under keys such as propensity-logistic."""

LINEAR_METHODS: Mapping[str, Method] = MappingProxyType({**METHODS, **LEARNER_METHODS})
"""Every method that has a linear ranker, or grows trees in its own way."""


def method_of(estimator: Estimator, learner: Learner = SVM) -> Method:
    """The method that trains this learner on this estimator's weights.

    It is the one of the comparison where that has it. Any other is named after the two.
    """
    for method in METHODS.values():
        if (method.estimator, method.learner) == (estimator, learner):
            return method
    label = estimator.label if learner == SVM else f"{estimator.label}, {learner.label}"
    return Method(
        f"{estimator.key}-{learner.key}",
        label,
        f"{learner.label}; {estimator.counts}.",
        WEIGHTED_FIELDS if estimator.needs_curve else LOG_FIELDS,
        estimator,
        learner,
    )
