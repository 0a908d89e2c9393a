"""Sorting the documents of every query at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

# NumPy sorts numbers of 16 bits by counting them: so many queries can be told apart.
_MOST_GROUPED = 1 << 16


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
