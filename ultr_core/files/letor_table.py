"""A LETOR file as a table: its rows in the order of the file, and the query of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.feature_matrix import FeatureMatrix, stored_bytes
from ultr_core.corpus.model import Corpus
from ultr_core.errors import InputError, named, number_in_text, quoted
from ultr_core.files.comment_ids import (
    FoundIds,
    ReadId,
    id_pattern,
    ids_of_comments,
    no_id,
    usual_id,
)
from ultr_core.files.disk import fault_of, lies_within
from ultr_core.files.kinds import expecting
from ultr_core.files.letor_lines import Progress, Source, line_blocks
from ultr_core.files.letor_rows import ReadAsZero, Rows, comment_text, read_rows
from ultr_core.limits import ROWS_WITHOUT_FEATURES, Room
from ultr_core.words import counted, part_of

# Products with dense float32 features are as fast as with CSR from here on, and rows are easier
# to gather.
DENSE_FROM_SHARE = 0.35

GROUP_ENDINGS = (".query", ".group")
_COST = re.compile(rb"(?m)^([^\S\n]*[^\s#]+[ \t]+qid:[^\s#]+[ \t]+)(cost:([^\s#]*))")
_LARGEST_COST = 1e100


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows with their features as a matrix over the feature ids that occur in them."""

    features: FeatureMatrix
    feature_ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """A file as it was read: rows in file order, query of each row.

    name: of the file, for messages. unread_ids: see `Corpus`. feature_ids: those that occur,
    rising. lines: int64 [rows], the line of each row. zeroed: values that are read as 0. costs:
    float64 [rows] of a training file, NaN where a row gives none; comments: what follows ``#`` in
    each of its rows. Both are None for other files.
    """

    name: str
    blocks: list[_Block]
    grades: NDArray[np.int16]
    query_ids: tuple[str, ...]
    query_of_row: NDArray[np.int64]
    document_ids: tuple[str, ...] | None
    unread_ids: str
    feature_ids: NDArray[np.int64]
    lines: NDArray[np.int64]
    zeroed: ReadAsZero
    costs: NDArray[np.float64] | None = None
    comments: list[str] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.grades)


class _Gathered:
    """What the blocks of a file add up to while it is being read."""

    def __init__(self, name: str, room: Room, read_id: ReadId) -> None:
        self.name, self.room, self.read_id = name, room, read_id
        self.documents_so_far = self.bytes_so_far = 0
        self.blocks: list[_Block] = []
        self.grades: list[NDArray[np.int16]] = []
        self.lines: list[NDArray[np.int64]] = []
        self.number_of: dict[str, int] = {}
        self.queries: list[NDArray[np.int64]] = []
        self.documents: list[str | None] = []
        self.ids_in_comments: list[str] = []
        self.with_queries: bool | None = None
        self.costs: list[NDArray[np.float64]] = []
        self.comments: list[str] = []
        self.zeroed = ReadAsZero()

    def add(self, first_line: int, rows: Rows) -> None:
        self.with_queries = rows.queries is not None
        number = self.number_of
        self.queries.append(
            np.array(
                [number.setdefault(name, len(number)) for name in rows.queries or ()], np.int64
            )
        )
        self.grades.append(rows.grades)
        self.lines.append(rows.lines + first_line)
        self.zeroed += rows.zeroed.moved(first_line)
        if self.read_id is not usual_id:
            self._require_ids(first_line, rows)
        self.documents += rows.documents
        # Without comments in a block there is no id to be had from those of others.
        if len(self.ids_in_comments) == len(self.documents) - len(rows.documents):
            self.ids_in_comments += rows.comments if all(rows.comments) else []
        self.blocks.append(self._within_room(_to_block(rows)))

    def _require_ids(self, first_line: int, rows: Rows) -> None:
        """Raise InputError for a row in which the reader's pattern finds no id."""
        if self.read_id is no_id or None not in rows.documents:
            return
        row = rows.documents.index(None)
        raise InputError(
            f"{self.name}, line {first_line + int(rows.lines[row])}: the pattern for document ids "
            f"finds no id in the comment {quoted(rows.comments[row])}; it must match every row.",
            "id_pattern",
        )

    def found_ids(self, query_of_row: NDArray[np.int64]) -> FoundIds:
        """The document ids of all rows."""
        if self.read_id is no_id:
            return FoundIds(None)
        texts = self.ids_in_comments
        if len(texts) < len(self.documents):
            texts = [""] * len(self.documents)
        return ids_of_comments(self.documents, texts, query_of_row)

    def _within_room(self, block: _Block) -> _Block:
        self.documents_so_far += block.features.shape[0]
        self.bytes_so_far += stored_bytes(block.features)
        for limit, so_far in (
            (self.room.documents, self.documents_so_far),
            (self.room.features, self.bytes_so_far),
        ):
            if limit is not None and so_far > limit.most:  # there may be more to come
                raise limit.exceeded(self.name)
        return block

    def add_costs(self, name: str, first_line: int, rows: Rows, text: bytes) -> None:
        found = _costs_by_line(name, first_line, text)
        lines = rows.lines.tolist()
        self.costs.append(np.array([found.get(line, np.nan) for line in lines]))
        content = text.split(b"\n")
        self.comments += [comment_text(content[line].partition(b"#")[2]) for line in lines]


