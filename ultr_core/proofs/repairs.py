"""What breaks weighting and what repairs it, enumerated: bias and spread of each as fractions.

One query with candidates A, B, C and D, shown in that order; B and D are relevant. For each list
that a logger may show, every click pattern is summed with its probability:

    E[R_hat(S)] = E_list E_clicks [ sum_d rank(d | S) (u_d c_d + v_d) ]

and what is left after the true risk is taken away is the error, for each of the 24 rankings S.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from types import MappingProxyType

from ultr_core.proofs.enumeration import ClickLaw, click_law
from ultr_core.proofs.users import ONE, ZERO, Behaviour, dot

RELEVANCE = (0, 1, 0, 1)
SIZE = len(RELEVANCE)
RANKINGS = tuple(permutations(range(1, SIZE + 1)))
FITTED = tuple(Fraction(4, 5) if r else Fraction(1, 5) for r in RELEVANCE)
"""The relevance that the direct method and doubly robust have: near the truth, but not it."""
CLIP = Fraction(1, 3)
"""Threshold tau of those that clip."""

Lists = tuple[tuple[Fraction, tuple[int, ...]], ...]
"""What a logger shows: probability and ranks [documents] of each list; size + 1 where left out."""

FIXED: Lists = ((ONE, (1, 2, 3, 4)),)
LAST_REPLACED: Lists = ((Fraction(1, 2), (1, 2, 3, 5)), (Fraction(1, 2), (1, 2, 5, 3)))
"""Lists of three whose last document is C or D, each as often."""
MIXED: Lists = (
    (Fraction(4, 5), (1, 2, 3, 5)),
    *(
        (Fraction(1, 5 * len(RANKINGS)), tuple(k if k <= 3 else 5 for k in ranks))
        for ranks in RANKINGS
    ),
)
"""Lists of three: A, B and C in 80% of the draws, the first of a random order in the others."""


def risk_of(ranks: Sequence[int]) -> int:
    """R(S), the summed ranks of B and D."""
    return sum(rank * r for rank, r in zip(ranks, RELEVANCE, strict=True))


PAIRS = tuple(
    (one, other) for one, other in combinations(RANKINGS, 2) if risk_of(one) != risk_of(other)
)


@dataclass(frozen=True)
class Shown:
    """What an estimator knows of a document in a list.

    examined: assumed propensity of its rank. alpha, beta: of P(click) = alpha r + beta at its rank.
    exposure: its mean propensity over all lists. fitted: its fitted relevance. clip: tau.
    """

    examined: Fraction
    alpha: Fraction
    beta: Fraction
    exposure: Fraction
    fitted: Fraction
    clip: Fraction


UV = tuple[Fraction, Fraction]


def _over(one: Fraction, other: Fraction) -> Fraction:
    """A quotient; 0 where nobody looks, so that nobody clicks."""
    return one / other if other else ZERO


def _robust(shown: Shown, alpha: Fraction, beta: Fraction) -> UV:
    divisor = max(shown.clip, alpha)
    return 1 / divisor, shown.fitted - (alpha * shown.fitted + beta) / divisor


NUMBERS: Mapping[str, Callable[[Shown], UV]] = MappingProxyType(
    {
        "naive": lambda shown: (ONE, ZERO),
        "ips": lambda shown: (_over(ONE, shown.examined), ZERO),
        "clipped": lambda shown: (1 / max(shown.clip, shown.examined), ZERO),
        "direct": lambda shown: (ZERO, shown.fitted),
        "doubly-robust": lambda shown: _robust(shown, shown.examined, ZERO),
        "affine": lambda shown: (_over(ONE, shown.alpha), -_over(shown.beta, shown.alpha)),
        "affine-doubly-robust": lambda shown: _robust(shown, shown.alpha, shown.beta),
        "policy-aware": lambda shown: (_over(ONE, shown.exposure), ZERO),
    }
)
"""u and v of each estimator as fractions, by its key in `ultr_core.propensity.ESTIMATORS`."""


class Enumerated(ABC):
    """Bias and spread of an estimator over the 24 rankings S of the query of this module."""

    @property
    @abstractmethod
    def means(self) -> tuple[Fraction, ...]:
        """E[u c + v] [documents], over everything that may happen."""

    @abstractmethod
    def moments(self, new: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Mean and variance of one presentation, everything that may happen enumerated."""

    @property
    def due(self) -> tuple[Fraction, ...]:
        """What each document should count on average: its relevance, so that S gets R(S)."""
        return tuple(Fraction(r) for r in RELEVANCE)

    @cached_property
    def errors(self) -> Mapping[tuple[int, ...], Fraction]:
        """E[R_hat(S)] minus what it should be, of each ranking S [ranks of documents]."""
        off = [mean - due for mean, due in zip(self.means, self.due, strict=True)]
        return {new: dot(new, off) for new in RANKINGS}

    @property
    def largest_error(self) -> Fraction:
        """The error that is farthest from 0."""
        return max(self.errors.values(), key=abs)

    @cached_property
    def wrong_pairs(self) -> int:
        """Pairs of rankings, of ``PAIRS`` with unequal risk, that are not in their true order.

        A factor and a constant that are the same for every ranking put no pair in another order.
        """
        mean = {new: dot(new, self.means) for new in RANKINGS}
        return sum(
            (risk_of(one) - risk_of(other)) * (mean[one] - mean[other]) <= 0 for one, other in PAIRS
        )

    @cached_property
    def variance(self) -> Fraction:
        """The largest variance of one presentation, over the rankings S."""
        return max(self.moments(new)[1] for new in RANKINGS)


