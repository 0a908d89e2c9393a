"""Attacks on a real server while somebody else is served: one sentence each, and little memory.

A case of a hostile file is a line in `HOSTILE`.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed

from scripts.serving import Running, running_server
from scripts.visitor import Visitor
from tests.meaning import mentions
from tests.server.hostile import Hostile
from tests.server.in_time import finished
from ultr_core.limits import UPLOADS_UNDERWAY_OF_SESSION

MOST_MEMORY = 200.0  # MB more than before, whatever is done
MOST_WAITING = 10.0  # seconds for the other visitor; without an attack it is some 0.1
GONE = 15.0  # seconds until nothing is left of a visitor who has left
MB = 1 << 20


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("below")


@pytest.fixture(scope="module")
def running(small_corpus: Path, below: Path) -> Iterator[Running]:
    after = ("--corpus", str(small_corpus), "--allow-paths", str(below))
    with running_server("--server.disconnectedSessionTTL", "2", after=after) as started:
        finished(opened_once(started))
        yield started


async def opened_once(running: Running) -> None:
    """Let the server load what every visitor needs, so that it is not counted as an attack's."""
    for page in ("lab", "your_data"):
        visitor = Visitor(running.address, page, {"draws": "1", "clicks": "500"})
        await visitor.open()
        await visitor.settled()
        await visitor.close()


@dataclass
class Watched:
    """What an attack does to the server and to somebody else."""

    before: float
    peak: float = 0.0
    waited: list[float] = field(default_factory=list)

    @property
    def more(self) -> float:
        """Most memory in MB, above that before."""
        return self.peak - self.before


@asynccontextmanager
async def attacked(running: Running) -> AsyncIterator[tuple[Hostile, Watched]]:
    """An attacker on the page Your data, beside a visitor who moves a slider again and again."""
    other = Visitor(running.address, "lab", {"draws": "1", "clicks": "500"})
    await other.open()
    await other.settled()
    attacker = Hostile(running.address, "your_data")
    await attacker.open()
    watched = Watched(running.memory())

    async def visit() -> None:
        for number in range(1_000_000):
            watched.waited.append(await other.ask(eta=0.5 + number % 10 / 20))
            await asyncio.sleep(0.2)

    async def weigh() -> None:
        while True:
            watched.peak = max(watched.peak, running.memory())
            await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(visit()), asyncio.create_task(weigh())]
    try:
        yield attacker, watched
        await asyncio.sleep(0.5)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await attacker.close()
        await other.close()
    assert running.lives()
    assert other.errors == attacker.errors == []
    assert watched.waited
    assert max(watched.waited) < MOST_WAITING
    assert not watched.more > MOST_MEMORY  # where the system does not tell, it is NaN


