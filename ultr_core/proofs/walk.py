"""A derivation as data: its lines in the paper's order, each with up to three values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ultr_core.errors import InputError
from ultr_core.findings import compared
from ultr_core.proofs.enumeration import ClickLaw, click_law
from ultr_core.proofs.monte_carlo import Sample, Tally
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.proofs.users import dot
from ultr_core.risk import Estimate

Relation = Literal["", "=", "≤"]
"""How a line follows from the one above; "" starts a new quantity."""


class Value(NamedTuple):
    """One quantity three ways: closed form, enumeration of patterns, Monte Carlo."""

    closed: Fraction
    enumerated: Fraction | None = None
    estimate: Estimate | None = None

    def less(self, by: Fraction) -> Value:
        """The value less an exact number; Monte Carlo is left out."""
        return Value(self.closed - by, None if self.enumerated is None else self.enumerated - by)


@dataclass(frozen=True)
class Line:
    """One line of a derivation in one world.

    Attributes:
        formula: the line in LaTeX.
        words: what it says and what the step uses, in plain words.
        relation: how it follows from the line above.
        value: the line's formula evaluated as written, in up to three ways.
        assumes: the assumption that the step uses, in words, or "" if it is algebra.
        factor: number by which this line is multiplied before it is compared with the line above.
        starred: whether the paper marks the line with an asterisk.
        error: factor * value minus the value of the line above; 0 where a new quantity starts.
        aside: another number that the step relies on, in words.
    """

    formula: str
    words: str
    relation: Relation
    value: Value
    assumes: str
    factor: Fraction
    starred: bool
    error: Fraction
    aside: str = ""

    @property
    def agrees(self) -> bool:
        """Whether enumeration equals the closed form exactly."""
        return self.value.enumerated in (None, self.value.closed)

    @property
    def holds(self) -> bool:
        """Whether the step from the line above is exactly right."""
        # Exact, and of the same sign.
        error = self.error.numerator
        return compared(error, "≥" if self.relation == "≤" else "=") == "holds"

    def as_dict(self) -> dict[str, Any]:
        """The line as plain values; exact numbers as text."""
        value = self.value
        estimate = value.estimate
        return {
            "formula": self.formula,
            "words": self.words,
            "relation": self.relation,
            "assumes": self.assumes,
            "enumerated": None if value.enumerated is None else str(value.enumerated),
            "closed_form": str(value.closed),
            "simulated": None
            if estimate is None
            else {"value": estimate.value, "low": estimate.low, "high": estimate.high},
            "error": str(self.error),
            "holds": self.holds and self.agrees,
        }


@dataclass(frozen=True)
class Walk:
    """A derivation evaluated in one world; ``notes`` are sentences about what was left out."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[int, ...]:
        """Numbers (from 1) of the lines whose steps fail."""
        return tuple(i for i, line in enumerate(self.lines, start=1) if not line.holds)

    @property
    def holds(self) -> bool:
        """Whether every step holds and every enumeration agrees with its closed form."""
        return not self.failing and all(line.agrees for line in self.lines)

    @property
    def largest_error(self) -> Fraction:
        """The largest amount by which a step fails."""
        return max((abs(line.error) for line in self.lines if not line.holds), default=Fraction(0))

    @property
    def largest_departure(self) -> Fraction:
        """The largest error in any step, or in any enumeration if that is larger."""
        values = (line.value for line in self.lines)
        departures = (abs(v.enumerated - v.closed) for v in values if v.enumerated is not None)
        return max(self.largest_error, *departures, Fraction(0))


class Writer:
    """Collects the lines of one derivation and compares each with the one above."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self.lines: list[Line] = []
        self.notes = list(ways.notes)

    def line(
        self,
        formula: str,
        words: str,
        value: Value | Fraction,
        relation: Relation = "=",
        *,
        assumes: str = "",
        factor: Fraction = Fraction(1),
        starred: bool = False,
        aside: str = "",
    ) -> None:
        """Add a line."""
        value = value if isinstance(value, Value) else Value(value)
        error = Fraction(0)
        if relation and self.lines:
            error = factor * value.closed - self.lines[-1].value.closed
        self.lines.append(
            Line(formula, words, relation, value, assumes, factor, starred, error, aside)
        )

    def walk(self) -> Walk:
        """The finished derivation."""
        return Walk(tuple(self.lines), tuple(dict.fromkeys(self.notes)))


@dataclass(frozen=True)
class Ways:
    """Evaluates expectations over one user in three ways.

    ``sample`` contains simulated users, or is None; ``clean`` asks for users without click noise.
    """

    world: SmallWorld
    sample: Sample | None = None

    @cached_property
    def _laws(self) -> tuple[ClickLaw | None, ClickLaw | None, tuple[str, ...]]:
        laws: list[ClickLaw | None] = []
        notes: list[str] = []
        for world in (self.world, self.world.clean):
            try:
                laws.append(click_law(world.users))
            except InputError as error:
                laws.append(None)
                notes.append(str(error))
        return laws[0], laws[1], tuple(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that say why click patterns are not enumerated."""
        return self._laws[2]

    def law(self, *, clean: bool = False) -> ClickLaw | None:
        """All click patterns for one user, or None if there are too many."""
        noisy, without_noise, _ = self._laws
        return without_noise if clean else noisy

    def mean(self, values: Sequence[Fraction], *, clean: bool = False) -> Value:
        """E[sum_d c_d v_d]."""
        law = self.law(clean=clean)
        tally = self._tally(clean)
        return Value(
            self._world(clean).users.mean(values),
            None if law is None else law.mean(values),
            None if tally is None else tally.mean(values),
        )

    def by_document(self, values: Sequence[Fraction], *, clean: bool = False) -> Value:
        """sum_d E[c_d] v_d, with each E[c_d] enumerated on its own."""
        law = self.law(clean=clean)
        enumerated = None
        if law is not None:
            enumerated = sum((p * values[d] for d, p in law.marginals.items()), Fraction(0))
        return self.mean(values, clean=clean)._replace(enumerated=enumerated)

    def variance(self, values: Sequence[Fraction], *, clean: bool = False) -> Value:
        """Var[sum_d c_d v_d]."""
        law = self.law(clean=clean)
        tally = self._tally(clean)
        return Value(
            self._world(clean).users.variance(values),
            None if law is None else law.variance(values),
            None if tally is None else tally.variance(values),
        )

    def variance_by_document(self, values: Sequence[Fraction]) -> Value:
        """sum_d v_d^2 Var(c_d), with each variance enumerated on its own."""
        squares = [v * v for v in values]
        pi = self.world.users.clicked
        law = self.law()
        enumerated = None
        if law is not None:
            enumerated = sum(
                (p * (1 - p) * squares[d] for d, p in law.marginals.items()), Fraction(0)
            )
        return Value(dot([p * (1 - p) for p in pi], squares), enumerated)

    def _world(self, clean: bool) -> SmallWorld:
        return self.world.clean if clean else self.world

    def _tally(self, clean: bool) -> Tally | None:
        if self.sample is None:
            return None
        return self.sample.clean if clean else self.sample.noisy


Derive = Callable[[Ways], Walk]
