"""Blocks of a click log put together: one numbering of names, and sentences on what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.files.log_rows import (
    CLICK_WITHOUT_POSITION,
    CellBlock,
    Fault,
    RowBlock,
    rows_of,
    rows_with,
)
from ultr_core.limits import CELL_BYTES, OWN_FILES, Room
from ultr_core.propensity.presentations import PresentationLog, RowFault
from ultr_core.words import counted, part_of


class LogTable:
    """Usable rows as they are read, and what was wrong with the others."""

    def __init__(
        self, name: str, row_noun: str, columns: Mapping[str, str], room: Room = OWN_FILES
    ) -> None:
        self.name, self.row_noun, self.columns, self.room = name, row_noun, columns, room
        self.blocks: list[RowBlock] = []
        self.faults: dict[str, Fault] = {}
        self.long = Fault("more columns than the first line names")
        self.rows = 0
        self.impressions = 0.0

    def add(self, cells: CellBlock) -> None:
        """Take a block of cells; raises InputError for more rows or larger sums than fit."""
        if not cells.lines.size:
            return
        if cells.long is not None and cells.long.any():
            self.long.rows += int(cells.long.sum())
            self.long.first = self.long.first or int(cells.lines[np.argmax(cells.long)])
        for meaning, column in cells.cells.items():
            lengths = pc.binary_length(column.dictionary)
            longer = rows_with(column, pc.greater(lengths, CELL_BYTES.most))
            if longer.any():
                row = int(np.argmax(longer))
                CELL_BYTES.require(
                    lengths[column.indices[row].as_py()].as_py(),
                    f"The {meaning} in {self.row_noun} {cells.lines[row]} of {self.name}",
                )
        block = rows_of(cells, self.faults, self.columns)
        self.rows += block.size
        if self.rows > self.room.rows.most:  # there may be more than have been read
            raise self.room.rows.exceeded(self.name)
        # No more clicks than impressions, so that these are the largest sum of all.
        self.impressions += float(block.numbers.get("impressions", np.zeros(0)).sum(dtype=float))
        if self.impressions >= 2**53:
            raise InputError(
                f"{self.name} has impressions that add up to 2^53 or more, by the row in "
                f"{self.row_noun} {int(cells.lines[-1])}; smaller counts are needed."
            )
        if block.size:
            self.blocks.append(block)

    def log(self, form: str) -> PresentationLog:
        """The usable rows; raises InputError if there is none."""
        faults = tuple(
            RowFault(f.kind, f.rows, f.clicks, f.first)
            for f in sorted(self.faults.values(), key=lambda f: f.first)
        )
        words = [self._words(fault) for fault in faults]
        if not self.blocks:
            told = "; ".join(words) or "nothing follows its first line"
            raise InputError(f"{self.name} has no usable row: {told}.")
        position, swap = self._numbers("position"), self._numbers("swap", absent=-1)
        first = 0 if position.min() == 0 else 1
        if first == 0:
            position = position + 1
            swap = swap + (swap >= 0)
        query, query_names = self._names("query")
        document, document_names = self._names("document")
        ranker, _ = self._names("ranker")
        page, pages = self._names("page")
        log = PresentationLog(
            query=query,
            document=query.astype(np.int64) * len(document_names) + document,
            position=position,
            impressions=self._numbers("impressions", absent=1),
            clicks=self._numbers("click"),
            swap=np.maximum(swap, 0) if "swap" in self.columns else swap + 1,
            ranker=ranker,
            propensity=self._propensity(),
            page=page if len(pages) else None,
            query_names=query_names,
            document_names=document_names,
            has_swaps="swap" in self.columns,
            first_position=first,
            format=form,
            columns=dict(self.columns),
            faults=faults,
            notices=(),
        )
        notices = [f"{text} left out; the other rows are used." for text in words]
        if self.long.rows:
            notices.append(f"{self._words(self.long)}: what stands there is not read.")
        return replace(log, notices=(*notices, *_sentences(log)))

    def _words(self, fault: RowFault | Fault) -> str:
        count = fault.rows
        if fault.kind == CLICK_WITHOUT_POSITION:
            what = f"{counted(count, 'click')} without a position"
        else:
            what = f"{counted(count, 'row')} with {fault.kind}"
        return f"{what} ({'' if count == 1 else 'first '}{self.row_noun} {fault.first})"

    def _numbers(self, meaning: str, absent: int = 0) -> NDArray[Any]:
        if meaning not in self.blocks[0].numbers:
            # One number that stands for all rows, without the memory of all rows.
            return np.broadcast_to(np.int32(absent), self.rows)
        return np.concatenate([block.numbers[meaning] for block in self.blocks])

    def _names(self, meaning: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Number of each row's name, by first appearance, and the names."""
        if meaning not in self.blocks[0].names:
            names = ("",) if meaning == "query" else ()
            return np.broadcast_to(np.int32(0), self.rows), names
        chunks = pa.chunked_array(_merged([block.names[meaning] for block in self.blocks]))
        chunks = chunks.unify_dictionaries()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks.chunks])
        names = chunks.chunk(0).dictionary
        used = pc.unique(pa.array(codes))
        if not used.equals(pa.array(np.arange(len(names), dtype=codes.dtype))):
            number = np.zeros(len(names), dtype=np.int32)
            number[used.to_numpy()] = np.arange(len(used), dtype=np.int32)
            codes, names = number[codes], names.take(used)
        return codes.astype(np.int32, copy=False), tuple(names.to_pylist())

    def _propensity(self) -> NDArray[np.float64] | None:
        parts = [b.propensity for b in self.blocks if b.propensity is not None]
        return np.concatenate(parts) if parts else None


def _merged(columns: list[Any]) -> list[Any]:
    """Columns that follow each other and share a dictionary as one, so that it is kept once."""
    groups: list[list[Any]] = []
    for column in columns:
        if groups and groups[-1][0].dictionary.equals(column.dictionary):
            groups[-1].append(column)
        else:
            groups.append([column])
    return [
        pa.DictionaryArray.from_arrays(
            pa.concat_arrays([column.indices for column in group]), group[0].dictionary
        )
        for group in groups
    ]


def _sentences(log: PresentationLog) -> Iterator[str]:
    if log.first_position == 0:
        yield "Positions start at 0 in this log; 1 was added, so that the top one is rank 1."
    elif (top := int(log.position.min())) > 1:
        yield (
            f"The first position in this log is {top}; positions are taken as ranks, so rank 1 was "
            "never logged."
        )
    else:
        yield "Positions are counted from 1; position 1 is the reference."
    if "query" not in log.columns:
        yield "There is no column query, so all rows are taken as one query."
    if "session" in log.columns:
        yield (
            f"The column {quoted(log.columns['session'])} (session) is not used: intervals take "
            "query draws as independent, so they are too narrow where one user repeats searches."
        )
    if log.page is not None:
        yield from _repeats(log)
    moved, pairs = log.moved_pairs, int(log.pairs.size)
    yield (
        f"{part_of(moved, pairs, '(query, document) pair', does='was', do='were')} shown at more "
        "than one position; only documents that moved tell position and relevance apart."
    )
    if int(log.position.max()) == 1:
        yield "Only position 1 occurs in this log, so no position can be compared with it."


def _repeats(log: PresentationLog) -> Iterator[str]:
    pages = log.pages_with_repeats
    if pages:
        noun = counted(pages, "page shows", "pages show")
        yield (
            f"{noun} the same document at two positions; both rows are used, each at its position."
        )
