"""What rows of a log belong together: repeated rows, pages, sessions, groups, clicks above a row.

The faults H13 to H17, H23 to H25, H28 and H29, each as a kind.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.logs import counts
from tests.meaning import mentions, refused
from ultr_core.files import log_presentations, parse_log
from ultr_core.files.log_columns import NO_NAME
from ultr_core.files.log_reading import Reading
from ultr_core.inspection import inspect_log
from ultr_core.propensity import PresentationLog
from ultr_core.risk.by_group import FEWEST_GROUPS

Row = tuple[str, str, str, int, int]
"""Presentation or session, query, document, position, click."""


def csv_of(rows: list[Row], meaning: str = "presentation") -> bytes:
    head = f"{meaning},query,document,position,click\n"
    return (head + "".join(f"{','.join(map(str, row))}\n" for row in rows)).encode()


def severity(log: PresentationLog, key: str) -> str | None:
    return inspect_log(log).finding(key).severity


def lists(number: int, size: int = 3, seed: int = 0) -> list[Row]:
    """Presentations p0, p1, ... of one query whose documents change places."""
    rng = np.random.default_rng(seed)
    return [
        (f"p{place}", "q", "abcdefgh"[document], rank, int(rng.random() < 0.5 / rank))
        for place in range(number)
        for rank, document in enumerate(rng.permutation(size).tolist(), 1)
    ]


# H13: a row for the view and a row for the click.


def with_rows_of_clicks(rows: list[Row]) -> list[Row]:
    return [made for row in rows for made in ((*row[:4], 0), *([row] if row[4] else []))]


@pytest.mark.parametrize("spelled", ["{}.0", "0{}", " {}", "{}e0"])
@pytest.mark.parametrize("above", [False, True])
def test_a_position_that_is_written_in_two_ways_is_one(spelled: str, above: bool) -> None:
    """As many impressions, clicks and clicks above as if all were written alike."""
    rows, how = with_rows_of_clicks(lists(40)), Reading(clicks_above=above)
    head = "presentation,query,document,position,click\n"
    logs = [
        parse_log(
            head
            + "".join(f"{p},{q},{d},{way.format(k) if c else k},{c}\n" for p, q, d, k, c in rows),
            how=how,
        )
        for way in ("{}", spelled)
    ]
    assert counts(logs[0]) == counts(logs[1])
    if above:
        one, other = (
            sorted(zip(log.document.tolist(), log.position.tolist(), log.above.tolist(),
                       log.impressions.tolist(), log.clicks.tolist(), strict=True))
            for log in logs
        )  # fmt: skip
        assert one == other
    assert int(logs[0].clicks.sum()) == sum(row[4] for row in rows)
    assert int(logs[1].impressions.sum()) == 120


def test_events_whose_positions_are_written_in_two_ways_are_joined() -> None:
    """A document at ranks 1 and 2 with its click at 2, and a view at rank 1 that is repeated."""
    head = "presentation,query,document,position,action\n"
    rows = [("1", "view"), ("2", "view"), ("1.0", "view"), ("2.0", "click")]
    log = parse_log(head + "".join(f"p,q,a,{k},{what}\n" for k, what in rows))
    assert log.positions.tolist() == [1, 2]
    assert log.impressions.tolist() == [1, 1]
    assert log.clicks.tolist() == [0, 1]


@pytest.mark.parametrize("meaning", ["presentation", "serp_id", "page", "request_id"])
def test_rows_for_views_and_clicks_of_a_presentation_are_one_impression(meaning: str) -> None:
    rows = lists(200)
    clicks = sum(row[4] for row in rows)
    right = parse_log(csv_of(rows, meaning))
    log = parse_log(csv_of(with_rows_of_clicks(rows), meaning))
    assert counts(log) == counts(right)
    assert log.impressions.sum() == 600
    assert log.presentations is not None and log.presentations.repeated == clicks
    assert mentions(log.notices, f"{clicks} rows")
    assert (severity(log, "repeated_rows"), severity(right, "repeated_rows")) == ("warning", "good")


def test_rows_for_views_and_clicks_of_a_session_are_counted_by_the_views() -> None:
    """A session may see a list twice, so that only rows beyond its views are clicks."""
    rows = lists(200, size=6)
    right = parse_log(csv_of(rows, "session"))
    log = parse_log(csv_of(with_rows_of_clicks(rows), "session"))
    assert counts(log) == counts(right)
    twice = parse_log(csv_of(rows + rows, "session"))
    assert twice.impressions.sum() == 2_400


def test_rows_for_views_and_clicks_without_an_id_are_a_warning() -> None:
    rows = lists(400)
    log = parse_log(csv_of(with_rows_of_clicks(rows), "note"))
    assert log.presentations is None
    assert severity(log, "repeated_rows") == "warning"


# H14 and H23: queries without a name.


@pytest.mark.parametrize("lost", ["", "null"])
@pytest.mark.parametrize("meaning", ["presentation", "session"])
def test_a_row_without_a_query_makes_no_list_of_its_own(lost: str, meaning: str) -> None:
    """Every second presentation lacks the query of its second row; two lack those of all rows."""
    rows = lists(100)
    found = [
        (pid, lost if place % 6 == 1 or pid in ("p98", "p99") else query, *rest)
        for place, (pid, query, *rest) in enumerate(rows)
    ]
    log, right = (
        parse_log(csv_of([row for row in some if row[0] not in gone], meaning)).presentations
        for some, gone in ((found, ()), (rows, ("p98", "p99")))
    )
    assert log is not None and right is not None
    assert (log.number, log.lists, log.sampled, log.sessions) == (
        right.number, right.lists, right.sampled, right.sessions,
    )  # fmt: skip
    if meaning == "presentation":
        assert log.unclicked == right.unclicked > 0
        assert log.draws is not None and log.draws.sum() == log.number == 98


@pytest.mark.parametrize(
    "name", ["", " ", "nan", "NaN", "NULL", "null", "None", "(not set)", "undefined", "\\N"]
)
def test_rows_of_a_query_without_a_name_are_left_out_and_counted(name: str) -> None:
    rows = lists(50)
    lost: list[Row] = [("p99", name, "a", 1, 1), ("p99", name, "b", 2, 0)]
    log = parse_log(csv_of(rows + lost))
    assert counts(log) == counts(parse_log(csv_of(rows)))
    assert [(f.rows, f.clicks, f.first) for f in log.faults] == [(2, 1, 152)]
    left = inspect_log(log).finding("rows_left_out")
    assert (left.severity, left.value) == ("warning", 2)


# H15: a column "impression" that holds ids.


def test_large_numbers_that_rows_share_are_asked_about() -> None:
    head = "impression,query,document,position,click\n"
    ids = head + "".join(
        f"{48_201 + n},q,{d},{p},{int(n % 3 == p)}\n"
        for n in range(20)
        for p, d in enumerate("ab", 1)
    )
    with refused("columns", "'impression'", "48,201"):
        parse_log(ids)
    said = parse_log(ids, columns={"presentation": "impression"})
    assert (said.impressions.sum(), said.presentations and said.presentations.number) == (40, 20)
    assert parse_log(ids, columns={"impressions": "impression"}).impressions.sum() > 1_000_000
    sums = head + "500,q,a,1,40\n500,q,b,2,20\n"
    assert parse_log(sums).impressions.tolist() == [500, 500]


# H16: positions that start again on each page.


def pages_of(size: int, pages: int, last: int | None = None) -> str:
    head = "session,query,page,position,document,click\n"
    return head + "".join(
        f"s{s},q,{page},{place},d{(page * size + place + s) % 7},{int(place == 1)}\n"
        for s in range(10)
        for page in range(1, pages + 1)
        for place in range(1, (last if last and page == pages else size) + 1)
    )


@pytest.mark.parametrize("size", [2, 3, 10])
def test_positions_that_start_again_are_counted_on(size: int) -> None:
    log = parse_log(pages_of(size, 3, 1))
    assert log.positions.tolist() == list(range(1, 2 * size + 2))
    assert mentions(log.notices, size)
    assert log.impressions.sum() == 10 * (2 * size + 1)


def test_a_page_of_unclear_size_is_asked_for() -> None:
    text = pages_of(2, 2) + "s1,q,2,3,z,0\n"
    with refused("page_size", 3):
        parse_log(text)
    assert parse_log(text, how=Reading(page_size=5)).positions.tolist() == [1, 2, 6, 7, 8]


def test_an_offset_is_added_where_positions_start_again() -> None:
    head = "query,offset,position,document,click\n"
    again = head + "q,0,1,a,1\nq,0,2,b,0\nq,2,1,c,1\nq,2,2,d,0\n"
    assert parse_log(again).position.tolist() == [1, 2, 3, 4]
    on = again.replace("q,2,1", "q,2,3").replace("q,2,2", "q,2,4")
    assert parse_log(on).position.tolist() == [1, 2, 3, 4]


# H17: a few rows at position 0.


def test_a_few_rows_at_position_zero_are_faults_and_many_are_the_base() -> None:
    rows = lists(100)
    few = rows + [("p1", "q", "z", 0, 1)] * 2
    log = parse_log(csv_of(few, "note"))
    assert (log.first_position, log.positions.tolist()) == (1, [1, 2, 3])
    assert [(f.rows, f.clicks) for f in log.faults] == [(2, 2)]
    some = rows + [("p1", "q", "z", 0, 1)] * 20
    with refused("first_position", 20, 100):
        parse_log(csv_of(some, "note"))
    for first, positions in ((0, [1, 2, 3, 4]), (1, [1, 2, 3])):
        log = parse_log(csv_of(some, "note"), how=Reading(first_position=first))
        assert log.positions.tolist() == positions
    base = [(*row[:3], row[3] - 1, row[4]) for row in rows]
    assert counts(parse_log(csv_of(base))) == counts(parse_log(csv_of(rows)))


# H24: one session is nearly everything.


def test_a_session_that_is_nearly_everything_is_named_and_can_be_left_out() -> None:
    people = [(f"s{n}", "q", d, p, 0) for n in range(60) for p, d in enumerate("abc", 1)]
    bot = [
        ("bot", f"q{n}", d, p, int(d == "c")) for n in range(500) for p, d in enumerate("abc", 1)
    ]
    log = parse_log(csv_of(people + bot, "session"))
    found = log.presentations
    assert found is not None
    assert (found.sessions, found.largest) == (61, 500)
    assert (found.largest_share, found.largest_clicks) == (500 / 560, 1)
    assert severity(log, "sessions") == "warning"
    kept = parse_log(csv_of(people + bot, "session"), how=Reading(most_presentations=100))
    assert counts(kept) == counts(parse_log(csv_of(people, "session")))
    assert kept.presentations is not None and kept.presentations.left_out == 1
    with refused("session"):
        parse_log(csv_of(people), how=Reading(most_presentations=100))


def test_many_sessions_of_one_size_are_good() -> None:
    rows = [(f"s{n}", "q", d, p, int(p == 1)) for n in range(60) for p, d in enumerate("ab", 1)]
    assert severity(parse_log(csv_of(rows, "session")), "sessions") == "good"


# H25: an id of each search beside the queries.


def test_an_id_of_each_search_is_the_presentation_beside_the_queries() -> None:
    head = "query_id,user_query,document,position,click\n"
    rows = "".join(
        f"s{n},{('lamp', 'desk')[n % 2]},{'ab'[(n // 2 + p) % 2]},{p},{int(p == 1)}\n"
        for n in range(30)
        for p in (1, 2)
    )
    log = parse_log(head + rows)
    assert log.query_names == ("desk", "lamp")
    assert log.presentations is not None and log.presentations.number == 30
    assert log.moved_pairs == 4
    other = parse_log((head + rows).replace("user_query", "words"))
    assert other.repeating == ("words",)
    found = inspect_log(other).finding("queries_shown_once")
    assert found.severity == "warning" and mentions(found.sentence, "'words'")


# H28 and H29: columns of doubtful meaning, lines before the header.


def test_a_column_called_p_means_nothing_unless_said() -> None:
    text = "query,document,position,click,p\nq,a,1,1,1\nq,b,2,0,0.5\n"
    assert parse_log(text).propensity is None
    said = parse_log(text, columns={"propensity": "p"})
    assert said.propensity is not None and said.propensity.tolist() == [1, 0.5]


def test_any_column_can_mean_nothing() -> None:
    text = "query,document,position,click,impressions,user\nq,a,1,1,9,s\nq,b,2,0,x,s\n"
    log = parse_log(text, columns={"impressions": "-", "session": "-"})
    assert (log.impressions.tolist(), log.presentations) == ([1, 1], None)


@pytest.mark.parametrize("start", ["sep=;\n", "# from a tool\n", "\n\n", '"sep=;"\n# x\n\n'])
def test_lines_before_the_header_are_no_header(start: str) -> None:
    log = parse_log(start + "query;document;position;click\nq;a;1;1\nq;b;x;1\n")
    assert log.clicks.tolist() == [1]
    assert [f.first for f in log.faults] == [start.count("\n") + 3]


def test_two_documents_at_one_position_of_a_presentation_are_a_warning() -> None:
    rows = [*lists(20), ("p1", "q", "z", 1, 0)]
    log = parse_log(csv_of(rows))
    assert log.presentations is not None and log.presentations.beside == 1
    assert severity(log, "beside") == "warning"


def test_a_column_of_presentations_that_names_something_larger_is_asked_about() -> None:
    rows = [("p1", *row[1:]) for row in lists(50)]
    with refused("larger_ids", "'presentation'"):
        parse_log(csv_of(rows))
    assert parse_log(csv_of(rows), columns={"presentation": "-"}).impressions.sum() == 150


@pytest.mark.parametrize("none", ["", "NULL", "undefined"])
def test_rows_of_no_presentation_count_as_they_stand(none: str) -> None:
    rows = [(none if row[0] in ("p3", "p4") else row[0], *row[1:]) for row in lists(30)]
    log = parse_log(csv_of(rows))
    assert log.impressions.sum() == 90
    assert log.presentations is not None
    assert (log.presentations.number, log.presentations.without) == (28, 6)
    assert severity(log, "without_id") == "warning"


# Groups, in every format.

IDS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=4)
LOGS = st.lists(
    st.tuples(IDS, st.sampled_from("qr"), st.sampled_from("abc"), st.integers(1, 4),
              st.integers(0, 1)),
    min_size=1, max_size=30, unique_by=lambda row: row[:4],
)  # fmt: skip


def in_formats(rows: list[Row], meaning: str) -> dict[str, bytes]:
    names = (meaning, "query", "document", "position", "click")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    lines = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    return {"csv": csv_of(rows, meaning), "json": lines.encode(), "parquet": stream.getvalue()}


def by_group(log: PresentationLog) -> Counter[tuple[int, str, str, int, int]]:
    assert log.group is not None
    found: Counter[tuple[int, str, str, int, int]] = Counter()
    names = len(log.document_names)
    for group, query, document, position, shown, clicks in zip(
        log.group.tolist(), log.query.tolist(), log.document.tolist(), log.position.tolist(),
        log.impressions.tolist(), log.clicks.tolist(), strict=True,
    ):  # fmt: skip
        key = (group, log.query_names[query], log.document_names[document % names], position)
        found[(*key, 0)] += shown
        found[(*key, 1)] += clicks
    return found


def group_of(session: str, groups: int = 100) -> int:
    session = "" if session in NO_NAME else session
    number = int(hashlib.md5(session.encode(), usedforsecurity=False).hexdigest()[:8], 16) % 100
    return number * groups // 100


@given(LOGS)
@settings(max_examples=25, deadline=None)
def test_groups_are_hashes_of_sessions_and_add_up_to_the_whole_log(rows: list[Row]) -> None:
    log = parse_log(csv_of(rows, "session"))
    wanted: Counter[tuple[int, str, str, int, int]] = Counter()
    for session, query, document, position, click in rows:
        key = (group_of(session), query, document, position)
        wanted[(*key, 0)] += 1
        wanted[(*key, 1)] += click
    assert by_group(log) == wanted
    assert counts(log) == counts(parse_log(csv_of(rows, "note")))


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("meaning", ["session", "presentation"])
def test_groups_are_the_same_in_every_format(meaning: str) -> None:
    rows = lists(60)
    found = {form: by_group(parse_log(data)) for form, data in in_formats(rows, meaning).items()}
    assert found["csv"] == found["json"] == found["parquet"]
    assert {key[0] for key in found["csv"]} == {group_of(f"p{n}") for n in range(60)}


@pytest.mark.parametrize(("most", "groups"), [(900, 100), (899, 50), (450, 50), (90, 10), (89, 1)])
def test_where_groups_make_too_many_rows_there_are_fewer(
    most: int, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = lists(600)
    whole = parse_log(csv_of(rows, "note"))
    assert whole.impressions.size == 9
    monkeypatch.setattr(log_presentations, "GROUPED_ROWS", most)
    log = parse_log(csv_of(rows))
    assert log.presentations is not None and log.presentations.groups == groups
    assert counts(log) == counts(whole)
    if groups == 1:
        assert log.group is None
    else:
        assert {key[0] for key in by_group(log)} == {group_of(f"p{n}", groups) for n in range(600)}


def test_groups_too_few_for_intervals_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = csv_of(lists(600)).replace(b"presentation", b"session", 1)
    fine = parse_log(rows)
    assert fine.session_groups is not None
    monkeypatch.setattr(log_presentations, "GROUPED_ROWS", 200)
    few = parse_log(rows)
    (said,) = set(few.notices) - set(fine.notices)
    assert mentions(said, "20")
    assert mentions(said, str(FEWEST_GROUPS))


# Clicks above a row.


@given(LOGS)
@settings(max_examples=25, deadline=None)
def test_clicks_above_a_row_are_those_of_its_presentation(rows: list[Row]) -> None:
    log = parse_log(csv_of(rows), how=Reading(clicks_above=True))
    assert log.above is not None and log.group is not None
    pages = defaultdict(list)
    for row in rows:
        pages[row[:2]].append(row)
    wanted: Counter[tuple[str, str, int, int, int]] = Counter()
    for identity, query, document, position, click in rows:
        above = sum(other[4] for other in pages[identity, query] if other[3] < position)
        wanted[query, document, position, above, 0] += 1
        wanted[query, document, position, above, 1] += click
    found: Counter[tuple[str, str, int, int, int]] = Counter()
    for query, document, position, above, shown, clicks in zip(
        log.query.tolist(), log.document.tolist(), log.position.tolist(), log.above.tolist(),
        log.impressions.tolist(), log.clicks.tolist(), strict=True,
    ):  # fmt: skip
        key = (log.query_names[query], log.document_names[document % len(log.document_names)])
        found[(*key, position, above, 0)] += shown
        found[(*key, position, above, 1)] += clicks
    assert found == wanted


@pytest.mark.parametrize(("meaning", "second"), [("page", 2), ("offset", 3)])
def test_clicks_above_a_row_are_also_those_of_the_pages_before(meaning: str, second: int) -> None:
    first = {"page": 1, "offset": 0}[meaning]
    rows = [
        f"p{n},q,d{page}{position},{position},{int(page == first or position == 1)},{page}\n"
        for n in range(30)
        for page in (first, second)
        for position in (1, 2, 3)
    ]
    head = f"presentation,query,document,position,click,{meaning}\n"
    log = parse_log((head + "".join(rows)).encode(), how=Reading(clicks_above=True))
    assert log.above is not None
    found = sorted(set(zip(log.position.tolist(), log.above.tolist(), strict=True)))
    assert found == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 4)]


def test_clicks_above_need_presentations() -> None:
    with refused("presentation"):
        parse_log(csv_of(lists(3), "session"), how=Reading(clicks_above=True))


# Rows that are left out beside those that are not.

HEADER = "query,document,position,click,presentation\n"


def test_rows_that_are_left_out_for_their_query_do_not_hide_rows_without_an_id() -> None:
    body = "".join(f"NULL,a,1,0,v{n}\nq,a,1,1,v{n}\n" for n in range(4)) + "q,a,2,0,\nq,b,1,0, \n"
    found = parse_log(HEADER + body).presentations
    assert found is not None
    assert (found.number, found.without) == (4, 2)


def test_a_document_that_was_not_shown_is_no_impression_where_rows_repeat() -> None:
    header = "query,document,position,click,impressions,presentation\n"
    log = parse_log(header + "q,a,1,0,1,v\nq,a,1,1,1,v\nq,b,2,0,0,v\nq,c,3,0,1,v\n")
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([1, 0, 1], [1, 0, 0])
