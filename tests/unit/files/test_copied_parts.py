"""The same content twice among the files of one log, under whatever name and packing."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ultr_core.files.log_relation as log_relation
from tests.meaning import mentions
from ultr_core.files import parse_log, read_log
from ultr_core.inspection import inspect_log
from ultr_core.propensity import PresentationLog

HEADER = "query,document,position,click\n"
ROWS = "q1,a,1,1\nq1,b,2,0\nq2,a,1,0\n"
OTHER = "q1,a,1,0\nq1,b,2,1\nq2,a,1,0\n"
TEXT, SECOND = (HEADER + ROWS).encode(), (HEADER + OTHER).encode()


def parquet(text: str) -> bytes:
    rows = [row.split(",") for row in text.split()]
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(HEADER.strip().split(","), map(list, columns), strict=True)))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def copies(log: PresentationLog) -> int:
    warned = [finding for finding in inspect_log(log).warnings if finding.key == "copies"]
    assert len(warned) == (log.copied != "") == (log.copied in log.notices)
    return int(warned[0].value or 0) if warned else 0


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(
    ("parts", "number"),
    [
        ([TEXT, TEXT], 1),
        ([TEXT, SECOND], 0),
        ([TEXT, SECOND, TEXT, TEXT], 2),
        ([TEXT, gzip.compress(TEXT)], 1),
        ([pa.compress(TEXT, "zstd", asbytes=True), gzip.compress(TEXT)], 1),
        ([HEADER.encode(), HEADER.encode(), TEXT], 0),
        ([parquet(ROWS), parquet(ROWS)], 1),
    ],
)
def test_content_given_twice_is_a_warning(parts: list[bytes], number: int) -> None:
    log = parse_log(parts, "log")
    assert copies(log) == number
    assert len(log.copies) == number


def test_copies_are_named(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_bytes(TEXT)
    log = read_log(str(tmp_path / "*.csv"))
    assert mentions(log.copied, tmp_path / "one.csv", tmp_path / "two.csv")
    assert log.counts()["clicks"] == 2


def test_files_that_differ_in_the_middle_are_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ends are alike, and so are their sizes."""
    monkeypatch.setattr(log_relation, "_PIECE_BYTES", 100)
    texts = [(HEADER + ROWS * 9 + each + ROWS * 9).encode() for each in (ROWS, OTHER)]
    assert copies(parse_log(texts, "log")) == 0
    assert copies(parse_log([*texts, texts[1]], "log")) == 1
