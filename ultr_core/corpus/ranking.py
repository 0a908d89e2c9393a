"""Ranks of documents from scores, and the losses of a ranking.

Documents of a query lie next to each other: query q has the documents
``query_offsets[q]:query_offsets[q + 1]``. Ranks start at 1. Order and rank are inverse
permutations. Ties have one rule: where a value is reported, each tied document has its mean rank
over all orders of the ties; where a list is shown, their order is drawn. Neither labels nor the
order of the file decide, so a constant ranker profits from neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.errors import InputError, Remark, quoted
from ultr_core.words import part_of

IntArray = NDArray[np.int64]

# NumPy sorts numbers of 16 bits by counting them: so many queries can be told apart.
_MOST_GROUPED = 1 << 16
_TIE_STREAM = 7_305_421
"""Seed of the order of ties in a list that is shown."""
# Sorting all documents takes about as long as so many comparisons a document.
_COMPARED_PER_DOCUMENT = 8


def ranks_of(keys: NDArray[Any], offsets: IntArray) -> NDArray[np.int32]:
    """Ranks int32 [rankers, documents] within queries by ascending key, ties by document.

    keys [rankers, documents] without NaN, offsets [queries + 1].
    """
    return _ranks_and_ties(keys, offsets)[0]


def _ranks_and_ties(
    keys: NDArray[Any], offsets: IntArray
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Ranks by ascending key as in `ranks_of`, and which rankers have ties, bool [rankers].

    All documents are sorted at once by key, then by query; only where keys are tied this is done
    query by query.
    """
    sizes = np.diff(offsets)
    tied = np.zeros(len(keys), dtype=np.bool_)
    if sizes.size > _MOST_GROUPED:
        by_size = _ranks_by_size(keys, offsets)
        for number, one in enumerate(by_size):
            tied[number] = _groups(keys[number], one, offsets).tied
        return by_size, tied
    query = np.repeat(np.arange(sizes.size, dtype=np.uint16), sizes)
    places = (np.arange(1, query.size + 1) - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    ranks = np.empty(keys.shape, dtype=np.int32)
    for number, (ranker_keys, ranker_ranks) in enumerate(zip(keys, ranks, strict=True)):
        order = ranker_keys.argsort()
        order = order[query[order].argsort(kind="stable")]
        rising = ranker_keys[order]
        if np.any((rising[1:] == rising[:-1]) & (query[1:] == query[:-1])):
            tied[number] = True
            ranker_ranks[:] = _ranks_by_size(ranker_keys[None], offsets)[0]
        else:
            ranker_ranks[order] = places
    return ranks, tied


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

    def ranks(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Mean ranks [chosen] over all orders of ties, by descending scores [documents].

        rank(d) = 1 + #{d' : s(d') > s(d)} + #{d' other than d : s(d') = s(d)} / 2. Scores are real
        and not NaN.
        """
        if not self._counts:
            everyone: FloatArray = rank_many(scores[None], self._offsets)[0].astype(np.float64)
            return everyone[self._documents]
        if not self._documents.size:
            return np.zeros(0)
        others = scores.take(self._others)
        own = np.repeat(scores.take(self._documents), self._sizes)
        above = np.add.reduceat(others > own, self._starts, dtype=np.int64)
        ranks: NDArray[np.float64] = above + 1.0
        tied = others == own
        if np.count_nonzero(tied) > self._documents.size:
            ranks += (np.add.reduceat(tied, self._starts, dtype=np.int64) - 1) / 2.0
        return ranks


FloatArray = NDArray[np.float64]
RankArray = NDArray[np.int32]

EmptyRule = Literal["skip", "zero", "one"]
Gain = Literal["exponential", "linear"]

# The sum of the gains 2^grade of any corpus that fits into memory stays finite.
_LARGEST_EXPONENTIAL_GRADE = 900.0
_KINDS_IN_WORDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations"}


def in_brief(value: object) -> str:
    """A given value for a message: numbers as they print, all else `quoted`, on one line."""
    try:
        text = str(value) if isinstance(value, Real) else quoted(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} too large to print"
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


def real_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return the values as an array of booleans, whole numbers or floats, of their own type.

    ``what`` begins the sentence. Raises InputError for text, complex numbers, None, lists of
    different lengths or a masked array that hides an entry; NaN passes.
    """
    _require_unmasked(values, what)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} must be an array of numbers, not {in_brief(values)}.", "array"
        ) from None
    if array.dtype.kind not in "biuf":
        found = _KINDS_IN_WORDS.get(array.dtype.kind, in_brief(values))
        raise InputError(f"{what} must be real numbers, not {found}.", "real_numbers")
    return array


