"""HAProxy as it is configured here, in front of small servers."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from scripts import load_test, proxy
from scripts.proxy import COOKIE, bounds
from scripts.serving import ROOT, end, free_port
from tests.server.in_time import finished
from tests.server.processes import answers, ask, many_files, waited

pytestmark = pytest.mark.usefixtures("haproxy")


def test_bounds_follow_the_servers_the_system_and_the_largest_upload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for servers in (1, 2, 64):
        found = bounds(servers, (), files=1_000_000)
        assert found.long_by_address < found.by_address <= found.connections // 2
        assert found.by_address < proxy.BY_SERVER * servers  # nobody can fill all servers alone
    few = bounds(8, (), files=1_024)
    assert few.connections * 2 + 200 <= 1_024
    assert few.long_by_address <= few.by_address < few.connections
    mega = 1 << 20
    assert bounds(1, ()).body == 26 * mega
    monkeypatch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "30")
    assert bounds(1, ()).body == 31 * mega
    assert bounds(1, ("--server.maxUploadSize=7", "--server.maxUploadSize", "9")).body == 10 * mega


SERVER = """
import http.server, sys
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def do_POST(self):
        read = int(self.headers["Content-Length"])
        while read > 0:
            read -= len(self.rfile.read(min(read, 65536)))
        self.do_GET()
    def log_message(*_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
"""
"""A server that says its port."""


@contextmanager
def small_servers() -> Iterator[tuple[int, dict[int, subprocess.Popen[bytes]]]]:
    """The port of HAProxy before two small servers, and these by their ports."""
    servers = {}
    for port in (free_port(), free_port()):
        servers[port] = subprocess.Popen([sys.executable, "-c", SERVER, str(port)])
    program = proxy.find()
    assert program is not None
    with proxy.listen("127.0.0.1", 0) as door:
        for port in servers:
            assert waited(lambda port=port: answers(port))  # type: ignore[misc]
        running = proxy.start(program, list(servers), door, ())
        try:
            yield door.getsockname()[1], servers
        finally:
            end([running])
            for server in servers.values():
                server.kill()
                server.wait()


def test_the_cookie_keeps_a_visitor_until_the_server_is_gone() -> None:
    with small_servers() as (port, servers):
        new = [ask(port) for _ in range(6)]
        assert sorted(int(body) for _, _, body in new) == sorted(3 * list(servers))
        cookies = {}
        for _, head, body in new:
            cookie, *attributes = head["Set-Cookie"].split("; ")
            assert cookie.startswith(f"{COOKIE}=")
            assert {"path=/", "httponly", "samesite=lax"} == {a.lower() for a in attributes}
            assert cookies.setdefault(body, cookie) == cookie
        assert len(set(cookies.values())) == 2
        for body, cookie in cookies.items():
            for _ in range(3):
                _, head, again = ask(port, Cookie=f"other=5; {cookie}")
                assert again == body
                assert "Set-Cookie" not in head
        unknown = f"{COOKIE}=64"
        assert "Set-Cookie" in ask(port, Cookie=unknown)[1]
        gone, left = cookies
        servers[int(gone)].kill()
        servers[int(gone)].wait()
        status, head, body = ask(port, Cookie=cookies[gone])
        assert (status, body) == (200, left)
        assert head["Set-Cookie"].startswith(cookies[left])


HOSTILE = {
    "huge": "9" * 6_000,
    "beyond a head": "9" * 70_000,
    "unknown": "64",
    "name of a server": "127.0.0.1:1",
    "markup": "<script>1</script>",
    "path": "../../etc/passwd",
    "quoted": '"1"',
    "empty": "",
    "blanks": " 1 2 ",
    "escapes": "%00%0d%0aSet-Cookie:%20x=y",
    "not ASCII": "\u00e9\u2028",
    "tab": "1\t2",
    "zero byte": "1\x00",
    "line end": "1\nX-Other: 1",
    "control": "\x1b[2J\x07",
}


def raw(port: int, cookies: list[bytes]) -> bytes:
    """The answer to a request with these cookie lines as they are."""
    lines = [b"GET / HTTP/1.1", b"Host: x", b"Connection: close"]
    request = b"\r\n".join([*lines, *(b"Cookie: " + each for each in cookies), b"", b""])
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(OSError):  # it may be refused before all of it is sent
            connection.sendall(request)
        with suppress(OSError):
            while piece := connection.recv(65536):
                answer += piece
    return answer


def test_hostile_cookies_name_nothing_inside_and_keep_nobody_out() -> None:
    """Each is answered by a server, or refused in an answer that says nothing of the inside; a
    visitor with a cookie is at the same server throughout."""
    with small_servers() as (port, servers):
        _, head, home = ask(port)
        own = head["Set-Cookie"].split("; ")[0]
        taken = f"{COOKIE}=".encode()
        many = [b"; ".join(b"%sa%d=%d" % (taken[:4], n, n) for n in range(300))]
        given = {
            **{name: [taken + value.encode()] for name, value in HOSTILE.items()},
            "many cookies": many,
            "many lines": [b"a%d=1" % n for n in range(300)],
            "one cookie often": [b"; ".join([taken + b"64"] * 200)],
            "two servers": [taken + b"1; " + taken + b"2"],
            "no value": [taken[:-1]],
        }
        inside = [b"haproxy", b"127.0.0.1", b"traceback", *(str(p).encode() for p in servers)]
        for name, cookies in given.items():
            answer = raw(port, cookies)
            head_, _, body = answer.partition(b"\r\n\r\n")
            status = head_.split(b" ")[1] if head_ else b""
            assert status in (b"", b"200", b"400", b"431"), name
            if status == b"200":
                assert int(body) in servers, name
            else:
                told = answer.lower()
                assert not [word for word in inside if word in told], (name, answer)
            # Cookies of others are not set by it, and its own is valid.
            for line in head_.split(b"\r\n")[1:]:
                if line.lower().startswith(b"set-cookie:"):
                    assert line.split(b": ", 1)[1].split(b";")[0] in (taken + b"1", taken + b"2")
            status_, head, body = ask(port, Cookie=own)
            assert (status_, body) == (200, home), name
            assert "Set-Cookie" not in head
        assert all(server.poll() is None for server in servers.values())


def test_heads_that_are_never_finished_end_and_keep_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A10, as a part: each of these would hold a connection of the servers without a deadline."""
    monkeypatch.setattr(proxy, "HEAD_SECONDS", 2)

    async def attack(port: int) -> list[bytes]:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        for _, writer in held:
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
            await writer.drain()
        assert await asyncio.to_thread(answers, port)
        async with asyncio.timeout(30):
            return [await reader.readline() for reader, _ in held]

    with small_servers() as (port, _):
        assert all(b" 408 " in line for line in finished(attack(port)))


def test_bodies_are_bounded_and_pass_whole_below_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = bounds(2, ()).body
    monkeypatch.setattr(proxy, "HEAD_SECONDS", 2)

    def post(port: int, sent: int, **headers: str) -> int:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.putrequest("POST", "/")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        connection.send(b"x" * sent)
        status = connection.getresponse().status
        connection.close()
        return status

    with small_servers() as (port, _):
        assert post(port, 3_000_000, Content_Length="3000000") == 200
        assert post(port, 10, Content_Length=str(most + 1)) == 413
        assert post(port, 0, Transfer_Encoding="chunked") == 413
        assert post(port, 10, Content_Length="1000") == 408  # the rest never comes


def test_one_address_cannot_hold_all_places_for_uploads() -> None:
    most = bounds(2, ()).long_by_address
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 50_000

    async def attack(port: int) -> int:
        held = []
        refused = 0
        for _ in range(most + 20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with suppress(OSError):
                writer.write(head)
                await writer.drain()
            held.append((reader, writer))
        for reader, _ in held[-20:]:
            async with asyncio.timeout(30):
                refused += b" 429 " in await reader.readline()
        assert await asyncio.to_thread(answers, port)
        for _, writer in held:
            writer.close()
        return refused

    with small_servers() as (port, _), many_files():
        assert finished(attack(port)) == 20


def test_the_load_test_of_several_servers_needs_haproxy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_test.read_arguments(["--servers", "2"]).servers == 2
    monkeypatch.setattr(proxy, "find", lambda: None)
    assert load_test.read_arguments([]).servers == 1
    with pytest.raises(SystemExit):
        load_test.read_arguments(["--servers", "2"])
    assert "HAProxy" in capsys.readouterr().err


def test_haproxy_accepts_the_configuration_of_the_guide(tmp_path: Path) -> None:
    guide = (ROOT / "docs/deploying.md").read_text(encoding="utf-8")
    (block,) = (part.partition("```")[0] for part in guide.split("```haproxy\n")[1:])
    file = tmp_path / "haproxy.cfg"
    file.write_text(block)
    program = proxy.find()
    assert program is not None
    subprocess.run([program, "-c", "-q", "-f", str(file)], check=True)
    # As on a machine that has files enough.
    assert block == proxy.configuration([8501, 8502], ":80", (), files=20_000)
