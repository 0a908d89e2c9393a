"""A smaller problem with the same solution, where features outnumber what can be learned.

The minimiser of ``1/2 w.w + f(X w)`` is a combination of the rows of X. A feature that is zero in
all rows has coefficient zero; and with an orthonormal basis B of the row space, ``w = B z``, both
``w.w = z.z`` and ``X w = (X B) z``, so that z may be fitted in place of w. From the eigenvectors of
the Gram matrix, ``X X' = U L U'``,

    X B = U L^(1/2),    B = X' U L^(-1/2).

Directions that rounding hides in the Gram matrix are left out; certificates come from X itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg

from ultr_core.errors import InputError
from ultr_core.learners.array_types import IntArray
from ultr_core.learners.products import FeatureProducts

# Up to this many features nothing is done, unless unused ones make up a good part of them.
MANY_FEATURES = 2000
UNUSED_SHARE = 0.25
# A fit works with a dense matrix of the smaller of features and documents, squared.
MOST_DIMENSIONS = 4000
# Columns of the features that enter the Gram matrix together.
COLUMNS_PER_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Subspace:
    """Coefficients of the solver, z, and those of the features, w.

    ``columns`` [used] are the features that are used (None: all). ``features`` X [documents, used]
    and ``mixing`` U L^(-1/2) [documents, dimensions] give the basis (None: w itself is fitted).
    """

    n_features: int
    columns: IntArray | None
    features: Any
    mixing: NDArray[np.float64] | None

    @property
    def is_whole(self) -> bool:
        """Whether z is w."""
        return self.columns is None and self.mixing is None

    def widened(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """w [features] of z, or of a gradient in its place."""
        used = self.within_columns(z)
        if self.columns is None:
            return used
        w = np.zeros(self.n_features)
        w[self.columns] = used
        return w

    def within_columns(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """w [used] of z."""
        if self.mixing is None:
            return z
        return FeatureProducts(self.features, np.float64).pulled(self.mixing @ z)

    def narrowed(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """z of the projection of w [features]."""
        used = w if self.columns is None else w[self.columns]
        if self.mixing is None:
            return used
        scores = FeatureProducts(self.features, np.float64).scores(used)
        return np.asarray(self.mixing.T @ scores)


def find_subspace(features: Any, used: NDArray[np.bool_]) -> tuple[Subspace, Any]:
    """The subspace for features X [documents, features], and the features that it is solved with.

    ``used`` [features] says which columns are not zero. Raises InputError if both documents and
    used features are too many.
    """
    n_documents, n_features = features.shape
    columns = None
    unused = n_features - int(used.sum())
    if unused and (n_features > MANY_FEATURES or unused >= UNUSED_SHARE * n_features):
        # Where nothing tells documents apart, one column of zeros is kept: w = 0 is the best then.
        columns = np.flatnonzero(used) if used.any() else np.zeros(1, np.int64)
        features = features[:, columns]
    n_used = features.shape[1]
    if n_used <= MANY_FEATURES or (n_documents >= n_used and n_used <= MOST_DIMENSIONS):
        return Subspace(n_features, columns, features, None), features
    if n_documents > MOST_DIMENSIONS:
        raise InputError(
            f"The training queries use {n_used} features and contain {n_documents} documents; one "
            f"of these two numbers must be at most {MOST_DIMENSIONS}, so keep fewer features or "
            "fewer queries."
        )
    values, vectors = linalg.eigh(_gram(features))
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    roots = np.sqrt(values[kept])
    mixing = vectors[:, kept] / roots
    return Subspace(n_features, columns, features, mixing), vectors[:, kept] * roots


def _gram(features: Any) -> NDArray[np.float64]:
    """``X X'`` [documents, documents] in float64."""
    is_sparse: bool = sp.issparse(features)
    if is_sparse:
        exact = features.astype(np.float64)
        return np.asarray((exact @ exact.T).toarray())
    total = np.zeros((features.shape[0],) * 2)
    for start in range(0, features.shape[1], COLUMNS_PER_BLOCK):
        block = features[:, start : start + COLUMNS_PER_BLOCK].astype(np.float64)
        total += block @ block.T
    return total
