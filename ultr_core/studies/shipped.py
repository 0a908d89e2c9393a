"""Paper-scale results on the built-in corpus, shipped as small files beside the code.

``paper_scale/figures.csv`` and ``maps.csv`` hold one row a cell; the JSON file of the same name
has the ``reproduce`` command that made them. :func:`pack` turns the results directory of such a
command into these files.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from ultr_core.errors import InputError
from ultr_core.files.disk import write_whole, writing, written_together
from ultr_core.settings import Settings
from ultr_core.studies.cells import CellResult
from ultr_core.studies.curves import StudyResult
from ultr_core.studies.grids import MAPS, STUDIES, Plan
from ultr_core.studies.journal import read_journal
from ultr_core.studies.losses import LOSSES, Loss
from ultr_core.studies.source import WorldDescription, WorldSource, description_of

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
    """The paper-scale result of a study on the built-in corpus 0, seen through a loss."""
    shipped = load_shipped("maps" if name in MAPS else "figures")
    return StudyResult(
        Plan(STUDIES[name], "paper", shipped.base), loss, shipped.done, shipped.world
    )


@lru_cache(maxsize=2)
def load_shipped(part: str, folder: Path = FOLDER) -> Shipped:
    """Read ``figures`` or ``maps``."""
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
        part: "figures" or "maps".
        command: how the run was started.
        draws: its ``--draws``.
        folder: where to write.

    Raises:
        InputError: the run was made on another corpus, or a file cannot be written.
    """
    header, done = read_journal(results / "cells.jsonl")
    options = {
        name.removeprefix("--").replace("-", "_"): value
        for name, value in header["setting"].items()
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
