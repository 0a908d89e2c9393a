"""Answers to exercises: read as a student writes them, judged, and met with a hint that teaches."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ultr_core.errors import InputError, quoted

TRIES_BEFORE_SOLUTION = 2
"""Wrong answers after which the way to the solution is shown."""

_LONGEST_ANSWER = 40
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that tells what was misunderstood: the number's name, and the hint for it."""

    number: str
    hint: str


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and what to say to it."""

    right: bool
    words: str


@dataclass(frozen=True)
class Exercise:
    """A task with one number as its answer; all words are templates over the lesson's numbers.

    Attributes:
        question: the task.
        answer: name of the number that is right.
        unit: what the answer counts, for the label of its field.
        tolerance: distance that still counts as right, as a share of the answer.
        mistakes: wrong answers that are recognised, each with its hint.
        hint: for any other wrong answer.
        solution: the way to the answer, with the answer in it.
        percent: the answer is asked in percent, so that a percent sign changes nothing.
    """

    question: str
    answer: str
    unit: str
    tolerance: float
    mistakes: tuple[Mistake, ...]
    hint: str
    solution: str
    percent: bool = False

    def judge(self, text: str, numbers: Mapping[str, float]) -> Verdict:
        """Judge an answer as it was typed.

        Raises InputError if it is no number.
        """
        value = read_number(text)
        if self.percent and "%" in text:
            value *= 100
        if self._matches(value, numbers[self.answer]):
            return Verdict(True, self.solution.format(**numbers))
        for mistake in self.mistakes:
            if self._matches(value, numbers[mistake.number]):
                return Verdict(False, mistake.hint.format(**numbers))
        return Verdict(False, self.hint.format(**numbers))

    def _matches(self, value: float, wanted: float) -> bool:
        return abs(value - wanted) <= self.tolerance * abs(wanted)


def read_number(text: str) -> float:
    """A number as students write it: 0.25, 0,25, 1/4, 25 %, 1,000 or 1e-3.

    A comma before exactly three digits groups thousands, any other is a decimal one. A percent
    sign divides by 100.

    Raises:
        InputError: an empty answer, or one that is no finite number.
    """
    plain = text.strip().replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")
    wrong = InputError(
        f"The answer {quoted(text.strip())} is no number; write it as in 0.25, 1/4 or 25 %."
    )
    if not plain:
        raise InputError("There is no answer yet; write a number, as in 0.25, 1/4 or 25 %.")
    if len(plain) > _LONGEST_ANSWER or not plain.isascii():
        raise wrong
    scale = 1.0
    if plain.endswith("%"):
        plain, scale = plain[:-1].strip(), 0.01
    numerator, slash, denominator = plain.partition("/")
    try:
        value = _decimal(numerator) / (_decimal(denominator) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        raise wrong from None
    if not math.isfinite(value):
        raise wrong
    return value * scale


def _decimal(text: str) -> float:
    bare = text.strip()
    # "0,125" is a decimal comma: nobody groups after a zero.
    if _GROUPED.fullmatch(bare) and not bare.lstrip("+-").startswith("0"):
        bare = bare.replace(",", "")
    bare = bare.replace(",", ".", 1)
    if not _NUMBER.fullmatch(bare):
        raise ValueError(text)
    return float(bare)
