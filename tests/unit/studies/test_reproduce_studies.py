"""Cells, grids, losses, the skip-above baseline and the claims, each on its own."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from tests.made_up_studies import made_up, misled, noise, opposite, papers_loss
from tests.meaning import refused
from ultr_core.errors import InputError
from ultr_core.figures.studies import gain_table
from ultr_core.findings import compared
from ultr_core.lab import World, build_world, simulate_logs, train_method
from ultr_core.settings import Settings
from ultr_core.studies import (
    FIGURES,
    FIXED_METHODS,
    LOSSES,
    SCALES,
    STUDIES,
    STUDY_METHODS,
    Plan,
    StudyResult,
    cell_of,
    find_loss,
    judge,
    read_study,
    run_in_process,
)
from ultr_core.studies.cells import groups_of
from ultr_core.studies.losses import test_losses as losses_of
from ultr_core.studies.skip_above import (
    Preferences,
    agreement_with,
    sampled,
    skip_above_preferences,
)
from ultr_core.users import ClickLog, simulate_sessions


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


# Grids and cells.


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", list(STUDIES))
def test_grids_vary_only_what_they_say(name: str, scale: str) -> None:
    study = STUDIES[name]
    base = Settings(draws=3, seed=7, eps_plus=0.95)
    plan = Plan(study, scale, base)  # type: ignore[arg-type]
    varied = {*study.x_fields, study.series_field, *study.fixed}
    for point in plan.points:
        for field, value in point.settings.as_dict().items():
            assert field in varied or value == getattr(base, field)
        assert getattr(point.settings, study.x_fields[0]) == point.x
    keys = [cell.key for cell in plan.cells]
    assert len(keys) == len(set(keys))


def test_the_papers_sizes_are_on_the_grids() -> None:
    for name, expected in (("bias", {45_000, 225_000}), ("noise", {170_000, 850_000})):
        plan = Plan(STUDIES[name], "paper", Settings())
        assert {point.settings.clicks for point in plan.points} == expected
    assert max(p.x for p in Plan(STUDIES["noise"], "paper", Settings()).points) == 0.3
    figure_4 = Plan(STUDIES["misspecification"], "paper", Settings()).points
    assert {p.settings.clicks for p in figure_4} == {170_000}
    assert [STUDIES[name].figure for name in FIGURES] == [1, 2, 3, 4]


def test_a_cell_keeps_only_the_settings_its_method_uses() -> None:
    one = cell_of("naive", Settings(assumed_eta=0.5), 1)
    assert one == cell_of("naive", Settings(assumed_eta=1.5, draws=9), 1)
    assert one != cell_of("naive", Settings(seed=1), 1)
    assert cell_of("skyline", Settings(clicks=100), 4).key == cell_of("skyline", Settings(), 0).key
    weighted = {cell_of("propensity", Settings(assumed_eta=eta), 0).key for eta in (0.5, 1.5)}
    assert len(weighted) == 2


def test_a_cell_alone_and_in_company_is_the_method_itself(world: World) -> None:
    settings = Settings(clicks=500, seed=5)
    methods = ("naive", "skip-above", "propensity", "clipped")
    cells = [cell_of(method, settings, 1) for method in methods]
    assert len(groups_of(cells)) == 1
    together = {r.key: r for r in run_in_process(world, cells)}
    for cell in cells:
        (alone,) = run_in_process(world, [cell])
        assert alone.losses == together[cell.key].losses
    for method in ("naive", "propensity", "clipped"):
        trained = train_method(world, settings, 1, method)
        result = together[cell_of(method, settings, 1).key]
        assert result.losses["sum-of-ranks"] == pytest.approx(trained.test.risk, abs=1e-9)
        assert (result.cost, result.clip) == (trained.cost, trained.clip)


def test_stopping_early_runs_no_more_cells(world: World) -> None:
    running = run_in_process(world, [cell_of("naive", Settings(clicks=500), d) for d in range(9)])
    assert next(running).clicks > 0
    running.close()
    assert list(running) == []


# Losses.


def test_losses_by_hand() -> None:
    scores = -np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    relevance = np.array([False, True, True, False, False])
    losses = losses_of(scores, relevance, np.array([0, 3, 5]))
    gain = 1 / np.log2(3) + 1 / 2
    assert losses["sum-of-ranks"] == pytest.approx(5 / 2)
    assert losses["mean-rank"] == pytest.approx(5 / 2)
    assert losses["dcg"] == pytest.approx(gain / 2)  # the empty query counts 0
    assert losses["ndcg"] == pytest.approx(gain / (1 + 1 / np.log2(3)))  # and is left out here
    assert find_loss("ndcg").excess(0.5, 0.7) > 0
    assert find_loss("mean-rank").excess(0.5, 0.7) < 0
    with pytest.raises(InputError, match="mrr"):
        find_loss("mrr")


# The baseline of the introduction.


def test_skip_above_counts_are_the_expectation_over_sessions() -> None:
    probability = np.array([0.6, 0.5, 0.3, 0.2])
    ranks = np.array([2, 1, 3, 4], dtype=np.int32)
    offsets = np.array([0, 4])
    total: dict[tuple[int, int], float] = {}
    expected: dict[tuple[int, int], float] = {}
    for seed in range(40):
        log, events = simulate_sessions(probability, ranks, offsets, 200, seed)
        clicked = np.zeros((200, 4), dtype=bool)
        clicked[events.click_draw, events.click_document] = True
        for i, j in ((0, 1), (2, 0), (3, 1)):
            total[i, j] = total.get((i, j), 0) + float((clicked[:, i] & ~clicked[:, j]).sum())
        found = skip_above_preferences(log)
        for i, j, count in zip(found.preferred, found.skipped, found.count, strict=True):
            expected[int(i), int(j)] = expected.get((int(i), int(j)), 0) + float(count)
    assert set(expected) == {(0, 1), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    # 8,000 sessions; given the log the counts have standard deviations below 40 here, so that
    # 5 of them are a false alarm of under one in a million for the three pairs.
    for pair, count in total.items():
        assert count == pytest.approx(expected[pair], abs=200)


def test_every_preference_opposes_the_shown_order(world: World) -> None:
    log = simulate_logs(world, Settings(clicks=3_000), 0).train
    found = skip_above_preferences(log)
    assert np.all(log.rank[found.preferred] > log.rank[found.skipped])
    assert np.all(found.count > 0)
    few = sampled(found, 500, np.random.default_rng(0))
    assert len(few.count) <= 500
    assert few.count.sum() == pytest.approx(found.count.sum())
    assert sampled(few, 500, np.random.default_rng(1)) is few


def test_sampling_keeps_every_expected_count() -> None:
    preferences = Preferences(np.arange(6), np.arange(6) + 6, np.array([1, 2, 3, 4, 5, 6.0]))
    mean = np.zeros(6)
    for seed in range(3000):
        few = sampled(preferences, 3, np.random.default_rng(seed))
        mean[few.preferred] += few.count / 3000
    # Each count is 0 or 7 (or 14); standard errors are below 0.07, 5 of them 0.35.
    assert mean == pytest.approx(preferences.count, abs=0.35)


def test_the_baseline_reverses_the_shown_order(world: World) -> None:
    (result,) = run_in_process(world, [cell_of("skip-above", Settings(clicks=5_000), 0)])
    (production,) = run_in_process(world, [cell_of("production", Settings(), 0)])
    assert result.agreement < -0.5
    assert production.agreement == 1.0
    assert result.losses["sum-of-ranks"] > 2 * production.losses["sum-of-ranks"]


def test_agreement_is_kendalls_tau_by_query() -> None:
    rng = np.random.default_rng(2)
    sizes = [1, 5, 9]
    one, other = (np.concatenate([rng.permutation(m) + 1 for m in sizes]) for _ in range(2))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    taus = [kendalltau(one[a:b], other[a:b]).statistic for a, b in pairwise(offsets[1:])]
    found = agreement_with(one.astype(np.int32), other.astype(np.int32), offsets)
    assert found == pytest.approx(np.mean(taus))


def test_a_log_with_moving_documents_is_refused() -> None:
    log = ClickLog(
        np.array([0, 0, 1]), np.array([1, 2, 1]), np.array([3, 3, 3]), np.array([1, 0, 1]), 6,
        np.array([0, 2]),
    )  # fmt: skip
    with refused("one_rank"):
        skip_above_preferences(log)


# Claims: they hold in a world like the paper's, fail in its opposite, and say when they cannot
# tell.


@pytest.mark.parametrize("name", FIGURES)
def test_claims_hold_in_the_papers_world(name: str) -> None:
    result = made_up(name, papers_loss)
    claims = judge(result)
    assert {claim.finding.outcome for claim in claims} == {"holds"}, claims
    assert all(claim.rule.test and claim.rule.statement and claim.rule.section for claim in claims)
    for told in (claim.as_dict() for claim in claims):
        ends = told["interval"] and tuple(told["interval"].values())
        assert compared(told["value"], told["relation"], told["limit"], 0.0, ends) == "holds", told
    assert "%" in read_study(result) or "±" in read_study(result)


@pytest.mark.parametrize("name", FIGURES)
def test_claims_can_fail_and_can_stay_open(name: str) -> None:
    other = misled if name == "misspecification" else opposite
    failed = [
        c
        for c in judge(made_up(name, other, agreement=0.4))
        if c.finding.outcome == "does not hold"
    ]
    assert len(failed) >= 2
    opened = [claim for claim in judge(made_up(name, noise)) if claim.finding.outcome == "open"]
    assert opened


@pytest.mark.parametrize("name", FIGURES)
def test_claims_stay_open_without_intervals_or_cells(name: str) -> None:
    assert {c.finding.outcome for c in judge(made_up(name, papers_loss, draws=1))} == {"open"}
    whole = made_up(name, papers_loss)
    part = StudyResult(whole.plan, whole.loss, dict(list(whole.done.items())[:4]), whole.world)
    assert {claim.finding.outcome for claim in judge(part)} == {"open"}
    assert read_study(part)
    nothing = StudyResult(whole.plan, whole.loss, {}, whole.world)
    assert read_study(nothing) != read_study(whole)
    assert not re.search(r"\d", read_study(nothing))
    assert len(nothing.curve_table()) == 0


@pytest.mark.parametrize("name", FIGURES)
def test_one_click_log_has_no_interval_in_a_file(name: str) -> None:
    """Empty fields instead of a width of 0; production and skyline do not depend on clicks."""
    one, two = (made_up(name, papers_loss, draws=draws).curve_table() for draws in (1, 2))
    assert one[["low", "high"]].isna().all(axis=None)
    assert one["value"].notna().all()
    text = one[["value", "low", "high", "draws"]].to_csv(index=False).splitlines()
    assert all(line.endswith(",,,1") for line in text[1:])
    fixed = two["method"].isin(FIXED_METHODS)
    assert two[fixed]["low"].isna().all() and two[~fixed]["low"].notna().all()


def test_one_click_log_has_no_interval_on_a_map() -> None:
    one, two = (gain_table(made_up("map-noise", papers_loss, draws=draws)) for draws in (1, 2))
    assert one[["low", "high"]].isna().all(axis=None) and two[["low", "high"]].notna().all(
        axis=None
    )


def test_no_difference_rounds_to_a_negative_zero() -> None:
    def level(method: str, point: Any, draw: int) -> float:
        return 10.0 + (1e-6 * point.settings.clicks / 850_000 if method == "naive" else 0.0)

    for claim in judge(made_up("learning-curve", level)):
        assert "-0.000" not in claim.finding.sentence


def test_claims_turn_round_for_a_gain() -> None:
    result = made_up("bias", lambda *place: -papers_loss(*place))
    gain = StudyResult(result.plan, LOSSES["dcg"], result.done, result.world)
    assert {claim.finding.outcome for claim in judge(gain)} == {"holds"}


def test_every_method_has_a_description() -> None:
    for study in STUDIES.values():
        assert set(study.methods) <= set(STUDY_METHODS)


def test_keys_of_cells_tell_all_numbers_of_clicks_apart_and_stay_as_journals_have_them() -> None:
    near = range(1_234_560, 1_234_570)
    keys = {cell_of("naive", Settings(clicks=clicks), 0).key for clicks in near}
    assert len(keys) == 10
    assert "clicks=1.7e+06 " in cell_of("naive", Settings(clicks=1_700_000), 0).key
    assert "clicks=170000 " in cell_of("naive", Settings(), 0).key
