"""The files of one click log: several, patterns, directories, packed ones, damaged ones."""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.fuzz_readers import damaged_parquet
from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.files import log_process, parse_corpus, parse_log, preview_log, read_log
from ultr_core.files.log_parts import log_parts
from ultr_core.files.log_process import in_own_process
from ultr_core.propensity import PresentationLog

DAMAGED = ""
ONE = b"query,document,position,click\nq,a,1,1\nq,b,2,0\n"
OTHER = b"click;position;note;document;query\n0;1;x;b;q\n1;2;y;a;q\n"
LINES = b'{"position": 1, "click": 0, "query": "q", "document": "c"}\n'


def in_parquet() -> bytes:
    stream = io.BytesIO()
    table = pa.table(
        {"qid": ["q", "r"], "rank": [1, 1], "clicked": [True, False], "url": ["a", "b"]}
    )
    pq.write_table(table, stream)
    return stream.getvalue()


def entries(log: PresentationLog) -> list[tuple[str, str, int, int, int]]:
    names = len(log.document_names)
    return [
        (log.query_names[q], log.document_names[d % names], p, s, c)
        for q, d, p, s, c in zip(
            log.query.tolist(), log.document.tolist(), log.position.tolist(),
            log.impressions.tolist(), log.clicks.tolist(), strict=True,
        )
    ]  # fmt: skip


WHOLE = [
    ("q", "a", 1, 1, 1), ("q", "a", 2, 1, 1), ("q", "b", 1, 1, 0), ("q", "b", 2, 1, 0),
    ("q", "c", 1, 1, 0),
]  # fmt: skip


def test_files_of_other_columns_and_formats_are_one_log_in_any_order(tmp_path: Path) -> None:
    data = [ONE, gzip.compress(OTHER), pa.compress(LINES, "zstd", asbytes=True)]
    paths = [tmp_path / name for name in ("1.csv", "2.csv.gz", "3.json.zst")]
    for path, content in zip(paths, data, strict=True):
        path.write_bytes(content)
    for log in (
        parse_log(data), parse_log(data[::-1]), read_log(paths), read_log(paths[::-1]),
        read_log(str(tmp_path / "*")), read_log([str(tmp_path / "[12]*"), paths[2]]),
    ):  # fmt: skip
        assert entries(log) == WHOLE
    both = parse_log([*data, in_parquet()])
    assert both.counts() | {"rows": 7, "queries": 2, "impressions": 7, "clicks": 3} == both.counts()


def test_faults_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(ONE + b"q,c,x,1\n")
    (tmp_path / "2.csv").write_bytes(OTHER + b"1;2;z;;q\n1;y;z;d;q\n")
    log = read_log([tmp_path / "1.csv", tmp_path / "2.csv"])
    assert [(f.rows, f.clicks, f.first, Path(f.file).name) for f in log.faults] == [
        (2, 2, 4, "1.csv"), (1, 1, 4, "2.csv"),
    ]  # fmt: skip
    assert mentions(log.notices[0], "2 rows", "line 4", "1.csv")


def test_a_directory_is_whole_where_its_mark_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    (folder / "day=1").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    (folder / "part-1.csv").write_bytes(ONE)
    (folder / "day=1" / "part-2.csv").write_bytes(OTHER)
    for hidden in (".part-1.csv.crc", "_metadata", "_temporary/part-3.csv", "day=1/.x"):
        (folder / hidden).write_bytes(b"\0 no log")
    with refused("log_incomplete", str(folder), "_SUCCESS"):
        read_log(folder)
    assert entries(read_log(str(folder / "*.csv"))) == [WHOLE[0], WHOLE[3]]
    (folder / "_SUCCESS").touch()
    assert entries(read_log(folder)) == WHOLE[:4]


def test_directories_patterns_and_lists_without_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_SUCCESS").touch()
    with refused("", str(tmp_path)):
        read_log(tmp_path)
    with refused("", "*.csv"):
        read_log("*.csv")
    with refused(""):
        read_log([])
    (tmp_path / "fifo").mkdir()
    with refused("", "*o"):
        read_log("*o")


@pytest.mark.skipif(os.name == "nt", reason="no such names")
@pytest.mark.parametrize("name", ["a'b.csv", "'); DROP TABLE x; --", "*.csv", "[1].csv", "a\nb.csv",
                                  "\u00e9 $1 ?.csv", "-rf"])  # fmt: skip
def test_hostile_names_of_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(ONE + b"q,b,x,0\n")
    (tmp_path / "second.csv").write_bytes(OTHER)
    log = read_log([tmp_path / name, tmp_path / "second.csv"])
    assert entries(log) == WHOLE[:4]
    assert all(notice.isprintable() for notice in log.notices)


