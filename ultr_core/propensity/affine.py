"""The affine correction: the only one that is unbiased where noise depends on the rank.

    P(c = 1 | r, rank) = alpha r + beta,   u = 1 / alpha,   v = -beta / alpha

Weights of clicks alone keep the order of risks only if beta / alpha is the same at every rank,
which is constant noise: trust in high ranks has no divisor.
"""

from __future__ import annotations

import numpy as np

from ultr_core.propensity.estimator import (
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    RIGHT_NOISE,
    RIGHT_NOISE_AND_RELEVANCE,
    Belief,
    Estimator,
)
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.users.click_log import ClickLog


def _affine(log: ClickLog, belief: Belief) -> RowNumbers:
    alpha, beta = belief.affine(log.rank)
    # What nobody examines is never clicked, and counts nothing.
    v = np.divide(-beta, alpha, out=np.zeros(alpha.size), where=(alpha > 0) | (beta > 0))
    if (alpha > 1).any():  # of lines measured against rank 1
        return RowNumbers(
            np.divide(1.0, alpha, out=np.full(alpha.size, np.inf), where=alpha > 0), v
        )
    return RowNumbers.dividing_by(alpha, v)


AFFINE = Estimator(
    "affine",
    "Affine",
    counts="a click counts for 1 / α and an impression for −β / α, where P(click) = α r + β",
    words="Like IPS, but without the contribution of clicks on irrelevant documents at each rank, "
    "so it is also correct if noise depends on the rank. A document that was shown but not clicked "
    "counts as well.",
    expects=(
        RIGHT_NOISE,
        RIGHT_NOISE_AND_RELEVANCE,
        RIGHT_CURVE,
        RIGHT_CURVE_ABOVE_CLIP,
        NO_BIAS,
        NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
        RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
    ),
    source="Vardasbi, Oosterhuis and de Rijke (CIKM 2020)",
    numbers=_affine,
    worked=((0.5, 8 / 3, -1 / 3), (0.125, 32 / 3, -1 / 3)),
    needs=("curve", "noise"),
)
