"""An estimator with a threshold and a pointwise learner, as somebody might add them."""

from __future__ import annotations

import sys
from types import MappingProxyType

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.learners import LEARNERS, Learner, LinearRanker
from ultr_core.learners.certificate import Certificate
from ultr_core.learners.problem import Progress
from ultr_core.propensity import ESTIMATORS, Belief, Estimator, RowNumbers, Weights
from ultr_core.propensity.estimator import CLIP_GRID, NO_BIAS, NO_BIAS_BUT_NOISE
from ultr_core.users import ClickLog


def _shrunk(log: ClickLog, belief: Belief) -> RowNumbers:
    p = belief.curve.at(log.rank)
    return RowNumbers(p / (p**2 + belief.clip**2 / 4))


SHRUNK = Estimator(
    "shrunk", "Shrunk", "a click counts p / (p² + τ²/4)", "words",
    (NO_BIAS.counting(64 / 65), NO_BIAS_BUT_NOISE.counting(48 / 65, 16 / 65)), "source", _shrunk,
    ((0.5, 32 / 17, 0.0), (0.05, 80 / 29, 0.0), (0.5, 1.0, 0.0, 1.0)), ("curve", "clip"), CLIP_GRID,
)  # fmt: skip
"""u = p / (p² + τ²/4): no propensity is compared with τ, and every weight changes with it."""


def squares(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray) -> float:
    left = np.asarray(corpus.features, np.float64) @ w - weights.values
    return float(0.5 * w @ w + cost / weights.clicks * 0.5 * left @ left)


def ridge(corpus: Corpus, weights: Weights, *, cost: float, callback=None, **_: object):
    """The squared distance of the scores from the weights, in closed form."""
    x, scale = np.asarray(corpus.features, np.float64), cost / weights.clicks
    w = np.linalg.solve(scale * x.T @ x + np.eye(x.shape[1]), scale * x.T @ weights.values)
    return certified(corpus, weights, cost, w, callback)


def certified(corpus: Corpus, weights: Weights, cost: float, w: np.ndarray, callback=None):
    """Any weight vector with a certificate that it is the best."""
    reached = squares(corpus, weights, cost, w)
    if callback is not None:
        callback(Progress(1, 1, reached, reached, 0.0, w))
    found = Certificate(reached, reached, 0.0, 1, 1, "closed form", True, False, "gradient norm")
    return LinearRanker(w, corpus.feature_ids, cost, found)


RIDGE = Learner(
    "ridge", "Ridge", "words", "source", ridge, squares, ((-1.0, 2.0), (0.5, 0.125)),
    from_pairs=False,
)  # fmt: skip
"""It forms no pairs, and its certificate is no duality gap."""


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put both into the registries, in every module of the house that has read them."""
    known = {
        "ESTIMATORS": MappingProxyType({**ESTIMATORS, SHRUNK.key: SHRUNK}),
        "LEARNERS": MappingProxyType({**LEARNERS, RIDGE.key: RIDGE}),
    }
    known["FIT_METHODS"] = tuple(k for k, one in known["ESTIMATORS"].items() if not one.normalised)
    for name, module in list(sys.modules.items()):
        if name.startswith(("ultr_core", "pages")):
            for registry, entries in known.items():
                if registry in vars(module):
                    monkeypatch.setattr(module, registry, entries)
