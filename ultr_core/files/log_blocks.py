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

from ultr_core.errors import InputError
from ultr_core.files.disk import BYTE_ORDER_MARK, GZIP, other_format, unpacked
from ultr_core.files.letor_lines import Source
from ultr_core.limits import CAREFUL_ROWS, OWN_FILES, ROW_BYTES, Room

IntArray = NDArray[np.int64]
Progress = Callable[[float], object]
"""Told the share of a file that has been read, from 0 to 1, after each block."""

BLOCK_BYTES = ROW_BYTES.most
"""Text read at once."""

PARQUET = b"PAR1"
_FEWEST_ROWS = 500  # of a piece of text that is worth reading by itself


def log_source(
    content: str | Path | bytes, name: str = "the click log", room: Room = OWN_FILES
) -> Source:
    """The file at a path, or bytes under the name that messages call them by.

    room: what may come of bytes.

    Raises InputError for anything but a regular file at the path.
    """
    if isinstance(content, bytes):
        return Source.upload(content, name, room)
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
    """Whole rows of text, the number of the line that they begin at, and of lines in it.

    ends: place behind the end of each row, where all quotation marks are plain to see; else None.
    """

    data: bytes
    first_line: int
    lines: int
    ends: IntArray | None = None

    def halves(self) -> tuple[TextBlock, ...]:
        """Two blocks of half the rows; none where there are few, or ends are not plain to see."""
        if self.ends is None or self.ends.size < 2 * _FEWEST_ROWS:
            return ()
        middle = self.ends.size // 2
        cut = int(self.ends[middle - 1])
        lines = self.data.count(b"\n", 0, cut)
        return (
            TextBlock(self.data[:cut], self.first_line, lines, self.ends[:middle]),
            TextBlock(
                self.data[cut:], self.first_line + lines, self.lines - lines,
                self.ends[middle:] - cut,
            ),
        )  # fmt: skip


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
        parsed = 0
        for more in pieces:
            ends = row_ends(rest, delimiter)
            if ends is None:
                parsed += rest.count(b"\n")
                CAREFUL_ROWS.require(parsed, source.name)
                end = _complete(rest, delimiter)
            else:
                end = int(ends[-1]) if ends.size else 0
            if end == 0 and len(rest) > BLOCK_BYTES:
                raise ROW_BYTES.exceeded(f"The row that begins in line {line} of {source.name}")
            if end:
                lines = rest.count(b"\n", 0, end)
                yield TextBlock(rest[:end], line, lines, ends)
                line += lines
            rest = rest[end:] + (more.replace(b"\r", b"\n") if old_ends else more)
        if rest:
            _require_closed(rest, delimiter, line, source.name)
            rest = rest if rest.endswith(b"\n") else rest + b"\n"
            yield TextBlock(rest, line, rest.count(b"\n"), row_ends(rest, delimiter))


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


def row_ends(data: bytes, delimiter: str) -> IntArray | None:
    """Places behind the line ends that end rows, int64; None where quotation marks are unusual.

    Usual ones open behind a delimiter or a line end and close before one; two that follow each
    other inside stand for one. Then a line end is inside exactly if an odd number is before it.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n")) + 1
    if b'"' not in data:
        return ends
    quotes = np.flatnonzero(text == ord('"'))
    opening, closing = quotes[0::2], quotes[1::2]
    around = np.array([ord(delimiter), ord("\n")], dtype=np.uint8)
    doubled = closing[: opening.size - 1] + 1 == opening[1:]
    begins = np.isin(text[opening - 1], around) | (opening == 0)
    begins[1:] |= doubled
    follows = np.minimum(closing + 1, text.size - 1)
    stops = np.isin(text[follows], np.append(around, ord("\r")).astype(np.uint8))
    stops[: doubled.size] |= doubled[: stops.size]
    stops |= closing + 1 == text.size
    if not (begins.all() and stops.all()):
        return None
    outside: IntArray = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return outside


def _complete(data: bytes, delimiter: str) -> int:
    """End of the last row that is surely complete, found by reading all of them."""
    text = data.decode("utf-8", "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    done = last = 0
    try:
        for _ in rows:
            done, last = last, rows.line_num
    except csv.Error:
        # The parser meets the same row and names it.
        return data.rfind(b"\n") + 1
    return _start_of_line(data, done)


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
