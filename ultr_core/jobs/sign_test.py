"""``sign-test``: wins against losses of an interleaving experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ultr_core.fields import Number
from ultr_core.jobs.job import Given, Job

if TYPE_CHECKING:
    from ultr_core.risk.sign_test import SignTest

MOST = 10**9  # comparisons


@dataclass(frozen=True)
class Tested:
    """A test, and how many decided comparisons a power of 80% takes; None for too many to run."""

    test: SignTest
    needed: int | None

    def as_dict(self) -> dict[str, object]:
        """The test as plain values."""
        test = self.test
        return {
            "wins": test.wins,
            "losses": test.losses,
            "ties": test.ties,
            "p_value": test.p_value,
            "relative_risk": test.relative_risk,
            "win_share": {"value": test.win_share, "low": test.low, "high": test.high},
            "power": test.power,
            "significant": test.significant,
            "sentence": test.sentence,
            "comparisons_needed": self.needed,
        }

    def show(self) -> None:
        """Print the test."""
        test = self.test
        more = "more comparisons than anyone can run."
        print(test.sentence)
        print(
            f"Relative risk {test.relative_risk:.3f}, "
            "compared with equal numbers of wins and losses."
        )
        print(
            f"The power at this win share is {test.power:.0%}; a power of 80% requires "
            + (more if self.needed is None else f"{self.needed:,} decided comparisons.")
        )


def run(given: Given) -> Tested:
    """Test."""
    from ultr_core.risk.sign_test import comparisons_needed, sign_test

    test = sign_test(given.wins, given.losses, given.ties)
    return Tested(test, comparisons_needed(test.win_share))


COUNTS = (
    Number("wins", "", 0, MOST, help="comparisons that the first ranker won"),
    Number("losses", "", 0, MOST, help="comparisons that it lost"),
    Number("ties", "", 0, MOST, default=0, help="comparisons without a winner"),
)

JOB = Job(
    run,
    arguments=COUNTS,
    show=Tested.show,
    as_dict=Tested.as_dict,
)