@pytest.mark.parametrize(("codec", "kind"), [("gzip", "gzip"), ("zstd", "zstandard")])
def test_packed_files_that_are_cut_or_flipped_are_one_sentence(codec: str, kind: str) -> None:
    rng = random.Random(1)
    text = ONE + b"".join(b"q%d,d%d,%d,0\n" % (n, n % 7, n % 5 + 1) for n in range(300))
    packed = (
        gzip.compress(text) if codec == "gzip" else pa.compress(text, codec="zstd", asbytes=True)
    )
    whole = entries(parse_log(packed, "log"))
    for _ in range(25):
        with refused(f"damaged_{kind}", "log"):
            parse_log(packed[: rng.randrange(5, len(packed))], "log")
        data = bytearray(packed)
        data[rng.randrange(4, len(data))] ^= 1 << rng.randrange(8)
        try:
            found = entries(parse_log(bytes(data), "log"))
        except InputError as error:
            assert mentions(error, "log") and str(error).isprintable()
        else:
            # Bits of the header that change no byte of the text, or no checksum guards it.
            assert found == whole or codec == "zstd"


def test_a_zstandard_bomb_is_refused() -> None:
    data = pa.compress(ONE + b"q,a,1,1\n" * 60_000_000, "zstd", asbytes=True)
    assert len(data) < 200_000
    with refused("too_large", "log"):
        parse_log(data, "log")


def test_corpora_may_be_packed_with_zstandard() -> None:
    rows = b"2 qid:11 1:0.3 2:0.7 # docid = A\n0 qid:11 1:0.1 2:0.2 # docid = B\n"
    corpus = parse_corpus(pa.compress(rows, "zstd", asbytes=True), "corpus")
    assert corpus.document_ids == ("A", "B")
    assert corpus.grades.tolist() == [2, 0]
    with refused("damaged_zstandard", "corpus"):
        parse_corpus(pa.compress(rows, "zstd", asbytes=True)[:-3], "corpus")


# Parquet in a process of its own.


def ends(*given: object, progress: object = None) -> None:
    os.abort()


def test_a_process_that_ends_is_one_sentence_and_no_harm() -> None:
    with refused(DAMAGED, "log", "Parquet"):
        in_own_process(ends, log_parts(in_parquet(), "log"))
    assert parse_log(in_parquet()).counts()["rows"] == 2


def prints(*given: object, progress: object = None) -> str:
    """As a library does that knows nothing of Python's streams."""
    os.write(1, b"50%")
    return "answer"


def test_what_a_library_prints_is_no_answer() -> None:
    assert in_own_process(prints, log_parts(in_parquet(), "log")) == "answer"


@pytest.mark.parametrize(
    ("name", "drawn", "rows"), [("1201/14425", (11,), 2_000), ("1202/2700", (11, 8), 60_000)]
)
def test_damaged_files_that_ended_a_process(name: str, drawn: tuple[int, ...], rows: int) -> None:
    """Two inputs of the fuzzer, whose statistics are wrong; the engine once believed them."""
    rng = random.Random(name)
    for size in drawn:
        rng.randrange(size)
    data = damaged_parquet(rng)
    assert preview_log(data, "log").missing == ()
    log = parse_log(data, "log")
    assert log.rows + sum(fault.rows for fault in log.faults) == rows


@pytest.mark.parametrize("place", [0, 1, 2])
def test_values_beyond_those_that_a_parquet_file_tells(place: int) -> None:
    """A value whose bit flipped is outside the file's own smallest and largest values."""
    stream = io.BytesIO()
    table = pa.table(
        {"query": list("qqq"), "document": list("abc"), "position": [7, 8, 9], "click": [1, 0, 0]}
    )
    pq.write_table(table, stream, use_dictionary=False, compression="none")
    data = bytearray(stream.getvalue())
    start = data.index(b"".join(n.to_bytes(8, "little") for n in (7, 8, 9)))
    data[start + 8 * place + 3] ^= 64
    log = parse_log(bytes(data), "log")
    assert log.position.tolist() == [n for n in (7, 8, 9) if n != 7 + place]
    assert [(f.rows, f.clicks) for f in log.faults] == [(1, int(place == 0))]


def test_a_part_without_impressions_has_one_a_row() -> None:
    """Found by the fuzzer: only the first part's columns were known by name."""
    counted = ONE.replace(b"click\n", b"click,views\n").replace(b"1\nq", b"1,5\nq")
    data = [ONE, counted.replace(b"2,0", b"2,0,5")]
    for log in (parse_log(data), parse_log(data[::-1])):
        assert entries(log) == [("q", "a", 1, 6, 2), ("q", "b", 2, 6, 0)]
        assert log.columns["impressions"] == "views"


def test_the_process_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndedError(Exception):
        pass

    def ended(code: int) -> None:
        raise EndedError

    parents = iter([7, 7, 1])
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(os, "_exit", ended)
    with pytest.raises(EndedError):
        log_process._end_with(7)
    assert next(parents, None) is None


class StopError(Exception):
    """Somebody does not want to wait."""


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
def test_progress_that_raises_ends_the_process(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*given: Any, **keys: Any) -> Any:
        started.append(popen(*given, **keys))
        return started[-1]

    def stop(share: float) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(error):
        parse_log(in_parquet(), progress=stop)
    (process,) = started
    assert process.returncode is not None and process.returncode < 0
