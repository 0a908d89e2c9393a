"""Which column of a click log means what: known names, the reader's own mapping."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ultr_core.errors import InputError, quoted

PRESENTATION_GROUP = "presentation_group"
"""The column of counts that has groups of presentations, because sessions are not known."""

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query": (
            "query", "user_query", "search_query", "query_text", "search_term", "query_id", "qid",
            "keyword", "keywords", "search_keyword", "search_phrase", "search_text",
            "query_string", "raw_query", "term", "q",
        ),
        "document": (
            "document", "document_id", "doc", "doc_id", "docid", "item", "item_id", "object_id",
            "event_attributes.object.object_id", "url", "sku", "asin", "product_id", "product",
            "listing_id", "result_id", "result_url", "doc_url", "link", "content_id", "article_id",
            "entity_id", "video_id", "hotel_id", "prop_id", "item_sku", "product_sku",
        ),
        "position": (
            "position", "pos", "rank", "slot", "ordinal", "event_attributes.position.ordinal",
        ),
        "click": ("click", "clicks", "clicked", "is_click"),
        "impressions": (
            "impressions", "impression", "views", "displays", "shown", "impression_count",
            "num_impressions", "n_impressions", "imps", "times_shown",
        ),
        "swap": ("swapped_rank", "swap_rank", "swapped_with", "swap"),
        "ranker": ("ranker", "ranker_id", "system", "policy", "logger"),
        "presentation": (
            "presentation", "presentation_id", "page_id", "serp", "serp_id", "impression_id",
            "request_id", "search_id", "search_uuid", "query_uuid", "search_request_id", "srp_id",
            "result_set_id", "srch_id",
        ),
        "page": ("page", "page_number", "page_no"),
        "offset": ("offset", "page_offset"),
        "session": (
            "session", "session_id", "session_key", "session_uuid", "user_session",
            "user_session_id", "sid", "visit", "visit_id", "user", "user_id", "uid", "client_id",
            "search_session_id", "visitor_id", "cookie_id", "device_id", "customer_id",
            "anonymous_id",
        ),
        "action": ("action", "action_name", "event", "event_type", "event_name"),
        "propensity": ("propensity", "propensity_score", "examination"),
        # Names that only our own files have: a column "context" may hold anything, and a column
        # "group" is the arm of an experiment.
        "context": ("examination_context",),
        "group": ("session_group", PRESENTATION_GROUP),
        "query_presentations": ("query_presentations",),
    }
)  # fmt: skip
"""The meanings of columns and their possible names; `plain_name` says which spellings match."""

MORE_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": (
            "result_position", "item_position", "doc_position", "document_position",
            "display_position", "shown_position", "list_position", "serp_position",
            "rank_position", "result_rank", "item_rank", "doc_rank", "search_rank",
        ),
        "click": (
            "is_clicked", "was_clicked", "has_click", "click_bool", "click_flag", "clk",
            "click_count", "num_clicks", "n_clicks", "total_clicks",
        ),
    }
)  # fmt: skip
"""Names that count where a file has none of ``COLUMNS``: they may say more than one thing."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "query": "Query",
        "document": "Document",
        "position": "Position",
        "click": "Click",
        "presentation": "Presentation id",
        "session": "Session or user",
        "impressions": "Impressions",
        "swap": "Swapped rank",
        "ranker": "Ranker",
        "page": "Results page",
        "offset": "Page offset",
        "action": "View or click",
        "propensity": "Propensity",
        "context": "Context with its own propensities, such as the device",
        "group": "Session group (counted logs only)",
        "query_presentations": "Presentations of the query (counted logs only)",
    }
)
"""Each meaning in words, those first that most logs need."""

REQUIRED = ("document", "position", "click")

SEARCH_ID = "query_id"
"""A column of logs of events: new for each search where another one holds the texts of queries."""

SEARCHES = ("search_id", "srch_id")
"""Presentations, or queries where the same query has the same id."""

NO_COLUMN = "-"
"""In a mapping, in place of a column: no column has this meaning."""

NO_NAME = frozenset(
    {"nan", "NaN", "NULL", "null", "None", "<null>", "\\N", "(not set)", "(not provided)",
     "undefined", "#N/A", "N/A", "n/a", "-", "(none)", "(null)", "(empty)", "[null]", "<NA>", "NaT"}
)  # fmt: skip
"""What tools write where a query, a document, a presentation or a session has no name."""

WITHOUT_NAME = ", ".join(
    # A backslash in a text is not the same for all engines.
    f"'{word}'" if "\\" not in word else f"chr(92) || '{word[1:]}'"
    for word in ("", *sorted(NO_NAME))
)
"""These words, and none, as SQL."""

# Two columns of such a name mean different things, and only the reader knows which is meant.
_ASKED = ("position", "click")
_GRID = ({"row"}, {"column", "col"})


