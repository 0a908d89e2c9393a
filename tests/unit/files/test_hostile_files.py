"""What is no file, or was made to do harm: every reader says so at once and takes little memory."""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import disk as files
from ultr_core.files import (
    letor_lines,
    load_corpus,
    load_directory,
    parse_corpus,
    parse_proprank,
    parse_ranker,
    read_curve,
    read_proprank,
    read_ranker,
    read_scores,
    read_weights,
    write_letor,
)
from ultr_core.files.curve_files import read_curve_values
from ultr_core.files.disk import read_text, text_of, writing
from ultr_core.limits import LINE_BYTES, ROW_BYTES

CORPUS = Corpus(np.eye(2), np.array([0, 1]), np.array([0, 2]))
READERS: dict[str, Callable[[Path], object]] = {
    "corpus": load_corpus,
    "scores": lambda path: read_scores(path, CORPUS),
    "weights": lambda path: read_weights(path, CORPUS),
    "ranker": read_ranker,
    "training": read_proprank,
    "curve": read_curve,
}
readers = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@readers
def test_what_is_no_file(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "broken").symlink_to("nothing")
    for name, fault in (
        ("", "directory"), ("pipe", "regular"), ("loop", "itself"), ("broken", "broken"),
        ("missing", "exist"),
    ):  # fmt: skip
        with refused("not_a_file", tmp_path / name, fault):
            read(tmp_path / name)
    with refused("path_lookup", os.strerror(errno.ENAMETOOLONG)):
        read(tmp_path / ("x" * 300))
    with refused("path_zero_byte"):
        read(Path("a\0b"))


@readers
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", ()),
        (b"\x1f\x8b", ("damaged_gzip",)),
        (gzip.compress(b"1\n" * 100, mtime=0)[:-5], ("damaged_gzip",)),
        (b"1\n\0\n", ("zero_byte",)),
        (b"1\n\xff\xff\n", ()),
        (b"PK\x03\x04" + b"x" * 100, ("not_text", "zip")),
        (b"PAR1" + b"x" * 100, ("not_text", "Parquet")),
        ("1\n".encode("utf-16"), ("not_text", "UTF-16")),
        ("1\n".encode("utf-16-le"), ("not_text", "UTF-16")),
        ("1\n".encode("utf-16-be"), ("not_text", "UTF-16")),
        ("1\n".encode("utf-32"), ("not_text", "UTF-32")),
        (codecs.BOM_UTF32_BE + "1\n".encode("utf-32-be"), ("not_text", "UTF-32")),
        ("1\n".encode("utf-32-le"), ("not_text", "UTF-32")),
        (b"1\n2\0\n", ("zero_byte",)),
    ],
)
def test_what_is_no_text(
    read: Callable[[Path], object], tmp_path: Path, content: bytes, fault: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "file")
    assert not fault or caught.value.about == fault[0]
    assert mentions(caught.value, tmp_path / "file", *fault[1:])
    assert str(caught.value).isprintable()


@cache
def bomb() -> bytes:
    """64 MiB in 64 kB; they are stopped after 200 times that."""
    return gzip.compress(b"1 " * (1 << 25))


@readers
def test_gzip_bombs_are_stopped_early(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "UNPACKED_FROM_BYTES", 1 << 21)
    (tmp_path / "bomb.gz").write_bytes(bomb())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with refused("too_large", tmp_path / "bomb.gz") as caught:
        read(tmp_path / "bomb.gz")
    assert mentions(caught.value, "200 times") or mentions(caught.value, "line 1", "8 MiB")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_texts_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * (1 << 21))
    with refused("too_large", tmp_path / "long", "1 MiB"):
        read_text(tmp_path / "long", "The curve", most=1 << 20)
    with refused("too_large", "upload", "unpacked", "1 MiB"):
        text_of(gzip.compress(b"x" * (1 << 21)), "upload", most=1 << 20)


def test_a_very_long_line_takes_no_more_than_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = " ".join(f"{number}:1" for number in range(1, 200_000)).encode()
    (tmp_path / "wide").write_bytes(b"1 qid:1 " + line + b"\n0 qid:1 1:1 \xff\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with refused("not_a_feature", tmp_path / "wide", "line 2"):
        load_corpus(tmp_path / "wide")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000
    monkeypatch.setattr(letor_lines, "LINE_BYTES", replace(LINE_BYTES, most=1 << 20))
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1 << 18)
    (tmp_path / "wide").write_bytes(b"1 qid:1 " + line + line + b"\n")
    with refused("too_large", tmp_path / "wide", "line 1", "1 MiB"):
        load_corpus(tmp_path / "wide")


