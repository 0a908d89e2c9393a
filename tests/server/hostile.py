"""A visitor who also uploads, types and presses, with or without the page's leave."""

from __future__ import annotations

import asyncio
import http.client
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from scripts.visitor import Visitor

_END = b"\r\n--b--\r\n"


def _part(name: str) -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n'
    return head.encode() + b"Content-Type: text/plain\r\n\r\n"


@dataclass
class Hostile(Visitor):
    """One session.

    ``session`` is its id; ``widgets`` are the identifiers of widgets by key; ``alerts`` the words
    of warnings and errors by their place.
    """

    session: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    alerts: dict[tuple[int, ...], str] = field(default_factory=dict)
    _given: asyncio.Queue[list[Any]] = field(default_factory=asyncio.Queue)

    async def addresses(self, count: int) -> list[str]:
        """Addresses for uploads, as the page asks for them before it sends files."""
        return [given.upload_url for given in await self._ask_for_addresses(count)]

    async def put(self, address: str, name: str, data: bytes, head: str | None = None) -> int:
        """Send a file to an address; the status of the answer. ``head`` replaces its token."""
        return await asyncio.to_thread(self._put, address, name, data, head)

    async def upload(self, kind: str, name: str, data: bytes) -> int:
        """Bring a file to the page as a browser does, and wait for the run that takes it."""
        (given,) = await self._ask_for_addresses(1)
        status = await self.put(given.upload_url, name, data)
        await self._bring(kind, given, name, len(data))
        return status

    async def announce(self, kind: str, name: str, size: int) -> None:
        """Tell the page of a file that was never sent."""
        (given,) = await self._ask_for_addresses(1)
        await self._bring(kind, given, name, size)

    async def _bring(self, kind: str, given: Any, name: str, size: int) -> None:
        state = WidgetState(id=self.widget(f"data-upload-{kind}-"))
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name, info.size = given.file_id, name, size
        info.file_urls.CopyFrom(given)
        await self.act(state)

    async def type(self, key: str, text: str) -> None:
        """Fill a field."""
        await self.act(WidgetState(id=self.widget(key), string_value=text))

    async def press(self, key: str) -> None:
        """Press a button."""
        await self.act(WidgetState(id=self.widget(key), trigger_value=True))

    async def act(self, *states: WidgetState) -> None:
        """Let the page run with new values of widgets, and wait for the end."""
        self._idle.clear()
        message = BackMsg()
        message.rerun_script.page_script_hash = self._page_hash
        message.rerun_script.widget_states.widgets.extend(states)
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())
        await self._idle.wait()

    def widget(self, start: str) -> str:
        """The identifier of the widget whose key begins so."""
        return next(found for key, found in self.widgets.items() if key.startswith(start))

    async def _ask_for_addresses(self, count: int) -> list[Any]:
        message = BackMsg()
        message.file_urls_request.request_id = "1"
        message.file_urls_request.file_names.extend(["log.csv"] * count)
        message.file_urls_request.session_id = self.session
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())
        return await self._given.get()

    def _put(self, address: str, name: str, data: bytes, token: str | None) -> int:
        with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=60) as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
        size = len(_part(name)) + len(data) + len(_END)
        headers = {
            "Cookie": cookie,
            "X-Xsrftoken": cookie.partition("=")[2] if token is None else token,
            "Content-Type": "multipart/form-data; boundary=b",
            "Content-Length": str(size),
        }
        try:
            connection.request("PUT", address, iter((_part(name), data, _END)), headers)
            return connection.getresponse().status
        except (BrokenPipeError, ConnectionResetError):
            return 0  # refused and cut off while it was sent
        finally:
            connection.close()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            if not message.metadata.run.fragment_ids:
                self.widgets.clear()
                self.alerts.clear()
        elif kind == "file_urls_response":
            self._given.put_nowait(list(message.file_urls_response.file_urls))
        super()._take(message)

    def _take_element(self, element: Any, place: tuple[int, ...]) -> None:
        kind = element.WhichOneof("type")
        found = getattr(getattr(element, kind), "id", "") if kind else ""
        if isinstance(found, str) and found.count("-") >= 2:  # $$ID-digest-key
            self.widgets[found.split("-", 2)[2]] = found
        self.alerts.pop(place, None)
        if kind == "alert":
            self.alerts[place] = element.alert.body
        super()._take_element(element, place)
