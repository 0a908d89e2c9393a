"""Words with numbers, as sentences need them."""

from __future__ import annotations

import re

_NEGATIVE = re.compile(r"(?<![\w.)\]])-(?=\d)")
_SECTIONS = re.compile(r"(\d[\d.]*(?:, \d[\d.]*)*)(.*)")


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: ``1 click``, ``2,000 clicks``.

    ``noun`` is one of them; ``plural`` is for nouns that do not just take an s.

    >>> counted(1, "click"), counted(0, "click"), counted(2_000, "query", "queries")
    ('1 click', '0 clicks', '2,000 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def part_of(
    part: int, whole: int, noun: str, plural: str = "", *, does: str = "has", do: str = "have"
) -> str:
    """Some of a number of things, and the verb for them: ``1 of 5 queries has``.

    ``noun`` is one thing, see `counted`; ``does`` is the verb for one, or for none of one, ``do``
    for others.

    >>> part_of(1, 5, "query", "queries"), part_of(0, 1, "click", does="is", do="are")
    ('1 of 5 queries has', '0 of 1 click is')
    """
    return f"{part:,} of {counted(whole, noun, plural)} {does if 1 in (part, whole) else do}"


def number_text(value: float) -> str:
    """A number as short as it can be without losing a digit, for keys and whatever is read back.

    >>> number_text(0.5), number_text(1_700_000), number_text(1_234_567)
    ('0.5', '1.7e+06', '1234567')
    """
    short = f"{value:g}"
    return short if float(short) == value else str(value)


def rounded_up(number: int, digits: int = 2) -> int:
    """The next whole number that has no more than these digits before its zeros.

    >>> rounded_up(12_345), rounded_up(99_100), rounded_up(7)
    (13000, 100000, 7)
    """
    step: int = 10 ** max(0, len(str(number)) - digits)
    return -(-number // step) * step


def as_argument(path: str, *taken: str) -> str:
    """A path as it can be pasted into a command line, whatever its name.

    One that begins with a dash would be read as an option, and one that is among the words
    ``taken`` as that word.

    >>> as_argument("log.csv"), as_argument("-x"), as_argument("log", "log")
    ('log.csv', './-x', './log')
    """
    return f"./{path}" if path.startswith("-") or path in taken else path


def section_words(place: str) -> str:
    """Where in the paper something is, from its section numbers and what follows them.

    >>> section_words("4, 5, 7.2"), section_words("7.3 and 7.4"), section_words("5.4, later work")
    ('Sections 4, 5 and 7.2', 'Sections 7.3 and 7.4', 'Section 5.4, later work')
    """
    found = _SECTIONS.match(place.replace(" and ", ", "))
    if found is None:
        return place
    *others, last = found[1].split(", ")
    numbers = f"Sections {', '.join(others)} and {last}" if others else f"Section {last}"
    return numbers + found[2]


def without_comma(label: str) -> str:
    """A label whose part after a comma is in brackets, so that more words can follow.

    >>> without_comma("Two towers, product"), without_comma("Policy-aware (mixture, known ρ)")
    ('Two towers (product)', 'Policy-aware (mixture, known ρ)')
    """
    name, _, more = label.partition(", ")
    return label if not more or "(" in name else f"{name} ({more})"


def in_sentence(label: str) -> str:
    """A label inside a sentence: a capital that begins it goes, unless more are in its first word.

    >>> in_sentence("Clipped, τ = 0.1"), in_sentence("IPS"), in_sentence("Plackett-Luce")
    ('clipped (τ = 0.1)', 'IPS', 'Plackett-Luce')
    """
    label = without_comma(label)
    first = label.split(maxsplit=1)[0]
    return label if first[1:] != first[1:].lower() else f"{label[0].lower()}{label[1:]}"


def with_minus(text: str) -> str:
    """Text with a minus sign for the hyphen in front of a number.

    >>> with_minus("-0.40"), with_minus("1e-3, team-draft-2")
    ('−0.40', '1e-3, team-draft-2')
    """
    return _NEGATIVE.sub("−", text)
