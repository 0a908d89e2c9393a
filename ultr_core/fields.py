"""The one kind of typed value: settings, values of pages, options of commands and keys of links.

A `Field` has a key, a label, a help text, limits and a default. Two doors lead in: `read` takes
whatever a link says and never raises, `checked` is for Python and options and raises. Both share
one meaning of "not a number", "out of range" and "nearest step". The examination curves of the
settings are fields as well, in `ultr_core.curve_values`.

>>> days = Number("days", "Days of clicks", 2, 366, default=21)
>>> days.read("30"), days.checked(30), days.write(30)
((30, None), 30, '30')
>>> days.read("0")[1]
'The link asks for Days of clicks = 0; it must be a whole number from 2 to 366. 21 is shown.'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.words import number_text

Notice = str | None
"""A sentence on what of a link could not be used as it was."""

_GROUPED = re.compile(r"[0-9]{1,3}([, '’_\u00a0\u2009\u202f])[0-9]{3}(\1[0-9]{3})*")
_LARGEST_SPOKEN = 1e12  # a larger number is not written out


def ungrouped(asked: Any) -> Any:
    """One number of a link without thousands separators: commas as on sliders, or blanks and such.

    Anything else is returned as it is, a list of numbers included.

    >>> ungrouped("170,000"), ungrouped("1 000 000"), ungrouped("1,0.5"), ungrouped(7)
    ('170000', '1000000', '1,0.5', 7)
    """
    grouped = _GROUPED.fullmatch(asked) if isinstance(asked, str) else None
    return asked.replace(grouped[1], "") if grouped else asked


def _plain(text: str) -> str:
    """A text without what two spellings of a choice may differ in."""
    return str(ungrouped(text.strip())).casefold()


def number_of(value: Any) -> float:
    """The number that a value or a text means; NaN for what is not a number.

    >>> number_of("1e3"), number_of(True), number_of("0x10")
    (1000.0, nan, nan)
    """
    if isinstance(value, bool):
        return math.nan
    try:
        return number_in_text(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def last_of(value: Any) -> Any:
    """The last of the several values that a link has for one key, or the value itself."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        return value
    try:
        *_, last = "", *value
    except TypeError:  # an array without axes is called iterable, but is one number
        return value
    return last


def repeated(label: str, asked: Any) -> Notice:
    """A sentence where a link says several things of one value, of which the last counts.

    >>> repeated("Seed", ["1", "2"]), repeated("Seed", ["1", "1"])
    ('The link gives Seed 2 times; the last value is used.', None)
    """
    texts = [each for each in asked if isinstance(each, str)] if isinstance(asked, list) else []
    if len(set(texts)) < 2:
        return None
    return f"The link gives {label} {len(texts)} times; the last value is used."


def both(*notices: Notice) -> Notice:
    """Several sentences on one value, or None."""
    return " ".join(filter(None, notices)) or None


def each_once(label: str, name: str, found: Iterable[Any]) -> tuple[Any, ...]:
    """The entries of a list.

    Raises InputError: an entry is there twice, which asks for nothing more than once, so that
    something else was meant.
    """
    entries = tuple(found)
    for place, entry in enumerate(entries):
        if entry in entries[:place]:
            raise InputError(f"{label} has {quoted(entry)} twice; give it only once.", name)
    return entries


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
        f"no number at rank {parts.index('') + 1}; give every rank a number, or remove the extra "
        "comma."
    )


