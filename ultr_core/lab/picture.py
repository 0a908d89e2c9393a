"""Empirical against true risk of every ranker in the family, from one simulated log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus.ranking import rank_many
from ultr_core.lab import assumed_curve
from ultr_core.lab.logs import simulate_training_log, user_model
from ultr_core.lab.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.propensity import ESTIMATORS, Belief
from ultr_core.risk import (
    Judgement,
    affine_law,
    estimate_values,
    judgements,
    order_agreement,
    true_risks,
)
from ultr_core.settings import Settings
from ultr_core.users import ClickLog
from ultr_core.words import counted, with_minus

FAMILY_STREAM = 1_608_04468
"""Entropy of the random directions; fixed, so that the family never moves."""

_BETWEEN = 16
_RANDOM = 30
_REVERSED = 12
_BOTH = (ESTIMATORS["naive"], ESTIMATORS["ips"])
_LITTLE = 1.5  # ranks by which a ranker may be worse than production to be a little worse


@dataclass(frozen=True, eq=False)
class RankerFamily:
    """Rankers that were trained on no click log, with the ranks they give and their true risks.

    Attributes:
        kinds: [rankers] "production", "skyline", "between", "random" or "reversed".
        labels: [rankers] a description of each.
        ranks: int32 [rankers, documents of the training queries]; mean ranks in case of ties.
        true_risk: float64 [rankers], R(S) on the training queries (equation 2), from all labels.
    """

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    ranks: NDArray[np.int32] | NDArray[np.float64]
    true_risk: NDArray[np.float64]


@one_blas_thread()
def ranker_family(world: World) -> RankerFamily:
    """Build a world's family of rankers: mixtures of production, skyline and random directions.

    The rankers are linear. "between" mixes the standardised scores of production and skyline,
    "random" turns the skyline towards a random direction, "reversed" turns random directions
    towards the negated skyline. None was trained on clicks, so the exact expectations of section 4
    apply to their risk estimates.
    """
    corpus = world.train.corpus
    production = _standardised(world.production.ranker.score(corpus))
    skyline = _standardised(world.skyline.score(corpus))
    rows: list[tuple[str, str, NDArray[np.float64]]] = [
        ("production", "Production ranker", production),
        ("skyline", "Full information (skyline)", skyline),
    ]
    for share in np.linspace(0.0, 1.0, _BETWEEN + 2)[1:-1]:
        mixture = (1 - share) * production + share * skyline
        rows.append(("between", f"{1 - share:.0%} production, {share:.0%} skyline", mixture))
    directions = _random_directions(world, _RANDOM + _REVERSED)
    for angle, noise in zip(np.linspace(0.1, 1.0, _RANDOM), directions, strict=False):
        mixture = (1 - angle) * skyline + angle * noise
        rows.append(("random", f"{1 - angle:.0%} skyline, {angle:.0%} random", mixture))
    for angle, noise in zip(np.linspace(0.2, 1.0, _REVERSED), directions[_RANDOM:], strict=True):
        mixture = (1 - angle) * noise - angle * skyline
        rows.append(("reversed", f"{angle:.0%} reversed skyline, {1 - angle:.0%} random", mixture))
    # The ranks of one document side by side: risks are products over all rankers at once.
    ranks: NDArray[Any] = np.asfortranarray(
        rank_many(np.stack([scores for _, _, scores in rows]), corpus.query_offsets)
    )
    ranks.flags.writeable = False
    risks = true_risks(ranks, world.train.relevance, corpus.query_offsets)
    risks.flags.writeable = False
    return RankerFamily(tuple(r[0] for r in rows), tuple(r[1] for r in rows), ranks, risks)


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(scores.std())
    centred: NDArray[np.float64] = scores - scores.mean()
    return centred / spread if spread > 0 else centred


def _random_directions(world: World, count: int) -> list[NDArray[np.float64]]:
    features = world.train.corpus.features
    rng = np.random.default_rng(FAMILY_STREAM)
    directions = rng.standard_normal((features.shape[1], count)).astype(np.float32)
    scores = np.asarray(features @ directions, dtype=np.float64)
    return [_standardised(column) for column in scores.T]


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EstimatedRisks:
    """One estimator's results for all rankers in the family.

    Attributes:
        value: float64 [rankers], the estimate from the log.
        low, high: float64 [rankers], its 95% interval; infinite if there is none, NaN if it was not
        asked for.
        expected: float64 [rankers], its exact expectation; NaN if it was not asked for.
        kendall: Kendall's tau between ``value`` and the true risk.
        kendall_expected: the same for ``expected``, which is what infinite data would give.
        effective_sample_size: (sum of weights)^2 / sum of squared weights, over clicks.
        largest_weight: largest weight of one click in the log.
        difference_low, difference_high: float64 [rankers], the 95% interval for the estimate minus
        that of the production ranker's risk from the same log.
        no_interval: why there are no intervals, "" if there are.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    expected: FloatArray
    kendall: float
    kendall_expected: float
    effective_sample_size: float
    largest_weight: float
    difference_low: FloatArray
    difference_high: FloatArray
    no_interval: str = ""


