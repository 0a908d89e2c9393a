"""The text of a click log, piece by piece: plain or gzip, cut at ends of rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.letor_lines import Source
from ultr_core.errors import InputError
from ultr_core.files import BYTE_ORDER_MARK, GZIP, other_format, unpacked

Progress = Callable[[float], object]
"""Told the share of a file that has been read, from 0 to 1, after each block."""

BLOCK_BYTES = 1 << 24
"""Text read at once; no single row may be longer."""

PARQUET = b"PAR1"


def log_source(content: str | Path | bytes, name: str = "the click log") -> Source:
    """The file at a path, or bytes under the name that messages call them by.

    Raises InputError for anything but a regular file at the path.
    """
    if isinstance(content, bytes):
        return Source.upload(content, name)
    return Source.file(content, "The click log")


@contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """A stream of the bytes as they are stored; raises InputError if they cannot be read."""
    try:
        with source.open() as stream:
            yield stream
    except OSError as error:
        raise InputError(f"{source.name} cannot be read ({error.strerror or error}).") from None


def is_parquet(source: Source) -> bool:
    """Whether the bytes are Parquet; raises InputError for other formats that are no text."""
    start = first_bytes(source, 8)
    if start.startswith(PARQUET):
        return True
    if found := other_format(start):
        raise InputError(
            f"{source.name} is {found}; give a CSV file in UTF-8, plain or gzip, or a Parquet file."
        )
    return False


def first_bytes(source: Source, size: int) -> bytes:
    """The beginning of what is stored."""
    with opened(source) as stream:
        return stream.read(size)


@dataclass(frozen=True)
class TextBlock:
    """Whole rows of text, the number of the line that they begin at, and of lines in it."""

    data: bytes
    first_line: int
    lines: int


def text_blocks(
    source: Source, delimiter_of: Callable[[str], str], progress: Progress | None = None
) -> Iterator[TextBlock]:
    """The header line as a block of its own, then blocks of whole rows.

    delimiter_of is given the header line and says what stands between columns. Raises InputError
    for a damaged or exploding gzip file, a row that does not end, and text that is none.
    """
    with opened(source) as raw:
        pieces = _pieces(source, raw, progress)
        rest = next(pieces, b"").removeprefix(BYTE_ORDER_MARK)
        old_ends = b"\n" not in rest and b"\r" in rest
        rest = rest.replace(b"\r", b"\n") if old_ends else rest
        header, line, rest = _header(rest, source)
        yield TextBlock(header, line, 1)
        delimiter = delimiter_of(header.decode("utf-8", "replace"))
        line += 1
        for more in pieces:
            end, lines = _complete(rest, delimiter)
            if end == 0 and len(rest) > BLOCK_BYTES:
                raise InputError(
                    f"Line {line} of {source.name} begins a row of more than "
                    f"{BLOCK_BYTES >> 20} MiB; a quotation mark there may never be closed."
                )
            if end:
                yield TextBlock(rest[:end], line, lines)
            line += lines
            rest = rest[end:] + (more.replace(b"\r", b"\n") if old_ends else more)
        if rest:
            _require_closed(rest, delimiter, line, source.name)
            rest = rest if rest.endswith(b"\n") else rest + b"\n"
            yield TextBlock(rest, line, rest.count(b"\n"))


def _pieces(source: Source, raw: IO[bytes], progress: Progress | None) -> Iterator[bytes]:
    """The text as it comes, unpacked, telling how far it is."""
    packed = raw.read(2) == GZIP
    raw.seek(0)
    if packed:
        pieces = unpacked(raw, source.size, source.name, BLOCK_BYTES)
    else:
        pieces = iter(lambda: raw.read(BLOCK_BYTES), b"")
    for piece in pieces:
        yield piece
        if progress is not None:
            progress(min(1.0, raw.tell() / max(source.size, 1)))


def _header(data: bytes, source: Source) -> tuple[bytes, int, bytes]:
    """First line that is not blank, its number, and what follows it."""
    line = 1
    while True:
        head, end, rest = data.partition(b"\n")
        if head.strip() or not end:
            break
        data, line = rest, line + 1
    if b"\0" in head or len(head) > 1 << 20:
        raise InputError(
            f"{source.name} is no UTF-8 text with a line of column names; give a CSV file in "
            "UTF-8, plain or gzip, or a Parquet file."
        )
    return head.rstrip(b"\r"), line, rest


def _complete(data: bytes, delimiter: str) -> tuple[int, int]:
    """End of the last row that is surely complete, and the number of lines up to there."""
    end = data.rfind(b"\n") + 1
    if b'"' not in data or not _line_ends_in_quotes(data).any():
        return end, data.count(b"\n")
    text = data.decode("utf-8", "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    done = last = 0
    try:
        for _ in rows:
            done, last = last, rows.line_num
    except csv.Error:
        # The parser meets the same row and names it.
        return end, data.count(b"\n")
    return _start_of_line(data, done), done


def _line_ends_in_quotes(data: bytes) -> NDArray[np.bool_]:
    """For each line end, whether an odd number of quotation marks stands before it."""
    text = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    ends = np.flatnonzero(text == ord("\n"))
    inside: NDArray[np.bool_] = np.searchsorted(quotes, ends) % 2 == 1
    return inside


def _start_of_line(data: bytes, lines: int) -> int:
    """Place behind the given number of lines, whose ends may be of any kind."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="latin-1", newline="")
    return sum(len(stream.readline()) for _ in range(lines))


def _require_closed(data: bytes, delimiter: str, line: int, name: str) -> None:
    """Raise InputError if the text ends inside quotation marks, naming where they began."""
    if data.count(b'"') % 2 == 0:
        return
    text = data.decode("utf-8", "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begun = 0
    try:
        for _ in rows:
            begun = rows.line_num
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            raise InputError(
                f"Line {line + begun} of {name} opens a quotation mark that is never closed."
            ) from None
