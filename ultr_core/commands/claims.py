"""``claims``: every claim of the paper, measured, with its verdict."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence

from ultr_core.claims import CLAIMS, SECTIONS, Entry, LedgerLine, headline, measure
from ultr_core.claims.ledger import content
from ultr_core.commands.shared import (
    OK,
    add_corpus_option,
    add_json_option,
    print_json,
    print_notes,
    progress_line,
)
from ultr_core.findings import OUTCOMES
from ultr_core.lab import Lab
from ultr_core.settings import Settings

_WIDTH = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_corpus_option(parser)
    add_json_option(parser)
    parser.add_argument(
        "--section",
        metavar="S",
        choices=list(SECTIONS),
        help=f"only the claims of one section: {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--verdict",
        choices=OUTCOMES,
        help="print only the claims with this verdict; all are measured nevertheless",
    )


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    settings = Settings()
    lab = Lab(settings, options.corpus)
    print_notes(lab.world().notices)
    entries = [e for e in CLAIMS.values() if options.section in (None, e.section)]
    tell = progress_line()

    def progress(done: int, entry: Entry) -> None:
        if tell is not None:
            tell(f"{done + 1} of {len(entries)}: {entry.claim}"[:_WIDTH])

    lines = measure(lab, entries, progress)
    if tell is not None:
        tell("")
    shown = [line for line in lines if options.verdict in (None, line.outcome)]
    if options.json:
        found = content(lines, lab.world().counts())
        claims = [line.as_dict() for line in shown]
        print_json({"settings": settings.as_dict(), **found, "claims": claims})
    else:
        _print_table(shown)
        print(headline([line.outcome for line in lines]))
    return OK


def _print_table(lines: Sequence[LedgerLine]) -> None:
    section = None
    for line in lines:
        entry, found = line.entry, line.finding
        if entry.section != section:
            section = entry.section
            print(SECTIONS[section])
        origin = "" if entry.ours else f" ({entry.where})"
        print(f"  {line.outcome:14} {entry.key}: {entry.claim}{origin}")
        parts = (
            f"Check: {entry.check}",
            f"Found: {line.shown}",
            found.reason if line.decided else "",
            f"Page: {entry.link}",
        )
        for part in filter(None, parts):
            for text in textwrap.wrap(part, _WIDTH - 17, break_long_words=False):
                print(f"{'':17}{text}")
    print()
