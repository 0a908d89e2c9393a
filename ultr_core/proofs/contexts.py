"""Contexts with a curve each, enumerated: which weights are unbiased, as fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.repairs import POSITION, RELEVANCE, SIZE, Enumerated
from ultr_core.proofs.users import ONE, ZERO, Behaviour, dot

SHARES = (Fraction(1, 3), Fraction(2, 3))
"""How often the two contexts of ``STEEP_AND_FLAT`` occur."""

STEEP_AND_FLAT = (
    Behaviour(
        tuple(p**2 for p in POSITION.look), POSITION.eps_plus, POSITION.eps_minus
    ),
    Behaviour(
        tuple(2 * p / (ONE + p) for p in POSITION.look), POSITION.eps_plus, POSITION.eps_minus
    ),
)  # fmt: skip
"""p_k = 1 / k^2 in one context and 2 / (k + 1) in the other, without noise."""


@dataclass(frozen=True)
class ContextCase(Enumerated):
    """Users of several contexts and weights for their clicks, on the query of `repairs`.

    Attributes:
        behaviours: how users of each context look and click.
        shares: of each context among the presentations of the query; one is 1 if the context
            belongs to the query.
        pooled: the shares in one curve for all contexts; None if each has its own.
    """

    behaviours: tuple[Behaviour, ...] = STEEP_AND_FLAT
    shares: tuple[Fraction, ...] = SHARES
    pooled: tuple[Fraction, ...] | None = None

    def weight(self, context: int, rank: int) -> Fraction:
        """What a click at a rank counts."""
        if self.pooled is None:
            return 1 / self.behaviours[context].look[rank - 1]
        return 1 / dot(self.pooled, [each.look[rank - 1] for each in self.behaviours])

    def _of(self, context: int, ranks: Sequence[int]) -> tuple[Fraction, Fraction]:
        """First and second moment of sum rank u c in one context, every pattern enumerated."""
        law = click_law(self.behaviours[context].users(RELEVANCE, tuple(range(1, SIZE + 1))))
        counted = [rank * self.weight(context, k) for k, rank in enumerate(ranks, start=1)]
        mean = law.mean(counted)
        return mean, law.variance(counted) + mean**2

    @property
    def means(self) -> tuple[Fraction, ...]:
        """E[u c] [documents], over contexts and patterns."""
        alone = [tuple(int(each == d) for each in range(SIZE)) for d in range(SIZE)]
        return tuple(self.moments(ranks)[0] for ranks in alone)

    def moments(self, new: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Mean and variance of one presentation, over contexts and patterns."""
        mean, second = ZERO, ZERO
        for context, share in enumerate(self.shares):
            first, square = self._of(context, new)
            mean, second = mean + share * first, second + share * square
        return mean, second - mean**2
