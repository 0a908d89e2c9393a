"""What a line of the ledger is: a claim, how it is measured, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ultr_core.claims.common import check_of
from ultr_core.findings import Finding, Outcome
from ultr_core.lab import Lab
from ultr_core.proofs import DERIVATIONS
from ultr_core.settings import Settings
from ultr_core.studies import Claim


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


NOT_MEASURED = "not measured"

MISSED = (
    "The interval misses that value, as one in twenty does, and by too little to refute the claim."
)
"""What a number says whose interval does not contain the true value though it is close to it."""


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
    measure: Callable[[Lab], Finding]
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
    """An entry together with what was found."""

    entry: Entry
    finding: Finding

    @property
    def outcome(self) -> Outcome:
        """Of the finding."""
        return self.finding.outcome

    @property
    def decided(self) -> bool:
        """Whether the claim holds or does not."""
        return self.outcome in ("holds", "does not hold")

    @property
    def shown(self) -> str:
        """The numbers in words with their interval, and why they decide nothing, if so."""
        found = self.finding
        parts = [] if found.sentence == NOT_MEASURED else [found.sentence]
        if found.interval is not None and "95% interval" not in found.sentence:
            low, high = found.interval
            parts.append(f"95% interval {low:.3g} to {high:.3g}.")
        if not self.decided:
            first = found.reason.partition(". ")[0].rstrip(".") + "."
            missed = self.outcome == "open" and found.decided is None and found.relation == "="
            parts.append(MISSED if missed else first if found.decided == "open" else found.reason)
        return " ".join(filter(None, parts))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as exported and as printed with ``--json``."""
        entry, found = self.entry, self.finding
        return {
            "id": entry.key,
            "ids": list(entry.ids),
            "section": entry.section,
            "where": entry.where,
            "claim": entry.claim,
            "printed": not entry.ours,
            "check": entry.check,
            "measured": found.sentence,
            "value": found.value,
            "interval": found.interval and dict(zip(("low", "high"), found.interval, strict=True)),
            "verdict": self.outcome,
            "reason": found.reason,
            "page": entry.page,
            "query": entry.query,
        }


def from_proof(name: str) -> Callable[[Lab], Finding]:
    """What a proof of ``PROOFS`` finds on the lab's world."""
    return lambda lab: check_of(lab, name).finding


def from_study_claim(claim: Claim, source: str, settings: str) -> Finding:
    """What a study found on its figure: ``source`` of the study, and the ``settings`` it had."""
    reason = f"{source} {claim.rule.test}"
    if claim.finding.outcome == "open":
        reason = f"Its interval contains the limit, so that these click logs cannot tell. {reason}"
    numbers = claim.finding.sentence
    if "[" in numbers:
        numbers = f"With 95% intervals: {numbers}"
    return Finding(f"{numbers} {settings}", decided=claim.finding.outcome, reason=reason)


def not_checkable(reason: str) -> Callable[[Lab], Finding]:
    """A claim that nothing here can decide, with the reason."""
    return lambda _: Finding(NOT_MEASURED, decided="not checkable", reason=reason)
