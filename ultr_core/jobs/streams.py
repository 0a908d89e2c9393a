"""Standard output that tells when it cannot be written, standard error that never stops work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO


class OutputError(Exception):
    """Standard output cannot be written; the message says why."""


class ReaderGoneError(Exception):
    """Whoever read standard output has stopped reading, as ``head`` does."""


@contextmanager
def forgiving_errors() -> Iterator[None]:
    """Let nothing printed to ``sys.stderr`` fail, or land elsewhere because it is closed."""
    _reconfigure(sys.stderr)
    with redirect_stderr(_Notes(sys.stderr)):
        yield


@contextmanager
def checked_output() -> Iterator[None]:
    """Tell when what is printed to ``sys.stdout`` cannot be written, at the latest at the end.

    Raises:
        OutputError: something printed cannot be written, or standard output is closed.
        ReaderGoneError: the pipe that standard output writes to has no reader any more.

    """
    if sys.stdout is None:
        # Python drops what is printed to a closed stream; the result would be lost unseen.
        raise OutputError("it is closed")
    _reconfigure(sys.stdout)
    output = _Output(sys.stdout)
    with redirect_stdout(output):
        try:
            yield
        except SystemExit:  # after --help
            output.flush()
            raise
        output.flush()


def _reconfigure(stream: TextIO | None) -> None:
    # Greek letters must not break a terminal with another encoding.
    with suppress(AttributeError):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


class _Guard:
    """A stream whose other attributes are those of the stream behind it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _drop(self) -> None:
        """Lead the stream nowhere, so that Python does not complain about it at exit."""
        with suppress(AttributeError, OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # type: ignore[union-attr]
            os.close(nowhere)


class _Output(_Guard):
    def write(self, text: str) -> int:
        return self._tried("write", text)  # type: ignore[no-any-return]

    def flush(self) -> None:
        self._tried("flush")

    def _tried(self, name: str, *text: str) -> Any:
        try:
            return getattr(self._stream, name)(*text)
        except BrokenPipeError:
            self._drop()
            raise ReaderGoneError from None
        except (OSError, ValueError) as error:
            self._drop()
            raise OutputError(getattr(error, "strerror", None) or str(error)) from None


class _Notes(_Guard):
    """Standard error: what it cannot take is lost, and the result is not."""

    def write(self, text: str) -> int:
        self._tried("write", text)
        return len(text)

    def flush(self) -> None:
        self._tried("flush")

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def _tried(self, name: str, *text: str) -> None:
        if self._stream is None:
            return
        try:
            getattr(self._stream, name)(*text)
        except (OSError, ValueError):
            self._drop()
