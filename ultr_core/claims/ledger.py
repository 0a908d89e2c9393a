"""The registry of all claims, and measuring them one after the other."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from ultr_core.claims import estimation, figures, foundations, live, noise, setup, svm
from ultr_core.claims.entry import NOT_MEASURED, Entry, LedgerLine
from ultr_core.claims.errata import READINGS
from ultr_core.errors import InputError
from ultr_core.findings import Finding, Outcome, count_outcomes
from ultr_core.lab import Cell, Lab
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.words import counted

SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "Abstract": "Abstract",
        "1": "1 Why clicks lie",
        "3": "3 With all labels",
        "4": "4 Weighting",
        "5.1": "5.1 Position bias",
        "5.2": "5.2 Click noise",
        "5.3": "5.3 Swaps",
        "5.4": "5.4 Other users",
        "6": "6 The ranking SVM",
        "7.1": "7.1 Set-up",
        "7.2": "7.2 Figure 1",
        "7.3": "7.3 Figure 2",
        "7.4": "7.4 Figure 3",
        "7.5": "7.5 Figure 4",
        "7.6": "7.6 Live experiment",
        "8": "8, 9 Outlook",
    }
)
"""The paper's sections that have claims, each with a title."""


CLAIMS: Mapping[str, Entry] = MappingProxyType(
    {
        entry.key: entry
        for section in SECTIONS
        for part in (foundations, noise, estimation, svm, setup, figures, live)
        for entry in part.ENTRIES
        if entry.section == section
    }
)
"""All claims by key, in the order of the paper's sections."""


def measure_entry(lab: Lab, entry: Entry) -> Finding:
    """Measure one claim, once; not checkable where the corpus in use does not allow it."""
    cell = Cell("claim", lab.settings, (entry,), lab.corpus)
    return lab.remember(cell, partial(_measured, entry))


@one_blas_thread()
def _measured(entry: Entry, lab: Lab) -> Finding:
    with lab.store.turn("claim"):  # since claims share costly parts
        try:
            return entry.measure(lab)
        except InputError as error:
            return Finding(
                NOT_MEASURED,
                decided="not checkable",
                reason=f"This corpus does not allow it: {error}",
            )


def measure(
    lab: Lab,
    entries: Iterable[Entry] | None = None,
    progress: Callable[[int, Entry], None] | None = None,
) -> tuple[LedgerLine, ...]:
    """Measure the claims in a lab.

    entries: which, all by default. progress: told the number done and the claim that is next.
    """
    lines = []
    for done, entry in enumerate(CLAIMS.values() if entries is None else entries):
        if progress is not None:
            progress(done, entry)
        lines.append(LedgerLine(entry, measure_entry(lab, entry)))
    return tuple(lines)


def headline(outcomes: Iterable[Outcome]) -> str:
    """The counts in a sentence; claims left open are told apart where there are any."""
    counts = count_outcomes(outcomes)
    failing, left = counts["does not hold"], counts["open"]
    open_ = f"{counted(left, 'is', 'are')} open, " if left else ""
    return (
        f"Of {counted(sum(counts.values()), 'claim')} {counted(counts['holds'], 'holds', 'hold')} "
        f"here, {counted(failing, 'does', 'do')} not, {open_}and "
        f"{counts['not checkable']:,} cannot be checked."
    )


COLUMNS = (
    "id", "section", "where", "claim", "printed", "check", "measured", "value", "low", "high",
    "verdict", "reason", "page", "query",
)  # fmt: skip


def content(lines: Sequence[LedgerLine], world: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger as plain values; ``world`` are the counts of the corpus it was measured on."""
    outcomes = [line.outcome for line in lines]
    return {
        "headline": headline(outcomes),
        "counts": count_outcomes(outcomes),
        "corpus": dict(world),
        "claims": [line.as_dict() for line in lines],
        "readings": [reading.as_dict() for reading in READINGS],
    }


def to_json(lines: Sequence[LedgerLine], world: Mapping[str, Any]) -> bytes:
    """Claims and readings as JSON, UTF-8; NaN and infinities are refused."""
    text = json.dumps(content(lines, world), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def to_csv(lines: Iterable[LedgerLine]) -> bytes:
    """One row a claim, UTF-8 with a mark that spreadsheets recognise."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for line in lines:
        row = line.as_dict()
        writer.writerow({**row, **(row["interval"] or {})})
    return file.getvalue().encode("utf-8-sig")
