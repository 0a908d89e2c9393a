"""What one visitor has brought to the page Your data, and what was made of it, in their session.

Nothing here is shared between sessions, and nothing of it outlives its session.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import streamlit as st

from pages.shared.data_keeper import KEEPER
from ultr_core.errors import InputError

T = TypeVar("T")

GROWTH = 8
"""Times the largest upload that a packed one may unpack to."""

MOST_BYTES = 1 << 30
"""Uploaded bytes that this server holds for all sessions together."""

_KEY = "your_data"
_READING = threading.Semaphore(1)  # large files are read one after the other, to spare memory


@dataclass(frozen=True, eq=False)
class Brought:
    """A file: its name, and its bytes or the path where it stands on the server."""

    name: str
    data: bytes = b""
    path: Path | None = None
    sample: bool = False
    token: str = field(default_factory=lambda: uuid4().hex)

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.data) if self.path is None else self.path.stat().st_size


class Bench:
    """The files of a session by kind, and the newest result of each stage.

    ``wanted`` is the training that was asked for and has not ended. ``faults`` are sentences on
    what could not be taken, by kind. ``turns`` number the uploaders, so that each is emptied once
    its file is taken. ``offers`` make the files to be saved, by key: Streamlit's store, which
    outlives the session for a while, is only told how to find them here.
    """

    def __init__(self) -> None:
        self.files: dict[str, Brought] = {}
        self.faults: dict[str, str] = {}
        self.turns: dict[str, int] = {}
        self.wanted: Hashable | None = None
        self.wishes: set[str] = set()
        self.offers: dict[str, Callable[[], bytes]] = {}
        self._made: dict[str, tuple[Hashable, Any]] = {}
        _BENCHES.add(self)

    def bring(self, kind: str, file: Brought) -> None:
        """Take a file in place of the one before."""
        self.faults.pop(kind, None)
        others = sum(bench.held() for bench in _BENCHES)
        if kind in self.files:
            others -= len(self.files[kind].data)
        if others + len(file.data) > MOST_BYTES:
            self.faults[kind] = (
                f"This server holds as many uploads as it can ({MOST_BYTES >> 20} MB); remove some "
                "files, or run the lab on your own computer."
            )
            return
        self.files[kind] = file

    def drop(self, *kinds: str) -> None:
        """Forget files, and all that was made of any of them."""
        for kind in kinds:
            self.files.pop(kind, None)
            self.faults.pop(kind, None)
        self._made.clear()
        self.offers.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.wanted = None
        self.wishes.clear()
        self.drop(*self.files)

    def held(self) -> int:
        """Bytes of uploads."""
        return sum(len(file.data) for file in self.files.values())

    def token(self, kind: str) -> str:
        """What tells one file of a kind from the next; "" where there is none."""
        return self.files[kind].token if kind in self.files else ""

    def peek(self, stage: str, token: Hashable) -> Any:
        """What was made of a stage from the same things, None otherwise."""
        known = self._made.get(stage)
        return known[1] if known is not None and known[0] == token else None

    def keep(self, stage: str, token: Hashable, value: object) -> None:
        """Remember the result of a stage in place of the one before."""
        self._made[stage] = (token, value)

    def make(self, stage: str, token: Hashable, maker: Callable[[], T]) -> T:
        """The result of a stage, made once for each ``token``; raises its InputError again."""
        found = self.peek(stage, token)
        if found is None:
            self._made.pop(stage, None)
            try:
                found = maker()
            except InputError as error:
                found = error
            self.keep(stage, token, found)
        if isinstance(found, InputError):
            raise InputError(str(found), found.about)
        result: T = found
        return result


def largest_upload_mb() -> int:
    """The limit of an upload, as this server is configured."""
    return int(st.get_option("server.maxUploadSize"))


_BENCHES: weakref.WeakSet[Bench] = weakref.WeakSet()


def bench() -> Bench:
    """That of this session."""
    found: Bench | None = st.session_state.get(_KEY)
    if found is None:
        found = st.session_state[_KEY] = Bench()
    KEEPER.watch(found)
    return found


@contextmanager
def reading() -> Iterator[None]:
    """The server's one place for reading a file."""
    with _READING:
        yield
