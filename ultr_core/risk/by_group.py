"""Risk of rankers with an interval by session: a jackknife that leaves out one group at a time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.row_numbers import Numbers, row_numbers
from ultr_core.propensity.weights import effective_sample_size
from ultr_core.risk.estimate import NORMAL_QUANTILE, UPPER_TAIL, Estimate
from ultr_core.risk.inputs import checked_places
from ultr_core.risk.intervals import (
    Ends,
    Sums,
    difference_ends,
    no_ends,
    normal_ends,
    too_few_clicks,
)
from ultr_core.users.grouped_log import GroupedLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

_BLOCK = 16
"""Rankers whose ranks are read at once."""

FEWEST_GROUPS = 50
"""Groups of sessions below which there is no interval."""


class GroupEstimates(NamedTuple):
    """Estimates for several rankers, with standard errors by group of sessions.

    value, standard_error: float64 [rankers]; low, high: ends of 95% intervals, infinite where
    ``no_interval`` says why there is none. groups: G. query_draws, effective_sample_size: for the
    log, the same for every ranker.
    """

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    groups: int
    query_draws: int
    effective_sample_size: float
    no_interval: str

    def estimate(self, ranker: int) -> Estimate:
        """One ranker's value with its 95% interval."""
        return Estimate.between(
            float(self.value[ranker]),
            float(self.standard_error[ranker]),
            (float(self.low[ranker]), float(self.high[ranker])),
            self.query_draws,
            self.effective_sample_size,
            self.no_interval,
        )


def estimates_by_group(
    log: GroupedLog, ranks: ArrayLike, numbers: Numbers, *, normalised: bool = False
) -> GroupEstimates:
    """Estimates for several rankers by a delete-one-group jackknife over groups of sessions.

    With A_g the sum over the rows in group g of rank(d | S) (u clicks + v impressions), and B_g its
    number of presentations or, if the estimator is normalised, its sum of u clicks + v impressions:

        value = A / B,   A = sum_g A_g,   B = sum_g B_g
        value_g = (A - A_g) / (B - B_g)
        standard_error^2 = (G - 1) / G sum_g (value_g - mean value_g)^2

    (Efron and Tibshirani, 1993, chapter 11, for groups). Nothing is assumed about the rows in one
    session, only that sessions are independent. If each presentation is a group, each query was
    drawn once and v = 0, the standard error is that of `estimate_risks`.

    Intervals are the `difference_ends` of two sums, over ranks above 0 (for a normalised estimator:
    above its value) and over the others, where the largest draw is the largest excess of a group
    over the mean; their distances from the value are stretched by t / 1.96, where t is Student's t
    with G - 1 degrees of freedom. If impressions count (v other than 0), intervals are value
    -+ t standard errors. There is no interval if there are too few clicks or fewer than
    ``FEWEST_GROUPS`` groups.

    ranks [rankers, documents] of any sign, so that the differences between two rankers' ranks give
    the rankers' difference in value; numbers [rows] as in `estimate_risks`. Raises InputError if
    `estimate_risks` does, or if the sum B without some group is not above 0.

    Measured coverage of its 95% intervals: ``docs/intervals.md``.
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
    lower = groups.draws
    if normalised:
        lower = np.asarray(by_document.sum(axis=1), np.float64).ravel()
    value, error = _jackknife(_upper(by_document, places), lower)
    size = effective_sample_size(log.clicks * of_rows.u, of_rows.u)
    quantile = float(stdtrit(groups.number - 1, UPPER_TAIL))
    no_interval = _too_few_groups(groups.number) or too_few_clicks(log, numbers)
    if no_interval:
        ends = no_ends(value)
    elif of_rows.counts_impressions:
        ends = normal_ends(value, error, quantile)
    else:
        scale = float(lower.sum() / groups.draws.sum())
        centred = places - value[:, None] if normalised else places
        low, high = _distances(by_document, centred, groups.draws, error * scale)
        stretch = quantile / NORMAL_QUANTILE / scale
        ends = value - low * stretch, value + high * stretch
    return GroupEstimates(value, error, *ends, groups.number, log.query_draws, size, no_interval)


def estimate_by_group(
    log: GroupedLog, ranks: ArrayLike, numbers: Numbers, *, normalised: bool = False
) -> Estimate:
    """`estimates_by_group` for one ranker: ranks, or differences of ranks, [documents]."""
    places = real_numbers(ranks, "Ranks")[None, ...]
    return estimates_by_group(log, places, numbers, normalised=normalised).estimate(0)


def _too_few_groups(groups: int) -> str:
    if groups >= FEWEST_GROUPS:
        return ""
    return (
        f"no interval: {counted(groups, 'group')} of sessions "
        f"{'is' if groups == 1 else 'are'} too few; {FEWEST_GROUPS} are needed"
    )


def _upper(by_document: csr_array, places: NDArray[Any]) -> FloatArray:
    """What each group adds, float64 [groups, rankers]."""
    return np.hstack(
        [
            by_document @ places[start : start + _BLOCK].T.astype(np.float64)
            for start in range(0, len(places), _BLOCK)
        ]
    )


def _distances(
    by_document: csr_array, places: NDArray[Any], draws: FloatArray, error: FloatArray
) -> Ends:
    """Distances from the sum of each ranker to the ends of its interval, per query draw."""
    parts = []
    for side in (places, -places):
        upper = _upper(by_document, np.maximum(side, 0.0))
        value, spread = _jackknife(upper, draws)
        largest = (upper - draws[:, None] * value).max(axis=0) / draws.sum()
        parts.append(Sums(value, spread, largest))
    above, below = parts
    low, high = difference_ends(above, below, error)
    value = above.value - below.value
    return value - low, high - value


def _jackknife(upper: FloatArray, lower: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ratio of sums and its standard error [rankers]; upper [groups, rankers], lower [groups]."""
    groups = lower.size
    left = lower.sum() - lower
    if not (lower.sum() > 0 and (left > 0).all()):
        raise InputError(
            f"One of the {counted(groups, 'group')} of sessions has all the weight of the log's "
            "clicks, so there is no interval by session; collect more sessions with clicks.",
            "sum_of_weights",
        )
    total = upper.sum(axis=0)
    without = (total - upper) / left[:, None]
    spread = np.square(without - without.mean(axis=0)).sum(axis=0)
    return total / lower.sum(), math.sqrt((groups - 1) / groups) * np.sqrt(spread)
