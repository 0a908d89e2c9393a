"""The exact sign test of Section 7.6: wins against losses, ties dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, ndtri

from ultr_core.corpus.ranking import in_brief, number_or_nan, whole_or_none
from ultr_core.errors import InputError
from ultr_core.words import counted

SIGNIFICANCE = 0.05
"""Two-tailed level of the test, and one minus the level of its interval."""

MOST_COMPARISONS = 10_000_000
"""Traffic beyond which the power of the test is no longer searched."""

# Decided comparisons from which the power is taken from the normal approximation.
_EXACT_UP_TO = 5_000


@dataclass(frozen=True)
class SignTest:
    """Wins against losses under the hypothesis that both are equally likely.

    p_value: two-tailed and exact. relative_risk: (losses / decided) / 0.5, as the paper prints it.
    win_share: wins / decided, and its exact 95% interval (Clopper and Pearson, 1934) low, high.
    power: probability to be significant at 5%, were the observed share the true one.
    """

    wins: int
    losses: int
    ties: int
    p_value: float
    relative_risk: float
    win_share: float
    low: float
    high: float
    power: float

    @property
    def decided(self) -> int:
        """Comparisons that were won or lost."""
        return self.wins + self.losses

    @property
    def significant(self) -> bool:
        """Whether the two-tailed test rejects at 5%."""
        return self.p_value < SIGNIFICANCE

    @property
    def side(self) -> int:
        """1 where wins prevail, -1 where losses do, 0 where the test cannot tell."""
        return (self.wins > self.losses) - (self.wins < self.losses) if self.significant else 0

    @property
    def sentence(self) -> str:
        """The result in words."""
        numbers = (
            f"{counted(self.wins, 'win')}, {counted(self.losses, 'loss', 'losses')} and "
            f"{counted(self.ties, 'tie')}: win share "
            f"{self.win_share:.1%} among decided comparisons, "
            f"95% interval {self.low:.1%} to {self.high:.1%}, "
            f"{p_words(self.p_value)}"
        )
        if not self.significant:
            return (
                f"{numbers}. This shows no difference; the interval shows how large a difference "
                "may still be."
            )
        better = "wins" if self.wins > self.losses else "loses"
        return f"{numbers}. The first ranker {better} more often than chance would explain."


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Exact two-tailed binomial sign test of wins against losses; ties are dropped.

    p = 2 P(X <= min(wins, losses)), at most 1, X ~ Binomial(wins + losses, 1/2). Section 7.6:
    87 wins and 48 losses give 0.0009995, 95 and 60 give 0.006133.

    Raises InputError for counts that are no whole numbers of 0 or more, or without a decided
    comparison.

    The live experiment of the paper (table 1):

    >>> test = sign_test(87, 48, 83)
    >>> round(test.p_value, 4), test.significant
    (0.001, True)
    """
    wins, losses, ties = (
        _count(name, given) for name, given in (("wins", wins), ("losses", losses), ("ties", ties))
    )
    decided = wins + losses
    if decided == 0:
        left = "only ties" if ties else "and no ties either"
        raise InputError(
            f"There are no wins or losses, {left}, so there is nothing to test.",
            "only_ties" if ties else "no_comparison",
        )
    p_value = min(1.0, 2.0 * float(bdtr(min(wins, losses), decided, 0.5)))
    share = wins / decided
    low = float(betaincinv(wins, losses + 1, 0.025)) if wins else 0.0
    high = float(betaincinv(wins + 1, losses, 0.975)) if losses else 1.0
    return SignTest(
        wins, losses, ties, p_value, losses / decided / 0.5, share, low, high,
        sign_test_power(decided, share),
    )  # fmt: skip


def _count(name: str, given: int) -> int:
    whole = whole_or_none(given)
    if whole is None or whole < 0:
        raise InputError(
            f"The number of {name} is {in_brief(given)}; it must be a whole number of 0 or more.",
            "count",
        )
    return whole


