"""Frees what a session brought once its reader is gone.

Streamlit forgets a dropped session only when the next one comes or goes, which may be hours later.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

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
