"""How much memory a value takes, where that is much: its arrays and its lists of names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_PLACE, _TEXT = 8, 64  # bytes of a place in a list, and of a short text that stands there


def bytes_of(value: object) -> int:
    """Bytes of the arrays and lists that a value consists of, each counted once.

    Objects are followed through their attributes. A list whose first place has a text or a number
    is taken to hold nothing else, and texts to be short. A view counts as what it is a view of.
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
            case str() | bytes() | type():
                pass
            case Mapping():
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
