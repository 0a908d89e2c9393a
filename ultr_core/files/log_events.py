"""Logs of events: views and clicks as rows of their own, joined by presentation and document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ultr_core.errors import InputError, quoted
from ultr_core.files.log_columns import NO_COLUMN, SEARCH_ID, WITHOUT_NAME
from ultr_core.files.log_relation import PIECE_ROWS, Progress, Relation, share_of, together

VIEWS = (
    "view", "impression", "display", "displayed", "show", "shown", "seen", "exposure", "serve",
    "viewed", "impressed",
)  # fmt: skip
JOINED_AT_ONCE = 250_000
"""Views and clicks that are joined at a time, with the texts of each."""

CLICKS = ("click", "clicked", "select", "selected", "tap")


@dataclass(frozen=True)
class Sizes:
    """Rows of a log of events: views, clicks, those of them that name no presentation, and others.

    other: the most frequent of the other actions. zeros: rows of clicks that say 0. faulty: those
    that say no whole number of 0 or more.
    """

    views: int
    clicks: int
    views_without: int
    clicks_without: int
    others: int
    other: str
    zeros: int
    faulty: int


@dataclass(frozen=True)
class JoinedEvents:
    """Views with their clicks.

    cells: SQL as of `log_rows.cells_of`, a row for each document at a position of a presentation.
    sizes: of the rows before. alone: clicks on documents that were not shown in their presentation.
    elsewhere: clicks that name another position or query than the view they are joined with.
    repeated: views, and joined clicks, beyond the first in each cell.
    """

    cells: list[str]
    meanings: list[str]
    sizes: Sizes
    alone: int
    elsewhere: int
    repeated: tuple[int, int]


def joined_events(
    relation: Relation,
    cells: Sequence[str],
    meanings: list[str],
    columns: Mapping[str, str],
    said: Mapping[str, str],
    progress: Progress | None,
) -> JoinedEvents:
    """Join clicks with the views of their presentation and document.

    A click counts at the position it names if the document was shown there, otherwise at the
    document's first position; several clicks on one view are one. Rows that name no presentation
    cannot be joined and are left out. columns: meaning to column name. said: what the reader
    mapped. Raises InputError without an id of presentations, where all views or all clicks lack
    it, without a view, and where no action is a view or a click.
    """
    if "presentation" not in meanings:
        raise _no_presentation(columns, said)
    sizes = _sizes(relation, together(cells), _counts(meanings), progress)
    _require_joinable(relation.name, sizes, columns["presentation"])
    kept = [m for m in meanings if m not in ("action", "click", "presentation", "document",
                                             "position")]  # fmt: skip
    position = _POSITION if "position" in meanings else "''"
    counts = _counts(meanings)
    rows = [_joinable(piece, kept, position, counts) for piece in cells]
    files, numbers, size = [], [], sizes.views + sizes.clicks
    with relation.split(rows, "hash(k_presentation)", size, progress, JOINED_AT_ONCE) as buckets:
        for place, some in enumerate(buckets):
            told = share_of(progress, place, len(buckets))
            found, joined = _joined(relation, some, kept, told)
            files.append(relation.written(f"joined-{place}", joined, told)[0])
            numbers.append(found)
            for table in ("views", "clicked", "first_views", "placed"):
                relation.run(f"DROP TABLE {table}")
    several = max(1, PIECE_ROWS // JOINED_AT_ONCE)
    pieces = [
        f"SELECT * FROM read_parquet([{', '.join(files[start : start + several])}])"
        for start in range(0, len(files), several)
    ]
    # Rows that are none stay, so that they are counted as faults.
    carried = "".join(f", k_{meaning}" for meaning in kept)
    none = [
        f"SELECT '' AS k_presentation, '' AS k_document, '' AS k_position{carried}, "
        f"'0' AS k_click, short, broken, false AS long FROM ({piece}) WHERE broken OR short"
        for piece in cells
    ]
    left = ["presentation", "document", "position", *kept, "click"]
    alone, elsewhere, views, clicks = map(sum, zip(*numbers, strict=True))
    return JoinedEvents([*pieces, *none], left, sizes, alone, elsewhere, (views, clicks))


def _counts(meanings: Sequence[str]) -> str:
    """SQL for how often a row of clicks says that it was clicked; NULL for no number."""
    if "click" not in meanings:
        return "1"
    text = "lower(trim(k_click))"
    number = (
        f"CASE {text} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE try_cast({text} AS DOUBLE) END"
    )
    return f"CASE WHEN {number} BETWEEN 0 AND 1e15 AND {number} = trunc({number}) THEN {number} END"


def _joinable(cells: str, kept: Sequence[str], position: str, counts: str) -> str:
    """SQL for the views and clicks that name a presentation."""
    carried = "".join(f", k_{meaning}" for meaning in kept)
    return (
        "SELECT trim(k_presentation) AS k_presentation, trim(k_document) AS k_document, "
        f"{position} AS k_position{carried}, "
        f"{_ACTION} IN ({_listed(VIEWS)}) AS is_view FROM ({cells}) "
        f"WHERE ({_ACTION} IN ({_listed(VIEWS)}) OR {_ACTION} IN ({_listed(CLICKS)}) AND "
        f"coalesce({counts} > 0, false)) AND NOT {_WITHOUT} "
        "AND NOT broken AND NOT short"
    )


def _joined(
    relation: Relation, rows: str, kept: Sequence[str], progress: Progress | None
) -> tuple[tuple[int, int, int, int], str]:
    """Join clicks of `_joinable` rows with views.

    Returns how many clicks are on no view, how many contradict theirs, how many views and how many
    joined clicks repeat another, and SQL for the views with clicks.
    """
    carried = "".join(f", max(k_{meaning}) AS k_{meaning}" for meaning in kept)
    query = ", k_query" if "query" in kept else ""
    for table, which, more in (("views", "is_view", carried), ("clicked", "NOT is_view", query)):
        relation.run(
            f"CREATE TEMP TABLE {table} AS SELECT k_presentation, k_document, k_position{more}, "
            f"count(*) AS n FROM ({rows}) WHERE {which} GROUP BY ALL",
            progress,
        )
    relation.run(
        "CREATE TEMP TABLE first_views AS SELECT k_presentation, k_document, "
        "min(row(coalesce(try_cast(k_position AS DOUBLE), 'inf'::DOUBLE), k_position))[2] AS spot "
        "FROM views GROUP BY ALL"
    )
    relation.run(
        "CREATE TEMP TABLE placed AS SELECT clicked.*, CASE WHEN views.k_position IS NOT NULL "
        "THEN clicked.k_position ELSE spot END AS place FROM clicked "
        "LEFT JOIN views USING (k_presentation, k_document, k_position) "
        "LEFT JOIN first_views USING (k_presentation, k_document)"
    )
    others = _differ("placed.k_position", "place")
    if query:
        others += f" OR {_differ('placed.k_query', 'views.k_query')}"
    alone, elsewhere, joined, clicked = relation.run(
        "SELECT coalesce(sum(placed.n) FILTER (place IS NULL), 0), "
        f"coalesce(sum(placed.n) FILTER (place IS NOT NULL AND ({others})), 0), "
        "coalesce(sum(placed.n) FILTER (place IS NOT NULL), 0), count(DISTINCT "
        "(placed.k_presentation, placed.k_document, place)) FILTER (place IS NOT NULL) FROM placed "
        "LEFT JOIN views ON views.k_presentation = placed.k_presentation AND "
        "views.k_document = placed.k_document AND views.k_position = place"
    )[0]
    views_again = relation.run("SELECT coalesce(sum(n), 0) - count(*) FROM views")[0][0]
    carried = "".join(f", k_{meaning}" for meaning in kept)
    return (
        (int(alone), int(elsewhere), int(views_again), int(joined) - int(clicked)),
        (
            f"SELECT views.k_presentation, views.k_document, k_position{carried}, "
            "CASE WHEN hit.place IS NULL THEN '0' ELSE '1' END AS k_click, false AS short, "
            "false AS broken, false AS long FROM views LEFT JOIN (SELECT DISTINCT k_presentation, "
            "k_document, place FROM placed) AS hit ON views.k_presentation = hit.k_presentation "
            "AND views.k_document = hit.k_document AND views.k_position = hit.place"
        ),
    )


def _differ(one: str, other: str) -> str:
    """SQL for whether two texts, both given, are neither the same nor the same number."""
    named = " AND ".join(f"trim({each}) NOT IN ({WITHOUT_NAME})" for each in (one, other))
    numbers = " <> ".join(f"try_cast({each} AS DOUBLE)" for each in (one, other))
    return f"({named} AND trim({one}) <> trim({other}) AND coalesce({numbers}, true))"


def _listed(words: Iterable[str]) -> str:
    """SQL of words of our own: nothing from outside enters the statement."""
    return ", ".join(f"'{word}'" for word in words)


_POSITION = (
    "CASE WHEN contains(k_position, '.') "
    "THEN regexp_replace(trim(k_position), '^([0-9]+)\\.0*$', '\\1') ELSE k_position END"
)
"""SQL for the position, without the decimals that a whole number may be written with."""

_ACTION = "lower(trim(k_action))"
_WITHOUT = f"trim(k_presentation) IN ({WITHOUT_NAME})"
VIEWS_AMONG_CLICKS = (
    f"CASE WHEN lower(trim({{0}})) IN ({_listed(VIEWS)}) THEN 'view among the clicks' "
    "ELSE {0} END AS k_action"
)
"""SQL for the actions, {0}, of a file of clicks: what was shown stands in the other file."""


def is_click(action: str) -> str:
    """SQL for whether an action, SQL of its text, is a click."""
    return f"lower(trim({action})) IN ({_listed(CLICKS)})"


def _sizes(relation: Relation, cells: str, counts: str, progress: Progress | None) -> Sizes:
    kind = (
        f"CASE WHEN {_ACTION} IN ({_listed(VIEWS)}) THEN 'views' "
        f"WHEN {_ACTION} NOT IN ({_listed(CLICKS)}) THEN 'others' WHEN {counts} > 0 THEN 'clicks' "
        f"WHEN {counts} = 0 THEN 'zeros' ELSE 'faulty' END"
    )
    found = relation.run(
        f"SELECT {kind} AS kind, CASE WHEN kind = 'others' THEN k_action ELSE '' END AS other, "
        f"count(*) AS n, count(*) FILTER ({_WITHOUT}) FROM ({cells}) "
        "WHERE NOT broken AND NOT short GROUP BY ALL ORDER BY n DESC, other",
        progress,
    )
    size = {kind: (int(n), int(without)) for kind, _, n, without in found if kind != "others"}
    others = [(str(other), int(n)) for kind, other, n, _ in found if kind == "others"]
    (views, views_without), (clicks, clicks_without) = (
        size.get(kind, (0, 0)) for kind in ("views", "clicks")
    )
    zeros, faulty = (size.get(kind, (0, 0))[0] for kind in ("zeros", "faulty"))
    number, other = sum(n for _, n in others), others[0][0] if others else ""
    return Sizes(views, clicks, views_without, clicks_without, number, other, zeros, faulty)


def _no_presentation(columns: Mapping[str, str], said: Mapping[str, str]) -> InputError:
    """What is to be said where no column holds the id of a presentation."""
    joined = "Views and clicks in separate rows are joined by their presentation id"
    if said.get("presentation", "").strip() == NO_COLUMN:
        return InputError(
            f"{joined}, but no column is mapped to it. Choose the column that contains it, or "
            "count views and clicks by query, document and position, and give those counts as "
            "impressions and clicks.",
            "presentation",
        )
    query = columns.get("query", "")
    if "query" not in said and query.strip().lower() == SEARCH_ID:
        return InputError(
            f"{joined}. No column has the query text, so {quoted(query)} was taken as the query; "
            "if it is the presentation id, say so and choose the column that contains the query.",
            "presentation",
        )
    return InputError(f"{joined}; say which column contains it.", "presentation")


def _require_joinable(name: str, sizes: Sizes, column: str) -> None:
    """Raise InputError where no view, or no click of those that there are, can be joined."""
    if not sizes.views:
        others = f"; {sizes.others:,} have another action, such as {quoted(sizes.other)}"
        raise InputError(
            f"{name} has {sizes.clicks:,} rows of clicks and no views"
            f"{others if sizes.others else ''}. Add the views, which say what was shown.",
            "views",
        )
    without = (sizes.views_without, sizes.clicks_without)
    if without == (sizes.views, sizes.clicks):
        where = f"all {sum(without):,} rows of views and clicks"
    elif sizes.views_without == sizes.views:
        where = f"all {sizes.views:,} views"
    elif sizes.clicks and sizes.clicks_without == sizes.clicks:
        where = f"all {sizes.clicks:,} clicks"
    else:
        return
    raise InputError(
        f"The column {quoted(column)} of {name}, which should contain the presentation id, is "
        f"empty in {where}, so no click can be joined with a view; say which column "
        "contains the id.",
        "presentation",
    )
