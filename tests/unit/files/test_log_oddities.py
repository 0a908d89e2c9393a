"""Logs that are right in form and would be wrong in number: files twice, NaN, rows that shifted."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.meaning import refused
from ultr_core.files import read_log
from ultr_core.inspection import inspect_log

ROWS = "query,document,position,click\nq1,a,1,0\nq1,b,2,1\n"


@pytest.mark.parametrize("way", ["same", "spelled otherwise", "link", "pattern"])
def test_a_file_that_is_given_twice_is_refused(tmp_path: Path, way: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ROWS)
    other: str | Path = path
    if way == "spelled otherwise":
        other = f"{tmp_path}/../{tmp_path.name}/log.csv"
    elif way == "link":
        other = tmp_path / "other.csv"
        os.link(path, other)
    elif way == "pattern":
        other = str(tmp_path / "l*.csv")
    with refused("same_file"):
        read_log([path, other])


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_a_number_that_is_none_leaves_out_its_row_alone(tmp_path: Path, kind: pa.DataType) -> None:
    position = pa.array([1.0, 2.0, float("nan"), 4.0], kind)
    table = pa.table({"query": ["q"] * 4, "document": list("abcd"), "position": position,
                      "click": [1, 0, 0, 1]})  # fmt: skip
    parquet.write_table(table, tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet")
    assert log.rows == 3
    assert [(fault.rows, fault.first) for fault in log.faults] == [(1, 3)]


def test_a_row_that_has_shifted_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ROWS + "q1,12,3,1,0\n")
    found = {finding.key: finding for finding in inspect_log(read_log(path)).findings}
    assert (found["longer"].severity, found["longer"].value) == ("warning", 1)
    path.write_text(ROWS)
    assert "longer" not in {finding.key for finding in inspect_log(read_log(path)).findings}
