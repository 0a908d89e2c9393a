"""Statements around the derivations: what is equivalent, what contributes, what carries over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ultr_core.proofs import SmallWorld, default_world
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.monte_carlo import simulate, watch_user
from ultr_core.proofs.users import dot, times

Worlds = Callable[..., st.SearchStrategy[SmallWorld]]


def law_of(world: SmallWorld) -> dict[frozenset[int], Fraction]:
    law = click_law(world.users)
    found = {frozenset(law.clicked(i)): law.probability(i) for i in range(len(law.patterns))}
    return {pattern: p for pattern, p in found.items() if p}


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_noise_is_the_same_as_clean_clicks_on_a_corrupted_relevance(
    small_worlds: Worlds, data: st.DataObject
) -> None:
    world = data.draw(small_worlds(largest=4))
    mixed: dict[frozenset[int], Fraction] = {}
    for corrupted in product((0, 1), repeat=world.query.size):
        probability = Fraction(1)
        for bit, noise in zip(corrupted, world.constant_noise, strict=True):
            probability *= noise if bit else 1 - noise
        clean = replace(world, query=replace(world.query, relevance=corrupted)).clean
        for pattern, p in law_of(clean).items():
            mixed[pattern] = mixed.get(pattern, Fraction(0)) + probability * p
    assert {pattern: p for pattern, p in mixed.items() if p} == law_of(world)


@given(st.data(), st.lists(st.integers(-9, 9), min_size=5, max_size=5))
@settings(max_examples=60, deadline=None)
def test_the_affine_law_holds_for_any_additive_metric(
    small_worlds: Worlds, data: st.DataObject, gain: list[int]
) -> None:
    """sum of λ(rank) r: the sum of λ over all ranks is the same for every ranker, too."""
    world = data.draw(small_worlds())
    values = [Fraction(gain[rank - 1]) for rank in world.query.new]
    mean = click_law(world.users).mean(times(values, world.inverse))
    slope = world.eps_plus - world.eps_minus
    everything = sum(gain[: world.query.size])
    assert mean == slope * dot(values, world.query.relevance) + world.eps_minus * everything


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_only_propensities_of_clicked_documents_matter(
    small_worlds: Worlds, data: st.DataObject
) -> None:
    world = data.draw(small_worlds()).clean
    values = [Fraction(rank) for rank in world.query.new]
    changed = [w if r else 7 * w for w, r in zip(world.inverse, world.query.relevance, strict=True)]
    law = click_law(world.users)
    assert law.totals(times(values, changed))[0] == law.totals(times(values, world.inverse))[0]


def test_without_noise_a_click_means_looked_at_and_relevant() -> None:
    world = default_world().clean
    relevant = np.array(world.query.relevance, dtype=bool)
    for number in range(1, 301):
        looked, clicked = watch_user(world, number, 1)
        assert np.array_equal(clicked, looked & relevant)


def test_no_click_does_not_mean_irrelevant() -> None:
    """Of 2,000 users' unclicked documents, a good part is relevant: seen by nobody."""
    _, clean = simulate(default_world(), 2_000, 0)
    relevant = np.array(default_world().query.relevance, dtype=bool)
    unclicked = ~clean
    assert 0.3 < (unclicked & relevant).sum() / unclicked.sum() < 0.5
