"""Pair sums by enumeration, for queries with a moderate number of clicked documents.

Block by block (see ``dense_layout``) the cells u_ij / h are formed as products of two columns,
(1, (1 - s_i) / h) and (s_j / h, 1), clipped in place, and added up by row and by column. Padding is
far below zero, which adds nothing to any sum, and so is a document against itself.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.pair_totals import PairSample, PairTotals

# A block of cells should fit into the second-level cache.
CELLS_PER_BLOCK = 96_000
# A query with more cells than this is cut by rows, so that memory to work in does not grow with it.
CELLS_PER_QUERY = 2_000_000
# Padding as many cells as this costs as much as one more block (interpreter time of its calls):
# the first limit is that of documents, for queries that are then cut by clicked documents.
CELLS_PER_SIZE, CELLS_PER_CALL = 10_000, 5_000
# Layouts of corpora up to this size are kept for the next learner.
KEPT_DOCUMENTS, KEPT_LAYOUTS = 100_000, 4


@dataclass(frozen=True, eq=False)
class Block:
    """Queries with matrices of one shape, ``queries`` x ``rows_each`` x ``size`` cells.

    Or some rows of one query with very many cells, whose places belong to all of its blocks;
    ``begins`` says whether these are its first rows.
    """

    places: slice
    rows: slice
    cells: slice
    queries: int
    rows_each: int
    size: int
    self_cells: IntArray  # [rows] cell of each clicked document against itself, within the block
    begins: bool = True


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
        blocks = [
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
        ]
        return tuple(part for block in blocks for part in _cut_by_rows(block))


def _cut_by_rows(block: Block) -> Iterator[Block]:
    """A block as it is, or that of one query with more than ``CELLS_PER_QUERY`` in parts."""
    size = block.size
    if block.queries > 1 or block.rows_each * size <= CELLS_PER_QUERY:
        yield block
        return
    step = max(1, CELLS_PER_BLOCK // size)
    for first in range(0, block.rows_each, step):
        last = min(first + step, block.rows_each)
        row, cell = block.rows.start, block.cells.start
        yield Block(
            block.places,
            slice(row + first, row + last),
            slice(cell + first * size, cell + last * size),
            1,
            last - first,
            size,
            block.self_cells[first:last] - first * size,
            first == 0,
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


# Looking at a drawn pair costs as much as enumerating so many cells.
CELLS_PER_DRAW = 2
COLUMNS_PER_DRAW = 8


@dataclass(frozen=True, eq=False)
class _Parts:
    """Arrays of one block, all of them views: what is written into them is seen by the block."""

    left: FloatArray  # [queries, rows each, 2]
    right: FloatArray  # [queries, 2, size]
    cells: FloatArray  # [queries, rows each, size]
    flat: FloatArray  # [cells]
    by_row: FloatArray  # [rows, size]
    weights: FloatArray  # [queries, 1, rows each]
    zeros: FloatArray  # [cells]
    ones: FloatArray  # [cells]
    row_of_ones: FloatArray  # [size]


class _Workspace:
    """Weights and arrays to work in, in one precision; for one thread at a time."""

    def __init__(self, weights: FloatArray, pairs: DensePairs, dtype: np.dtype[Any]) -> None:
        layout = pairs.layout
        self.weights = weights.astype(dtype)
        # Rounded down: what is feasible for the dual with smaller weights is so with the weights.
        # One less as a whole number is the next smaller of positive floating-point numbers.
        self.weights.view(f"i{dtype.itemsize}")[:] -= self.weights > weights
        self.left = np.ones((2, layout.n_rows), dtype)
        # The last piece of a row that is drawn may reach beyond the last place.
        self.right = np.ones((2, layout.n_places + COLUMNS_PER_DRAW), dtype)
        self.row_sums = np.zeros(layout.n_rows + 1, dtype)
        self.column_sums = np.zeros(layout.n_places + 1, dtype)
        most = max((b.cells.stop - b.cells.start for b in layout.blocks), default=0)
        self.buffer, self.second = np.empty(most, dtype), np.empty(most, dtype)
        # Padding is as far below all documents as floating point allows without an infinity, which
        # a product could turn into NaN.
        self.far = np.finfo(dtype).max / 4
        # Bounds as arrays: NumPy compares two arrays with vector instructions, an array and a
        # number one by one, at 2.4 times the time.
        self.zeros, self.ones = np.zeros(most, dtype), np.ones(most, dtype)
        self.parts = [self._part(block) for block in layout.blocks]
        # What is filled in.
        self.scores, self.width = np.empty(0, dtype), 0.0

    def _part(self, block: Block) -> _Parts:
        n, rows, size = block.queries, block.rows_each, block.size
        flat = self.buffer[: n * rows * size]
        return _Parts(
            self.left[:, block.rows].reshape(2, n, rows).transpose(1, 2, 0),
            self.right[:, block.places].reshape(2, n, size).transpose(1, 0, 2),
            flat.reshape(n, rows, size),
            flat,
            flat.reshape(n * rows, size),
            self.weights[block.rows].reshape(n, 1, rows),
            self.zeros[: flat.size],
            self.ones[: flat.size],
            self.ones[:size],
        )


class DensePairs:
    """Pair sums by enumeration of (clicked document, document) cells.

    ``weights`` [documents] and ``query_offsets`` [queries + 1] as in a corpus. Queries without a
    weight, and queries of one document, take no part.
    """

    def __init__(self, weights: FloatArray, query_offsets: IntArray) -> None:
        self.layout = layout_of(weights > 0, query_offsets)
        self.n_documents, self.n_pairs = self.layout.n_documents, self.layout.n_pairs
        self.n_cells = self.layout.n_cells
        self._of_documents, self._offsets = weights, query_offsets
        self._weights = np.append(weights, 0.0).take(self.layout.clicked)
        # The sum of the weights of all pairs.
        self._of_pairs = float(self._weights @ np.maximum(self.layout.sizes - 1, 0))
        # The cells of a clicked document are cut into pieces of columns that follow each other.
        self._pieces = -(-self.layout.sizes // COLUMNS_PER_DRAW)
        self._n_pieces = int(self._pieces.sum())
        self._mass: FloatArray | None = None
        self._spaces: dict[str, _Workspace] = {}

    def _space(self, scores: FloatArray, width: float) -> _Workspace:
        """A workspace with ``(1 - s_i) / h`` and ``s_j / h`` filled in."""
        dtype = scores.dtype
        if dtype.name not in self._spaces:
            self._spaces[dtype.name] = _Workspace(self._weights, self, dtype)
        space = self._spaces[dtype.name]
        space.scores, space.width = scores, width
        inverse = dtype.type(1.0 / width)
        scaled = np.empty(self.n_documents + 1, dtype)
        np.multiply(scores, inverse, out=scaled[:-1])
        scaled[-1] = -space.far
        places = space.right[0, : self.layout.n_places]
        np.take(scaled, self.layout.document, out=places, mode="clip")
        scaled[-1] = space.far
        np.subtract(inverse, scaled.take(self.layout.clicked), out=space.left[1])
        return space

    @staticmethod
    def _violations(block: Block, part: _Parts) -> FloatArray:
        """u_ij / h of a block [cells], in its buffer; -infinity for i = j."""
        np.matmul(part.left, part.right, out=part.cells)
        part.flat[block.self_cells] = -np.inf
        return part.flat

    def evaluate(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None = None,
        keep: FloatArray | None = None,
    ) -> PairTotals:
        """Hinge, linear part and pull at ``scores`` [documents], in the precision of the scores.

        ``multipliers`` [cells] are the b_ij; ``keep`` [cells] receives the beta_ij.
        """
        space = self._space(scores, width)
        row_sums = space.row_sums
        hinges = np.empty(self.layout.n_rows, scores.dtype)
        for block, part in zip(self.layout.blocks, space.parts, strict=True):
            cells = self._violations(block, part)
            if multipliers is None:
                np.maximum(cells, part.zeros, out=cells)
                np.matmul(part.by_row, part.row_of_ones, out=hinges[block.rows])
            else:
                positive = space.second[: cells.size]
                np.maximum(cells, part.zeros, out=positive)
                np.matmul(
                    positive.reshape(part.by_row.shape), part.row_of_ones, out=hinges[block.rows]
                )
                cells += multipliers[block.cells]
                np.maximum(cells, part.zeros, out=cells)
            np.minimum(cells, part.ones, out=cells)
            if keep is not None:
                keep[block.cells] = cells
            np.matmul(part.by_row, part.row_of_ones, out=row_sums[block.rows])
            columns = space.column_sums[block.places].reshape(block.queries, 1, block.size)
            if block.begins:
                np.matmul(part.weights, part.cells, out=columns)
            else:
                columns += np.matmul(part.weights, part.cells)
        row_sums[:-1] *= space.weights
        pull = row_sums.take(self.layout.row)
        pull -= space.column_sums.take(self.layout.place)
        hinge = float(self._weights @ hinges) * width
        return PairTotals(hinge, float(row_sums.sum(dtype=np.float64)), pull)

    def hinge(self, scores: FloatArray) -> float:
        """The hinge sum alone."""
        space = self._space(scores, 1.0)
        total = 0.0
        for block, part in zip(self.layout.blocks, space.parts, strict=True):
            cells = self._violations(block, part)
            np.maximum(cells, part.zeros, out=cells)
            total += float(space.weights[block.rows] @ (part.by_row @ part.row_of_ones))
        return total

    def hinge_at_most(self, hinge: float, used: FloatArray, away: float) -> float:
        """What the hinge sum near ``used`` cannot exceed if ``hinge`` was found there.

        With e the rounding unit of ``used`` [documents], S its largest score and ``away`` the
        largest distance of a score from it: a cell is formed by five roundings of numbers up to
        (1 + 2 S) / h, a row sum of m cells loses at most the share m e, and a margin violation
        moves by at most twice the distance (N. J. Higham, Accuracy and Stability of Numerical
        Algorithms, 2002, chapter 3). The factors here are rounded up.
        """
        unit = float(np.finfo(used.dtype).eps) / 2
        largest = float(np.abs(used).max(initial=0.0))
        longest = max((block.size for block in self.layout.blocks), default=0)
        from_cells = (8 * unit * (1 + 2 * largest) + 2 * away) * self._of_pairs
        return hinge * (1 + 2 * (longest + 4) * unit) + from_cells

    def at_zero(self, width: float, dtype: np.dtype[Any]) -> PairTotals:
        """The sums where all scores are equal: every pair has u = 1."""
        beta = min(1.0, 1.0 / width)
        sizes = np.diff(self._offsets)
        of_query = np.add.reduceat(self._of_documents, self._offsets[:-1])
        pull = self._of_documents * np.repeat(sizes, sizes) - np.repeat(of_query, sizes)
        return PairTotals(self._of_pairs, beta * self._of_pairs, (beta * pull).astype(dtype))

    def sample_window(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None,
        rng: np.random.Generator,
        rate: float,
        most: int,
    ) -> PairSample:
        """At most ``most`` pairs with 0 < beta < 1 out of a share ``rate`` of all pairs.

        Looks at all pairs if that costs no more. Pairs are drawn with probability proportional to
        their weight, unless all of the window are returned.
        """
        space = self._spaces.get(scores.dtype.name)
        if space is None or space.scores is not scores or space.width != width:
            space = self._space(scores, width)
        draws = max(1, int(rate * self._n_pieces))
        # A caller that wants all pairs gets them, however much of the layout is padding.
        if rate < 1 and draws * COLUMNS_PER_DRAW * CELLS_PER_DRAW < self.n_cells:
            return self._drawn(space, multipliers, rng, draws, most)
        rows, places = self._window(space, multipliers)
        weights, n_pairs = self._weights[rows], len(rows)
        if n_pairs > most:
            total = weights.cumsum()
            steps = (np.arange(most) + rng.random(most)) * (total[-1] / most)
            chosen = np.minimum(np.searchsorted(total, steps), n_pairs - 1)
            rows, places = rows[chosen], places[chosen]
            weights = np.full(most, total[-1] / most)
        layout = self.layout
        return PairSample(
            layout.clicked[rows], layout.document[places], weights, float(n_pairs), whole=True
        )

    def _window(
        self, space: _Workspace, multipliers: FloatArray | None
    ) -> tuple[IntArray, IntArray]:
        """Row and place of each cell inside the window."""
        rows, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for block, part in zip(self.layout.blocks, space.parts, strict=True):
            cells = self._violations(block, part)
            if multipliers is not None:
                cells += multipliers[block.cells]
            inside = np.flatnonzero((cells > 0) & (cells < 1))
            row, column = np.divmod(inside, block.size)
            rows.append(block.rows.start + row)
            places.append(block.places.start + row // block.rows_each * block.size + column)
        return np.concatenate(rows), np.concatenate(places)

    def _drawn(
        self,
        space: _Workspace,
        multipliers: FloatArray | None,
        rng: np.random.Generator,
        draws: int,
        most: int,
    ) -> PairSample:
        """Pairs of the window in about so many pieces of rows.

        Pieces are drawn with probability proportional to the weight of their document.
        """
        layout = self.layout
        if self._mass is None:
            self._mass = np.cumsum(self._weights * self._pieces)
        total = float(self._mass[-1])
        # Equal distances from a random start: the number of draws of a row is exact but for
        # rounding.
        reached = (self._mass * (draws / total) + rng.random()).astype(np.int64)
        rows = np.repeat(np.arange(layout.n_rows), np.diff(reached, prepend=0))
        first = COLUMNS_PER_DRAW * (rng.random(len(rows)) * self._pieces.take(rows)).astype(
            np.int64
        )
        cells = _pieces_of(space.right[0], first + layout.first_place.take(rows))
        cells += space.left[1].take(rows)
        if multipliers is not None:
            cells += _pieces_of(multipliers, first + layout.first_cell.take(rows))
        found = np.flatnonzero((cells > 0) & (cells < 1))
        # Most cells are outside the window: only now is it seen to the ends of rows.
        begins = len(rows) * np.arange(COLUMNS_PER_DRAW + 1)
        step = np.repeat(np.arange(COLUMNS_PER_DRAW), np.diff(np.searchsorted(found, begins)))
        draw = found - len(rows) * step
        row, column = rows.take(draw), first.take(draw) + step
        real = (column != layout.column.take(row)) & (column < layout.sizes.take(row))
        row, column = row[real], column[real]
        # Each draw stands for so much weight in every cell of its piece.
        weight = total / max(1, len(rows))
        n_pairs = self._n_pieces * len(row) / max(1, len(rows))
        if len(row) > most:
            weight *= len(row) / most
            kept = (np.arange(most) * len(row)) // most
            row, column = row[kept], column[kept]
        return PairSample(
            layout.clicked.take(row),
            layout.document.take(layout.first_place.take(row) + column),
            np.full(len(row), weight),
            n_pairs,
        )


def _pieces_of(values: FloatArray, firsts: IntArray) -> FloatArray:
    """Pieces [columns, draws] of ``values`` that begin at ``firsts`` [draws].

    NumPy is fast along the long axis. What lies beyond the last value is any value.
    """
    pieces = np.empty((COLUMNS_PER_DRAW, len(firsts)), values.dtype)
    for column in range(COLUMNS_PER_DRAW):
        np.take(values[column:], firsts, out=pieces[column], mode="clip")
    return pieces
