"""A corpus as a LETOR file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.files.disk import writing

LARGEST_SVM_LIGHT_ID = 99_999_999


def write_letor(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a LETOR file that reads back as the same corpus.

    The file is gzipped if its name ends in ``.gz``. Dense features are written in full; for sparse
    features, only the stored values are written. A feature that no row stores is therefore written
    once, as an explicit 0 in the first row.

    Raises:
        InputError: an id is empty or contains a space, a query id contains ``#`` or occurs twice,
            or the file cannot be written.

    """
    check_names(corpus)
    with writing(path, "The corpus") as file:
        file.writelines(_lines(corpus))


def check_names(corpus: Corpus) -> None:
    """Raise InputError for query and document ids that a LETOR file cannot hold."""
    for kind, names in (("query", corpus.query_ids), ("document", corpus.document_ids or ())):
        for name in names:
            if (
                len(name.split()) != 1
                or not name.isprintable()
                or (kind == "query" and "#" in name)
            ):
                raise InputError(
                    f"The {kind} id {quoted(name)} cannot be written to a LETOR file; "
                    "ids must not contain spaces, and query ids must not contain '#'.",
                    "unwritable_id",
                )
    if len(set(corpus.query_ids)) < corpus.n_queries:
        raise InputError(
            "Two queries have the same id, and a LETOR file would merge them; rename one.",
            "same_query_id",
        )


def check_svm_light_ids(ids: NDArray[np.int64]) -> None:
    """Raise InputError for rising feature ids that svm_light and its descendants do not read."""
    if ids[0] < 1:
        raise InputError(
            f"Feature id {ids[0]} cannot be written for svm_light, svm_rank and svm_proprank, "
            "whose ids begin at 1; number the features from 1.",
            "svm_light_ids",
        )
    if ids[-1] > LARGEST_SVM_LIGHT_ID:
        raise InputError(
            f"Feature id {ids[-1]} cannot be written for svm_light, svm_rank and svm_proprank, "
            f"whose ids end at {LARGEST_SVM_LIGHT_ID:,}; renumber the features.",
            "svm_light_ids",
        )


def _lines(corpus: Corpus) -> Iterable[str]:
    """Format the rows of a corpus, query after query."""
    features, ids = corpus.features, corpus.feature_ids
    never = _never_stored(corpus)
    query = np.repeat(np.arange(corpus.n_queries), corpus.sizes).tolist()
    for row, grade in enumerate(corpus.grades.tolist()):
        if isinstance(features, sparse.csr_array):
            span = slice(features.indptr[row], features.indptr[row + 1])
            entries = list(
                zip(ids[features.indices[span]].tolist(), features.data[span], strict=True)
            )
            entries += [(feature, np.float32(0)) for feature in (never if row == 0 else ())]
        else:
            entries = list(zip(ids.tolist(), features[row], strict=True))
        text = "".join(f" {feature}:{value!s}" for feature, value in entries)
        name = f" # docid = {corpus.document_ids[row]}" if corpus.document_ids else ""
        yield f"{grade} qid:{corpus.query_ids[query[row]]}{text}{name}\n"


def _never_stored(corpus: Corpus) -> list[int]:
    """Feature ids of columns without any stored value."""
    if not isinstance(corpus.features, sparse.csr_array):
        return []
    stored = np.zeros(corpus.n_features, np.bool_)
    stored[corpus.features.indices] = True
    ids: list[int] = corpus.feature_ids[~stored].tolist()
    return ids
