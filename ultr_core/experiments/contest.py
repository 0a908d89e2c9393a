"""One ranker against another: the verdicts of interleaving, tested and put into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ultr_core.experiments.interleaving import Verdicts
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.risk.sign_test import (
    SignTest,
    comparisons_needed,
    p_words,
    sign_test,
    sign_test_power,
)
from ultr_core.words import counted


@dataclass(frozen=True)
class Contest:
    """Propensity-weighted against another ranker: verdicts, test, and what they take to see.

    needed: decided queries for 80% power at the observed share, None where more than can be run.
    paper_power: power that the paper's number of decided queries would have had at this share.
    """

    opponent: str
    label: str
    test: SignTest
    queries: int
    without_click: int
    needed: int | None
    paper_power: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.test.decided == 0:
            return (
                f"Propensity-weighted and {self.label}: no decision, for all {self.queries:,} "
                f"queries were ties ({self.without_click:,} of them without a click); p = 1."
            )
        numbers = (
            f"{counted(self.test.wins, 'win')}, {counted(self.test.losses, 'loss', 'losses')}, "
            f"{counted(self.test.ties, 'tie')}; "
            f"win share {self.test.win_share:.1%}, 95% interval "
            f"{self.test.low:.1%} to "
            f"{self.test.high:.1%}, {p_words(self.test.p_value)}"
        )
        if not self.test.significant:
            return f"Propensity-weighted and {self.label} cannot be told apart: {numbers}."
        verb = "beats" if self.test.wins > self.test.losses else "loses against"
        return f"Propensity-weighted {verb} {self.label}: {numbers}."

    @property
    def null_sentence(self) -> str:
        """What a result without a difference would have looked like."""
        if self.test.decided == 0:
            return "Without a decided query nothing is known about which one is better."
        half, n = self.test.decided / 2, self.test.decided
        reach = NORMAL_QUANTILE * math.sqrt(n) / 2
        return (
            f"Of {counted(self.queries, 'query', 'queries')} {self.without_click:,} had no click, "
            f"{counted(self.test.ties, 'was a tie', 'were ties')} and "
            f"{counted(n, 'was', 'were')} decided. If both were equally good, about half of these "
            f"would be won: {half:,.0f}. In 95 of 100 such experiments there would be "
            f"{max(0, math.floor(half - reach)):,} to "
            f"{counted(min(n, math.ceil(half + reach)), 'win')}, "
            f"and p would be above 0.05. This one had {counted(self.test.wins, 'win')}."
        )

    def as_dict(self) -> dict[str, Any]:
        """The contest as plain values; what needs a decided query is None without one."""
        test = self.test
        known = test.decided > 0
        return {
            "wins": test.wins,
            "losses": test.losses,
            "ties": test.ties,
            "queries": self.queries,
            "without_click": self.without_click,
            "p_value": test.p_value,
            "relative_risk": test.relative_risk if known else None,
            "win_share": {
                "value": test.win_share if known else None,
                "low": test.low,
                "high": test.high,
            },
            "power": test.power if known else None,
            "decided_needed": self.needed,
            "paper_power": self.paper_power if known else None,
            "sentence": self.sentence,
            "null": self.null_sentence,
        }


def judge(opponent: str, label: str, verdicts: Verdicts, paper_decided: int) -> Contest:
    """Test the verdicts of an interleaving experiment and work out the traffic it takes.

    paper_decided: decided queries of the paper's experiment, for its power at this share. Where no
    query was decided p is 1, the win share 1/2 and its interval all of [0, 1].
    """
    wins, losses, ties = verdicts.wins, verdicts.losses, verdicts.ties
    test = sign_test(wins, losses, ties) if wins + losses else _undecided(ties)
    return Contest(
        opponent,
        label,
        test,
        verdicts.verdict.size,
        int(np.count_nonzero(~verdicts.clicked)),
        comparisons_needed(test.win_share),
        sign_test_power(paper_decided, test.win_share),
    )


def _undecided(ties: int) -> SignTest:
    """The test of ties alone: both rankers are as good as equal, and any share is possible."""
    return SignTest(
        0, 0, ties, p_value=1.0, relative_risk=1.0, win_share=0.5, low=0.0, high=1.0, power=0.0
    )
