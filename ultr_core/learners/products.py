"""Products with the feature matrix, counted: the unit of cost of a linear ranker's training.

A *pass* is one product that reads all features once, ``X p`` or ``X' c``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray, IntArray

# Rows whose products are accumulated in the features' precision before they enter a float64 sum.
ROWS_PER_BLOCK = 8192
# Entries of a block of rows that is converted to another precision.
CONVERTED_ENTRIES = 65_536
# Differences of sampled pairs are formed in blocks of this size.
SAMPLES_PER_BLOCK = 1024
ENTRIES_PER_BLOCK = 131_072


class FeatureProducts:
    """``X p`` and ``X' c`` for dense or CSR features [documents, features].

    With ``dtype`` float64 and float32 features, rows are converted block by block, so that exact
    products need no second copy of the features.
    """

    def __init__(self, features: Any, dtype: type[np.floating[Any]]) -> None:
        self.features = features
        self.dtype = np.dtype(dtype)
        self.is_sparse = sp.issparse(features)
        self.n_documents, self.n_features = features.shape
        self.n_entries = features.nnz if self.is_sparse else features.size
        self.passes = 0

    def scores(self, coefficients: NDArray[np.float64]) -> FloatArray:
        """``X w`` [documents]; one pass."""
        scores: FloatArray = self.scores_of_many(coefficients[None])[0]
        return scores

    def scores_of_many(self, coefficients: NDArray[np.float64]) -> FloatArray:
        """``X w`` of several w in one reading: W [k, features] to [k, documents]; one pass."""
        self.passes += 1
        w = coefficients.astype(self.dtype)
        out = np.empty((len(w), self.n_documents), self.dtype)
        # A block of sparse rows would be a copy.
        whole = self.is_sparse and self.features.dtype == self.dtype
        for rows, block in [(slice(None), self.features)] if whole else self._blocks():
            for scores, one in zip(out, w, strict=True):
                scores[rows] = block @ one
        return out

    def pulled(self, pull: FloatArray) -> NDArray[np.float64]:
        """``X' c`` [features], blocks of rows accumulated in float64; one pass."""
        self.passes += 1
        c = pull.astype(self.dtype, copy=False)
        out = np.zeros(self.n_features)
        for rows, block in self._blocks():
            out += block.T @ c[rows]
        return out

    def pulled_both(
        self, first: FloatArray, second: FloatArray
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``X' c`` for two vectors in one reading of the features; one pass."""
        self.passes += 1
        pulls = np.column_stack([first, second]).astype(self.dtype, copy=False)
        out = np.zeros((self.n_features, 2))
        for rows, block in self._blocks():
            out += block.T @ pulls[rows]
        return out[:, 0].copy(), out[:, 1].copy()

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """All rows, block by block, in the precision of the products; one pass."""
        self.passes += 1
        return self._blocks()

    def curvature(
        self, preferred: IntArray, other: IntArray, weights: FloatArray
    ) -> NDArray[np.float64]:
        """``sum_k weight_k (x_i - x_j)(x_i - x_j)'`` [features, features] of the sampled pairs."""
        total = np.zeros((self.n_features, self.n_features))
        roots = np.sqrt(weights).astype(self.dtype)
        step = max(SAMPLES_PER_BLOCK, ENTRIES_PER_BLOCK // self.n_features)
        pair = np.empty((2, min(step, len(roots)), self.n_features), self.dtype)
        for start in range(0, len(roots), step):
            part = slice(start, start + step)
            n = len(roots[part])
            left = self._rows(preferred[part], pair[0, :n])
            left -= self._rows(other[part], pair[1, :n])
            left *= roots[part, None]
            total += left.T @ left
        return total

    def _rows(self, rows: IntArray, out: FloatArray) -> FloatArray:
        """Some rows, dense, in the precision of the products."""
        if self.is_sparse:
            out[:] = self.features[rows].toarray()
        elif self.features.dtype == self.dtype:
            np.take(self.features, rows, axis=0, out=out, mode="clip")
        else:
            out[:] = self.features[rows]
        return out

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """All rows, block by block, in the precision of the products."""
        if self.features.dtype == self.dtype:
            for rows in _slices(self.n_documents, ROWS_PER_BLOCK):
                yield rows, self.features[rows]
            return
        # Converted rows should stay in the cache until they are used.
        step = max(1, min(ROWS_PER_BLOCK, CONVERTED_ENTRIES // max(1, self.n_features)))
        buffer = np.empty((0 if self.is_sparse else step, self.n_features), self.dtype)
        for rows in _slices(self.n_documents, step):
            if self.is_sparse:
                yield rows, self.features[rows].astype(self.dtype)
            else:
                block = buffer[: rows.stop - rows.start]
                block[:] = self.features[rows]
                yield rows, block


def _slices(total: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, total)) for start in range(0, total, step)]
