"""The one kind of error that a reader is meant to see, and how it shows what was given."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path
from typing import Any

_LONGEST_VALUE = 40
_LONGEST_PATH = 200
# What a missing file and a link to itself are called is up to their readers.
_FOR_OTHERS = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class InputError(ValueError):
    """Something given from outside cannot be used.

    The message is one sentence: what is wrong, where (file, line, column or
    parameter), and what would be right. Pages show it as it is; the command
    line prints it and exits with code 2.
    """


def quoted(value: Any) -> str:
    """A given value for a message: quoted and escaped, at most 40 characters, on one line."""
    try:
        # Escapes only make text longer, so that of a long one the start is enough.
        text = repr(value[: _LONGEST_VALUE + 1] if isinstance(value, str) else value)
    except (ValueError, RecursionError):  # such as a whole number of thousands of digits
        return f"a {type(value).__name__} too long to print"
    text = one_line(text)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def named(path: str | Path) -> str:
    """A path for a message: as it is, but on one line and at most 200 characters long."""
    text = one_line(str(path))
    half = (_LONGEST_PATH - 5) // 2
    return text if len(text) <= _LONGEST_PATH else f"{text[:half]} ... {text[-half:]}"


def one_line(text: str) -> str:
    """Text with line breaks and all else that cannot be printed as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def checked_path(path: str | Path, what: str) -> Path:
    """A path that can be looked up; ``what`` is its subject in messages, as "The click log".

    Raises InputError for an empty path, a lone dash, a path with a zero byte in it, and one that
    the system cannot look up, as for a name that is too long; whether anything is there is left to
    others.
    """
    if not str(path):
        raise InputError(f"{what} has an empty path; give the path of a file or directory.")
    if path == "-":
        raise InputError(
            f"{what} is '-', which does not stand for standard input or output here; give a path, "
            "as /dev/stdin or /dev/stdout, or ./- for a file of that name."
        )
    if "\0" in str(path):
        raise InputError(f"{what} {named(path)} has a zero byte in its path, which no path has.")
    try:
        os.stat(path)
    except OSError as error:
        if error.errno not in _FOR_OTHERS:
            raise InputError(
                f"{what} {named(path)} cannot be looked up ({error.strerror})."
            ) from None
    except ValueError:
        raise InputError(f"{what} {named(path)} is no path: it is no readable text.") from None
    return Path(path)


def number_in_text(text: str) -> float:
    """The number that a text means, in ASCII digits without underscores; NaN if it means none."""
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan
