"""Files from outside: what stands at a path, text within bounds, files written whole or not at all.

text = read_text(path, "The curve")
with writing(path, "The curve") as file:
    file.write(text)
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import IO

from ultr_core.errors import InputError, checked_path, named, one_line
from ultr_core.files.locks import abandoned, hold
from ultr_core.limits import BLANK_LINES, TEXT_BYTES, UNPACKED_FROM_BYTES, UNPACKED_RATIO

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PACKED = (GZIP, ZSTD)
DUCKDB = b"DUCK"  # behind a checksum of eight bytes
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_PIECE_BYTES = 1 << 20
_DRAFT_NAME = re.compile(r"\.[0-9]+-[0-9a-f]{8}\.part")
_drafts: set[Path] = set()
_group: ContextVar[list[_Draft] | None] = ContextVar("group", default=None)
_OTHER_FORMATS = {
    b"\xff\xfe\0\0": "UTF-32 text",  # before UTF-16, which begins alike
    b"\0\0\xfe\xff": "UTF-32 text",
    b"PK\x03\x04": "a zip archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    ZSTD: "a zstandard file",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"\x89PNG\r\n": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF-": "a PDF document",
}


def fault_of(path: Path) -> str | None:
    """Why a path is not a readable file, as the end of a sentence; None if it is one."""
    mode = _mode(path)
    if isinstance(mode, str):
        return mode
    if stat.S_ISDIR(mode):
        return "is a directory"
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    return None if os.access(path, os.R_OK) else "cannot be read (Permission denied)"


def lies_within(path: Path, folder: str | Path) -> bool:
    """Whether a path leads, links followed, to a place below a directory; never fails."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def directory_fault(path: Path) -> str | None:
    """Why a path is not a readable directory, as the end of a sentence; None if it is one."""
    mode = _mode(path)
    if isinstance(mode, str):
        return mode
    if not stat.S_ISDIR(mode):
        return "is not a directory"
    readable = os.access(path, os.R_OK | os.X_OK)
    return None if readable else "cannot be read (Permission denied)"


def _mode(path: Path) -> int | str:
    """The mode of what stands at a path, or what keeps it from being looked up."""
    try:
        return path.stat().st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "is a link that leads back to itself"
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            return f"cannot be looked up ({error.strerror})"
        broken = path.is_symlink()
        return "is a broken link: its target does not exist" if broken else "does not exist"


def other_format(start: bytes) -> str | None:
    """What a file is that begins with these bytes, if a known format that is not plain text."""
    named_by_start = (name for magic, name in _OTHER_FORMATS.items() if start.startswith(magic))
    if start[8:12] == DUCKDB:
        return "a DuckDB file"
    return next(named_by_start, None) or _wide_text(start[:8])


def _wide_text(start: bytes) -> str | None:
    """UTF-32 or UTF-16 without a byte order mark: plain letters with null bytes between them."""
    for name, width in (("UTF-32 text", 4), ("UTF-16 text", 2)):
        for place in (0, width - 1):  # of the byte that tells the letter
            letters = start[place::width]
            between = len(start) - len(letters)
            if len(letters) > 1 and 0 not in letters and start.count(0) == between:
                return name
    return None


def readable_file(path: str | Path, what: str) -> Path:
    """The path of a regular file; ``what`` is its subject in messages, as "The click log".

    Raises InputError for anything else at that path, a pipe or a directory included.
    """
    file = checked_path(path, what)
    if fault := fault_of(file):
        raise InputError(f"{what} {named(file)} {fault}; give the path of a file.", "not_a_file")
    return file


def read_text(path: str | Path, what: str, most: int = TEXT_BYTES.most) -> str:
    """Text of a UTF-8 file, plain or gzipped, of at most ``most`` bytes; line ends become newlines.

    Raises InputError for a file that is missing, too large, damaged or not text.
    """
    file = readable_file(path, what)
    try:
        with file.open("rb") as stream:
            wanted = f"{what[:1].lower()}{what[1:]} as UTF-8 text"
            return text_of(stream.read(most + 1), named(file), most, wanted)
    except OSError as error:
        raise InputError(
            f"{named(file)} cannot be read ({error.strerror or error}).", "unreadable"
        ) from None