@dataclass(frozen=True)
class SmallCase(Enumerated):
    """An estimator, users, and a logger, on the query of this module.

    Attributes:
        estimator: a key of ``NUMBERS``.
        behaviour: how users look and click, at ranks 1 to 5; nobody looks at what is left out.
        assumed: the curve [5 ranks] that the estimator has; None for that of the users.
        lists: what the logger shows.
        clip: threshold tau of an estimator that clips.
        fitted: the relevance [documents] of an estimator that fits one.
        lines: whether alpha and beta are known up to a scale alone, as swaps measure them.
    """

    estimator: str
    behaviour: Behaviour
    assumed: tuple[Fraction, ...] | None = None
    lists: Lists = FIXED
    clip: Fraction = CLIP
    fitted: tuple[Fraction, ...] = FITTED
    lines: bool = False

    @cached_property
    def laws(self) -> tuple[ClickLaw, ...]:
        """Every click pattern of each list."""
        return tuple(click_law(self.behaviour.users(RELEVANCE, ranks)) for _, ranks in self.lists)

    def numbers(self, ranks: Sequence[int]) -> tuple[UV, ...]:
        """u and v [documents] in a list."""
        users = self.behaviour
        curve = users.look if self.assumed is None else self.assumed
        found = []
        for document, rank in enumerate(ranks):
            high, low = users.eps_plus[rank - 1], users.eps_minus[rank - 1]
            exposure = sum((p * curve[own[document] - 1] for p, own in self.lists), ZERO)
            at = curve[rank - 1]
            alpha, beta = at * (high - low), at * low
            if self.lines:
                alpha, beta = _as_lines(users, alpha, beta)
            shown = Shown(at, alpha, beta, exposure, self.fitted[document], self.clip)
            found.append(NUMBERS[self.estimator](shown))
        return tuple(found)

    @cached_property
    def means(self) -> tuple[Fraction, ...]:
        """E[u c + v] [documents], over lists and patterns."""
        found = [ZERO] * SIZE
        for (probability, ranks), law in zip(self.lists, self.laws, strict=True):
            for document, (u, v) in enumerate(self.numbers(ranks)):
                alone = [u if each == document else ZERO for each in range(SIZE)]
                found[document] += probability * (law.mean(alone) + v)
        return tuple(found)

    def moments(self, new: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Mean and variance of one presentation, over lists and patterns."""
        mean, second = ZERO, ZERO
        for (probability, ranks), law in zip(self.lists, self.laws, strict=True):
            pairs = self.numbers(ranks)
            clicked = [rank * u for rank, (u, _) in zip(new, pairs, strict=True)]
            shown = sum((rank * v for rank, (_, v) in zip(new, pairs, strict=True)), ZERO)
            here = law.mean(clicked) + shown
            mean += probability * here
            second += probability * (law.variance(clicked) + here**2)
        return mean, second - mean**2


def _as_lines(users: Behaviour, alpha: Fraction, beta: Fraction) -> UV:
    """Slope and intercept of click rates at a rank against those at rank 1."""
    look, high, low = users.look[0], users.eps_plus[0], users.eps_minus[0]
    slope = alpha / (look * (high - low))
    return slope, beta - slope * look * low


def swap_ratios(users: Behaviour) -> tuple[Fraction, ...]:
    """Click rates at ranks 1 to 5 over that at rank 1, of documents half of which are relevant."""
    rates = [
        look * (high + low) / 2
        for look, high, low in zip(users.look, users.eps_plus, users.eps_minus, strict=True)
    ]
    return tuple(rate / rates[0] for rate in rates)


def _behaviour(
    look: Callable[[int], Fraction],
    eps_plus: Callable[[int], Fraction] = lambda k: ONE,
    eps_minus: Callable[[int], Fraction] = lambda k: ZERO,
) -> Behaviour:
    """Users by rank; nobody looks at rank 5, where a document is that a list leaves out."""
    ranks = range(1, SIZE + 1)
    curves = [[curve(k) for k in ranks] for curve in (look, eps_plus, eps_minus)]
    return Behaviour((*curves[0], ZERO), (*curves[1], ONE), (*curves[2], ZERO))


POSITION = _behaviour(lambda k: Fraction(1, k))
"""Position bias with p_k = 1 / k, without noise."""
TRUST_MILD = _behaviour(
    lambda k: Fraction(35, 100 * k) + Fraction(65, 100) / (1 + Fraction(k - 1, 20)),
    lambda k: 1 / (1 + Fraction(k - 1, 200)),
    lambda k: Fraction(65, 100 * k),
)
TRUST_STEEP = _behaviour(
    lambda k: Fraction(1, k),
    lambda k: Fraction(98 - (k - 1), 100),
    lambda k: Fraction(65, 100 * k),
)
TOP_THREE = _behaviour(lambda k: Fraction(1, k) if k <= 3 else ZERO)
"""Position bias on lists of three."""
TOO_STEEP = tuple(Fraction(1, k * k) for k in range(1, SIZE + 2))
TOO_FLAT = tuple(Fraction(k + 1, 2 * k) for k in range(1, SIZE + 2))
