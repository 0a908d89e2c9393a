"""Click logs with a known truth, and the faults of real logs, each at three strengths.

Users examine rank r with probability 1 / r and click with noise; two rankers and random swaps of
rank 1 move documents. A kind of dirt takes clean rows and returns the files that a user would
provide, with the user's answers to any questions about them.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
from numpy.typing import NDArray

from ultr_core.users import PositionModel, PowerLaw

RANKS = 6
STRENGTHS = ("weak", "middle", "strong")
USERS = PositionModel(PowerLaw(1.0), eps_plus=0.9, eps_minus=0.1)
FORMS = ("csv", "jsonl", "csv", "csv", "parquet")

_QUERIES, _SHARED_DOCUMENTS, _CANDIDATES = 200, 300, 9
_FIRST_ID = 731_400_001_234_500_000  # of 18 digits, as databases give them
_WORDS = ("red", "lamp", "café", "winter", "boots", "müsli", "cheap", "phone", "desk", "crème")

Cells = NDArray[Any]
Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a log as text by column, each [rows]."""

    columns: Mapping[str, Cells]

    def __len__(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Cells:
        """The cells of a column."""
        return self.columns[name]

    def taken(self, rows: Cells) -> Rows:
        """Some of the rows, by their numbers or as a mask."""
        return Rows({name: cells[rows] for name, cells in self.columns.items()})

    def having(self, **cells: Cells) -> Rows:
        """The rows with columns replaced or added."""
        return Rows({**self.columns, **cells})

    def without(self, *names: str) -> Rows:
        """The rows without some columns, which need not exist."""
        return Rows({name: cells for name, cells in self.columns.items() if name not in names})

    def renamed(self, **names: str) -> Rows:
        """The rows with columns renamed, old=new."""
        return Rows({names.get(name, name): cells for name, cells in self.columns.items()})

    def repeated(self, times: Cells) -> Rows:
        """Each row several times, one after the other."""
        return self.taken(np.repeat(np.arange(len(self)), times))


@dataclass(frozen=True)
class Dirty:
    """Files as a user would provide them.

    answers: by the key of what is asked, meanings of columns or values of ``READING_FIELDS``.
    """

    files: tuple[bytes, ...]
    clicks: bytes | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Dirt:
    """One kind of dirt.

    make: the dirty files from clean rows, a strength from 0 and a stream. keys: of the checks
    whose warning names this cause.
    """

    name: str
    make: Callable[[Rows, int, Random], Dirty]
    keys: tuple[str, ...]


ANSWERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"first_position": {"first_position": "1"}, "clicks_once": {"clicks_once": True}}
)
"""What is true of every log here unless its dirt says otherwise."""


@lru_cache(4)
def clean_rows(seed: int, presentations: int = 4_000, *, searched_again: float = 0.0) -> Rows:
    """Rows of a log without dirt; those of odd seeds record which rank was swapped with rank 1.

    Most queries have lists of ``RANKS``, and some have shorter lists; queries share documents.
    searched_again: the share of presentations that repeat the previous query.
    """
    random = np.random.default_rng([seed, 1])
    candidates = np.stack(
        [random.permutation(_SHARED_DOCUMENTS)[:_CANDIDATES] for _ in range(_QUERIES)]
    )
    relevance = (random.random(candidates.shape) < 0.4).astype(float)
    scores = relevance[None] + random.normal(size=(2, *candidates.shape))
    orders = np.argsort(-scores, axis=2)[:, :, :RANKS]
    length = np.where(random.random(_QUERIES) < 0.15, 4, RANKS)

    frequency = 1.0 / (np.arange(_QUERIES) + 10)
    query: Cells = random.choice(_QUERIES, presentations, p=frequency / frequency.sum())
    visits = random.integers(1, 8, presentations)
    session = np.repeat(np.arange(presentations), visits)[:presentations]
    again = (random.random(presentations) < searched_again) & (np.diff(session, prepend=-1) == 0)
    for place in np.flatnonzero(again):
        query[place] = query[place - 1]
    ranker = random.integers(0, 2, presentations)
    swap = random.integers(1, RANKS + 1, presentations)
    lists = orders[ranker, query].copy()
    swapped = np.flatnonzero(swap <= length[query])
    lists[swapped, 0], lists[swapped, swap[swapped] - 1] = (
        lists[swapped, swap[swapped] - 1], lists[swapped, 0].copy(),
    )  # fmt: skip

    shown = np.arange(RANKS)[None, :] < length[query][:, None]
    which, spot = (np.asarray(each) for each in np.nonzero(shown))
    of_query, candidate = query[which], lists[which, spot]
    chance = USERS.click_probability(relevance[of_query, candidate], spot + 1)
    click = random.random(which.size) < chance
    names = np.array([query_name(number) for number in range(_QUERIES)], dtype=object)
    rows: dict[str, Cells] = {
        "session": _text(10_000 + session[which]),
        "presentation": _text(500_000 + 7 * which),
        "query": names[of_query],
        "document": _text(_FIRST_ID + candidates[of_query, candidate]),
        "position": _text(spot + 1),
        "ranker": np.where(ranker[which] == 0, "A", "B").astype(object),
        "click": _text(click.astype(int)),
    }
    if seed % 2:
        noted = np.where(swap <= length[query], swap, 0)[which]
        rows["swapped_rank"] = np.where(noted > 0, _text(noted), "").astype(object)
    return Rows(rows)


