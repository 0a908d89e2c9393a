"""The pointwise squared loss: regression of what clicks estimate of relevance on the features.

    1/2 (w.w + b^2) + (C / n) sum over documents of N_d (x_d.w + b - t_d)^2 / 2

with targets t of any sign, as in `pointwise`. The minimum is the solution of linear equations.

Source: the regression form of Cossock and Zhang (2006) with estimated labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.learners.learner import Learner
from ultr_core.learners.pointwise import fit_of, targets_of
from ultr_core.propensity.weights import Weights

FloatArray = NDArray[np.float64]


def _loss(s: FloatArray, t: FloatArray) -> tuple[FloatArray, ...]:
    return 0.5 * (s - t) ** 2, s - t, np.ones_like(s)


def objective(corpus: Corpus, weights: Weights, cost: float, coefficients: FloatArray) -> float:
    """The formula at the top; the last coefficient is the level b."""
    targets = targets_of(weights)
    away = corpus.features @ coefficients[:-1] + coefficients[-1] - targets.value
    loss = 0.5 * float(targets.draws @ np.square(away))
    return 0.5 * float(coefficients @ coefficients) + cost / weights.clicks * loss


SQUARED = Learner(
    "squared",
    "Squared",
    "Minimises the squared difference between each document's score and its weighted clicks "
    "per presentation.",
    "Cossock and Zhang (COLT 2006)",
    fit_of(_loss),
    objective,
    ((-1.0, 2.0), (0.5, 0.125), (2.0, 0.5)),
    from_pairs=False,
    level=True,
)
