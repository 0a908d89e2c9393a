"""The files that a click log comes in: one, several, a pattern, a directory of parts, uploads."""

from __future__ import annotations

import codecs
import glob
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ultr_core.errors import InputError, checked_path, named, quoted
from ultr_core.files.disk import DUCKDB, PACKED, ZSTD, other_format, unpacked
from ultr_core.files.letor_lines import Source
from ultr_core.limits import LOG_PARTS, OWN_FILES, Room

PARQUET = b"PAR1"
ENCODINGS = (
    "utf-8", "utf-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "latin-1", "iso8859-15",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
)  # fmt: skip
"""Encodings of text that a reader may name; UTF-8 and UTF-16 are recognised."""

MARK = "_SUCCESS"
"""The file that a job of many parts writes last."""

_PIECE_BYTES = 1 << 20
_UTF_16 = "UTF-16 text"
_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

Given = str | Path | bytes | Source
"""A path, a pattern, a directory of parts, the bytes of an upload, or one with its name."""


@dataclass(frozen=True)
class LogParts:
    """The files of one click log in order.

    name: what messages call the log. table, select: what of a DuckDB file is the log. actions: of
    the files, what each of their rows is, "view" or "click"; none where a column says so, or where
    a row is a view and says whether it was clicked.
    """

    name: str
    parts: tuple[Source, ...]
    actions: tuple[str, ...] = ()
    table: str = ""
    select: str = ""

    @property
    def room(self) -> Room:
        """What may come of the log."""
        return self.parts[0].room


def log_parts(
    content: Given | Sequence[Given], name: str = "the click log", room: Room = OWN_FILES
) -> LogParts:
    """The files behind a path, a pattern such as ``logs/*.parquet``, a directory, or bytes.

    In a directory, files whose names begin with "_" or "." are none; its parts are whole only where
    the file ``_SUCCESS`` says so. name: what messages call bytes; several get numbers. room: what
    may come of bytes. Raises InputError for anything but regular files, for a file that is given
    twice, and for more than ``LOG_PARTS``.
    """
    given = [content] if isinstance(content, (str, Path, bytes, Source)) else list(content)
    if not given:
        raise InputError("No files were given for the click log; give one or more.")
    parts: list[Source] = []
    known: set[tuple[int, int]] = set()
    for number, item in enumerate(given, 1):
        if isinstance(item, bytes):
            label = name if len(given) == 1 else f"{name} ({number})"
            parts.append(Source.upload(item, label, room))
        elif isinstance(item, Source):
            parts.append(item)
        else:
            for path in _paths(item):
                parts.append(Source.file(path, "The click log"))
                _require_new(path, known)
    LOG_PARTS.require(len(parts), name)
    if len(parts) == 1:
        return LogParts(parts[0].name, tuple(parts))
    return LogParts(f"{name} of {len(parts):,} files", tuple(parts))


def _require_new(path: Path, known: set[tuple[int, int]]) -> None:
    """Raise InputError for a file among those known, under whatever name; then it is known."""
    found = path.stat()
    file = (found.st_dev, found.st_ino)
    if file in known:
        raise InputError(
            f"{named(path)} is given more than once, so its clicks would count more than once; "
            "give each file once.",
            "same_file",
        )
    known.add(file)


def _paths(item: str | Path) -> Iterator[Path]:
    path = checked_path(item, "The click log")
    if path.is_dir():
        yield from parts_of(path)
    elif is_pattern(path):
        found = sorted(Path(each) for each in glob.glob(str(item), recursive=True))
        files = [each for each in found if each.is_file()]
        if not files:
            raise InputError(f"No file matches the pattern {quoted(str(item))}.")
        yield from files
    else:
        yield path


def is_in_parts(path: str | Path) -> bool:
    """Whether a path is a pattern, or a directory whose parts are whole."""
    return is_pattern(path) or (Path(path) / MARK).is_file()


def is_pattern(path: str | Path) -> bool:
    """Whether a path is a pattern of names, and of no file itself."""
    return glob.has_magic(str(path)) and not Path(path).exists()


