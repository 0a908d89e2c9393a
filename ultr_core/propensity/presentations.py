"""A click log from outside as it is kept: its usable rows, and what was found in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, quoted
from ultr_core.propensity.contexts import in_words
from ultr_core.propensity.displays import DisplayCounts, summed_displays
from ultr_core.propensity.points import Counts, checked_last_rank, checked_reference
from ultr_core.propensity.swaps import SwapCounts
from ultr_core.words import counted

IntArray = NDArray[np.int64]
Numbers = NDArray[Any]


@dataclass(frozen=True)
class RowFault:
    """Rows that were left out for one reason.

    kind: the reason in words. rows: how many. clicks: the clicks on them. first: line (row in a
    Parquet file) of the first of them.
    """

    kind: str
    rows: int
    clicks: int
    first: int
    file: str = ""


GROUPS = 100
"""Groups of sessions, by a hash of their ids, so that intervals can leave out one at a time."""


@dataclass(frozen=True, eq=False)
class Presentations:
    """What is known of the presentations and sessions of a log.

    number: of presentations, 0 without their ids. lists: those, or the queries of each session;
    unclicked: how many of the lists have no click. draws: presentations of each query, None without
    ids. without: rows that name none. sessions: how many, 0 without their ids. largest: lists of
    the largest session; largest_share, largest_clicks: its share of all lists and clicks. share:
    of the lists that were looked at for what follows; sampled: how many those are. beside: lists
    with two documents at one position. moved: lists with one document at two positions. repeated:
    rows that repeated a document at one position of a list and were counted once.
    repeated_in_sessions: without ids of presentations, rows of a session's list at a position
    beyond those at the one above. groups: how many the rows are in. left_out: sessions with too
    many presentations. partial: whether ids name parts of presentations, such as pages or
    impressions, which do not say how often a query was shown. changes: lists in which the context
    changes; changing: the presentation of one of them, and two of its contexts.
    """

    number: int
    lists: int
    unclicked: int
    draws: IntArray | None
    without: int
    sessions: int
    largest: int
    largest_share: float
    largest_clicks: float
    share: float
    sampled: int
    beside: int
    moved: int
    repeated: int
    repeated_in_sessions: int
    groups: int
    left_out: int
    partial: bool = False
    changes: int = 0
    changing: tuple[str, ...] = ()

    @property
    def of_sample(self) -> str:
        """What counts from a sample are said to be of."""
        return "" if self.share == 1 else f" in a sample of {self.sampled:,} lists"


_OF_ENTRIES = (
    "query", "document", "position", "impressions", "clicks", "swap", "ranker", "context",
    "propensity", "group", "above",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PresentationLog:
    """The usable rows of a click log, whole numbers [entries], and what was found in the log.

    Rows with equal cells form one entry; entries are in the order of query, document and position.

    query: numbered from 0. document: query times the number of document names, plus the number of
    the document's name, so that a document for two queries counts as two. position: from 1.
    impressions, clicks: of all its rows. swap: the rank with which the landmark traded places in
    this presentation, 0 if none was recorded. ranker, context: numbered from 0. propensity: float64
    [entries] as in the file, NaN if there is none; None without that column. group: of the session,
    or of the presentation if there are no sessions, from 0; None without either. grouped_by:
    "session" or "presentation", "" if neither is known. above: clicks above in the same
    presentation, None unless asked for. rows: usable rows of the files. presentations: what is
    known about them, None if nothing is. repeating: other columns that repeat, if each query was
    shown once. query_names, document_names, context_names: names by number; no contexts if no
    column has them. has_swaps: whether the file has a column of swapped ranks. first_position: 0 or
    1, as found. format: of the file, in words. columns: column names by meaning. faults: what was
    left out. notices: one sentence for each thing a reader should know. events: findings about rows
    that are views and clicks, and about rows that are neither. longer: rows with more columns than
    the first line names. copies: files with the same content as another file, and the name of that
    file. contrary: how many clicks have a position or query other than that of their view, and how
    many clicks have a view. repeated_events: views, and clicks, that repeat an earlier one and were
    merged with it. unused: sentences about columns and options that were not used; "" if
    there are none. header: names of all columns in the first file. perhaps_sessions: those that may
    contain sessions, if none was read as sessions and the reader has not said that there are none.
    perhaps_contexts: those with few values, which may be contexts, if no column was read as
    contexts and the reader has not said that there are none. ends: for CSV files whose rows are
    shown documents, the file's name and the query and position of its last row.
    """

    query: Numbers
    document: Numbers
    position: Numbers
    impressions: Numbers
    clicks: Numbers
    swap: Numbers
    ranker: Numbers
    context: Numbers
    propensity: NDArray[np.float64] | None
    group: Numbers | None
    above: Numbers | None
    rows: int
    presentations: Presentations | None
    repeating: tuple[str, ...]
    query_names: tuple[str, ...]
    document_names: tuple[str, ...]
    context_names: tuple[str, ...]
    has_swaps: bool
    first_position: int
    format: str
    columns: Mapping[str, str]
    faults: tuple[RowFault, ...]
    notices: tuple[str, ...]
    events: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    longer: int = 0
    copies: tuple[tuple[str, str], ...] = ()
    contrary: tuple[int, int] = (0, 0)
    repeated_events: tuple[int, int] = (0, 0)
    unused: str = ""
    perhaps_sessions: tuple[str, ...] = ()
    perhaps_contexts: tuple[str, ...] = ()
    ends: tuple[tuple[str, int, int], ...] = ()
    grouped_by: Literal["session", "presentation", ""] = ""

    @property
    def not_used(self) -> tuple[str, ...]:
        """The columns in the first file that were not assigned a meaning."""
        used = set(self.columns.values())
        return tuple(name for name in self.header if name.strip() and name not in used)

    @property
    def merged_events(self) -> str:
        """Says how many views and clicks repeat earlier ones; "" if none do."""
        views, clicks = self.repeated_events
        told = [counted(n, noun) for n, noun in ((views, "view"), (clicks, "click")) if n]
        if not told:
            return ""
        does = "repeats" if views + clicks == 1 else "repeat"
        return (
            f"{' and '.join(told)} {does} an earlier event for the same presentation, document and "
            "position; each event was counted once."
        )

    @property
    def lost(self) -> str:
        """Says that missing data may be in rows that were left out; "" if none were."""
        rows = sum(fault.rows for fault in self.faults)
        if not rows:
            return ""
        most = max(self.faults, key=lambda fault: fault.rows)
        return (
            f"{counted(rows, 'row')} in the log cannot be used ({most.rows:,} with {most.kind}), "
            "which may be why."
        )

    @property
    def contradicted(self) -> str:
        """What it means that clicks contradict their views, in one sentence; "" if none do."""
        some, joined = self.contrary
        if not some:
            return ""
        return (
            f"{some:,} of {joined:,} joined clicks have a position or query other than that of the "
            "view they are joined with, and count for that view; check that views and clicks come "
            "from the same log and use the same ids."
        )

    @property
    def copied(self) -> str:
        """What the copies mean, in one sentence; "" if there are none."""
        if not self.copies:
            return ""
        one, other = self.copies[0]
        more = len(self.copies) - 1
        such = f", as {counted(more, 'more file has', 'more files have')} of others" if more else ""
        return (
            f"{one} has the same content as {other}{such}, so clicks may count more than once; "
            "give each file once."
        )

    def counts(self) -> dict[str, int]:
        """Sizes of the log, for tables and JSON."""
        return {
            "rows": self.rows,
            "queries": len(self.query_names),
            "documents": len(self.document_names),
            "query_document_pairs": int(self.pairs.size),
            "rankers": int(self.ranker.max()) + 1,
            "positions": int(self.positions.size),
            "last_position": int(self.position.max()),
            "impressions": int(self.impressions.sum()),
            "clicks": int(self.clicks.sum()),
        }

    @cached_property
    def pairs(self) -> IntArray:
        """The distinct numbers in ``document``, one per (query, document) pair, in order."""
        return _different(self._shown_at // self.positions.size)

    @cached_property
    def positions(self) -> IntArray:
        """The positions that occur, in increasing order."""
        return _different(np.sort(self.position).astype(np.int64))

    @cached_property
    def moved_pairs(self) -> int:
        """How many (query, document) pairs were seen at more than one position."""
        document = self._shown_at // self.positions.size
        starts = np.flatnonzero(np.diff(document, prepend=-1, append=-1))
        return int(np.count_nonzero(np.diff(starts) > 1))

    @cached_property
    def _shown_at(self) -> IntArray:
        """The different pairs of document and position, rising, as document * positions + place."""
        place = np.searchsorted(self.positions, self.position)
        return _different(np.sort(self.document * self.positions.size + place))

    def in_contexts(self, names: Collection[str]) -> PresentationLog:
        """The entries for some contexts, as a log without contexts; ``rows`` counts all rows.

        Raises InputError for a name that is not in ``context_names``.
        """
        if unknown := next((name for name in names if name not in self.context_names), None):
            raise InputError(
                f"{quoted(unknown)} is not a context in the log; its contexts are "
                f"{in_words(self.context_names)}.",
                "pool_contexts",
            )
        kept = np.isin(self.context, [self.context_names.index(name) for name in names])
        columns: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[kept]
            for name in _OF_ENTRIES
        }
        return replace(self, context_names=(), **columns)

    @property
    def clicks_only(self) -> bool:
        """Whether every impression was clicked, as in a log that contains only clicks."""
        return bool(self.clicks.any() and (self.clicks == self.impressions).all())

    def require_unclicked(self) -> None:
        """Raise InputError for a log of clicks only, in which all positions look alike."""
        if self.clicks_only:
            raise InputError(
                f"Each of the {counted(int(self.impressions.sum()), 'impression')} in the log was "
                "clicked, so it contains only clicks, and examination cannot be estimated; add the "
                "documents that were shown but not clicked."
            )

    def displays(self) -> DisplayCounts:
        """Impressions and clicks by document and position, over all rankers and swaps."""
        return self._displays

    @cached_property
    def _displays(self) -> DisplayCounts:
        return summed_displays(
            self.query, self.document, self.position, self.impressions, self.clicks
        )

    @cached_property
    def session_groups(self) -> IntArray | None:
        """Each entry's group of sessions, numbered from 0 without gaps, int64 [entries].

        None without sessions, or if all rows are in one group.
        """
        return self.groups if self.grouped_by == "session" else None

    @cached_property
    def groups(self) -> IntArray | None:
        """Each entry's group of sessions, or else of presentations, int64 [entries].

        Numbered from 0 without gaps; None without either, or if all rows are in one group.
        """
        if self.group is None:
            return None
        used, number = np.unique(self.group, return_inverse=True)
        return number.astype(np.int64) if used.size > 1 else None

    @cached_property
    def display_of_entry(self) -> IntArray:
        """Each entry's row in `displays`, int64 [entries]."""
        shown, most = self.displays(), int(self.position.max()) + 1
        keys = shown.document * most + shown.rank
        return np.searchsorted(keys, self.document * most + self.position)

    def displays_by_group(self, group: IntArray) -> NDArray[np.float64]:
        """Impressions and clicks in the rows of `displays` by group, [groups, 2, rows].

        group: int64 [entries], from 0.
        """
        rows, groups = self.displays().rank.size, int(group.max()) + 1
        cell = group * rows + self.display_of_entry
        sums = [
            np.bincount(cell, weights=values, minlength=groups * rows).reshape(groups, rows)
            for values in (self.impressions, self.clicks)
        ]
        return np.stack(sums, axis=1)

    def swap_counts(self, landmark: int, last_rank: int) -> SwapCounts:
        """The landmark swap experiment that the rows record.

        A row at its presentation's swapped rank shows the landmark document; a row at the landmark
        shows the document that moved up; swapped rank = landmark is the control. A query's list is
        taken to end at the lowest position logged for it; if only the two swapped
        documents are logged, every list is assumed to be long enough. Raises InputError if the log
        contains no column of swapped ranks, no swap or no control presentation, or only clicks.
        """
        if not self.has_swaps:
            raise InputError(
                "The log has no column swapped_rank, so it contains no swap experiment; add the "
                "rank that the landmark was swapped with, or choose harvesting.",
                "harvest",
            )
        last_rank = checked_last_rank(last_rank)
        landmark = checked_reference(landmark, last_rank, "landmark")
        self.require_unclicked()
        if not ((self.swap == landmark) & (self.position == landmark)).any():
            raise InputError(
                f"No presentation is a control for landmark {landmark}; add rows at position "
                f"{landmark} with swapped_rank {landmark}."
            )
        if not ((self.swap > 0) & (self.swap != landmark)).any():
            raise InputError(f"Rank {landmark} was not swapped with another rank in the log.")
        sums = self.swaps_by_group(landmark, last_rank, np.zeros(self.swap.size, dtype=np.int64))
        swapped, control, moved, unmoved = (Counts(*part) for part in sums[0])
        at_landmark = (self.swap > 0) & (self.position == landmark)
        shown = int(self.impressions[at_landmark].sum())
        return SwapCounts(landmark, swapped, control, moved, unmoved, shown)

    def swaps_by_group(self, landmark: int, last_rank: int, group: IntArray) -> IntArray:
        """The four `Counts` of `swap_counts` by group, int64 [groups, 4, 2, K].

        Second axis: swapped, control, moved and unmoved; third: impressions and clicks. group:
        int64 [entries], from 0. The length of a query's list is taken from the whole log.
        """
        drawn, place = self.swap, self.position
        at_landmark = (drawn > 0) & (place == landmark)
        own = at_landmark & (drawn == landmark)
        length = np.minimum(self._list_length(landmark)[self.query], last_rank)
        kinds = (
            (place, (drawn > 0) & (place == drawn)),
            (length, own),
            (drawn, at_landmark & ~own),
            (place, (drawn > 0) & (place != drawn) & (place != landmark)),
        )
        sums = np.zeros((int(group.max()) + 1, 4, 2, last_rank), dtype=np.int64)
        for kind, (rank, rows) in enumerate(kinds):
            kept = rows & (rank >= 1) & (rank <= last_rank)
            for which, values in enumerate((self.impressions, self.clicks)):
                np.add.at(sums[:, kind, which], (group[kept], rank[kept] - 1), values[kept])
        # A list as long as r is long enough for every rank above.
        sums[:, 1] = np.cumsum(sums[:, 1, :, ::-1], axis=-1)[..., ::-1]
        return sums

    def _list_length(self, landmark: int) -> IntArray:
        """Length of each query's list as far as the log shows it."""
        length = np.zeros(int(self.query.max()) + 1, dtype=np.int64)
        if np.all((self.position == self.swap) | (self.position == landmark)):
            return length + np.iinfo(np.int64).max
        np.maximum.at(length, self.query, self.position)
        return length


def _different(rising: IntArray) -> IntArray:
    """Each number of a rising array once; many times faster than np.unique on millions."""
    return rising[np.flatnonzero(np.diff(rising, prepend=rising[0] - 1))]
