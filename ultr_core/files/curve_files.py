"""Propensity curves as CSV files: columns ``rank`` and ``propensity``.

A curve from swaps also has the column ``trust_bias``: what the test for trust bias found in the log
that the curve is from. It is the same in every row, so that any program can read the file.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from ultr_core.errors import InputError, named, number_in_text, quoted
from ultr_core.files.disk import read_text, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.log_columns import whole_context
from ultr_core.files.tables import DELIMITERS, table_rows
from ultr_core.limits import CONTEXTS, CURVE_RANKS
from ultr_core.propensity.curves import RelativeCurve, table_curve
from ultr_core.propensity.trust_swaps import TRUST_BIAS
from ultr_core.users.examination import TableCurve
from ultr_core.words import counted

RANK_NAMES = ("rank", "position", "pos")
CONTEXT_NAME = "context"
TRUST_NAME = "trust_bias"
_WORST_FIRST = ("found", "untested", "not found")
PROPENSITY_NAMES = ("propensity", "p", "examination", "ratio", "value")


def curve_text(values: Sequence[float], trust_bias: str = "") -> str:
    """CSV text of a curve, one line per rank from 1, with all digits.

    trust_bias: one of ``TRUST_BIAS``, or "" for a log without swaps.

    >>> curve_text([1.0, 0.5], "found")
    'rank,propensity,trust_bias\\n1,1.0,found\\n2,0.5,found\\n'
    """
    name, told = (f",{TRUST_NAME}", f",{trust_bias}") if trust_bias else ("", "")
    lines = [f"{rank},{value!r}{told}" for rank, value in enumerate(map(float, values), start=1)]
    return "\n".join([f"rank,propensity{name}", *lines]) + "\n"


def write_curve(path: str | Path, values: Sequence[float], trust_bias: str = "") -> None:
    """Write a curve [ranks] to a CSV file; raises InputError if the file cannot be written."""
    text = curve_text(values, trust_bias)
    with writing(path, "The curve") as file:
        file.write(text)


def context_curves_text(
    curves: Mapping[str, Sequence[float]], trust_bias: Mapping[str, str] = MappingProxyType({})
) -> str:
    """CSV text of each context's curve, with the columns context, rank and propensity.

    trust_bias: as in `curve_text`, by context.
    """
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    tested = any(trust_bias.values())
    write([CONTEXT_NAME, "rank", "propensity", *([TRUST_NAME] if tested else [])])
    for name, values in curves.items():
        told = [trust_bias.get(name, "")] if tested else []
        for rank, value in enumerate(map(float, values), start=1):
            write([name, rank, repr(value), *told])
    return out.getvalue()


def write_context_curves(
    path: str | Path,
    curves: Mapping[str, Sequence[float]],
    trust_bias: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write each context's curve to a CSV file; see `read_context_values`."""
    text = context_curves_text(curves, trust_bias)
    with writing(path, "The curve") as file:
        file.write(text)


def read_curves(
    path: str | Path,
) -> tuple[list[float] | dict[str, list[float]], dict[str, str]]:
    """The values of one curve, or of each context's by the context's name, and `parse_trust_bias`.

    Reads the file once. Raises InputError if `read_curve_values` or `read_context_values` does.
    """
    text, name = read_text(path, "The curve"), named(path)
    found = parse_context_values(text, name) or parse_curve_values(text, name)
    return found, parse_trust_bias(text, name)


def parse_trust_bias(text: str, name: str = "the curve") -> dict[str, str]:
    """What the test for trust bias found, by context, or under "" for a curve without contexts.

    One of ``TRUST_BIAS``; if rows of a curve differ, "found" counts before "untested", and that
    before "not found". Contexts without one are left out, and whatever else is in the column is
    ignored. The text must be one that `parse_curve_values` or `parse_context_values` reads.
    """
    rows = table_rows(text, (CONTEXT_NAME, *RANK_NAMES, *PROPENSITY_NAMES), name)
    header = _names(next(rows, (0, [])))
    if TRUST_NAME not in header:
        return {}
    place = header.index(TRUST_NAME)
    of_context = header.index(CONTEXT_NAME) if CONTEXT_NAME in header else None
    found: dict[str, str] = {}
    for _, cells in rows:
        told = cells[place].strip().lower() if len(cells) > place else ""
        if told in TRUST_BIAS:
            context = _context(cells, of_context)
            found[context] = min(told, found.get(context, told), key=_WORST_FIRST.index)
    return found


def _context(cells: list[str], place: int | None) -> str:
    """The context of a row; "" without a column of contexts or in a row that ends before it."""
    return whole_context(cells[place].strip()) if place is not None and len(cells) > place else ""


def read_context_values(path: str | Path) -> dict[str, list[float]]:
    """The values of each context's curve, by the context's name; {} for a file without contexts.

    The CSV file has a context column and, for each context, the rows that `parse_curve_values`
    reads. Raises InputError if that function does; the error names the context.
    """
    return parse_context_values(read_text(path, "The curve"), named(path))


