"""Parquet files made to fill a memory: refused before they expand; layouts that read alike."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from tests.inputs import one_sentence, soon
from ultr_core.errors import InputError
from ultr_core.files import parse_log, preview_log, read_log
from ultr_core.files.parquet_pages import Chunk, pages_of
from ultr_core.inspection import inspect_file

ROOT = Path(__file__).parents[3]

_CHILD = """
import resource, sys
from pathlib import Path
from ultr_core.errors import InputError
from ultr_core.inspection import inspect_file
from ultr_core.files import log_files, parse_log, preview_log, read_log
import pyarrow.parquet
log_files.in_own_process = lambda call, log, *given, progress=None: call(log, *given)
preview_log(b"query,document,position,click\\nq,a,1,1\\n")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for read in (preview_log, read_log, inspect_file):
    try:
        read(Path(sys.argv[1]))
        print("read")
    except InputError as error:
        print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def in_a_process_of_its_own(path: Path) -> tuple[list[str], int]:
    """What preview, reader and inspection say of a click log, and by how many MiB they grew.

    They read it in the process whose memory is measured, not in one more.
    """
    command = [sys.executable, "-c", _CHILD, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    *said, grown = done.stdout.splitlines()
    return said, int(grown)


def columns(rows: int, name: Any) -> pa.Table:
    same = np.ones(rows, dtype=np.int64)
    return pa.table({"query": name, "document": name, "position": same, "click": same})


def repeated(text: str, rows: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))


def bombs() -> dict[str, Callable[[Path], object]]:
    long, write = "x" * 20_000, pq.write_table
    prefixed = {"use_dictionary": False, "column_encoding": dict.fromkeys(
        ("query", "document"), "DELTA_BYTE_ARRAY")}  # fmt: skip
    return {
        "long names by dictionary": lambda path: write(
            columns(100_000, repeated(long, 100_000)), path, compression="zstd"
        ),
        "one long name": lambda path: write(
            columns(50, repeated("x" * 60_000_000, 50)), path, compression="zstd"
        ),
        "long names in full": lambda path: write(
            columns(20_000, pa.array([long] * 20_000)), path, compression="zstd",
            use_dictionary=False,
        ),
        "names that repeat the one before": lambda path: write(
            columns(20_000, pa.array(["x" * 15_000] * 20_000)), path, compression="zstd", **prefixed
        ),
        "cells of a fixed length": lambda path: write(
            columns(20_000, pa.array([b"x" * 20_000] * 20_000, pa.binary(20_000))), path,
            compression="zstd",
        ),
        "a footer that makes little of it": _with_a_lying_footer,
    }  # fmt: skip


def _with_a_lying_footer(path: Path) -> None:
    """One page of 100 MiB of which the footer says that the column unpacks to 70 bytes."""
    out = io.BytesIO()
    names = pa.array([f"{number:07}" + "x" * 10_000 for number in range(10_000)])
    table = columns(10_000, names)
    pq.write_table(
        table, out, compression="zstd", use_dictionary=False, data_page_size=1 << 30,
        write_statistics=False, store_schema=False,
    )  # fmt: skip
    data = out.getvalue()
    size = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0).total_uncompressed_size
    start = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - start :]
    said = footer.replace(_zigzag(size), _zigzag(70, len(_zigzag(size))))
    assert said != footer
    path.write_bytes(data[: -8 - start] + said)


def _zigzag(number: int, length: int = 1) -> bytes:
    """A whole number as Parquet's footer has it, in so many bytes at least."""
    left, out = number << 1, bytearray()
    while left or len(out) < length:
        out.append(left & 127 | 128)
        left >>= 7
    out[-1] &= 127
    return bytes(out)


@pytest.mark.parametrize("kind", bombs())
def test_a_small_parquet_file_that_unpacks_to_much_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    bombs()[kind](path)
    begun = time.perf_counter()
    said, grown = in_a_process_of_its_own(path)
    assert time.perf_counter() - begun < 20
    for sentence in said[1:]:
        assert any(w in sentence for w in ("16,384", "200 times", "of memory")), sentence
    assert grown < 300, f"{grown} MiB more"


@pytest.mark.parametrize("rows", [60_000, 1_000_000])
def test_long_names_by_dictionary_are_never_written_out(rows: int, tmp_path: Path) -> None:
    """Each position with names of 15,000 bytes: 1.8 and 30 GB in full."""
    path = tmp_path / "log.parquet"
    name, position = repeated("x" * 15_000, rows), np.arange(rows) + 1
    table = {"query": name, "document": name, "position": position, "click": position % 2}
    pq.write_table(pa.table(table), path, compression="zstd")
    said, grown = in_a_process_of_its_own(path)
    assert said[0] == "read" and all("200 times" in sentence for sentence in said[1:]), said
    assert grown < 300, f"{grown} MiB more"


