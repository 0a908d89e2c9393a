"""The paper's claims on its figures, each with a stated test on the intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from ultr_core.experiments.studies.claim_tests import (
    CLOSE,
    FEW_CLICKS,
    FLAT,
    NOISE_SHARE_MARGIN,
    PAPER_NOISE_SHARE,
    Decision,
    above_is_beyond_naive,
    above_is_worse,
    approaches_skyline,
    beats_naive,
    clipping_helps,
    gap_grows,
    more_data_helps,
    more_data_is_no_use,
    naive_is_better_early,
    naive_is_flat,
    naive_is_worse,
    noise_share_is_the_papers,
    same_without_bias,
    skip_above_reverses,
    tau_is_not_found,
    weighting_helps,
    zero_is_naive,
)
from ultr_core.experiments.studies.curves import StudyResult
from ultr_core.risk import NO_INTERVAL

HOLDS, FAILS, OPEN = "holds here", "does not hold here", "cannot be told here"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper and what became of it.

    ``statement`` in our words, ``section`` of the paper, ``test`` what decides, ``verdict`` one
    of "holds here", "does not hold here" (the intervals contradict it) and "cannot be told here"
    (they leave it open); ``numbers`` is what the test looked at.
    """

    key: str
    statement: str
    section: str
    test: str
    verdict: str
    numbers: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Rule:
    """A claim before it is judged: what it says, where, and what decides it."""

    key: str
    statement: str
    section: str
    test: str
    decide: Callable[[StudyResult], Decision]


def judge(result: StudyResult) -> tuple[Claim, ...]:
    """Every claim on the study's figure; left open where cells or draws are missing.

    Intervals are 95% Student t over draws, of differences between methods on the same users. A
    claim on several intervals needs all of them and fails with any. It fails only when an
    interval contradicts it; an interval that holds the limit leaves it open. On a given
    examination curve nothing is judged: the claims are about power laws.
    """
    if result.plan.curves:
        return ()
    return tuple(_judged(rule, result) for rule in RULES.get(result.plan.study.name, ()))


def _judged(rule: Rule, result: StudyResult) -> Claim:
    decided: bool | None = None
    numbers = "The study is not finished."
    if result.plan.base.draws < 2:
        numbers = NO_INTERVAL
    elif result.complete:
        decided, numbers = rule.decide(result)
    verdict = OPEN if decided is None else HOLDS if decided else FAILS
    return Claim(rule.key, rule.statement, rule.section, rule.test, verdict, numbers)


_LOW = "The lower end of the interval of the difference is above 0"

