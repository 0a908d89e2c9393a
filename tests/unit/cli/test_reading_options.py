"""Every command that reads a click log takes the same options, and names those that answer it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.meaning import mentions, refused_command
from ultr_core.cli import main
from ultr_core.files.log_columns import COLUMNS, MEANINGS
from ultr_core.files.log_reading import READING_FIELDS
from ultr_core.jobs import JOBS
from ultr_core.jobs.output import REMEDIES, option_of

READERS = ("check", "fit", "evaluate", "propensities")
QUERIES = 6


def line(make: Callable[[str, str, str, int, int], str]) -> str:
    return "".join(
        make(
            f"p{n}", f"q{n % QUERIES}", f"d{(place + n) % 5}", place + 1, int(n % (place + 2) == 0)
        )
        for n in range(120)
        for place in range(5)
    )


HEADER = "query,document,position,click\n"
ROWS = line(lambda p, q, d, n, c: f"{q},{d},{n},{c}\n")
CLICKS = sum(int(row.endswith("1")) for row in ROWS.splitlines())
VIEWS = "query,document,position,presentation\n"
VIEWS += line(lambda p, q, d, n, c: f"{q},{d},{n},{p}\n")
EVENTS = line(
    lambda p, q, d, n, c: "".join(
        json.dumps({"action": each, "query": q, "document": d, "position": n, "presentation": p})
        + "\n"
        for each in ("view", "click")[: 1 + c]
    )
)
PAGES = "query,document,page,position,click,presentation\n"
PAGES += line(lambda p, q, d, n, c: f"{q},{d},{1 + (n > 2)},{n if n <= 2 else n - 2},{c},{p}\n")
FILES = {
    "zero.csv": HEADER
    + line(lambda p, q, d, n, c: "" if n == 1 and p < "p7" else f"{q},{d},{n - 1},{c}\n"),
    "pages.csv": PAGES,
    "often.csv": HEADER + line(lambda p, q, d, n, c: f"{q},{d},{n},{2 * c}\n"),
    "plain.csv": HEADER + ROWS,
    "other.csv": HEADER + ROWS,
    "events.jsonl": EVENTS,
    "views.csv": VIEWS,
    "clicks.csv": "document,presentation\n" + line(lambda p, q, d, n, c: f"{d},{p}\n" * c),
    "corpus.txt": "".join(
        f"{d % 4} qid:q{q} 1:{d}.5 2:{q} # docid = d{d}\n" for q in range(QUERIES) for d in range(5)
    ),
    "no_view.jsonl": EVENTS.replace('"view"', '"scroll"'),
    "list.json": '[{"document": "d"}]\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "turkish.csv").write_bytes((HEADER + ROWS.replace("q1", "é1")).encode("cp1252"))
    (tmp_path / "parts").mkdir()
    rows = [row.split(",") for row in ROWS.splitlines()]
    table = pa.table(
        {name: [row[place] for row in rows] for place, name in enumerate(HEADER.strip().split(","))}
    )
    pq.write_table(table.slice(0, 250), tmp_path / "parts" / "a.parquet")
    pq.write_table(table.slice(250), tmp_path / "parts" / "b.parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    with pa.CompressedOutputStream(str(tmp_path / "plain.csv.zst"), "zstd") as packed:
        packed.write((HEADER + ROWS).encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, Any]:
    assert main(["check", *given, "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert len(files) == 1 and files[0]["kind"] == "log"
    found: dict[str, Any] = files[0]
    return found


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_logs_has_every_choice(name: str) -> None:
    job = next(entry for entry in JOBS if entry.name == name).load()
    named = {each.name: each for each in (*job.arguments, *job.options)}
    wanted = {"log", "clicks", "columns", *(field.name for field in READING_FIELDS)}
    assert wanted <= set(named)
    assert named["log"].several and named["clicks"].several  # type: ignore[attr-defined]
    assert all(meaning in named["columns"].help for meaning in COLUMNS)
    assert set(MEANINGS) == set(COLUMNS)


@pytest.mark.parametrize(
    ("asked", "answer", "last"),
    [
        (["zero.csv"], ["--first-position", "0"], 5),
        (["pages.csv"], ["--page-size", "2"], 5),
        (["often.csv"], ["--clicks-once"], 5),
        (["turkish.csv"], ["--encoding", "cp1252"], 5),
    ],
)
def test_what_is_asked_is_answered_by_the_option_that_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: list[str], answer: list[str], last: int
) -> None:
    for command in (["check"], ["propensities"], ["check", "--log"]):
        assert main([*command, *asked]) == 2
        assert answer[0] in capsys.readouterr().err
    assert checked(capsys, *asked, *answer)["counts"]["last_position"] == last


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(
    ("given", "clicks"),
    [
        (["events.jsonl"], CLICKS),
        (["plain.csv.zst"], CLICKS),
        (["parts"], CLICKS),
        (["parts/*.parquet"], CLICKS),
        (["--log", "parts/a.parquet", "parts/b.parquet"], CLICKS),
        (["--log", "plain.csv", "other.csv"], 2 * CLICKS),
        (["--log", "views.csv", "--clicks", "clicks.csv"], CLICKS),
    ],
)
def test_a_log_in_any_form_is_one_log(
    folder: Path, capsys: pytest.CaptureFixture[str], given: list[str], clicks: int
) -> None:
    assert checked(capsys, *given)["counts"]["clicks"] == clicks


def test_rankers_are_trained_and_judged_on_clicks_in_files_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--corpus", "corpus.txt", "--log", "views.csv", "--clicks", "clicks.csv", "--eta", "1"]
    assert main(["fit", *own, "--cost", "1", "--out", "r.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clicks"] == CLICKS
    assert main(["evaluate", *own, "--model", "r.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clicks"] == CLICKS
    assert main(["propensities", "views.csv", "--clicks", "clicks.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["log"]["clicks"] == CLICKS
    assert main(["check", "r.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["kind"] == "ranker"


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (["--log", "no_view.jsonl"], "views"),
        (["events.jsonl", "--columns", "presentation=-"], "presentation"),
        (["pages.csv", "--page-size", "2", "--most-presentations", "3"], "session"),
    ],
)
def test_keys_that_are_no_options_have_a_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], given: list[str], key: str
) -> None:
    assert main(["check", *given]) == 2
    error = capsys.readouterr().err
    assert REMEDIES[key] in error


@pytest.mark.parametrize(
    "given",
    [
        ["plain.csv", "--columns", "query=query", "document=document"],
        ["--columns", "query=query", "document=document", "plain.csv"],
        ["plain.csv", "--columns", " ".join(["query=query", "document=document"])],
    ],
)
def test_blanks_between_mapped_columns_are_told_from_a_wrong_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    monkeypatch.chdir(folder)
    refused_command(["propensities", *given], "columns", "commas")


def test_a_list_of_rows_is_a_log_that_says_how_to_write_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "list.json"]) == 2
    error = capsys.readouterr().err
    assert mentions(error, "lines")
    assert "--json-lines" not in error


def test_clicks_need_their_views(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "plain.csv", "plain.csv", "--clicks", "clicks.csv"]) == 2
    assert "--log" in capsys.readouterr().err
    assert main(["check"]) == 2


def test_one_file_beside_clicks_is_the_log_of_views(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["1,1,1,a", "1,2,2,a", "1,1,1,b", "1,2,2,b"]
    head = "query,document,rank,presentation"
    views, clicks = tmp_path / "views.csv", tmp_path / "clicks.csv"
    views.write_text("\n".join((head, *rows)), encoding="utf-8")
    clicks.write_text("\n".join((head, rows[0])), encoding="utf-8")
    printed = []
    for given in (["check", str(views)], ["check", "--log", str(views)]):
        assert main([*given, "--clicks", str(clicks), "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_no_output_replaces_a_file_of_a_pattern(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "parts" / "a.parquet").read_bytes()
    assert main(["propensities", "parts/*.parquet", "--out", "parts/a.parquet"]) == 2
    assert (folder / "parts" / "a.parquet").read_bytes() == before


def test_a_session_that_is_too_large_is_left_out_by_its_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "query,document,position,click,presentation,session\n"
    text += line(lambda p, q, d, n, c: f"{q},{d},{n},{c},{p},{'bot' if p < 'p5' else p}\n")
    Path("sessions.csv").write_text(text)
    found = checked(capsys, "sessions.csv")
    verdicts = {each["key"]: each["verdict"] for each in found["findings"]}
    assert verdicts["sessions"] == "warning"
    assert main(["check", "sessions.csv"]) == 0
    assert option_of("most_presentations") in capsys.readouterr().out
    left = checked(capsys, "sessions.csv", "--most-presentations", "10")
    assert left["counts"]["impressions"] < found["counts"]["impressions"]


def test_rows_that_are_there_twice_are_noted_once_where_a_ranker_is_trained(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, *lines = PAGES.replace(",page,", ",slate,").splitlines(keepends=True)
    single = [row for row in lines if row.split(",")[2] == "1"]
    Path("twice.csv").write_text("".join([header, *single, *single[:20]]))
    found = checked(capsys, "twice.csv")
    value = {each["key"]: each["value"] for each in found["findings"]}["repeated_rows"]
    assert value == 20
    own = ["--corpus", "corpus.txt", "--log", "twice.csv", "--eta", "1", "--cost", "1"]
    assert main(["fit", *own]) == 0
    notes = [row for row in capsys.readouterr().err.splitlines() if row.startswith("note:")]
    assert sum(mentions(note, "20 rows") for note in notes) == 1


@pytest.mark.parametrize("name", ["big.csv", "big.parquet"])
def test_a_long_read_is_stopped_by_ctrl_c(tmp_path: Path, name: str) -> None:
    number = np.arange(3_000_000)
    table = pa.table(
        {
            "query": pa.array(number % 1_000),
            "document": pa.array(10_000_000 + number).cast(pa.string()),
            "position": pa.array(number % 10 + 1),
            "click": pa.array((number % 7 == 0).astype(np.int8)),
        }
    )
    if name.endswith("parquet"):
        pq.write_table(table, tmp_path / name)
    else:
        import pyarrow.csv

        pyarrow.csv.write_csv(table, tmp_path / name)
    process = subprocess.Popen(
        [sys.executable, "-m", "ultr_core", "check", name], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    time.sleep(2.5)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    started = time.monotonic()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert time.monotonic() - started < 20
    assert b"Traceback" not in error


GOOD = "query,document,position,click\nq,a,1,1\nq,b,2,0\n"


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_a_file_that_cannot_be_read_keeps_no_other_from_its_check(
    order: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    files = {
        "one.csv": GOOD.encode(), "torn.csv": (GOOD + 'q,"c,3,0').encode(), "bytes.bin": b"\0\1",
        "two.csv": GOOD.encode(),
    }  # fmt: skip
    for name, data in files.items():
        Path(name).write_bytes(data)
    given = [list(files)[place] for place in order]
    assert main(["check", *given]) == 2
    shown = capsys.readouterr()
    assert [line.partition(":")[0] for line in shown.out.splitlines() if mentions(line, "CSV")] == [
        name for name in given if name in ("one.csv", "two.csv")
    ]
    errors = shown.err.splitlines()
    assert len(errors) == 2
    bad = [name for name in given if name in ("torn.csv", "bytes.bin")]
    assert all(mentions(error, name) for error, name in zip(errors, bad, strict=True))
    assert main(["check", *given, "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert len(found["files"]) == 2
    assert [each["name"] for each in found["refused"]] == bad
    for alone in bad:
        assert main(["check", alone]) == 2
        assert capsys.readouterr().out == ""
    assert main(["check", "one.csv", "two.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"] == []
