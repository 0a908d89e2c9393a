"""A visitor to the app without a browser: speaks Streamlit's protocol over a websocket.

It does what the browser does for a run of the page: requests a page, moves sliders, and returns
when a part of the page asks to be run again. It does not draw anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

PENDING = ":shimmer["
"""How the app's pages mark words that stand in for a result."""

_LARGEST_MESSAGE = 50_000_000  # bytes
_LONG = 3_600  # seconds; what is run again so rarely waits for nothing
_CLEAN = ("FINISHED_SUCCESSFULLY", "FINISHED_FRAGMENT_RUN_SUCCESSFULLY")


@dataclass
class Visitor:
    """One session, or several in turn: opening again after a lost connection is as in a browser.

    ``sliders`` are the widget identifiers of sliders by the name in the address bar; ``errors``
    says what went wrong; ``received`` counts bytes; ``texts`` are the words on the page by their
    place; ``cookie`` is what a proxy has set, ``session`` the session's name;
    ``seen`` is when an element of each kind first arrived, on the clock of ``time.perf_counter``.
    Large messages are kept and named in each request, so that the server need not send them again;
    ``repeated`` counts those it did not send.
    """

    address: str
    page: str = ""
    query: dict[str, str] = field(default_factory=dict)
    sliders: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    received: int = 0
    repeated: int = 0
    texts: dict[tuple[int, ...], str] = field(default_factory=dict)
    finished_runs: int = 0
    cookie: str = ""
    session: str = ""
    seen: dict[str, float] = field(default_factory=dict)
    _values: dict[str, float] = field(default_factory=dict)
    _socket: ClientConnection | None = None
    _reader: asyncio.Task[None] | None = None
    _timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)
    _page_hash: str = ""
    _kept: dict[str, ForwardMsg] = field(default_factory=dict)

    async def open(self) -> None:
        """Connect and ask for the page; returns when its first run has finished."""
        websocket = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await connect(
            websocket,
            subprotocols=[Subprotocol(name) for name in ("streamlit", "-", self.session) if name],
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            max_size=_LARGEST_MESSAGE,
            open_timeout=60,
        )
        assert self._socket.response is not None
        for cookie in self._socket.response.headers.get_all("Set-Cookie"):
            self.cookie = cookie.partition(";")[0]
        self._reader = asyncio.create_task(self._read())
        await self.ask()

    async def ask(self, **sliders: float) -> float:
        """Move sliders, all in one message; returns the seconds until the run of the page ends."""
        self._values |= sliders
        started = time.perf_counter()
        self._idle.clear()
        await self._send()
        await self._idle.wait()
        return time.perf_counter() - started

    async def move(self, **sliders: float) -> None:
        """Move sliders and do not wait."""
        self._values |= sliders
        self._idle.clear()
        await self._send()

    @property
    def runs(self) -> bool:
        """Whether the page is running."""
        return not self._idle.is_set()

    @property
    def pending(self) -> bool:
        """Whether the page still has a placeholder for a result."""
        return self.runs or any(PENDING in text for text in self.texts.values())

    @property
    def comes_back(self) -> bool:
        """Whether a part of the page still asks to be run again."""
        return bool(self._timers)

    async def settled(self) -> None:
        """Wait until the page is not running and does not ask to be run again."""
        while self.runs or self.comes_back:
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Leave, as when a tab is closed."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader

    async def _send(self, fragment: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        values = {name: f"{value:g}" for name, value in self._values.items()}
        state.query_string = urlencode(self.query | values)
        state.page_script_hash = self._page_hash
        state.page_name = "" if self._page_hash else self.page
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment)
        state.cached_message_hashes.extend(self._kept)
        for name, value in self._values.items():
            widget = state.widget_states.widgets.add()
            widget.id = self.sliders[name]
            widget.double_array_value.data.append(value)
        assert self._socket is not None
        with suppress(ConnectionClosed):
            await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        assert self._socket is not None
        try:
            async for raw in self._socket:
                self.received += len(raw)
                message = ForwardMsg()
                message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
                self._take(message)
        except ConnectionClosed as error:
            self.errors.append(f"connection lost: {error}")
        self._idle.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            self.repeated += 1
            message, place = self._kept[message.ref_hash], message.metadata.delta_path
            self._take_element(message.delta.new_element, tuple(place))
        elif message.metadata.cacheable:
            self._kept[message.hash] = message
        if kind == "new_session":
            self._page_hash = message.new_session.page_script_hash
            self.session = message.new_session.initialize.session_id
            if not message.metadata.run.fragment_ids:
                self._idle.clear()
                self.texts.clear()
                self._stop_timers(list(self._timers))
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "delta":
            self._take_element(message.delta.new_element, tuple(message.metadata.delta_path))
        elif kind == "auto_rerun":
            self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_timers(message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished":
            status = ForwardMsg.ScriptFinishedStatus.Name(message.script_finished)
            if status in _CLEAN:
                self.finished_runs += 1
                self._idle.set()
            elif status != "FINISHED_EARLY_FOR_RERUN":
                self.errors.append(status)
                self._idle.set()

    def _take_element(self, element: Any, place: tuple[int, ...]) -> None:
        kind = element.WhichOneof("type")
        self.seen.setdefault(kind, time.perf_counter())
        self.texts.pop(place, None)
        if kind == "slider":
            self.sliders[element.slider.query_param_key] = element.slider.id
        elif kind == "markdown":
            self.texts[place] = element.markdown.body
        elif kind == "exception":
            self.errors.append(element.exception.message)

    def _start_timer(self, fragment: str, interval: float) -> None:
        if fragment not in self._timers and interval < _LONG:
            self._timers[fragment] = asyncio.create_task(self._tick(fragment, interval))

    def _stop_timers(self, fragments: Any) -> None:
        for fragment in fragments:
            timer = self._timers.pop(fragment, None)
            if timer is not None:
                timer.cancel()

    async def _tick(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._send(fragment)


def different_values(count: int, names: tuple[str, ...]) -> Iterator[dict[str, float]]:
    """``count`` settings of the sliders ``names``, no two alike, in hundredths on a grid.

    Every slider named moves from 0.05 to 0.95 in steps of 0.05 along a stride that is coprime
    to the number of positions, so that neighbours in time are not neighbours in value.
    """
    positions = 19
    for number in range(count):
        values = {}
        rest = number
        for stride, name in zip((7, 5, 3, 11), names, strict=False):
            values[name] = round(
                0.05 + 0.05 * ((stride * number + rest // positions) % positions), 2
            )
            rest //= positions
        yield values
