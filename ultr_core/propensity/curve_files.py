"""Propensity curves as CSV files: columns ``rank`` and ``propensity``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from ultr_core.errors import InputError, checked_path, named, quoted
from ultr_core.feedback.examination import TableCurve
from ultr_core.propensity.curves import RelativeCurve, table_curve

RANK_NAMES = ("rank", "position", "pos")
PROPENSITY_NAMES = ("propensity", "p", "examination", "ratio", "value")


def curve_text(values: Sequence[float]) -> str:
    """CSV text of a curve, one line for each rank from 1, with all digits."""
    lines = [f"{rank},{value!r}" for rank, value in enumerate(map(float, values), start=1)]
    return "\n".join(["rank,propensity", *lines]) + "\n"


def write_curve(path: str | Path, values: Sequence[float]) -> None:
    """Write a curve [ranks] to a CSV file; raises InputError if the file cannot be written."""
    file = checked_path(path, "The curve")
    try:
        file.write_text(curve_text(values), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The curve cannot be written to {named(path)}: {error.strerror}."
        ) from None


def read_curve(path: str | Path) -> TableCurve | RelativeCurve:
    """Read a propensity curve from a CSV file; see `parse_curve`."""
    file = checked_path(path, "The curve")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"The curve {named(path)} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"The curve {named(path)} is no UTF-8 text; give a CSV file.") from None
    return parse_curve(text, named(file.name))


def parse_curve(text: str, name: str = "the curve") -> TableCurve | RelativeCurve:
    """Propensity curve from CSV text with the columns rank and propensity, of any scale.

    Ranks are 1, 2, ..., K, in any order, each once; beyond K the last value holds. The values are
    normalised to p_1 = 1 (see `table_curve`). Raises InputError that names the line of the first
    fault, or the rank that has no propensity.
    """
    rows = csv.reader(io.StringIO(text))
    header = [cell.strip().lower() for cell in next(rows, [])]
    rank_column = _column(header, RANK_NAMES, name)
    value_column = _column(header, PROPENSITY_NAMES, name)
    found: dict[int, float] = {}
    for cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        where = f"Line {rows.line_num} of {name}"
        if len(cells) <= max(rank_column, value_column):
            raise InputError(f"{where} has {len(cells)} columns; it needs {len(header)}.")
        rank = _number(cells[rank_column], f"{where}, column {header[rank_column]}")
        value = _number(cells[value_column], f"{where}, column {header[value_column]}")
        if rank != int(rank) or rank < 1:
            raise InputError(f"{where} has rank {rank:g}; ranks are whole numbers from 1.")
        if value < 0:
            raise InputError(f"{where} has propensity {value:g}; it must be 0 or more.")
        if int(rank) in found:
            raise InputError(f"{where} gives rank {int(rank)} a second time; give it once.")
        found[int(rank)] = value
    if not found:
        raise InputError(f"{name} has no line with a rank and a propensity.")
    for rank in range(1, max(found) + 1):
        if rank not in found:
            raise InputError(
                f"{name} has no propensity for rank {rank}; every rank from 1 to {max(found)} "
                "needs one."
            )
    return table_curve([found[rank] for rank in sorted(found)])


def _column(header: list[str], names: tuple[str, ...], name: str) -> int:
    for wanted in names:
        if wanted in header:
            return header.index(wanted)
    raise InputError(
        f"{name} has no column {names[0]}: its first line must name the columns, such as "
        "rank,propensity."
    )


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: {quoted(text.strip())} is no number.")
    return value
