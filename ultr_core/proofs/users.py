"""Users of a small query: how they look and click, and the moments of that in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Behaviour:
    """How users behave at each rank, whatever is shown there.

    Attributes:
        look: probability [ranks] of examining the document there, in the position model.
        attraction: share of the users who would not look but do if the document is relevant.
        eps_plus, eps_minus: probability [ranks] of clicking an examined document that is
            relevant, or irrelevant.
        stops: whether the user leaves after the first click (cascade).
    """

    look: tuple[Fraction, ...]
    eps_plus: tuple[Fraction, ...]
    eps_minus: tuple[Fraction, ...]
    attraction: Fraction = ZERO
    stops: bool = False

    def users(self, relevance: Sequence[int], presented: Sequence[int]) -> Users:
        """The users of a query with this relevance and presented rank [documents]."""
        look, click = [], []
        for relevant, rank in zip(relevance, presented, strict=True):
            p = self.look[rank - 1]
            drawn = self.attraction * (1 - p) if relevant and p else ZERO
            look.append(p + drawn)
            click.append((self.eps_plus if relevant else self.eps_minus)[rank - 1])
        shown = tuple(sorted(range(len(presented)), key=presented.__getitem__))
        return Users(shown, tuple(look), tuple(click), self.stops)


@dataclass(frozen=True)
class Users:
    """What one user does with a presented list, going from its top to its end.

    Attributes:
        shown: documents from the top of the list.
        look: probability [documents] of examining a document, if the user is still there.
        click: probability [documents] of clicking it once examined.
        stops: whether the user leaves after the first click; if not, clicks on different
            documents are independent (position model).
    """

    shown: tuple[int, ...]
    look: tuple[Fraction, ...]
    click: tuple[Fraction, ...]
    stops: bool = False

    @cached_property
    def still_there(self) -> tuple[Fraction, ...]:
        """Probability [documents] that the user has not left before reaching the document."""
        there = [ONE] * len(self.shown)
        staying = ONE
        for document in self.shown:
            there[document] = staying
            if self.stops:
                staying *= 1 - self.look[document] * self.click[document]
        return tuple(there)

    @cached_property
    def clicked(self) -> tuple[Fraction, ...]:
        """pi_d = P(c_d = 1) [documents]."""
        return tuple(
            stay * look * click
            for stay, look, click in zip(self.still_there, self.look, self.click, strict=True)
        )

    @property
    def clicks_per_user(self) -> Fraction:
        """Expected number of clicks of one user."""
        return sum(self.clicked, ZERO)

    def mean(self, values: Sequence[Fraction]) -> Fraction:
        """E[sum_d c_d v_d] = sum_d pi_d v_d, for any users."""
        return dot(self.clicked, values)

    def variance(self, values: Sequence[Fraction]) -> Fraction:
        """Var[sum_d c_d v_d].

        Independent clicks: sum_d pi_d (1 - pi_d) v_d^2. At most one click (cascade):
        sum_d pi_d v_d^2 - (sum_d pi_d v_d)^2.
        """
        if self.stops:
            squares = [v * v for v in values]
            return dot(self.clicked, squares) - self.mean(values) ** 2
        return spread(self.clicked, values)


def dot(first: Sequence[Fraction | int], second: Sequence[Fraction | int]) -> Fraction:
    """sum_d first_d second_d."""
    return sum((Fraction(a) * b for a, b in zip(first, second, strict=True)), ZERO)


def times(first: Sequence[Fraction | int], second: Sequence[Fraction | int]) -> list[Fraction]:
    """first_d second_d [documents]."""
    return [Fraction(a) * b for a, b in zip(first, second, strict=True)]


def spread(probability: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    """sum_d pi_d (1 - pi_d) v_d^2: the variance of a sum of independent clicks."""
    return sum((p * (1 - p) * v * v for p, v in zip(probability, values, strict=True)), ZERO)
