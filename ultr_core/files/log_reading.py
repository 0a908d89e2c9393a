"""How a click log is read where its columns do not say it: typed values for every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ultr_core.fields import Choice, Field, Number, Switch, Text
from ultr_core.files.log_parts import ENCODINGS

ENCODING = Choice(
    "encoding", "Encoding", {"": "UTF-8 or UTF-16", **{each: each for each in ENCODINGS}},
    default="",
    help="The encoding of a text log; by default UTF-8, or UTF-16 if the log's first bytes say so.",
)  # fmt: skip
FIRST_POSITION = Choice(
    "first_position", "First position", {"": "as the log shows", "0": "0", "1": "1"}, default="",
    help="The number of the top position, if it is unclear from the log.",
)  # fmt: skip
PAGE_SIZE = Number(
    "page_size", "Documents on a page", 1, 1_000, decimals=0, default=None,
    help="The number of documents on a results page, if positions restart on each page.",
)  # fmt: skip
MOST_PRESENTATIONS = Number(
    "most_presentations", "Largest session", 1, 10**9, decimals=0, default=None,
    help="Sessions with more presentations than this, such as those of bots, are left out.",
)  # fmt: skip
CLICKS_ONCE = Switch(
    "clicks_once", "Clicks count once",
    help="Each row is one impression, however often it was clicked.",
)  # fmt: skip

TABLE = Text(
    "table", "Table", longest=500,
    help="The table of a DuckDB file that contains the log, such as clicks or shop.clicks.",
)  # fmt: skip

READING_FIELDS: tuple[Field, ...] = (
    ENCODING, FIRST_POSITION, PAGE_SIZE, MOST_PRESENTATIONS, CLICKS_ONCE, TABLE,
)  # fmt: skip
"""What a reader may say of a log besides the meaning of its columns."""

SELECT = Text(
    "select", "SELECT", longest=100_000,
    help="A single SELECT that returns the log from a DuckDB file; it can read only that file.",
)  # fmt: skip
"""For commands alone: on a page a visitor names a table."""


SHOWN_WHOLE = Switch(
    "shown_whole", "Only queries whose candidates were all shown",
    help="use only queries whose candidates were all shown; the results then apply only to "
    "those queries",
)  # fmt: skip
"""Of a log that was read and joined: for the judging of rankers."""


@dataclass(frozen=True)
class Reading:
    """How a log is read where its columns do not say it.

    encoding: of its text; None for UTF-8, or UTF-16 where its first bytes say so. first_position:
    0 or 1, None where the log shows it. page_size: documents on a page of results, whose positions
    start again; None where the log shows it. most_presentations: sessions with more are left out,
    None for none. clicks_once: whether rows without a column of impressions are one impression
    each, however often it was clicked; few such rows are taken so. clicks_above: whether rows are
    also counted by the number of clicks above them in their presentation. table, select: what of a
    DuckDB file is the log, "" for its only table.
    """

    encoding: str | None = None
    first_position: int | None = None
    page_size: int | None = None
    most_presentations: int | None = None
    clicks_once: bool = False
    clicks_above: bool = False
    table: str = ""
    select: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any] = MappingProxyType({})) -> Reading:
        """The reading that the values of these fields describe, by name."""
        first = values.get("first_position")
        return cls(
            encoding=values.get("encoding") or None,
            first_position=None if first in (None, "") else int(first),
            page_size=values.get("page_size"),
            most_presentations=values.get("most_presentations"),
            clicks_once=bool(values.get("clicks_once")),
            clicks_above=values.get("continuation") is not None,
            table=values.get("table") or "",
            select=values.get("select") or "",
        )
