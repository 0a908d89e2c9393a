"""The statement that counts a click log where it is: one SELECT for DuckDB, Spark or PostgreSQL.

It adds up as the readers do. What the readers can still judge in the counts (names, positions,
what is wrong in a row) it passes on as text.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultr_core.errors import InputError, quoted
from ultr_core.files.log_columns import (
    COLUMNS,
    NO_COLUMN,
    PRESENTATION_GROUP,
    REQUIRED,
    WITHOUT_NAME,
)
from ultr_core.propensity.presentations import GROUPS

_BY_THEIR_NAME = ("query", *REQUIRED)
_KEYS = ("query", "document", "position", "swap", "ranker", "propensity", "context")
_RENAMED = ("swap", "context")  # in the counts, so that readers know them there
_OUTSIDE = ("page", "offset", "action", "group", "query_presentations")
_MOST_PARTS = 3  # catalogue, schema, table
_NUMBER = "^[+-]?[0-9]{1,30}([.][0-9]{0,30})?(e[+-]?[0-9]{1,2})?$"
_LARGEST = 2**53 - 1
_NEXT = ",\n    "


@dataclass(frozen=True)
class Dialect:
    """What differs between engines.

    key: how it is asked for. mark: around names; doubled inside of one. text: the type of text,
    real that of float64. matches: of a text and a pattern. exact: what follows a text, so that it
    equals only itself. first_digits: SQL of the whole number that the first 8 hex digits of the
    md5 of a text in UTF-8 are; {0} is the text.
    """

    key: str
    name: str
    mark: str
    text: str
    real: str
    matches: str
    exact: str
    first_digits: str

    def identifier(self, name: str) -> str:
        """A name from outside; raises InputError for one that no table or column can have."""
        if not name or "\0" in name:
            raise InputError(f"{quoted(name)} is not a table or column name.", "table")
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark


DUCKDB = Dialect(
    "duckdb", "DuckDB", '"', "VARCHAR", "DOUBLE", "regexp_matches({0}, {1})", "",
    "CAST('0x' || substring(md5({0}), 1, 8) AS UBIGINT)",
)  # fmt: skip
_SPARK = Dialect(
    "spark", "Spark", "`", "STRING", "DOUBLE", "{0} RLIKE {1}", "",
    "CAST(conv(substring(md5(CAST({0} AS BINARY)), 1, 8), 16, 10) AS BIGINT)",
)  # fmt: skip
_POSTGRES = Dialect(
    "postgres", "PostgreSQL", '"', "TEXT", "DOUBLE PRECISION", "{0} ~ {1}", ' COLLATE "C"',
    "CAST(CAST('x' || substring(md5(convert_to({0}, 'UTF8')), 1, 8) AS BIT(32)) AS BIGINT)",
)  # fmt: skip

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {each.key: each for each in (DUCKDB, _SPARK, _POSTGRES)}
)
"""Engines that a statement can be written for."""


def table_parts(text: str) -> list[str]:
    """The parts of a table's name; one that has a dot stands between quotation marks.

    Raises InputError for a text that names no table.

    >>> table_parts('logs."clicks 1.0"')
    ['logs', 'clicks 1.0']
    """
    try:
        parts = next(csv.reader([text], delimiter=".", strict=True), [])
    except csv.Error:
        parts = []
    if not 1 <= len(parts) <= _MOST_PARTS or not all(parts):
        raise InputError(
            f"{quoted(text)} does not name a table; give it as table, schema.table or "
            'catalogue.schema.table, and quote a part that contains a dot, as in "a.b".',
            "table",
        )
    return parts


def counting_query(table: str, columns: Mapping[str, str] | None, dialect: Dialect) -> str:
    """One SELECT with a row for each query, document, position and group, and what else is mapped.

    table: as `table_parts` takes it. columns: meaning to the name of a column of the table; query,
    document, position and click are columns of that name unless mapped, and "-" is no column.
    Impressions and clicks are added up; rows of one presentation that repeat a document at a
    position are one impression, clicked if one of them is. The group is the one that the readers
    give a session, or a presentation where there are no sessions. Raises InputError for a table or
    columns that cannot be named, and for meanings that take more than one look at the log.
    """
    found = _used(columns or {})
    keys = [meaning for meaning in _KEYS if meaning in found]
    outs = [COLUMNS[key][0] if key in _RENAMED else key for key in keys]
    grouped = "session" in found or "presentation" in found
    steps = [
        ("ultr_cells", _cells(table, found, keys, outs, dialect)),
        ("ultr_numbers", _numbers(found, outs, grouped, dialect)),
        ("ultr_shown", _shown(found)),
        ("ultr_once", _once(found, outs, grouped)),
    ]
    lists = "presentation" in found and "query" in found and "impressions" not in found
    if lists:
        steps.append(("ultr_lists", _lists(outs)))
    kept = ", ".join((*outs, "session_group") if grouped else outs)
    # Only groups of sessions are left out one at a time by intervals.
    named = kept if "session" in found else kept.replace("session_group", _NO_SESSIONS)
    more = ""
    source = "ultr_once"
    if lists:
        more = ",\n  coalesce(max(query_presentations), 0) AS query_presentations"
        source = "ultr_once LEFT JOIN ultr_lists USING (query, session_group)"
    written = ",\n".join(f"{name} AS (\n{body}\n)" for name, body in steps)
    return (
        f"WITH {written}\n"
        f"SELECT {named},\n  CAST(sum(impressions) AS BIGINT) AS impressions,\n"
        f"  CAST(sum(clicks) AS BIGINT) AS clicks{more}\n"
        f"FROM {source}\nGROUP BY {kept}, fault"
    )


def _used(columns: Mapping[str, str]) -> dict[str, str]:
    for meaning in columns:
        if meaning not in COLUMNS:
            raise InputError(
                f"{quoted(meaning)} is not a column meaning; choose from {', '.join(COLUMNS)}.",
                "columns",
            )
    found = {name: name for name in _BY_THEIR_NAME} | dict(columns)
    found = {meaning: column for meaning, column in found.items() if column != NO_COLUMN}
    outside = next((meaning for meaning in _OUTSIDE if meaning in found), None)
    if outside is not None:
        raise InputError(
            f"A log with a column for {outside} takes more than one SELECT; make a view with a row "
            "for each document shown, its position counted from the top of the first page, and "
            "whether it was clicked.",
            "columns",
        )
    missing = next((meaning for meaning in REQUIRED if meaning not in found), None)
    if missing is not None:
        raise InputError(f"The counts need a column for {missing}; map one.", "columns")
    return found


def _cells(
    table: str, found: Mapping[str, str], keys: list[str], outs: list[str], dialect: Dialect
) -> str:
    """The columns of the table as text, '' where they have no value."""

    def text(meaning: str) -> str:
        column = f"log.{dialect.identifier(found[meaning])}"
        return f"coalesce(CAST({column} AS {dialect.text}), ''){dialect.exact}"

    cells = [f"{text(key)} AS {out}" for key, out in zip(keys, outs, strict=True)]
    for meaning in ("presentation", "session"):
        if meaning in found:
            plain = f"trim({text(meaning)})"
            none = f"CASE WHEN {plain} IN ({WITHOUT_NAME})"
            cells.append(f"{none}\n      THEN '' ELSE {plain} END AS {meaning}")
    for meaning in ("click", "impressions"):
        if meaning in found:
            # Tabs and line ends at the end of a number are none.
            plain = f"translate({text(meaning)}, chr(9) || chr(10) || chr(13), '   ')"
            cells.append(f"lower(trim({plain})) AS {meaning}_text")
    name = ".".join(dialect.identifier(part) for part in table_parts(table))
    return f"  SELECT {_NEXT.join(cells)}\n  FROM {name} AS log"


def _numbers(found: Mapping[str, str], outs: list[str], grouped: bool, dialect: Dialect) -> str:
    """Click and impressions as numbers, NULL where they are none, and the group."""
    parts = list(outs)
    if "presentation" in found:
        parts.append("presentation")
    if grouped:
        whose = "session" if "session" in found else "presentation"
        if "session" in found and "presentation" in found:
            # As the reader does: a row of no session is one of its presentation.
            whose = "CASE WHEN session = '' THEN presentation ELSE session END"
        digits = dialect.first_digits.format(whose)
        parts.append(f"CAST({digits} % {GROUPS} AS INTEGER) AS session_group")
    for meaning in ("click", "impressions"):
        if meaning in found:
            cell = f"{meaning}_text"
            matches = dialect.matches.format(cell, f"'{_NUMBER}'")
            parts.append(
                f"CASE WHEN {cell} = 'true' THEN 1 WHEN {cell} = 'false' THEN 0\n"
                f"      WHEN {matches}\n"
                f"      THEN CAST({cell} AS {dialect.real}) END AS {meaning}_number"
            )
    return f"  SELECT {_NEXT.join(parts)}\n  FROM ultr_cells"


def _whole(meaning: str, value: str = "{0}") -> str:
    number = f"{meaning}_number"
    return (
        f"CASE WHEN {number} BETWEEN 0 AND {_LARGEST} AND {number} = floor({number})\n"
        f"      THEN CAST({value.format(number)} AS BIGINT) END"
    )


def _shown(found: Mapping[str, str]) -> str:
    """Whole numbers of clicks and impressions; fault is above 0 where a row cannot be used."""
    counts = "impressions" in found
    # Without impressions a row is one, however often it was clicked.
    click = _whole("click", "{0}" if counts else "least({0}, 1)")
    shown = _whole("impressions") if counts else "1"
    return (
        "  SELECT *, CASE WHEN click IS NULL THEN 1 WHEN shown IS NULL THEN 2\n"
        "      WHEN click > shown THEN 3 ELSE 0 END AS fault\n"
        f"  FROM (SELECT *,\n    {click} AS click,\n    {shown} AS shown\n"
        "  FROM ultr_numbers) AS whole"
    )


def _once(found: Mapping[str, str], outs: list[str], grouped: bool) -> str:
    """A document at one position of a presentation as one row."""
    keys = ", ".join(outs)
    if "presentation" not in found:
        group = ", session_group" if grouped else ""
        return (
            f"  SELECT {keys}{group}, fault, sum(shown) AS impressions, sum(click) AS clicks\n"
            f"  FROM ultr_shown GROUP BY {keys}{group}, fault"
        )
    one = "presentation <> '' AND fault = 0"
    if "impressions" in found:
        # Rows that hold counts repeat nothing.
        one += " AND (SELECT max(shown) FROM ultr_shown WHERE fault = 0) <= 1"
    return (
        f"  SELECT {keys}, min(session_group) AS session_group, fault,\n"
        f"    CASE WHEN {one} THEN max(shown) ELSE sum(shown) END AS impressions,\n"
        f"    CASE WHEN {one} THEN max(click) ELSE sum(click) END AS clicks\n"
        f"  FROM ultr_shown\n  GROUP BY {keys}, presentation, fault,\n"
        "    CASE WHEN presentation = '' THEN session_group END"
    )


_NO_SESSIONS = f"session_group AS {PRESENTATION_GROUP}"


def _lists(outs: list[str]) -> str:
    """How many presentations each query has in each group; without a context they are not used."""
    context = COLUMNS["context"][0]
    named = f"\n      AND trim({context}) NOT IN ({WITHOUT_NAME})" if context in outs else ""
    return (
        "  SELECT query, session_group, count(*) AS query_presentations\n"
        "  FROM (SELECT query, min(session_group) AS session_group FROM ultr_shown\n"
        f"    WHERE presentation <> '' AND fault = 0{named}\n"
        "    GROUP BY query, presentation) AS list\n"
        "  GROUP BY query, session_group"
    )
