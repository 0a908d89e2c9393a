"""Whether a fitted relevance predicts the clicks at low ranks, or did not see why they are low."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ultr_core.findings import Finding
from ultr_core.propensity.estimator import Belief
from ultr_core.users.click_log import ClickLog

FIRST_RANKS = (1, 2, 4, 8, 16)
"""Where the groups of ranks begin: 1, 2 to 3, 4 to 7, 8 to 15, 16 and below."""

LEAST_SHARE = 0.8
"""Observed over predicted clicks that a group needs."""

DEVIATIONS = 4.0
"""Standard deviations by which they must miss the prediction as well, for chance rejects none."""


@dataclass(frozen=True)
class RankTest:
    """Clicks that were observed in each group of ranks, and those that the fit predicts.

    A fit that cannot see why documents were shown low predicts too many clicks there. More clicks
    than predicted do no harm, so the test is one-sided. Clicks are counts: their variance is taken
    to be what is predicted. deepest: the lowest rank at which a click is predicted.
    """

    observed: tuple[int, ...]
    predicted: tuple[float, ...]
    deepest: int

    @cached_property
    def rejected(self) -> tuple[int, ...]:
        """The groups, from 0, in which the fit predicts too many clicks."""
        found = zip(self.observed, self.predicted, strict=True)
        return tuple(
            group
            for group, (seen, expected) in enumerate(found)
            if seen < LEAST_SHARE * expected and expected - seen > DEVIATIONS * np.sqrt(expected)
        )

    @property
    def shares(self) -> tuple[float | None, ...]:
        """Observed over predicted clicks of each group; None where none is predicted."""
        found = zip(self.observed, self.predicted, strict=True)
        return tuple(seen / expected if expected > 0 else None for seen, expected in found)

    @property
    def finding(self) -> Finding:
        """The verdict: of the rejected groups the lowest share, or of all where none is."""
        shares = [(share, group) for group, share in enumerate(self.shares) if share is not None]
        wrong = [one for one in shares if one[1] in self.rejected]
        share, group = min(wrong or shares, default=(None, 0))
        about = ("clicks_by_rank", "Observed over predicted clicks by rank")
        if share is None:
            said = "No clicks are predicted, so the fitted relevance cannot be tested by rank."
            return Finding(said, limit=None, key=about[0], title=about[1])
        said = (
            f"At {_ranks(group, self.deepest)} the log has {share:.2f} times as many clicks as the "
            "fitted relevance predicts, "
        )
        said += (
            "fewer than chance would explain: either the fit misses why documents were shown "
            "there, or users do not click as assumed."
            if wrong
            else "not fewer than chance would explain."
        )
        return Finding(
            said, share, "≥", LEAST_SHARE, decided="does not hold" if wrong else "holds",
            key=about[0], title=about[1],
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "first_ranks": list(FIRST_RANKS),
            "observed": list(self.observed),
            "predicted": list(self.predicted),
            "rejected": bool(self.rejected),
            "sentence": self.finding.sentence,
        }


def clicks_by_rank(log: ClickLog, belief: Belief) -> RankTest:
    """Test the relevance of a belief: sum over rows of impressions (alpha r_hat + beta) by rank.

    Rows in which users may have left (`Belief.follows`) do not count.
    """
    alpha, beta = belief.affine(log.rank)
    rows = belief.follows(log)
    expected = (log.impressions * (alpha * belief.relevance_of(log) + beta))[rows]
    group = np.digitize(log.rank[rows], FIRST_RANKS) - 1
    where = log.rank[rows][expected > 0]
    size = len(FIRST_RANKS)
    return RankTest(
        tuple(int(n) for n in np.bincount(group, log.clicks[rows], size)),
        tuple(np.bincount(group, expected, size).tolist()),
        int(where.max()) if where.size else 0,
    )


def _ranks(group: int, deepest: int) -> str:
    first, following = FIRST_RANKS[group], (*FIRST_RANKS, deepest + 1)[group + 1]
    last = min(following - 1, deepest)
    return f"ranks {first} to {last}" if last > first else f"rank {first}"
