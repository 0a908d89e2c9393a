"""Claims about the risk on all logged queries: closed form, simulated clicks, order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ultr_core.corpus.ranking import query_sums
from ultr_core.findings import Finding
from ultr_core.proofs.check import NO_POSITION_BIAS, PROPENSITIES, Evidence, proof
from ultr_core.risk import (
    AffineLaw,
    affine_law,
    estimate_risk,
    estimate_risks,
    expected_risk,
    order_agreement,
    plus_minus,
    variance_of_risk,
)
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.words import counted, part_of

FALSE_ALARM_RATE = 1e-6
"""Chance that a true expectation is declared wrong, for any sample size."""

RARE_QUANTILE = NormalDist().inv_cdf(1.0 - FALSE_ALARM_RATE / 2.0)
"""As many standard errors a normal mean strays that rarely."""

_REACH = 6.0  # the best exponent is at most e^6 times the one for a normal mean, or less
_ACCURACY = 0.03  # of its logarithm; any exponent is valid, near the best one the radius is flat


@dataclass(frozen=True, eq=False)
class ClickSums:
    """The law of one query draw's weighted clicks X = sum_d c_d v_d.

    A draw takes one of the Q queries at random and clicks each of its documents d independently
    with probability pi_d.

    Attributes:
        click_probability: pi, float64 [documents].
        weights: v, float64 [documents], finite where pi is above 0.
        query_offsets: int64 [queries + 1].
    """

    click_probability: NDArray[np.float64]
    weights: NDArray[np.float64]
    query_offsets: NDArray[np.int64]

    def log_moment(self, exponent: float) -> float:
        """ln E[exp(t X)] = ln (1/Q) sum_q prod_d (1 - pi_d + pi_d exp(t v_d)) for t = exponent."""
        never, ever, weights = self._parts
        logs = query_sums(np.logaddexp(never, ever + exponent * weights), self.query_offsets)
        return float(logsumexp(logs)) - math.log(len(logs))

    def radius(
        self, mean: float, variance: float, draws: int, *, upper: bool, rate: float
    ) -> float:
        """Distance t with P(mean of the draws - E[X] >= t) <= ``rate`` / 2, or below it likewise.

        Chernoff's bound with the exact moments: N t = min_s (ln(2 / rate) + N ln E[exp(s X)]) / s
        - N E[X], over s > 0, or s < 0 for the side below. Valid for few draws and skewed weights;
        with many draws t tends to sqrt(2 ln(2 / rate)) standard errors, 5.4 for a rate of 1e-6.

        Args:
            mean: E[X].
            variance: variance of X; without any the mean cannot stray.
            draws: number N of independent draws.
            upper: whether means above E[X] are meant.
            rate: chance of straying as far, on either side.

        Source: Boucheron, Lugosi and Massart, Concentration Inequalities (2013), section 2.2.
        """
        if variance == 0.0:
            return 0.0
        log_term = math.log(2.0 / rate) / draws
        normal = math.sqrt(2.0 * log_term / variance)
        sign = 1.0 if upper else -1.0

        def reach(log_factor: float) -> float:
            exponent = normal * math.exp(log_factor)
            return (self.log_moment(sign * exponent) + log_term) / exponent - sign * mean

        best = minimize_scalar(
            reach, bounds=(-_REACH, _REACH), method="bounded", options={"xatol": _ACCURACY}
        )
        return float(best.fun)

    @cached_property
    def _parts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """ln(1 - pi), ln pi, and v, which is 0 where nobody clicks."""
        with np.errstate(divide="ignore"):
            never, ever = np.log1p(-self.click_probability), np.log(self.click_probability)
        return never, ever, np.where(self.click_probability > 0, self.weights, 0.0)


ROUNDING = 1e-10
"""Relative difference that float64 sums over a whole corpus may show."""


def _law(evidence: Evidence) -> AffineLaw:
    """E[R_IPS] = (eps+ - eps-) R + eps- E[m(m+1)/2] for the logged queries."""
    users = evidence.users
    return affine_law(users.eps_plus, users.eps_minus, np.diff(evidence.query_offsets))


def _expected(evidence: Evidence, propensity: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(
        expected_risk(
            evidence.click_probability, propensity, evidence.family_ranks, evidence.query_offsets
        )
    )


@proof(
    name="corpus-affine-law",
    title="On the whole corpus the weighted risk is a straight line in the true risk",
    section="5.2",
    statement="For every ranker of the family the expected weighted risk on all logged queries "
    "is (ε₊ − ε₋) times its true risk plus ε₋ times the mean of m(m+1)/2.",
    formula=r"\mathbb{E}[\hat R_{IPS}(S)] = (\epsilon_+-\epsilon_-)R(S)"
    r" + \epsilon_-\,\mathbb{E}\big[\tfrac{m(m+1)}{2}\big]",
    assumes=(PROPENSITIES, "constant noise"),
    fails_when="the assumed curve is not the true one at some rank.",
)
def corpus_affine_law(evidence: Evidence) -> Finding:
    """Largest relative distance of the exact expectation from the line, over the family."""
    predicted = _law(evidence).expected(evidence.true_risk)
    expected = _expected(evidence, evidence.assumed_propensity)
    worst = float(np.max(np.abs(expected - predicted) / predicted))
    if evidence.curve_is_right:
        sentence = (
            f"All {len(predicted)} rankers lie on the line; the largest relative distance is "
            f"{worst:.1e}, which is rounding."
        )
    else:
        sentence = (
            f"With the wrong curve the line bends: the farthest of {len(predicted)} rankers is "
            f"{worst:.1%} away from it."
        )
    return Finding(sentence, worst, tolerance=ROUNDING, should_hold=evidence.curve_is_right)


def _order(evidence: Evidence, expected: NDArray[np.float64], guaranteed: bool) -> Finding:
    """How many pairs of rankers ``expected`` puts in another order than the true risk."""
    risk = evidence.true_risk
    first, second = np.triu_indices(len(risk), k=1)
    risk_difference = risk[first] - risk[second]
    expected_difference = expected[first] - expected[second]
    # Rankers of equal risk have no order; rounding must not give them one.
    ordered = np.abs(risk_difference) > ROUNDING * risk.max()
    swapped = ordered & (risk_difference * expected_difference <= 0)
    count, pairs = int(swapped.sum()), int(ordered.sum())
    tau = order_agreement(expected, risk)
    sentence = (
        f"{part_of(count, pairs, 'pair of rankers', 'pairs of rankers', does='is', do='are')} in "
        "the wrong order; Kendall's τ of the "
        f"expectation with the true risk is {tau:.3f}. The estimate from a single log is noisier."
    )
    details = (("Kendall's τ", f"{tau:.4f}"), ("pairs of rankers", f"{pairs:,}"))
    return Finding(sentence, float(count), should_hold=guaranteed, details=details)


@proof(
    name="order-preserved",
    title="On average, weighting keeps the order of rankers",
    section="5.2",
    statement="If one ranker has a smaller true risk than another, its expected weighted risk is "
    "smaller too, in spite of the click noise.",
    formula=r"R(S_1) < R(S_2) \Leftrightarrow "
    r"\mathbb{E}[\hat R_{IPS}(S_1)] < \mathbb{E}[\hat R_{IPS}(S_2)]",
    assumes=(PROPENSITIES, "ε₊ > ε₋", "constant noise"),
    fails_when="the assumed curve is wrong enough to exchange two rankers.",
)
def order_preserved(evidence: Evidence) -> Finding:
    """Pairs of the family whose expected weighted risks are in the wrong order."""
    expected = _expected(evidence, evidence.assumed_propensity)
    return _order(evidence, expected, evidence.curve_is_right)


@proof(
    name="naive-order",
    title="On average, unweighted clicks keep the order only without position bias",
    section="1, 4",
    statement="The naive risk gives every click the same weight. Its expectation rewards rankers "
    "that agree with the presented ranking, so with η > 0 nothing guarantees the right order.",
    formula=r"\mathbb{E}[\hat R_{naive}(S)] = \mathbb{E}\Big[\sum_d \mathrm{rank}(d|S)\,p_d"
    r"\,(\epsilon_+ r_d + \epsilon_-(1-r_d))\Big]",
    assumes=(NO_POSITION_BIAS,),
    fails_when="users see some ranks more often than others.",
)
def naive_order(evidence: Evidence) -> Finding:
    """Pairs of the family whose expected naive risks are in the wrong order."""
    expected = _expected(evidence, np.ones_like(evidence.assumed_propensity))
    return _order(evidence, expected, evidence.is_unbiased_by_position)


def _reach(evidence: Evidence) -> tuple[int, float, float, float, float]:
    """Estimate of the best ranker: its index, estimate, exact mean, standard error, radius.

    The radius is that of the side on which the estimate lies.
    """
    best = int(np.argmin(evidence.true_risk))
    ranks, propensity = evidence.family_ranks[best], evidence.assumed_propensity
    estimate = estimate_risk(evidence.log, ranks, evidence.assumed_curve.at(evidence.log.rank))
    moments = (evidence.click_probability, propensity, ranks, evidence.query_offsets)
    mean, draws = float(expected_risk(*moments)), evidence.log.query_draws
    variance = float(variance_of_risk(*moments, draws))
    law = ClickSums(evidence.click_probability, ranks / propensity, evidence.query_offsets)
    above = estimate.value >= mean
    radius = law.radius(mean, variance * draws, draws, upper=above, rate=FALSE_ALARM_RATE)
    return best, estimate.value, mean, variance**0.5, radius


@proof(
    name="simulation-agrees",
    title="The simulated clicks follow the closed form",
    section="4, 5.1",
    statement="The weighted risk computed from the simulated log lies within the reach of chance "
    "of its exact expectation, whatever the assumed curve.",
    formula=r"\hat R(S) = \frac1N\sum_i\sum_{d:c_i(d)=1}\frac{\mathrm{rank}(d|S(x_i))}{q_d}"
    r"\;\to\;\mathbb{E}[\hat R(S)]",
    assumes=("independent queries and examinations",),
    fails_when="the clicks come from other users than the formula describes.",
)
def simulation_agrees(evidence: Evidence) -> Finding:
    """Estimate of the best ranker against its exact expectation, by Chernoff's bound."""
    _, value, mean, deviation, radius = _reach(evidence)
    z = (value - mean) / deviation
    sentence = (
        f"{counted(evidence.log.total_clicks, 'click')} of "
        f"{counted(evidence.log.query_draws, 'query draw')} give "
        f"{value:.4f}; the expectation is {mean:.4f}, a distance of {z:+.2f} standard errors."
    )
    return Finding(
        sentence,
        value,
        "=",
        mean,
        radius,
        details=(
            ("z-score", f"{z:+.3f}"),
            ("standard error", f"{deviation:.4g}"),
            ("false alarm rate", f"{FALSE_ALARM_RATE:g}"),
        ),
    )


