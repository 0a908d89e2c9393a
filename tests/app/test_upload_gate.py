"""The gate in front of Streamlit's address for uploads, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.app import uploads
from pages.app.uploads import Underway, UploadGate
from tests.meaning import mentions
from tests.server.in_time import finished
from ultr_core.limits import UPLOAD_ADDRESSES, UPLOADS_UNDERWAY_OF_SESSION, Limit

MB = 1 << 20
HALF = UPLOADS_UNDERWAY_OF_SESSION.most * MB // 2


class Server:
    """As much of a server as the gate asks for."""

    def __init__(self) -> None:
        self.connected = {"here", "there"}

    def is_active_session(self, session: str) -> bool:
        return session in self.connected


class Store:
    """What stands behind the gate: it reads a body and stores it."""

    def __init__(self) -> None:
        self.files = MemoryUploadedFileManager("/_stcore/upload_file")
        self.asked = 0
        self.patience = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await asyncio.sleep(self.patience)
        data = (await receive())["body"]
        _, session, address = scope["path"].rsplit("/", 2)
        self.files.add_file(session, UploadedFileRec(address, "log.csv", "text/csv", data))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    started = Server()
    monkeypatch.setattr(runtime, "get_instance", lambda: started)
    return started


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, server: Server) -> Iterator[Store]:
    made = Store()
    monkeypatch.setattr(UploadGate, "underway", Underway(made.files))
    yield made


def underway() -> Underway:
    assert UploadGate.underway is not None
    return UploadGate.underway


async def put(store: Store, session: str, address: str, size: int, **other: str) -> tuple[int, str]:
    said: list[Message] = []
    headers = {"content-length": str(size), **other}

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": bytes(size), "more_body": False}

    scope = {
        "type": "http", "method": "PUT", "path": f"/ltr/_stcore/upload_file/{session}/{address}",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items() if value],
    }  # fmt: skip
    await UploadGate(store)(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in said)
    return said[0]["status"], body.decode()


def address(session: str) -> str:
    return underway().hand_out(session, ["log.csv"])[0].file_id


def sent(store: Store, session: str = "here", size: int = 5, **other: str) -> tuple[int, str]:
    return finished(put(store, session, address(session), size, **other))


def test_only_an_address_that_was_handed_out_takes_a_file_and_only_once(store: Store) -> None:
    mine = address("here")
    assert finished(put(store, "there", mine, 5))[0] == 403
    assert finished(put(store, "here", "invented", 5))[0] == 403
    assert finished(put(store, "here", mine, 5))[0] == 204
    assert finished(put(store, "here", mine, 5))[0] == 403
    assert list(store.files.file_storage) == ["here"]
    assert store.asked == 1


def test_many_names_get_few_addresses_and_old_ones_expire(store: Store) -> None:
    given = underway().hand_out("here", ["log.csv"] * 100_000)
    assert len(given) == UPLOAD_ADDRESSES.most
    address("here")
    assert not underway().use("here", given[0].file_id)
    assert underway().use("here", given[1].file_id)


@pytest.mark.parametrize("length", ["", "-1", "1e3", "\u00b2", "9" * 40])
def test_a_body_without_a_length_is_not_read(store: Store, length: str) -> None:
    assert sent(store, **{"content-length": length})[0] == 411
    assert store.asked == 0


def test_bytes_are_counted_until_a_page_takes_them(store: Store) -> None:
    assert sent(store, size=HALF)[0] == sent(store, size=HALF)[0] == 204
    status, words = sent(store, size=1)
    assert status == 413
    assert mentions(words, "session", "65 MB", 64)
    assert sent(store, "there", size=1)[0] == 204
    store.files.remove_session_files("here")
    assert sent(store, size=HALF)[0] == 204


def test_bytes_that_are_announced_count_as_well(store: Store) -> None:
    async def at_once() -> list[int]:
        store.patience = 0.05
        work = [put(store, "here", address("here"), HALF) for _ in range(6)]
        return [status for status, _ in await asyncio.gather(*work)]

    assert sorted(finished(at_once())) == [204, 204, 413, 413, 413, 413]
    assert not underway()._announced


def test_all_sessions_together_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        uploads, "UPLOADS_UNDERWAY_OF_SERVER", Limit(1, "MB of uploads", "why", "wait")
    )
    assert sent(store, size=MB)[0] == 204
    status, words = sent(store, "there", size=1)
    assert status == 413
    assert mentions(words, "server", "2 MB", 1, "why", "wait")


def test_an_upload_that_takes_too_long_ends_and_counts_no_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "UPLOAD_SECONDS", Limit(0, "seconds", "why", "faster"))
    store.patience = 60.0
    assert sent(store, size=HALF)[0] == 408
    assert not underway()._announced
    assert not store.files.file_storage


def test_a_visitor_who_has_gone_leaves_nothing(store: Store, server: Server) -> None:
    sent(store)
    sent(store, "there")
    server.connected.remove("here")
    underway().sweep(server)  # type: ignore[arg-type]
    assert list(store.files.file_storage) == ["there"]
    assert not underway()._stored("here")


def test_everything_else_passes(store: Store) -> None:
    seen: list[Any] = []

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    paths = ("/", "/_stcore/health", "/_stcore/upload_file/here")
    scopes = [{"type": "http", "method": "PUT", "path": path, "headers": []} for path in paths]
    scopes.append({"type": "websocket", "path": "/_stcore/stream", "headers": []})
    # A stranger is for Streamlit to refuse, which it does before it reads.
    scopes.append({**scopes[0], "path": "/_stcore/upload_file/stranger/x"})
    scopes.append({**scopes[0], "method": "DELETE", "path": "/_stcore/upload_file/here/x"})
    for scope in scopes:
        finished(UploadGate(behind)(scope, None, None))  # type: ignore[arg-type]
    assert seen == scopes


def test_a_refusal_is_kept_for_the_page_until_the_next_files_are_chosen(
    store: Store, server: Server
) -> None:
    assert sent(store, size=HALF)[0] == 204
    given = [each.file_id for each in underway().hand_out("here", ["a.csv", "b.csv"])]
    assert finished(put(store, "here", given[0], 2 * HALF))[0] == 413
    assert finished(put(store, "here", given[1], 1))[0] == 204
    assert mentions(underway().refused["here"], UPLOADS_UNDERWAY_OF_SESSION.most)
    assert list(underway().refused) == ["here"]
    address("here")
    assert not underway().refused
    assert sent(store, size=2 * HALF)[0] == 413
    server.connected.discard("here")
    underway().sweep(server)  # type: ignore[arg-type]
    assert not underway().refused
