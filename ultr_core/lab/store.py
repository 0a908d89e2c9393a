"""What a lab remembers: values by kind and key, and the names of those that it makes."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from ultr_core.corpus import CorpusShape, CorpusSplits
from ultr_core.settings import Settings

T = TypeVar("T")

CorpusChoice = str | Path | CorpusShape | CorpusSplits | None
"""Directory of a LETOR corpus, size of a synthetic one, corpus at hand, None: the built-in one."""


@dataclass(frozen=True)
class Cell:
    """Exactly what a stage depends on: two labs with the same cell share its value.

    kind: the method of `Lab` that computes it, or a name chosen by another subpackage. settings:
    only the fields it depends on. args: the method's arguments, such as draw and method; hashable.
    A cell can be pickled, so that a queue can request it and another process can compute it
    (`Lab.make`).
    """

    kind: str
    settings: Settings
    args: tuple[Any, ...] = ()
    corpus: CorpusChoice = None


class Store:
    """The newest values of each kind, shared by threads; values must not be changed.

    bounds: how many values of a kind are kept; the least recently used value is dropped first.
    otherwise: the bound for every other kind, None to keep all values. A value is never None.
    """

    def __init__(
        self, bounds: Mapping[str, int] = MappingProxyType({}), otherwise: int | None = None
    ) -> None:
        self._bounds, self._otherwise = bounds, otherwise
        self._values: defaultdict[str, OrderedDict[Hashable, Any]] = defaultdict(OrderedDict)
        self._making: set[tuple[str, Hashable]] = set()
        self._changed = threading.Condition()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def peek(self, kind: str, key: Hashable) -> Any:
        """The value if it is kept, None otherwise; nothing is computed."""
        with self._changed:
            return self._held(kind, key)

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """The value, computed for the first caller while other callers wait for it.

        Raises what ``make`` raises; then the next caller in line computes it.
        """
        place = (kind, key)
        with self._changed:
            while (found := self._held(kind, key)) is None and place in self._making:
                self._changed.wait()
            if found is not None:
                return cast(T, found)
            self._making.add(place)
        try:
            value = make()
            with self._changed:
                self._keep(kind, key, value)
        finally:
            with self._changed:
                self._making.discard(place)
                self._changed.notify_all()
        return value

    def forget(self, *kinds: str) -> None:
        """Drop all values of these kinds, or all values if no kind is named."""
        with self._changed:
            for kind in kinds or tuple(self._values):
                self._values.pop(kind, None)

    def newest(self) -> dict[str, Any]:
        """The most recently computed or used value of each kind, by kind."""
        with self._changed:
            return {
                kind: next(reversed(held.values())) for kind, held in self._values.items() if held
            }

    def turn(self, kind: str) -> threading.Lock:
        """A lock for jobs that run one at a time, because concurrent runs slow each other down."""
        with self._changed:
            return self._turns[kind]

    def _held(self, kind: str, key: Hashable) -> Any:
        values = self._values[kind]
        if key in values:
            values.move_to_end(key)
        return values.get(key)

    def _keep(self, kind: str, key: Hashable, value: object) -> None:
        values, most = self._values[kind], self._bounds.get(kind, self._otherwise)
        values[key] = value
        while most is not None and len(values) > most:
            values.popitem(last=False)
