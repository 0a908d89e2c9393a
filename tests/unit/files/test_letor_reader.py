"""LETOR files: what is read, and what is refused with which sentence."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
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


def refusal(folder: Path, content: str | bytes, name: str = "data.txt") -> str:
    with pytest.raises(InputError) as caught:
        read(folder, content, name)
    message = str(caught.value)
    assert str(folder / name) in message
    assert "\n" not in message
    return message


PLAIN = "2 qid:11 1:0.3 2:0.7\n0 qid:11 1:0.1 2:0.2\n1 qid:12 2:0.5\n"


def expect_plain(corpus: Corpus) -> None:
    assert corpus.grades.tolist() == [2, 0, 1]
    assert corpus.query_ids == ("11", "12")
    assert corpus.query_offsets.tolist() == [0, 2, 3]
    assert corpus.feature_ids.tolist() == [1, 2]
    assert dense(corpus) == [[0.3, 0.7], [0.1, 0.2], [0.0, 0.5]]


def test_comments_at_line_ends_give_document_ids(tmp_path: Path) -> None:
    corpus = read(
        tmp_path,
        "2 qid:11 1:0.3 2:0.7 # docid = AX-1 inc = 1 prob = 0.41\n"
        "0 qid:11 1:0.1 2:0.2 #docid = AX-2 inc = 1 prob = 0.09\n",
    )
    assert corpus.grades.tolist() == [2, 0]
    assert dense(corpus) == [[0.3, 0.7], [0.1, 0.2]]
    assert corpus.document_ids == ("AX-1", "AX-2")


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


def test_query_zero_feature_zero_and_small_values(tmp_path: Path) -> None:
    corpus = read(tmp_path, "0 qid:0 0:31 3:4.5 9:2\n1 qid:0 0:8 2:5\n1 qid:4 10:0.61 251:3.1e-05")
    assert corpus.query_ids == ("0", "4")
    assert corpus.sizes.tolist() == [2, 1]
    assert corpus.feature_ids.tolist() == [0, 2, 3, 9, 10, 251]
    features = corpus.features.toarray() if corpus.is_sparse else corpus.features
    assert features[0].tolist() == [31, 0, 4.5, 2, 0, 0]
    assert features[2, 5] == np.float32(3.1e-05)


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
    ("sizes", "words"),
    [
        ("1\n", "adds up to 1 document and {path} has 3 rows"),
        ("1\n5\n", "adds up to at least 6 documents and {path} has 3 rows"),
        ("docs\n1\n2\n", "line 1: 'docs' is no number of documents"),
        ("1\n\n0\n2\n", "line 3: '0' is no number of documents"),
        ("1\n2.0\n", "line 2: '2.0' is no number of documents"),
    ],
)
def test_group_sizes_that_do_not_fit(tmp_path: Path, sizes: str, words: str) -> None:
    (tmp_path / "rank.train.query").write_text(sizes)
    message = refusal(tmp_path, "1 1:0.5\n0 1:0.1 7:2\n2 7:1\n", "rank.train")
    assert words.format(path=tmp_path / "rank.train") in message
    assert str(tmp_path / "rank.train.query") in message


def test_no_query_ids_at_all(tmp_path: Path) -> None:
    message = refusal(tmp_path, "# comment\n1 1:0.5\n0 1:0.1\n")
    assert "each row needs qid:" in message
    assert "data.txt.query" in message


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("x qid:1 1:1", "column 1: 'x' is no grade"),
        ("-1 qid:1 1:1", "column 1: '-1' is no grade"),
        ("0.5 qid:1 1:1", "column 1: '0.5' is no grade"),
        ("nan qid:1 1:1", "column 1: 'nan' is no grade"),
        ("40000 qid:1 1:1", "whole number from 0 to 32767"),
        ("qid:1 1:1", "column 1: 'qid:1' is no grade"),
        ("1 1:1", "no 'qid:' after the grade"),
        ("1", "no 'qid:' after the grade"),
        ("1 qid: 1:1", "column 3: no query id follows 'qid:'"),
        ("1 1:1 qid:1", "column 7: 'qid:1' must come directly after the grade"),
        ("1 qid:1 qid:2 1:1", "column 9: 'qid:2' must come directly after the grade"),
        ("1 qid:1 7", "column 9: '7' is no feature"),
        ("1 qid:1 a:7", "column 9: 'a:7' is no feature"),
        ("1 qid:1 :7", "column 9: ':7' is no feature"),
        ("1 qid:1 -3:7", "column 9: '-3:7' is no feature"),
        ("1 qid:1 1.5:7", "column 9: '1.5:7' is no feature"),
        ("1 qid:1 1234567890123456789:7", "is no feature"),
        ("1 qid:1 1 :7", "column 9: '1' is no feature"),
        ("1 qid:1 1: 7", "column 9: the value of feature 1 is ''"),
        ("1 qid:1 1:2:3", "the value of feature 1 is '2:3'"),
        ("1 qid:1 1:abc", "the value of feature 1 is 'abc'"),
        ("1 qid:1 1:1_000", "the value of feature 1 is '1_000'"),
        ("1 qid:1 1:0x10", "the value of feature 1 is '0x10'"),
        ("1 qid:1 1:1,5", "the value of feature 1 is '1,5'"),
        ("1 qid:1 3:1 12:nan", "column 13: the value of feature 12 is 'nan'"),
        ("1 qid:1 12:inf", "the value of feature 12 is 'inf'"),
        ("1 qid:1 12:-Infinity", "the value of feature 12 is '-Infinity'"),
        ("1 qid:1 12:1.8e308", "feature 12 is '1.8e308', beyond ±3.4e+38"),
        ("1 qid:1 12:1e39", "feature 12 is '1e39', beyond ±3.4e+38"),
        ("1 qid:1 12:-1e39", "feature 12 is '-1e39', beyond ±3.4e+38"),
        ("1 qid:1 2:1 1:1 2:1", "column 17: feature 2 occurs twice"),
        ("1 qid:1 1:" + "9" * 500, "..."),
        ("1 qid:1 1:1\x0c2:3", "the value of feature 1"),
        ("<html><body>", "'<html><body>' is no grade"),
    ],
)
def test_faulty_rows_are_refused_by_file_line_and_column(
    tmp_path: Path, row: str, words: str
) -> None:
    message = refusal(tmp_path, f"# head\n2 qid:1 1:0.3 2:1 # é\r\n\n{row}\n0 qid:1 1:1\n")
    assert f"{tmp_path / 'data.txt'}, line 4" in message
    assert words in message
    assert len(message) < 300 + len(str(tmp_path))


def test_line_numbers_count_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 64)
    rows = ["1 qid:1 1:0.5 # docid = a\r\n"] * 1000
    rows[700] = "1 qid:1 1:0.5 1:2\r\n"
    assert "line 701, column 15: feature 1 occurs twice" in refusal(tmp_path, "".join(rows))
    rows[700] = "1 1:0.5\r\n"
    assert "line 701 has no 'qid:'" in refusal(tmp_path, "".join(rows))
    rows = [row.replace("qid:1 ", "") for row in rows]
    rows[900] = "1 qid:2 1:0.5\r\n"
    assert "line 901 has 'qid:' and earlier rows have none" in refusal(tmp_path, "".join(rows))


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
    assert notice.startswith("3 values are ±1.797693e+308")
    assert "the first is in line 3, feature 3" in notice
    assert read(tmp_path, "1 qid:1 1:4 2:5\n").notices == ()
    assert "1 value is" in read(tmp_path, f"1 qid:1 1:4 2:{MISSING}\n").notices[0]


@pytest.mark.parametrize("value", ["1.7976e308", "1.8e308", "-3.5e38", "1e309"])
def test_only_the_mark_itself_is_a_missing_value(tmp_path: Path, value: str) -> None:
    message = refusal(tmp_path, f"1 qid:1 1:{MISSING}\n0 qid:1 1:2 7:{value}\n")
    assert "line 2, column 13: the value of feature 7 is" in message
    assert "beyond ±3.4e+38" in message


def test_missing_values_are_counted_over_blocks_and_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 64)
    rows = ["1 qid:1 1:0.5 2:1\n"] * 300
    for line in (150, 200, 290):
        rows[line - 1] = f"1 qid:1 1:0.5 2:{MISSING}\n"
    corpus = read(tmp_path, "".join(rows))
    assert corpus.notices[0].startswith("3 values are")
    assert "line 150, feature 2" in corpus.notices[0]
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / name).write_text("".join(rows if name == "vali.txt" else rows[:100]))
    notices = load_directory(tmp_path).notices
    assert sum("The validation file: 3 values are" in notice for notice in notices) == 1
    assert not any("The training file" in notice for notice in notices)


def test_files_that_are_no_letor_files(tmp_path: Path) -> None:
    assert "is empty" in refusal(tmp_path, b"")
    assert "is empty" in refusal(tmp_path, gzip.compress(b""))
    assert "has no row" in refusal(tmp_path, "# only\n\n  \n# comments")
    assert "gives no feature in any row" in refusal(tmp_path, "1 qid:1\n0 qid:1\n")
    assert "binary file" in refusal(tmp_path, b"\x89HDF\r\n\x1a\n\x00\x00\x00")
    assert "binary file" in refusal(tmp_path, PLAIN.encode() + b"\0\0\0\0")
    assert "is UTF-16 text" in refusal(tmp_path, PLAIN.encode("utf-16"))
    assert "is a zip archive" in refusal(tmp_path, b"PK\x03\x04rest of it")
    assert "is no grade" in refusal(tmp_path, b"\x89\xff\xfe\x80 binary without zero bytes")


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.txt does not exist"):
        load_corpus(tmp_path / "absent.txt")
    with pytest.raises(InputError, match="is a directory"):
        load_corpus(str(tmp_path))


def test_damaged_gzip(tmp_path: Path) -> None:
    packed = gzip.compress((PLAIN * 1000).encode())
    for damaged in (packed[:40], packed[:-4], packed[:5], packed[:100] + b"xx" + packed[102:]):
        assert "damaged or truncated gzip" in refusal(tmp_path, damaged, "data.txt.gz")


def test_gzip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UNPACKED_FROM_BYTES", 1 << 20)
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1 << 16)
    assert "binary file" in refusal(tmp_path, gzip.compress(b"\0" * (1 << 22)))
    bomb = gzip.compress(b"1 qid:1 1:1\n" * (1 << 18))
    assert "more than 200 times its packed size" in refusal(tmp_path, bomb)


def test_endless_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "LINE_BYTES", replace(LINE_BYTES, most=1 << 20))
    monkeypatch.setattr(letor_lines, "BLOCK_BYTES", 1 << 16)
    assert "at most 1 MiB are accepted" in refusal(tmp_path, b"1 qid:1 1:1\n" + b"1" * (1 << 21))
