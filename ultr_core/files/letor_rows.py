"""Rows of a LETOR file: a fast reader of whole blocks, and a careful one that names faults.

A row is ``grade qid:ID id:value id:value ... # comment``. The fast reader works on all bytes of a
block at once and gives up (returns None) on anything out of the ordinary; the careful reader then
reads that block line by line, and either accepts it or names line, column and what is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.corpus.feature_matrix import LARGEST_FEATURE
from ultr_core.corpus.model import LARGEST_GRADE
from ultr_core.errors import InputError, quoted
from ultr_core.files.comment_ids import ReadId, usual_id
from ultr_core.words import counted


def comment_text(comment: bytes) -> str:
    """The text of a comment, with stand-ins for bytes that are not UTF-8."""
    return comment.decode("utf-8", errors="surrogateescape")


def name_in(match: re.Match[str]) -> str:
    """The first group of a match in such a text; raises UnicodeError if it contains a stand-in."""
    return _utf8(match[1])


def _utf8(name: str) -> str:
    if not name.isascii():
        name.encode("utf-8")
    return name


def document_id(comment: bytes, read: ReadId) -> str | None:
    """Read an id from a comment; raises UnicodeError for one that is not UTF-8."""
    name = read(comment_text(comment))
    return None if name is None else _utf8(name)


def document_ids(
    block: bytes, lines: NDArray[np.int64], read: ReadId
) -> tuple[list[str | None], list[str]]:
    """Read the id in the comment of each of the given lines of a block, and what else they hold.

    The texts of comments are only given where one of them has no id. Raises UnicodeError for an
    id that is not UTF-8; the rest of the comment is ignored.
    """
    if b"#" not in block:
        return [None] * len(lines), [""] * len(lines)
    texts = block.split(b"\n")
    comments = [texts[line].partition(b"#")[2] for line in lines.tolist()]
    found = [document_id(comment, read) for comment in comments]
    return found, _shown(comments) if None in found else []


def _shown(comments: Iterable[bytes]) -> list[str]:
    return [comment.decode("utf-8", errors="replace").strip() for comment in comments]


_MARK = Decimal(float(np.finfo(np.float64).max))
_NEAR = Decimal("1e-5")
MARKED_FROM = float(_MARK * (1 - _NEAR))
"""Istella's mark is the largest double, of either sign and in any spelling: rounded to six digits
or more it is 1.797685e308 at least, and may be beyond every double; what is between is no number
that a feature has."""


def is_mark(number: str) -> bool:
    """Whether the text of a number is that mark; for one that is infinite as a double."""
    try:
        return abs(abs(Decimal(number)) / _MARK - 1) <= _NEAR
    except ArithmeticError:  # beyond every decimal
        return False


SMALLEST_FEATURE = 2.0**-150
"""Sizes up to it, about 7e-46, become 0 in float32."""


@dataclass(frozen=True)
class Zeroed:
    """Values of one kind that are read as 0: how many, and the line and feature of the first."""

    count: int = 0
    line: int = 0
    feature: int = 0

    def __add__(self, later: Zeroed) -> Zeroed:
        """Both together; ``later`` is further down in the file."""
        return replace(self if self.count else later, count=self.count + later.count)

    def moved(self, lines: int) -> Zeroed:
        """The same, that many lines further down."""
        return replace(self, line=self.line + lines)

    def notices(self, reason: str) -> tuple[str, ...]:
        """One sentence if there is any; ``reason`` says what such a value is."""
        if not self.count:
            return ()
        which = "it is" if self.count == 1 else "the first is"
        return (
            f"{counted(self.count, 'value is', 'values are')} {reason}, so 0 was read instead; "
            f"{which} on line {self.line}, feature {self.feature}.",
        )


@dataclass(frozen=True)
class ReadAsZero:
    """Values of a file that are 0 in the corpus and not in the file."""

    missing: Zeroed = field(default_factory=Zeroed)
    small: Zeroed = field(default_factory=Zeroed)

    def __add__(self, later: ReadAsZero) -> ReadAsZero:
        """Both together; ``later`` is further down in the file."""
        return ReadAsZero(self.missing + later.missing, self.small + later.small)

    def moved(self, lines: int) -> ReadAsZero:
        """The same, that many lines further down."""
        return ReadAsZero(self.missing.moved(lines), self.small.moved(lines))

    def notices(self) -> tuple[str, ...]:
        """One sentence for each kind that there is."""
        return (
            *self.missing.notices("±1.797693e+308, Istella's mark for a missing value"),
            *self.small.notices(f"within ±{SMALLEST_FEATURE:.0e}, too small for float32"),
        )

    @classmethod
    def of(cls, value: float, feature: int) -> ReadAsZero | None:
        """What one value in line 0 is read as 0 for; None for one that is not."""
        if abs(value) >= MARKED_FROM:
            return cls(missing=Zeroed(1, 0, feature))
        if 0 < abs(value) <= SMALLEST_FEATURE:
            return cls(small=Zeroed(1, 0, feature))
        return None


def take_out(
    numbers: NDArray[np.float64],
    ids: NDArray[Any],
    lengths: NDArray[np.int64],
    lines: NDArray[np.int64],
) -> ReadAsZero:
    """Set values that are read as 0 to 0 in place, and say how many there were and where.

    numbers, ids: [entries] in the order of the text. lengths, lines: [rows] entries and line.
    """
    size = np.abs(numbers)
    ends = np.cumsum(lengths)

    def taken_out(entries: NDArray[np.intp]) -> Zeroed:
        if not entries.size:
            return Zeroed()
        numbers[entries] = 0.0
        line = lines[np.searchsorted(ends, entries[0], side="right")]
        return Zeroed(entries.size, int(line), int(ids[entries[0]]))

    marked = np.flatnonzero((size >= MARKED_FROM) & np.isfinite(size))
    small = np.flatnonzero((size <= SMALLEST_FEATURE) & (size > 0))
    return ReadAsZero(taken_out(marked), taken_out(small))


_PATTERN = "'grade qid:ID id:value id:value ...'"
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FEATURE_ID = re.compile(r"\d{1,18}", re.ASCII)
_LINE_OF_CONTENT = re.compile(rb"^[ \t]*+[^ \t\n#][^\n]*", re.MULTILINE)
_TOKEN = re.compile(r"[^ \t]+")
_COMMENT = re.compile(rb"#[^\n]*")
_LATE_QUERY = re.compile(r"[ \t](qid:[^ \t]*)")

_BLANK, _INSIDE = b"\0", b"\1"
_IS_INSIDE = bytes(_BLANK[0] if byte in b" \t\n" else _INSIDE[0] for byte in range(256))
_USUAL = b" \t\n" + bytes(range(33, 127))
_MOST_DIGITS = 9  # of a feature id, so that it fits int32


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents of a block of lines.

    Attributes:
        grades: int16 [rows].
        queries: query id of each row, or None when no row has one.
        documents: document id of each row, None where its comment gives none.
        comments: text of each row's comment, "" for none; empty where each row has an id.
        lengths: int64 [rows] number of features given in each row.
        ids: int64 or int32 [entries] feature ids, rising within a row.
        values: float32 [entries].
        lines: int64 [rows] number of the line of each row, the block's first being 0.
        zeroed: values of the file that are 0 here; its lines count as ``lines`` do.

    """

    grades: NDArray[np.int16]
    queries: list[str] | None
    documents: list[str | None]
    comments: list[str]
    lengths: NDArray[np.int64]
    ids: NDArray[np.integer]
    values: NDArray[np.float32]
    lines: NDArray[np.int64]
    zeroed: ReadAsZero


