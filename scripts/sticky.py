"""One address for several servers of the app: each visitor stays with the server they came to.

The servers share nothing, so that all of a visitor's connections (page, websocket, uploads, files)
must go to one of them. A cookie says which. Only the first request of a connection is read and,
for a new visitor, the first answer gets the cookie; all else is passed on as it is, both ways.

A browser has connections of its own. A proxy that puts several visitors on one connection must
choose the server itself: see docs/deploying.md.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from typing import cast

COOKIE = "ultr_lab_server"

_END_OF_HEAD = b"\r\n\r\n"
_LONGEST_HEAD = 1 << 16  # bytes
_ASKED = re.compile(
    rb"\r\ncookie:[^\r\n]*?\b" + COOKIE.encode() + rb"=(\d{1,3})(?!\d)", re.IGNORECASE
)
_REFUSED = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Sticky:
    """Passes connections on to the servers at ``ports`` of this machine."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = tuple(ports)
        self._visitors = 0
        self._connecting: set[asyncio.Task[None]] = set()

    async def serve(self, address: str, port: int) -> asyncio.Server:
        """Listen at ``address`` and ``port`` from now on; port 0 is any free one."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(partial(_Browser, self), address, port)

    def connect(self, browser: _Browser, head: bytes) -> None:
        """Find the server for a connection that begins with ``head``, and join the two."""
        task = asyncio.create_task(self._connect(browser, head))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, browser: _Browser, head: bytes) -> None:
        try:
            browser.join(await self._server(browser, head))
        except OSError:
            browser.write(_REFUSED)
            browser.end()
        except BaseException:
            browser.end()  # which would wait for ever
            raise

    async def _server(self, browser: _Browser, head: bytes) -> _Server:
        known = server_asked_for(head, len(self._ports))
        number = self._next() if known is None else known
        make = partial(_Server, browser, number if known is None else None)
        loop = asyncio.get_running_loop()
        _, server = await loop.create_connection(make, "127.0.0.1", self._ports[number])
        return server

    def _next(self) -> int:
        """The server of a new visitor: each in turn."""
        self._visitors += 1
        return (self._visitors - 1) % len(self._ports)


class _Side(asyncio.Protocol):
    """One end of a connection: what comes in goes out at the other end, no faster than it can."""

    def __init__(self, other: _Side | None) -> None:
        self._other = other
        self._transport: asyncio.Transport | None = None
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; the other side may have ended meanwhile."""
        self._transport = cast(asyncio.Transport, transport)
        if self._ended:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Pass on."""
        if self._other is not None:
            self._other.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the other side, once it has sent all."""
        self._ended = True
        if self._other is not None:
            self._other.end()

    def pause_writing(self) -> None:
        """Read no more at the other side until this one has caught up."""
        if self._other is not None:
            self._other.read(False)

    def resume_writing(self) -> None:
        """Go on reading at the other side."""
        if self._other is not None:
            self._other.read(True)

    def read(self, more: bool) -> None:
        """Go on reading, or stop."""
        if self._transport is not None and not self._ended:
            (self._transport.resume_reading if more else self._transport.pause_reading)()

    def write(self, data: bytes) -> None:
        """Send at this side."""
        if self._transport is not None and not self._ended:
            self._transport.write(data)

    def write_eof(self) -> None:
        """Say at this side that nothing more will be sent; it may still be answered."""
        if self._transport is not None and not self._ended:
            self._transport.write_eof()

    def end(self) -> None:
        """Close this side, once all is sent."""
        self._ended = True
        if self._transport is not None:
            self._transport.close()


class _Browser(_Side):
    """The side of the visitor: the head of the first request says which server is meant."""

    def __init__(self, sticky: Sticky) -> None:
        super().__init__(None)
        self._sticky = sticky
        self._head = b""

    def data_received(self, data: bytes) -> None:
        """Wait for the whole head; from then on pass on."""
        if self._other is not None:
            self._other.write(data)
            return
        self._head += data
        if _END_OF_HEAD in self._head:
            self.read(False)
            self._sticky.connect(self, self._head)
        elif len(self._head) > _LONGEST_HEAD:
            self.end()

    def eof_received(self) -> bool:
        """Pass on that the request is whole, and stay for the answer; half a head has none."""
        if self._other is None:
            return False
        self._other.write_eof()
        return True

    def join(self, server: _Side) -> None:
        """Pass on to this server from now on."""
        if self._ended:
            server.end()
            return
        self._other = server
        server.write(self._head)
        self.read(True)


class _Server(_Side):
    """The side of a server; its first answer to a new visitor gets the cookie."""

    def __init__(self, browser: _Browser, number: int | None) -> None:
        super().__init__(browser)
        self._number = number
        self._head = b""

    def data_received(self, data: bytes) -> None:
        """Pass on, to a new visitor with the cookie."""
        if self._number is not None:
            self._head += data
            if _END_OF_HEAD not in self._head:
                return
            data, self._number = with_cookie(self._head, self._number), None
        super().data_received(data)


def server_asked_for(head: bytes, servers: int) -> int | None:
    """The number of the server that the cookie in the head of a request names, if there is one."""
    found = _ASKED.search(head)
    number = None if found is None else int(found.group(1))
    return number if number is not None and number < servers else None


def with_cookie(head: bytes, number: int) -> bytes:
    """The head of an answer with the cookie that names a server."""
    status, _, rest = head.partition(b"\r\n")
    cookie = f"Set-Cookie: {COOKIE}={number}; Path=/; HttpOnly; SameSite=Lax"
    return b"\r\n".join((status, cookie.encode(), rest))
