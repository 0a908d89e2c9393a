"""What one visitor has brought to the page Your data, and what was made of it, in their session.

Stages are held in a store as the lab's are, of each kind the newest. What is special to a visitor's
files is around it: nothing is shared between sessions, all visitors together have a bound of
memory, and what a session holds is let go of once its reader has gone.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ultr_core.errors import InputError, named
from ultr_core.files.disk import fault_of
from ultr_core.lab.store import Store
from ultr_core.limits import (
    READ_KEPT_BY_SERVER,
    UPLOADS_KEPT_BY_SERVER,
    UPLOADS_KEPT_BY_SESSION,
    in_mb,
)

T = TypeVar("T")

_KEY = "your_data"
_READING = threading.Semaphore(1)  # large files are read one after the other, to spare memory
_NAMED = 3  # files of several that are named
_PLACE, _TEXT = 8, 64  # bytes of a place in a list, and of a short text that stands there
_LONG_TEXT = 1 << 16
_SLOT = 40  # bytes of a key of a mapping and its value, without what they are


def bytes_of(value: object) -> int:
    """Bytes of the arrays and lists that a value consists of, each counted once.

    Objects are followed through their attributes. A list whose first place has a text or a number
    is taken to hold nothing else, and its texts to be short. A view counts as what it is a view of,
    and a single text only if it is long, as that of a model.
    """
    seen: set[int] = set()
    waiting: list[Any] = [value]
    total = 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case np.ndarray():
                total += one.nbytes
            case str() | bytes():
                total += sys.getsizeof(one) if len(one) > _LONG_TEXT else 0
            case type():
                pass
            case Mapping():
                texts = sum(isinstance(each, str) for each in one.values())
                total += texts * (2 * _TEXT + _SLOT)
                waiting += one.values()
            case [str(), *_]:
                total += len(one) * (_PLACE + _TEXT)
            case [int() | float(), *_]:
                total += len(one) * _PLACE
            case list() | tuple():
                waiting += one
            case _:
                waiting += getattr(one, "__dict__", {}).values()
    return total


@dataclass(frozen=True, eq=False)
class Brought:
    """A file: its name, and its bytes or the path where it stands on the server.

    parts: of what came in several files, each of them; the name is of all together.
    """

    name: str
    data: bytes = b""
    path: Path | None = None
    sample: bool = False
    token: str = field(default_factory=lambda: uuid4().hex)
    _seen: tuple[int, ...] | None = None
    parts: tuple[Brought, ...] = ()

    @classmethod
    def together(cls, files: Sequence[Brought]) -> Brought:
        """Several files as one thing; one alone stays as it is."""
        if len(files) == 1:
            return files[0]
        names = ", ".join(each.name for each in files[:_NAMED])
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        return cls(f"{names}{more}", parts=tuple(files))

    @property
    def files(self) -> tuple[Brought, ...]:
        """Each file."""
        return self.parts or (self,)

    @property
    def held(self) -> int:
        """Bytes of uploads."""
        return sum(len(each.data) for each in self.files)

    @classmethod
    def at(cls, path: Path) -> Brought:
        """The file at a path, as it is now; its bytes stay there."""
        return cls(path.name, path=path, _seen=_look_of(path))

    @property
    def size(self) -> int:
        """In bytes; of a file at a path, when it was taken."""
        if self.parts:
            return sum(each.size for each in self.parts)
        return len(self.data) if self._seen is None else self._seen[0]

    def fault(self) -> str | None:
        """What happened to the file at the path since it was taken, as a sentence, or None.

        Nothing keeps it from being removed, written to, or replaced by something else.
        """
        if self.path is None:
            return next(filter(None, (each.fault() for each in self.parts)), None)
        fault = fault_of(self.path)
        if fault is None and _look_of(self.path) != self._seen:
            fault = "is a different file or has different content"
        if fault is None:
            return None
        return (
            f"{named(self.name)} was read from its path but now {fault}; remove it, then choose "
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

    ``read_for`` is the token of the log that choices of reading were made for. ``wanted`` is the
    training that was asked for and has not ended. ``names_wanted`` says that tables of names would
    repair how log and corpus join. ``faults`` are sentences on what could not be
    taken, by kind. ``turns`` number the uploaders, so that each is emptied once its file is taken.
    ``offers`` make the files to be saved, by key: Streamlit's store, which outlives the session for
    a while, is only told how to find them here.
    """

    def __init__(self) -> None:
        self.files: dict[str, Brought] = {}
        self.faults: dict[str, str] = {}
        self.turns: dict[str, int] = {}
        self.read_for = ""
        self.wanted: Hashable | None = None
        self.names_wanted = False
        self.wishes: set[str] = set()
        self.offers: dict[str, Callable[[], bytes]] = {}
        self._store = Store(otherwise=1)
        self._made_of: dict[str, Hashable] = {}
        with _COUNTING:
            _BENCHES.add(self)

    def bring(self, kind: str, file: Brought) -> None:
        """Take a file in place of the one before, unless there is no room; `faults` says so."""
        self.faults.pop(kind, None)
        with _COUNTING:
            before = self.files[kind].held if kind in self.files else 0
            more = file.held - before
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
        tokens = {self.files[kind].token for kind in kinds if kind in self.files}
        for kind in kinds:
            self.files.pop(kind, None)
            self.faults.pop(kind, None)
        for stage in [s for s, made_of in self._made_of.items() if _mentions(made_of, tokens)]:
            self._store.forget(stage)
            del self._made_of[stage]
        self.offers.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.wanted = None
        self.wishes.clear()
        self.drop(*self.files)
        self._store.forget()
        self._made_of.clear()

    def held(self) -> int:
        """Bytes of uploads."""
        return sum(file.held for file in tuple(self.files.values()))

    @property
    def made(self) -> dict[str, Any]:
        """What was made of the files, by stage."""
        return self._store.newest()

    def made_bytes(self, without: str = "") -> int:
        """Memory in bytes of what was made of the files, one stage left out."""
        return bytes_of([made for stage, made in self.made.items() if stage != without])

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
        return self._store.peek(stage, token)

    def keep(self, stage: str, token: Hashable, value: object) -> None:
        """Remember the result of a stage in place of the one before."""
        self._store.forget(stage)
        self._made_of[stage] = token
        self._store.get(stage, token, lambda: value)

    def make(self, stage: str, token: Hashable, maker: Callable[[], T]) -> T:
        """The result of a stage, made once for each ``token``; raises its InputError again.

        A file at a path may vanish while it is being read; that is an InputError as well.
        """

        def made() -> T | InputError:
            self._store.forget(stage)  # its memory, before the next one takes as much
            try:
                found = maker()
                self._require_memory(stage, found)
            except InputError as error:
                return error
            except OSError as error:
                return InputError(
                    f"A file cannot be read ({error.strerror or error}); remove it, then choose "
                    "again."
                )
            return found

        self._made_of[stage] = token
        found = self._store.get(stage, token, made)
        if isinstance(found, InputError):
            raise InputError(str(found), found.about)
        return found


