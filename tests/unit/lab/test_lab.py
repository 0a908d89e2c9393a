"""A lab gives the core's numbers, each stage made once and under only what it depends on."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meaning import refused
from ultr_core.corpus import CorpusShape, CorpusSplits, synthetic_splits
from ultr_core.files import load_directory
from ultr_core.lab import (
    CLICK_METHODS,
    Cell,
    Lab,
    Store,
    build_world,
    proof_checks,
    ranker_family,
    simulate_logs,
    summarise,
    train_method,
)
from ultr_core.lab import lab as stages
from ultr_core.lab.live import LiveDesign, run_live
from ultr_core.lab.propensity_study import SwapDesign, estimate_by, second_ranker
from ultr_core.settings import Settings
from ultr_core.studies.source import WorldSource, description_of, world_of
from ultr_core.users import PowerLaw, TrustBiasModel

SETTINGS = Settings(clicks=2_000, draws=2)
DESIGN = SwapDesign(last_rank=5, sessions=2_000)
MADE = (
    "build_world", "ranker_family", "simulate_training_log", "simulate_logs", "risk_picture",
    "train_method", "proof_checks",
)  # fmt: skip


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return synthetic_splits(
        3, train_queries=60, validation_queries=30, test_queries=40, features=6,
        mean_candidates=10.0, relevant_share=0.15,
    )  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each stage has been made."""
    counts: Counter[str] = Counter()

    def counted(name: str) -> Any:
        make = getattr(stages, name)

        def watched(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            return make(*args, **options)

        return watched

    for name in MADE:
        monkeypatch.setattr(stages, name, counted(name))
    return counts


def everything(lab: Lab) -> None:
    lab.comparison()
    lab.picture()
    lab.checks()


def test_each_stage_is_made_once(splits: CorpusSplits, made: Counter[str]) -> None:
    lab = Lab(SETTINGS, splits)
    everything(lab)
    everything(lab)
    everything(lab.at(SETTINGS))
    assert made == {
        "build_world": 1, "ranker_family": 1, "simulate_training_log": 2, "simulate_logs": 2,
        "risk_picture": 1, "train_method": 6, "proof_checks": 1,
    }  # fmt: skip


def test_the_first_picture_is_the_whole_one_once_that_is_there(splits: CorpusSplits) -> None:
    lab = Lab(SETTINGS, splits)
    first = lab.first_picture()
    assert first is lab.first_picture()
    whole = lab.picture()
    assert whole is not first
    assert whole is lab.first_picture()


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        (
            {"assumed_eta": 0.5},
            {"risk_picture": 1, "train_method": 4, "proof_checks": 1},
        ),
        ({"draws": 3}, {"simulate_training_log": 1, "simulate_logs": 1, "train_method": 3}),
        (
            {"eta": 0.5},
            {"simulate_training_log": 2, "simulate_logs": 2, "risk_picture": 1,
             "train_method": 6, "proof_checks": 1},
        ),
    ],
)  # fmt: skip
def test_moving_the_assumed_eta_never_simulates_clicks_again(
    splits: CorpusSplits, made: Counter[str], changes: dict[str, Any], again: dict[str, int]
) -> None:
    lab = Lab(SETTINGS, splits)
    everything(lab)
    made.clear()
    everything(lab.at(SETTINGS.with_values(**changes)))
    assert made == again