def read_rows(
    name: str,
    first_line: int,
    block: bytes,
    with_queries: bool | None,
    read_id: ReadId = usual_id,
) -> Rows | None:
    r"""Read the rows of a block of whole lines.

    Args:
        name: of the file, for messages.
        first_line: number of the block's first line.
        block: lines that end in ``\n``.
        with_queries: whether rows have ``qid:``; None when no row was seen before.
        read_id: how ids are read from comments.

    Returns:
        The rows, or None if the block has blank lines and comments only.

    Raises:
        InputError: the first fault of the block, with file, line and column.

    """
    rows = _read_fast(block, read_id)
    if rows is None or (with_queries is not None and (rows.queries is not None) != with_queries):
        rows = _read_carefully(name, first_line, block, with_queries, read_id)
    return rows if len(rows.grades) else None


def _read_fast(block: bytes, read_id: ReadId) -> Rows | None:
    """Read a block with array operations; None if anything in it is unusual."""
    data = b"\n" + (_COMMENT.sub(b"", block) if b"#" in block else block)
    if data.translate(None, _USUAL):
        return None
    text = np.frombuffer(data, np.uint8)
    inside = np.frombuffer(data.translate(_IS_INSIDE), np.uint8)
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    # The first token of each line; a line without tokens has the same one as the next line.
    first = np.searchsorted(starts, np.flatnonzero(text == ord("\n")))
    lines = np.flatnonzero(np.diff(first))
    tokens, first = np.diff(first)[lines], first[lines]

    grades = _fast_grades(data, starts[first], ends[first])
    found = _fast_queries(data, text, starts, ends, first, tokens)
    if grades is None or found is None:
        return None
    queries, is_feature, colons = found
    starts, ends = starts[is_feature], ends[is_feature]
    # One colon in each token, neither first nor last, is all that the layout asks for.
    if len(colons) != len(starts) or not (starts < colons).all() or not (colons < ends - 1).all():
        return None
    ids = _fast_ids(text, starts, colons)
    numbers = _fast_numbers(text, colons + 1, ends)
    if ids is None or numbers is None:
        return None
    lengths = tokens - (1 if queries is None else 2)
    zeroed = take_out(numbers, ids, lengths, lines)
    values = _within_float32(numbers)
    ordered = None if values is None else _in_rising_order(ids, values, lengths)
    if ordered is None:
        return None
    try:
        documents, comments = document_ids(block, lines, read_id)
    except UnicodeError:
        return None
    return Rows(grades, queries, documents, comments, lengths, *ordered, lines, zeroed)