def query_name(number: int) -> str:
    """Text of a query; about a third have letters beyond ASCII.

    >>> query_name(3)
    'winter red 3'
    """
    return f"{_WORDS[number % 10]} {_WORDS[number // 10 % 10]} {number}"


def written(rows: Rows, form: str = "csv", *, delimiter: str = ",") -> bytes:
    """The rows as CSV, JSON lines or Parquet; whole numbers of up to 15 digits are numbers."""
    if form == "csv":
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        writer.writerow(rows.columns)
        writer.writerows(zip(*rows.columns.values(), strict=True))
        return out.getvalue().encode()
    typed = {name: _typed(cells) for name, cells in rows.columns.items()}
    if form == "jsonl":
        lines = (
            json.dumps(dict(zip(typed, values, strict=True)), ensure_ascii=False)
            for values in zip(*typed.values(), strict=True)
        )
        return "\n".join(lines).encode()
    stream = io.BytesIO()
    parquet.write_table(pa.table(typed), stream)
    return stream.getvalue()


def _typed(cells: Cells) -> list[Any]:
    if all(text.isdigit() and len(text) <= 15 and text.isascii() for text in set(cells)):
        return [int(text) for text in cells]
    return list(cells)


def _text(numbers: Cells) -> Cells:
    return numbers.astype(str).astype(object)


def _ints(cells: Cells) -> NDArray[np.int64]:
    return cells.astype(str).astype(np.int64)


def _clicked(rows: Rows) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = rows["click"] == "1"
    return found


def _lists(rows: Rows, share: float, random: Random) -> NDArray[np.bool_]:
    """The rows in a share of the presentations."""
    number = np.cumsum(np.diff(_ints(rows["presentation"]), prepend=-1) != 0) - 1
    chosen: NDArray[np.bool_] = (random.random(number[-1] + 1) < share)[number]
    return chosen


def _any_form(rows: Rows, random: Random) -> Dirty:
    return Dirty((written(rows, FORMS[int(random.integers(len(FORMS)))]),))


def _some(cells: Cells, chosen: Cells, value: Any) -> Cells:
    """The cells, with another value where chosen."""
    changed = cells.copy()
    changed[chosen] = value[chosen] if isinstance(value, np.ndarray) else value
    return changed


# Rows that are there twice. Ids: presentation and session, session alone, none.


def _with_ids(rows: Rows, ids: str) -> Rows:
    return {
        "presentation": rows,
        "session": rows.without("presentation"),
        "none": rows.without("presentation", "session"),
    }[ids]


def _views_and_clicks(ids: str) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """One row for the view of a clicked document, and another for the click."""
        twice = _clicked(rows) & (random.random(len(rows)) < (0.1, 0.5, 1.0)[strength])
        both = rows.repeated(1 + twice)
        first = np.cumsum(1 + twice) - 1 - twice
        click = _some(both["click"], first[twice], "0")
        return _any_form(_with_ids(both.having(click=click), ids), random)

    return make


