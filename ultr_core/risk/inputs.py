"""What every computation of a risk asks of its arrays, once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import real_numbers, require_finite
from ultr_core.errors import InputError
from ultr_core.words import counted

MOST_RANKS = 500_000
"""Ranks of a block: as floats they are 4 MB, and stay in cache."""

MOST_DOCUMENTS = 8_192
"""Documents of a block by default: as many ranks for sixty rankers."""


def rank_blocks(
    places: NDArray[Any], query_offsets: NDArray[np.int64], most: int = MOST_DOCUMENTS
) -> Iterator[tuple[slice, slice, NDArray[np.float64]]]:
    """Ranks under all rankers, block by block: queries, documents, float64 [documents, rankers].

    places [rankers, documents]; fastest where the ranks of one document lie side by side in
    memory. A block ends with a query and has at most ``most`` documents, or one query. Its ranks
    may be changed and are overwritten by the next block.
    """
    by_document = places.T
    longest = int(np.diff(query_offsets).max(initial=0))
    room = np.empty((min(max(most, longest), len(by_document)), places.shape[0]))
    first, queries = 0, len(query_offsets) - 1
    while first < queries:
        limit = query_offsets[first] + most
        last = max(first + 1, int(np.searchsorted(query_offsets, limit, side="right")) - 1)
        documents = slice(int(query_offsets[first]), int(query_offsets[last]))
        ranks = room[: documents.stop - documents.start]
        ranks[:] = by_document[documents]
        yield slice(first, last), documents, ranks
        first = last


FloatArray = NDArray[np.float64]


def checked_places(ranks: ArrayLike, documents: int, *, least: float = 1) -> NDArray[Any]:
    """Ranks [..., documents] under the rankers to be judged, of the number type given.

    Expected ranks need not be whole. Raises InputError for anything that is not a finite number or
    below ``least``, or another number of documents.
    """
    places = real_numbers(ranks, "Ranks")
    if places.shape[-1:] != (documents,):
        raise InputError(
            f"The ranks have the shape {places.shape} for {counted(documents, 'document')}; the "
            "last axis must have one entry for each."
        )
    require_finite(places, "rank")
    if places.size and places.min() < least:
        document = int(np.argwhere(places < least)[0][-1])
        raise InputError(
            f"Document {document} (counted from 0) has the rank {places[..., document].min()}; "
            "ranks are counted from 1."
        )
    return places


def checked_probabilities(click_probability: ArrayLike) -> FloatArray:
    """Probabilities of a click [documents] as float64; raises InputError outside [0, 1]."""
    pi = real_numbers(click_probability, "Click probabilities").astype(np.float64, copy=False)
    if pi.ndim != 1:
        raise InputError(
            f"Click probabilities must have one axis [documents], not shape {pi.shape}."
        )
    _require((pi >= 0) & (pi <= 1), pi, "click probability", "lie in [0, 1]")
    return pi


def require_propensities(q: FloatArray, documents: int) -> None:
    """Raise InputError for propensities [documents] that are NaN, infinite, negative or too few."""
    if q.size != documents:
        raise InputError(
            f"{counted(q.size, 'propensity was', 'propensities were')} given for "
            f"{counted(documents, 'document')}; give one for each."
        )
    _require((q >= 0) & (q < np.inf), q, "propensity", "be a finite number of 0 or more")


def checked_relevance(relevance: ArrayLike) -> NDArray[Any]:
    """Relevance [documents], of the number type given; raises InputError if NaN or negative."""
    relevant = real_numbers(relevance, "Relevance")
    require_finite(relevant, "relevance")
    if relevant.dtype.kind not in "bu":
        _require(relevant >= 0, relevant, "relevance", "be 0 or more")
    return relevant


def _require(holds: NDArray[np.bool_], values: NDArray[Any], what: str, wanted: str) -> None:
    """Raise InputError naming the first document for which ``holds`` is false."""
    if not holds.all():
        document = int(np.argmin(holds))
        raise InputError(
            f"The {what} of document {document} (counted from 0) is {values.flat[document]}; "
            f"it must {wanted}."
        )
