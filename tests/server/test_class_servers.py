"""Several servers at one address: visitors stay with one of them, or move when it ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.app.shell import NEW_SESSION
from scripts import proxy
from scripts.proxy import COOKIE
from scripts.serve_class import RESTARTS, read_arguments
from scripts.serving import ROOT, Running, address_at, option, running_class
from scripts.visitor import Visitor, different_values
from tests.meaning import mentions
from tests.server.in_time import LIMIT, finished
from tests.server.processes import answers, children, descendants, is_there, many_files, waited

pytestmark = pytest.mark.usefixtures("haproxy")


def test_options_go_where_they_belong(capsys: pytest.CaptureFixture[str]) -> None:
    own, options, after = read_arguments(
        ["--servers", "3", "--server.baseUrlPath", "ltr", "--", "--corpus", "DIR"]
    )
    assert (own.servers, own.port, own.address) == (3, 8501, "0.0.0.0")
    assert (options, after) == (("--server.baseUrlPath", "ltr"), ("--corpus", "DIR"))
    assert address_at(5, options) == "http://127.0.0.1:5/ltr"
    assert address_at(5, ["--server.baseUrlPath=/a/b/"]) == "http://127.0.0.1:5/a/b"
    assert address_at(5, ["--server.port", "6"]) == "http://127.0.0.1:5"
    assert address_at(5, (), "0.0.0.0") == "http://127.0.0.1:5"
    assert address_at(5, (), "::") == "http://[::1]:5"
    assert option(["--a", "1", "--a=2", "--b"], "--a") == "2"
    assert option(["--b"], "--a") is None
    for wrong in (["--servers", "0"], ["--port", "65536"]):
        with pytest.raises(SystemExit):
            read_arguments(wrong)
        assert wrong[0] in capsys.readouterr().err


PRETENDER = """
import http.server, os, signal, sys, time
def end(*_):
    time.sleep(3)
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
from scripts import proxy, serve_class, serving
def start(*options, after, port, host):
    command = [sys.executable, "-c", after[1], str(port), after[0]]
    running = serving.start_process(command, f"http://127.0.0.1:{port}")
    print(running.pid, flush=True)
    return running
serve_class.start_server = start
if "--alone" in sys.argv:
    sys.argv.remove("--alone")
    proxy.find = lambda: None
