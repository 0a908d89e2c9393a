"""Missing feature values: Istella's files hold the largest double where a value is unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_DOUBLE = float(np.finfo(np.float64).max)
"""1.797693134862315708e+308, of either sign, is the mark; every other value is a number."""


@dataclass(frozen=True)
class Missing:
    """Values marked as missing: how many, and the line and feature of the first."""

    count: int = 0
    line: int = 0
    feature: int = 0

    def __add__(self, later: Missing) -> Missing:
        """Both together; ``later`` stands behind this one in the file."""
        return replace(self if self.count else later, count=self.count + later.count)

    def moved(self, lines: int) -> Missing:
        """The same, that many lines further down."""
        return replace(self, line=self.line + lines)

    def notices(self) -> tuple[str, ...]:
        """One sentence if there is any."""
        if not self.count:
            return ()
        values = "1 value is" if self.count == 1 else f"{self.count:,} values are"
        which = "it stands" if self.count == 1 else "the first stands"
        return (
            f"{values} ±1.797693e+308, the mark of Istella's files for a missing value, and read "
            f"as 0; {which} in line {self.line}, feature {self.feature}.",
        )


def take_out(
    numbers: NDArray[np.float64],
    ids: NDArray[Any],
    lengths: NDArray[np.int64],
    lines: NDArray[np.int64],
) -> Missing:
    """Set marked values to 0 in place, and say how many there were and where.

    numbers, ids: [entries] in the order of the text. lengths, lines: [rows] entries and line.
    """
    marked = np.flatnonzero(np.abs(numbers) == LARGEST_DOUBLE)
    if not marked.size:
        return Missing()
    numbers[marked] = 0.0
    row = int(np.searchsorted(np.cumsum(lengths), marked[0], side="right"))
    return Missing(int(marked.size), int(lines[row]), int(ids[marked[0]]))
