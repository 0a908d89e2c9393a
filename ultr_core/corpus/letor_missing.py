"""Values of a file that are read as 0: those marked as missing, and those too small for float32.

Istella's files hold the largest double where a value is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.words import counted

LARGEST_DOUBLE = float(np.finfo(np.float64).max)
"""1.797693134862315708e+308, of either sign, is the mark; every other value is a number."""

SMALLEST_FEATURE = 2.0**-150
"""Sizes up to it, about 7e-46, become 0 in float32."""


@dataclass(frozen=True)
class Zeroed:
    """Values of one kind that are read as 0: how many, and the line and feature of the first."""

    count: int = 0
    line: int = 0
    feature: int = 0

    def __add__(self, later: Zeroed) -> Zeroed:
        """Both together; ``later`` is further down in the file."""
        return replace(self if self.count else later, count=self.count + later.count)

    def moved(self, lines: int) -> Zeroed:
        """The same, that many lines further down."""
        return replace(self, line=self.line + lines)

    def notices(self, reason: str) -> tuple[str, ...]:
        """One sentence if there is any; ``reason`` says what such a value is."""
        if not self.count:
            return ()
        which = "it is" if self.count == 1 else "the first is"
        return (
            f"{counted(self.count, 'value is', 'values are')} {reason}, and read as 0; {which} in "
            f"line {self.line}, feature {self.feature}.",
        )


@dataclass(frozen=True)
class ReadAsZero:
    """Values of a file that are 0 in the corpus and not in the file."""

    missing: Zeroed = field(default_factory=Zeroed)
    small: Zeroed = field(default_factory=Zeroed)

    def __add__(self, later: ReadAsZero) -> ReadAsZero:
        """Both together; ``later`` is further down in the file."""
        return ReadAsZero(self.missing + later.missing, self.small + later.small)

    def moved(self, lines: int) -> ReadAsZero:
        """The same, that many lines further down."""
        return ReadAsZero(self.missing.moved(lines), self.small.moved(lines))

    def notices(self) -> tuple[str, ...]:
        """One sentence for each kind that there is."""
        return (
            *self.missing.notices(
                "±1.797693e+308, the mark of Istella's files for a missing value"
            ),
            *self.small.notices(f"within ±{SMALLEST_FEATURE:.0e}, too small for float32"),
        )

    @classmethod
    def of(cls, value: float, feature: int) -> ReadAsZero | None:
        """What one value in line 0 is read as 0 for; None for one that is not."""
        if abs(value) == LARGEST_DOUBLE:
            return cls(missing=Zeroed(1, 0, feature))
        if 0 < abs(value) <= SMALLEST_FEATURE:
            return cls(small=Zeroed(1, 0, feature))
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
    ends = np.cumsum(lengths)

    def taken_out(entries: NDArray[np.intp]) -> Zeroed:
        if not entries.size:
            return Zeroed()
        numbers[entries] = 0.0
        line = lines[np.searchsorted(ends, entries[0], side="right")]
        return Zeroed(entries.size, int(line), int(ids[entries[0]]))

    marked = np.flatnonzero(size == LARGEST_DOUBLE)
    small = np.flatnonzero((size <= SMALLEST_FEATURE) & (size > 0))
    return ReadAsZero(taken_out(marked), taken_out(small))
