"""Risk estimated from clicks: naive, propensity-weighted and clipped are one formula.

Naive: propensities 1. Inverse propensity scoring (IPS): the examination probability of the
presented rank. Clipped: ``clipped_propensities`` of these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.feedback.click_log import ClickLog
from ultr_core.propensity.weights import click_weight_diagnostics, inverse_propensities
from ultr_core.ranking import query_of_document, real_numbers
from ultr_core.risk.checks import checked_places
from ultr_core.risk.estimate import NORMAL_QUANTILE, Estimate

FloatArray = NDArray[np.float64]


class RiskEstimates(NamedTuple):
    """Estimated risks of several rankers from one log.

    value, standard_error: float64 [rankers]; query_draws: N;
    effective_sample_size: of the click weights 1 / q, the same for every ranker.
    """

    value: FloatArray
    standard_error: FloatArray
    query_draws: int
    effective_sample_size: float

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
    """
    places = checked_places(ranks, log.n_documents)
    if places.ndim != 2:
        raise InputError(f"Ranks must have axes [rankers, documents], not shape {places.shape}.")
    inverse = inverse_propensities(log, real_numbers(propensities, "Propensities"))
    if log.query_draws < 2:
        raise InputError("A standard error needs at least two query draws, but the log has one.")
    weight = log.sum_by_document(log.clicks * inverse)
    squares = log.sum_by_document(log.clicks * inverse**2)
    drawn = np.maximum(log.draws_per_query, 1)
    spread = squares - weight**2 / drawn[query_of_document(log.query_offsets)]

    draws = log.query_draws
    starts = log.query_offsets[:-1]
    value = np.empty(places.shape[0])
    second_moment = np.empty(places.shape[0])
    # Ranker by ranker in the same two buffers, so that everything stays in the processor's cache.
    rank, weighted = np.empty_like(weight), np.empty_like(weight)
    for ranker, row in enumerate(places):
        rank[:] = row
        of_query = np.add.reduceat(np.multiply(rank, weight, out=weighted), starts)
        value[ranker] = of_query.sum() / draws
        rank *= rank
        second_moment[ranker] = ((of_query * of_query / drawn).sum() + rank @ spread) / draws
    variance = np.maximum(second_moment - value**2, 0.0) / (draws - 1)
    size = click_weight_diagnostics(log, propensities).effective_sample_size
    return RiskEstimates(value, np.sqrt(variance), draws, size)
