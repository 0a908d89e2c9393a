"""Finished cells in files: the journal of a run, and the paper-scale results beside the code.

A journal survives a kill: a header, then one line of JSON a cell. ``paper_scale/figures.csv`` and
``maps.csv`` hold one row a cell; the JSON file of the same name has the ``reproduce`` command that
made them. :func:`pack` turns the results directory of such a command into these files.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any

from ultr_core.errors import InputError, named
from ultr_core.files.disk import write_whole, writing, written_together
from ultr_core.settings import Settings
from ultr_core.studies.cells import CellResult
from ultr_core.studies.curves import StudyResult
from ultr_core.studies.grids import STUDIES, Plan
from ultr_core.studies.losses import LOSSES, Loss
from ultr_core.studies.source import WorldDescription, WorldSource, description_of

FORMAT = "unbiased LTR lab, finished cells, 1"


class Journal:
    """Results so far, in order of arrival; ``done`` contains them by key."""

    def __init__(self, file: FileIO, path: Path, done: dict[str, CellResult]) -> None:
        self._file, self._path = file, path
        self.done = done

    def append(self, result: CellResult) -> None:
        """Write one result to disk at once; raises InputError if that fails."""
        _write_line(self._file, self._path, result.as_dict())
        self.done[result.key] = result


@contextmanager
def open_journal(path: Path, header: Mapping[str, Any]) -> Iterator[Journal]:
    """Open the journal at ``path``, or create it; no other process can use it while it is open.

    An incomplete last line, left by a killed process, is cut off; its cell must be run again.

    Args:
        path: the file.
        header: nested plain values on which results depend in addition to their cells' keys.

    Raises:
        InputError: the file was made with other settings (the message says which), is not a
        journal, is damaged before its last line, is in use, or cannot be read or written.
    """
    wanted = {"format": FORMAT, **header}
    with _told(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    # Without a buffer: closing one on a full disk fails again and hides what was said before.
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        _lock(file, path)
        content = _read(file, path)
        whole = content.rfind(b"\n") + 1
        _require_torn(content[whole:], _STARTS[whole > 0], path)
        found, done = _parsed(content[:whole], path)
        with _told(path):
            file.seek(whole)
            file.truncate()
        if found is None:
            _write_line(file, path, wanted)
        else:
            _require_same(found, wanted, path)
        yield Journal(file, path, done)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses to do with the file, as a sentence for the reader."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"The results file {named(path)} cannot be written ({error.strerror or error}); its "
            "contents are kept: run the same command again when there is space, or choose "
            "another directory.",
            "out",
        ) from None


def read_journal(path: Path) -> tuple[dict[str, Any], dict[str, CellResult]]:
    """Header and finished cells of a journal, which stays as it is.

    Raises:
        InputError: the file cannot be read, has no header or is damaged.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    header, done = _parsed(content[: content.rfind(b"\n") + 1], path)
    if header is None:
        raise InputError(f"{path} is empty; it should contain the finished cells of a run.")
    return header, done


