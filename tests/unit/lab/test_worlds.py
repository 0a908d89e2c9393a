"""The default world: what the paper says must be seen in it, and what the stages may not do."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.meaning import mentions, refused
from ultr_core.corpus import Corpus, CorpusSplits
from ultr_core.corpus.ranking import rank_documents
from ultr_core.errors import InputError
from ultr_core.jobs.compare import METHODS as OFFERED
from ultr_core.lab import (
    CLICK_METHODS,
    LOG_FIELDS,
    METHODS,
    TRAINED_METHODS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    Comparison,
    Lab,
    RankerFamily,
    World,
    build_world,
    headline,
    named_rankers,
    proof_checks,
    ranker_family,
    risk_picture,
    simulate_logs,
    simulate_training_log,
    stage,
    summarise,
    train_method,
    training_plan,
    user_model,
)
from ultr_core.lab import test_risk as check_risk
from ultr_core.lab import test_risks as check_risks
from ultr_core.lab.comparison import NO_SPREAD, RankerSummary
from ultr_core.lab.picture import first_picture
from ultr_core.learners import COST_GRID
from ultr_core.learners.selection import (
    COST_WITHOUT_VALIDATION,
    Candidate,
    select_by_clicks,
)
from ultr_core.proofs.proof import NO_POSITION_BIAS
from ultr_core.propensity import naive_weights
from ultr_core.risk import NO_INTERVAL, interval_over_draws, shown_difference, true_risk
from ultr_core.settings import Settings


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Settings())


@pytest.fixture(scope="module")
def family(world: World) -> RankerFamily:
    return ranker_family(world)


def trained(world: World, settings: Settings) -> dict[str, list]:
    runs: dict[str, list] = {"naive": [], "propensity": []}
    for draw in range(settings.draws):
        for method, done in runs.items():
            done.append(train_method(world, settings, draw, method))
    return runs


def test_paper_setting_naive_is_worse_and_weighting_closes_most_of_the_gap(world: World) -> None:
    settings = Settings(draws=5)
    comparison = summarise(world, settings, trained(world, settings))
    assert comparison.naive_excess is not None
    assert comparison.naive_excess.low > 0.5
    assert comparison.closed_gap is not None
    assert comparison.closed_gap.low > 0.9
    naive, production = comparison.rankers["naive"].risk, comparison.rankers["production"].risk
    assert naive.high < production.value
    weighted = comparison.rankers["propensity"].risk
    margin = shown_difference(naive.value, weighted.value)
    assert mentions(comparison.sentence, f"{margin:.2f}")


def test_few_clicks_favour_the_naive_ranker(world: World) -> None:
    settings = Settings(clicks=500, draws=5)
    comparison = summarise(world, settings, trained(world, settings))
    assert (
        comparison.rankers["naive"].risk.value + 0.5 < comparison.rankers["propensity"].risk.value
    )


def test_without_bias_naive_and_weighted_are_the_same_click_for_click(world: World) -> None:
    settings = Settings(eta=0.0, assumed_eta=0.0, clicks=5_000, draws=2)
    runs = trained(world, settings)
    for naive, weighted in zip(runs["naive"], runs["propensity"], strict=True):
        assert np.array_equal(naive.coefficients, weighted.coefficients)
    comparison = summarise(world, settings, runs)
    assert comparison.naive_excess is not None
    assert comparison.naive_excess.low == comparison.naive_excess.high == 0.0


def test_noise_shares_are_those_of_the_paper(world: World) -> None:
    shares = [
        user_model(Settings(eps_minus=eps)).noise_share(
            world.train.relevance, world.train.presented_ranks
        )
        for eps in (0.1, 0.3)
    ]
    assert [round(100 * share, 1) for share in shares] == [33.1, 59.8] or np.allclose(
        shares, (0.331, 0.598), atol=5e-4
    )


def test_rankers_are_ordered_as_they_should_be(world: World, family: RankerFamily) -> None:
    risks = world.baselines
    assert risks["skyline"].risk < 0.8 * risks["production"].risk
    assert len(family.kinds) == 60
    by_kind = {
        kind: family.true_risk[[k == kind for k in family.kinds]] for kind in set(family.kinds)
    }
    assert set(by_kind) == {"production", "skyline", "between", "random", "reversed"}
    assert by_kind["skyline"][0] == family.true_risk.min()
    assert by_kind["reversed"].max() > 2 * by_kind["production"][0]


def test_the_training_log_alone_is_that_of_both_logs(world):
    logs = simulate_logs(world, Settings(), 2)
    alone = simulate_training_log(world, Settings(), 2)
    assert np.array_equal(alone.clicks, logs.train.clicks)
    assert alone.query_draws == logs.train.query_draws
    given = simulate_logs(world, Settings(), 2, training=alone)
    assert given.train is alone
    assert np.array_equal(given.validation.clicks, logs.validation.clicks)


def test_the_log_depends_on_its_own_settings_only(world: World) -> None:
    one = simulate_logs(world, Settings(), 0).train
    other = simulate_logs(world, Settings(assumed_eta=0.3, draws=2), 0).train
    assert np.array_equal(one.clicks, other.clicks)
    assert not np.array_equal(one.clicks, simulate_logs(world, Settings(), 1).train.clicks)
    assert not np.array_equal(one.clicks, simulate_logs(world, Settings(seed=1), 0).train.clicks)


def test_more_clicks_contain_the_fewer(world: World) -> None:
    fewer = simulate_logs(world, Settings(clicks=1_000), 0).train
    more = simulate_logs(world, Settings(clicks=1_100), 0).train
    assert (more.clicks >= fewer.clicks).all()
    assert more.total_clicks > fewer.total_clicks


def test_clicks_come_in_the_number_asked_for(world: World) -> None:
    """Clicks of one query are few and independent: sd below 2 sqrt(n); 5 sd, two-sided 6e-7."""
    for clicks in (1_000, 170_000):
        logs = simulate_logs(world, Settings(clicks=clicks), 0)
        assert abs(logs.train.total_clicks - clicks) < 10 * clicks**0.5
        assert abs(logs.validation.total_clicks - 0.15 * clicks) < 10 * (0.15 * clicks) ** 0.5


@pytest.mark.parametrize(
    "extreme",
    [
        Settings(eta=0.0, eps_minus=0.98, eps_plus=0.99, clicks=10, draws=1),
        Settings(eta=2.0, assumed_eta=2.0, eps_plus=0.01, eps_minus=0.0, clicks=10, draws=1),
        Settings(eta=2.0, assumed_eta=0.0, eps_minus=0.99, clicks=5_000_000, draws=1),
        Settings(eta=0.0, assumed_eta=2.0, eps_minus=0.5, clicks=10, draws=1),
    ],
)
def test_corners_of_the_settings_give_finite_numbers(
    world: World, family: RankerFamily, extreme: Settings
) -> None:
    comparison = summarise(world, extreme, trained(world, extreme))
    for summary in comparison.rankers.values():
        assert np.isfinite([summary.risk.value, summary.mean_rank.value]).all()
    assert not any(check.finding.fails for check in proof_checks(world, family, extreme))
    weighted = risk_picture(world, family, extreme).weighted
    assert np.isfinite(weighted.value).all()
    assert np.isfinite(weighted.high).all() == (weighted.no_interval == "") == (extreme.clicks > 10)


def test_stages_keep_their_fields_and_nothing_else() -> None:
    settings = Settings(
        eta=0.5, eps_minus=0.6, eps_plus=0.7, assumed_eta=0.2, clicks=99, seed=4, draws=2,
        corpus_seed=3, relevant_grade=2,
    )  # fmt: skip
    for names in (WORLD_FIELDS, LOG_FIELDS, WEIGHTED_FIELDS):
        kept = stage(settings, names)
        for field in dataclasses.fields(Settings):
            expected = settings if field.name in names else Settings()
            assert getattr(kept, field.name) == getattr(expected, field.name)


def test_naive_ignores_the_assumed_curve(world: World) -> None:
    one, other = (
        train_method(world, Settings(clicks=1_000, assumed_eta=eta), 0, "naive")
        for eta in (0.0, 2.0)
    )
    assert np.array_equal(one.coefficients, other.coefficients)


def test_the_plan_visits_every_cell_once() -> None:
    cells = list(training_plan(3))
    assert len(set(cells)) == len(cells) == 3 * len(CLICK_METHODS)


def test_clipped_chooses_its_threshold_by_validation(world: World) -> None:
    run = train_method(world, Settings(clicks=1_000), 0, "clipped")
    unclipped = train_method(world, Settings(clicks=1_000), 0, "propensity")
    assert run.gap <= 1e-3
    assert (run.clip == 0.0) == np.array_equal(run.coefficients, unclipped.coefficients)


def test_risks_of_many_rankers_are_those_of_each(world: World) -> None:
    rankers = [world.production.ranker, world.skyline]
    found = check_risks(world, rankers)
    assert found == [check_risk(world, one) for one in rankers]
    assert found == list(world.baselines.values())
    test = world.splits.test
    for ranker, risk in zip(rankers, found, strict=True):
        ranks = rank_documents(ranker.score(test), test.query_offsets)
        assert risk.risk == true_risk(ranks, world.test_relevance, test.query_offsets)


def test_estimates_of_the_picture_cover_their_expectations(
    world: World, family: RankerFamily
) -> None:
    """95% intervals of 5 rankers far apart, 20 logs each: at least 85 of 100 cover.

    The rankers of one log are correlated; were all five the same, 20 logs with 17 covering would
    still be the 1.6% quantile, and the seeds are fixed.
    """
    inside = {"naive": 0, "weighted": 0}
    picked = [0, 1, 25, 45, 59]
    for seed in range(20):
        picture = risk_picture(world, family, Settings(clicks=20_000, seed=seed))
        for name in inside:
            risks = getattr(picture, name)
            covered = (risks.low <= risks.expected) & (risks.expected <= risks.high)
            inside[name] += int(covered[picked].sum())
    assert all(count >= 85 for count in inside.values())


def test_the_weighted_expectation_is_the_affine_law_with_the_right_curve(
    world: World, family: RankerFamily
) -> None:
    picture = risk_picture(world, family, Settings())
    line = picture.slope * picture.true_risk + picture.intercept
    assert picture.weighted.expected == pytest.approx(line, rel=1e-12)
    assert picture.weighted.kendall_expected == pytest.approx(1.0)
    assert picture.naive.kendall < 0.85 < picture.weighted.kendall
    bent = risk_picture(world, family, Settings(assumed_eta=1.5))
    assert np.array_equal(bent.naive.value, picture.naive.value)
    assert bent.weighted.kendall_expected < 0.99


@pytest.mark.parametrize("changes", [{}, {"clicks": 1_000, "eps_minus": 0.3}, {"clicks": 50}])
def test_the_first_picture_is_the_whole_one_without_what_is_not_seen_at_first(
    world: World, family: RankerFamily, changes: dict[str, Any]
) -> None:
    settings = Settings(**changes)
    whole = risk_picture(world, family, settings)
    first = first_picture(world, family, settings, simulate_training_log(world, settings, 0))
    named = [*named_rankers(whole)]
    others = np.setdiff1d(np.arange(len(whole.kinds)), named)
    for found, all_of_it in ((first.naive, whole.naive), (first.weighted, whole.weighted)):
        assert found.value == pytest.approx(all_of_it.value, rel=1e-12)
        for end in ("difference_low", "difference_high"):
            ends = getattr(found, end)
            assert ends[named] == pytest.approx(getattr(all_of_it, end)[named], rel=1e-9)
            assert np.isnan(ends[others]).all()
        for name in ("kendall", "effective_sample_size", "largest_weight", "no_interval"):
            assert getattr(found, name) == getattr(all_of_it, name)
    assert headline(first) == headline(whole)
    for name in ("slope", "intercept", "clicks", "query_draws", "kinds", "labels"):
        assert getattr(first, name) == getattr(whole, name)


def test_assuming_no_bias_makes_both_pictures_one(world: World, family: RankerFamily) -> None:
    picture = risk_picture(world, family, Settings(assumed_eta=0.0))
    assert np.array_equal(picture.naive.value, picture.weighted.value)


def test_proofs_of_the_default_world(world: World, family: RankerFamily) -> None:
    checks = proof_checks(world, family, Settings(clicks=20_000))
    assert not any(check.finding.fails for check in checks)
    for check in checks:
        assert check.finding.holds is (NO_POSITION_BIAS not in check.proof.assumes), check.name


def test_only_click_methods_can_be_trained_on_clicks(world: World) -> None:
    assert set(METHODS) - set(TRAINED_METHODS) == {"production", "skyline"}
    with pytest.raises(InputError, match="skyline"):
        train_method(world, Settings(), 0, "skyline")


def test_without_validation_clicks_the_default_cost_is_taken(world: World) -> None:
    logs = simulate_logs(world, Settings(clicks=500), 0)
    silent = dataclasses.replace(logs.validation, clicks=np.zeros_like(logs.validation.clicks))
    selection = select_by_clicks(
        world.splits.train, [Candidate(naive_weights(logs.train))],
        world.splits.validation, silent, np.ones(len(silent.rank)),
    )  # fmt: skip
    assert selection.ranker.cost == COST_WITHOUT_VALIDATION
    assert selection.estimates.shape == (1, len(COST_GRID))


def test_a_fit_without_validation_clicks_can_be_stopped(world: World) -> None:
    class StoppedError(Exception):
        pass

    def stop(_: object) -> bool:
        raise StoppedError

    logs = simulate_logs(world, Settings(clicks=500), 0)
    silent = dataclasses.replace(logs.validation, clicks=np.zeros_like(logs.validation.clicks))
    with pytest.raises(StoppedError):
        select_by_clicks(
            world.splits.train, [Candidate(naive_weights(logs.train))],
            world.splits.validation, silent, np.ones(len(silent.rank)), callback=stop,
        )  # fmt: skip


def tiny_splits(grades: list[int]) -> CorpusSplits:
    rng = np.random.default_rng(0)
    parts = [
        Corpus(
            rng.random((len(grades), 3)).astype(np.float32),
            np.array(grades, np.int16),
            np.arange(0, len(grades) + 1, 4),
        )
        for _ in range(3)
    ]
    return CorpusSplits("tiny", *parts, source="files")


def test_a_corpus_in_which_nothing_is_relevant_is_refused() -> None:
    with pytest.raises(InputError, match="relevant"):
        build_world(Settings(), tiny_splits([0] * 40))


def test_a_corpus_in_which_everything_is_relevant_is_refused() -> None:
    with refused("relevant_grade", 3):
        build_world(Settings(), tiny_splits([4] * 40))


def test_a_tiny_corpus_works_and_says_what_the_production_ranker_got() -> None:
    tiny = Lab(Settings(clicks=200, draws=2), tiny_splits([4, 0, 3, 1] * 10))
    assert any("1%" in notice for notice in tiny.world().notices)
    comparison = tiny.comparison()
    assert set(comparison.rankers) == {*CLICK_METHODS, "production", "skyline"}
    assert "estimator" not in comparison.as_dict()["rankers"]["naive"]
    asked = tiny.comparison(methods=("doubly-robust", "naive", "propensity"))
    assert asked.differences["naive", "propensity"] == comparison.naive_excess
    found = asked.as_dict()["differences"]
    assert [(pair["first"], pair["second"]) for pair in found] == [
        ("naive", "propensity"), ("naive", "doubly-robust"), ("propensity", "doubly-robust"),
    ]  # fmt: skip
    for pair in found:
        first, second = (asked.rankers[pair[place]].risk.value for place in ("first", "second"))
        assert pair["value"] == pytest.approx(first - second)
    assert "differences" not in comparison.as_dict()
    chosen = tiny.comparison(methods=("doubly-robust", "naive")).as_dict()["rankers"]
    assert list(chosen) == ["production", "naive", "doubly-robust", "skyline"]
    found = chosen["doubly-robust"]
    assert (found["estimator"], found["learner"]) == ("doubly-robust", "svm")
    assert set(found["estimators"]) <= {"doubly-robust", "clipped"} and len(found["clips"]) == 2
    assert chosen["production"]["estimator"] is None
    assert chosen["naive"]["risk"] == comparison.as_dict()["rankers"]["naive"]["risk"]


def test_a_value_without_an_interval_has_no_ends_and_a_reason() -> None:
    """One click log has no spread, and rankers that learn from no clicks have none in any."""
    tiny = Lab(Settings(clicks=200, draws=2), tiny_splits([4, 0, 3, 1] * 10))
    for draws in (1, 2):
        comparison = tiny.at(tiny.settings.with_values(draws=draws)).comparison(
            methods=("naive", "propensity")
        )
        found = comparison.as_dict()
        rankers = found["rankers"]
        over_logs = [
            found["naive_minus_propensity"], *found["differences"],
            *(rankers[key][name] for key in comparison.rankers if METHODS[key].learns_from_clicks
              for name in ("risk", "mean_rank")),
        ]  # fmt: skip
        baselines = [rankers[key]["risk"] for key in ("production", "skyline")]
        assert {value["no_interval"] for value in over_logs} == {NO_INTERVAL if draws == 1 else ""}
        assert {value["no_interval"] for value in baselines} == {NO_SPREAD}
        for value in (*over_logs, *baselines):
            ends = [value["low"], value["high"]]
            assert ends == [None, None] if value["no_interval"] else ends[0] <= ends[1]


def test_rankers_whose_intervals_overlap_are_told_apart_by_paired_differences() -> None:
    wide = interval_over_draws([9.0, 12.0]), interval_over_draws([8.9, 11.9])
    naive, other = (
        RankerSummary(key, key, risk, risk, (1.0, 1.0))
        for key, risk in zip(("naive", "affine"), wide, strict=True)
    )
    assert naive.risk.low < other.risk.high
    at = interval_over_draws([10.5])
    fixed = RankerSummary("production", "Production", at, at)
    rankers = {"production": fixed, "naive": naive, "affine": other}
    for draws, side, beaten in (([0.1, 0.100001], 1, "every"), ([0.1, -0.1], 0, "no")):
        paired = {("naive", "affine"): interval_over_draws(draws)}
        found = Comparison(Settings(), {}, rankers, 2, 1, 1, None, None, (), True, paired)
        assert (found.side("naive", "affine"), found.side("affine", "naive")) == (side, -side)
        assert mentions(found.sentence, "affine", "10.40", f"beats {beaten} other")


@pytest.mark.parametrize(
    ("production", "risks", "worse", "chance"),
    [
        (11.0, [10.0, 10.2], False, False),
        (8.0, [10.0, 10.2], True, False),
        (10.0, [10.0, 10.2], True, True),
        (9.0, [10.0], True, False),
    ],
)
def test_the_best_of_those_trained_on_clicks_is_compared_with_production(
    production: float, risks: list[float], worse: bool, chance: bool
) -> None:
    of_production, of_naive = map(interval_over_draws, ([production], risks))
    rankers = {
        "production": RankerSummary("production", "Production", of_production, of_production),
        "naive": RankerSummary("naive", "Naive", of_naive, of_naive, (1.0,) * len(risks)),
    }
    found = Comparison(Settings(), {}, rankers, len(risks), 1, 1, None, None, (), True).sentence
    assert mentions(found, "naive", "lowest", "trained", "clicks")
    assert mentions(found, "worse", "production", f"{production:.2f}") == worse
    assert mentions(found, "chance") == chance


def test_the_command_offers_every_method() -> None:
    assert {key: method.label for key, method in METHODS.items()} == OFFERED.options
    assert OFFERED.checked("naive, doubly-robust") == ("naive", "doubly-robust")
    with refused("methods", "naive"):
        OFFERED.checked("naive, doubly-robust,naive")
    for wrong in ("", "naive,ips", ","):
        with refused("methods", *TRAINED_METHODS):
            OFFERED.checked(wrong)
