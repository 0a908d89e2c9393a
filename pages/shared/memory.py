"""Results remembered for all visitors: the newest so many, each made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """At most ``size`` values by key; the one that was not used for longest goes first.

    Streamlit's caches copy a value on each use and cannot say whether they hold one. Values
    here are shared by all sessions and must not be changed.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def peek(self, key: Hashable) -> T | None:
        """The value of ``key`` if it is remembered."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``key``, made by the first who asks while the others wait for it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            found = self.peek(key)
            if found is not None:
                return found
            try:
                value = make()
                with self._lock:
                    self._values[key] = value
                    while len(self._values) > self._size:
                        self._values.popitem(last=False)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value
