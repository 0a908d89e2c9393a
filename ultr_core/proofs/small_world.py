"""A small query together with its users and with what the learner believes, all rational."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from urllib.parse import urlencode

from ultr_core.errors import InputError, quoted
from ultr_core.fields import no_number, parts_of
from ultr_core.proofs.breaks import BREAKS, Parts, apply_breaks
from ultr_core.proofs.small_query import (
    LETTERS,
    MOST_CANDIDATES,
    SmallQuery,
    letters_from_ranking,
    ranking_from_letters,
    relevance_from_letters,
)
from ultr_core.proofs.users import Users
from ultr_core.words import counted

DEFAULTS: Mapping[str, str] = {
    "list": "ABCDEF",
    "relevant": "BEF",
    "new": "EFACBD",
    "other": "BACDEF",
    "curve": "1 1/2 1/3 1/4 1/5 1/6",
    "assumed": "",
    "eps_plus": "1",
    "eps_minus": "1/10",
    "clip": "1/4",
    "gap": "3/4",
    "broken": "",
}
"""Keys of a world's URL query with their defaults; an empty ``assumed`` means the true curve.

In the default query S_1 is better than S_2, but counting clicks as they come prefers S_2.
"""

NOBODY = "-"
"""How a link says that no document is relevant."""

LARGEST_DENOMINATOR = 1_000_000
DECIMALS_OF_A_POWER = 3


@dataclass(frozen=True)
class SmallWorld:
    """A query, its users, the assumed curve and the settings of the estimators.

    Attributes:
        query: the candidates and rankings.
        examination: p_1, p_2, ... [ranks], divided by p_1 on construction.
        assumed: the learner's curve q_1, q_2, ... [ranks], divided by q_1 on construction, so
            that a constant factor changes nothing (section 5.3).
        eps_plus, eps_minus: click noise of section 5.2, 1 >= eps_plus > eps_minus >= 0.
        clip: threshold tau of the clipped estimator, in [0, 1].
        gap: distance between the scores of neighbours in S_1, for the claims of section 6.
        broken: names of the assumptions broken on purpose, keys of ``BREAKS``.

    Raises InputError for numbers outside these ranges, for curves with more or fewer ranks than
    the query has candidates, and for an assumed propensity of 0 at a rank where users look.
    """

    query: SmallQuery
    examination: tuple[Fraction, ...]
    assumed: tuple[Fraction, ...]
    eps_plus: Fraction = Fraction(1)
    eps_minus: Fraction = Fraction(1, 10)
    clip: Fraction = Fraction(1, 4)
    gap: Fraction = Fraction(3, 4)
    broken: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("examination", "assumed"):
            curve = _normalised(getattr(self, name), name, self.query.size)
            object.__setattr__(self, name, curve)
        if not 1 >= self.eps_plus > self.eps_minus >= 0:
            raise InputError(
                f"ε₊ is {self.eps_plus} and ε₋ is {self.eps_minus}; click noise needs "
                "1 ≥ ε₊ > ε₋ ≥ 0."
            )
        if not 0 <= self.clip <= 1:
            raise InputError(f"The clipping threshold τ is {self.clip}; it must be from 0 to 1.")
        if self.gap < 0:
            raise InputError(f"The score gap is {self.gap}; it must be 0 or more.")
        unknown = [name for name in self.broken if name not in BREAKS]
        if unknown:
            raise InputError(
                f"{quoted(unknown[0])} is not an assumption; choose from {', '.join(BREAKS)}."
            )
        for rank, (p, q) in enumerate(zip(self.examination, self.assumed, strict=True), start=1):
            if p > 0 and q == 0:
                raise InputError(
                    f"The assumed curve is 0 at rank {rank}, but users look there; a click at that "
                    "rank would have no weight, so the assumed value must be above 0."
                )

    @cached_property
    def users(self) -> Users:
        """How the users look and click, with the broken assumptions applied."""
        return self.parts.behaviour.users(self.query.relevance, self.query.presented)

    @cached_property
    def parts(self) -> Parts:
        """The users' behaviour and the assumed curve by rank, with broken assumptions applied."""
        return apply_breaks(self)

    @cached_property
    def propensity(self) -> tuple[Fraction, ...]:
        """Propensity q_d [documents] that the learner assumes, with broken assumptions applied."""
        return tuple(self.parts.assumed[rank - 1] for rank in self.query.presented)

    @cached_property
    def position(self) -> tuple[Fraction, ...]:
        """p_d [documents]: how often the document's rank is examined if only rank matters."""
        return tuple(self.parts.behaviour.look[rank - 1] for rank in self.query.presented)

    @cached_property
    def inverse(self) -> tuple[Fraction, ...]:
        """A click's weight 1/q_d [documents]; 0 if q_d = 0, since nobody can click there."""
        return tuple(1 / q if q else Fraction(0) for q in self.propensity)

    @cached_property
    def click_weights(self) -> Mapping[str, tuple[Fraction, ...]]:
        """How much a click counts [documents] by estimator: 1, 1/q or 1/max(tau, q); 0 for 1/0."""
        clipped = (max(self.clip, q) for q in self.propensity)
        return {
            "naive": (Fraction(1),) * self.query.size,
            "propensity": self.inverse,
            "clipped": tuple(1 / q if q else Fraction(0) for q in clipped),
        }

    @cached_property
    def clean(self) -> SmallWorld:
        """The same world without click noise: documents are clicked iff examined and relevant."""
        broken = tuple(name for name in self.broken if name != "trust")
        return replace(self, eps_plus=Fraction(1), eps_minus=Fraction(0), broken=broken)

    @property
    def curve_is_right(self) -> bool:
        """Whether assumed and true propensities are equal before any break, and all are above 0."""
        return self.assumed == self.examination and all(self.examination)

    @cached_property
    def constant_noise(self) -> tuple[Fraction, ...]:
        """eps+ r + eps- (1 - r) [documents]: the click probability that section 5.2 assumes."""
        return tuple(self.eps_plus if r else self.eps_minus for r in self.query.relevance)

    @cached_property
    def scores(self) -> tuple[Fraction, ...]:
        """Scores s_d [documents] that give the ranking S_1, with neighbours ``gap`` apart."""
        gap = Fraction(0) if "tied-scores" in self.broken else self.gap
        return tuple(gap * (self.query.size - rank) for rank in self.query.new)

    def breaking(self, *names: str) -> SmallWorld:
        """A copy with exactly these assumptions broken."""
        return replace(self, broken=names)

    def to_query(self) -> str:
        """URL query string with the differences from the default world; ``from_query`` reads it."""
        content = {
            "list": letters_from_ranking(self.query.presented),
            "relevant": "".join(
                letter for letter, r in zip(LETTERS, self.query.relevance, strict=False) if r
            )
            or NOBODY,
            "new": letters_from_ranking(self.query.new),
            "other": letters_from_ranking(self.query.other),
            "curve": spelled(self.examination),
            "assumed": "" if self.assumed == self.examination else spelled(self.assumed),
            "eps_plus": str(self.eps_plus),
            "eps_minus": str(self.eps_minus),
            "clip": str(self.clip),
            "gap": str(self.gap),
            "broken": " ".join(self.broken),
        }
        return urlencode({k: v for k, v in content.items() if v != DEFAULTS[k]})

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> SmallWorld:
        """The world that a URL query describes; unknown keys are ignored.

        Raises InputError, with one sentence, for the first unusable value.
        """
        text = {key: query.get(key, default) for key, default in DEFAULTS.items()}
        presented = ranking_from_letters(text["list"], "presented")
        size = len(presented)
        curve = curve_from_text(text["curve"], "examination", size)
        return cls(
            SmallQuery(
                relevance_from_letters(text["relevant"], size),
                presented,
                ranking_from_letters(text["new"], "new", size),
                ranking_from_letters(text["other"], "other", size),
            ),
            curve,
            curve_from_text(text["assumed"], "assumed", size) if text["assumed"].strip() else curve,
            number_from_text(text["eps_plus"], "ε₊"),
            number_from_text(text["eps_minus"], "ε₋"),
            number_from_text(text["clip"], "clipping threshold τ"),
            number_from_text(text["gap"], "score gap"),
            tuple(text["broken"].split()),
        )


