"""The example of docs/contributing.md: one file and one entry each reach every face of the lab."""

from __future__ import annotations

import ast
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
    exec(compile(block, "contributing.md", "exec", dont_inherit=True), globals())
for one in (estimators, propensity):
    one.ESTIMATORS = MappingProxyType(dict(estimators.ESTIMATORS) | {{CAPPED.key: CAPPED}})
for one in (registry, learners):
    one.LEARNERS = MappingProxyType(dict(registry.LEARNERS) | {{LEAST_SQUARES.key: LEAST_SQUARES}})
"""

FACES = """
from ultr_core.cli import main
from ultr_core.jobs.your_data import OwnWork, command_lines, own_notebook
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
    "from pages.views.your_data.ranker import _controls\\n"
    "from ultr_core.settings import Settings\\n"
    "_controls(Settings())\\n"
).run(timeout=60)
assert not app.exception, app.exception
print([box.options for box in app.selectbox])
print(app.selectbox[0].value)
"""

EVERY = """
import pytest
folder = "{root}/tests/unit/"
files = [folder + "risk/test_every_estimator.py", folder + "learners/test_every_learner.py"]
chosen = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", "{root}", "-c"]
chosen += ["{root}/pyproject.toml", "-k", "capped or least-squares"]
assert pytest.main([*files, *chosen]) == 0
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    ask = ["--clicks", "1000", "--rankers", "2", "--seed", "5"]
    out = ["--out", str(folder / "log.csv"), "--corpus-out", str(folder / "corpus.txt")]
    assert main(["simulate", *ask, *out]) == 0
    return folder


def blocks_of_guide(title: str = "An estimator and a learner") -> list[str]:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    section = text.split(f"### {title}\n")[1].split("\n### ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert len(blocks) == 2
    return blocks


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITH_ENTRIES.format(blocks=blocks_of_guide()) + code],
        cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(*arguments: str, text: str | None = None) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_passes_the_tools(tmp_path: Path) -> None:
    paths = ("ultr_core/propensity/capped.py", "ultr_core/learners/least_squares.py")
    for block, name in zip(blocks_of_guide(), paths, strict=True):
        tool("ruff", "check", "--stdin-filename", name, "-", text=block)
        tool("ruff", "format", "--check", "--stdin-filename", name, "-", text=block)
        (tmp_path / Path(name).name).write_text(block, encoding="utf-8")
    # What it imports is known, and is checked elsewhere.
    tool("mypy", "--follow-imports=silent", *(str(path) for path in tmp_path.iterdir()))


def test_the_tests_of_every_estimator_and_learner_take_the_example_in(tmp_path: Path) -> None:
    counted = run(EVERY.format(root=ROOT), tmp_path)
    assert int(re.findall(r"(\d+) passed", counted)[0]) > 10


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
    boxes, chosen = told.strip().splitlines()[-2:]
    learners = next(box for box in ast.literal_eval(boxes) if "Ranking SVM" in box)
    assert "Least squares" in learners
    assert chosen == "ips"


EVERY_JOB = """
import pytest
files = [
    "unit/export/test_notebooks.py", "unit/export/test_page_links.py", "unit/cli/test_start.py",
    "unit/cli/test_help.py", "app/test_page_notebooks.py", "app/test_take_away.py",
    "app/test_formulas.py",
]
chosen = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", "{root}", "-c"]
# Not what starts a process of its own, which does not know the example.
only = "(attention or every_entry or raw_power) and not without_screen"
chosen += ["{root}/pyproject.toml", "-k", only]
assert pytest.main(["{root}/tests/" + file for file in files] + chosen) == 0
"""

# The file lies in a folder of its own, which the room is told of before anything reads its list.
WITH_JOB = """
import ultr_core.jobs as jobs
from ultr_core.jobs import Entry
jobs.__path__.append({folder!r})
jobs.JOBS += ({line})
"""

FACES_OF_A_JOB = """
import json, sys
from ultr_core.cli import main
from ultr_core.jobs.links import page_query, read_page_query
from ultr_core.settings import Settings
assert main(["attention", "--eta", "0.5", "--top", "3", "--json"]) == 0
print("=====")
assert main(["attention", "--top", "0"]) == 2
link = page_query("attention", Settings(eta=0.5), {"top": 3})
print(link)
print(read_page_query("attention", link)[1:])
print("=====")
assert main(["notebook", "attention", "--link", "http://host/attention?" + link]) == 0
"""


def run_with_job(code: str, folder: Path) -> str:
    """What a program prints where the guide's job is one of the jobs."""
    block, line = blocks_of_guide("A job")
    (folder / "attention.py").write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITH_JOB.format(folder=str(folder), line=line) + code],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_of_every_job_take_the_example_in(tmp_path: Path) -> None:
    counted = run_with_job(EVERY_JOB.format(root=ROOT), tmp_path)
    assert int(re.findall(r"(\d+) passed", counted)[0]) > 10


def test_a_job_is_one_file_and_one_line(tmp_path: Path) -> None:
    block, line = blocks_of_guide("A job")
    tool("ruff", "check", "--stdin-filename", "ultr_core/jobs/attention.py", "-", text=block)
    tool("ruff", "format", "--check", "--stdin-filename", "attention.py", "-", text=block)
    (tmp_path / "attention.py").write_text(block, encoding="utf-8")
    tool("mypy", "--follow-imports=silent", str(tmp_path / "attention.py"))
    done = subprocess.run(
        [sys.executable, "-c", WITH_JOB.format(folder=str(tmp_path), line=line) + FACES_OF_A_JOB],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed, linked, notebook = done.stdout.split("=====\n")
    found = json.loads(printed)
    assert found == {"top": 3, "looks": pytest.approx(1 + 2**-0.5 + 3**-0.5)}
    assert "Top ranks K is '0'; it must be a whole number from 1 to 1,000 (--top)." in done.stderr
    assert linked.splitlines() == ["eta=0.5&top=3", "({'top': 3}, ())"]
    source = "\n".join(
        "".join(cell["source"])
        for cell in json.loads(notebook)["cells"]
        if cell["cell_type"] == "code"
    )
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert float(ran.stdout.splitlines()[-1]) == found["looks"], ran.stderr
