"""A click log whose rows are also counted by group of sessions, which intervals leave out in turn.

What one user does in a session is alike, so presentations of a session are not independent. Groups
of whole sessions are, and what an estimate varies by without each of them is its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError
from ultr_core.users.click_log import ClickLog
from ultr_core.words import counted

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """What intervals take as independent: presentations, or groups of sessions or presentations.

    groups: how many, 0 if every presentation counts by itself. of: "session" or "presentation".

    >>> Units(100, "session").words
    'intervals from 100 groups of sessions'
    """

    groups: int = 0
    of: str = "presentation"

    @classmethod
    def of_log(cls, log: ClickLog) -> Units:
        """The units of the intervals of estimates from a log."""
        return cls(log.by_group.number, log.by_group.of) if isinstance(log, GroupedLog) else cls()

    @property
    def words(self) -> str:
        """The intervals in words."""
        if not self.groups:
            return f"intervals by {self.of}"
        return f"intervals from {counted(self.groups, 'group')} of {self.of}s"

    @property
    def sentence(self) -> str:
        """What a reader must know of the intervals, in one sentence."""
        if not self.groups:
            return f"Intervals treat {self.of}s as independent."
        return f"Clicks in a {self.of} may depend on each other, so {self.words} are given."


BY_PRESENTATION = Units().words
"""What intervals take as independent where nothing is known of sessions."""


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The rows of a click log by group of sessions, one entry per row and group [entries].

    row: index in the log. group: from 0. impressions, clicks: those of the row in that group.
    draws: float64 [groups], presentations in each group, including those without a click. of: what
    is in a group, "session" or "presentation".

    Raises InputError for fewer than two groups, and for a group without a draw, since leaving this
    group out would change nothing although it counts as a group.
    """

    row: IntArray
    group: IntArray
    impressions: IntArray
    clicks: IntArray
    draws: NDArray[np.float64]
    of: str = "session"

    def __post_init__(self) -> None:
        """Check the draws."""
        if self.draws.size < 2 or not (self.draws > 0).all():
            raise InputError(
                "Intervals by session need at least two groups, each with a presentation.",
                "groups",
            )

    @property
    def number(self) -> int:
        """How many groups."""
        return int(self.draws.size)


@dataclass(frozen=True, eq=False, init=False)
class GroupedLog(ClickLog):
    """A click log that also contains the counts for each group of sessions.

    by_group: the same impressions, clicks and presentations, by group.

    Raises InputError if the groups do not add up to the log.
    """

    by_group: GroupCounts

    def __init__(self, log: ClickLog, by_group: GroupCounts) -> None:
        """Take the counts of a log, which are checked already, and those of its groups."""
        vars(self).update(vars(log))
        vars(self)["by_group"] = by_group
        sums = np.zeros((2, log.rank.size), dtype=np.int64)
        np.add.at(sums[0], by_group.row, by_group.impressions)
        np.add.at(sums[1], by_group.row, by_group.clicks)
        drawn = float(by_group.draws.sum())
        same = np.array_equal(sums, (log.impressions, log.clicks))
        if not same or not np.isclose(drawn, log.query_draws, rtol=1e-9):
            raise InputError(
                "The groups of a log must add up to its impressions, clicks and presentations.",
                "groups",
            )