def _clicks_twice(ids: str) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """A row for each click on a document; some documents get several."""
        more = _clicked(rows) & (random.random(len(rows)) < (0.05, 0.3, 0.8)[strength])
        times = np.where(more, random.integers(2, 4, len(rows)), 1)
        return _any_form(_with_ids(rows.repeated(times), ids), random)

    return make


def _delivered_again(rows: Rows, strength: int, random: Random) -> Dirty:
    """Rows that a queue delivered twice, anywhere in the file."""
    again = np.flatnonzero(random.random(len(rows)) < (0.02, 0.2, 0.9)[strength])
    order = np.concatenate([np.arange(len(rows)), again])
    return _any_form(rows.taken(random.permutation(order)), random)


# Queries.


def _lost_queries(names: Sequence[str]) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """Presentations whose query was lost."""
        lost = _lists(rows, (0.02, 0.15, 0.6)[strength], random)
        name = names[int(random.integers(len(names)))]
        return _any_form(rows.having(query=_some(rows["query"], lost, name)), random)

    return make


def _two_query_columns(rows: Rows, strength: int, random: Random) -> Dirty:
    """The id of each search is called query_id, and the query something else."""
    name = ("user_query", "keywords", "q")[strength]
    searches = _text(_ints(rows["presentation"]) + 13)
    rows = rows.renamed(query=name).having(query_id=searches).without("presentation")
    if strength == 1:
        rows = rows.without("session")
    return _any_form(rows, random)


# Columns that mean something else.


def _ids_as_impressions(rows: Rows, strength: int, random: Random) -> Dirty:
    """The id of a presentation in a column that is named like a count."""
    number = (_ints(rows["presentation"]) - 500_000) // 7 + (10**7, 100, 1)[strength]
    name = ("impression", "impressions", "views")[int(random.integers(3))]
    rows = rows.without("presentation").having(**{name: _text(number)})
    made = _any_form(rows, random)
    return replace(made, answers={"columns": {"presentation": name, "impressions": "-"}})


_PAGE = 3


