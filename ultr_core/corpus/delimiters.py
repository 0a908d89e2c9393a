"""What stands between the columns of a reader's table, told by its header line."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from types import MappingProxyType

from ultr_core.limits import COLUMNS

DELIMITERS: Mapping[str, str] = MappingProxyType(
    {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
)
"""Characters that may stand between columns, and what they are called."""


def split_line(line: str, known: Collection[str], name: str) -> tuple[str, list[str]]:
    """Delimiter of a header line, and its cells.

    The delimiter is the one under which most columns have one of the ``known`` names, in small
    letters; among equals the one that gives most columns, then the order of ``DELIMITERS``.
    Raises InputError for more than ``COLUMNS``; ``name`` is the table's, for the message.

    >>> split_line("propensity; rank", ("rank", "propensity"), "the curve")
    (';', ['propensity', ' rank'])
    """

    # Counted before anything is taken apart, which takes many times the text.
    COLUMNS.require(1 + max(map(line.count, DELIMITERS)), name)

    def split(delimiter: str) -> list[str]:
        try:
            return next(csv.reader([line.replace("\r", " ")], delimiter=delimiter), [])
        except csv.Error:
            return []

    def worth(delimiter: str) -> tuple[int, int]:
        cells = split(delimiter)
        return sum(cell.strip().lower() in known for cell in cells), len(cells)

    best = max(DELIMITERS, key=worth)
    return best, split(best)


def delimiter_of(text: str, known: Collection[str], name: str) -> str:
    """Delimiter of a table, by its first line that is not blank; see `split_line`."""
    return split_line(text.lstrip().partition("\n")[0], known, name)[0]
