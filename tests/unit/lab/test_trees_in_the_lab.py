"""Trees beside the ranking SVM in the comparison, and in ``compare --learner``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.meaning import refused_command
from ultr_core.cli import main
from ultr_core.corpus import CorpusSplits, synthetic_splits
from ultr_core.jobs import output
from ultr_core.lab import METHODS, Lab
from ultr_core.lab.comparison import label_of
from ultr_core.lab.trees import TREE_METHODS
from ultr_core.learners import SVM, trees, trees_by_position
from ultr_core.settings import Settings


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return synthetic_splits(
        3, train_queries=150, validation_queries=40, test_queries=60, features=8,
        mean_candidates=10.0, relevant_share=0.2,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_TREES", 2 * trees.STEP)


def test_a_comparison_has_trees_as_methods_of_their_own(splits: CorpusSplits) -> None:
    lab = Lab(Settings(clicks=4_000, draws=2, users="trust-steep"), splits)
    methods = ("propensity", "propensity-trees", "affine-trees")
    found = lab.comparison(methods=methods)
    told = found.as_dict()["rankers"]
    assert {key: (each["learner"], each["estimator"]) for key, each in told.items()} == {
        "production": (None, None), "skyline": (None, None), "propensity": ("svm", "ips"),
        "propensity-trees": ("trees", "ips"), "affine-trees": ("trees", "affine"),
    }  # fmt: skip
    for key in methods[1:]:
        assert set(told[key]["trees"]) <= {trees.STEP, 2 * trees.STEP}
        assert "costs" not in told[key]
        assert told[key]["risk"]["value"] < told["production"]["risk"]["value"] * 1.5
    assert len(told["propensity"]["costs"]) == 2
    assert len(found.differences) == 3
    again = Lab(lab.settings, splits).trained(1, "affine-trees")
    assert again.test == lab.trained(1, "affine-trees").test


def test_a_rejected_fit_of_relevance_grows_trees_on_what_takes_its_place(
    splits: CorpusSplits,
) -> None:
    """Of two draws by doubly robust each says which estimator fed the trees."""
    lab = Lab(Settings(clicks=2_000), splits)
    trained = lab.trained(0, "doubly-robust-trees")
    assert trained.by_rank is not None
    assert trained.estimator == ("clipped" if trained.by_rank.rejected else "doubly-robust")
    assert np.isfinite(trained.test.risk)


def test_every_method_with_an_estimator_has_its_trees() -> None:
    fed = {
        key
        for key, method in METHODS.items()
        if method.estimator is not None and method.learner == SVM
    }
    own = {key for key, method in METHODS.items() if method.grower is not None}
    assert set(TREE_METHODS.values()) == fed | own
    assert set(TREE_METHODS) & set(METHODS) == own == {"trees-by-position"}


def test_trees_by_position_need_no_curve_and_no_estimator(
    splits: CorpusSplits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees_by_position, "MOST_TREES", trees.STEP)
    lab = Lab(Settings(clicks=4_000, draws=2), splits)
    told = lab.comparison(methods=("trees-by-position",)).as_dict()["rankers"]
    found = told["trees-by-position"]
    assert (found["learner"], found["estimator"], found["estimators"]) == ("trees", None, [])
    assert found["trees"] == [trees.STEP] * 2
    assert found["risk"]["value"] < told["production"]["risk"]["value"] * 1.5
    assumed = lab.at(lab.settings.with_values(assumed_eta=0.3))
    assert assumed.trained(0, "trees-by-position") is lab.trained(0, "trees-by-position")


def test_compare_chooses_the_learner(
    small_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["compare", "--corpus", str(small_corpus), "--clicks", "1500", "--draws", "1"]
    command += ["--methods", "naive", "--learner"]
    assert main([*command, "both", "--json"]) == 0
    rankers = json.loads(capsys.readouterr().out)["rankers"]
    assert list(rankers) == ["production", "naive", "skyline", "naive-trees"]
    asked = [*command[:-3], "--methods", "production,naive,skyline", "--learner", "trees", "--json"]
    assert main(asked) == 0
    with_fixed = json.loads(capsys.readouterr().out)
    assert main([*command, "trees", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == with_fixed
    refused_command([*asked[:-5], "--methods", "skyline"], "methods", "skyline")
    monkeypatch.setattr(output, "_LINE_EVERY", 0.0)
    assert main([*command, "both"]) == 0
    told = capsys.readouterr().err.splitlines()
    for key in ("naive", "naive-trees"):
        assert sum(line.endswith(f"1 of 1: {label_of(key)}") for line in told) == 1
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    refused_command([*command, "trees"], "lightgbm")
