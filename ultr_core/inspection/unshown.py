"""Candidates that a log never shows: no propensity above 0 for them, so IPS cannot see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ultr_core.feedback import ClickLog
from ultr_core.inspection.findings import Finding, Verdict
from ultr_core.words import counted

MANY_UNSHOWN = 0.05
"""Share of candidates never shown from which rankers are not compared: they lie where the log's
rankers put them, at the end, so where lists of 6 to 15 candidates were cut such that 5% were never
shown, two fifths of a difference in risk were gone, and where 32% were, its sign was wrong."""

MANY_PLACES = 0.1
"""Share of the candidates' places below the log's lowest position that has the same effect where
rankers take turns, so that a candidate is shown sometimes and counts for less than it should."""

NOT_BY_CHANCE = 20
"""Draws of a query from which a candidate that was never shown is no accident: one that was shown
in 14% of the draws or more would be missing with probability 0.05 at most."""


@dataclass(frozen=True)
class Unshown:
    """How much of the candidate sets a log leaves out, over the queries that it drew.

    candidates: of these queries. never: of them, those without an impression; lasting: of those,
    the ones that are not missing by chance, because their query was drawn ``NOT_BY_CHANCE`` times
    or its list goes on below ``lowest``, the lowest position of the log. below: share of all
    (draw, place in the list) that lie below it. clicks_only: whether every impression was clicked,
    so that the log does not say what was shown.
    """

    candidates: int
    never: int
    lasting: int
    lowest: int
    below: float
    clicks_only: bool

    @property
    def verdict(self) -> Verdict:
        """stop from ``MANY_UNSHOWN`` or ``MANY_PLACES`` on, look where anything is left out."""
        if self.clicks_only:
            return "look"
        if self.lasting >= MANY_UNSHOWN * self.candidates > 0 or self.below >= MANY_PLACES:
            return "stop"
        return "look" if self.never or self.below else "good"

    @property
    def what(self) -> str:
        """What is left out, as a clause; "" where nothing is."""
        if self.clicks_only:
            return "the log holds clicks only, so it does not say which candidates were shown"
        if self.never:
            share = self.never / self.candidates
            percent = f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
            noun = "was" if self.never == 1 else "were"
            candidates = counted(self.candidates, "candidate")
            return f"{self.never:,} of {candidates} ({percent}) {noun} never shown"
        if self.below:
            return (
                f"the log ends at position {self.lowest:,}, and {self.below:.1%} of the places of "
                "the candidates lie below"
            )
        return ""

    @property
    def consequence(self) -> str:
        """What that means for a comparison of rankers, as a clause after ``what``."""
        if self.clicks_only:
            return "what users saw is known by its clicks only"
        return "clicks say nothing of those"

    @property
    def withheld(self) -> bool:
        """Whether so much is left out that these clicks cannot compare rankers."""
        return self.verdict == "stop"

    def finding(self) -> Finding:
        """The check, for a reader."""
        key, label, told = "never_shown", "Candidates never shown", self.what
        words = f"{told[:1].upper()}{told[1:]}"
        if self.clicks_only:
            return Finding(
                key, label, None, "look",
                f"{words}. Risks are those of clicked presentations: do not read their level.",
            )  # fmt: skip
        if not told:
            words = f"All {self.candidates:,} candidates of the queries in the log were shown."
            if self.candidates == 1:
                words = "The one candidate of the query in the log was shown."
            return Finding(key, label, 0, "good", words)
        words += (
            ". No click can come from there, so estimated risks leave out relevant documents, and "
            "how much that is differs from ranker to ranker"
        )
        if self.withheld:
            words += "; these clicks cannot say which ranker is better"
        elif not self.lasting and not self.below:
            words += "; it may be chance, for their queries were drawn rarely"
        return Finding(key, label, self.never, self.verdict, f"{words}.")


def unshown_candidates(log: ClickLog) -> Unshown:
    """Count what a log leaves out of the candidate sets of the queries that it drew.

    Equation 5 is unbiased only if every relevant document was shown where its propensity is above
    0 (section 4.1); below a cut no data removes the bias (Oosterhuis and de Rijke, SIGIR 2020).
    """
    sizes, draws = np.diff(log.query_offsets), log.draws
    impressions = np.bincount(log.document, log.impressions, log.n_documents)
    seen = log.impressions > 0
    lowest = int(log.rank[seen].max()) if seen.any() else 0
    never = np.repeat(draws > 0, sizes) & (impressions == 0)
    lasting = never & np.repeat((draws >= NOT_BY_CHANCE) | (sizes > lowest), sizes)
    places = float(draws @ sizes)
    return Unshown(
        candidates=int(sizes[draws > 0].sum()),
        never=int(np.count_nonzero(never)),
        lasting=int(np.count_nonzero(lasting)),
        lowest=lowest,
        below=float(draws @ np.maximum(sizes - lowest, 0)) / places if places else 0.0,
        clicks_only=log.clicks_only,
    )
