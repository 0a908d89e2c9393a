"""The click log: what was shown where, how often, and how often it was clicked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import (
    RankArray,
    checked_offsets,
    in_brief,
    query_sums,
    whole_numbers,
    whole_or_none,
)
from ultr_core.errors import InputError, quoted
from ultr_core.words import counted

IntArray = NDArray[np.int64]

MOST_COUNTED = 2**62
"""Impressions from which their sums are no longer kept: int64 would overflow soon after."""


def require_countable(impressions: IntArray) -> None:
    """Raise InputError for whole numbers >= 0 that add up to ``MOST_COUNTED`` or more."""
    total = float(np.sum(impressions, dtype=np.float64))
    if total >= MOST_COUNTED:
        raise InputError(
            f"The impressions add up to {total:.3g}, more than can be counted; their sum must be "
            f"below {MOST_COUNTED:.3g}.",
            "too_large",
        )


def require_log(log: object) -> None:
    """Raise InputError for anything that is not a ClickLog."""
    if not isinstance(log, ClickLog):
        raise InputError(
            f"The click log is {quoted(log)}; it must be a ClickLog, for example from "
            "simulate_counts, or join_log(...).clicks.",
            "not_a_click_log",
        )


@dataclass(frozen=True, eq=False, init=False)
class ClickLog:
    """Clicks counted by document, presented rank and context, one row for each such triple.

    document: int64 [rows], the document's row in the corpus.
    rank: int32 [rows], where it was presented, from 1.
    impressions: int64 [rows], how often it was presented there.
    clicks: int64 [rows], how often it was clicked there, at most once per impression.
    query_draws: N, the number of presentations, including those without a click.
    query_offsets: int64 [queries + 1], as in the corpus.
    draws: int64 [queries], how often each query was presented. By default, the impressions of the
    query's most often presented document; this is exact if some document for the query is presented
    in every draw, which is the case if whole candidate lists are shown.
    context: int32 [rows], 0 or more: what else examination may depend on, such as the device or the
    number of clicks above; 0 by default.
    whole_lists: whether each draw showed a query's candidates and nothing else, as simulated users
    see them. If not, ranks may lie below a query's last candidate, because a real list may contain
    documents that the corpus lacks.
    context_is_given: whether the context is known before a list is shown, as a device is, so that
    clicks do not change it; False for the number of clicks above.

    N is used in the risk of equations (4) and (5) of Joachims, Swaminathan and Schnabel (2017); the
    number of clicks n (`total_clicks`) is used in the C/n of their Section 6. Repeated clicks are
    counted and not stored as rows, so the cost of later steps depends on the corpus and not on n.

    Arrays are made read-only. Raises InputError if the numbers contradict each other.
    """

    document: IntArray
    rank: RankArray
    impressions: IntArray
    clicks: IntArray
    query_draws: int
    query_offsets: IntArray
    draws: IntArray
    context: NDArray[np.int32]
    whole_lists: bool
    context_is_given: bool

    def __init__(
        self,
        document: ArrayLike,
        rank: ArrayLike,
        impressions: ArrayLike,
        clicks: ArrayLike,
        query_draws: int,
        query_offsets: ArrayLike,
        draws: ArrayLike | None = None,
        context: ArrayLike | None = None,
        whole_lists: bool = True,
        context_is_given: bool = False,
    ) -> None:
        """Bring the arrays to their types, check them and make them read-only."""
        self._take("document", document, np.int64)
        self._take("rank", rank, np.int32)
        self._take("impressions", impressions, np.int64)
        self._take("clicks", clicks, np.int64)
        self._take("query_offsets", query_offsets, np.int64)
        self._take("context", np.zeros(self.rank.shape) if context is None else context, np.int32)
        object.__setattr__(self, "whole_lists", bool(whole_lists))
        object.__setattr__(self, "context_is_given", bool(context_is_given))
        last = int(self.query_offsets.flat[-1]) if self.query_offsets.size else 0
        checked_offsets(self.query_offsets, last)
        columns = (self.document, self.rank, self.impressions, self.clicks, self.context)
        if len({column.shape for column in columns}) > 1 or self.document.ndim != 1:
            raise InputError(
                "The columns of a click log must be equally long lists of numbers.",
                "equal_lengths",
            )
        whole = whole_or_none(query_draws)
        if whole is None or whole < 1:
            raise InputError(
                f"A click log needs at least 1 presentation, not {in_brief(query_draws)}.",
                "no_draw",
            )
        object.__setattr__(self, "query_draws", whole)
        if draws is not None:
            self._take_draws(draws)
        self._check_rows()
        require_countable(self.impressions)
        if draws is None:
            most = np.maximum.reduceat(self.impressions_per_document, self.query_offsets[:-1])
            self._take_draws(most)
        drawn = int(self.draws.sum())
        if drawn > self.query_draws:
            raise InputError(
                f"The impressions need at least {counted(drawn, 'presentation')}, but the log has "
                f"{self.query_draws}."
            )

    @classmethod
    def presented(cls, ranks: ArrayLike, query_offsets: ArrayLike) -> ClickLog:
        """One presentation of every query, before any click, for computing exact moments.

        ranks [documents] as presented, query_offsets [queries + 1]. Raises InputError if they
        contradict each other.

        >>> rows = ClickLog.presented([2, 1, 1], query_offsets=[0, 2, 3])
        >>> rows.impressions.tolist(), rows.total_clicks, rows.query_draws
        ([1, 1, 1], 0, 2)
        """
        size, queries = np.size(ranks), np.size(query_offsets) - 1
        nothing = np.zeros(size, dtype=np.int64)
        return cls(np.arange(size), ranks, nothing + 1, nothing, queries, query_offsets)

    def _take(self, name: str, given: ArrayLike, dtype: type[np.signedinteger[Any]]) -> None:
        """Keep a column; copied, for making it read-only must not touch the caller's array."""
        what = f"Numbers in the column {name} of a click log"
        array = whole_numbers(given, what, dtype).copy()
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _take_draws(self, given: ArrayLike) -> None:
        """Keep a copy of the draws of each query; raises InputError if they do not fit."""
        draws = whole_numbers(given, "Draws of the queries in a click log", np.int64).copy()
        if draws.shape != (self.query_offsets.size - 1,) or (draws < 0).any():
            raise InputError(
                f"A click log with {self.query_offsets.size - 1} queries needs, for each "
                "query, a number of draws (presentations) of 0 or more."
            )
        draws.flags.writeable = False
        object.__setattr__(self, "draws", draws)

    def _check_rows(self) -> None:
        """Raise InputError naming the first row that cannot be right."""
        documents = int(self.query_offsets[-1])
        rules = (
            ((self.document >= 0) & (self.document < documents), f"a document below {documents}"),
            (self.rank >= 1, "a rank from 1"),
            (self.clicks >= 0, "a number of clicks of 0 or more"),
            (self.context >= 0, "a context of 0 or more"),
            (self.clicks <= self.impressions, "at most one click for each impression"),
        )
        for holds, wanted in rules:
            if not holds.all():
                row = int(np.argmin(holds))
                raise InputError(
                    f"Row {row} of the click log (document {self.document[row]}, rank "
                    f"{self.rank[row]}, {counted(self.impressions[row], 'impression')}, "
                    f"{counted(self.clicks[row], 'click')}) is wrong: it needs {wanted}."
                )
        sizes = np.diff(self.query_offsets)
        longest = np.repeat(sizes, sizes)[self.document]
        beyond = (self.rank > longest) & self.whole_lists
        if beyond.any():
            row = int(np.argmax(beyond))
            raise InputError(
                f"Row {row} of the click log has document {self.document[row]} at rank "
                f"{self.rank[row]}, but its query has only {counted(longest[row], 'document')} to "
                f"rank."
            )
        if not np.all(np.diff(self.document) > 0):
            keys = (self.context, self.rank, self.document)
            order = np.lexsort(keys)
            repeated = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
            if repeated.any():
                row = int(order[np.argmax(repeated)])
                context = f" in context {self.context[row]}" if self.context.any() else ""
                raise InputError(
                    f"The click log has document {self.document[row]} at rank "
                    f"{self.rank[row]}{context} twice; each combination of document, rank and "
                    "context must have only one row."
                )

    @property
    def n_documents(self) -> int:
        """Number of documents in the corpus the log belongs to."""
        return int(self.query_offsets[-1])

    @cached_property
    def total_clicks(self) -> int:
        """Number of clicks n, over all rows."""
        return int(self.clicks.sum())

    @cached_property
    def covers_corpus(self) -> bool:
        """Whether the rows are exactly the documents of the corpus, in order."""
        return self.document.size == self.n_documents and bool(
            np.array_equal(self.document, np.arange(self.n_documents))
        )

    @cached_property
    def clicks_per_document(self) -> IntArray:
        """Clicks on each document over all ranks, int64 [documents]."""
        return self.sum_by_document(self.clicks)

    @cached_property
    def clicks_per_query(self) -> IntArray:
        """Clicks on the documents of each query over all ranks, int64 [queries]."""
        sums: IntArray = query_sums(self.clicks_per_document, self.query_offsets)
        return sums

    @cached_property
    def impressions_per_document(self) -> IntArray:
        """Impressions of each document over all ranks, int64 [documents]."""
        return self.sum_by_document(self.impressions)

    @cached_property
    def clicks_only(self) -> bool:
        """Whether every impression was clicked; such a log does not say what was shown."""
        return bool(self.total_clicks and (self.clicks == self.impressions).all())

    def sum_by_document(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum row values by document, [rows] to [documents]; whole numbers stay int64."""
        dtype = np.float64 if values.dtype.kind == "f" else np.int64
        if self.covers_corpus:
            return values.astype(dtype)
        sums = np.zeros(self.n_documents, dtype=dtype)
        np.add.at(sums, self.document, values)
        return sums
