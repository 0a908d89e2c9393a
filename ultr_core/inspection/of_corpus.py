"""Checks of a corpus before anything is trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, CorpusSplits, FeatureMatrix, propose_relevance_threshold
from ultr_core.corpus.feature_matrix import column_ranges, largest_value, some_ids
from ultr_core.corpus.ranking import query_of_document, query_sums
from ultr_core.errors import InputError, Remark, about, quoted
from ultr_core.inspection.inspection import (
    Check,
    Inspection,
    Seen,
    found_by,
    good,
    graded,
    reader_notes,
    stop,
    warning,
)
from ultr_core.inspection.joined import UNREAD_IDS
from ultr_core.words import counted, part_of

_MANY = 0.1  # share of queries from which a reader should look
_ROWS_AT_ONCE = 16_384


def inspect_splits(splits: CorpusSplits, *, relevant_grade: int = 3) -> tuple[Inspection, ...]:
    """Check the training, validation and test parts, in that order."""
    parts = (("training", splits.train), ("validation", splits.validation), ("test", splits.test))
    return tuple(
        inspect_corpus(corpus, name=f"{splits.name}, {part} part", relevant_grade=relevant_grade)
        for part, corpus in parts
    )


def inspect_corpus(
    corpus: Corpus,
    *,
    name: str = "the corpus",
    form: str = "LETOR/SVMlight text",
    relevant_grade: int = 3,
    notices: Sequence[str] = (),
) -> Inspection:
    """Check the candidates, grades, features and ids of a corpus.

    relevant_grade: the lowest relevant grade; if no grade is that high, another threshold is chosen
    and reported. notices: sentences from reading the file, each of which becomes a finding. Queries
    without a relevant document count as 0 in the risk and are left out of NDCG.
    """
    findings = found_by(CHECKS, _Judged.by(corpus, relevant_grade))
    counts = {
        "queries": corpus.n_queries,
        "documents": corpus.n_documents,
        "features": corpus.n_features,
        "largest_grade": corpus.max_grade,
    }
    notes = reader_notes((*corpus.notices, *notices))
    return Inspection("corpus", name, form, (*findings, *notes), counts)


@dataclass(frozen=True, eq=False)
class _Judged:
    """A corpus with the grade from which on a document is relevant.

    notice: why that grade was taken instead of the one that was wanted. wrong: why there is none.
    """

    corpus: Corpus
    threshold: int
    notice: str | None = None
    wrong: str = ""

    @classmethod
    def by(cls, corpus: Corpus, wanted: int) -> _Judged:
        try:
            return cls(corpus, *propose_relevance_threshold((corpus,), wanted))
        except InputError as error:
            return cls(corpus, 1, wrong=str(error))

    @cached_property
    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Smallest and largest value of each feature, float64 [features]."""
        return column_ranges(self.corpus.features)


def _candidates(given: _Judged) -> Seen:
    corpus, sizes = given.corpus, given.corpus.sizes
    return good(
        corpus.n_documents,
        f"{counted(corpus.n_queries, 'query', 'queries')} with "
        f"{counted(corpus.n_documents, 'candidate document')}: "
        f"{sizes.min():,} to {sizes.max():,} per query (median {np.median(sizes):,.0f}).",
    )


def _single(given: _Judged) -> Seen:
    queries = given.corpus.n_queries
    single = int(np.count_nonzero(given.corpus.sizes == 1))
    words = f"{part_of(single, queries, 'query', 'queries')} one candidate only"
    rest = f", so there is nothing to rank in {'it' if single == 1 else 'them'}." if single else "."
    return graded(single, f"{words}{rest}", stop=single == queries, warning=single > 0)


def _grades(given: _Judged) -> Seen:
    highest, notice = given.corpus.max_grade, given.notice
    if given.wrong:
        return stop(highest, given.wrong)
    values, documents = np.unique(given.corpus.grades, return_counts=True)
    told = ", ".join(f"{n:,} of grade {g}" for g, n in zip(values, documents, strict=True))
    if notice is not None:
        return warning(highest, Remark(f"{told}. {notice}", about(notice)))
    return good(highest, f"{told}. Relevant means grade {given.threshold} or more.")


def _without_relevant(given: _Judged) -> Seen:
    corpus, threshold = given.corpus, given.threshold
    relevant = query_sums(corpus.relevance(threshold), corpus.query_offsets)
    without = int(np.count_nonzero(relevant == 0))
    share = without / corpus.n_queries
    of_all = f"{without:,} of {counted(corpus.n_queries, 'query', 'queries')}"
    return graded(
        without,
        f"{of_all} ({share:.0%}) {'has' if without == 1 else 'have'} no document with grade "
        f"{threshold} or more. Such queries count as 0 in the risk; NDCG leaves out queries with "
        "no grade above 0.",
        stop=share == 1,
        warning=share > _MANY,
    )


def _no_pairs(given: _Judged) -> Seen | None:
    if given.wrong:
        return None
    queries, starts = given.corpus.n_queries, given.corpus.query_offsets[:-1]
    grades = given.corpus.grades
    same = np.minimum.reduceat(grades, starts) == np.maximum.reduceat(grades, starts)
    without = int(np.count_nonzero(same))
    if without == queries:
        return stop(
            without,
            "No query has two documents with different grades, so the grades give no preference "
            "pairs and no ranker can be trained on them.",
        )
    return graded(
        without,
        f"{part_of(without, queries, 'query', 'queries')} documents of only one grade and "
        f"{'gives' if without == 1 else 'give'} no preference pairs; the others are used.",
        warning=without > _MANY * queries,
    )


