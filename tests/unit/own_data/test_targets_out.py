"""``fit --targets-out``: another learner that trains on the file does as the lab's own does."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.meaning import refused, refused_command
from ultr_core.cli import main
from ultr_core.corpus import Corpus
from ultr_core.corpus.ranking import query_of_document
from ultr_core.files import load_corpus, parse_corpus, parse_log, read_ranker, read_scores
from ultr_core.files.target_files import write_targets
from ultr_core.files.tree_files import read_trees
from ultr_core.inspection import join_log
from ultr_core.lab import training
from ultr_core.learners import trees
from ultr_core.own_data.samples import sample_files
from ultr_core.propensity import Targets

GUIDE = Path(__file__).parents[3] / "docs" / "own_data.md"
FIT = ["fit", "--corpus", "corpus.txt.gz", "--log", "log.csv", "--eta", "1"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files of the guide."""
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt.gz").write_bytes(gzip.compress(sample_files()["corpus"].data))
    Path("log.csv").write_bytes(sample_files()["log"].data)
    return tmp_path


def test_the_recipe_of_the_guide_grows_the_trees_that_the_lab_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many trees as validation chose for the lab's; all scores are equal to the last digits."""
    monkeypatch.setattr(trees, "MOST_TREES", 2 * trees.STEP)
    section = GUIDE.read_text(encoding="utf-8").split("### Another learner\n")[1]
    found = re.search(r"```sh\n(.*?)\n```.*?```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    command, recipe = shlex.split(found[1]), found[2]
    assert command[:3] == ["python", "-m", "ultr_core"]
    assert main([*command[3:], "--out", "trees.txt"]) == 0
    own = read_trees("trees.txt")
    assert "data, 100)" in recipe
    exec(recipe.replace("data, 100)", f"data, {own.trees})"), {})
    corpus = load_corpus("corpus.txt.gz")
    scores = read_scores("scores.txt", corpus)
    assert np.unique(scores).size > 100
    np.testing.assert_allclose(scores, own.score(corpus), rtol=1e-9, atol=1e-12)


def test_linear_equations_of_the_file_give_the_squared_learner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In NumPy alone, with C / n from the ranker's own file; the features come from the corpus."""
    monkeypatch.setattr(training, "FINAL_TOLERANCE", 1e-10)
    out = ["--cost", "10", "--out", "r.json", "--targets-out", "t.parquet"]
    assert main([*FIT, "--learner", "squared", *out]) == 0
    table, corpus = pd.read_parquet("t.parquet"), load_corpus("corpus.txt.gz")
    made_with = json.loads(table["made_with"][0])
    x = np.column_stack([corpus.features, np.ones(len(table))])
    pulled = x.T * (10 / made_with["clicks"] * table["sample_weight"].to_numpy())
    best = np.linalg.solve(pulled @ x + np.eye(x.shape[1]), pulled @ table["target"].to_numpy())
    ranker = read_ranker("r.json")
    np.testing.assert_allclose(ranker.coefficients, best[:-1], atol=1e-9)
    assert np.abs(best).max() > 0.01


@pytest.mark.parametrize("method", ["ips", "clipped", "doubly-robust"])
def test_csv_and_parquet_say_the_same_of_every_estimator(method: str) -> None:
    command = [*FIT, "--learner", "trees", "--method", method]
    if method == "clipped":
        command += ["--clip", "0.2"]
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        assert main([*command, "--targets-out", name]) == 0
    tables = [pd.read_csv("t.csv"), pd.read_csv("t.csv.gz"), pd.read_parquet("t.parquet")]
    pd.testing.assert_frame_equal(tables[0], tables[1], check_exact=True)
    pd.testing.assert_frame_equal(tables[0], tables[2], check_exact=True, check_dtype=False)
    made_with = json.loads(tables[0]["made_with"][0])
    assert made_with["method"] in (method, "clipped")
    record = json.loads(pq.read_schema("t.parquet").metadata[b"made_with"])
    assert made_with == {name: record[name] for name in made_with} and record["fingerprint"]
    if method == "doubly-robust":
        return
    corpus = parse_corpus(sample_files()["corpus"].data, "c")
    log = join_log(parse_log(sample_files()["log"].data), corpus).clicks
    weight = np.minimum(log.rank, 5.0) if method == "clipped" else log.rank  # 1 / max(p, 0.2), 1/p
    summed = np.bincount(log.document, log.clicks * weight, corpus.n_documents)
    drawn = log.draws[query_of_document(corpus.query_offsets)]
    shown = np.bincount(log.document, log.impressions, corpus.n_documents) > 0
    np.testing.assert_array_equal(tables[0]["sample_weight"], np.where(shown, drawn, 0))
    expected = np.where(shown, summed / np.maximum(drawn, 1), 0)
    np.testing.assert_allclose(tables[0]["target"], expected, rtol=1e-12)


def test_targets_do_not_depend_on_the_learner() -> None:
    for name, learner in (("svm.csv", []), ("trees.csv", ["--learner", "trees"])):
        assert main([*FIT, *learner, "--targets-out", name]) == 0
    assert Path("svm.csv").read_bytes() == Path("trees.csv").read_bytes()


def test_rows_lead_back_to_a_file_whose_queries_are_mixed() -> None:
    text = b"1 qid:b 1:4 # docid = x\n0 qid:a 1:5 # docid = y\n0 qid:b 1:6 # docid = z\n"
    corpus = parse_corpus(text, "c")
    targets = Targets(np.array([0.5, 0.0, -0.25]), np.array([2.0, 0.0, 8.0]))
    write_targets("t.csv", corpus, targets, made_with={"method": "ips"})
    table = pd.read_csv("t.csv")
    assert list(table["query"] + table["document"]) == ["bx", "bz", "ay"]
    assert list(table["candidate"]) == [1, 2, 1]
    assert [[4, 5, 6][row - 1] for row in table["row"]] == corpus.features[:, 0].tolist()
    assert list(table["target"]) == [0.5, 0.0, -0.25]
    assert list(table["sample_weight"]) == [2, 0, 8]


def test_targets_of_another_corpus_are_refused() -> None:
    corpus = Corpus(np.ones((2, 1)), np.zeros(2, int), np.array([0, 2]))
    with refused("one_target_each", 3, 2):
        write_targets("t.csv", corpus, Targets(np.zeros(3), np.ones(3)), made_with={})
    assert not Path("t.csv").exists()


def test_what_gives_no_targets_is_refused() -> None:
    out = ["--targets-out", "t.csv"]
    by_position = [*FIT[:-2], "--learner", "trees-by-position", *out]
    refused_command(by_position, "learner", "--targets-out")
    clicks = "".join(f"{q},d1,1,1\n" for q in range(9))
    rows = "".join(f"1 qid:{q} 1:{q} # docid = d1\n0 qid:{q} 1:1 # docid = d2\n" for q in range(9))
    Path("clicks.csv").write_text("query,document,position,click\n" + clicks)
    Path("c.txt").write_text(rows)
    command = ["fit", "--corpus", "c.txt", "--log", "clicks.csv", "--eta", "1", "--cost", "1"]
    assert main(command) == 0
    refused_command([*command, *out], "clicks_only")
    assert not Path("t.csv").exists()
