"""Estimators that know a relevance fitted to the clicks: the direct method and doubly robust.

Once examination is known, a document that is not clicked says something as well. The relevance
r_hat is that of the belief (`ultr_core.learners.relevance` fits it); examination itself is never
seen, so its expectation stands in for it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ultr_core.propensity.estimator import (
    NO_BIAS,
    NO_BIAS_BUT_NOISE,
    RIGHT_CURVE_ABOVE_CLIP,
    RIGHT_CURVE_BUT_NOISE,
    RIGHT_NOISE,
    RIGHT_NOISE_AND_RELEVANCE,
    RIGHT_RELEVANCE,
    Belief,
    Estimator,
)
from ultr_core.propensity.policy_aware import draws_per_impression, realised_exposure
from ultr_core.propensity.row_numbers import RowNumbers
from ultr_core.propensity.weights import clipped_propensities
from ultr_core.users.click_log import ClickLog

FALLS = 1.1
"""Of tau = 1.1 n^(-1/4): 0.2 at 1,000 clicks, 0.05 at 170,000.

Bias by clipping is small beside the noise of few clicks, and noise small with many. One choice
instead of a grid: what would choose is as noisy as IPS unless it is clipped itself, and then it
prefers rankers trained at its own threshold.
"""

_SOURCE = "Oosterhuis (TOIS 2023)"


def _direct(log: ClickLog, belief: Belief) -> RowNumbers:
    v = belief.relevance_of(log) * draws_per_impression(log)
    return RowNumbers(np.zeros(log.rank.size), v)


def _doubly_robust(log: ClickLog, belief: Belief) -> RowNumbers:
    """u = 1 / D, v = N_q / n_d r_hat - (alpha r_hat + beta) / D with D = max(tau, rho).

    N_q / n_d, draws of the query over impressions of the document, is 1 where each draw showed it:
    its relevance counts in those that did not as well. rho is the mean alpha of a document over all
    draws of its query: alpha itself where it was always shown at one rank. Bias of a document:
    (r - r_hat) (rho / D - 1), for right alpha and beta.
    """
    alpha, beta = belief.affine(log.rank)
    divisor = clipped_propensities(realised_exposure(log, alpha), belief.clip)
    # 1 to the last bit where nothing is clipped, so that r_hat drops out; 0 where nobody looks.
    share = np.divide(alpha, divisor, out=np.zeros(alpha.size), where=divisor > 0)
    v = belief.relevance_of(log) * (draws_per_impression(log) - share)
    noise = np.divide(beta, divisor, out=np.zeros(alpha.size), where=beta > 0)
    return RowNumbers.dividing_by(divisor, v - noise)


DIRECT = Estimator(
    "direct",
    "Direct",
    counts="an impression counts as the relevance fitted to the clicks",
    words="Every impression counts as the fitted relevance of its document, and a click "
    "adds nothing; the estimate is only as good as the fit.",
    expects=(RIGHT_RELEVANCE,),
    source=_SOURCE,
    numbers=_direct,
    worked=((0.5, 0.0, 0.5), (0.125, 0.0, 0.5)),
    needs=("relevance",),
)


def doubly_robust(instead: Estimator) -> Estimator:
    """The doubly robust estimator; ``instead`` trains where the fitted relevance is wrong."""
    return Estimator(
        "doubly-robust",
        "Doubly robust",
        counts="an impression counts as the fitted relevance; a click counts as what "
        "remains after the fit is subtracted, divided by its propensity (at least τ)",
        words="The fitted relevance, corrected by clicks whose propensity is raised to at least "
        "τ. The estimate has the variance of clipped IPS, but only the bias that the fit leaves.",
        expects=(
            RIGHT_CURVE_ABOVE_CLIP,
            RIGHT_RELEVANCE,
            NO_BIAS,
            NO_BIAS_BUT_NOISE.counting(0.75, 0.25),
            RIGHT_CURVE_BUT_NOISE.counting(0.75, 0.25),
        ),
        source=_SOURCE,
        numbers=_doubly_robust,
        worked=((0.5, 2.0, 0.0), (0.125, 4.0, 0.25), (0.125, 2.0, 0.375, 0.5)),
        needs=("curve", "clip", "relevance"),
        falls=FALLS,
        instead=instead,
    )


def affine_doubly_robust(instead: Estimator) -> Estimator:
    """The same for users whose noise is known; ``instead`` trains where the fit is wrong."""
    robust = doubly_robust(instead)
    return replace(
        robust,
        key="affine-doubly-robust",
        label="Affine doubly robust",
        counts="an impression counts as the fitted relevance; a click counts as what "
        "remains after the fit and the noise are subtracted, divided by α (at least τ)",
        words="The fitted relevance, corrected by clicks minus those that noise explains; the "
        "estimate is also correct if noise depends on the rank.",
        expects=(RIGHT_NOISE, RIGHT_NOISE_AND_RELEVANCE, *robust.expects),
        worked=((0.5, 8 / 3, -1 / 3), (0.125, 4.0, 0.1875), (0.125, 2.0, 0.34375, 0.5)),
        needs=(*robust.needs, "noise"),
    )