def _require_unmasked(values: ArrayLike, what: str) -> None:
    """Raise InputError for masked entries, whose mask would be lost with their value kept."""
    for part in values if isinstance(values, list | tuple) else (values,):
        if not isinstance(part, np.ma.MaskedArray):
            continue
        hidden = int(np.count_nonzero(np.broadcast_to(part.mask, part.shape)))
        if hidden:
            raise InputError(
                f"{what} must be an array without a mask, but {hidden:,} of {part.size:,} entries "
                "are masked; fill them with numbers (filled) or leave them out.",
                "masked",
            )


def whole_numbers(values: ArrayLike, what: str, dtype: type[np.signedinteger[Any]]) -> NDArray[Any]:
    """Return the values as an integer array of type ``dtype``; nothing is rounded or cut.

    Raises InputError, naming the first, for anything that is not a whole number within the type's
    range.
    """
    array = real_numbers(values, what)
    if not np.can_cast(array.dtype, dtype):
        limits = np.iinfo(dtype)
        if array.dtype.kind == "f":
            exact = array.astype(np.float64)
            # One above the largest number is a power of two, which a float64 has exactly.
            fits = (exact >= limits.min) & (exact < -float(limits.min)) & (exact == np.floor(exact))
        else:
            fits = (array >= limits.min) & (array <= limits.max)
        if not fits.all():
            entry = int(np.argmin(fits))
            found = float(array.flat[entry])
            wanted = f"whole numbers up to {limits.max:,}" if found % 1 == 0 else "whole numbers"
            raise InputError(
                f"{what} must be {wanted}, but entry {entry} (counted from 0) is "
                f"{array.flat[entry]}.",
                "whole_numbers",
            )
    return array.astype(dtype, copy=False)


def number_or_nan(value: object) -> float:
    """Return one real number as float; NaN, which fails every comparison, for all else."""
    scalar = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    try:
        return float(scalar) if isinstance(scalar, Real) else math.nan
    except OverflowError:
        return math.nan


def whole_or_none(value: object) -> int | None:
    """Return one whole number as int, None for all else."""
    if isinstance(value, Integral):
        return int(value)
    number = number_or_nan(value)
    return int(number) if math.isfinite(number) and number == math.floor(number) else None


def whole_in_range(value: object, what: str, least: int, most: int) -> int:
    """One whole number as int; raises InputError, ``what`` first, unless in least..most."""
    number = whole_or_none(value)
    if number is None or not least <= number <= most:
        raise InputError(
            f"{what} is {in_brief(value)}; it must be a whole number from {least:,} to {most:,}.",
            "whole_number",
        )
    return number


def checked_offsets(query_offsets: ArrayLike, documents: int) -> IntArray:
    """Return the query offsets as int64 [queries + 1] after checking that they fit.

    Offsets start at 0, rise strictly (no query is empty) and end at ``documents``.
    Raises InputError otherwise.
    """
    offsets = whole_numbers(query_offsets, "query_offsets", np.int64)
    if offsets.ndim != 1 or offsets.size < 2 or offsets[0] != 0 or offsets[-1] != documents:
        raise InputError(
            f"query_offsets must run from 0 to the number of documents ({documents}) "
            f"and describe at least one query."
        )
    falls = np.flatnonzero(np.diff(offsets) <= 0)
    if falls.size:
        raise InputError(
            f"query_offsets must increase strictly, but query {falls[0]} has no documents "
            f"(offsets {offsets[falls[0]]} and {offsets[falls[0] + 1]})."
        )
    return offsets


def query_of_document(query_offsets: ArrayLike) -> IntArray:
    """Query index of each document, int64 [documents], from offsets [queries + 1].

    Raises InputError unless the offsets start at 0 and rise strictly.
    """
    offsets = whole_numbers(query_offsets, "query_offsets", np.int64)
    checked_offsets(offsets, int(offsets.flat[-1]) if offsets.size else 0)
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))


