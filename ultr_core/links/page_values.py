"""Kinds of values that a page's link can hold beside the world's settings.

Each kind reads any text without raising: a usable value, and a sentence if it is not what the
link asked for. ``write`` is the inverse of ``read``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ultr_core.errors import number_in_text, quoted
from ultr_core.words import number_text


@runtime_checkable
class PageValue(Protocol):
    """One value of a page: its URL ``key``, its ``label`` for a reader and its ``default``."""

    @property
    def key(self) -> str:
        """Its name in the address bar."""

    @property
    def label(self) -> str:
        """Its name on the page."""

    @property
    def default(self) -> Any:
        """What holds without a link."""

    def read(self, asked: Any) -> tuple[Any, str | None]:
        """The value for what a link says, and a sentence if that could not be used as it was."""

    def write(self, value: Any) -> str:
        """How a link says ``value``."""


@dataclass(frozen=True)
class Choice:
    """One of several ``options``, a stable key for each with the title that the page shows."""

    key: str
    label: str
    options: Mapping[str, str]
    help: str = ""

    @property
    def default(self) -> str:
        """The first option."""
        return next(iter(self.options))

    def read(self, asked: Any) -> tuple[str, str | None]:
        """The key; a title, as older links have it, stands for its key."""
        text = str(_last(asked))
        for key, title in self.options.items():
            if text in (key, title):
                return key, None
        return self.default, _refused(
            self.label, text, f"one of {', '.join(self.options)}", self.options[self.default]
        )

    def write(self, value: Any) -> str:
        """The key."""
        return str(value)


@dataclass(frozen=True)
class Stops:
    """One of several numbers, unevenly spaced; ``percent`` shows 0.1 as 10%."""

    key: str
    label: str
    stops: tuple[float, ...]
    default: float
    help: str = ""
    percent: bool = False

    def shown(self, value: float) -> str:
        """How the control shows a number, which is also what Streamlit writes to the address."""
        return f"{value:.0%}" if self.percent else f"{value:,}"

    def read(self, asked: Any) -> tuple[float, str | None]:
        """The number, or the nearest one that is offered."""
        text = str(_last(asked))
        for stop in self.stops:
            if text in (self.shown(stop), str(stop)):
                return stop, None
        number = _number(text.replace(",", ""))
        if number is None or number <= 0:
            wanted = ", ".join(map(self.shown, self.stops))
            return self.default, _refused(
                self.label, text, f"one of {wanted}", self.shown(self.default)
            )
        nearest = min(self.stops, key=lambda stop: abs(math.log(stop / number)))
        return nearest, (
            None if nearest == number else _moved(self.label, text, self.shown(nearest))
        )

    def write(self, value: Any) -> str:
        """As the control shows it: anything else would be corrected in the address bar."""
        return self.shown(value)


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``."""

    key: str
    label: str
    low: int
    high: int
    default: int
    help: str = ""

    def read(self, asked: Any) -> tuple[int, str | None]:
        """The number, or the default if it is none or out of range."""
        text = str(_last(asked))
        number = _number(text)
        if number is None or number != int(number) or not self.low <= number <= self.high:
            wanted = f"a whole number from {self.low:,} to {self.high:,}"
            return self.default, _refused(self.label, text, wanted, f"{self.default:,}")
        return int(number), None

    def write(self, value: Any) -> str:
        """The number."""
        return str(int(value))


@dataclass(frozen=True)
class Real:
    """A number from ``low`` to ``high`` in steps of ``step``, a fraction of one."""

    key: str
    label: str
    low: float
    high: float
    step: float
    default: float
    help: str = ""

    def read(self, asked: Any) -> tuple[float, str | None]:
        """The number on the nearest step, or the default if it is none or out of range."""
        text = str(_last(asked))
        number = _number(text)
        if number is None or not self.low <= number <= self.high:
            wanted = f"a number from {self.low:g} to {self.high:g}"
            return self.default, _refused(self.label, text, wanted, f"{self.default:g}")
        places = len(f"{self.step:g}".partition(".")[2])
        used = round(round(number / self.step) * self.step, places) + 0.0
        return used, (None if used == number else _moved(self.label, text, f"{used:g}"))

    def write(self, value: Any) -> str:
        """The shortest text of the number."""
        return number_text(value)


