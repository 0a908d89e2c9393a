"""Corpora in LETOR/SVMlight files: one document a line, ``grade qid:ID id:value ... # comment``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.letor_lines import line_blocks
from ultr_core.corpus.letor_paths import directory_fault, fault_of
from ultr_core.corpus.letor_rows import Rows, read_rows
from ultr_core.corpus.model import Corpus, CorpusSplits, FeatureMatrix
from ultr_core.errors import InputError, checked_path, named, quoted

# Products with dense float32 features are as fast as with CSR from here on, and rows are easier
# to gather.
DENSE_FROM_SHARE = 0.35

_PARTS = {
    "training": ("train.txt",),
    "validation": ("vali.txt", "valid.txt", "validation.txt"),
    "test": ("test.txt",),
}
_MOST_NAMES_SHOWN = 8


def read_letor(path: str | Path) -> Corpus:
    """Read a corpus from one LETOR file, plain or gzip.

    Rows of one query need not follow each other: they are brought together in the order in which
    the queries first occur. Features are the ids that occur anywhere in the file; missing ones are
    0. Document ids are taken from comments ``# docid = X`` where each row has one. Rows without
    ``qid:`` are accepted where a file of the same name with ``.query`` added holds the number of
    documents of each query, one a line.

    Raises:
        InputError: the file or a row cannot be used; names file, line and column.

    """
    table = _read_table(checked_path(path, "The LETOR file"))
    return _to_corpus(table, table.feature_ids, table.filled_share(len(table.feature_ids)))


def load_directory(path: str | Path) -> CorpusSplits:
    """Read training, validation and test queries from a directory.

    The files are ``train.txt``, ``vali.txt`` (or ``valid.txt``, ``validation.txt``) and
    ``test.txt``, each also with ``.gz``. The feature columns of all three are the ids that occur
    in any of them.

    Raises:
        InputError: no such directory, a file missing or there twice, or not usable.

    """
    directory = checked_path(path, "The corpus")
    if fault := directory_fault(directory):
        raise InputError(
            f"{named(directory)} {fault}; give a directory with train.txt, vali.txt and test.txt."
        )
    tables = [_read_table(file) for file in _find_parts(directory)]
    feature_ids = np.unique(np.concatenate([table.feature_ids for table in tables]))
    cells = sum(table.rows for table in tables) * len(feature_ids)
    share = sum(table.filled for table in tables) / cells
    train, validation, test = (_to_corpus(table, feature_ids, share) for table in tables)
    return CorpusSplits(
        name=named(directory.name or directory),
        train=train,
        validation=validation,
        test=test,
        source="files",
        notices=_notices(train, validation, test),
    )


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows with their features as a matrix over the feature ids that occur in them."""

    features: FeatureMatrix
    feature_ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Table:
    """A file as it was read: rows in file order, query of each row."""

    blocks: list[_Block]
    grades: NDArray[np.int16]
    query_ids: tuple[str, ...]
    query_of_row: NDArray[np.int64]
    document_ids: tuple[str, ...] | None
    feature_ids: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return len(self.grades)

    @property
    def filled(self) -> int:
        """Number of features of all rows that are not 0."""
        return sum(
            int(block.features.nnz)
            if isinstance(block.features, sparse.csr_array)
            else int(np.count_nonzero(block.features))
            for block in self.blocks
        )

    def filled_share(self, columns: int) -> float:
        """Share of cells that are not 0."""
        return self.filled / (self.rows * columns)


def _read_table(path: Path) -> _Table:
    """Read all rows of a file and find out which query each belongs to."""
    blocks: list[_Block] = []
    grades: list[NDArray[np.int16]] = []
    queries: list[str] = []
    documents: list[str | None] = []
    with_queries: bool | None = None
    for first_line, text in line_blocks(path):
        rows = read_rows(path, first_line, text, with_queries)
        if rows is None:
            continue
        with_queries = rows.queries is not None
        queries.extend(rows.queries or ())
        grades.append(rows.grades)
        documents.extend(rows.documents)
        blocks.append(_to_block(rows))
    if not blocks:
        raise InputError(
            f"{named(path)} has no row, only blank lines and comments; "
            "rows 'grade qid:ID id:value ...' are needed."
        )
    feature_ids = np.unique(np.concatenate([block.feature_ids for block in blocks]))
    if not len(feature_ids):
        raise InputError(f"{named(path)} gives no feature in any row; id:value pairs are needed.")
    if with_queries:
        number_of = {name: number for number, name in enumerate(dict.fromkeys(queries))}
        query_of_row = np.array([number_of[name] for name in queries], np.int64)
        query_ids = tuple(number_of)
    else:
        sizes = _read_group_sizes(path, len(documents))
        query_of_row = np.repeat(np.arange(len(sizes)), sizes)
        query_ids = tuple(str(number) for number in range(1, len(sizes) + 1))
    document_ids = tuple(name for name in documents if name is not None)
    return _Table(
        blocks=blocks,
        grades=np.concatenate(grades),
        query_ids=query_ids,
        query_of_row=query_of_row,
        document_ids=document_ids if len(document_ids) == len(documents) else None,
        feature_ids=feature_ids,
    )


