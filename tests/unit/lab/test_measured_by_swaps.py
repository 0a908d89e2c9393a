"""Rankers that believe what swaps measure: ratios, which trust makes wrong, and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import CorpusSplits, synthetic_splits
from ultr_core.jobs.compare import METHODS
from ultr_core.lab import Lab
from ultr_core.lab import lab as lab_module
from ultr_core.lab.logs import click_model
from ultr_core.lab.measured import PRESENTATIONS, line_belief, ratio_belief, swaps_of
from ultr_core.lab.training import train_method
from ultr_core.propensity import TrustLines, estimate_swaps, swap_limit, trust_lines
from ultr_core.settings import Settings

STEEP = Settings(clicks=4_000, draws=2, users="trust-steep")


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return synthetic_splits(
        3, train_queries=150, validation_queries=40, test_queries=60, features=8,
        mean_candidates=10.0, relevant_share=0.2,
    )  # fmt: skip


def test_ratios_are_those_of_the_landmark_documents_and_lines_those_of_the_users(
    splits: CorpusSplits,
) -> None:
    """Within four standard errors: of some 80 numbers at most 0.005 are further off by chance."""
    world, users = Lab(STEEP, splits).world(), click_model(STEEP)
    counts = swaps_of(world, STEEP, 0)
    limit = swap_limit(users, *world.train.shown)
    for point in estimate_swaps(counts).points:
        if point.value is not None and point.standard_error:
            off = np.log(point.value / limit[point.rank - 1])
            assert abs(off) < 4 * point.standard_error
    lines = trust_lines(counts)
    alpha, beta = users.affine(np.arange(1, lines.slope.size + 1))
    slope, known = alpha / alpha[0], lines.known
    assert np.count_nonzero(known) >= 5 and lines.finding.outcome == "does not hold"
    for found, error, true in (
        (lines.slope, lines.slope_error, slope),
        (lines.intercept, lines.intercept_error, beta - slope * beta[0]),
    ):
        assert (np.abs(found - true) < 4 * error)[known].all()
    believed = line_belief(counts)
    assert isinstance(believed.users, TrustLines)
    assert np.array_equal(believed.users.slope, lines.slope, equal_nan=True)
    # Ratios depend on relevance, examination does not: what is irrelevant is clicked less below.
    ratio = ratio_belief(counts).curve.at([2, 5])
    assert (ratio < users.curve.at([2, 5])).all()


def test_a_draw_has_swaps_of_its_own_and_its_clicks_stay(splits: CorpusSplits) -> None:
    lab = Lab(STEEP, splits)
    world, log = lab.world(), lab.logs(0).train
    one, again, other = (swaps_of(world, STEEP, draw) for draw in (0, 0, 1))
    assert np.array_equal(one.swapped.clicks, again.swapped.clicks)
    assert not np.array_equal(one.swapped.clicks, other.swapped.clicks)
    found = lab.comparison(methods=("propensity", "swap-ratio", "affine", "affine-swaps"))
    told = found.as_dict()["rankers"]
    assert [told[key]["estimator"] for key in ("swap-ratio", "affine-swaps")] == ["ips", "affine"]
    assert len({told[key]["risk"]["value"] for key in told if told[key]["estimator"]}) == 4
    assert np.array_equal(lab.logs(0).train.clicks, log.clicks)
    assert [told[key]["swap_presentations"] for key in ("propensity", "swap-ratio")] == [
        0, PRESENTATIONS,
    ]  # fmt: skip
    # What the settings assume of the curve does not matter to those who measure.
    elsewhere = lab.at(STEEP.with_values(assumed_eta=0.5))
    for method in ("swap-ratio", "affine-swaps"):
        assert elsewhere.trained(0, method) is lab.trained(0, method)
        assert lab.trained(0, f"{method}-logistic").test.risk > 0


def test_where_noise_is_constant_both_are_weighting_by_examination(splits: CorpusSplits) -> None:
    """Up to the noise of the swaps: 1 million of them leave 3% of a ratio at rank 10."""
    settings = Settings(clicks=4_000, eta=1.0)
    world = Lab(settings, splits).world()
    counts = swaps_of(world, settings, 0)
    ratio, lines = ratio_belief(counts), line_belief(counts)
    ranks = np.arange(1, 7)
    assert ratio.curve.at(ranks) == pytest.approx(1 / ranks, rel=0.05)
    assert isinstance(lines.users, TrustLines) and lines.users.finding.outcome == "holds"


def test_users_who_leave_are_refused(splits: CorpusSplits) -> None:
    lab = Lab(Settings(clicks=500, users="leaving", continuation=0.5), splits)
    for method in ("swap-ratio", "affine-swaps"):
        with refused("users", "leaving"):
            lab.trained(0, method)


def test_swaps_are_simulated_once_for_a_draw_and_whatever_does_not_act_on_them(
    splits: CorpusSplits, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    monkeypatch.setattr(
        lab_module, "swaps_of", lambda *given: made.append(given[-1]) or swaps_of(*given)
    )
    lab = Lab(STEEP, splits)
    for here in (lab, lab.at(STEEP.with_values(clicks=2_000, assumed_eta=0.5))):
        for method in ("swap-ratio", "affine-swaps", "affine-swaps-logistic"):
            here.trained(0, method)
    assert made == [0]
    # The same numbers as without a lab.
    alone = train_method(lab.world(), STEEP, 0, "affine-swaps", lab.logs(0))
    assert np.array_equal(alone.coefficients, lab.trained(0, "affine-swaps").coefficients)
    lab.trained(1, "swap-ratio")
    lab.at(STEEP.with_values(users="trust-mild")).trained(0, "swap-ratio")
    assert made == [0, 1, 0]


@pytest.mark.parametrize("changes", [{"shown": 1}, {"users": "position", "curve": (1.0, 1e-6)}])
def test_swaps_that_measure_nothing_are_refused_for_readers_of_a_comparison(
    splits: CorpusSplits, changes: dict[str, Any]
) -> None:
    lab = Lab(STEEP.with_values(**changes), splits)
    for method in ("swap-ratio", "affine-swaps"):
        with refused("no_swaps", f"{PRESENTATIONS:,}", 21):
            lab.trained(0, method)


def test_the_help_of_compare_says_how_many_swaps_are_shown() -> None:
    assert mentions(METHODS.help, f"{PRESENTATIONS:,}")