@proof(
    name="risk-recovered",
    title="From clicks back to the true risk",
    section="4, 5.2",
    statement="Undoing slope and intercept of the affine law turns the weighted risk of the "
    "simulated log into an estimate of the true risk.",
    formula=r"\frac{\hat R_{IPS}(S) - \epsilon_-\mathbb{E}[m(m+1)/2]}"
    r"{\epsilon_+-\epsilon_-} \approx R(S)",
    assumes=(PROPENSITIES, "known constant noise"),
    fails_when="the assumed curve is wrong, or the noise is not the one assumed.",
)
def risk_recovered(evidence: Evidence) -> Finding:
    """The corrected estimate of the best ranker against its true risk."""
    best, value, _, deviation, radius = _reach(evidence)
    law = _law(evidence)
    slope = law.slope
    recovered = float(law.invert(value))
    truth = float(evidence.true_risk[best])
    z = (recovered - truth) * slope / deviation
    reach = NORMAL_QUANTILE * deviation / slope
    sentence = (
        f"The best ranker's clicks say {plus_minus(recovered, reach, 3)}; its true risk is "
        f"{truth:.3f}, a distance of {z:+.1f} standard errors."
    )
    return Finding(
        sentence,
        recovered,
        "=",
        truth,
        # Without its assumption nothing is promised, so that a normal interval may judge.
        (radius if evidence.curve_is_right else RARE_QUANTILE * deviation) / slope,
        should_hold=evidence.curve_is_right,
        details=(("z-score", f"{z:+.3f}"), ("false alarm rate", f"{FALSE_ALARM_RATE:g}")),
    )


