"""The example of docs/contributing.md: one file and one entry each reach every face of the lab."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ultr_core.cli import main

ROOT = Path(__file__).parents[3]

# The entries are put where the registries are made, before anything reads them.
WITH_ENTRIES = """
import sys
from types import MappingProxyType
import ultr_core.propensity.estimators as estimators, ultr_core.propensity as propensity
import ultr_core.learners.registry as registry, ultr_core.learners as learners
for block in {blocks!r}:
    exec(compile(block, "contributing.md", "exec"), globals())
for one in (estimators, propensity):
    one.ESTIMATORS = MappingProxyType(dict(estimators.ESTIMATORS) | {{CAPPED.key: CAPPED}})
for one in (registry, learners):
    one.LEARNERS = MappingProxyType(dict(registry.LEARNERS) | {{LEAST_SQUARES.key: LEAST_SQUARES}})
"""

FACES = """
from ultr_core.cli import main
from ultr_core.export.own_work import OwnWork, command_lines, own_notebook
files = ["--corpus", "corpus.txt", "--log", "log.csv", "--eta", "1"]
chosen = ["--method", "capped", "--learner", "least-squares"]
assert main(["fit", *files, *chosen, "--out", "ranker.json", "--json"]) == 0
print("=====")
assert main(["evaluate", *files, "--model", "ranker.json", "--json"]) == 0
print("=====")
work = OwnWork("corpus.txt", "log.csv", method="capped", learner="least-squares", steps=("fit",))
print(command_lines(work)[-1])
source = own_notebook(work).source
print("=====")
print("method='capped', learner='least-squares'" in source)
"""

PAGE = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_string(
    "from pages.shared.data_ranker import _controls\\n"
    "from ultr_core.settings import Settings\\n"
    "_controls(Settings())\\n"
).run(timeout=60)
assert not app.exception, app.exception
print([box.options for box in app.selectbox], app.selectbox[0].value)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    ask = ["--clicks", "1000", "--rankers", "2", "--seed", "5"]
    out = ["--out", str(folder / "log.csv"), "--corpus-out", str(folder / "corpus.txt")]
    assert main(["simulate", *ask, *out]) == 0
    return folder


def run(code: str, folder: Path) -> str:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    section = text.split("### An estimator and a learner")[1]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert len(blocks) == 2
    done = subprocess.run(
        [sys.executable, "-c", WITH_ENTRIES.format(blocks=blocks) + code],
        cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_and_notebook_offer_the_example(files: Path) -> None:
    fit, evaluation, line, in_notebook = run(FACES, files).split("=====\n")
    trained = json.loads(fit)
    assert (trained["method"], trained["learner"]) == ("capped", "least-squares")
    assert trained["label"] == "Capped, Least squares"
    assert "gradient norm" in trained["sentence"]
    assert trained["certificate"]["converged"]
    estimates = json.loads(evaluation)["estimates"]
    assert estimates["capped"]["low"] < estimates["capped"]["value"] < estimates["capped"]["high"]
    assert estimates["naive"]["value"] < estimates["capped"]["value"]
    assert "--method capped --learner least-squares" in line
    assert in_notebook.strip() == "True"


def test_the_page_offers_the_example(files: Path) -> None:
    told = run(PAGE, files)
    assert "Capped: a click counts 1 / propensity, at most 10, rescaled" in told
    assert "'Ranking SVM', 'Least squares'" in told
    assert told.strip().endswith("ips")
