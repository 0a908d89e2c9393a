"""Policy-aware weights: by how often a document was examined, not the rank where it was clicked.

    rho_d = (1 / N_q) sum over the rows of d of impressions p_rank,   u = 1 / rho_d

Where a logger shows one document at several ranks, or leaves it out of some lists, examination is
that of the document over all draws of its query. It is taken from the log itself, so that nothing
need be known of the logger; or, if its law over lists is known, it is the expectation of that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError
from ultr_core.propensity.contexts import row_propensities
from ultr_core.propensity.estimator import (
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    Belief,
    Estimator,
)
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.users.click_log import ClickLog

FloatArray = NDArray[np.float64]


def realised_exposure(log: ClickLog, examined: FloatArray) -> FloatArray:
    """rho_d of the document of each row, float64 [rows], at most 1.

    examined [rows]: examination of the rank of each row, or any other number of it. For a document
    that each draw of its query showed at one rank it is that number, to the last digit.

    >>> log = ClickLog([0, 1, 1], [1, 2, 1], [4, 3, 1], [0, 0, 0], 5, [0, 2], draws=[5])
    >>> realised_exposure(log, np.array([1.0, 0.5, 1.0])).tolist()
    [0.8, 0.5, 0.5]
    """
    of_document = log.sum_by_document(examined * (log.impressions / np.maximum(_drawn(log), 1)))
    found: FloatArray = np.minimum(of_document, 1.0)[log.document]
    return found


def draws_per_impression(log: ClickLog) -> FloatArray:
    """N_q / n_d of the document of each row, float64 [rows]: 1 where each draw showed it."""
    shown = log.impressions_per_document[log.document]
    return np.divide(_drawn(log), shown, out=np.zeros(shown.size), where=shown > 0)


def _drawn(log: ClickLog) -> NDArray[np.int64]:
    """Draws of the query of each row."""
    found: NDArray[np.int64] = log.draws[query_of_document(log.query_offsets)[log.document]]
    return found


def _policy_aware(log: ClickLog, belief: Belief) -> RowNumbers:
    known = belief.exposure
    if known is None:
        return RowNumbers.dividing_by(realised_exposure(log, row_propensities(belief.curve, log)))
    if known.shape != (log.n_documents,):
        raise InputError(
            f"There are {known.size:,} exposures for the {log.n_documents:,} documents in the log; "
            "each needs one."
        )
    return RowNumbers.dividing_by(known[log.document])


POLICY_AWARE = Estimator(
    "policy-aware",
    "Policy-aware",
    counts="a click counts for 1 / (mean propensity of its document over all presentations of the "
    "query)",
    words="Like IPS, but with the mean propensity of a document over all presentations of its "
    "query, not the propensity of its rank, so it is also correct if a logger leaves documents out "
    "of some lists, provided it shows each of them sometimes. Documents that the log never shows "
    "are missing.",
    expects=(
        RIGHT_CURVE,
        RIGHT_CURVE_ABOVE_CLIP,
        NO_BIAS,
        NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
        RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
    ),
    source="Oosterhuis and de Rijke (SIGIR 2020), with the exposure of the log itself",
    numbers=_policy_aware,
    worked=((0.5, 2.0, 0.0), (0.125, 8.0, 0.0)),
    needs=("curve",),
    asked=True,
    over_draws=True,
)
