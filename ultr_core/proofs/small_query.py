"""One small query that a reader can edit: relevances, the presented ranking and two new ones."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ultr_core.errors import InputError
from ultr_core.words import counted

MOST_CANDIDATES = 16
"""Candidates that a small query may have; up to 12 are enumerated with click noise."""

LETTERS = string.ascii_uppercase[:MOST_CANDIDATES]


@dataclass(frozen=True)
class SmallQuery:
    """A query with its candidates A, B, C, ... in a fixed order.

    Attributes:
        relevance: 0 or 1 [documents], r(d).
        presented: rank from 1 [documents] in the ranking that users saw.
        new: rank [documents] under the ranker S_1 to be judged.
        other: rank [documents] under a second ranker S_2 to compare with.

    Raises InputError unless relevances are 0 or 1 and each ranking uses every rank once.
    """

    relevance: tuple[int, ...]
    presented: tuple[int, ...]
    new: tuple[int, ...]
    other: tuple[int, ...]

    def __post_init__(self) -> None:
        size = len(self.relevance)
        if not 2 <= size <= MOST_CANDIDATES:
            raise InputError(
                f"The query has {counted(size, 'candidate')}; it must have 2 to {MOST_CANDIDATES}."
            )
        if any(relevant not in (0, 1) for relevant in self.relevance):
            raise InputError("Each candidate's relevance must be 0 or 1.")
        for name in ("presented", "new", "other"):
            if sorted(getattr(self, name)) != list(range(1, size + 1)):
                raise InputError(
                    f"The {name} ranking must use each rank from 1 to {size} exactly once."
                )

    @property
    def size(self) -> int:
        """Number of candidates m."""
        return len(self.relevance)

    @property
    def difference(self) -> tuple[int, ...]:
        """The rank difference rank(d|S_1) - rank(d|S_2) [documents] from section 5.2."""
        return tuple(a - b for a, b in zip(self.new, self.other, strict=True))

    @property
    def shown(self) -> tuple[int, ...]:
        """Documents in the order of the presented ranking."""
        return tuple(sorted(range(self.size), key=self.presented.__getitem__))

    def loss(self, ranks: Sequence[int]) -> Fraction:
        """Delta(y|x, r) = sum_d rank(d|y) r(d), equation (2), for ranks [documents]."""
        return Fraction(sum(a * r for a, r in zip(ranks, self.relevance, strict=True)))


def ranking_from_letters(text: str, name: str, size: int | None = None) -> tuple[int, ...]:
    """Ranks [documents] of a ranking written from the top as letters, "C A B" or "CAB".

    ``name`` says which ranking it is and ``size`` how many candidates it must have.
    Raises InputError for other letters, a letter that is missing, or one that comes twice.
    """
    letters = [letter for letter in text.upper() if letter.isalpha()]
    wanted = len(letters) if size is None else size
    if not 2 <= wanted <= MOST_CANDIDATES or len(letters) > MOST_CANDIDATES:
        raise InputError(
            f"The {name} ranking has {len(letters)} letters; it must have 2 to {MOST_CANDIDATES}."
        )
    if sorted(letters) != list(LETTERS[:wanted]):
        raise InputError(
            f"The {name} ranking “{text.strip()[:40]}” must name each of the letters "
            f"{LETTERS[0]} to {LETTERS[wanted - 1]} once, in order from the top."
        )
    return tuple(letters.index(letter) + 1 for letter in LETTERS[:wanted])


def letters_from_ranking(ranks: Sequence[int]) -> str:
    """The ranking from its top as letters, the inverse of :func:`ranking_from_letters`."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    return "".join(LETTERS[document] for document in order)


def relevance_from_letters(text: str, size: int) -> tuple[int, ...]:
    """Relevance [documents] from the letters of the relevant ones, "B E F"; none is allowed.

    Raises InputError for a letter that is not a candidate.
    """
    letters = {letter for letter in text.upper() if letter.isalpha()}
    unknown = sorted(letters - set(LETTERS[:size]))
    if unknown:
        raise InputError(
            f"Document {unknown[0]} is marked relevant, but the candidates are A to "
            f"{LETTERS[size - 1]}."
        )
    return tuple(int(letter in letters) for letter in LETTERS[:size])