@proof(
    name="positivity",
    title="Every shown document can be examined",
    section="4, 5.2",
    statement="Unbiasedness needs a positive propensity for every relevant document; with noise "
    "it needs one for every shown document, because clicks on irrelevant ones count too.",
    formula=r"p_{\mathrm{rank}(d|\bar y)} > 0",
    assumes=("the whole list is shown",),
    fails_when="nobody looks at some rank, for example because the list is cut.",
)
def positivity(evidence: Evidence) -> Finding:
    """Smallest true propensity of any shown document."""
    propensity = evidence.users.curve.at(evidence.presented_ranks)
    rarest = int(np.argmin(propensity))
    smallest, rank = float(propensity[rarest]), int(evidence.presented_ranks[rarest])
    if smallest > 0:
        sentence = (
            f"The least seen rank is {rank}: it is examined with probability {smallest:.3g}, so a "
            f"click there weighs {1.0 / smallest:,.4g} with the true curve."
        )
    else:
        sentence = f"Nobody examines rank {rank}; no number of clicks tells what is there."
    return Finding(sentence, smallest, ">", 0.0)


@proof(
    name="scale-free",
    title="Only ratios of propensities matter",
    section="5.3",
    statement="Multiplying all propensities by a constant divides the weighted risk of every "
    "ranker by it and leaves their order as it is.",
    formula=r"\hat R_{IPS}^{\,sq}(S) = \tfrac1s\,\hat R_{IPS}^{\,q}(S)",
    assumes=(),
    fails_when="it cannot: it is a property of the estimate, whatever the clicks.",
)
def scale_free(evidence: Evidence) -> Finding:
    """Largest relative difference between the two sides for s = 1/3, over the family."""
    scale = 1.0 / 3.0
    propensity = evidence.assumed_curve.at(evidence.log.rank)
    plain = estimate_risks(evidence.log, evidence.family_ranks, propensity).value
    scaled = estimate_risks(evidence.log, evidence.family_ranks, scale * propensity).value
    worst = float(np.max(np.abs(scaled * scale - plain) / np.maximum(plain, np.finfo(float).tiny)))
    return Finding(
        f"With all propensities divided by 3 the {len(plain)} estimates are 3 times as large, to "
        f"{worst:.1e}.",
        worst,
        tolerance=ROUNDING,
    )


PROOFS = (
    corpus_affine_law,
    order_preserved,
    naive_order,
    simulation_agrees,
    risk_recovered,
    positivity,
    scale_free,
)
"""The proofs of this module, in the order in which they are shown."""
