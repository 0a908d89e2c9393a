"""Trees grown on a log from outside: in Python, and by ``fit`` and ``evaluate``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from tests.meaning import refused_command
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import expected_ranks
from ultr_core.files import parse_corpus, parse_log, read_scores
from ultr_core.files.tree_files import read_trees
from ultr_core.inspection import join_log
from ultr_core.learners import trees, trees_by_position
from ultr_core.own_data.samples import sample_files
from ultr_core.own_data.tree_fitting import fit_trees_from_log
from ultr_core.risk import true_risk
from ultr_core.users import ClickLog, PowerLaw

CURVE = PowerLaw(1.0)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_TREES", 3 * trees.STEP)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return parse_corpus(sample_files()["corpus"].data, "sample")


@pytest.fixture(scope="module")
def clicks(corpus: Corpus) -> ClickLog:
    return join_log(parse_log(sample_files()["log"].data), corpus).clicks


@pytest.mark.parametrize("method", ["ips", "clipped", "doubly-robust"])
def test_any_estimator_feeds_trees(corpus: Corpus, clicks: ClickLog, method: str) -> None:
    fit = fit_trees_from_log(corpus, clicks, CURVE, method=method)
    risks = [
        true_risk(expected_ranks(scores, corpus.query_offsets), corpus.relevance(3),
                  corpus.query_offsets)
        for scores in (fit.ranker.score(corpus), np.zeros(corpus.n_documents))
    ]  # fmt: skip
    assert risks[0] < 0.75 * risks[1]
    told = fit.as_dict()
    assert (told["asked"] if "asked" in told else told["method"]) == method
    assert told["trees"] == fit.ranker.trees
    assert told["trees"] % trees.STEP == 0
    assert (told["clip"] > 0) <= (fit.method != "ips")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for kind, name in (("corpus", "c.txt"), ("log", "log.csv")):
        (tmp_path / name).write_bytes(sample_files()[kind].data)
    return ["--corpus", str(tmp_path / "c.txt"), "--log", str(tmp_path / "log.csv"), "--eta", "1"]


def told(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*command, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_fit_writes_trees_that_evaluate_and_lightgbm_read(
    files: list[str], corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, scores = tmp_path / "trees.txt", tmp_path / "scores.csv"
    code, fit = told(
        capsys, "fit", *files, "--learner", "trees", "--out", str(model), "--scores-out",
        str(scores), "--fold-scores-out", str(tmp_path / "folds.csv"),
    )  # fmt: skip
    assert (code, fit["learner"], "cost" in fit) == (0, "trees", False)
    np.testing.assert_array_equal(
        lightgbm.Booster(model_file=str(model)).predict(corpus.features),
        read_trees(model).score(corpus),
    )
    np.testing.assert_array_equal(read_scores(scores, corpus), read_trees(model).score(corpus))
    code, own = told(capsys, "evaluate", *files, "--model", str(model), "--gate")
    assert (code, own["gate"]["deploy"], own["gate"]["bound"]) == (1, False, None)
    code, fair = told(capsys, "evaluate", *files, "--scores", str(tmp_path / "folds.csv"), "--gate")
    assert code == (0 if fair["gate"]["deploy"] else 1)
    assert fair["gate"]["bound"] is not None
    assert own["true"]["risk"] < fair["true"]["risk"]


def test_fit_grows_trees_by_position_without_propensities(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(trees_by_position, "MOST_TREES", trees.STEP)
    without_curve = [*files[:-2], "--learner", "trees-by-position"]
    model = tmp_path / "trees.txt"
    code, fit = told(
        capsys, "fit", *without_curve, "--out", str(model), "--fold-scores-out",
        str(tmp_path / "folds.csv"),
    )  # fmt: skip
    assert (code, fit["learner"], fit["method"]) == (0, "trees-by-position", None)
    assert fit["trees"] == read_trees(model).trees == trees.STEP
    code, own = told(capsys, "evaluate", *files, "--model", str(model), "--gate")
    assert (code, own["gate"]["deploy"], own["gate"]["bound"]) == (1, False, None)
    code, fair = told(capsys, "evaluate", *files, "--scores", str(tmp_path / "folds.csv"), "--gate")
    assert fair["gate"]["bound"] is not None
    assert own["true"]["risk"] < fair["true"]["risk"] < 1.5 * own["true"]["risk"]
    for option in ("--method ips", "--clip 0.1"):
        refused_command(["fit", *without_curve, *option.split()], "learner", option.split()[0])


@pytest.mark.parametrize("option", ["--cost 1", "--svm-light-out X", "--weights-out X"])
def test_what_belongs_to_linear_rankers_is_refused_before_files_are_read(
    option: str, tmp_path: Path
) -> None:
    given = option.replace("X", str(tmp_path / "x")).split()
    command = ["fit", "--corpus", "no/such", "--log", "no.csv", "--eta", "1", "--learner", "trees"]
    refused_command([*command, *given], "learner", given[0])


def test_a_model_that_is_no_ranker_is_refused(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("tree\nversion=v4\n")
    refused_command(["evaluate", *files, "--model", str(tmp_path / "bad.txt")], "tree_model")
