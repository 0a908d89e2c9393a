"""Risk estimated from a click log by two numbers a row, u for a click and v for an impression.

    R_hat(S) = (1 / N) sum over rows of rank(d | S) (u clicks + v impressions)

Naive: u = 1. Inverse propensity scoring (IPS): u = 1 / p with the examination probability of the
presented rank. These have v = 0; others of ``ESTIMATORS`` may count impressions as well.
Self-normalised (SNIPS): divided by the summed weight instead of the number of query draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ultr_core.corpus.ranking import query_of_document, real_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.estimator import Belief, Estimator
from ultr_core.propensity.row_numbers import Numbers, row_numbers
from ultr_core.propensity.weights import effective_sample_size
from ultr_core.risk.by_group import estimate_by_group
from ultr_core.risk.estimate import Estimate
from ultr_core.risk.inputs import MOST_RANKS, checked_places, rank_blocks
from ultr_core.risk.intervals import (
    LARGER,
    Ends,
    Sums,
    difference_ends,
    gamma_ends,
    no_ends,
    normal_ends,
    too_few_clicks,
)
from ultr_core.risk.rank_metrics import RANK, RankMetric
from ultr_core.users.click_log import ClickLog
from ultr_core.users.grouped_log import GroupedLog
from ultr_core.words import counted

FloatArray = NDArray[np.float64]

_HEAVY = 1_000
"""Clicked documents among which the heaviest contribution is sought: by weight and length of list,
so that the ranks of the others are not read once more."""


class RiskEstimates(NamedTuple):
    """Estimated risks of several rankers from one log.

    value, standard_error: float64 [rankers]; low, high: ends of 95% intervals, infinite where
    ``no_interval`` says why there is none; query_draws: N;
    effective_sample_size, largest_weight: of the click weights u, the same for every ranker.
    """

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    query_draws: int
    effective_sample_size: float
    largest_weight: float
    no_interval: str

    def estimate(self, ranker: int) -> Estimate:
        """One ranker's risk with its 95% interval."""
        return Estimate.between(
            float(self.value[ranker]),
            float(self.standard_error[ranker]),
            (float(self.low[ranker]), float(self.high[ranker])),
            self.query_draws,
            self.effective_sample_size,
            self.no_interval,
        )


def estimate_risk(
    log: ClickLog, ranks: ArrayLike, numbers: Numbers, *, metric: RankMetric = RANK
) -> Estimate:
    """Risk of one ranker, estimated from clicks; see `estimate_risks`.

    ranks [documents] under the ranker to be judged, numbers [rows of the log].
    """
    one = real_numbers(ranks, "Ranks")[None, ...]
    return estimate_risks(log, one, numbers, metric=metric).estimate(0)


def estimate_difference(log: ClickLog, differences: ArrayLike, numbers: Numbers) -> Estimate:
    """Risk of one ranker minus that of another; see `estimate_differences`.

    differences [documents] of their ranks, of any sign; numbers [rows of the log].
    """
    places = real_numbers(differences, "Differences of ranks")[None, ...]
    return estimate_differences(log, places, numbers).estimate(0)


def estimate_differences(log: ClickLog, differences: ArrayLike, numbers: Numbers) -> RiskEstimates:
    """Differences in risk between several pairs of rankers; risk is linear in the ranks.

    differences [pairs, documents] of their ranks, of any sign; numbers [rows of the log]. Intervals
    are `difference_ends` of the documents that the first ranker ranks lower and of those it ranks
    higher. Raises InputError if `estimate_risks` does.
    """
    places = places_of_rankers(differences, log.n_documents, least=-np.inf)
    return _estimates(log, places, SignedSums(log, weigh(log, [numbers]), len(places)))