sys.exit(serve_class.main())
"""


def pretended(*options: str, page_takes: int = 0) -> subprocess.Popen[str]:
    """``serve_class.py`` with servers that only pretend; it prints the process of each."""
    own = ["--servers", "2", "--port", "0", "--address", "127.0.0.1", *options]
    return subprocess.Popen(
        [sys.executable, "-c", PRETENDED, *own, "--", str(page_takes), PRETENDER],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )  # fmt: skip


def line(parent: subprocess.Popen[str]) -> str:
    assert parent.stdout is not None
    return parent.stdout.readline()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
@pytest.mark.parametrize(
    ("name", "page_takes"),
    [("SIGINT", 0), ("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", 50), ("SIGTERM", 50)],
)
def test_one_signal_ends_all_servers_at_once_and_more_change_nothing(
    name: str, page_takes: int
) -> None:
    parent = pretended(page_takes=page_takes)
    servers = [int(line(parent)) for _ in range(2)]
    if page_takes:
        time.sleep(1)  # the first page is being made
    else:
        assert re.match("2 servers .*http://127.0.0.1:", line(parent))
        servers = descendants(parent.pid)
        assert len(servers) == 3
    started = time.monotonic()
    for _ in range(3):
        parent.send_signal(getattr(signal, name))
        time.sleep(0.2)
    out, said = parent.communicate(timeout=LIMIT)
    assert (parent.returncode, out, said) == (0, "", "")
    assert time.monotonic() - started < 5.9  # each server takes 3
    assert not any(map(is_there, servers))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children of a killed process")
def test_a_killed_script_leaves_nothing_behind() -> None:
    parent = pretended()
    for _ in range(3):
        line(parent)
    left = descendants(parent.pid)
    assert len(left) == 3
    parent.kill()
    parent.communicate(timeout=LIMIT)
    assert waited(lambda: not any(map(is_there, left)), 5)


def test_what_ends_is_started_again_but_not_for_ever() -> None:
    parent = pretended()
    first, _ = int(line(parent)), int(line(parent))
    port = int(line(parent).rpartition(":")[2])
    (haproxy,) = set(children(parent.pid)) - {first, _}
    os.kill(haproxy, signal.SIGKILL)
    assert answers(port)  # the socket has stayed open meanwhile
    for _ in range(RESTARTS):
        os.kill(first, signal.SIGKILL)
        first = int(line(parent))
        assert answers(port)
    os.kill(first, signal.SIGKILL)
    out, said = parent.communicate(timeout=LIMIT)
    assert (parent.returncode, out) == (1, "")
    *restarts, last = said.splitlines()
    assert len(restarts) == 1 + RESTARTS
    assert sum("HAProxy" in restart for restart in restarts) == 1
    assert "Server 1" in last and "4 times" in last


def test_without_haproxy_there_is_one_server_and_it_says_how_to_get_more() -> None:
    parent = pretended("--alone")
    server = int(line(parent))
    start, _, port = line(parent).rpartition(":")
    assert re.fullmatch("1 server .*http://127.0.0.1", start)
    assert children(parent.pid) == [server]
    assert answers(int(port))
    parent.terminate()
    out, said = parent.communicate(timeout=LIMIT)
    assert (parent.returncode, out) == (0, "")
    assert "apt-get install haproxy" in said
    assert not is_there(server)


def test_a_port_in_use_is_a_sentence() -> None:
    with proxy.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        parent = pretended("--port", str(port))
        out, said = parent.communicate(timeout=LIMIT)
    assert (parent.returncode, out) == (1, "")
    assert mentions(said, port, "127.0.0.1") and said.count("\n") == 1


@pytest.fixture(scope="module")
def running(small_corpus: Path) -> Iterator[Running]:
    """Two real servers, to be killed in the end: all processes go with the script."""
    with running_class(2, after=("--corpus", str(small_corpus))) as started:
        yield started
        left = descendants(started.pid)
        assert len(left) >= 3
        started.process.kill()
        started.process.wait()
        if sys.platform == "linux":
            assert waited(lambda: not any(map(is_there, left)), 20)


async def visit(address: str) -> set[str]:
    """Four visitors get their answers; the cookies that they got."""
    visitors = [Visitor(address, "lab", {"draws": "1"}) for _ in range(4)]
    await asyncio.gather(*(visitor.open() for visitor in visitors))
    moves = zip(visitors, different_values(4, ("eta", "eps_minus")), strict=True)
    await asyncio.gather(*(visitor.ask(**values) for visitor, values in moves))
    for visitor in visitors:
        assert any("Kendall" in text for text in visitor.texts.values())
        await visitor.close()
        assert visitor.errors == []
    return {visitor.cookie for visitor in visitors}


def test_a_class_on_two_servers(running: Running) -> None:
    async def both() -> None:
        cookies: set[str] = set()
        while cookies != {f"{COOKIE}=1", f"{COOKIE}=2"}:
            cookies |= await visit(running.address)

    finished(both())


def test_half_sent_heads_keep_nobody_out_and_are_ended(running: Running) -> None:
    port = running.port

    async def attack() -> None:
        held = []
        for _ in range(1_100):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            held.append((reader, writer))
        await visit(running.address)
        async with asyncio.timeout(proxy.HEAD_SECONDS + 20):
            for reader, writer in held:
                assert b" 408 " in await reader.readline()
                writer.close()

    with many_files():
        finished(attack())


def sentences(visitor: Visitor) -> list[str]:
    return [text for text in visitor.texts.values() if NEW_SESSION in text]


def test_who_comes_back_in_time_finds_the_session_again(running: Running) -> None:
    async def come_back() -> None:
        visitor = Visitor(running.address, "about")
        await visitor.open()
        session, cookie = visitor.session, visitor.cookie
        await visitor.close()
        await visitor.open()
        assert (visitor.session, visitor.cookie) == (session, cookie)
        assert sentences(visitor) == visitor.errors == []
        await visitor.close()

    finished(come_back())


def test_visitors_of_a_killed_server_land_on_the_other_and_read_why(running: Running) -> None:
    async def move() -> None:
        visitors = [Visitor(running.address, "lab", {"draws": "1"}) for _ in range(4)]
        await asyncio.gather(*(visitor.open() for visitor in visitors))
        await visitors[0].ask(eta=0.5)
        gone = visitors[0].cookie
        servers = [pid for pid in children(running.pid) if is_server(pid)]
        os.kill(servers[int(gone[-1]) - 1], signal.SIGKILL)
        moved = [visitor for visitor in visitors if visitor.cookie == gone]
        assert 0 < len(moved) < len(visitors)
        for visitor in moved:
            while not visitor.errors:
                await asyncio.sleep(0.01)
            visitor.errors.clear()
        before = {visitor.session for visitor in moved}
        # All at once, as browsers do: whoever came after a slow page would find the server back.
        await asyncio.gather(*(visitor.open() for visitor in moved))
        for visitor in moved:
            assert visitor.cookie != gone and visitor.session not in before
            assert len(sentences(visitor)) == 1
        for visitor in visitors:
            await visitor.ask(eta=0.7)
            assert visitor.errors == []
            assert bool(sentences(visitor)) == (visitor in moved)
            await visitor.close()
        # The server is started again and takes visitors once more.
        cookies: set[str] = set()
        while gone not in cookies:
            await asyncio.sleep(0.2)
            cookies |= await visit(running.address)

    finished(move())
    assert len(children(running.pid)) == 3


def is_server(pid: int) -> bool:
    return b"streamlit" in Path(f"/proc/{pid}/cmdline").read_bytes()
