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
from itertools import pairwise

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
        self.blocks = tuple(self._block(*shape) for shape in shapes)
        self.first_cell = np.concatenate(
            [
                np.empty(0, np.int64),
                *(np.arange(b.cells.start, b.cells.stop, b.size) for b in self.blocks),
            ]
        )

    def _arrange(self, sizes: IntArray, counts: IntArray) -> tuple[list[tuple[int, ...]], _Queries]:
        """Shapes of the blocks with their first place, row and cell, and the queries in order."""
        number, spans = _cut(sizes, counts)
        place, row = np.zeros((2, len(number)), np.int64)
        shapes: list[tuple[int, ...]] = []
        places = rows = cells = 0
        for first, last in spans:
            span, n = slice(first, last), last - first
            size, most = int(sizes[number[span]].max()), int(counts[number[span]].max())
            steps = np.arange(n)
            place[span] = places + size * steps
            row[span] = rows + most * steps
            shapes.append((places, rows, cells, n, most, size))
            places, rows, cells = places + n * size, rows + n * most, cells + n * most * size
        self.n_places, self.n_rows, self.n_cells = places, rows, cells
        return shapes, _Queries(number, place, row)

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

    def _block(self, place: int, row: int, cell: int, queries: int, most: int, size: int) -> Block:
        n_rows = queries * most
        rows = slice(row, row + n_rows)
        self_cells = self.column[rows] + size * np.arange(n_rows)
        return Block(
            slice(place, place + queries * size),
            rows,
            slice(cell, cell + n_rows * size),
            queries,
            most,
            size,
            self_cells,
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


def _counted(sizes: IntArray) -> IntArray:
    """0, 1, ..., size - 1 for each of the sizes, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _cut(sizes: IntArray, counts: IntArray) -> tuple[IntArray, list[tuple[int, int]]]:
    """The queries that take part, in order, and the blocks [first, last) that they are cut into."""
    used = np.flatnonzero(counts)
    used = used[np.argsort(sizes[used], kind="stable")]
    spans: list[tuple[int, int]] = []
    for first, last in _runs(sizes[used], counts[used], CELLS_PER_SIZE):
        part = used[first:last]
        part[:] = part[np.argsort(counts[part], kind="stable")]
        size = int(sizes[part].max())
        for begin, end in _runs(counts[part], np.full(len(part), size), CELLS_PER_CALL):
            cells = size * int(counts[part[end - 1]])
            pieces = -(-(end - begin) * cells // CELLS_PER_BLOCK)
            pieces = min(pieces, end - begin)
            edges = [first + begin + k * (end - begin) // pieces for k in range(pieces + 1)]
            spans.extend(pairwise(edges))
    return used, spans


def _runs(keys: IntArray, units: IntArray, most_wasted: int) -> Iterator[tuple[int, int]]:
    """Cut rising keys into runs [first, last) in which padding wastes few cells.

    An item has ``units`` times its key cells; padding raises all keys of a run to the largest.
    """
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    before = np.append(0, np.cumsum(units))[firsts].tolist()
    distinct = keys[firsts].tolist()
    if not distinct:
        return
    starts, wasted, begun = [0], 0, 0
    for k in range(1, len(distinct)):
        wasted += (before[k] - begun) * (distinct[k] - distinct[k - 1])
        if wasted > most_wasted:
            starts.append(int(firsts[k]))
            wasted, begun = 0, before[k]
    yield from zip(starts, [*starts[1:], len(keys)], strict=True)
