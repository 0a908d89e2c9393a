"""Give damaged and hostile files to every reader of the core, and keep those that break it.

Run from the project's directory:

    python -m scripts.fuzz_readers --minutes 5 --seed 1 --out broken

A reader may return, or raise the lab's own InputError with a one-line message. Anything else
(another error, a crash, a MemoryError with 1 GiB to use, more than 10 seconds of CPU time) is
printed, and its input is saved in the directory given by --out; the exit code is then 1. Input
number n of a seed is the same in every run.

Parquet is read here without the separate process that readers use for it. That process exists
because some files kill the child with a signal; such files are counted separately.
"""

from __future__ import annotations

import argparse
import gzip
import io
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from unittest import mock

# Its own allocator reserves more addresses than a child may have.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]

from ultr_core.corpus import Corpus
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError
from ultr_core.files import (
    log_files,
    parse_columns,
    parse_corpus,
    parse_curve,
    parse_log,
    parse_names,
    parse_proprank,
    parse_ranker,
    parse_scores,
    parse_weights,
    preview_log,
)
from ultr_core.files.disk import text_of
from ultr_core.files.letor_lines import Source
from ultr_core.files.trec_files import parse_qrels, qrels_text, run_text
from ultr_core.files.tree_files import parse_trees
from ultr_core.inspection import inspect_log, inspect_upload
from ultr_core.own_data.curves import curve_in_log
from ultr_core.propensity import estimate_from_log

MEMORY_BYTES = 1 << 30
RESERVED_BYTES = 3 << 30
SECONDS = 10
INPUTS_A_CHILD = 400
_CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
_SILENT_SECONDS = 120  # of CPU time; after that a child hangs where no signal reaches it
_WAITING_SECONDS = 1_200  # of a child that does nothing; on a busy machine all of them wait

CORPUS = Corpus(
    np.round(np.random.default_rng(0).normal(size=(9, 4)), 3),
    np.array([0, 2, 1, 0, 0, 4, 1, 0, 0]),
    np.array([0, 3, 5, 9]),
    ("11", "lamp", "q"),
    tuple(f"D{number}" for number in range(9)),
)


