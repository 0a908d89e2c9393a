"""The enumeration against a slower one written another way, and against closed forms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import refused
from ultr_core.proofs import SmallWorld, Ways, default_world
from ultr_core.proofs.derivations.section_4 import ips_unbiased
from ultr_core.proofs.enumeration import MOST_PATTERNS, click_law
from ultr_core.proofs.users import Users

Worlds = Callable[..., st.SearchStrategy[SmallWorld]]

numbers = st.fractions(min_value=-9, max_value=9, max_denominator=9)


def stories(users: Users) -> Iterator[tuple[frozenset[int], Fraction]]:
    """All that can happen, examination and click told apart, one document after the other."""
    for events in product(("unseen", "skipped", "clicked"), repeat=len(users.shown)):
        probability, clicked, gone = Fraction(1), set(), False
        for document, event in zip(users.shown, events, strict=True):
            look = Fraction(0) if gone else users.look[document]
            probability *= {
                "unseen": 1 - look,
                "skipped": look * (1 - users.click[document]),
                "clicked": look * users.click[document],
            }[event]
            if event == "clicked":
                clicked.add(document)
                gone = users.stops
        yield frozenset(clicked), probability


@given(st.data(), st.booleans(), st.lists(numbers, min_size=4, max_size=4))
@settings(max_examples=80, deadline=None)
def test_patterns_mean_and_variance_equal_a_plain_enumeration(
    small_worlds: Worlds, data: st.DataObject, stops: bool, values: list[Fraction]
) -> None:
    world = data.draw(small_worlds(largest=4))
    users = world.breaking("cascade").users if stops else world.users
    plain: dict[frozenset[int], Fraction] = {}
    for clicked, probability in stories(users):
        plain[clicked] = plain.get(clicked, Fraction(0)) + probability
    law = click_law(users)
    found = {frozenset(law.clicked(i)): law.probability(i) for i in range(len(law.patterns))}
    assert {k: p for k, p in found.items() if p} == {k: p for k, p in plain.items() if p}
    values = values[: world.query.size]
    mean = sum((p * sum(values[d] for d in c) for c, p in plain.items()), Fraction(0))
    second = sum((p * sum(values[d] for d in c) ** 2 for c, p in plain.items()), Fraction(0))
    assert law.mean(values) == users.mean(values) == mean
    assert law.variance(values) == users.variance(values) == second - mean**2
    for document in range(world.query.size):
        assert law.marginal(document) == users.clicked[document]


def test_without_noise_only_relevant_documents_make_patterns(twelve: SmallWorld) -> None:
    assert len(click_law(twelve.clean.users).patterns) == 2**5
    assert len(click_law(twelve.users).patterns) == 2**12
    assert len(click_law(twelve.breaking("cascade").users).patterns) == 13


@pytest.mark.parametrize("relevant", ["BDEHL", "ABCDEFGHIJKL"])
def test_twelve_candidates_are_enumerated_in_half_a_second(relevant: str) -> None:
    twelve = {"list": "ABCDEFGHIJKL", "new": "LKJIHGFEDCBA", "other": "ABCDEFGHIJKL"}
    world = SmallWorld.from_query({**twelve, "relevant": relevant, "eps_minus": "0"})
    start = time.perf_counter()
    walk = ips_unbiased.derive(Ways(world))
    assert time.perf_counter() - start < 0.5
    assert walk.holds
    assert walk.lines[0].value.enumerated == world.query.loss(world.query.new)


def test_more_patterns_than_can_be_enumerated_are_said_and_still_computed() -> None:
    letters = "ABCDEFGHIJKLMNOP"
    world = SmallWorld.from_query({"list": letters, "new": letters[::-1], "other": letters})
    with refused("", 16, "4,096"):
        click_law(world.users)
    start = time.perf_counter()
    walk = ips_unbiased.derive(Ways(world))
    assert time.perf_counter() - start < 0.5
    assert f"{MOST_PATTERNS:,}" in walk.notes[0]
    assert walk.lines[0].value.enumerated is not None  # three relevant documents: 8 patterns


def test_the_loss_of_a_pattern_adds_up_what_was_clicked() -> None:
    law = click_law(default_world().users)
    values = [Fraction(10**d) for d in range(default_world().query.size)]
    for index in range(len(law.patterns)):
        assert law.total(index, values) == sum(10**d for d in law.clicked(index))
    assert law.mean(values) == sum(
        law.probability(i) * law.total(i, values) for i in range(len(law.patterns))
    )
