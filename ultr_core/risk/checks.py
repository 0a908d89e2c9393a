"""What every computation of a risk asks of its arrays, once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError
from ultr_core.ranking import real_numbers, require_finite

FloatArray = NDArray[np.float64]


def checked_places(ranks: ArrayLike, documents: int) -> NDArray[Any]:
    """Ranks [..., documents] under the rankers to be judged, of the number type given.

    Expected ranks need not be whole. Raises InputError for what is no finite number, or another
    number of documents.
    """
    places = real_numbers(ranks, "Ranks")
    if places.shape[-1:] != (documents,):
        raise InputError(
            f"The ranks have shape {places.shape} for {documents} documents; the last axis must "
            f"agree."
        )
    require_finite(places, "rank")
    return places


def checked_probabilities(click_probability: ArrayLike) -> FloatArray:
    """Probabilities of a click [documents] as float64; raises InputError outside [0, 1]."""
    pi = _list_of_documents(click_probability, "Click probabilities")
    inside = (pi >= 0) & (pi <= 1)
    if not inside.all():
        document = int(np.argmin(inside))
        raise InputError(
            f"The click probability of document {document} (counted from 0) is {pi[document]}; "
            f"it must lie in [0, 1]."
        )
    return pi


def checked_propensities(propensities: ArrayLike, documents: int) -> FloatArray:
    """Propensities q [documents] as float64; raises InputError for NaN, inf or negative ones."""
    q = _list_of_documents(propensities, "Propensities")
    if q.size != documents:
        raise InputError(f"There are {q.size} propensities for {documents} documents.")
    usable = (q >= 0) & (q < np.inf)
    if not usable.all():
        document = int(np.argmin(usable))
        raise InputError(
            f"The propensity of document {document} (counted from 0) is {q[document]}; "
            f"it must be a finite number of 0 or more."
        )
    return q


def checked_relevance(relevance: ArrayLike) -> NDArray[Any]:
    """Relevance [documents], of the number type given; raises InputError if NaN or negative."""
    relevant = real_numbers(relevance, "Relevance")
    require_finite(relevant, "relevance")
    if relevant.dtype.kind not in "bu" and relevant.size and relevant.min() < 0:
        document = int(np.argmin(relevant))
        raise InputError(
            f"The relevance of document {document} (counted from 0) is {relevant.flat[document]}; "
            f"it must be 0 or more."
        )
    return relevant


def _list_of_documents(values: ArrayLike, what: str) -> FloatArray:
    array = real_numbers(values, what).astype(np.float64, copy=False)
    if array.ndim != 1:
        raise InputError(f"{what} must have one axis [documents], not shape {array.shape}.")
    return array