@dataclass(frozen=True)
class Reader:
    """One kind of file: how it is read, and valid files to damage."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def _log(data: bytes) -> None:
    preview_log(data, "log")
    log = parse_log(data, "log")
    inspect_log(log)
    for use in (curve_in_log, estimate_from_log):
        with suppress(InputError):
            use(log)


def _logs(data: bytes) -> None:
    """Several files of one log, with clicks in separate files."""
    parts = data.split(_BETWEEN)
    with suppress(InputError):
        inspect_log(parse_log(parts, "log"))
    parse_log(parts[0], "log", clicks=parts[-1])


def _any(data: bytes) -> None:
    inspect_upload(data, "file", corpus=CORPUS)


def _words(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with suppress(InputError):
        CURVES["curve"].from_text(text)
    parse_columns(text)


_ROWS = (
    b"2 qid:11 1:0.3 2:0.7 # docid = AX-1 inc = 1\r\n0 qid:11 1:0.1 2:0.2 # docid = AX-2\r\n",
    b"0 qid:0 0:31 3:4.5 9:2\n1 qid:0 0:8 2:5\n1 qid:4 10:0.61 251:3.1e-05",
    b"# head\n1\tqid:7\t3:.3 1:1e3\n\n0 qid:3 1:-0.2\n0 qid:7 1:0.1\n1 qid:3 1:0.8 # x\n",
)
_LOGS = (
    b"query,document,position,click,impressions,swapped_rank,ranker,page,propensity\n"
    b"q1,a,1,1,3,1,A,p1,1\nq1,b,2,0,3,,A,p1,.5\nq2,a,1,0,1,2,B,p2,1\n",
    b'qid;doc;pos;click;views\r\nq;"a;b";0;1;3\r\nq;"c\nd";1;0;2\r\n',
    b"query,document,position,click,propensity\na,x,1,1,1\na,y,9,1,0.5\nb,x,2,1,.7\nb,z,1,0,1\n",
)
_LINES = (
    b'{"query": "q1", "document": "a", "position": 1, "click": true, "x": {"y": [1], "z": null}}\n'
    b'{"query": "q1", "document": "b", "position": 2.0, "click": 0, "session": "s"}\n',
    b'{"action_name": "impression", "query_id": "s1", "user_query": "lamp", "event_attributes": '
    b'{"object": {"object_id": "a"}, "position": {"ordinal": 1}}}\n'
    b'{"action_name": "click", "query_id": "s1", "user_query": "lamp", "event_attributes": '
    b'{"object": {"object_id": "a"}}}\n',
    b'{"query": "q", "document": "a", "position": 1, "click": 1}\n'
    b'{"query": "q", "document": "b", "position": 2, "click": 0, "position": 3}\n',
)
_EVENTS = (
    b"presentation,query,document,position,action,session\np1,q,a,1,view,s\np1,q,b,2,view,s\n"
    b"p1,q,a,1,click,s\np1,q,a,,click,s\np2,q,a,1,view,t\np2,q,z,3,click,t\np2,q,a,1,hover,t\n",
    b"session,query,page,position,document,click\ns,q,1,1,a,1\ns,q,1,2,b,0\ns,q,2,1,c,1\n",
)
_RANKERS = (
    b'{"format": "ultr-lab linear ranker", "version": 1, "feature_ids": [1, 7], "coefficients": '
    b'[0.5, -0.002], "C": null, "certificate": null, "trained": {"clicks": 45000}}\n',
    b"SVM-light Version V6.20\n0 # kernel type\n3 #\n1 #\n1 #\n1 #\nempty#\n7 #\n1 #\n2 #\n0 #\n"
    b"1 1:0.5 7:-0.002 #\n",
    b'{"format": "ultr-lab linear ranker",\n"version": 1, "feature_ids": [1], "C": 1, "C": 2}\n',
)
_TREE = (
    b"num_leaves=3\nnum_cat=0\nsplit_feature=0 2\nthreshold=0.5 2\ndecision_type=2 2\n"
    b"left_child=1 -1\nright_child=-2 -3\nleaf_value=0.25 -1 4\nis_linear=0\n\n"
)
_TREES = (
    b"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nfeature_names=1 2 4\n\nTree=0\n"
    + _TREE
    + b"Tree=1\n"
    + _TREE
    + b"end of trees\n\npandas_categorical:null\n",
)
_TRAINING = (
    b"# n = 4\n1 qid:1 cost:2.0 1:1 2:1 # query = lamp candidate = 1\n"
    b"0 qid:1 3:1 # query = lamp candidate = 2\n1 qid:2 1:1\n0 qid:2 3:1\n",
)
_CURVES = (b"rank,propensity\n1,1\n2,0.61\n3,0.4\n", b"pos;p\n2;.5\n1;1")
_NAMES = (b"query_id,text\n11,lamp\nq,desk\n", b"name;docno\nx y;D1\nz;D2")
_JUDGEMENTS = (qrels_text(CORPUS).encode(),)
_SCORES = (
    run_text(CORPUS, np.arange(9.0)).encode(),
    b"".join(b"%d.5\n" % number for number in range(9)),
    b"query,candidate,score\n"
    + b"".join(b"%s,%d,.5\n" % (q, c) for q, n in ((b"11", 3), (b"lamp", 2), (b"q", 4))
               for c in range(1, n + 1)),
)  # fmt: skip
_WEIGHTS = (b"query,candidate,document,weight,examples\n11,2,D1,2,12\nlamp,1,D3,1.5,12\n",)
_GROUPS = (b"1\n2\n1\n", b"4")
_SETTINGS = (b"1, 0.62, 0.45", b"query=search_id,document=url")


@cache
def readers() -> Mapping[str, Reader]:
    """Every reader by its name."""
    rows = b"1 1:0.5\n0 1:0.1 7:2\n2 7:1\n0 1:2\n"
    everything = (
        *_ROWS,
        *_LOGS,
        *_LINES,
        *_EVENTS,
        *_RANKERS,
        *_TREES,
        *_TRAINING,
        *_CURVES,
        *_SCORES,
        *_NAMES,
        *_JUDGEMENTS,
        *_WEIGHTS,
        *_GROUPS,
    )
    return {
        "corpus": Reader(lambda data: parse_corpus(data, "corpus"), _ROWS),
        "groups": Reader(
            lambda data: parse_corpus(rows, "rows", groups=Source.upload(data, "groups")), _GROUPS
        ),
        "log": Reader(_log, (*_LOGS, *_LINES, *_EVENTS)),
        "logs": Reader(
            _logs,
            (
                _BETWEEN.join(_LOGS),
                _BETWEEN.join((_LOGS[0], _LINES[0])),
                _BETWEEN.join((_LOGS[0], _LOGS[0])),
                _BETWEEN.join(_EVENTS),
                _BETWEEN.join(
                    (_EVENTS[0].replace(b"action", b"x"), b"document,presentation\na,p1")
                ),
            ),
        ),
        "parquet": Reader(_log, ()),
        "curve": Reader(lambda data: parse_curve(text_of(data, "curve")), _CURVES),
        "scores": Reader(lambda data: parse_scores(data, CORPUS), _SCORES),
        "names": Reader(parse_names, _NAMES),
        "judgements": Reader(lambda data: parse_qrels(data, CORPUS), _JUDGEMENTS),
        "weights": Reader(lambda data: parse_weights(data, CORPUS), _WEIGHTS),
        "ranker": Reader(lambda data: parse_ranker(data, "ranker"), _RANKERS),
        "trees": Reader(lambda data: parse_trees(data, "trees").score(CORPUS), _TREES),
        "training": Reader(lambda data: parse_proprank(data, "training"), _TRAINING),
        "settings": Reader(_words, _SETTINGS),
        "any": Reader(_any, everything),
    }


# Inputs.

_BETWEEN = b"\n--\n"  # two files of one log

_NUMBERS = (
    b"0", b"-1", b"1.5", b"1e9", b"1e308", b"1e309", b"1e-400", b"nan", b"inf", b"299999999",
    b"2147483647", b"2147483648", b"9223372036854775807", b"9223372036854775808", b"9" * 400,
    b"1" * 60_000 + b"x", b"0x10", b"1_0", b"\xd9\xa3", b"",
)  # fmt: skip
_BYTES = (
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b" ", b"\t", b":", b"#", b",",
    b";", b"|", b'"', b'""', b'"""', b'\n"', b'",', b'"a\nb"', b"-", b"=", b"{", b"[", b"]", b"}",
    b"[" * 5_000, b"{}," * 5_000, b"qid:", b" cost:-1", b"null", b"true", b"\xe2\x80\xa8", b"\x0c",
)  # fmt: skip


