"""The engine that counts click logs: what it may open, what it leaves, hostile names."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import log_relation, parse_log, preview_log, read_log
from ultr_core.files.log_parts import log_parts
from ultr_core.files.log_relation import opened_log, private_folder

ROOT = Path(__file__).parents[3]
PLAIN = b"query,document,position,click\nq,a,1,1\nq,b,2,0\n"

HOSTILE = [
    "'); DROP TABLE counted; --",
    "\"; ATTACH '/etc/passwd' AS x; --",
    "c0",
    "read_csv('/etc/passwd')",
    "$1",
    "?",
    "{}",
    "k0) FROM counted",
]


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_of_columns_files_and_values_change_nothing(
    hostile: str, tmp_path: Path
) -> None:
    names = [hostile, "document", "position", "click"]
    table = pa.table([["q", "q"], [hostile, "b"], [1, 2], [1, 0]], names)
    stream = io.BytesIO()
    pq.write_table(table, stream)
    quoted = '"' + hostile.replace('"', '""') + '"'
    text = f"{quoted},document,position,click\nq,{quoted},1,1\nq,b,2,0\n".encode()
    for data in (stream.getvalue(), text):
        path = tmp_path / hostile.replace("/", "-")
        path.write_bytes(data)
        for log in (parse_log(data, hostile, columns={"query": hostile}),
                    read_log(path, columns={"query": hostile})):  # fmt: skip
            assert log.query_names == ("q",)
            assert log.document_names == tuple(sorted((hostile, "b")))
            clicked = log.document_names[int(log.document[int(log.clicks.argmax())])]
            assert (clicked, log.clicks.sum()) == (hostile, 1)
        assert preview_log(path).header[0] == hostile


def test_nothing_else_can_be_opened_and_nothing_configured(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_bytes(PLAIN)
    with opened_log(log_parts(PLAIN)) as relation:
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'out.db'}'",
            "SET enable_external_access = true",
            "SET memory_limit = '9GB'",
            "INSTALL httpfs",
            "SELECT * FROM PLAIN",
        ):
            with pytest.raises(duckdb.Error):
                relation.connection.execute(statement).fetchall()
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


def folders() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("ultr-log-")}


@pytest.mark.skipif(os.name == "nt", reason="no locks that go with a process")
def test_the_private_folder_goes_also_with_a_process_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import sys, time\nfrom ultr_core.files.log_parts import log_parts\n"
        "from ultr_core.files.log_relation import opened_log\n"
        "with opened_log(log_parts(b'query,document,position,click\\n')):\n"
        "    print('open', flush=True)\n    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "open\n"
    (left,) = folders()
    assert parse_log(PLAIN).clicks.tolist() == [1, 0]
    assert folders() == {left}  # of a process that lives
    # What was sent is in a file without a name.
    assert not [path for path in (tmp_path / left).rglob("*") if path.is_file()]
    child.kill()
    child.wait()
    child.stdout.close()
    assert parse_log(PLAIN).clicks.tolist() == [1, 0]
    assert folders() == set()


@pytest.mark.parametrize(
    ("kind", "text", "full"),
    [
        (duckdb.IOException, 'Async write failed: {"errno":"28"}', True),
        (duckdb.IOException, 'Could not write file "x": No space left on device', True),
        (
            duckdb.OutOfMemoryException,
            "failed to offload data block.\nThis limit was set by the 'max_temp_directory_size'",
            True,
        ),
        (duckdb.OutOfMemoryException, "could not allocate block", False),
        (duckdb.IOException, "Invalid Input Error", False),
    ],
)
def test_a_full_disk_is_no_fault_of_the_file(
    kind: type[duckdb.Error], text: str, full: bool
) -> None:
    def failing(*given: object) -> None:
        raise kind(text)

    with opened_log(log_parts(PLAIN)) as relation, pytest.raises(InputError) as found:
        replace(relation, connection=SimpleNamespace(execute=failing)).run("SELECT 1")
    assert (found.value.about == "disk") == full


def test_files_that_fill_the_disk_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log_relation, "stored", full)
    with refused("disk"):
        parse_log(PLAIN)


def test_progress_that_raises_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(PLAIN[:30] + b"q,a,1,1\n" * 3_000_000)

    class StopError(Exception):
        pass

    def stop(share: float) -> None:
        assert 0 <= share <= 1
        raise StopError

    begun = time.process_time()
    with pytest.raises(StopError):
        read_log(path, progress=stop)
    assert time.process_time() - begun < 2


def test_lines_before_the_header_and_comments_are_no_rows() -> None:
    text = b"sep=;\n# made today\n\nquery;document;position;click\n\n# more\nq;a;1;1\nq;b;x;1\n"
    log = parse_log(text, "log")
    assert (log.document_names, log.clicks.tolist()) == (("a",), [1])
    assert [(fault.rows, fault.clicks, fault.first) for fault in log.faults] == [(1, 1, 8)]
    kept = parse_log(b"query,document,position,click\n#1,#2,1,1\n")
    assert (kept.query_names, kept.document_names) == (("#1",), ("#2",))


def test_equal_rows_are_one_entry_and_counted() -> None:
    head = b"query,document,position,click,impressions\n"
    log = parse_log(head + b"q,a,1,1,2\nq,b,2,x,1\nq,a,1,1,2\nq,a,1,0,2\nq,c,2,x,1\n")
    assert log.rows == 3
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([6], [2])
    assert log.counts()["rows"] == 3
    assert [(fault.rows, fault.first) for fault in log.faults] == [(2, 3)]


@pytest.mark.usefixtures("read_here")
def test_whole_numbers_in_other_types_are_the_same_ids() -> None:
    """H22: decimal and float ids match the text of whole numbers; merged ones are refused."""

    def of(ids: pa.Array) -> bytes:
        stream = io.BytesIO()
        table = pa.table({"query": ids, "document": ids, "position": [1, 2], "click": [1, 0]})
        pq.write_table(table, stream)
        return stream.getvalue()

    for kind in (pa.int32(), pa.float64(), pa.decimal128(38, 9), pa.string()):
        assert parse_log(of(pa.array([1, 20]).cast(kind))).document_names == ("1", "20")
    large = pa.array([2**53, 2**53 + 1]).cast(pa.float64(), safe=False)
    with refused("lost_ids", "'query'", "2^53"):
        parse_log(of(large))
    assert len(parse_log(of(pa.array([2**53, 2**53 + 1]))).document_names) == 2


@pytest.mark.usefixtures("read_here")
def test_a_fault_of_one_of_several_files_is_not_told_of_another() -> None:
    """The engine does not say which file it is; then none is named, and no column of another."""

    def file(document: pa.Array, *more: str) -> bytes:
        stream = io.BytesIO()
        columns = {name: ["x", "y"] for name in more}
        columns |= {"query": ["q", "q"], "document": document, "position": [1, 2]}
        pq.write_table(pa.table({**columns, "click": [1, 0]}), stream)
        return stream.getvalue()

    plain = file(pa.array([3.0, 4.0]), "site")
    with refused("lost_ids", "'document'", "(2)"):
        parse_log([plain, file(pa.array([1e17, 2.0]))])
    with refused("", 2) as found:
        parse_log([plain, file(pa.array([b"\xff", b"a"]))])
    assert not mentions(found.value, "(1)")


def test_true_and_false_count_in_text_as_in_parquet() -> None:
    """H28: one reader of values for all formats."""
    log = parse_log(b"query,document,position,click,shown\nq,a,1,true,true\nq,b,2,False,TRUE\n")
    assert (log.impressions.tolist(), log.clicks.tolist()) == ([1, 1], [1, 0])


def test_a_folder_that_another_process_swept_away_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    make = tempfile.mkdtemp

    def swept_at_first(**given: Any) -> str:
        made.append(make(**given))
        if len(made) == 1:
            os.rmdir(made[0])
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_first)
    with private_folder() as folder:
        assert str(folder) == made[1]
        assert folder.is_dir()
    assert not folder.exists()