def _fast_grades(
    data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int16] | None:
    """Read the first tokens as grades; few different ones occur, so each is read once."""
    known: dict[bytes, int] = {}
    grades = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        token = data[start:end]
        grade = known.get(token)
        if grade is None:
            grade = _whole_grade(token.decode("ascii"))
            if grade is None:
                return None
            known[token] = grade
        grades.append(grade)
    return np.array(grades, np.int16)


def _fast_queries(
    data: bytes,
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: NDArray[np.int64],
    tokens: NDArray[np.int64],
) -> tuple[list[str] | None, NDArray[np.bool_], NDArray[np.int64]] | None:
    """Find query ids; return them with the mask of feature tokens and the colons in these."""
    is_feature = np.ones(len(starts), np.bool_)
    is_feature[first] = False
    colons = np.flatnonzero(text == ord(":"))
    if b"qid:" not in data:
        return None, is_feature, colons
    if (tokens < 2).any():
        return None
    second = first + 1
    begin, end = starts[second], ends[second]
    if (end - begin < 5).any():
        return None
    if not all((text[begin + k] == byte).all() for k, byte in enumerate(b"qid:")):
        return None
    own = np.searchsorted(colons, begin)
    if (np.searchsorted(colons, end) - own != 1).any():
        return None
    is_feature[second] = False
    queries = [
        data[a:b].decode("ascii") for a, b in zip((begin + 4).tolist(), end.tolist(), strict=True)
    ]
    return queries, is_feature, np.delete(colons, own)


def _fast_ids(
    text: NDArray[np.uint8], starts: NDArray[np.int64], colons: NDArray[np.int64]
) -> NDArray[np.int32] | None:
    """Read the digits from each start to its colon; None if there are others or too many."""
    digits = colons - starts
    ids = np.zeros(len(starts), np.int32)
    most = int(digits.max(initial=0))
    if most > _MOST_DIGITS:
        return None
    fewest = int(digits.min(initial=0))
    for place in range(most):
        digit = text[colons - (1 + place)] - np.uint8(ord("0"))
        if place >= fewest:
            digit[digits <= place] = 0
        if (digit > 9).any():
            return None
        ids += digit * np.int32(10**place)
    return ids