def _read_group_sizes(path: Path, rows: int) -> NDArray[np.int64]:
    """Read the file with the number of documents of each query beside a file without qid."""
    name = path.name.removesuffix(".gz") + ".query"
    side_file = path.with_name(name)
    if not side_file.is_file():
        raise InputError(
            f"{named(path)} has no query ids: each row needs qid: after its grade, as in "
            f"'2 qid:17 1:0.5', or a file {name} beside it that gives the number of documents of "
            "each query, one a line."
        )
    sizes: list[int] = []
    for first_line, text in line_blocks(side_file):
        for number, line in enumerate(
            text.decode("utf-8", errors="replace").split("\n")[:-1], first_line
        ):
            size = line.strip()
            if not size:
                continue
            if not (size.isascii() and size.isdigit()) or len(size) > 9 or int(size) == 0:
                raise InputError(
                    f"{named(side_file)}, line {number}: {quoted(size)} is no number of documents; "
                    "a whole number of 1 or more is needed, and no header."
                )
            sizes.append(int(size))
    if sum(sizes) != rows:
        raise InputError(
            f"{named(side_file)} adds up to {sum(sizes)} documents and {named(path)} has "
            f"{rows} rows; the two must be equal."
        )
    return np.array(sizes, np.int64)


def _to_block(rows: Rows) -> _Block:
    """Bring the entries of rows into a matrix, dense where they fill it."""
    lengths, n_rows = rows.lengths, len(rows.lengths)
    width = int(lengths[0])
    ids = rows.ids.reshape(n_rows, width) if (lengths == width).all() else None
    if ids is not None and (ids == ids[0]).all():
        return _Block(rows.values.reshape(n_rows, width), ids[0].astype(np.int64))
    columns, position = np.unique(rows.ids, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_array((rows.values, position, starts), shape=(n_rows, len(columns)))
    matrix.eliminate_zeros()
    return _Block(matrix, columns.astype(np.int64))


def _to_corpus(table: _Table, feature_ids: NDArray[np.int64], filled_share: float) -> Corpus:
    """Assemble the blocks over the given columns, and bring the rows of a query together."""
    assemble = _assemble_dense if filled_share > DENSE_FROM_SHARE else _assemble_sparse
    features: FeatureMatrix = assemble(table, feature_ids)
    grades, documents, query = table.grades, table.document_ids, table.query_of_row
    if (np.diff(query) < 0).any():
        order = np.argsort(query, kind="stable")
        features, grades = features[order], grades[order]
        if documents is not None:
            documents = tuple(documents[row] for row in order)
    sizes = np.bincount(query, minlength=len(table.query_ids))
    return Corpus(
        features=features,
        grades=grades,
        query_offsets=np.concatenate([[0], np.cumsum(sizes)]),
        query_ids=table.query_ids,
        document_ids=documents,
        feature_ids=feature_ids,
    )


def _assemble_dense(table: _Table, feature_ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Fill one array block by block, giving up each block once it is copied."""
    features = np.zeros((table.rows, len(feature_ids)), np.float32)
    stop = table.rows
    while table.blocks:
        block = table.blocks.pop()
        columns = np.searchsorted(feature_ids, block.feature_ids)
        start = stop - block.features.shape[0]
        if isinstance(block.features, sparse.csr_array):
            entries = block.features.tocoo()
            features[start + entries.row, columns[entries.col]] = entries.data
        else:
            features[start:stop, columns] = block.features
        stop = start
    return features


def _assemble_sparse(table: _Table, feature_ids: NDArray[np.int64]) -> sparse.csr_array:
    """Stack the blocks after renumbering their columns."""
    parts = []
    for block in table.blocks:
        part = sparse.csr_array(block.features)
        columns = np.searchsorted(feature_ids, block.feature_ids)
        parts.append(
            sparse.csr_array(
                (part.data, columns[part.indices], part.indptr),
                shape=(part.shape[0], len(feature_ids)),
            )
        )
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _find_parts(directory: Path) -> list[Path]:
    """Find the three files of a directory."""
    found = []
    for part, names in _PARTS.items():
        wanted = [name + ending for name in names for ending in ("", ".gz")]
        present = [name for name in wanted if os.path.lexists(directory / name)]
        faults = {name: fault_of(directory / name) for name in present}
        files = [directory / name for name, fault in faults.items() if fault is None]
        if len(files) > 1:
            raise InputError(
                f"{named(directory)} holds both {files[0].name} and {files[1].name} for the {part} "
                "queries; keep one of them."
            )
        if not files and present:
            raise InputError(
                f"{named(directory / present[0])} {faults[present[0]]}; "
                f"a regular file with the {part} queries is needed."
            )
        if not files:
            raise InputError(
                f"{named(directory)} has no {part} file ({' or '.join(names)}, plain or with "
                f".gz added); found there: {_listing(directory)}."
            )
        found.append(files[0])
    return found


def _listing(directory: Path) -> str:
    """Name what a directory holds, shortened."""
    with os.scandir(directory) as entries:
        names = sorted(named(entry.name) + "/" * entry.is_dir() for entry in entries)
    shown = ", ".join(names[:_MOST_NAMES_SHOWN]) or "nothing"
    more = len(names) - _MOST_NAMES_SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def _notices(train: Corpus, validation: Corpus, test: Corpus) -> tuple[str, ...]:
    """Say where two parts are the same documents, so that a comparison would mislead."""
    pairs = (
        ("training", train, "validation", validation),
        ("training", train, "test", test),
        ("validation", validation, "test", test),
    )
    return tuple(
        f"The {one} and {other} files hold the same documents and grades; "
        "results on them are not independent."
        for one, first, other, second in pairs
        if _same_documents(first, second)
    )


def _same_documents(first: Corpus, second: Corpus) -> bool:
    """Tell whether two corpora have the same lists, features and grades in the same order."""
    if not np.array_equal(first.query_offsets, second.query_offsets):
        return False
    if not np.array_equal(first.grades, second.grades):
        return False
    return all(
        np.array_equal(one, other)
        for one, other in zip(_stored(first.features), _stored(second.features), strict=True)
    )


def _stored(features: FeatureMatrix) -> tuple[NDArray[Any], ...]:
    """Return the arrays that make up a feature matrix."""
    if isinstance(features, sparse.csr_array):
        return features.data, features.indices, features.indptr
    return (features,)
