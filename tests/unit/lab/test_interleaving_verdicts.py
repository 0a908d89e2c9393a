"""Interleaving: the known biases exactly, and the simulator against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.lab.interleaving import (
    SCHEMES,
    Scheme,
    click_on,
    exact_verdicts,
    interleave,
    one_random_click,
)
from ultr_core.users import PositionModel, PowerLaw


def test_balanced_interleaving_prefers_b_although_the_click_is_random() -> None:
    verdict = exact_verdicts("abc", "bca", one_random_click)
    assert (verdict.a, verdict.b, verdict.tie) == (Fraction(1, 3), Fraction(2, 3), 0)


def test_team_draft_is_fair_there_but_blind_to_a_better_ranking() -> None:
    """Only c is wanted; B shows it higher. Balanced sees that, team draft cannot."""
    fair = exact_verdicts("abc", "bca", one_random_click, "team-draft")
    assert fair.a == fair.b == Fraction(1, 2)
    assert exact_verdicts("abc", "bca", click_on("c")).b == 1
    blind = exact_verdicts("abc", "bca", click_on("c"), "team-draft")
    assert blind.a == blind.b == Fraction(1, 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_equal_rankings_are_never_told_apart(scheme: Scheme) -> None:
    verdict = exact_verdicts("abc", "abc", one_random_click, scheme)
    assert verdict.a == verdict.b


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(4))
def test_the_simulator_has_the_enumerated_probabilities(scheme: Scheme, seed: int) -> None:
    """40,000 queries; 4 standard errors each for two probabilities of eight cases: 1 in 1,000."""
    rng = np.random.default_rng(seed)
    size = 3 + seed % 3
    users = PositionModel(PowerLaw(1), 0.9, 0.2)
    relevance = rng.random(size)
    orders = rng.permutation(size), rng.permutation(size)
    ranks = [np.argsort(order) + 1 for order in orders]

    def clicks(shown: tuple) -> list[tuple[frozenset, Fraction]]:
        chance = users.click_probability(relevance[list(shown)], np.arange(1, size + 1))
        patterns = []
        for bits in product((0, 1), repeat=size):
            probability = math.prod(
                float(p) if bit else 1 - float(p) for p, bit in zip(chance, bits, strict=True)
            )
            clicked = frozenset(d for d, bit in zip(shown, bits, strict=True) if bit)
            patterns.append((clicked, Fraction(probability)))
        return patterns

    exact = exact_verdicts(orders[0].tolist(), orders[1].tolist(), clicks, scheme)
    queries = 40_000
    found = interleave(
        users, relevance, *ranks, np.array([0, size]), queries=queries, scheme=scheme, seed=seed
    )
    for share, probability in ((found.wins, exact.a), (found.losses, exact.b)):
        p = float(probability)
        assert share / queries == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / queries))
    assert found.wins + found.losses + found.ties == np.count_nonzero(found.clicked)


def test_a_better_ranking_wins_and_the_same_seed_says_so_again() -> None:
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 1_001, 10)
    relevance = rng.random(1_000) < 0.2
    users = PositionModel(PowerLaw(1), 1.0, 0.05)
    good = np.concatenate(
        [
            np.argsort(np.argsort(-r, kind="stable")) + 1
            for r in relevance.reshape(100, 10).astype(int)
        ]
    )
    bad = 11 - good
    for scheme in SCHEMES:
        first, again = (
            interleave(users, relevance, good, bad, offsets, queries=2_000, scheme=scheme, seed=3)
            for _ in range(2)
        )
        assert first.wins > 3 * first.losses
        assert np.array_equal(first.verdict, again.verdict)


def test_faults_are_named() -> None:
    users = PositionModel(PowerLaw(1))
    one = (np.ones(1), np.ones(1), np.ones(1), np.array([0, 1]))
    with refused("scheme", "balanced", "team-draft"):
        interleave(users, *one, queries=1, scheme="multi", seed=0)  # type: ignore[arg-type]
    with refused("whole_number", 1, 0, "100,000,000"):
        interleave(users, *one, queries=0, seed=0)
    with refused("same_documents"):
        exact_verdicts("abc", "abd", one_random_click)
    with refused("scheme", "balanced", "team-draft"):
        exact_verdicts("abc", "abc", one_random_click, "multi")  # type: ignore[arg-type]
