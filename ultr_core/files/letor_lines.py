"""Whole lines out of a text file or an upload, plain or gzipped, in blocks of bounded size."""

from __future__ import annotations

import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ultr_core.errors import InputError, checked_path, named
from ultr_core.files.disk import (
    BYTE_ORDER_MARK,
    PACKED,
    ZSTD,
    lies_within,
    other_format,
    readable_file,
    unpacked,
)
from ultr_core.limits import LINE_BYTES, OWN_FILES, Room

BLOCK_BYTES = 1 << 21
_BEGINNING_BYTES = 1 << 16

Progress = Callable[[float], object]
"""Told the share of a file that has been read, from 0 to 1, after each block."""


@dataclass(frozen=True)
class Source:
    """Where lines come from: a file, or bytes that somebody sent.

    name: what messages call it. size: in bytes, packed where it is packed. within: the directory
    that this file and those found by its name must not leave, None for anywhere. room: what may
    come of it.
    """

    name: str
    size: int
    path: Path | None = None
    data: bytes = b""
    within: Path | None = None
    room: Room = OWN_FILES

    @classmethod
    def file(
        cls, path: str | Path, what: str = "The LETOR file", *, within: Path | None = None
    ) -> Source:
        """A regular file; raises InputError for anything else at that path.

        ``within``: a directory. A path that leads out of it is refused without a look at what is
        there.
        """
        if within is not None and not lies_within(checked_path(path, what), within):
            raise InputError(
                f"{what} {named(path)} is outside {named(within)}, the only directory that may be "
                "read; give a file in it.",
                "leads_out",
            )
        file = readable_file(path, what)
        return cls(named(file), file.stat().st_size, path=file, within=within)

    @classmethod
    def upload(cls, data: bytes, name: str, room: Room = OWN_FILES) -> Source:
        """Bytes that came with a name; only a click log is put into a file, without a name."""
        return cls(named(name), len(data), data=data, room=room)

    def open(self) -> IO[bytes]:
        """A stream of the bytes as they are stored."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    def beginning(self, encoding: str = "utf-8") -> str:
        """The first 64 KiB as text, unpacked, and the rest of the first line that is not blank.

        encoding: of the text, UTF-16 if its first bytes say so. Raises InputError if they cannot
        be read.
        """
        try:
            with self.open() as raw:
                packed = raw.read(len(ZSTD)).startswith(PACKED)
                raw.seek(0)
                pieces = (
                    unpacked(raw, self.size, self.name, _BEGINNING_BYTES)
                    if packed
                    else iter(lambda: raw.read(_BEGINNING_BYTES), b"")
                )
                start = b""
                for piece in pieces:
                    start += piece
                    line = start.lstrip()
                    if b"\n" in line or b"\r" in line or len(start) >= LINE_BYTES.most:
                        break
        except OSError as error:
            raise InputError(f"{self.name} cannot be read ({error.strerror or error}).") from None
        if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            encoding = "utf-16"
        return start.removeprefix(BYTE_ORDER_MARK).decode(encoding, "replace")


def line_blocks(source: Source, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    r"""Read a text in blocks of whole lines.

    Gzip and zstandard are recognised by their content. A byte-order mark is dropped; ``\r\n`` and
    ``\r`` become ``\n``; the last line gets its ``\n`` if it has none.

    Yields:
        The number of a block's first line, counted from 1, and the block.

    Raises:
        InputError: the file is not readable, empty, binary, damaged or implausibly packed, or
            has a line longer than 8 MiB.

    """
    try:
        with source.open() as raw:
            for numbered in _checked_blocks(source, raw):
                yield numbered
                if progress is not None:
                    progress(min(1.0, raw.tell() / max(source.size, 1)))
    except OSError as error:
        raise InputError(f"{source.name} cannot be read ({error.strerror or error}).") from None


def _checked_blocks(source: Source, raw: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Split pieces of the file at line ends and refuse anything that is not text."""
    start = raw.read(12)
    raw.seek(0)
    packed = start.startswith(PACKED)
    if not packed and (found := other_format(start)):
        raise InputError(
            f"{source.name} is {found}; give a UTF-8 text file, plain or compressed with gzip or "
            "zstandard.",
            "not_text",
        )
    line, tail, empty = 1, b"", True
    for piece in _pieces(source, raw, packed):
        empty = False
        if b"\0" in piece:
            raise InputError(
                f"{source.name} is a binary file (null bytes after line {line}); "
                "give rows 'grade qid:ID id:value ...' as plain or gzipped text.",
                "zero_byte",
            )
        whole, newline, rest = piece.rpartition(b"\n")
        if newline:
            block = _cleaned(line, tail + whole + newline)
            yield line, block
            line += block.count(b"\n")
            tail = rest
        else:
            tail += rest
        LINE_BYTES.require(len(tail), f"{source.name}, line {line}")
    if empty:
        raise InputError(
            f"{source.name} is empty; give rows 'grade qid:ID id:value ...'.", "empty_file"
        )
    if tail:
        yield line, _cleaned(line, tail + b"\n")


def _pieces(source: Source, raw: IO[bytes], zipped: bool) -> Iterator[bytes]:
    """Read the file piece by piece, unpacked."""
    if zipped:
        yield from unpacked(raw, source.size, source.name, BLOCK_BYTES)
        return
    while piece := raw.read(BLOCK_BYTES):
        yield piece


def _cleaned(first_line: int, block: bytes) -> bytes:
    r"""Drop the byte-order mark of the file's first line; make every line end ``\n``."""
    if first_line == 1:
        block = block.removeprefix(BYTE_ORDER_MARK)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block