def read_table(
    source: Source,
    *,
    groups: str | Path | Source | None = None,
    progress: Progress | None = None,
    with_costs: bool = False,
    ids: str | None = None,
) -> Table:
    """Read all rows of a file and find out which query each belongs to.

    groups: file with the number of documents in each query, for rows without ``qid:``; by default
    one beside the file, its name with .query or .group added. with_costs: allow ``cost:W`` after
    ``qid:Q``, as svm_proprank does, and keep comments. ids: pattern of document ids in comments,
    see `id_pattern`; None for the usual forms. Raises InputError if `load_corpus` does.
    """
    read_id = usual_id if ids is None else id_pattern(ids)
    found = _Gathered(source.name, source.room, read_id)
    without_features = 0
    for first_line, text in line_blocks(source, progress):
        plain = _COST.sub(_without_cost, text) if with_costs else text
        rows = read_rows(source.name, first_line, plain, found.with_queries, read_id)
        if rows is None:
            continue
        without_features += int(np.count_nonzero(rows.lengths == 0))
        ROWS_WITHOUT_FEATURES.require(without_features, source.name)
        found.add(first_line, rows)
        if with_costs:
            found.add_costs(source.name, first_line, rows, text)
    if not found.blocks:
        raise InputError(
            f"{source.name} has only blank lines and comments; "
            "give rows 'grade qid:ID id:value ...'.",
            "no_rows",
        )
    feature_ids = np.unique(np.concatenate([block.feature_ids for block in found.blocks]))
    if not len(feature_ids):
        raise InputError(
            f"{source.name} has no features in any row; give id:value pairs.", "no_features"
        )
    grades = np.concatenate(found.grades)
    if found.with_queries:
        if groups is not None:
            side = groups.name if isinstance(groups, Source) else groups
            raise InputError(
                f"{source.name} has query ids in its rows, so the group sizes in {named(side)} are "
                "not needed; leave them out.",
                "groups_not_needed",
            )
        query_of_row = np.concatenate(found.queries)
        query_ids = tuple(found.number_of)
    else:
        sizes = _group_sizes(source, groups, len(grades))
        query_of_row = np.repeat(np.arange(len(sizes)), sizes)
        query_ids = tuple(str(number) for number in range(1, len(sizes) + 1))
    documents = found.found_ids(query_of_row)
    return Table(
        name=source.name,
        blocks=found.blocks,
        grades=grades,
        query_ids=query_ids,
        query_of_row=query_of_row,
        document_ids=documents.ids,
        unread_ids=documents.unread,
        feature_ids=feature_ids,
        lines=np.concatenate(found.lines),
        zeroed=found.zeroed,
        costs=np.concatenate(found.costs) if with_costs else None,
        comments=found.comments if with_costs else None,
    )


def _without_cost(match: re.Match[bytes]) -> bytes:
    """Blanks in place of the cost, so that later columns stay where they are."""
    return match[1] + b" " * len(match[2])


def _costs_by_line(name: str, first_line: int, text: bytes) -> dict[int, float]:
    """The cost given in each line of a block, the block's first line being 0."""
    costs: dict[int, float] = {}
    line, seen = 0, 0
    for match in _COST.finditer(text):
        line += text.count(b"\n", seen, match.start(2))
        seen = match.start(2)
        cost = number_in_text(match[3].decode("ascii", errors="replace"))
        if not 0 <= cost <= _LARGEST_COST:
            raise InputError(
                f"{name}, line {first_line + line}: the cost is "
                f"{quoted(match[3].decode('utf-8', errors='replace'))}; give a number from 0 to "
                f"{_LARGEST_COST:g}, as in cost:2.5.",
                "not_a_cost",
            )
        costs[line] = cost
    return costs


def side_file(source: Source) -> Path | None:
    """The file of group sizes beside a file, if there is one that may be read."""
    inside = (file for file in _wanted_beside(source) if not _leads_out(source, file))
    return next((file for file in inside if fault_of(file) is None), None)


def _wanted_beside(source: Source) -> list[Path]:
    """Where the group sizes of a file may be."""
    if source.path is None:
        return []
    name = source.path.name.removesuffix(".gz")
    return [source.path.with_name(name + ending) for ending in GROUP_ENDINGS]


def _leads_out(source: Source, beside: Path) -> bool:
    return source.within is not None and not lies_within(beside, source.within)


