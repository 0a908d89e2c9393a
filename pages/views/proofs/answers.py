"""What each derivation answers in one world, in a sentence with its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from ultr_core.proofs import SmallWorld, Walk
from ultr_core.words import counted

Answer = Callable[[Walk, SmallWorld], str]


def short(value: Fraction) -> str:
    """A number for a headline: four digits, or all of a whole one."""
    text = str(value) if value.denominator == 1 and abs(value) < 10**9 else f"{float(value):.4g}"
    return text.replace("-", "−")


def _line(walk: Walk, place: int) -> str:
    """The value of a line, from 1."""
    return short(walk.lines[place - 1].value.closed)


def _unbiased(walk: Walk, world: SmallWorld) -> str:
    return (
        f"Averaged over everything that users may look at, the weighted loss is {_line(walk, 1)}, "
        "exactly the true loss"
    )


def _settles(walk: Walk, world: SmallWorld) -> str:
    return (
        f"The expected weighted risk is {_line(walk, 1)}, the true risk, and after N users the "
        f"error of the estimate is √({_line(walk, 4)}/N)"
    )


def _order(walk: Walk, world: SmallWorld) -> str:
    seen, true = walk.lines[0].value.closed, walk.lines[-1].value.closed
    if seen == true == 0:
        return "Both rankers are equally good, and weighted clicks agree"
    if world.eps_plus == world.eps_minus:
        return "Clicks that do not depend on relevance say nothing about the order"
    better = "S₁" if true < 0 else "S₂"
    return (
        f"Weighted clicks correctly put {better} ahead: the estimated difference is "
        f"{short(seen)}, and the true difference is {short(true)}"
    )


def _straight_line(walk: Walk, world: SmallWorld) -> str:
    slope, true = world.eps_plus - world.eps_minus, world.query.loss(world.query.new)
    constant = walk.lines[-1].value.closed - slope * true
    parts = [Fraction(f"{float(part):.4g}") for part in (slope, true, constant)]
    exact = parts == [slope, true, constant]
    return (
        f"The expected weighted loss is {_line(walk, 1)} {'=' if exact else '≈'} {short(slope)} · "
        f"{short(true)} + {short(constant)}: the true loss, scaled and shifted"
    )


def _undone(walk: Walk, world: SmallWorld) -> str:
    return f"With the noise removed, the expected loss is {_line(walk, 1)}, exactly the true loss"


def _swapped(walk: Walk, world: SmallWorld) -> str:
    return (
        f"The click rate changes from {_line(walk, 1)} to {_line(walk, 3)}; the ratio, "
        f"{_line(walk, 5)}, is the ratio of the propensities"
    )


def _bound(walk: Walk, world: SmallWorld) -> str:
    return (
        f"The weighted risk minus its constant, {_line(walk, 1)}, is at most the hinge loss, "
        f"{_line(walk, 3)}, which is at most the sum of the slacks, {_line(walk, 4)}"
    )


def _slack(walk: Walk, world: SmallWorld) -> str:
    return f"One slack per pair, or one for all: both give {_line(walk, 1)}"


def _hinge(walk: Walk, world: SmallWorld) -> str:
    return (
        f"The expected hinge loss with noise is {_line(walk, 1)}, and part of it depends on the "
        "ranker's score gaps"
    )


def _variance(walk: Walk, world: SmallWorld) -> str:
    return f"One user's weighted loss has variance {_line(walk, 1)}"


def _clipped(walk: Walk, world: SmallWorld) -> str:
    return (
        f"Clipping changes the mean by {_line(walk, 3)} and leaves a variance of {_line(walk, 6)} "
        "per user"
    )


def _naive(walk: Walk, world: SmallWorld) -> str:
    return (
        f"The naive loss converges to {_line(walk, 1)}; the limit of the weighted loss is "
        f"{_line(walk, 4)} away"
    )


def _assumed(walk: Walk, world: SmallWorld) -> str:
    return f"Weighted with the assumed curve, the loss converges to {_line(walk, 1)}"


_CROSSING = 7  # line of the number of users


def _overtaking(walk: Walk, world: SmallWorld) -> str:
    if len(walk.lines) < _CROSSING:
        return (
            "In this world weighting never overtakes the naive estimate, or is ahead from the "
            "first click"
        )
    users = walk.lines[_CROSSING - 1].value.closed
    clicks = users * world.users.clicks_per_user
    return (
        "For this one query and the difference between its two rankers, weighting beats the naive "
        f"estimate after {counted(math.ceil(clicks), 'click')} from about "
        f"{counted(math.ceil(users), 'user')}"
    )


ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        "ips-unbiased": _unbiased,
        "risk-converges": _settles,
        "noise-keeps-order": _order,
        "affine-law": _straight_line,
        "affine-correction": _undone,
        "swap-ratio": _swapped,
        "hinge-chain": _bound,
        "one-slack": _slack,
        "noisy-hinge": _hinge,
        "variance": _variance,
        "clipped-moments": _clipped,
        "naive-expectation": _naive,
        "misspecified-expectation": _assumed,
        "overtaking": _overtaking,
    }
)
"""The answer of each derivation whose lines hold, without a full stop."""
