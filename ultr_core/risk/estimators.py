"""Risk estimated from clicks: naive, propensity-weighted and clipped are one formula.

Naive: propensities 1. Inverse propensity scoring (IPS): the examination probability of the
presented rank. Clipped: ``clipped_propensities`` of these. Self-normalised (SNIPS): divided by the
summed weight instead of the number of query draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ultr_core.errors import InputError
from ultr_core.feedback.click_log import ClickLog
from ultr_core.propensity.weights import effective_sample_size, inverse_propensities
from ultr_core.ranking import query_of_document, real_numbers
from ultr_core.risk.blocks import rank_blocks
from ultr_core.risk.checks import checked_places
from ultr_core.risk.estimate import NORMAL_QUANTILE, Estimate

FloatArray = NDArray[np.float64]


class RiskEstimates(NamedTuple):
    """Estimated risks of several rankers from one log.

    value, standard_error: float64 [rankers]; query_draws: N;
    effective_sample_size, largest_weight: of the click weights 1 / q, the same for every ranker.
    """

    value: FloatArray
    standard_error: FloatArray
    query_draws: int
    effective_sample_size: float
    largest_weight: float

    @property
    def low(self) -> FloatArray:
        """Lower ends of the 95 % intervals, float64 [rankers]."""
        return self.value - NORMAL_QUANTILE * self.standard_error

    @property
    def high(self) -> FloatArray:
        """Upper ends of the 95 % intervals, float64 [rankers]."""
        return self.value + NORMAL_QUANTILE * self.standard_error

    def estimate(self, ranker: int) -> Estimate:
        """One ranker's risk with its 95 % interval."""
        return Estimate.normal(
            float(self.value[ranker]),
            float(self.standard_error[ranker]),
            self.query_draws,
            self.effective_sample_size,
        )


def estimate_risk(log: ClickLog, ranks: ArrayLike, propensities: ArrayLike) -> Estimate:
    """Risk of one ranker, estimated from clicks; see `estimate_risks`.

    ranks [documents] under the ranker to be judged, propensities q [rows of the log].
    """
    return estimate_risks(log, real_numbers(ranks, "Ranks")[None, ...], propensities).estimate(0)


def estimate_risks(log: ClickLog, ranks: ArrayLike, propensities: ArrayLike) -> RiskEstimates:
    """Risks of several rankers, estimated from clicks, with standard errors.

    R_hat(S) = (1 / N) sum over clicks of rank(d | S) / q, equation (5) of Joachims, Swaminathan
    and Schnabel (2017), with N the number of query draws, those without clicks included.

    Standard error sqrt(Var / N), where Var = N / (N - 1) (M2 - R_hat^2) and M2 estimates the second
    moment of one draw's contribution X. With T_q the summed weight rank / q of the clicks of
    query q, drawn N_q times, and B_d, A_d the sums over the clicks of d of 1 / q and 1 / q^2:

        M2 = (1 / N) sum_q [T_q^2 / N_q + sum_d rank(d)^2 (A_d - B_d^2 / N_q)],

    which is unbiased for every N_q >= 1 if each query has one presented ranking and the documents
    of a draw are examined independently. A query drawn once contributes its own square. Where
    documents move between ranks it neglects that two of them cannot move independently.

    ranks [rankers, documents], propensities q [rows]; those of unclicked rows do not matter.
    Raises InputError for clicks without propensity, arrays that do not fit or hold what is no
    finite number, or fewer than two query draws.

    The presented ranking and its reverse, judged from clicks on both documents; the click on rank
    2, which half of the users look at, weighs two:

    >>> from ultr_core.feedback import PowerLaw, simulate_counts
    >>> log = simulate_counts([1.0, 0.5], [1, 2], query_offsets=[0, 2], query_draws=10_000, seed=0)
    >>> risks = estimate_risks(log, [[1, 2], [2, 1]], PowerLaw(1.0).at(log.rank))
    >>> bool(abs(risks.value[0] - 3) < 0.1 and abs(risks.value[1] - 3) < 0.1)
    True
    """
    places = checked_places(ranks, log.n_documents)
    if places.ndim != 2:
        raise InputError(f"Ranks must have axes [rankers, documents], not shape {places.shape}.")
    clicks = _weighed(log, propensities)
    value, error = clicks.means_and_errors(places)
    return RiskEstimates(value, error, log.query_draws, clicks.size, clicks.largest)


