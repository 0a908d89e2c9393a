"""Whether a ranker was trained on the clicks that judge it, as far as its file tells.

    record = record_of(fit)                         # written with the ranker
    trained_on(corpus, log, record).share           # of this log's queries

A fingerprint is a sample of the training log's queries, each as a hash of its counts. A log that
gained or lost some rows, or that has some of the queries, still shares most of its own with it. A
log in which most queries have gained or lost rows does not, so that no share proves that the clicks
are others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.users import ClickLog

IntArray = NDArray[np.int64]

FEWEST_CLICKS = 5
"""Clicks from which the counts of a query are hardly those of another log by chance."""

KEPT = 100
"""Hashes kept of a log, the smallest: a sample that is the same for the same queries."""

FEWEST_QUERIES = 5
"""Queries of the sample that a share needs."""

MUCH = 0.2
"""Share of a log's queries that gives a ranker away. Of independent logs of 1,000 to
200,000 simulated clicks, up to 2% agreed."""


@dataclass(frozen=True)
class Provenance:
    """What a ranker's file says of the clicks that trained it.

    share: of this log's queries with ``FEWEST_CLICKS`` clicks, those that trained with the same
    counts; None where the file, or so small a log, does not tell. same_counts: whether clicks,
    presentations and clicked documents are those of the log. held_out: whether it is known that
    the clicks that judge did not train, as of held-out scores.
    """

    share: float | None = None
    same_counts: bool = False
    held_out: bool = False

    @property
    def trained(self) -> bool | None:
        """True if these clicks seem to have trained the ranker, None if nobody can know."""
        if self.held_out:
            return False
        shares = self.share is not None and self.share >= MUCH
        return True if self.same_counts or shares else None

    def told(self, name: str) -> str:
        """A sentence on a ranker that these clicks trained; "" for another."""
        if not self.trained:
            return ""
        if self.share is None or self.share < MUCH:
            found = (
                f"{name} was trained on as many clicks, presentations and clicked documents as "
                "this log has, so probably on this log"
            )
        else:
            found = (
                f"{name} was probably trained on {self.share:.0%} of this log: so many of its "
                f"queries with {FEWEST_CLICKS} clicks or more have the same counts as in the "
                "training log"
            )
        return f"{found}; an estimate from a ranker's own training clicks is optimistic."


def fingerprint(corpus: Corpus, log: ClickLog) -> list[str]:
    """The ``KEPT`` smallest hashes of the log's queries, in order; fewer of a smaller log."""
    return sorted(_hashes(corpus, log))[:KEPT]


class _Fit(Protocol):
    @property
    def fingerprint(self) -> Sequence[str]: ...
    def as_dict(self) -> dict[str, Any]: ...


def record_of(fit: _Fit) -> dict[str, Any]:
    """What a ranker's file says of its training: its numbers and the fingerprint of the log."""
    told = {key: value for key, value in fit.as_dict().items() if key != "certificate"}
    return {**told, "fingerprint": list(fit.fingerprint)}


def trained_on(corpus: Corpus, log: ClickLog, record: Mapping[str, Any]) -> Provenance:
    """Hold a ranker's record of its training against a log of the same corpus.

    record: `record_of` the fit, or what a file has of it; {} for a file that has none. The share is
    that of the log's hashes up to the record's largest, which are a sample of all of them.
    """
    counts = counts_of(log)
    same = all(record.get(key) == count for key, count in counts.items())
    known = record.get("fingerprint")
    if not isinstance(known, list) or not known:
        return Provenance(same_counts=same)
    kept = {str(each) for each in known}
    reach = max(kept) if len(kept) >= KEPT else "~"  # "~" comes after all hexadecimal digits
    here = [each for each in _hashes(corpus, log) if each <= reach]
    if len(here) < FEWEST_QUERIES:
        return Provenance(same_counts=same)
    return Provenance(sum(each in kept for each in here) / len(here), same)


def counts_of(log: ClickLog) -> dict[str, int]:
    """Counts that two logs share only by chance; all three agreeing is still no proof."""
    return {
        "clicks": log.total_clicks,
        "query_draws": log.query_draws,
        "clicked_documents": int(np.count_nonzero(log.clicks_per_document)),
    }


def _hashes(corpus: Corpus, log: ClickLog) -> Iterator[str]:
    """One for each query with enough clicks: of its id and of all its rows, in any order."""
    query_of = query_of_document(log.query_offsets)
    enough = log.clicks_per_query >= FEWEST_CLICKS
    names = _numbers_of_documents(corpus, np.flatnonzero(enough[query_of]))
    rows = np.stack(
        [query_of[log.document], names[log.document], log.rank, log.context, log.impressions,
         log.clicks], axis=1,
    ).astype(np.int64)  # fmt: skip
    rows = rows[np.lexsort(rows[:, 3::-1].T)]
    bounds = np.searchsorted(rows[:, 0], np.arange(enough.size + 1))
    for query in np.flatnonzero(enough).tolist():
        part = np.ascontiguousarray(rows[bounds[query] : bounds[query + 1], 1:])
        name = str(corpus.query_ids[query]).encode()
        yield blake2b(name + b"\0" + part.tobytes(), digest_size=8).hexdigest()


def _numbers_of_documents(corpus: Corpus, needed: IntArray) -> IntArray:
    """A number for each document; with an id, the same among other candidates."""
    first = corpus.query_offsets[query_of_document(corpus.query_offsets)]
    numbers: IntArray = np.arange(corpus.n_documents) - first
    if corpus.document_ids is not None:
        for document in needed.tolist():
            digest = blake2b(corpus.document_ids[document].encode(), digest_size=8).digest()
            numbers[document] = int.from_bytes(digest, "little", signed=True)
    return numbers