def _mentions(made_of: Hashable, tokens: set[str]) -> bool:
    if isinstance(made_of, tuple):
        return any(_mentions(part, tokens) for part in made_of)
    return made_of in tokens


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


LOOK_EVERY = 2.0  # seconds


class Freed(Protocol):
    """What can be emptied."""

    def clear(self) -> None:
        """Forget everything."""


class Keeper:
    """Watches who is connected, and empties what belongs to sessions that are not.

    A session that lost its connection keeps its things as long as Streamlit would take it back
    (``server.disconnectedSessionTTL``), for a reload or a tunnel.
    """

    def __init__(self) -> None:
        self._owned: weakref.WeakKeyDictionary[Freed, str] = weakref.WeakKeyDictionary()
        self._gone: dict[str, float] = {}
        self._lock = threading.Lock()
        self._watching = False

    def watch(self, thing: Freed) -> None:
        """Watch over a thing of the session that runs now; without a server there is none."""
        context = get_script_run_ctx()
        if context is None or not runtime.exists():
            return
        with self._lock:
            self._owned[thing] = context.session_id
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._look, name="data-keeper", daemon=True).start()

    def free(self, connected: set[str], now: float, patience: float) -> int:
        """Empty what belongs to sessions that are gone for more than ``patience`` seconds.

        Returns how many things are still watched.
        """
        with self._lock:
            owners = set(self._owned.values())
            self._gone = {
                owner: self._gone.get(owner, now) for owner in owners if owner not in connected
            }
            late = {owner for owner, since in self._gone.items() if now - since >= patience}
            for thing in [t for t, owner in self._owned.items() if owner in late]:
                del self._owned[thing]
                thing.clear()
            return len(self._owned)

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            if not runtime.exists():
                return
            server = runtime.get_instance()
            with self._lock:
                owners, watched = set(self._owned.values()), len(self._owned)
                if not owners:
                    self._watching = False
                    return
            connected = {owner for owner in owners if server.is_active_session(owner)}
            patience = float(st.get_option("server.disconnectedSessionTTL") or 0)
            if self.free(connected, time.monotonic(), patience) < watched:
                give_back()


def give_back() -> None:
    """Give the memory of who has left back to the system, which glibc else keeps for others.

    What is left of a session are cycles; in between they would hold the pages of all the rest.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


KEEPER = Keeper()
