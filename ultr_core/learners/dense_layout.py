"""Where the pairs of a query lie when all of them are enumerated.

The pairs of a query form a matrix of cells (clicked documents x all documents). Queries of about
equal size, with about as many clicked documents, are padded to one shape and make up a block, which
NumPy and BLAS handle in a few calls. The layout depends on which documents are clicked, not on how
often: learners that weight the same clicks differently share it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import IntArray

# A block of cells should fit into the second-level cache.
CELLS_PER_BLOCK = 96_000
# Padding as many cells as this costs as much as one more block (interpreter time of its calls):
# the first limit is that of documents, for queries that are then cut by clicked documents.
CELLS_PER_SIZE, CELLS_PER_CALL = 10_000, 5_000
# Layouts of corpora up to this size are kept for the next learner.
KEPT_DOCUMENTS, KEPT_LAYOUTS = 100_000, 4


@dataclass(frozen=True, eq=False)
class Block:
    """Queries with matrices of one shape, ``queries`` x ``rows_each`` x ``size`` cells."""

    places: slice
    rows: slice
    cells: slice
    queries: int
    rows_each: int
    size: int
    self_cells: IntArray  # [rows] cell of each clicked document against itself, within the block


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Shapes of the blocks [blocks each], as in ``Block``."""

    queries: IntArray
    rows_each: IntArray
    size: IntArray


@dataclass(frozen=True, eq=False)
class _Queries:
    """The queries that take part, block after block, and where each one's part begins."""

    number: IntArray
    place: IntArray
    row: IntArray


class DenseLayout:
    """Blocks of cells for the documents that are ``clicked`` [documents].

    Queries without a clicked document, and queries of one document, take no part. Documents of
    the others have a place, clicked ones also a row; both are numbered over all blocks.

    Attributes:
        blocks: the blocks.
        n_places, n_rows, n_cells: how many there are, padding included.
        n_pairs: clicked documents times the others of their query, without padding.
        place [documents]: place of each document, ``n_places`` if it has none.
        row [documents]: row of each document, ``n_rows`` if it has none.
        document [places]: document at each place, ``n_documents`` for padding.
        clicked [rows]: document of each row, ``n_documents`` for padding.
        column [rows]: place of that document within its query.
        sizes [rows]: documents of its query, 0 for padding.
        first_place, first_cell [rows]: where its query's places and its own cells begin.
    """

    def __init__(self, clicked: NDArray[np.bool_], query_offsets: IntArray) -> None:
        sizes = np.diff(query_offsets)
        counts = np.add.reduceat(clicked, query_offsets[:-1], dtype=np.int64)
        counts[sizes == 1] = 0
        self.n_documents = len(clicked)
        self.n_pairs = int(counts @ (sizes - 1))
        shapes, queries = self._arrange(sizes, counts)
        self._place_documents(query_offsets, sizes, queries)
        self._place_rows(clicked, query_offsets, sizes, counts, queries)
        self.blocks = self._cut_into_blocks(shapes)

    def _arrange(self, sizes: IntArray, counts: IntArray) -> tuple[_Shapes, _Queries]:
        """Shapes of the blocks, and the queries in their order."""
        number, firsts = _cut(sizes, counts)
        if not len(number):
            nothing = np.zeros(0, np.int64)
            self.n_places = self.n_rows = self.n_cells = 0
            return _Shapes(nothing, nothing, nothing), _Queries(number, nothing, nothing)
        queries = np.diff(firsts, append=len(number))
        size: IntArray = np.maximum.reduceat(sizes[number], firsts)
        most: IntArray = np.maximum.reduceat(counts[number], firsts)
        within = _counted(queries)
        place, self.n_places = _starts(queries * size)
        row, self.n_rows = _starts(queries * most)
        self.n_cells = int((queries * most) @ size)
        return _Shapes(queries, most, size), _Queries(
            number,
            np.repeat(place, queries) + np.repeat(size, queries) * within,
            np.repeat(row, queries) + np.repeat(most, queries) * within,
        )

    def _place_documents(self, query_offsets: IntArray, sizes: IntArray, queries: _Queries) -> None:
        size = sizes[queries.number]
        within = _counted(size)
        documents = within + np.repeat(query_offsets[queries.number], size)
        places = within + np.repeat(queries.place, size)
        self.place = np.full(self.n_documents, self.n_places)
        self.place[documents] = places
        self.document = np.full(self.n_places, self.n_documents)
        self.document[places] = documents

    def _place_rows(
        self,
        clicked: NDArray[np.bool_],
        query_offsets: IntArray,
        sizes: IntArray,
        counts: IntArray,
        queries: _Queries,
    ) -> None:
        order = np.zeros(len(sizes), np.int64)
        order[queries.number] = np.arange(len(queries.number))
        documents = np.flatnonzero(clicked & (self.place < self.n_places))
        order = np.repeat(order, counts)
        within = _counted(counts)
        rows = within + queries.row[order]
        self.row = np.full(self.n_documents, self.n_rows)
        self.row[documents] = rows
        self.clicked = np.full(self.n_rows, self.n_documents)
        self.clicked[rows] = documents
        self.column, self.sizes, self.first_place = np.zeros((3, self.n_rows), np.int64)
        self.column[rows] = documents - np.repeat(query_offsets[:-1], counts)
        self.sizes[rows] = np.repeat(sizes, counts)
        self.first_place[rows] = queries.place[order]

    def _cut_into_blocks(self, shapes: _Shapes) -> tuple[Block, ...]:
        n_rows = shapes.queries * shapes.rows_each
        places, _ = _starts(shapes.queries * shapes.size)
        rows, _ = _starts(n_rows)
        cells, _ = _starts(n_rows * shapes.size)
        # The first cell of each row, within its block.
        in_block = _counted(n_rows) * np.repeat(shapes.size, n_rows)
        self.first_cell = in_block + np.repeat(cells, n_rows)
        self_cells = in_block + self.column
        return tuple(
            Block(
                slice(place, place + queries * size),
                slice(row, row + queries * most),
                slice(cell, cell + queries * most * size),
                queries,
                most,
                size,
                self_cells[row : row + queries * most],
            )
            for place, row, cell, queries, most, size in np.column_stack(
                [places, rows, cells, shapes.queries, shapes.rows_each, shapes.size]
            ).tolist()
        )


