"""Each switch makes exactly the predicted lines fail, by exactly the predicted amounts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultr_core.proofs import BREAKS, DERIVATIONS, SmallWorld, Walk, Ways, default_world
from ultr_core.proofs.predictions import failures_foretold, predicted_failures

Worlds = Callable[..., st.SearchStrategy[SmallWorld]]


def walk(name: str, world: SmallWorld) -> Walk:
    return DERIVATIONS[name].derive(Ways(world))


def failures(found: Walk) -> dict[int, Fraction]:
    return {number: found.lines[number - 1].error for number in found.failing}


@pytest.mark.parametrize("broken", sorted(BREAKS))
def test_the_predicted_lines_fail_by_the_predicted_amount_and_no_others(
    broken: str, small_worlds: Worlds
) -> None:
    @given(st.data())
    @settings(max_examples=15, deadline=None)
    def check(data: st.DataObject) -> None:
        world = data.draw(small_worlds())
        for name in DERIVATIONS:
            found = walk(name, world.breaking(broken))
            assert failures(found) == predicted_failures(world, broken, name), name
            assert all(line.agrees for line in found.lines), name

    check()


@pytest.mark.parametrize("broken", sorted(BREAKS))
def test_a_proof_names_the_switches_that_make_it_fail(broken: str) -> None:
    """Over the default query with and without noise, with five rankings."""
    failing = set()
    for eps_minus in ("0", "1/10"):
        for new in ("EFACBD", "ABCDEF", "FEDCBA", "BACDEF", "CDABFE"):
            world = SmallWorld.from_query({"new": new, "eps_minus": eps_minus})
            failing |= {
                name for name in DERIVATIONS if not walk(name, world.breaking(broken)).holds
            }
    assert failing == {name for name, proof in DERIVATIONS.items() if broken in proof.breaks}


def test_a_relevant_document_that_is_never_seen_is_missing() -> None:
    """F is relevant, shown last, and at rank 2 of the new ranking: the loss is too small by 2."""
    found = walk("ips-unbiased", default_world().breaking("zero-relevant"))
    assert failures(found) == {4: Fraction(2)}
    assert found.lines[0].value.enumerated == 8 - 2
    assert "Q(d) > 0" in found.lines[3].assumes


def test_an_irrelevant_document_that_is_never_seen_matters_only_with_noise() -> None:
    """D is irrelevant, shown fourth, ranked 6th by S_1 and 4th by S_2: the order moves by 2 ε₋."""
    world = default_world().breaking("zero-irrelevant")
    assert walk("ips-unbiased", world).holds
    silent = replace(world, eps_minus=Fraction(0))
    for name in DERIVATIONS:
        assert walk(name, silent).holds, name
    assert failures(walk("noise-keeps-order", world)) == {3: 2 * world.eps_minus}
    assert failures(walk("affine-law", world)) == {2: 6 * world.eps_minus}


def test_a_scaled_curve_changes_no_number_at_all() -> None:
    world = default_world()
    for name in DERIVATIONS:
        assert walk(name, world) == walk(name, world.breaking("scaled-curve"))


def test_a_cut_list_loses_what_is_below_it() -> None:
    """E and F are relevant and below rank 3; S_1 has them at ranks 1 and 2."""
    assert failures(walk("ips-unbiased", default_world().breaking("cut"))) == {4: Fraction(3)}


def test_trust_bias_leaves_section_4_alone_and_breaks_the_noise_line() -> None:
    world = default_world().breaking("trust")
    assert walk("ips-unbiased", world).holds
    assert set(failures(walk("noise-keeps-order", world))) == {4}
    assert walk("affine-correction", world).holds


def test_stopping_breaks_independence_too() -> None:
    assert set(failures(walk("variance", default_world().breaking("cascade")))) == {2, 3}


def test_tied_scores_break_the_count_but_not_the_bound() -> None:
    found = walk("hinge-chain", default_world().breaking("tied-scores"))
    assert found.failing == (2,)
    assert found.lines[0].value.closed <= found.lines[2].value.closed


def test_several_switches_at_once_are_possible() -> None:
    world = default_world().breaking(*BREAKS)
    for name in DERIVATIONS:
        found = walk(name, world)
        assert all(line.agrees for line in found.lines)


def test_failures_are_foretold_for_one_broken_assumption_beside_the_right_curve() -> None:
    world = default_world()
    assert failures_foretold(world, "ips-unbiased") is None
    assert failures_foretold(world.breaking("trust", "cascade"), "ips-unbiased") is None
    found = failures_foretold(world.breaking("trust"), "affine-law")
    assert found == predicted_failures(world, "trust", "affine-law")
    assert found
