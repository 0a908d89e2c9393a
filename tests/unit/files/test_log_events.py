"""Views and clicks as rows of their own: joined by presentation and document, and counted."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.logs import counts
from tests.meaning import mentions, refused
from ultr_core.files import parse_log, read_log
from ultr_core.inspection import inspect_log

HEADER = "presentation,query,document,position,action\n"
VIEWS = ("p1,q,a,1,view", "p1,q,b,2,view", "p2,q,b,1,view", "p2,q,a,2,view")


def events(*rows: str, header: str = HEADER) -> bytes:
    return (header + "\n".join(rows) + "\n").encode()


JOINED = {
    ("q", "a", 1): (1, 1), ("q", "a", 2): (1, 0), ("q", "b", 1): (1, 0), ("q", "b", 2): (1, 0),
}  # fmt: skip


@pytest.mark.parametrize(
    "clicks",
    [
        ("p1,q,a,1,click",),
        ("p1,q,a,1,click", "p1,q,a,1,click", "p1,q,a,1,click"),  # several on one view
        ("p1,q,a,,click",),  # at the position of the view
        ("p1,,a,,Selected",),
        ("p1,q,a,7,tap",),  # at a position where it was not shown
        (" p1 ,q, a ,1, CLICK ",),
    ],
)
def test_a_click_belongs_to_the_view_of_its_presentation_and_document(clicks: tuple[str]) -> None:
    for rows in ((*VIEWS, *clicks), (*clicks, *VIEWS)):
        log = parse_log(events(*rows))
        assert counts(log) == JOINED
        assert log.faults == ()
        assert mentions(log.notices, "4 views")


def test_clicks_on_what_was_not_shown_are_counted_and_left_out() -> None:
    rows = ("p1,q,a,1,click", "p1,q,z,3,click", "p9,q,a,1,click", "p9,q,a,1,click")
    log = parse_log(events(*VIEWS, *rows))
    assert counts(log) == JOINED
    assert [(f.rows, f.clicks) for f in log.faults] == [(3, 3)]
    found = inspect_log(log).finding("clicks_without_position")
    assert (found.severity, found.value) == ("warning", 3)


def test_other_actions_are_told_and_not_used() -> None:
    rows = ("p1,q,a,1,click", "p1,q,a,1,add_to_cart", "p1,q,b,2,hover", "p2,q,a,2,hover")
    log = parse_log(events(*VIEWS, *rows))
    assert counts(log) == JOINED
    assert mentions(log.notices, "3 rows")


@pytest.mark.parametrize(
    ("again", "repeated", "severity"),
    [
        ((), (0, 0), "good"),
        (VIEWS, (4, 0), "warning"),
        (("p1,q,a,1,click", "p1,q,a,,click"), (0, 2), "good"),  # as users may click twice
        ((*VIEWS, "p1,q,a,7,click"), (4, 1), "warning"),
        (("p1,q,c,3,view", "p1,q,z,4,click", "p1,q,z,4,click"), (0, 0), "good"),  # no view of z
    ],
)
def test_an_event_that_was_sent_twice_is_one_and_is_counted(
    again: tuple[str, ...], repeated: tuple[int, int], severity: str
) -> None:
    log = parse_log(events(*VIEWS, "p1,q,a,1,click", *again))
    assert {key: n for key, n in counts(log).items() if key[1] != "c"} == JOINED
    found = inspect_log(log).finding("repeated_rows")
    assert (log.repeated_events, found.value, found.severity) == (repeated, sum(repeated), severity)
    told = [n for n in repeated if n]
    assert mentions(found.sentence, *told)
    assert (found.sentence in log.notices) == bool(told)


def test_a_document_at_two_positions_of_one_presentation_gets_its_click_where_it_was() -> None:
    rows = ("p1,q,a,1,view", "p1,q,a,3,view", "p1,q,b,2,view")
    at_three = counts(parse_log(events(*rows, "p1,q,a,3,click")))
    assert at_three == {("q", "a", 1): (1, 0), ("q", "a", 3): (1, 1), ("q", "b", 2): (1, 0)}
    somewhere = counts(parse_log(events(*rows, "p1,q,a,,click")))
    assert somewhere == {("q", "a", 1): (1, 1), ("q", "a", 3): (1, 0), ("q", "b", 2): (1, 0)}


@pytest.mark.usefixtures("read_here")
def test_clicks_in_a_file_of_their_own(tmp_path: Path) -> None:
    views = events(*(row.rpartition(",")[0] for row in VIEWS), header=HEADER.replace(",action", ""))
    clicks = b"document,presentation\na,p1\na,p1\nz,p1\n"
    log = parse_log(views, clicks=clicks)
    assert counts(log) == JOINED
    assert [(f.rows, f.clicks) for f in log.faults] == [(1, 1)]
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "1.csv").write_bytes(views)
    (tmp_path / "clicks.csv").write_bytes(clicks)
    stream = io.BytesIO()
    pq.write_table(pa.table({"doc_id": ["a"], "serp_id": ["p1"]}), stream)
    (tmp_path / "clicks.parquet").write_bytes(stream.getvalue())
    for name in ("clicks.csv", "clicks.parquet"):
        again = read_log(str(tmp_path / "views" / "*.csv"), clicks=tmp_path / name)
        assert counts(again) == JOINED


APART = events(*(row.rpartition(",")[0] for row in VIEWS), header=HEADER.replace(",action", ""))


@pytest.mark.parametrize(
    ("clicks", "told", "faulty"),
    [
        (b"document,presentation,click\na,p1,1\nb,p1,0\n", ("row",), 0),
        (
            b"document,presentation,clicks\na,p1,3\na,p2,FALSE\nb,p2,-1\nb,p2,x\n",
            ("row",),
            2,
        ),
        (b"document,presentation,click\nb,p1,0.5\na,p1,true\nb,p1,\n", (), 2),
        (b"document,presentation,event\na,p1,click\na,p2,view\nb,p1,hover\n", ("2 rows",), 0),
        (b"document,presentation,action\na,p1,click\nb,p2,Displayed\n", ("row",), 0),
    ],
)
def test_a_file_of_clicks_says_which_of_its_rows_are_clicks(
    clicks: bytes, told: tuple[str, ...], faulty: int
) -> None:
    log = parse_log(APART, clicks=clicks)
    assert counts(log) == JOINED
    assert mentions(log.notices, "1 click", *told)
    assert sum(fault.rows for fault in log.faults) == faulty


@pytest.mark.parametrize(
    ("clicks", "severity", "some"),
    [
        (("p1,q,a,1,click", "p2,other,b,1,click"), "warning", 1),
        (("p1,q,a,3,click", "p2,q,b,,click"), "warning", 1),
        (("p1,other,a,1,click", "p2,q,b,2,click"), "stop", 2),
        (("p1,q,a,1.0,click", "p2,NULL,b,,click"), "", 0),
    ],
)
def test_clicks_that_contradict_their_views_are_told(
    clicks: tuple[str, ...], severity: str, some: int
) -> None:
    log = parse_log(events(*VIEWS, *clicks))
    found = {each.key: each for each in inspect_log(log).findings}
    assert int(log.clicks.sum()) == 2
    assert log.contrary == (some, 2)
    assert ("contradicted" in found) == bool(severity)
    if severity:
        assert (found["contradicted"].severity, found["contradicted"].value) == (severity, some)
        assert log.contradicted in log.notices


def test_a_column_of_clicks_beside_a_file_of_clicks_is_refused() -> None:
    own = b"presentation,query,document,position,click\np1,q,a,1,0\np1,q,b,2,1\n"
    clicks = b"document,presentation\na,p1\n"
    with refused("clicks_twice", "'click'"):
        parse_log(own, clicks=clicks)
    with refused("columns", "'click'", "'clicks'"):
        parse_log(APART, clicks=b"document,presentation,click,clicks\na,p1,1,0\n")
    log = parse_log(own, clicks=clicks, columns={"click": "-"})
    assert counts(log) == {("q", "a", 1): (1, 1), ("q", "b", 2): (1, 0)}


def test_of_two_columns_of_clicks_one_is_chosen() -> None:
    text = "presentation,query,document,position,action,click\np,q,a,1,view,0\np,q,a,1,click,1\n"
    text += "p,q,b,2,view,1\n"
    with refused("action_or_click", "'action'", "'click'"):
        parse_log(text)
    by_action = {("q", "a", 1): (1, 1), ("q", "b", 2): (1, 0)}
    assert counts(parse_log(text, columns={"click": "-"})) == by_action
    assert counts(parse_log(text, columns={"action": "action"})) == by_action
    by_click = {("q", "a", 1): (1, 1), ("q", "b", 2): (1, 1)}
    assert counts(parse_log(text, columns={"action": "-"})) == by_click
    assert counts(parse_log(text, columns={"click": "click"})) == by_click


def test_a_column_of_clicks_says_more_than_one_of_actions() -> None:
    text = "query,document,position,click,event\nq,a,1,1,search\nq,b,2,0,search\n"
    assert counts(parse_log(text)) == {("q", "a", 1): (1, 1), ("q", "b", 2): (1, 0)}


@pytest.mark.parametrize(
    ("data", "about", "named"),
    [
        (events(*VIEWS, header=HEADER.replace("presentation", "nothing")), "presentation", "id"),
        (events("p1,q,a,1,click", "p1,q,b,1,click"), "views", 2),
        (events("p1,q,a,1,search", "p1,q,b,1,'); DROP"), "views", "2 have"),
    ],
)
def test_events_that_cannot_be_joined(data: bytes, about: str, named: str) -> None:
    with refused(about, named):
        parse_log(data)


def test_faults_among_events_are_counted() -> None:
    log = parse_log(events(*VIEWS, "p3,q,c,x,view", "p3,,d,1,view", "p4,q", "p1,q,a,1,click"))
    assert counts(log) == JOINED
    assert sorted(fault.rows for fault in log.faults) == [1, 1, 1]


# Rows that name no presentation.


@pytest.mark.parametrize("none", ["", " ", "NULL", "None"])
def test_events_without_an_id_are_left_out_and_never_one_with_each_other(none: str) -> None:
    lost = [f"{none},q,a,{1 + place % 2},view" for place in range(40)]
    log = parse_log(events(*VIEWS, *lost, f"{none},q,a,1,click", "p1,q,a,1,click"))
    assert counts(log) == JOINED
    assert [(fault.rows, fault.clicks) for fault in log.faults] == [(41, 1)]
    assert mentions(log.notices, "40 views", "1 click")
    found = inspect_log(log)
    assert (found.finding("without_id").severity, found.finding("without_id").value) == ("stop", 41)
    assert mentions(found.finding("without_id").sentence, "40 of 44", "1 of 2")
    assert found.finding("rows_left_out").severity == "good"


def test_a_few_events_without_an_id_are_a_warning() -> None:
    views = [f"p{each},q,{d},{n},view" for each in range(100) for n, d in enumerate("ab", 1)]
    log = parse_log(events(*views, ",q,a,1,view", *(f"p{each},q,a,1,click" for each in range(50))))
    assert inspect_log(log).finding("without_id").severity == "warning"


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ((",q,a,1,view", ",q,b,2,view", ",q,a,1,click"), "3 rows"),
        ((*VIEWS, ",q,a,1,click", "NULL,q,a,1,click"), "2 clicks"),
        ((*(f",{view.partition(',')[2]}" for view in VIEWS), "p1,q,a,1,click"), "4 views"),
    ],
)
def test_ids_that_are_empty_everywhere_are_asked_for(rows: tuple[str, ...], named: str) -> None:
    with refused("presentation", "'presentation'", named):
        parse_log(events(*rows))


def test_ids_that_are_empty_in_a_file_of_clicks() -> None:
    views = events(*(row.rpartition(",")[0] for row in VIEWS), header=HEADER.replace(",action", ""))
    with refused("presentation", "2 clicks"):
        parse_log(views, clicks=b"document,presentation\na,\nb,NULL\n")
    log = parse_log(views, clicks=b"document,presentation\na,\na,p1\n")
    assert counts(log) == JOINED
    assert [(fault.rows, fault.clicks) for fault in log.faults] == [(1, 1)]


def test_events_whose_column_of_presentations_is_none_are_not_asked_again() -> None:
    with refused("presentation") as asked:
        parse_log(events(*VIEWS, header=HEADER.replace("presentation", "nothing")))
    with refused("presentation", "impressions") as answered:
        parse_log(events(*VIEWS), columns={"presentation": "-"})
    assert str(asked.value) != str(answered.value)


def test_an_id_that_was_taken_for_the_query_is_named() -> None:
    with refused("presentation", "'query_id'", "query"):
        parse_log(events(*VIEWS, header="search,text,document,position,action\n".replace(
            "search", "query_id")))  # fmt: skip


def test_an_empty_id_of_searches_is_named() -> None:
    rows = [insight("", "impression", "a", 1), insight("", "click", "a", 1)]
    with refused("presentation", "'query_id'", "2 rows"):
        parse_log("\n".join(rows).encode(), "events.ndjson")


def test_each_row_that_is_none_is_counted_among_events() -> None:
    rows = [insight(s, "impression", "a", 1) for s in ("s1", "s2")]
    log = parse_log("\n".join([*rows, "{", "}", "nothing"]).encode(), "events.ndjson")
    assert [fault.rows for fault in log.faults] == [3]


# User behaviour insights: queries, and events with attributes in attributes.


def insight(query_id: str, action: str, document: str, position: int | None) -> str:
    attributes: dict[str, object] = {"object": {"object_id": document, "object_id_field": "sku"}}
    if position is not None:
        attributes["position"] = {"ordinal": position, "xy": {"x": 1, "y": 2}}
    return json.dumps(
        {
            "application": "shop", "action_name": action, "query_id": query_id,
            "client_id": "u1", "timestamp": "2026-01-01T00:00:00Z", "user_query": "lamp",
            "event_attributes": attributes,
        }
    )  # fmt: skip


def test_insights_of_user_behaviour_as_json_lines() -> None:
    rows = [
        insight("s1", "impression", "a", 1), insight("s1", "impression", "b", 2),
        insight("s1", "click", "a", 1), insight("s1", "click", "a", None),
        insight("s2", "impression", "b", 1), insight("s2", "impression", "a", 2),
        insight("s2", "add_to_cart", "a", None),
    ]  # fmt: skip
    log = parse_log("\n".join(rows).encode(), "events.ndjson")
    lamp = {("lamp", d, p): found for (_, d, p), found in JOINED.items()}
    assert counts(log) == lamp
    assert log.presentations is not None
    assert (log.presentations.number, log.presentations.sessions) == (2, 1)
    assert log.presentations.draws is not None and log.presentations.draws.tolist() == [2]
