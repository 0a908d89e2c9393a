"""Section 6: the hinge bound, the one-slack form, and what noise does to the hinge loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from ultr_core.proofs.proof import BIASED, CONSTANT_NOISE, POSITIVE, PROPENSITIES, derivation
from ultr_core.proofs.users import ZERO, dot, times
from ultr_core.proofs.walk import Value, Walk, Ways, Writer

MOST_SLACK_VECTORS = 1 << 15
"""0/1 vectors of the one-slack form that are enumerated."""


def hinge_losses(scores: Sequence[Fraction]) -> list[Fraction]:
    """sum_{d' != d} max(0, 1 - s_d + s_d') [documents]: the hinge loss if d is clicked."""
    return [
        sum((max(ZERO, 1 - s + t) for j, t in enumerate(scores) if j != i), ZERO)
        for i, s in enumerate(scores)
    ]


def pair_penalty(scores: Sequence[Fraction]) -> Fraction:
    """sum over unordered pairs of max(2, 1 + |s_i - s_j|), which is the sum of all hinge losses."""
    return sum((max(Fraction(2), 1 + abs(s - t)) for s, t in combinations(scores, 2)), ZERO)


@derivation(
    "hinge-chain",
    section="6",
    formula=r"\mathrm{rank}(d_j)-1\le\sum_{d\ne d_j}\max(1-w\cdot[\phi(d_j)-\phi(d)],0)"
    r"\le\sum_{d\ne d_j}\xi_{jd}",
    assumes=("no tied scores",),
    breaks=("tied-scores",),
)
def hinge_chain(ways: Ways) -> Walk:
    """rank - 1 is at most the hinge loss, weighted by 1/q and averaged over users."""
    world, write = ways.world, Writer(ways)
    scores, inverse = world.scores, world.inverse
    above = [sum(t > s for t in scores) for s in scores]
    hinge = hinge_losses(scores)
    slack = [Fraction(math.ceil(h)) for h in hinge]
    write.line(
        r"\mathbb E\Big[\sum_{j:\,c(d_j)=1}\frac{\mathrm{rank}(d_j|S)-1}{q_j}\Big]",
        "The weighted risk minus a constant, which is the same for every ranker.",
        ways.mean(times([rank - 1 for rank in world.query.new], inverse)),
        "",
    )
    write.line(
        r"\mathbb E\Big[\sum_j\frac1{q_j}\sum_{d\ne d_j}"
        r"\mathbb 1_{w\cdot[\phi(d)-\phi(d_j)]>0}\Big]",
        "A document's rank is one more than the number of documents with a higher score.",
        ways.mean(times(above, inverse)),
        assumes="no two scores are equal",
    )
    write.line(
        r"\mathbb E\Big[\sum_j\frac1{q_j}\sum_{d\ne d_j}"
        r"\max(1-w\cdot[\phi(d_j)-\phi(d)],\,0)\Big]",
        "The hinge is at least 1 for each document with a higher score, and is never negative.",
        ways.mean(times(hinge, inverse)),
        "≤",
    )
    write.line(
        r"\mathbb E\Big[\sum_j\frac1{q_j}\sum_{d\ne d_j}\xi_{jd}\Big]",
        "Each feasible slack is at least as large as its hinge; here it is the hinge, rounded up "
        "to a whole number.",
        ways.mean(times(slack, inverse)),
        "≤",
    )
    return write.walk()


@derivation(
    "one-slack",
    section="6",
    formula=r"\max_{c}\tfrac1n\sum_j\tfrac1{q_j}\sum_d c_{jd}(1-w\cdot[\phi_j-\phi_d])"
    r"=\tfrac1n\sum_j\tfrac1{q_j}\sum_d\xi_{jd}",
)
def one_slack(ways: Ways) -> Walk:
    """n-slack and one-slack objective at one weight vector, all 0/1 vectors enumerated.

    The clicks are one on each relevant document that can be clicked.
    """
    world, write = ways.world, Writer(ways)
    scores, query = world.scores, world.query
    clicks = [d for d, r in enumerate(query.relevance) if r and world.inverse[d]]
    if not clicks:
        write.notes.append("No relevant document can be clicked, so there is nothing to train on.")
        return write.walk()
    # One entry for each pair of a clicked and another document: weight and 1 - margin.
    pairs = [
        (world.inverse[d] / len(clicks), 1 - scores[d] + scores[other])
        for d in clicks
        for other in range(query.size)
        if other != d
    ]
    losses = [weight * violation for weight, violation in pairs]
    chosen = sum((loss for loss, (_, violation) in zip(losses, pairs, strict=True)
                  if violation > 0), ZERO)  # fmt: skip
    slacks = sum((weight * max(ZERO, violation) for weight, violation in pairs), ZERO)
    write.line(
        r"\min_\xi\ \frac1n\sum_j\frac1{q_j}\sum_{d\ne d_j}\xi_{jd}",
        "n-slack: one slack per pair, at its smallest feasible value.",
        slacks,
        "",
    )
    write.line(
        r"\max_{c\in\{0,1\}^{pairs}}\ \frac1n\sum_j\frac1{q_j}\sum_{d\ne d_j}"
        r"c_{jd}\,(1-w\cdot[\phi_j-\phi_d])",
        "One-slack: a single slack that satisfies a constraint for every 0/1 vector c.",
        Value(chosen, _largest_sum(losses)),
    )
    write.line(
        r"\xi\ \text{of}\ c_{jd}=1\Leftrightarrow w\cdot[\phi_j-\phi_d]<1",
        "The most violated constraint picks the pairs with a margin below 1; it is the "
        "constraint that a cutting-plane method adds.",
        chosen,
    )
    return write.walk()


def _largest_sum(losses: Sequence[Fraction]) -> Fraction | None:
    """Largest sum over all subsets, each looked at; None if there are too many."""
    if 2 ** len(losses) > MOST_SLACK_VECTORS:
        return None
    unit = math.lcm(1, *(loss.denominator for loss in losses))
    sums = [0]
    for loss in losses:
        step = int(loss * unit)
        sums += [total + step for total in sums]
    return Fraction(max(sums), unit)


@derivation(
    "noisy-hinge",
    section="6",
    formula=r"(\epsilon_+-\epsilon_-)\,\mathrm{clean}+\epsilon_-\sum_{i<j}\max(2,1+|s_i-s_j|)",
    assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
    breaks=BIASED,
)
def noisy_hinge(ways: Ways) -> Walk:
    """What noise adds to the hinge loss: more than a constant once gaps exceed 1."""
    world, write = ways.world, Writer(ways)
    scores, query = world.scores, world.query
    hinge = hinge_losses(scores)
    slope = world.eps_plus - world.eps_minus
    clean = dot(hinge, query.relevance)
    pairs = query.size * (query.size - 1)
    penalty = pair_penalty(scores)
    excess = penalty - pairs
    write.line(
        r"\mathbb E\Big[\sum_{j:\,c(d_j)=1}\frac1{q_j}\sum_{d\ne d_j}\max(0,1-s_j+s_d)\Big]",
        "The hinge loss that the SVM minimises, including noise clicks.",
        ways.mean(times(hinge, world.inverse)),
        "",
    )
    write.line(
        r"\sum_j P(c(d_j)=1\,|\,o(d_j)=1,r)\sum_{d\ne d_j}\max(0,1-s_j+s_d)",
        "The probability of examination cancels 1/q.",
        dot(world.users.click, hinge),
        assumes="true propensities, positive for every document that can be clicked",
    )
    write.line(
        r"\sum_j(\epsilon_+r_j+\epsilon_-(1-r_j))\sum_{d\ne d_j}\max(0,1-s_j+s_d)",
        "An examined document is clicked with probability ε₊ if it is relevant and ε₋ if not.",
        dot(world.constant_noise, hinge),
        assumes="noise that depends on nothing but relevance",
    )
    write.line(
        r"(\epsilon_+-\epsilon_-)\,\text{clean}+\epsilon_-\sum_{i<j}\max(2,\,1+|s_i-s_j|)",
        "Each pair of documents occurs twice, once from each side; together they give max(2, 1 + "
        "gap).",
        slope * clean + world.eps_minus * penalty,
    )
    write.line(
        r"(\epsilon_+-\epsilon_-)\,\text{clean}+\epsilon_-\,m(m-1)"
        r"+\epsilon_-\sum_{i<j}\max(0,\,|s_i-s_j|-1)",
        "So noise is not a constant here, although it is for ranks: it penalises score gaps above "
        "1, like a regulariser.",
        slope * clean + world.eps_minus * (pairs + excess),
        aside=f"the part that depends on the ranker: ε₋ · {excess} = {world.eps_minus * excess}",
    )
    return write.walk()