def query_sums(values: ArrayLike, query_offsets: ArrayLike) -> NDArray[Any]:
    """Sum over the documents of each query: values [..., documents] to [..., queries].

    Booleans and integers are summed as int64, floats as float64. Raises InputError when the offsets
    do not fit the last axis, or for anything that is not a number.
    """
    array = real_numbers(values, "Values to be summed by query")
    if array.ndim == 0:
        raise InputError("Values to be summed by query need a document axis.")
    offsets = checked_offsets(query_offsets, array.shape[-1])
    dtype = np.float64 if array.dtype.kind == "f" else np.int64
    return np.add.reduceat(array, offsets[:-1], axis=-1, dtype=dtype)


def rank_documents(
    scores: ArrayLike,
    query_offsets: ArrayLike,
    *,
    tie_rng: np.random.Generator | None = None,
) -> RankArray:
    """Rank of each document within its query, best score first: a list that can be shown.

    rank(d) = 1 + #{d' : s(d') > s(d)} + #{d' put before d : s(d') = s(d)}. The order of tied
    documents is drawn, each equally likely, with ``tie_rng`` or else with a fixed seed, so that
    the same scores give the same list. A value of tied scores is that of `expected_ranks`.

    scores [documents], query_offsets [queries + 1]; returns int32 [documents].
    Raises InputError for a NaN score or offsets that do not fit.

    >>> rank_documents([0.2, 0.9, 0.5, 1.0], query_offsets=[0, 3, 4]).tolist()
    [3, 1, 2, 1]
    """
    array = real_numbers(scores, "Scores")
    if array.ndim != 1:
        raise InputError(f"scores must have one axis [documents], not shape {array.shape}.")
    offsets = checked_offsets(query_offsets, array.size)
    keys = _descending_keys(array[None, :])
    found, tied = _ranks_and_ties(keys, offsets)
    ranks: RankArray = found[0]
    if tie_rng is None and not tied[0]:
        return ranks
    # Shuffled within queries first, stable ranking makes all orders of ties equally likely.
    drawn = (tie_rng or np.random.default_rng(_TIE_STREAM)).random((1, array.size))
    shuffled = order_from_ranks(ranks_of(drawn, offsets)[0], offsets)
    ranks[shuffled] = ranks_of(keys[:, shuffled], offsets)[0]
    return ranks


def rank_many(scores: ArrayLike, query_offsets: ArrayLike) -> RankArray | FloatArray:
    """Ranks of documents by several rankers, mean ranks over all orders where any has ties.

    scores [rankers, documents], query_offsets [queries + 1]; returns int32 [rankers, documents],
    or float64 where scores are tied (see `expected_ranks`).
    Raises InputError for a NaN score or offsets that do not fit.

    >>> rank_many([[0.2, 0.9, 0.9]], query_offsets=[0, 3]).tolist()
    [[3.0, 1.5, 1.5]]
    """
    array = real_numbers(scores, "Scores")
    if array.ndim != 2:
        raise InputError(f"scores must have axes [rankers, documents], not shape {array.shape}.")
    offsets = checked_offsets(query_offsets, array.shape[1])
    ranks, tied = _ranks_and_ties(_descending_keys(array), offsets)
    if not tied.any():
        return ranks
    means = ranks.astype(np.float64)
    for number in np.flatnonzero(tied).tolist():
        means[number] = _groups(array[number], ranks[number], offsets).mean_ranks
    return means


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """Which documents of a query have one score.

    group: int64 [documents], numbered by query and place. first, size: int64 [documents], the
    best rank that the document's group takes, and how many documents it has.
    """

    group: IntArray
    first: IntArray
    size: IntArray

    @property
    def tied(self) -> int:
        """Documents that share their score with another one of their query."""
        return int(np.count_nonzero(self.size > 1))

    @property
    def mean_ranks(self) -> FloatArray:
        """first + (size - 1) / 2, float64 [documents]."""
        mean: FloatArray = self.first + (self.size - 1) / 2.0
        return mean


def tied_groups(scores: ArrayLike, query_offsets: ArrayLike) -> TiedGroups:
    """Groups of equal scores within each query.

    scores [documents], query_offsets [queries + 1]; equally infinite ones are tied. Raises
    InputError for a NaN score or offsets that do not fit.
    """
    ranks = rank_documents(scores, query_offsets)
    return _groups(np.asarray(scores), ranks, checked_offsets(query_offsets, ranks.size))


