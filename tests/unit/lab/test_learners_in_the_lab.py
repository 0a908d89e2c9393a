"""Learners other than the ranking SVM in the comparison, and in ``compare --learner``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.meaning import refused_command
from ultr_core.cli import main
from ultr_core.corpus import synthetic_splits
from ultr_core.jobs.compare import LEARNER
from ultr_core.lab import METHODS, Lab
from ultr_core.lab.methods import FED_METHODS, LEARNER_METHODS
from ultr_core.lab.trees import TREE_METHODS
from ultr_core.learners import LEARNERS, SVM
from ultr_core.settings import Settings


def test_every_method_with_weights_has_every_learner() -> None:
    others = [learner for learner in LEARNERS.values() if learner != SVM]
    assert set(LEARNER_METHODS) == {
        f"{key}-{learner.key}" for key in FED_METHODS for learner in others
    }
    assert not set(LEARNER_METHODS) & {*METHODS, *TREE_METHODS}
    assert {*LEARNERS, "trees", "both"} == set(LEARNER.options)


def test_another_learner_gets_the_weights_of_the_method() -> None:
    """The softmax method is the weighted one with that learner, under a key of its own."""
    splits = synthetic_splits(
        3, train_queries=60, validation_queries=20, test_queries=30, features=6,
        mean_candidates=8.0, relevant_share=0.2,
    )  # fmt: skip
    lab = Lab(Settings(clicks=1_500, users="trust-steep"), splits)
    methods = ("softmax", "propensity-softmax", "propensity-squared", "affine-logistic")
    found = lab.comparison(methods=methods)
    told = found.as_dict()["rankers"]
    assert {key: (told[key]["learner"], told[key]["estimator"]) for key in methods} == {
        "softmax": ("softmax", "ips"), "propensity-softmax": ("softmax", "ips"),
        "propensity-squared": ("squared", "ips"), "affine-logistic": ("logistic", "affine"),
    }  # fmt: skip
    assert told["softmax"]["risk"] == told["propensity-softmax"]["risk"]
    for key in methods[2:]:
        assert set(told[key]["costs"]) <= set(LEARNERS[told[key]["learner"]].costs)
        assert told[key]["risk"]["value"] < told["production"]["risk"]["value"] * 1.5


@pytest.mark.parametrize("learner", ["squared", "logistic"])
def test_compare_trains_it(
    small_corpus: Path, capsys: pytest.CaptureFixture[str], learner: str
) -> None:
    command = ["compare", "--corpus", str(small_corpus), "--clicks", "1500", "--draws", "1"]
    assert main([*command, "--learner", learner, "--methods", "naive", "--json"]) == 0
    rankers = json.loads(capsys.readouterr().out)["rankers"]
    assert set(rankers) == {"production", "skyline", f"naive-{learner}"}
    refused_command([*command, "--methods", "one-tower", "--learner", learner], "learner")
