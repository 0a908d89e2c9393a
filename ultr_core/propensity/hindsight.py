"""Hindsight propensities, for users who leave after a click with probability 1 - lambda.

A click at rank k proves that its user stayed after each of the h clicks above it, and examined k:

    q = p_k lambda^h,    u = 1 / q

Summed over everything that may be clicked above, P(c_k = 1, clicks above) / lambda^h is what users
who never leave would do, whatever is relevant: no relevance has to be known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.propensity.estimator import (
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CONTINUATION,
    RIGHT_CONTINUATION_AND_RELEVANCE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    RIGHT_RELEVANCE,
    Belief,
    Estimator,
)
from ultr_core.propensity.fitted_relevance import FALLS
from ultr_core.propensity.policy_aware import draws_per_impression
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.propensity.weights import clipped_propensities
from ultr_core.users.click_log import ClickLog
from ultr_core.users.examination import ExaminationCurve

FloatArray = NDArray[np.float64]


def hindsight_propensities(
    curve: ExaminationCurve, continuation: float, ranks: ArrayLike, clicks_above: ArrayLike
) -> FloatArray:
    """q = p_k lambda^h, float64 with the shape of ``ranks``; h counts the clicks above.

    Raises InputError for a lambda outside [0, 1], and for counts of clicks above that are not whole
    numbers from 0 to one less than the rank.

    >>> from ultr_core.users import PowerLaw
    >>> hindsight_propensities(PowerLaw(1.0), 0.5, ranks=[1, 2, 2], clicks_above=[0, 0, 1]).tolist()
    [1.0, 0.5, 0.25]
    """
    if not (isinstance(continuation, (int, float)) and 0 <= continuation <= 1):
        raise InputError(
            f"λ is {continuation}; the probability of continuing after a click must be from 0 to "
            f"1.",
            "continuation",
        )
    above, at = np.asarray(clicks_above), np.asarray(ranks)
    if above.dtype.kind not in "iu" or np.any((above < 0) | (above >= at)):
        raise InputError(
            "Counts of clicks above must be whole numbers from 0 to one less than the rank.",
            "clicks_above",
        )
    stayed: FloatArray = np.power(float(continuation), above)
    return curve.at(ranks) * stayed


def _of_rows(log: ClickLog, belief: Belief) -> FloatArray:
    if not belief.continuation > 0:
        raise InputError(
            "If users leave after every click, nothing is known about documents below a click, "
            "and no weight repairs that; hindsight propensities need λ above 0.",
            "continuation",
        )
    return hindsight_propensities(belief.curve, belief.continuation, log.rank, log.context)


def _hindsight(log: ClickLog, belief: Belief) -> RowNumbers:
    return RowNumbers.dividing_by(_of_rows(log, belief))


def _doubly_robust(log: ClickLog, belief: Belief) -> RowNumbers:
    """u = 1 / D_h, v = N_q / n_d r_hat - r_hat p (1 / D_h - (1 - lambda) sum_{j=1..h} 1 / D_j).

    D_h = max(tau, p lambda^h). What is subtracted is, on average, r_hat p S_h / D_h summed over h,
    with S_h the users who are still there after h clicks above. They are not seen, but of all who
    clicked h times above, each left after the last of these clicks with probability 1 - lambda, so
    S_h is on average I_h - (1 - lambda) (I_h + I_{h + 1} + ...), of impressions I by clicks above.
    Bias of a document: (r - r_hat) (sum_h P(S_h) p / D_h - 1), for the right p and lambda; without
    a threshold v is 0, and this is `HINDSIGHT`.
    """
    divisor = clipped_propensities(_of_rows(log, belief), belief.clip)
    p, stay = belief.curve.at(log.rank), belief.continuation

    def lost(clicks_above: NDArray[Any]) -> FloatArray:
        """(1 - q / D) / lambda^h, 0 to the last bit where nothing is clipped."""
        q = p * np.power(stay, clicks_above)
        d = clipped_propensities(q, belief.clip)
        kept = np.divide(q, d, out=np.zeros(q.size), where=d > 0)
        found: FloatArray = (1.0 - kept) * np.power(stay, -clicks_above.astype(np.float64))
        return found

    missing = lost(log.context)
    for j in range(1, int(log.context.max(initial=0)) + 1):
        above = np.full(p.size, j)
        missing -= np.where(log.context >= j, (1.0 - stay) * lost(above), 0.0)
    v = belief.relevance_of(log) * (draws_per_impression(log) - 1.0 + missing)
    return RowNumbers.dividing_by(divisor, v)


HINDSIGHT = Estimator(
    "hindsight",
    "Hindsight",
    counts="a click counts for 1 / (propensity × λ for each click above)",
    words="Like IPS, but the weight of a click is multiplied by 1 / λ for each click above it, "
    "because the user could have left there. Correct for users who leave after a click with "
    "probability 1 − λ.",
    expects=(
        RIGHT_CONTINUATION,
        RIGHT_CURVE,
        RIGHT_CURVE_ABOVE_CLIP,
        NO_BIAS,
        NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
        RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
        RIGHT_CONTINUATION_AND_RELEVANCE,
    ),
    source="mentioned in section 5.4 of Joachims, Swaminathan and Schnabel (2017)",
    numbers=_hindsight,
    worked=((0.5, 2.0, 0.0), (0.125, 8.0, 0.0)),
    needs=("curve", "continuation"),
    asked=True,
)


HINDSIGHT_DOUBLY_ROBUST = Estimator(
    "hindsight-doubly-robust",
    "Hindsight doubly robust",
    counts="an impression counts as the fitted relevance; a click counts as what "
    "remains after the fit is subtracted, divided by its hindsight propensity (at least τ)",
    words="The fitted relevance, corrected by clicks whose hindsight propensity is raised "
    "to at least τ, with allowance for users who had left.",
    expects=(
        RIGHT_CONTINUATION,
        RIGHT_CONTINUATION_AND_RELEVANCE,
        RIGHT_CURVE_ABOVE_CLIP,
        RIGHT_RELEVANCE,
        NO_BIAS,
        NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
        RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
    ),
    source="Oosterhuis (TOIS 2023), with hindsight propensities",
    numbers=_doubly_robust,
    worked=((0.5, 2.0, 0.0), (0.125, 4.0, 0.25), (0.125, 2.0, 0.375, 0.5)),
    needs=("curve", "clip", "relevance", "continuation"),
    falls=FALLS,
)
"""Nothing trains in its place. The fit knows the score of the ranker that showed the lists, so what
a test by rank would reject is a relevance that is not linear, and clicks correct that."""
