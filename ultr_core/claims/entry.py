"""What a line of the ledger is: a claim, how it is measured, what was found, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from ultr_core.claims.common import check_of
from ultr_core.lab import Lab
from ultr_core.proofs import DERIVATIONS, Check
from ultr_core.risk import Estimate
from ultr_core.settings import Settings
from ultr_core.studies import FAILS, HOLDS, Claim


class Place(NamedTuple):
    """A page of the app and the query string of its address."""

    page: str
    query: str = ""


def lab(**changes: float) -> Place:
    """The main page with some settings changed."""
    return Place("lab", Settings(**changes).to_query())  # type: ignore[arg-type]


def derivation(name: str, *broken: str) -> Place:
    """A derivation, line by line, with some assumptions broken."""
    first = next(iter(DERIVATIONS))
    chosen = {} if name == first else {"proof": name}
    switches = {f"break_{key.replace('-', '_')}": "true" for key in broken}
    return Place("proofs", urlencode({**chosen, **switches}))


def robustness(study: str) -> Place:
    """One of the figures 2 to 4; "bias" is what the page starts with."""
    return Place("robustness", "" if study == "bias" else urlencode({"study": study}))


LEARNING_CURVES = Place("learning_curves")
PROPENSITIES = Place("propensities")
TRUST_BIAS = Place("propensities", urlencode({"swap_users": "trust"}))
LIVE = Place("live")
LIVE_ENGINE = Place("live", Settings(eta=0.7, assumed_eta=0.7).to_query())
ABOUT = Place("about")


Verdict = Literal["holds", "does not hold", "not checkable"]
VERDICTS: tuple[Verdict, ...] = ("holds", "does not hold", "not checkable")

NOT_MEASURED = "not measured"

MISSED = (
    "The interval misses that value, as one in twenty does, and by too little to refute the claim."
)
"""What a number says whose interval does not hold the true value though it is close to it."""

Relation = Literal["=", "≥", ">", "<", "judged", "none"]


@dataclass(frozen=True)
class Measured:
    """What one measurement found, and what decides about the claim.

    Attributes:
        text: the numbers found, in words.
        value: the number that decides; None where the claim is not checkable or was judged by a
            study.
        relation: how ``value`` must stand to ``target``: "=" within ``tolerance``, and inside the
            interval where there is one (one without the other leaves it open); "≥" up to
            ``tolerance``, ">" and "<" strictly, with the whole interval where there is one, which
            leaves it open where it holds the limit. "judged" takes ``decided`` as it is; "none" is
            not checkable.
        low, high: 95% interval, where the number is uncertain.
        decided: a study's verdict; None where its interval holds the limit.
        reason: why the claim is not checkable, or what else a reader must know.
    """

    text: str
    value: float | None = None
    relation: Relation = "="
    target: float = 0.0
    tolerance: float = 0.0
    low: float | None = None
    high: float | None = None
    decided: bool | None = None
    reason: str = ""

    @property
    def shown(self) -> str:
        """The numbers in words with their interval, and why they decide nothing, if so."""
        parts = [] if self.text == NOT_MEASURED else [self.text]
        if self.low is not None and self.high is not None and "95% interval" not in self.text:
            parts.append(f"95% interval {self.low:.3g} to {self.high:.3g}.")
        if self.verdict == "not checkable" and self.relation == "=" and self.value is not None:
            parts.append(MISSED)
        elif self.verdict == "not checkable":
            first = self.reason.partition(". ")[0].rstrip(".") + "."
            parts.append(first if self.relation == "judged" else self.reason)
        return " ".join(filter(None, parts))

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds; not checkable also where an interval leaves it open."""
        holds = self.decided if self.relation == "judged" else self._compared()
        if holds is None:
            return "not checkable"
        return "holds" if holds else "does not hold"

    def _compared(self) -> bool | None:
        if self.value is None or self.relation == "none":
            return None
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if self.relation == "=":
            near = abs(self.value - self.target) <= self.tolerance
            if self.low is None or self.high is None:
                return near
            inside = self.low <= self.target <= self.high
            return near if near == inside else None
        if self.relation == "≥":
            least = self.target - self.tolerance
            return True if low >= least else False if high < least else None
        if self.relation == ">":
            return True if low > self.target else False if high <= self.target else None
        return True if high < self.target else False if low >= self.target else None


@dataclass(frozen=True)
class Entry:
    """One claim of the paper.

    Attributes:
        ids: numbers of the claims in this lab's own list of them (``COVERED``).
        section: of the paper.
        where: equation, figure, table or "text".
        claim: in our words.
        check: how it is checked here.
        measure: does it.
        page, query: the page of the app that shows it, and the values of its link.
        ours: whether it is implied or added rather than printed.
    """

    ids: tuple[str, ...]
    section: str
    where: str
    claim: str
    check: str
    measure: Callable[[Lab], Measured]
    page: str
    query: str = ""
    ours: bool = False

    @property
    def key(self) -> str:
        """The first of its numbers, which no other entry has."""
        return self.ids[0]

    @property
    def link(self) -> str:
        """Address of the page that shows it, relative to the app."""
        return f"{self.page}?{self.query}" if self.query else self.page


@dataclass(frozen=True)
class LedgerLine:
    """An entry together with what was measured."""

    entry: Entry
    measured: Measured

    @property
    def verdict(self) -> Verdict:
        """Of the measurement."""
        return self.measured.verdict

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as exported and as printed with ``--json``."""
        entry, found = self.entry, self.measured
        interval = None if found.low is None else {"low": found.low, "high": found.high}
        return {
            "id": entry.key,
            "ids": list(entry.ids),
            "section": entry.section,
            "where": entry.where,
            "claim": entry.claim,
            "printed": not entry.ours,
            "check": entry.check,
            "measured": found.text,
            "value": found.value,
            "interval": interval,
            "verdict": self.verdict,
            "reason": found.reason,
            "page": entry.page,
            "query": entry.query,
        }


def from_check(check: Check) -> Measured:
    """The finding of a proof check, judged as the proof judges it."""
    found = check.finding
    return Measured(found.sentence, found.measured, found.relation, found.expected, found.tolerance)


def from_proof(name: str) -> Callable[[Lab], Measured]:
    """Measure by a proof of ``PROOFS`` on the lab's world."""
    return lambda lab: from_check(check_of(lab, name))


def from_study_claim(claim: Claim, source: str, settings: str) -> Measured:
    """A study's verdict on its figure: ``source`` of the study, and the ``settings`` it had."""
    decided = {HOLDS: True, FAILS: False}.get(claim.verdict)
    reason = f"{source} {claim.test}"
    if decided is None:
        reason = f"Its interval holds the limit, so that these click logs cannot tell. {reason}"
    numbers = claim.numbers
    if "[" in numbers:
        numbers = f"With 95% intervals: {numbers}"
    numbers = f"{numbers} {settings}"
    return Measured(numbers, relation="judged", decided=decided, reason=reason)


def above(estimate: Estimate, text: str, target: float = 0.0, reason: str = "") -> Measured:
    """An uncertain number that must lie above ``target`` with its whole interval."""
    return Measured(
        text, estimate.value, ">", target, low=estimate.low, high=estimate.high, reason=reason
    )


def not_checkable(reason: str, text: str = NOT_MEASURED) -> Callable[[Lab], Measured]:
    """A claim that nothing here can decide, with the reason."""
    return lambda _: Measured(text, relation="none", reason=reason)
