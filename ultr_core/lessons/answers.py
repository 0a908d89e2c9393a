"""Answers to exercises: read as a student writes them, judged, and met with a hint that teaches.

A number may be a calculation: sums, products, powers, roots, percent, brackets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ultr_core.content import fill
from ultr_core.errors import InputError, quoted

TRIES_BEFORE_SOLUTION = 2
"""Number of wrong answers after which the solution is offered."""

_LONGEST_ANSWER = 60
_WORDS = re.compile(r"[A-Za-z][A-Za-z -]*$")
_SLACK = 1e-9
"""Share by which a floating-point number may miss a rounding that it is equal to on paper."""

_SUPERSCRIPTS = "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_SIGNS = str.maketrans(
    {
        "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{NO-BREAK SPACE}": " ",
        "÷": "/", ":": "/", "×": "*", "·": "*", "\N{DOT OPERATOR}": "*", "√": "sqrt",
        **dict(zip(_SUPERSCRIPTS, "+-0123456789", strict=True)),
    }
)  # fmt: skip
_RAISED = re.compile(f"[{_SUPERSCRIPTS}]+")
# An x is "times" only between two numbers or brackets: 5x is five times.
_TIMES = re.compile(r"(?<=[\d.)%])(\s*)[xX](?=\s*[\d.(+-]|\s*sqrt)")
_TOKEN = re.compile(r"\s*((?:\d[\d.,]*|\.\d+)(?:[eE][+-]?\d{1,3})?|sqrt|[-+*/^()%])", re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)

Share = Literal["", "fraction", "percent"]
"""How an answer is asked for that is a share of a whole; "" if it is none."""

MORE_DIGITS = (
    "That may be the answer, rounded. Give at least two digits, not counting leading zeros."
)

WRONG_SIGN = "The size is right, but the sign is wrong."


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that reveals a misunderstanding: the name of its number, and a hint."""

    number: str
    hint: str


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, what to reply, and whether it counts as a try."""

    right: bool
    words: str
    counts: bool = True


@dataclass(frozen=True)
class Typed:
    """A number as it was typed.

    Attributes:
        value: the number; a percent sign has divided it by 100.
        percent: whether it has a percent sign.
        half: half a unit of the last digit that was typed; 0 for what was calculated.
        digits: significant digits that were typed; 0 for what was calculated.
    """

    value: float
    percent: bool = False
    half: float = 0.0
    digits: int = 0

    def times(self, factor: float) -> Typed:
        """The same digits on another scale."""
        return replace(self, value=self.value * factor, half=self.half * factor)

    def rounds(self, wanted: float) -> bool:
        """Whether ``wanted``, rounded to the digits that were typed, is this number."""
        return abs(self.value - wanted) <= self.half + _SLACK * abs(wanted)

    def is_too_short_for(self, wanted: float) -> bool:
        """Whether this is ``wanted`` rounded to a single significant digit."""
        return self.digits == 1 and math.isclose(self.value, float(f"{wanted:.0e}"))


@dataclass(frozen=True)
class Exercise:
    """A task with one number as its answer; all texts are templates over the lesson's numbers.

    Attributes:
        question: the task.
        answer: name of the correct number.
        unit: what the answer counts, for the label of its field; it may be typed after the answer.
        tolerance: largest error that is accepted, as a share of the answer.
        mistakes: recognised wrong answers, each with its hint.
        hint: for any other wrong answer.
        solution: how to reach the answer, and the answer.
        share: whether the answer is a share, and on which scale the question asks for it; such an
        answer is right both as a fraction and as a percentage.
    """

    question: str
    answer: str
    unit: str
    tolerance: float
    mistakes: tuple[Mistake, ...]
    hint: str
    solution: str
    share: Share = ""

    def judge(self, text: str, numbers: Mapping[str, float]) -> Verdict:
        """Judge an answer as it was typed.

        It is right if it lies within the tolerance, or is the answer rounded to as many digits
        as were typed, at least two; if it is closer to a known mistake than to the answer, it
        counts as that mistake. Raises InputError if it is not a number.
        """
        wanted = numbers[self.answer]
        typed = self._readings(read_typed(text, self.unit))
        for reading in typed:
            if reading.digits >= 2 and reading.rounds(wanted):
                return Verdict(True, fill(self.solution, numbers))
        for reading in typed:
            known = self._known(reading.value, numbers)
            if known == self.answer:
                return Verdict(True, fill(self.solution, numbers))
            if reading.is_too_short_for(wanted):
                return Verdict(False, MORE_DIGITS, counts=False)
            for mistake in self.mistakes:
                if mistake.number == known:
                    return Verdict(False, fill(mistake.hint, numbers))
        for reading in typed:
            if self._known(-reading.value, numbers) == self.answer:
                return Verdict(False, WRONG_SIGN, counts=False)
        return Verdict(False, fill(self.hint, numbers))

    def wrong(self, tries: Sequence[str], numbers: Mapping[str, float]) -> int:
        """How many tries were precise enough but wrong."""
        return sum(self._is_wrong(text, numbers) for text in tries)

    def solution_is_due(self, tries: Sequence[str], numbers: Mapping[str, float]) -> bool:
        """Whether there have been enough wrong tries to show the solution."""
        return self.wrong(tries, numbers) >= TRIES_BEFORE_SOLUTION

    def _is_wrong(self, text: str, numbers: Mapping[str, float]) -> bool:
        try:
            verdict = self.judge(text, numbers)
        except InputError:
            return False
        return verdict.counts and not verdict.right

    def _readings(self, typed: Typed) -> tuple[Typed, ...]:
        """What was typed on the scale of the answer: as asked first, then on the other scale."""
        if self.share == "percent":
            return (typed.times(100),) if typed.percent else (typed, typed.times(100))
        if self.share == "fraction" and not typed.percent:
            return typed, typed.times(0.01)
        return (typed,)

    def _known(self, value: float, numbers: Mapping[str, float]) -> str | None:
        """Name of the nearest of the answer and the mistakes, of those within the tolerance."""
        names = (self.answer, *(mistake.number for mistake in self.mistakes))
        near = [
            (abs(value - numbers[name]) / abs(numbers[name]), place, name)
            for place, name in enumerate(names)
            if numbers[name] and abs(value - numbers[name]) <= self.tolerance * abs(numbers[name])
        ]
        return min(near)[2] if near else None


def read_number(text: str, unit: str = "") -> float:
    """A number as students write it: 0.25, 0,25, 1/4, (3 - 2) * 0.25, 10^0.7, 25%, 1,000 or 1e-3.

    A comma before exactly three digits separates thousands; any other comma is a decimal comma. A
    percent sign divides by 100. Words of ``unit`` may follow, or an x if the number is a multiple.

    Raises:
        InputError: an answer that is empty or not a finite number.
    """
    return read_typed(text, unit).value


def read_typed(text: str, unit: str = "") -> Typed:
    """The same as :func:`read_number`, with the digits that were typed."""
    plain = text.strip()
    if not plain:
        raise InputError(
            "There is no answer yet; enter a number, such as 0.25, 1/4 or 25%.", "no_answer"
        )
    try:
        return _typed(plain, unit)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(
            f"The answer {quoted(plain)} is not a number; enter e.g. 0.25, 1/4, (3 - 2) × 0.2, "
            "10^0.7, √9 or 25%.",
            "not_a_number",
        ) from None


def _typed(plain: str, unit: str) -> Typed:
    # "5 ×" is "5 times"; elsewhere × multiplies.
    plain = plain_signs(f"{plain[:-1]}x" if plain.endswith("×") else plain)
    if len(plain) > _LONGEST_ANSWER or not plain.isascii():
        raise ValueError(plain)
    plain, percent = _without_words(plain, unit)
    # The percent sign of a single number or at the end is one of the whole, as in (3 - 2)/4 %.
    if plain.endswith("%") and "%" not in plain[:-1]:
        plain, percent = plain[:-1].strip(), True
    try:
        value, (half, digits) = float(plain_decimal(plain)), _precision(plain)
    except ValueError:
        value, (half, digits) = calculated(plain), (0.0, 0)
    if not math.isfinite(value):
        raise ValueError(plain)
    return Typed(value, percent, half, digits).times(0.01 if percent else 1.0)


def _without_words(plain: str, unit: str) -> tuple[str, bool]:
    """The text without the unit behind it, and whether that is "percent"."""
    found = _WORDS.search(plain)
    if found is None:
        return plain, False
    words = found.group().lower().split()
    known = {word.rstrip("s") for word in unit.lower().split()} | {"percent", "per", "cent"}
    if "time" in known:
        known.add("x")
    if any(word.rstrip("s") not in known for word in words):
        raise ValueError(plain)
    return plain[: found.start()].strip(), "percent" in words or words == ["per", "cent"]


def _precision(text: str) -> tuple[float, int]:
    """Half a unit of the last digit, and how many significant digits there are."""
    mantissa, _, power = plain_decimal(text).lower().partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    half = 0.5 * 10.0 ** (int(power or 0) - len(decimals))
    return half, len((whole + decimals).lstrip("0"))


def plain_signs(text: str) -> str:
    """The text in ASCII signs: ``10²×√9`` becomes ``10^(2)*sqrt9``, and 2**3 becomes 2^3."""
    raised = _RAISED.sub(lambda found: f"^({found.group()})", text)
    return _TIMES.sub("*", raised.translate(_SIGNS).replace("**", "^"))


def plain_decimal(text: str) -> str:
    """The number with a point for its decimals and no groups.

    Raises:
        ValueError: it is not a decimal number.
    """
    bare = text.strip()
    # "0,125" is a decimal comma: nobody groups after a zero.
    if _GROUPED.fullmatch(bare) and not bare.lstrip("+-").startswith("0"):
        bare = bare.replace(",", "")
    bare = bare.replace(",", ".", 1)
    if not _NUMBER.fullmatch(bare):
        raise ValueError(text)
    return bare


def calculated(text: str) -> float:
    """The value of a calculation in the signs of :func:`plain_signs`.

    Powers go before products and to the right, a percent sign divides what stands before it by 100.
    All is floating point, so that no power is large work.

    Raises:
        ValueError: it is not a calculation, or its value is complex.
        ZeroDivisionError: division by zero.
        OverflowError: a value beyond floating point.
    """
    reader = _Reader(text)
    value = reader.total()
    if reader.next:
        raise ValueError(text)
    return value


class _Reader:
    """Reads a calculation from left to right, one method for each rank of operations."""

    def __init__(self, text: str) -> None:
        bare, at = text.strip(), 0
        self._tokens: list[str] = []
        while at < len(bare):
            found = _TOKEN.match(bare, at)
            if found is None:
                raise ValueError(text)
            self._tokens.append(found.group(1).lower())
            at = found.end()
        self._tokens.reverse()

    @property
    def next(self) -> str:
        """The token that comes next; empty at the end."""
        return self._tokens[-1] if self._tokens else ""

    def total(self) -> float:
        """Sums and differences."""
        value = self._product()
        while self.next in ("+", "-"):
            value += self._product() if self._tokens.pop() == "+" else -self._product()
        return _finite(value)

    def _product(self) -> float:
        value = self._signed()
        while self.next in ("*", "/"):
            if self._tokens.pop() == "*":
                value *= self._signed()
            else:
                value /= self._signed()
        return _finite(value)

    def _signed(self) -> float:
        if self.next in ("+", "-"):
            return self._signed() if self._tokens.pop() == "+" else -self._signed()
        return self._power()

    def _power(self) -> float:
        base = self._single()
        if self.next != "^":
            return base
        self._tokens.pop()
        value = base ** self._signed()
        if isinstance(value, complex):
            raise ValueError("root of a negative number")
        return float(value)

    def _single(self) -> float:
        """A number, a bracket or a root, with the percent sign behind it."""
        token = self._tokens.pop() if self._tokens else ""
        if token == "(":
            value = self.total()
            if not self._tokens or self._tokens.pop() != ")":
                raise ValueError("a bracket is not closed")
        elif token == "sqrt":
            value = math.sqrt(self._single())
        else:
            value = float(plain_decimal(token))
        while self.next == "%":
            self._tokens.pop()
            value /= 100
        return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise OverflowError(value)
    return value
