"""LETOR files: what is read, and what is refused as which fault."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus
from ultr_core.files import disk as files
from ultr_core.files import letor_lines, load_corpus, load_directory
from ultr_core.limits import LINE_BYTES


def read(folder: Path, content: str | bytes, name: str = "data.txt") -> Corpus:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_corpus(path)


def dense(corpus: Corpus) -> list[list[float]]:
    features = corpus.features.toarray() if corpus.is_sparse else corpus.features
    return np.round(features.astype(float), 6).tolist()


def refused_file(
    folder: Path, content: str | bytes, about: str, *values: object, name: str = "data.txt"
) -> str:
    with refused(about, folder / name, *values) as caught:
        read(folder, content, name)
    return str(caught.value)


PLAIN = "2 qid:11 1:0.3 2:0.7\n0 qid:11 1:0.1 2:0.2\n1 qid:12 2:0.5\n"


def expect_plain(corpus: Corpus) -> None:
    assert corpus.grades.tolist() == [2, 0, 1]
    assert corpus.query_ids == ("11", "12")
    assert corpus.query_offsets.tolist() == [0, 2, 3]
    assert corpus.feature_ids.tolist() == [1, 2]
    assert dense(corpus) == [[0.3, 0.7], [0.1, 0.2], [0.0, 0.5]]


def test_document_ids_only_where_every_row_has_one(tmp_path: Path) -> None:
    corpus = read(tmp_path, "2 qid:1 1:3 # docid = A\n0 qid:1 1:1 # something\n")
    assert corpus.document_ids is None


@pytest.mark.parametrize(
    "variant",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r\n").rstrip(),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(" ", "\t"),
        PLAIN.replace(" ", " \t  "),
        PLAIN.replace("\n", "  \n\n \t \n"),
        "\ufeff" + PLAIN,
        "# made by hand\n\n" + PLAIN.replace("\n", " # rambo: 1:2 qid:3 # é\n# between\n"),
        PLAIN.replace("1:0.3 2:0.7", "2:0.7 1:0.3"),
        PLAIN.replace("0.3", "+3e-1").replace("2 qid", "2.0 qid"),
        PLAIN.replace("0.3", ".3").replace("0.5", "5.E-1"),
        "2 qid:11 1:0.3 2:0.7\n1 qid:12 2:0.5\n0 qid:11 1:0.1 2:0.2\n",
    ],
)
def test_ways_to_write_the_same_corpus(tmp_path: Path, variant: str) -> None:
    expect_plain(read(tmp_path, variant))


def test_gzip_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    packed = gzip.compress(PLAIN.encode())
    expect_plain(read(tmp_path, packed, "data.txt.gz"))
    expect_plain(read(tmp_path, packed, "data.txt"))
    expect_plain(read(tmp_path, PLAIN, "plain.txt.gz"))
    halves = gzip.compress(PLAIN[:20].encode()) + gzip.compress(PLAIN[20:].encode())
    expect_plain(read(tmp_path, halves, "two.gz"))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 61])
def test_blocks_may_end_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", size)
    expect_plain(read(tmp_path, PLAIN))
    expect_plain(read(tmp_path, "\ufeff# one\r\n" + PLAIN.replace("\n", " # two\r\n")))
    (tmp_path / "sizes").write_text("1 3:2\n0\n1 5:1\n")
    (tmp_path / "sizes.query").write_text("2\n1\n")
    assert load_corpus(tmp_path / "sizes").query_offsets.tolist() == [0, 2, 3]


def test_unsorted_ids_go_to_their_columns(tmp_path: Path) -> None:
    corpus = read(tmp_path, "1 qid:5 3:0.3 1:0.1 2:0.2\n0 qid:5 2:7 1:6")
    assert dense(corpus) == [[0.1, 0.2, 0.3], [6, 7, 0]]


def test_rows_of_a_query_are_brought_together_in_order(tmp_path: Path) -> None:
    corpus = read(
        tmp_path,
        "1 qid:7 1:0.9 # docid = a\n0 qid:3 1:0.2 # docid = b\n"
        "0 qid:7 1:0.1 # docid = c\n1 qid:3 1:0.8 # docid = d\n",
    )
    assert corpus.query_ids == ("7", "3")
    assert corpus.sizes.tolist() == [2, 2]
    assert corpus.grades.tolist() == [1, 0, 0, 1]
    assert corpus.document_ids == ("a", "c", "b", "d")
    assert dense(corpus) == [[0.9], [0.1], [0.2], [0.8]]


@pytest.mark.parametrize("name", ["rain-in-may", "a:b", "käse", "007"])
def test_query_ids_are_strings(tmp_path: Path, name: str) -> None:
    corpus = read(tmp_path, f"1 qid:{name} 1:1\n0 qid:{name} 1:2\n0 qid:7 1:2\n")
    assert corpus.query_ids == (name, "7")


def test_rows_without_features_and_explicit_zeros(tmp_path: Path) -> None:
    corpus = read(tmp_path, "1 qid:1\n2 qid:1 3:0 # none\n0 qid:1 4:1\n")
    assert corpus.feature_ids.tolist() == [3, 4]
    assert dense(corpus) == [[0, 0], [0, 0], [0, 1]]


def test_large_feature_ids_take_no_room(tmp_path: Path) -> None:
    corpus = read(tmp_path, "1 qid:1 999999999999:2 5:1\n0 qid:1 5:3\n")
    assert corpus.feature_ids.tolist() == [5, 999_999_999_999]
    assert dense(corpus) == [[1, 2], [3, 0]]


@pytest.mark.parametrize(("filled", "is_sparse"), [(0.5, False), (0.36, False), (0.34, True)])
def test_storage_follows_the_share_of_nonzero_values(
    tmp_path: Path, filled: float, is_sparse: bool
) -> None:
    given = round(100 * filled)
    rows = [
        f"1 qid:1 {column + 1}:{int(row * 10 + column < given)}\n"
        for row in range(10)
        for column in range(10)
    ]
    # One row a cell would be sparse: gather the cells of a row.
    lines = [
        "1 qid:1 " + " ".join(line.split()[2] for line in rows[10 * row : 10 * row + 10]) + "\n"
        for row in range(10)
    ]
    corpus = read(tmp_path, "".join(lines))
    assert corpus.features.shape == (10, 10)
    assert corpus.is_sparse == is_sparse
    assert np.array(dense(corpus)).sum() == given


def test_group_sizes_beside_a_file_without_query_ids(tmp_path: Path) -> None:
    (tmp_path / "rank.train.query").write_text("1\n2\n")
    corpus = read(tmp_path, "1 1:0.5\n0 1:0.1 7:2\n2 7:1\n", "rank.train")
    assert corpus.query_ids == ("1", "2")
    assert corpus.sizes.tolist() == [1, 2]
    packed = gzip.compress(b"1 1:0.5\n0 1:0.1 7:2\n2 7:1\n")
    assert read(tmp_path, packed, "rank.train.gz").sizes.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("sizes", "fault"),
    [
        ("1\n", ("group_sizes_sum", "1 document", "rank.train", "3 rows")),
        ("1\n5\n", ("group_sizes_sum", "6 documents", "rank.train", "3 rows")),
        ("docs\n1\n2\n", ("not_a_group_size", "line 1", "'docs'")),
        ("1\n\n0\n2\n", ("not_a_group_size", "line 3", "'0'")),
        ("1\n2.0\n", ("not_a_group_size", "line 2", "'2.0'")),
    ],
)
def test_group_sizes_that_do_not_fit(tmp_path: Path, sizes: str, fault: tuple[str, ...]) -> None:
    (tmp_path / "rank.train.query").write_text(sizes)
    with refused(*fault, tmp_path / "rank.train.query"):
        read(tmp_path, "1 1:0.5\n0 1:0.1 7:2\n2 7:1\n", "rank.train")


def test_no_query_ids_at_all(tmp_path: Path) -> None:
    refused_file(tmp_path, "# comment\n1 1:0.5\n0 1:0.1\n", "no_query_ids", "data.txt.query")


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("x qid:1 1:1", ("not_a_grade", "column 1", "'x'")),
        ("-1 qid:1 1:1", ("not_a_grade", "column 1", "'-1'")),
        ("0.5 qid:1 1:1", ("not_a_grade", "column 1", "'0.5'")),
        ("nan qid:1 1:1", ("not_a_grade", "column 1", "'nan'")),
        ("40000 qid:1 1:1", ("not_a_grade", 0, 32767)),
        ("qid:1 1:1", ("not_a_grade", "column 1", "'qid:1'")),
        ("1 1:1", ("qid_in_some_rows",)),
        ("1", ("qid_in_some_rows",)),
        ("1 qid: 1:1", ("qid_empty", "column 3")),
        ("1 1:1 qid:1", ("qid_place", "column 7", "'qid:1'")),
        ("1 qid:1 qid:2 1:1", ("qid_place", "column 9", "'qid:2'")),
        ("1 qid:1 7", ("not_a_feature", "column 9", "'7'")),
        ("1 qid:1 a:7", ("not_a_feature", "column 9", "'a:7'")),
        ("1 qid:1 :7", ("not_a_feature", "column 9", "':7'")),
        ("1 qid:1 -3:7", ("not_a_feature", "column 9", "'-3:7'")),
        ("1 qid:1 1.5:7", ("not_a_feature", "column 9", "'1.5:7'")),
        ("1 qid:1 1234567890123456789:7", ("not_a_feature", "column 9")),
        ("1 qid:1 1 :7", ("not_a_feature", "column 9", "'1'")),
        ("1 qid:1 1: 7", ("feature_value", "column 9", "feature 1", "''")),
        ("1 qid:1 1:2:3", ("feature_value", "feature 1", "'2:3'")),
        ("1 qid:1 1:abc", ("feature_value", "feature 1", "'abc'")),
        ("1 qid:1 1:1_000", ("feature_value", "feature 1", "'1_000'")),
        ("1 qid:1 1:0x10", ("feature_value", "feature 1", "'0x10'")),
        ("1 qid:1 1:1,5", ("feature_value", "feature 1", "'1,5'")),
        ("1 qid:1 3:1 12:nan", ("feature_value", "column 13", "feature 12", "'nan'")),
        ("1 qid:1 12:inf", ("feature_value", "feature 12", "'inf'")),
        ("1 qid:1 12:-Infinity", ("feature_value", "feature 12", "'-Infinity'")),
        ("1 qid:1 12:1.8e308", ("feature_range", "feature 12", "'1.8e308'", "±3.4e+38")),
        ("1 qid:1 12:1e39", ("feature_range", "feature 12", "'1e39'", "±3.4e+38")),
        ("1 qid:1 12:-1e39", ("feature_range", "feature 12", "'-1e39'", "±3.4e+38")),
        ("1 qid:1 2:1 1:1 2:1", ("feature_twice", "column 17", "feature 2")),
        ("1 qid:1 1:" + "9" * 500, ("feature_range", "feature 1", "...")),
        ("1 qid:1 1:1\x0c2:3", ("feature_value", "feature 1")),
        ("<html><body>", ("not_a_grade", "'<html><body>'")),
    ],
)
def test_faulty_rows_are_refused_by_file_line_and_column(
    tmp_path: Path, row: str, fault: tuple[str, ...]
) -> None:
    content = f"# head\n2 qid:1 1:0.3 2:1 # é\r\n\n{row}\n0 qid:1 1:1\n"
    message = refused_file(tmp_path, content, *fault, "line 4")
    assert len(message) < 300 + len(str(tmp_path))


def test_line_numbers_count_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 64)
    rows = ["1 qid:1 1:0.5 # docid = a\r\n"] * 1000
    rows[700] = "1 qid:1 1:0.5 1:2\r\n"
    place = ("line 701", "column 15", "feature 1")
    refused_file(tmp_path, "".join(rows), "feature_twice", *place)
    rows[700] = "1 1:0.5\r\n"
    refused_file(tmp_path, "".join(rows), "qid_in_some_rows", "line 701")
    rows = [row.replace("qid:1 ", "") for row in rows]
    rows[900] = "1 qid:2 1:0.5\r\n"
    refused_file(tmp_path, "".join(rows), "qid_in_some_rows", "line 901")


def test_largest_float32_is_kept_and_tiny_values_do_not_fail(tmp_path: Path) -> None:
    corpus = read(tmp_path, "1 qid:1 1:3.4028235e+38 2:1e-400 3:-3.4028235e38 4:1e-45\n")
    assert np.isfinite(corpus.features).all()
    assert corpus.features[0, 0] == np.finfo(np.float32).max
    assert corpus.features[0, 3] > 0


MISSING = "1.79769313486231570000e+308"


@pytest.mark.parametrize("unusual", ["", "0 qid:1 1:1 # \x0c\n"], ids=["fast", "careful"])
def test_the_mark_of_a_missing_value_is_read_as_0_and_told(tmp_path: Path, unusual: str) -> None:
    rows = f"# head\n1 qid:1 1:4 2:5 3:6\n0 qid:1 3:{MISSING} 2:-{MISSING} 1:7\n"
    corpus = read(tmp_path, rows + unusual + f"0 qid:1 1:{MISSING} 2:8 3:9\n")
    features = dense(corpus)
    assert [*features[:2], features[-1]] == [[4, 5, 6], [7, 0, 0], [0, 8, 9]]
    (notice,) = corpus.notices
    assert mentions(notice, "3 values", "±1.797693e+308", "line 3", "feature 3")
    assert read(tmp_path, "1 qid:1 1:4 2:5\n").notices == ()
    assert mentions(read(tmp_path, f"1 qid:1 1:4 2:{MISSING}\n").notices[0], "1 value")


@pytest.mark.parametrize("value", ["1.7976e308", "1.8e308", "-3.5e38", "1e309"])
def test_only_the_mark_itself_is_a_missing_value(tmp_path: Path, value: str) -> None:
    content = f"1 qid:1 1:{MISSING}\n0 qid:1 1:2 7:{value}\n"
    place = ("line 2", "column 13", "feature 7")
    refused_file(tmp_path, content, "feature_range", *place, "±3.4e+38")


def test_missing_values_are_counted_over_blocks_and_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 64)
    rows = ["1 qid:1 1:0.5 2:1\n"] * 300
    for line in (150, 200, 290):
        rows[line - 1] = f"1 qid:1 1:0.5 2:{MISSING}\n"
    corpus = read(tmp_path, "".join(rows))
    assert mentions(corpus.notices[0], "3 values", "line 150", "feature 2")
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / name).write_text("".join(rows if name == "vali.txt" else rows[:100]))
    notices = load_directory(tmp_path).notices
    assert sum(mentions(notice, "validation", "3 values") for notice in notices) == 1
    assert not any(mentions(notice, "training", "feature") for notice in notices)


def test_files_that_are_no_letor_files(tmp_path: Path) -> None:
    for content, about in (
        (b"", "empty_file"),
        (gzip.compress(b""), "empty_file"),
        ("# only\n\n  \n# comments", "no_rows"),
        ("1 qid:1\n0 qid:1\n", "no_features"),
        (b"\x89HDF\r\n\x1a\n\x00\x00\x00", "zero_byte"),
        (PLAIN.encode() + b"\0\0\0\0", "zero_byte"),
        (PLAIN.encode("utf-16"), "not_text"),
        (b"PK\x03\x04rest of it", "not_text"),
        (b"\x89\xff\xfe\x80 binary without zero bytes", "not_a_grade"),
    ):
        refused_file(tmp_path, content, about)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with refused("not_a_file", tmp_path / "absent.txt", "exist"):
        load_corpus(tmp_path / "absent.txt")
    with refused("not_a_file", tmp_path):
        load_corpus(str(tmp_path))


def test_damaged_gzip(tmp_path: Path) -> None:
    packed = gzip.compress((PLAIN * 1000).encode())
    for damaged in (packed[:40], packed[:-4], packed[:5], packed[:100] + b"xx" + packed[102:]):
        refused_file(tmp_path, damaged, "damaged_gzip", name="data.txt.gz")


def test_gzip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UNPACKED_FROM_BYTES", 1 << 20)
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1 << 16)
    refused_file(tmp_path, gzip.compress(b"\0" * (1 << 22)), "zero_byte")
    bomb = gzip.compress(b"1 qid:1 1:1\n" * (1 << 18))
    refused_file(tmp_path, bomb, "too_large", "200 times")


def test_endless_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "LINE_BYTES", replace(LINE_BYTES, most=1 << 20))
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1 << 16)
    content = b"1 qid:1 1:1\n" + b"1" * (1 << 21)
    refused_file(tmp_path, content, "too_large", "line 2", "1 MiB")