def text_of(
    data: bytes, name: str, most: int = TEXT_BYTES.most, wanted: str = "a UTF-8 text file"
) -> str:
    """Text out of the bytes of a file or an upload called ``name``; see `read_text`.

    wanted: what to give instead of bytes that are another format.
    """
    if data.startswith(GZIP):
        data = b"".join(unpacked(io.BytesIO(data), len(data), name, _PIECE_BYTES, most))
    if len(data) > most:
        raise replace(TEXT_BYTES, most=most).exceeded(name)
    if found := other_format(data):
        raise InputError(f"{name} is {found}; give {wanted}, plain or gzipped.", "not_text")
    data = data.removeprefix(BYTE_ORDER_MARK)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(
            f"{name}, line {line} has a null byte, as binary and UTF-16 files do; save the file "
            "as UTF-8 text.",
            "zero_byte",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}, line {line} is not UTF-8 text; save it as UTF-8.", "not_utf8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(text: str, name: str, *, comments: bool = False) -> Iterator[str]:
    """The lines of a text with their ends, one after the other; all at once take many times it.

    comments: whether what follows ``#`` is no content. Raises InputError beyond ``BLANK_LINES``.

    >>> list(lines_of("1\\n\\n2", "scores"))
    ['1\\n', '\\n', '2']
    """
    start = blank = 0
    while start < len(text):
        stop = text.find("\n", start) + 1 or len(text)
        line = text[start:stop]
        if line.isspace() or (comments and not line.partition("#")[0].strip()):
            blank += 1
            BLANK_LINES.require(blank, name)
        yield line
        start = stop


def unpacked(
    raw: IO[bytes], size: int, name: str, piece_bytes: int, most: int | None = None
) -> Iterator[bytes]:
    """Unpack a gzip or zstandard stream of ``size`` bytes piece by piece; watch how much it grows.

    Raises InputError for a damaged stream, one within another, more than ``most`` bytes, or a
    growth beyond all data.
    """
    done = 0
    start = raw.read(len(ZSTD))
    raw.seek(0)
    kind = "zstandard" if start == ZSTD else "gzip"
    try:
        with _unpacking(raw, start) as stream:
            while piece := stream.read(piece_bytes):
                if not done and piece.startswith(PACKED):
                    raise InputError(f"{name} is compressed twice; unpack it once.", "packed_twice")
                done += len(piece)
                if done > most_unpacked(size):
                    raise UNPACKED_RATIO.exceeded(name)
                if most is not None and done > most:
                    raise replace(TEXT_BYTES, most=most).exceeded(f"{name}, unpacked,")
                yield piece
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, and not what is on it
        raise InputError(
            f"{name} is a damaged or truncated {kind} file ({one_line(str(error))}); copy it or "
            "compress it again.",
            f"damaged_{kind}",
        ) from None


def _unpacking(raw: IO[bytes], start: bytes) -> IO[bytes]:
    if start == ZSTD:
        import pyarrow as pa  # type: ignore[import-untyped]

        stream: IO[bytes] = pa.CompressedInputStream(raw, "zstd")
        return stream
    return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]


def most_unpacked(size: int) -> int:
    """To how many bytes a packed file of ``size`` bytes may unpack."""
    return max(UNPACKED_FROM_BYTES, UNPACKED_RATIO.most * size)


@contextmanager
def writing(path: str | Path, what: str) -> Iterator[IO[str]]:
    """A text file to write to, gzipped where its name ends in ``.gz``.

    It replaces what stands at the path only once it is complete: a fault or a kill on the way
    leaves that as it was. Equal text gives equal bytes. Raises InputError if it cannot be written.
    """
    zipped = checked_path(path, what).name.lower().endswith(".gz")
    with _replacing(path, what) as raw, text_into(raw, zipped=zipped) as stream:
        yield stream


def write_whole(path: str | Path, content: bytes, what: str) -> Path:
    """Write bytes as `writing` writes text, all or nothing; returns the path."""
    with _replacing(path, what) as raw:
        raw.write(content)
    return checked_path(path, what)


