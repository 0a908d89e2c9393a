"""Several servers at one address: every visitor stays with one of them, and all end together."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from scripts.serve_class import read_arguments
from scripts.serving import running_class
from scripts.sticky import COOKIE, Sticky, server_asked_for, with_cookie
from scripts.visitor import Visitor, different_values

LIMIT = 120.0  # seconds


def test_the_cookie_names_a_server_that_exists() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\nCookie: other=5; " + COOKIE.encode() + b"=1\r\n\r\n"
    assert server_asked_for(head, 2) == 1
    assert server_asked_for(head.replace(b"Cookie", b"cookie"), 2) == 1
    assert server_asked_for(head, 1) is None
    assert server_asked_for(head.replace(COOKIE.encode(), b"another"), 2) is None
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

    asyncio.run(asyncio.wait_for(run(), LIMIT))


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
    for wrong in (["--servers", "0"], ["--port", "65536"]):
        with pytest.raises(SystemExit):
            read_arguments(wrong)
        assert wrong[0] in capsys.readouterr().err


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
        asyncio.run(asyncio.wait_for(visit(running.address), LIMIT))
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
