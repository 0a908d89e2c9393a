"""Tables of names: the id of each text of a query, or of each name of a document.

A CSV file with the columns ``query_id,text`` or ``document_id,name``; of two columns, one may have
any name. With it a log of texts joins a corpus of ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ultr_core.errors import InputError, named, quoted
from ultr_core.files.disk import read_text, text_of
from ultr_core.files.kinds import expecting
from ultr_core.files.log_columns import in_words
from ultr_core.files.tables import find_column, read_header
from ultr_core.words import counted

ID_COLUMNS = ("query_id", "qid", "document_id", "doc_id", "docid", "docno", "id")
NAME_COLUMNS = ("text", "query_text", "query", "name", "title", "url", "document")
_WHAT = "The table of names"


@dataclass(frozen=True)
class NameTable:
    """The id of each name; name: the file's name, for messages."""

    ids: Mapping[str, str]
    name: str = "the table of names"

    def ids_of(self, names: Sequence[str]) -> tuple[list[str], list[bool]]:
        """The id of each name, and whether the table contains it; other names are unchanged.

        >>> NameTable({"lamp": "7"}).ids_of(["lamp", "desk"])
        (['7', 'desk'], [True, False])
        """
        return [self.ids.get(one, one) for one in names], [one in self.ids for one in names]


def read_names(path: str | Path) -> NameTable:
    """Read a table of names from a CSV file; see `parse_names`."""
    return parse_names(read_text(path, _WHAT), named(path))


def _columns(header: Sequence[str], name: str) -> tuple[int, int]:
    """Places of the id and the name; of two columns, the other one of one that is known."""
    ids, names = find_column(header, ID_COLUMNS), find_column(header, NAME_COLUMNS)
    if len(header) == 2 and ids is None and names is not None:
        ids = 1 - names
    elif len(header) == 2 and names is None and ids is not None:
        names = 1 - ids
    if ids is None or names is None:
        raise InputError(
            f"{name}, line 1 has the columns {in_words(header)}; call the column with the corpus's "
            f"ids {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}, and the column with the log's "
            f"names {', '.join(NAME_COLUMNS[:-1])} or {NAME_COLUMNS[-1]}.",
            "column_missing",
        )
    return ids, names


def parse_names(text: str | bytes, name: str = "the table of names") -> NameTable:
    """A table of names from CSV text, or from the bytes of an upload.

    Several names may share an id. Raises InputError for a missing column, a line without an
    id or a name, or a name with two ids.
    """
    text = text_of(text, name) if isinstance(text, bytes) else text
    with expecting("names", text, name):
        header, lines = read_header(text, name, (*ID_COLUMNS, *NAME_COLUMNS))
        id_column, name_column = _columns(header, name)
    ids: dict[str, str] = {}
    for *cells, number in lines:
        place = f"{name}, line {number}"
        if len(cells) < len(header):
            raise InputError(
                f"{place} has {counted(len(cells), 'cell')}; give {len(header)}.",
                "cells_missing",
            )
        found, given = cells[id_column].strip(), cells[name_column].strip()
        if not found or not given:
            raise InputError(
                f"{place} has no {'name' if found else 'id'}; give both on each line.",
                "name_missing" if found else "id_missing",
            )
        if ids.setdefault(given, found) != found:
            raise InputError(
                f"{place}: {quoted(given)} has two ids, {quoted(ids[given])} and {quoted(found)}; "
                "keep one.",
                "two_ids",
            )
    if not ids:
        raise InputError(f"{name} has no lines with an id and a name.", "empty_file")
    return NameTable(ids, name)
