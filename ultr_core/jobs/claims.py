"""``claims``, its page and its notebook: every claim of the paper, measured, with its verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ultr_core.claims import (
    CLAIMS,
    COMPARISONS,
    READINGS,
    SECTIONS,
    Entry,
    LedgerLine,
    headline,
    measure,
)
from ultr_core.claims.ledger import content, counts_by_origin
from ultr_core.claims.mutations import MUTATIONS
from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice, Field, Switch
from ultr_core.findings import OUTCOMES, count_outcomes
from ultr_core.jobs.files import CORPUS
from ultr_core.jobs.job import Given, Job, Page, PageState
from ultr_core.jobs.output import print_notes, progress_line
from ultr_core.studies.claims import ORIGIN_WORDS
from ultr_core.words import with_minus

_WIDTH = 100
_NOTES = (
    "--json prints settings, headline, counts, counts_by_origin, corpus, claims and readings. Each "
    "claim has id, origin (paper, set-up, lab, later), claim, check, measured, value, interval, "
    "limit, outcome, sizes (clicks, queries, seeds of its own measurement), mutation (what breaks "
    "it), reason, page and query. value and limit decide the outcome; for a claim with several "
    "numbers, they belong to the deciding number."
)

ALL = "all"

PART = Choice("part", "What to show", {"ledger": "Claims", "readings": "Conventions and errata"})
SECTION = Choice("claim_section", "Section of the paper", {ALL: "All sections", **SECTIONS})
VERDICT = Choice(
    "claim_verdict",
    "Verdict",
    {ALL: "All", **{outcome.replace(" ", "-"): outcome for outcome in OUTCOMES}},
)
CHECKS = Switch(
    "claim_checks", "How each is checked", help="Also show how each claim is checked, with remarks."
)
PLACE = Choice(
    "reading_place",
    "Place in the paper",
    {
        reading.key: f"{reading.unclear} (section {reading.place})"
        for reading in READINGS
        if reading.key in COMPARISONS
    },
)
READING = Choice(
    "reading", "Reading", {"both": "Both", "taken": "This lab's", "other": "The other"}
)

NOT_REACHED = (
    "Claims about the figures, and others marked “precomputed”, are checked against results "
    "shipped with the lab; the intervals are over click logs of one corpus unless the claim names "
    "several corpora. Derivations and numbers printed in the paper do not depend on the corpus."
)
"""What a corpus does not change."""

CLAIMS_VALUES: tuple[Field, ...] = (PART, SECTION, VERDICT, CHECKS, PLACE, READING)
"""In the order of the page."""


@dataclass(frozen=True)
class Ledger:
    """The claims that were measured, those of them to be shown, and all of it as plain values."""

    lines: Sequence[LedgerLine]
    shown: Sequence[LedgerLine]
    found: dict[str, Any]
    full: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.found, "claims": [line.as_dict() for line in self.shown]}

    def show(self) -> None:
        """Print how many claims hold, then each: in one line, or with all that is known of it."""
        _print_counts(self.lines)
        if not self.full:
            _print_exceptions(self.shown)
        for section, title in SECTIONS.items():
            of_section = [line for line in self.shown if line.entry.section == section]
            if of_section:
                print(f"\n{title}")
            for line in of_section:
                _print_whole(line) if self.full else _print_short(line)
        if self.shown and not self.full:
            print("\nChecks, numbers and what would break each claim: claims --full")


def run(given: Given) -> Ledger:
    """Measure."""
    lab = given.lab
    print_notes(lab.world().notices)
    entries = [e for e in CLAIMS.values() if given.section in ("", e.section)]
    tell = progress_line()

    def progress(done: int, entry: Entry) -> None:
        tell(f"{done + 1} of {len(entries)}: {entry.claim}"[:_WIDTH])

    lines = measure(lab, entries, progress)
    tell("")
    shown = [line for line in lines if given.verdict in ("", line.outcome)]
    if not shown:
        print_notes([none_left(lines, given.section, given.verdict)])
    found = {"settings": given.settings.as_dict(), **content(lines, lab.world().counts())}
    return Ledger(lines, shown, found, bool(given.full))


def none_left(lines: Sequence[LedgerLine], section: str, verdict: str) -> str:
    """Which filters leave no claim, and which verdicts would.

    lines: the claims of the section, or all if it is "".
    """
    where = f" of section “{SECTIONS[section]}”" if section else ""
    counts = count_outcomes(line.outcome for line in lines)
    listed = ", ".join(f"{outcome} ({count:,})" for outcome, count in counts.items() if count)
    return f"No claim{where} has the verdict “{verdict}”; choose from: {listed}."


def _print_counts(lines: Sequence[LedgerLine]) -> None:
    """How many claims hold, by whose they are."""
    print(headline(lines))
    for origin, counts in counts_by_origin(lines).items():
        listed = ", ".join(f"{outcome} {count:,}" for outcome, count in counts.items() if count)
        if listed:
            print(f"  {ORIGIN_WORDS[origin]}: {listed}")


def _print_exceptions(lines: Sequence[LedgerLine]) -> None:
    """What does not hold or is open, with the number that decides."""
    for outcome, said in (("does not hold", "Does not hold"), ("open", "Open")):
        found = [line for line in lines if line.outcome == outcome]
        if found:
            print(f"\n{said}")
        for line in found:
            _print_wrapped(f"{line.entry.key}: {line.entry.claim} ({_whose(line.entry)})", 2)
            _print_wrapped(with_minus(line.decides), 4)


def _print_short(line: LedgerLine) -> None:
    entry = line.entry
    own = "" if entry.origin == "paper" else f" ({ORIGIN_WORDS[entry.origin]})"
    text = f"{entry.key}{own}: {entry.claim}"
    print(f"  {line.outcome:14} {textwrap.shorten(text, _WIDTH - 17, placeholder=' …')}")


def _print_whole(line: LedgerLine) -> None:
    entry, found = line.entry, line.finding
    print(f"  {line.outcome:14} {entry.key}: {entry.claim} ({_whose(entry)})")
    parts = (
        f"Check: {entry.check}",
        f"Found: {with_minus(line.shown)}",
        f"Decides: {with_minus(line.decides)}" if line.decides else "",
        found.reason if line.decided else "",
        f"Would fail if: {MUTATIONS[entry.mutation].words}" if entry.mutation else "",
        f"Page: {entry.link}",
    )
    for part in filter(None, parts):
        _print_wrapped(part, 17)


def _print_wrapped(text: str, indent: int) -> None:
    for row in textwrap.wrap(text, _WIDTH - indent, break_long_words=False):
        print(f"{'':{indent}}{row}")


def _whose(entry: Entry) -> str:
    """Whose claim it is; of the paper's, where it is printed."""
    return entry.where if entry.origin == "paper" else ORIGIN_WORDS[entry.origin]