def _lock(file: FileIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on every system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(
            f"Another run is writing to {path}; wait for it, or choose another directory.", "out"
        ) from None


def _read(file: FileIO, path: Path) -> bytes:
    with _told(path):
        return file.readall()


_STARTS = (json.dumps({"format": FORMAT})[:-1].encode(), b'{"key": "')
"""How the header begins, and how every other line does."""


def _require_torn(rest: bytes, start: bytes, path: Path) -> None:
    """What follows the last whole line must be one that was cut: the rest of the file is no loss.

    Raises InputError if it is something else, such as a file of the user with this name.
    """
    if not (rest.startswith(start) or start.startswith(rest)):
        raise _no_journal(path)


def _no_journal(path: Path) -> InputError:
    return InputError(
        f"{path} is not a file of finished cells, or has been changed; it is left as it is, "
        "so choose another directory.",
        "out",
    )


def _parsed(content: bytes, path: Path) -> tuple[dict[str, Any] | None, dict[str, CellResult]]:
    header: dict[str, Any] | None = None
    done: dict[str, CellResult] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            values = json.loads(line)
            if number == 1:
                header = dict(values)
            else:
                result = _cell(values)
                if result.key in done:
                    raise ValueError("two results for the same cell")
                done[result.key] = result
        except (ValueError, TypeError, RecursionError):
            if number == 1:
                raise _no_journal(path) from None
            raise InputError(
                f"Line {number} of {path} is not a finished cell; delete the file to start again."
            ) from None
    return header, done


_LARGEST = sys.float_info.max
_LIMITS: Mapping[str, tuple[float, float]] = {
    "agreement": (-1, 1),
    "noise_share": (0, 1),
    **dict.fromkeys(
        (*LOSSES, "cost", "clip", "gap", "clicks", "query_draws", "seconds", "peak_mib"),
        (0, _LARGEST),
    ),
}
_ROUNDING = 1e-9


def _cell(values: Mapping[str, Any]) -> CellResult:
    """The result that a line describes; raises ValueError or TypeError if it cannot be one."""
    result = CellResult(**values)
    if not isinstance(result.key, str) or set(result.losses) != set(LOSSES):
        raise ValueError("a key and all losses")
    for name, value in {**values, **result.losses}.items():
        if name in _LIMITS:
            _require_within(value, *_LIMITS[name])
    for name in _WHOLE:
        if not isinstance(values[name], int):
            raise ValueError(name)
    return result


def _require_within(value: Any, low: float, high: float) -> None:
    """Raises ValueError for no number, NaN, and what is beyond the limits by more than rounding."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (number and low - _ROUNDING <= value <= high + _ROUNDING):
        raise ValueError(value)


def _require_same(found: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    before, now = _flat(found), _flat(json.loads(json.dumps(wanted)))
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        changes = ", ".join(
            f"{name} {_shown(before.get(name))} (now {_shown(now.get(name))})" for name in differing
        )
        raise InputError(
            f"{path} was made with {changes}; use the same settings, or another directory.", "out"
        )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name} ")
        else:
            flat[prefix + name] = value
    return flat


def _shown(value: Any) -> str:
    return "without it" if value is None else str(value)


def _write_line(file: FileIO, path: Path, values: Mapping[str, Any]) -> None:
    rest = json.dumps(values, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with _told(path):
        while rest:  # a disk that fills takes a part, and refuses what is left
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


# Results that came with the code.

FOLDER = Path(__file__).parent / "paper_scale"
_NUMBERS = (
    "agreement", "cost", "clip", "gap", "clicks", "query_draws", "noise_share",
)  # fmt: skip
_WHOLE = ("clicks", "query_draws")
_WHAT = "The table of finished cells"


@dataclass(frozen=True, eq=False)
class Shipped:
    """Finished cells that came with the code, the ``command`` that made them, and the day."""

    command: str
    made: str
    base: Settings
    world: WorldDescription
    done: Mapping[str, CellResult]


def shipped_result(name: str, loss: Loss) -> StudyResult:
    """The paper-scale result of a study on built-in corpus 0, measured by a loss."""
    shipped = load_shipped(STUDIES[name].shipped_in)
    return StudyResult(
        Plan(STUDIES[name], "paper", shipped.base), loss, shipped.done, shipped.world
    )


@lru_cache(maxsize=4)
def load_shipped(part: str, folder: Path = FOLDER) -> Shipped:
    """Read ``figures``, ``maps``, ``few-clicks`` or ``repairs``."""
    about = json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
    with (folder / f"{part}.csv").open(encoding="utf-8", newline="") as file:
        done = {row["key"]: _result(row) for row in csv.DictReader(file)}
    world = WorldDescription(**{**about["world"], "notices": tuple(about["world"]["notices"])})
    return Shipped(about["command"], about["made"], Settings(**about["settings"]), world, done)


def _result(row: Mapping[str, str]) -> CellResult:
    numbers: dict[str, Any] = {
        name: int(row[name]) if name in _WHOLE else float(row[name]) for name in _NUMBERS
    }
    losses = {key: float(row[key]) for key in LOSSES}
    return CellResult(key=row["key"], losses=losses, seconds=0.0, peak_mib=0.0, **numbers)


def pack(results: Path, part: str, command: str, draws: int, folder: Path = FOLDER) -> None:
    """Turn the results directory of a run on the built-in corpus into shipped files.

    Args:
        results: what ``command`` had as ``--out``.
        part: "figures", "maps", "few-clicks" or "repairs".
        command: how the run was started.
        draws: its ``--draws``.
        folder: where to write.

    Raises:
        InputError: the run was made on another corpus, or a file cannot be written.
    """
    header, done = read_journal(results / "cells.jsonl")
    options = {
        name.lstrip("-").replace("-", "_"): value for name, value in header["setting"].items()
    }
    base = Settings(**options, draws=draws)
    world = description_of(WorldSource.of(base))
    if world.fingerprint != header["corpus"]["fingerprint"]:
        raise InputError(f"{results} was not made on the built-in corpus {base.corpus_seed}.")
    folder.mkdir(exist_ok=True)
    about = {
        "command": command,
        "made": datetime.now(UTC).date().isoformat(),
        "settings": base.as_dict(),
        "world": asdict(world),
    }
    text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
    with written_together():
        write_whole(folder / f"{part}.json", text.encode(), _WHAT)
        _write_rows(folder / f"{part}.csv", (done[key] for key in sorted(done)))


def _write_rows(path: Path, results: Iterable[CellResult]) -> None:
    with writing(path, _WHAT) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["key", *LOSSES, *_NUMBERS])
        for result in results:
            losses = [f"{result.losses[key]:.7g}" for key in LOSSES]
            numbers = [f"{getattr(result, name):.7g}" for name in _NUMBERS]
            writer.writerow([result.key, *losses, *numbers])
