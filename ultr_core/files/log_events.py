"""Logs of events: views and clicks as rows of their own, joined by presentation and document."""

from __future__ import annotations

from dataclasses import dataclass

from ultr_core.errors import InputError, quoted
from ultr_core.files.log_relation import Progress, Relation

VIEWS = (
    "view", "impression", "display", "displayed", "show", "shown", "seen", "exposure", "serve",
    "viewed", "impressed",
)  # fmt: skip
CLICKS = ("click", "clicked", "select", "selected", "tap")


@dataclass(frozen=True)
class JoinedEvents:
    """Views with their clicks.

    cells: SQL as of `log_rows.cells_of`, a row for each document at a position of a presentation.
    views, clicks: rows of each. alone: clicks on what was not shown in their presentation. others,
    other: rows with another action, and one of these.
    """

    cells: str
    meanings: list[str]
    views: int
    clicks: int
    alone: int
    others: int
    other: str


def joined_events(
    relation: Relation, cells: str, meanings: list[str], progress: Progress | None
) -> JoinedEvents:
    """Join clicks with the views of their presentation and document.

    A click counts at the position it names if the document was shown there, otherwise at the
    document's first position; several clicks on one view are one. Raises InputError without an id
    of presentations, without a view, and where no action is a view or a click.
    """
    if "presentation" not in meanings:
        raise InputError(
            "Views and clicks that are rows of their own are joined by the id of their "
            "presentation; say which column holds it.",
            "presentation",
        )
    action = "lower(trim(k_action))"
    # Its own words only: nothing from outside enters the statement.
    views, clicks = (", ".join(f"'{word}'" for word in words) for words in (VIEWS, CLICKS))
    kept = [m for m in meanings if m not in ("action", "click", "presentation", "document",
                                             "position")]  # fmt: skip
    position = "k_position" if "position" in meanings else "''"
    carried = "".join(f", max(k_{meaning}) AS k_{meaning}" for meaning in kept)
    relation.run(
        "CREATE TEMP TABLE views AS SELECT trim(k_presentation) AS k_presentation, "
        f"trim(k_document) AS k_document, {position} AS k_position{carried}, "
        f"any_value(short) AS short, any_value(broken) AS broken, count(*) AS n "
        f"FROM ({cells}) WHERE {action} IN ({views}) OR broken OR short "
        "GROUP BY ALL",
        progress,
    )
    relation.run(
        "CREATE TEMP TABLE clicked AS SELECT trim(k_presentation) AS k_presentation, "
        f"trim(k_document) AS k_document, {position} AS k_position, count(*) AS n "
        f"FROM ({cells}) WHERE {action} IN ({clicks}) AND NOT broken AND NOT short GROUP BY ALL",
        progress,
    )
    others, other = relation.run(
        f"SELECT count(*), coalesce(any_value(k_action), '') FROM ({cells}) "
        f"WHERE {action} NOT IN ({views}, {clicks}) AND NOT broken AND NOT short"
    )[0]
    seen = int(relation.run("SELECT coalesce(sum(n), 0) FROM views")[0][0])
    made = int(relation.run("SELECT coalesce(sum(n), 0) FROM clicked")[0][0])
    if not seen:
        raise InputError(
            f"{relation.name} has {made:,} rows that are clicks and none that is a view"
            + (f"; {others:,} have another action, such as {quoted(other)}" if others else "")
            + ". Views are needed to know what was shown.",
            "views",
        )
    relation.run(
        "CREATE TEMP TABLE first_views AS SELECT k_presentation, k_document, "
        "arg_min(k_position, coalesce(try_cast(k_position AS DOUBLE), 'inf'::DOUBLE)) AS spot "
        "FROM views GROUP BY ALL"
    )
    relation.run(
        "CREATE TEMP TABLE placed AS SELECT clicked.*, CASE WHEN views.k_position IS NOT NULL "
        "THEN clicked.k_position ELSE spot END AS place FROM clicked "
        "LEFT JOIN views USING (k_presentation, k_document, k_position) "
        "LEFT JOIN first_views USING (k_presentation, k_document)"
    )
    alone = int(relation.run("SELECT coalesce(sum(n), 0) FROM placed WHERE place IS NULL")[0][0])
    carried = "".join(f", k_{meaning}" for meaning in kept)
    joined = (
        f"SELECT views.k_presentation, views.k_document, k_position{carried}, "
        "CASE WHEN hit.place IS NULL THEN '0' ELSE '1' END AS k_click, short, broken, "
        "false AS long FROM views LEFT JOIN (SELECT DISTINCT k_presentation, k_document, place "
        "FROM placed) AS hit ON views.k_presentation = hit.k_presentation AND "
        "views.k_document = hit.k_document AND views.k_position = hit.place"
    )
    left = ["presentation", "document", "position", *kept, "click"]
    return JoinedEvents(joined, left, seen, made, alone, int(others), str(other))