def test_many_callers_at_once_make_each_stage_once(
    splits: CorpusSplits, made: Counter[str]
) -> None:
    lab = Lab(SETTINGS.with_values(draws=1), splits)
    threads = [threading.Thread(target=everything, args=(lab,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(made.values()) == {1, 3}
    assert made["train_method"] == 3


def test_numbers_are_those_of_the_core(splits: CorpusSplits) -> None:
    lab, world = Lab(SETTINGS, splits), build_world(SETTINGS, splits)
    logs = [simulate_logs(world, SETTINGS, draw) for draw in range(SETTINGS.draws)]
    trained = {
        method: [train_method(world, SETTINGS, d, method, log) for d, log in enumerate(logs)]
        for method in CLICK_METHODS
    }
    assert lab.comparison().as_dict() == summarise(world, SETTINGS, trained).as_dict()
    checks = proof_checks(world, ranker_family(world), SETTINGS)
    assert [c.as_dict() for c in lab.checks()] == [c.as_dict() for c in checks]
    second = second_ranker(world, SETTINGS)
    for users in (None, TrustBiasModel.published()):
        found = lab.swaps(DESIGN, "ctr", users)
        there = estimate_by("ctr", world, users or lab.users, DESIGN, second, SETTINGS.seed)
        assert found.estimate == there.estimate
    design = LiveDesign(interleaved=100, last_rank=5)
    parts: list[str] = []
    live = lab.live(design, progress=parts.append)
    assert live.as_dict() == run_live(world, live.settings, design).as_dict()
    assert len(parts) > 3


def test_a_comparison_of_what_is_done_trains_nothing_else(
    splits: CorpusSplits, made: Counter[str]
) -> None:
    lab = Lab(SETTINGS, splits)
    assert lab.comparison([]).draws == 0
    assert lab.comparison([(0, "naive")]).naive_excess is None
    found = lab.comparison([(0, "naive"), (0, "propensity")])
    assert found.draws == 1
    assert set(found.rankers) == {"production", "naive", "propensity", "skyline"}
    assert made["train_method"] == 2


def test_a_directory_is_read_once_and_is_the_corpus_it_holds(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def load(path: Any) -> CorpusSplits:
        reads.append(path)
        return load_directory(path)

    monkeypatch.setattr(stages, "load_directory", load)
    lab = Lab(SETTINGS, str(small_corpus))
    for seed in (1, 2):
        assert lab.at(SETTINGS.with_values(corpus_seed=seed)).world().train.corpus.n_queries == 80
    assert len(reads) == 1


def test_labs_of_two_corpora_share_a_store_and_no_number(
    splits: CorpusSplits, small_corpus: Path
) -> None:
    store = Store()
    one, two = Lab(SETTINGS, splits, store), Lab(SETTINGS, str(small_corpus), store)
    assert one.world() is not two.world()
    assert one.trained(0, "naive").test != two.trained(0, "naive").test


def test_cells_pickle_and_any_lab_makes_them(splits: CorpusSplits) -> None:
    here = Lab(SETTINGS)
    cells = [here.trained_cell(1, "propensity"), here.checks_cell()]
    there = Lab()
    for cell in cells:
        copy: Cell = pickle.loads(pickle.dumps(cell))
        assert (copy, hash(copy)) == (cell, hash(cell))
        found = pickle.loads(pickle.dumps(there.make(copy)))
        assert here.peek(cell) is None
        if cell.kind == "trained":
            assert np.array_equal(found.coefficients, here.trained(1, "propensity").coefficients)
        else:
            assert found == here.checks()
        assert there.peek(cell) is not None


def test_every_cell_is_made_by_the_method_it_names(splits: CorpusSplits) -> None:
    """Also those that are told, or ordered, only later."""
    told: list[Cell] = []
    store = Store()
    lab = Lab(SETTINGS, splits, store, tell=told.append)
    trust = TrustBiasModel.published()
    for ask in (
        lab.world, lab.family, lab.logs, lab.training_log, lab.picture, lab.second_ranker,
        lab.checks, lab.live, lambda: lab.trained(0, "clipped"), lambda: lab.risk_with(None),
        lambda: lab.swaps(DESIGN), lambda: lab.swap_limit(DESIGN, trust),
        lambda: lab.risk_with(PowerLaw(0.5)),
    ):  # fmt: skip
        ask()
    assert len({cell.kind for cell in told}) == 11
    for cell in told:
        assert Lab(store=store).make(cell) is lab.peek(cell), cell.kind


def test_it_tells_what_is_about_to_be_made_and_nothing_that_is_held(splits: CorpusSplits) -> None:
    told: list[Cell] = []
    lab = Lab(SETTINGS, splits, tell=told.append)
    lab.trained(0, "naive")
    lab.trained(0, "naive")
    lab.picture()
    assert [(cell.kind, cell.args) for cell in told] == [
        ("trained", (0, "naive")), ("picture", ()),
    ]  # fmt: skip


def test_who_runs_a_cell_may_make_it_elsewhere(splits: CorpusSplits) -> None:
    ran: list[str] = []

    def run(cell: Cell, make: Any) -> Any:
        ran.append(cell.kind)
        return "elsewhere" if cell.kind == "trained" else make()

    lab = Lab(SETTINGS, splits, run=run)
    assert lab.trained(0, "naive") == "elsewhere"
    assert ran == ["trained"]
    assert lab.family().kinds
    assert ran == ["trained", "family", "world"]


@pytest.mark.parametrize("method", ["skyline", "nonsense"])
def test_what_does_not_learn_from_clicks_is_a_sentence(splits: CorpusSplits, method: str) -> None:
    lab = Lab(SETTINGS, splits)
    with refused("not_from_clicks"):
        lab.trained(0, method)
    with refused("not_from_clicks"):
        lab.comparison([(0, method)])


def test_a_size_is_the_synthetic_corpus_of_that_size_and_travels_to_workers() -> None:
    shape = CorpusShape(60, 30, 40, 6, 10.0)
    source = WorldSource(Settings(corpus_seed=3), shape)
    there: WorldSource = pickle.loads(pickle.dumps(source))
    made = there.lab.splits()
    assert made is not None
    expected = synthetic_splits(
        3, train_queries=60, validation_queries=30, test_queries=40, features=6,
        mean_candidates=10.0,
    )  # fmt: skip
    assert np.array_equal(made.train.features, expected.train.features)
    assert np.array_equal(made.test.grades, expected.test.grades)
    assert world_of(source) is world_of(there)
    assert description_of(source) is description_of(there)
