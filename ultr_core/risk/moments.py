"""Exact expectation and variance of the estimated risks, in closed form.

Throughout: pi [documents] is the probability of a click on each document in one presentation,
numbers [documents] what the estimator gives each of them, u for a click and v for an impression (or
propensities q, for u = 1 / q and v = 0), ranks [..., documents] the ranks under the ranker to be
judged (any leading axes), query_offsets [queries + 1]; a metric other than the sum of ranks has its
gain for the rank. Queries are drawn uniformly; given the
query, one ranking is presented and clicks are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ultr_core.corpus.ranking import (
    checked_offsets,
    in_brief,
    number_or_nan,
    query_sums,
    real_numbers,
    require_finite,
    whole_or_none,
)
from ultr_core.errors import InputError
from ultr_core.propensity.row_numbers import LEAST_PROPENSITY, Numbers, row_numbers
from ultr_core.risk.estimators import (
    RiskEstimates,
    SignedSums,
    WeighedSums,
    places_of_rankers,
    weigh,
)
from ultr_core.risk.inputs import (
    checked_places,
    checked_probabilities,
    rank_blocks,
    require_propensities,
)
from ultr_core.risk.rank_metrics import RANK, RankMetric
from ultr_core.users.click_log import ClickLog
from ultr_core.users.click_models import check_noise
from ultr_core.words import counted

FloatArray = NDArray[np.float64]


def _times_u(possible: FloatArray, numbers: Numbers) -> FloatArray:
    """Possible times u, 0 where possible is 0; raises InputError where u is infinite elsewhere.

    Where u = 1 / q it is one division, rounded once: p r / p is r.
    """
    given = row_numbers(numbers)
    happens = possible > 0
    if given.divisor is not None:
        q = given.divisor
        require_propensities(q, possible.size)
        _require(happens, q > LEAST_PROPENSITY, q, "propensity", "clipped at a threshold above 0")
        return np.divide(possible, q, out=np.zeros(q.size), where=happens)
    u = given.u
    if u.size != possible.size:
        raise InputError(
            f"An estimator gave numbers for {counted(u.size, 'row')}, but there are "
            f"{counted(possible.size, 'document')}; give u and v for each."
        )
    _require(happens, np.abs(u) < 1.0 / LEAST_PROPENSITY, u, "u", "a finite number")
    return np.multiply(possible, u, out=np.zeros(u.size), where=happens)


def _require(
    happens: NDArray[np.bool_], right: NDArray[np.bool_], found: FloatArray, what: str, must: str
) -> None:
    """Raise InputError naming the first document that can be clicked and has no usable number."""
    wrong = happens & ~right
    if wrong.any():
        document = int(np.argmax(wrong))
        raise InputError(
            f"Document {document} (counted from 0) can be clicked but has {what} "
            f"{found[document]:g}; this number must be {must}.",
            "not_finite",
        )


def expected_delta(
    click_probability: ArrayLike,
    numbers: Numbers,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    metric: RankMetric = RANK,
) -> FloatArray:
    """Expected contribution of one presentation of each query, float64 [..., queries].

    E[Delta_hat | x] = sum_d rank(d | S) (u_d pi_d + v_d). With u = 1 / q for the true propensities
    q, v = 0 and no noise, it is Delta of equation (2): the unbiasedness that Section 4 proves.
    Raises InputError if a document with pi > 0 has q = 0 or no finite u, a pi lies outside [0, 1],
    the shapes of arrays do not match, or a value is not finite; so do the other functions here.
    """
    expected = expected_contribution(click_probability, numbers)
    contribution = metric.gain(checked_places(ranks, expected.size)) * expected
    sums: FloatArray = query_sums(contribution, query_offsets)
    return sums


def variance_of_delta(
    click_probability: ArrayLike,
    numbers: Numbers,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    metric: RankMetric = RANK,
) -> FloatArray:
    """Variance of the contribution of one presentation of each query, float64 [..., queries].

    Var[Delta_hat | x] = sum_d rank(d | S)^2 u_d^2 pi_d (1 - pi_d), for any v; without noise and
    with the true propensities, it is sum_d rank^2 r (1 - p) / p. Raises InputError if pi > 0
    but q = 0.
    """
    spread = _spread(checked_probabilities(click_probability), numbers)
    squares = np.square(metric.gain(checked_places(ranks, spread.size)))
    sums: FloatArray = query_sums(squares * spread, query_offsets)
    return sums


def expected_risk(
    click_probability: ArrayLike,
    numbers: Numbers,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    *,
    metric: RankMetric = RANK,
) -> FloatArray:
    """Expected estimated risk E[R_hat(S)] = (1 / Q) sum_q E[Delta_hat | q], shape [...].

    Naive: u = 1; IPS: 1 / p; clipped: 1 / max(tau, p). With assumed propensities p' instead of the
    true p, the expected IPS estimate is (1 / Q) sum_q sum_d rank(d | S) (p_d / p'_d) (eps_plus r +
    eps_minus (1 - r)); for power laws, p / p' = rank(d | presented)^(eta' - eta). The paper studies
    this case by experiment in Section 7.5.
    """
    contribution = expected_contribution(click_probability, numbers)
    offsets = checked_offsets(query_offsets, contribution.size)
    places = checked_places(ranks, contribution.size)
    rows = places.reshape(-1, contribution.size)
    totals = np.zeros(rows.shape[0])
    for _, documents, rank in rank_blocks(rows, offsets):
        totals += contribution[documents] @ metric.gain(rank)
    means: FloatArray = totals.reshape(places.shape[:-1]) / (offsets.size - 1)
    return means


def expected_contribution(click_probability: ArrayLike, numbers: Numbers) -> FloatArray:
    """u pi + v of each document, float64 [documents]: what its rank is multiplied by on average.

    Raises InputError if pi > 0 but q = 0, or if a pi lies outside [0, 1].
    """
    given = row_numbers(numbers)
    of_clicks = _times_u(checked_probabilities(click_probability), given)
    if not given.counts_impressions:
        return of_clicks
    require_finite(given.v, "value of an impression")
    return of_clicks + given.v


def variance_of_risk(
    click_probability: ArrayLike,
    numbers: Numbers,
    ranks: ArrayLike,
    query_offsets: ArrayLike,
    query_draws: int,
    *,
    metric: RankMetric = RANK,
) -> FloatArray:
    """Variance of the estimated risk after N presentations, shape [...].

    Var[R_hat] = (1 / N) ((1 / Q) sum_q (E[Delta_hat | q]^2 + Var[Delta_hat | q]) - E[R_hat]^2):
    queries and clicks are both random. Raises InputError for fewer than one presentation.
    """
    if (whole_or_none(query_draws) or 0) < 1:
        raise InputError(
            f"The number of presentations must be 1 or more, not {in_brief(query_draws)}.",
            "no_draw",
        )
    mean = expected_delta(click_probability, numbers, ranks, query_offsets, metric=metric)
    spread = _spread(np.asarray(click_probability, dtype=np.float64), numbers)
    # Summed over all documents at once, the sums by query not being needed one by one.
    within = np.square(metric.gain(ranks)) @ spread / mean.shape[-1]
    total: FloatArray = (within + mean.var(axis=-1)) / query_draws
    return total


def _spread(pi: FloatArray, numbers: Numbers) -> FloatArray:
    """u^2 pi (1 - pi) of each document, 0 where pi is 0."""
    u = _times_u((pi > 0).astype(np.float64), numbers)
    return pi * (1.0 - pi) * u**2


class AffineLaw(NamedTuple):
    """How click noise changes the risk: E[R_IPS(S)] = slope R(S) + intercept, for every S."""

    slope: float
    intercept: float

    def expected(self, risk: ArrayLike) -> FloatArray:
        """Expected IPS estimate for a true risk, with the shape of ``risk``."""
        return self.slope * np.asarray(risk, dtype=np.float64) + self.intercept

    def invert(self, estimate: ArrayLike) -> FloatArray:
        """Risk without the bias from noise, from IPS estimates, with the shape of ``estimate``."""
        return (np.asarray(estimate, dtype=np.float64) - self.intercept) / self.slope


def affine_law(
    eps_plus: float, eps_minus: float, sizes: ArrayLike, *, metric: RankMetric = RANK
) -> AffineLaw:
    """Slope and intercept of the expected IPS risk under click noise (Section 5.2).

    E[R_IPS(S)] = (eps_plus - eps_minus) R(S) + eps_minus mean_q m_q (m_q + 1) / 2, because the
    ranks of all m documents always add up to m (m + 1) / 2. So the order is preserved. This
    requires the true propensities, positive for irrelevant documents as well, and constant noise.
    The gains of any metric also add up to a constant, sum_k<=m gain(k).

    sizes m [queries]. Raises InputError unless 1 >= eps_plus > eps_minus >= 0 and sizes are >= 1.

    >>> law = affine_law(eps_plus=1.0, eps_minus=0.5, sizes=[2, 2])
    >>> law.slope, law.intercept
    (0.5, 1.5)
    """
    check_noise(eps_plus, eps_minus)
    m = real_numbers(sizes, "Numbers of documents").astype(np.float64)
    if m.size == 0 or not (m.min() >= 1 and m.max() < np.inf):
        raise InputError(
            "There must be at least one query, and every query needs at least one document."
        )
    whole = m * (m + 1.0) / 2.0
    if metric is not RANK:
        whole = np.cumsum(metric.gain(np.arange(1, int(m.max()) + 1)))[m.astype(np.int64) - 1]
    return AffineLaw(eps_plus - eps_minus, eps_minus * float(whole.mean()))


def noise_share(eps_plus: float, eps_minus: float, irrelevant_to_relevant: float) -> float:
    """Expected share of clicks on irrelevant documents, eps_minus A / (eps_plus B + eps_minus A).

    ``irrelevant_to_relevant`` is A / B, the ratio of irrelevant to relevant documents expected to
    be examined; the two shares printed in Sections 7.1 and 7.4 both give 4.96. Raises InputError if
    a probability lies outside [0, 1], the ratio is negative or not finite, or no click can happen.
    """
    for name, value in (("eps_plus", eps_plus), ("eps_minus", eps_minus)):
        if not 0 <= number_or_nan(value) <= 1:
            raise InputError(f"{name} must lie in [0, 1], not {in_brief(value)}.")
    if not 0 <= number_or_nan(irrelevant_to_relevant) < np.inf:
        raise InputError(
            f"The ratio A / B must be 0 or more, not {in_brief(irrelevant_to_relevant)}."
        )
    noise = eps_minus * irrelevant_to_relevant
    if eps_plus + noise <= 0:
        raise InputError(
            "No document can be clicked, so there is no share of noise clicks.", "unclickable"
        )
    return noise / (eps_plus + noise)


class Judgement(NamedTuple):
    """One estimator's results for several rankers.

    estimates: their risks; differences: these minus the risk of one ranker, from the same clicks;
    expected: float64 [rankers], the exact expectation of the risks.
    """

    estimates: RiskEstimates
    differences: RiskEstimates
    expected: FloatArray


def judgements(
    log: ClickLog,
    ranks: ArrayLike,
    click_probability: ArrayLike,
    numbers: Sequence[tuple[Numbers, Numbers]],
    against: int,
) -> list[Judgement]:
    """`estimate_risks`, `estimate_differences` and `expected_risk` by each of several estimators.

    Ranks are read once; the results equal those of the three functions to the last digit.

    ranks [rankers, documents], click_probability pi [documents]; numbers: for each estimator,
    its u and v for the rows of the log, [rows], and for the documents as presented, [documents];
    against: the ranker with which the others are compared. Raises InputError as the three
    functions do.
    """
    places = places_of_rankers(ranks, log.n_documents)
    weighed = weigh(log, [of_rows for of_rows, _ in numbers])
    sums = WeighedSums(log, weighed, len(places))
    apart = SignedSums(log, weighed, len(places))
    contributions = [expected_contribution(click_probability, shown) for _, shown in numbers]
    expected = np.zeros((len(contributions), len(places)))
    for queries, documents, block in rank_blocks(places, log.query_offsets):
        for total, contribution in zip(expected, contributions, strict=True):
            total += contribution[documents] @ block
        apart.add(queries, documents, block, against)
        sums.add(queries, documents, block)  # squares the ranks
    expected /= log.query_offsets.size - 1
    return list(map(Judgement, sums.estimates(), apart.estimates(), expected))
