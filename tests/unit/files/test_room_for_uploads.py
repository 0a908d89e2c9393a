"""What comes of an upload is bounded by its rows and numbers: packed, these are next to nothing."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.meaning import mentions, refused
from ultr_core.files import parse_corpus, parse_log
from ultr_core.limits import UPLOADS, Limit, Room

HEADER = b"query,document,position,click\n"


def at_most(**most: int) -> Room:
    """The room of uploads with smaller bounds."""
    smaller = {name: replace(getattr(UPLOADS, name), most=number) for name, number in most.items()}
    return replace(UPLOADS, **smaller)


def parquet_log(rows: int, names: list[str], places: list[int]) -> bytes:
    name = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), names)
    ones = pa.array(np.ones(rows, np.int8))
    out = io.BytesIO()
    table = pa.table({"query": name, "document": name, "position": ones, "click": ones})
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


LOGS: dict[str, Callable[[int], bytes]] = {
    "text": lambda rows: HEADER + b"q,a,1,1\n" * rows,
    "gzip": lambda rows: gzip.compress(HEADER + b"q,a,1,1\n" * rows),
    "parquet": lambda rows: parquet_log(rows, ["q"], [0] * rows),
}


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("make", LOGS.values(), ids=LOGS)
def test_rows_of_a_log(make: Callable[[int], bytes]) -> None:
    assert parse_log(make(1_000), "log", room=at_most(rows=1_000)).counts()["rows"] == 1_000
    with refused("too_large", "log", "rows", "1,000"):
        parse_log(make(1_001), "log", room=at_most(rows=1_000))


@pytest.mark.usefixtures("read_here")
def test_names_that_a_parquet_file_unpacks_to() -> None:
    names = [f"{number:04}" + "x" * 4_000 for number in range(1_000)]
    data = parquet_log(1_000, names, list(range(1_000)))
    assert len(data) < 100_000
    parse_log(data, "log")
    with refused("too_large", "log", "1 MiB"):
        parse_log(data, "log", room=at_most(unpacked=1 << 20))


def test_documents_and_numbers_of_a_corpus() -> None:
    rows = [f"1 qid:{number} {number}:1 7000:2\n".encode() for number in range(1_000)]
    dense, sparse = b"1 qid:1 1:1 2:2 3:3\n" * 1_000, b"".join(rows)
    for text, taken in ((dense, 12_000), (sparse, 24_000)):
        parse_corpus(text, "corpus", room=at_most(documents=1_000, features=taken))
        with refused("too_large", "corpus", "999 documents"):
            parse_corpus(text, "corpus", room=at_most(documents=999))
        with refused("too_large", "corpus", "features"):
            parse_corpus(text, "corpus", room=at_most(features=taken - 12))


def test_own_files_have_room() -> None:
    assert parse_log(LOGS["text"](1_001), "log").counts()["rows"] == 1_001
    assert mentions(Limit(2 << 20, "bytes of features", "x", "y").exceeded("It"), "2 MiB")
