"""The words of the proofs page: numbers, headline, and experiments to try."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from pages.app.curves import learner_believes, users_have
from pages.app.markdown import mark
from pages.app.steps import Step, read_step
from pages.views.proofs.answers import ANSWERS
from ultr_core.content import read
from ultr_core.proofs import BREAKS, DERIVATIONS, Derivation, SmallWorld, Walk
from ultr_core.risk import Estimate
from ultr_core.settings import Settings
from ultr_core.words import with_minus

_WORDS = read(__file__, "proofs")

LONGEST_FRACTION = 13
NO_BREAK = "\N{NO-BREAK SPACE}"
BROKEN_NOTE = "More users do not help: this is bias, not chance."


def number(value: Fraction) -> str:
    """A rational number for reading: 8, or 31/4 = 7.75, or ≈ 7.7512 where the fraction is long."""
    if value.denominator == 1 and abs(value) < 10**9:
        return with_minus(str(value))
    decimal = f"{float(value):.5g}"
    text = str(value)
    if len(text) > LONGEST_FRACTION:
        return with_minus(f"≈{NO_BREAK}{decimal}")
    sign = "=" if Fraction(decimal) == value else "≈"
    return with_minus(f"{text}{NO_BREAK}{sign}{NO_BREAK}{decimal}")


def amount(value: Fraction) -> str:
    """A rational number with its sign: +2, −33/40 = −0.825."""
    return f"+{number(value)}" if value > 0 else number(value)


def with_reach(estimate: Estimate) -> str:
    """An estimate with the half width of its 95% interval, 8.03 ± 0.43, never broken in two."""
    reach = estimate.high - estimate.value
    if reach <= 0:
        return f"{estimate.value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(reach)))
    text = f"{estimate.value:.{decimals}f} ± {reach:.{decimals}f}"
    return with_minus(text).replace(" ", NO_BREAK)


def headline(proof: Derivation, walk: Walk, world: SmallWorld, settings: Settings) -> str:
    """What the walk shows, in a sentence with its numbers."""
    if walk.holds:
        return _all_hold(proof, walk, world)
    first = walk.lines[walk.failing[0] - 1]
    many = "Lines" if len(walk.failing) > 1 else "Line"
    numbers = " and ".join(str(place) for place in walk.failing)
    verb = "fail" if len(walk.failing) > 1 else "fails"
    return (
        f"{mark('does not hold')} **{many} {numbers} {verb}** by {amount(first.error)}: "
        f"{_reason(world, settings, proof)} {BROKEN_NOTE}"
    )


def _all_hold(proof: Derivation, walk: Walk, world: SmallWorld) -> str:
    text = (
        f"{mark('holds')} **{ANSWERS[proof.name](walk, world)}.** {proof.title}: "
        f"all {len(walk.lines)} lines hold exactly."
    )
    if world.broken:
        labels = ", ".join(f"“{BREAKS[name].label}”" for name in world.broken)
        verb = "do" if len(world.broken) > 1 else "does"
        text += f" {labels} {verb} not matter for this claim."
    return text


def _reason(world: SmallWorld, settings: Settings, proof: Derivation) -> str:
    guilty = [name for name in world.broken if name in proof.breaks]
    if guilty:
        return BREAKS[guilty[0]].consequence
    words = _WORDS.part("reasons")
    if world.assumed == world.examination:
        return words.text("unseen")
    if settings.belief_is_right:
        return words.text("wrong-curve")
    return words.text(
        "wrong-exponent", learner=learner_believes(settings), users=users_have(settings)
    )


def _step(proof: str, broken: str, **values: str) -> Step[tuple[str, str]]:
    """A derivation and the assumption to break in it, and where the answer stands."""
    step = read_step(_WORDS, broken, (proof, broken), **values)
    shows = f"The button shows “{DERIVATIONS[proof].title}”: look at the sentence at the top."
    return replace(step, question=f"{step.question} {shows}")


STEPS = (
    _step("ips-unbiased", "zero-relevant"),
    _step("noise-keeps-order", "zero-irrelevant"),
    _step("affine-law", "trust", correction=DERIVATIONS["affine-correction"].title),
)
