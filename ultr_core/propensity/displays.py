"""Displays counted by document and rank, whoever ranked them; and the plain click rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import query_of_document, whole_numbers
from ultr_core.errors import InputError
from ultr_core.propensity.points import (
    Counts,
    Gap,
    PropensityEstimate,
    RankEstimate,
    checked_last_rank,
    checked_reference,
    doubts,
    ratio_point,
)
from ultr_core.users.click_log import ClickLog, require_countable
from ultr_core.words import counted

IntArray = NDArray[np.int64]
Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DisplayCounts:
    """One row for each (query, document) pair at each rank at which it was shown.

    query, document: int64 [rows], numbers that identify them; each document belongs to one query.
    rank: int64 [rows] from 1. impressions, clicks: int64 [rows], summed over rankers.
    Rows are sorted by document and rank. Build with `display_counts` or `displays_of_logs`.
    """

    query: IntArray
    document: IntArray
    rank: IntArray
    impressions: IntArray
    clicks: IntArray

    @cached_property
    def last_rank(self) -> int:
        """The lowest rank at which anything was shown."""
        return int(self.rank.max())

    def by_rank(self, last_rank: int) -> Counts:
        """Impressions and clicks at ranks 1..K, whatever was shown there.

        Raises InputError unless K is a whole number from 1 to ``MOST_RANKS``.
        """
        last_rank = checked_last_rank(last_rank)
        kept = self.rank <= last_rank
        place = self.rank[kept] - 1

        def total(values: IntArray) -> IntArray:
            sums = np.bincount(place, weights=values[kept], minlength=last_rank)
            return np.rint(sums).astype(np.int64)

        return Counts(total(self.impressions), total(self.clicks))


def display_counts(
    query: ArrayLike,
    document: ArrayLike,
    rank: ArrayLike,
    impressions: ArrayLike,
    clicks: ArrayLike,
) -> DisplayCounts:
    """Add up the rows with the same document and rank; all arguments are whole numbers [rows].

    A document that moved is one document with several ranks. Raises InputError if there are no
    rows, columns differ in length or contain values other than whole numbers, a rank is below 1, or
    there are more clicks than impressions or more impressions than can be counted.
    """
    given = {
        "query": query,
        "document": document,
        "rank": rank,
        "impressions": impressions,
        "clicks": clicks,
    }
    columns = [
        whole_numbers(values, f"Numbers in the column {name}", np.int64)
        for name, values in given.items()
    ]
    _, _, ranks, shown, clicked = columns
    if ranks.ndim != 1 or any(column.shape != ranks.shape for column in columns):
        sizes = ", ".join(f"{n} {c.shape}" for n, c in zip(given, columns, strict=True))
        raise InputError(f"The columns must be lists of equal length, not arrays of shape {sizes}.")
    if ranks.size and ranks.min() < 1:
        raise InputError(f"Ranks are counted from 1, but one rank is {ranks.min()}.", "rank_from_1")
    if np.any(clicked > shown) or np.any(clicked < 0):
        row = int(np.argmax((clicked > shown) | (clicked < 0)))
        raise InputError(
            f"A document at rank {ranks[row]} has {counted(clicked[row], 'click')} in "
            f"{counted(shown[row], 'impression')}; there can be at most one click for each "
            "impression."
        )
    return summed_displays(*columns)


def summed_displays(
    queries: Numbers, documents: Numbers, ranks: Numbers, shown: Numbers, clicked: Numbers
) -> DisplayCounts:
    """`display_counts` of columns that are known to be right, whole numbers [rows]."""
    if not ranks.size:
        raise InputError("No row has a document, a rank and an impression.")
    require_countable(shown)
    order = np.lexsort((ranks, documents))
    changes = (np.diff(documents[order]) != 0) | (np.diff(ranks[order]) != 0)
    first = np.append(0, np.flatnonzero(changes) + 1)
    head = order[first]
    return DisplayCounts(
        queries[head].astype(np.int64),
        documents[head].astype(np.int64),
        ranks[head].astype(np.int64),
        np.add.reduceat(shown[order], first, dtype=np.int64),
        np.add.reduceat(clicked[order], first, dtype=np.int64),
    )


def displays_of_logs(logs: Sequence[ClickLog]) -> DisplayCounts:
    """Impressions and clicks in several click logs of the same corpus, one log per logging ranker.

    Raises InputError if there are no logs, or if the logs belong to different corpora.
    """
    if not logs:
        raise InputError("Counting impressions needs at least one click log.")
    if any(not np.array_equal(log.query_offsets, logs[0].query_offsets) for log in logs):
        raise InputError(
            "The click logs belong to different corpora; give logs from the same corpus."
        )
    document = np.concatenate([log.document for log in logs])
    return summed_displays(
        query_of_document(logs[0].query_offsets)[document],
        document,
        np.concatenate([log.rank for log in logs]),
        np.concatenate([log.impressions for log in logs]),
        np.concatenate([log.clicks for log in logs]),
    )


def estimate_click_rates(
    displays: DisplayCounts, *, last_rank: int, reference: int = 1
) -> PropensityEstimate:
    """p_r / p_reference as the plain ratio of click rates, with delta-method intervals.

    Correct only if documents are, on average, equally relevant at every rank, as in random
    rankings. Raises InputError if K or the reference is out of range, or the reference rank has no
    clicks.
    """
    counts = displays.by_rank(last_rank)
    reference = checked_reference(reference, counts.clicks.size)
    if counts.clicks[reference - 1] == 0:
        raise InputError(
            f"Rank {reference} was never clicked, so no rate can be divided by its rate; choose "
            "another reference rank."
        )
    pairs = list(zip(counts.impressions.tolist(), counts.clicks.tolist(), strict=True))
    base = [pairs[reference - 1]]
    points = tuple(
        ratio_point(rank, [pair], base)
        if rank != reference
        else RankEstimate(rank, 1.0, 1.0, 1.0, 0.0, *pair)
        for rank, pair in enumerate(pairs, start=1)
    )
    never = tuple(point.rank for point in points if point.value is None)
    gaps = (
        (Gap("not_logged", never, "nothing was logged there", "log what is shown there"),)
        if never else ()
    )  # fmt: skip
    return PropensityEstimate("ctr", reference, points, len(points) - 1, doubts(points, gaps), gaps)


def click_rate_ratios(
    displays: DisplayCounts, *, last_rank: int, reference: int
) -> NDArray[np.float64]:
    """The ratios of `estimate_click_rates` alone, float64 [K]; NaN where there is none."""
    counts = displays.by_rank(last_rank)
    if counts.clicks[reference - 1] == 0:
        return np.full(last_rank, np.nan)
    ratios = counts.rates / counts.rates[reference - 1]
    return np.where(counts.impressions > 0, ratios, np.nan)
