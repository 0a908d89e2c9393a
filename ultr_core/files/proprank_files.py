"""Training files of svm_proprank, so that the original program can be run on the same data.

Each training example is a ranking of its own (section 6 of the paper): the clicked document in
front with label 1 and its cost, and all other candidates of the query with label 0,

    1 qid:7 cost:2.5 1:0.3 4:1 # query = lamp candidate = 3 docid = D7
    0 qid:7 1:0.1 # query = lamp candidate = 1 docid = D2

Examples on one document are one ranking, their weights v_i summed. The program minimises
``1/2 w.w + (c/K) sum cost x slacks`` over its K rankings, we ``1/2 w.w + (C/n) sum v x slacks``
over n examples; costs are therefore v K / n, and its option ``-c`` takes the paper's C. The
comments, which the program skips, say n and which rankings are of the same query.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.feature_matrix import FeatureMatrix
from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError, number_in_text, quoted
from ultr_core.files.disk import text_into, writing
from ultr_core.files.kinds import expecting
from ultr_core.files.letor_lines import Progress, Source, line_blocks
from ultr_core.files.letor_rows import name_in
from ultr_core.files.letor_table import Table, read_table, table_corpus
from ultr_core.files.letor_writer import check_names, check_svm_light_ids
from ultr_core.propensity.weights import Weights
from ultr_core.words import counted

_EXAMPLES = re.compile(rb"(?m)^#[ \t]*n[ \t]*=[ \t]*(\S+)")
_WIDEST_VALUE = len("-1.17549435e-38")  # nine digits tell every float32
_WIDEST_COST = len(" cost:2.2250738585072014e-308")
_HEAD_BYTES = 300
_ORIGIN = re.compile(r"query = (\S+) candidate = ([0-9]{1,9})(?!\S)")


def write_proprank(
    path: str | Path, corpus: Corpus, weights: Weights, *, progress: Progress | None = None
) -> int:
    """Write one ranking for each document with a weight above 0; return the number of lines.

    The file is gzipped if its name ends in ``.gz``. Raises InputError if the weights were
    made for another corpus, if the format does not allow an id, if a feature id is below 1 or above
    99,999,999, or if the file cannot be written.
    """
    _check(corpus, weights)
    with writing(path, "The training file") as file:
        return _write(file, corpus, weights, progress)


def packed_proprank(corpus: Corpus, weights: Weights) -> bytes:
    """The file that `write_proprank` writes, gzipped in memory; call `proprank_bytes` first.

    Raises InputError if `write_proprank` does.
    """
    _check(corpus, weights)
    packed = io.BytesIO()
    with text_into(packed, zipped=True) as file:
        _write(file, corpus, weights, None)
    return packed.getvalue()


def proprank_bytes(corpus: Corpus, weights: Weights) -> int:
    """An upper bound on the bytes that `write_proprank` writes uncompressed, from counts alone.

    Each document with a weight repeats all rows of its query, so a query with k such documents
    among n takes k n lines. Numbers are counted at their widest, names at their true length; with
    features between 0 and 1, true sizes are about half the bound.
    """
    chosen = np.flatnonzero(weights.values)
    starts, sizes = corpus.query_offsets[:-1], np.diff(corpus.query_offsets)
    rankings = np.diff(np.searchsorted(chosen, corpus.query_offsets))
    if isinstance(corpus.features, sparse.csr_array):
        before = corpus.features.indptr.astype(np.int64)
    else:
        before = np.append(0, np.cumsum(np.count_nonzero(corpus.features, axis=1)))
    filled = np.diff(before[corpus.query_offsets])
    pair = len(f" {corpus.feature_ids.max(initial=0)}:") + _WIDEST_VALUE
    number = len(str(chosen.size))
    line = len("0 qid:") + number + len(" # query =  candidate = \n") + len(str(sizes.max()))
    total = _HEAD_BYTES + pair * corpus.n_features + chosen.size * _WIDEST_COST
    for query in np.flatnonzero(rankings).tolist():
        start, n = int(starts[query]), int(sizes[query])
        own = pair * int(filled[query]) + n * (line + len(corpus.query_ids[query].encode()))
        if corpus.document_ids is not None:
            names = corpus.document_ids[start : start + n]
            own += n * len(" docid = ") + sum(len(name.encode()) for name in names)
        total += int(rankings[query]) * own
    return total


def _check(corpus: Corpus, weights: Weights) -> None:
    """Raise InputError for what cannot be written as a training file."""
    if len(weights.values) != corpus.n_documents:
        raise InputError(
            f"{counted(len(weights.values), 'weight was', 'weights were')} given for "
            f"{counted(corpus.n_documents, 'document')}; make them from a click log for "
            "this corpus.",
            "one_weight_each",
        )
    if not weights.values.any():
        raise InputError(
            "No document has a weight above 0, so there is nothing to train on.", "no_weight"
        )
    check_names(corpus)
    check_svm_light_ids(corpus.feature_ids)


def _write(file: IO[str], corpus: Corpus, weights: Weights, progress: Progress | None) -> int:
    """Write the lines of a training file and return how many there are."""
    chosen = np.flatnonzero(weights.values)
    file.write(
        f"# svm_proprank training file; n is the number of training examples behind the costs:\n"
        f"# n = {weights.clicks!r}\n"
        f"# {chosen.size} rankings, cost = weight x {chosen.size} / n: -c takes the paper's C\n"
    )
    lines = 0
    for done, ranking in enumerate(_rankings(corpus, weights, chosen), 1):
        file.writelines(ranking)
        lines += len(ranking)
        if progress is not None and done % 1024 == 0:
            progress(done / chosen.size)
    return lines


def _rankings(corpus: Corpus, weights: Weights, chosen: NDArray[np.int64]) -> Iterator[list[str]]:
    """The lines of each ranking, numbered 1, 2, ..."""
    costs = weights.values[chosen] * (chosen.size / weights.clicks)
    query_of = np.searchsorted(corpus.query_offsets, chosen, side="right") - 1
    known, rows = -1, list[str]()
    # A feature that no row gives is said once, so that the columns read back are the same.
    absent = _never_written(corpus, np.unique(query_of))
    for number, (document, query, cost) in enumerate(
        zip(chosen.tolist(), query_of.tolist(), costs.tolist(), strict=True), 1
    ):
        start, stop = (int(x) for x in corpus.query_offsets[query : query + 2])
        if query != known:
            known = query
            rows = [_features_and_origin(corpus, query, row) for row in range(start, stop)]
        own = rows[document - start]
        if number == 1 and absent:
            own = _with_zeros(own, absent)
        yield [
            f"1 qid:{number} cost:{cost!r}{own}",
            *(
                f"0 qid:{number}{text}"
                for place, text in enumerate(rows, start)
                if place != document
            ),
        ]


def _never_written(corpus: Corpus, queries: NDArray[np.int64]) -> list[int]:
    """Feature ids of columns that are 0 in every document of these queries."""
    written = np.zeros(corpus.n_features, np.bool_)
    for query in queries.tolist():
        start, stop = corpus.query_offsets[query : query + 2]
        part = corpus.features[start:stop]
        if isinstance(part, sparse.csr_array):
            written[part.indices[part.data != 0]] = True
        else:
            written |= part.any(axis=0)
    ids: list[int] = corpus.feature_ids[~written].tolist()
    return ids


def _features_and_origin(corpus: Corpus, query: int, row: int) -> str:
    """The part of a line that is the same in all rankings of a query."""
    columns: NDArray[np.integer]
    if isinstance(corpus.features, sparse.csr_array):
        span = slice(corpus.features.indptr[row], corpus.features.indptr[row + 1])
        columns, values = corpus.features.indices[span], corpus.features.data[span]
    else:
        columns = np.flatnonzero(corpus.features[row])
        values = corpus.features[row, columns]
    pairs = zip(corpus.feature_ids[columns].tolist(), values, strict=True)
    text = "".join(f" {feature}:{value!s}" for feature, value in pairs if value)
    candidate = row - int(corpus.query_offsets[query]) + 1
    name = f" docid = {corpus.document_ids[row]}" if corpus.document_ids else ""
    return f"{text} # query = {corpus.query_ids[query]} candidate = {candidate}{name}\n"


def _with_zeros(line: str, absent: list[int]) -> str:
    """Insert explicit zeros in rising order of ids, as svm_light wants them."""
    features, _, comment = line.partition(" #")
    pairs = [(int(pair.partition(":")[0]), pair) for pair in features.split()]
    pairs = sorted([*pairs, *((feature, f"{feature}:0") for feature in absent)])
    return "".join(f" {pair}" for _, pair in pairs) + " #" + comment


def read_proprank(path: str | Path, *, progress: Progress | None = None) -> tuple[Corpus, Weights]:
    """Read a training file: the queries that have a training example, and the weights.

    A file written by the lab gives back the corpus's queries that have a training example, and the
    weights; the grades are those in the file, 1 for documents with a training example. In other
    files, each ranking is a separate query, and n is the number of rankings. A row without
    ``cost:`` has cost 1. Raises InputError, which names the file and line of the first fault.
    """
    return _read(Source.file(path, "The training file"), progress)


def parse_proprank(data: bytes, name: str) -> tuple[Corpus, Weights]:
    """A training file from the bytes of an upload called ``name``; see `read_proprank`."""
    return _read(Source.upload(data, name), None)


def _read(source: Source, progress: Progress | None) -> tuple[Corpus, Weights]:
    with expecting("training", source):
        table = read_table(source, progress=progress, with_costs=True)
    examples = _examples(source, len(table.query_ids))
    order = np.argsort(table.query_of_row, kind="stable")
    positive = table.grades > 0
    _check_rankings(table, positive)
    costs = np.where(np.isnan(table.costs), 1.0, table.costs) if table.costs is not None else 1.0
    values = np.where(positive, costs, 0.0) * (examples / len(table.query_ids))
    origins = _origins(table)
    lines, name = table.lines[order], table.name
    labels, values = positive[order], values[order]
    corpus = table_corpus(table)
    if origins is not None:
        return _merged(corpus, values, examples, [origins[row] for row in order], lines, name)
    plain = Corpus(
        features=corpus.features,
        grades=labels.astype(np.int16),
        query_offsets=corpus.query_offsets,
        query_ids=corpus.query_ids,
        document_ids=corpus.document_ids,
        feature_ids=corpus.feature_ids,
        notices=corpus.notices,
    )
    return plain, Weights(values, examples)


def _examples(source: Source, rankings: int) -> float:
    """n as the comments in front of the first row say, or the number of rankings."""
    _, text = next(line_blocks(source))
    head = []
    for line in text.split(b"\n"):
        if line.strip() and not line.startswith(b"#"):
            break
        head.append(line)
    found = _EXAMPLES.search(b"\n".join(head))
    if found is None:
        return float(rankings)
    examples = number_in_text(found[1].decode("ascii", errors="replace"))
    if not 0 < examples <= 1e100:
        raise InputError(
            f"{source.name}, line {text.count(bytes([10]), 0, found.start()) + 1}: n is "
            f"{quoted(found[1].decode('utf-8', errors='replace'))}; give the number of training "
            "examples, above 0.",
            "not_a_number",
        )
    return examples


def _check_rankings(table: Table, positive: NDArray[np.bool_]) -> None:
    """Refuse a second clicked document in a ranking, a cost on another one, and no click at all."""
    if not positive.any():
        raise InputError(
            f"{table.name} has no row with label 1, so there is nothing to train on; give label "
            "1 to the clicked document of each ranking.",
            "no_click_rows",
        )
    rows = np.flatnonzero(positive)
    queries = table.query_of_row[rows]
    order = np.argsort(queries, kind="stable")
    again = np.flatnonzero(np.diff(queries[order]) == 0)
    if again.size:
        row = rows[order[again[0] + 1]]
        raise InputError(
            f"{table.name}, line {table.lines[row]} is the second row of query "
            f"{quoted(table.query_ids[table.query_of_row[row]])} with a label above 0; write one "
            "ranking per click, with one clicked document in each.",
            "clicked_twice",
        )
    if table.costs is not None:
        misplaced = np.flatnonzero(~positive & ~np.isnan(table.costs))
        if misplaced.size:
            raise InputError(
                f"{table.name}, line {table.lines[misplaced[0]]} has a cost and label 0; give the "
                "cost to the clicked document, whose label is 1.",
                "cost_misplaced",
            )


def _origins(table: Table) -> list[tuple[str, int]] | None:
    """Query and candidate of each row as its comment says; None unless all rows say it."""
    found = []
    for line, comment in zip(table.lines.tolist(), table.comments or (), strict=False):
        match = _ORIGIN.search(comment)
        if match is None:
            return None
        try:
            found.append((name_in(match), int(match[2])))
        except UnicodeError:
            raise InputError(
                f"{table.name}, line {line} is not UTF-8 text; save it as UTF-8.", "not_utf8"
            ) from None
    return found


def _merged(
    corpus: Corpus,
    values: NDArray[np.float64],
    examples: float,
    origins: list[tuple[str, int]],
    lines: NDArray[np.int64],
    name: str,
) -> tuple[Corpus, Weights]:
    """Make the rankings of a query one list of candidates again."""
    first: dict[str, NDArray[np.int64]] = {}
    totals: dict[str, NDArray[np.float64]] = {}
    for start, stop in zip(corpus.query_offsets[:-1], corpus.query_offsets[1:], strict=True):
        query = origins[start][0]
        rows = np.array(sorted(range(start, stop), key=lambda row: origins[row][1]), np.int64)
        expected = [(query, candidate) for candidate in range(1, len(rows) + 1)]
        known = first.setdefault(query, rows)
        if [origins[row] for row in rows] != expected or len(known) != len(rows):
            raise InputError(
                f"{name}, line {lines[start]} begins a ranking of query {quoted(query)} in which "
                "the comments do not number the candidates 1, 2, ... as they do in the query's "
                "other rankings; "
                "write the file again or remove the comments.",
                "candidates_unnumbered",
            )
        if known is not rows:
            _require_equal(corpus, known, rows, lines, name)
        totals[query] = totals.get(query, 0.0) + values[rows]
    kept = np.concatenate(list(first.values()))
    summed = np.concatenate(list(totals.values()))
    ids = corpus.document_ids
    whole = Corpus(
        features=corpus.features[kept],
        grades=(summed > 0).astype(np.int16),
        query_offsets=np.concatenate([[0], np.cumsum([len(rows) for rows in first.values()])]),
        query_ids=tuple(first),
        document_ids=None if ids is None else tuple(ids[row] for row in kept),
        feature_ids=corpus.feature_ids,
        notices=corpus.notices,
    )
    return whole, Weights(summed, examples)


def _require_equal(
    corpus: Corpus,
    known: NDArray[np.int64],
    rows: NDArray[np.int64],
    lines: NDArray[np.int64],
    name: str,
) -> None:
    """Refuse another document, or other features, under the number of a candidate."""
    ids = corpus.document_ids
    for one, other in zip(known.tolist(), rows.tolist(), strict=True):
        same = ids is None or ids[one] == ids[other]
        if not same or not _same_row(corpus.features, one, other):
            raise InputError(
                f"{name}, lines {lines[one]} and {lines[other]} have different documents, but "
                "their comments say that they are the same candidate; write the file again or "
                "remove the comments.",
                "candidate_differs",
            )


def _same_row(features: FeatureMatrix, one: int, other: int) -> bool:
    if isinstance(features, sparse.csr_array):
        a, b = (slice(features.indptr[row], features.indptr[row + 1]) for row in (one, other))
        return np.array_equal(features.indices[a], features.indices[b]) and np.array_equal(
            features.data[a], features.data[b]
        )
    return np.array_equal(features[one], features[other])
