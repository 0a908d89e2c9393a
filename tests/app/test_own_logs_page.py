"""The page Your data asks how a click log is read, and reads it as it is answered."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from pages.app import take_away
from pages.views.your_data import log as log_view
from pages.views.your_data.bench import Bench
from tests.meaning import mentions
from ultr_core.cli import main
from ultr_core.jobs.your_data import LOG_READING, command_lines, own_notebook
from ultr_core.propensity import PresentationLog

OpenApp = Callable[..., AppTest]
FIELD = {field.name: field for field in LOG_READING}


def rows() -> Iterator[tuple[str, str, str, int, int]]:
    """Presentation, query, document, position from 1 and click, of 60 lists of 10."""
    for number in range(60):
        for place in range(10):
            document = f"d{(place + number) % 10}"
            yield (
                f"p{number}",
                f"q{number % 6}",
                document,
                place + 1,
                int(number % (place + 2) == 0),
            )


CLICKS = sum(click for *_, click in rows())


def table(header: str, line: Callable[[str, str, str, int, int], str]) -> bytes:
    return "".join((header + "\n" if header else "", *(line(*row) for row in rows()))).encode()


PLAIN = table("query,document,position,click", lambda p, q, d, n, c: f"{q},{d},{n},{c}\n")
ZERO_OR_ONE = table(
    "query,document,position,click",
    lambda p, q, d, n, c: "" if n == 1 and p < "p4" else f"{q},{d},{n - 1},{c}\n",
)
PAGES = table(
    "query,document,page,position,click,presentation",
    lambda p, q, d, n, c: f"{q},{d},{1 + (n > 4)},{n if n <= 4 else n - 4},{c},{p}\n",
)
EVENTS = table(
    "",
    lambda p, q, d, n, c: "".join(
        json.dumps({"what": what, "query": q, "item": {"id": d}, "rank": n, "presentation": p})
        + "\n"
        for what in ("view", "click")[: 1 + c]
    ),
)
VIEWS = table("query,document,position,presentation", lambda p, q, d, n, c: f"{q},{d},{n},{p}\n")
APART = table("document,presentation", lambda p, q, d, n, c: f"{d},{p}\n" * c)
OFTEN = table("query,document,position,click", lambda p, q, d, n, c: f"{q},{d},{n},{2 * c}\n")
CYRILLIC = table("query,document,position,click", lambda p, q, d, n, c: f"ж{q},{d},{n},{c}\n")


@pytest.fixture
def page(open_app: OpenApp) -> AppTest:
    return opened(open_app)


def opened(open_app: OpenApp, **link: str) -> AppTest:
    app = open_app(None, **link)
    app.switch_page("pages/your_data.py")
    for key, value in link.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def bench(app: AppTest) -> Bench:
    found: Bench = app.session_state["your_data"]
    return found


def upload(app: AppTest, *files: tuple[str, bytes], kind: str = "log") -> AppTest:
    key = f"data-upload-{kind}-{bench(app).turns[kind]}"
    app.file_uploader(key=key).set_value([(*file, "text/plain") for file in files]).run()
    assert not app.exception
    return app


def log(app: AppTest) -> PresentationLog | None:
    found = bench(app).made.get("log")
    return found if isinstance(found, PresentationLog) else None


def asks(app: AppTest, *values: object) -> bool:
    """Whether the panel is open with one sentence, and the first rows are shown."""
    assert len(app.error) == 1
    panel = next(each for each in app.expander if "column" in each.label.lower())
    return panel.proto.expanded and bool(app.table) and mentions(app.error[0].value, *values)


def option(app: AppTest, name: str) -> list[str]:
    """What the first command line that is shown gives an option."""
    words = shlex.split(app.code[-1].value.splitlines()[0])
    values = words[words.index(name) + 1 :]
    return list(takewhile(lambda word: not word.startswith("--"), values))


def column(app: AppTest, meaning: str) -> Any:
    return app.selectbox(key=f"data-column-{meaning}-{bench(app).token('log')}")


def test_positions_at_0_and_1_are_asked_for_and_answered(page: AppTest) -> None:
    upload(page, ("log.csv", ZERO_OR_ONE))
    assert asks(page, 0, 1)
    page.selectbox(key=FIELD["first_position"].key).set_value("0").run()
    assert not page.exception and not page.error
    found = log(page)
    assert found is not None and found.first_position == 0
    assert int(found.positions[-1]) == 10
    assert option(page, "--first-position") == ["0"]


def test_pages_whose_positions_start_again_are_asked_for_their_size(page: AppTest) -> None:
    upload(page, ("log.csv", PAGES))
    assert asks(page, 6)
    page.number_input(key=FIELD["page_size"].key).set_value(4).run()
    assert not page.exception and not page.error
    found = log(page)
    assert found is not None and int(found.positions[-1]) == 10


def test_events_as_json_lines_are_mapped_and_joined(page: AppTest) -> None:
    upload(page, ("events.jsonl", EVENTS))
    assert asks(page, "document", "click")
    column(page, "document").set_value("item.id").run()
    assert asks(page, "click")
    column(page, "action").set_value("what").run()
    assert not page.exception and not page.error
    found = log(page)
    assert found is not None and found.counts()["clicks"] == CLICKS
    assert found.columns["action"] == "what"


def test_clicks_in_a_second_file(page: AppTest) -> None:
    upload(page, ("views.csv", VIEWS))
    assert asks(page, "click")
    assert log(page) is None
    upload(page, ("clicks.csv", APART), kind="clicks")
    assert not page.error
    found = log(page)
    assert found is not None and found.counts()["clicks"] == CLICKS
    assert option(page, "--log") == ["views.csv"]
    assert option(page, "--clicks") == ["clicks.csv"]
    page.button(key="data-remove-clicks").click().run()
    assert asks(page, "click")
    page.button(key="data-remove-log").click().run()
    assert not bench(page).files


def test_a_log_is_removed_and_its_clicks_stay(page: AppTest) -> None:
    upload(page, ("views.csv", VIEWS))
    upload(page, ("clicks.csv", APART), kind="clicks")
    page.button(key="data-remove-log").click().run()
    assert not page.exception and list(bench(page).files) == ["clicks"]
    upload(page, ("views.csv", VIEWS))
    found = log(page)
    assert found is not None and found.counts()["clicks"] == CLICKS
    page.button(key="data-remove-log").click().run()
    page.button(key="data-remove-clicks").click().run()  # it is seen without a log
    assert not page.exception and not bench(page).files


def test_clicks_of_a_row_and_the_encoding_are_asked_for(page: AppTest) -> None:
    upload(page, ("log.csv", OFTEN))
    assert asks(page)
    page.toggle(key=FIELD["clicks_once"].key).set_value(True).run()
    found = log(page)
    assert found is not None and found.counts()["clicks"] == CLICKS
    page.button(key="data-remove-log").click().run()
    upload(page, ("log.csv", CYRILLIC.decode().encode("cp1251")))
    assert page.toggle(key=FIELD["clicks_once"].key).value is False
    assert len(page.error) == 1 and mentions(page.error[0].value, "encoding")
    page.selectbox(key=FIELD["encoding"].key).set_value("cp1251").run()
    assert not page.error
    found = log(page)
    assert found is not None and found.query_names[0] == "жq0"


def test_a_column_that_is_none(page: AppTest) -> None:
    upload(page, ("log.csv", PAGES.replace(b",page,", b",slate,")))
    column(page, "presentation").set_value("-").run()
    assert not page.exception and not page.error
    found = log(page)
    assert found is not None and "presentation" not in found.columns
    assert option(page, "--columns") == ["presentation=-"]


def test_several_files_are_one_log(page: AppTest) -> None:
    half = PLAIN.index(b"\n", len(PLAIN) // 2) + 1
    header = PLAIN[: PLAIN.index(b"\n") + 1]
    upload(page, ("a.csv", PLAIN[:half]), ("b.csv", header + PLAIN[half:]))
    assert not page.error
    found = log(page)
    assert found is not None and found.rows == 600 and found.counts()["clicks"] == CLICKS
    assert option(page, "--log") == ["a.csv", "b.csv"]
    assert bench(page).held() == len(PLAIN) + len(header)


def test_a_fault_names_the_file_of_several(page: AppTest) -> None:
    upload(page, ("a.csv", PLAIN), ("b.csv", b"query,document\nq,d\n"))
    assert mentions(page.error[0].value, "b.csv")


def test_a_table_of_a_duckdb_file_is_asked_for_and_named(page: AppTest, tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    (tmp_path / "log.csv").write_bytes(PLAIN)
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE clicks AS FROM '{tmp_path / 'log.csv'}'")
        made.execute('CREATE TABLE "or\'ders" AS SELECT 1 AS total')
    upload(page, (path.name, path.read_bytes()))
    assert len(page.error) == 1 and mentions(page.error[0].value, "clicks", "or'ders")
    name = page.text_input(key=FIELD["table"].key)
    name.set_value("visits").run()
    assert log(page) is None and mentions(page.error[0].value, "visits", "clicks")
    name.set_value("Clicks").run()
    assert not page.exception and not page.error
    found = log(page)
    assert found is not None and found.counts()["clicks"] == CLICKS
    assert option(page, "--table") == ["Clicks"]
    assert page.query_params[FIELD["table"].key] == "Clicks"


def test_a_long_reading_shows_its_share_and_ends_where_the_page_is_left(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[float] = []

    def progress(place: object, share: float, label: str) -> None:
        shown.append(share)
        if len(shown) == 1:
            raise StopException  # as Streamlit does in a run that was stopped

    monkeypatch.setattr(log_view, "_SECONDS", -1.0)
    monkeypatch.setattr(DeltaGenerator, "progress", progress)
    upload(page, ("log.csv", PLAIN))
    assert shown == [0.0] and log(page) is None
    page.run()
    assert len(shown) > 1 and log(page) is not None


def test_at_most_eight_controls_before_the_rest(page: AppTest) -> None:
    for data in (PLAIN, ZERO_OR_ONE, EVENTS):
        upload(page, ("log", data))
        panel = next(each for each in page.expander if "column" in each.label.lower())
        more = next(each for each in panel.expander)
        kinds = ("selectbox", "number_input", "toggle")
        count = {
            where: sum(len(getattr(each, kind)) for kind in kinds)
            for where, each in (("panel", panel), ("more", more))
        }
        assert count == {"panel": 18, "more": 10}
        assert more.file_uploader
        page.button(key="data-remove-log").click().run()


def test_the_commands_and_the_notebook_read_the_same(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    upload(page, ("pages.csv", PAGES))
    page.number_input(key=FIELD["page_size"].key).set_value(4).run()
    (tmp_path / "pages.csv").write_bytes(PAGES)
    monkeypatch.chdir(tmp_path)
    work = page.session_state[take_away.OWN_FILES]
    (check, *_) = command_lines(work)
    assert main([*shlex.split(check)[3:], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["files"][0]
    assert told["counts"]["clicks"] == CLICKS
    notebook: dict[str, Any] = {}
    exec(compile(own_notebook(work).source, "notebook", "exec"), notebook)
    assert int(notebook["log"].positions[-1]) == 10


def test_a_link_begins_with_what_was_chosen(open_app: OpenApp) -> None:
    app = opened(open_app, log_page_size="4", log_columns="document=item")
    upload(app, ("log.csv", PAGES.replace(b"document", b"item")))
    assert not app.error
    found = log(app)
    assert found is not None and int(found.positions[-1]) == 10
    app.button(key="data-remove-log").click().run()
    upload(app, ("log.csv", PAGES))
    assert asks(app, 6)
