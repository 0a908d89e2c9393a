"""The click patterns of one small query with their exact probabilities.

All numbers are integers over one common denominator, so that thousands of patterns are summed
without rounding and without reducing a fraction at every step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ultr_core.errors import InputError
from ultr_core.proofs.users import Users

MOST_PATTERNS = 4096
"""Patterns that are enumerated: 12 documents that can be clicked."""


@dataclass(frozen=True, eq=False)
class ClickLaw:
    """Every click pattern that can happen, with its probability.

    Attributes:
        documents: the documents that can be clicked, from the top of the list; bit i of a
            pattern belongs to ``documents[i]``.
        patterns: the patterns, each after those that are contained in it.
        weights: an integer for each pattern; ``weights / denominator`` are the probabilities.
        denominator: the sum of all weights.
    """

    documents: tuple[int, ...]
    patterns: tuple[int, ...]
    weights: tuple[int, ...]
    denominator: int

    def probability(self, index: int) -> Fraction:
        """Probability of one pattern."""
        return Fraction(self.weights[index], self.denominator)

    def clicked(self, index: int) -> tuple[int, ...]:
        """Documents that are clicked in one pattern."""
        pattern = self.patterns[index]
        return tuple(d for bit, d in enumerate(self.documents) if pattern >> bit & 1)

    def total(self, index: int, values: Sequence[Fraction]) -> Fraction:
        """sum_d c_d v_d in one pattern, for values v [all documents of the query]."""
        return sum((values[d] for d in self.clicked(index)), Fraction(0))

    def marginal(self, document: int) -> Fraction:
        """P(c_d = 1), summed over the patterns; 0 for a document that cannot be clicked."""
        if document not in self.documents:
            return Fraction(0)
        bit = 1 << self.documents.index(document)
        pairs = zip(self.patterns, self.weights, strict=True)
        total = sum(weight for pattern, weight in pairs if pattern & bit)
        return Fraction(total, self.denominator)

    @cached_property
    def marginals(self) -> dict[int, Fraction]:
        """P(c_d = 1) of each document that can be clicked."""
        return {document: self.marginal(document) for document in self.documents}

    def totals(self, values: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
        """sum_d c_d v_d in every pattern, as integers over a common denominator.

        values v [all documents of the query].
        """
        unit = math.lcm(1, *(values[d].denominator for d in self.documents))
        steps = [int(values[d] * unit) for d in self.documents]
        sums = {0: 0}
        for pattern in self.patterns:
            if pattern:
                lowest = pattern & -pattern
                sums[pattern] = sums[pattern ^ lowest] + steps[lowest.bit_length() - 1]
        return tuple(sums[pattern] for pattern in self.patterns), unit

    def mean(self, values: Sequence[Fraction]) -> Fraction:
        """E[sum_d c_d v_d] over all patterns."""
        totals, unit = self.totals(values)
        total = sum(w * t for w, t in zip(self.weights, totals, strict=True))
        return Fraction(total, self.denominator * unit)

    def variance(self, values: Sequence[Fraction]) -> Fraction:
        """Var[sum_d c_d v_d] over all patterns."""
        totals, unit = self.totals(values)
        second = sum(w * t * t for w, t in zip(self.weights, totals, strict=True))
        return Fraction(second, self.denominator * unit * unit) - self.mean(values) ** 2


def click_law(users: Users) -> ClickLaw:
    """Enumerate what one user may click.

    Independent clicks give 2^k patterns for k documents that can be clicked, a user who stops
    after the first click k + 1.

    Raises:
        InputError: more than ``MOST_PATTERNS`` patterns.
    """
    rates = {d: users.look[d] * users.click[d] for d in users.shown}
    documents = tuple(d for d in users.shown if rates[d] > 0)
    if not users.stops and 2 ** len(documents) > MOST_PATTERNS:
        raise InputError(
            f"{len(documents)} documents that can be clicked have 2^{len(documents)} click "
            f"patterns; enumeration stops at {MOST_PATTERNS:,}, so use the closed form and "
            "Monte Carlo beyond that."
        )
    denominator = math.prod(rates[d].denominator for d in documents)
    if users.stops:
        return _stopping_law(documents, [rates[d] for d in documents], denominator)
    weights = [1]
    for d in documents:
        clicked = rates[d].numerator
        skipped = rates[d].denominator - clicked
        weights = [w * skipped for w in weights] + [w * clicked for w in weights]
    return ClickLaw(documents, tuple(range(len(weights))), tuple(weights), denominator)


def _stopping_law(
    documents: tuple[int, ...], rates: Sequence[Fraction], denominator: int
) -> ClickLaw:
    """No click, or one click on one document."""
    patterns, weights = [0], [0]
    staying = Fraction(denominator)
    for bit, rate in enumerate(rates):
        patterns.append(1 << bit)
        weights.append(int(staying * rate))
        staying *= 1 - rate
    weights[0] = int(staying)
    return ClickLaw(documents, tuple(patterns), tuple(weights), denominator)
