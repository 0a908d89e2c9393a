"""Parsed corpora kept in the user's cache directory, and taken from there while content is equal.

An entry is named by the SHA-256 of what was read. A note beside it remembers size and times of the
file, so that an unchanged one need not be hashed again. Entries hold plain arrays with checksums,
are mapped and not copied into memory, and the least recently used go once all of them exceed
``LARGEST_CACHE_BYTES``. Whatever is wrong with the cache, the file is simply read.

Only what nobody else can have written is used: directories and regular files of this user that
are closed to the writing of others.

``ULTR_CACHE=off`` in the environment switches it off; ``XDG_CACHE_HOME`` moves it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.model import Corpus
from ultr_core.files.locks import UNFOLLOWED, abandoned, hold

LARGEST_CACHE_BYTES = 1 << 32
SMALLEST_FILE_BYTES = 1 << 22
"""Files below this are read faster than anybody notices, and are not cached."""

SWITCH = "ULTR_CACHE"

# To be raised whenever the reader reads something else from the same bytes.
_READER_VERSION = 5

# A file changed again within its clock's step looks unchanged; only older times are trusted.
_SETTLED_SECONDS = 2.0
_MAPPED_FROM_BYTES = 1 << 20
_PART, _META = ".part-", "meta.json"
_ARRAYS = ("grades", "query_offsets", "feature_ids", "source_rows")

Stamps = list[list[int]]


def cache_directory() -> Path | None:
    """Where corpora are kept; None where the cache is switched off or there is no such place."""
    if os.environ.get(SWITCH, "").strip().lower() in ("off", "0", "no", "false"):
        return None
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    try:
        base = base.expanduser()
    except RuntimeError:
        return None
    return base / "ultr-lab" / "corpora" if base.is_absolute() else None


@dataclass
class CacheLookup:
    """One attempt to find what some files were parsed to: files, their stamps, hash of content."""

    folder: Path
    files: tuple[Path, ...]
    stamps: Stamps
    key: str | None = None

    @classmethod
    def of(cls, *files: Path | None) -> CacheLookup | None:
        """The lookup for a corpus file and its group sizes; None if it is not to be cached."""
        folder = cache_directory()
        given = tuple(file.absolute() for file in files if file is not None)
        try:
            if folder is None or given[0].stat().st_size < SMALLEST_FILE_BYTES:
                return None
            if not all(_is_own_directory(p) for p in _places(folder) if os.path.lexists(p)):
                return None
            return cls(folder, given, _stamps(given))
        except OSError:
            return None

    def corpus(self) -> Corpus | None:
        """What the files were parsed to; None if that is not known."""
        # Anything may be in a damaged cache, and none of it may keep a corpus from being read.
        with suppress(Exception):
            self.key = self._noted_key() or _content_key(self.files)
            entry = self.folder / self.key
            if not os.path.lexists(entry):
                return None
            try:
                found = _read_entry(entry)
            except Exception:
                _remove(entry)
                return None
            os.utime(entry / _META)
            self._note()
            return found
        return None

    def keep(self, corpus: Corpus) -> None:
        """Remember a corpus, unless the files changed meanwhile or there is no room."""
        with suppress(Exception):
            if self.key is None or _stamps(self.files) != self.stamps:
                return
            size = sum(array.nbytes for array in _arrays_of(corpus).values())
            _make_places(self.folder)
            if size > LARGEST_CACHE_BYTES // 2 or shutil.disk_usage(self.folder).free < 2 * size:
                return
            _make_room(self.folder, size)
            draft = _draft_in(self.folder)
            draft.mkdir(mode=0o700)
            lock = os.open(draft, UNFOLLOWED)
            try:
                if hold(lock, draft):
                    _write_entry(draft, corpus)
                    draft.rename(self.folder / self.key)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
                os.close(lock)
            self._note()

    @property
    def _note_file(self) -> Path:
        names = "\n".join(map(str, self.files))
        return self.folder / f"{hashlib.sha256(os.fsencode(names)).hexdigest()}.json"

    def _noted_key(self) -> str | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            note = _json_in(self._note_file)
            if note["stamps"] == self.stamps and note["version"] == _READER_VERSION:
                changed = max(max(stamp[1:3]) for stamp in self.stamps) / 1e9
                if note["time"] - changed >= _SETTLED_SECONDS:
                    return str(note["key"])
        return None

    def _note(self) -> None:
        content = {
            "version": _READER_VERSION,
            "stamps": self.stamps,
            "time": time.time(),
            "key": self.key,
        }
        draft = _draft_in(self.folder)
        try:
            with _created(draft) as stream:
                if hold(stream.fileno(), draft):
                    stream.write(json.dumps(content).encode())
                    stream.flush()
                    draft.replace(self._note_file)
        finally:
            draft.unlink(missing_ok=True)


def _places(folder: Path) -> tuple[Path, Path]:
    """The two directories that are made here."""
    return folder.parent, folder


def _make_places(folder: Path) -> None:
    """Make what is missing of them, each closed to others; raises OSError if one is not ours."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    for place in _places(folder):
        place.mkdir(mode=0o700, exist_ok=True)
        if not _is_own_directory(place):
            raise PermissionError(place)


def _draft_in(folder: Path) -> Path:
    return folder / f"{_PART}{os.getpid()}-{secrets.token_hex(4)}"


