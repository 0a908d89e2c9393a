"""Examination given rank by rank instead of as a power law: the fields, their check, their text.

A curve in :class:`~ultr_core.settings.Settings` is a tuple of numbers for ranks 1, 2, ...; empty
means the power law. Only ratios matter (section 5.3 of the paper), so numbers are kept divided by
the first or, where a later rank is examined more, by the largest. They keep all their digits:
a curve equal to (1/r)^η gives the very numbers that η gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ultr_core.errors import InputError, quoted
from ultr_core.fields import (
    Field,
    Notice,
    both,
    last_of,
    no_number,
    number_of,
    parts_of,
    repeated,
)

Values = tuple[float, ...]

MOST_RANKS = 200
"""Ranks that a curve may give; beyond its last one that value holds."""

LEAST_RATIO = 1e-6
"""Smallest examination relative to the largest; a click there would weigh a million."""

_LEAST = LEAST_RATIO * (1 - 1e-12)  # so that 3e-6 of 3 passes, however it is rounded

LONGEST_TEXT = 6_000
"""Characters of a curve in a link: more than the most ranks with all their digits take."""

SIGNIFICANT_DIGITS = 4
"""Digits of an estimated curve that is handed over in a link; its error is larger."""


@dataclass(frozen=True)
class CurveField(Field):
    """One curve of a world; ``power`` names the exponent that it takes the place of."""

    power: str
    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """What a text field takes."""
        return "comma-separated numbers for ranks 1, 2, ..."

    def checked(self, given: Any) -> Values:
        """The numbers divided by the first, or by the largest where that is another one.

        Raises :class:`InputError` for what are no numbers, too many of them, a negative or
        infinite one, or one so near 0 that a click there could not be weighted.
        """
        numbers = tuple(self._number(value, rank) for rank, value in self._each(given))
        if not numbers:
            return ()
        top = max(numbers)
        for rank, value in enumerate(numbers, start=1):
            # Of the ratio itself: a share of a tiny number may round to 0.
            if top <= 0 or not value / top >= _LEAST:
                raise InputError(
                    f"{self.label} has {value:g} at rank {rank}; every rank needs a number above "
                    f"0, at least {LEAST_RATIO:.6f} times the largest, because clicks at that rank "
                    "are divided by it.",
                    self.name,
                )
        return tuple(value / top for value in numbers)

    def _each(self, given: Any) -> list[tuple[int, Any]]:
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputError(
                f"{self.label} is {quoted(given)}; give numbers for ranks 1, 2, ...",
                self.name,
            )
        try:
            found = list(enumerate(given, start=1))
        except TypeError:  # an array without axes
            raise InputError(
                f"{self.label} is {quoted(given)}; give numbers for ranks 1, 2, ...",
                self.name,
            ) from None
        if len(found) > MOST_RANKS:
            raise InputError(
                f"{self.label} has {len(found):,} numbers, but at most {MOST_RANKS} can be used; "
                "the last number used applies to all further ranks.",
                self.name,
            )
        return found

    def _number(self, value: Any, rank: int) -> float:
        number = number_of(value)
        if isinstance(value, bytes) or not math.isfinite(number):
            raise InputError(
                f"{self.label} has {quoted(value)} at rank {rank}; it must be a number above 0.",
                self.name,
            )
        return number

    def from_text(self, text: Any) -> Values:
        """The numbers of a link or a text field as they stand there, "1, 0.62, 0.45"; or none.

        Raises :class:`InputError` as ``checked`` does.
        """
        if not isinstance(text, str) or len(text) > LONGEST_TEXT:
            raise InputError(f"{self.label} must be {self.wanted}.", self.name)
        parts = parts_of(text)
        if text.strip() and not any(parts):
            raise self.refused(text)
        if "" in parts:
            raise InputError(f"{self.label} has {no_number(parts)}", self.name)
        self.checked(parts)
        return tuple(map(float, parts))

    def read(self, asked: Any) -> tuple[Values, Notice]:
        """The curve of a link, or the power law and a sentence if it cannot be used."""
        again = repeated(self.label, asked)
        try:
            values = self.from_text(last_of(asked))
        except InputError as error:
            told = f"The link's curve cannot be used: {error} The power law is shown instead."
            return (), both(again, told)
        return self.checked(values), both(again, self.scaled(values))

    def write(self, value: Any) -> str:
        """Every digit of every number: "1,0.62,0.45"."""
        return curve_text(value)

    def scaled(self, given: Iterable[Any]) -> Notice:
        """A sentence on what the numbers were divided by, if by anything."""
        numbers = [float(value) for value in given]
        if not numbers or max(numbers) == 1:
            return None
        top = max(range(len(numbers)), key=numbers.__getitem__)
        largest = "" if top == 0 else ", the largest"
        return (
            f"{self.label}: the numbers were divided by {numbers[top]:g}, the number at rank "
            f"{top + 1}{largest}; only ratios matter."
        )


_ALL = (
    CurveField(
        "p", "Users' examination curve", "eta", name="curve",
        help="How often each rank is examined, for ranks 1, 2, ...; replaces (1/r)^η.",
    ),
    CurveField(
        "assumed_p", "Learner's examination curve", "assumed_eta", name="assumed_curve",
        help="What the learner assumes about each rank, for ranks 1, 2, ...; replaces (1/r)^η′.",
    ),
)  # fmt: skip

CURVES: Mapping[str, CurveField] = MappingProxyType({each.name: each for each in _ALL})


def curve_text(values: Iterable[float]) -> str:
    """A curve for a link, every digit kept: "1,0.62,0.45"."""
    return ",".join(
        f"{value:.0f}" if value == int(value) else repr(float(value)) for value in values
    )


def in_few_digits(values: Iterable[float]) -> Values:
    """The numbers with the digits that an estimate supports, for a short link."""
    return tuple(float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values)