def _constant(given: _Judged) -> Seen:
    low, high = given.ranges
    n, constant = given.corpus.n_features, low == high
    found = int(np.count_nonzero(constant))
    which = _some_ids(given.corpus.feature_ids[constant])
    words = f"{part_of(found, n, 'feature')} the same value in every document{which}"
    rest = f" and {'carries' if found == 1 else 'carry'} no information." if found else "."
    return graded(found, f"{words}{rest}", stop=found == n, warning=found > 0)


def _largest_value(given: _Judged) -> Seen:
    corpus = given.corpus
    reach, words, large = largest_value(*given.ranges, corpus.feature_ids)
    return graded(reach, words, warning=large)


def _repeats(given: _Judged) -> Seen:
    corpus = given.corpus
    prints = _row_prints(corpus.features)
    query = query_of_document(corpus.query_offsets)
    order = np.lexsort((corpus.grades, prints, query))
    same = (np.diff(query[order]) == 0) & (np.diff(prints[order]) == 0)
    regraded = int(np.count_nonzero(same & (np.diff(corpus.grades[order]) != 0)))
    repeated = int(np.count_nonzero(same))
    rest = f", {regraded:,} of them with a different grade; no ranker can tell them apart."
    return graded(
        repeated,
        f"{counted(repeated, 'document has', 'documents have')} exactly the same features as "
        f"another candidate of the same query{rest if repeated else '.'}",
        warning=repeated > 0,
    )


def _empty(given: _Judged) -> Seen:
    documents = given.corpus.n_documents
    empty = int(np.count_nonzero(_is_empty(given.corpus.features)))
    words = f"{part_of(empty, documents, 'document')} the value 0 in every feature."
    return graded(empty, words, stop=empty == documents, warning=empty > 0)


def _document_ids(given: _Judged) -> Seen:
    corpus = given.corpus
    if corpus.document_ids is None and corpus.unread_ids:
        return warning(
            0,
            Remark(
                f"No document ids were read: {corpus.unread_ids}. To join a click log, say how ids "
                "are written, or that there are none.",
                UNREAD_IDS,
            ),
        )
    if corpus.document_ids is None:
        return warning(
            0,
            "There are no document ids (comments such as # docid = X), so a click log must number "
            "the candidates of each query 1, 2, ... in the order of the file.",
        )
    query = query_of_document(corpus.query_offsets).tolist()
    different = len(set(zip(query, corpus.document_ids, strict=True)))
    repeated = corpus.n_documents - different
    if repeated:
        return warning(
            repeated,
            f"{counted(repeated, 'document has', 'documents have')} the id of another candidate of "
            "the same query; clicks with such an id count for the first document that has it.",
        )
    example = quoted(corpus.document_ids[0])
    return good(different, f"Every document has an id, such as {example}, unique within its query.")


CHECKS = (
    Check("candidates", "Queries and candidates", _candidates),
    Check("single_candidates", "Queries with one candidate", _single),
    Check("grades", "Grades", _grades),
    Check("queries_without_relevant", "Queries without a relevant document", _without_relevant),
    Check("no_pairs", "Queries without preference pairs", _no_pairs),
    Check("constant_features", "Constant features", _constant),
    Check("largest_value", "Largest feature value", _largest_value),
    Check("duplicates", "Duplicate documents", _repeats),
    Check("empty_documents", "Documents without features", _empty),
    Check("document_ids", "Document ids", _document_ids),
)
"""The checks of a corpus, in the order in which they are read."""


def _some_ids(ids: NDArray[np.int64]) -> str:
    return f" ({some_ids(ids)})" if ids.size else ""


def _row_prints(features: FeatureMatrix) -> NDArray[np.uint64]:
    """A number for each row that is equal for equal rows and practically never otherwise."""
    rows, columns = features.shape
    drawn = np.random.default_rng(0).integers(1, 2**63, columns, dtype=np.uint64)
    factors: NDArray[np.uint64] = np.bitwise_or(drawn, np.uint64(1), dtype=np.uint64)
    prints = np.zeros(rows, dtype=np.uint64)
    if isinstance(features, sparse.csr_array):
        # Adding 0 turns -0 into 0, which has no bit set.
        terms = (features.data + np.float32(0)).view(np.uint32) * factors[features.indices]
        summed = np.zeros(terms.size + 1, dtype=np.uint64)
        np.cumsum(terms, out=summed[1:])
        prints = summed[features.indptr[1:]] - summed[features.indptr[:-1]]
        return prints
    for start in range(0, rows, _ROWS_AT_ONCE):
        block = np.ascontiguousarray(features[start : start + _ROWS_AT_ONCE] + np.float32(0))
        prints[start : start + _ROWS_AT_ONCE] = (block.view(np.uint32) * factors).sum(
            axis=1, dtype=np.uint64
        )
    return prints


def _is_empty(features: FeatureMatrix) -> NDArray[np.bool_]:
    if isinstance(features, sparse.csr_array):
        filled = np.zeros(features.shape[0], dtype=bool)
        stored = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
        filled[stored[features.data != 0]] = True
        return ~filled
    found: NDArray[np.bool_] = ~np.asarray(features.any(axis=1))
    return found