@dataclass(frozen=True, eq=False)
class RiskPicture:
    """Naive and propensity-weighted estimates with the true risk, and the affine law.

    With correct propensities the expected weighted risk is ``slope`` times the true risk plus
    ``intercept`` (section 5.2).
    """

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    true_risk: FloatArray
    naive: EstimatedRisks
    weighted: EstimatedRisks
    slope: float
    intercept: float
    clicks: int
    query_draws: int

    @property
    def production(self) -> int:
        """The index of the production ranker among the rankers."""
        return self.kinds.index("production")

    @property
    def weights_alike(self) -> bool:
        """Whether all clicks have equal weights; their number is then the effective sample size."""
        return math.isclose(self.weighted.effective_sample_size, self.clicks)

    def preferred(self, estimates: EstimatedRisks) -> tuple[str, bool]:
        """Whether an estimate puts "production" or "skyline" first, and whether that is correct."""
        kinds = ("production", "skyline")
        place = {kind: self.kinds.index(kind) for kind in kinds}
        first, second = sorted(kinds, key=lambda kind: float(estimates.value[place[kind]]))
        return first, bool(self.true_risk[place[first]] < self.true_risk[place[second]])

    @property
    def sentence(self) -> str:
        """What the picture shows, in words."""
        weighted, naive = (
            with_minus(f"{each.kendall:.2f}") for each in (self.weighted, self.naive)
        )
        return (
            f"Ordered by estimates from {counted(self.clicks, 'click')}, the {len(self.kinds)} "
            f"rankers have Kendall's τ = {weighted} when each click is weighted by 1/p, and "
            f"τ = {naive} when clicks are unweighted; 1 means the true order."
        )


def named_rankers(rankers: RankerFamily | RiskPicture) -> tuple[int, int, int]:
    """Skyline, the ranker halfway from production to it, and one a little worse than production."""
    between = [place for place, kind in enumerate(rankers.kinds) if kind == "between"]
    true = rankers.true_risk - rankers.true_risk[rankers.kinds.index("production")]
    little_worse = int(np.argmax(np.where(true < _LITTLE, true, -np.inf)))
    return rankers.kinds.index("skyline"), between[len(between) // 2], little_worse


@one_blas_thread()
def risk_picture(
    world: World,
    family: RankerFamily,
    settings: Settings,
    log: ClickLog | None = None,
) -> RiskPicture:
    """Estimate the risk of every ranker in the family from the first click log.

    Both estimators use the same clicks on the training queries; ``log`` is that of draw 0, if
    available.
    """
    log = log if log is not None else simulate_training_log(world, settings, 0)
    queries = world.train
    probability = user_model(settings).click_probability(queries.relevance, queries.presented_ranks)
    belief = Belief(assumed_curve(settings))
    numbers = [
        (estimator.weigh(log, belief), estimator.numbers(queries.presentation, belief))
        for estimator in _BOTH
    ]
    production = family.kinds.index("production")
    found = judgements(log, family.ranks, probability, numbers, production)
    return _picture(world, family, settings, log, [_estimates(family, each) for each in found])


@one_blas_thread()
def first_picture(
    world: World, family: RankerFamily, settings: Settings, log: ClickLog
) -> RiskPicture:
    """What `risk_picture` shows at first sight, in a third of its time.

    The estimates, and the intervals of `named_rankers` against production; other intervals and
    expectations are NaN.
    """
    belief = Belief(assumed_curve(settings))
    numbers = [estimator.weigh(log, belief) for estimator in _BOTH]
    named = [*named_rankers(family)]
    pairs = [(ranker, family.kinds.index("production")) for ranker in named]
    missing = np.full(len(family.kinds), np.nan)
    both = []
    for values, apart in estimate_values(log, family.ranks, numbers, pairs):
        low, high = missing.copy(), missing.copy()
        low[named], high[named] = apart.low, apart.high
        order = order_agreement(values, family.true_risk)
        both.append(
            EstimatedRisks(
                values, missing, missing, missing, order, math.nan, apart.effective_sample_size,
                apart.largest_weight, low, high, apart.no_interval,
            )
        )  # fmt: skip
    return _picture(world, family, settings, log, both)


def _picture(
    world: World,
    family: RankerFamily,
    settings: Settings,
    log: ClickLog,
    both: Sequence[EstimatedRisks],
) -> RiskPicture:
    naive, weighted = both
    law = affine_law(settings.eps_plus, settings.eps_minus, world.train.corpus.sizes)
    return RiskPicture(
        family.kinds,
        family.labels,
        family.true_risk,
        naive,
        weighted,
        law.slope,
        law.intercept,
        log.total_clicks,
        log.query_draws,
    )


def _estimates(family: RankerFamily, found: Judgement) -> EstimatedRisks:
    risks, apart = found.estimates, found.differences
    return EstimatedRisks(
        risks.value,
        risks.low,
        risks.high,
        found.expected,
        order_agreement(risks.value, family.true_risk),
        order_agreement(found.expected, family.true_risk),
        risks.effective_sample_size,
        risks.largest_weight,
        apart.low,
        apart.high,
        risks.no_interval,
    )
