"""What the pages of a Parquet file hold and unpack to, by their headers, before any is unpacked.

DuckDB reads the cells. It makes room for what a page's header says, and takes a page of fewer cells
than the footer says as it is, with what follows in the file for the rest. Footer and headers are
Thrift structures in the compact protocol (Parquet format, `FileMetaData` and `PageHeader`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import SEEK_END
from typing import IO, Any

from ultr_core.errors import InputError
from ultr_core.files.disk import most_unpacked
from ultr_core.limits import CELL_BYTES, FOOTER_BYTES, PAGE_BYTES, PAGES, UNPACKED_RATIO, Limit

_DICTIONARY_PAGE = 2
_OF_DATA = {5: 2, 8: 4}  # field of a data page's own header, field of the encoding in it
_OF_DICTIONARY = 7
_TAIL_BYTES = 8  # the length of the footer, and the mark at the end
_HEADER_BYTES = 1 << 12
_LARGEST_HEADER_BYTES = 1 << 20
_PER_CELL, _PER_PAGE = 16, 1 << 12  # lengths, levels and compression that cells come with


@dataclass(frozen=True)
class Page:
    """One page: whether it holds the dictionary, bytes unpacked, cells, and its encoding."""

    is_dictionary: bool
    size: int
    cells: int
    encoding: int


@dataclass
class Budget:
    """What the columns of a file unpack to so far, against what the file may unpack to.

    most: the bound besides that on how far a file of ``file_size`` bytes may grow.
    """

    name: str
    file_size: int
    most: Limit | None = None
    size: int = 0
    pages: int = 0

    def add(self, size: int) -> None:
        """Count unpacked bytes; raises InputError beyond what such a file may unpack to."""
        self.size += size
        if self.size > most_unpacked(self.file_size):
            raise UNPACKED_RATIO.exceeded(self.name)
        if self.most is not None and self.size > self.most.most:
            raise self.most.exceeded(f"{self.name}, unpacked,")

    def page(self, page: Page) -> None:
        """Count a page before it is unpacked; raises InputError for one beyond the bounds."""
        self.pages += 1
        PAGES.require(self.pages, self.name)
        PAGE_BYTES.require(page.size, f"A page of {self.name}")
        if page.size > page.cells * (CELL_BYTES.most + _PER_CELL) + _PER_PAGE:
            raise CELL_BYTES.exceeded(f"A cell of {self.name}")
        self.add(page.size)


@dataclass(frozen=True)
class Chunk:
    """The cells of one column in one group of rows: place of the bytes in the file, and cells."""

    start: int
    stop: int
    cells: int


@dataclass(frozen=True)
class Group:
    """One group of rows: how many, and the chunk of each column as they are stored."""

    rows: int
    chunks: tuple[Chunk, ...]


def groups_of(raw: IO[bytes], name: str) -> tuple[Group, ...]:
    """The groups of rows of a Parquet file as its footer gives them; raises as `_footer` does."""
    with _undamaged(name):
        return tuple(
            Group(int(group[3]), tuple(_chunk(column[3]) for column in group[1]))
            for group in _footer(raw, name)[4]
        )


def columns_of(raw: IO[bytes], name: str) -> tuple[str, ...]:
    """The names of the columns, of nested ones the outermost; raises as `_footer` does."""
    with _undamaged(name):
        _, *elements = _footer(raw, name)[2]  # the first is the whole table
        names, inside = [], 0
        for element in elements:
            if inside:
                inside -= 1
            else:
                names.append(element[4].decode("utf-8", "replace"))
            inside += element.get(5) or 0
        return tuple(names)


@contextmanager
def _undamaged(name: str) -> Iterator[None]:
    """Let what fails in a footer that lacks something be the error for a damaged file."""
    try:
        yield
    except (IndexError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(name) from None


def _footer(raw: IO[bytes], name: str) -> dict[int, Any]:
    """The fields of the footer.

    Raises InputError for one that is beyond the file or ``FOOTER_BYTES``; in `_undamaged`, for one
    that is none.
    """
    size = raw.seek(0, SEEK_END)
    raw.seek(max(size - _TAIL_BYTES, 0))
    length = int.from_bytes(raw.read(4), "little")
    FOOTER_BYTES.require(length, f"The footer of {name}")
    if length > size - _TAIL_BYTES:
        raise damaged(name)
    raw.seek(size - _TAIL_BYTES - length)
    return _Compact(raw.read(length)).struct()


def _chunk(meta: dict[int, Any]) -> Chunk:
    cells, size, start = int(meta[5]), int(meta[7]), int(meta[9])
    first = meta.get(11)
    start = first if first is not None and 0 < first < start else start
    if min(cells, size, start) < 0:
        raise ValueError("below 0")
    return Chunk(start, start + size, cells)


def pages_of(raw: IO[bytes], chunk: Chunk, name: str) -> Iterator[Page]:
    """The pages of a column chunk; raises InputError for headers that are none."""
    start, stop, cells = chunk.start, chunk.stop, 0
    while start < stop and cells < chunk.cells:
        fields, length = _header(raw, start, name)
        packed, size = fields.get(3), fields.get(2)
        if not (isinstance(packed, int) and isinstance(size, int) and packed >= 0 and size >= 0):
            raise damaged(name)
        page = _page(fields, size)
        if page is not None:
            if not (isinstance(page.cells, int) and page.cells >= 0):  # a header may lack it
                raise damaged(name)
            cells += 0 if page.is_dictionary else page.cells
            yield page
        start += length + packed


def require_pages(raw: IO[bytes], chunk: Chunk, rows: int, budget: Budget) -> None:
    """Check the pages of a column chunk against a budget and the rows that it is to have."""
    cells = 0
    for page in pages_of(raw, chunk, budget.name):
        budget.page(page)
        cells += 0 if page.is_dictionary else page.cells
    if cells != rows or chunk.cells != rows:
        raise damaged(budget.name)


def _page(fields: dict[int, Any], size: int) -> Page | None:
    own = fields.get(_OF_DICTIONARY)
    if fields.get(1) == _DICTIONARY_PAGE and isinstance(own, dict):
        return Page(True, size, own.get(1, 0), own.get(2, 0))
    for field, encoding in _OF_DATA.items():
        own = fields.get(field)
        if isinstance(own, dict):
            return Page(False, size, own.get(1, 0), own.get(encoding, 0))
    return None  # such as an index page, which readers pass over


def damaged(name: str) -> InputError:
    """The error for a file that is not a whole Parquet file."""
    return InputError(f"{name} is a damaged Parquet file; write or copy it again.")


def _header(raw: IO[bytes], start: int, name: str) -> tuple[dict[int, Any], int]:
    """Fields of the page header at a place of the file, and its length."""
    size = _HEADER_BYTES
    while size <= _LARGEST_HEADER_BYTES:
        raw.seek(start)
        reader = _Compact(raw.read(size))
        try:
            return reader.struct(), reader.place
        except IndexError:
            size *= 16
        except ValueError:
            break
    raise damaged(name)


class _Compact:
    """Structures in Thrift's compact protocol.

    Raises IndexError where the bytes end too early, ValueError for anything that is not a
    structure.
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Field numbers and values: numbers, truths, bytes, structures and lists; else None."""
        if depth > 8:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 12:
            return self.struct(depth + 1)
        if kind == 7:
            self._skip(8)
        elif kind == 8:
            size = self._plain()
            self._skip(size)
            return self.data[self.place - size : self.place]
        elif kind in (9, 10):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._plain()
            inner = head & 15
            if size > len(self.data) - self.place:  # each takes a byte or more
                raise IndexError
            return [
                self._byte() if inner in (1, 2) else self._value(inner, depth + 1)
                for _ in range(size)
            ]
        else:
            raise ValueError("no such kind of value")
        return None

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _skip(self, size: int) -> None:
        self.place += size
        if self.place > len(self.data):
            raise IndexError

    def _plain(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number too long")

    def _signed(self) -> int:
        value = self._plain()
        return (value >> 1) ^ -(value & 1)
