"""What is known of presentations and sessions of a log."""

from __future__ import annotations

from ultr_core.files import parse_log

HEADER = "query,document,position,click,presentation\n"


def test_rows_that_are_left_out_for_their_query_do_not_hide_rows_without_an_id() -> None:
    body = "".join(f"NULL,a,1,0,v{n}\nq,a,1,1,v{n}\n" for n in range(4)) + "q,a,2,0,\nq,b,1,0, \n"
    found = parse_log(HEADER + body).presentations
    assert found is not None
    assert (found.number, found.without) == (8, 2)


def test_a_document_that_was_not_shown_is_no_impression_where_rows_repeat() -> None:
    header = "query,document,position,click,impressions,presentation\n"
    log = parse_log(header + "q,a,1,0,1,v\nq,a,1,1,1,v\nq,b,2,0,0,v\nq,c,3,0,1,v\n")
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([1, 0, 1], [1, 0, 0])
