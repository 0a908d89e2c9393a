"""Every derivation on random worlds: each step and each enumeration exact, in rationals.

200 worlds for the six quantities that the numbers of the lab rest on, fewer for the rest: terms
that differ are equal in few worlds, so that a wrong one would be seen in nearly each.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultr_core.proofs import DERIVATIONS, SmallWorld, Walk, Ways
from ultr_core.proofs.derivations.section_6 import hinge_losses, pair_penalty

Worlds = Callable[..., st.SearchStrategy[SmallWorld]]

QUANTITIES = ("ips-unbiased", "affine-law", "clipped-moments", "naive-expectation", "variance")


def walk(name: str, world: SmallWorld) -> Walk:
    return DERIVATIONS[name].derive(Ways(world))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_enumeration_equals_closed_form(small_worlds: Worlds, data: st.DataObject) -> None:
    world = data.draw(small_worlds(largest=4))
    for name in QUANTITIES:
        found = walk(name, world)
        assert found.holds, name
        assert any(line.value.enumerated is not None for line in found.lines)
        if name == "ips-unbiased":
            assert found.lines[0].value.enumerated == world.query.loss(world.query.new)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_enumeration_equals_closed_form_with_any_curve(
    small_worlds: Worlds, data: st.DataObject
) -> None:
    world = data.draw(small_worlds(largest=4, right=False))
    found = walk("misspecified-expectation", world)
    assert found.holds
    expected = sum(
        rank * world.examination[place - 1] / world.assumed[place - 1]
        * (world.eps_plus if relevant else world.eps_minus)
        for rank, place, relevant in zip(
            world.query.new, world.query.presented, world.query.relevance, strict=True
        )
    )  # fmt: skip
    assert found.lines[0].value.enumerated == expected


@pytest.mark.parametrize("name", ["naive-expectation", "hinge-chain", "one-slack", "swap-ratio"])
def test_some_derivations_hold_with_any_curve(name: str, small_worlds: Worlds) -> None:
    @given(st.data())
    @settings(max_examples=40, deadline=None)
    def check(data: st.DataObject) -> None:
        assert walk(name, data.draw(small_worlds(right=False))).holds

    check()


@pytest.mark.parametrize("name", sorted(set(DERIVATIONS) - set(QUANTITIES)))
def test_every_other_derivation_holds_in_intact_worlds(name: str, small_worlds: Worlds) -> None:
    @given(st.data())
    @settings(max_examples=40, deadline=None)
    def check(data: st.DataObject) -> None:
        world = data.draw(small_worlds())
        assert walk(name, world).holds

    check()


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_every_line_agrees_with_its_enumeration_whatever_is_broken(
    small_worlds: Worlds, data: st.DataObject
) -> None:
    world = data.draw(small_worlds(right=False))
    for broken in (("cascade", "trust"), ("attraction", "cut"), ("zero-relevant", "wrong-curve")):
        for name in DERIVATIONS:
            assert all(line.agrees for line in walk(name, world.breaking(*broken)).lines), name


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_the_sum_of_hinge_losses_is_the_pair_penalty(
    small_worlds: Worlds, data: st.DataObject
) -> None:
    world = data.draw(small_worlds())
    values = [p * rank for p, rank in zip(world.examination, world.query.new, strict=True)]
    assert sum(hinge_losses(values), Fraction(0)) == pair_penalty(values)
    assert pair_penalty([v / 100 for v in values]) == len(values) * (len(values) - 1)


def test_the_starred_line_drops_a_sum_that_is_zero() -> None:
    world = SmallWorld.from_query({})
    starred = [line for line in walk("noise-keeps-order", world).lines if line.starred]
    assert len(starred) == 1
    assert starred[0].aside.endswith("= 0")
    assert len(walk("noise-keeps-order", world).lines) == 8
    assert len(walk("ips-unbiased", world).lines) == 5


def test_the_default_query_fools_the_naive_estimate() -> None:
    query = SmallWorld.from_query({}).query
    assert query.loss(query.new) < query.loss(query.other)
    lines = walk("overtaking", SmallWorld.from_query({})).lines
    assert lines[0].value.closed < 0 < lines[2].value.closed + lines[1].value.closed
