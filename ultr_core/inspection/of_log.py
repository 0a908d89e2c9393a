"""Checks of a click log before anything is estimated from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.files.log_rows import CLICK_WITHOUT_POSITION
from ultr_core.findings import Finding, Severity
from ultr_core.inspection.findings import Inspection
from ultr_core.limits import CURVE_RANKS
from ultr_core.propensity import PresentationLog
from ultr_core.words import counted, part_of

FEW_CLICKS = 100
"""Clicks below which every estimate needs its interval to be read first."""

_MANY_LOST = 0.5  # share of rows left out from which the log is not to be trusted


def inspect_log(log: PresentationLog, *, name: str = "the click log") -> Inspection:
    """Check rows, positions, clicks, rank changes and propensities of a click log."""
    findings = (
        _columns(log),
        _left_out(log),
        _without_position(log),
        _positions(log),
        *_gaps(log),
        _clicks(log),
        *_only_clicks(log),
        *_repeats(log),
        _rank_changes(log),
        *_propensities(log),
    )
    return Inspection("log", name, log.format, findings, log.counts())


def own_curve(log: PresentationLog) -> list[float]:
    """The log's own propensities by rank, [last position], where they can be examination.

    A position that never occurs has the value of the one above it. Raises InputError where the
    log has none, such as cannot be examination (see `inspect_log`), or more than ``CURVE_RANKS``.
    """
    found = next(iter(_propensities(log)), None)
    if found is None:
        raise InputError(
            "The log has no column of propensities; give a curve or an assumed bias.",
            "propensities",
        )
    if found.severity != "good":
        raise InputError(f"The log's own propensities cannot be used: {found.sentence}")
    assert log.propensity is not None
    CURVE_RANKS.require(int(log.positions[-1]), "The curve in the log, down to its last position,")
    low, _ = _by_position(log, np.isfinite(log.propensity))
    ranks = np.arange(1, int(log.positions[-1]) + 1)
    place = np.maximum(np.searchsorted(log.positions, ranks, side="right") - 1, 0)
    values: list[float] = low[place].tolist()
    return values


def _columns(log: PresentationLog) -> Finding:
    told = ", ".join(f"{meaning} from {column}" for meaning, column in log.columns.items())
    if "query" not in log.columns:
        return Finding.of_file(
            "columns", "Columns", len(log.columns), "warning",
            f"Read {told}. There is no column query, so all rows are one query and cannot be "
            "matched with a corpus; clicks by position can still be read.",
        )  # fmt: skip
    return Finding.of_file("columns", "Columns", len(log.columns), "good", f"Read {told}.")


def _left_out(log: PresentationLog) -> Finding:
    others = [fault for fault in log.faults if fault.kind != CLICK_WITHOUT_POSITION]
    rows, kept = sum(fault.rows for fault in others), int(log.rows.sum())
    noun = "row" if log.format == "Parquet" else "line"
    severity: Severity = "good"
    if rows:
        severity = "stop" if rows > _MANY_LOST * (rows + kept) else "warning"
    told = "; ".join(f"{f.rows:,} with {f.kind} (first {noun} {f.first})" for f in others)
    return Finding.of_file(
        "rows_left_out",
        "Rows that cannot be used",
        rows,
        severity,
        f"{part_of(rows, rows + kept, 'row', does='is', do='are')} left out: {told}."
        if rows
        else f"All {kept:,} rows with a position can be used."
        if kept > 1
        else "The one row with a position can be used.",
    )


def _without_position(log: PresentationLog) -> Finding:
    clicks = sum(f.clicks for f in log.faults if f.kind == CLICK_WITHOUT_POSITION)
    words = f"{counted(clicks, 'click')} without a position"
    return Finding.of_file(
        "clicks_without_position",
        "Clicks on something that was never shown",
        clicks,
        "warning" if clicks else "good",
        f"{words}; {'it is' if clicks == 1 else 'they are'} left out of every estimate."
        if clicks
        else "Every click has a position.",
    )


def _positions(log: PresentationLog) -> Finding:
    key, label, top = "positions", "What position means", int(log.positions[0])
    last = int(log.positions[-1])
    if log.first_position == 0:
        return Finding.of_file(
            key, label, 0, "warning",
            f"Positions start at 0 in this log, so 1 was added: they are ranks 1 to {last:,} here, "
            "and rank 1, position 0 of the log, is the reference. Propensities are matched with "
            "ranks.",
        )  # fmt: skip
    if top > 1:
        return Finding.of_file(
            key, label, top, "warning",
            f"The first position is {top:,}, not 1 or 0. Positions are taken as ranks, so "
            f"{'rank 1 was' if top == 2 else f'ranks 1 to {top - 1:,} were'} never logged; if the "
            f"first place is meant, subtract {top - 1:,}.",
        )  # fmt: skip
    if log.positions.size == 1:
        return Finding.of_file(
            key, label, 1, "warning",
            "Only position 1 occurs, so nothing can be said about how examination falls.",
        )  # fmt: skip
    return Finding.of_file(
        key, label, 1, "good",
        f"Positions are counted from 1 and go down to {last:,}; position 1 is the reference.",
    )  # fmt: skip


def _gaps(log: PresentationLog) -> Iterator[Finding]:
    missing = int(log.positions[-1] - log.positions[0]) + 1 - log.positions.size
    if missing:
        after = int(np.argmax(np.diff(log.positions) > 1))
        yield Finding.of_file(
            "position_gaps",
            "Positions that never occur",
            missing,
            "warning",
            f"{counted(missing, 'position')} between the first and the last never "
            f"{'occurs' if missing == 1 else 'occur'}, the first of them "
            f"{int(log.positions[after]) + 1:,}; check that position is the rank in the whole "
            "list, no offset and no count of pixels.",
        )


def _clicks(log: PresentationLog) -> Finding:
    clicks, shown = int(log.clicks.sum()), int(log.impressions.sum())
    severity: Severity = "stop" if clicks == 0 else "warning" if clicks < FEW_CLICKS else "good"
    words = f"{counted(clicks, 'click')} in {counted(shown, 'impression')}"
    if clicks == 0:
        words += "; nothing can be learned or estimated without a click."
    elif clicks < FEW_CLICKS:
        words += f"; with fewer than {FEW_CLICKS}, read the interval of every estimate first."
    else:
        words += f", a rate of {clicks / shown:.2%}."
    return Finding.of_file("clicks", "Clicks", clicks, severity, words)


def _only_clicks(log: PresentationLog) -> Iterator[Finding]:
    if log.clicks_only:
        yield Finding.of_file(
            "only_clicks",
            "Rows that were not clicked",
            0,
            "warning",
            "Every row was clicked, so the log holds clicks and not what was shown. Training "
            "works; estimated risks are for clicked presentations only, and examination cannot "
            "be estimated.",
        )


def _repeats(log: PresentationLog) -> Iterator[Finding]:
    if log.page is None:
        return
    pages = log.pages_with_repeats
    yield Finding.of_file(
        "repeated_on_page",
        "One document twice on a page",
        pages,
        "warning" if pages else "good",
        f"{counted(pages, 'page shows', 'pages show')} a document at two positions; it stays one "
        "document, and each click is weighted by its own position."
        if pages
        else "No page shows a document at two positions.",
    )


def _rank_changes(log: PresentationLog) -> Finding:
    pairs, moved = int(log.pairs.size), log.moved_pairs
    seen = part_of(moved, pairs, "(query, document) pair", does="was", do="were")
    words = f"{seen} seen at more than one position"
    if log.clicks_only:
        return Finding.of_file(
            "rank_changes", "Rank changes", moved, "warning",
            f"{words}, but examination cannot be estimated from them, for the log holds clicks "
            "only.",
        )  # fmt: skip
    if log.has_swaps:
        swapped = int(log.impressions[log.swap > 0].sum())
        return Finding.of_file(
            "rank_changes", "Rank changes", moved, "good" if swapped else "warning",
            f"The log records a swap experiment with {counted(swapped, 'presentation')}, and "
            f"{words}.",
        )  # fmt: skip
    if moved == 0:
        return Finding.of_file(
            "rank_changes", "Rank changes", 0, "warning",
            f"{words}, so examination cannot be estimated from this log; a curve must come from "
            "swaps, from another log, or be assumed.",
        )  # fmt: skip
    return Finding.of_file(
        "rank_changes", "Rank changes", moved, "good",
        f"{words}; examination can be harvested from them, each as one document.",
    )  # fmt: skip


def _propensities(log: PresentationLog) -> Iterator[Finding]:
    """What the log's own column of propensities can be."""
    if log.propensity is None:
        return
    key, label = "propensities", "The log's own propensities"
    column = log.columns["propensity"]
    usable = np.isfinite(log.propensity)
    outside = usable & ((log.propensity < 0) | (log.propensity > 1))
    zero = usable & (log.propensity == 0)
    beyond, none = int(log.rows[outside].sum()), int(log.rows[zero].sum())
    low, high = _by_position(log, usable)
    if not usable.any():
        yield Finding.of_file(key, label, 0, "stop", f"The column {column} holds no number.")
    elif outside.any():
        row = int(np.argmax(outside))
        yield Finding.of_file(
            key, label, beyond, "stop",
            f"{counted(beyond, 'row has', 'rows have')} a propensity outside 0 to 1, "
            f"the first {log.propensity[row]:g} at position {int(log.position[row]):,}.",
        )  # fmt: skip
    elif bool((high > low * (1 + 1e-9)).any()):
        place = int(np.argmax(high > low * (1 + 1e-9)))
        yield Finding.of_file(
            key, label, int(np.count_nonzero(high > low * (1 + 1e-9))), "warning",
            f"The column {column} varies within a position ({low[place]:g} to {high[place]:g} at "
            f"position {int(log.positions[place]):,}), so it is the chance that an item was "
            "chosen, not that a position was examined; it is not used.",
        )  # fmt: skip
    elif log.positions.size > 1 and float(high.max()) <= float(low.min()) * (1 + 1e-9):
        yield Finding.of_file(
            key, label, float(high.max()), "warning",
            f"The column {column} is {high.max():g} at every position. As examination that would "
            "mean no position bias; it looks like the chance that an item was chosen, so it is "
            "not used.",
        )  # fmt: skip
    elif zero.any():
        place = int(log.position[int(np.argmax(zero))])
        yield Finding.of_file(
            key, label, none, "stop",
            f"The propensity of position {place:,} is 0, so a click there has an infinite weight; "
            "clip it or leave the position out.",
        )  # fmt: skip
    else:
        yield Finding.of_file(
            key, label, float(low.min()), "good",
            f"The column {column} has one value for each position, from {high.max():g} down to "
            f"{low.min():g}, so it can be examination.",
        )  # fmt: skip


def _by_position(
    log: PresentationLog, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest propensity at each position that has one."""
    assert log.propensity is not None
    place = np.searchsorted(log.positions, log.position[usable])
    low = np.full(log.positions.size, np.inf)
    high = np.full(log.positions.size, -np.inf)
    np.minimum.at(low, place, log.propensity[usable])
    np.maximum.at(high, place, log.propensity[usable])
    # A position without a value must not count as one that varies.
    empty = ~np.isfinite(low)
    if empty.any() and not empty.all():
        low[empty] = high[empty] = low[~empty][0]
    return low, high
