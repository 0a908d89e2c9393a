"""The click log: what was shown where, how often, and how often it was clicked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.ranking import (
    RankArray,
    checked_offsets,
    in_brief,
    query_sums,
    whole_numbers,
    whole_or_none,
)
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
            f"below {MOST_COUNTED:.3g}."
        )


def require_log(log: object) -> None:
    """Raise InputError for what is no ClickLog."""
    if not isinstance(log, ClickLog):
        raise InputError(
            f"The click log is {quoted(log)}; it must be a ClickLog, as simulate_counts and "
            "join_log(...).clicks give it."
        )


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Clicks counted by document and presented rank, one row for each such pair.

    document: int64 [rows], the document's row in the corpus.
    rank: int32 [rows], where it was presented, from 1.
    impressions: int64 [rows], how often it was presented there.
    clicks: int64 [rows], how often it was clicked there, at most once an impression.
    query_draws: N, the number of query draws, those without any click included.
    query_offsets: int64 [queries + 1], as in the corpus.
    draws: int64 [queries], how often each query was drawn, where a log from outside says so. Then
        ranks may lie below a query's last candidate: a real list may hold what the corpus lacks.

    N belongs to the risk of equations (4) and (5) of Joachims, Swaminathan and Schnabel (2017);
    the number of clicks n (`total_clicks`) to the C/n of their Section 6. Repeated clicks are a
    count, never rows, so that later costs depend on the corpus and not on n.

    Arrays are made read-only. Raises InputError if the numbers contradict each other.
    """

    document: IntArray
    rank: RankArray
    impressions: IntArray
    clicks: IntArray
    query_draws: int
    query_offsets: IntArray
    draws: IntArray | None = None

    def __post_init__(self) -> None:
        """Bring the arrays to their types, check them and make them read-only."""
        for name in ("document", "rank", "impressions", "clicks", "query_offsets"):
            dtype = np.int32 if name == "rank" else np.int64
            given = getattr(self, name)
            # Copied, for making it read-only must not touch the caller's array.
            array = whole_numbers(
                given, f"Numbers in the column {name} of a click log", dtype
            ).copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        last = int(self.query_offsets.flat[-1]) if self.query_offsets.size else 0
        checked_offsets(self.query_offsets, last)
        shapes = {a.shape for a in (self.document, self.rank, self.impressions, self.clicks)}
        if len(shapes) > 1 or self.document.ndim != 1:
            raise InputError("The columns of a click log must be equally long lists of numbers.")
        draws = whole_or_none(self.query_draws)
        if draws is None or draws < 1:
            raise InputError(
                f"A click log needs 1 query draw or more, not {in_brief(self.query_draws)}."
            )
        object.__setattr__(self, "query_draws", draws)
        if self.draws is not None:
            self._take_draws(self.draws)
        self._check_rows()
        require_countable(self.impressions)
        if int(self.draws_per_query.sum()) > self.query_draws:
            raise InputError(
                f"The impressions need at least "
                f"{counted(int(self.draws_per_query.sum()), 'query draw')}, "
                f"but the log says {self.query_draws}."
            )

    def _take_draws(self, given: IntArray) -> None:
        """Keep a copy of the draws of each query; raises InputError if they do not fit."""
        draws = whole_numbers(given, "Draws of the queries of a click log", np.int64).copy()
        if draws.shape != (self.query_offsets.size - 1,) or (draws < 0).any():
            raise InputError(
                f"A click log of {self.query_offsets.size - 1} queries needs as many numbers of "
                "draws, each 0 or more."
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
        beyond = (self.rank > longest) & (self.draws is None)
        if beyond.any():
            row = int(np.argmax(beyond))
            raise InputError(
                f"Row {row} of the click log has document {self.document[row]} at rank "
                f"{self.rank[row]}, but its query has only "
                f"{counted(longest[row], 'document')} to be ranked."
            )
        if not np.all(np.diff(self.document) > 0):
            order = np.lexsort((self.rank, self.document))
            repeated = (np.diff(self.document[order]) == 0) & (np.diff(self.rank[order]) == 0)
            if repeated.any():
                row = int(order[np.argmax(repeated)])
                raise InputError(
                    f"The click log has document {self.document[row]} at rank {self.rank[row]} "
                    f"twice; rows must be counts of one document and rank each."
                )

    @property
    def n_documents(self) -> int:
        """Number of documents of the corpus the log belongs to."""
        return int(self.query_offsets[-1])

    @cached_property
    def total_clicks(self) -> int:
        """Number of clicks n, over all rows."""
        return int(self.clicks.sum())

    @cached_property
    def covers_corpus(self) -> bool:
        """Whether the rows are exactly the corpus' documents, in their order."""
        return self.document.size == self.n_documents and bool(
            np.array_equal(self.document, np.arange(self.n_documents))
        )

    @cached_property
    def clicks_per_document(self) -> IntArray:
        """Clicks of each document over all ranks, int64 [documents]."""
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
    def draws_per_query(self) -> IntArray:
        """How often each query was drawn, int64 [queries].

        Where the log does not say it, taken as the impressions of its most presented document;
        exact when some document of the query is presented at every draw, as whenever whole
        candidate lists are shown.
        """
        if self.draws is not None:
            return self.draws
        shown = self.impressions_per_document
        most: IntArray = np.maximum.reduceat(shown, self.query_offsets[:-1])
        return most

    def sum_by_document(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum numbers of the rows by document, [rows] to [documents], whole numbers as int64."""
        dtype = np.float64 if values.dtype.kind == "f" else np.int64
        if self.covers_corpus:
            return values.astype(dtype)
        sums = np.zeros(self.n_documents, dtype=dtype)
        np.add.at(sums, self.document, values)
        return sums