def parse_columns(text: str) -> dict[str, str]:
    """Column names by meaning, from text such as ``query=search_id,document=url``.

    A part that contains a comma is quoted, as in a CSV file. Raises InputError for a part without
    "=", an unknown meaning, or a meaning given twice.

    >>> parse_columns('query=search_id,"document=url, whole"')
    {'query': 'search_id', 'document': 'url, whole'}
    """
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        parts = [text]
    found: dict[str, str] = {}
    for part in parts or [text]:
        meaning, equals, column = part.partition("=")
        meaning, column = meaning.strip().lower(), column.strip()
        if not equals or not column:
            raise InputError(
                f"The column mapping contains {quoted(part.strip())}; each part must be "
                "meaning=column, such as query=search_id,document=url."
            )
        if meaning not in COLUMNS:
            raise InputError(
                f"The column mapping has the unknown meaning {quoted(meaning)}; choose from "
                f"{', '.join(COLUMNS)}."
            )
        if meaning in found:
            raise InputError(f"The column mapping gives {meaning} twice; give each meaning once.")
        found[meaning] = column
    return found


SEPARATED = "separate the parts with commas, as in query=search_id,document=url"
"""What to say of a column mapping whose parts are separated by blanks."""


def has_pair(text: str) -> bool:
    """Whether a part of a column mapping begins in a text or behind a blank in it.

    >>> has_pair("document=url"), has_pair("search_id document=url"), has_pair("a=b.csv")
    (True, True, False)
    """
    parts = text.split()
    return any(part.partition("=")[0].lower() in COLUMNS for part in parts if "=" in part)


def columns_text(columns: Mapping[str, str]) -> str:
    """The text that `parse_columns` reads as these columns by their meanings."""
    out = io.StringIO()
    csv.writer(out).writerow([f"{meaning}={name}" for meaning, name in columns.items()])
    return out.getvalue().removesuffix("\r\n")


def found_columns(
    header: Sequence[str], mapping: Mapping[str, str] | None, name: str
) -> dict[str, int]:
    """Place of the column of each meaning: the mapped one, else the first with a known name.

    A column that is mapped serves no other meaning, and ``NO_COLUMN`` says that none does. Where
    several columns may be the position or the click, none is taken. Raises InputError if a mapped
    column does not exist, or is to have two meanings.
    """
    plain = [cell.strip().lower() for cell in header]
    found: dict[str, int] = {}
    for meaning, column in (mapping or {}).items():
        if meaning not in COLUMNS:
            raise InputError(
                f"{quoted(meaning)} is not a column meaning; choose from {', '.join(COLUMNS)}."
            )
        if column.strip() == NO_COLUMN and NO_COLUMN not in plain:
            continue
        if column.strip().lower() not in plain:
            if has_pair(column):
                raise InputError(
                    f"{name} has no column {quoted(column)} to use as the {meaning}; {SEPARATED}.",
                    "columns",
                )
            raise InputError(
                f"{name} has no column {quoted(column)} to use as the {meaning}; its columns are "
                f"{in_words(header)}."
            )
        place = plain.index(column.strip().lower())
        if place in found.values():
            other = next(each for each, known in found.items() if known == place)
            raise InputError(
                f"The column {quoted(column)} is mapped to both the {other} and the {meaning}; "
                "give each meaning its own column, or a dash.",
                "columns",
            )
        found[meaning] = place
    taken = set(found.values())
    for meaning, aliases in COLUMNS.items():
        if meaning in found or meaning in (mapping or {}):
            continue
        for known in (aliases, MORE_NAMES.get(meaning, ())):
            places = [place for place in _places_of(known, plain) if place not in taken]
            if places and (len(places) == 1 or meaning not in _ASKED):
                found[meaning] = places[0]
                taken.add(places[0])
            if places:
                break
    return found


def _places_of(known: Sequence[str], plain: Sequence[str]) -> list[int]:
    """Places of the columns with known names, in their order; the first of columns named alike."""
    order = {plain_name(name): number for number, name in reversed([*enumerate(known)])}
    found = {cell: plain.index(cell) for cell in plain if plain_name(cell) in order}
    return [found[cell] for cell in sorted(found, key=lambda cell: order[plain_name(cell)])]


def plain_name(cell: str) -> str:
    """A column's name as it is compared: ``Doc ID``, ``docId`` and ``doc_id`` are alike.

    >>> plain_name(" Is-Click"), plain_name("event_attributes.position.ordinal")
    ('isclick', 'eventattributes.position.ordinal')
    """
    return cell.strip().lower().translate(_JOINTS)


_JOINTS = dict.fromkeys(map(ord, " _-"))


def whole_name(text: str) -> str:
    """A whole number as it is written: 7.0 is 7.

    >>> whole_name("7.0"), whole_name("7.5")
    ('7', '7.5')
    """
    found = _WHOLE_NAME.fullmatch(text)
    return found[1] if found else text


def whole_context(text: str) -> str:
    """A context as it is written: a whole number with its sign, as in `whole_name`.

    >>> whole_context("-1.0"), whole_context("desk 1.0")
    ('-1', 'desk 1.0')
    """
    return f"-{whole_name(text[1:])}" if text.startswith("-") else whole_name(text)


_WHOLE_NAME = re.compile(r"([0-9]+)\.0+")


def is_known_name(meaning: str, cell: str) -> bool:
    """Whether a column's name says that it has this meaning."""
    return plain_name(cell) in map(plain_name, names_of(meaning))


def names_of(meaning: str) -> tuple[str, ...]:
    """The names that a column of this meaning usually has, our own first."""
    return (*COLUMNS[meaning], *MORE_NAMES.get(meaning, ()))


def may_be_session(cell: str) -> bool:
    """Whether a name not in ``COLUMNS`` looks like that of a column of sessions or users.

    >>> [may_be_session(name) for name in ("hashedUser", "ga-session-number", "user_agent")]
    [True, True, False]
    """
    parts = _PARTS.findall(cell)
    words = [part.lower() for part in parts]
    while len(words) > 1 and words[-1] in _OF_AN_ID:
        words.pop()
    return bool(words) and words[-1] in _WHO


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_OF_AN_ID = frozenset({"id", "key", "hash", "uuid", "guid", "token", "number", "no", "code"})
_WHO = frozenset(
    {"session", "sessionid", "user", "userid", "visitor", "visit", "cookie", "device", "client",
     "customer", "member", "account", "guest", "shopper", "person", "searcher", "browser"}
)  # fmt: skip


def require_columns(
    found: Mapping[str, int],
    header: Sequence[str],
    name: str,
    place: str,
    required: Sequence[str] = REQUIRED,
) -> None:
    """Raise InputError for the first column that is needed and missing, or used and named twice.

    place: where the columns of ``name`` are named, as "line 1".
    """
    plain = [cell.strip().lower() for cell in header]
    for meaning in required:
        if meaning not in found:
            ask_which(meaning, plain, name)
            if not any(plain):
                raise InputError(
                    f"{name} has no column names in {place}; write them there, for example "
                    "query,document,position,click.",
                    "columns",
                )
            also = f"also recognised as {meaning}: {', '.join(names_of(meaning)[1:])}"
            if meaning == "click" and "position" in found:
                raise InputError(
                    f"{name} has no click column; its columns are {in_words(header)}. Say which of "
                    f"them contains clicks, or give the clicks in a separate file ({also}).",
                    "clicks_apart",
                )
            raise InputError(
                f"{name} has no {meaning} column; its columns are {in_words(header)}. Say which of "
                f"them is the {meaning}, or name the columns in {place}, for example "
                f"query,document,position,click ({also}).",
                "columns",
            )
    for meaning, column in found.items():
        same = [str(number) for number, cell in enumerate(plain, 1) if cell == plain[column]]
        if len(same) > 1:
            raise InputError(
                f"{name} has {len(same)} columns named {quoted(header[column])} (columns "
                f"{', '.join(same[:8])}), and only one can be the {meaning}; rename the others in "
                f"{place}."
            )


def ask_which(meaning: str, plain: Sequence[str], name: str) -> None:
    """Raise InputError where several columns may have a meaning, or a grid has two for it."""
    known: list[str] = []
    for names in (COLUMNS[meaning], MORE_NAMES.get(meaning, ())):
        known = known or [plain[place] for place in _places_of(names, plain)]
    if meaning in _ASKED and len(known) > 1:
        raise InputError(
            f"{name} has the columns {' and '.join(map(quoted, known))}, and only one can be the "
            f"{meaning}; say which.",
            "columns",
        )
    if meaning == "position" and all(names & set(plain) for names in _GRID):
        raise InputError(
            f"{name} gives the row and column in a grid; add a position column with one number per "
            "place, such as (row − 1) × columns + column.",
            "columns",
        )


def in_words(header: Sequence[str]) -> str:
    """The names of a header for a message, the first eight of them."""
    names = ", ".join(quoted(cell) for cell in header[:8])
    return names + (f" and {len(header) - 8} more" if len(header) > 8 else "")


def split_header(line: str, mapping: Mapping[str, str] | None, name: str) -> tuple[str, list[str]]:
    """Cells of a header line, and its delimiter, which known or mapped names reveal."""
    from ultr_core.files.tables import split_line  # NumPy, which help does without

    known = {
        alias
        for names in (COLUMNS, MORE_NAMES)
        for aliases in names.values()
        for each in aliases
        for alias in (each, plain_name(each))
    }
    known |= {column.strip().lower() for column in (mapping or {}).values()}
    return split_line(line, known, name)
