"""The ledger as files: CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ultr_core.claims.entry import LedgerLine
from ultr_core.claims.errata import READINGS
from ultr_core.claims.ledger import count_verdicts, headline

COLUMNS = (
    "id", "section", "where", "claim", "printed", "check", "measured", "value", "low", "high",
    "verdict", "reason", "page", "query",
)  # fmt: skip


def content(lines: Sequence[LedgerLine], world: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger as plain values; ``world`` are the counts of the corpus it was measured on."""
    verdicts = [line.verdict for line in lines]
    return {
        "headline": headline(verdicts),
        "counts": count_verdicts(verdicts),
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