@pytest.mark.parametrize("cells", ["{},", "1,", '"a\nb",'])
@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("scores", "query,candidate,score\n"),
        ("weights", "query,candidate,weight\n"),
        ("curve", "rank,propensity\n"),
    ],
)
def test_a_row_of_many_cells_is_refused_before_it_is_taken_apart(
    tmp_path: Path, name: str, header: str, cells: str
) -> None:
    """A packed file of 260 kB took 1.8 GB."""
    (tmp_path / "wide").write_text(header + cells * (9_000_000 // len(cells)))
    with refused("too_large", tmp_path / "wide", "row", "4 MiB"):
        READERS[name](tmp_path / "wide")


def test_rows_may_add_up_to_more_than_one_may_have(tmp_path: Path) -> None:
    rows = (f"{rank},{'0' * 600}.5\n" for rank in range(1, 8_001))
    (tmp_path / "curve").write_text("rank,propensity\n" + "".join(rows))
    assert (tmp_path / "curve").stat().st_size > ROW_BYTES.most
    assert len(read_curve_values(tmp_path / "curve")) == 8_000


def test_huge_feature_ids_make_no_wide_array(tmp_path: Path) -> None:
    rows = "".join(f"1 qid:1 {2**31 + number}:1 {10**17 + number}:2\n" for number in range(300))
    (tmp_path / "rows").write_text(rows)
    corpus = load_corpus(tmp_path / "rows")
    assert corpus.features.shape == (300, 600)
    assert corpus.is_sparse
    model = '{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [9223372036854775807'
    ranker = parse_ranker((model + '], "coefficients": [1]}').encode(), "upload")
    assert ranker.feature_ids.tolist() == [2**63 - 1]


def test_uploads_are_read_from_memory_and_named_as_sent() -> None:
    corpus = parse_corpus(gzip.compress(b"1 qid:1 1:1\n0 qid:1 1:2\n"), "my file.gz")
    assert corpus.n_documents == 2
    with refused("not_a_grade", r"my\nfile", "line 1", "column 1", "'x'"):
        parse_corpus(b"x qid:1\n", "my\nfile")
    with refused("not_a_cost", "log", "line 1", "'-1'"):
        parse_proprank(b"1 qid:1 cost:-1 1:1\n", "log")
    with refused("no_query_ids", "/etc/passwd"):
        parse_corpus(b"1 1:1\n", "/etc/passwd")


@pytest.mark.parametrize(
    "names",
    [
        ("train.txt", "vali.txt", "test.txt"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("set1.train.txt", "set1.valid.txt", "set1.test.txt"),
    ],
)
def test_directories_of_the_public_corpora(tmp_path: Path, names: tuple[str, ...]) -> None:
    for number, name in enumerate(names, 1):
        write_letor(Corpus(np.eye(number), np.zeros(number), [0, number]), tmp_path / name)
    splits = load_directory(tmp_path, missing_zero=True)
    parts = (splits.train, splits.validation, splits.test)
    assert [part.n_documents for part in parts] == [1, 2, 3]
    assert {part.n_features for part in parts} == {3}
    assert len({part.is_sparse for part in parts}) == 1


def test_progress_rises_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1000)
    write_letor(Corpus(np.ones((300, 3)), np.zeros(300), [0, 300]), tmp_path / "rows.gz")
    shares: list[float] = []
    load_corpus(tmp_path / "rows.gz", progress=shares.append)
    assert len(shares) > 5 and shares == sorted(shares) and shares[-1] == 1.0


def test_devices_are_written_to_and_never_replaced(tmp_path: Path) -> None:
    for name in ("null", "link"):
        path = Path("/dev/null") if name == "null" else tmp_path / name
        if name == "link":
            path.symlink_to(tmp_path / "target")
        with writing(path, "The text") as file:
            file.write("text")
    assert Path("/dev/null").is_char_device()
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "text"


def test_a_pipe_is_written_to_where_somebody_reads_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        refused("unwritable", tmp_path / "pipe", "regular"),
        writing(tmp_path / "pipe", "The text"),
    ):
        pass
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with writing(tmp_path / "pipe", "The text") as file:
        file.write("text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_millions_of_blank_lines_are_passed_over_at_once() -> None:
    row = b"1 qid:1 1:1 2:+0.5\n"  # the sign sends a block to the careful reader
    data = b"".join(row + b"\n" * 1_000_000 for _ in range(10))
    began = time.process_time()
    assert parse_corpus(gzip.compress(data, 1), "blank.txt").n_documents == 10
    assert time.process_time() - began < 5


def test_millions_of_rows_without_features_are_refused() -> None:
    began = time.process_time()
    with refused("too_large", "empty.txt", "rows"):
        parse_corpus(gzip.compress(b"1\n" * 20_000_000, 1), "empty.txt")
    assert time.process_time() - began < 8
