"""A curve given rank by rank stands in for η and η′ in every stage, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.meaning import mentions
from ultr_core.files import load_directory
from ultr_core.lab import (
    LOG_FIELDS,
    WEIGHTED_FIELDS,
    WORLD_FIELDS,
    Lab,
    RankerFamily,
    World,
    build_world,
    mistaken_curve,
    proof_checks,
    ranker_family,
    risk_picture,
    simulate_logs,
    stage,
    train_method,
    true_curve,
    world_notices,
)
from ultr_core.lab.live import LiveDesign, run_live
from ultr_core.proofs.proof import NO_POSITION_BIAS
from ultr_core.settings import Settings
from ultr_core.studies import REPAIRS, STUDIES, Plan, StudyResult, cell_of, judge, read_study
from ultr_core.studies.grids import GRID_VERSION
from ultr_core.users import PowerLaw

BASE = Settings(clicks=600, draws=2)
RANKS = np.arange(1, 201)


def power(eta: float) -> tuple[float, ...]:
    return tuple(PowerLaw(eta).at(RANKS).tolist())


@pytest.fixture(scope="module")
def world(small_corpus: Path) -> World:
    return build_world(BASE, load_directory(small_corpus))


@pytest.fixture(scope="module")
def family(world: World) -> RankerFamily:
    return ranker_family(world)


@pytest.mark.parametrize("eta", [0.0, 0.7])
def test_a_curve_equal_to_the_power_law_gives_bit_identical_results(
    world: World, family: RankerFamily, eta: float
) -> None:
    by_eta = BASE.with_values(eta=eta, assumed_eta=0.5)
    # The exponents that are not used are wrong ones.
    by_curve = BASE.with_values(
        eta=1.9, assumed_eta=1.9, curve=power(eta), assumed_curve=power(0.5)
    )
    lab = Lab(by_eta, world.splits)
    one, other = (lab.at(s).comparison().as_dict() for s in (by_eta, by_curve))
    assert one.pop("settings") != other.pop("settings")
    assert one == other
    for first, second in zip(
        proof_checks(world, family, by_eta), proof_checks(world, family, by_curve), strict=True
    ):
        assert first.as_dict() == second.as_dict()
    pictures = [risk_picture(world, family, settings) for settings in (by_eta, by_curve)]
    np.testing.assert_array_equal(pictures[0].weighted.value, pictures[1].weighted.value)
    np.testing.assert_array_equal(pictures[0].weighted.expected, pictures[1].weighted.expected)


@pytest.mark.parametrize(
    ("settings", "eta"),
    [
        (Settings(), 1.5),
        (Settings(eta=1.3, assumed_eta=1.3), 1.5 * 1.3),
        (Settings(eta=1.5, assumed_eta=1.5), 0.5),
        (Settings(eta=0, assumed_eta=0), 0.5),
        (Settings(eta=1, assumed_eta=0.3), 0.3),
        (Settings(curve=(1, 0.5), assumed_curve=(1, 0.5)), 1.0),
    ],
)
def test_a_mistaken_curve_is_never_the_true_one(settings: Settings, eta: float) -> None:
    found = mistaken_curve(settings)
    assert isinstance(found, PowerLaw)
    assert found.eta == eta
    assert not np.array_equal(found.at(RANKS), true_curve(settings).at(RANKS))


def test_live_users_follow_the_curve(world: World) -> None:
    design = LiveDesign(interleaved=200, last_rank=5)
    by_eta = run_live(world, BASE.with_values(eta=0.7), design)
    by_curve = run_live(world, BASE.with_values(eta=0.1, curve=power(0.7)), design)
    assert by_eta.true_curve == by_curve.true_curve
    assert by_eta.sentence == by_curve.sentence


def test_the_assumed_curve_never_simulates_clicks_again(world: World) -> None:
    first = BASE.with_values(curve=(1, 0.5), assumed_curve=(1, 0.9))
    second = BASE.with_values(curve=(1, 0.5), assumed_curve=(1, 0.2))
    assert stage(first, LOG_FIELDS) == stage(second, LOG_FIELDS)
    assert stage(first, WEIGHTED_FIELDS) != stage(second, WEIGHTED_FIELDS)
    assert stage(first, WORLD_FIELDS) == stage(BASE, WORLD_FIELDS) == Settings()
    assert stage(first, LOG_FIELDS) != stage(BASE, LOG_FIELDS)
    logs = [simulate_logs(world, settings).train.clicks for settings in (first, second)]
    np.testing.assert_array_equal(*logs)
    naive, weighted = (
        [train_method(world, settings, 0, method).test.risk for settings in (first, second)]
        for method in ("naive", "propensity")
    )
    assert naive[0] == naive[1]
    assert weighted[0] != weighted[1]


def test_the_users_curve_changes_the_clicks(world: World) -> None:
    shown = [
        simulate_logs(world, BASE.with_values(curve=curve)).train for curve in ((1,), (1, 1e-3))
    ]
    below = [int(log.clicks[log.rank > 1].sum()) for log in shown]
    assert below[0] > 10 * below[1]


def test_a_rank_examined_more_than_the_first_goes_through_every_stage(
    world: World, family: RankerFamily
) -> None:
    settings = BASE.with_values(curve=(0.5, 0.8, 0.3), assumed_curve=(0.5, 0.8, 0.3))
    checks = proof_checks(world, family, settings)
    for check in checks:
        assert check.finding.should_hold is (NO_POSITION_BIAS not in check.proof.assumes)
    assert not any(check.finding.fails for check in checks)
    assert Lab(settings, world.splits).comparison().rankers["propensity"].risk.value > 0


def test_proportional_curves_are_the_same_propensities(world: World, family: RankerFamily) -> None:
    settings = BASE.with_values(curve=(0.9, 0.3, 0.1), assumed_curve=(0.3, 0.1, 1 / 30))
    assert settings.curve != settings.assumed_curve  # by rounding alone
    law = {check.name: check for check in proof_checks(world, family, settings)}
    assert law["corpus-affine-law"].finding.status == "holds"


def test_a_wrong_curve_breaks_the_law_as_the_general_formula_says(
    world: World, family: RankerFamily
) -> None:
    """E[R] = mean of sum rank p/q (eps+ r + eps- (1 - r)), written out here."""
    settings = BASE.with_values(curve=(1, 0.6, 0.4), assumed_curve=(1, 0.9))
    true, assumed = np.full(200, 0.4), np.full(200, 0.9)
    true[:2], assumed[:1] = (1, 0.6), 1
    ranks, queries = world.train.presented_ranks, world.train.corpus.n_queries
    noise = np.where(world.train.relevance, settings.eps_plus, settings.eps_minus)
    weights = true[ranks - 1] / assumed[ranks - 1] * noise
    expected = family.ranks @ weights / queries
    picture = risk_picture(world, family, settings)
    np.testing.assert_allclose(picture.weighted.expected, expected, rtol=1e-12)
    law = {check.name: check for check in proof_checks(world, family, settings)}
    assert law["corpus-affine-law"].finding.status == "does not hold, as predicted"
    predicted = picture.slope * family.true_risk + picture.intercept
    worst = np.max(np.abs(expected - predicted) / predicted)
    assert law["corpus-affine-law"].finding.value == pytest.approx(worst)


def test_ranks_beyond_the_curve_are_said_with_the_first_of_them(world: World) -> None:
    parts = (world.train.corpus, world.validation.corpus)
    longest = max(int(corpus.sizes.max()) for corpus in parts)
    settings = BASE.with_values(curve=(1, 0.5, 0.25))
    (notice,) = set(world_notices(world, settings)) - set(world.notices)
    assert mentions(notice, 1, 3, longest, "rank 4")
    assert notice in Lab(settings.with_values(draws=1), world.splits).comparison().notices
    assert world_notices(world, BASE.with_values(curve=power(1.0))) == world.notices


def test_studies_use_a_curve_where_they_do_not_vary_its_exponent() -> None:
    base = Settings(draws=1, curve=(1, 0.5), assumed_curve=(1, 0.4))
    used = {name: Plan(study, "quick", base).curves for name, study in STUDIES.items()}
    assert used == {
        "learning-curve": ("curve", "assumed_curve"),
        "bias": (),
        "noise": ("curve", "assumed_curve"),
        "misspecification": ("curve",),
        "map-noise": (),
        "map-assumed": (),
        **dict.fromkeys(REPAIRS, ()),
    }
    for name, study in STUDIES.items():
        plan, plain = Plan(study, "quick", base), Plan(study, "quick", Settings(draws=1))
        assert len(plan.cells) == len(plain.cells)
        same = {cell.key for cell in plan.cells} == {cell.key for cell in plain.cells}
        assert same == (not used[name])


def test_cells_without_a_curve_keep_their_names() -> None:
    """Shipped results and journals are found by them."""
    assert GRID_VERSION == 2
    assert cell_of("propensity", Settings(), 3).key == (
        "propensity corpus_seed=0 relevant_grade=3 eta=1 eps_minus=0.1 eps_plus=1 clicks=170000 "
        "seed=0 assumed_eta=1 draw=3"
    )
    keys = {
        cell_of("propensity", Settings(curve=(1, p), assumed_curve=(1, q)), 0).key
        for p in (0.5, 0.25)
        for q in (0.5, 0.25)
    }
    assert len(keys) == 4


def test_claims_about_power_laws_are_not_judged_on_a_curve(world: World) -> None:
    from ultr_core.studies import LOSSES, describe

    plan = Plan(STUDIES["misspecification"], "quick", BASE.with_values(curve=(1, 0.5)))
    result = StudyResult(plan, next(iter(LOSSES.values())), {}, describe(world))
    assert judge(result) == ()
    words = read_study(result)
    assert mentions(words, "given")
    assert "η = 1" not in words