@cache
def default_world() -> SmallWorld:
    """The world that the page starts with, built once."""
    return SmallWorld.from_query({})


def power_law_fractions(eta: float, size: int) -> tuple[Fraction, ...]:
    """p_r = (1/r)^eta for r = 1 .. size: exact for a whole eta, else to three decimals.

    Raises InputError for an eta that is negative or so large that the last p rounds to 0.
    """
    if eta < 0:
        raise InputError(f"η is {eta:g}; it must be 0 or more.")
    if float(eta).is_integer():
        return tuple(Fraction(1, rank ** int(eta)) for rank in range(1, size + 1))
    scale = 10**DECIMALS_OF_A_POWER
    rounded = tuple(
        Fraction(round(scale * rank ** -float(eta)), scale) for rank in range(1, size + 1)
    )
    if not all(rounded):
        raise InputError(f"η is {eta:g}; with {size} candidates the last propensity rounds to 0.")
    return rounded


def number_from_text(text: str, name: str) -> Fraction:
    """A rational number from "1/3" or "0.25"; raises InputError naming what it was for."""
    shown = text.strip()
    # In the digits and signs of 0.25 and 1/4 alone, as numbers elsewhere.
    plain = len(shown) <= 24 and shown.isascii() and not set(shown.lower()) & {"e", "_"}
    try:
        number = Fraction(shown) if plain else None
    except (ValueError, ZeroDivisionError):
        number = None
    if number is None or number.denominator > LARGEST_DENOMINATOR or abs(number) > 1_000_000:
        raise InputError(
            f"The {name} “{shown[:40]}” must be a number such as 0.25 or 1/4, with at most six "
            "decimals."
        )
    return number


