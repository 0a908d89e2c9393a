"""Ranks of all documents of every query by sorting, of a few by counting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

# NumPy sorts numbers of 16 bits by counting them: so many queries can be told apart.
_MOST_GROUPED = 1 << 16
# Sorting all documents takes about as long as so many comparisons a document.
_COMPARED_PER_DOCUMENT = 8


def ranks_of(keys: NDArray[Any], offsets: IntArray) -> NDArray[np.int32]:
    """Ranks int32 [rankers, documents] within queries by ascending key, ties by document.

    keys [rankers, documents] without NaN, offsets [queries + 1]. All documents are sorted at once
    by key, then by query; only where keys are tied this is done query by query.
    """
    sizes = np.diff(offsets)
    if sizes.size > _MOST_GROUPED:
        return _ranks_by_size(keys, offsets)
    query = np.repeat(np.arange(sizes.size, dtype=np.uint16), sizes)
    places = (np.arange(1, query.size + 1) - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    ranks = np.empty(keys.shape, dtype=np.int32)
    for ranker_keys, ranker_ranks in zip(keys, ranks, strict=True):
        order = ranker_keys.argsort()
        order = order[query[order].argsort(kind="stable")]
        rising = ranker_keys[order]
        if np.any((rising[1:] == rising[:-1]) & (query[1:] == query[:-1])):
            ranker_ranks[:] = _ranks_by_size(ranker_keys[None], offsets)[0]
        else:
            ranker_ranks[order] = places
    return ranks


def _ranks_by_size(keys: NDArray[Any], offsets: IntArray) -> NDArray[np.int32]:
    """The same by stable sorts, one for all queries of equal size: slower, but ties may occur."""
    ranks = np.empty(keys.shape, dtype=np.int32)
    places = np.arange(1, int(np.diff(offsets).max()) + 1, dtype=np.int32)
    for first, size in _equal_sizes(offsets):
        documents = first[:, None] + np.arange(size)
        for ranker_keys, ranker_ranks in zip(keys, ranks, strict=True):
            order = ranker_keys[documents].argsort(axis=1, kind="stable")
            order += first[:, None]
            ranker_ranks[order] = places[:size]
    return ranks


def _equal_sizes(offsets: IntArray) -> Iterator[tuple[IntArray, int]]:
    """First documents of all queries of one size, and that size, for every size."""
    sizes = np.diff(offsets)
    by_size = np.argsort(sizes, kind="stable")
    sorted_sizes = sizes[by_size]
    starts = np.flatnonzero(np.diff(sorted_sizes, prepend=0))
    ends = np.append(starts[1:], sizes.size)
    for start, end in zip(starts, ends, strict=True):
        yield offsets[by_size[start:end]], int(sorted_sizes[start])


class ChosenDocuments:
    """Some documents of a corpus, whose ranks are wanted for one ranker after the other.

    ``documents`` [chosen] rising, ``offsets`` [queries + 1]. Each chosen document is compared with
    all of its query, or, where many are chosen from long lists, all documents are sorted: that
    takes less time then, and far less memory.
    """

    def __init__(self, documents: IntArray, offsets: IntArray) -> None:
        self._documents, self._offsets = documents, offsets
        query = np.searchsorted(offsets, documents, side="right") - 1
        self._sizes = np.diff(offsets)[query]
        compared = int(self._sizes.sum())
        self._counts = compared <= _COMPARED_PER_DOCUMENT * int(offsets[-1])
        if self._counts:
            self._starts = np.cumsum(self._sizes) - self._sizes
            # The documents of its query for each chosen document, one after the other.
            within = np.arange(compared) - np.repeat(self._starts, self._sizes)
            self._others = within + np.repeat(offsets[query], self._sizes)
            self._before = self._others < np.repeat(documents, self._sizes)

    def ranks(self, scores: NDArray[Any]) -> IntArray:
        """Ranks [chosen] by descending real scores [documents] without NaN, ties by document.

        rank(d) = 1 + #{d' : s(d') > s(d)} + #{d' before d : s(d') = s(d)}.
        """
        if not self._counts:
            everyone: IntArray = ranks_of(-scores[None], self._offsets)[0].astype(np.int64)
            return everyone[self._documents]
        if not self._documents.size:
            return np.zeros(0, np.int64)
        others = scores.take(self._others)
        own = np.repeat(scores.take(self._documents), self._sizes)
        above = others > own
        tied = others == own
        if np.count_nonzero(tied) > self._documents.size:
            above |= tied & self._before
        counted: IntArray = np.add.reduceat(above, self._starts, dtype=np.int64)
        return counted + 1
