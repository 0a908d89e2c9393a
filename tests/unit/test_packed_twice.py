"""Gzip within gzip is named as what it is, by every reader."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.meaning import refused
from ultr_core.files import load_corpus, read_curve, read_log
from ultr_core.files.ranker_files import read_ranker
from ultr_core.inspection import inspect_file


@pytest.mark.parametrize("reader", [load_corpus, read_log, read_curve, read_ranker, inspect_file])
def test_a_file_packed_twice_is_told(reader, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(gzip.compress(b"1 qid:1 1:1\n0 qid:1 1:0\n" * 20)))
    with refused("packed_twice"):
        reader(path)
