"""Files made to fill a memory or an hour: refused in one sentence, soon, before they expand."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.inputs import one_sentence, soon
from tests.meaning import refused
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.files import (
    load_corpus,
    log_files,
    parse_corpus,
    parse_curve_values,
    parse_log,
    parse_ranker,
    parse_scores,
    parse_weights,
    preview_log,
)
from ultr_core.files.log_relation import Relation
from ultr_core.inspection import inspect_upload, own_curve
from ultr_core.propensity import estimate_from_log

HEADER = "query,document,position,click\n"
CORPUS = Corpus(np.eye(2), np.array([0, 1]), np.array([0, 2]))

# A number of a file is no size of an array.

DEEP = "query,document,position,click,propensity\na,x,1,1,1\na,y,299999999,1,0.5\n"


def test_a_curve_of_a_log_is_bounded_whatever_its_last_position(tmp_path: Path) -> None:
    log = parse_log(DEEP)
    assert log.counts()["last_position"] == 299_999_999
    with soon():
        assert inspect_upload(DEEP.encode(), "log.csv").counts["rows"] == 2
    one_sentence(lambda: own_curve(log), "299,999,999 ranks; at most 10,000 are accepted")
    one_sentence(lambda: estimate_from_log(log, method="ctr"), "10,000")
    deepest = DEEP.replace("299999999", "10000")
    assert len(own_curve(parse_log(deepest))) == 10_000


def test_commands_refuse_a_curve_without_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "1 qid:a 1:1 # docid = x\n0 qid:a 2:1 # docid = y\n"
    (tmp_path / "rows.txt").write_text(rows)
    (tmp_path / "log.csv").write_text(DEEP)
    (tmp_path / "curve.csv").write_text("rank,propensity\n1,1\n2,0.5\n")
    corpus, log = ["--corpus", str(tmp_path / "rows.txt")], str(tmp_path / "log.csv")
    for command in (
        ["fit", *corpus, "--log", log, "--propensities", "log", "--out", str(tmp_path / "r")],
        ["fit", *corpus, "--log", log, "--propensities", str(tmp_path / "curve.csv"), "--carry-on",
         "--out", str(tmp_path / "r")],
        ["propensities", log, "--method", "ctr"],
    ):  # fmt: skip
        with soon(10):
            assert main(command) == 2
        said = capsys.readouterr().err
        assert "10,000" in said and "Traceback" not in said
    with soon(10):
        assert main(["check", log]) == 0


def test_a_swap_experiment_takes_time_by_its_rows_and_not_by_rows_times_ranks() -> None:
    rows = "".join(
        f"q{n},d{n},{n % 9_999 + 1},{n % 3 % 2},{n % 9_999 + 1}\n" for n in range(40_000)
    )
    rows += "".join(f"q{n},e{n},1,1,{1 if n % 2 else 9_999}\n" for n in range(4_000))
    log = parse_log("query,document,position,click,swapped_rank\n" + rows)
    with soon(2):
        counts = log.swap_counts(1, 9_999)
    own = (log.swap == 1) & (log.position == 1)
    assert int(counts.control.impressions[0]) == int(log.impressions[own].sum())


def test_ranks_of_a_curve_and_ids_of_features_size_nothing() -> None:
    one_sentence(lambda: parse_curve_values("rank,p\n1,1\n2000000000,1\n"), "from 1 to 10,000")
    sparse = parse_corpus(b"1 qid:1 1:1\n0 qid:1 2147483648:1 999999999999999999:1\n", "rows")
    assert sparse.n_features == 3
    model = "SVM-light Version V6.20\n0 #\n" + "1 #\n" * 9 + "1 1:1 999999999999999999:1 #\n"
    assert parse_ranker(model.encode(), "model").coefficients.size == 2


# Columns, cells and rows of text.


@pytest.mark.parametrize("wide", ["," * 40_000, "," * 1_000_000, ",c" * 200_000])
def test_wide_headers_are_refused_at_once(wide: str, tmp_path: Path) -> None:
    text = HEADER.strip() + wide + "\nq,a,1,1" + wide + "\n"
    for read in (preview_log, lambda data: parse_log(data), lambda data: inspect_upload(data, "f")):
        one_sentence(lambda read=read: read(text.encode()), "at most 1,000 are accepted")
    (tmp_path / "log.csv").write_text(text)
    assert main(["check", str(tmp_path / "log.csv")]) == 2
    one_sentence(
        lambda: parse_curve_values("rank,propensity" + wide + "\n1,1\n"), "1,000 are accepted"
    )
    one_sentence(lambda: parse_scores("query,candidate,score" + wide, CORPUS), "1,000 are accepted")
    one_sentence(
        lambda: parse_weights("query,candidate,weight" + wide, CORPUS), "1,000 are accepted"
    )


def test_a_thousand_columns_are_read() -> None:
    more = "".join(f",c{number}" for number in range(996))
    text = HEADER.strip() + more + "\nq,a,1,1" + ",0" * 996 + "\n"
    assert len(preview_log(text.encode()).header) == 1_000
    assert parse_log(text).counts()["rows"] == 1


def test_a_cell_that_is_used_has_a_longest_length() -> None:
    long = "x" * 16_385
    one_sentence(lambda: parse_log(f"{HEADER}q,a,1,1\nq,{long},2,0\n"), "document in line 3")
    one_sentence(lambda: parse_log(f'{HEADER}q,a,1,1\n\n"{long}",b,2,0\n'), "query in line 4")
    kept = parse_log(f"{HEADER.strip()},text\nq,{long[1:]},1,1,{long}\n")
    assert len(kept.document_names[0]) == 16_384
    assert len(preview_log(f"{HEADER}{long},a,1,1\n".encode()).rows[0][0]) == 1_000


def test_line_breaks_in_quotation_marks_do_not_slow_the_reader_down() -> None:
    data = gzip.compress((HEADER + '"a\nb",b,1,1\n' * 4_000_000).encode(), 1)
    with soon(8):
        assert parse_log(data).counts()["rows"] == 4_000_000


@pytest.mark.parametrize(
    ("row", "rows"),
    [
        ('"', 2_200_000),
        ('q,"c,1,1\n', 2_200_000),
        ('q,c,1,1,"x\n', 10),
        ('q,c,1,1,"x\n', 2_200_000),
    ],
)
def test_a_quotation_that_is_never_closed_hides_no_rows(row: str, rows: int) -> None:
    """The engine leaves a record beyond its buffer out without a word, and all rows in it."""
    with refused("open_quote", "Line 3"):
        parse_log(HEADER + "q,a,1,1\n" + row + "q,c,1,1\n" * rows)


@pytest.mark.parametrize("end", ["", "\r\n"])
@pytest.mark.parametrize(
    ("before", "row"),
    [
        ("", '"q,c,3,0'),
        ("", 'q,c,3,0,"x'),
        ('q,"d, e",2,0\n', 'q,"c'),
        ('q,"d\ne",2,0\n', 'q,"c,3,0'),
        ('q,5" lamp,2,0\n', 'q,"c,3,0'),  # an even number of marks
    ],
)
def test_a_quotation_opened_in_the_last_line_is_called_that(
    before: str, row: str, end: str
) -> None:
    """Not a row of too few columns: a file that was cut off, or a stray mark."""
    line = 2 + before.count("\n") + 1
    with refused("open_quote", f"Line {line}"):
        parse_log(f"{HEADER}q,a,1,1\n{before}{row}{end}")


@pytest.mark.parametrize("row", ['q,5" lamp,3,0', 'q,"d ""e""",3,0', 'q,"d\ne",3,0', "q,c,3"])
def test_a_last_line_with_other_marks_is_read(row: str) -> None:
    found = parse_log(f'{HEADER}q,a,1,1\nq,5" lamp,2,0\n{row}\n')
    assert found.rows + sum(fault.rows for fault in found.faults) == 3