def _fast_numbers(
    text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Read the numbers between starts and ends; None if one is none."""
    change = np.zeros(len(text), np.int8)
    change[starts] = 1
    change[ends] = -1
    characters = text[np.cumsum(change, dtype=np.int8).view(np.bool_)]
    offsets = np.zeros(len(starts) + 1, np.int32)
    np.cumsum(ends - starts, out=offsets[1:])
    strings = pa.StringArray.from_buffers(
        len(starts), pa.py_buffer(offsets), pa.py_buffer(characters)
    )
    try:
        numbers: NDArray[np.float64] = strings.cast(pa.float64()).to_numpy(
            zero_copy_only=False, writable=True
        )
    except pa.ArrowInvalid:
        return None
    return numbers


def _within_float32(numbers: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Bring numbers to float32; None if one does not fit."""
    # A number beyond float32 becomes infinite here.
    with np.errstate(over="ignore"):
        values: NDArray[np.float32] = numbers.astype(np.float32)
    return values if np.isfinite(values).all() else None


def _in_rising_order(
    ids: NDArray[np.integer], values: NDArray[np.float32], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.integer], NDArray[np.float32]] | None:
    """Sort the entries of each row by feature id; None if a row has an id twice."""
    rises = np.diff(ids) > 0
    starts = np.cumsum(lengths)[:-1]
    starts = starts[(starts > 0) & (starts < len(ids))]
    rises[starts - 1] = True
    if rises.all():
        return ids, values
    row = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((ids, row))
    ids, values = ids[order], values[order]
    if ((np.diff(ids) == 0) & (np.diff(row) == 0)).any():
        return None
    return ids, values


def _whole_grade(token: str) -> int | None:
    """Read a grade, a whole number from 0 to the largest int16, also written as 2.0."""
    if not _NUMBER.fullmatch(token):
        return None
    number = float(token)
    return int(number) if 0 <= number <= LARGEST_GRADE and number.is_integer() else None


def _read_carefully(
    name: str, first_line: int, block: bytes, with_queries: bool | None, read_id: ReadId
) -> Rows:
    """Read a block line by line; refuse the first fault, naming its place."""
    grades: list[int] = []
    queries: list[str] = []
    documents: list[str | None] = []
    comments: list[bytes] = []
    lengths: list[int] = []
    ids: list[int] = []
    values: list[float] = []
    lines: list[int] = []
    zeroed = ReadAsZero()
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    # Millions of blank lines fit into a small packed file: they are passed over at once.
    for line in _LINE_OF_CONTENT.finditer(block):
        number = int(np.searchsorted(ends, line.start()))
        content, _, comment = line[0].partition(b"#")
        text = content.decode("utf-8", errors="replace")
        # One token at a time: a long line of them would take fifty times its size.
        tokens = _TOKEN.finditer(text)
        first = next(tokens, None)
        if first is None:
            continue
        place = f"{name}, line {first_line + number}"
        grades.append(_careful_grade(place, first))
        second = next(tokens, None)
        has_query = second is not None and second[0].startswith("qid:")
        if with_queries is None:
            with_queries = has_query
        _require_query(place, text, second, with_queries)
        rest = [second] if second is not None and not has_query else []
        if has_query and second is not None:
            queries.append(second[0].removeprefix("qid:"))
        entries, none = _careful_entries(place, chain(rest, tokens))
        zeroed += none.moved(number)
        try:
            content.decode("utf-8")  # only the query id can still be none
            documents.append(document_id(comment, read_id))
        except UnicodeError:
            raise InputError(f"{place} is not UTF-8 text; save it as UTF-8.", "not_utf8") from None
        comments.append(comment)
        lengths.append(len(entries))
        ids.extend(entries)
        values.extend(entries.values())
        lines.append(number)
    return Rows(
        np.array(grades, np.int16),
        queries if with_queries else None,
        documents,
        _shown(comments) if None in documents else [],
        np.array(lengths, np.int64),
        np.array(ids, np.int64),
        np.array(values, np.float32),
        np.array(lines, np.int64),
        zeroed,
    )


