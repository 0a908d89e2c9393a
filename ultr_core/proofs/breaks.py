"""The assumptions that can be broken on purpose, what each changes, and its bias in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ultr_core.content import read
from ultr_core.proofs.users import ONE, ZERO, Behaviour

if TYPE_CHECKING:
    from ultr_core.proofs.small_world import SmallWorld

TRUST = Fraction(1, 2)
"""Trust bias: at rank k, eps- grows by this times (eps+ - eps-) / k."""

ATTRACTION = Fraction(1, 2)
"""Share of the users who would not look at a rank but do if a relevant document is there."""

SCALE = Fraction(1, 3)
"""The constant that the assumed curve is multiplied by, which must change nothing."""


class Parts(NamedTuple):
    """What a break may change: behaviour of the users, and the assumed curve [ranks]."""

    behaviour: Behaviour
    assumed: tuple[Fraction, ...]


PerDocument = tuple[Fraction, ...]


@dataclass(frozen=True)
class Break:
    """One assumption that a reader can break.

    Attributes:
        label: what the switch says.
        what: what it changes, in a sentence with the numbers used.
        consequence: which step fails then, in words.
        repair: what repairs it, in a sentence.
        change: the change in behaviour and in the assumed curve.
        missing: closed form of 1 - E[o_d] / q_d [documents] in an otherwise intact world:
            the share of document d that the weights fail to restore (negative if they restore too
            much).
        extra: closed form of P(c_d | o_d) minus what constant noise would give [documents].
    """

    name: str
    label: str
    what: str
    consequence: str
    repair: str
    change: Callable[[SmallWorld, Parts], Parts]
    missing: Callable[[SmallWorld], PerDocument]
    extra: Callable[[SmallWorld], PerDocument]


def apply_breaks(world: SmallWorld) -> Parts:
    """Behaviour of the users and assumed curve, with everything that ``world`` breaks."""
    size = world.query.size
    parts = Parts(
        Behaviour(world.examination, (world.eps_plus,) * size, (world.eps_minus,) * size),
        world.assumed,
    )
    for name in BREAKS:
        if name in world.broken:
            parts = BREAKS[name].change(world, parts)
    return parts


def _nothing(world: SmallWorld) -> PerDocument:
    return (ZERO,) * world.query.size


def last_shown(world: SmallWorld, relevant: bool) -> int | None:
    """The lowest rank at which a relevant (or irrelevant) document is presented, if any."""
    query = world.query
    return max(
        (rank for rank, r in zip(query.presented, query.relevance, strict=True) if r == relevant),
        default=None,
    )


def last_rank(world: SmallWorld) -> int:
    """The rank k at which the list is cut: the middle of the list."""
    return (world.query.size + 1) // 2


def _blind(unseen: Callable[[SmallWorld, int], bool]) -> tuple[
    Callable[[SmallWorld, Parts], Parts], Callable[[SmallWorld], PerDocument]
]:  # fmt: skip
    """Nobody looks at some ranks, and the learner knows it: propensity 0."""

    def change(world: SmallWorld, parts: Parts) -> Parts:
        def seen(curve: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
            return tuple(
                ZERO if unseen(world, rank) else p for rank, p in enumerate(curve, start=1)
            )

        look = seen(parts.behaviour.look)
        return Parts(replace(parts.behaviour, look=look), seen(parts.assumed))

    def missing(world: SmallWorld) -> PerDocument:
        return tuple(ONE if unseen(world, rank) else ZERO for rank in world.query.presented)

    return change, missing


def _wrong_curve(world: SmallWorld, parts: Parts) -> Parts:
    assumed = tuple(q / rank for rank, q in enumerate(parts.assumed, start=1))
    return parts._replace(assumed=assumed)


def _scaled_curve(world: SmallWorld, parts: Parts) -> Parts:
    # Normalising divides every curve by its largest number, here SCALE times the old one.
    largest = SCALE * max(world.assumed)
    return parts._replace(assumed=tuple(SCALE * q / largest for q in parts.assumed))


def _trust(world: SmallWorld, parts: Parts) -> Parts:
    behaviour = parts.behaviour
    eps_minus = tuple(
        low + TRUST * (high - low) / rank
        for rank, (low, high) in enumerate(
            zip(behaviour.eps_minus, behaviour.eps_plus, strict=True), start=1
        )
    )
    return parts._replace(behaviour=replace(behaviour, eps_minus=eps_minus))


def _trust_extra(world: SmallWorld) -> PerDocument:
    spread = world.eps_plus - world.eps_minus
    return tuple(
        ZERO if relevant else TRUST * spread / rank
        for rank, relevant in zip(world.query.presented, world.query.relevance, strict=True)
    )


def _attraction(world: SmallWorld, parts: Parts) -> Parts:
    return parts._replace(behaviour=replace(parts.behaviour, attraction=ATTRACTION))


def _attraction_missing(world: SmallWorld) -> PerDocument:
    p = world.examination
    return tuple(
        -ATTRACTION * (1 - p[rank - 1]) / p[rank - 1] if relevant and p[rank - 1] else ZERO
        for rank, relevant in zip(world.query.presented, world.query.relevance, strict=True)
    )


def _cascade(world: SmallWorld, parts: Parts) -> Parts:
    return parts._replace(behaviour=replace(parts.behaviour, stops=True))


def _cascade_missing(world: SmallWorld) -> PerDocument:
    missing = [ZERO] * world.query.size
    staying = ONE
    for rank, document in enumerate(world.query.shown, start=1):
        missing[document] = 1 - staying
        staying *= 1 - world.examination[rank - 1] * world.constant_noise[document]
    return tuple(missing)


_no_relevant = _blind(lambda world, rank: rank == last_shown(world, True))
_no_irrelevant = _blind(lambda world, rank: rank == last_shown(world, False))
_cut = _blind(lambda world, rank: rank > last_rank(world))


def _break(
    name: str,
    label: str,
    change: Callable[[SmallWorld, Parts], Parts],
    missing: Callable[[SmallWorld], PerDocument] = _nothing,
    extra: Callable[[SmallWorld], PerDocument] = _nothing,
) -> Break:
    """An assumption whose words are in ``content/breaks.toml``."""
    words = read(__file__, "breaks").part(name)
    what, consequence, repair = map(words.text, ("what", "consequence", "repair"))
    return Break(name, label, what, consequence, repair, change, missing, extra)


_ALL = (
    _break("zero-relevant", "A relevant document is never seen", *_no_relevant),
    _break("zero-irrelevant", "An irrelevant document is never seen", *_no_irrelevant),
    _break(
        "wrong-curve",
        "The assumed curve is wrong",
        _wrong_curve,
        lambda world: tuple(ONE - rank for rank in world.query.presented),
    ),
    _break("scaled-curve", "Assumed curve scaled by 1/3", _scaled_curve),
    _break("trust", "Users trust the top ranks", _trust, extra=_trust_extra),
    _break("attraction", "Relevance attracts attention", _attraction, _attraction_missing),
    _break("cascade", "Users stop after the first click", _cascade, _cascade_missing),
    _break("cut", "The list is cut in the middle", *_cut),
    _break("tied-scores", "All scores equal (w = 0)", lambda _, parts: parts),
)

BREAKS: Mapping[str, Break] = MappingProxyType({entry.name: entry for entry in _ALL})
"""All assumptions that can be broken, by name, in the order of the switches."""
