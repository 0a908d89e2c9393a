"""What rows of a click log belong together: repeated rows, sessions, groups, clicks above a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ultr_core.errors import InputError, quoted
from ultr_core.files.log_columns import NO_NAME, WITHOUT_NAME, whole_name
from ultr_core.files.log_query import DUCKDB
from ultr_core.files.log_reading import Reading
from ultr_core.files.log_relation import Progress, Relation
from ultr_core.files.log_rows import (
    IDS,
    NAMES,
    CountedRows,
    IntArray,
    UsableRows,
)
from ultr_core.propensity.presentations import GROUPS, Presentations

GROUPED_ROWS = 4_000_000
"""Rows of a log that groups may make of it; where they would make more, there are fewer groups."""

SAMPLE_ROWS = 300_000
"""Rows in which it is looked for repeats first; a log with fewer is looked at whole."""

_FEWER_GROUPS = (GROUPS, 50, 20, 10)
_MOST_SALTS = 100
_NEARLY_ALL = 0.95
_NONE = "hash('')"  # of a presentation or session without an id
_LOOKED_UP = 8  # different cells that are looked up in a list
_MOST_IN_ONE = 1_000  # rows of one presentation
_MOST_REPEATS = 4  # rows of one document at one position of one presentation
_FEWEST_PARTIAL = 100  # presentations
_MANY_PARTIAL = 0.05  # of them
_NEARLY_WHOLE = 0.99  # of the lists with the first position


_NOTHING_KNOWN = Presentations(
    number=0, lists=0, unclicked=0, draws=None, without=0, sessions=0, largest=0,
    largest_share=0.0, largest_clicks=0.0, share=1.0, sampled=0, beside=0, moved=0, repeated=0,
    repeated_in_sessions=0, groups=1, left_out=0,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The usable rows of a log added up [rows].

    slot: place in `Slots`. impressions, clicks: of all rows added up. group: from 0, None if
    nothing says which rows belong together. above: clicks above the row in its presentation, None
    if that was not asked for. presentations: what was found out about them.
    """

    slot: IntArray
    impressions: IntArray
    clicks: IntArray
    group: IntArray | None
    above: IntArray | None
    presentations: Presentations | None


@dataclass(frozen=True, eq=False)
class Slots:
    """What rows are counted by [slots]; of: the slot of each usable entry.

    entry: one usable entry of each slot, for its numbers and names.
    """

    of: IntArray
    entry: IntArray


def slots_of(usable: UsableRows) -> Slots:
    """Entries with the same names, position, swap and propensity together."""
    names = [usable.names.get(name) for name in NAMES]
    keys = [each.astype(np.int64) for each in names if each is not None]
    keys += [usable.numbers["position"], usable.numbers["swap"]]
    if usable.propensity is not None:
        keys.append(np.unique(usable.propensity, return_inverse=True)[1])
    code = np.zeros(usable.entry.size, dtype=np.int64)
    for key in keys:
        # Numbers of what came before, so that the product stays below 2^63.
        code = np.unique(code, return_inverse=True)[1] if code.max() >= 1 << 31 else code
        code = code * (int(key.max()) - int(key.min()) + 1) + (key - key.min())
    order = np.argsort(code, kind="stable")
    new = np.diff(code[order], prepend=-1) != 0
    of = np.empty(order.size, dtype=np.int64)
    of[order] = np.cumsum(new) - 1
    return Slots(of, order[new])


def added_up(usable: UsableRows, slots: Slots) -> GroupedRows:
    """The rows of a log in which nothing tells what belongs together."""
    size = slots.entry.size

    def total(values: IntArray) -> IntArray:
        return _sums(slots.of, values, size)

    return GroupedRows(
        np.arange(size),
        total(usable.rows * usable.numbers["impressions"]),
        total(usable.rows * usable.numbers["click"]),
        None,
        None,
        None,
    )


