"""The server's part in uploads: nobody can fill its memory through the address for uploads.

Streamlit takes any number of files for a session that is connected and keeps them as long as the
session. In front of it, this middleware takes a file only at an address that was handed out, counts
bytes before a body is read, and drops what the page did not take once its visitor has gone. What
the page takes leaves Streamlit's store.
"""

from __future__ import annotations

import asyncio
import re
import signal
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from types import FrameType
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import cli_util, runtime
from streamlit.config import is_manually_set
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadFileUrlInfo
from streamlit.web.server import server_util

from pages.app.boot import boot_aside
from ultr_core.errors import InputError, named
from ultr_core.limits import (
    SMALL_UPLOAD,
    UPLOAD_ADDRESSES,
    UPLOAD_SECONDS,
    UPLOADS_UNDERWAY_OF_SERVER,
    UPLOADS_UNDERWAY_OF_SESSION,
    in_mb,
)

LOOK_EVERY = 2.0  # seconds
_TOO_LONG = (
    f"An upload may take at most {UPLOAD_SECONDS.most} seconds, because {UPLOAD_SECONDS.reason}; "
    f"{UPLOAD_SECONDS.remedy}."
)
_ADDRESS = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)$")


class Underway:
    """Uploads that no page has taken yet: what Streamlit stores of them and what is announced."""

    def __init__(self, store: MemoryUploadedFileManager) -> None:
        self._store = store
        self._announced: defaultdict[str, int] = defaultdict(int)
        self._addresses: defaultdict[str, deque[str]] = defaultdict(
            lambda: deque(maxlen=UPLOAD_ADDRESSES.most)
        )
        self._hand_out = store.get_upload_urls
        self.refused: dict[str, str] = {}

    def hand_out(self, session: str, names: Sequence[str]) -> list[UploadFileUrlInfo]:
        """In place of the store's ``get_upload_urls``: remember what it gives to a session."""
        self.refused.pop(session, None)
        given = self._hand_out(session, names[: UPLOAD_ADDRESSES.most])
        self._addresses[session].extend(address.file_id for address in given)
        return given

    def use(self, session: str, address: str) -> bool:
        """Whether an address was given to a session and not used; from now on it is."""
        given = self._addresses.get(session, ())
        if address not in given:
            return False
        self._addresses[session].remove(address)
        return True

    def announce(self, session: str, size: int) -> None:
        """Count ``size`` bytes that a session will send; raises InputError for too many."""
        ours = self._stored(session) + self._announced[session] + size
        UPLOADS_UNDERWAY_OF_SESSION.require(in_mb(ours), "This session")
        everybody = sum(map(self._stored, tuple(self._store.file_storage)))
        everybody += sum(self._announced.values()) + size
        UPLOADS_UNDERWAY_OF_SERVER.require(in_mb(everybody), "This server")
        self._announced[session] += size

    def ended(self, session: str, size: int) -> None:
        """An announced upload has been stored, or has failed."""
        self._announced[session] -= size
        if not self._announced[session]:
            del self._announced[session]

    def sweep(self, server: Runtime) -> None:
        """Forget what belongs to sessions that are not connected."""
        for session in {*self._store.file_storage, *self._addresses}:
            if not server.is_active_session(session):
                self._store.remove_session_files(session)
                self._addresses.pop(session, None)
                self.refused.pop(session, None)

    def _stored(self, session: str) -> int:
        files = tuple(self._store.file_storage.get(session, {}).values())
        return sum(len(file.data) for file in files)


