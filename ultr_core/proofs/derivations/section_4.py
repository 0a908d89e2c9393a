"""Section 4: the IPS loss and risk are unbiased; variance; a wrong curve."""

from __future__ import annotations

from fractions import Fraction

from ultr_core.proofs.proof import (
    CONSTANT_NOISE,
    INDEPENDENT,
    INDEPENDENT_USERS,
    POSITION,
    POSITIVE_RELEVANT,
    PROPENSITIES,
    UNSEEN,
    WRONG_USERS,
    derivation,
)
from ultr_core.proofs.users import dot, spread, times
from ultr_core.proofs.walk import Walk, Ways, Writer

MOST_PAIRS = 1 << 14
"""Patterns of two users that are enumerated together."""


@derivation(
    "ips-unbiased",
    section="4",
    formula=r"\mathbb{E}_o[\hat\Delta_{IPS}(y|x,\bar y,o)] = \Delta(y|x,r)",
    assumes=(PROPENSITIES, POSITIVE_RELEVANT),
    breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
)
def ips_unbiased(ways: Ways) -> Walk:
    """The five lines of section 4, for the ranking S_1."""
    world, write = ways.world, Writer(ways)
    query, q = world.query, world.propensity
    relevant_ranks = times(query.new, query.relevance)
    weights = times(relevant_ranks, world.inverse)
    write.line(
        r"\mathbb E_o\Big[\sum_{d:\,o(d)=1}\frac{\mathrm{rank}(d|y)\,r(d)}{Q(d)}\Big]",
        "The mean of the weighted loss over everything users may observe.",
        ways.mean(weights, clean=True),
        "",
    )
    write.line(
        r"\sum_{d\in y}\mathbb E_o\Big[\frac{o(d)\,\mathrm{rank}(d|y)\,r(d)}{Q(d)}\Big]",
        "The mean of a sum is the sum of the means.",
        ways.by_document(weights, clean=True),
    )
    write.line(
        r"\sum_{d\in y}\frac{Q(d)\,\mathrm{rank}(d|y)\,r(d)}{Q(d)}",
        "A document is observed with probability Q(d), and its weight is 1/Q(d).",
        dot(times(q, world.inverse), relevant_ranks),
        assumes="Q(d) is the true probability, and depends only on what is known",
    )
    write.line(
        r"\sum_{d\in y}\mathrm{rank}(d|y)\,r(d)",
        "Q(d) cancels.",
        dot(query.new, query.relevance),
        assumes="Q(d) > 0 for every relevant document",
    )
    write.line(
        r"\Delta(y\,|\,x,r)",
        "This is the true loss, equation (2).",
        query.loss(query.new),
    )
    return write.walk()


@derivation(
    "risk-converges",
    section="4",
    formula=r"\mathbb E[\hat R_{IPS}(S)]=R(S),\quad \mathrm{Var}[\hat R_{IPS}]=\tfrac1N"
    r"\sum_d\mathrm{rank}^2\,r\,\tfrac{1-Q}{Q}",
    assumes=(PROPENSITIES, POSITIVE_RELEVANT, INDEPENDENT, INDEPENDENT_USERS),
    breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
)
def risk_converges(ways: Ways) -> Walk:
    """The risk of N users: unbiased, and its variance falls as 1/N; enumerated for N = 2."""
    world, write = ways.world, Writer(ways)
    query, q = world.query, world.propensity
    relevant_ranks = times(query.new, query.relevance)
    weights = times(relevant_ranks, world.inverse)
    one, variance = ways.mean(weights, clean=True), ways.variance(weights, clean=True)
    pair = _two_users(ways, weights)
    write.line(
        r"\mathbb E\Big[\frac1N\sum_{i=1}^N\hat\Delta_{IPS}(S(x_i)\,|\,x_i,\bar y_i,o_i)\Big]",
        "The expected risk, enumerated for N = 2 users, pattern by pattern.",
        one._replace(enumerated=None if pair is None else pair[0]),
        "",
    )
    write.line(
        r"\mathbb E\big[\hat\Delta_{IPS}(S(x)\,|\,x,\bar y,o)\big]",
        "The mean of a mean is the mean of one term.",
        one,
    )
    write.line(
        r"R(S)",
        "Each term is unbiased, as shown above, so the average is too.",
        query.loss(query.new),
        assumes="as for the loss: true propensities, positive for every relevant document",
    )
    write.line(
        r"N\cdot\mathrm{Var}\big[\hat R_{IPS}(S)\big]",
        "The variance of the average over N users, times N, enumerated for N = 2.",
        variance._replace(enumerated=None if pair is None else pair[1]),
        "",
    )
    write.line(
        r"\mathrm{Var}\big[\hat\Delta_{IPS}\big]",
        "Independent users: the variance of a mean is 1/N times the variance of one term, so the "
        "error falls as 1/√N, a slope of −1/2 on logarithmic axes.",
        variance,
        assumes="users are independent",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)^2\,r(d)\,\frac{1-Q(d)}{Q(d)}",
        "The paper does not state this variance, which is finite because Q is bounded away from 0.",
        spread(q, weights),
        assumes="independent examinations with the true propensities",
    )
    return write.walk()