@pytest.mark.parametrize("more", [0, 1, 20])
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ('"q,c,1,1,x', 'q",c,1,1,x'),
        ('q,"c,1,1,x', 'q,c",1,1,x'),
        ('q,c,1,1,"x', 'q,c,1,1,x"'),
        ('q,c,1,1,"5 inch', 'q,c,1,1,5 inch"\n'),
    ],
)
def test_two_marks_hide_no_rows_between_them(first: str, last: str, more: int) -> None:
    """As one long cell, of a column that is read or not, they would hide rows without a word."""
    rows = [first, *["q,c,2,0,x"] * more, last]
    with refused("open_quote", "line 3"):
        parse_log(HEADER.strip() + ",note\nq,a,1,1,x\n" + "\n".join(rows))
    with refused("open_quote", "line 3"):
        parse_log(HEADER.strip() + ",note\r\nq,a,1,1,x\r\n" + "\r\n".join(rows))


@pytest.mark.parametrize("text", ["one\ntwo, three", "a,b\nc,d,e,f,g\nh", "1,2\n3,4\n5,6", "\n"])
def test_text_of_several_lines_is_no_row(text: str) -> None:
    found = parse_log(HEADER.strip() + f',note\nq,a,1,1,x\nq,b,2,0,"{text}"\nq,c,3,0,x\n')
    assert found.counts()["rows"] == 3


def test_a_mark_in_a_cell_opens_nothing() -> None:
    rows = 'q,5" screen,1,1\n' + "q,c,1,1\n" * 600_000
    assert parse_log(HEADER + rows).counts()["rows"] == 600_001


SLOW_ROWS = ('"a\nb",b"c,1,1\n', "a\n", "a,b,1,1\na,b,1,1,2\n", "\n")


