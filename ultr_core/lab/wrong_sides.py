"""Which rankers an estimate puts on the wrong side of the production ranker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ultr_core.lab.picture import EstimatedRisks, RiskPicture


@dataclass(frozen=True)
class Sides:
    """How many rankers are better and worse than production, and how many of each are misjudged.

    Attributes:
        better, worse: how many rankers have a smaller and a larger true risk than production.
        better_called_worse, worse_called_better: how many of them are estimated to be the opposite.
    """

    better: int
    worse: int
    better_called_worse: int
    worse_called_better: int

    @property
    def wrong(self) -> int:
        """The number of rankers on the wrong side."""
        return self.better_called_worse + self.worse_called_better

    @property
    def main_fault(self) -> tuple[str, str, int, int]:
        """The more frequent error: the rankers' true side, the side they seem to be on, how many
        are misjudged, and out of how many."""
        if self.worse_called_better > self.better_called_worse:
            return "worse", "better", self.worse_called_better, self.worse
        return "better", "worse", self.better_called_worse, self.better

    @property
    def in_words(self) -> str:
        """The more frequent error: "18 of 26 better rankers worse"."""
        are, called, count, of = self.main_fault
        share = f"all {of}" if count == of else f"{count} of {of}"
        return f"{share} {are} rankers {called}"


def sides(picture: RiskPicture, estimates: EstimatedRisks) -> Sides:
    """Count the rankers whose estimate is on the wrong side of production's.

    A ranker whose estimate equals production's is on neither side.
    """
    here = picture.production
    true = np.sign(picture.true_risk - picture.true_risk[here])
    said = np.sign(estimates.value - estimates.value[here])
    return Sides(
        *(int(np.count_nonzero(true == sign)) for sign in (-1, 1)),
        *(int(np.count_nonzero((true == sign) & (said == -sign))) for sign in (-1, 1)),
    )


def headline(picture: RiskPicture) -> str:
    """What the two estimates say about the rankers, in at most 15 words and two numbers.

    For an estimate that errs on both sides, the more frequent error is reported.
    """
    naive, weighted = sides(picture, picture.naive), sides(picture, picture.weighted)
    if not naive.wrong and not weighted.wrong:
        return (
            f"Unweighted and weighted clicks both put all {naive.better + naive.worse} rankers on "
            "the right side of production."
        )
    if not weighted.wrong:
        return f"Unweighted clicks call {naive.in_words}; weighted clicks, none."
    if not naive.wrong:
        return f"Weighted clicks call {weighted.in_words}; unweighted clicks, none."
    if naive == weighted:
        return f"Unweighted and weighted clicks both call {naive.in_words}."
    are, called, count, _ = naive.main_fault
    they_are, are_called, number, _ = weighted.main_fault
    if are == they_are:
        return (
            f"Of the {are} rankers, unweighted clicks call {count} {called}; weighted clicks, "
            f"{number}."
        )
    return (
        f"Unweighted clicks call {count} {are} rankers {called}; weighted clicks call {number} "
        f"{they_are} rankers {are_called}."
    )