def _pages(rows: Rows, strength: int, random: Random) -> Dirty:
    """Positions that restart on each page; the page is recognised, named otherwise, or lost."""
    position = _ints(rows["position"]) - 1
    rows = rows.having(position=_text(position % _PAGE + 1), page=_text(position // _PAGE + 1))
    rows = (rows, rows.renamed(page="p"), rows.without("page"))[strength]
    if random.random() < 0.5:
        rows = rows.without("presentation")
    return replace(_any_form(rows, random), answers={"page_size": {"page_size": _PAGE}})


def _offsets(rows: Rows, strength: int, random: Random) -> Dirty:
    """Positions that restart at an offset, which is recognised, named otherwise, or lost."""
    position = _ints(rows["position"]) - 1
    first = position // _PAGE * _PAGE
    rows = rows.having(position=_text(position % _PAGE + 1), offset=_text(first))
    rows = (rows, rows.renamed(offset="start"), rows.without("offset"))[strength]
    if random.random() < 0.5:
        rows = rows.without("presentation")
    return _any_form(rows, random)


def _few_at_zero(rows: Rows, strength: int, random: Random) -> Dirty:
    """Rows whose position was unknown and written as 0."""
    lost = random.random(len(rows)) < (0.004, 0.02, 0.1)[strength]
    return _any_form(rows.having(position=_some(rows["position"], lost, "0")), random)


def _from_zero(rows: Rows, strength: int, random: Random) -> Dirty:
    """Positions from 0; the first document of some lists is not logged."""
    kept = ~((rows["position"] == "1") & _lists(rows, (0.0, 0.3, 0.7)[strength], random))
    rows = rows.having(position=_text(_ints(rows["position"]) - 1))
    if "swapped_rank" in rows.columns:
        swap = np.where(rows["swapped_rank"] == "", "0", rows["swapped_rank"])
        less = _text(np.maximum(_ints(swap) - 1, 0))
        rows = rows.having(swapped_rank=_some(less, rows["swapped_rank"] == "", ""))
    made = _any_form(rows.taken(kept), random)
    return replace(made, answers={"first_position": {"first_position": "0"}})


# Who clicked, and on what.


def _bot(rows: Rows, strength: int, random: Random) -> Dirty:
    """One session of a bot with a share of all lists: it clicks all, the last, or one rank."""
    share = (0.06, 0.3, 0.7)[strength]
    number = np.cumsum(np.diff(_ints(rows["presentation"]), prepend=-1) != 0) - 1
    lists = int(number[-1]) + 1
    made = np.sort(random.integers(0, lists, int(lists * share / (1 - share))))
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.bincount(number)
    which = np.repeat(np.arange(made.size), sizes[made])
    inside = np.arange(which.size) - np.repeat(np.cumsum(sizes[made]) - sizes[made], sizes[made])
    visits = rows.taken(starts[made][which] + inside)
    way = int(random.integers(3))
    position = _ints(visits["position"])
    click = position > 0 if way == 0 else position == (4 if way == 1 else 2)
    visits = visits.having(
        click=_text(click.astype(int)),
        presentation=_text(90_000_000 + which),
        session=np.full(len(visits), "99", dtype=object),
    )
    if random.random() < 0.5:
        rows, visits = rows.without("presentation"), visits.without("presentation")
    return _any_form(joined(rows, visits), random)


def joined(*parts: Rows) -> Rows:
    """The rows of several tables with the same columns, one after the other."""
    return Rows({name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns})


def _advertisements(rows: Rows, strength: int, random: Random) -> Dirty:
    """Advertisements beside the results, with separate positions from 1."""
    lists = _lists(rows, (0.1, 0.5, 1.0)[strength], random)
    beside = rows.taken(np.flatnonzero(lists & np.isin(rows["position"], ["1", "2"])))
    beside = beside.having(
        document=np.array(
            [f"ad-{number}" for number in random.integers(0, 8, len(beside))], dtype=object
        ),
        click=_text((random.random(len(beside)) < 0.25).astype(int)),
    )
    whole = joined(rows, beside)
    whole = whole.taken(np.argsort(_ints(whole["presentation"]), kind="stable"))
    return _any_form(_with_ids(whole, ("presentation", "session")[int(random.integers(2))]), random)


def _several_clicks(rows: Rows, strength: int, random: Random) -> Dirty:
    """The number of clicks on an impression instead of whether it was clicked."""
    more = _clicked(rows) & (random.random(len(rows)) < (0.05, 0.3, 0.9)[strength])
    click = np.where(more, _text(random.integers(2, 6, len(rows))), rows["click"])
    return _any_form(rows.having(click=click.astype(object)), random)


# Ids.


def _spelling(change: Callable[[str], str], column: str) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """Ids that are spelled differently in some presentations."""
        if column == "document":
            # Short ones, that every number can hold.
            rows = rows.having(document=_text(_ints(rows["document"]) - _FIRST_ID + 1_000))
        chosen = _lists(rows, (0.05, 0.4, 1.0)[strength], random)
        other = np.array([change(text) for text in rows[column]], dtype=object)
        changed = rows.having(**{column: _some(rows[column], chosen, other)})
        return Dirty((written(changed, FORMS[int(random.integers(2))]),))

    return make


def _scientific(text: str) -> str:
    return f"{float(text):.5E}".replace("E+0", "E+")


def _collapsed(rows: Rows, strength: int, random: Random) -> Dirty:
    """Ids of 18 digits as a spreadsheet keeps them: 15 digits, or six in scientific notation."""
    changed = _lists(rows, (0.05, 0.4, 1.0)[strength], random)
    ids = rows["document"]
    if random.random() < 0.5:
        other = np.array([f"{float(text):.5E}" for text in ids], dtype=object)
    else:
        # Of ids that are further apart, so that a few share their first 15 digits.
        ids = _text(_FIRST_ID + 130 * (_ints(ids) - _FIRST_ID))
        other = np.array([text[:15] + "000" for text in ids], dtype=object)
    return Dirty((written(rows.having(document=_some(ids, changed, other))),))


# What is missing.


def _unclicked_rows_lost(ids: str) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """Rows without a click that were not logged, or sampled."""
        lost = ~_clicked(rows) & (random.random(len(rows)) < (0.1, 0.5, 1.0)[strength])
        return _any_form(_with_ids(rows.taken(~lost), ids), random)

    return make


def _unclicked_lists_lost(rows: Rows, strength: int, random: Random) -> Dirty:
    """Presentations without any click that were not logged."""
    clicked = np.isin(rows["presentation"], np.unique(rows["presentation"][_clicked(rows)]))
    lost = ~clicked & _lists(rows, (0.1, 0.5, 1.0)[strength], random)
    return _any_form(rows.taken(~lost), random)


def _lost_columns(rows: Rows, strength: int, random: Random) -> Dirty:
    """A column that was not exported: the session, the query, or a required column."""
    needed = ("position", "click", "document")[int(random.integers(3))]
    lost = (("session", "presentation", "ranker"), ("query",), (needed,))[strength]
    return _any_form(rows.without(*lost), random)


def _lost_positions(rows: Rows, strength: int, random: Random) -> Dirty:
    """Clicks without a position."""
    lost = _clicked(rows) & (random.random(len(rows)) < (0.01, 0.1, 0.5)[strength])
    made = _some(rows["position"], lost, "")
    return Dirty((written(rows.having(position=made), FORMS[int(random.integers(2))]),))


def _unlinked(rows: Rows, strength: int, random: Random) -> Dirty:
    """Documents that never leave the upper or the lower ranks, or any rank."""
    position = _ints(rows["position"])
    half = (4, 2, 0)[strength]
    upper = position <= half
    side = np.where(upper, "u", "l").astype(object) if half else rows["position"]
    document = rows["document"] + side
    rows = rows.without("swapped_rank").having(document=document)
    return _any_form(rows, random)


# Files.


def _several_files(rows: Rows, strength: int, random: Random) -> Dirty:
    """Two files; in the second, the columns have another order, other names, or no names."""
    half = len(rows) // 2
    first, second = rows.taken(np.arange(half)), rows.taken(np.arange(half, len(rows)))
    names = list(random.permutation(list(rows.columns)))
    second = Rows({name: second[name] for name in names})
    if strength == 1:
        second = second.renamed(query="user_query", document="doc_id", position="rank")
    text = written(second)
    if strength == 2:
        text = text.split(b"\n", 1)[1]
    return Dirty((written(first), text))


def _cp1252(rows: Rows, strength: int, random: Random) -> Dirty:
    """Text that is not UTF-8, with accents in anything from one query to nearly all."""
    if strength != 1:
        ascii_only = [
            unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()
            for text in rows["query"]
        ]
        rare = rows["query"] == query_name(22)
        more = rows["query"] + " Größe"
        other = _some(np.array(ascii_only, dtype=object), rare, rows["query"])
        rows = rows.having(query=other if strength == 0 else more)
    text = written(rows).decode().encode("cp1252")
    return Dirty((text,), answers={"encoding": {"encoding": "cp1252"}})


def _lines(rows: Rows, random: Random) -> list[str]:
    names = list(random.permutation(list(rows.columns)))
    return written(Rows({name: rows[name] for name in names})).decode().splitlines()


def _cut(rows: Rows, strength: int, random: Random) -> Dirty:
    """Lines that were cut off anywhere."""
    lines = _lines(rows, random)
    for place in np.flatnonzero(random.random(len(lines)) < (0.001, 0.02, 0.2)[strength]):
        if place:
            lines[place] = lines[place][: int(random.integers(1, len(lines[place])))]
    return Dirty(("\n".join(lines).encode(),))


def _quotes(rows: Rows, strength: int, random: Random) -> Dirty:
    """Quotation marks that are never closed, at the start of a cell or inside it."""
    lines = _lines(rows, random)
    for place in random.integers(1, len(lines), (1, 20, 400)[strength]):
        cells = lines[place].split(",")
        which = int(random.integers(len(cells)))
        spot = int(random.integers(len(cells[which]) + 1)) if random.random() < 0.5 else 0
        cells[which] = cells[which][:spot] + '"' + cells[which][spot:]
        lines[place] = ",".join(cells)
    return Dirty(("\n".join(lines).encode(),))


def _added_lines(texts: Sequence[str]) -> Callable[[Rows, int, Random], Dirty]:
    def make(rows: Rows, strength: int, random: Random) -> Dirty:
        """Lines that are not rows, between rows and before the column names."""
        made: list[str] = [texts[0]] if strength == 2 else []
        for number, line in enumerate(_lines(rows, random)):
            made.append(line)
            if number and random.random() < (0.001, 0.05, 0.3)[strength]:
                made.append(texts[int(random.integers(len(texts)))])
        return Dirty(("\n".join(made).encode(),))

    return make


# Events, grids and lists.


def _events(rows: Rows, random: Random) -> tuple[Rows, Rows]:
    """Views and clicks as separate rows."""
    views = rows.without("click").having(action=np.full(len(rows), "view", dtype=object))
    clicks = views.taken(_clicked(rows))
    return views, clicks.having(action=np.full(len(clicks), "click", dtype=object))


def _lost_views(rows: Rows, strength: int, random: Random) -> Dirty:
    """Events in two files, with some of the views lost."""
    views, clicks = _events(rows, random)
    kept = random.random(len(views)) >= (0.01, 0.1, 0.4)[strength]
    form = FORMS[int(random.integers(len(FORMS)))]
    made = written(views.taken(kept).without("action"), form)
    return Dirty((made,), clicks=written(clicks.without("action"), form))


def _lost_clicks(rows: Rows, strength: int, random: Random) -> Dirty:
    """Clicks as events that name no position, repeat themselves, or come without their view."""
    views, clicks = _events(rows, random)
    if strength == 0:
        clicks = clicks.having(position=np.full(len(clicks), "", dtype=object))
    if strength == 1:
        clicks = clicks.repeated(random.integers(1, 4, len(clicks)))
    if strength == 2:
        clicks = clicks.having(presentation=_text(_ints(clicks["presentation"]) + 1))
    whole = joined(views, clicks)
    return Dirty((written(whole.taken(random.permutation(len(whole)))),))


def _grid(rows: Rows, strength: int, random: Random) -> Dirty:
    """Places in a grid: row and column with a position or without; and lists in a cell."""
    position = _ints(rows["position"]) - 1
    rows = rows.having(row=_text(position // 2 + 1), column=_text(position % 2 + 1))
    if strength == 0:
        return _any_form(rows.without("position"), random)
    if strength == 1:
        return _any_form(rows.without("position", "column").renamed(row="rank"), random)
    starts = np.flatnonzero(np.diff(_ints(rows["presentation"]), prepend=-1))
    typed = {
        name: [list(cells) for cells in np.split(rows[name], starts[1:])]
        for name in ("document", "click", "position")
    }
    lists = [
        json.dumps(dict(zip(("query", *typed), values, strict=True)))
        for values in zip(rows["query"][starts], *typed.values(), strict=True)
    ]
    return Dirty(("\n".join(lists).encode(),))


_NULLS = ("", " ", "nan", "NULL", "(not set)", "(not provided)", "None", "\\N", "undefined")
_OTHER_NULLS = ("-", "N/A", "n/a", "NA", "(none)", "(empty)", "(null)", "unknown", "none", "EMPTY")
_IDS = ("presentation", "session", "none")
_TWICE = ("repeated_rows", "rows_per_position")

DIRTS: tuple[Dirt, ...] = (
    *(Dirt(f"views and clicks as rows, id: {ids}", _views_and_clicks(ids), _TWICE) for ids in _IDS),
    *(Dirt(f"a row for each click, id: {ids}", _clicks_twice(ids), _TWICE) for ids in _IDS),
    Dirt("rows delivered again", _delivered_again, _TWICE),
    Dirt("queries empty or null", _lost_queries(_NULLS), ("rows_left_out",)),
    Dirt("queries that mean none", _lost_queries(_OTHER_NULLS),
         ("rows_left_out", "doubtful_query")),
    Dirt("ids of presentations as impressions", _ids_as_impressions, ("clicks",)),
    Dirt("pages whose positions start again", _pages, ("beside",)),
    Dirt("offsets below which positions start", _offsets, ("beside",)),
    Dirt("unknown positions as 0", _few_at_zero, ("rows_left_out", "positions")),
    Dirt("positions from 0", _from_zero, ("positions", "rows_per_position")),
    Dirt("a program's session", _bot, ("sessions",)),
    Dirt("advertisements beside results", _advertisements, ("beside",)),
    Dirt("two columns of queries", _two_query_columns, ("queries_shown_once", "rank_changes")),
    Dirt("ids with decimals", _spelling(lambda text: f"{text}.0", "document"), ("ids",)),
    Dirt("ids in scientific notation", _spelling(_scientific, "document"), ("ids",)),
    Dirt("letters composed and decomposed",
         _spelling(lambda text: unicodedata.normalize("NFD", text), "query"), ("ids",)),
    Dirt("blanks around ids", _spelling(lambda text: f" {text}\u00a0", "query"), ("ids",)),
    Dirt("ids collapsed by a spreadsheet", _collapsed, ("ids",)),
    Dirt("clicks above 1", _several_clicks, ("clicks",)),
    *(Dirt(f"rows without a click lost, id: {ids}", _unclicked_rows_lost(ids),
           ("only_clicks", "rows_per_position")) for ids in _IDS),
    Dirt("lists without a click lost", _unclicked_lists_lost, ("only_clicks", "sessions")),
    Dirt("columns lost", _lost_columns, ("columns",)),
    Dirt("several files, one of another order", _several_files, ("rows_left_out",)),
    Dirt("text in cp1252", _cp1252, ("ids",)),
    Dirt("ranks that nothing links", _unlinked, ("rank_changes",)),
    Dirt("rows cut off", _cut, ("rows_left_out",)),
    Dirt("stray quotation marks", _quotes, ("rows_left_out",)),
    Dirt("blank lines", _added_lines(("", "  ", "\t")), ("rows_left_out",)),
    Dirt("comment lines", _added_lines(("# exported", "#", "# a,b")), ("rows_left_out",)),
    Dirt("clicks without a position", _lost_positions, ("clicks_without_position",)),
    Dirt("views lost from events", _lost_views, ("clicks_without_position",)),
    Dirt("click events without a position", _lost_clicks, ("clicks_without_position", "clicks")),
    Dirt("grids, and lists in a cell", _grid, ("columns", "positions", "beside")),
)  # fmt: skip
"""Every kind of dirt that was found in a log."""


def _aggregated(rows: Rows) -> Rows:
    """Impressions and clicks summed over presentations."""
    names = [name for name in rows.columns if name not in ("session", "presentation", "click")]
    keys, of = np.unique(
        np.array(["\t".join(cells) for cells in zip(*(rows[n] for n in names), strict=True)]),
        return_inverse=True,
    )
    cells = np.array([key.split("\t") for key in keys], dtype=object)
    return Rows({
        **{name: cells[:, place] for place, name in enumerate(names)},
        "impressions": _text(np.bincount(of)),
        "click": _text(np.bincount(of, _clicked(rows)).astype(int)),
    })  # fmt: skip


def _scrolled(rows: Rows, random: Random) -> Rows:
    """Of each list, only the first ranks, which were scrolled into view."""
    number = np.cumsum(np.diff(_ints(rows["presentation"]), prepend=-1) != 0) - 1
    depth = random.integers(2, RANKS + 1, int(number[-1]) + 1)
    return rows.taken(_ints(rows["position"]) <= depth[number])


SHAPES: Mapping[str, Callable[[int, Random], Dirty]] = MappingProxyType(
    {
        "sessions and presentations": lambda n, r: _any_form(clean_rows(n), r),
        "presentations": lambda n, r: _any_form(clean_rows(n).without("session"), r),
        "sessions": lambda n, r: _any_form(clean_rows(n).without("presentation"), r),
        "no ids": lambda n, r: _any_form(_with_ids(clean_rows(n), "none"), r),
        "sums with impressions": lambda n, r: _any_form(_aggregated(clean_rows(n)), r),
        "sessions that search again": lambda n, r: _any_form(
            clean_rows(n, searched_again=0.3).without("presentation"), r
        ),
        "presentations, sessions that search again": lambda n, r: _any_form(
            clean_rows(n, searched_again=0.3), r
        ),
        "what was scrolled into view": lambda n, r: _any_form(_scrolled(clean_rows(n), r), r),
        "the same without ids": lambda n, r: _any_form(
            _with_ids(_scrolled(clean_rows(n), r), "none"), r
        ),
        "a small log": lambda n, r: _any_form(clean_rows(n, 600), r),
    }
)
"""Clean logs of several shapes, from a seed and a stream."""