def _remove(path: Path) -> None:
    """A directory with all that is in it, or anything else; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_own_directory(path: Path) -> bool:
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and _is_ours(found)


def _is_ours(found: os.stat_result) -> bool:
    """Whether a file is this user's own and nobody else may write to it."""
    user = getattr(os, "geteuid", None)  # not on every system
    return user is None or (found.st_uid == user() and not found.st_mode & 0o022)


def _opened(path: Path) -> IO[bytes]:
    """A regular file of our own, no link and no pipe; raises OSError for anything else."""
    stream = os.fdopen(os.open(path, UNFOLLOWED), "rb")
    found = os.fstat(stream.fileno())
    if not (stat.S_ISREG(found.st_mode) and _is_ours(found)):
        stream.close()
        raise PermissionError(path)
    return stream


def _created(path: Path) -> IO[bytes]:
    """A new file that only we may read and write."""
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))


def _json_in(path: Path) -> Any:
    with _opened(path) as stream:
        return json.loads(stream.read())


def _stamps(files: Sequence[Path]) -> Stamps:
    """Size, times of change and number of each file: equal as long as nobody wrote to it."""
    found = [file.stat() for file in files]
    return [[s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino] for s in found]


def _content_key(files: Sequence[Path]) -> str:
    """Hash of what is in the files and of how they are read."""
    whole = hashlib.sha256(f"ultr-lab corpus {_READER_VERSION}".encode())
    for file in files:
        with file.open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()


def _arrays_of(corpus: Corpus) -> dict[str, NDArray[Any]]:
    """The arrays that a corpus consists of, by name of their file."""
    features = corpus.features
    arrays: dict[str, NDArray[Any]]
    if isinstance(features, sparse.csr_array):
        arrays = {part: getattr(features, part) for part in ("data", "indices", "indptr")}
    else:
        arrays = {"features": features}
    arrays |= {name: getattr(corpus, name) for name in _ARRAYS}
    arrays["query_ids"] = _as_bytes(corpus.query_ids)
    if corpus.document_ids is not None:
        arrays["document_ids"] = _as_bytes(corpus.document_ids)
    return {name: array for name, array in arrays.items() if array is not None}


def _as_bytes(names: Sequence[str]) -> NDArray[np.uint8]:
    # Names out of a file hold no line break.
    return np.frombuffer("\n".join(names).encode(), np.uint8)


def _write_entry(folder: Path, corpus: Corpus) -> None:
    arrays = _arrays_of(corpus)
    for name, array in arrays.items():
        with _created(folder / f"{name}.npy") as stream:
            np.save(stream, array, allow_pickle=False)
    content = {
        "shape": list(corpus.features.shape),
        "notices": list(corpus.notices),
        "unread_ids": corpus.unread_ids,
        "arrays": {name: _print_of(array) for name, array in arrays.items()},
    }
    with _created(folder / _META) as stream:
        stream.write(json.dumps(content).encode())


def _print_of(array: NDArray[Any]) -> list[Any]:
    """What tells a damaged array from the one that was written."""
    return [array.dtype.str, list(array.shape), zlib.crc32(array.data)]


def _read_entry(folder: Path) -> Corpus:
    """Raises something, whatever it is, if the entry is not as it was written."""
    if not _is_own_directory(folder):
        raise PermissionError(folder)
    content = _json_in(folder / _META)
    arrays: dict[str, Any] = {}
    for name, wanted in content["arrays"].items():
        array = _array_in(folder / f"{name}.npy")
        if _print_of(array) != wanted:
            raise ValueError(f"{name} is damaged")
        arrays[name] = array
    features = arrays.get("features")
    if features is None:
        features = sparse.csr_array(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=content["shape"]
        )
    return Corpus(
        features=features,
        query_ids=_as_names(arrays["query_ids"]),
        document_ids=_as_names(arrays["document_ids"]) if "document_ids" in arrays else None,
        grades=arrays["grades"],
        query_offsets=arrays["query_offsets"],
        feature_ids=arrays["feature_ids"],
        source_rows=arrays.get("source_rows"),
        notices=tuple(content["notices"]),
        unread_ids=content["unread_ids"],
    )


def _array_in(path: Path) -> NDArray[Any]:
    """The array in a file, mapped if it is large; raises something if there is none."""
    with _opened(path) as stream:
        if os.fstat(stream.fileno()).st_size < _MAPPED_FROM_BYTES:
            return np.asarray(np.load(stream, allow_pickle=False))
        # `np.load` maps by name only; what was checked is this stream.
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("another version")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
        return np.asarray(
            np.memmap(stream, dtype, "r", stream.tell(), shape, order="F" if by_column else "C")
        )


def _as_names(content: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(content.tobytes().decode().split("\n"))


def _make_room(folder: Path, size: int) -> None:
    """Remove what was left half-written, and the least recently used until ``size`` fits."""
    used: list[tuple[float, int, Path]] = []
    for entry in folder.iterdir():
        with suppress(OSError):
            if entry.name.startswith(_PART):
                if abandoned(entry):
                    _remove(entry)
                continue
            if not entry.is_dir():
                continue
            taken = sum(file.stat().st_size for file in entry.iterdir())
            used.append(((entry / _META).stat().st_mtime, taken, entry))
    total = sum(taken for _, taken, _ in used)
    for _, taken, entry in sorted(used):
        if total + size <= LARGEST_CACHE_BYTES:
            break
        shutil.rmtree(entry, ignore_errors=True)
        total -= taken
    for note in folder.glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if not (folder / _json_in(note)["key"]).is_dir():
                note.unlink(missing_ok=True)
