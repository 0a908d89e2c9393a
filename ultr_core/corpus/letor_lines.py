"""Whole lines out of a text file, plain or gzip, in blocks of bounded size."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ultr_core.corpus.letor_paths import fault_of
from ultr_core.errors import InputError, checked_path, named

BLOCK_BYTES = 1 << 22
LONGEST_LINE_BYTES = 1 << 26

# Ranking data shrink 5 to 20 times under gzip; a file far beyond that was made to fill a memory.
LARGEST_GZIP_RATIO = 200
GZIP_RATIO_FROM_BYTES = 1 << 26

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstandard file",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def line_blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    r"""Read a text file in blocks of whole lines.

    Gzip is recognised by its content. A byte-order mark is dropped; ``\r\n`` and ``\r`` become
    ``\n``; the last line gets its ``\n`` if it has none.

    Yields:
        The number of a block's first line, counted from 1, and the block.

    Raises:
        InputError: the file is missing, a directory, not readable, empty, binary, damaged or
            implausible gzip, or has a line longer than 64 MiB.

    """
    checked_path(path, "The LETOR file")
    if fault := fault_of(path):
        raise InputError(f"{named(path)} {fault}; give the path of a LETOR file.")
    try:
        with path.open("rb") as raw:
            yield from _checked_blocks(path, raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{named(path)} is a damaged or truncated gzip file ({error}); copy or pack it again."
        ) from None
    except OSError as error:
        raise InputError(f"{named(path)} cannot be read ({error.strerror or error}).") from None


def _checked_blocks(path: Path, raw: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Split pieces of the file at line ends and refuse what is no text."""
    start = raw.read(8)
    raw.seek(0)
    for magic, name in _OTHER_FORMATS.items():
        if start.startswith(magic):
            raise InputError(f"{named(path)} is {name}; a plain UTF-8 or gzip text file is needed.")
    line, tail, empty = 1, b"", True
    for piece in _pieces(path, raw, start.startswith(_GZIP)):
        empty = False
        if b"\0" in piece:
            raise InputError(
                f"{named(path)} is a binary file (zero bytes after line {line}); "
                "rows 'grade qid:ID id:value ...' in plain or gzip text are needed."
            )
        whole, newline, rest = piece.rpartition(b"\n")
        if newline:
            block = _cleaned(line, tail + whole + newline)
            yield line, block
            line += block.count(b"\n")
            tail = rest
        else:
            tail += rest
        if len(tail) > LONGEST_LINE_BYTES:
            raise InputError(
                f"{named(path)}, line {line} is longer than {LONGEST_LINE_BYTES >> 20} MiB; "
                "one document a line is needed."
            )
    if empty:
        raise InputError(f"{named(path)} is empty; rows 'grade qid:ID id:value ...' are needed.")
    if tail:
        yield line, _cleaned(line, tail + b"\n")


def _pieces(path: Path, raw: IO[bytes], zipped: bool) -> Iterator[bytes]:
    """Read the file piece by piece, unpacked, and watch how much it grows."""
    if not zipped:
        while piece := raw.read(BLOCK_BYTES):
            yield piece
        return
    size, unpacked = path.stat().st_size, 0
    with gzip.GzipFile(fileobj=raw, mode="rb") as stream:
        while piece := stream.read(BLOCK_BYTES):
            unpacked += len(piece)
            if unpacked > max(GZIP_RATIO_FROM_BYTES, LARGEST_GZIP_RATIO * size):
                raise InputError(
                    f"{named(path)} unpacks to more than {LARGEST_GZIP_RATIO} times its size of "
                    f"{size:,} bytes, which ranking data never do; unpack it yourself if you "
                    "trust it."
                )
            yield piece


def _cleaned(first_line: int, block: bytes) -> bytes:
    r"""Drop the byte-order mark of the file's first line; make every line end ``\n``."""
    if first_line == 1:
        block = block.removeprefix(_BYTE_ORDER_MARK)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block