def parse_context_values(text: str, name: str = "the curve") -> dict[str, list[float]]:
    """`read_context_values` for CSV text."""
    with expecting("curve", text, name):
        known = (CONTEXT_NAME, *RANK_NAMES, *PROPENSITY_NAMES)
        rows = table_rows(text, known, name)
        first = next(rows, (0, []))
    header = _names(first)
    if CONTEXT_NAME not in header:
        return {}
    place = _column(header, (CONTEXT_NAME,), name)
    by_name: dict[str, list[tuple[int, list[str]]]] = {}
    for number, cells in rows:
        own = by_name.setdefault(_context(cells, place), [first])
        if len(by_name) > CONTEXTS.most:
            raise CONTEXTS.exceeded(name)
        if len(own) <= CURVE_RANKS.most + 1:  # with one more, a rank is there twice or too low
            own.append((number, cells))
    return {
        context: _values(iter(rows), f"{name}, context {quoted(context)},")
        for context, rows in by_name.items()
    }


def read_curve(path: str | Path) -> TableCurve | RelativeCurve:
    """Read a propensity curve from a CSV file; see `parse_curve`."""
    return _curve(read_curve_values(path), named(path))


def read_curve_values(path: str | Path) -> list[float]:
    """Read the numbers of a propensity curve from a CSV file; see `parse_curve_values`."""
    return parse_curve_values(read_text(path, "The curve"), named(path))


def parse_curve(text: str, name: str = "the curve") -> TableCurve | RelativeCurve:
    """Propensity curve from CSV text with the columns rank and propensity, on any scale.

    The values of `parse_curve_values`, normalised to p_1 = 1 (see `table_curve`); beyond the last
    rank, its value is used.
    """
    return _curve(parse_curve_values(text, name), name)


def _curve(values: list[float], name: str) -> TableCurve | RelativeCurve:
    try:
        return table_curve(values)
    except InputError as error:
        raise InputError(f"{name}: {error}", error.about) from None


def parse_curve_values(text: str, name: str = "the curve") -> list[float]:
    """Numbers for ranks 1, 2, ..., K, as written in CSV text, [K].

    Ranks may be in any order, but none may occur twice; columns are separated by any of
    ``DELIMITERS``. Raises InputError, which names the line of the first fault, or the rank without
    a propensity.
    """
    with expecting("curve", text, name):
        rows = table_rows(text, (CONTEXT_NAME, *RANK_NAMES, *PROPENSITY_NAMES), name)
        first = next(rows, (0, []))
    if CONTEXT_NAME in _names(first):
        raise InputError(
            f"{name} has a curve for each context, and only one can be used here; give a file with "
            f"the rows of one context and without the column {CONTEXT_NAME}.",
            "one_curve",
        )
    with expecting("curve", text, name):
        return _values(chain([first] if first[1] else [], rows), name)


def _names(first: tuple[int, list[str]]) -> list[str]:
    return [cell.strip().lower() for cell in first[1]]


def _values(lines: Iterator[tuple[int, list[str]]], name: str) -> list[float]:
    """Numbers for ranks 1, 2, ..., K of lines, the first of which names the columns."""
    found = _found(lines, name)
    if not found:
        raise InputError(f"{name} has no line with a rank and a propensity.", "empty_file")
    for rank in range(1, len(found) + 1):
        if rank not in found:
            raise InputError(
                f"{name} has no propensity for rank {rank}; every rank from 1 to {max(found):,} "
                "needs one.",
                "rank_missing",
            )
    return [found[rank] for rank in sorted(found)]


def _found(lines: Iterator[tuple[int, list[str]]], name: str) -> dict[int, float]:
    """Propensity by rank, as the lines come."""
    header = [cell.strip().lower() for cell in next(lines, (0, []))[1]]
    rank_column = _column(header, RANK_NAMES, name)
    value_column = _column(header, PROPENSITY_NAMES, name)
    found: dict[int, float] = {}
    for number, cells in lines:
        where = f"Line {number} of {name}"
        if len(cells) <= max(rank_column, value_column):
            raise InputError(
                f"{where} has {counted(len(cells), 'column')}; it needs {len(header)}.",
                "cells_missing",
            )
        rank = _number(cells[rank_column], f"{where}, column {header[rank_column]}")
        value = _number(cells[value_column], f"{where}, column {header[value_column]}")
        if rank != int(rank) or not 1 <= rank <= CURVE_RANKS.most:
            raise InputError(
                f"{where} has rank {rank:g}; ranks are whole numbers from 1 to "
                f"{CURVE_RANKS.most:,}.",
                "curve_rank",
            )
        if value < 0:
            raise InputError(
                f"{where} has propensity {value:g}; it must be 0 or more.", "negative_propensity"
            )
        if int(rank) in found:
            raise InputError(f"{where} repeats rank {int(rank)}; give it only once.", "rank_twice")
        found[int(rank)] = value
    return found


def _column(header: list[str], names: tuple[str, ...], name: str) -> int:
    for wanted in names:
        if header.count(wanted) > 1:
            raise InputError(f"{name} names the column {wanted} twice; remove one.", "column_twice")
        if wanted in header:
            return header.index(wanted)
    raise InputError(
        f"{name} has no column {names[0]}: its first line must name the columns, such as "
        f"rank,propensity ({', '.join(DELIMITERS.values())} between them).",
        "column_missing",
    )


def _number(text: str, where: str) -> float:
    value = number_in_text(text)
    if not math.isfinite(value):
        point = "; write decimals with a point" if "," in text else ""
        raise InputError(f"{where}: {quoted(text.strip())} is not a number{point}.", "not_a_number")
    return value