def cells(state: PageState) -> list[Cell]:
    """The ledger measured again, or a place of the paper under both readings."""
    values = state.values
    if values[PART.key] == "readings":
        return _readings(values[PLACE.key])
    section, verdict = values[SECTION.key], VERDICT.options[values[VERDICT.key]]
    wanted = [
        *([f"line.entry.section == {section!r}"] if section != ALL else []),
        *([f"line.outcome == {verdict!r}"] if verdict != VERDICT.options[ALL] else []),
    ]
    title = "All sections" if section == ALL else f"Section {SECTIONS[section]}"
    return [
        words(
            """
            ## The ledger

            All claims are measured with the default settings, in about ten seconds. Numbers for the
            figures are precomputed on the built-in corpus, which is smaller than the paper's.
            """
        ),
        code(
            """
            from ultr_core.claims import headline, measure

            lines = measure(lab)
            print(headline(lines))
            """
        ),
        words(f"## {title}"),
        code(
            f"""
            for line in lines:
                if {" and ".join(wanted) or "True"}:
                    print(f"{{line.outcome}}: {{line.entry.claim}}")
                    print(f"   {{line.shown}}")
            """
        ),
        words("## How each was checked"),
        code(
            """
            for line in lines:
                print(f"{line.entry.section:10} {line.entry.claim}")
                print(f"   {line.entry.check}")
            """
        ),
    ]


def _readings(place: str) -> list[Cell]:
    return [
        words(
            """
            ## A passage in the paper that can be read in two ways

            Both readings, computed on a small corpus.
            """
        ),
        code(
            f"""
            from ultr_core.claims import CONVENTIONS, READINGS, compare, small_corpus

            found = compare({place!r}, small_corpus())
            print(found.quantity)
            for label, ours, other in found.rows:
                print(f"{{label:40}} {{ours:10.4g}} {{other:10.4g}}")
            print(found.sentence)
            """
        ),
        words("## All errata and open questions"),
        code(
            """
            for reading in READINGS:
                print(f"Section {reading.place}, {reading.kind}: {reading.unclear}")
                print(f"   read here as: {reading.taken}")
            """
        ),
    ]


JOB = Job(
    run,
    options=(
        replace(CORPUS, help=f"{CORPUS.help}. {NOT_REACHED}".rstrip(".")),
        Choice("section", "", SECTIONS, default="", help="only the claims in one section"),
        Choice(
            "verdict", "", {outcome: outcome for outcome in OUTCOMES}, default="",
            help="print only the claims with this verdict; all are still measured",
        ),
        Switch("full", "", help="print how each claim is checked, what was found, and what would "
               "break it"),
    ),
    show=Ledger.show,
    as_dict=Ledger.as_dict,
    notes=_NOTES,
    pages={
        "claims": Page("Which of the paper's claims hold?", cells, CLAIMS_VALUES, fixed=True)
    },
)  # fmt: skip
