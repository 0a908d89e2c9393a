"""A finished study as files: results, curve, figure, and what made them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ultr_core.export.figure_files import to_png, to_svg, to_vega_lite
from ultr_core.export.origin import versions
from ultr_core.figures.studies import study_figure
from ultr_core.files.disk import write_whole, written_together
from ultr_core.studies import GRID_VERSION, StudyResult, judge, read_study

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "altair", "vl-convert-python")


def study_svg(result: StudyResult) -> bytes:
    """The picture of a study as SVG text (UTF-8) with names of its own for what it refers to.

    The renderer numbers clipping paths through all pictures of a process; here they are numbered
    within the picture, so that the bytes do not depend on what was drawn before, and several
    pictures can stand on one page.
    """
    numbers: dict[str, int] = {}

    def own(match: re.Match[str]) -> str:
        number = numbers.setdefault(match[1], len(numbers))
        return f"{result.plan.study.name}-clip{number}"

    return re.sub(r"\bclip(\d+)\b", own, to_svg(study_figure(result)).decode()).encode()


def study_settings(result: StudyResult) -> dict[str, Any]:
    """What a study was made with, as plain values; the same for every way of running it."""
    plan, world = result.plan, result.world
    return {
        "study": plan.study.name,
        "scale": plan.scale,
        "loss": result.loss.key,
        "loss_definition": result.loss.definition,
        "settings": plan.base.as_dict(),
        "fixed_by_the_study": dict(plan.study.fixed),
        "corpus": {**world.counts, "fingerprint": world.fingerprint},
        "test_queries_without_relevant_document": world.empty_queries,
        "notices": list(world.notices),
        "reading": read_study(result),
        "claims": [claim.as_dict() for claim in judge(result)],
        "grid_version": GRID_VERSION,
        "versions": versions(*PACKAGES),
    }


def write_study(result: StudyResult, folder: Path) -> list[Path]:
    """Write every file of a finished study and return their paths.

    One row a cell as CSV and Parquet, the curve with its intervals as CSV, the figure as SVG, PNG
    and Vega-Lite, settings and verdicts as JSON. The bytes depend on the results alone, not on
    how often the run was interrupted or where it ran.

    Raises:
        InputError: the folder cannot be written to.
    """
    name = result.plan.study.name
    figure = study_figure(result)
    cells = result.cell_table()
    settings = json.dumps(study_settings(result), indent=2, ensure_ascii=False, allow_nan=False)
    contents = {
        f"{name}.csv": cells.to_csv(index=False, lineterminator="\n").encode(),
        f"{name}.parquet": cells.to_parquet(index=False),
        f"{name}-curve.csv": result.curve_table().to_csv(index=False, lineterminator="\n").encode(),
        f"{name}.svg": study_svg(result),
        f"{name}.png": to_png(figure),
        f"{name}.vl.json": to_vega_lite(figure),
        f"{name}.json": settings.encode() + b"\n",
    }
    with written_together():
        return [write_whole(folder / file, data, "The study") for file, data in contents.items()]
