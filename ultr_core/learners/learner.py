"""What a learner is: a function from weighted documents to a linear ranker with a certificate.

All learners stand in `registry`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.learners.problem import Callback
from ultr_core.learners.ranker import LinearModel, LinearRanker
from ultr_core.propensity.weights import Weights

COST_GRID: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Values of C that validation chooses from; the paper does not list its own."""


class Fit(Protocol):
    """Train on weighted documents at one value of C, up to a tolerance of the certificate."""

    def __call__(
        self,
        corpus: Corpus,
        weights: Weights,
        *,
        cost: float,
        tolerance: float = ...,
        initial: LinearRanker | None = ...,
        seed: int = ...,
        callback: Callback | None = ...,
    ) -> LinearRanker:
        """The ranker, with a certificate of how near the optimum it is.

        ``callback`` must be called at least once, with a `Progress`, and often in a long fit:
        pages show it, and it raises to end a fit that nobody wants any more.
        """


class Objective(Protocol):
    """What a learner minimises."""

    def __call__(
        self,
        corpus: Corpus,
        weights: Weights,
        cost: float,
        coefficients: NDArray[np.float64],
        /,
    ) -> float:
        """Its value at any weight vector, in float64."""


class Path(Protocol):
    """Fits of one weighting of a corpus, each of which can continue to a smaller gap."""

    def to(self, costs: Sequence[float], tolerance: float) -> tuple[LinearRanker, ...]:
        """One ranker for each C, in the order given, up to a tolerance of the certificate."""

    def near(self, costs: Sequence[float], tolerance: float) -> Sequence[LinearModel]:
        """The same without the certificates, where that takes less time."""

    def keep(self, costs: Collection[float]) -> None:
        """Drop the fits at any other C."""


class MakePaths(Protocol):
    """Begin the paths of several weightings of one corpus."""

    def __call__(
        self,
        corpus: Corpus,
        weights: Sequence[Weights],
        *,
        callback: Callback | None = ...,
    ) -> Sequence[Path]:
        """One path for each weighting; nothing is fitted yet."""


@dataclass(frozen=True)
class Learner:
    """One learner.

    key, label: its stable name, and the name that readers see. words: what it minimises, in one
    sentence. source: where it comes from. fit: trains with one C. objective: what ``fit``
    minimises, written again in the simplest form, because tests compare each fit with it. worked:
    two or more margins, one of them between 0 and 1, each with the loss worked out by hand for a
    document with that score, clicked once, and an unclicked document with score 0; n = C = 1.
    paths: trains with several values of C, if it can do better than one fit after another.
    costs: values of C from which validation chooses.

    from_pairs: whether it learns from pairs of documents for a query, so that it learns nothing
    from a query with one candidate. level: whether it also fits a number that is added to every
    score, and so is not part of its ranker; its objective takes that number as its last
    coefficient.

    The objective is 1/2 w.w + (C / n) times a loss of the weighted documents, where n
    is ``weights.clicks``: the larger C, the closer the fit to the clicks. The loss of several
    queries is the sum of their losses. The part that depends on w is linear in the weights, up to a
    term without them, so unbiased weights leave it unbiased (section 4).

    Each ranker is a `LinearRanker`; a certificate other than the duality gap names its ``measure``.
    """

    key: str
    label: str
    words: str
    source: str
    fit: Fit
    objective: Objective
    worked: tuple[tuple[float, float], ...]
    paths: MakePaths | None = None
    costs: tuple[float, ...] = COST_GRID
    from_pairs: bool = True
    level: bool = False

    def paths_of(
        self, corpus: Corpus, weights: Sequence[Weights], *, callback: Callback | None = None
    ) -> Sequence[Path]:
        """A path for each of several weightings of one corpus; nothing is fitted yet."""
        if self.paths is not None:
            return self.paths(corpus, weights, callback=callback)
        return [_OneByOne(self.fit, corpus, one, callback) for one in weights]


class _OneByOne:
    """A path of a learner that has none: each fit starts from its last, or from the one before."""

    def __init__(
        self, fit: Fit, corpus: Corpus, weights: Weights, callback: Callback | None
    ) -> None:
        self._fit, self._corpus, self._weights, self._callback = fit, corpus, weights, callback
        self._last: dict[float, LinearRanker] = {}

    def to(self, costs: Sequence[float], tolerance: float) -> tuple[LinearRanker, ...]:
        found: list[LinearRanker] = []
        for cost in costs:
            before = self._last.get(cost, found[-1] if found else None)
            found.append(
                self._fit(
                    self._corpus, self._weights, cost=cost, tolerance=tolerance, initial=before,
                    callback=self._callback,
                )
            )  # fmt: skip
            self._last[cost] = found[-1]
        return tuple(found)

    near = to

    def keep(self, costs: Collection[float]) -> None:
        self._last = {cost: ranker for cost, ranker in self._last.items() if cost in costs}
