"""Pair sums by enumeration, for queries with a moderate number of clicked documents.

The pairs of a query form a matrix (clicked documents x all documents); queries of about equal size
are padded with the score -infinity, which adds nothing to any sum, and are evaluated together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ultr_core.learners.array_types import FloatArray, IntArray
from ultr_core.learners.pair_totals import PairSample, PairTotals

# A block of pairs should fit into the second-level cache, twice.
CELLS_PER_BLOCK = 48_000
# Padding as many cells as this costs as much as one more block (interpreter time of its calls).
CELLS_PER_CALL = 8_000
# A sample of rows comes from at least this many blocks, and is at most this share of their rows.
FEWEST_BLOCKS = 8
MOST_ROWS = 0.5


@dataclass(frozen=True)
class _Block:
    """Clicked documents of some queries of about equal size, against all documents of those."""

    documents: slice  # in the padded order
    rows: slice  # in the list of all clicked documents
    cells: slice  # in the list of all cells
    size: int  # documents a query, padding included
    row_query: IntArray  # [rows] query within the block
    row_ends: IntArray  # [queries + 1]
    self_cells: IntArray  # [rows] cell of each clicked document against itself


class DensePairs:
    """Pair sums by enumeration of (clicked document, document) cells in padded blocks.

    ``weights`` [documents] and ``query_offsets`` [queries + 1] as in a corpus. Queries without a
    weight, and queries of one document, take no part.
    """

    def __init__(self, weights: FloatArray, query_offsets: IntArray) -> None:
        sizes = np.diff(query_offsets)
        clicked = np.flatnonzero(weights > 0)
        query = np.searchsorted(query_offsets, clicked, side="right") - 1
        clicked = clicked[sizes[query] > 1]
        query = query[sizes[query] > 1]
        counts = np.bincount(query, minlength=len(sizes))
        used = np.flatnonzero(counts)
        used = used[np.argsort(sizes[used], kind="stable")]
        place = np.empty(len(sizes), np.int64)
        place[used] = np.arange(len(used))
        by_size = np.argsort(place[query], kind="stable")

        self.n_documents = len(weights)
        self.n_pairs = int((counts[used] * (sizes[used] - 1)).sum())
        self.weights = weights[clicked[by_size]]
        self._documents = clicked[by_size]
        self._lay_out(sizes[used], counts[used], query_offsets[:-1][used], place[query[by_size]])
        self._cast: dict[str, tuple[FloatArray, list[sp.csr_array]]] = {}
        self._buffers: dict[str, tuple[FloatArray, FloatArray, FloatArray]] = {}

    def _lay_out(
        self, sizes: IntArray, counts: IntArray, starts: IntArray, row_place: IntArray
    ) -> None:
        ends = np.concatenate([[0], np.cumsum(counts)])
        gathered: list[IntArray] = []
        self._blocks: list[_Block] = []
        row_position = np.empty(len(row_place), np.int64)
        documents = cells = 0
        for first, last in _cut(sizes, counts):
            size = int(sizes[last - 1])
            columns = np.arange(size)
            places = starts[first:last, None] + columns
            places[columns >= sizes[first:last, None]] = self.n_documents
            gathered.append(places.ravel())
            rows = slice(int(ends[first]), int(ends[last]))
            row_query = row_place[rows] - first
            column = self._documents[rows] - starts[row_place[rows]]
            row_position[rows] = documents + row_query * size + column
            n_rows = rows.stop - rows.start
            self._blocks.append(
                _Block(
                    slice(documents, documents + (last - first) * size),
                    rows,
                    slice(cells, cells + n_rows * size),
                    size,
                    row_query,
                    ends[first : last + 1] - ends[first],
                    np.arange(n_rows) * size + column,
                )
            )
            documents += (last - first) * size
            cells += n_rows * size
        self.n_cells = cells
        self._gather = np.concatenate([*gathered, np.empty(0, np.int64)])
        self._row_position = row_position
        self._real = np.flatnonzero(self._gather < self.n_documents)
        self._scatter = self._gather[self._real]
        self._row_query, self._row_others = row_place, sizes[row_place] - 1
        self._document_query = np.repeat(np.arange(len(sizes)), sizes)

    def _of_type(self, dtype: np.dtype[Any]) -> tuple[FloatArray, list[sp.csr_array]]:
        """Weights, and for each block the matrix that adds its rows up by query."""
        if dtype.name not in self._cast:
            weights = self.weights.astype(dtype)
            summing = [
                sp.csr_array(
                    (
                        weights[b.rows],
                        np.arange(len(b.row_query), dtype=np.int32),
                        b.row_ends.astype(np.int32),
                    ),
                    shape=(len(b.row_ends) - 1, len(b.row_query)),
                )
                for b in self._blocks
            ]
            self._cast[dtype.name] = weights, summing
            most = max((b.cells.stop - b.cells.start for b in self._blocks), default=0)
            widest = max((b.size for b in self._blocks), default=0)
            self._buffers[dtype.name] = (
                np.empty(most, dtype),
                np.empty(most, dtype),
                np.ones(widest, dtype),
            )
        return self._cast[dtype.name]

    def _scaled(self, scores: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
        """Padded scores / h, and (1 - s_i) / h of the clicked documents."""
        inverse = scores.dtype.type(1.0 / width)
        padded = np.empty(self.n_documents + 1, scores.dtype)
        np.multiply(scores, inverse, out=padded[:-1])
        padded[-1] = -np.inf
        padded = padded.take(self._gather)
        return padded, inverse - padded.take(self._row_position)

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
        dtype = scores.dtype
        weights, summing = self._of_type(dtype)
        buffer, second, ones = self._buffers[dtype.name]
        padded, shift = self._scaled(scores, width)
        column_sums = np.empty_like(padded)
        row_sums = np.empty_like(shift)
        hinge = 0.0
        for block, matrix in zip(self._blocks, summing, strict=True):
            one = ones[: block.size]
            cells = self._violations(block, padded, shift, buffer)
            if multipliers is None:
                np.maximum(cells, 0, out=cells)
                hinge += float(weights[block.rows] @ (cells @ one))
                np.minimum(cells, 1, out=cells)
            else:
                positive = second[: cells.size].reshape(cells.shape)
                np.maximum(cells, 0, out=positive)
                hinge += float(weights[block.rows] @ (positive @ one))
                cells += multipliers[block.cells].reshape(cells.shape)
                np.clip(cells, 0, 1, out=cells)
            if keep is not None:
                keep[block.cells] = cells.ravel()
            np.matmul(cells, one, out=row_sums[block.rows])
            column_sums[block.documents] = (matrix @ cells).ravel()
        row_sums *= weights
        pull = np.zeros(self.n_documents, dtype)
        pull[self._scatter] = column_sums[self._real]
        np.negative(pull, out=pull)
        pull[self._documents] += row_sums
        return PairTotals(hinge * width, float(row_sums.sum(dtype=np.float64)), pull)

    def hinge(self, scores: FloatArray) -> float:
        """The hinge sum alone."""
        dtype = scores.dtype
        weights, _ = self._of_type(dtype)
        buffer, _, ones = self._buffers[dtype.name]
        padded, shift = self._scaled(scores, 1.0)
        total = 0.0
        for block in self._blocks:
            cells = self._violations(block, padded, shift, buffer)
            np.maximum(cells, 0, out=cells)
            total += float(weights[block.rows] @ (cells @ ones[: block.size]))
        return total

    def at_zero(self, width: float, dtype: np.dtype[Any]) -> PairTotals:
        """The sums where all scores are equal: every pair has u = 1."""
        beta = min(1.0, 1.0 / width)
        others = self.weights * self._row_others
        of_query = np.bincount(self._row_query, self.weights)
        pull = np.zeros(self.n_documents)
        pull[self._scatter] = -beta * of_query[self._document_query]
        pull[self._documents] += beta * (others + self.weights)
        total = float(others.sum())
        return PairTotals(total, beta * total, pull.astype(dtype))

    def _violations(
        self, block: _Block, padded: FloatArray, shift: FloatArray, buffer: FloatArray
    ) -> FloatArray:
        """u_ij / h of a block [rows, size], in the buffer; -infinity for i = j and padding."""
        n_rows = len(block.row_query)
        flat = buffer[: n_rows * block.size]
        cells = flat.reshape(n_rows, block.size)
        own = padded[block.documents].reshape(-1, block.size)
        np.take(own, block.row_query, axis=0, out=cells, mode="clip")
        cells += shift[block.rows, None]
        flat[block.self_cells] = -np.inf
        return cells

    def sample_window(
        self,
        scores: FloatArray,
        width: float,
        multipliers: FloatArray | None,
        rng: np.random.Generator,
        rate: float,
        most: int,
    ) -> PairSample:
        """At most ``most`` pairs with 0 < beta < 1, from a share ``rate`` of the clicked documents.

        Beyond ``most`` the pairs are drawn with probability proportional to their weight.
        """
        padded, shift = self._scaled(scores, width)
        found = list(self._window(padded, shift, multipliers, rng, rate))
        if not found:
            none = np.empty(0, np.int64)
            return PairSample(none, none, np.empty(0), 0.0)
        rows, places = (np.concatenate(part) for part in zip(*found, strict=True))
        weights, n_pairs = self.weights[rows] / rate, len(rows)
        if n_pairs > most:
            total = weights.cumsum()
            steps = (np.arange(most) + rng.random(most)) * (total[-1] / most)
            chosen = np.minimum(np.searchsorted(total, steps), n_pairs - 1)
            rows, places = rows[chosen], places[chosen]
            weights = np.full(most, total[-1] / most)
        return PairSample(self._documents[rows], self._gather[places], weights, n_pairs / rate)

    def _window(
        self,
        padded: FloatArray,
        shift: FloatArray,
        multipliers: FloatArray | None,
        rng: np.random.Generator,
        rate: float,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Row number and padded place of the document of each cell inside the window."""
        blocks, rate = self._some_blocks(rng, rate)
        for block in blocks:
            size, query = block.size, block.row_query
            local = np.arange(len(query))
            if rate < 1:
                local = np.flatnonzero(rng.random(len(query), dtype=np.float32) < rate)
            if not len(local):
                continue
            own = padded[block.documents].reshape(-1, size)
            cells = own.take(query[local], axis=0)
            cells += shift[block.rows.start + local, None]
            cells.ravel()[np.arange(len(local)) * size + block.self_cells[local] % size] = -np.inf
            if multipliers is not None:
                cells += multipliers[block.cells].reshape(-1, size)[local]
            inside = np.flatnonzero((cells > 0) & (cells < 1))
            row, column = np.divmod(inside, size)
            row = local[row]
            yield block.rows.start + row, block.documents.start + query[row] * size + column

    def _some_blocks(self, rng: np.random.Generator, rate: float) -> tuple[list[_Block], float]:
        """Every k-th block from a random start, and the share of its rows that makes up ``rate``.

        Blocks are in order of query size, so all sizes are met.
        """
        stride = min(len(self._blocks) // FEWEST_BLOCKS, int(MOST_ROWS / rate))
        if stride < 2:
            return self._blocks, rate
        return self._blocks[int(rng.integers(stride)) :: stride], rate * stride


def _cut(sizes: IntArray, counts: IntArray) -> Iterator[tuple[int, int]]:
    """Cut queries, sorted by size, into blocks [first, last).

    A block takes the next larger queries as long as the padding they cause costs less than a
    block of their own, and holds about CELLS_PER_BLOCK cells at most.
    """
    distinct, firsts = np.unique(sizes, return_index=True)
    lasts = np.append(firsts[1:], len(sizes))
    ends = np.concatenate([[0], np.cumsum(counts)])
    groups: list[list[int]] = []
    wasted = size = 0
    for next_size, first, last in zip(distinct.tolist(), firsts, lasts, strict=True):
        if groups:
            wasted += int(ends[first] - ends[groups[-1][0]]) * (next_size - size)
        if not groups or wasted > CELLS_PER_CALL:
            groups.append([int(first), int(last)])
            wasted = 0
        groups[-1][1] = int(last)
        size = next_size
    for first, last in groups:
        rows = max(1, CELLS_PER_BLOCK // int(sizes[last - 1]))
        while first < last:
            stop = int(np.searchsorted(ends, ends[first] + rows, side="right")) - 1
            stop = min(max(stop, first + 1), last)
            yield first, stop
            first = stop
