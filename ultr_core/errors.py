"""The one kind of error that a reader is meant to see, and how it shows what was given."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

_LONGEST_VALUE = 40
_LONGEST_PATH = 200
# What a missing file and a link to itself are called is up to their readers.
_FOR_OTHERS = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class InputError(ValueError):
    """Input from outside the lab cannot be used.

    The message is one sentence: what is wrong, where (file, line, column or parameter), and what
    would be right. It names no option and no control: ``about`` is the key of the remedy, and each
    interface adds its own name for it: the command line in ``jobs/output.py``, pages in
    ``pages/app/markdown.py``. Keys without a remedy distinguish one fault from another; tests
    identify an error by its key and by the values it names.
    """

    def __init__(self, message: str = "", about: str = "") -> None:
        super().__init__(message)
        self.about = about


class Remark(str):
    """A sentence that is not an error, with a key for what it is about, as in an InputError.

    >>> Remark("Grade 1 counts as relevant instead.", "relevant_grade").about
    'relevant_grade'
    """

    about: str

    def __new__(cls, text: str, about: str = "") -> Self:
        """The sentence ``text`` about ``about``."""
        made = super().__new__(cls, text)
        made.about = about
        return made


def about(said: object) -> str:
    """The key of what an error or a sentence is about, "" for one that has none."""
    return str(getattr(said, "about", ""))


def with_remedy(said: object, remedies: Mapping[str, str]) -> str:
    """An error or a sentence, with what a face calls what would repair it, in brackets at its end.

    >>> with_remedy(InputError("Add the position.", "carry_on"), {"carry_on": "--carry-on"})
    'Add the position (--carry-on).'
    """
    text, remedy = str(said), remedies.get(about(said))
    if remedy is None:
        return text
    ends = text.endswith(".") and not text.endswith("...")
    return f"{text[:-1]} ({remedy})." if ends else f"{text} ({remedy})"


def quoted(value: Any) -> str:
    """A given value for a message: quoted and escaped, at most 40 characters, on one line."""
    try:
        # Escapes only make text longer, so that of a long one the start is enough.
        text = repr(value[: _LONGEST_VALUE + 1] if isinstance(value, str) else value)
    except (ValueError, RecursionError):  # such as a whole number of thousands of digits
        return f"a value of type {type(value).__name__} too long to print"
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

    Raises InputError for an empty path, a lone dash, a path with a null byte in it, and one that
    the system cannot look up, as for a name that is too long; whether anything is there is left to
    others.
    """
    if not str(path):
        raise InputError(
            f"{what} has an empty path; give the path of a file or directory.", "path_empty"
        )
    if path == "-":
        raise InputError(
            f"{what} is '-', which does not mean standard input or output here; give a path, such "
            "as /dev/stdin or /dev/stdout, or ./- for a file of that name.",
            "path_dash",
        )
    if "\0" in str(path):
        raise InputError(
            f"{what} {named(path)} has a null byte in its path, which no path may contain.",
            "path_zero_byte",
        )
    try:
        os.stat(path)
    except OSError as error:
        if error.errno not in _FOR_OTHERS:
            raise InputError(
                f"{what} {named(path)} cannot be looked up ({error.strerror}).", "path_lookup"
            ) from None
    except ValueError:
        raise InputError(
            f"{what} {named(path)} is not a path: it is not readable text.", "path_text"
        ) from None
    return Path(path)


def number_in_text(text: str) -> float:
    """The number that a text means, in ASCII digits without underscores; NaN if it means none."""
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan
