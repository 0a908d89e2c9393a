"""Click logs from files: what was shown where, and what was clicked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files.kinds import expecting
from ultr_core.files.log_columns import (
    COLUMNS,
    NO_COLUMN,
    PRESENTATION_GROUP,
    REQUIRED,
    SEARCH_ID,
    SEARCHES,
    ask_which,
    found_columns,
    may_be_session,
    plain_name,
    require_columns,
)
from ultr_core.files.log_events import JoinedEvents, is_click, joined_events
from ultr_core.files.log_parts import Given, LogParts, log_parts
from ultr_core.files.log_presentations import (
    GroupedRows,
    added_up,
    added_up_in_groups,
    grouped_rows,
    slots_of,
    without_presentations,
)
from ultr_core.files.log_process import in_own_process
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_relation import (
    Part,
    Progress,
    Relation,
    copies_in,
    first_rows,
    is_nested,
    opened_log,
    require_sound,
    require_sound_json,
    together,
)
from ultr_core.files.log_rows import (
    CLICK_WITHOUT_NUMBER,
    CLICK_WITHOUT_POSITION,
    CLICK_WITHOUT_VIEW,
    IDS,
    NAMES,
    WITHOUT_PRESENTATION,
    UsableRows,
    cells_of,
    counted_rows,
    first_long,
    first_records,
    meanings_of,
    require_rows,
    usable_rows,
)
from ultr_core.limits import CONTEXTS, OWN_FILES, Room
from ultr_core.propensity.presentations import PresentationLog, Presentations, RowFault
from ultr_core.risk.by_group import FEWEST_GROUPS
from ultr_core.words import counted, part_of

_PAGE_NUMBERS = 200  # the highest page of results that anybody looks at
_LOOKED_AT = 200_000
_FEWEST_QUERIES = 20
_MOST_COLUMNS = 30
_FEW_LOOKED_AT, _FEWEST_ROWS, _FEW_VALUES = 20_000, 1_000, 10
_ROWS_OF_ONE_LIST = 4  # that one of its positions may have
_FEW_BESIDE = 0.05  # share of the positions of lists with a second document


def read_log(
    path: Given | Sequence[Given],
    *,
    clicks: Given | Sequence[Given] | None = None,
    columns: Mapping[str, str] | None = None,
    how: Reading | None = None,
    progress: Progress | None = None,
) -> PresentationLog:
    """Read a click log from files; see `parse_log`.

    path: a file, several files, a pattern, a directory of parts, or uploads. clicks: the same, for
    clicks in separate files.
    """
    return _read_all(_with_clicks(log_parts(path), clicks), columns, how, progress)


def parse_log(
    data: str | bytes | Sequence[bytes],
    name: str = "the click log",
    *,
    clicks: bytes | Sequence[bytes] | None = None,
    columns: Mapping[str, str] | None = None,
    how: Reading | None = None,
    progress: Progress | None = None,
    room: Room = OWN_FILES,
) -> PresentationLog:
    """Click log from CSV text, or from the bytes of files: CSV, JSON lines, Parquet, DuckDB.

    Text is UTF-8 or UTF-16, or in the encoding given in ``how``; it may be compressed with gzip or
    zstandard. Columns (aliases in ``COLUMNS``): document, position, click; optionally query,
    impressions (1 per row if absent), swapped rank, ranker, presentation, session, page, offset,
    action and propensity. Other columns are ignored. ``columns`` maps meanings to columns with
    other names, or to "-" if no column has that meaning. If rows are actions, views and clicks are
    joined by presentation and document; ``clicks`` is a file that contains only clicks.

    Rows with the same presentation, document and position are one impression. Rows that
    cannot be used are left out and reported. ``progress`` is called with the share read so far.
    ``room`` limits the result; a server gives visitors less room than their own machine would.

    Raises InputError if a column is missing, if no rows can be used, if the meaning of a column is
    unclear, if the log exceeds the limits, or if a file is damaged.
    """
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return _read_all(_with_clicks(log_parts(content, name, room), clicks), columns, how, progress)


def _with_clicks(log: LogParts, clicks: Given | Sequence[Given] | None) -> LogParts:
    if not clicks:
        return log
    more = log_parts(clicks, f"{log.name} (clicks)", log.room)
    actions = ("view",) * len(log.parts) + ("click",) * len(more.parts)
    return replace(log, parts=(*log.parts, *more.parts), actions=actions)


@dataclass(frozen=True)
class LogPreview:
    """A preview of a click log, before it is read in full.

    format: the file format, in words. header: its column names. columns: column names by meaning,
    as recognised or mapped. missing: required meanings not found yet. rows: the first rows.
    """

    name: str
    format: str
    header: tuple[str, ...]
    columns: Mapping[str, str]
    missing: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def mapped(self, columns: Mapping[str, str], *, clicks: bool = False) -> LogPreview:
        """The same preview with columns mapped by hand.

        ``clicks``: whether the clicks are in separate files.

        Raises InputError for a column that does not exist.
        """
        places = found_columns(self.header, columns, self.name)
        required = _required(places, "view" if clicks else "")
        return replace(
            self,
            columns={meaning: self.header[place] for meaning, place in places.items()},
            missing=tuple(meaning for meaning in required if meaning not in places),
        )

    def as_dict(self) -> dict[str, Any]:
        """The preview as plain values."""
        return {
            "name": self.name,
            "format": self.format,
            "header": list(self.header),
            "columns": dict(self.columns),
            "missing": list(self.missing),
            "rows": [list(row) for row in self.rows],
        }


def preview_log(
    content: Given | Sequence[Given],
    name: str = "the click log",
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    table: str = "",
    select: str = "",
    rows: int = 5,
    room: Room = OWN_FILES,
) -> LogPreview:
    """The first rows, columns and format of a click log, given by path or as bytes.

    table, select: the part of a DuckDB file that is the log, as in `Reading`.
    Missing columns are listed, not refused, so that the user can map them. Raises InputError if
    the file cannot be read at all.
    """
    log = log_parts(content, name, room)
    log = replace(log, parts=log.parts[:1], table=table, select=select)
    with expecting("log", log.parts[0], encoding=encoding or ""):
        return in_own_process(_preview, log, columns, encoding, rows)


def _preview(
    log: LogParts, columns: Mapping[str, str] | None, encoding: str | None, rows: int
) -> LogPreview:
    with opened_log(log, columns, encoding) as relation:
        part = relation.first
        first = tuple(first_rows(relation, rows))
        found = LogPreview(part.name, part.form, part.header, {}, (), first)
        return found.mapped(columns or {})


def _required(places: Mapping[str, int], action: str = "") -> tuple[str, ...]:
    if action == "click":
        return ("document", "presentation")
    if action or "action" in places:
        return ("document", "position")
    return REQUIRED


def _read_all(
    log: LogParts,
    columns: Mapping[str, str] | None,
    how: Reading | None,
    progress: Progress | None,
) -> PresentationLog:
    how = how or Reading()
    log = replace(log, table=how.table, select=how.select)
    with ExitStack() as stack:
        for part in log.parts:
            stack.enter_context(expecting("log", part, encoding=how.encoding or ""))
        return in_own_process(_read, log, columns, how, progress=progress)


def _read(
    log: LogParts,
    columns: Mapping[str, str] | None,
    how: Reading,
    progress: Progress | None = None,
) -> PresentationLog:
    with opened_log(log, columns, how.encoding) as relation:
        places = {part.layout: _places(part, columns) for part in relation.parts}
        for part in relation.parts:
            require_sound(part, list(places[part.layout].values()))
            found = places[part.layout]
            names = [found[meaning] for meaning in (*NAMES, *IDS) if meaning in found]
            require_sound_json(relation, part, list(found.values()), names)
        require_rows(relation, places)
        _settle_actions(relation, places, columns or {})
        _settle_queries(relation, places, columns or {})
        unused = _settle_pages(relation, places)
        named: dict[str, str] = {}
        for part in relation.parts:
            for meaning, place in places[part.layout].items():
                named.setdefault(meaning, part.header[place])
        return _counted_log(relation, places, named, columns or {}, how, progress, unused)


def _places(part: Part, columns: Mapping[str, str] | None) -> dict[str, int]:
    if part.action:
        # The mapping is of both, and a click needs less than a view.
        plain = {NO_COLUMN, *(cell.strip().lower() for cell in part.header)}
        of_clicks = COLUMNS if part.action == "click" else ("action", "click")
        columns = {
            meaning: column
            for meaning, column in (columns or {}).items()
            if meaning not in of_clicks or column.strip().lower() in plain
        }
    places = found_columns(part.header, columns, part.name)
    if part.action and "click" not in {*places, *(columns or {})}:
        ask_which("click", [cell.strip().lower() for cell in part.header], part.name)
    if part.action == "view" and "click" in places:
        column = quoted(part.header[places["click"]])
        raise InputError(
            f"{part.name} has clicks in the column {column}, and clicks are also given in a "
            "separate file; leave that file out, or give a dash instead of the column.",
            "clicks_twice",
        )
    line = "line 1" if part.is_text else f"the {part.form} schema"
    require_columns(places, part.header, part.name, line, _required(places, part.action))
    given = [meaning for meaning in IDS if meaning in places]
    if "group" not in places:
        places.pop("query_presentations", None)
    elif given:
        raise InputError(
            f"{part.name} has columns for the {given[0]} and for session groups, which replace it "
            "in counted logs; give a dash for one of them.",
            "columns",
        )
    return places


def _settle_actions(
    relation: Relation, places: Mapping[tuple[Any, ...], dict[str, int]], said: Mapping[str, str]
) -> None:
    """Take one of a column of actions and one of clicks, where both stand in a file.

    Raises InputError where some actions are clicks and the reader named neither or both.
    """
    for part in relation.parts:
        found = places[part.layout]
        if not {"action", "click"} <= found.keys():
            continue
        if "action" in said and "click" not in said:
            found.pop("click")
            continue
        action = part.text_of(found["action"])
        if ("action" in said or "click" not in said) and relation.run(
            f"SELECT 1 FROM {relation.scan_of(part)} WHERE {is_click(action)} LIMIT 1"
        ):
            names = [quoted(part.header[found[meaning]]) for meaning in ("action", "click")]
            raise InputError(
                f"{part.name} has two columns that say what was clicked, {' and '.join(names)}; "
                "give a dash for one of them.",
                "action_or_click",
            )
        found.pop("action")


def _settle_queries(
    relation: Relation,
    places: Mapping[tuple[Any, ...], dict[str, int]],
    said: Mapping[str, str],
) -> None:
    """Take an id of each search beside the texts of queries for the id of a presentation."""
    if "presentation" in said or "query" in said:
        return
    _settle_searches(relation, places)
    ids = {part.layout: [plain_name(cell) for cell in part.header] for part in relation.parts}
    search_id = plain_name(SEARCH_ID)
    for layout, header in ids.items():
        found = places[layout]
        if "presentation" in found or search_id not in header or "query" not in found:
            return
        if header.index(search_id) == found["query"]:
            return
    wider = {
        layout: {**places[layout], "presentation": header.index(search_id)}
        for layout, header in ids.items()
    }
    searches, queries, rows, last = relation.run(
        "SELECT count(DISTINCT k_presentation), count(DISTINCT k_query), count(*) / "
        "greatest(count(DISTINCT (k_presentation, k_document)), 1), max(k_presentation) FROM "
        f"(SELECT * FROM ({together(cells_of(relation, wider))}) LIMIT {_LOOKED_AT})"
    )[0]
    # One that is empty is named where events need it.
    empty = last == "" and all("action" in found for found in places.values())
    if empty or (searches > queries and rows <= _ROWS_OF_ONE_LIST):
        for layout, found in places.items():
            found["presentation"] = wider[layout]["presentation"]


def _settle_searches(relation: Relation, places: Mapping[tuple[Any, ...], dict[str, int]]) -> None:
    """Take ids of searches for queries where no column holds these and one id names many lists.

    Raises InputError where some ids name two lists: it may be either.
    """
    named = {plain_name(name) for name in SEARCHES}
    for part in relation.parts:
        found = places[part.layout]
        place = found.get("presentation")
        if (
            part.action
            or "query" in found
            or place is None
            or plain_name(part.header[place]) not in named
        ):
            return
    cells = together(cells_of(relation, places))
    rows, several = relation.run(
        "SELECT avg(n), coalesce(avg((documents > 1)::INTEGER), 0) FROM (SELECT count(*) AS n, "
        f"count(DISTINCT k_document) AS documents FROM (SELECT * FROM ({cells}) WHERE "
        f"k_position <> '' LIMIT {_LOOKED_AT}) GROUP BY k_presentation, k_position)"
    )[0]
    if rows is not None and rows > _ROWS_OF_ONE_LIST:
        for found in places.values():
            found["query"] = found.pop("presentation")
    elif several > _FEW_BESIDE:
        part = relation.first
        column = quoted(part.header[places[part.layout]["presentation"]])
        raise InputError(
            f"{relation.name} has no query column, and some values of the column {column} have two "
            "documents at the same position; say that this column is the query, or that no column "
            "is.",
            "columns",
        )


def _settle_pages(relation: Relation, places: Mapping[tuple[Any, ...], dict[str, int]]) -> str:
    """Take a column called page for what its values are: numbers of pages, or ids of lists.

    Returns why it is neither, in one sentence; "" where it is one, or there is none.
    """
    if not all("page" in found for found in places.values()):
        some = [found.pop("page", None) for found in places.values()]
        if any(place is not None for place in some):
            return "The page column was not used, because some files do not have it."
        return ""
    cells = together(cells_of(relation, places))
    different, numbers, most, least = relation.run(
        # A cast to a whole number rounds.
        "SELECT count(DISTINCT k_page), count(try_cast(k_page AS BIGINT)) FILTER "
        "(try_cast(k_page AS DOUBLE) = trunc(try_cast(k_page AS DOUBLE))) = count(*), "
        "max(try_cast(k_page AS BIGINT)), min(try_cast(k_page AS BIGINT)) FROM "
        f"(SELECT k_page FROM ({cells}) WHERE k_page <> '' LIMIT {_LOOKED_AT})"
    )[0]
    if (
        numbers
        and least in (0, 1)
        and most <= _PAGE_NUMBERS
        and different == most - least + 1
        and ("presentation" in next(iter(places.values())) or _numbers_pages(relation, cells))
    ):
        return ""
    column = quoted(relation.first.header[places[relation.first.layout]["page"]])
    known = all("presentation" in found for found in places.values())
    for found in places.values():
        page = found.pop("page")
        found.setdefault("presentation", page)
    if not known:
        return ""
    if not different:
        why = "it is empty"
    elif not numbers:
        why = "it has values that cannot be page numbers"
    elif least not in (0, 1):
        why = f"its first page is {least:,}, so the number of documents above is unknown"
    elif most > _PAGE_NUMBERS:
        why = f"it goes up to {most:,}, more pages than any result list has"
    else:
        why = f"pages between {least} and {most} are missing"
    return f"The column {column} was not used: {why}. Positions are taken as ranks."


def _numbers_pages(relation: Relation, cells: str) -> bool:
    """Whether a page is where many lists go on, or what nobody saw a document on twice."""
    rows = relation.run(
        "SELECT avg(n) FROM (SELECT count(*) AS n FROM (SELECT k_page, k_position FROM "
        f"({cells}) WHERE k_page <> '' LIMIT {_LOOKED_AT}) GROUP BY k_page, k_position)"
    )[0][0]
    if rows > _ROWS_OF_ONE_LIST:
        return True
    whose = "".join(f", {key}" for key in ("k_session", "k_query") if f"AS {key}" in cells)
    return not relation.run(
        f"SELECT 1 FROM (SELECT k_document, k_page{whose} FROM ({cells}) WHERE k_page <> '' "
        f"LIMIT {_LOOKED_AT}) GROUP BY k_document{whose} HAVING count(DISTINCT k_page) > 1 LIMIT 1"
    )


def _counted_log(
    relation: Relation,
    places: Mapping[tuple[Any, ...], Mapping[str, int]],
    columns: Mapping[str, str],
    said: Mapping[str, str],
    how: Reading,
    progress: Progress | None,
    unused: str,
) -> PresentationLog:
    """The log; columns: meaning to column name. said: what the reader mapped.

    unused: about a column that was not used, in one sentence, or "".
    """
    cells = cells_of(relation, places)
    meanings = meanings_of(places)
    if how.most_presentations is not None and "session" not in meanings:
        raise InputError("Sessions can be left out only if a column contains their ids.", "session")
    if how.clicks_above and "presentation" not in meanings:
        raise without_presentations()
    events = None
    in_events = "action" in meanings or any(part.action for part in relation.parts)
    if in_events or any(meaning in meanings for meaning in IDS) or relation.is_long_text:
        cells = relation.kept(cells, progress)
    if in_events:
        events = joined_events(relation, cells, meanings, columns, said, progress)
        cells, meanings = events.cells, events.meanings
    found = counted_rows(relation, places, cells, meanings, progress)
    rows = usable_rows(found, columns, how, said)
    faults = _located(relation, places, rows, events, progress)
    words = [_words(fault, relation) for fault in faults]
    if not rows.rows.size:
        told = "; ".join(words) or "nothing follows its first line"
        raise InputError(f"{relation.name} has no usable rows: {told}.")
    # No more clicks than impressions, so that these are the largest sum of all.
    if float(rows.rows.astype(float) @ rows.numbers["impressions"]) >= 2**53:
        raise InputError(
            f"{relation.name} has impressions that add up to 2^53 or more; give smaller counts."
        )
    _require_few_contexts(rows, columns)
    slots = slots_of(rows)
    if any(meaning in meanings for meaning in IDS):
        grouped = grouped_rows(
            relation, cells, meanings, found, rows, slots, columns, how, progress
        )
    elif "group" in meanings:
        grouped = added_up_in_groups(found, rows, slots)
    else:
        grouped = added_up(rows, slots)
    log = _log(rows, slots.entry, grouped, faults, columns, relation)
    if "query" in columns and events is None:
        log = replace(log, repeating=_repeating(relation, places, log))
    notices = [f"Left out: {text}; the other rows are used." for text in words]
    if found.long:
        beyond = RowFault(
            "more columns than the first line names", found.long, 0, *first_long(relation, places)
        )
        notices.append(f"{_words(beyond, relation)}: the surplus values are not read.")
    joined = tuple(_of_events(events))
    contrary = (0, 0)
    if events is not None:
        sizes = events.sizes
        contrary = (events.elsewhere, sizes.clicks - sizes.clicks_without - events.alone)
        log = replace(log, repeated_events=events.repeated)
    copies = copies_in(relation.parts)
    unused = " ".join(filter(None, (unused, *_without_effect(relation, meanings, columns, how))))
    log = replace(
        log, copies=copies, contrary=contrary, unused=unused, header=tuple(relation.first.header)
    )
    if events is None and not {"impressions", "group", "page", "offset"} & columns.keys():
        log = replace(log, ends=tuple(_ends(relation, places, log)))
    if not {"context", "group"} & {*columns, *said}:
        log = replace(log, perhaps_contexts=_few_values(relation, places))
    if not {"session", "group"} & {*columns, *said}:
        few = {*log.perhaps_contexts}
        asked = tuple(name for name in log.not_used if may_be_session(name) and name not in few)
        log = replace(log, perhaps_sessions=asked)
    notices[:0] = [
        text for text in (log.copied, log.contradicted, log.unused, log.merged_events) if text
    ]
    notices += _few_groups(log)
    return replace(
        log, notices=(*notices, *joined, *_sentences(log, rows)), events=joined,
        longer=found.long,
    )  # fmt: skip


def _few_groups(log: PresentationLog) -> Iterator[str]:
    """What to say if the groups of a large log are too few for intervals by session."""
    found = log.session_groups
    if found is not None and log.presentations is not None:
        made = log.presentations.groups
        if made < FEWEST_GROUPS:
            yield (
                f"The log has so many documents at so many positions that its sessions are kept in "
                f"{made} groups, but intervals by session need at least {FEWEST_GROUPS}; give "
                "fewer queries."
            )


def _ends(
    relation: Relation, places: Mapping[tuple[Any, ...], Mapping[str, int]], log: PresentationLog
) -> Iterator[tuple[str, int, int]]:
    """Where each CSV file ends: its name, and query and position of its last whole row."""
    numbers = {name: number for number, name in enumerate(log.query_names)}
    for part in relation.parts:
        found = places[part.layout]
        for cells in part.last_rows():
            if len(cells) <= max(found.values()):
                continue
            query = cells[found["query"]].strip() if "query" in found else ""
            position = number_in_text(cells[found["position"]].strip())
            if query in numbers and position.is_integer():
                yield part.name, numbers[query], int(position) + 1 - log.first_position
            break


def _require_few_contexts(rows: UsableRows, columns: Mapping[str, str]) -> None:
    """Raise InputError for more contexts than anybody has a curve for."""
    found = len(rows.texts.get("context", ()))
    if found > CONTEXTS.most:
        raise InputError(
            f"The column {quoted(columns['context'])} has {found:,} different values, but at most "
            f"{CONTEXTS.most} contexts can have their own propensities; group the values, or leave "
            "the column out.",
            "columns",
        )


def _without_effect(
    relation: Relation, meanings: Collection[str], columns: Mapping[str, str], how: Reading
) -> Iterator[str]:
    """What of ``how`` changes nothing in this log, in a sentence each."""
    text = any(part.is_text for part in relation.parts)
    if how.encoding not in (None, "utf-8") and not text:
        yield (
            f"{relation.name} is {relation.first.form}, whose text is always UTF-8, so the "
            "encoding was not used."
        )
    if how.page_size is not None and ("page" not in meanings or "offset" in meanings):
        why = "No column was read as the page of results"
        if "offset" in meanings:
            why = f"The column {quoted(columns['offset'])} says how many results come before a page"
        yield f"{why}, so the number of documents on a page was not used."
    if how.clicks_once and "impressions" in meanings:
        yield (
            f"The column {quoted(columns['impressions'])} gives each row's impressions, so all "
            "of a row's clicks count, not only one."
        )
    searches = {plain_name(name) for name in SEARCHES}
    others = [name for name in relation.first.header if plain_name(name) in searches]
    if "query" not in meanings and others and others[0] not in columns.values():
        yield f"The column {quoted(others[0])} was not used; it may be the query."


def _repeating(
    relation: Relation, places: Mapping[tuple[Any, ...], Mapping[str, int]], log: PresentationLog
) -> tuple[str, ...]:
    """Columns that repeat where each query was shown once, and so may hold the queries."""
    if len(log.query_names) < _FEWEST_QUERIES or log.moved_pairs:
        return ()
    if int(log.displays().impressions.max()) > 1:
        return ()
    part, others = relation.first, _not_used(relation, places)
    if not others:
        return ()
    query = f"c{places[part.layout]['query']}"
    counts = relation.run(
        f"SELECT count(DISTINCT {query})"
        + "".join(f", count(DISTINCT c{o}), count(DISTINCT ({query}, c{o}))" for o in others)
        + f" FROM (SELECT * FROM {relation.scan_of(part)} LIMIT {_LOOKED_AT})"
    )[0]
    queries, rest = counts[0], counts[1:]
    return tuple(
        part.header[other]
        for other, values, together in zip(others, rest[::2], rest[1::2], strict=True)
        if 1 < values <= queries / 2 and together == queries
    )


def _not_used(relation: Relation, places: Mapping[tuple[Any, ...], Mapping[str, int]]) -> list[int]:
    """Places of the columns without a meaning in the first file; those that hold lists are none."""
    part = relation.first
    used = set(places[part.layout].values())
    return [
        place
        for place, kind in enumerate(part.types)
        if place not in used and part.header[place].strip() and not is_nested(kind)
    ][:_MOST_COLUMNS]


def _few_values(
    relation: Relation, places: Mapping[tuple[Any, ...], Mapping[str, int]]
) -> tuple[str, ...]:
    """Columns without a meaning that have few values, and one in each presentation if known."""
    part, others = relation.first, _not_used(relation, places)
    if not others:
        return ()
    presentation = places[part.layout].get("presentation")
    list_of = "0" if presentation is None else f"c{presentation}"
    rows, lists, *counts = relation.run(
        f"SELECT count(*), count(DISTINCT {list_of})"
        + "".join(f", count(DISTINCT c{o}), count(DISTINCT ({list_of}, c{o}))" for o in others)
        + f" FROM (SELECT * FROM {relation.scan_of(part)} LIMIT {_FEW_LOOKED_AT})"
    )[0]
    if rows < _FEWEST_ROWS:
        return ()
    return tuple(
        part.header[other]
        for other, values, pairs in zip(others, counts[::2], counts[1::2], strict=True)
        if 1 < values <= _FEW_VALUES and (presentation is None or pairs == lists)
    )


def _located(
    relation: Relation,
    places: Mapping[tuple[Any, ...], Mapping[str, int]],
    rows: UsableRows,
    events: JoinedEvents | None,
    progress: Progress | None,
) -> tuple[RowFault, ...]:
    """The faults, each with the part and the record of its first row where that is known."""
    faults = [fault for fault, _ in rows.faults]
    if events is not None:
        views, clicks = events.sizes.views_without, events.sizes.clicks_without
        if views or clicks:
            faults.append(RowFault(WITHOUT_PRESENTATION, views + clicks, clicks, 0))
        if events.sizes.faulty:
            faults.append(RowFault(CLICK_WITHOUT_NUMBER, events.sizes.faulty, 0, 0))
        if events.alone:
            faults.append(RowFault(CLICK_WITHOUT_VIEW, events.alone, events.alone, 0))
        return tuple(faults)
    if not faults:
        return ()
    first = first_records(relation, places, rows.faults, progress)
    several = len(relation.parts) > 1
    # In a damaged Parquet file a row need not be found again.
    where = [first.get(place, ("", 0)) for place in range(len(faults))]
    return tuple(
        replace(fault, first=record, file=name if several else "")
        for fault, (name, record) in zip(faults, where, strict=True)
    )


def _log(
    rows: UsableRows,
    entry: Any,
    grouped: GroupedRows,
    faults: tuple[RowFault, ...],
    columns: Mapping[str, str],
    relation: Relation,
) -> PresentationLog:
    of = entry[grouped.slot]
    nothing = np.broadcast_to(np.int32(0), of.size)
    query = rows.names["query"][of] if "query" in rows.names else nothing
    names = rows.texts["document"]
    return PresentationLog(
        query=query,
        document=query.astype(np.int64) * len(names) + rows.names["document"][of],
        position=rows.numbers["position"][of],
        impressions=grouped.impressions,
        clicks=grouped.clicks,
        swap=np.maximum(rows.numbers["swap"][of], 0),
        ranker=rows.names["ranker"][of] if "ranker" in rows.names else nothing,
        context=rows.names["context"][of] if "context" in rows.names else nothing,
        propensity=None if rows.propensity is None else rows.propensity[of],
        group=grouped.group,
        above=grouped.above,
        rows=int(rows.rows.sum()),
        presentations=grouped.presentations,
        repeating=(),
        query_names=rows.texts.get("query", ("",)),
        document_names=names,
        context_names=rows.texts.get("context", ()),
        has_swaps="swap" in columns,
        first_position=rows.first_position,
        format=relation.first.form,
        columns=dict(columns),
        faults=faults,
        notices=(),
        grouped_by=_grouped_by(grouped, columns),
    )


def _grouped_by(
    grouped: GroupedRows, columns: Mapping[str, str]
) -> Literal["session", "presentation", ""]:
    """What the groups of a log are of; of counts, the name of their column says it."""
    if "group" in columns:
        of_lists = columns["group"].strip().lower() == PRESENTATION_GROUP
        return "presentation" if of_lists else "session"
    if grouped.presentations is None:
        return ""
    return "session" if grouped.presentations.sessions else "presentation"


def _words(fault: RowFault, relation: Relation) -> str:
    count = fault.rows
    if fault.kind == WITHOUT_PRESENTATION:
        views, clicks = counted(count - fault.clicks, "view"), counted(fault.clicks, "click")
        what = f"{views} and {clicks} with {fault.kind}"
    elif fault.kind in (CLICK_WITHOUT_POSITION, CLICK_WITHOUT_VIEW):
        kind = fault.kind.removeprefix("a click ")
        what = f"{counted(count, 'click')} {kind}"
    else:
        what = f"{counted(count, 'row')} with {fault.kind}"
    if not fault.first:
        return what
    where = f"{relation.first.row_noun} {fault.first}"
    if fault.file:
        where += f" of {fault.file}"
    return f"{what} ({'' if count == 1 else 'first '}{where})"


def _of_events(events: JoinedEvents | None) -> Iterator[str]:
    if events is None:
        return
    sizes = events.sizes
    yield (
        f"{counted(sizes.clicks - sizes.clicks_without, 'click was', 'clicks were')} joined with "
        f"{counted(sizes.views - sizes.views_without, 'view')} by presentation and document."
    )
    if sizes.zeros:
        yield (
            f"{counted(sizes.zeros, 'click row has', 'click rows have')} the number 0 and "
            f"{'counts' if sizes.zeros == 1 else 'count'} as not clicked."
        )
    if sizes.others:
        yield (
            f"{counted(sizes.others, 'row')} with other actions, such as {quoted(sizes.other)}, "
            f"{'is' if sizes.others == 1 else 'are'} not used."
        )


def _sentences(log: PresentationLog, rows: UsableRows) -> Iterator[str]:
    if log.first_position == 0:
        yield "Positions start at 0 in this log; 1 was added, so that the top position is rank 1."
    elif (top := int(log.position.min())) > 1:
        yield (
            f"The first position in this log is {top}; positions are taken as ranks, so rank 1 was "
            f"never logged. {log.lost}".rstrip()
        )
    else:
        yield "Positions are counted from 1; position 1 is the reference."
    if rows.page_size > 0:
        yield (
            f"Positions restart on each page of {rows.page_size} documents; they were renumbered "
            "across pages."
        )
    if rows.clicked_again:
        yield (
            f"{counted(rows.clicked_again, 'row has', 'rows have')} more than one click; each "
            "such row counts as one clicked impression."
        )
    if rows.page_size < 0:
        yield "Positions restart on each page; the page's offset was added to them."
    if "query" not in log.columns:
        yield "There is no query column, so all rows are treated as one query."
    if log.presentations is not None:
        yield from _of_presentations(log, log.presentations)
    moved, pairs = log.moved_pairs, int(log.pairs.size)
    yield (
        f"{part_of(moved, pairs, '(query, document) pair', does='was', do='were')} shown at more "
        "than one position; only these can separate position from relevance."
    )
    if int(log.position.max()) == 1:
        yield "Only position 1 occurs in this log, so no other position can be compared with it."


def _of_presentations(log: PresentationLog, found: Presentations) -> Iterator[str]:
    if found.repeated:
        yield (
            f"{counted(found.repeated, 'row')} repeated a document at the same position in a list; "
            "each such position counts as one impression, clicked if any of its rows is."
        )
    if found.moved:
        noun = counted(found.moved, "list shows", "lists show")
        yield (
            f"{noun} the same document at two positions{found.of_sample}; both rows are used, each "
            "at its position."
        )
    if found.left_out:
        yield (
            f"{counted(found.left_out, 'session')} with more presentations than the limit "
            f"{'is' if found.left_out == 1 else 'are'} left out."
        )
