"""Numbers that were worked out independently of this code, reproduced.

The rankers are 200 random rankings of twelve candidates, as in the worked examples. Where those
do not say which documents were relevant, several choices are drawn and their mean is compared.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ultr_core.proofs import DERIVATIONS, SmallQuery, SmallWorld, Ways, default_world
from ultr_core.proofs.small_world import power_law_fractions
from ultr_core.proofs.users import Behaviour, dot, spread, times
from ultr_core.risk import kendall_tau

SIZE = 12
IN_ORDER = tuple(range(1, SIZE + 1))


def rankings(seed: int, count: int = 200) -> list[tuple[int, ...]]:
    rng = random.Random(seed)
    return [tuple(rng.sample(IN_ORDER, SIZE)) for _ in range(count)]


def twelve(
    relevant: list[int], noise: tuple[str, str] = ("1", "0"), assumed_eta: float = 1.0
) -> SmallWorld:
    return SmallWorld(
        SmallQuery(tuple(int(rank in relevant) for rank in IN_ORDER), IN_ORDER, IN_ORDER, IN_ORDER),
        power_law_fractions(1.0, SIZE),
        power_law_fractions(assumed_eta, SIZE),
        Fraction(noise[0]),
        Fraction(noise[1]),
    )


def expected(world: SmallWorld, seed: int = 0) -> tuple[list[Fraction], list[Fraction]]:
    """True loss and expected weighted loss of each ranking."""
    per_rank = times(world.users.clicked, world.inverse)
    found = rankings(seed)
    return [world.query.loss(y) for y in found], [dot(y, per_rank) for y in found]


def tau(world: SmallWorld, seed: int = 0) -> float:
    truth, estimate = expected(world, seed)
    return kendall_tau([float(t) for t in truth], [float(e) for e in estimate])


@pytest.mark.parametrize(
    ("noise", "slope", "intercept"),
    [
        (("1", "1/10"), "0.9", "7.8"),
        (("1", "3/10"), "0.7", "23.4"),
        (("8/10", "2/10"), "0.6", "15.6"),
    ],
)
def test_slope_and_intercept_of_the_affine_law(
    noise: tuple[str, str], slope: str, intercept: str
) -> None:
    truth, estimate = expected(twelve([2, 5, 9], noise))
    for loss, mean in zip(truth, estimate, strict=True):
        assert mean == Fraction(slope) * loss + Fraction(intercept)


@pytest.mark.parametrize(
    ("assumed_eta", "worked"), [(0.0, 0.59), (0.5, 0.77), (1.0, 1.0), (1.5, 0.81), (2.0, 0.69)]
)
def test_order_under_a_wrong_curve(assumed_eta: float, worked: float) -> None:
    """Mean over 20 choices of three relevant documents; one choice varies by about 0.1."""
    rng = random.Random(5)
    found = [
        tau(twelve(rng.sample(IN_ORDER, 3), assumed_eta=assumed_eta), seed) for seed in range(20)
    ]
    assert np.mean(found) == pytest.approx(worked, abs=0.12)
    if assumed_eta == 1.0:
        assert found == pytest.approx([1.0] * 20)


@pytest.mark.parametrize(
    ("relevant", "eps_minus", "low", "high"),
    [
        ([1, 3, 5], "0", 1.0 - 1e-12, 1.0 + 1e-12),
        ([1, 3, 5], "1/10", 0.92, 0.98),  # worked: 0.96
        ([1, 3, 5], "3/10", 0.75, 0.92),  # worked: 0.85
        ([1, 9, 11], "0", 0.25, 0.55),  # worked: 0.39
    ],
)
def test_order_when_only_the_top_five_are_seen(
    relevant: list[int], eps_minus: str, low: float, high: float
) -> None:
    world = twelve(relevant, ("1", eps_minus))
    seen = tuple(p if rank <= 5 else Fraction(0) for rank, p in zip(IN_ORDER, world.examination,
                                                                    strict=True))  # fmt: skip
    assert low <= tau(replace(world, examination=seen, assumed=seen)) <= high


def trusting(size: int) -> Behaviour:
    """The curves of public code for trust bias: θ, ε₊ and ε₋ by rank."""
    ranks = range(1, size + 1)
    return Behaviour(
        look=tuple(
            Fraction(35, 100) / k + Fraction(65, 100) / (1 + Fraction(5, 100) * (k - 1))
            for k in ranks
        ),
        eps_plus=tuple(1 / (1 + Fraction(5, 1000) * (k - 1)) for k in ranks),
        eps_minus=tuple(Fraction(65, 100) / k for k in ranks),
    )


def test_swaps_under_trust_bias_measure_something_else() -> None:
    """At rank 2 with relevance 0.3 the click rates stand as 0.55, the propensities as 0.79."""
    behaviour, relevance = trusting(2), Fraction(3, 10)
    rate = [
        sum(
            share * behaviour.users((relevant, 0), (rank, 3 - rank)).clicked[0]
            for relevant, share in ((1, relevance), (0, 1 - relevance))
        )
        for rank in (1, 2)
    ]
    assert float(rate[1] / rate[0]) == pytest.approx(0.55, abs=0.005)
    assert float(behaviour.look[1] / behaviour.look[0]) == pytest.approx(0.79, abs=0.005)


def test_affine_correction_is_exact_under_trust_bias_and_plain_ips_is_not() -> None:
    """Correction: error 0. Plain IPS with the true θ: Kendall's τ about 0.78."""
    behaviour = trusting(SIZE)
    found = []
    for seed in range(10):
        world = twelve(random.Random(seed).sample(IN_ORDER, 3))
        users = behaviour.users(world.query.relevance, IN_ORDER)
        beta = times(behaviour.look, behaviour.eps_minus)
        alpha = [
            p * high - b
            for p, high, b in zip(behaviour.look, behaviour.eps_plus, beta, strict=True)
        ]
        truth, plain = [], []
        for ranking in rankings(seed):
            corrected = sum(
                rank * (pi - b) / a
                for rank, pi, a, b in zip(ranking, users.clicked, alpha, beta, strict=True)
            )
            truth.append(world.query.loss(ranking))
            assert corrected == truth[-1]
            plain.append(dot(ranking, [c / p for c, p in zip(users.clicked, behaviour.look,
                                                             strict=True)]))  # fmt: skip
        found.append(kendall_tau([float(t) for t in truth], [float(p) for p in plain]))
    assert np.mean(found) == pytest.approx(0.78, abs=0.08)