def sign_test_power(decided: int, win_share: float) -> float:
    """Probability that the exact two-tailed test at 5% rejects, given the true win share.

    P(X <= a) + P(X >= n - a), X ~ Binomial(n, win share), a the largest number with
    2 P(Y <= a) <= 0.05 for Y ~ Binomial(n, 1/2); 0 if there is none. Raises InputError for a
    share outside [0, 1] or n below 1.
    """
    if (whole_or_none(decided) or 0) < 1 or not 0 <= number_or_nan(win_share) <= 1:
        raise InputError(
            f"Power needs at least one decided comparison and a win share in [0, 1], "
            f"not {in_brief(decided)} and {in_brief(win_share)}.",
            "power",
        )
    worst = _critical_losses(decided)
    if worst < 0:
        return 0.0
    lower = float(bdtr(worst, decided, win_share))
    return lower + float(bdtrc(decided - worst - 1, decided, win_share))


def wins_by_chance(decided: int) -> tuple[int, int]:
    """Fewest and most wins of n decided comparisons for which the exact test has p above 0.05.

    Were both equally good, at least 95 of 100 experiments would have as many: [a + 1, n - a - 1]
    with a the largest number with 2 P(Y <= a) <= 0.05, Y ~ Binomial(n, 1/2). Raises InputError for
    n below 1.

    >>> wins_by_chance(135)
    (56, 79)
    """
    if (whole_or_none(decided) or 0) < 1:
        raise InputError(
            f"A range of wins needs at least one decided comparison, not {in_brief(decided)}.",
            "no_comparison",
        )
    fewest = _critical_losses(decided) + 1
    return fewest, decided - fewest


def comparisons_needed(win_share: float, *, power: float = 0.8) -> int | None:
    """Decided comparisons from which the sign test reaches the requested power and keeps it.

    The power of an exact test is jagged in n; the smallest n is taken from which every larger one
    up to twice as many reaches ``power`` (normal approximation beyond 5,000). None if the share
    is 1/2 or so close that more than ``MOST_COMPARISONS`` are needed. Raises InputError for a
    power outside (0.05, 1) or a share outside [0, 1].
    """
    if not (0 <= number_or_nan(win_share) <= 1 and SIGNIFICANCE < number_or_nan(power) < 1):
        raise InputError(
            "The traffic needed can be computed only for a win share in [0, 1] and a power between "
            f"0.05 and 1, not {in_brief(win_share)} and {in_brief(power)}.",
            "power",
        )
    effect = abs(win_share - 0.5)
    if effect == 0:
        return None
    spread = math.sqrt(win_share * (1 - win_share))
    reach = float(ndtri(1 - SIGNIFICANCE / 2)) * 0.5 + float(ndtri(power)) * spread
    guess = math.ceil((reach / effect) ** 2)
    if guess > MOST_COMPARISONS:
        return None
    if guess > _EXACT_UP_TO:
        return guess
    sizes = np.arange(1, 2 * guess + 50)
    short = [n for n in sizes.tolist() if sign_test_power(n, win_share) < power]
    return (short[-1] if short else 0) + 1


def traffic_words(win_share: float) -> str:
    """How many decided queries the test needs for 80% power at this win share, in words.

    Raises InputError for a share outside [0, 1].
    """
    needed = comparisons_needed(win_share)
    if needed is not None:
        return counted(needed, "decided query", "decided queries")
    if win_share == 0.5:
        return "no amount of traffic is enough"
    return f"more than {MOST_COMPARISONS:,} decided queries"


def p_words(p_value: float) -> str:
    """A p-value in words; a small one is never told as 0."""
    return "p below 0.0001" if p_value < 1e-4 else f"p = {p_value:.3g}"


@lru_cache(maxsize=65_536)
def _critical_losses(decided: int) -> int:
    """Largest a with 2 P(Y <= a) <= 0.05, Y ~ Binomial(n, 1/2); -1 if there is none."""
    start = decided / 2 - float(ndtri(1 - SIGNIFICANCE / 2)) * math.sqrt(decided) / 2
    worst = min(decided // 2, math.ceil(start) + 2)
    while worst >= 0 and 2.0 * float(bdtr(worst, decided, 0.5)) > SIGNIFICANCE:
        worst -= 1
    return worst