def _two_users(ways: Ways, weights: list[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Mean of (a + b) / 2 and 2 Var of it over all pairs of patterns of two users."""
    law = ways.law(clean=True)
    if law is None or len(law.patterns) ** 2 > MOST_PAIRS:
        return None
    totals, unit = law.totals(weights)
    first = second = 0
    for weight, total in zip(law.weights, totals, strict=True):
        for other_weight, other in zip(law.weights, totals, strict=True):
            both = weight * other_weight
            first += both * (total + other)
            second += both * (total + other) ** 2
    scale = law.denominator**2
    mean = Fraction(first, 2 * unit * scale)
    return mean, 2 * (Fraction(second, 4 * unit * unit * scale) - mean**2)


@derivation(
    "variance",
    section="4",
    formula=r"\mathrm{Var}[\hat\Delta] = \sum_d \frac{\mathrm{rank}(d|y)^2}{q_d^2}"
    r"\,\pi_d(1-\pi_d)",
    assumes=(INDEPENDENT, PROPENSITIES, CONSTANT_NOISE),
    breaks=("wrong-curve", "trust", *WRONG_USERS),
)
def variance(ways: Ways) -> Walk:
    """The variance of one user's weighted loss, with click noise."""
    world, write = ways.world, Writer(ways)
    weights = times(world.query.new, world.inverse)
    model = times(world.propensity, world.constant_noise)
    write.line(
        r"\mathrm{Var}\Big[\sum_{d:\,c(d)=1}\frac{\mathrm{rank}(d|S)}{q_d}\Big]",
        "How much the weighted loss varies from user to user.",
        ways.variance(weights),
        "",
    )
    write.line(
        r"\sum_d\frac{\mathrm{rank}(d|S)^2}{q_d^2}\,\mathrm{Var}[c(d)]",
        "The variance of a sum is the sum of the variances.",
        ways.variance_by_document(weights),
        assumes="clicks on different documents are independent",
    )
    write.line(
        r"\sum_d\frac{\mathrm{rank}(d|S)^2}{q_d^2}\,\pi_d(1-\pi_d),"
        r"\quad \pi_d=q_d(\epsilon_+r+\epsilon_-(1-r))",
        "Small propensities make it large: rank²(1 − q)/q per relevant document without noise.",
        spread(model, weights),
        assumes="true propensities and constant noise",
    )
    return write.walk()


@derivation(
    "misspecified-expectation",
    section="7.5",
    formula=r"\mathbb{E}[\hat\Delta] = \sum_d \mathrm{rank}(d|y)\,\frac{p_d}{q_d}"
    r"\,(\epsilon_+ r_d + \epsilon_-(1-r_d))",
    assumes=(POSITION, CONSTANT_NOISE),
    breaks=("trust", *WRONG_USERS),
)
def misspecified(ways: Ways) -> Walk:
    """The expectation when users have p but clicks are weighted by 1/q."""
    world, write = ways.world, Writer(ways)
    weights = times(world.query.new, world.inverse)
    write.line(
        r"\mathbb E\Big[\sum_{d:\,c(d)=1}\frac{\mathrm{rank}(d|S)}{q_d}\Big]",
        "The mean of the loss weighted with any curve q.",
        ways.mean(weights),
        "",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,\frac{P(c(d)=1)}{q_d}",
        "Document by document.",
        ways.by_document(weights),
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,\frac{p_d}{q_d}\,(\epsilon_+r(d)+\epsilon_-(1-r(d)))",
        "Each document counts p/q times: (rank)^(η′ − η) for power laws. η′ = 0 is the naive "
        "estimate.",
        dot(weights, times(world.position, world.constant_noise)),
        assumes="examination depends only on the rank, and noise is constant",
    )
    return write.walk()


@derivation(
    "naive-expectation",
    section="6, 7.2",
    formula=r"\mathbb E[\hat\Delta_{naive}]=\sum_d\mathrm{rank}(d|S)\,p_d"
    r"\,(\epsilon_+r_d+\epsilon_-(1-r_d))",
    assumes=(POSITION, CONSTANT_NOISE),
    breaks=("trust", *WRONG_USERS),
)
def naive(ways: Ways) -> Walk:
    """The naive loss is the special case q = 1, and what its expectation is."""
    world, write = ways.world, Writer(ways)
    query = world.query
    ranks = [Fraction(rank) for rank in query.new]
    full = times(ranks, [1 / max(Fraction(1), q) for q in world.propensity])
    target = dot(ranks, world.constant_noise)
    mean = ways.mean(ranks)
    expected = times(world.position, world.constant_noise)
    write.line(
        r"\mathbb E\Big[\sum_{d:\,c(d)=1}\mathrm{rank}(d|S)\Big]",
        "Every click counts once.",
        mean,
        "",
    )
    write.line(
        r"\mathbb E\Big[\sum_{d:\,c(d)=1}\frac{\mathrm{rank}(d|S)}{\max(\tau,\,q_d)}\Big],"
        r"\quad\tau=1",
        "Clipping at τ = 1 is the naive estimator.",
        ways.mean(full),
        assumes="curves are normalised to p₁ = 1",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,p_d\,(\epsilon_+r(d)+\epsilon_-(1-r(d)))",
        "Documents shown at the top count most: rankings that agree with the presented ranking "
        "are rewarded.",
        dot(ranks, expected),
        assumes="examination depends only on the rank, and noise is constant",
    )
    write.line(
        r"\mathbb E[\hat\Delta_{naive}]-\sum_d\mathrm{rank}(d|S)(\epsilon_+r+\epsilon_-(1-r))",
        "Its bias: the distance from the limit of the weighted estimate. More users do not reduce "
        "it.",
        mean.less(target),
        "",
    )
    write.line(
        r"-\sum_d\mathrm{rank}(d|S)\,(1-p_d)(\epsilon_+r(d)+\epsilon_-(1-r(d)))",
        "It is 0 only if everybody looks at every rank.",
        dot(ranks, expected) - target,
        assumes="examination depends only on the rank, and noise is constant",
    )
    return write.walk()