RULES: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        "learning-curve": (
            Rule(
                "approaches-skyline",
                "With more clicks, the propensity-weighted ranker approaches the skyline.",
                "7.2",
                f"At the most clicks it is within {CLOSE:.0%} of the gap between production "
                "and "
                "skyline, and better than at the fewest (upper and lower ends of the intervals).",
                approaches_skyline,
            ),
            Rule(
                "naive-flat",
                "From some ten thousand clicks on, more clicks do not help the naive ranker.",
                "7.2",
                "Over the last tenfold of clicks its loss changes by less than "
                f"{FLAT:.0%} of the gap (both ends of the interval).",
                naive_is_flat,
            ),
            Rule(
                "naive-worse",
                "With many clicks the naive ranker is worse than the weighted one.",
                "7.2",
                f"{_LOW} at the most clicks.",
                naive_is_worse,
            ),
            Rule(
                "naive-better-early",
                "With very few clicks the naive ranker is better than the weighted one.",
                "7.2",
                f"{_LOW} at the fewest clicks.",
                naive_is_better_early,
            ),
            Rule(
                "clipping-helps",
                "With few clicks, clipping improves on plain weighting.",
                "7.2",
                f"{_LOW}, averaged over all points up to {FEW_CLICKS:,} clicks.",
                clipping_helps,
            ),
            Rule(
                "tau-not-found",
                "With very few clicks, validation is too small to find that τ = 1 would be best.",
                "7.2",
                f"{_LOW} at the fewest clicks, clipped against naive.",
                tau_is_not_found,
            ),
            Rule(
                "skip-above-reverses",
                "A ranker that learns from clicks over skipped documents tends to reverse the "
                "order that was shown.",
                "1",
                "At the most clicks its order disagrees with production's (Kendall's τ below 0) "
                "and its loss is larger (ends of the intervals).",
                skip_above_reverses,
            ),
        ),
        "bias": (
            Rule(
                "weighting-helps",
                "Once the bias is substantial, weighting beats the naive ranker.",
                "7.3",
                f"{_LOW} at every η of 1 or more.",
                weighting_helps,
            ),
            Rule(
                "more-data-helps-propensity",
                "Five times the clicks improve the weighted ranker.",
                "7.3",
                f"{_LOW}, averaged over η of 1 or more.",
                more_data_helps(1.0),
            ),
            Rule(
                "more-data-no-use-naive",
                "Five times the clicks do not improve the naive ranker.",
                "7.3",
                "The interval of the change, averaged over η of 1 or more, is within "
                f"{FLAT:.0%} "
                "of the gap.",
                more_data_is_no_use(1.0),
            ),
            Rule(
                "same-without-bias",
                "Without bias both are the same ranker (implied, not printed).",
                "5.1",
                "At η = 0 the losses are equal in every draw.",
                same_without_bias,
            ),
        ),
        "noise": (
            Rule(
                "gap-grows",
                "The gap between naive and weighted grows with the noise.",
                "7.4",
                f"{_LOW} for the slope of the gap over ε₋, at both numbers of clicks.",
                gap_grows,
            ),
            Rule(
                "more-data-helps-propensity",
                "Five times the clicks improve the weighted ranker.",
                "7.4",
                f"{_LOW}, averaged over all ε₋.",
                more_data_helps(0.0),
            ),
            Rule(
                "more-data-no-use-naive",
                "Five times the clicks do not improve the naive ranker.",
                "7.4",
                f"The interval of the change, averaged over all ε₋, is within {FLAT:.0%} of "
                "the "
                "gap.",
                more_data_is_no_use(0.0),
            ),
            Rule(
                "noise-share",
                f"At ε₋ = 0.3, {PAPER_NOISE_SHARE:.1%} of the clicks are on irrelevant documents.",
                "7.4",
                f"The share is within {100 * NOISE_SHARE_MARGIN:g} percentage points of that.",
                noise_share_is_the_papers,
            ),
        ),
        "misspecification": (
            Rule(
                "below-is-tolerable",
                "Assuming too little bias is tolerable: it still beats the naive ranker.",
                "7.5",
                f"{_LOW} at every assumed η from 0.25 to 0.9.",
                beats_naive(0.25, 0.9),
            ),
            Rule(
                "above-is-worse",
                "Assuming too much bias hurts, and more than assuming too little.",
                "7.5",
                f"{_LOW} at 1.5, against the truth and against 0.5.",
                above_is_worse,
            ),
            Rule(
                "above-beyond-naive",
                "Far too much assumed bias can be worse than no weighting.",
                "7.5",
                f"{_LOW} at the largest assumed η.",
                above_is_beyond_naive,
            ),
            Rule(
                "mediocre-beats-naive",
                "Even a mediocre propensity model beats the naive ranker.",
                "7.5",
                f"{_LOW} at every assumed η from 0.75 to 1.25.",
                beats_naive(0.75, 1.25),
            ),
            Rule(
                "zero-is-naive",
                "Assuming no bias is the naive ranker (implied, not printed).",
                "7.5",
                "At an assumed η of 0 the losses are equal in every draw.",
                zero_is_naive,
            ),
        ),
    }
)
"""The claims on each study, by its name, in the order in which they are shown."""
