"""Whether a ranker was trained on the clicks that judge it, as far as its file tells.

    record = record_of(fit)                         # written with the ranker
    trained_on(corpus, log, record).share           # of this log's queries

A fingerprint is a sample of the training log's queries, each as a hash of its counts. A log that
gained or lost some rows, or that has some of the queries, still shares most of its own with it. A
log in which most queries have gained or lost rows does not, so that no share proves that the clicks
are others.

Other clicks on the same impressions repeat the counts of a query with a probability of at most

    b_q = prod over its rows of Binomial(c; n, c / n),

whatever the probabilities of a click: c / n makes c of n clicks most likely. It is 1 where all or
none of the impressions of each row were clicked, as in queries for one site. Of n independent
queries, a share s or more agrees with a probability of at most exp(-n KL(s, mean b_q)) (Hoeffding,
JASA 1963), KL(s, b) = s log(s / b) + (1 - s) log((1 - s) / (1 - b)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, rel_entr, xlogy

from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.users import ClickLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEWEST_CLICKS = 5
"""Clicks from which the counts of a query may tell logs apart."""

FALSE_ALARMS = 0.01
"""Share of logs that did not train a ranker and that are taken for its own, at most."""

KEPT = 100
"""Hashes kept of a log, the smallest: a sample that is the same for the same queries."""

FEWEST_QUERIES = 5
"""Queries of the sample that a share needs."""

MUCH = 0.2
"""Share of a log's queries that gives a ranker away."""


@dataclass(frozen=True)
class Provenance:
    """What a ranker's file says of the clicks that trained it.

    share: of this log's queries with ``FEWEST_CLICKS`` clicks, those that trained with the same
    counts, 0 where chance explains them; None where the file, or the log, does not tell.
    same_counts: whether clicks, presentations and clicked documents are those of the log, and are
    so by chance in few logs. held_out: whether it is known that the clicks that judge did not
    train, as of held-out scores.
    """

    share: float | None = None
    same_counts: bool = False
    held_out: bool = False

    @property
    def trained(self) -> bool | None:
        """True if these clicks seem to have trained the ranker, None if nobody can know."""
        if self.held_out:
            return False
        told = self.same_counts if self.share is None else self.share >= MUCH
        return True if told else None

    def told(self, name: str) -> str:
        """A sentence on a ranker that these clicks trained; "" for another."""
        if not self.trained:
            return ""
        if self.share is None:
            found = (
                f"{name} was trained on as many clicks, presentations and clicked documents as "
                "this log has, so probably on this log"
            )
        else:
            found = (
                f"{name} was probably trained on {self.share:.0%} of this log: that share of its "
                f"queries with {FEWEST_CLICKS} clicks or more has the same counts as in the "
                f"training log, which is more than chance would explain"
            )
        return f"{found}; an estimate from a ranker's own training clicks is optimistic."


def fingerprint(corpus: Corpus, log: ClickLog) -> list[str]:
    """The ``KEPT`` smallest hashes of the log's queries, in order; fewer of a smaller log."""
    return sorted(_hashes(corpus, _whatever_the_context(log)))[:KEPT]


def _whatever_the_context(log: ClickLog) -> ClickLog:
    """The log by document and rank: read with contexts or without, it is the same log."""
    if not log.context.any():
        return log
    keys = np.stack([log.document, log.rank.astype(np.int64)])
    cells, row = np.unique(keys, axis=1, return_inverse=True)
    shown, clicked = np.zeros((2, cells.shape[1]), np.int64)
    np.add.at(shown, row.ravel(), log.impressions)
    np.add.at(clicked, row.ravel(), log.clicks)
    return ClickLog(
        cells[0], cells[1], shown, clicked, log.query_draws, log.query_offsets, log.draws,
        whole_lists=False,
    )  # fmt: skip


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
    log = _whatever_the_context(log)
    counts = counts_of(log)
    same = all(record.get(key) == count for key, count in counts.items())
    same = same and _chance_of_totals(log) <= FALSE_ALARMS
    known = record.get("fingerprint")
    if not isinstance(known, list) or not known:
        return Provenance(same_counts=same)
    kept = {str(each) for each in known}
    reach = max(kept) if len(kept) >= KEPT else "~"  # "~" comes after all hexadecimal digits
    here = {each: query for each, query in _hashes(corpus, log).items() if each <= reach}
    if len(here) < FEWEST_QUERIES:
        return Provenance(same_counts=same)
    chance = float(chance_of_counts(log)[list(here.values())].mean())
    agreeing = sum(each in kept for each in here) / len(here)
    if agreeing <= chance or len(here) * _divergence(agreeing, chance) < -np.log(FALSE_ALARMS):
        # All that agree may do so by chance; where even all queries could, nothing is known.
        most = len(here) * _divergence(1.0, chance)
        return Provenance(0.0 if most >= -np.log(FALSE_ALARMS) else None, same)
    return Provenance(agreeing, same)


