"""Products with the feature matrix, counted: the unit of cost of a linear ranker's training.

A *pass* is one product that reads all features once, ``X p`` or ``X' c``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ultr_core.learners.types import FloatArray, IntArray

# Rows whose products are accumulated in the features' precision before they enter a float64 sum.
ROWS_PER_BLOCK = 8192


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
        self.passes = 0

    def scores(self, coefficients: NDArray[np.float64]) -> FloatArray:
        """``X w`` [documents]; one pass."""
        self.passes += 1
        w = coefficients.astype(self.dtype)
        if self.features.dtype == self.dtype:
            return np.asarray(self.features @ w)
        out = np.empty(self.n_documents, self.dtype)
        for rows in self._row_blocks():
            out[rows] = self.features[rows].astype(self.dtype) @ w
        return out

    def pulled(self, pull: FloatArray) -> NDArray[np.float64]:
        """``X' c`` [features], blocks of rows accumulated in float64; one pass."""
        self.passes += 1
        c = pull.astype(self.dtype, copy=False)
        out = np.zeros(self.n_features)
        for rows in self._row_blocks():
            block = self.features[rows].astype(self.dtype, copy=False)
            out += block.T @ c[rows] if self.is_sparse else c[rows] @ block
        return out

    def scores_and_pulled(
        self, coefficients: NDArray[np.float64], pull: FloatArray
    ) -> tuple[FloatArray, NDArray[np.float64]]:
        """``X w`` and ``X' c`` in one reading of the features; one pass."""
        self.passes += 1
        w, c = coefficients.astype(self.dtype), pull.astype(self.dtype, copy=False)
        scores, pulled = np.empty(self.n_documents, self.dtype), np.zeros(self.n_features)
        for rows in self._row_blocks():
            block = self.features[rows].astype(self.dtype, copy=False)
            scores[rows] = block @ w
            pulled += block.T @ c[rows] if self.is_sparse else c[rows] @ block
        return scores, pulled

    def curvature(
        self, preferred: IntArray, other: IntArray, weights: FloatArray
    ) -> NDArray[np.float64]:
        """``sum_k weight_k (x_i - x_j)(x_i - x_j)'`` [features, features] of the sampled pairs."""
        differences = self.features[preferred] - self.features[other]
        if self.is_sparse:
            differences = differences.toarray()
        differences = differences.astype(self.dtype, copy=False)
        differences *= np.sqrt(weights).astype(self.dtype)[:, None]
        return np.asarray((differences.T @ differences).astype(np.float64))

    def _row_blocks(self) -> list[slice]:
        starts = range(0, self.n_documents, ROWS_PER_BLOCK)
        return [slice(start, min(start + ROWS_PER_BLOCK, self.n_documents)) for start in starts]
