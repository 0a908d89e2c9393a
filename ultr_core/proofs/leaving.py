"""Users who leave after a click, enumerated: what hindsight estimates are on average.

The query, rankings and fitted relevance of `repairs`, shown as A, B, C, D with p_k = 1 / k. A user
who is still there clicks at rank k with probability a_k = p_k (r + eps_minus (1 - r)), and stays
after each click with probability lambda. Without noise, what clicks of users who never leave
would say is the risk; with it, the risk up to a factor and a constant (section 5.2 of the paper).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from ultr_core.proofs.repairs import FITTED, RELEVANCE, SIZE, UV, Enumerated
from ultr_core.proofs.users import ONE, ZERO


@dataclass(frozen=True)
class Reached:
    """What an estimator knows of a document at a rank in one presentation.

    examined: p of its rank. above: clicks above, h. continuation: assumed lambda. fitted: its
    fitted relevance. clip: tau, 0 for none.
    """

    examined: Fraction
    above: int
    continuation: Fraction
    fitted: Fraction
    clip: Fraction

    def divisor(self, above: int) -> Fraction:
        """max(tau, p lambda^h) after so many clicks."""
        return max(self.clip, self.examined * self.continuation**above)


def _robust(reached: Reached) -> UV:
    inverse = [1 / reached.divisor(j) for j in range(reached.above + 1)]
    left = (1 - reached.continuation) * sum(inverse[1:], ZERO)
    v = reached.fitted * (1 - reached.examined * (inverse[-1] - left))
    return inverse[-1], v


NUMBERS: Mapping[str, Callable[[Reached], UV]] = MappingProxyType(
    {
        "naive": lambda reached: (ONE, ZERO),
        "ips": lambda reached: (1 / reached.examined, ZERO),
        "hindsight": lambda reached: (1 / reached.divisor(reached.above), ZERO),
        "hindsight-doubly-robust": _robust,
    }
)
"""u and v of each estimator as fractions, by its key in `ultr_core.propensity.ESTIMATORS`."""

Visit = tuple[tuple[int, ...], Fraction]
"""Clicks [documents] of one user, and the probability."""


@dataclass(frozen=True)
class LeavingCase(Enumerated):
    """An estimator and users who may leave after a click, on the query of `repairs`.

    Attributes:
        estimator: a key of ``NUMBERS``.
        continuation: lambda of the users, above 0 or 0.
        satisfied: another lambda after a click on a relevant document; None for the same.
        assumed: the lambda that the estimator has; None for that of the users.
        eps_minus: click probability of an examined irrelevant document.
        clip: threshold tau of an estimator that clips.
        fitted: the relevance [documents] of an estimator that fits one.
    """

    estimator: str
    continuation: Fraction = Fraction(1, 2)
    satisfied: Fraction | None = None
    assumed: Fraction | None = None
    eps_minus: Fraction = Fraction(1, 10)
    clip: Fraction = ZERO
    fitted: tuple[Fraction, ...] = FITTED

    @property
    def clicked(self) -> tuple[Fraction, ...]:
        """P(click | examined) [documents]: what each document should count."""
        return tuple(ONE if r else self.eps_minus for r in RELEVANCE)

    def stays(self, document: int) -> Fraction:
        """Lambda after a click on this document."""
        if self.satisfied is not None and RELEVANCE[document]:
            return self.satisfied
        return self.continuation

    @cached_property
    def law(self) -> Mapping[tuple[int, ...], Fraction]:
        """Every click pattern with its probability."""
        found: dict[tuple[int, ...], Fraction] = {}
        for pattern, probability in self._visits((), ONE):
            found[pattern] = found.get(pattern, ZERO) + probability
        return MappingProxyType(found)

    def _visits(self, clicks: tuple[int, ...], probability: Fraction) -> Iterator[Visit]:
        """Everything that may follow, of a user who is still there."""
        document = len(clicks)
        if document == SIZE or not probability:
            yield (*clicks, *(0,) * (SIZE - document)), probability
            return
        a, stay = self.clicked[document] / (document + 1), self.stays(document)
        rest = (0,) * (SIZE - document - 1)
        yield from self._visits((*clicks, 0), probability * (1 - a))
        yield from self._visits((*clicks, 1), probability * a * stay)
        yield (*clicks, 1, *rest), probability * a * (1 - stay)

    def numbers(self, document: int, above: int) -> UV:
        """u and v of a document below so many clicks."""
        stay = self.continuation if self.assumed is None else self.assumed
        examined = Fraction(1, document + 1)
        return NUMBERS[self.estimator](
            Reached(examined, above, stay, self.fitted[document], self.clip)
        )

    def total(self, new: Sequence[int], pattern: Sequence[int]) -> Fraction:
        """sum rank (u c + v) of one pattern."""
        found = ZERO
        for document, click in enumerate(pattern):
            u, v = self.numbers(document, sum(pattern[:document]))
            found += new[document] * (u * click + v)
        return found

    @cached_property
    def means(self) -> tuple[Fraction, ...]:
        """E[u c + v] [documents], over every click pattern."""
        found = [ZERO] * SIZE
        for pattern, probability in self.law.items():
            for document, click in enumerate(pattern):
                u, v = self.numbers(document, sum(pattern[:document]))
                found[document] += probability * (u * click + v)
        return tuple(found)

    @property
    def due(self) -> tuple[Fraction, ...]:
        """What clicks of users who never leave would count; without noise, the relevance."""
        return self.clicked

    def moments(self, new: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Mean and variance of one presentation, every pattern enumerated."""
        totals = [(self.total(new, pattern), p) for pattern, p in self.law.items()]
        mean = sum((p * total for total, p in totals), ZERO)
        return mean, sum((p * total**2 for total, p in totals), ZERO) - mean**2

    def recursion(self, new: Sequence[int]) -> tuple[Fraction, Fraction]:
        """The same from the last rank up, over clicks above, for an estimator with v = 0.

        M_k(h) = a (x + lambda M_{k+1}(h + 1)) + (1 - a) M_{k+1}(h) with x = rank u, and
        S_k(h) = a (x^2 + 2 x lambda M_{k+1}(h + 1) + lambda S_{k+1}(h + 1)) + (1 - a) S_{k+1}(h).
        """
        mean, second = [ZERO] * (SIZE + 1), [ZERO] * (SIZE + 1)
        for document in reversed(range(SIZE)):
            a, stay = self.clicked[document] / (document + 1), self.stays(document)
            for above in range(document + 1):
                x = new[document] * self.numbers(document, above)[0]
                more, square = stay * mean[above + 1], stay * second[above + 1]
                second[above] = a * (x * x + 2 * x * more + square) + (1 - a) * second[above]
                mean[above] = a * (x + more) + (1 - a) * mean[above]
        return mean[0], second[0] - mean[0] ** 2

    @cached_property
    def counted(self) -> tuple[Fraction, ...]:
        """sum over h of P(still there after h clicks) p / max(tau, p lambda^h) [documents].

        1 where nothing is clipped and lambda is right: what a click counts on average, once
        examined.
        """
        there, found = [ONE, *[ZERO] * SIZE], []
        for document in range(SIZE):
            p, stay = Fraction(1, document + 1), self.stays(document)
            found.append(
                sum((there[h] * p * self.numbers(document, h)[0] for h in range(SIZE)), ZERO)
            )
            a = self.clicked[document] * p
            arrived = [ZERO, *(a * stay * share for share in there[:-1])]
            there = [share * (1 - a) + new for share, new in zip(there, arrived, strict=True)]
        return tuple(found)
