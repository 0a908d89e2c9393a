"""The notebook cells of the claims page: the ledger measured anew, or a place read both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultr_core.claims import SECTIONS
from ultr_core.export.notebook import Cell, code, words
from ultr_core.links.page_links import ALL, PART, PLACE, SECTION, VERDICT


def claims_cells(values: Mapping[str, Any]) -> list[Cell]:
    """Cells for the part of the page that is shown; the ledger needs a ``lab``."""
    if values.get(PART.key, PART.default) == "readings":
        return _readings(values.get(PLACE.key, PLACE.default))
    section = values.get(SECTION.key, ALL)
    verdict = VERDICT.options[values.get(VERDICT.key, ALL)]
    wanted = [
        *([f"line.entry.section == {section!r}"] if section != ALL else []),
        *([f"line.outcome == {verdict!r}"] if verdict != VERDICT.options[ALL] else []),
    ]
    title = "All sections" if section == ALL else f"Section {SECTIONS[section]}"
    return [
        words(
            """
            ## The ledger

            Every claim is measured with the paper's settings; this takes a minute. Numbers of the
            figures are read from this lab's own studies at the paper's sizes.
            """
        ),
        code(
            """
            from ultr_core.claims import headline, measure

            lines = measure(lab)
            print(headline(line.outcome for line in lines))
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
            ## A place of the paper that can be read in two ways

            Both readings on a small corpus.
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
        words("## All misprints and open questions"),
        code(
            """
            for reading in READINGS:
                print(f"Section {reading.place}, {reading.kind}: {reading.unclear}")
                print(f"   read here as: {reading.taken}")
            """
        ),
    ]
