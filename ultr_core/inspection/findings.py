"""What a check found: a number, a verdict and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["good", "look", "stop"]
Kind = Literal["corpus", "log", "curve", "ranker", "scores", "groups", "training", "together"]

VERDICTS: tuple[Verdict, ...] = ("good", "look", "stop")
"""From best to worst: go on; look at this first; nothing sound can be made from it as it is."""


@dataclass(frozen=True)
class Finding:
    """One check.

    key: stable name, for JSON. label: what was looked at, in a few words.
    value: the number that was found, None where there is none to give.
    verdict: "good", "look" or "stop". words: one sentence that says what the number means.
    """

    key: str
    label: str
    value: float | int | str | None
    verdict: Verdict
    words: str

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "key": self.key,
            "label": self.label,
            "value": self.value,
            "verdict": self.verdict,
            "words": self.words,
        }


@dataclass(frozen=True)
class Inspection:
    """Everything that was found about one thing a reader brought, before anything is trained.

    kind: what it is. name: what the reader calls it. format: how the file is written, in words.
    counts: its sizes, by stable name. findings: the checks, in the order in which they are read.
    """

    kind: Kind
    name: str
    format: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all findings."""
        return max((f.verdict for f in self.findings), key=VERDICTS.index, default="good")

    def finding(self, key: str) -> Finding:
        """The finding of that key; raises KeyError where this check was not made."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(key)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        looks = [f.label for f in self.findings if f.verdict == "look"]
        stops = [f.label for f in self.findings if f.verdict == "stop"]
        if stops:
            return f"Repair first: {_listed(stops)}."
        if looks:
            return f"Usable; look at this first: {_listed(looks)}."
        return "Nothing stands against using it."

    def as_dict(self) -> dict[str, Any]:
        """The inspection as plain values, as the command line prints it with ``--json``."""
        return {
            "kind": self.kind,
            "name": self.name,
            "format": self.format,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "counts": dict(self.counts),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def _listed(labels: list[str]) -> str:
    return ", ".join(label[:1].lower() + label[1:] for label in labels)
