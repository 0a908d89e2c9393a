"""Small queries and worlds: what is accepted, normalised, refused, and kept in a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning import mentions
from ultr_core.errors import InputError
from ultr_core.lab import small_world
from ultr_core.proofs import BREAKS, SmallWorld, default_world
from ultr_core.proofs.small_query import letters_from_ranking, ranking_from_letters
from ultr_core.proofs.small_world import power_law_fractions
from ultr_core.settings import Settings

Worlds = Callable[..., st.SearchStrategy[SmallWorld]]


@given(st.data(), st.sets(st.sampled_from(sorted(BREAKS))))
@settings(max_examples=60, deadline=None)
def test_a_link_restores_the_world(
    small_worlds: Worlds, data: st.DataObject, broken: set[str]
) -> None:
    world = data.draw(small_worlds(largest=12, right=False)).breaking(*sorted(broken))
    assert SmallWorld.from_query(dict(parse_qsl(world.to_query()))) == world


def test_the_default_world_needs_no_link() -> None:
    world = default_world()
    assert world.to_query() == ""
    assert SmallWorld.from_query({"eta": "2", "page": "x"}) == world


@given(st.data(), st.fractions(min_value=Fraction(1, 9), max_value=9))
@settings(max_examples=60, deadline=None)
def test_a_constant_factor_of_a_curve_changes_nothing(
    small_worlds: Worlds, data: st.DataObject, factor: Fraction
) -> None:
    world = data.draw(small_worlds(right=False))
    scaled = replace(
        world,
        examination=tuple(factor * p for p in world.examination),
        assumed=tuple(factor * q for q in world.assumed),
    )
    assert scaled == world


@given(st.permutations("ABCDEFGH"))
@settings(max_examples=30)
def test_letters_and_ranks_are_inverse(letters: list[str]) -> None:
    ranks = ranking_from_letters(" ".join(letters), "new")
    assert letters_from_ranking(ranks) == "".join(letters)
    assert sorted(ranks) == list(range(1, 9))


def test_curves_are_exact_for_whole_exponents_and_short_otherwise() -> None:
    assert power_law_fractions(1.0, 4) == (1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 4))
    assert power_law_fractions(0.5, 2)[1] == Fraction(707, 1000)
    assert all(power_law_fractions(1.95, 16))


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"list": "ABCDEE"}, ("letters", "A", "F")),
        ({"list": "A"}, (2, 16)),
        ({"new": "ABC"}, ("ranking", "“ABC”")),
        ({"relevant": "BZ"}, ("Z",)),
        ({"curve": "1 -2"}, (-2, "rank 2")),
        ({"curve": "0 1"}, (0, "rank 1")),
        ({"curve": "1 x"}, ("“x”",)),
        ({"curve": "1 1/0"}, ("“1/0”",)),
        ({"curve": ""}, ("0 numbers",)),
        ({"assumed": "1 1/2 0"}, (0, "rank 3")),
        ({"eps_minus": "1"}, ("1 ≥ ε₊ > ε₋ ≥ 0",)),
        ({"eps_plus": "1e9"}, ("“1e9”",)),
        ({"eps_plus": "nan"}, ("“nan”",)),
        ({"clip": "2"}, (0, 1)),
        ({"gap": "-1"}, (0, -1)),
        ({"broken": "gravity"}, ("'gravity'",)),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(
    query: dict[str, str], named: tuple[object, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        SmallWorld.from_query(query)
    assert mentions(caught.value, *named)
    assert str(caught.value).endswith(".")


def test_settings_give_curves_and_noise_that_a_link_does_not() -> None:
    settings = Settings(eta=2.0, assumed_eta=1.0, eps_minus=0.25, eps_plus=0.5)
    world = small_world(settings, {"list": "ABC", "new": "CBA", "other": "ABC",
                                        "relevant": "C", "curve": " "})  # fmt: skip
    assert world.examination == (1, Fraction(1, 4), Fraction(1, 9))
    assert world.assumed == (1, Fraction(1, 2), Fraction(1, 3))
    assert (world.eps_plus, world.eps_minus) == (Fraction(1, 2), Fraction(1, 4))


def test_given_curves_come_as_short_fractions_and_their_last_value_is_carried_on() -> None:
    settings = Settings(curve=(0.5, 0.7, 0.2), assumed_curve=(1.0, 1 / 3, 0.00123))
    world = small_world(settings, {"list": "ABCD", "new": "DCBA", "other": "ABCD",
                                        "relevant": "C"})  # fmt: skip
    sevenths = (Fraction(5, 7), Fraction(1), Fraction(2, 7), Fraction(2, 7))
    assert world.examination == sevenths
    assert world.assumed == (1, Fraction(1, 3), Fraction(123, 100_000), Fraction(123, 100_000))
    assert small_world(settings, {"curve": "1 1/2"}).examination[1] == Fraction(1, 2)
    own = small_world(settings, {"curve": "1 1/2"})
    assert own.examination == own.assumed == (1, *[Fraction(1, 2)] * 5)
    assert small_world(Settings(), {}) == default_world()
