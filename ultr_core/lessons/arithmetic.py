"""Calculations as students type them: sums, products, powers, roots, percent, brackets."""

from __future__ import annotations

import math
import re

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


def plain_signs(text: str) -> str:
    """The text in ASCII signs: ``10²×√9`` becomes ``10^(2)*sqrt9``, and 2**3 becomes 2^3."""
    raised = _RAISED.sub(lambda found: f"^({found.group()})", text)
    return _TIMES.sub("*", raised.translate(_SIGNS).replace("**", "^"))


def plain_decimal(text: str) -> str:
    """The number with a point for its decimals and no groups.

    Raises:
        ValueError: it is no decimal number.
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
        ValueError: it is no calculation, or its value is complex.
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