def _careful_grade(place: str, token: re.Match[str]) -> int:
    """Read the first token of a line."""
    grade = _whole_grade(token[0])
    if grade is None:
        raise InputError(
            f"{place}, column {token.start() + 1}: {quoted(token[0])} is not a grade; each row has "
            f"the form {_PATTERN} and begins with a whole number from 0 to {LARGEST_GRADE}.",
            "not_a_grade",
        )
    return grade


def _require_query(place: str, text: str, second: re.Match[str] | None, with_queries: bool) -> None:
    """Refuse a row that has no query id where others have one, or an empty or second one."""
    has_query = second is not None and second[0].startswith("qid:")
    if has_query and not with_queries:
        raise InputError(
            f"{place} has 'qid:' but earlier rows do not; give it in every row or in none.",
            "qid_in_some_rows",
        )
    late = None if second is None else _LATE_QUERY.search(text, second.end())
    if late is not None:
        raise InputError(
            f"{place}, column {late.start(1) + 1}: {quoted(late[1])} must come directly after the "
            f"grade and only once; each row has the form {_PATTERN}.",
            "qid_place",
        )
    if not has_query and with_queries:
        raise InputError(
            f"{place} has no 'qid:' after the grade, but earlier rows have it; each row needs it: "
            f"{_PATTERN}.",
            "qid_in_some_rows",
        )
    if second is not None and second[0] == "qid:":
        raise InputError(
            f"{place}, column {second.start() + 1}: no query id follows 'qid:'; "
            "write it without a space, as in qid:17.",
            "qid_empty",
        )


def _careful_entries(
    place: str, tokens: Iterable[re.Match[str]]
) -> tuple[dict[int, float], ReadAsZero]:
    """Read feature tokens; return values by rising feature id, and which are read as 0."""
    entries: dict[int, float] = {}
    zeroed = ReadAsZero()
    for token in tokens:
        at = f"{place}, column {token.start() + 1}"
        name, colon, number = token[0].partition(":")
        if name == "cost" and colon:
            raise InputError(
                f"{at}: {quoted(token[0])} belongs to an svm_proprank training file, which is not "
                "a corpus; convert it to a corpus first.",
                "cost_in_corpus",
            )
        if not colon or not _FEATURE_ID.fullmatch(name):
            raise InputError(
                f"{at}: {quoted(token[0])} is not a feature; write id:value, where the id is a "
                "whole number of 0 or more, as in 12:0.5.",
                "not_a_feature",
            )
        feature = int(name)
        if feature in entries:
            raise InputError(
                f"{at}: feature {feature} occurs twice in this row; give each id once.",
                "feature_twice",
            )
        entries[feature] = _careful_value(at, feature, number)
        none = ReadAsZero.of(entries[feature], feature)
        if none is not None:
            entries[feature] = 0.0
            zeroed += none
    return dict(sorted(entries.items())), zeroed


def _careful_value(at: str, feature: int, number: str) -> float:
    """Read the value of a feature, a finite number within float32 or the mark of a missing one."""
    if not _NUMBER.fullmatch(number):
        raise InputError(
            f"{at}: the value of feature {feature} is {quoted(number)}; "
            "give a finite number, as in 12:0.5.",
            "feature_value",
        )
    value = float(number)
    with np.errstate(over="ignore"):
        in_range = np.isfinite(np.float32(value)) or abs(value) >= MARKED_FROM
    if not in_range or (math.isinf(value) and not is_mark(number)):
        raise InputError(
            f"{at}: the value of feature {feature} is {quoted(number)}, beyond "
            f"±{LARGEST_FEATURE:.3g}, the range of float32; scale this feature down.",
            "feature_range",
        )
    return value
