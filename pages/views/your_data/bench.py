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

from pages.app.kept_memory import bytes_of
from pages.views.your_data.keeper import KEEPER
from ultr_core.errors import InputError, named
from ultr_core.files.disk import fault_of
from ultr_core.limits import (
    READ_KEPT_BY_SERVER,
    UPLOADS_KEPT_BY_SERVER,
    UPLOADS_KEPT_BY_SESSION,
    in_mb,
)

T = TypeVar("T")

GROWTH = 8
"""Times the largest upload that a packed one may unpack to."""

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
    _seen: tuple[int, ...] | None = None

    @classmethod
    def at(cls, path: Path) -> Brought:
        """The file at a path, as it is now; its bytes stay there."""
        return cls(path.name, path=path, _seen=_look_of(path))

    @property
    def size(self) -> int:
        """In bytes; of a file at a path, when it was taken."""
        return len(self.data) if self._seen is None else self._seen[0]

    def fault(self) -> str | None:
        """What happened to the file at the path since it was taken, as a sentence, or None.

        Nothing keeps it from being removed, written to, or replaced by something else.
        """
        if self.path is None:
            return None
        fault = fault_of(self.path)
        if fault is None and _look_of(self.path) != self._seen:
            fault = "is a different file or has different content"
        if fault is None:
            return None
        return (
            f"{named(self.name)} was taken by its path but now {fault}; remove it, then choose "
            "again."
        )


def _look_of(path: Path) -> tuple[int, ...] | None:
    """What tells a file and its content from another, its size first; None if none is there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


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
        with _COUNTING:
            _BENCHES.add(self)

    def bring(self, kind: str, file: Brought) -> None:
        """Take a file in place of the one before, unless there is no room; `faults` says so."""
        self.faults.pop(kind, None)
        with _COUNTING:
            before = len(self.files[kind].data) if kind in self.files else 0
            more = len(file.data) - before
            everybody = sum(bench.held() for bench in _BENCHES)
            try:
                UPLOADS_KEPT_BY_SESSION.require(
                    in_mb(self.held() + more), f"This session, with {named(file.name)},"
                )
                UPLOADS_KEPT_BY_SERVER.require(
                    in_mb(everybody + more), f"This server, with {named(file.name)},"
                )
            except InputError as error:
                self.faults[kind] = str(error)
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
        return sum(len(file.data) for file in tuple(self.files.values()))

    def made_bytes(self, without: str = "") -> int:
        """Memory in bytes of what was made of the files, one stage left out."""
        made = [value for stage, (_, value) in tuple(self._made.items()) if stage != without]
        return bytes_of(made)

    def _require_memory(self, stage: str, found: object) -> None:
        """Raise InputError where what was read now is too much with all that visitors keep."""
        with _COUNTING:
            others = sum(bench.made_bytes() for bench in _BENCHES if bench is not self)
        total = others + self.made_bytes(stage) + bytes_of(found)
        READ_KEPT_BY_SERVER.require(in_mb(total), "This server")

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
        """The result of a stage, made once for each ``token``; raises its InputError again.

        A file at a path may vanish while it is read; that is an InputError as well.
        """
        found = self.peek(stage, token)
        if found is None:
            self._made.pop(stage, None)
            try:
                found = maker()
                self._require_memory(stage, found)
            except InputError as error:
                found = error
            except OSError as error:
                found = InputError(
                    f"A file cannot be read ({error.strerror or error}); remove it, then choose "
                    "again."
                )
            self.keep(stage, token, found)
        if isinstance(found, InputError):
            raise InputError(str(found), found.about)
        result: T = found
        return result


def largest_upload_mb() -> int:
    """The limit of an upload, as this server is configured."""
    return int(st.get_option("server.maxUploadSize"))


_BENCHES: weakref.WeakSet[Bench] = weakref.WeakSet()
_COUNTING = threading.Lock()


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
