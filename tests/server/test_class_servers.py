"""Several servers at one address: every visitor stays with one of them, and all end together."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from scripts.serve_class import read_arguments
from scripts.serving import ROOT, address_at, running_class
from scripts.sticky import COOKIE, Sticky, server_asked_for, with_cookie
from scripts.visitor import Visitor, different_values
from tests.server.in_time import LIMIT, finished


def test_the_cookie_names_a_server_that_exists() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\nCookie: other=5; " + COOKIE.encode() + b"=1\r\n\r\n"
    assert server_asked_for(head, 2) == 1
    assert server_asked_for(head.replace(b"Cookie", b"cookie"), 2) == 1
    assert server_asked_for(head, 1) is None
    assert server_asked_for(head.replace(COOKIE.encode(), b"another"), 2) is None
    for number in (b"0001", b"9" * 5_000, "\N{SUPERSCRIPT ONE}".encode(), b""):
        assert server_asked_for(head.replace(b"=1", b"=" + number), 2) is None
    in_address = b"GET /?" + COOKIE.encode() + b"=1 HTTP/1.1\r\nHost: x\r\n\r\n"
    assert server_asked_for(in_address, 2) is None
    answer = with_cookie(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nwords", 1)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nSet-Cookie: " + COOKIE.encode() + b"=1;")
    assert answer.endswith(b"\r\nA: b\r\n\r\nwords")


def with_servers(work: Callable[[int, Sequence[int]], Awaitable[None]]) -> None:
    """Run ``work(port, ports)`` beside two small servers and one address for both.

    A small server says its number, then sends back what comes.
    """

    async def run() -> None:
        async def answer(
            number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nNumber: %d\r\n\r\n" % number)
            while piece := await reader.read(4096):
                writer.write(piece)
                await writer.drain()
            writer.close()

        small = [
            await asyncio.start_server(lambda r, w, n=n: answer(n, r, w), "127.0.0.1", 0)
            for n in range(2)
        ]
        ports = [server.sockets[0].getsockname()[1] for server in small]
        listening = await Sticky(ports).serve("127.0.0.1", 0)
        try:
            await work(listening.sockets[0].getsockname()[1], ports)
        finally:
            for server in (listening, *small):
                server.close()

    finished(run())


async def head_of_answer(port: int, *pieces: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return head


NEW = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_new_visitors_take_turns_and_known_ones_stay() -> None:
    async def work(port: int, ports: Sequence[int]) -> None:
        heads = await asyncio.gather(*(head_of_answer(port, NEW) for _ in range(6)))
        for number in range(2):
            cookie = f"Set-Cookie: {COOKIE}={number};".encode()
            of_number = [head for head in heads if b"Number: %d" % number in head]
            assert len(of_number) == 3
            assert all(cookie in head for head in of_number)
            known = NEW[:-2] + f"Cookie: {COOKIE}={number}\r\n\r\n".encode()
            for _ in range(3):
                # In two pieces: a head may not come all at once.
                head = await head_of_answer(port, known[:20], known[20:])
                assert b"Number: %d" % number in head
                assert b"Set-Cookie" not in head

    with_servers(work)


def test_everything_is_passed_on_whole_both_ways_and_so_is_the_end() -> None:
    sent = os.urandom(3_000_000)

    async def work(port: int, ports: Sequence[int]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(NEW + sent)
        await reader.readuntil(b"\r\n\r\n")
        # Nobody reads for a while: what is on its way must wait and not be lost.
        await asyncio.sleep(0.2)
        assert await reader.readexactly(len(sent)) == sent
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x" * 200_000)  # a head without end
        with suppress(ConnectionResetError):
            assert await reader.read() == b""

    with_servers(work)


def test_a_request_whose_sender_has_nothing_more_to_say_is_answered() -> None:
    async def work(port: int, ports: Sequence[int]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(NEW + b"x" * 1_000)
        writer.write_eof()
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"x" * 1_000)
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(NEW[:9])
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()

    with_servers(work)


def test_a_fault_on_the_way_to_a_server_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fault(*_: object) -> None:
        raise ValueError("some fault")

    async def work(port: int, ports: Sequence[int]) -> None:
        monkeypatch.setattr(Sticky, "_server", fault)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(NEW)
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        writer.close()

    with_servers(work)


def test_a_server_that_is_gone_is_a_bad_gateway() -> None:
    async def work(port: int, ports: Sequence[int]) -> None:
        listening = await Sticky([1]).serve("127.0.0.1", 0)  # nobody listens there
        head = await head_of_answer(listening.sockets[0].getsockname()[1], NEW)
        assert head.startswith(b"HTTP/1.1 502")
        listening.close()

    with_servers(work)


def test_options_go_where_they_belong(capsys: pytest.CaptureFixture[str]) -> None:
    own, options, after = read_arguments(
        ["--servers", "3", "--server.baseUrlPath", "ltr", "--", "--corpus", "DIR"]
    )
    assert (own.servers, own.port, own.address) == (3, 8501, "0.0.0.0")
    assert (options, after) == (("--server.baseUrlPath", "ltr"), ("--corpus", "DIR"))
    assert address_at(5, options) == "http://127.0.0.1:5/ltr"
    assert address_at(5, ["--server.baseUrlPath=/a/b/"]) == "http://127.0.0.1:5/a/b"
    assert address_at(5, ["--server.port", "6"]) == "http://127.0.0.1:5"
    for wrong in (["--servers", "0"], ["--port", "65536"]):
        with pytest.raises(SystemExit):
            read_arguments(wrong)
        assert wrong[0] in capsys.readouterr().err


PRETENDER = """
import http.server, os, signal, sys, time
def end(*_):
    time.sleep(1.5)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if "health" not in self.path:
            time.sleep(float(sys.argv[2]))
        self.send_response(200)
        self.end_headers()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""