def _divergence(s: float, b: float) -> float:
    """KL(s, b) of two shares."""
    return float(rel_entr(s, b) + rel_entr(1.0 - s, 1.0 - b))


def chance_of_counts(log: ClickLog) -> FloatArray:
    """b_q, float64 [queries]. Where only clicks were logged, their numbers are taken as Poisson."""
    c = log.clicks.astype(np.float64)
    if log.clicks_only:
        each = xlogy(c, c) - c - gammaln(c + 1.0)
    else:
        n, rest = log.impressions.astype(np.float64), log.impressions - c
        each = gammaln(n + 1.0) - gammaln(c + 1.0) - gammaln(rest + 1.0)
        each += xlogy(c, c) + xlogy(rest, rest) - xlogy(n, n)
    query = query_of_document(log.query_offsets)[log.document]
    summed: FloatArray = np.exp(np.bincount(query, each, log.query_offsets.size - 1))
    return summed


def _chance_of_totals(log: ClickLog) -> float:
    """About how often other clicks on the same impressions are as many, on as many documents.

    Each of two numbers is most likely with 1 / (2.5 standard deviations). They are taken as
    independent, which documents that are clicked again and again make them.
    """
    n = np.maximum(log.impressions, 1).astype(np.float64)
    not_clicked = (1.0 - log.clicks / n) ** n
    of_clicks = log.clicks if log.clicks_only else log.clicks * (1.0 - log.clicks / n)
    of_documents = not_clicked * (1.0 - not_clicked)
    spread = [np.sqrt(2.0 * np.pi * float(each.sum())) for each in (of_clicks, of_documents)]
    return float(np.prod([1.0 / max(each, 1.0) for each in spread]))


def counts_of(log: ClickLog) -> dict[str, int]:
    """Counts that two logs share only by chance; all three agreeing is still no proof."""
    return {
        "clicks": log.total_clicks,
        "query_draws": log.query_draws,
        "clicked_documents": int(np.count_nonzero(log.clicks_per_document)),
    }


def _hashes(corpus: Corpus, log: ClickLog) -> dict[str, int]:
    """The queries with enough clicks, by a hash of the id and of all rows, in any order."""
    query_of = query_of_document(log.query_offsets)
    enough = log.clicks_per_query >= FEWEST_CLICKS
    names = _numbers_of_documents(corpus, np.flatnonzero(enough[query_of]))
    rows = np.stack(
        [query_of[log.document], names[log.document], log.rank, log.context, log.impressions,
         log.clicks], axis=1,
    ).astype(np.int64)  # fmt: skip
    rows = rows[np.lexsort(rows[:, 3::-1].T)]
    bounds = np.searchsorted(rows[:, 0], np.arange(enough.size + 1))
    found = {}
    for query in np.flatnonzero(enough).tolist():
        part = np.ascontiguousarray(rows[bounds[query] : bounds[query + 1], 1:])
        name = str(corpus.query_ids[query]).encode()
        found[blake2b(name + b"\0" + part.tobytes(), digest_size=8).hexdigest()] = query
    return found


def _numbers_of_documents(corpus: Corpus, needed: IntArray) -> IntArray:
    """A number for each document; with an id, the same among other candidates."""
    first = corpus.query_offsets[query_of_document(corpus.query_offsets)]
    numbers: IntArray = np.arange(corpus.n_documents) - first
    if corpus.document_ids is not None:
        for document in needed.tolist():
            digest = blake2b(corpus.document_ids[document].encode(), digest_size=8).digest()
            numbers[document] = int.from_bytes(digest, "little", signed=True)
    return numbers
