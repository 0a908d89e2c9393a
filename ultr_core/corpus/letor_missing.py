"""Values that are read as 0: those marked as missing, and those too small for float32.

Istella's files hold the largest double where a value is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.too_small import SMALLEST_FEATURE, TooSmall

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


@dataclass(frozen=True)
class ReadAsZero:
    """Values of a file that are 0 in the corpus and not in the file."""

    missing: Missing = field(default_factory=Missing)
    small: TooSmall = field(default_factory=TooSmall)

    def __add__(self, later: ReadAsZero) -> ReadAsZero:
        """Both together; ``later`` stands behind this one in the file."""
        return ReadAsZero(self.missing + later.missing, self.small + later.small)

    def moved(self, lines: int) -> ReadAsZero:
        """The same, that many lines further down."""
        return ReadAsZero(self.missing.moved(lines), self.small.moved(lines))

    @classmethod
    def of(cls, value: float, feature: int) -> ReadAsZero | None:
        """What one value in line 0 is read as 0 for; None for one that is not."""
        if abs(value) == LARGEST_DOUBLE:
            return cls(missing=Missing(1, 0, feature))
        if 0 < abs(value) <= SMALLEST_FEATURE:
            return cls(small=TooSmall(1, {feature: 0}))
        return None


def take_out(
    numbers: NDArray[np.float64],
    ids: NDArray[Any],
    lengths: NDArray[np.int64],
    lines: NDArray[np.int64],
) -> ReadAsZero:
    """Set values that are read as 0 to 0 in place, and say how many there were and where.

    numbers, ids: [entries] in the order of the text. lengths, lines: [rows] entries and line.
    """
    size = np.abs(numbers)
    marked = np.flatnonzero(size == LARGEST_DOUBLE)
    small = np.flatnonzero((size <= SMALLEST_FEATURE) & (size > 0))
    if not marked.size and not small.size:
        return ReadAsZero()
    numbers[marked] = 0.0
    numbers[small] = 0.0
    ends = np.cumsum(lengths)

    def line_of(entries: NDArray[np.intp]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = lines[np.searchsorted(ends, entries, side="right")]
        return found

    missing = Missing()
    if marked.size:
        missing = Missing(int(marked.size), int(line_of(marked[:1])[0]), int(ids[marked[0]]))
    return ReadAsZero(missing, TooSmall.at(ids[small], line_of(small)))
