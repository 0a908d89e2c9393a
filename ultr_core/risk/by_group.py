"""Risk of rankers with an interval by session: a jackknife that leaves out one group at a time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.row_numbers import Numbers, row_numbers
from ultr_core.propensity.weights import effective_sample_size
from ultr_core.risk.estimate import Estimate
from ultr_core.risk.inputs import checked_places
from ultr_core.users.grouped_log import GroupedLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

_BLOCK = 16
"""Rankers whose ranks are read at once."""


class GroupEstimates(NamedTuple):
    """Estimates for several rankers, with standard errors by group of sessions.

    value, standard_error: float64 [rankers]. groups: G. query_draws, effective_sample_size: of the
    log, the same for every ranker.
    """

    value: FloatArray
    standard_error: FloatArray
    groups: int
    query_draws: int
    effective_sample_size: float

    @property
    def quantile(self) -> float:
        """Standard errors from the middle of a 95% interval to its end: t with G - 1 degrees."""
        return float(stdtrit(self.groups - 1, 0.975))

    @property
    def low(self) -> FloatArray:
        """Lower ends of the 95% intervals, float64 [rankers]."""
        return self.value - self.quantile * self.standard_error

    @property
    def high(self) -> FloatArray:
        """Upper ends of the 95% intervals, float64 [rankers]."""
        return self.value + self.quantile * self.standard_error

    def estimate(self, ranker: int) -> Estimate:
        """One ranker's value with its 95% interval."""
        return Estimate.symmetric(
            float(self.value[ranker]),
            float(self.standard_error[ranker]),
            self.quantile,
            self.query_draws,
            self.effective_sample_size,
        )


def estimates_by_group(
    log: GroupedLog, ranks: ArrayLike, numbers: Numbers, *, normalised: bool = False
) -> GroupEstimates:
    """Estimates for several rankers by a delete-one-group jackknife over groups of sessions.

    With A_g the sum over the rows of group g of rank(d | S) (u clicks + v impressions), and B_g the
    query draws of the group, or, where the estimator is normalised, its summed
    u clicks + v impressions:

        value = A / B,   A = sum_g A_g,   B = sum_g B_g
        value_g = (A - A_g) / (B - B_g)
        standard_error^2 = (G - 1) / G sum_g (value_g - mean value_g)^2

    and the interval is value -+ t standard errors, Student's t with G - 1 degrees of freedom (Efron
    and Tibshirani, 1993, chapter 11, for groups). Nothing is assumed of the rows of one session,
    only that sessions are independent. Where each presentation is a group, each query was drawn
    once and v = 0, the standard error is that of `estimate_risks`.

    ranks [rankers, documents] of any sign, so that differences of two rankers' ranks give their
    difference in value; numbers [rows] as in `estimate_risks`. Raises InputError as that does, and
    where the sum B without some group is not above 0.

    Measured coverage of its 95% intervals: the table in ``scripts/session_intervals.py``.
    """
    places = checked_places(real_numbers(ranks, "Ranks"), log.n_documents, least=-np.inf)
    if places.ndim != 2:
        raise InputError(f"Ranks must have axes [rankers, documents], not shape {places.shape}.")
    of_rows, groups = row_numbers(numbers).on_log(log), log.by_group
    weight = groups.clicks * of_rows.u[groups.row]
    if of_rows.counts_impressions:
        weight = weight + groups.impressions * of_rows.v[groups.row]
    counting = weight != 0
    cells = groups.group[counting], log.document[groups.row[counting]]
    by_document = csr_array((weight[counting], cells), shape=(groups.number, log.n_documents))
    upper = np.hstack(
        [
            by_document @ places[start : start + _BLOCK].T.astype(np.float64)
            for start in range(0, len(places), _BLOCK)
        ]
    )
    lower = groups.draws
    if normalised:
        lower = np.asarray(by_document.sum(axis=1), np.float64).ravel()
    value, error = _jackknife(upper, lower)
    size = effective_sample_size(log.clicks * of_rows.u, of_rows.u)
    return GroupEstimates(value, error, groups.number, log.query_draws, size)


def estimate_by_group(
    log: GroupedLog, ranks: ArrayLike, numbers: Numbers, *, normalised: bool = False
) -> Estimate:
    """`estimates_by_group` for one ranker: ranks, or differences of ranks, [documents]."""
    places = real_numbers(ranks, "Ranks")[None, ...]
    return estimates_by_group(log, places, numbers, normalised=normalised).estimate(0)


def _jackknife(upper: FloatArray, lower: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratio of sums and its standard error [rankers]; upper [groups, rankers], lower [groups]."""
    groups = lower.size
    left = lower.sum() - lower
    if not (lower.sum() > 0 and (left > 0).all()):
        raise InputError(
            f"One of the {counted(groups, 'group')} of sessions holds all the weight of the log's "
            "clicks, so there is no interval by session; more sessions with clicks are needed.",
            "sum_of_weights",
        )
    total = upper.sum(axis=0)
    without = (total - upper) / left[:, None]
    spread = np.square(without - without.mean(axis=0)).sum(axis=0)
    return total / lower.sum(), math.sqrt((groups - 1) / groups) * np.sqrt(spread)