@dataclass(frozen=True)
class Field:
    """One typed value: what every kind of field has.

    key: its name in the address bar. label: its name for a reader. default: its value unless one
    is given; a link leaves it out. name: its name in Python and, with dashes, as an option; the
    key unless it differs. symbol: its name in formulas. A kind says what it takes: `checked`,
    `write`, `shown` and `wanted`.
    """

    key: str
    label: str
    help: str = field(kw_only=True, default="")
    default: Any = field(kw_only=True, default=None)
    name: str = field(kw_only=True, default="")
    symbol: str = field(kw_only=True, default="")

    def __post_init__(self) -> None:
        """Fill in the name."""
        object.__setattr__(self, "name", self.name or self.key)

    @property
    def wanted(self) -> str:
        """What is accepted, as the end of "it must be ..."."""
        raise NotImplementedError

    def checked(self, value: Any) -> Any:
        """The value that is used for ``value``; raises InputError if it cannot be used."""
        raise NotImplementedError

    def read(self, asked: Any) -> tuple[Any, Notice]:
        """The value for what a link says, and a sentence if that could not be used as it was.

        Never raises; of several values the last counts, and an unusable one gives the default.
        """
        value, notice = self._read(last_of(asked))
        return value, both(repeated(self.label, asked), notice)

    def _read(self, asked: Any) -> tuple[Any, Notice]:
        try:
            return self.checked(asked), None
        except (ValueError, RecursionError):
            # Not only InputError: some numbers and nested lists cannot even be written into one.
            return self.default, self._not_used(asked)

    def write(self, value: Any) -> str:
        """How a link says ``value``; the inverse of `read`."""
        return str(value)

    def shown(self, value: Any) -> str:
        """How a reader sees ``value``."""
        return self.write(value)

    def in_words(self, value: Any) -> str:
        """A default, for help."""
        return self.write(value)

    def refused(self, value: Any) -> InputError:
        """The error for a value that cannot be used."""
        return InputError(f"{self.label} is {quoted(value)}; it must be {self.wanted}.", self.name)

    def _asked(self, asked: Any) -> str:
        """What a link asks for, in words."""
        return quoted(asked)

    def _not_used(self, asked: Any) -> str:
        return (
            f"The link asks for {self.label} = {self._asked(asked)}; it must be "
            f"{self._wanted_by_readers}. {self.shown(self.default) or 'Nothing'} is shown."
        )

    @property
    def _wanted_by_readers(self) -> str:
        """`wanted` as a page says it, whose readers know titles and not keys."""
        return self.wanted