def input_of(seed: int, number: int) -> tuple[str, bytes]:
    """The reader that input ``number`` of a seed is for, and the input."""
    rng = random.Random(f"{seed}/{number}")
    name = rng.choice(sorted(readers()))
    if name == "parquet" or (name == "any" and rng.randrange(8) == 0):
        return name, damaged_parquet(rng)
    data = _grown(rng.choice(readers()[name].seeds), rng)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        data = rng.choice((_flip, _cut, _put, _cell, _lines))(data, rng)
    if rng.randrange(20) == 0:
        data = data.decode("utf-8", "replace").encode("utf-16")
    if rng.randrange(8) == 0:
        data = _damaged(_packed(data, rng), rng)
        data = _packed(data, rng) if rng.randrange(8) == 0 else data
    return name, data


def _packed(data: bytes, rng: random.Random) -> bytes:
    if rng.randrange(2):
        return gzip.compress(data, 1)
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


def _grown(data: bytes, rng: random.Random) -> bytes:
    """Sometimes many columns, a long line, or a file that unpacks to a large size."""
    kind = rng.randrange(60)
    head, _, rest = data.partition(b"\n")
    many: int = 10 ** rng.randrange(6)
    if kind == 0:
        return head + rng.choice((b",", b",c", b";", b"\t")) * many + rest
    if kind == 1:
        return head + b"\n" + rest * min(many, 1_000)
    if kind == 2:
        return head + b"\n" + rng.choice((b"a", b"1", b" ", b'"', b"1:1 ")) * many
    if kind == 3 and rng.randrange(6) == 0:
        line = rng.choice((b"\n", b"1\n", b"a\n", b"\0", b"{},", b"1:1 ", b'"a\nb",b,1,1\n', rest))
        line = line or b"a"
        return gzip.compress(head + b"\n" + line * (rng.choice((8, 8, 60)) * 10**6 // len(line)), 1)
    return data


def _damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes of a packed file unchanged, with bits flipped, or cut short."""
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        data = _flip(data, rng)
    return data[: rng.randrange(len(data))] if rng.randrange(8) == 0 else data


def damaged_parquet(rng: random.Random) -> bytes:
    """A click log in Parquet unchanged, with bits flipped, or cut short."""
    return _damaged(_parquet(rng), rng)


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    # The end of a Parquet file holds the most.
    place = rng.randrange(len(data)) if rng.randrange(2) else -1 - rng.randrange(len(data)) // 4
    changed = bytearray(data)
    changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice((1, 1, 2, 8, 64, len(data))) :]


def _put(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.choice(_BYTES) + data[start + rng.choice((0, 0, 1, 2)) :]


def _cell(data: bytes, rng: random.Random) -> bytes:
    """The rows, with one cell replaced by another number or a very long text."""
    marks = [place for place, byte in enumerate(data[:4_000]) if byte in b",;: \n"]
    if not marks:
        return data
    start = rng.choice(marks) + 1
    stop = next((place for place in marks if place >= start), len(data))
    long = rng.choice((b"x", b"1", b'"', b"\xc3\xa9")) * rng.choice((20_000, 200_000))
    return data[:start] + (long if rng.randrange(8) == 0 else rng.choice(_NUMBERS)) + data[stop:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    if rng.randrange(2):
        lines.pop(rng.randrange(len(lines)))
    return b"\n".join(lines)


def _parquet(rng: random.Random) -> bytes:
    """A click log in any of Parquet's layouts, small or unpacking to a large size."""
    rows = rng.choice((1, 3, 50, 50, 2_000, 60_000))
    long = rng.choice((1, 1, 1, 10, 10, 1_000, 15_000, 20_000, 200_000))
    by_dictionary = rng.randrange(3) > 0
    if not by_dictionary and rows * long > 20_000_000:
        rows = 20
    different = [f"{number}" + "x" * long for number in range(rng.choice((1, 3, 20)))]
    codes = pa.array([n % len(different) for n in range(rows)], pa.int32())
    names = pa.DictionaryArray.from_arrays(codes, pa.array(different))
    if not by_dictionary:
        names = names.cast(pa.string())
        if rng.randrange(6) == 0 and len(different) == 1:
            names = names.cast(pa.binary()).cast(pa.binary(len(different[0])))
    positions: Any = np.arange(rows) % rng.choice((1, 5, 1_000)) + rng.choice((0, 1, 1, 10**8))
    columns = {"query": names, "document": names, "position": positions, "click": positions % 2}
    if rng.randrange(4) == 0:
        columns["propensity"] = 1.0 / (1 + positions)
    if rng.randrange(4) == 0:
        columns["position"] = rng.choice(
            (pa.array(positions).cast(pa.string()), pa.array(positions).cast(pa.float64()),
             pa.array([None if n % 7 == 0 else n for n in range(rows)]), names)
        )  # fmt: skip
    if rng.randrange(10) == 0:
        columns["many"] = pa.array([[1] * rng.choice((2, 100_000))] + [[]] * (rows - 1))
    table = pa.table(columns)
    if rng.randrange(40) == 0:
        for number in range(1_500):
            table = table.append_column(f"c{number}", pa.nulls(rows)) if rows < 100 else table
    keys: dict[str, Any] = {}
    if not by_dictionary:
        encoding = rng.choice(("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"))
        if not pa.types.is_fixed_size_binary(names.type):
            keys["column_encoding"] = {"query": encoding, "document": encoding}
        keys["use_dictionary"] = False
    out = io.BytesIO()
    parquet.write_table(
        table, out, compression=rng.choice(("none", "snappy", "zstd", "zstd")),
        data_page_version=rng.choice(("1.0", "2.0")), store_schema=bool(rng.randrange(2)),
        data_page_size=rng.choice((100, 1 << 20, 1 << 28)),
        row_group_size=rng.choice((max(rows // 3, 1), rows)), **keys,
    )  # fmt: skip
    return out.getvalue()


# Running.


class _TooSlow(BaseException):
    """The time for one input is used up."""


def fault_of(name: str, data: bytes) -> str | None:
    """What goes wrong when a reader gets an input; None if nothing does."""
    try:
        readers()[name].read(data)
    except InputError as error:
        one_line = "\n" not in str(error) and len(str(error)) < 3_000
        return None if one_line else f"not a one-line message: {str(error)[:300]!r}"
    except _TooSlow:
        return f"more than {SECONDS} seconds"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def _over(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooSlow


def _here(call: Callable[..., Any], log: object, *given: Any, progress: object = None) -> Any:
    """As `in_own_process`, without that process."""
    return call(log, *given)


def _work(seed: int, first: int, until: float, at: Any, found: Any) -> None:
    """In a child process: read some inputs with limited memory, and report what went wrong."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    # The engine of click logs reserves addresses that it never uses; the peak is looked at, too.
    most = pages * resource.getpagesize() + MEMORY_BYTES + RESERVED_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _over)
    mock.patch.object(log_files, "in_own_process", _here).start()
    for number in range(first, first + INPUTS_A_CHILD):
        if time.monotonic() > until:
            break
        at.value = number
        name, data = input_of(seed, number)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        fault = fault_of(name, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if fault is None and peak > MEMORY_BYTES:
            fault = f"MemoryError: {peak >> 20} MiB were used"
        if fault is not None:
            found.send((number, fault))
        at.value = number + 1
        if peak > MEMORY_BYTES:
            break  # the peak of a process stays
    found.close()


def _cpu_seconds(pid: int | None) -> float:
    """CPU time of a process; 0 once it has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def fuzz(seed: int, seconds: float, out: Path, most: int | None = None) -> tuple[int, int, int]:
    """Read inputs for this long, at ``most`` this many.

    Returns:
        How many were read, how many broke a reader, and how many Parquet files ended the child.

    """
    context = multiprocessing.get_context("fork")
    until, number, broken, ended = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < until and (most is None or number < most):
        at = context.Value("q", number)
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(seed, number, until, at, sender))
        child.start()
        sender.close()
        faults, last, since, used = [], number, time.monotonic(), 0.0
        while True:
            try:
                if receiver.poll(1):
                    faults.append(receiver.recv())
            except EOFError:
                break
            now = _cpu_seconds(child.pid)
            if at.value != last:
                last, since, used = at.value, time.monotonic(), now
            if now - used > _SILENT_SECONDS or time.monotonic() - since > _WAITING_SECONDS:
                child.kill()
        child.join()
        number = int(at.value)
        if child.exitcode in _CRASHES and input_of(seed, number)[1].startswith(b"PAR1"):
            ended += 1
            number += 1
        elif child.exitcode != 0:
            end = "no sign of life" if child.exitcode == -signal.SIGKILL else "a crash"
            faults.append((number, f"{end} (exit code {child.exitcode})"))
            number += 1
        for place, fault in faults:
            broken += 1
            _save(seed, place, fault, out)
    return number, broken, ended


def _save(seed: int, number: int, fault: str, out: Path) -> None:
    name, data = input_of(seed, number)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{seed}-{number}"
    path.write_bytes(data)
    print(f"{path}: {fault}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer with the options given; return 1 if anything broke a reader."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--out", type=Path, default=Path("broken"), help="where to save inputs")
    options = parser.parse_args(arguments)
    count, broken, ended = fuzz(options.seed, options.minutes * 60, options.out)
    print(f"{count:,} inputs read, {broken:,} of them broke a reader.")
    print(f"{ended:,} Parquet files would have ended the process that reads them.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
