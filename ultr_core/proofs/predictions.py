"""Which lines fail when one assumption is broken, and by how much, in closed form.

The amounts are written in terms of what a break does to each document (``Break.missing`` and
``Break.extra``), not by evaluating the lines: they are the bias formulas that the enumeration
must confirm. They are for a world that is otherwise intact: the assumed curve is the true one
and positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ultr_core.proofs.breaks import ATTRACTION, BREAKS, TRUST, Parts, apply_breaks
from ultr_core.proofs.derivations.section_5 import SHARE_RELEVANT, swap_rank
from ultr_core.proofs.derivations.section_6 import hinge_losses
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.proofs.users import ONE, ZERO, dot, spread, times

Failures = dict[int, Fraction]


@dataclass(frozen=True)
class Broken:
    """An intact world and the one assumption that is to be broken."""

    world: SmallWorld
    name: str

    @property
    def parts(self) -> Parts:
        """Behaviour and assumed curve once it is broken."""
        return apply_breaks(self.world.breaking(self.name))

    @property
    def q(self) -> list[Fraction]:
        """Assumed propensity [documents] once it is broken."""
        return [self.parts.assumed[rank - 1] for rank in self.world.query.presented]

    @property
    def missing(self) -> tuple[Fraction, ...]:
        """1 - E[o_d] / q_d [documents], in closed form."""
        return BREAKS[self.name].missing(self.world)

    @property
    def extra(self) -> tuple[Fraction, ...]:
        """P(c_d | o_d) minus its value under constant noise [documents]."""
        return BREAKS[self.name].extra(self.world)

    @property
    def noise(self) -> tuple[Fraction, ...]:
        """eps+ r + eps- (1 - r) [documents]."""
        return self.world.constant_noise

    @property
    def restored(self) -> list[Fraction]:
        """E[c_d] / q_d [documents]: what the weights make of the document's clicks."""
        return [
            (1 - missing) * (noise + extra)
            for missing, noise, extra in zip(self.missing, self.noise, self.extra, strict=True)
        ]

    @property
    def clean(self) -> Broken:
        """The same without click noise."""
        return Broken(self.world.clean, self.name)

    def true_variance(self, weights: list[Fraction]) -> Fraction:
        """Var[sum_d c_d v_d / q_d] for v [documents]."""
        clicked = times(self.q, self.restored)
        scaled = [w / q if q else ZERO for w, q in zip(weights, self.q, strict=True)]
        if self.name == "cascade":
            return dot(clicked, times(scaled, scaled)) - dot(clicked, scaled) ** 2
        return spread(clicked, scaled)

    def model_variance(self, weights: list[Fraction]) -> Fraction:
        """The same in the model: independent clicks with probability q (eps+ r + eps- (1 - r))."""
        scaled = [w / q if q else ZERO for w, q in zip(weights, self.q, strict=True)]
        return spread(times(self.q, self.noise), scaled)


def predicted_failures(world: SmallWorld, name: str, derivation: str) -> Failures:
    """Line numbers from 1 and exact amounts by which these lines fail; all others hold.

    ``world`` is intact, ``name`` a key of ``BREAKS``, ``derivation`` the name of a derivation.
    """
    amounts = _PREDICT[derivation](Broken(world.breaking(), name))
    return {line: amount for line, amount in amounts.items() if amount}


def failures_foretold(world: SmallWorld, derivation: str) -> Failures | None:
    """The `predicted_failures` of a broken world; None if the formulas do not apply to it.

    They apply to one broken assumption in a world whose assumed curve is right.
    """
    if len(world.broken) != 1 or not world.curve_is_right:
        return None
    return predicted_failures(world, world.broken[0], derivation)


def _ranks(broken: Broken) -> list[Fraction]:
    return [Fraction(rank) for rank in broken.world.query.new]


def _loss(broken: Broken) -> Failures:
    clean = broken.clean
    lost = times(times(_ranks(clean), clean.noise), clean.missing)
    seen = [q > 0 for q in clean.q]
    return {3: dot(lost, seen), 4: dot(lost, [not s for s in seen])}


def _risk(broken: Broken) -> Failures:
    clean = broken.clean
    ranks = times(_ranks(clean), clean.noise)
    return {
        3: dot(ranks, clean.missing),
        6: clean.model_variance(ranks) - clean.true_variance(ranks),
    }


def _variance(broken: Broken) -> Failures:
    ranks = _ranks(broken)
    scaled = [w / q if q else ZERO for w, q in zip(ranks, broken.q, strict=True)]
    clicked = times(broken.q, broken.restored)
    separate = spread(clicked, scaled)
    return {
        2: separate - broken.true_variance(ranks),
        3: broken.model_variance(ranks) - separate,
    }


def _misspecified(broken: Broken) -> Failures:
    if broken.name in ("zero-relevant", "zero-irrelevant", "cut", "wrong-curve"):
        return {}
    return {3: dot(_ranks(broken), _noise_less_restored(broken))}