@dataclass(frozen=True)
class Switch:
    """On or off; off without a link."""

    key: str
    label: str
    help: str = ""
    default: bool = False

    def read(self, asked: Any) -> tuple[bool, str | None]:
        """True or false."""
        text = str(_last(asked))
        if text.lower() in ("true", "false"):
            return text.lower() == "true", None
        return self.default, _refused(
            self.label, text, "true or false", "true" if self.default else "false"
        )

    def write(self, value: Any) -> str:
        """``true`` or ``false``."""
        return "true" if value else "false"


@dataclass(frozen=True)
class Line:
    """A line of text of at most ``longest`` characters; the page itself checks what it means."""

    key: str
    label: str
    default: str = ""
    longest: int = 200
    help: str = ""

    def read(self, asked: Any) -> tuple[str, str | None]:
        """The text, or the default where it is too long or cannot be printed."""
        text = str(_last(asked))
        if len(text) > self.longest or not text.isprintable():
            return self.default, _refused(
                self.label, text, f"a line of at most {self.longest} characters",
                self.default or "Nothing",
            )  # fmt: skip
        return text, None

    def write(self, value: Any) -> str:
        """The text itself."""
        return str(value)


NONE_CHOSEN = "-"
"""How a link says that no letter is chosen."""


@dataclass(frozen=True)
class Letters:
    """A set of the letters ``offered``, in their order."""

    key: str
    label: str
    offered: str
    default: tuple[str, ...] = ()
    help: str = field(default="")

    def read(self, asked: Any) -> tuple[tuple[str, ...], str | None]:
        """The letters, from one text or from several values; unknown ones are left out."""
        several = asked if isinstance(asked, list | tuple) else [asked]
        text = "".join(str(part) for part in several)
        chosen = tuple(letter for letter in self.offered if letter in text)
        if text == NONE_CHOSEN or (chosen and all(letter in self.offered for letter in text)):
            return chosen, None
        return self.default, _refused(
            self.label, text, f"letters from {self.offered[0]} to {self.offered[-1]}",
            "".join(self.default),
        )  # fmt: skip

    def write(self, value: Any) -> str:
        """The letters in one word."""
        return "".join(value) or NONE_CHOSEN


def _last(asked: Any) -> Any:
    """The last of several values of one key."""
    if isinstance(asked, list | tuple):
        return asked[-1] if asked else ""
    return asked


def _number(text: str) -> float | None:
    """A finite number, or None."""
    number = number_in_text(text)
    return number if math.isfinite(number) else None


def _refused(label: str, asked: str, wanted: str, shown: str) -> str:
    return f"The link asks for {label} = {quoted(asked)}; it must be {wanted}. {shown} is shown."


def _moved(label: str, asked: str, shown: str) -> str:
    return (
        f"The link asks for {label} = {quoted(asked)}; the nearest possible value, {shown}, is "
        "shown."
    )


def read_values(
    values: Iterable[PageValue], query: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Every value by key, from a link where it is named there, with a sentence for each correction.

    No content of ``query`` can raise; keys that are none of ``values`` are left alone.
    """
    found: dict[str, Any] = {}
    notices = []
    for value in values:
        found[value.key] = value.default
        if value.key in query:
            found[value.key], notice = value.read(query[value.key])
            if notice:
                notices.append(notice)
    return found, tuple(notices)


def write_values(values: Iterable[PageValue], found: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a link for what differs from the defaults."""
    return {
        value.key: value.write(found[value.key])
        for value in values
        if value.key in found and found[value.key] != value.default
    }
