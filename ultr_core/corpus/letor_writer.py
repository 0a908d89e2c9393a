"""A corpus as a LETOR file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError


def write_letor(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as a plain LETOR file that reads back as the same corpus.

    Dense features are written in full, of sparse ones the stored values. A feature that no row
    stores is therefore written once, as an explicit 0 in the first row.

    Raises:
        InputError: an id that is empty or holds a blank, a query id that holds ``#`` or occurs
            twice.

    """
    for kind, names in (("query", corpus.query_ids), ("document", corpus.document_ids or ())):
        for name in names:
            if (
                len(name.split()) != 1
                or not name.isprintable()
                or (kind == "query" and "#" in name)
            ):
                raise InputError(
                    f"The {kind} id {name!r} cannot be written to a LETOR file; "
                    "ids without blanks, and for queries without '#', are needed."
                )
    if len(set(corpus.query_ids)) < corpus.n_queries:
        raise InputError(
            "Two queries have the same id, and a LETOR file would make them one; rename one."
        )
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_lines(corpus))


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
