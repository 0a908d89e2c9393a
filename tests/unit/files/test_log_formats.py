"""Click logs in every shape: delimiters, quotes, gzip, Parquet; blocks, bombs, damage, noise."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import parse_columns, parse_log, preview_log, read_log
from ultr_core.files.log_parts import ENCODINGS
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_rows import NO_NAME
from ultr_core.propensity import PresentationLog

HEADER = "query,document,position,click\n"
LINES = b'{"query": "q", "item": {"id": "a", "position": 1}, "click": 1}\n'
ROWS = "q1,a,1,1\nq1,b,2,0\nq2,a,1,0\n"


def as_rows(log: PresentationLog) -> list[tuple[object, ...]]:
    """Each row with the names that it had in the file."""
    query, name = np.divmod(log.document, len(log.document_names))
    return [
        (log.query_names[q], log.document_names[d], p, s, c)
        for q, d, p, s, c in zip(
            query.tolist(), name.tolist(), log.position.tolist(), log.impressions.tolist(),
            log.clicks.tolist(), strict=True,
        )
    ]  # fmt: skip


PLAIN = [("q1", "a", 1, 1, 1), ("q1", "b", 2, 1, 0), ("q2", "a", 1, 1, 0)]


@pytest.mark.parametrize(
    ("data", "form"),
    [
        ((HEADER + ROWS).encode(), "comma"),
        ((HEADER + ROWS).replace(",", ";").encode(), "semicolon"),
        ((HEADER + ROWS).replace(",", "\t").encode(), "tab"),
        ((HEADER + ROWS).replace("\n", "\r\n").encode("utf-8-sig"), "comma"),
        ((HEADER + ROWS).replace("\n", "\r").encode(), "comma"),
        (gzip.compress((HEADER + ROWS).encode(), mtime=0), "gzip"),
        (("\n" + HEADER + "\n" + ROWS + ",,,\n\n").encode(), "comma"),
        ((HEADER + ROWS.replace("a,", '"a",')).encode(), "comma"),
        ((HEADER + ROWS.replace("\n", ",x,y\n")).encode(), "comma"),
        ((HEADER + ROWS.replace(",", " , ")).encode(), "comma"),
        ((HEADER + ROWS).rstrip("\n").encode(), "comma"),
    ],
)
def test_one_log_in_many_forms(data: bytes, form: str) -> None:
    log = parse_log(data, "log")
    assert as_rows(log) == PLAIN
    assert form in log.format
    assert log.faults == ()


def test_names_with_delimiters_quotes_and_line_ends() -> None:
    out = io.StringIO()
    names = ['say "no"', "a,b", "two\nlines", "é", 'open"']
    csv.writer(out).writerows([HEADER.strip().split(","), *(["q", n, 1, 0] for n in names)])
    assert list(parse_log(out.getvalue()).document_names) == sorted(names)


@pytest.mark.usefixtures("read_here")
def test_parquet_equals_csv_and_says_rows(tmp_path: Path) -> None:
    table = pa.table(
        {
            "qid": ["q1", "q1", "q2", "q2"], "doc": ["a", "b", "a", "c"],
            "rank": pa.array([1.0, 2.0, 1.0, None]), "click": [True, False, False, True],
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet")
    assert as_rows(log) == PLAIN
    assert log.format == "Parquet"
    assert [(f.rows, f.clicks, f.first) for f in log.faults] == [(1, 1, 4)]
    assert mentions(log.notices[0], "1 click", "row 4")
    assert preview_log(tmp_path / "log.parquet", rows=1).rows == (("q1", "a", "1.0", "true"),)
    pq.write_table(table.append_column("p", [[[1]] * 4]), tmp_path / "odd.parquet")
    assert read_log(tmp_path / "odd.parquet").propensity is None
    with refused("lists", "'p'", "odd.parquet"):
        read_log(tmp_path / "odd.parquet", columns={"propensity": "p"})


@pytest.mark.parametrize("page", range(4))
def test_a_page_of_a_parquet_file_that_says_it_has_more_rows(page: int) -> None:
    """A bit of one column's page header, so that the preview's columns differ in length."""
    columns = {"query": list("abcde"), "document": list("fghij"), "rank": [1] * 5, "click": [0] * 5}
    out = io.BytesIO()
    pq.write_table(
        pa.table(columns), out, use_dictionary=False, compression="none", write_statistics=False
    )
    data = bytearray(out.getvalue())
    assert preview_log(bytes(data), "log").rows[0] == ("a", "f", "1", "0")
    header = pq.ParquetFile(out).metadata.row_group(0).column(page).data_page_offset
    # Within the first bytes of a page's header: its number of values, 5 as a zigzag varint.
    place = data.index(b"\x15\x0a", header)
    assert place < header + 16
    data[place + 1] ^= 2
    with refused("", "log", "Parquet"):
        preview_log(bytes(data), "log")


def test_mapped_columns_and_previews() -> None:
    text = "search;url;place;hit\ns1;u1;1;1\ns1;u2;2;0\n"
    before = preview_log(text.encode(), "log.csv")
    assert before.missing == ("position", "click")
    assert before.columns == {"document": "url"}
    mapping = parse_columns("query=search,position=place,click=hit")
    after = preview_log(text.encode(), "log.csv", columns=mapping)
    assert after.missing == ()
    assert after.rows == (("s1", "u1", "1", "1"), ("s1", "u2", "2", "0"))
    assert "semicolon" in after.format
    assert parse_log(text, columns=mapping).counts()["clicks"] == 1
    with refused("", "'nowhere'", "click"):
        parse_log(text, columns={"click": "nowhere"})


@pytest.mark.usefixtures("read_here")
def test_a_column_that_is_used_and_named_twice_is_refused(tmp_path: Path) -> None:
    text = "query,Query,doc,rank,click,other,other\nq1,s1,a,1,1,x,x\n"
    with refused("", "2 columns", "'query'", "1, 2"):
        parse_log(text, "log.csv")
    with refused("", "'other'", "6, 7", "query"):
        parse_log(text, "log.csv", columns={"query": "other"})
    assert parse_log(text.replace("Query", "id")).counts()["clicks"] == 1
    arrays = [pa.array([cell]) for cell in ("q1", "a", 1, 1, 0)]
    table = pa.Table.from_arrays(arrays, ["query", "doc", "rank", "click", "click"])
    pq.write_table(table, tmp_path / "log.parquet")
    with refused("", "2 columns", "'click'"):
        read_log(tmp_path / "log.parquet")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("query", "'query'"),
        ("page=", "'page='"),
        ("colour=x", "'colour'"),
        ("page=x,page=y", "page"),
    ],
)
def test_mappings_that_cannot_be_used(text: str, named: str) -> None:
    with refused("", named):
        parse_columns(text)


@pytest.mark.parametrize(
    ("data", "about", "named"),
    [
        (gzip.compress((HEADER + ROWS).encode(), mtime=0)[:-9], "damaged_gzip", "gzip"),
        (b"PK\x03\x04rest", "", "zip"),
        ((HEADER + ROWS).encode("utf-32"), "", "UTF-32"),
        (b"PAR1" + bytes(40) + b"PAR1", "", "Parquet"),
        ((HEADER + "q,a,1,1\n").encode() + b"q,\xff,2,1\n", "encoding", "Line 3"),
        ((HEADER + 'q,a,1,1\nq,"b,2,0\nq,c,3,0\n').encode(), "open_quote", "Line 3"),
        (HEADER.encode() + b"q,a,1," + b"1" * 200_000 + b",,\n", "too_large", "line 2"),
        (b"\0" * 100, "", "UTF-8"),
    ],
    ids=["cut", "zip", "UTF-32", "Parquet", "UTF-8", "open", "long", "zeros"],
)  # fmt: skip
def test_damage_is_one_sentence_with_its_place(data: bytes, about: str, named: str) -> None:
    with refused(about, "log", named):
        parse_log(data, "log")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_utf16_with_its_mark_is_read(encoding: str, newline: str) -> None:
    text = (HEADER + ROWS.replace("q1", "k\u00e4se \U0001f600")).replace("\n", newline)
    mark = "" if encoding == "utf-16" else "\ufeff"
    log = parse_log((mark + text).encode(encoding), "log")
    assert log.query_names == ("k\u00e4se \U0001f600", "q2")
    assert log.clicks.tolist() == [1, 0, 0]
    with refused("encoding", "log", "utf-16"):
        parse_log((mark + text).encode(encoding)[:-1], "log")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_named_encoding_is_used_and_a_wrong_one_is_asked_about(encoding: str) -> None:
    name = {"cp1250": "\u0159", "cp1251": "\u0436", "cp1253": "\u03bb", "iso8859-15": "\u20ac",
            "shift_jis": "\u65e5", "euc_jp": "\u65e5", "gb18030": "\u65e5", "big5": "\u65e5",
            "euc_kr": "\ud55c"}.get(encoding, "\u00e9")  # fmt: skip
    data = (HEADER + ROWS.replace("q1", name)).encode(encoding)
    log = parse_log(data, "log", how=Reading(encoding=encoding))
    assert set(log.query_names) == {name, "q2"}
    if not encoding.startswith("utf"):
        with refused("encoding", "Line 2", "log"):
            parse_log(data, "log")
        with refused("encoding", "log", "utf-16"):
            parse_log(data + b"\n" * (1 - len(data) % 2), "log", how=Reading(encoding="utf-16"))


def test_a_gzip_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ultr_core.files.disk.UNPACKED_FROM_BYTES", 1 << 16)
    with refused("too_large", "log", 200):
        parse_log(gzip.compress(HEADER.encode() + b"q,a,1,1\n" * 50_000, 9), "log")


def test_faults_keep_their_lines() -> None:
    rows = [f"q{i},d{i % 7},{i % 3 + 1},{i % 2}" for i in range(200)]
    rows[150], rows[180] = "q,d,x,1", 'q,"two\nlines",2,-9'
    log = parse_log(HEADER + "\n".join(rows))
    assert log.counts()["rows"] == 198
    assert [(f.first, f.rows, f.clicks) for f in log.faults] == [(182, 1, 0), (152, 1, 1)]
    whole = [("q" + str(i), f"d{i % 7}", i % 3 + 1, 1, i % 2) for i in range(200)]
    assert as_rows(log) == sorted(whole[:150] + whole[151:180] + whole[181:])


def test_a_row_without_end_is_refused() -> None:
    with refused("too_large", "line 2", "log"):
        parse_log((HEADER + 'q,"' + "a,1\n" * 2_000_000).encode(), "log")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\0\1"), min_size=1, max_size=8)
NAMES = NAMES.map(str.strip).filter(lambda name: bool(name) and name not in NO_NAME)


@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.integers(1, 30), st.integers(1, 9), st.integers(0, 1)),
        min_size=1, max_size=12,
    ),
    st.sampled_from(",;\t"),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read(
    rows: list[tuple[str, str, int, int, int]], delimiter: str
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([["query", "document", "position", "impressions", "click"], *rows])
    log = parse_log(out.getvalue())
    assert log.counts()["rows"] == len(rows)
    summed: dict[tuple[str, str, int], list[int]] = {}
    for query, document, position, shown, clicked in rows:
        sums = summed.setdefault((query, document, position), [0, 0])
        sums[0] += shown
        sums[1] += clicked
    found: dict[tuple[str, str, int], list[int]] = {}
    for query, document, position, shown, clicked in as_rows(log):
        sums = found.setdefault((query, document, position), [0, 0])
        sums[0] += shown
        sums[1] += clicked
    assert found == summed and list(found) == sorted(summed)


@pytest.mark.usefixtures("read_here")
def test_parquet_numbers_are_read_as_their_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "doc": ["a", "b", "c", "d", "e"], "rank": pa.array([1, 2, 3, 4, 5], pa.uint8()),
            "click": pa.array([1, 0, -1, 2**60, 3]), "views": pa.array([3, 2, 1, 1, 4], pa.int16()),
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet")
    assert [(f.rows, f.first) for f in log.faults] == [(1, 3), (1, 4)]
    assert log.clicks.tolist() == [1, 0, 3]
    assert log.impressions.tolist() == [3, 2, 4]


def test_mutated_logs_are_read_or_refused_in_one_sentence() -> None:
    rng = random.Random(7)
    seeds = [
        (HEADER + ROWS).encode(), gzip.compress((HEADER + ROWS).encode()),
        b"que\rry,document,pos\n1,2,3\n", (HEADER + ROWS).encode("utf-16"),
        pa.compress((HEADER + ROWS).encode(), "zstd", asbytes=True), LINES,
        b'qid;doc;pos;click;views\nq;"a;b";0;1;3\nq;"c\nd";1;0;2\n',
    ]  # fmt: skip
    noise = [b'"', b"\n", b"\r", b",", b";", b"\0", b"\xff", b"nan", b"-1", b"1e999", b"\t", b"{"]
    for _ in range(300):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data) + 1)
            if rng.random() < 0.5:
                data[place:place] = rng.choice(noise)
            else:
                data[place : place + rng.randint(1, 6)] = bytes(rng.choices(range(256), k=2))
        try:
            log = parse_log(bytes(data), "log")
            preview_log(bytes(data), "log")
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert np.all(log.clicks <= log.impressions)
            assert log.position.min() >= 1


@pytest.mark.usefixtures("read_here")
def test_positions_of_parquet_files_that_no_list_has_are_left_out() -> None:
    table = pa.table({"document": ["a", "b"], "position": [1, 99_999_999_999], "click": [1, 1]})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    log = parse_log(stream.getvalue(), "log.parquet")
    assert log.position.tolist() == [1]
    assert [(fault.first, fault.clicks) for fault in log.faults] == [(2, 1)]


@pytest.mark.parametrize("end", ["", "\n", "\nq,b,2,0\n"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_line_too_long_is_named_wherever_it_stands(form: str, end: str) -> None:
    """The engine left the last one out without a word where it reads a file in several places."""
    name = "x" * (5 << 20)
    if form == "csv":
        data = f"{HEADER}q,a,1,1\nq,{name},1,1{end}"
    else:
        row = '{"query": "q", "document": "%s", "position": 1, "click": 1}'
        data = f"{row % 'a'}\n{row % name}{end.replace('q,b,2,0', row % 'b')}"
    with refused("too_large", "log", f"line {3 if form == 'csv' else 2}"):
        parse_log(data, "log")


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"", ("empty",)),
        (b"\n\n  \n", ("blank",)),
        (b"\xef\xbb\xbf\r\n\r\n", ("blank",)),
        (b"sep=;\n", ()),
        (b"\n" * 1_100_000 + HEADER.encode(), ("1,048,576",)),
    ],
)
@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_a_text_without_a_line_of_names_says_what_it_has(
    content: bytes, values: tuple[str, ...], packing: str
) -> None:
    data = pa.compress(content, packing, asbytes=True) if packing == "zstd" else content
    data = gzip.compress(content) if packing == "gzip" else data
    for read in (parse_log, preview_log):
        with refused("empty_file", "given", *values):
            read(data, "given")