def test_names_by_dictionary_may_be_as_many_as_a_log_has(tmp_path: Path) -> None:
    """A million rows of 300 bytes, 200 times as many as the file has, are read."""
    path = tmp_path / "log.parquet"
    pq.write_table(columns(1_000_000, repeated("x" * 150, 1_000_000)), path, compression="zstd")
    assert 200 * path.stat().st_size < 300_000_000
    assert in_a_process_of_its_own(path)[0] == ["read"] * 3


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ["dictionary", "PLAIN", "DELTA_BYTE_ARRAY"])
def test_every_layout_of_parquet_reads_alike(version: str, encoding: str, tmp_path: Path) -> None:
    """Pages of both versions, with several pages and groups; names trimmed, gaps, names in order.

    Names that a dictionary has and no row are none of the log's.
    """
    rng = np.random.default_rng(1)
    rows = 4_000
    names = [None if n % 50 == 7 else f" d{n % 37} " for n in rng.integers(0, 1_000, rows).tolist()]
    table = pa.table(
        {
            "query": [f"q{n}" for n in rng.integers(0, 90, rows).tolist()],
            "document": names,
            "position": [str(n) for n in rng.integers(1, 9, rows).tolist()],
            "click": rng.random(rows) < 0.3,
        }
    )
    text = io.BytesIO()
    arrow_csv.write_csv(table, text)
    wanted = parse_log(text.getvalue())
    keys: dict[str, Any] = {"use_dictionary": encoding == "dictionary"}
    if encoding != "dictionary":
        keys["column_encoding"] = dict.fromkeys(("query", "document"), encoding)
    for compression in ("none", "snappy", "zstd"):
        pq.write_table(
            table, tmp_path / "log", data_page_version=version, compression=compression,
            row_group_size=1_500, data_page_size=500, **keys,
        )  # fmt: skip
        log = read_log(tmp_path / "log")
        assert log.query_names == wanted.query_names
        assert log.document_names == wanted.document_names
        for column in ("query", "document", "position", "clicks"):
            assert np.array_equal(getattr(log, column), getattr(wanted, column))
    category = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["a", "b", "c"]))
    pq.write_table(columns(3, category), tmp_path / "log")
    assert read_log(tmp_path / "log").document_names == ("a", "c")


def test_columns_of_lists_are_not_read_for_a_preview(tmp_path: Path) -> None:
    table = columns(1, pa.array(["a"])).append_column("many", pa.array([[1] * 5_000_000]))
    pq.write_table(table, tmp_path / "log", compression="zstd")
    with soon(2):
        assert preview_log(tmp_path / "log").rows[0][:4] == ("a", "a", "1", "1")
    assert read_log(tmp_path / "log").counts()["rows"] == 1


@pytest.mark.usefixtures("read_here")
def test_wide_parquet_files_are_refused_at_once(tmp_path: Path) -> None:
    pq.write_table(pa.table({f"c{n}": [1] for n in range(5_000)}), tmp_path / "log")
    for read in (preview_log, read_log, inspect_file):
        one_sentence(lambda read=read: read(tmp_path / "log"), "at most 1,000 are accepted")


@pytest.mark.usefixtures("read_here")
def test_a_zero_byte_makes_a_row_unusable(tmp_path: Path) -> None:
    table = pa.table(
        {"query": ["q", "q\0"], "document": ["a", "b"], "position": [1, 2], "click": [1, 0]}
    )
    for by_dictionary in (True, False):
        pq.write_table(table, tmp_path / "log", use_dictionary=by_dictionary)
        faults = read_log(tmp_path / "log").faults
        assert [(f.kind, f.first) for f in faults] == [("a null byte", 2)]


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("by_dictionary", [True, False])
def test_text_in_parquet_that_is_no_utf8_is_refused(by_dictionary: bool, tmp_path: Path) -> None:
    pq.write_table(
        columns(2, pa.array(["abcdefg", "b"])),
        tmp_path / "log",
        use_dictionary=by_dictionary,
        compression="none",
        write_statistics=False,
    )
    data = (tmp_path / "log").read_bytes()
    assert b"abcdefg" in data
    for read in (parse_log, preview_log):
        one_sentence(lambda read=read: read(data.replace(b"abcdefg", b"abc\xf8efg")), "not UTF-8")


def test_a_page_whose_number_of_values_is_no_number_is_damage() -> None:
    page = bytes.fromhex("1500 1514 1514 2c 1800 00 00")  # a text where the number should be
    with pytest.raises(InputError, match="damaged Parquet file"):
        list(pages_of(io.BytesIO(page), Chunk(0, len(page), 5), "log"))
