"""Rows of a table as a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """CSV text with the columns of the first row; a missing value is an empty cell."""
    out = io.StringIO()
    names = list(rows[0]) if rows else []
    table = csv.DictWriter(out, names, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()
