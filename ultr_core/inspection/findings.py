"""The findings about one thing that a reader brought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ultr_core.findings import SEVERITIES, Finding, Severity

Kind = Literal["corpus", "log", "curve", "ranker", "scores", "groups", "training", "together"]


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
    def severity(self) -> Severity:
        """The worst of all findings."""
        found = (finding.severity or "good" for finding in self.findings)
        return max(found, key=SEVERITIES.index, default="good")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are not good."""
        return tuple(finding for finding in self.findings if finding.severity != "good")

    def finding(self, key: str) -> Finding:
        """The finding of that key; raises KeyError where this check was not made."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(key)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if self.severity == "good":
            return "Nothing stands against using it."
        worst = [finding.title for finding in self.findings if finding.severity == self.severity]
        first = "Repair first" if self.severity == "stop" else "Usable, but read this first"
        return f"{first}: {_listed(worst)}."

    def as_dict(self) -> dict[str, Any]:
        """The inspection as plain values, as the command line prints it with ``--json``."""
        return {
            "kind": self.kind,
            "name": self.name,
            "format": self.format,
            "verdict": self.severity,
            "sentence": self.sentence,
            "counts": dict(self.counts),
            "findings": [
                {
                    "key": finding.key,
                    "label": finding.title,
                    "value": finding.value,
                    "verdict": finding.severity,
                    "words": finding.sentence,
                }
                for finding in self.findings
            ],
        }


def _listed(labels: list[str]) -> str:
    return ", ".join(label[:1].lower() + label[1:] for label in labels)
