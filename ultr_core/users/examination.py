"""Examination curves: the probability p_r that a user looks at rank r.

Section 5.1 of Joachims, Swaminathan and Schnabel (2017). Curves are normalised to p_1 = 1,
because only ratios p_r / p_1 can be told from clicks (Section 5.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import (
    in_brief,
    number_or_nan,
    real_numbers,
    whole_numbers,
    whole_or_none,
)
from ultr_core.errors import InputError, quoted
from ultr_core.words import counted

FloatArray = NDArray[np.float64]


class ExaminationCurve(Protocol):
    """Anything that gives an examination probability in [0, 1] at every rank from 1."""

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Examination probability at each rank, float64 with the shape of ``ranks``."""

    def describe(self) -> str:
        """Describe the curve and its parameters in a few words."""


def require_curve(curve: object) -> None:
    """Raise InputError for what gives no examination at ranks."""
    if isinstance(curve, type) or not callable(getattr(curve, "at", None)):
        raise InputError(
            f"The examination curve is {quoted(curve)}; it must be a curve such as PowerLaw(1.0) "
            "or TableCurve((1.0, 0.5)).",
            "not_a_curve",
        )


def checked_ranks(ranks: ArrayLike) -> NDArray[np.int64]:
    """Return the ranks as int64; raises InputError unless all are whole numbers from 1."""
    array: NDArray[np.int64] = whole_numbers(ranks, "Ranks, counted from 1,", np.int64)
    if array.size and array.min() < 1:
        raise InputError(f"Ranks are counted from 1, but one rank is {array.min()}.", "rank_from_1")
    return array


def looked_up(values: FloatArray, ranks: NDArray[np.int64]) -> FloatArray:
    """Value at each rank; the last one is carried on beyond the end."""
    found: FloatArray = values[np.minimum(ranks, values.size) - 1]
    return found


@dataclass(frozen=True)
class PowerLaw:
    """p_r = (1 / r)^eta, equation (7) of the paper.

    eta = 0 means no position bias; eta = 1 is the paper's default. Raises InputError for a
    negative or infinite eta.

    >>> PowerLaw(eta=1.0).at([1, 2, 10]).tolist()
    [1.0, 0.5, 0.1]
    """

    eta: float

    def __post_init__(self) -> None:
        """Check the exponent."""
        eta = number_or_nan(self.eta)
        if not (math.isfinite(eta) and eta >= 0):
            raise InputError(
                f"eta must be a number of 0 or more, not {in_brief(self.eta)}.", "exponent"
            )

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Probability (1 / rank)^eta at each rank, float64 with the shape of ``ranks``."""
        array = checked_ranks(ranks)
        # One power per rank that exists, not one per document.
        longest = int(array.max()) if array.size else 1
        if longest > max(array.size, 1000):
            return np.power(array.astype(np.float64), -float(self.eta))
        powers = np.power(np.arange(1.0, longest + 1.0), -float(self.eta))
        return looked_up(powers, array)

    def describe(self) -> str:
        """Describe the curve by its exponent."""
        return f"power law, p_r = (1/r)^{self.eta:g}"


@dataclass(frozen=True)
class TableCurve:
    """One number per rank, divided by the first; the last is used beyond the end.

    Section 7.6 of the paper uses p_r = p_21 for r > 21. ``values`` are the numbers for ranks
    1, 2, ... as given, e.g. click-through rates or ratios; they are normalised to p_1 = 1.
    Raises InputError if there are none, if one is negative or not finite, if the first is 0, or if
    a later number exceeds the first (a probability above 1).

    >>> TableCurve((1.0, 0.6, 0.3)).at([1, 3, 50]).tolist()
    [1.0, 0.3, 0.3]
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the numbers and divide them by the first."""
        table = real_numbers(self.values, "The numbers of an examination table")
        given = tuple(table.astype(np.float64).ravel().tolist())
        if not given:
            raise InputError(
                "An examination table needs at least one number, for rank 1.", "empty_curve"
            )
        for rank, value in enumerate(given, start=1):
            if not (math.isfinite(value) and value >= 0):
                raise InputError(
                    f"The examination table has {value} at rank {rank}; "
                    f"numbers must be finite and not negative."
                )
            if value > given[0]:
                raise InputError(
                    f"The examination table has {value:g} at rank {rank}, more than the "
                    f"{given[0]:g} at rank 1, so p_{rank} would exceed 1."
                )
        if given[0] == 0:
            raise InputError("The examination table has 0 at rank 1; it must be above 0.")
        normalised = tuple(value / given[0] for value in given)
        object.__setattr__(self, "values", normalised)

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Examination probability at each rank, float64 with the shape of ``ranks``."""
        return looked_up(np.array(self.values), checked_ranks(ranks))

    def describe(self) -> str:
        """Describe the curve by its length and its last value."""
        ranks = counted(len(self.values), "rank")
        return f"table of {ranks}, {self.values[-1]:.3g} from the last rank down"


@dataclass(frozen=True)
class Cutoff:
    """A curve that ends: p_r = curve(r) up to rank k and 0 below it.

    Documents below rank k have propensity 0, which no weighting can correct (Section 4 of the paper
    requires positive propensities). Raises InputError for k below 1.
    """

    curve: ExaminationCurve
    k: int

    def __post_init__(self) -> None:
        """Check the curve and the last rank."""
        require_curve(self.curve)
        if (whole_or_none(self.k) or 0) < 1:
            raise InputError(
                f"The last examined rank must be a whole number of 1 or more, "
                f"not {in_brief(self.k)}.",
                "cutoff",
            )

    def at(self, ranks: ArrayLike) -> FloatArray:
        """Examination probability at each rank, float64 with the shape of ``ranks``."""
        examined = self.curve.at(ranks)
        return np.where(np.asarray(ranks) <= self.k, examined, 0.0)

    def describe(self) -> str:
        """Describe the curve and its last rank."""
        return f"{self.curve.describe()}, nothing below rank {self.k}"