def output_path(path: str | Path, what: str) -> Path:
    """The path of a file to be written; raises InputError for one that names a directory."""
    file = checked_path(path, what)
    if os.path.basename(path) in ("", os.curdir, os.pardir):  # a slash at the end would be lost
        raise InputError(
            f"{what} cannot be written to {named(path)}, which names a directory; give the path "
            "of a file, without a slash at the end.",
            "names_a_directory",
        )
    return file


@contextmanager
def written_together() -> Iterator[None]:
    """Files written inside take their places at the end, all of them, or none after a fault.

    Each is complete beside its place before the first one moves. A kill or a full disk while they
    are written leaves every old file. The moves themselves are one system call each: a kill between
    two of them leaves the new files in the places up to there and old ones in the rest; running
    the command again repairs that. Pipes and devices get their content at once. Groups within a
    group belong to the outer one.
    """
    if _group.get() is not None:
        yield
        return
    drafts: list[_Draft] = []
    token = _group.set(drafts)
    try:
        yield
        for draft in drafts:
            draft.move()
    finally:
        _group.reset(token)
        for draft in drafts:
            draft.remove()


@contextmanager
def _replacing(path: str | Path, what: str) -> Iterator[IO[bytes]]:
    """A binary stream whose content takes the place of a file once it is complete."""
    file = output_path(path, what)
    with _told(file, what):
        # Devices and pipes are written to; only files can be replaced.
        if file.exists() and not file.is_file():
            with open(file, "wb", opener=_without_waiting) as raw:
                yield raw
            return
        file = Path(os.path.realpath(file))
        _sweep(file.parent)
        draft, group = _Draft(file, what), _group.get()
        try:
            with draft.raw as raw:
                yield raw
            if group is None:
                draft.move()
            else:
                group.append(draft)
        finally:
            if group is None or draft not in group:
                draft.remove()


def _without_waiting(path: str, flags: int) -> int:
    """Open a device or a pipe; a pipe that nobody reads would be waited for without end."""
    try:
        opened = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.ENXIO:
            error.strerror = "it is not a regular file, and a pipe needs a reader first"
        raise
    os.set_blocking(opened, True)
    return opened


@contextmanager
def _told(file: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{what} cannot be written to {named(file)} ({error.strerror or error}).", "unwritable"
        ) from None


class _Draft:
    """A file on its way to its place, locked from its making until it is there.

    ``raw`` is the stream into it; ``what`` its subject in messages.
    """

    def __init__(self, file: Path, what: str) -> None:
        self.file, self.what = file, what
        while True:
            self.path = file.with_name(f".{os.getpid()}-{secrets.token_hex(4)}.part")
            _drafts.add(self.path)
            try:
                self.raw = self.path.open("xb")
            except OSError:
                _drafts.discard(self.path)
                raise
            # The lock outlasts the stream, which its writer closes.
            self._lock: int | None = os.dup(self.raw.fileno())
            if hold(self._lock, self.path):
                return
            self.raw.close()
            self.remove()

    def move(self) -> None:
        """Put it into its place; the stream is closed before."""
        if os.name == "nt":  # where an open file cannot move
            self._unlock()
        with _told(self.file, self.what):
            self.path.replace(self.file)

    def remove(self) -> None:
        """Give up the lock, and the draft itself unless it has moved."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self._unlock()
        _drafts.discard(self.path)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_drafts() -> None:
    """Remove the half-written files of this process, which is about to end."""
    for draft in tuple(_drafts):
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove the drafts of processes that were killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # A directory of that name is nobody's draft.
            if (
                _DRAFT_NAME.fullmatch(entry.name)
                and entry.is_file(follow_symlinks=False)
                and abandoned(entry.path)
            ):
                with suppress(OSError):
                    os.unlink(entry.path)


@contextmanager
def text_into(raw: IO[bytes], *, zipped: bool) -> Iterator[IO[str]]:
    """A UTF-8 text stream into a binary one, packed with gzip where asked for."""
    packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if zipped else raw
    with io.TextIOWrapper(packed, encoding="utf-8", newline="\n", write_through=False) as text:
        yield text
        text.flush()
