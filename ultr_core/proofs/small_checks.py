"""The derivations as proofs: stated, placed in the paper, walked on small queries of a world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

from ultr_core.findings import Finding
from ultr_core.proofs.check import PROPENSITIES, Evidence, Proof
from ultr_core.proofs.derivations import section_4, section_5, section_6, section_7
from ultr_core.proofs.small_world import SmallWorld, curve_fractions, default_world
from ultr_core.proofs.walk import Derive, Walk, Ways

EVERY = 360
"""One in so many of all rankings of six candidates is walked, besides the default query's."""

POSITIVE_RELEVANT = "positive propensity for every relevant document"
POSITIVE = "positive propensity for every document that can be clicked"
CONSTANT_NOISE = "noise that depends on nothing but relevance"
INDEPENDENT = "independent examinations"
POSITION = "examination that depends on the rank alone"

UNSEEN = ("zero-relevant", "cut")
WRONG_USERS = ("attraction", "cascade")
BIASED = (*UNSEEN, "zero-irrelevant", "wrong-curve", "trust", *WRONG_USERS)


def small_world(evidence: Evidence) -> SmallWorld:
    """The default query with the users and the assumed curve of a world."""
    world, users = default_world(), evidence.users
    ranks = range(1, world.query.size + 1)
    return replace(
        world,
        examination=curve_fractions(users.curve, ranks),
        assumed=curve_fractions(evidence.assumed_curve, ranks),
        # The decimals that were asked for, not the binary number next to them.
        eps_plus=Fraction(str(users.eps_plus)),
        eps_minus=Fraction(str(users.eps_minus)),
    )


def curve_is_right(world: SmallWorld) -> bool:
    """Whether the assumed propensities are the true ones, and none is zero."""
    return world.examination == world.assumed and all(world.examination)


def _worlds(evidence: Evidence) -> list[SmallWorld]:
    """The small world with several rankings to be judged."""
    first = small_world(evidence)
    query = first.query
    ranks = range(1, query.size + 1)
    others = [ranking for i, ranking in enumerate(permutations(ranks)) if i % EVERY == 0]
    return [first, *(replace(first, query=replace(query, new=new)) for new in others)]


@dataclass(frozen=True)
class _Evaluation:
    """Walks a derivation on the small queries of a world and reports the largest error."""

    derive: Derive
    needs_curve: bool

    def __call__(self, evidence: Evidence) -> Finding:
        worlds = _worlds(evidence)
        walks = [self.derive(Ways(world)) for world in worlds]
        lines = max(len(walk.lines) for walk in walks)
        worst, walk = max(((_worst(walk), walk) for walk in walks), key=lambda pair: pair[0])
        return Finding(
            _sentence(walk, worst, len(walks)),
            worst,
            should_hold=curve_is_right(worlds[0]) or not self.needs_curve,
            details=(
                ("lines × rankings", f"{lines} × {len(walks)}"),
                ("candidates", str(worlds[0].query.size)),
            ),
        )


def _worst(walk: Walk) -> float:
    """The largest amount by which a step fails or an enumeration departs from its closed form."""
    amounts = [Fraction(0)]
    for line in walk.lines:
        if not line.holds:
            amounts.append(abs(line.error))
        if line.value.enumerated is not None:
            amounts.append(abs(line.value.enumerated - line.value.closed))
    return float(max(amounts))


def _sentence(walk: Walk, worst: float, walks: int) -> str:
    if worst == 0.0:
        return (
            f"Every step holds exactly for {walks} rankings, and every enumeration equals its "
            "closed form to the last fraction."
        )
    if not walk.failing:
        return f"Every step holds, but an enumeration departs from its closed form by {worst:.4g}."
    *others, last = map(str, walk.failing)
    lines = f"Lines {', '.join(others)} and {last} fail" if others else f"Line {last} fails"
    return f"{lines}: the largest step is off by {worst:.4g}. More data does not remove this error."


def _derivation(
    name: str,
    title: str,
    section: str,
    statement: str,
    formula: str,
    *,
    assumes: tuple[str, ...],
    fails_when: str,
    breaks: tuple[str, ...],
    derive: Callable[[Ways], Walk],
) -> Proof:
    evaluate = _Evaluation(derive, needs_curve="wrong-curve" in breaks)
    return Proof(
        name, title, section, statement, formula, assumes, fails_when, evaluate, breaks, derive
    )


