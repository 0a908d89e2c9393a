"""Examination given rank by rank instead of as a power law: the fields, their check, their text.

A curve in :class:`~ultr_core.settings.Settings` is a tuple of numbers for ranks 1, 2, ...; empty
means the power law. Only ratios matter (section 5.3 of the paper), so numbers are kept divided by
the first or, where a later rank is examined more, by the largest. They keep all their digits:
a curve equal to (1/r)^η gives the very numbers that η gives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ultr_core.errors import InputError, number_in_text, quoted

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

_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")


def ungrouped(asked: Any) -> Any:
    """One number of a link without the thousands separators that sliders show.

    What is none stays as it is, and so does a list of numbers.
    """
    grouped = isinstance(asked, str) and _GROUPED.fullmatch(asked)
    return asked.replace(",", "") if grouped else asked


def parts_of(text: str) -> list[str]:
    """What stands between commas, semicolons and blanks; empty text for an empty place.

    Nothing after a comma at the end is no place.

    >>> parts_of("1, 0.5 0.3;"), parts_of("1,,0.3")
    (['1', '0.5', '0.3'], ['1', '', '0.3'])
    """
    *places, last = text.replace(";", ",").split(",")
    return [part for place in places for part in place.split() or [""]] + last.split()


def no_number(parts: Sequence[str]) -> str:
    """The end of a sentence on the first empty place of a curve, which would shift the others."""
    return (
        f"no number at rank {parts.index('') + 1}; give every rank its number, or take out the "
        "comma that is too many."
    )


@dataclass(frozen=True)
class CurveField:
    """One curve of a world.

    ``name`` is the field of the settings; ``key`` stands in the address bar; ``power`` names the
    exponent that the curve takes the place of.
    """

    name: str
    key: str
    label: str
    help: str
    power: str

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
                    f"0, at least {LEAST_RATIO:.6f} of the largest, because clicks there are "
                    "divided by it.",
                    self.name,
                )
        return tuple(value / top for value in numbers)

    def _each(self, given: Any) -> list[tuple[int, Any]]:
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputError(
                f"{self.label} is {quoted(given)}; it must be numbers for ranks 1, 2, ...",
                self.name,
            )
        try:
            found = list(enumerate(given, start=1))
        except TypeError:  # an array without axes
            raise InputError(
                f"{self.label} is {quoted(given)}; it must be numbers for ranks 1, 2, ...",
                self.name,
            ) from None
        if len(found) > MOST_RANKS:
            raise InputError(
                f"{self.label} has {len(found):,} ranks; at most {MOST_RANKS} can be used, and "
                "beyond the last one its value holds.",
                self.name,
            )
        return found

    def _number(self, value: Any, rank: int) -> float:
        try:
            number = number_in_text(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool | bytes) or not math.isfinite(number):
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
            raise InputError(
                f"{self.label} must be numbers for ranks 1, 2, ... with commas between them.",
                self.name,
            )
        parts = parts_of(text)
        if text.strip() and not any(parts):
            raise InputError(
                f"{self.label} is {quoted(text)}; it must be numbers for ranks 1, 2, ... with "
                "commas between them.",
                self.name,
            )
        if "" in parts:
            raise InputError(f"{self.label} has {no_number(parts)}", self.name)
        self.checked(parts)
        return tuple(map(float, parts))

    def scaled(self, given: Iterable[Any]) -> tuple[str, ...]:
        """A sentence on what the numbers were divided by, if by anything."""
        numbers = [float(value) for value in given]
        if not numbers or max(numbers) == 1:
            return ()
        top = max(range(len(numbers)), key=numbers.__getitem__)
        largest = "" if top == 0 else ", the largest"
        return (
            f"{self.label}: the numbers were divided by {numbers[top]:g}, that of rank {top + 1}"
            f"{largest}; only ratios matter.",
        )


_ALL = (
    CurveField(
        "curve", "p", "Users' examination curve",
        "How often each rank is examined, for ranks 1, 2, ...; it takes the place of (1/r)^η.",
        "eta",
    ),
    CurveField(
        "assumed_curve", "assumed_p", "Learner's examination curve",
        "What the learner believes about each rank, for ranks 1, 2, ...; it takes the place of "
        "(1/r)^η′.",
        "assumed_eta",
    ),
)  # fmt: skip

CURVES: Mapping[str, CurveField] = MappingProxyType({field.name: field for field in _ALL})


def curve_text(values: Iterable[float]) -> str:
    """A curve for a link, every digit kept: "1,0.62,0.45"."""
    return ",".join(
        f"{value:.0f}" if value == int(value) else repr(float(value)) for value in values
    )


def in_few_digits(values: Iterable[float]) -> Values:
    """The numbers with the digits that an estimate supports, for a short link."""
    return tuple(float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values)