def added_up_in_groups(counted: CountedRows, usable: UsableRows, slots: Slots) -> GroupedRows:
    """The rows of counts that name the group of their sessions, as `grouped_rows` counts a log.

    Presentations are known only by the numbers that the counts have of them.
    """
    number = _groups_for(slots, usable)
    facts = None
    if "query_presentations" in usable.numbers:
        draws = _counted_draws(counted, usable)
        shown = int(usable.rows @ usable.numbers["impressions"])
        partial = int(draws.sum()) == shown >= _FEWEST_PARTIAL and "swap" not in counted.codes
        partial = partial and np.unique(usable.numbers["position"]).size > 1
        facts = replace(
            _NOTHING_KNOWN, draws=None if partial else draws, groups=number, partial=partial
        )
    if number == 1:
        return replace(added_up(usable, slots), presentations=facts)
    group = usable.numbers["group"] * number // GROUPS
    key, of = np.unique(slots.of * number + group, return_inverse=True)
    return GroupedRows(
        key // number,
        _sums(of, usable.rows * usable.numbers["impressions"], key.size),
        _sums(of, usable.rows * usable.numbers["click"], key.size),
        key % number,
        None,
        facts,
    )


def _groups_for(slots: Slots, usable: UsableRows) -> int:
    """How many groups there are, so that they make no more than ``GROUPED_ROWS`` rows."""
    rows, size = int(usable.rows.sum()), slots.entry.size
    return next((n for n in _FEWER_GROUPS if min(n * size, rows) <= GROUPED_ROWS), 1)


def _counted_draws(counted: CountedRows, usable: UsableRows) -> IntArray:
    """Presentations of each query: what its counts in a group repeat is added up over groups."""
    name = usable.names.get("query", np.zeros(usable.entry.size, dtype=np.int32))
    text = counted.codes["query"][usable.entry] if "query" in counted.codes else name
    group, lists = usable.numbers["group"], usable.numbers["query_presentations"]
    cell, first, of = np.unique(
        text.astype(np.int64) * GROUPS + group, return_index=True, return_inverse=True
    )
    most = np.zeros(cell.size, dtype=np.int64)
    np.maximum.at(most, of, lists)
    return _sums(name[first].astype(np.int64), most, len(usable.texts.get("query", ("",))))


def _sums(place: IntArray, values: IntArray, size: int) -> IntArray:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, place, values)
    return sums


