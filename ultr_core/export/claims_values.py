"""What the link of the claims page holds beside the world's settings."""

from __future__ import annotations

from ultr_core.claims import COMPARISONS, READINGS, SECTIONS, VERDICTS
from ultr_core.export.page_values import Choice, PageValue, Switch

ALL = "all"

PART = Choice("part", "What to see", {"ledger": "Claims", "readings": "Conventions and errata"})
SECTION = Choice("claim_section", "Section of the paper", {ALL: "All sections", **SECTIONS})
VERDICT = Choice(
    "claim_verdict",
    "Verdict",
    {ALL: "All", **{verdict.replace(" ", "-"): verdict for verdict in VERDICTS}},
)
CHECKS = Switch(
    "claim_checks", "How each is checked", "Adds how each claim is checked, and remarks."
)
PLACE = Choice(
    "reading_place",
    "Place of the paper",
    {
        reading.key: f"{reading.unclear} (section {reading.place})"
        for reading in READINGS
        if reading.key in COMPARISONS
    },
)
READING = Choice(
    "reading", "Reading", {"both": "Both", "taken": "This lab's", "other": "The other"}
)

CLAIMS_VALUES: tuple[PageValue, ...] = (PART, SECTION, VERDICT, CHECKS, PLACE, READING)
"""In the order of the page."""
