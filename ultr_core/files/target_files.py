"""Targets of documents as a table, CSV or Parquet: what pointwise learners of any kind train on.

    write_targets("targets.csv", corpus, fit.targets, made_with=record_of(fit))

One row a document, in the corpus's order: ``query``, ``candidate`` (place of the document within
its query, from 1), ``document`` (its id, where the corpus has ids), ``row`` (of the corpus's file,
from 1), ``target``, ``sample_weight`` (N_q, presentations of its query; 0 if it was never shown)
and ``made_with`` (how the clicks were weighted, as JSON; the same in each row).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError
from ultr_core.files.disk import write_whole, writing
from ultr_core.files.tables import MADE_WITH, candidate_rows
from ultr_core.propensity.targets import Targets
from ultr_core.words import counted

TARGET_COLUMNS = ("target", "sample_weight")
_TOLD_IN_ROWS = ("method", "clip", "continuation", "clicks", "query_draws")
_WHAT = "The table of targets"


def target_columns(
    corpus: Corpus, targets: Targets, made_with: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """The columns by name. Raises InputError as `write_targets` does, but for the file."""
    if targets.value.size != corpus.n_documents:
        raise InputError(
            f"{counted(targets.value.size, 'target was', 'targets were')} given for "
            f"{counted(corpus.n_documents, 'document')}; make them from a click log for this "
            "corpus.",
            "one_target_each",
        )
    documents = np.arange(corpus.n_documents)
    query, candidate, *ids = zip(*candidate_rows(corpus, documents), strict=True)
    rows = documents if corpus.source_rows is None else corpus.source_rows
    told = {name: made_with[name] for name in _TOLD_IN_ROWS if made_with.get(name) is not None}
    return {
        "query": list(query),
        "candidate": [int(place) for place in candidate],
        **({"document": list(ids[0])} if ids else {}),
        "row": (rows + 1).tolist(),
        "target": targets.value.tolist(),
        "sample_weight": targets.draws.tolist(),
        MADE_WITH: [json.dumps(told, allow_nan=False)] * corpus.n_documents,
    }


def write_targets(
    path: str | Path, corpus: Corpus, targets: Targets, *, made_with: Mapping[str, Any]
) -> None:
    """Write the targets of a corpus's documents; a name that ends in .parquet gives Parquet.

    made_with: `record_of` the fit; its column has the parts that decide the targets, and the
    metadata of a Parquet file has all of it. Raises InputError for targets of another corpus, query
    ids that occur twice, and a file that cannot be written.
    """
    columns = target_columns(corpus, targets, made_with)
    if Path(path).suffix.lower() == ".parquet":
        write_whole(path, _parquet(columns, made_with), _WHAT)
        return
    with writing(path, _WHAT) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))


def _parquet(columns: Mapping[str, list[Any]], made_with: Mapping[str, Any]) -> bytes:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    record = json.dumps(dict(made_with), ensure_ascii=False, allow_nan=False)
    table = pa.table(dict(columns)).replace_schema_metadata({MADE_WITH: record})
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()
