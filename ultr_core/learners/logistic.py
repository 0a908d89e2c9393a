"""The pointwise logistic loss: relevance as a probability, fitted to what clicks estimate of it.

    1/2 (w.w + b^2) + (C / n) sum over documents of N_d (log(1 + exp(s_d)) - t_d s_d),  s = x.w + b

with targets t as in `pointwise`. It is convex in s also for a t below 0 or above 1, as a weighted
click gives it.

Source: logistic regression (Cox, 1958) with estimated labels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ultr_core.corpus import Corpus
from ultr_core.learners.learner import Learner
from ultr_core.learners.pointwise import fit_of, targets_of
from ultr_core.propensity.weights import Weights

FloatArray = NDArray[np.float64]

COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Values of C; log odds are several times as far apart as targets, which takes longer w."""


def _loss(s: FloatArray, t: FloatArray) -> tuple[FloatArray, ...]:
    share = expit(s)
    return np.logaddexp(0.0, s) - t * s, share - t, share * (1.0 - share)


def objective(corpus: Corpus, weights: Weights, cost: float, coefficients: FloatArray) -> float:
    """The formula at the top, document by document; the last coefficient is the level b."""
    targets = targets_of(weights)
    scores = corpus.features @ coefficients[:-1] + coefficients[-1]
    loss: float = sum(
        draws * (max(s, 0.0) + math.log1p(math.exp(-abs(s))) - wanted * s)
        for s, wanted, draws in zip(
            scores.tolist(), targets.value.tolist(), targets.draws.tolist(), strict=True
        )
    )
    half_square = 0.5 * float(coefficients @ coefficients)
    return half_square + cost / weights.clicks * loss


LOGISTIC = Learner(
    "logistic",
    "Logistic",
    "Minimises the logistic loss of each document's score, taking its weighted clicks per "
    "presentation as the probability that it is relevant.",
    "Cox (1958)",
    fit_of(_loss),
    objective,
    ((-1.0, 2.006408868078168), (0.5, 1.1672241647400519), (2.0, 0.820075191602918)),
    costs=COSTS,
    from_pairs=False,
    level=True,
)