def test_noise_free_variance_formula() -> None:
    """sum rank² r (1 - p)/p, and the general one, on a query small enough to do by hand.

    Relevant at presented ranks 2 and 3, new ranks 1 and 2: 1·1 + 4·2 = 9.
    """
    query = SmallQuery((0, 1, 1), (1, 2, 3), (3, 1, 2), (1, 2, 3))
    curve = power_law_fractions(1.0, 3)
    world = SmallWorld(query, curve, curve, Fraction(1), Fraction(0))
    weights = times(query.new, world.inverse)
    assert world.users.variance(weights) == 9
    assert spread(world.users.clicked, weights) == 9


def test_clipping_by_hand() -> None:
    """τ = 1/2: the document at rank 3, propensity 1/3, counts 2/3 of its rank 2: bias -2/3."""
    query = SmallQuery((0, 1, 1), (1, 2, 3), (3, 1, 2), (1, 2, 3))
    curve = power_law_fractions(1.0, 3)
    world = SmallWorld(query, curve, curve, Fraction(1), Fraction(0), clip=Fraction(1, 2))
    derive = DERIVATIONS["clipped-moments"].derive
    assert derive(Ways(world)).lines[2].value.enumerated == Fraction(-2, 3)
    assert derive(Ways(replace(world, clip=Fraction(0)))).lines[2].value.enumerated == 0


def test_naive_is_weighting_without_bias_and_clipping_at_one() -> None:
    flat = SmallWorld.from_query({"curve": "1"})
    assert flat.click_weights["propensity"] == flat.click_weights["naive"]
    full = replace(default_world(), clip=Fraction(1))
    assert full.click_weights["clipped"] == full.click_weights["naive"]
    none = replace(default_world(), clip=Fraction(0))
    assert none.click_weights["clipped"] == none.click_weights["propensity"]


def test_self_normalised_estimate_tends_to_risk_per_relevant_document() -> None:
    """Expectation of the numerator over that of the denominator, noise-free: R / (mean of r)."""
    world = default_world().clean
    numerator = world.users.mean(times(world.query.new, world.inverse))
    denominator = world.users.mean(world.inverse)
    assert numerator / denominator == world.query.loss(world.query.new) / sum(world.query.relevance)


def test_one_swap_costs_the_rank_distance_times_the_difference_of_relevance() -> None:
    query = default_world().query
    for k, r in ((1, 4), (1, 6), (2, 5)):
        first, second = query.shown[k - 1], query.shown[r - 1]
        swapped = list(query.presented)
        swapped[first], swapped[second] = r, k
        cost = query.loss(swapped) - query.loss(query.presented)
        assert cost == (r - k) * (query.relevance[first] - query.relevance[second])
