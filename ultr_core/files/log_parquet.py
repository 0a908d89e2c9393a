"""Click logs in Parquet files, a batch of rows at a time, each bounded before it is unpacked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.errors import InputError, one_line, quoted
from ultr_core.files.letor_lines import Source
from ultr_core.files.log_blocks import Progress
from ultr_core.files.log_rows import NAMES, WHOLE, CellBlock, IntArray, encoded
from ultr_core.files.parquet_pages import Budget, ColumnPages, damaged, groups_of, require_pages
from ultr_core.limits import CELL_BYTES, COLUMNS

_ROWS_AT_ONCE = 1 << 18
_BATCH_BYTES = 1 << 25
_BYTES_PER_CELL = 4
LONGEST_SHOWN, _LONGEST_TYPE = 1_000, 60  # characters of a cell in a preview, of a type


@contextmanager
def parquet_file(source: Source, by_dictionary: Collection[str] = ()) -> Iterator[Any]:
    """The opened Parquet file; raises InputError if it is damaged.

    by_dictionary: columns of text whose cells are given by their place among the different ones.
    """
    try:
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{source.name} is a Parquet file, and reading it needs the package pyarrow with "
            "Parquet support; install it or give a CSV file."
        ) from None
    try:
        with source.open() as stream:
            yield parquet.ParquetFile(stream, read_dictionary=list(by_dictionary))
    # An index out of range: the schema and a group of rows disagree on the columns.
    except (pa.ArrowException, OSError, EOFError, OverflowError, IndexError, ValueError) as error:
        if isinstance(error, InputError | MemoryError):
            raise
        raise damaged(source.name) from None


def parquet_header(file: Any, name: str) -> list[str]:
    """Names of the columns; raises InputError for more than ``COLUMNS``."""
    COLUMNS.require(file.metadata.num_columns, name)
    return [str(title) for title in file.schema_arrow.names]


def _leaves(file: Any) -> dict[str, list[int]]:
    """By path, the places of the columns as they are stored."""
    found: dict[str, list[int]] = {}
    for place in range(file.metadata.num_columns):
        found.setdefault(file.schema.column(place).path, []).append(place)
    return found


def _is_flat(file: Any, title: str, leaves: list[int]) -> bool:
    """Whether each row of the columns of that name has one cell; ``leaves`` are stored for them."""
    schema = file.schema_arrow
    types = [schema.field(place).type for place in schema.get_all_field_indices(title)]
    return len(leaves) == len(types) and not any(map(pa.types.is_nested, map(_stored, types)))


def _stored(kind: Any) -> Any:
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind


def parquet_blocks(
    source: Source, columns: Mapping[str, int], progress: Progress | None = None
) -> Iterator[CellBlock]:
    """Cells of the wanted columns as text, in batches; lines are rows counted from 1.

    What the columns unpack to is known from the headers of their pages before one is unpacked,
    and is counted again while they are read. Raises InputError for a column of lists or other
    values that have no text, and for a file beyond the bounds.
    """
    with parquet_file(source) as file:
        header = parquet_header(file, source.name)
        wanted = [header[place] for place in columns.values()]
        by_dictionary, at_once = _how_to_read(file, source, wanted)
        total = max(file.metadata.num_rows, 1)
    budget, done = Budget(source.name, source.size, source.room.unpacked), 0
    cleaned = {title: _Cleaned() for title in wanted}
    with parquet_file(source, by_dictionary) as file:
        for batch in _batches(file, wanted, at_once):
            cells, whole = {}, {}
            for meaning, title in zip(columns, wanted, strict=True):
                column = batch.column(batch.schema.names.index(title))
                by_code = pa.types.is_dictionary(column.type)
                if not (by_code or pa.types.is_primitive(column.type)):
                    budget.add(column.nbytes)
                numbers = _numbers(column) if meaning in WHOLE else None
                if numbers is not None:
                    whole[meaning] = numbers
                    continue
                try:
                    texts = cleaned[title].of(column) if by_code else encoded(_as_text(column))
                except UnicodeError:
                    raise InputError(
                        f"The column {quoted(title)} of {source.name} has text that is no UTF-8; "
                        "write it as UTF-8."
                    ) from None
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    raise _no_text(column.type, title, source.name) from None
                cells[meaning] = texts if meaning in NAMES else _used(texts)
            rows = batch.num_rows
            lines = np.arange(done + 1, done + rows + 1, dtype=np.int64)
            yield CellBlock(cells, lines, np.zeros(rows, dtype=bool), whole)
            done += rows
            if progress is not None:
                progress(done / total)


def _how_to_read(file: Any, source: Source, wanted: list[str]) -> tuple[list[str], int]:
    """The columns that are read by dictionary, and how many rows may be read at once."""
    meta, leaves = file.metadata, _leaves(file)
    source.room.rows.require(meta.num_rows, source.name)
    budget = Budget(source.name, source.size, source.room.unpacked)
    budget.add(meta.num_rows * len(wanted) * _BYTES_PER_CELL)
    budget.size = 0
    by_dictionary, densest = [], 1.0
    with source.open() as raw:
        groups = groups_of(raw, source.name)
        for title in wanted:
            if not _is_flat(file, title, leaves.get(title, [])):
                kind = file.schema_arrow.field(title).type
                raise _no_text(kind, title, source.name)
            (leaf,) = leaves[title]
            stored = file.schema.column(leaf)
            found = require_pages(raw, (group.chunks[leaf] for group in groups), budget)
            if stored.physical_type == "FIXED_LEN_BYTE_ARRAY":
                CELL_BYTES.require(stored.length, f"Each cell of the column {quoted(title)}")
                densest += stored.length
            elif stored.physical_type == "BYTE_ARRAY" and found.by_dictionary:
                by_dictionary.append(title)
            else:
                densest += found.densest
    return by_dictionary, int(min(_ROWS_AT_ONCE, max(_BATCH_BYTES // densest, 1)))


def _batches(file: Any, wanted: list[str], at_once: int) -> Iterator[Any]:
    """Record batches of one row group after the other; small ones are put together."""
    for group in range(file.num_row_groups):
        held: list[Any] = []
        size = 0
        for batch in file.iter_batches(
            batch_size=at_once, row_groups=[group], columns=wanted, use_threads=False
        ):
            held.append(batch)
            size += batch.nbytes
            if sum(part.num_rows for part in held) >= _ROWS_AT_ONCE or size >= _BATCH_BYTES:
                yield _together(held)
                held, size = [], 0
        if held:
            yield _together(held)


def _together(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return table.to_batches()[0]


class _Cleaned:
    """The names of a column that is read by dictionary, trimmed once for each dictionary."""

    def __init__(self) -> None:
        self._raw: Any = None
        self._names: Any = None
        self._codes: Any = None

    def of(self, column: Any) -> Any:
        """The column with trimmed names, each once, and "" where it has no value."""
        raw = column.dictionary
        if self._raw is None or not self._raw.equals(raw):
            texts = pc.utf8_trim_whitespace(_checked(pc.cast(raw, pa.string())))
            once = pa.concat_arrays([texts, pa.array([""])]).dictionary_encode()
            self._raw, self._names, self._codes = raw, once.dictionary, once.indices
        codes = self._codes.take(pc.fill_null(column.indices.cast(pa.int32()), len(raw)))
        return pa.DictionaryArray.from_arrays(codes, self._names)


def _used(column: Any) -> Any:
    """A dictionary array without the names that no row has."""
    places = pc.unique(column.indices)
    again = np.zeros(len(column.dictionary), dtype=np.int32)
    again[places.to_numpy()] = np.arange(len(places), dtype=np.int32)
    codes = pa.array(again[column.indices.to_numpy()])
    return pa.DictionaryArray.from_arrays(codes, column.dictionary.take(places))


def _numbers(column: Any) -> IntArray | None:
    """Whole numbers or truths of a column, int64 [rows]; None if any is something else."""
    kind = column.type
    if column.null_count or not len(column):
        return None
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return None
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    # Beyond this, whole numbers are told by their text.
    plain = values.dtype == np.bool_ or (values.min() >= 0 and values.max() < 2**53)
    return values.astype(np.int64) if plain else None


def parquet_rows(source: Source, header: list[str], rows: int) -> list[tuple[str, ...]]:
    """The first rows as text, for a preview; long cells are cut short.

    A column of lists, or of cells of a fixed length beyond ``CELL_BYTES``, shows the type of its
    values instead.
    """
    budget = Budget(source.name, source.size, source.room.unpacked)
    readable: dict[str, ColumnPages] = {}
    with parquet_file(source) as file, source.open() as raw:
        leaves, groups = _leaves(file), groups_of(raw, source.name)
        number = next((n for n, group in enumerate(groups) if group.rows > 0), None)
        if number is None:
            return []
        rows = min(max(rows, 1), groups[number].rows)
        types = [str(kind) for kind in file.schema_arrow.types]
        for title in dict.fromkeys(header):
            own = leaves.get(title, [])
            stored = [file.schema.column(leaf) for leaf in own]
            short = all(
                column.physical_type != "FIXED_LEN_BYTE_ARRAY" or column.length <= CELL_BYTES.most
                for column in stored
            )
            if short and _is_flat(file, title, own):
                chunks = [groups[number].chunks[leaf] for leaf in own]
                readable[title] = require_pages(raw, chunks, budget, rows)
                # Only text can be read by dictionary.
                readable[title].by_dictionary &= all(
                    column.physical_type == "BYTE_ARRAY" for column in stored
                )
    by_dictionary = [title for title, pages in readable.items() if pages.by_dictionary]
    columns: list[list[str]] = []
    with parquet_file(source, by_dictionary) as file:
        for place, title in enumerate(header):
            if title not in readable:
                columns.append([f"({one_line(types[place])[:_LONGEST_TYPE]})"] * rows)
                continue
            # One column at a time, so that the pages of one are in memory.
            batches = file.iter_batches(
                batch_size=rows, row_groups=[number], columns=[title], use_threads=False
            )
            batch = next(batches, None)
            if batch is None:
                raise damaged(source.name)
            columns.append(_shown(batch.column(header[:place].count(title))))
    if len({len(column) for column in columns}) > 1:  # as where a page says that it has more
        raise damaged(source.name)
    return list(zip(*columns, strict=True))


def _shown(column: Any) -> list[str]:
    values = (cell.as_py() for cell in column)
    return ["" if value is None else str(value)[:LONGEST_SHOWN] for value in values]


def _as_text(column: Any) -> Any:
    if pa.types.is_floating(column.type):
        column = _whole_if_possible(column)
    return _checked(pc.fill_null(pc.cast(column, pa.string()), ""))


def _checked(texts: Any) -> Any:
    """The texts, which pyarrow takes from a file as they are; raises UnicodeError."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise UnicodeError(str(error)) from None
    return texts


def _no_text(kind: Any, title: str, name: str) -> InputError:
    return InputError(
        f"The column {quoted(title)} of {name} holds {one_line(str(kind))[:_LONGEST_TYPE]}; "
        "numbers or text are needed."
    )


def _whole_if_possible(column: Any) -> Any:
    """Whole numbers stored as floats, as they are where a column has gaps, as whole numbers."""
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return column
