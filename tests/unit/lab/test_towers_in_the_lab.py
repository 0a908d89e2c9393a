"""Two towers beside the ranking SVM in the comparison, and in ``compare --methods``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.meaning import refused_command
from ultr_core.cli import main
from ultr_core.corpus import CorpusSplits, synthetic_splits
from ultr_core.lab import Lab
from ultr_core.learners.towers import RIDGES, TOLERANCE
from ultr_core.settings import Settings

TOWERS = ("one-tower", "two-towers-additive", "two-towers-product")


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return synthetic_splits(
        3, train_queries=150, validation_queries=40, test_queries=60, features=8,
        mean_candidates=10.0, relevant_share=0.2,
    )  # fmt: skip


@pytest.mark.parametrize("logger", ["production", "plackett-luce"])
def test_towers_train_under_every_logger_and_need_no_propensities(
    logger: str, splits: CorpusSplits
) -> None:
    lab = Lab(Settings(clicks=20_000, logger=logger, shown=6), splits)
    wrong = lab.at(lab.settings.with_values(assumed_eta=0.0))
    naive = lab.trained(0, "naive").test.risk
    for key in TOWERS:
        found = lab.trained(0, key)
        assert found.gap <= TOLERANCE and found.estimator == ""
        assert any(found.cost * ridge == pytest.approx(found.clicks) for ridge in RIDGES)
        assert wrong.trained(0, key) is found
        assert key == "one-tower" or found.test.risk < naive


def test_compare_offers_towers_but_grows_no_trees_on_them(
    small_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "--corpus", str(small_corpus), "--clicks", "1500", "--draws", "1"]
    command += ["--methods", "naive,two-towers-additive"]
    assert main([*command, "--json"]) == 0
    rankers = json.loads(capsys.readouterr().out)["rankers"]
    assert list(rankers) == ["production", "naive", "two-towers-additive", "skyline"]
    told = rankers["two-towers-additive"]
    assert (told["estimator"], told["estimators"], told["clips"]) == (None, [], [1.0])
    assert (told["learner"], rankers["naive"]["learner"]) == ("two-towers-additive", "svm")
    refused_command([*command, "--learner", "trees"], "learner", "two-towers-additive")