def curve_from_text(text: str, name: str, size: int) -> tuple[Fraction, ...]:
    """A curve of ``size`` ranks from "1, 1/2, 1/3"; the last number is carried on.

    Raises InputError for something that is not a number, an empty place or more numbers than
    ``MOST_CANDIDATES``.
    """
    parts = parts_of(text)
    if any(parts) and "" in parts:
        raise InputError(f"The {name} curve has {no_number(parts)}")
    if not 1 <= len(parts) <= MOST_CANDIDATES:
        raise InputError(
            f"The {name} curve has {counted(len(parts), 'number')}; give one for each rank, from "
            "the top."
        )
    numbers = [number_from_text(part, f"{name} curve's number") for part in parts]
    return tuple(numbers[min(rank, len(numbers) - 1)] for rank in range(size))


def _normalised(curve: Sequence[Fraction], name: str, size: int) -> tuple[Fraction, ...]:
    numbers = tuple(Fraction(number) for number in curve)
    if len(numbers) != size:
        raise InputError(
            f"The {name} curve has {counted(len(numbers), 'number')} for "
            f"{counted(size, 'candidate')}; give one for each."
        )
    if numbers[0] <= 0:
        raise InputError(f"The {name} curve is {numbers[0]} at rank 1; it must be above 0.")
    for rank, number in enumerate(numbers, start=1):
        if number < 0:
            raise InputError(
                f"The {name} curve is {number} at rank {rank}; numbers must be 0 or more."
            )
    # A rank may be examined more than the first; no probability may exceed 1.
    return tuple(number / max(numbers) for number in numbers)


def spelled(curve: Sequence[Fraction]) -> str:
    """The curve as text, the inverse of :func:`curve_from_text`."""
    return " ".join(str(number) for number in curve)