def stored(running: Running) -> int:
    """Bytes of uploads in Streamlit's store, by its own count."""
    with urllib.request.urlopen(f"{running.address}/_stcore/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    found = [line for line in lines if "UploadedFileManager" in line]
    return sum(int(float(line.split()[-1])) for line in found)


async def none_stored(running: Running) -> float:
    """Wait until the store is empty; the seconds that it took."""
    started = time.monotonic()
    while await asyncio.to_thread(stored, running):
        assert time.monotonic() - started < GONE
        await asyncio.sleep(0.2)
    return time.monotonic() - started


def test_any_number_of_uploads_beside_the_page_fill_no_memory(
    running: Running, record_property: Callable[[str, object], None]
) -> None:
    data = bytes(24 * MB)

    async def work() -> Watched:
        async with attacked(running) as (attacker, watched):
            lots = [await attacker.addresses(20) for _ in range(3)]
            places = [place for lot in lots for place in lot]
            several = asyncio.Semaphore(6)

            async def put(place: str) -> int:
                async with several:
                    return await attacker.put(place, "log.csv", data)

            answers = await asyncio.gather(*map(put, places))
            assert len(answers) == 60
            assert set(answers) <= {204, 403, 413}
            kept = stored(running)
            assert answers.count(204) * len(data) == kept
            assert 0 < kept <= UPLOADS_UNDERWAY_OF_SESSION.most * MB
        record_property("seconds until nothing is stored", await none_stored(running))
        return watched

    watched = finished(work())
    record_property("MB more", watched.more)
    record_property("longest wait of the other visitor", max(watched.waited))


def test_invented_addresses_and_sessions_store_nothing(running: Running) -> None:
    async def work() -> None:
        async with attacked(running) as (attacker, _):
            (mine,) = await attacker.addresses(1)
            base, _, _ = mine.rpartition("/")
            invented = f"{base}/{'0' * 36}"
            stranger = mine.replace(attacker.session, "0" * 36)
            assert await attacker.put(invented, "log.csv", b"1") == 403
            assert await attacker.put(stranger, "log.csv", b"1") == 400
            assert await attacker.put(mine, "log.csv", b"1", "no token") == 403
            assert await attacker.put(mine, "log.csv", bytes(27 * MB)) in (0, 403, 413)
            assert not stored(running)
        # After the visitor has left nothing can be sent for them.
        assert await attacker.put(mine, "log.csv", b"1") == 400
        assert not stored(running)

    finished(work())


def test_many_names_get_few_addresses(running: Running) -> None:
    async def work() -> None:
        async with attacked(running) as (attacker, _):
            assert len(await attacker.addresses(80_000)) <= 24

    finished(work())


@pytest.mark.parametrize("megabytes", [2, 12])
def test_a_message_that_is_no_file_is_bounded_as_well(running: Running, megabytes: int) -> None:
    """A message of 10 MB with 150,000 widgets took 60 MB of memory."""

    async def work() -> None:
        attacker = Hostile(running.address, "your_data")
        await attacker.open()
        with pytest.raises(ConnectionClosed, match="too big"):
            await attacker.type("data-path-log-", "x" * (megabytes * MB))
            await attacker.act()
        await attacker.close()

    finished(work())


@pytest.mark.parametrize("kind", ["corpus", "log"])
def test_a_file_that_vanishes_is_a_sentence_and_can_be_removed(
    running: Running, below: Path, kind: str
) -> None:
    file = below / f"{kind}.txt"
    text = {"corpus": "1 qid:1 1:0.5\n0 qid:1 1:0.1\n", "log": LOG.decode()}
    file.write_text(text[kind])

    async def work() -> None:
        async with attacked(running) as (attacker, _):
            await attacker.type(f"data-path-{kind}-", file.name)
            assert not attacker.alerts
            file.unlink()
            for _ in range(2):
                await attacker.act()
                (told,) = attacker.alerts.values()
                assert mentions(told, "path", "exist")
            await attacker.press(f"data-remove-{kind}")
            assert not attacker.alerts
            assert f"data-remove-{kind}" not in attacker.widgets

    finished(work())


def test_a_file_that_was_announced_and_never_came_is_a_sentence(running: Running) -> None:
    async def work() -> None:
        async with attacked(running) as (attacker, _):
            await attacker.announce("log", "log.csv", 1_000)
            (told,) = attacker.alerts.values()
            assert mentions(told, "arrive")
            assert await attacker.upload("log", "log.csv", LOG) == 204
            assert not attacker.alerts

    finished(work())


LOG = b"query,document,position,click\nq,a,1,1\nq,b,2,0\nr,b,1,0\nr,a,2,1\n"
HEADER = b"query,document,position,click,propensity\n"


@pytest.mark.parametrize("key", ["eta", "seed", "preset-0", "data-upload-log-"])
def test_values_that_no_browser_sends_are_an_error_in_that_session_only(
    running: Running, key: str
) -> None:
    async def work() -> None:
        errors: list[str] = []
        async with attacked(running) as (attacker, _):
            for state in (
                WidgetState(int_value=10**9), WidgetState(string_value="x"),
                WidgetState(bytes_value=b"\xff"), WidgetState(json_value="{"),
            ):  # fmt: skip
                session = Hostile(running.address, "your_data")
                await session.open()
                state.id = session.widget(key)
                await session.act(state)
                errors += session.errors
                await session.close()
            assert await attacker.ask() < MOST_WAITING
        assert errors
        # Streamlit's words, without what went wrong.
        assert all("redacted" in error for error in errors)

    finished(work())


def packed_twice() -> bytes:
    return gzip.compress(gzip.compress(LOG * 100))


def bomb() -> bytes:
    return gzip.compress(LOG + b"q,a,1,1\n" * 30_000_000, 1)


def long_name() -> bytes:
    return LOG + b"q," + b"x" * (20 * MB) + b",1,1\n"


def far_position() -> bytes:
    return HEADER + b"a,x,1,1,1\na,y,299999999,1,0.5\n"


def long_names() -> bytes:
    rows = 100_000
    name = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * 20_000])
    return log_in_parquet(name, pa.array([1] * rows))


