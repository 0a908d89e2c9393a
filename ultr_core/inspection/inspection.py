"""The findings about one thing that a reader brought, and the checks that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ultr_core.errors import Remark, quoted
from ultr_core.findings import SEVERITIES, Finding, Severity

Kind = Literal[
    "corpus", "log", "curve", "ranker", "trees", "scores", "groups", "training", "together"
]


class Seen(NamedTuple):
    """What a check sees: what it measured, how bad that is, and a sentence that reads it."""

    value: float | None
    severity: Severity
    sentence: str


Graded = TypeVar("Graded", Seen, Finding)


def worst_context(found: Mapping[str, Graded]) -> tuple[str, Graded]:
    """The worst result over contexts, after its sentence with the context's name."""

    def rank(context: str) -> int:
        return SEVERITIES.index(found[context].severity or "good")

    context = max(found, key=rank)
    return f"Context {quoted(context)}: {found[context].sentence}", found[context]


def good(value: float | None, sentence: str) -> Seen:
    """Nothing wrong was found."""
    return Seen(value, "good", sentence)


def warning(value: float | None, sentence: str, about: str = "") -> Seen:
    """To be read before it is used; ``about`` is the key of what would repair it."""
    return Seen(value, "warning", Remark(sentence, about))


def stop(value: float | None, sentence: str) -> Seen:
    """It cannot be used as it is."""
    return Seen(value, "stop", sentence)


def graded(
    value: float | None, sentence: str, *, stop: bool = False, warning: bool = False
) -> Seen:
    """What is past the one limit or the other; good otherwise."""
    return Seen(value, "stop" if stop else "warning" if warning else "good", sentence)


T = TypeVar("T")


@dataclass(frozen=True)
class Check(Generic[T]):
    """One check of a reader's file, ranker or log: its key, its title, and its function.

    look: returns what it sees in the subject, None if there is nothing to look at.
    """

    key: str
    title: str
    look: Callable[[T], Seen | None]

    def of(self, subject: T) -> tuple[Finding, ...]:
        """The finding, in a tuple; an empty one where there is nothing to look at."""
        seen = self.look(subject)
        return () if seen is None else (Finding.of_file(self.key, self.title, *seen),)


def found_by(checks: Iterable[Check[T]], subject: T) -> tuple[Finding, ...]:
    """The findings of several checks of one subject, in their order."""
    return tuple(finding for check in checks for finding in check.of(subject))


def reader_notes(notices: Iterable[str]) -> tuple[Finding, ...]:
    """The sentences of whoever read a file, as findings."""
    return tuple(
        Finding.of_file("notice", "Note on reading", None, "warning", text) for text in notices
    )


@dataclass(frozen=True)
class Inspection:
    """The findings on one of the user's files, before anything is trained.

    kind: what it is. name: the user's name for it. format: the file format, in words. counts: its
    sizes, by stable name. findings: the checks, in reading order.
    """

    kind: Kind
    name: str
    format: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """The worst severity of all findings."""
        found = (finding.severity or "good" for finding in self.findings)
        return max(found, key=SEVERITIES.index, default="good")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings whose severity is not "good"."""
        return tuple(finding for finding in self.findings if finding.severity != "good")

    def finding(self, key: str) -> Finding:
        """The finding with this key; raises KeyError if this check was not made."""
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(key)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if self.severity == "good":
            return "No problems found."
        worst = [finding.title for finding in self.findings if finding.severity == self.severity]
        first = "Fix first" if self.severity == "stop" else "Usable, with warnings"
        return f"{first}: {_listed(worst)}."

    def as_dict(self) -> dict[str, Any]:
        """The inspection as plain values, as printed by ``--json``."""
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
