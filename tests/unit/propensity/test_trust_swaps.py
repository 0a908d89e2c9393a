"""Trust bias measured by swaps: the lines of click rates, their intervals, and the test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning import mentions
from ultr_core.propensity import (
    ESTIMATORS,
    Belief,
    SwapCounts,
    simulate_swaps,
    weights_of_log,
)
from ultr_core.propensity.points import Counts
from ultr_core.propensity.trust_swaps import TrustLines, trust_lines
from ultr_core.users import ClickLog, ClickModel, PositionModel, PowerLaw, TrustBiasModel

STEEP = TrustBiasModel.steep()
RANKS = np.arange(1, 5)


def expected(users: ClickModel, first: float = 0.8, second: float = 0.3) -> SwapCounts:
    """What very many swaps count of two groups of documents with these relevances."""
    shown = np.full(4, 10**12)

    def of(relevance: float, ranks: np.ndarray) -> Counts:
        rate = users.click_probability(np.full(4, relevance), ranks)
        return Counts(shown, np.rint(shown * rate).astype(np.int64))

    top = np.ones(4, int)
    return SwapCounts(
        1, of(first, RANKS), of(first, top), of(second, top), of(second, RANKS), 10**12
    )


def true_lines(users: ClickModel) -> tuple[np.ndarray, np.ndarray]:
    alpha, beta = users.affine(RANKS)
    return alpha / alpha[0], beta - alpha * beta[0] / alpha[0]


@pytest.mark.parametrize("users", [STEEP, TrustBiasModel.published(), PositionModel(PowerLaw(1.0))])
def test_two_groups_give_slope_and_intercept(users: ClickModel) -> None:
    found = trust_lines(expected(users))
    slope, intercept = true_lines(users)
    assert found.known.tolist() == [False, True, True, True]
    assert found.slope[1:] == pytest.approx(slope[1:], abs=1e-9)
    assert found.intercept[1:] == pytest.approx(intercept[1:], abs=1e-9)
    for at, wanted in zip(found.affine(RANKS), (slope, intercept), strict=True):
        assert at == pytest.approx(wanted, abs=1e-9)
    # Beyond the last rank its line is carried on.
    assert found.affine([9])[0] == pytest.approx(slope[3:], abs=1e-9)
    assert found.click_probability([0.5], [3]) == pytest.approx(0.5 * slope[2:3] + intercept[2:3])


def test_groups_that_are_alike_have_no_line() -> None:
    found = trust_lines(expected(STEEP, 0.5, 0.5))
    assert not found.known.any() and found.finding.outcome == "not checkable"
    assert [values.tolist() for values in found.affine(RANKS)] == [[1.0] * 4, [0.0] * 4]


def test_the_affine_correction_by_lines_weighs_as_that_by_alpha_and_beta() -> None:
    """Also where a slope is above 1, as no examination is: published trust bias, rank 2: 1.52."""
    users = TrustBiasModel.published()
    lines = trust_lines(expected(users))
    assert lines.slope[1] == pytest.approx(1.52, abs=0.001)
    assert lines.intercept[1] == pytest.approx(-0.73, abs=0.001)
    log = ClickLog(np.arange(4), [2, 1, 4, 3], [9] * 4, [3, 6, 1, 2], 9, [0, 4])
    affine = ESTIMATORS["affine"]
    by_lines, by_alpha = (
        weights_of_log(log, affine.weigh(log, Belief(users.curve, users=told))).values
        for told in (lines, users)
    )
    first = float(users.affine([1])[0][0])
    assert by_lines == pytest.approx(first * by_alpha, rel=1e-6, abs=1e-9)


def swapped(users: ClickModel, seed: int) -> TrustLines:
    """300 queries of three documents, the first more often relevant than the others."""
    rng = np.random.default_rng(99)
    relevance = (rng.random((300, 3)) < [0.6, 0.3, 0.2]).ravel()
    ranks, offsets = np.tile([1, 2, 3], 300), np.arange(0, 901, 3)
    return trust_lines(
        simulate_swaps(users, relevance, ranks, offsets, last_rank=3, sessions=100_000, seed=seed)
    )


def test_trust_is_told_from_position_bias() -> None:
    """Errors are too large rather than too small: of 20 logs at most 1 is refused wrongly."""
    trusting = [swapped(STEEP, seed) for seed in range(20)]
    noisy = PositionModel(PowerLaw(1.0), 1.0, 0.1)
    position = [swapped(noisy, seed) for seed in range(20)]
    assert all(one.finding.outcome == "does not hold" for one in trusting)
    assert sum(one.finding.outcome == "does not hold" for one in position) <= 1
    wanted = true_lines(STEEP)
    for row in (1, 2):
        for name, true in (("slope", wanted[0]), ("intercept", wanted[1])):
            values = np.array([getattr(one, name)[row] for one in trusting])
            errors = np.array([getattr(one, f"{name}_error")[row] for one in trusting])
            assert (np.abs(values - true[row]) < 1.96 * errors).sum() >= 17
            assert 0.5 < values.std() / errors.mean() < 1.3


def test_a_rank_without_clicks_has_no_line_and_silences_no_other() -> None:
    """A distance of 0/0 was the largest: trust bias at rank 2 was called position bias."""
    counts = expected(STEEP)
    dead = np.array([1, 1, 0, 1])
    silent = replace(
        counts,
        swapped=Counts(counts.swapped.impressions, counts.swapped.clicks * dead),
        unmoved=Counts(counts.unmoved.impressions, counts.unmoved.clicks * dead),
    )
    found = trust_lines(silent)
    assert found.known.tolist() == [False, True, False, True]
    assert found.finding.outcome == "does not hold"
    assert mentions(found.finding.sentence, "Rank 3")
    assert found.as_dict()["ranks"][2] == {"rank": 3, "slope": None, "intercept": None}
    whole = trust_lines(counts)
    assert whole.usable.tolist() == [False, True, True, True]
    assert found.affine([3])[0] == whole.affine([2])[0]


def test_a_line_that_does_not_rise_is_tested_but_corrects_nothing() -> None:
    lines = TrustLines(
        np.array([np.nan, 0.5, -0.1]), np.array([np.nan, 0.1, 0.3]), np.full(3, 0.01),
        np.array([np.nan, 0.01, 0.01]),
    )  # fmt: skip
    assert lines.known.tolist() == [False, True, True]
    assert lines.usable.tolist() == [False, True, False]
    assert [values.tolist() for values in lines.affine([1, 2, 3])] == [[1, 0.5, 0.5], [0, 0.1, 0.1]]
    assert mentions(lines.finding.sentence, "Rank 3")
