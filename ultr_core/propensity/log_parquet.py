"""Click logs in Parquet files, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.corpus.letor_lines import Source
from ultr_core.errors import InputError, quoted
from ultr_core.files import GZIP_RATIO_FROM_BYTES, LARGEST_GZIP_RATIO
from ultr_core.propensity.log_blocks import Progress
from ultr_core.propensity.log_rows import WHOLE, CellBlock, IntArray, encoded

_ROWS_AT_ONCE = 1 << 18
_BYTES_PER_CELL = 4


@contextmanager
def parquet_file(source: Source) -> Iterator[Any]:
    """The opened Parquet file; raises InputError if it is damaged or made to fill a memory."""
    try:
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{source.name} is a Parquet file, and reading it needs the package pyarrow with "
            "Parquet support; install it or give a CSV file."
        ) from None
    try:
        with source.open() as stream:
            file = parquet.ParquetFile(stream)
            _require_plausible(file, source)
            yield file
    except (pa.ArrowException, OSError, EOFError, OverflowError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{source.name} is a damaged Parquet file; write or copy it again."
        ) from None


def _require_plausible(file: Any, source: Source) -> None:
    """Refuse what would unpack to far more than data ever do; raises InputError."""
    meta = file.metadata
    unpacked = sum(meta.row_group(g).total_byte_size for g in range(meta.num_row_groups))
    unpacked = max(unpacked, meta.num_rows * _BYTES_PER_CELL)
    if unpacked > max(GZIP_RATIO_FROM_BYTES, LARGEST_GZIP_RATIO * source.size):
        raise InputError(
            f"{source.name} unpacks to more than {LARGEST_GZIP_RATIO} times its size, which click "
            "logs never do; give it as CSV if it is one."
        )


def parquet_header(file: Any) -> list[str]:
    """Names of the columns."""
    return [str(name) for name in file.schema_arrow.names]


def parquet_blocks(
    file: Any, columns: Mapping[str, int], name: str, progress: Progress | None = None
) -> Iterator[CellBlock]:
    """Cells of the wanted columns as text, in batches; lines are rows counted from 1.

    Raises InputError for a column of lists or other values that have no text.
    """
    header = parquet_header(file)
    total = max(file.metadata.num_rows, 1)
    done = 0
    wanted = [header[place] for place in columns.values()]
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=wanted, use_threads=False):
        cells, whole = {}, {}
        for meaning, title in zip(columns, wanted, strict=True):
            column = batch.column(batch.schema.names.index(title))
            numbers = _numbers(column) if meaning in WHOLE else None
            if numbers is None:
                cells[meaning] = _as_text(column, title, name)
            else:
                whole[meaning] = numbers
        rows = batch.num_rows
        yield CellBlock(
            cells,
            np.arange(done + 1, done + rows + 1, dtype=np.int64),
            np.zeros(rows, dtype=bool),
            whole,
        )
        done += rows
        if progress is not None:
            progress(done / total)


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


def parquet_rows(file: Any, rows: int) -> list[tuple[str, ...]]:
    """The first rows as text, for a preview."""
    for batch in file.iter_batches(batch_size=max(rows, 1), use_threads=False):
        columns = [[_shown(value) for value in column.to_pylist()] for column in batch.columns]
        return list(zip(*columns, strict=True))
    return []


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _as_text(column: Any, title: str, name: str) -> Any:
    try:
        if pa.types.is_floating(column.type):
            column = _whole_if_possible(column)
        text = pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"The column {quoted(title)} of {name} holds {column.type}; numbers or text are needed."
        ) from None
    return encoded(pc.fill_null(text, ""))


def _whole_if_possible(column: Any) -> Any:
    """Whole numbers stored as floats, as they are where a column has gaps, as whole numbers."""
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return column
