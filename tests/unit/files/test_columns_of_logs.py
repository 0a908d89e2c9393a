"""Which column of a click log means what: asked where it is in doubt."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.meaning import mentions, refused
from ultr_core.errors import InputError, about
from ultr_core.files import log_files, parse_log, read_log
from ultr_core.files.log_columns import (
    COLUMNS,
    NO_COLUMN,
    found_columns,
    parse_columns,
    require_columns,
)
from ultr_core.files.log_reading import Reading
from ultr_core.inspection import inspect_log

ROWS = {"query": "q", "document": "a", "position": "1", "click": "1"}


def log(columns: str = "", **more: str) -> dict[str, object]:
    row = {**ROWS, **more}
    text = ",".join(row) + "\n" + "\n".join([",".join(row.values())] * 2) + "\n"
    found = parse_log(text, "log", columns=parse_columns(columns) if columns else None)
    return {"presentations": found.presentations, "position": int(found.position[0])}


@pytest.mark.parametrize("other", ["rank", "pos", "slot"])
def test_two_columns_for_the_position_are_asked_about(other):
    with refused("columns", "position", other):
        log(**{other: "7"})
    assert log(f"position={other}", **{other: "7"})["position"] == 7
    assert log("position=position", **{other: "7"})["position"] == 1


def test_two_columns_for_the_click_are_asked_about():
    with refused("columns", "click", "clicked"):
        log(clicked="0")


def test_a_grid_is_refused_with_how_to_make_positions():
    text = "query,document,row,column,click\nq,a,1,2,1\n"
    with refused("columns", "row", "position"):
        parse_log(text, "log")


def test_a_column_called_p_has_no_meaning_of_its_own():
    header = [*ROWS, "p"]
    assert set(found_columns(header, None, "log")) == set(ROWS)
    assert found_columns(header, {"propensity": "p"}, "log")["propensity"] == 4
    assert found_columns(header, {"page": "p"}, "log")["page"] == 4
    assert log(p="3")["presentations"] is None


def test_a_column_can_be_said_to_mean_nothing():
    assert log(page="3")["presentations"] is not None
    assert log("page=-", page="3")["presentations"] is None


GUESSES = {
    # header: what it is read as, in the order of COLUMNS; "" where it has to be asked for
    "search_id,query_text,doc,rank,clicked": "query document position click presentation",
    "search_id,session_id,qid,doc,pos,click": "query document position click presentation session",
    "session_id,query_text,item_id,position,is_click": ("query document position click session"),
    "qid,docid,rank,impressions,click_count": "query document position click impressions",
    "qid,docid,rank,num_impressions,num_clicks": "query document position click impressions",
    "qid,doc,position,shown_at,clicked,dwell_time": "query document position click",
    "keyword,url,pos,click": "query document position click",
    "q,url,pos,clicked": "query document position click",
    "search_phrase,result_url,serp_position,was_clicked": "query document position click",
    "searchId,queryText,docId,rank,isClick": "query document position click presentation",
    "Search Term,Doc ID,Rank,Is Clicked": "query document position click",
    "visitor_id,query,sku,item_position,has_click": "query document position click session",
    "user_session,query,sku,position,click": "query document position click session",
    "sid,query,sku,position,click": "query document position click session",
    "uid,query,sku,position,click": "query document position click session",
    "Session-Key,query,sku,position,click": "query document position click session",
    "userSessionId,query,sku,position,click": "query document position click session",
    "qid,doc,pos,rank,click": "",
    "qid,doc,rank,clicked,is_click": "",
    "qid,doc,rank,isClick,is_click": "",
    "qid,doc,result_position,item_rank,click": "",
    "qid,doc,rank,is_clicked,click_count": "",
    "qid,doc,click_position,click": "",
    "qid,doc,rank,label": "",
    "user_id,query,url,rank,clicked_url": "",
    "qid,title,rank,click": "",
}


@pytest.mark.parametrize("header", GUESSES)
def test_usual_names_of_columns_are_guessed_or_asked_about(header: str) -> None:
    cells = header.split(",")
    found = found_columns(cells, None, "log")
    if GUESSES[header]:
        require_columns(found, cells, "log", "line 1")
        assert sorted(found, key=list(COLUMNS).index) == GUESSES[header].split()
    else:
        with pytest.raises(InputError) as caught:
            require_columns(found, cells, "log", "line 1")
        assert caught.value.about in ("columns", "clicks_apart")


def test_a_plainer_name_goes_before_one_that_may_say_something_else() -> None:
    header = ["query", "doc", "item_position", "rank", "click_count", "click"]
    found = found_columns(header, None, "log")
    assert (found["position"], found["click"]) == (3, 5)
    assert found_columns(["q", "term", "query_id"], None, "log")["query"] == 2


def searches(name: str, draws: int, *, own: bool, moving: int = 1) -> bytes:
    """Lists of three queries without a column for these; own: whether each has another id."""
    rows = [
        f"{number if own else number % 3},d{(place + moving * (number // 3)) % 3},{place},"
        f"{int(place == 1)}"
        for number in range(3 * draws)
        for place in (1, 2, 3)
    ]
    return "\n".join([f"{name},url,pos,click", *rows]).encode()


@pytest.mark.parametrize("name", ["search_id", "srch_id"])
def test_ids_of_searches_are_queries_where_one_names_many_lists(name: str) -> None:
    for moving in (0, 1):
        found = parse_log(searches(name, 30, own=False, moving=moving))
        assert found.columns["query"] == name and found.impressions.sum() == 270
    of_lists = parse_log(searches(name, 30, own=True))
    assert of_lists.columns["presentation"] == name
    told = inspect_log(of_lists).finding("columns")
    assert told.severity == "warning" and mentions(told.sentence, f"'{name}'")
    doubtful = searches(name, 2, own=False)
    with refused("columns", f"'{name}'"):
        parse_log(doubtful)
    assert len(parse_log(doubtful, columns={"query": name}).query_names) == 3
    known = parse_log(doubtful, columns={"query": "-"}).presentations
    assert known is not None and known.number == 3


def impressions(column: str) -> bytes:
    """Two hundred lists of three documents; each row has an id of its own."""
    rows = [
        f"r{number}-{place},q{number % 4},d{(place + number) % 3},{place},{int(place == 1)}"
        for number in range(200)
        for place in (1, 2, 3)
    ]
    return "\n".join([f"{column},query,doc,rank,click", *rows]).encode()


@pytest.mark.parametrize("column", ["impression_id", "request_id"])
def test_ids_of_impressions_do_not_count_lists(column: str) -> None:
    """Each query was drawn 50 times: 150 ids of impressions would make a third of each risk."""
    log = parse_log(impressions(column))
    found = inspect_log(log).finding("presentations")
    assert (found.severity, found.value) == ("warning", 600)
    assert log.presentations is not None and log.presentations.draws is None
    clean = parse_log(impressions(column), columns={"presentation": "-"})
    assert clean.impressions.sum() == log.impressions.sum() == 600
    with refused("presentation"):  # none has a click above
        parse_log(impressions(column), how=Reading(clicks_above=True))


@pytest.mark.parametrize("next_pages", [0.1, 1.0])
def test_ids_of_pages_do_not_count_lists(next_pages: float) -> None:
    """Each query was drawn 50 times, and a part of the searches went on to a second page."""
    rows = [
        f"r{n}-{page},q{n % 4},d{(place + n) % 6},{place},{int(place == 1)}"
        for n in range(200)
        for page in (1, 2)
        for place in range(3 * page - 2, 3 * page + 1)
        if page == 1 or n % 20 < 20 * next_pages
    ]
    log = parse_log("\n".join(["request_id,query,doc,rank,click", *rows]).encode())
    assert inspect_log(log).finding("presentations").severity == "warning"
    assert log.presentations is not None and log.presentations.draws is None


@pytest.mark.parametrize("seen", [(1, 2, 3), (1, 3), (2, 3), (3, 1, 2)])
def test_lists_of_which_rows_are_missing_are_counted(seen: tuple[int, ...]) -> None:
    """Every third list has only some of its rows; all 50 of a query count."""
    rows = [
        f"r{n},q{n % 4},d{(place + n) % 3},{place},{int(place == 1)}"
        for n in range(200)
        for place in (seen if n % 3 == 0 else (1, 2, 3))
    ]
    found = parse_log("\n".join(["request_id,query,doc,rank,click", *rows]).encode()).presentations
    assert found is not None and found.draws is not None and found.draws.tolist() == [50] * 4


def test_counts_by_ids_of_impressions_do_not_count_lists() -> None:
    head = "query,document,position,session_group,query_presentations,impressions,clicks\n"
    rows = "".join(f"q,d{p},{p},0,{{}},100,{60 - p}\n" for p in (1, 2, 3))
    wrong, right = (parse_log(head + rows.format(*[n] * 3)).presentations for n in (300, 100))
    assert wrong is not None and wrong.partial and wrong.draws is None
    assert right is not None and right.draws is not None and right.draws.tolist() == [100]


@pytest.mark.parametrize("name", ["sku", "asin", "product_id", "item_id", "url"])
def test_usual_names_of_products_are_documents(name: str) -> None:
    log = parse_log(f"query,{name},position,click\nq,a,1,1\n")
    assert log.columns["document"] == name


def test_a_column_that_is_missing_is_asked_for_beside_those_that_are_there() -> None:
    with refused("columns", "document", "'thing'", "'position'"):
        parse_log("query,thing,position,click\nq,a,1,1\n")
    with refused("clicks_apart", "click", "'document'"):
        parse_log("query,document,position\nq,a,1\n")


def test_clicks_and_positions_that_changed_places_are_told() -> None:
    rows = "".join(f"q,d{n},{n},{int(n == 2)}\n" for n in range(1, 8))
    swapped = {"position": "click", "click": "position"}
    with refused("columns", "'click'", "'position'", "7"):
        parse_log(f"query,document,position,click\n{rows}", columns=swapped)


@pytest.mark.parametrize(
    "pages", [("2", "2"), ("2", "3"), ("1.5", "1.5"), ("1000000000", "1000000000"), ("", "")]
)
def test_a_column_of_pages_that_is_not_used_is_told(pages: tuple[str, str]) -> None:
    rows = "".join(f"p{n},q,d{n},{n},{page},1\n" for n, page in enumerate(pages, 1))
    log = parse_log(f"presentation,query,document,position,page,click\n{rows}")
    assert mentions(log.unused, "'page'")
    assert mentions(log.unused, 2) == (pages[0] == "2")
    assert log.unused in log.notices
    assert inspect_log(log).finding("unused").severity == "warning"


COUNTS = "query,document,position,impressions,clicks\nq,a,1,9,3\nq,b,2,9,2\n"


@pytest.mark.parametrize(
    ("how", "named"),
    [
        (Reading(page_size=10), ("page",)),
        (Reading(clicks_once=True), ("'impressions'",)),
        (Reading(page_size=10, clicks_once=True), ("page", "'impressions'")),
    ],
)
def test_a_choice_that_changes_nothing_in_a_log_of_counts_is_told(
    how: Reading, named: tuple[str, ...]
) -> None:
    log, plain = parse_log(COUNTS, how=how), parse_log(COUNTS)
    assert plain.unused == ""
    assert log.clicks.tolist() == plain.clicks.tolist() == [3, 2]
    assert mentions(log.unused, *named) and log.unused in log.notices
    assert inspect_log(log).finding("unused").severity == "warning"


def test_beside_an_offset_the_size_of_a_page_changes_nothing() -> None:
    text = "query,document,page,position,offset,click\nq,a,1,1,0,1\nq,b,2,1,10,0\n"
    log = parse_log(text, how=Reading(page_size=3))
    assert log.position.tolist() == [1, 11] and mentions(log.unused, "'offset'")


def test_an_encoding_is_told_to_change_nothing_in_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.parquet"
    # A process takes many times as long as the log.
    monkeypatch.setattr(log_files, "in_own_process", lambda call, *given, progress: call(*given))
    rows = {"query": ["q"], "document": ["a"], "position": [1], "click": [1]}
    pq.write_table(pa.table(rows), path)
    assert mentions(read_log(path, how=Reading(encoding="cp1252")).unused, "Parquet")
    assert read_log(path).unused == read_log(path, how=Reading(encoding="utf-8")).unused == ""


@pytest.mark.parametrize("column", ["", ",session_group\nq,a,1,9,3,5\nq,b,2,9,2,5\n"])
def test_sessions_cannot_be_left_out_of_counts(column: str) -> None:
    text = COUNTS.splitlines()[0] + column if column else COUNTS
    with refused("session"):
        parse_log(text, how=Reading(most_presentations=5))


def test_a_column_for_two_meanings_is_refused() -> None:
    text = "query,document,position,click\nq,a,1,1\n"
    with refused("columns", "'query'", "document"):
        parse_log(text, columns={"query": "query", "document": "Query"})


def test_rows_without_impressions_have_no_rate() -> None:
    log = parse_log("query,document,position,impressions,clicks\nq,a,1,0,0\nq,b,2,0,0\n")
    assert not any(mentions(each.sentence, "nan") for each in inspect_log(log).findings)


@pytest.mark.parametrize("name", ["hashed_user", "gaSession", "visitor-hash", "shopper_uuid"])
def test_a_column_that_may_be_the_session_is_asked_about(name: str) -> None:
    data = f"query,doc,{name},lang,rank,click\nq,a,u,en,1,1\nq,b,u,en,2,0\n".encode()
    told = inspect_log(parse_log(data)).finding("columns_not_used")
    assert (told.severity, told.value, about(told.sentence)) == ("warning", 2, "session")
    assert mentions(told.sentence, f"'{name}'", "'lang'")
    for columns in ({"session": name}, {"session": NO_COLUMN}):
        found = inspect_log(parse_log(data, columns=columns)).finding("columns_not_used")
        assert found.severity == "good"
        assert mentions(found.sentence, "'lang'")
    assert not parse_log(data.replace(b"lang", b"sid")).perhaps_sessions


@pytest.mark.parametrize("name", ["user_agent", "device_type", "session_length", "lang", "users"])
def test_other_columns_are_listed_and_no_more(name: str) -> None:
    found = parse_log(f"query,doc,{name},rank,click\nq,a,u,1,1\nq,b,u,2,0\n".encode())
    told = inspect_log(found).finding("columns_not_used")
    assert (told.severity, told.value) == ("good", 1)
    assert mentions(told.sentence, f"'{name}'")


def test_a_column_of_few_values_is_asked_about_as_the_context() -> None:
    rows = [
        f"p{n},q{n % 7},d{place},{place + 1},{(n + place) % 2},{('tv', 'pc')[n % 2]},x,{place},u{n}"
        for n in range(600)
        for place in range(2)
    ]
    head = "presentation_id,query,doc,rank,click,device,site,shelf,visitor_key"
    text = "\n".join([head, *rows]) + "\n"
    log = parse_log(text)
    # A place in the list has few values as well, but several in each presentation.
    assert log.perhaps_contexts == ("device",)
    assert log.perhaps_sessions == ("visitor_key",)
    told = inspect_log(parse_log(text, columns={"session": NO_COLUMN})).finding("columns_not_used")
    assert (told.severity, about(told.sentence)) == ("good", "context")
    for said in ({"context": "device"}, {"context": NO_COLUMN}):
        assert not parse_log(text, columns=said).perhaps_contexts
    assert not parse_log("\n".join([head, *rows[:900]]) + "\n").perhaps_contexts
    without = parse_log(text, columns={"presentation": NO_COLUMN})
    assert without.perhaps_contexts == ("device", "shelf")


def test_nothing_is_said_where_every_column_is_used() -> None:
    found = inspect_log(parse_log(b"query,doc,rank,click\nq,a,1,1\nq,b,2,0\n"))
    assert "columns_not_used" not in {finding.key for finding in found.findings}