def log_in_parquet(name: pa.Array, number: pa.Array) -> bytes:
    table = pa.table({"query": name, "document": name, "position": number, "click": number})
    out = io.BytesIO()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def wide_header() -> bytes:
    return b"query,document,position,click" + b"," * 1_000_000 + b"\nq,a,1,1\n"


def named_columns() -> bytes:
    names = ",".join(f"c{number}" for number in range(40_000))
    return b"query,document,position,click," + names.encode() + b"\nq,a,1,1\n"


def line_breaks() -> bytes:
    return gzip.compress(b"query,document,position,click\n" + b'"a\nb",b,1,1\n' * 4_000_000, 9)


def repeated_rows() -> bytes:
    noise = bytes(range(32, 127)) * 20 + b"\n"
    return gzip.compress(LOG + noise + b"q,a,1,1\n" * (60 * MB // 8), 6)


def rows_by_code() -> bytes:
    rows = 4_000_000
    name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["q"])
    return log_in_parquet(name, pa.array(np.zeros(rows, np.int8)))


def short_documents() -> bytes:
    return gzip.compress(b"".join(b"0 qid:%d 1:1\n" % number for number in range(4_000_000)), 6)


HOSTILE: tuple[tuple[str, str, Callable[[], bytes]], ...] = (
    ("log", "empty.csv", bytes),
    ("log", "zeros.csv", lambda: bytes(20 * MB)),
    ("log", "picture.csv", lambda: b"\x89PNG\r\n\x1a\n" + bytes(1_000)),
    ("log", "wide.csv", lambda: LOG.decode().encode("utf-16")),
    ("log", "twice.csv.gz", packed_twice),
    ("log", "damaged.csv.gz", lambda: gzip.compress(LOG * 1_000)[:-20]),
    ("log", "bomb.csv.gz", bomb),
    ("log", "damaged.parquet", lambda: b"PAR1" + bytes(5_000) + b"PAR1"),
    ("corpus", "line.txt", lambda: b"1 qid:1 1:" + b"9" * (20 * MB)),
    ("ranker", "deep.json", lambda: b"[" * 1_000_000),
    ("ranker", "digits.json", lambda: b'{"format": ' + b"9" * 1_000_000 + b"}"),
    ("corpus", "![x](http://a.b/c.png) <b> :red[x].txt", lambda: b"\0"),
    ("log", "far_position.csv", far_position),
    ("log", "long_names.parquet", long_names),
    ("log", "wide_header.csv", wide_header),
    ("log", "named_columns.csv", named_columns),
    ("log", "line_breaks.csv.gz", line_breaks),
    ("log", "long_name.csv", long_name),
    ("log", "repeated_rows.csv.gz", repeated_rows),
    ("log", "rows_by_code.parquet", rows_by_code),
    ("corpus", "short_documents.txt.gz", short_documents),
)
"""Kind, name and bytes of hostile files."""

TAKEN = ("far_position.csv", "wide.csv")
"""Of these: what is a log that can be used, and must not cost more than one."""


@pytest.mark.parametrize(("kind", "name", "make"), HOSTILE, ids=[name for _, name, _ in HOSTILE])
def test_a_hostile_file_is_one_sentence_or_costs_little(
    running: Running,
    record_property: Callable[[str, object], None],
    kind: str,
    name: str,
    make: Callable[[], bytes],
) -> None:
    data = make()

    async def work() -> Watched:
        async with attacked(running) as (attacker, watched):
            assert await attacker.upload(kind, name, data) == 204
            assert len(attacker.alerts) == (name not in TAKEN)
            assert not stored(running)
        return watched

    watched = finished(work())
    record_property("MB more", watched.more)
    record_property("longest wait of the other visitor", max(watched.waited))
