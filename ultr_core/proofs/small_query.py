"""Claims of sections 4 and 5 on one small query, enumerated without any rounding.

The query has six candidates. Its relevances, the presented ranking and the new rankings are
fixed; examination, noise and the assumed curve are those of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from ultr_core.proofs.check import Finding, proof
from ultr_core.proofs.enumeration import (
    click_probabilities,
    curve_fractions,
    moments_by_enumeration,
    moments_by_formula,
)
from ultr_core.proofs.evidence import Evidence

RELEVANCE = (0, 1, 0, 0, 1, 1)
PRESENTED = (1, 2, 3, 4, 5, 6)
NEW_RANKINGS: tuple[tuple[int, ...], ...] = tuple(
    ranking for i, ranking in enumerate(permutations(PRESENTED)) if i % 90 == 0
)
"""Eight of the 720 rankings, the presented one first."""

Moments = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class SmallQuery:
    """The small query in a given world, all numbers rational."""

    true_propensity: list[Fraction]
    assumed_propensity: list[Fraction]
    click_probability: list[Fraction]

    @classmethod
    def under(cls, evidence: Evidence, *, noise: bool = True) -> SmallQuery:
        """The query in a world; without noise a click is an examined relevant document."""
        users = evidence.users
        true = curve_fractions(users.curve, PRESENTED)
        eps_plus = Fraction(users.eps_plus) if noise else Fraction(1)
        eps_minus = Fraction(users.eps_minus) if noise else Fraction(0)
        return cls(
            true,
            curve_fractions(evidence.assumed_curve, PRESENTED),
            click_probabilities(true, RELEVANCE, eps_plus, eps_minus),
        )

    @property
    def curve_is_right(self) -> bool:
        """Whether the assumed propensities are the true ones, and none is zero."""
        return self.true_propensity == self.assumed_propensity and all(self.true_propensity)

    def moments(self, ranking: Sequence[int]) -> tuple[Moments, Moments]:
        """Mean and variance of the IPS loss of ``ranking``: enumerated, and in closed form."""
        # A document with propensity 0 is never clicked: it contributes nothing, which is the bias.
        contribution = [
            Fraction(rank) / q if q else Fraction(0)
            for rank, q in zip(ranking, self.assumed_propensity, strict=True)
        ]
        return (
            moments_by_enumeration(self.click_probability, contribution),
            moments_by_formula(self.click_probability, contribution),
        )


def loss(ranking: Sequence[int]) -> int:
    """Delta(y|x, r): the sum of the ranks of the relevant candidates (equation 2)."""
    return sum(rank for rank, relevant in zip(ranking, RELEVANCE, strict=True) if relevant)


def _largest(errors: Sequence[Fraction]) -> float:
    return float(max(abs(error) for error in errors))


def _patterns() -> tuple[str, str]:
    return ("click patterns × rankings", f"{2 ** len(PRESENTED)} × {len(NEW_RANKINGS)}")


@proof(
    name="ips-unbiased",
    title="The IPS loss is unbiased",
    section="4",
    statement="Averaged over everything users may examine, the propensity-weighted loss of any "
    "ranking equals its true loss, whichever ranking was presented.",
    formula=r"\mathbb{E}_o[\hat\Delta_{IPS}(y|x,\bar y,o)] = \Delta(y|x,r)",
    assumes=("correct propensities", "positive propensity for every relevant document"),
)
def ips_unbiased(evidence: Evidence) -> Finding:
    """Enumerate all patterns without noise; the error is exactly zero with the true curve."""
    query = SmallQuery.under(evidence, noise=False)
    means = [query.moments(ranking)[0][0] for ranking in NEW_RANKINGS]
    errors = [mean - loss(ranking) for mean, ranking in zip(means, NEW_RANKINGS, strict=True)]
    worst = _largest(errors)
    presented = float(means[0])
    if query.curve_is_right:
        sentence = (
            f"All patterns together give {presented:.4g} for the presented ranking, its true loss "
            f"is {loss(PRESENTED)}; over {len(NEW_RANKINGS)} rankings the largest error is "
            f"{worst:g}."
        )
    else:
        sentence = (
            f"With the wrong curve the estimate of the presented ranking averages {presented:.4g} "
            f"instead of {loss(PRESENTED)}: more data does not remove this error."
        )
    return Finding(
        worst,
        0.0,
        0.0,
        query.curve_is_right,
        sentence,
        details=(_patterns(), ("true loss, presented", str(loss(PRESENTED)))),
    )


@proof(
    name="affine-law",
    title="Noise stretches and shifts the risk, nothing else",
    section="5.2",
    statement="With constant click noise the weighted loss averages to (ε₊ − ε₋) times the true "
    "loss plus a constant that is the same for every ranking. The paper proves the order; the "
    "law itself is not printed there.",
    formula=r"\mathbb{E}[\hat\Delta_{IPS}] = (\epsilon_+-\epsilon_-)\,\Delta"
    r" + \epsilon_-\,\tfrac{m(m+1)}{2}",
    assumes=("correct propensities", "noise that does not depend on rank or document"),
)
def affine_law(evidence: Evidence) -> Finding:
    """Enumerate all noisy click patterns and compare with slope and intercept."""
    users = evidence.users
    query = SmallQuery.under(evidence)
    slope = Fraction(users.eps_plus) - Fraction(users.eps_minus)
    size = len(PRESENTED)
    intercept = Fraction(users.eps_minus) * Fraction(size * (size + 1), 2)
    errors = [
        query.moments(ranking)[0][0] - (slope * loss(ranking) + intercept)
        for ranking in NEW_RANKINGS
    ]
    worst = _largest(errors)
    sentence = (
        f"Slope {float(slope):.3g}, intercept {float(intercept):.3g} for {size} candidates; the "
        f"largest departure over {len(NEW_RANKINGS)} rankings is {worst:.3g}."
    )
    return Finding(worst, 0.0, 0.0, query.curve_is_right, sentence, details=(_patterns(),))


@proof(
    name="misspecified-expectation",
    title="What a wrong curve does can be computed",
    section="7.5",
    statement="If clicks come with propensity p but are weighted by 1/q, each document counts "
    "p/q times: the estimate averages to a loss whose documents are weighted by p/q.",
    formula=r"\mathbb{E}[\hat\Delta] = \sum_d \mathrm{rank}(d|y)\,\frac{p_d}{q_d}"
    r"\,(\epsilon_+ r_d + \epsilon_-(1-r_d))",
    assumes=("independent examinations",),
)
def misspecified_expectation(evidence: Evidence) -> Finding:
    """Enumerated mean minus closed-form mean, exact; holds for any assumed curve."""
    query = SmallQuery.under(evidence)
    both = [query.moments(ranking) for ranking in NEW_RANKINGS]
    worst = _largest([enumerated[0] - formula[0] for enumerated, formula in both])
    ratio = float(query.true_propensity[-1] / query.assumed_propensity[-1])
    sentence = (
        f"At the last of {len(PRESENTED)} ranks a document counts {ratio:.3g} times as much as it "
        f"should; closed form and enumeration differ by {worst:g}."
    )
    return Finding(worst, 0.0, 0.0, True, sentence, details=(_patterns(),))


@proof(
    name="variance",
    title="The variance of the estimate is known",
    section="4",
    statement="Independent examinations make the variance of the weighted loss a sum over the "
    "candidates: small propensities are what makes it large. The paper does not print it.",
    formula=r"\mathrm{Var}[\hat\Delta] = \sum_d \frac{\mathrm{rank}(d|y)^2}{q_d^2}"
    r"\,\pi_d(1-\pi_d)",
    assumes=("independent examinations",),
)
def variance(evidence: Evidence) -> Finding:
    """Enumerated variance minus closed-form variance, exact."""
    query = SmallQuery.under(evidence)
    both = [query.moments(ranking) for ranking in NEW_RANKINGS]
    worst = _largest([enumerated[1] - formula[1] for enumerated, formula in both])
    deviation = float(both[0][1][1]) ** 0.5
    sentence = (
        f"One user's weighted loss of the presented ranking has standard deviation "
        f"{deviation:.3g}; closed form and enumeration differ by {worst:g}."
    )
    return Finding(worst, 0.0, 0.0, True, sentence, details=(_patterns(),))


PROOFS = (ips_unbiased, affine_law, misspecified_expectation, variance)
"""The proofs of this module, in the order in which they are shown."""