def layout_of(clicked: NDArray[np.bool_], query_offsets: IntArray) -> DenseLayout:
    """The layout for ``clicked`` [documents] and ``query_offsets`` [queries + 1].

    The last ones, of corpora that are not too large, are remembered.
    """
    if len(clicked) > KEPT_DOCUMENTS:
        return DenseLayout(clicked, query_offsets)
    offsets = np.asarray(query_offsets, np.int64)
    return _remembered(np.packbits(clicked).tobytes(), offsets.tobytes())


@functools.lru_cache(KEPT_LAYOUTS)
def _remembered(clicked: bytes, query_offsets: bytes) -> DenseLayout:
    offsets = np.frombuffer(query_offsets, np.int64)
    bits = np.unpackbits(np.frombuffer(clicked, np.uint8), count=int(offsets[-1]))
    return DenseLayout(bits.view(np.bool_), offsets)


def _starts(lengths: IntArray) -> tuple[IntArray, int]:
    """Where each of some parts begins if they lie one after the other, and where the last ends."""
    ends = np.cumsum(lengths)
    return ends - lengths, int(ends[-1]) if len(ends) else 0


def _counted(sizes: IntArray) -> IntArray:
    """0, 1, ..., size - 1 for each of the sizes, one after the other."""
    starts, total = _starts(sizes)
    return np.arange(total) - np.repeat(starts, sizes)


def _cut(sizes: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """The queries that take part, in order, and the first one of each block they are cut into."""
    used = np.flatnonzero(counts)
    used = used[np.argsort(sizes[used], kind="stable")]
    size_of, before = sizes[used], np.cumsum(counts[used]) - counts[used]
    firsts: list[int] = []
    for first, last in _runs(size_of, before, CELLS_PER_SIZE):
        size, n = int(size_of[last - 1]), last - first
        order = np.argsort(counts[used[first:last]], kind="stable")
        used[first:last] = used[first:last][order]
        clicked = counts[used[first:last]]
        for begin, end in _runs(clicked, size * np.arange(n), CELLS_PER_CALL):
            cells = (end - begin) * size * int(clicked[end - 1])
            pieces = min(-(-cells // CELLS_PER_BLOCK), end - begin)
            firsts.extend(first + begin + k * (end - begin) // pieces for k in range(pieces))
    return used, np.array(firsts, np.int64)


def _runs(keys: IntArray, before: IntArray, most_wasted: int) -> Iterator[tuple[int, int]]:
    """Cut rising keys into runs [first, last) in which padding wastes few cells.

    An item has some units, ``before`` counts those of the items before each, and its key is the
    number of cells of a unit; padding raises all keys of a run to the largest.
    """
    if not len(keys):
        return
    firsts = np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1)
    units, distinct, begins = before[firsts].tolist(), keys[firsts].tolist(), firsts.tolist()
    start, wasted, begun = 0, 0, 0
    for k in range(1, len(distinct)):
        wasted += (units[k] - begun) * (distinct[k] - distinct[k - 1])
        if wasted > most_wasted:
            yield start, begins[k]
            start, wasted, begun = begins[k], 0, units[k]
    yield start, len(keys)
