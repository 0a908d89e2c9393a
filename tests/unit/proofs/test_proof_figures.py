"""The pictures of the proofs: valid, with the finding in words, every number finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.meaning import mentions
from ultr_core.figures import Figure, Theme
from ultr_core.figures.proofs import (
    TITLES,
    errors_fall,
    noisy_hinge_curve,
    race_figure,
    results_page,
    settling,
)
from ultr_core.proofs import DERIVATIONS, SmallWorld, Ways, default_world
from ultr_core.proofs.monte_carlo import (
    convergence,
    log_grid,
    race,
    running_mean,
    simulate,
    watch_user,
)
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.users import times

GAPS = tuple(Fraction(i, 10) for i in range(21))
WORLDS = (
    SmallWorld.from_query({}),
    SmallWorld.from_query({"broken": "zero-relevant"}),
    SmallWorld.from_query({"eps_minus": "0", "curve": "1"}),
    SmallWorld.from_query({"list": "AB", "new": "BA", "other": "AB", "relevant": "-"}),
)


def figures(world: SmallWorld, theme: Theme) -> Iterator[Figure]:
    looked, clicked = watch_user(world, 3, 0)
    yield results_page(world, theme=theme)
    yield results_page(world, looked=looked, clicked=clicked, reached=1, theme=theme)
    noisy, _ = simulate(world, 500, 0)
    for users in (1, 500):
        running = running_mean(noisy[:users], times(world.query.new, world.inverse))
        yield settling(*running, expected=8.0, claimed=7.0, theme=theme)
    yield race_figure(race(world, seed=0, users=(1, 10, 100), repetitions=50), theme=theme)
    yield noisy_hinge_curve(world, GAPS, theme=theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("world", WORLDS, ids=range(len(WORLDS)))
def test_figures_are_complete(world: SmallWorld, theme: Theme) -> None:
    for figure in figures(world, theme):
        assert figure.alt
        assert figure.alt[-1] in ".gABCDEF"
        numbers = figure.rows.select_dtypes("number")
        assert np.isfinite(numbers.to_numpy()[~pd.isna(numbers.to_numpy())]).all()
        for layer in figure.standalone_spec()["layer"]:
            for channel in ("x", "y"):
                scale = layer.get("encoding", {}).get(channel, {}).get("scale") or {}
                low, high = scale.get("domain", (0, 1))[:2] if "domain" in scale else (0, 1)
                assert low < high, figure.name


def test_the_error_picture_tells_its_slope() -> None:
    figure = errors_fall(convergence(default_world(), seed=1, users=log_grid(10, 1000, 5)))
    assert mentions(figure.alt, "−0.5")
    assert len(figure.rows) == 5


def test_the_results_page_is_in_the_presented_order() -> None:
    world = SmallWorld.from_query({"list": "FEDCBA"})
    rows = results_page(world).rows
    assert [name.split()[1] for name in rows["name"]] == list("FEDCBA")
    assert rows["relevant"].tolist() == ["★", "★", "", "", "★", ""]
    assert len(TITLES) == len(LETTERS)


def test_one_user_is_shown_as_far_as_reached() -> None:
    world = default_world()
    looked, clicked = np.array([True] * 6), np.array([False, True, False, False, False, True])
    rows = results_page(world, looked=looked, clicked=clicked, reached=3).rows
    assert rows["event"].tolist() == ["seen", "clicked", "seen", "waiting", "waiting", "waiting"]


def test_noise_bends_the_hinge_loss_only_beyond_a_gap_of_one() -> None:
    rows = noisy_hinge_curve(default_world(), GAPS).rows
    small = rows["gap"] <= 0.2  # five neighbours apart: a gap of 1
    assert np.allclose(rows["noisy"][small], rows["constant"][small])
    assert (rows["noisy"][~small] > rows["constant"][~small]).all()


@pytest.mark.parametrize("gap", [Fraction(1, 10), Fraction(3, 10), Fraction(2)])
def test_the_hinge_picture_shows_the_lines_of_the_derivation(gap: Fraction) -> None:
    world = replace(default_world(), gap=gap)
    derive = DERIVATIONS["noisy-hinge"].derive
    rows = noisy_hinge_curve(world, GAPS).rows
    shown = rows.loc[rows["gap"] == float(gap), "noisy"].item()
    assert shown == pytest.approx(float(derive(Ways(world)).lines[0].value.closed))


def test_with_one_relevant_document_noise_halves_the_best_gap() -> None:
    """E alone, at the top of S_1: clean 1 - g falls to g = 1; noise outweighs it from 1/2 on."""
    world = SmallWorld.from_query({"relevant": "E"})
    assert mentions(noisy_hinge_curve(world, GAPS).alt, 1, "0.5")
    silent = noisy_hinge_curve(replace(world, eps_minus=Fraction(0)), GAPS).alt
    assert mentions(silent, 1)
    assert not mentions(silent, "0.5")