def estimate_values(
    log: ClickLog, ranks: ArrayLike, numbers: Sequence[Numbers], pairs: ArrayLike
) -> list[tuple[FloatArray, RiskEstimates]]:
    """Risks of many rankers without their spread, and differences of a few, by several estimators.

    Returns, for each estimator, the values of `estimate_risks`, float64 [rankers], and
    `estimate_differences` of the pairs. They differ from those of `judgements` only by rounding,
    and take a quarter of the time.

    ranks [rankers, documents]; numbers: one for each estimator, as in `estimate_risks`; pairs
    [pairs, 2]: each names two of the rankers. Raises InputError if `estimate_risks` does.
    """
    places = places_of_rankers(ranks, log.n_documents)
    first, second = np.asarray(pairs).T
    apart = np.asfortranarray(places[first] - places[second])
    weighed = weigh(log, numbers)
    sums = SignedSums(log, weighed, len(apart))
    for block in rank_blocks(apart, log.query_offsets, MOST_RANKS // len(apart)):
        sums.add(*block)
    totals = np.zeros((len(weighed), len(places)))
    for queries, documents, block_ranks in rank_blocks(places, log.query_offsets):
        totals += sums.totals(queries, documents, block_ranks)
    return list(zip(totals / log.query_draws, sums.estimates(), strict=True))


def estimate_risks(
    log: ClickLog, ranks: ArrayLike, numbers: Numbers, *, metric: RankMetric = RANK
) -> RiskEstimates:
    """Risks of several rankers, estimated from clicks, with standard errors.

    R_hat(S) = (1 / N) sum over rows of rank(d | S) (u clicks + v impressions), with N the number of
    presentations, including those without clicks. u = 1 / q and v = 0 give equation (5) of
    Joachims, Swaminathan and Schnabel (2017); with another ``metric``, its gain replaces the rank,
    and intervals are those of `estimate_differences`.

    The standard error is sqrt(Var / N), where Var = N / (N - 1) (M2 - R_hat^2) and M2 estimates the
    second moment of one presentation's contribution X. With T_q the summed rank (u clicks + v
    impressions) of query q, drawn N_q times, and B_d, A_d the sums of u and u^2 over the
    clicks on d:

        M2 = (1 / N) sum_q [T_q^2 / N_q + sum_d rank(d)^2 (A_d - B_d^2 / N_q)],

    which is unbiased for every N_q >= 1 if each query has one presented ranking and the documents
    of a presentation are examined independently. A query drawn once contributes T_q^2. If
    documents move between ranks, M2 ignores the fact that two of them cannot move independently.

    Intervals are `gamma_ends`, or -+ 1.96 standard errors if impressions count (v other than 0),
    for which no coverage is stated. For a biased estimator, such as the clipped estimator,
    intervals are for its expectation.

    ranks [rankers, documents]; numbers [rows]: u and v, or propensities q for u = 1 / q and v = 0;
    u of unclicked rows does not matter. Raises InputError for clicks without a propensity, arrays
    whose shapes do not match or that contain values that are not finite, ranks below 1, fewer than
    two presentations, or a v other than 0 for a log of clicks only.

    The presented ranking and its reverse, judged from clicks on both documents; half of the users
    look at rank 2, so a click there has a weight of 2:

    >>> from ultr_core.users import PowerLaw, simulate_counts
    >>> log = simulate_counts([1.0, 0.5], [1, 2], query_offsets=[0, 2], query_draws=10_000, seed=0)
    >>> risks = estimate_risks(log, [[1, 2], [2, 1]], PowerLaw(1.0).at(log.rank))
    >>> bool(abs(risks.value[0] - 3) < 0.1 and abs(risks.value[1] - 3) < 0.1)
    True
    """
    places = places_of_rankers(ranks, log.n_documents)
    if metric is not RANK:
        return estimate_differences(log, metric.gain(places), numbers)
    return _estimates(log, places, WeighedSums(log, weigh(log, [numbers]), len(places)))


def _estimates(log: ClickLog, places: NDArray[Any], sums: WeighedSums) -> RiskEstimates:
    for queries, documents, block in rank_blocks(places, log.query_offsets):
        sums.add(queries, documents, block)
    return sums.estimates()[0]


def _with_ends(log: ClickLog, weighed: Weighed, sums: Sums, ends: Ends) -> RiskEstimates:
    """Estimates with these ends, unless impressions count or clicks are too few."""
    if weighed.counts_impressions:
        ends = normal_ends(sums.value, sums.error)
    if weighed.no_interval:
        ends = no_ends(sums.value)
    return RiskEstimates(
        sums.value,
        sums.error,
        *ends,
        log.query_draws,
        weighed.size,
        weighed.largest,
        weighed.no_interval,
    )


def places_of_rankers(ranks: ArrayLike, documents: int, *, least: float = 1) -> NDArray[Any]:
    """Ranks [rankers, documents], of the number type given; raises InputError for another shape."""
    places = checked_places(ranks, documents, least=least)
    if places.ndim != 2:
        raise InputError(f"Ranks must have axes [rankers, documents], not shape {places.shape}.")
    return places


def estimate_mean_rank(log: ClickLog, ranks: ArrayLike, numbers: Numbers) -> Estimate:
    """Mean rank of a relevant document, estimated from clicks with self-normalised weights (SNIPS).

    (sum over clicks of rank(d | S) / q) / (sum over clicks of 1 / q), with u clicks + v impressions
    instead of clicks / q for any other estimator: the number of presentations and any common factor
    of the propensities cancel, so its scale is not that of the risk but that of one rank, from 1 to
    the length of the longest list. Swaminathan and Joachims (NIPS 2015). It is a ratio and
    therefore slightly biased, by about 1 / N.

    Standard error and interval come from the delta method: those of the estimated risk with rank -
    value instead of the rank, divided by the mean summed weight of a presentation.

    ranks [documents] under the ranker to be judged, numbers [rows of the log]. Raises InputError if
    `estimate_risks` does, the log has no clicks, or the summed weight is not above 0.
    """
    places = checked_places(ranks, log.n_documents)
    if places.ndim != 1:
        raise InputError(f"Ranks must have one axis [documents], not shape {places.shape}.")
    weighed = weigh(log, [numbers])
    weight = weighed[0].weight
    summed = float(weight.sum())
    if log.total_clicks == 0:
        raise InputError(
            f"There are no clicks in {counted(log.query_draws, 'presentation')}; a self-normalised "
            "estimate needs at least one click."
        )
    if not summed > 0:
        raise InputError(
            f"The weights in the log add up to {summed:g}; a self-normalised estimate needs a sum "
            "above 0.",
            "sum_of_weights",
        )
    value = float(places.astype(np.float64) @ weight) / summed
    centred = _estimates(log, places[None] - value, SignedSums(log, weighed, 1))
    scale = log.query_draws / summed
    low, high, error = (
        float(each[0]) * scale for each in (centred.low, centred.high, centred.standard_error)
    )
    return Estimate.between(
        value,
        error,
        (value + low, value + high),
        log.query_draws,
        centred.effective_sample_size,
        centred.no_interval,
    )


def estimate_by(estimator: Estimator, log: ClickLog, ranks: ArrayLike, belief: Belief) -> Estimate:
    """A ranker's risk, estimated by ``estimator``, or a mean rank if the estimator is normalised.

    ranks [documents] under the ranker to be judged; belief: what the estimator is given. For
    a `GroupedLog`, the interval comes from groups of sessions. Raises InputError as
    `estimate_risk`, `estimate_mean_rank` and `estimates_by_group` do.
    """
    numbers = estimator.weigh(log, belief)
    if isinstance(log, GroupedLog):
        return estimate_by_group(log, ranks, numbers, normalised=estimator.normalised)
    estimate = estimate_mean_rank if estimator.normalised else estimate_risk
    return estimate(log, ranks, numbers)


def difference_by(
    estimator: Estimator, log: ClickLog, differences: ArrayLike, belief: Belief
) -> Estimate:
    """Estimated risk of one ranker minus that of another; ``estimator`` must not be normalised.

    differences [documents] of their ranks. For a `GroupedLog`, the interval comes from groups of
    sessions. Raises InputError if `estimate_difference` does.
    """
    numbers = estimator.weigh(log, belief)
    if isinstance(log, GroupedLog):
        return estimate_by_group(log, differences, numbers)
    return estimate_difference(log, differences, numbers)


class Weighed(NamedTuple):
    """A log by document: u clicks + v impressions, A_d - B_d^2 / N_q, and draws N_q.

    size, largest: effective sample size and largest weight of the clicks. heavy: the clicked
    documents whose clicks can contribute most, and heaviest: the largest weight of a click on each
    of them. no_interval: as `too_few_clicks` says.
    """

    size: float
    largest: float
    counts_impressions: bool
    no_interval: str
    weight: FloatArray
    heavy: NDArray[np.intp]
    heaviest: FloatArray
    spread: FloatArray
    drawn: NDArray[np.int64]


class WeighedSums:
    """The sums of `estimate_risks` for several estimators, over blocks of queries in order.

    Ranks are read once however many estimators there are, and only those of documents that count:
    the others add 0. What one estimator gives is to the last digit what it gives alone.

    weighed: the log as one estimator or more weighs it (`weigh`); rankers: how many are judged.
    """

    def __init__(self, log: ClickLog, weighed: Sequence[Weighed], rankers: int) -> None:
        self._log, self._weighed = log, weighed
        counting = np.logical_or.reduce(
            [log.clicks_per_document > 0, *(each.weight != 0 for each in weighed)]
        )
        self._counting = np.flatnonzero(counting).astype(np.int32)
        self._starts = np.searchsorted(self._counting, log.query_offsets).astype(np.int32)
        self._total, self._between, self._within, self._largest = np.zeros(
            (4, len(weighed), rankers)
        )

    def add(self, queries: slice, documents: slice, ranks: FloatArray) -> None:
        """Count a block of queries, float64 [documents, rankers]; its ranks are squared in place.

        Blocks are those of `rank_blocks`.
        """
        rows = self._rows(queries)
        self._count(queries, documents, rows - np.int32(documents.start), ranks)

    def totals(self, queries: slice, documents: slice, ranks: FloatArray) -> FloatArray:
        """The weighted sums of the ranks of a block, float64 [estimators, rankers]."""
        rows = self._rows(queries)
        weights = np.array([weighed.weight[rows] for weighed in self._weighed])
        return _summed(weights, ranks, rows - np.int32(documents.start))

    def _rows(self, queries: slice) -> NDArray[np.int32]:
        """The documents of these queries that count."""
        return self._counting[self._starts[queries.start] : self._starts[queries.stop]]

    def _count(
        self, queries: slice, documents: slice, columns: NDArray[np.int32], ranks: FloatArray
    ) -> None:
        """Count the documents that do, whose ranks are ``ranks[columns]``."""
        rows, many = self._rows(queries), len(self._weighed)
        starts = self._starts[queries.start : queries.stop + 1]
        ends = (starts[1:] - starts[0]) + rows.size * np.arange(many, dtype=np.int32)[:, None]
        # One product for all estimators: what it costs besides adding up is more than that.
        weights = np.concatenate([weighed.weight[rows] for weighed in self._weighed])
        table = (weights, np.tile(columns, many), np.append(np.int32(0), ends))
        sums = csr_array(table, shape=(ends.size, len(ranks))) @ ranks
        for number, weighed in enumerate(self._weighed):
            of_query = sums[number * ends.shape[1] : (number + 1) * ends.shape[1]]
            self._keep_largest(number, of_query / weighed.drawn[queries, None])
            first, last = np.searchsorted(weighed.heavy, (documents.start, documents.stop))
            heavy = columns[np.searchsorted(rows, weighed.heavy[first:last])]
            self._keep_largest(number, ranks[heavy] * weighed.heaviest[first:last, None])
        ranks *= ranks
        self._total += _summed(np.ones(ends.shape), sums)
        self._add_between(np.array([1.0 / each.drawn[queries] for each in self._weighed]), sums)
        spread = np.array([weighed.spread[rows] for weighed in self._weighed])
        self._within += _summed(spread, ranks, columns)

    def _add_between(self, of_draws: FloatArray, sums: FloatArray) -> None:
        """Count the squares of the sums of queries, which are overwritten.

        of_draws [estimators, queries], sums [estimators x queries, rankers].
        """
        sums *= sums
        self._between += _summed(of_draws, sums)

    def _keep_largest(self, number: int, contributions: FloatArray) -> None:
        """Keep what is larger than anything so far, of contributions [..., rankers]."""
        largest = self._largest[number]
        np.maximum(largest, contributions.max(axis=0, initial=0.0), out=largest)

    def estimates(self) -> list[RiskEstimates]:
        """The estimated risks by each of the estimators, once all blocks are counted."""
        return [
            _with_ends(self._log, weighed, sums, gamma_ends(sums))
            for weighed, sums in zip(self._weighed, self._sums(), strict=True)
        ]

    def _sums(self) -> list[Sums]:
        """Value, standard error and the largest draw to be expected, for each estimator.

        The largest draw is ``LARGER`` times the heaviest click or, where it is more, the mean draw
        of the query with the largest: a log of counts does not say which clicks came together.
        """
        draws = self._log.query_draws
        return [
            Sums(total / draws, self._error(total / draws, between + within), LARGER * most / draws)
            for total, between, within, most in zip(
                self._total, self._between, self._within, self._largest, strict=True
            )
        ]

    def _error(self, value: FloatArray, squares: FloatArray) -> FloatArray:
        """Standard errors of values with these summed squares of draws, float64 [rankers]."""
        draws = self._log.query_draws
        variance = np.maximum(squares / draws - value**2, 0.0)
        error: FloatArray = np.sqrt(variance / (draws - 1))
        return error


class SignedSums(WeighedSums):
    """`WeighedSums` of numbers of either sign, such as differences of ranks, in two parts.

    Kept are the part above 0, the part below 0, and the sum over queries of their difference
    squared: no document is in both, so that the rest of the variance adds up.
    """

    def __init__(self, log: ClickLog, weighed: Sequence[Weighed], rankers: int) -> None:
        super().__init__(log, weighed, 2 * rankers)
        self._apart = np.zeros((len(weighed), rankers))

    def add(
        self, queries: slice, documents: slice, ranks: FloatArray, against: int | None = None
    ) -> None:
        """Count a block of queries, float64 [documents, rankers], minus those of one ranker.

        The block stays as it is.
        """
        counted = ranks[self._rows(queries) - documents.start]
        if against is not None:
            counted -= counted[:, [against]]
        parts = np.empty((len(counted), 2 * ranks.shape[1]))
        above, below = np.hsplit(parts, 2)
        np.maximum(counted, 0.0, out=above)
        np.subtract(above, counted, out=below)
        self._count(queries, documents, np.arange(len(parts), dtype=np.int32), parts)

    def _add_between(self, of_draws: FloatArray, sums: FloatArray) -> None:
        above, below = np.hsplit(sums, 2)
        self._apart += _summed(of_draws, np.square(above - below))
        super()._add_between(of_draws, sums)

    def estimates(self) -> list[RiskEstimates]:
        """The estimated differences by each of the estimators, with `difference_ends`."""
        found = []
        for weighed, sums, apart, within in zip(
            self._weighed, self._sums(), self._apart, self._within, strict=True
        ):
            above, below = map(Sums._make, zip(*(np.hsplit(each, 2) for each in sums), strict=True))
            value = above.value - below.value
            error = self._error(value, apart + np.add(*np.hsplit(within, 2)))
            ends = difference_ends(above, below, error)
            found.append(_with_ends(self._log, weighed, Sums(value, error, above.largest), ends))
        return found


def _summed(
    weights: FloatArray, rows: FloatArray, which: NDArray[np.int32] | None = None
) -> FloatArray:
    """Each of the weights [estimators, n] @ rows[which], or @ its n of all the rows.

    They are added up row after row: a column's sum is the same whatever is beside. A dense product
    adds in an order that depends on the number of columns.
    """
    many, size = weights.shape
    columns = np.arange(weights.size, dtype=np.int32) if which is None else np.tile(which, many)
    ends = size * np.arange(many + 1, dtype=np.int32)
    table = csr_array((weights.ravel(), columns, ends), shape=(many, len(rows)))
    sums: FloatArray = np.asarray(table @ rows)
    return sums


def weigh(log: ClickLog, numbers: Sequence[Numbers]) -> list[Weighed]:
    """The log by document as each of several estimators weighs it; raises as `estimate_risks`."""
    return [_weighed(log, of_rows) for of_rows in numbers]


def _dependent(log: ClickLog) -> str:
    """Why a log by clicks above has no interval: its standard error takes clicks as independent.

    A context that was given changes no covariance: by its own curve, what a document counts on
    average is the same in every context.
    """
    if log.context_is_given or not log.context.any():
        return ""
    return (
        "no interval: in a log split by the number of clicks above, clicks in one presentation "
        "depend on each other; give a GroupedLog of groups of presentations"
    )


def _weighed(log: ClickLog, numbers: Numbers) -> Weighed:
    of_rows = row_numbers(numbers).on_log(log)
    if log.query_draws < 2:
        raise InputError("A standard error needs at least two presentations, but the log has one.")
    by_row = log.clicks * of_rows.u
    size = effective_sample_size(by_row, of_rows.u)
    clicked = log.sum_by_document(by_row)
    squares = log.sum_by_document(log.clicks * np.square(of_rows.u))
    drawn = np.maximum(log.draws, 1)
    spread = squares - clicked**2 / drawn[query_of_document(log.query_offsets)]
    weight = clicked
    if of_rows.counts_impressions:
        weight = clicked + log.sum_by_document(log.impressions * of_rows.v)
    heaviest = np.zeros(log.n_documents)
    np.maximum.at(heaviest, log.document, of_rows.u)
    heavy = np.arange(log.n_documents)
    if heavy.size > _HEAVY:
        sizes = np.diff(log.query_offsets)
        most = heaviest * np.repeat(sizes, sizes)
        heavy = np.sort(np.argpartition(-most, _HEAVY)[:_HEAVY])
    heavy = heavy[heaviest[heavy] > 0]
    return Weighed(
        size,
        float(of_rows.u.max(initial=0)),
        of_rows.counts_impressions,
        _dependent(log) or too_few_clicks(log, numbers),
        weight,
        heavy,
        heaviest[heavy],
        spread,
        drawn,
    )
