"""Features as a corpus keeps them: float32, dense or CSR, whole and in range, or refused."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.ranking import real_numbers
from ultr_core.errors import InputError

FeatureMatrix: TypeAlias = NDArray[np.float32] | sparse.csr_array

LARGEST_FEATURE = float(np.finfo(np.float32).max)
# Values are looked at in blocks of rows so that a large corpus needs no second copy of itself.
_ROWS_AT_ONCE = 16_384
_MOST_IDS_SHOWN = 5

LARGE_VALUE = 1e6
"""Feature values beyond it make training slow or impossible to certify."""

MISSING_ZERO = "missing_zero"
"""What a refusal of other features is about: whoever knows better says that missing ones are 0."""


def some_ids(ids: NDArray[np.int64]) -> str:
    """The first few feature ids, for a message."""
    shown = ", ".join(map(str, ids[:_MOST_IDS_SHOWN].tolist()))
    return shown + (", ..." if len(ids) > _MOST_IDS_SHOWN else "")


def column_ranges(features: FeatureMatrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each feature, float64 [features]."""
    if isinstance(features, sparse.csr_array):
        low = features.min(axis=0).toarray().ravel()
        high = features.max(axis=0).toarray().ravel()
    else:
        low, high = features.min(axis=0), features.max(axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def largest_value(
    low: NDArray[np.float64], high: NDArray[np.float64], feature_ids: NDArray[np.int64]
) -> tuple[float, str, bool]:
    """The largest size of a feature, a sentence on it, and whether it is above `LARGE_VALUE`.

    low, high: smallest and largest value of each feature, float64 [features].
    """
    largest = np.maximum(np.abs(low), np.abs(high))
    usual = float(np.median(largest[largest > 0])) if (largest > 0).any() else 0.0
    top = int(np.argmax(largest))
    reach = float(largest[top])
    words = f"The largest value is {reach:g}, in feature {feature_ids[top]}"
    if reach <= LARGE_VALUE:
        return reach, f"{words}; all are finite.", False
    return (
        reach,
        f"{words}, and most features stay below {usual:g}; scale all features to about the same "
        "range, such as 0 to 1.",
        True,
    )


def scale_notice(features: FeatureMatrix, feature_ids: NDArray[np.int64]) -> tuple[str, ...]:
    """A sentence, said before training, where features are so large that it takes minutes."""
    _, words, large = largest_value(*column_ranges(features), feature_ids)
    return (f"Training will be slow: {words[:1].lower()}{words[1:]}",) if large else ()


def stored_bytes(features: FeatureMatrix) -> int:
    """What the numbers of a matrix, and their columns where it is sparse, take in a corpus."""
    if isinstance(features, sparse.csr_array):
        return int(features.nnz) * (features.data.itemsize + np.dtype(np.int64).itemsize)
    return features.nbytes


def as_feature_matrix(features: Any) -> FeatureMatrix:
    """Features as float32, dense in C order or CSR in canonical form.

    Raises InputError for anything that is not a matrix of real numbers, and for sparse matrices
    whose indices lie outside their shape, which SciPy takes unseen and reads beyond its memory.
    """
    if hasattr(features, "tocsr"):
        return _sparse(features)
    given = real_numbers(features, "Features")
    _require_matrix(given)
    # A value beyond float32 becomes infinite here and is reported with its place later on.
    with np.errstate(over="ignore", under="ignore"):
        dense: NDArray[np.float32] = np.ascontiguousarray(given, dtype=np.float32)
    return dense


def _sparse(features: Any) -> sparse.csr_array:
    if features.dtype.kind not in "biuf":
        raise InputError(f"Features must be real numbers, not values of type {features.dtype}.")
    _require_matrix(features)
    given = _checked_csr(features)
    with np.errstate(over="ignore", under="ignore"):
        matrix: sparse.csr_array = given.astype(np.float32, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _require_matrix(features: Any) -> None:
    if features.ndim != 2:
        raise InputError(
            f"Features have {features.ndim} dimensions; give a matrix [documents, features]."
        )


def _checked_csr(features: Any) -> sparse.csr_array:
    """A sparse matrix of any format as CSR, its arrays checked before SciPy walks along them."""
    is_checked = features.format in ("csr", "csc")
    if is_checked:
        _require_within(features)
    try:
        if features.format == "bsr":
            features.check_format(full_check=True)
        if features.format == "coo":
            sparse.coo_array((features.data, (features.row, features.col)), shape=features.shape)
        matrix = sparse.csr_array(features.tocsr())
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(
            f"The sparse feature matrix is broken ({error}); build it again.", "sparse_matrix"
        ) from None
    if not is_checked:
        _require_within(matrix)
    matrix.prune()
    return matrix


def _require_within(matrix: Any) -> None:
    """Raise InputError unless each entry of a CSR or CSC matrix lies within its shape."""
    by_document = matrix.format == "csr"
    lines, places = matrix.shape if by_document else matrix.shape[::-1]
    line, place = ("document", "column") if by_document else ("column", "document")
    starts, indices = matrix.indptr, matrix.indices
    if len(starts) != lines + 1 or starts[0] != 0:
        raise InputError(
            f"The sparse feature matrix has {len(starts)} pointers (indptr) from "
            f"{starts[0] if len(starts) else 'nothing'} for {lines} {line}s; give {lines + 1}, "
            "starting at 0.",
            "sparse_matrix",
        )
    stored = min(len(indices), len(matrix.data))
    wrong = np.flatnonzero((np.diff(starts) < 0) | (starts[1:] > stored))
    if wrong.size:
        first = int(wrong[0])
        raise InputError(
            f"The sparse feature matrix has entries {starts[first]} to {starts[first + 1]} "
            f"(indptr) for {line} {first} (counted from 0); pointers must neither decrease nor "
            f"exceed the number of entries, {stored}.",
            "sparse_matrix",
        )
    used = indices[: starts[-1]]
    if used.size and (used.min() < 0 or used.max() >= places):
        entry = int(np.argmax((used < 0) | (used >= places)))
        first = int(np.searchsorted(starts, entry, side="right")) - 1
        raise InputError(
            f"The sparse feature matrix has an entry in {line} {first}, {place} {used[entry]} "
            f"(counted from 0), but its {place}s are numbered 0 to {places - 1}.",
            "sparse_matrix",
        )


def require_finite_features(features: FeatureMatrix, feature_ids: NDArray[np.int64]) -> None:
    """Raise InputError, naming document and feature, for NaN, infinity and what was too large."""
    if isinstance(features, sparse.csr_array):
        bad = np.flatnonzero(~np.isfinite(features.data))
        if bad.size:
            row = int(np.searchsorted(features.indptr, bad[0], side="right")) - 1
            _refuse_value(row, int(feature_ids[features.indices[bad[0]]]))
        return
    for start in range(0, features.shape[0], _ROWS_AT_ONCE):
        block = features[start : start + _ROWS_AT_ONCE]
        finite = np.isfinite(block)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            _refuse_value(start + int(row), int(feature_ids[column]))


def _refuse_value(document: int, feature: int) -> None:
    raise InputError(
        f"Feature {feature} of document {document} (counted from 0) is not a finite number within "
        f"±{LARGEST_FEATURE:.3g}, the range of float32; correct it or leave it out."
    )