"""A server that is slow to end and takes a while for its first page, which is none."""

PRETENDED = """
import sys
from scripts import serve_class, serving
def start(*options, after):
    port = serving._free_port()
    running = serving._started([sys.executable, "-c", after[1], str(port), after[0]], port)
    print(running.pid, flush=True)
    return running
serve_class.start_server = start
sys.exit(serve_class.main())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
@pytest.mark.parametrize(
    ("name", "page_takes"),
    [("SIGINT", 0), ("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", 50), ("SIGTERM", 50)],
)
def test_one_signal_ends_all_servers_at_once_and_more_change_nothing(
    name: str, page_takes: int
) -> None:
    options = ["--servers", "2", "--port", "0", "--address", "127.0.0.1"]
    parent = subprocess.Popen(
        [sys.executable, "-c", PRETENDED, *options, "--", str(page_takes), PRETENDER],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )  # fmt: skip
    assert parent.stdout is not None
    servers = [int(parent.stdout.readline()) for _ in range(2)]
    if page_takes:
        time.sleep(1)  # the first page is being made
    else:
        assert parent.stdout.readline().startswith("2 servers at http://127.0.0.1:")
    started = time.monotonic()
    for _ in range(3):
        parent.send_signal(getattr(signal, name))
        time.sleep(0.2)
    out, said = parent.communicate(timeout=LIMIT)
    assert (parent.returncode, out, said) == (0, "", "")
    assert time.monotonic() - started < 2.9  # each server takes 1.5
    for pid in servers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def visit(address: str) -> None:
    visitors = [Visitor(address, "lab", {"draws": "1"}) for _ in range(4)]
    await asyncio.gather(*(visitor.open() for visitor in visitors))
    moves = zip(visitors, different_values(4, ("eta", "eps_minus")), strict=True)
    await asyncio.gather(*(visitor.ask(**values) for visitor, values in moves))
    for visitor in visitors:
        assert any("Kendall" in text for text in visitor.texts.values())
        await visitor.close()
        assert visitor.errors == []


def test_a_class_on_two_servers(small_corpus: Path) -> None:
    options = ("--server.disconnectedSessionTTL", "0")
    with running_class(2, *options, after=("--corpus", str(small_corpus))) as running:
        finished(visit(running.address))
        # The page, then its health with the cookie: no second cookie.
        with urlopen(running.address, timeout=30) as page:
            cookie = page.headers["Set-Cookie"].partition(";")[0]
        health = Request(f"{running.address}/_stcore/health", headers={"Cookie": cookie})
        with urlopen(health, timeout=30) as answer:
            assert answer.read() == b"ok"
            assert COOKIE not in str(answer.headers)
        servers = running.counted
        if servers != (running.pid,):  # else this system does not show who started whom
            assert len(servers) == 2
            os.kill(servers[0], signal.SIGKILL)
            # One server alone would leave half of the visitors with nothing.
            assert running.process.wait(LIMIT) == 1
            assert not any(Path(f"/proc/{pid}").exists() for pid in servers)