def grouped_rows(
    relation: Relation,
    cells: Sequence[str],
    meanings: Collection[str],
    counted: CountedRows,
    usable: UsableRows,
    slots: Slots,
    columns: Mapping[str, str],
    how: Reading,
    progress: Progress | None,
) -> GroupedRows:
    """The rows of a log with ids of presentations or sessions, in groups of them.

    cells: SQL of `cells_of`, with columns of ``meanings``. columns: meaning to column name. Raises
    InputError for ids that cannot be what they are said to be.
    """
    has = {meaning: meaning in meanings for meaning in IDS}
    whole = "p" if has["presentation"] else "s"
    plain = int(usable.numbers["impressions"].max()) <= 1
    numbers = {
        meaning: _number_of(relation, counted, usable, meaning)
        for meaning in ("click", "impressions")
        if meaning in counted.codes
    }
    shown = [_shown(piece, counted, usable, numbers, has) for piece in cells]
    without = _lists(relation, shown, whole, progress)
    if _named_none(relation):
        relation.run("DROP TABLE lists")
        cells = [_without_words(piece, has) for piece in cells]
        shown = [_shown(piece, counted, usable, numbers, has) for piece in cells]
        without = _lists(relation, shown, whole, progress)
    queries = counted.codes.get("query")
    if queries is not None and np.setdiff1d(queries, queries[usable.entry]).size:
        _without_nameless(relation, whole)
    every = max(1, -(-int(usable.rows.sum()) // SAMPLE_ROWS))
    # By itself: the engine would look at all else of each row first.
    relation.gathered(
        "sampled",
        [
            f"SELECT * FROM ({piece}) WHERE hash(trim(k_{IDS[whole == 's']})) % {every} = 0"
            for piece in cells
        ],
        progress=progress,
    )
    some = _shown("SELECT * FROM sampled", counted, usable, numbers, has)
    found = _sampled(relation, some, whole, every, columns)
    once = plain and found.repeated > 0 and (whole == "p" or found.views_and_clicks)
    facts = _facts(relation, whole, found, without, usable, plain, progress)
    if how.most_presentations is not None:
        facts, shown = _without_busy(relation, shown, facts, how.most_presentations, usable)
    if how.clicks_above and (whole != "p" or facts.partial):
        raise without_presentations()
    number = _groups_for(slots, usable)
    facts = replace(facts, groups=number)
    if number == 1 and not (once or how.clicks_above or facts.left_out):
        return replace(added_up(usable, slots), presentations=facts)
    for table in ("sampled", "sample", "lists", "sessions"):
        relation.run(f"DROP TABLE {table}")  # they would take the memory of what follows
    key = _with_known(relation, counted, usable, slots)
    rows = [_numbered(piece, key, whole, above=how.clicks_above) for piece in shown]
    size = slots.entry.size
    if not (once or how.clicks_above):
        made = _by_group(relation, rows, size, number, progress)
    else:
        # Rows of a list may be in any piece.
        with relation.split(rows, "list", int(usable.rows.sum()), progress) as lists:
            if once:
                lists = [_once(some, whole, above=how.clicks_above) for some in lists]
            if how.clicks_above:
                made = _by_clicks_above(relation, lists, number, progress)
            else:
                made = _by_group(relation, lists, size, number, progress)
    before = int(usable.rows @ usable.numbers["impressions"])
    merged = before - int(made.impressions.sum()) if once and not facts.left_out else 0
    return replace(
        made,
        group=made.group if number > 1 else None,
        presentations=replace(facts, repeated=merged),
    )


def without_presentations() -> InputError:
    """What to say where clicks above a row are asked for and cannot be counted."""
    return InputError(
        "Counting the clicks above a row needs a column with the ids of whole presentations.",
        "presentation",
    )


def keys_of(counted: CountedRows) -> list[str]:
    """Columns of text that rows are counted by, besides clicks and impressions."""
    return [f"k_{meaning}" for meaning in counted.codes if meaning not in ("click", "impressions")]


def _shown(
    cells: str,
    counted: CountedRows,
    usable: UsableRows,
    numbers: Mapping[str, tuple[str, str]],
    has: Mapping[str, bool],
) -> str:
    """SQL for the rows with click and impressions as numbers, and what they belong to.

    numbers: `_number_of` of click and, where there are some, of impressions. p and s identify
    presentation and session, ``_NONE`` for none; g is the group, 0 to ``GROUPS`` - 1.
    Rows whose numbers are none are left out.
    """
    click = numbers["click"][0]
    impressions = numbers["impressions"][0] if "impressions" in numbers else "1"
    joins = "".join(join for _, join in numbers.values())
    ids = {
        name: f"trim(k_{meaning})" if has[meaning] else "''"
        for name, meaning in (("p", "presentation"), ("s", "session"))
    }
    hashes = ", ".join(f"hash({text}) AS {name}" for name, text in ids.items())
    # A row of no session is one of its presentation: else all of them would be one group.
    whose = f"CASE WHEN {ids['s']} = '' THEN {ids['p']} ELSE {ids['s']} END"
    if not all(has.values()):
        whose = ids["p"] if has["presentation"] else ids["s"]
    group = f"({DUCKDB.first_digits.format(whose)} % {GROUPS})::INTEGER"
    return (
        f"SELECT * FROM (SELECT {', '.join(keys_of(counted))}, {click} AS click, "
        f"{impressions} AS impressions, {hashes}, {group} AS g, short, broken "
        f"FROM ({cells}){joins}){_without_faults(counted, usable, numbers)}"
    )


def _without_faults(counted: CountedRows, usable: UsableRows, numbers: Collection[str]) -> str:
    """SQL that leaves rows out whose ``numbers`` are none, or which have no context.

    Nothing where there are none: the engine would look at each row twice. A presentation without a
    context is none of those that estimates are made from.
    """
    kept = [f"NOT {fault}" for fault in ("short", "broken") if getattr(counted, fault).any()]
    for meaning in numbers:
        codes = counted.codes[meaning]
        if np.setdiff1d(codes, codes[usable.entry]).size:
            kept.append(f"{meaning} IS NOT NULL")
    if "impressions" in numbers:
        kept.append("click <= impressions")
    if "context" in counted.codes:
        codes = counted.codes["context"]
        if np.setdiff1d(codes, codes[usable.entry]).size:
            kept.append(f"trim(k_context) NOT IN ({WITHOUT_NAME})")
    return f" WHERE {' AND '.join(kept)}" if kept else ""


def _number_of(
    relation: Relation, counted: CountedRows, usable: UsableRows, meaning: str
) -> tuple[str, str]:
    """SQL for the number that a usable cell of a meaning stands for, and what is joined for it."""
    code = counted.codes[meaning][usable.entry]
    used, first = np.unique(code, return_index=True)
    texts = [counted.texts[meaning][each] for each in used.tolist()]
    numbers = usable.numbers[meaning][first]
    if len(texts) <= _LOOKED_UP:
        # Joining takes several times the rest.
        cases = " ".join(
            f"WHEN ${relation.bound(text)} THEN {int(number)}"
            for text, number in zip(texts, numbers, strict=True)
        )
        return f"CASE k_{meaning} {cases} END", ""
    relation.put(
        f"numbers_{meaning}", **{f"k_{meaning}": np.array(texts, "O"), f"n_{meaning}": numbers}
    )
    return f"n_{meaning}", f" LEFT JOIN numbers_{meaning} USING (k_{meaning})"


def _with_known(relation: Relation, counted: CountedRows, usable: UsableRows, slots: Slots) -> str:
    """Make the table ``known`` of the different rows of keys; returns SQL of their number h.

    entry: a small number for each. slot: -1 for those that cannot be used.
    """
    key = _key(relation, keys_of(counted))
    relation.put("usable", number=counted.number[usable.entry], slot=slots.of)
    relation.run(
        f"CREATE TEMP TABLE known AS SELECT {key} AS h, min(number) AS entry, "
        "coalesce(any_value(slot), -1) AS slot FROM counted LEFT JOIN usable USING (number) "
        "GROUP BY h"
    )
    return key


def _numbered(shown: str, key: str, whole: str, *, above: bool) -> str:
    """SQL for rows as numbers alone, which take a part of the memory that their texts do.

    Rows that cannot be used stay only where clicks are counted ``above`` a row, with the query q
    and the place in the list of each.
    """
    more = f", {_query_in(shown)} AS q, {_place_in(shown)} AS place" if above else ""
    return (
        f"SELECT entry, slot, {whole} AS list, g, impressions, click{more} FROM "
        f"(SELECT *, {key} AS h FROM ({shown})) JOIN known USING (h)"
        f"{'' if above else ' WHERE slot >= 0'}"
    )


def _place_in(shown: str) -> str:
    """SQL for a number in the order of the places in a list, also where each page has its own."""
    weights = {"page": 1 << 30, "offset": 1, "position": 1}
    parts = [
        f"try_cast(CASE WHEN try_cast(k_{meaning} AS DOUBLE) BETWEEN 0 AND {1 << 30} "
        f"THEN try_cast(k_{meaning} AS DOUBLE) * {weight} END AS BIGINT)"
        for meaning, weight in weights.items()
        if f"k_{meaning}" in shown
    ]
    return " + ".join(parts)


def _by_group(
    relation: Relation, sources: Sequence[str], slots: int, number: int, progress: Progress | None
) -> GroupedRows:
    """Rows of SQL with slot, g, impressions and click, added up by slot and group.

    Here, for the engine takes twice as long where there are nearly as many of these as rows.
    """
    size = slots * number
    impressions, clicks = np.zeros(size, np.int64), np.zeros(size, np.int64)
    seen = np.zeros(size, bool)
    statements = [
        f"SELECT slot * {number} + (g * {number}) // {GROUPS}, impressions::BIGINT, click::BIGINT "
        f"FROM ({source})"
        for source in sources
    ]

    def add(place: IntArray, shown: IntArray, clicked: IntArray) -> None:
        seen[place] = True
        np.add.at(impressions, place, shown)
        np.add.at(clicks, place, clicked)

    relation.each_batch(statements, add, progress)
    used = np.flatnonzero(seen)
    return GroupedRows(used // number, impressions[used], clicks[used], used % number, None, None)


def _by_clicks_above(
    relation: Relation, sources: Sequence[str], number: int, progress: Progress | None
) -> GroupedRows:
    """The same also by the clicks above each row, of which there may be any number."""
    relation.gathered(
        "grouped",
        [
            f"SELECT slot, (g * {number}) // {GROUPS} AS g, above, "
            "sum(impressions)::BIGINT AS impressions, sum(click)::BIGINT AS clicks "
            f"FROM ({_above(source)}) WHERE slot >= 0 GROUP BY ALL"
            for source in sources
        ],
        ["slot", "g", "above"],
        {name: f"sum({name})::BIGINT" for name in ("impressions", "clicks")},
        progress,
    )
    table = relation.run("SELECT * FROM grouped ORDER BY slot, g, above", arrays=True)
    slot, group, above, impressions, clicks = (
        np.asarray(column, np.int64) for column in table.values()
    )
    return GroupedRows(slot, impressions, clicks, group, above, None)


def _key(relation: Relation, keys: list[str]) -> str:
    """SQL for a number that is another one for each different row of keys in the log.

    Numbers are grouped by and joined in a part of the time that texts take.
    """
    for salt in range(_MOST_SALTS):
        key = f"hash({', '.join(keys)}, {salt})"
        alike = relation.run(
            f"SELECT count(*) - count(DISTINCT h) FROM (SELECT {key} AS h FROM counted "
            f"GROUP BY {', '.join(keys)})"
        )[0][0]
        if not alike:
            return key
    raise AssertionError("64 bits tell the rows of a log apart")


@dataclass(frozen=True)
class _Sampled:
    """What a sample of lists shows: presentations, or what one session saw of one query.

    share: of all lists that were looked at. lists: how many. repeated: rows of a document at one
    position beyond the first. beyond: rows at a position beyond those at the one above it.
    views_and_clicks: whether the rows beyond the first are clicks on rows that are views. beside:
    lists with two documents at one position. moved: with one document at two. A session may see
    a list several times, as often as it sees any document: only what goes beyond is told.
    partial: whether lists seem to be parts of lists. changes: lists in which the context changes;
    changing: the presentation of one of them, and two of its contexts.
    """

    share: float
    lists: int
    repeated: int
    beyond: int
    views_and_clicks: bool
    beside: int
    moved: int
    partial: bool
    changes: int
    changing: tuple[str, ...]


def _sampled(
    relation: Relation, shown: str, whole: str, every: int, columns: Mapping[str, str]
) -> _Sampled:
    place = ", ".join(
        f"try_cast(k_{meaning} AS DOUBLE)"
        for meaning in ("page", "offset", "position")
        if f"k_{meaning}" in shown
    )
    named = f" AND NOT {_nameless('k_query')}" if "k_query" in shown else ""
    relation.run(
        f"CREATE TEMP TABLE sample AS SELECT {whole} AS list, {_query_in(shown)} AS query, "
        f"hash(trim(k_document)) AS document, row({place}) AS position, "
        f"count(*) AS n, sum(click) AS clicks FROM ({shown}) WHERE {whole} <> {_NONE} "
        f"AND trim(k_document) <> ''{named} "
        "AND try_cast(k_position AS DOUBLE) IS NOT NULL GROUP BY ALL"
    )
    if whole == "p":
        _require_ids(relation, columns)
    lists, repeated, extra, explained, replacing = relation.run(
        "WITH least AS (SELECT list, query, min(n) AS m FROM sample GROUP BY ALL) SELECT "
        "(SELECT count(*) FROM least), coalesce(sum(n - 1), 0), coalesce(sum(n - m), 0), "
        "coalesce(sum(n - m) FILTER (n - clicks = m), 0), "
        "count(*) FILTER (clicks > 0 AND n - clicks < m) "
        "FROM sample JOIN least USING (list, query)"
    )[0]
    beyond = relation.run(
        "SELECT coalesce(sum(greatest(w - above, 0)), 0) FROM (SELECT w, lag(w) OVER "
        "(PARTITION BY list, query ORDER BY position) AS above FROM (SELECT list, query, position, "
        "sum(n) AS w FROM sample GROUP BY ALL)) WHERE above IS NOT NULL"
    )[0][0]
    beside, moved = (
        relation.run(_lists_with_two(one, other, several=whole == "s"))[0][0]
        for one, other in (("position", "document"), ("document", "position"))
    )
    apart = extra > 0 and explained >= _NEARLY_ALL * extra and replacing <= extra / 20
    return _Sampled(
        1 / every,
        int(lists),
        int(repeated),
        int(beyond),
        bool(apart),
        int(beside),
        int(moved),
        # Of two places that were swapped, one may be all that is logged.
        whole == "p" and "swap" not in columns and _are_partial(relation),
        *_changes(relation, shown, whole),
    )


def _changes(relation: Relation, shown: str, whole: str) -> tuple[int, tuple[str, ...]]:
    """Presentations of the sample with two contexts: how many; id and contexts of the first."""
    if whole != "p" or "k_context" not in shown:
        return 0, ()
    # As `whole_context` reads them.
    context = "regexp_replace(trim(k_context), '^(-?[0-9]+)\\.0+$', '\\1')"
    query = ", k_query" if "k_query" in shown else ""
    found, *first = relation.run(
        "SELECT count(*), min(id), arg_min(low, id), arg_min(high, id) FROM (SELECT "
        f"trim(k_presentation) AS id, min({context}) AS low, max({context}) AS high FROM sampled "
        f"WHERE trim(k_presentation) <> '' AND trim(k_context) NOT IN ({WITHOUT_NAME}) "
        f"GROUP BY id{query} HAVING low <> high)"
    )[0]
    return int(found), tuple(map(str, first)) if found else ()


def _are_partial(relation: Relation) -> bool:
    """Whether many lists of the sample lie below all that have the first position, or nearly all.

    So do the pages of a list, and its rows.
    """
    relation.run(
        "CREATE TEMP TABLE ends AS SELECT min(position) AS lo, max(position) AS hi FROM sample "
        "GROUP BY list, query"
    )
    lists, whole = relation.run(
        "SELECT count(*), count(*) FILTER (lo = (SELECT min(lo) FROM ends)) FROM ends"
    )[0]
    below = relation.run(
        "SELECT count(*) FROM ends WHERE lo > (SELECT hi FROM ends WHERE lo = (SELECT min(lo) "
        f"FROM ends) ORDER BY hi LIMIT 1 OFFSET {int(_NEARLY_WHOLE * max(whole - 1, 0))})"
    )[0][0]
    relation.run("DROP TABLE ends")
    return bool(lists >= _FEWEST_PARTIAL and below > _MANY_PARTIAL * lists)


def _lists_with_two(one: str, other: str, *, several: bool) -> str:
    """SQL for the number of lists in which ``one`` has two of ``other``.

    several: whether a list was shown as often as ``other`` is at most.
    """
    if not several:
        return (
            "SELECT count(DISTINCT (list, query)) FROM (SELECT list, query FROM sample "
            f"GROUP BY list, query, {one} HAVING count(DISTINCT {other}) > 1)"
        )
    most = (
        "(SELECT list, query, max(w) AS w, max(m) AS m FROM (SELECT list, query, sum(n) AS w, "
        "count(*) AS m FROM sample GROUP BY list, query, {}) GROUP BY ALL)"
    )
    return (
        f"SELECT count(*) FROM {most.format(one)} AS a JOIN {most.format(other)} AS b "
        "USING (list, query) WHERE a.m > 1 AND a.w > b.w"
    )


def _require_ids(relation: Relation, columns: Mapping[str, str]) -> None:
    """Raise InputError for a column of presentations that names something larger."""
    rows, most, cells = relation.run(
        "SELECT coalesce(avg(n), 0), coalesce(max(rows), 0), coalesce(sum(n), 0) FROM sample, "
        "(SELECT max(rows) AS rows FROM (SELECT list, query, sum(n) AS rows FROM sample "
        "GROUP BY ALL))"
    )[0]
    if rows > _MOST_REPEATS or (most > _MOST_IN_ONE and cells > 0 and rows > 1.5):
        column = columns["presentation"]
        raise InputError(
            f"The column {quoted(column)} was taken as the presentation id, but on average a "
            f"document has {rows:,.1f} rows at the same position with the same id, so the id "
            "covers more than one presentation. Say which column contains the presentation id, or "
            "that none does.",
            "larger_ids",
        )


def _query_in(shown: str) -> str:
    """SQL for the query of a row as a number."""
    return "hash(k_query)" if "k_query" in shown else "0"


def _lists(relation: Relation, shown: Sequence[str], whole: str, progress: Progress | None) -> int:
    """Make the table of lists, one for each presentation or each query of a session.

    Returns how many rows name none.
    """
    relation.gathered(
        "lists",
        [
            f"SELECT {whole} AS list, {_query_in(piece)} AS q, max(s) AS s, "
            f"sum(click)::BIGINT AS clicks, count(*) AS rows FROM ({piece}) "
            f"WHERE impressions > 0 GROUP BY {whole}, q"
            for piece in shown
        ],
        ["list", "q"],
        {"s": "max(s)", **{name: f"sum({name})::BIGINT" for name in ("clicks", "rows")}},
        progress,
    )
    found = relation.run(f"SELECT coalesce(sum(rows), 0) FROM lists WHERE list = {_NONE}")[0][0]
    relation.run(f"DELETE FROM lists WHERE list = {_NONE}")
    return int(found)


def _without_nameless(relation: Relation, whole: str) -> None:
    """Remove lists of rows without a query; their clicks are on the list of their presentation."""
    nameless = f"q IN (SELECT hash(k_query) FROM counted WHERE {_nameless('k_query')})"
    if whole == "p":
        relation.run(
            "UPDATE lists SET clicks = lists.clicks + lost.clicks FROM (SELECT list, "
            f"sum(clicks)::BIGINT AS clicks FROM lists WHERE {nameless} GROUP BY list) AS lost "
            f"WHERE lists.list = lost.list AND NOT {nameless}"
        )
    relation.run(f"DELETE FROM lists WHERE {nameless}")


def _nameless(column: str) -> str:
    return f"trim({column}) IN ({WITHOUT_NAME})"


def _named_none(relation: Relation) -> bool:
    """Whether a list or its session has a name that tools write where there is none."""
    words = ", ".join(f"hash('{word}')" for word in sorted(NO_NAME))
    return bool(
        relation.run(f"SELECT 1 FROM lists WHERE list IN ({words}) OR s IN ({words}) LIMIT 1")
    )


def _without_words(cells: str, has: Mapping[str, bool]) -> str:
    """SQL for the rows with an empty id where the id is a word for none."""
    ids = ", ".join(
        f"CASE WHEN trim(k_{meaning}) IN ({WITHOUT_NAME}) THEN '' ELSE k_{meaning} END "
        f"AS k_{meaning}"
        for meaning in IDS
        if has[meaning]
    )
    return f"SELECT * REPLACE ({ids}) FROM ({cells})"


def _facts(
    relation: Relation,
    whole: str,
    found: _Sampled,
    without: int,
    usable: UsableRows,
    plain: bool,
    progress: Progress | None,
) -> Presentations:
    total, unclicked = relation.run("SELECT count(*), count(*) FILTER (clicks = 0) FROM lists")[0]
    _sessions(relation, int(total), progress)
    sessions, largest, clicks, all_clicks = relation.run(
        "SELECT count(*), coalesce(max(n), 0), coalesce(max(clicks) FILTER (n = (SELECT max(n) "
        "FROM sessions)), 0), coalesce(sum(clicks), 0) FROM sessions"
    )[0]
    draws = None
    if whole == "p" and plain and not found.partial:
        draws = _draws(relation, "lists", usable)
    return Presentations(
        number=int(total) if whole == "p" else 0,
        lists=int(total),
        unclicked=int(unclicked),
        draws=draws,
        without=min(without, int(usable.rows.sum())),
        sessions=int(sessions),
        largest=int(largest),
        largest_share=float(largest) / max(int(total), 1),
        largest_clicks=float(clicks) / max(int(all_clicks), 1),
        share=found.share,
        sampled=found.lists,
        beside=found.beside,
        moved=found.moved,
        repeated=0,
        repeated_in_sessions=0 if whole == "p" else found.beyond,
        groups=GROUPS,
        left_out=0,
        partial=found.partial,
        changes=found.changes,
        changing=found.changing,
    )


def _sessions(relation: Relation, lists: int, progress: Progress | None) -> None:
    """Make the table of sessions, with the lists that each has."""
    named = f"SELECT s, clicks FROM lists WHERE s <> {_NONE}"
    with relation.split([named], "s", lists, progress) as buckets:
        relation.gathered(
            "sessions",
            [
                f"SELECT s, count(*) AS n, sum(clicks)::BIGINT AS clicks FROM ({some}) GROUP BY s"
                for some in buckets
            ],
            progress=progress,
        )


def _without_busy(
    relation: Relation,
    shown: Sequence[str],
    facts: Presentations,
    most: int,
    usable: UsableRows,
) -> tuple[Presentations, list[str]]:
    """The rows without those of sessions that have more presentations than ``most``."""
    relation.run(f"CREATE TEMP TABLE busy AS SELECT s FROM sessions WHERE n > {int(most)}")
    left = int(relation.run("SELECT count(*) FROM busy")[0][0])
    draws = facts.draws
    if draws is not None:
        draws = _draws(relation, "lists ANTI JOIN busy USING (s)", usable)
    kept = [f"SELECT * FROM ({piece}) ANTI JOIN busy USING (s)" for piece in shown]
    return replace(facts, left_out=left, draws=draws), kept


def _draws(relation: Relation, lists: str, usable: UsableRows) -> IntArray:
    """How many lists each query has, by its number; names are matched as they are numbered."""
    names = usable.texts.get("query", ("",))
    number = {name: place for place, name in enumerate(names)}
    draws = np.zeros(len(names), dtype=np.int64)
    if "query" not in usable.texts:
        return np.array([relation.run(f"SELECT count(*) FROM {lists}")[0][0]], dtype=np.int64)
    for text, count in relation.run(
        f"SELECT k_query, n FROM (SELECT q, count(*) AS n FROM {lists} GROUP BY q) JOIN "
        "(SELECT DISTINCT k_query, hash(k_query) AS q FROM counted) USING (q)"
    ):
        text = text.strip()  # also of blanks that SQL does not know
        place = number.get(text, number.get(whole_name(text), -1))
        if place >= 0:
            draws[place] += count
    return draws


def _once(rows: str, whole: str, *, above: bool) -> str:
    """The rows of a document at one position of a list as one impression, clicked if one is.

    In a session that searched again, impressions are the rows that are views.
    """
    shows = "max(impressions)" if whole == "p" else "greatest(count(*) - sum(click), 1)"
    clicks = "max(click)" if whole == "p" else f"least(sum(click), {shows})"
    keys = f"entry, slot, list{', q, place' if above else ''}"
    # Entries with one slot differ only in how their numbers are written.
    rows = f"SELECT * REPLACE (CASE WHEN slot < 0 THEN entry END AS entry) FROM ({rows})"
    return (
        f"SELECT {keys}, min(g) AS g, {shows} AS impressions, {clicks} AS click FROM ({rows}) "
        f"WHERE list <> {_NONE} GROUP BY {keys} UNION ALL "
        f"SELECT {keys}, g, impressions, click FROM ({rows}) WHERE list = {_NONE}"
    )


def _above(rows: str) -> str:
    """The rows with the number of clicks above each in its presentation."""
    return (
        "SELECT *, coalesce(sum(click) OVER (PARTITION BY list, q ORDER BY place RANGE BETWEEN "
        "UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS above FROM "
        f"({rows}) WHERE list <> {_NONE} UNION ALL SELECT *, 0 FROM ({rows}) WHERE list = {_NONE}"
    )