@dataclass(frozen=True)
class Number(Field):
    """A number from ``low`` to ``high``, or with ``above`` one that is larger than ``low``.

    decimals: the precision that is kept; 0 makes it a whole number, which is never rounded, and
    None keeps every digit. step: the distance of two slider positions; ``snaps`` moves other
    values to the nearest one. stops: the slider positions where they are not evenly spaced;
    ``on_stops`` moves other values to the nearest one, on a logarithmic scale. percent: 0.1 is
    shown as 10%. limits: what is accepted in words, where data say more than ``low`` and ``high``.
    because: why the bounds are as they are, at the end of a message.
    """

    low: float
    high: float
    above: bool = field(kw_only=True, default=False)
    decimals: int | None = field(kw_only=True, default=0)
    step: float = field(kw_only=True, default=1)
    snaps: bool = field(kw_only=True, default=False)
    stops: tuple[float, ...] = field(kw_only=True, default=())
    on_stops: bool = field(kw_only=True, default=False)
    percent: bool = field(kw_only=True, default=False)
    limits: str = field(kw_only=True, default="")
    because: str = field(kw_only=True, default="")

    @property
    def wanted(self) -> str:
        """The permitted numbers in words, for messages and help."""
        if self.limits:
            return self.limits
        if self.on_stops:
            *others, last = map(self.shown, self.stops)
            return f"one of {', '.join(others)} or {last}"
        kind = "a whole number" if self.decimals == 0 else "a number"
        low, high = self.in_words(self.low), self.in_words(self.high)
        span = f"above {low} and at most {high}" if self.above else f"from {low} to {high}"
        return f"{kind} {span}{self.because}"

    def checked(self, value: Any) -> Any:
        """The number, rounded to what is kept.

        Raises InputError for what is not a finite number within the limits.
        """
        number = number_of(value)
        within = self.low <= number <= self.high and not (self.above and number == self.low)
        whole = self.decimals == 0
        if not within or (whole and number != int(number)):
            raise self.refused(value)
        return self._nearest(int(number) if whole else number)

    def _read(self, asked: Any) -> tuple[Any, Notice]:
        """The nearest possible number; "170,000" and "10%" are read as controls write them."""
        plain = self._without_percent(ungrouped(asked))
        used, notice = super()._read(plain)
        if notice is None and used != number_of(plain):
            notice = (
                f"The link asks for {self.label} = {self._asked(plain)}; "
                f"the nearest possible value, {self.shown(used)}, is shown."
            )
        return used, notice

    def write(self, value: Any) -> str:
        """The shortest text of the number; for one on stops, as a slider shows it."""
        if self.stops:
            return self.shown(value)
        return str(int(value)) if self.decimals == 0 else number_text(value)

    def shown(self, value: Any) -> str:
        """The number with thousands separators and without a decimal .0; nothing for None."""
        if value is None:
            return ""
        if self.percent:
            return f"{value:.0%}"
        return f"{int(value):,}" if value == int(value) else f"{value:,}"

    def in_words(self, value: Any) -> str:
        """A limit or a default, for help and messages."""
        return f"{value:,}" if abs(value) < _LARGEST_SPOKEN else f"{value:g}"

    def on_its_stops(self) -> Self:
        """The field as a slider has it, where that has unevenly spaced positions."""
        return replace(self, on_stops=bool(self.stops))

    def _nearest(self, number: float) -> float:
        if self.on_stops:
            return min(self.stops, key=lambda stop: abs(math.log(stop / number)))
        if self.decimals is None or self.decimals == 0:
            return number
        if self.snaps:
            number = round(number / self.step) * self.step
            # The last step within the range, where the range ends between two.
            number += self.step * (int(number < self.low) - int(number > self.high))
        return round(number, self.decimals) + 0.0

    def _without_percent(self, asked: Any) -> Any:
        if self.decimals == 0 or not (isinstance(asked, str) and asked.endswith("%")):
            return asked
        number = number_of(asked[:-1]) / 100
        return asked if math.isnan(number) else number

    def _asked(self, asked: Any) -> str:
        number = number_of(asked)
        return self.shown(number) if abs(number) < _LARGEST_SPOKEN else quoted(asked)


@dataclass(frozen=True)
class Choice(Field):
    """One of several ``options``, a stable key for each with its title; the first by default."""

    options: Mapping[str, str]

    def __post_init__(self) -> None:
        """Fill in name and default."""
        super().__post_init__()
        if self.default is None:
            object.__setattr__(self, "default", next(iter(self.options)))

    @property
    def wanted(self) -> str:
        """The keys."""
        return f"one of {', '.join(filter(None, self.options))}"

    @property
    def _wanted_by_readers(self) -> str:
        return f"one of {', '.join(filter(None, self.options.values()))}"

    def checked(self, value: Any) -> Any:
        """The key; a title, as older links have it, stands for its key, in any spelling.

        >>> clicks = Choice("n", "Clicks", {"few": "1,000", "most": "170,000"})
        >>> clicks.checked("170000"), clicks.checked("Few")
        ('most', 'few')
        """
        if isinstance(value, str):
            for plain in (str, _plain):
                for key, title in self.options.items():
                    if plain(value) in (plain(key), plain(title)):
                        return key
        raise self.refused(value)

    def nearest(self, key: str, offered: Sequence[str]) -> str:
        """The one of the keys ``offered`` that is nearest to a key in the order of the options.

        >>> Choice("n", "Clicks", {"few": "10", "many": "90", "most": "99"}).nearest(
        ...     "most", ("few", "many")
        ... )
        'many'
        """
        places = list(self.options)
        return min(offered, key=lambda each: abs(places.index(each) - places.index(key)))

    def shown(self, value: Any) -> str:
        """The title."""
        return self.options[value]


