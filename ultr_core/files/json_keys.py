"""JSON in which an object names a key twice: parsers silently keep one of the two values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any

from ultr_core.errors import InputError, quoted

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.DOTALL)


class _KeyTwiceError(Exception):
    """Some object of a text names a key twice."""


def loads_once(text: str, name: str, parse_constant: Callable[[str], Any]) -> Any:
    """``json.loads`` of a text called ``name``, with what NaN and infinity become.

    Raises InputError for a key that an object names twice, and as that does.
    """
    try:
        return json.loads(text, parse_constant=parse_constant, object_pairs_hook=_object)
    except _KeyTwiceError:
        raise key_twice(text, name) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _KeyTwiceError
    return found


def key_twice(text: str, name: str, first_line: int = 1, among: Collection[str] = ()) -> InputError:
    """What to say of a text of JSON with a key twice; it begins on line ``first_line``.

    among: the keys that matter; all without any.
    """
    key, place = _second(text, among)
    line = first_line + text.count("\n", 0, place)
    return InputError(
        f"{name}, line {line} gives {quoted(key)} twice in the same object; keep one value.",
        "key_twice",
    )


def _second(text: str, among: Collection[str]) -> tuple[str, int]:
    """The first key that its object has named before, and where it is; the start if none has."""
    keys: list[set[str]] = []
    last = None
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            keys.append(set())
        elif mark in ("}", "]"):
            keys.pop()
        elif mark != ":":
            last = token
        elif last is not None:
            key = str(json.loads(last[0], strict=False))
            if key in keys[-1] and (not among or key in among):
                return key, last.start()
            keys[-1].add(key)
    return next(iter(among), ""), 0  # seen by a parser with another rule for odd texts
