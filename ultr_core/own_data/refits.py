"""Intervals of estimates with a fitted relevance: a jackknife over queries that fits it again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ultr_core.corpus.ranking import query_of_document
from ultr_core.learners.relevance import Shown, relevance_without
from ultr_core.propensity import Belief, Estimator
from ultr_core.risk.estimate import UPPER_TAIL, Estimate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GROUPS = 25
"""Groups of queries; fewer where fewer queries were drawn."""


@dataclass(frozen=True, eq=False)
class Refits:
    """The estimator once more without each group of queries, its relevance fitted to the others.

    shown: the log, with the corpus. estimator, belief: what judges; ridge: of its fit. group
    [queries]: of each, dealt with a seed.
    """

    shown: Shown
    estimator: Estimator
    belief: Belief
    ridge: float
    group: IntArray

    @classmethod
    def dealt(
        cls, shown: Shown, estimator: Estimator, belief: Belief, ridge: float, seed: int
    ) -> Refits:
        """Deal the queries that were drawn into groups."""
        drawn = np.flatnonzero(shown.log.draws)
        group = np.zeros(shown.log.draws.size, np.int64)
        order = np.random.default_rng(seed).permutation(drawn)
        group[order] = np.arange(drawn.size) % min(GROUPS, max(drawn.size, 2))
        return cls(shown, estimator, belief, ridge, group)

    def interval(self, found: Estimate, places: FloatArray) -> Estimate:
        """The estimate with the jackknife's standard error, ± Student's t.

        value_g is the estimate from the other groups, places [documents] ranks or differences:

            standard_error^2 = (G - 1) / G sum_g (value_g - mean)^2

        An estimate without an interval keeps to that. Source: Efron and Tibshirani (1993), chapter
        11; the fit is a part of the estimate, so that its noise is in it.
        """
        if found.no_interval:
            return found
        values = self._others @ places
        groups = values.size
        error = float(np.sqrt((groups - 1) / groups * np.square(values - values.mean()).sum()))
        reach = float(stdtrit(groups - 1, UPPER_TAIL)) * error
        ends = found.value - reach, found.value + reach
        return Estimate.between(
            found.value, error, ends, found.n, found.effective_sample_size, found.no_interval
        )

    @cached_property
    def _others(self) -> FloatArray:
        """What each document adds to the estimate from the other groups, [groups, documents]."""
        log = self.shown.log
        of_row = self.group[query_of_document(log.query_offsets)][log.document]
        drawn = np.bincount(self.group, log.draws)
        found = np.empty((drawn.size, log.n_documents))
        fits = relevance_without(self.shown, self.belief, self.group, self.ridge)
        for number, relevance in enumerate(fits):
            numbers = self.estimator.weigh(log, replace(self.belief, relevance=relevance)).on_log(
                log
            )
            counts = log.clicks * numbers.u + log.impressions * numbers.v
            total = log.sum_by_document(np.where(of_row == number, 0.0, counts))
            found[number] = total / (log.query_draws - drawn[number])
        return found
