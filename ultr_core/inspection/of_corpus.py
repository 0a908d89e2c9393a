"""Checks of a corpus before anything is trained on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus import Corpus, CorpusSplits, FeatureMatrix, propose_relevance_threshold
from ultr_core.corpus.ranking import query_of_document, query_sums
from ultr_core.errors import InputError, Remark, about, quoted
from ultr_core.findings import Finding, Severity
from ultr_core.inspection.findings import Inspection
from ultr_core.words import counted, part_of

LARGE_VALUE = 1e6
"""Feature values beyond it make training slow or impossible to certify."""

UNEVEN_SCALE = 1e3
"""Times the usual largest value of a feature from which one stands out."""

_MANY = 0.1  # share of queries from which a reader should look
_ROWS_AT_ONCE = 16_384


def inspect_splits(splits: CorpusSplits, *, relevant_grade: int = 3) -> tuple[Inspection, ...]:
    """Check training, validation and test part, in this order."""
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
    """Check candidates, grades, features and ids of a corpus.

    relevant_grade: the grade wanted as relevant; where grades stop earlier, another one is taken
    and said. notices: sentences of the reader, each of which becomes a finding. Queries without a
    relevant document count 0 in the risk and are left out of NDCG, wherever either is shown.
    """
    findings = [
        _candidates(corpus),
        _single(corpus),
        *_grades(corpus, relevant_grade),
        *_features(corpus),
        *_repeats(corpus),
        _document_ids(corpus),
    ]
    findings += [
        Finding.of_file("notice", "Note of the reader", None, "warning", text)
        for text in (*corpus.notices, *notices)
    ]
    counts = {
        "queries": corpus.n_queries,
        "documents": corpus.n_documents,
        "features": corpus.n_features,
        "largest_grade": corpus.max_grade,
    }
    return Inspection("corpus", name, form, tuple(findings), counts)


def _candidates(corpus: Corpus) -> Finding:
    sizes = corpus.sizes
    return Finding.of_file(
        "candidates",
        "Queries and candidates",
        corpus.n_documents,
        "good",
        f"{counted(corpus.n_queries, 'query', 'queries')} with "
        f"{counted(corpus.n_documents, 'candidate document')}: "
        f"{sizes.min():,} to {sizes.max():,} a query, {np.median(sizes):,.0f} in the middle.",
    )


def _single(corpus: Corpus) -> Finding:
    single = int(np.count_nonzero(corpus.sizes == 1))
    severity: Severity = "stop" if single == corpus.n_queries else "warning" if single else "good"
    return Finding.of_file(
        "single_candidates",
        "Queries with one candidate",
        single,
        severity,
        f"{part_of(single, corpus.n_queries, 'query', 'queries')} one candidate only"
        + (f"; there is nothing to rank in {'it' if single == 1 else 'them'}." if single else "."),
    )


def _grades(corpus: Corpus, wanted: int) -> list[Finding]:
    values, documents = np.unique(corpus.grades, return_counts=True)
    told = ", ".join(f"{n:,} of grade {g}" for g, n in zip(values, documents, strict=True))
    try:
        threshold, notice = propose_relevance_threshold((corpus,), wanted)
    except InputError as error:
        return [
            Finding.of_file("grades", "Grades", corpus.max_grade, "stop", str(error)),
            _without_relevant(corpus, 1),
        ]
    words = f"{told}. Relevant is grade {threshold} or more."
    if notice is not None:
        words = Remark(f"{told}. {notice}", about(notice))
    return [
        Finding.of_file(
            "grades", "Grades", corpus.max_grade, "warning" if notice else "good", words
        ),
        _without_relevant(corpus, threshold),
        _no_pairs(corpus),
    ]


def _without_relevant(corpus: Corpus, threshold: int) -> Finding:
    relevant = query_sums(corpus.relevance(threshold), corpus.query_offsets)
    without = int(np.count_nonzero(relevant == 0))
    share = without / corpus.n_queries
    of_all = f"{without:,} of {counted(corpus.n_queries, 'query', 'queries')}"
    severity: Severity = "stop" if share == 1 else "warning" if share > _MANY else "good"
    return Finding.of_file(
        "queries_without_relevant",
        "Queries without a relevant document",
        without,
        severity,
        f"{of_all} ({share:.0%}) {'has' if without == 1 else 'have'} no document of grade "
        f"{threshold} or more. Such queries count 0 in the risk; NDCG leaves out those with no "
        "grade above 0.",
    )


def _no_pairs(corpus: Corpus) -> Finding:
    starts = corpus.query_offsets[:-1]
    same = np.minimum.reduceat(corpus.grades, starts) == np.maximum.reduceat(corpus.grades, starts)
    without = int(np.count_nonzero(same))
    if without == corpus.n_queries:
        words = (
            "No query has two documents with different grades, so grades give no preference pair "
            "and no ranker."
        )
        return Finding.of_file(
            "no_pairs", "Queries without a preference pair", without, "stop", words
        )
    return Finding.of_file(
        "no_pairs",
        "Queries without a preference pair",
        without,
        "warning" if without > _MANY * corpus.n_queries else "good",
        f"{part_of(without, corpus.n_queries, 'query', 'queries')} documents of one grade only and "
        f"{'gives' if without == 1 else 'give'} no preference pair; the others are used.",
    )


def _features(corpus: Corpus) -> list[Finding]:
    low, high = _column_ranges(corpus.features)
    constant = low == high
    n = corpus.n_features
    found = int(np.count_nonzero(constant))
    which = _some_ids(corpus.feature_ids[constant])
    severity: Severity = "stop" if found == n else "warning" if found else "good"
    largest = np.maximum(np.abs(low), np.abs(high))
    usual = float(np.median(largest[largest > 0])) if (largest > 0).any() else 0.0
    top = int(np.argmax(largest))
    reach = float(largest[top])
    uneven = reach > max(LARGE_VALUE, UNEVEN_SCALE * usual)
    words = f"The largest value is {reach:g}, in feature {corpus.feature_ids[top]}"
    return [
        Finding.of_file(
            "constant_features",
            "Constant features",
            found,
            severity,
            f"{part_of(found, n, 'feature')} the same value in every document{which}"
            + (f" and {'says' if found == 1 else 'say'} nothing." if found else "."),
        ),
        Finding.of_file(
            "largest_value",
            "Largest feature value",
            reach,
            "warning" if uneven or reach > LARGE_VALUE else "good",
            words
            + (
                f", and most features stay below {usual:g}; bring all to about the same range, "
                "such as 0 to 1."
                if uneven or reach > LARGE_VALUE
                else "; all are finite."
            ),
        ),
    ]


def _column_ranges(features: FeatureMatrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each feature, float64 [features]."""
    if isinstance(features, sparse.csr_array):
        low = features.min(axis=0).toarray().ravel()
        high = features.max(axis=0).toarray().ravel()
    else:
        low, high = features.min(axis=0), features.max(axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def _some_ids(ids: NDArray[np.int64]) -> str:
    if not ids.size:
        return ""
    shown = ", ".join(map(str, ids[:5].tolist()))
    return f" ({shown}{', ...' if ids.size > 5 else ''})"


def _repeats(corpus: Corpus) -> list[Finding]:
    prints = _row_prints(corpus.features)
    query = query_of_document(corpus.query_offsets)
    order = np.lexsort((corpus.grades, prints, query))
    same = (np.diff(query[order]) == 0) & (np.diff(prints[order]) == 0)
    regraded = int(np.count_nonzero(same & (np.diff(corpus.grades[order]) != 0)))
    repeated = int(np.count_nonzero(same))
    empty = int(np.count_nonzero(_is_empty(corpus.features)))
    return [
        Finding.of_file(
            "duplicates",
            "Repeated documents",
            repeated,
            "warning" if repeated else "good",
            f"{counted(repeated, 'document has', 'documents have')} the very features of another "
            "candidate of the same query"
            + (
                f", {regraded:,} of them with another grade; no ranker can tell them apart."
                if repeated
                else "."
            ),
        ),
        Finding.of_file(
            "empty_documents",
            "Documents without a feature",
            empty,
            "stop" if empty == corpus.n_documents else "warning" if empty else "good",
            f"{part_of(empty, corpus.n_documents, 'document')} the value 0 in every feature.",
        ),
    ]


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


def _document_ids(corpus: Corpus) -> Finding:
    key, label = "document_ids", "Document ids"
    if corpus.document_ids is None:
        return Finding.of_file(
            key, label, 0, "warning",
            "There are no document ids (comments such as # docid = X), so a click log must call "
            "the candidates of each query 1, 2, ... in the order of the file.",
        )  # fmt: skip
    query = query_of_document(corpus.query_offsets).tolist()
    different = len(set(zip(query, corpus.document_ids, strict=True)))
    repeated = corpus.n_documents - different
    if repeated:
        return Finding.of_file(
            key, label, repeated, "warning",
            f"{counted(repeated, 'document has', 'documents have')} the id of another candidate of "
            "the same query; clicks on it count for the first.",
        )  # fmt: skip
    return Finding.of_file(
        key, label, different, "good",
        f"Every document has an id, such as {quoted(corpus.document_ids[0])}, once in its query.",
    )  # fmt: skip
