"""Which column of a click log means what: asked where it is in doubt."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.meaning import mentions, refused
from ultr_core.files import log_files, parse_log, read_log
from ultr_core.files.log_columns import found_columns, parse_columns
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
