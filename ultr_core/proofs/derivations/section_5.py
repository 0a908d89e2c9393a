"""Section 5: what click noise does to the order of rankers, and the swap experiment."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.proof import (
    BIASED,
    CONSTANT_NOISE,
    POSITION,
    POSITIVE,
    POSITIVE_RELEVANT,
    PROPENSITIES,
    UNSEEN,
    WRONG_USERS,
    derivation,
)
from ultr_core.proofs.users import ONE, ZERO, dot, times
from ultr_core.proofs.walk import Value, Walk, Ways, Writer

SHARE_RELEVANT = Fraction(1, 2)
"""Share of users to whom the document that is swapped is relevant."""

LANDMARK = 1


@derivation(
    "noise-keeps-order",
    section="5.2",
    formula=r"\mathbb E[\hat R_{IPS}(S_1)]>\mathbb E[\hat R_{IPS}(S_2)]"
    r"\Leftrightarrow R(S_1)>R(S_2)",
    assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE, "ε₊ > ε₋"),
    breaks=BIASED,
)
def noise_keeps_order(ways: Ways) -> Walk:
    """The equivalences of section 5.2, line by line, for S_1 against S_2."""
    world, write = ways.world, Writer(ways)
    query, delta = world.query, world.query.difference
    slope = world.eps_plus - world.eps_minus
    first = ways.mean(times(query.new, world.inverse))
    second = ways.mean(times(query.other, world.inverse))
    difference = ways.mean(times(delta, world.inverse))
    enumerated = None
    if first.enumerated is not None and second.enumerated is not None:
        enumerated = first.enumerated - second.enumerated
    dropped = world.eps_minus * sum(delta)
    write.line(
        r"\mathbb E[\hat R_{IPS}(S_1)]-\mathbb E[\hat R_{IPS}(S_2)]",
        "Which ranker looks worse, judging by clicks? If this is above 0, S₁ does.",
        difference._replace(enumerated=enumerated),
        "",
    )
    write.line(
        r"\mathbb E_o\mathbb E_{c|o}\Big[\sum_{d:\,c(d)=1}"
        r"\frac{\delta\mathrm{rank}(d)}{p_d}\Big]",
        "One sum for both rankers, with δrank(d) = rank(d|S₁) − rank(d|S₂).",
        difference,
        assumes="both rank the same candidates, for the same users",
    )
    write.line(
        r"\sum_d P(c(d)=1\,|\,o(d)=1,r(d))\;\delta\mathrm{rank}(d)",
        "The probability of examination cancels 1/p.",
        dot(world.users.click, delta),
        assumes="true propensities, positive for every document that can be clicked, including "
        "irrelevant documents",
    )
    write.line(
        r"\sum_d\delta\mathrm{rank}(d)\,(\epsilon_+r(d)+\epsilon_-(1-r(d)))",
        "An examined document is clicked with probability ε₊ if it is relevant and ε₋ if not.",
        dot(world.constant_noise, delta),
        assumes="noise that depends on nothing but relevance",
    )
    write.line(
        r"\sum_d\delta\mathrm{rank}(d)\,((\epsilon_+-\epsilon_-)\,r(d)+\epsilon_-)",
        "Rearranged.",
        dot([slope * r + world.eps_minus for r in query.relevance], delta),
    )
    write.line(
        r"\sum_d\delta\mathrm{rank}(d)\,(\epsilon_+-\epsilon_-)\,r(d)",
        "The noise drops out, because the rank differences add up to 0.",
        slope * dot(delta, query.relevance),
        assumes="both rank the same candidates",
        starred=True,
        aside=f"ε₋ · Σ δrank = {world.eps_minus} · {sum(delta)} = {dropped}",
    )
    write.line(
        r"\sum_d\delta\mathrm{rank}(d)\,r(d)",
        f"Dividing by ε₊ − ε₋ = {slope} keeps the sign.",
        dot(delta, query.relevance),
        assumes="ε₊ > ε₋",
        factor=slope,
    )
    write.line(
        r"R(S_1)-R(S_2)",
        "The difference between the true risks, equation (2), has the same sign as the top line.",
        query.loss(query.new) - query.loss(query.other),
    )
    return write.walk()


@derivation(
    "affine-law",
    section="5.2",
    formula=r"\mathbb{E}[\hat\Delta_{IPS}] = (\epsilon_+-\epsilon_-)\,\Delta"
    r" + \epsilon_-\,\tfrac{m(m+1)}{2}",
    assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
    breaks=BIASED,
)
def affine_law(ways: Ways) -> Walk:
    """Noise stretches and shifts the loss: the law behind section 5.2, not printed there."""
    world, write = ways.world, Writer(ways)
    query, size = world.query, world.query.size
    slope = world.eps_plus - world.eps_minus
    mean = ways.mean(times(query.new, world.inverse))
    constant = world.eps_minus * Fraction(size * (size + 1), 2)
    write.line(
        r"\mathbb E\Big[\sum_{d:\,c(d)=1}\frac{\mathrm{rank}(d|S)}{p_d}\Big]",
        "The mean of the weighted loss, including noise clicks.",
        mean,
        "",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,P(c(d)=1\,|\,o(d)=1,r(d))",
        "The probability of examination cancels 1/p.",
        dot(world.users.click, query.new),
        assumes="true propensities, positive for every document that can be clicked",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,(\epsilon_+r(d)+\epsilon_-(1-r(d)))",
        "An examined document is clicked with probability ε₊ if it is relevant and ε₋ if not.",
        dot(world.constant_noise, query.new),
        assumes="noise that depends on nothing but relevance",
    )
    write.line(
        r"(\epsilon_+-\epsilon_-)\sum_d\mathrm{rank}(d|S)\,r(d)"
        r"+\epsilon_-\sum_d\mathrm{rank}(d|S)",
        "Rearranged.",
        slope * dot(query.new, query.relevance) + world.eps_minus * sum(query.new),
    )
    write.line(
        r"(\epsilon_+-\epsilon_-)\,\Delta+\epsilon_-\,\tfrac{m(m+1)}2",
        f"All {size} ranks add up to {size * (size + 1) // 2} for every ranker, so this "
        f"is a straight line with slope {slope} and intercept {constant}.",
        slope * query.loss(query.new) + constant,
        assumes="every ranker ranks all candidates",
    )
    return write.walk()


@derivation(
    "affine-correction",
    section="5.4, later work",
    formula=r"\mathbb E\Big[\sum_d\mathrm{rank}(d|S)\,\tfrac{c(d)-\beta_d}{\alpha_d}\Big]=\Delta",
    assumes=(PROPENSITIES, POSITIVE_RELEVANT, "known noise at every rank"),
    breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
)
def trust_correction(ways: Ways) -> Walk:
    """The affine correction of later work: unbiased under noise and trust bias."""
    world, write = ways.world, Writer(ways)
    query, q, behaviour = world.query, world.propensity, world.parts.behaviour
    alpha, beta = [], []
    for rank, propensity in zip(query.presented, q, strict=True):
        low, high = behaviour.eps_minus[rank - 1], behaviour.eps_plus[rank - 1]
        alpha.append(propensity * (high - low))
        beta.append(propensity * low)
    weights = [Fraction(rank) / a if a else ZERO for rank, a in zip(query.new, alpha, strict=True)]
    constant = dot(weights, beta)

    write.line(
        r"\mathbb E\Big[\sum_{d\ shown}\mathrm{rank}(d|S)\,\frac{c(d)-\beta_d}{\alpha_d}\Big]",
        "Each shown document counts, clicked or not, with the α and β of its rank: "
        "α = q(ε₊ − ε₋) and β = q ε₋.",
        ways.mean(weights).less(constant),
        "",
    )
    write.line(
        r"\sum_{d}\mathrm{rank}(d|S)\,\frac{P(c(d)=1)-\beta_d}{\alpha_d}",
        "Document by document.",
        ways.by_document(weights).less(constant),
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,r(d)=\Delta",
        "The click probability is an affine function of relevance, P(c = 1) = α r + β, so the loss "
        "is recovered: noise and trust bias are gone.",
        query.loss(query.new),
        assumes="the affine click model with known, positive α and known β",
    )
    return write.walk()


def swap_rank(size: int) -> int:
    """The rank that is swapped with the landmark."""
    return max(2, (size + 1) // 2)


@derivation(
    "swap-ratio",
    section="5.3",
    formula=r"\frac{P(c(d')=1|\mathrm{swap})}{P(c(d')=1|\mathrm{no\ swap})}=\frac{p_r}{p_k}",
    assumes=(POSITION, CONSTANT_NOISE),
    breaks=("trust", *WRONG_USERS),
)
def swap_ratio(ways: Ways) -> Walk:
    """The swap experiment: click rates of one document at two ranks."""
    world, write = ways.world, Writer(ways)
    query, behaviour = world.query, world.parts.behaviour
    rank = swap_rank(query.size)
    document = query.shown[LANDMARK - 1]
    partner = query.shown[rank - 1]
    swapped = list(query.presented)
    swapped[document], swapped[partner] = rank, LANDMARK
    before, after = behaviour.look[LANDMARK - 1], behaviour.look[rank - 1]
    given = SHARE_RELEVANT * world.eps_plus + (1 - SHARE_RELEVANT) * world.eps_minus
    plain = _click_rate(ways, document, query.presented)
    moved = _click_rate(ways, document, swapped)
    write.line(
        r"P(c(d')=1\,|\,\text{no swap})",
        f"Click rate, at rank {LANDMARK}, of a document relevant to {SHARE_RELEVANT} of users.",
        plain,
        "",
    )
    write.line(
        r"p_k\,P(c(d')=1\,|\,e(d')=1)",
        "Examined, then clicked.",
        before * given,
        assumes="the position model with constant noise",
    )
    write.line(
        r"P(c(d')=1\,|\,\text{swap }k\text{ and }r)",
        f"Its click rate when it is shown at rank {rank} instead.",
        moved,
        "",
    )
    write.line(
        r"p_r\,P(c(d')=1\,|\,e(d')=1)",
        "The same document, examined with the probability of its new rank, then clicked as before.",
        after * given,
        assumes="the position model with constant noise",
    )
    if plain.closed and before:
        enumerated = None
        if moved.enumerated is not None and plain.enumerated:
            enumerated = moved.enumerated / plain.enumerated
        write.line(
            r"\frac{P(c(d')=1\,|\,\text{swap})}{P(c(d')=1\,|\,\text{no swap})}",
            "The ratio of the two click rates.",
            Value(moved.closed / plain.closed, enumerated),
            "",
        )
        write.line(
            r"p_r/p_k",
            "P(c | e) cancels. What is left is the ratio of the propensities, which is all we "
            "need. The learner's own curve plays no part.",
            after / before,
            assumes="P(c | e) is not changed by the swap",
        )
    else:
        write.notes.append("Nobody clicks at the landmark, so there is no ratio.")
    return write.walk()


def _click_rate(ways: Ways, document: int, presented: Sequence[int]) -> Value:
    """P(c = 1) of a document that is relevant to a share of the users."""
    relevance = list(ways.world.query.relevance)
    closed, enumerated = ZERO, ZERO
    for relevant, share in ((1, SHARE_RELEVANT), (0, ONE - SHARE_RELEVANT)):
        relevance[document] = relevant
        users = ways.world.parts.behaviour.users(relevance, presented)
        closed += share * users.clicked[document]
        if ways.law() is not None:
            enumerated += share * click_law(users).marginal(document)
    return Value(closed, enumerated if ways.law() is not None else None)