def _none_beside(source: Source) -> str:
    """What is right for a file without query ids and without group sizes."""
    wanted = _wanted_beside(source)
    beside = f" {wanted[0].name} beside it" if wanted else ""
    out = next((file for file in wanted if _leads_out(source, file)), None)
    leads = ""
    if out is not None and source.within is not None:
        leads = (
            f", and {out.name} beside it is not read, because it is outside {named(source.within)}"
        )
    return (
        f"{source.name} has no query ids{leads}: give qid: after the grade in each row, as in '2 "
        f"qid:17 1:0.5', or a file{beside} with the number of documents in each query, one per "
        "line."
    )


def _group_sizes(
    source: Source, groups: str | Path | Source | None, rows: int
) -> NDArray[np.int64]:
    """Read the file with the number of documents in each query of a file without qid."""
    file = groups if groups is not None else side_file(source)
    if file is None:
        raise InputError(_none_beside(source), "no_query_ids")
    what = "The file of group sizes"
    sides = file if isinstance(file, Source) else Source.file(file, what, within=source.within)
    with expecting("groups", sides):
        sizes, total = _sizes(sides, rows)
    if total != rows:
        more = "at least " if total > rows else ""
        raise InputError(
            f"The sizes in {sides.name} add up to {more}{counted(total, 'document')}, and "
            f"{source.name} has {counted(rows, 'row')}; the two numbers must be equal.",
            "group_sizes_sum",
        )
    return np.array(sizes, np.int64)


def _sizes(sides: Source, rows: int) -> tuple[list[int], int]:
    """The sizes in a file and their sum, until there are more than rows."""
    sizes: list[int] = []
    total = 0
    for first_line, text in line_blocks(sides):
        for number, line in enumerate(
            text.decode("utf-8", errors="replace").split("\n")[:-1], first_line
        ):
            size = line.strip()
            if not size:
                continue
            if not (size.isascii() and size.isdigit()) or len(size) > 9 or int(size) == 0:
                raise InputError(
                    f"{sides.name}, line {number}: {quoted(size)} is not a number of documents; "
                    "give a whole number of 1 or more on each line, without a header.",
                    "not_a_group_size",
                )
            sizes.append(int(size))
            total += int(size)
            if total > rows:
                break
        if total > rows:
            break
    return sizes, total


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


def table_corpus(table: Table) -> Corpus:
    """Assemble the blocks, giving them up, and bring the rows of a query together."""
    filled = sum(count_filled(block.features) for block in table.blocks)
    dense = filled > DENSE_FROM_SHARE * table.rows * len(table.feature_ids)
    features: FeatureMatrix = _assemble_dense(table) if dense else _assemble_sparse(table)
    grades, documents, query = table.grades, table.document_ids, table.query_of_row
    order = None
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
        feature_ids=table.feature_ids,
        source_rows=order,
        notices=(*table.zeroed.notices(), *_apart(query, table)),
        unread_ids=table.unread_ids,
    )


def _apart(query: NDArray[np.int64], table: Table) -> tuple[str, ...]:
    """A sentence where rows of one query are in several blocks of the file."""
    blocks = np.append(True, np.diff(query) != 0)
    several = np.bincount(query[blocks], minlength=len(table.query_ids)) > 1
    apart = int(np.count_nonzero(several))
    if not apart:
        return ()
    return (
        f"{part_of(apart, several.size, 'query', 'queries')} rows in separate blocks, for example "
        f"query {quoted(table.query_ids[int(np.argmax(several))])}; each id was taken as one "
        "query.",
    )


def count_filled(features: FeatureMatrix) -> int:
    """Number of features that are not 0."""
    if isinstance(features, sparse.csr_array):
        return int(np.count_nonzero(features.data))
    return int(np.count_nonzero(features))


def _assemble_dense(table: Table) -> NDArray[np.float32]:
    """Fill one array block by block, giving up each block once it is copied."""
    features = np.zeros((table.rows, len(table.feature_ids)), np.float32)
    stop = table.rows
    while table.blocks:
        block = table.blocks.pop()
        columns = np.searchsorted(table.feature_ids, block.feature_ids)
        start = stop - block.features.shape[0]
        if isinstance(block.features, sparse.csr_array):
            entries = block.features.tocoo()
            features[start + entries.row, columns[entries.col]] = entries.data
        else:
            features[start:stop, columns] = block.features
        stop = start
    return features


def _assemble_sparse(table: Table) -> sparse.csr_array:
    """Stack the blocks after renumbering their columns, giving each up once it is renumbered."""
    parts = []
    while table.blocks:
        block = table.blocks.pop(0)
        part = sparse.csr_array(block.features)
        columns = np.searchsorted(table.feature_ids, block.feature_ids)
        parts.append(
            sparse.csr_array(
                (part.data, columns[part.indices], part.indptr),
                shape=(part.shape[0], len(table.feature_ids)),
            )
        )
    return sparse.csr_array(sparse.vstack(parts, format="csr"))