def parts_of(folder: Path) -> list[Path]:
    """The parts of a directory, those in directories below included.

    Raises InputError for one that may not be whole, or has none.
    """
    if not (folder / MARK).exists():
        raise InputError(
            f"The directory {named(folder)} has no {MARK} file, so its parts may be incomplete; "
            f"if they are complete, give them as a pattern, such as {named(folder)}/*.parquet.",
            "log_incomplete",
        )
    parts = []
    for parent, below, names in os.walk(folder):
        below[:] = sorted(each for each in below if not each.startswith(("_", ".")))
        parts += [Path(parent, each) for each in sorted(names) if not each.startswith(("_", "."))]
    if not parts:
        raise InputError(f"The directory {named(folder)} has no parts of a click log.")
    return parts


def first_bytes(source: Source, size: int) -> bytes:
    """The beginning of a file as it is stored; raises InputError if it cannot be read."""
    try:
        with source.open() as stream:
            return stream.read(size)
    except OSError as error:
        raise InputError(f"{source.name} cannot be read ({error.strerror or error}).") from None


def is_parquet(source: Source) -> bool:
    """Whether the bytes are Parquet; raises InputError for other formats that are no text."""
    start = first_bytes(source, 8)
    if start.startswith(PARQUET):
        return True
    found = other_format(start)
    if found and found != _UTF_16 and not start.startswith(ZSTD):
        raise InputError(
            f"{source.name} is {found}; give CSV or JSON lines, plain or compressed with gzip or "
            "zstandard, or a Parquet file."
        )
    return False


def is_duckdb(source: Source) -> bool:
    """Whether the bytes are a DuckDB file."""
    return first_bytes(source, 12)[8:] == DUCKDB


def stored(source: Source, folder: Path, encoding: str | None, stack: ExitStack) -> IO[bytes]:
    """A file with plain UTF-8, or Parquet: the reader's own, or one without a name in ``folder``.

    encoding: of the text, if the reader named one. Raises InputError for a damaged file, a file
    that unpacks to far more than its size, text in another encoding, and an upload beyond its
    limits.
    """
    start = first_bytes(source, 8)
    packed = start.startswith(PACKED)
    if start.startswith(PARQUET):
        encoding = None  # its text is UTF-8, whatever the other files are
    recoded = encoding not in (None, "utf-8") or other_format(start) == _UTF_16
    if source.path is not None and not packed and not recoded:
        return stack.enter_context(source.path.open("rb"))
    private: IO[bytes] = stack.enter_context(
        tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    )
    pieces = _unpacked(source) if packed else _plain(source)
    for piece in _recoded(pieces, encoding, source.name):
        private.write(piece)
    private.flush()
    private.seek(0)
    return private


def _plain(source: Source) -> Iterator[bytes]:
    with source.open() as raw:
        while piece := raw.read(_PIECE_BYTES):
            yield piece


def _unpacked(source: Source) -> Iterator[bytes]:
    done = 0
    with source.open() as raw:
        for piece in unpacked(raw, source.size, source.name, _PIECE_BYTES):
            done += len(piece)
            if source.room.unpacked is not None and done > source.room.unpacked.most:
                raise source.room.unpacked.exceeded(f"{source.name}, unpacked,")
            yield piece


def _recoded(pieces: Iterator[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same text as UTF-8, if it is in another encoding; UTF-16 is told by its first bytes."""
    first = next(pieces, b"")
    chosen = _WIDE.get(first[:2], encoding)
    if first[:2] not in _WIDE and other_format(first[:8]) == _UTF_16:
        # Without a mark the bytes of plain letters show which half comes first.
        chosen = "utf-16-be" if first[:1] == b"\0" else "utf-16-le"
    if chosen in (None, "utf-8"):
        yield first
        yield from pieces
        return
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(chosen)(), False)
    try:
        yield decoder.decode(first).encode()
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", True).encode()
    except UnicodeError:
        raise InputError(f"{name} is not {chosen} text; give its encoding.", "encoding") from None
