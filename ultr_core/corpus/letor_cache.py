"""Parsed corpora kept in the user's cache directory, and taken from there while content is equal.

An entry is named by the SHA-256 of what was read. A note beside it remembers size and times of the
file, so that an unchanged one need not be hashed again. Entries hold plain arrays with checksums,
are mapped and not copied into memory, and the least recently used go once all of them exceed
``LARGEST_CACHE_BYTES``. Whatever is wrong with the cache, the file is simply read.

``ULTR_CACHE=off`` in the environment switches it off; ``XDG_CACHE_HOME`` moves it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.model import Corpus

LARGEST_CACHE_BYTES = 1 << 32
SMALLEST_FILE_BYTES = 1 << 22
"""Files below this are read faster than anybody notices, and are not cached."""

SWITCH = "ULTR_CACHE"

# To be raised whenever the reader reads something else from the same bytes.
_READER_VERSION = 4

# A file changed again within its clock's step looks unchanged; only older times are trusted.
_SETTLED_SECONDS = 2.0
_STALE_SECONDS = 86_400.0
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
            return cls(folder, given, _stamps(given))
        except OSError:
            return None

    def corpus(self) -> Corpus | None:
        """What the files were parsed to; None if that is not known."""
        # Anything may be in a damaged cache, and none of it may keep a corpus from being read.
        with suppress(Exception):
            self.key = self._noted_key() or _content_key(self.files)
            entry = self.folder / self.key
            if not entry.is_dir():
                return None
            try:
                found = _read_entry(entry)
            except Exception:
                shutil.rmtree(entry, ignore_errors=True)
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
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if size > LARGEST_CACHE_BYTES // 2 or shutil.disk_usage(self.folder).free < 2 * size:
                return
            _make_room(self.folder, size)
            draft = self.folder / f"{_PART}{os.getpid()}-{secrets.token_hex(4)}"
            try:
                _write_entry(draft, corpus)
                draft.rename(self.folder / self.key)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
            self._note()

    @property
    def _note_file(self) -> Path:
        names = "\n".join(map(str, self.files))
        return self.folder / f"{hashlib.sha256(os.fsencode(names)).hexdigest()}.json"

    def _noted_key(self) -> str | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            note = json.loads(self._note_file.read_text(encoding="utf-8"))
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
        draft = self._note_file.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}")
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(self._note_file)


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
    folder.mkdir(mode=0o700)
    arrays = _arrays_of(corpus)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    content = {
        "shape": list(corpus.features.shape),
        "notices": list(corpus.notices),
        "arrays": {name: _print_of(array) for name, array in arrays.items()},
    }
    (folder / _META).write_text(json.dumps(content), encoding="utf-8")


def _print_of(array: NDArray[Any]) -> list[Any]:
    """What tells a damaged array from the one that was written."""
    return [array.dtype.str, list(array.shape), zlib.crc32(array.data)]


def _read_entry(folder: Path) -> Corpus:
    """Raises something, whatever it is, if the entry is not as it was written."""
    content = json.loads((folder / _META).read_text(encoding="utf-8"))
    arrays: dict[str, Any] = {}
    for name, wanted in content["arrays"].items():
        file = folder / f"{name}.npy"
        mapped = file.stat().st_size >= _MAPPED_FROM_BYTES
        found = np.load(file, mmap_mode="r" if mapped else None, allow_pickle=False)
        array = np.asarray(found)
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
    )


def _as_names(content: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(content.tobytes().decode().split("\n"))


def _make_room(folder: Path, size: int) -> None:
    """Remove what was left half-written, and the least recently used until ``size`` fits."""
    used: list[tuple[float, int, Path]] = []
    for entry in folder.iterdir():
        with suppress(OSError):
            if not entry.is_dir():
                continue
            if entry.name.startswith(_PART):
                if time.time() - entry.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(entry, ignore_errors=True)
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
            if not (folder / json.loads(note.read_text(encoding="utf-8"))["key"]).is_dir():
                note.unlink(missing_ok=True)