PROOFS = (
    _derivation(
        "ips-unbiased",
        "The IPS loss is unbiased",
        "4",
        "Averaged over everything users may examine, the propensity-weighted loss of any "
        "ranking equals its true loss, whichever ranking was presented.",
        r"\mathbb{E}_o[\hat\Delta_{IPS}(y|x,\bar y,o)] = \Delta(y|x,r)",
        assumes=(PROPENSITIES, POSITIVE_RELEVANT),
        fails_when="a relevant document is never seen, or is seen with another probability than "
        "the one that its clicks are divided by.",
        breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
        derive=section_4.ips_unbiased,
    ),
    _derivation(
        "risk-converges",
        "The risk is unbiased and settles as 1/√N",
        "4",
        "The weighted risk of N users averages to the true risk, and N times its variance is "
        "the same number for every N: errors fall as 1/√N.",
        r"\mathbb E[\hat R_{IPS}(S)]=R(S),\quad \mathrm{Var}[\hat R_{IPS}]=\tfrac1N"
        r"\sum_d\mathrm{rank}^2\,r\,\tfrac{1-Q}{Q}",
        assumes=(PROPENSITIES, POSITIVE_RELEVANT, INDEPENDENT, "independent users"),
        fails_when="propensities are wrong or zero, or one examination depends on another.",
        breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
        derive=section_4.risk_converges,
    ),
    _derivation(
        "noise-keeps-order",
        "Noise keeps the order of two rankers, line by line",
        "5.2",
        "The difference of the expected weighted risks of two rankers is (ε₊ − ε₋) times the "
        "difference of their true risks, so that it has the same sign.",
        r"\mathbb E[\hat R_{IPS}(S_1)]>\mathbb E[\hat R_{IPS}(S_2)]"
        r"\Leftrightarrow R(S_1)>R(S_2)",
        assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE, "ε₊ > ε₋"),
        fails_when="a propensity is wrong or zero, also that of an irrelevant document, or noise "
        "depends on the rank.",
        breaks=BIASED,
        derive=section_5.noise_keeps_order,
    ),
    _derivation(
        "affine-law",
        "Noise stretches and shifts the risk, nothing else",
        "5.2",
        "With constant click noise the weighted loss averages to (ε₊ − ε₋) times the true loss "
        "plus a constant that is the same for every ranking. The paper proves the order; the law "
        "itself is not printed there.",
        r"\mathbb{E}[\hat\Delta_{IPS}] = (\epsilon_+-\epsilon_-)\,\Delta"
        r" + \epsilon_-\,\tfrac{m(m+1)}{2}",
        assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
        fails_when="a propensity is wrong or zero, also that of an irrelevant document, or noise "
        "depends on the rank.",
        breaks=BIASED,
        derive=section_5.affine_law,
    ),
    _derivation(
        "affine-correction",
        "Known noise and trust bias can be undone",
        "5.4, later work",
        "If clicks are an affine function of relevance with known numbers, taking β off and "
        "dividing by α gives the true loss without bias, trust bias included.",
        r"\mathbb E\Big[\sum_d\mathrm{rank}(d|S)\,\tfrac{c(d)-\beta_d}{\alpha_d}\Big]=\Delta",
        assumes=(PROPENSITIES, POSITIVE_RELEVANT, "known noise at every rank"),
        fails_when="examination depends on more than the rank, or a relevant document is never "
        "seen.",
        breaks=(*UNSEEN, "wrong-curve", *WRONG_USERS),
        derive=section_5.trust_correction,
    ),
    _derivation(
        "swap-ratio",
        "Swapping two documents measures the ratio of propensities",
        "5.3",
        "The click rate of one document at two ranks stands in the ratio of the two "
        "propensities, because what happens after examination does not change.",
        r"\frac{P(c(d')=1|\mathrm{swap})}{P(c(d')=1|\mathrm{no\ swap})}=\frac{p_r}{p_k}",
        assumes=(POSITION, CONSTANT_NOISE),
        fails_when="trust bias, attraction or stopping changes the click rate for other reasons "
        "than the rank.",
        breaks=("trust", *WRONG_USERS),
        derive=section_5.swap_ratio,
    ),
    _derivation(
        "hinge-chain",
        "The SVM minimises an upper bound of the weighted risk",
        "6",
        "Rank minus one counts the documents with a higher score; the hinge bounds that count, "
        "and any feasible slacks bound the hinge.",
        r"\mathrm{rank}(d_j)-1\le\sum_{d\ne d_j}\max(1-w\cdot[\phi(d_j)-\phi(d)],0)"
        r"\le\sum_{d\ne d_j}\xi_{jd}",
        assumes=("no tied scores",),
        fails_when="scores are tied: the strict comparison then counts nobody above, though the "
        "bound survives.",
        breaks=("tied-scores",),
        derive=section_6.hinge_chain,
    ),
    _derivation(
        "one-slack",
        "One slack is as good as one for each pair",
        "6",
        "The smallest slack that satisfies the constraints of all 0/1 vectors equals the "
        "weighted sum of all pair slacks, so both programs have the same objective.",
        r"\max_{c}\tfrac1n\sum_j\tfrac1{q_j}\sum_d c_{jd}(1-w\cdot[\phi_j-\phi_d])"
        r"=\tfrac1n\sum_j\tfrac1{q_j}\sum_d\xi_{jd}",
        assumes=(),
        fails_when="it cannot: the largest sum takes exactly the positive terms.",
        breaks=(),
        derive=section_6.one_slack,
    ),
    _derivation(
        "noisy-hinge",
        "For the hinge loss, noise is more than a constant",
        "6",
        "The expected hinge loss with noise is (ε₊ − ε₋) times the clean one plus ε₋ times the "
        "sum over pairs of max(2, 1 + score gap): order preservation is about ranks, the "
        "surrogate preserves it only while gaps stay below 1. The paper does not discuss it.",
        r"(\epsilon_+-\epsilon_-)\,\mathrm{clean}+\epsilon_-\sum_{i<j}\max(2,1+|s_i-s_j|)",
        assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
        fails_when="a propensity is wrong or zero, or noise depends on the rank.",
        breaks=BIASED,
        derive=section_6.noisy_hinge,
    ),
    _derivation(
        "variance",
        "The variance of the estimate is known",
        "4",
        "Independent examinations make the variance of the weighted loss a sum over the "
        "candidates: small propensities are what makes it large. The paper does not print it.",
        r"\mathrm{Var}[\hat\Delta] = \sum_d \frac{\mathrm{rank}(d|y)^2}{q_d^2}"
        r"\,\pi_d(1-\pi_d)",
        assumes=(INDEPENDENT, PROPENSITIES, CONSTANT_NOISE),
        fails_when="clicks depend on each other, as when users stop after the first, or happen "
        "with another probability than assumed.",
        breaks=("wrong-curve", "trust", *WRONG_USERS),
        derive=section_4.variance,
    ),
    _derivation(
        "clipped-moments",
        "Clipping trades bias for variance",
        "7.2",
        "Weights of at most 1/τ make the estimate too small by a known amount and its variance "
        "smaller by another.",
        r"\mathrm{bias}=\sum_d\mathrm{rank}(d|S)\Big(\tfrac{q_d}{\max(\tau,q_d)}-1\Big)"
        r"(\epsilon_+r+\epsilon_-(1-r))\le0",
        assumes=(PROPENSITIES, CONSTANT_NOISE, INDEPENDENT),
        fails_when="clicks happen with another probability than assumed, or depend on each other.",
        breaks=("wrong-curve", "trust", *WRONG_USERS),
        derive=section_7.clipped,
    ),
    _derivation(
        "naive-expectation",
        "Naive is a special case, and what it settles at",
        "6, 7.2",
        "Counting every click once is clipping at τ = 1. Its expectation weights each document "
        "by how often its rank is seen, so that its bias is known.",
        r"\mathbb E[\hat\Delta_{naive}]=\sum_d\mathrm{rank}(d|S)\,p_d"
        r"\,(\epsilon_+r_d+\epsilon_-(1-r_d))",
        assumes=(POSITION, CONSTANT_NOISE),
        fails_when="examination depends on more than the rank, or noise does depend on it.",
        breaks=("trust", *WRONG_USERS),
        derive=section_4.naive,
    ),
    _derivation(
        "misspecified-expectation",
        "What a wrong curve does can be computed",
        "7.5",
        "If clicks come with propensity p but are weighted by 1/q, each document counts "
        "p/q times: the estimate averages to a loss whose documents are weighted by p/q.",
        r"\mathbb{E}[\hat\Delta] = \sum_d \mathrm{rank}(d|y)\,\frac{p_d}{q_d}"
        r"\,(\epsilon_+ r_d + \epsilon_-(1-r_d))",
        assumes=(POSITION, CONSTANT_NOISE),
        fails_when="examination depends on more than the rank, or noise does depend on it.",
        breaks=("trust", *WRONG_USERS),
        derive=section_4.misspecified,
    ),
    _derivation(
        "overtaking",
        "From how many clicks on weighting beats naive",
        "7.2",
        "Naive has the smaller variance, weighting no bias. The mean squared errors of the "
        "estimated difference between two rankers cross after a number of users that is known.",
        r"N^*=\frac{V_{IPS}-V_{naive}}{b_{naive}^2-b_{IPS}^2}",
        assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
        fails_when="weighting has a bias of its own, because a propensity is wrong or zero or "
        "noise depends on the rank.",
        breaks=BIASED,
        derive=section_7.overtaking,
    ),
)
"""The derivations, in the order of the walker."""
