"""What a fit can take: the ranges in which its gap can be certified in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ultr_core.corpus.ranking import number_or_nan, query_sums
from ultr_core.errors import InputError, quoted
from ultr_core.fields import Number
from ultr_core.limits import Limit

if TYPE_CHECKING:
    from ultr_core.corpus import Corpus

# Measured: with C up to 100, fits to a gap of 1e-3 succeed up to feature values of 1e12 and fail
# from 1e15 on, as the curvature grows with the square; with C or weights of 1e15 they succeed.
LARGEST_FEATURE = 1e12
SMALLEST_COST, LARGEST_COST = 1e-12, 1e12
COST = Number("cost", "The cost C", SMALLEST_COST, LARGEST_COST, decimals=None)
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-12, 1e12
# Gaps below this drown in the rounding of P and D.
SMALLEST_TOLERANCE = 1e-12
# Entries of the features that are looked at together.
ENTRIES_PER_BLOCK = 131_072


@dataclass(frozen=True, eq=False)
class FeatureRanges:
    """Smallest and largest value of each feature [features]."""

    low: NDArray[np.floating[Any]]
    high: NDArray[np.floating[Any]]

    @property
    def largest(self) -> NDArray[np.floating[Any]]:
        """Largest absolute value of each feature [features]."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))


def checked_cost(cost: object) -> float:
    """C as a plain float, which files can hold; raises InputError unless it is in the range."""
    return float(COST.checked(cost))


def checked_tolerance(tolerance: object) -> float:
    """The relative duality gap asked for, as a plain float; raises InputError if out of range."""
    number = _number(tolerance)
    if not SMALLEST_TOLERANCE <= number < 1:
        raise InputError(
            f"The tolerance is {quoted(tolerance)}; it must be at least {SMALLEST_TOLERANCE:g} "
            "and below 1."
        )
    return number


def check_counts(max_iterations: object, seed: object) -> None:
    """Raise InputError unless ``max_iterations`` is 1 or more and ``seed`` 0 or more."""
    for name, value, least in (("max_iterations", max_iterations, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            raise InputError(f"{name} is {value!r}; it must be a whole number of {least} or more.")


def check_callback(callback: object) -> None:
    """Raise InputError for a callback that is neither None nor a function."""
    if not (callback is None or callable(callback)):
        raise InputError(
            f"The callback is {quoted(callback)}; it must be None or a function "
            "that takes one Progress.",
            "callback",
        )


def checked_costs(costs: object) -> list[float]:
    """The values of C as a list; raises InputError unless it is a list of C in range."""
    if isinstance(costs, str) or not isinstance(costs, Iterable):
        raise InputError(f"The costs are {quoted(costs)}; give a list of values of C.", "costs")
    return [checked_cost(cost) for cost in costs]


def check_weights(values: NDArray[np.float64], clicks: float) -> None:
    """Raise InputError if the heaviest weight, over n, is out of the usable range.

    ``values`` [documents]; all zero is left to others. Weights far below the heaviest do no harm.
    """
    document = int(np.argmax(values)) if len(values) else 0
    heaviest = float(values[document]) if len(values) else 0.0
    if heaviest > 0 and not SMALLEST_WEIGHT <= heaviest / clicks <= LARGEST_WEIGHT:
        raise InputError(
            f"The largest weight is {heaviest:g}, for document {document} (counted from 0), with "
            f"{clicks:g} training examples; their ratio must be from "
            f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, so rescale the weights or correct the "
            "number of examples."
        )


def feature_ranges(features: Any) -> FeatureRanges:
    """Smallest and largest value of each feature [features], of one document or more."""
    is_sparse: bool = sp.issparse(features)
    if is_sparse:
        low, high = features.min(axis=0), features.max(axis=0)
        return FeatureRanges(low.toarray().ravel(), high.toarray().ravel())
    # Block by block, so that the features are read from memory once.
    step = max(1, ENTRIES_PER_BLOCK // max(1, features.shape[1]))
    low, high = features[:1].min(axis=0), features[:1].max(axis=0)
    for start in range(0, len(features), step):
        block = features[start : start + step]
        np.minimum(low, block.min(axis=0), out=low)
        np.maximum(high, block.max(axis=0), out=high)
    return FeatureRanges(low, high)


class RangesOf:
    """The feature ranges of corpora that are still in use, each found once."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[Any, FeatureRanges] = WeakKeyDictionary()

    def __call__(self, corpus: Corpus) -> FeatureRanges:
        """The ranges over all documents of ``corpus``, which is never changed."""
        found = self._found.get(corpus)
        if found is None:
            found = self._found[corpus] = feature_ranges(corpus.features)
        return found


def check_features(ranges: FeatureRanges, ids: NDArray[np.int64]) -> None:
    """Raise InputError for a feature that is too large for a certified fit, naming its range.

    ``ids`` [features] are what the features are called.
    """
    sizes = ranges.largest
    worst = int(np.argmax(sizes)) if len(sizes) else 0
    if len(sizes) and sizes[worst] > LARGEST_FEATURE:
        raise InputError(
            f"Feature {ids[worst]} ranges from {ranges.low[worst]:g} to {ranges.high[worst]:g} in "
            "the training queries, but no fit can be certified for absolute values above "
            f"{LARGEST_FEATURE:g}; rescale the feature."
        )


def require_pairs(chosen: NDArray[np.bool_], query_offsets: NDArray[np.int64], most: Limit) -> None:
    """Raise InputError for too many pairs of a chosen document and another one of its query.

    chosen: bool [documents], those with a weight. query_offsets: int64 [queries + 1].
    """
    pairs = query_sums(chosen, query_offsets) @ (np.diff(query_offsets) - 1)
    most.require(int(pairs), "The training data")


def _number(value: object) -> float:
    """A real number of any type as a float; NaN for all else, truths included."""
    return math.nan if isinstance(value, bool) else number_or_nan(value)
