"""Queries, their candidate documents, features and grades: types that all subpackages share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.feature_matrix import (
    FeatureMatrix,
    as_feature_matrix,
    require_finite_features,
)
from ultr_core.corpus.ranking import in_brief, real_numbers, whole_numbers, whole_or_none
from ultr_core.errors import InputError, quoted
from ultr_core.words import counted

LARGEST_GRADE = int(np.iinfo(np.int16).max)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Candidate documents for a set of queries, with their features and relevance grades.

    Documents for one query are contiguous: query q has the documents
    ``query_offsets[q] : query_offsets[q + 1]``. Arrays of the right type are used without
    being copied and are made read-only, so that a corpus can be shared.

    Attributes:
        features: float32 [documents, features], a C-ordered array or a CSR matrix.
        grades: int16 [documents], whole numbers >= 0; 0 means irrelevant.
        query_offsets: int64 [queries + 1], from 0 to the number of documents, increasing.
        query_ids: [queries] names of the queries; by default numbered from 0.
        document_ids: [documents] names of the documents, or None if there are none.
        feature_ids: int64 [features], increasing; by default numbered from 1.
        source_rows: int64 [documents], the row (from 0) in the file that each document came from,
        if the rows of a query were not together in that file; None if the order is the file's.
        notices: sentences that users of the corpus should see.
        unread_ids: if document_ids is None, why the file may contain document ids after all, as a
        clause; "" if it contains none.

    Raises:
        InputError: arrays of different lengths or with values other than real numbers, offsets that
            are not whole numbers, a query without documents, a grade that is not a whole number >=
            0, a feature value that is not finite in float32, a sparse matrix with an entry outside
            its shape, or masked entries.

    """

    features: FeatureMatrix
    grades: NDArray[np.int16]
    query_offsets: NDArray[np.int64]
    query_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] | None = None
    feature_ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    source_rows: NDArray[np.int64] | None = None
    notices: tuple[str, ...] = ()
    unread_ids: str = ""

    def __post_init__(self) -> None:
        """Bring every field to its type, check it, and make the arrays read-only."""
        features = as_feature_matrix(self.features)
        documents, columns = features.shape
        offsets = _as_offsets(self.query_offsets, documents)
        queries = len(offsets) - 1
        query_ids = _as_names("query_ids", self.query_ids) or tuple(str(q) for q in range(queries))
        _require_length("query_ids", len(query_ids), queries, "query", "queries")
        document_ids = self.document_ids
        if document_ids is not None:
            document_ids = _as_names("document_ids", document_ids)
            _require_length("document_ids", len(document_ids), documents, "document")
        feature_ids = _as_feature_ids(self.feature_ids, columns)
        grades = _as_grades(self.grades, documents)
        require_finite_features(features, feature_ids)
        _set(
            self,
            features=_freeze(features),
            grades=_freeze(grades),
            query_offsets=_freeze(offsets),
            query_ids=query_ids,
            document_ids=document_ids,
            feature_ids=_freeze(feature_ids),
            source_rows=_as_source_rows(self.source_rows, documents),
            notices=tuple(self.notices),
        )

    def __reduce__(self) -> tuple[type[Corpus], tuple[Any, ...]]:
        """Rebuild through the constructor: unpickled arrays would be writeable otherwise."""
        return Corpus, (
            self.features,
            self.grades,
            self.query_offsets,
            self.query_ids,
            self.document_ids,
            self.feature_ids,
            self.source_rows,
            self.notices,
            self.unread_ids,
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_offsets) - 1

    @property
    def n_documents(self) -> int:
        """Number of candidate documents over all queries."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of candidates for each query, int64 [queries]."""
        return np.diff(self.query_offsets)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are kept as a CSR matrix."""
        return isinstance(self.features, sparse.csr_array)

    @property
    def max_grade(self) -> int:
        """Largest grade that occurs."""
        return int(self.grades.max())

    def name_of_document(self, document: int) -> str:
        """The name of a document, given its number (from 0), for the start of a message."""
        query = int(np.searchsorted(self.query_offsets, document, side="right")) - 1
        of_query = f"of query {quoted(self.query_ids[query])}"
        if self.document_ids is not None:
            return f"Document {quoted(self.document_ids[document])} {of_query}"
        return f"Document {document - int(self.query_offsets[query]) + 1} {of_query}"

    def relevance(self, threshold: int) -> NDArray[np.bool_]:
        """Binary relevance r_i = [grade_i >= threshold], bool [documents].

        The paper treats grades 3 and 4 (of 0 to 4) as relevant (section 7.1): threshold 3.

        Raises:
            InputError: a threshold that is below 1, which would make every document relevant, or
            not a whole number.

        """
        require_threshold(threshold)
        return self.grades >= threshold

    def subset(self, queries: ArrayLike) -> Corpus:
        """Return the corpus with only the given queries, in the order given.

        Args:
            queries: whole numbers [chosen], each from 0 to queries - 1.

        Raises:
            InputError: no queries, or a number outside that range.

        """
        chosen = real_numbers(queries, "Query numbers in a subset")
        if chosen.ndim != 1 or chosen.size == 0 or not np.issubdtype(chosen.dtype, np.integer):
            raise InputError("A subset needs a non-empty list of whole query numbers.")
        outside = chosen[(chosen < 0) | (chosen >= self.n_queries)]
        if outside.size:
            raise InputError(
                f"Query number {outside[0]} does not exist: this corpus has queries 0 to "
                f"{self.n_queries - 1}."
            )
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.repeat(self.query_offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        names = self.document_ids
        return Corpus(
            features=self.features[rows],
            grades=self.grades[rows],
            query_offsets=offsets,
            query_ids=tuple(self.query_ids[q] for q in chosen),
            document_ids=None if names is None else tuple(names[row] for row in rows),
            feature_ids=self.feature_ids,
            unread_ids=self.unread_ids,
        )


def require_threshold(threshold: int) -> None:
    """Raise InputError for a threshold that is not a whole number of 1 or more."""
    grade = whole_or_none(threshold)
    if grade is None:
        raise InputError(
            f"A relevance threshold must be a grade that is a whole number of 1 or more, "
            f"not {in_brief(threshold)}.",
            "threshold",
        )
    if grade < 1:
        raise InputError(
            f"A relevance threshold of {grade} makes every document relevant; "
            "give a grade of 1 or more.",
            "threshold",
        )


def _set(corpus: Corpus, **fields: object) -> None:
    """Assign fields of a frozen dataclass while it is being built."""
    for name, value in fields.items():
        object.__setattr__(corpus, name, value)


def _freeze(values: Any) -> Any:
    """Make an array, or the three arrays of a CSR matrix, read-only."""
    if isinstance(values, sparse.csr_array):
        parts = [values.data, values.indices, values.indptr]
    else:
        parts = [values]
    for part in parts:
        part.flags.writeable = False
    return values


def _require_length(name: str, found: int, expected: int, noun: str, plural: str = "") -> None:
    if found != expected:
        raise InputError(
            f"{name} has {counted(found, 'entry', 'entries')} for "
            f"{counted(expected, noun, plural)}; give one for each."
        )


def _as_names(name: str, values: Any) -> tuple[str, ...]:
    """Bring names to a tuple; one text would fall apart into its letters."""
    try:
        names = None if isinstance(values, str | bytes) else tuple(values)
    except TypeError:
        names = None
    if names is None:
        raise InputError(f"{name} must be a sequence of names, not {in_brief(values)}.", "names")
    return names


def _as_offsets(values: Any, documents: int) -> NDArray[np.int64]:
    """Check that offsets run from 0 to the number of documents and that no query is empty."""
    offsets = np.ascontiguousarray(whole_numbers(values, "Query offsets", np.int64))
    if offsets.ndim != 1 or len(offsets) < 2:
        raise InputError(
            "A corpus needs at least one query with at least one document.", "empty_corpus"
        )
    if offsets[0] != 0 or offsets[-1] != documents:
        raise InputError(
            f"Query offsets run from {offsets[0]} to {offsets[-1]}; "
            f"they must run from 0 to the number of documents, {documents}."
        )
    empty = np.flatnonzero(np.diff(offsets) < 1)
    if empty.size:
        raise InputError(
            f"Query number {empty[0]} (counted from 0) has no documents; "
            "every query needs at least one, so leave this query out."
        )
    return offsets


def _as_grades(values: Any, documents: int) -> NDArray[np.int16]:
    """Check that grades are whole numbers from 0 to the largest int16."""
    given = real_numbers(values, "Grades")
    if given.ndim != 1:
        raise InputError(
            f"Grades have {given.ndim} dimensions; give a list with one grade per document."
        )
    _require_length("grades", given.size, documents, "document")
    if given.dtype == np.int16 and not (given < 0).any():
        return np.ascontiguousarray(given)
    as_float = given.astype(np.float64)
    whole = (as_float == np.floor(as_float)) & (as_float >= 0) & (as_float <= LARGEST_GRADE)
    bad = np.flatnonzero(~whole)
    if bad.size:
        raise InputError(
            f"The grade of document {bad[0]} (counted from 0) is {given[bad[0]]}; "
            f"give a whole number from 0 to {LARGEST_GRADE}."
        )
    return as_float.astype(np.int16)


def _as_feature_ids(values: Any, columns: int) -> NDArray[np.int64]:
    """Check that feature ids are rising and not negative; number from 1 when none are given."""
    ids = np.ascontiguousarray(whole_numbers(values, "Feature ids", np.int64))
    if ids.size == 0:
        ids = np.arange(1, columns + 1, dtype=np.int64)
    _require_length("feature_ids", ids.size, columns, "feature column")
    if columns and (ids[0] < 0 or (np.diff(ids) <= 0).any()):
        raise InputError(
            "Feature ids must be whole numbers of 0 or more, in increasing order.", "feature_ids"
        )
    return ids


def _as_source_rows(values: Any, documents: int) -> NDArray[np.int64] | None:
    """Check that every row of the file is given once."""
    if values is None:
        return None
    rows = np.ascontiguousarray(whole_numbers(values, "Source rows", np.int64))
    _require_length("source_rows", rows.size, documents, "document")
    if not np.array_equal(np.sort(rows), np.arange(documents)):
        raise InputError("Source rows must contain each of 0, 1, ..., documents - 1 exactly once.")
    frozen: NDArray[np.int64] = _freeze(rows)
    return frozen