@dataclass(frozen=True)
class Switch(Field):
    """On or off; off unless switched on."""

    default: Any = field(kw_only=True, default=False)

    @property
    def wanted(self) -> str:
        """The two words of a link."""
        return "true or false"

    def checked(self, value: Any) -> bool:
        """True or false."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise self.refused(value)

    def write(self, value: Any) -> str:
        """``true`` or ``false``."""
        return "true" if value else "false"


@dataclass(frozen=True)
class Text(Field):
    """A line of at most ``longest`` characters; whoever uses it checks what it means.

    metavar: what help calls it, if not by the usual word.
    """

    longest: int = field(kw_only=True, default=200)
    metavar: str = field(kw_only=True, default="")
    default: Any = field(kw_only=True, default="")

    @property
    def wanted(self) -> str:
        """The length."""
        return f"a line of at most {self.longest} characters"

    def checked(self, value: Any) -> str:
        """The text, if it is not too long and can be printed."""
        text = str(value)
        if len(text) > self.longest or not text.isprintable():
            raise self.refused(text)
        return text


@dataclass(frozen=True)
class Choices(Field):
    """Several of the ``options``, as a tuple in the order in which they are given; () is none."""

    options: Mapping[str, str]
    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """The keys."""
        return f"one or more of {', '.join(self.options)}, each once, separated by commas"

    def checked(self, value: Any) -> tuple[str, ...]:
        """The keys of one text or of several."""
        given = value if isinstance(value, list | tuple) else str(value).split(",")
        one_of = Choice(self.key, self.label, self.options)
        try:
            found = [one_of.checked(str(each).strip()) for each in given]
        except InputError:
            raise self.refused(value) from None
        if not found:
            raise self.refused(value)
        return each_once(self.label, self.name, found)

    def write(self, value: Any) -> str:
        """The keys with commas between them."""
        return ",".join(value)

    def shown(self, value: Any) -> str:
        """The titles."""
        return ", ".join(self.options[key] for key in value)


NONE_CHOSEN = "-"
"""How a link says that no letter is chosen."""


@dataclass(frozen=True)
class Letters(Field):
    """A set of the letters ``offered``, as a tuple in their order."""

    offered: str
    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """The first and the last letter."""
        return f"letters from {self.offered[0]} to {self.offered[-1]}"

    def checked(self, value: Any) -> tuple[str, ...]:
        """The letters of one text or of several."""
        text = "".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if text != NONE_CHOSEN and (not text or set(text) - set(self.offered)):
            raise self.refused(text)
        return tuple(letter for letter in self.offered if letter in text)

    def read(self, asked: Any) -> tuple[tuple[str, ...], Notice]:
        """The letters, of all values of a link together."""
        return self._read(asked)

    def write(self, value: Any) -> str:
        """The letters in one word."""
        return "".join(value) or NONE_CHOSEN

    def shown(self, value: Any) -> str:
        """The letters in one word."""
        return "".join(value)


def set_checked(design: object, fields: Iterable[Field]) -> None:
    """Check the attributes that the fields name; for the door of a frozen dataclass.

    Raises InputError for the first one that cannot be used.
    """
    for each in fields:
        object.__setattr__(design, each.name, each.checked(getattr(design, each.name)))


def read_fields(
    fields: Iterable[Field], query: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Every value by key, from the link if it names it, and a sentence for each correction.

    Nothing in ``query`` raises an error; keys that belong to none of the fields are left alone.
    """
    found: dict[str, Any] = {}
    notices = []
    for each in fields:
        found[each.key] = each.default
        if each.key in query:
            found[each.key], notice = each.read(query[each.key])
            if notice:
                notices.append(notice)
    return found, tuple(notices)


def write_fields(fields: Iterable[Field], found: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a link for what differs from the defaults."""
    return {
        each.key: each.write(found[each.key])
        for each in fields
        if each.key in found and found[each.key] != each.default
    }