def _groups(scores: NDArray[Any], ranks: RankArray, offsets: IntArray) -> TiedGroups:
    order = order_from_ranks(ranks, offsets)
    ordered = scores[order]
    # Compared, not subtracted: infinite scores are equal, and their difference is no number.
    new = np.append(True, ordered[1:] != ordered[:-1])
    new[offsets[:-1]] = True
    number = np.cumsum(new) - 1
    group = np.empty(ranks.size, dtype=np.int64)
    group[order] = number
    size, first = np.bincount(number), ranks[order][new].astype(np.int64)
    return TiedGroups(group, first[group], size[group])


def expected_ranks(scores: ArrayLike, query_offsets: ArrayLike) -> FloatArray:
    """Mean rank of each document over all orders of tied ones, float64 [documents].

    first + (size - 1) / 2. Every risk here is linear in the ranks, so with these it is the mean
    risk over all orders. Raises InputError if `tied_groups` does.
    """
    return tied_groups(scores, query_offsets).mean_ranks


def constant_notice(name: str, scores: ArrayLike, query_offsets: ArrayLike) -> tuple[str, ...]:
    """A sentence where a ranker gives all candidates of every query one score; else nothing.

    scores [documents], query_offsets [queries + 1].
    """
    sizes = np.diff(query_offsets)
    groups = tied_groups(scores, query_offsets)
    if not (sizes > 1).any() or (groups.size < np.repeat(sizes, sizes)).any():
        return ()
    return (
        Remark(
            f"{name} gives all candidates of each query the same score, so it ranks nothing; its "
            "risk is the mean over all orders.",
            "constant_scores",
        ),
    )


def _descending_keys(scores: NDArray[Any]) -> NDArray[Any]:
    """Numbers that order scores the other way round, so that rising keys put the best first."""
    if scores.dtype.kind in "iub":
        return ~scores  # exact for every integer, where a minus sign may overflow
    keys = -scores
    # The maximum is NaN exactly if some key is; much cheaper than a mask of all keys.
    if keys.size and np.isnan(keys.max()):
        document = int(np.argwhere(np.isnan(keys))[0][-1])
        raise InputError(f"The score of document {document} (counted from 0) is not a number.")
    return keys


def order_from_ranks(ranks: ArrayLike, query_offsets: ArrayLike) -> IntArray:
    """Document index at each presented place: the inverse permutation of the ranks.

    ranks [documents]; returns int64 [documents], where entry ``query_offsets[q] + r - 1`` is the
    document at rank r of query q. Raises InputError if a query's ranks are no permutation of 1..m.
    """
    array = whole_numbers(ranks, "Ranks", np.int64)
    if array.ndim != 1:
        raise InputError(f"Ranks must have one axis [documents], not shape {array.shape}.")
    offsets = checked_offsets(query_offsets, array.size)
    sizes = np.diff(offsets)
    order = np.full(array.size, -1, dtype=np.int64)
    if np.all(array >= 1) and np.all(array <= np.repeat(sizes, sizes)):
        order[np.repeat(offsets[:-1], sizes) + array - 1] = np.arange(array.size)
    if np.any(order < 0):
        raise InputError(
            "The ranks of a query with m documents must be the numbers 1 to m, each once.",
            "permutation",
        )
    return order


def _ranks_and_grades(ranks: ArrayLike, grades: ArrayLike) -> tuple[NDArray[Any], FloatArray]:
    """Ranks and grades [documents] as numbers, all of them finite."""
    places = real_numbers(ranks, "Ranks")
    judged = real_numbers(grades, "The grades of the documents").astype(np.float64)
    if judged.ndim != 1 or places.shape[-1:] != judged.shape:
        raise InputError(
            f"Ranks have the shape {places.shape} but grades have the shape {judged.shape}; "
            "every document needs a rank and a grade."
        )
    require_finite(places, "rank")
    require_finite(judged, "grade")
    return places, judged


def require_finite(values: NDArray[Any], what: str) -> None:
    """Raise InputError naming the first document whose number is not finite.

    values [..., documents]; arrays of whole numbers cost nothing.
    """
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    place = tuple(np.argwhere(~np.isfinite(values))[0])
    where = f" of document {place[-1]} (counted from 0)" if place else ""
    raise InputError(f"The {what}{where} is {values[place]}; it must be a finite number.")


