"""A click log from outside and a corpus brought together by query and document id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.errors import InputError, quoted
from ultr_core.files.log_columns import in_words, names_of
from ultr_core.files.name_tables import NameTable
from ultr_core.propensity import DisplayCounts, PresentationLog
from ultr_core.users import ClickLog, GroupCounts, GroupedLog
from ultr_core.words import counted

IntArray = NDArray[np.int64]


UNREAD_IDS = "document_ids"
"""What a refusal is about that asks how ids in comments are written."""


@dataclass(frozen=True)
class Overlap:
    """How much of a log matches a corpus.

    queries: those in the log; queries_joined: those also in the corpus; corpus_queries: those in
    the corpus. impressions, clicks: those in the log; *_joined: those on candidates in the corpus;
    *_of_unknown_queries: those for queries that the corpus lacks; *_outside: those on documents
    that are not candidates of their query. below_list: impressions at positions below the last
    candidate of their query.
    unknown_query, outside_document: an example of each, "" if there is none.
    """

    queries: int
    queries_joined: int
    corpus_queries: int
    impressions: int
    impressions_joined: int
    impressions_of_unknown_queries: int
    impressions_outside: int
    clicks: int
    clicks_joined: int
    clicks_of_unknown_queries: int
    clicks_outside: int
    below_list: int
    unknown_query: str = ""
    outside_document: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class JoinedLog:
    """The part of a log that matches a corpus, ready for a learner.

    clicks: counted by document and rank, with the draws of each query; a `GroupedLog` if the log
    has sessions. A log that was read with the number of clicks above each row has that number as
    its context, and has groups of presentations if it has no sessions; other contexts are kept.
    overlap: what was joined and what was not. notices: sentences for the user. lost: one sentence
    if rows in the log cannot be used, or "".
    """

    clicks: ClickLog
    overlap: Overlap
    notices: tuple[str, ...]
    lost: str = ""


def require_queries(log: PresentationLog, name: str) -> None:
    """Raise InputError for a log without a query column, which cannot be joined with any corpus."""
    if "query" in log.columns or log.query_names != ("",):
        return
    but = f", but {in_words(log.header)}" if log.header else ""
    unused = f" {log.unused}" if log.unused else ""
    raise InputError(
        f"The log has no query column{but}; its rows cannot be matched with {name}, so say which "
        "column contains each row's query, or add one (also recognised as query: "
        f"{', '.join(names_of('query')[1:])}).{unused}",
        "query",
    )


def join_log(
    log: PresentationLog,
    corpus: Corpus,
    *,
    name: str = "the corpus",
    queries: NameTable | None = None,
    documents: NameTable | None = None,
    shown_whole: bool = False,
) -> JoinedLog:
    """Match a log with a corpus by query id and document id.

    If the corpus has no document ids, the log must number the candidates of each query 1, 2, ...
    in the order of the corpus. A document that moved remains one document with several ranks. If
    the log has presentation ids and one impression per row, a query was drawn as often as it has
    presentations; otherwise, as often as its most frequent position was shown. queries, documents:
    tables that map query texts and document names in the log to ids; a name that a table lacks is
    taken as an id. shown_whole: keep only queries whose candidates were all shown, in lists long
    enough for them.

    Raises InputError if no query or no document in the log is in the corpus, if the log has no
    query column, if no query is kept, or if the corpus file may contain document ids that were not
    read.
    """
    require_queries(log, name)
    if corpus.document_ids is None and corpus.unread_ids:
        raise InputError(
            f"Until the document ids in {name} are read, no log can be joined with it: "
            f"{corpus.unread_ids}. Say how comments give the id: {{id}} for their first word, for "
            "example, or none if they contain no ids.",
            UNREAD_IDS,
        )
    query_names, known_queries = _ids(log.query_names, queries)
    document_names, known_documents = _ids(log.document_names, documents)
    query_of = _corpus_queries(query_names, corpus)
    if not (query_of >= 0).any():
        raise InputError(
            f"None of the {counted(len(log.query_names), 'query', 'queries')} in the log, such as "
            f"{quoted(log.query_names[0])}, is in {name}, which has queries such as "
            f"{quoted(corpus.query_ids[0])}; use the same query ids in both, or give a table with "
            "the id of each query text.",
            "query_texts",
        )
    shown = log.displays()
    query, title = np.divmod(shown.document, len(log.document_names))
    document = _corpus_documents(document_names, corpus, query_of[query], title)
    joined = document >= 0
    if not joined.any():
        raise InputError(
            _no_document(log, corpus, query, title, query_of, name),
            "" if corpus.document_ids is None else "document_names",
        )
    draws = _draws(log, query_of, corpus.n_queries)
    if not draws.any():
        raise InputError(
            f"In the log, no row for a query in {name} has impressions; the impressions column "
            "needs a number above 0 wherever a document was shown."
        )
    overlap = _overlap(log, corpus, shown, query_of, document)
    kept: tuple[str, ...] = ()
    if shown_whole:
        whole = _shown_whole(document, shown, corpus)
        kept = (_kept(whole & (draws > 0), draws, name),)
        draws = np.where(whole, draws, 0)
        query_of = np.where(whole[query_of], query_of, -1)
        joined &= query_of[query] >= 0
    context = _context(log)
    clicks = ClickLog(
        **(
            _together(document[joined], shown, joined)
            if context is None
            else _by_context(log, context, document, joined)
        ),
        query_draws=int(draws.sum()),
        query_offsets=corpus.query_offsets,
        draws=draws,
        whole_lists=False,
        context_is_given=bool(log.context_names),
    )
    row = _row_of_entry(log, clicks, context, document)
    lacking = (
        *_lacking(queries, ~known_queries[query], shown, "query", "queries"),
        *_lacking(documents, ~known_documents[title], shown, "document", "documents"),
    )
    return JoinedLog(
        _by_session(log, clicks, row, query_of),
        overlap,
        (*lacking, *_sentences(overlap, corpus, name), *kept),
        log.lost,
    )


def _shown_whole(document: IntArray, shown: DisplayCounts, corpus: Corpus) -> NDArray[np.bool_]:
    """Queries of which all candidates were shown, and whose lists had a place for each [queries].

    document: row in the corpus of each row of displays, -1 for none.
    """
    seen = (document >= 0) & (shown.impressions > 0)
    never = np.bincount(document[seen], minlength=corpus.n_documents) == 0
    query = query_of_document(corpus.query_offsets)
    lowest = np.zeros(corpus.n_queries, dtype=np.int64)
    np.maximum.at(lowest, query[document[seen]], shown.rank[seen])
    left_out = np.bincount(query[never], minlength=corpus.n_queries)
    found: NDArray[np.bool_] = (left_out == 0) & (lowest >= corpus.sizes)
    return found


def _kept(whole: NDArray[np.bool_], draws: IntArray, name: str) -> str:
    """What is said of a log of which only queries that were shown whole are kept."""
    number, drawn = int(np.count_nonzero(whole)), int(np.count_nonzero(draws))
    if not number:
        raise InputError(
            f"For none of the {counted(drawn, 'query', 'queries')} from {name} in the log were all "
            "candidates shown; log longer lists, or remove from the corpus the documents that "
            "users cannot see.",
            "none_shown_whole",
        )
    return (
        f"All candidates were shown for only {number:,} of {counted(drawn, 'query', 'queries')}, "
        f"with {draws[whole].sum() / draws.sum():.1%} of the presentations; only those queries are "
        "used, and the results apply only to them."
    )


def _by_session(
    log: PresentationLog, clicks: ClickLog, row: IntArray, query_of: IntArray
) -> ClickLog:
    """The joined log by group of sessions, or as it is where fewer than two have a query draw.

    row: in ``clicks`` of each entry of the log, -1 for none; query_of: as in `_draws`. Clicks above
    make clicks of one presentation depend on each other, so that they are grouped without sessions.
    """
    group = log.session_groups if log.above is None else log.groups
    if group is None:
        return clicks
    draws = _draws_by_group(log, query_of, group, clicks.draws)
    used = draws > 0
    number, place = np.cumsum(used) - 1, row
    # Groups of other queries alone are none here.
    kept = (place >= 0) & used[group]
    groups = int(np.count_nonzero(used))
    if groups < 2:
        return clicks
    cell = place[kept] * groups + number[group[kept]]
    shown, clicked = (
        np.bincount(cell, weights=values[kept], minlength=clicks.rank.size * groups)
        for values in (log.impressions, log.clicks)
    )
    counting = np.flatnonzero(shown)
    of_row, of_group = np.divmod(counting, groups)
    return GroupedLog(
        clicks,
        GroupCounts(
            of_row,
            of_group,
            np.rint(shown[counting]).astype(np.int64),
            np.rint(clicked[counting]).astype(np.int64),
            draws[used],
            of=log.grouped_by,
        ),
    )


def _draws_by_group(
    log: PresentationLog, query_of: IntArray, group: IntArray, draws: IntArray
) -> NDArray[np.float64]:
    """Query draws of each group, float64 [groups], which add up to those of each query.

    In a group a query was drawn as often as its most shown position was shown there. Where these
    add up to another number than the query's draws, for lists may lack any position, each counts
    in proportion.
    """
    query = query_of[log.query]
    kept, groups = query >= 0, int(group.max()) + 1
    cell, shown = _most_shown(log, kept, query[kept] * groups + group[kept])
    of_query, of_group = np.divmod(cell, groups)
    most = shown.astype(np.float64)
    summed = np.bincount(of_query, weights=most, minlength=draws.size)
    share = np.divide(draws, summed, out=np.zeros(draws.size), where=summed > 0)
    found = np.bincount(of_group, weights=most * share[of_query], minlength=groups)
    scaled: NDArray[np.float64] = np.asarray(found, np.float64) * (draws.sum() / found.sum())
    return scaled


def _ids(names: Sequence[str], table: NameTable | None) -> tuple[list[str], NDArray[np.bool_]]:
    """The ids of names, and which of them the table has; all of them without a table."""
    if table is None:
        return list(names), np.ones(len(names), dtype=np.bool_)
    ids, known = table.ids_of(names)
    return ids, np.array(known, dtype=np.bool_)


def _lacking(
    table: NameTable | None, rows: NDArray[np.bool_], shown: DisplayCounts, one: str, several: str
) -> Iterator[str]:
    """A sentence on the share of a log whose names a table lacks."""
    if table is None or not rows.any():
        return
    views, clicks = int(shown.impressions[rows].sum()), int(shown.clicks[rows].sum())
    yield (
        f"{table.name} lacks the names of {several} with "
        f"{views / max(int(shown.impressions.sum()), 1):.1%} of the log's impressions and "
        f"{clicks / max(int(shown.clicks.sum()), 1):.1%} of its clicks; a {one} that is not in the "
        "table is taken as an id."
    )


def _together(
    document: IntArray, shown: DisplayCounts, joined: NDArray[np.bool_]
) -> dict[str, IntArray]:
    """Rows by document and rank; several names may be one document."""
    order = np.lexsort((shown.rank[joined], document))
    documents, ranks = document[order], shown.rank[joined][order]
    new = np.append(True, (np.diff(documents) != 0) | (np.diff(ranks) != 0))
    first = np.flatnonzero(new)
    return {
        "document": documents[first],
        "rank": ranks[first],
        "impressions": np.add.reduceat(shown.impressions[joined][order], first),
        "clicks": np.add.reduceat(shown.clicks[joined][order], first),
    }


def _context(log: PresentationLog) -> IntArray | None:
    """The context of each entry: clicks above, or the column's; None where rows have none.

    Raises InputError for both.
    """
    if not log.context_names:
        return log.above
    if log.above is not None:
        raise InputError(
            "The log has contexts, but counts of clicks above each row were requested too; give "
            "only one of the two.",
            "contexts",
        )
    return np.asarray(log.context, np.int64)


def _row_of_entry(
    log: PresentationLog, clicks: ClickLog, context: IntArray | None, document: IntArray
) -> IntArray:
    """Row of the joined log of each entry, -1 for none; document: of each display.

    Rows are sorted by document, rank and context, and several names may be one document.
    """
    of_entry = document[log.display_of_entry]
    places = int(log.position.max()) + 1
    wanted, keys = of_entry * places + log.position, clicks.document * places + clicks.rank
    if context is not None:
        many = int(context.max()) + 1
        wanted, keys = wanted * many + context, keys * many + clicks.context
    row = np.searchsorted(keys, wanted)
    row[(of_entry < 0) | (row == keys.size)] = -1
    row[keys[row] != wanted] = -1
    return row


def _by_context(
    log: PresentationLog, context: IntArray, document: IntArray, joined: NDArray[np.bool_]
) -> dict[str, IntArray]:
    """Rows by document, rank and context [entries]; document, joined: of each display."""
    kept = joined[log.display_of_entry]
    keys = np.stack([document[log.display_of_entry], log.position, context])[:, kept]
    cells, row = np.unique(keys, axis=1, return_inverse=True)
    found = dict(zip(("document", "rank", "context"), cells, strict=True))
    for name, values in (("impressions", log.impressions), ("clicks", log.clicks)):
        found[name] = np.zeros(cells.shape[1], np.int64)
        np.add.at(found[name], row.ravel(), values[kept])
    return found


def _corpus_queries(names: Sequence[str], corpus: Corpus) -> IntArray:
    """Query number in the corpus of each query of the log, -1 for none."""
    number = {query: place for place, query in enumerate(corpus.query_ids)}
    return np.array([number.get(query, -1) for query in names], dtype=np.int64)


def _corpus_documents(
    names: Sequence[str], corpus: Corpus, query: IntArray, title: IntArray
) -> IntArray:
    """Row in the corpus for queries of the corpus and names of the log [pairs], -1 for none."""
    known = query >= 0
    if corpus.document_ids is None:
        numbers = np.array([_candidate(text) for text in names], dtype=np.int64)
        candidate = numbers[title]
        inside = known & (candidate >= 1) & (candidate <= corpus.sizes[query])
        return np.where(inside, corpus.query_offsets[query] + candidate - 1, -1)
    code: dict[str, int] = {}
    codes = np.array([code.setdefault(name, len(code)) for name in names], dtype=np.int64)
    of_corpus = np.array([code.get(name, -1) for name in corpus.document_ids], dtype=np.int64)
    rows = np.flatnonzero(of_corpus >= 0)
    if not rows.size:
        return np.full(query.size, -1, dtype=np.int64)
    query_of_row = np.repeat(np.arange(corpus.n_queries), corpus.sizes)
    keys, first = np.unique(query_of_row[rows] * len(code) + of_corpus[rows], return_index=True)
    wanted = query * len(code) + codes[title]
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(known & (keys[place] == wanted), rows[first[place]], -1)


def _candidate(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _no_document(
    log: PresentationLog,
    corpus: Corpus,
    query: IntArray,
    title: IntArray,
    query_of: IntArray,
    name: str,
) -> str:
    row = int(np.argmax(query_of[query] >= 0))
    shown = quoted(log.document_names[int(title[row])])
    quote = shown[0]
    about = f"query {quoted(log.query_names[int(query[row])])} in the log shows {shown}"
    if corpus.document_ids is None:
        return (
            f"No document in the log could be found in {name}, which has no document ids: {about}, "
            "but without ids the candidates of a query are numbered 1, 2, ... in the order of the "
            "corpus; end each row of the corpus with its document's id, here # docid = "
            f"{shown.strip(quote)}."
        )
    own = quoted(corpus.document_ids[int(corpus.query_offsets[query_of[query[row]]])])
    return (
        f"No document in the log is a candidate of its query in {name}: {about}, but the corpus "
        f"has documents such as {own}; use the same document ids in both, or give a table with "
        "the id of each document name."
    )


def _draws(log: PresentationLog, query_of: IntArray, queries: int) -> IntArray:
    """How often each query of the corpus was drawn; query_of: the corpus' of each of the log's."""
    query = query_of[log.query]
    kept = query >= 0
    draws = np.zeros(queries, dtype=np.int64)
    of_query, most = _most_shown(log, kept, query[kept])
    draws[of_query] = most
    found = log.presentations
    if found is not None and found.draws is not None:
        inside = query_of >= 0
        lists = np.bincount(query_of[inside], found.draws[inside], queries).astype(np.int64)
        draws = np.maximum(draws, lists)
    return draws


def _most_shown(
    log: PresentationLog, kept: NDArray[np.bool_], cell: IntArray
) -> tuple[IntArray, IntArray]:
    """The different cells of the kept rows, rising, and how often their most shown position was."""
    places = log.positions.size
    at = cell * places + np.searchsorted(log.positions, log.position[kept])
    order = np.argsort(at, kind="stable")
    first = np.flatnonzero(np.diff(at[order], prepend=-1))
    shown = np.add.reduceat(log.impressions[kept][order], first, dtype=np.int64)
    of_cell = at[order][first] // places
    start = np.flatnonzero(np.diff(of_cell, prepend=-1))
    most: IntArray = np.maximum.reduceat(shown, start)
    return of_cell[start], most


def _overlap(
    log: PresentationLog,
    corpus: Corpus,
    shown: DisplayCounts,
    query_of: IntArray,
    document: IntArray,
) -> Overlap:
    query, title = np.divmod(shown.document, len(log.document_names))
    joined, unknown = document >= 0, query_of[query] < 0
    outside = ~joined & ~unknown
    below = joined & (shown.rank > corpus.sizes[query_of[query]])
    stray, strange = int(np.argmax(outside)), int(np.argmin(query_of))

    def views(rows: NDArray[np.bool_]) -> int:
        return int(shown.impressions[rows].sum())

    def clicks(rows: NDArray[np.bool_]) -> int:
        return int(shown.clicks[rows].sum())

    return Overlap(
        queries=len(log.query_names),
        queries_joined=int(np.count_nonzero(query_of >= 0)),
        corpus_queries=corpus.n_queries,
        impressions=int(shown.impressions.sum()),
        impressions_joined=views(joined),
        impressions_of_unknown_queries=views(unknown),
        impressions_outside=views(outside),
        clicks=int(shown.clicks.sum()),
        clicks_joined=clicks(joined),
        clicks_of_unknown_queries=clicks(unknown),
        clicks_outside=clicks(outside),
        below_list=views(below),
        unknown_query=log.query_names[strange] if query_of[strange] < 0 else "",
        outside_document=log.document_names[int(title[stray])] if outside[stray] else "",
    )


def _sentences(overlap: Overlap, corpus: Corpus, name: str) -> Iterator[str]:
    if corpus.document_ids is None:
        yield (
            f"The documents of {name} have no ids, so the log's documents were read as the numbers "
            "1, 2, ... of each query's candidates in the order of the corpus; to match ids "
            "instead, end each row of the corpus with # docid = ID."
        )
    if missing := overlap.queries - overlap.queries_joined:
        yield (
            f"{missing:,} of {counted(overlap.queries, 'query', 'queries')} in the log, such as "
            f"{quoted(overlap.unknown_query)}, {'is' if missing == 1 else 'are'} not in {name}; "
            f"{'its' if missing == 1 else 'their'} "
            f"{counted(overlap.clicks_of_unknown_queries, 'click is', 'clicks are')} left out."
        )
    if overlap.impressions_outside:
        yield (
            f"{counted(overlap.clicks_outside, 'click')} and "
            f"{counted(overlap.impressions_outside, 'impression')} are on documents, such as "
            f"{quoted(overlap.outside_document)}, that are not candidates of their query in "
            f"{name}; they are left out."
        )
    if overlap.below_list:
        yield (
            f"{counted(overlap.below_list, 'impression is', 'impressions are')} at positions below "
            "the last candidate of their query, so the lists shown were longer than those in the "
            "corpus; these impressions are used."
        )