@pytest.mark.slow
@pytest.mark.parametrize("row", SLOW_ROWS)
def test_the_slow_path_has_an_end(row: str) -> None:
    data = gzip.compress((HEADER + "a,b,1,1\n" + row * 20_000_000).encode(), 1)
    with soon(60), suppress(InputError):  # or 200 times its packed size
        assert parse_log(data).counts()["rows"] > 0


def test_line_breaks_in_names_are_read_fast_and_keep_their_lines() -> None:
    rows = [f'"two\nlines {n % 7}",d{n % 5},{n % 3 + 1},{n % 2}' for n in range(100_000)]
    rows[70_000] = '"two\nlines",d,x,1'
    rows[80_000] = "too,few"
    log = parse_log(HEADER + "\n".join(rows))
    assert log.counts()["rows"] == 99_998
    assert sorted(fault.first for fault in log.faults) == [140_002, 160_002]
    assert "two\nlines 6" in log.query_names


def test_a_few_odd_rows_do_not_slow_a_long_log_down() -> None:
    rows = ["a,b,1,1\n"] * 4_000_000
    for place in range(0, len(rows), 500_000):
        rows[place] = "a,b\n"
    text = HEADER + "".join(rows)
    assert [(f.rows, f.first) for f in parse_log(text).faults] == [(8, 2)]


@pytest.mark.parametrize(
    ("head", "line", "about", "named"),
    [
        ("presentation,query,document,position,action,session", "1", "short_rows", "session"),
        ('{"document": "a", "position": 1, "click": 1}', "1", "json_lines", "100,000"),
    ],
)
def test_millions_of_rows_that_are_none_are_refused_by_the_first_of_them(
    head: str, line: str, about: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each took as long as a row that is used; thirty million of them, a minute."""
    monkeypatch.setattr(Relation, "kept", lambda *given: pytest.fail("all rows were read"))
    monkeypatch.setattr(log_files, "counted_rows", lambda *given: pytest.fail("all were counted"))
    with refused(about, "100,000", named):
        parse_log(f"{head}\n" + f"{line}\n" * 100_001)


def test_a_zero_byte_makes_a_row_unusable() -> None:
    text = HEADER + "q,a,1,1\nq,b\0,2,0\nq\0,a,1,0\nq,c,3,0\n"
    for odd in (text, text.replace("q,c,3", 'q,"c\n",3'), text.replace("q,c,3,0", "q,c,3,0,,")):
        log = parse_log(odd)
        assert log.counts()["rows"] == 2
        assert [(f.kind, f.rows, f.first) for f in log.faults] == [("a null byte", 2, 3)]


# Other readers.


def test_long_digits_are_looked_at_once(tmp_path: Path) -> None:
    digits = b"1" * 60_000 + b"x"
    for data in (digits, digits + b" qid:1 1:1\n", b"1 qid:1 1:" + digits + b"\n"):
        with soon(2), pytest.raises(InputError):
            inspect_upload(data, "rows")
        with soon(2), pytest.raises(InputError):
            parse_corpus(data, "rows")


@pytest.mark.parametrize(
    ("start", "repeated", "words"),
    [
        (b"", b"1\n", "more than 2 scores"),
        (b"0.5\n", b"\n", "lines without content"),
        (b"0.5\n", b"# x\n", "lines without content"),
        (b"query,candidate,score\n", b"\n", "lines without content"),
        (b'{"coefficients": [', b"{},", "objects and lists"),
        (b'{"coefficients": [', b"1,", "numbers"),
        (b"SVM-light Version\n0\n" + b"1\n" * 9, b"\n1 1:1", "numbers"),
        (b"SVM-light Version\n0\n" + b"1\n" * 9, b"\n\n", "ends after"),
    ],
)
def test_texts_of_many_small_parts(start: bytes, repeated: bytes, words: str) -> None:
    data = gzip.compress(start + repeated * (60_000_000 // len(repeated)), 1)
    with soon(10), pytest.raises(InputError, match=words):
        inspect_upload(data, "file", corpus=CORPUS)


def test_group_sizes_beyond_the_rows_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("1 1:1\n0 1:2\n")
    (tmp_path / "rows.query").write_bytes(gzip.compress(b"999999999\n" * 5_000_000, 1))
    one_sentence(lambda: load_corpus(tmp_path / "rows"), "add up to")


@pytest.mark.parametrize("packed", [False, True])
def test_a_header_longer_than_the_first_look_is_seen_whole(packed: bool) -> None:
    """The 64 KiB that were looked at ended before the columns that tell what it is."""
    names = [f"{'c' * 100}{number:04}" for number in range(996)]
    cells = ",".join([*names, "query,document,position,click"])
    data = f"\n{cells}\n{',' * 996}q,d,1,1\n".encode()
    found = inspect_upload(gzip.compress(data, mtime=0) if packed else data, "log.csv")
    assert found.kind == "log" and found.counts["rows"] == 1
    more = data.replace(b"query", b"," * 19_000 + b"query", 1)
    one_sentence(lambda: inspect_upload(more, "log.csv"), "log.csv has 20,000 columns")
