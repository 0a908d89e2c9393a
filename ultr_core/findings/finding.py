"""A finding: what was measured, the limit it is held against, and how it came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Relation = Literal["=", "≥", ">", "<"]
"""How a value must compare with its limit."""

Outcome = Literal["holds", "does not hold", "open", "not checkable"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "open", "not checkable")
"""open: the interval contains the limit, so more data may settle it; not checkable: no value."""

Severity = Literal["good", "warning", "stop"]
SEVERITIES: tuple[Severity, ...] = ("good", "warning", "stop")
"""Ratings for a reader's file, best first: use it; read this first; it cannot be used as it is."""


@dataclass(frozen=True)
class Finding:
    """A value and how its outcome is decided, for a proof, a claim, a study or an inspection.

    Attributes:
        sentence: the numbers in words.
        value: what was measured, None if there is nothing to measure.
        quantity: what the value is, with its unit, if the sentence alone does not say.
        relation, limit, tolerance, interval: what decides the outcome, see `compared`.
        should_hold: False if an assumption is broken, so that nothing is guaranteed.
        decided: an outcome that is known without a comparison, such as that of a study with several
        intervals.
        severity: how serious the finding is for a user's file; None if it is about anything else.
        reason: why the value is not checkable, or what else a reader must know.
        key, title: a stable name and a short title, if the owner has several findings.
        details: further labelled numbers.
    """

    sentence: str
    value: float | None = None
    relation: Relation = "="
    limit: float | None = 0.0
    tolerance: float = 0.0
    interval: tuple[float, float] | None = None
    should_hold: bool = True
    decided: Outcome | None = None
    severity: Severity | None = None
    reason: str = ""
    quantity: str = ""
    key: str = ""
    title: str = ""
    details: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_file(
        cls, key: str, title: str, value: float | None, severity: Severity, sentence: str
    ) -> Finding:
        """A check of a user's file: graded by severity, without a limit."""
        return cls(sentence, value, limit=None, severity=severity, key=key, title=title)

    @property
    def outcome(self) -> Outcome:
        """The known outcome, or that of the comparison."""
        return self.decided or compared(
            self.value, self.relation, self.limit, self.tolerance, self.interval
        )

    @property
    def holds(self) -> bool:
        """Whether the outcome is "holds"."""
        return self.outcome == "holds"

    @property
    def fails(self) -> bool:
        """Whether it should hold but does not."""
        return self.should_hold and self.outcome == "does not hold"

    @property
    def status(self) -> str:
        """In words: the severity of a file's check, or the outcome and whether it was expected."""
        if self.severity is not None:
            return self.severity
        if self.should_hold or self.outcome not in ("holds", "does not hold"):
            return self.outcome
        return "holds, though not guaranteed" if self.holds else "does not hold, as predicted"


def compared(
    value: float | None,
    relation: Relation,
    limit: float | None = 0.0,
    tolerance: float = 0.0,
    interval: tuple[float, float] | None = None,
) -> Outcome:
    """Compare a value with a limit, up to ``tolerance``; nothing else decides an outcome.

    "=": |value - limit| <= tolerance, and the interval, if there is one, contains the limit; if
    only one is true, the outcome is open. "≥", ">", "<": true for both ends of the interval; if
    true for only one end, the outcome is open. Without an interval, the value serves as both ends;
    NaN does not hold.
    """
    if value is None or limit is None:
        return "not checkable"
    low, high = (value, value) if interval is None else interval
    if relation == "=":
        near = abs(value - limit) <= tolerance
        if interval is not None and near != (low <= limit <= high):
            return "open"
        return "holds" if near else "does not hold"

    sign = -1 if relation == "<" else 1

    def meets(end: float) -> bool:
        beyond = sign * (end - limit)
        return beyond >= -tolerance if relation == "≥" else beyond > -tolerance

    least, most = (low, high)[::sign]
    return "holds" if meets(least) else "open" if meets(most) else "does not hold"


def all_of(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst outcome of several parts: fails, then not checkable, open and holds."""
    found = set(outcomes)
    worst_first: tuple[Outcome, ...] = ("does not hold", "not checkable", "open", "holds")
    return next((outcome for outcome in worst_first if outcome in found), "not checkable")


def count_outcomes(outcomes: Iterable[Outcome]) -> dict[Outcome, int]:
    """How often each outcome occurs, with 0 for those that never do."""
    found = list(outcomes)
    return {outcome: found.count(outcome) for outcome in OUTCOMES}