def estimate_mean_rank(log: ClickLog, ranks: ArrayLike, propensities: ArrayLike) -> Estimate:
    """Mean rank of a relevant document, estimated from clicks by self-normalised weights (SNIPS).

    (sum over clicks of rank(d | S) / q) / (sum over clicks of 1 / q): the number of query draws
    and any common factor of the propensities cancel out, so that it does not have the scale of
    the risk but that of one rank, from 1 to the longest list. Swaminathan and Joachims (NIPS
    2015). It is a ratio and slightly biased, by about 1 / N.

    Standard error by the delta method: that of the estimated risk with rank - value in place of
    the rank, divided by the mean summed weight of a draw.

    ranks [documents] under the ranker to be judged, propensities q [rows of the log]. Raises
    InputError as `estimate_risks` does, and for a log without clicks.
    """
    places = checked_places(ranks, log.n_documents)
    if places.ndim != 1:
        raise InputError(f"Ranks must have one axis [documents], not shape {places.shape}.")
    clicks = _weighed(log, propensities)
    summed = float(clicks.weight.sum())
    if summed == 0:
        raise InputError(
            f"There is no click in {log.query_draws} query draws; a self-normalised estimate needs "
            "at least one."
        )
    value = float(places.astype(np.float64) @ clicks.weight) / summed
    error = float(clicks.means_and_errors(places[None] - value)[1][0])
    error *= log.query_draws / summed
    return Estimate.normal(value, error, log.query_draws, clicks.size)


class _Weighed(NamedTuple):
    """Clicks by document: B_d and A_d - B_d^2 / N_q of `estimate_risks`, draws N_q and N.

    size, largest: effective sample size and largest weight of the clicks.
    """

    size: float
    largest: float
    weight: FloatArray
    spread: FloatArray
    drawn: NDArray[np.int64]
    offsets: NDArray[np.int64]
    draws: int

    def means_and_errors(self, places: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
        """Mean over draws of the summed rank x weight, and its standard error: both [rankers]."""
        total, within, between = np.zeros((3, places.shape[0]))
        for queries, documents, ranks in rank_blocks(places, self.offsets):
            of_query = self._by_query(queries, documents) @ ranks
            total += _summed(np.ones(len(of_query)), of_query)
            of_query *= of_query
            between += _summed(1.0 / self.drawn[queries], of_query)
            ranks *= ranks
            within += _summed(self.spread[documents], ranks)
        value = total / self.draws
        variance = np.maximum((between + within) / self.draws - value**2, 0.0)
        return value, np.sqrt(variance / (self.draws - 1))

    def _by_query(self, queries: slice, documents: slice) -> csr_array:
        """The weights of a block as a matrix [queries, documents]."""
        starts = self.offsets[queries.start : queries.stop + 1] - documents.start
        weight = self.weight[documents]
        shape = (starts.size - 1, weight.size)
        return csr_array((weight, np.arange(weight.size), starts), shape=shape)


def _summed(weight: FloatArray, rows: FloatArray) -> FloatArray:
    """weight @ rows, added up row after row: a column's sum is the same whatever stands beside it.

    A dense product adds in an order that depends on the number of columns.
    """
    row = csr_array((weight, np.arange(weight.size), [0, weight.size]), shape=(1, weight.size))
    sums: FloatArray = np.asarray(row @ rows)[0]
    return sums


def _weighed(log: ClickLog, propensities: ArrayLike) -> _Weighed:
    inverse = inverse_propensities(log, real_numbers(propensities, "Propensities"))
    if log.query_draws < 2:
        raise InputError("A standard error needs at least two query draws, but the log has one.")
    by_row = log.clicks * inverse
    size = effective_sample_size(by_row, inverse)
    weight = log.sum_by_document(by_row)
    squares = log.sum_by_document(log.clicks * np.square(inverse))
    drawn = np.maximum(log.draws_per_query, 1)
    spread = squares - weight**2 / drawn[query_of_document(log.query_offsets)]
    return _Weighed(
        size,
        float(inverse.max(initial=0)),
        weight,
        spread,
        drawn,
        log.query_offsets,
        log.query_draws,
    )
