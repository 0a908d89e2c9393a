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

BY_PRESENTATION = "intervals by presentation"
"""What intervals take as independent where nothing is known of sessions."""


def by_session(groups: int, of: str = "session") -> str:
    """What intervals that leave out groups of sessions take as independent, in words.

    >>> by_session(100)
    'intervals from 100 groups of sessions'
    """
    return f"intervals from {counted(groups, 'group')} of {of}s"


def session_notice(groups: int, of: str = "session") -> str:
    """What a reader must know of intervals by session, in one sentence."""
    return f"Clicks in a {of} may depend on each other, so {by_session(groups, of)} are given."


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The rows of a click log by group of sessions, one entry per row and group [entries].

    row: index in the log. group: from 0. impressions, clicks: those of the row in that group.
    draws: float64 [groups], presentations in each group, including those without a click. of: what
    is in a group, "session" or "presentation".

    Raises InputError for fewer than two groups, or a group without a draw, since leaving it out
    would change nothing although it counts as a group.
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
