"""Feature values other than 0 that float32 cannot tell from 0: counted, told, never lost unseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.words import counted

SMALLEST_FEATURE = 2.0**-150
"""Sizes up to it, about 7e-46, become 0 in float32."""


@dataclass(frozen=True)
class TooSmall:
    """Values that became 0: how many, and where the first of each feature is, in their order.

    Features are columns and places documents, both from 0; or ids and lines of a file.
    """

    count: int = 0
    first: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def at(cls, features: NDArray[Any], places: NDArray[Any]) -> TooSmall:
        """Values of these features at these places [values], in the order of the places."""
        found, index = np.unique(features, return_index=True)
        order = np.argsort(index)
        places = np.asarray(places)[index[order]]
        return cls(features.size, dict(zip(found[order].tolist(), places.tolist(), strict=True)))

    def __add__(self, later: TooSmall) -> TooSmall:
        """Both together; ``later`` stands behind this one."""
        if not (self.count and later.count):
            return self if self.count else later
        return TooSmall(self.count + later.count, {**self.first, **later.first, **self.first})

    def moved(self, lines: int) -> TooSmall:
        """The same, that many lines further down."""
        return TooSmall(self.count, {feature: line + lines for feature, line in self.first.items()})

    def notices(
        self,
        features: NDArray[np.float32] | sparse.csr_array,
        feature_ids: NDArray[np.int64],
        places: str,
    ) -> tuple[str, ...]:
        """One sentence if there is any; what is counted from 0 must have been columns.

        features [documents, features] as they were kept; ``places`` names a place, as "line {}".
        Raises InputError for a feature of which nothing but 0 is left.
        """
        for column, place in self.first.items():
            if not _column(features, column).any():
                raise InputError(
                    f"All values of feature {feature_ids[column]} would become 0: they are within "
                    f"±{SMALLEST_FEATURE:.0e}, too small for float32, the first other than 0 in "
                    f"{places.format(place)}; scale this feature up or leave it out."
                )
        if not self.count:
            return ()
        column, place = next(iter(self.first.items()))
        return (
            f"{counted(self.count, 'value is', 'values are')} within ±{SMALLEST_FEATURE:.0e}, too "
            f"small for float32, and read as 0; the first stands in {places.format(place)}, "
            f"feature {feature_ids[column]}.",
        )


def _column(features: NDArray[np.float32] | sparse.csr_array, column: int) -> NDArray[np.float32]:
    """The values of one column that are kept."""
    if isinstance(features, sparse.csr_array):
        found: NDArray[np.float32] = features.data[features.indices == column]
        return found
    return features[:, column]
