"""The learning problem as the solvers see it, and the record they keep while solving it.

    P(w) = 1/2 w.w + cost * sum_i a_i sum_{j != i} max(0, 1 - s_i + s_j),     s = X w

Any numbers beta_ij in [0, 1] give the lower bound

    D(beta) = A - 1/2 v.v <= min P,   A = cost * sum a_i beta_ij,
    v = cost * sum a_i beta_ij (x_i - x_j),

so every gradient that a solver computes brings a certificate with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ultr_core.deadline import require_time
from ultr_core.learners.array_types import FloatArray
from ultr_core.learners.pair_sums import PairSums
from ultr_core.learners.pair_totals import PairTotals
from ultr_core.learners.products import FeatureProducts


@dataclass(frozen=True)
class Problem:
    """Features, pairs and the factor in front of the pair sums."""

    products: FeatureProducts
    pairs: PairSums
    cost: float

    def totals(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None = None,
        keep: FloatArray | None = None,
    ) -> PairTotals:
        """Pair sums times cost."""
        return self.pairs.evaluate(scores, width, multipliers, keep).times(self.cost)

    def totals_at_zero(self, width: float) -> PairTotals:
        """Pair sums times cost at w = 0."""
        return self.pairs.at_zero(width, self.products.dtype).times(self.cost)


@dataclass(frozen=True)
class Iterate:
    """A weight vector, its scores and the pair sums there."""

    coefficients: NDArray[np.float64]
    scores: FloatArray
    totals: PairTotals

    @property
    def primal(self) -> float:
        """P(w)."""
        return 0.5 * float(self.coefficients @ self.coefficients) + self.totals.hinge


@dataclass(frozen=True)
class Constraint:
    """A constraint ``w.vector >= linear - xi`` that the one-slack cutting plane has added.

    ``slack`` is the xi of the previous program, ``violation`` the amount by which its solution
    violated this constraint (``linear - w.vector - slack``).
    """

    number: int
    linear: float
    vector: NDArray[np.float64]
    violation: float
    slack: float

    def __post_init__(self) -> None:
        """Give a callback nothing that it could spoil."""
        object.__setattr__(self, "vector", _read_only(self.vector))


@dataclass(frozen=True)
class Progress:
    """What a callback receives after each iteration.

    coefficients: the best so far; primal: the objective for these; dual: a lower bound on its
    minimum. gap: the quantity that the certificate measures. constraint: the one added by the
    cutting-plane solver, None for other solvers.
    """

    iteration: int
    passes: int
    primal: float
    dual: float
    gap: float
    coefficients: NDArray[np.float64]
    constraint: Constraint | None = None

    def __post_init__(self) -> None:
        """Give a callback nothing that it could spoil."""
        object.__setattr__(self, "coefficients", _read_only(self.coefficients))

    @property
    def gap_to_optimum(self) -> float:
        """(primal - dual) / primal, the largest share by which the objective can still fall."""
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


def _read_only(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The solver's own numbers, without the right to write there."""
    view = values.view()
    view.setflags(write=False)
    return view


Callback = Callable[[Progress], object]


@dataclass
class Record:
    """Best point, best bound and counts; decides when to stop.

    A callback that returns True stops the solver, which then returns the best point so far.
    """

    tolerance: float
    max_iterations: int
    callback: Callback | None = None
    iterations: int = 0
    primal: float = np.inf
    dual: float = 0.0  # beta = 0 is always feasible
    coefficients: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    best: Iterate | None = None  # where primal was found
    interrupted: bool = False
    broken: bool = False
    stall_limit: int | None = None
    tolerance_wanted: float = field(init=False)
    _halved: tuple[int, float] = (0, np.inf)

    def __post_init__(self) -> None:
        """Remember the tolerance that counts; phases may set others on the way."""
        self.tolerance_wanted = self.tolerance

    @property
    def gap(self) -> float:
        """(P - D) / P of the best point and the best bound."""
        if not np.isfinite(self.primal):
            return np.inf
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0

    def note(
        self, iterate: Iterate, dual: float, passes: int, constraint: Constraint | None = None
    ) -> bool:
        """Take in one iteration; True if the solver should stop.

        Raises InputError once the time for it is over, see `deadline`.
        """
        require_time()
        self.iterations += 1
        primal = iterate.primal
        self.broken = not (np.isfinite(primal) and np.isfinite(dual))
        if self.broken:
            return True
        if primal < self.primal:
            self.primal, self.coefficients, self.best = primal, iterate.coefficients, iterate
        self.dual = max(self.dual, dual)
        if self.gap <= 0.5 * self._halved[1]:
            self._halved = self.iterations, self.gap
        if self.callback is not None:
            told = Progress(
                self.iterations,
                passes,
                self.primal,
                self.dual,
                self.gap,
                self.coefficients,
                constraint,
            )
            self.interrupted = self.callback(told) is True
        return self.done

    def forget_values(self) -> None:
        """Start anew with P and D, keeping the point and the counts."""
        self.primal, self.dual, self.best, self.broken = np.inf, 0.0, None, False
        self._halved = self.iterations, np.inf

    @property
    def waited(self) -> int:
        """Iterations since the gap last halved."""
        return self.iterations - self._halved[0]

    @property
    def stalled(self) -> bool:
        """The gap has not halved within ``stall_limit`` iterations, or overflowed."""
        return self.broken or (self.stall_limit is not None and self.waited > self.stall_limit)

    @property
    def exhausted(self) -> bool:
        """Nothing more may be done: interrupted, or iterations used up."""
        return self.interrupted or self.iterations >= self.max_iterations

    @property
    def done(self) -> bool:
        """Gap reached, iterations used up, interrupted or stalled."""
        return self.gap <= self.tolerance or self.exhausted or self.stalled