class UploadGate:
    """ASGI middleware that answers what may not be uploaded and passes everything else on."""

    underway: Underway | None = None
    """Of this process; there once its server has started."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        upload = scope["type"] == "http" and scope["method"] == "PUT"
        asked = _ADDRESS.search(scope["path"]) if upload else None
        if asked is None or not runtime.get_instance().is_active_session(asked[1]):
            await self._app(scope, receive, send)  # Streamlit refuses strangers unread
            return
        refusal = await self._taken(asked[1], asked[2], scope, receive, send)
        if refusal is not None:
            await refusal(scope, receive, send)

    async def _taken(
        self, session: str, address: str, scope: Scope, receive: Receive, send: Send
    ) -> PlainTextResponse | None:
        """Let an upload through; what to answer if it may not pass or takes too long."""
        underway = self.underway
        if underway is None or not underway.use(session, address):
            return PlainTextResponse("This address was not issued for an upload.", 403)
        length = Headers(scope=scope).get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            return PlainTextResponse("An upload must state its length.", 411)
        size = int(length)
        try:
            underway.announce(session, size)
        except InputError as error:
            underway.refused[session] = str(error)
            await _drained(size, receive)
            return PlainTextResponse(str(error), 413)
        answer = Answer(send)
        try:
            async with asyncio.timeout(UPLOAD_SECONDS.most):
                await self._app(scope, receive, answer)
        except TimeoutError:
            if not answer.begun:
                return PlainTextResponse(_TOO_LONG, 408)
        finally:
            underway.ended(session, size)
        return None


class Answer:
    """A ``send`` that knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        """Pass a message on."""
        self.begun = True
        await self._send(message)


async def _drained(size: int, receive: Receive) -> None:
    """Read a refused body piece by piece, as browsers look at an answer only after sending."""
    if in_mb(size) > int(st.get_option("server.maxUploadSize")) + 1:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(UPLOAD_SECONDS.most):
            while (await receive()).get("more_body"):
                pass


MIDDLEWARE = [Middleware(UploadGate)]


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[dict[str, Any]]:
    """What it does beside answering: it loads, watches uploads, opens a browser, ends quietly."""
    boot_aside()
    server = runtime.get_instance()
    store = server.uploaded_file_mgr
    assert isinstance(store, MemoryUploadedFileManager)
    underway = UploadGate.underway = Underway(store)
    setattr(store, "get_upload_urls", underway.hand_out)  # noqa: B010 - a method of an instance
    _end_quietly()
    watching = asyncio.create_task(_watch(underway, server))
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(cli_util.open_browser, _own_address())
    try:
        yield {}
    finally:
        watching.cancel()


def _own_address() -> str:
    bound, shown = st.get_option("server.address"), st.get_option("browser.serverAddress")
    if bound and not is_manually_set("browser.serverAddress"):
        shown = server_util.get_display_address(bound)
    return server_util.get_url(shown)


async def _watch(underway: Underway, server: Runtime) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY)
        underway.sweep(server)


def _end_quietly() -> None:
    """End with code 0 when told to, as ``streamlit run`` does for a script without a server.

    The web server would end as if killed by the signal, and what is registered for the end of the
    process would not be done.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        web_server = getattr(signal.getsignal(number), "__self__", None)
        if web_server is None:
            continue

        def told(number: int, frame: FrameType | None, web_server: Any = web_server) -> None:
            web_server.force_exit = web_server.should_exit
            web_server.should_exit = True

        signal.signal(number, told)


def take(key: str, *, small: bool) -> list[tuple[str, bytes]]:
    """Callback's part: name and bytes of each file that the uploader ``key`` brought.

    Raises InputError for a file that is too large, where only a ``small`` one is right: of that
    bound only the browser knows, and whoever sends a file need not be one. So it does for one that
    was announced and is not in the store, as after a connection was lost, and where the server
    refused one of several: the others are not all.
    """
    given = st.session_state.get(key) or []
    uploads = given if isinstance(given, list) else [given]
    taken = [(each.name, each.getvalue()) for each in uploads if not isinstance(each, DeletedFile)]
    for each in uploads:
        if not isinstance(each, DeletedFile):
            _forget(each.file_id)
    if len(taken) < len(uploads):
        raise InputError("The file did not arrive or has since been deleted; choose it again.")
    if refusal := _refusal():
        raise InputError(f"One of the files was rejected. {refusal}", "one_refused")
    if small:
        for name, data in taken:
            SMALL_UPLOAD.require(in_mb(len(data)), named(name))
    return taken


def _refusal() -> str:
    """Why the last upload of this session was refused, said once; "" if it was not."""
    context, underway = get_script_run_ctx(), UploadGate.underway
    if context is None or underway is None:
        return ""
    return underway.refused.pop(context.session_id, "")


def _forget(file_id: str) -> None:
    context = get_script_run_ctx()
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(session_id=context.session_id, file_id=file_id)