def dcg(
    ranks: ArrayLike,
    grades: ArrayLike,
    query_offsets: ArrayLike,
    *,
    cutoff: int | None = None,
    gain: Gain = "exponential",
) -> FloatArray:
    """Discounted cumulative gain per query.

    DCG@k = sum over rank(d) <= k of gain(grade) / log2(1 + rank(d)), with gain 2^grade - 1
    ("exponential", Burges et al. 2005) or grade ("linear", Järvelin and Kekäläinen 2002).

    ranks and grades [documents]; returns float64 [queries].
    Raises InputError for arrays that do not fit, ranks below 1, negative grades or such as have
    no finite gain, a cutoff below 1, or another gain.
    """
    places, labels = _ranks_and_grades(ranks, grades)
    if places.size and places.min() < 1:
        raise InputError(
            f"Ranks are counted from 1, but one rank is {places.min()}.", "rank_from_1"
        )
    if labels.size and labels.min() < 0:
        raise InputError(
            "Grades must be 0 or more for a discounted cumulative gain.", "negative_grade"
        )
    if cutoff is not None and not number_or_nan(cutoff) >= 1:
        raise InputError(
            f"The cutoff of a DCG must be 1 or more, not {in_brief(cutoff)}.", "dcg_cutoff"
        )
    if gain not in get_args(Gain):
        raise InputError(f"The gain must be exponential or linear, not {in_brief(gain)}.", "gain")
    if gain == "exponential" and labels.size and labels.max() > _LARGEST_EXPONENTIAL_GRADE:
        raise InputError(
            f"An exponential gain needs grades of at most {_LARGEST_EXPONENTIAL_GRADE:g}, "
            f"but one grade is {labels.max():g}."
        )
    gains = np.exp2(labels) - 1.0 if gain == "exponential" else labels
    terms = gains / np.log2(1.0 + places)
    if cutoff is not None:
        terms[places > cutoff] = 0.0
    sums: FloatArray = query_sums(terms, query_offsets)
    return sums


@dataclass(frozen=True)
class NdcgSummary:
    """Mean NDCG and the rule that it depends on.

    value: mean over the counted queries.
    per_query: float64 [counted queries], in corpus order.
    queries_without_relevant: how many queries have no document with a grade above 0.
    empty: what was done with them ("skip": left out, "zero" or "one": counted as that).
    """

    value: float
    per_query: FloatArray
    queries_without_relevant: int
    empty: EmptyRule

    def describe(self) -> str:
        """Say in one sentence which rule the mean follows and how many queries it concerns."""
        treatment = {"skip": "left out", "zero": "counted as 0", "one": "counted as 1"}[self.empty]
        total = self.per_query.size
        if self.empty == "skip":
            total += self.queries_without_relevant
        without = self.queries_without_relevant
        return (
            f"{part_of(without, total, 'query', 'queries')} no relevant document and "
            f"{'is' if without == 1 else 'are'} {treatment}."
        )


def ndcg(
    ranks: ArrayLike,
    grades: ArrayLike,
    query_offsets: ArrayLike,
    *,
    cutoff: int | None = None,
    gain: Gain = "exponential",
    empty: EmptyRule = "skip",
) -> NdcgSummary:
    """Mean of DCG / ideal DCG over queries, with one stated rule for queries without relevance.

    The ideal ranking sorts by grade. A query whose ideal DCG is 0 has no NDCG; ``empty`` says
    whether it is left out ("skip"), counted as 0 ("zero") or as 1 ("one").

    ranks and grades [documents]. Raises InputError if nothing is left to average.
    """
    ideal_ranks = rank_documents(grades, query_offsets)
    ideal = dcg(ideal_ranks, grades, query_offsets, cutoff=cutoff, gain=gain)
    reached = dcg(ranks, grades, query_offsets, cutoff=cutoff, gain=gain)
    has_relevant = ideal > 0
    if empty not in ("skip", "zero", "one"):
        raise InputError(
            f"The rule for empty queries must be skip, zero or one, not {empty!r}.", "empty_queries"
        )
    if empty == "skip":
        per_query = reached[has_relevant] / ideal[has_relevant]
    else:
        per_query = np.full(ideal.size, 0.0 if empty == "zero" else 1.0)
        per_query[has_relevant] = reached[has_relevant] / ideal[has_relevant]
    if per_query.size == 0:
        raise InputError("No query has a relevant document, so there is no NDCG to average.")
    return NdcgSummary(
        value=float(per_query.mean()),
        per_query=per_query,
        queries_without_relevant=int(np.count_nonzero(~has_relevant)),
        empty=empty,
    )
