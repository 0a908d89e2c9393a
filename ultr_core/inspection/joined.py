"""A click log from outside and a corpus brought together by query and document id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.errors import InputError, quoted
from ultr_core.files.name_tables import NameTable
from ultr_core.propensity import DisplayCounts, PresentationLog
from ultr_core.users import ClickLog
from ultr_core.words import counted

IntArray = NDArray[np.int64]


UNREAD_IDS = "document_ids"
"""What a refusal is about that asks how ids in comments are written."""


@dataclass(frozen=True)
class Overlap:
    """How much of a log and of a corpus belong together.

    queries: in the log; queries_joined: of them in the corpus; corpus_queries: in the corpus.
    impressions, clicks: in the log; *_joined: on candidates of the corpus; *_of_unknown_queries:
    of queries that the corpus lacks; *_outside: on documents that are no candidates of their query.
    below_list: impressions at positions below the last candidate of their query.
    unknown_query, outside_document: one of each as an example, "" where there is none.
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
    """The part of a log that belongs to a corpus, as the learner takes it.

    clicks: counted by document and rank, with the draws of each query. overlap: what was joined
    and what was not. notices: one sentence for each thing a reader should know.
    """

    clicks: ClickLog
    overlap: Overlap
    notices: tuple[str, ...]


def join_log(
    log: PresentationLog,
    corpus: Corpus,
    *,
    name: str = "the corpus",
    queries: NameTable | None = None,
    documents: NameTable | None = None,
) -> JoinedLog:
    """Match a log with a corpus by query id and document id.

    Where the corpus has no document ids, the log must call the candidates of each query 1, 2, ...
    in the order of the corpus. A document that moved stays one document with several ranks. A
    query was drawn as often as it has pages, where the log has a column of pages and one
    impression a row; otherwise as often as its most shown position was shown. queries, documents:
    tables of the ids of what the log calls by text or by name; what they lack is taken for an id.

    Raises InputError if no query, or no document, of the log is in the corpus, or if the file of
    the corpus may hold document ids that were not read.
    """
    if corpus.document_ids is None and corpus.unread_ids:
        raise InputError(
            f"A log cannot be joined with {name} before its document ids are read: "
            f"{corpus.unread_ids}; say how ids are written in comments, such as {{id}} for their "
            "first word, or none for no ids.",
            UNREAD_IDS,
        )
    query_names, known_queries = _ids(log.query_names, queries)
    document_names, known_documents = _ids(log.document_names, documents)
    query_of = _corpus_queries(query_names, corpus)
    if not (query_of >= 0).any():
        raise InputError(
            f"None of the {counted(len(log.query_names), 'query', 'queries')} of the log, such as "
            f"{quoted(log.query_names[0])}, is in {name}, whose queries are such as "
            f"{quoted(corpus.query_ids[0])}; both must use the same query ids."
        )
    shown = log.displays()
    query, title = np.divmod(shown.document, len(log.document_names))
    document = _corpus_documents(document_names, corpus, query_of[query], title)
    joined = document >= 0
    if not joined.any():
        raise InputError(_no_document(log, corpus, query, title, query_of, name))
    draws = _draws(log, query_of[log.query], corpus.n_queries)
    if not draws.any():
        raise InputError(
            f"No row of the log on a query of {name} has an impression; the column impressions "
            "must be above 0 where something was shown."
        )
    clicks = ClickLog(
        **_together(document[joined], shown, joined),
        query_draws=int(draws.sum()),
        query_offsets=corpus.query_offsets,
        draws=draws,
        whole_lists=False,
    )
    overlap = _overlap(log, corpus, shown, query_of, document)
    lacking = (
        *_lacking(queries, ~known_queries[query], shown, "query", "queries"),
        *_lacking(documents, ~known_documents[title], shown, "document", "documents"),
    )
    return JoinedLog(clicks, overlap, (*lacking, *_sentences(overlap, corpus, name)))


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
        f"{clicks / max(int(shown.clicks.sum()), 1):.1%} of its clicks; a {one} that it lacks is "
        "taken for an id."
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
    about = f"query {quoted(log.query_names[int(query[row])])} of the log shows {shown}"
    if corpus.document_ids is None:
        return (
            f"No document of the log could be found in {name}, which has no document ids: {about}, "
            "and without ids the candidates of a query are called 1, 2, ... in the corpus' order; "
            "end each row of the corpus with its document's id, here "
            f"# docid = {shown.strip(quote)}."
        )
    own = quoted(corpus.document_ids[int(corpus.query_offsets[query_of[query[row]]])])
    return (
        f"No document of the log is a candidate of its query in {name}: {about}, where the corpus "
        f"has documents such as {own}; both must use the same document ids."
    )


def _draws(log: PresentationLog, query: IntArray, queries: int) -> IntArray:
    """How often each query of the corpus was drawn, int64 [queries]; query is that of each row."""
    kept = query >= 0
    places = log.positions.size
    views = query[kept] * places + np.searchsorted(log.positions, log.position[kept])
    order = np.argsort(views, kind="stable")
    first = np.flatnonzero(np.diff(views[order], prepend=-1))
    shown = np.add.reduceat(log.impressions[kept][order], first, dtype=np.int64)
    draws = np.zeros(queries, dtype=np.int64)
    np.maximum.at(draws, views[order][first] // places, shown)
    if log.page is not None and int(log.impressions.max()) <= 1:
        seen = kept & (log.impressions > 0)
        pages = int(log.page.max()) + 1
        visits = np.sort(query[seen] * pages + log.page[seen])
        first = np.flatnonzero(np.diff(visits, prepend=-1))
        draws = np.maximum(draws, np.bincount(visits[first] // pages, minlength=queries))
    return draws


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
            f"The documents of {name} have no ids, so the log's documents were taken as the "
            "numbers 1, 2, ... of each query's candidates in the order of the corpus; if "
            "each row of the corpus ends in # docid = ID, that is matched."
        )
    if missing := overlap.queries - overlap.queries_joined:
        yield (
            f"{missing:,} of {counted(overlap.queries, 'query', 'queries')} of the log, such as "
            f"{quoted(overlap.unknown_query)}, {'is' if missing == 1 else 'are'} not in {name}; "
            f"{'its' if missing == 1 else 'their'} "
            f"{counted(overlap.clicks_of_unknown_queries, 'click is', 'clicks are')} left out."
        )
    if overlap.impressions_outside:
        yield (
            f"{counted(overlap.clicks_outside, 'click')} and "
            f"{counted(overlap.impressions_outside, 'impression')} are on documents, such as "
            f"{quoted(overlap.outside_document)}, that are no candidates of their query in "
            f"{name}; they are left out."
        )
    if overlap.below_list:
        yield (
            f"{counted(overlap.below_list, 'impression is', 'impressions are')} at positions below "
            "the last candidate of their query, so the lists that were shown held more than the "
            "corpus; they are used."
        )