def _noise_less_restored(broken: Broken) -> list[Fraction]:
    return [g - restored for g, restored in zip(broken.noise, broken.restored, strict=True)]


def _cancel_then_noise(values: list[Fraction], broken: Broken, first: int) -> Failures:
    """The propensities fail to cancel in line ``first``, the noise differs in the next one."""
    given = [g + extra for g, extra in zip(broken.noise, broken.extra, strict=True)]
    return {
        first: dot(times(values, given), broken.missing),
        first + 1: -dot(values, broken.extra),
    }


def _order(broken: Broken) -> Failures:
    return _cancel_then_noise([Fraction(d) for d in broken.world.query.difference], broken, 3)


def _affine(broken: Broken) -> Failures:
    return _cancel_then_noise(_ranks(broken), broken, 2)


def _noisy_hinge(broken: Broken) -> Failures:
    hinge = hinge_losses(broken.world.breaking(broken.name).scores)
    return _cancel_then_noise(hinge, broken, 2)


def _trust_correction(broken: Broken) -> Failures:
    behaviour, query = broken.parts.behaviour, broken.world.query
    lost = ZERO
    for document, rank in enumerate(query.presented):
        low, high = behaviour.eps_minus[rank - 1], behaviour.eps_plus[rank - 1]
        relevant = query.relevance[document]
        given = high if relevant else low
        share = broken.missing[document] * given / (high - low) if broken.q[document] else relevant
        lost += query.new[document] * share
    return {3: lost}


def _swap(broken: Broken) -> Failures:
    world, name = broken.world, broken.name
    rank = swap_rank(world.query.size)
    p = broken.parts.behaviour.look
    spread_of_noise = world.eps_plus - world.eps_minus
    given = SHARE_RELEVANT * world.eps_plus + (1 - SHARE_RELEVANT) * world.eps_minus
    more_first = more = ZERO
    if name == "trust":
        per_rank = (1 - SHARE_RELEVANT) * TRUST * spread_of_noise
        more_first, more = p[0] * per_rank, p[rank - 1] * per_rank / rank
    elif name == "attraction" and p[rank - 1]:
        more_first, more = (
            SHARE_RELEVANT * world.eps_plus * ATTRACTION * (1 - p[place]) for place in (0, rank - 1)
        )
    elif name == "cascade":
        more = -p[rank - 1] * given * (1 - _staying_after_swap(broken, rank))
    if not p[0]:
        return {}
    ratio = (p[rank - 1] * given + more) / (p[0] * given + more_first)
    return {2: -more_first, 4: -more, 6: p[rank - 1] / p[0] - ratio}


def _staying_after_swap(broken: Broken, rank: int) -> Fraction:
    """Chance of no click above ``rank`` once the documents at ranks 1 and ``rank`` are swapped."""
    shown = list(broken.world.query.shown)
    shown[0], shown[rank - 1] = shown[rank - 1], shown[0]
    staying = ONE
    for place in range(rank - 1):
        staying *= 1 - broken.world.examination[place] * broken.noise[shown[place]]
    return staying


def _hinge_chain(broken: Broken) -> Failures:
    if broken.name != "tied-scores":
        return {}
    return {2: -dot([rank - 1 for rank in broken.world.query.new], broken.restored)}


def _nothing(broken: Broken) -> Failures:
    return {}


def _clipped(broken: Broken) -> Failures:
    world = broken.world.breaking(broken.name)
    ranks = _ranks(broken)
    weight = world.click_weights["clipped"]
    less = times(broken.q, _noise_less_restored(broken))
    change = [w - inverse for w, inverse in zip(weight, world.inverse, strict=True)]
    as_if = times(times(ranks, weight), broken.q)
    return {
        2: dot(times(ranks, weight), less),
        4: dot(times(ranks, change), less),
        7: broken.model_variance(as_if) - broken.true_variance(as_if),
    }


def _naive(broken: Broken) -> Failures:
    if broken.name in ("zero-relevant", "zero-irrelevant", "cut", "wrong-curve"):
        return {}
    amount = dot(times(_ranks(broken), broken.q), _noise_less_restored(broken))
    return {3: amount, 5: amount}


def _overtaking(broken: Broken) -> Failures:
    return {2: dot(broken.world.query.difference, _noise_less_restored(broken))}


_PREDICT: Mapping[str, Callable[[Broken], Failures]] = MappingProxyType(
    {
        "ips-unbiased": _loss,
        "risk-converges": _risk,
        "variance": _variance,
        "misspecified-expectation": _misspecified,
        "naive-expectation": _naive,
        "noise-keeps-order": _order,
        "affine-law": _affine,
        "affine-correction": _trust_correction,
        "swap-ratio": _swap,
        "hinge-chain": _hinge_chain,
        "one-slack": _nothing,
        "noisy-hinge": _noisy_hinge,
        "clipped-moments": _clipped,
        "overtaking": _overtaking,
    }
)
