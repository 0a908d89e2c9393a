"""The examples of docs/adding.md, in a copy of the house: each reaches every face of the lab."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meaning import mentions

ROOT = Path(__file__).parents[3]

BLOCK = re.compile(r"`([\w/]+\.(?:py|toml))`[^`]*\n```(python|diff)\n(.*?)```", flags=re.DOTALL)
"""A file's whole text, or what is new in it, and the path that is named before."""


def blocks() -> list[tuple[str, str, str]]:
    return BLOCK.findall((ROOT / "docs" / "adding.md").read_text(encoding="utf-8"))


def changed(text: str, diff: str) -> str:
    """The text with each part of a diff in its place, which must be the only one."""
    for part in diff.split("@@\n"):
        lines = part.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, before
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


unfinished = shutil.ignore_patterns("*.pyc.*")
"""What another process is writing while the house is copied."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house with every example in it.

    Compiled modules come along: they say when their source was changed, and so do the copies.
    """
    copy = tmp_path_factory.mktemp("house")
    for name in ("ultr_core", "pages", "tests/unit", "tests/app"):
        shutil.copytree(ROOT / name, copy / name, ignore=unfinished)
    for path in (ROOT / "app.py", ROOT / "pyproject.toml", *(ROOT / "tests").glob("*.py")):
        shutil.copyfile(path, copy / path.relative_to(ROOT))
    for name, kind, block in blocks():
        path = copy / name
        if kind == "diff":
            block = changed(path.read_text(encoding="utf-8"), block)
        elif not path.parent.is_dir():
            path.parent.mkdir()
            (path.parent / "__init__.py").touch()
        path.write_text(block, encoding="utf-8")
    return copy


def python(house: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=house, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(house), "ULTR_TRAINING_PROCESSES": "off"},
    )  # fmt: skip


def printed(house: Path, *arguments: str) -> str:
    done = python(house, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command(house: Path, *arguments: str) -> str:
    return printed(house, "-m", "ultr_core", *arguments)


def test_each_example_is_one_new_file_and_its_entry_but_the_setting() -> None:
    made = [name for name, kind, _ in blocks() if kind == "python"]
    assert made == [
        "ultr_core/propensity/capped.py", "ultr_core/learners/least_squares.py",
        "ultr_core/proofs/naive_law.py", "ultr_core/jobs/attention.py",
        "pages/views/attention/view.py", "pages/attention.py",
    ]  # fmt: skip
    text = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    assert len(re.findall("```(python|diff)", text)) == len(blocks()) == 18


def test_the_examples_pass_the_tools(house: Path) -> None:
    files = sorted({name for name, _, _ in blocks() if name.endswith(".py")})
    printed(house, "-m", "ruff", "check", *files)
    printed(house, "-m", "ruff", "format", "--check", *files)
    # Checked are only they and who imports them where the house itself was checked before.
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", house / ".mypy_cache")
    printed(house, "-m", "mypy", "ultr_core", "app.py", "pages")


def passed(house: Path, only: str, *files: str) -> int:
    """How many tests of the house pass; none may fail."""
    chosen = ("-q", "-n", "0", "-p", "no:cacheprovider", "-k", only)
    counted = printed(house, "-m", "pytest", *chosen, *(f"tests/{name}" for name in files))
    return int(re.findall(r"(\d+) passed", counted)[0])


OF_A_JOB = ("unit/export/test_notebooks.py", "unit/export/test_page_links.py")


def test_the_tests_of_the_house_take_the_examples_in(house: Path) -> None:
    """In one process: what it loads costs as much as the tests."""
    every = ("unit/risk/test_every_estimator.py", "unit/learners/test_every_learner.py")
    # What is expected of all entries: proofs in each world, users of the settings, controls.
    of_all = (
        "unit/proofs/test_proofs.py", "unit/users/test_trusting_users.py",
        "app/test_idle_controls.py",
    )  # fmt: skip
    expected = "right_curve or wrong_curve or every_kind_of_users or that_its_job_names"
    of_commands = ("unit/cli/test_start.py", "unit/cli/test_help.py")
    of_pages = ("app/test_page_notebooks.py", "app/test_take_away.py", "app/test_formulas.py")
    of_job = "attention or every_entry or raw_power"
    only = f"capped or least-squares or {expected} or {of_job}"
    assert passed(house, only, *every, *of_all, *OF_A_JOB, *of_commands, *of_pages) > 50


def test_a_job_without_a_page_passes_as_well(house: Path, tmp_path: Path) -> None:
    other = tmp_path / "house"
    shutil.copytree(house, other)
    (other / "pages" / "attention.py").unlink()
    registry = other / "pages" / "app" / "registry.py"
    registry.write_text(registry.read_text(encoding="utf-8").replace("    ATTENTION,\n", ""))
    job = other / "ultr_core" / "jobs" / "attention.py"
    without = job.read_text(encoding="utf-8").replace("(TOP,))},", "(TOP,), in_app=False)},")
    job.write_text(without, encoding="utf-8")
    pages = "app/test_page_notebooks.py"
    only = "(attention or lessons-default) and not identity"  # which the job with a page has shown
    assert passed(other, only, *OF_A_JOB, pages) > 5
    link = "http://host/attention?eta=0.5"
    opening = json.loads(command(other, "notebook", "attention", "--link", link))["cells"][0]
    assert link not in "".join(opening["source"])


@pytest.fixture(scope="module")
def files(house: Path) -> tuple[str, ...]:
    """Options for a corpus, a click log and the belief about it."""
    out = ("--out", "log.csv", "--corpus-out", "corpus.txt")
    command(house, "simulate", "--clicks", "1000", "--rankers", "2", "--seed", "5", *out)
    return ("--corpus", "corpus.txt", "--log", "log.csv", "--eta", "1")


def test_commands_offer_estimator_and_learner(house: Path, files: tuple[str, ...]) -> None:
    chosen = ("--method", "capped", "--learner", "least-squares", "--out", "ranker.json")
    trained = json.loads(command(house, "fit", *files, *chosen, "--json"))
    assert (trained["method"], trained["learner"]) == ("capped", "least-squares")
    assert trained["label"] == "Capped, Least squares"
    assert "gradient norm" in trained["sentence"]
    assert trained["certificate"]["converged"]
    judged = command(house, "evaluate", *files, "--model", "ranker.json", "--json")
    estimates = json.loads(judged)["estimates"]
    assert estimates["capped"]["low"] < estimates["capped"]["value"] < estimates["capped"]["high"]
    assert estimates["naive"]["value"] < estimates["capped"]["value"]


YOUR_DATA = """
from streamlit.testing.v1 import AppTest
from ultr_core.jobs.your_data import OwnWork, command_lines, own_notebook
app = AppTest.from_string(
    "from pages.app.context import Launch, PageContext\\n"
    "from pages.app.registry import HOME\\n"
    "from pages.views.your_data.ranker import _controls\\n"
    "from ultr_core.settings import Settings\\n"
    "_controls(PageContext(HOME, Settings(), Launch()), Settings())\\n"
).run(timeout=60)
assert not app.exception, app.exception
print([box.options for box in app.selectbox])
work = OwnWork("corpus.txt", ("log.csv",), method="capped", learner="least-squares", steps=("fit",))
print(command_lines(work)[-1])
print("method='capped', learner='least-squares'" in own_notebook(work).source)
"""


def test_page_and_notebook_offer_estimator_and_learner(house: Path) -> None:
    boxes, line, in_notebook = printed(house, "-c", YOUR_DATA).splitlines()[-3:]
    methods, learners = ast.literal_eval(boxes)[:2]
    assert "Capped: a click counts 1 / propensity, at most 4, rescaled" in methods
    assert "Least squares" in learners
    assert "--method capped --learner least-squares" in line
    assert in_notebook == "True"


def proof_in(house: Path, *options: str) -> dict[str, object]:
    checks = json.loads(command(house, "proofs", "--clicks", "2000", "--json", *options))["checks"]
    (found,) = (check for check in checks if check["name"] == "naive-law")
    return found


def test_the_proof_holds_without_position_bias_and_fails_with_it(
    house: Path, small_corpus: Path
) -> None:
    on = ("--corpus", str(small_corpus))
    held = proof_in(house, "--eta", "0", "--assumed-eta", "0", *on)
    assert held["holds"] and held["should_hold"]
    assert held["measured"] == pytest.approx(0, abs=1e-10)
    broken = proof_in(house, "--eta", "1", *on)
    assert not broken["holds"] and not broken["should_hold"]
    assert broken["measured"] > 0.1
    assert broken["status"] == "does not hold, as predicted"


def test_the_job_is_a_command_a_link_and_a_notebook(house: Path) -> None:
    found = json.loads(command(house, "attention", "--eta", "0.5", "--top", "3", "--json"))
    assert found == {"top": 3, "looks": pytest.approx(1 + 2**-0.5 + 3**-0.5)}
    refused = python(house, "-m", "ultr_core", "attention", "--top", "0")
    assert refused.returncode == 2
    assert mentions(refused.stderr, "'0'", "1 to 1,000", "(--top)")
    link = "http://host/attention?eta=0.5&top=3"
    cells = json.loads(command(house, "notebook", "attention", "--link", link))["cells"]
    source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    assert float(printed(house, "-c", source).splitlines()[-1]) == found["looks"]


APP = """
import sys
from streamlit.testing.v1 import AppTest
sys.argv = ["app.py", "--corpus", {corpus!r}]
app = AppTest.from_file("app.py", default_timeout=120)
for key, value in {{"eta": "0.5", "depth": "3", "top": "5", "draws": "1", "clicks": "500"}}.items():
    app.query_params[key] = value
app.session_state["checks"] = True
app.run()
assert not app.exception, app.exception
words = [element.value for element in app.markdown]
print(any("even the naive risk is a straight line" in text for text in words))
app.switch_page("pages/attention.py").run()
assert not app.exception, app.exception
print(app.select_slider(key="depth").value, app.number_input(key="top").value, app.metric[0].value)
app.select_slider(key="depth").set_value(1).run()
print(app.metric[0].value)
"""


def test_proof_page_and_setting_are_in_the_app(house: Path, small_corpus: Path) -> None:
    shown = printed(house, "-c", APP.format(corpus=str(small_corpus))).splitlines()[-3:]
    assert shown == ["True", "3 5 2.28", "1.00"]


STAGES = """
import json, sys
from ultr_core.lab import Lab
from ultr_core.settings import Settings
from ultr_core.studies.cells import cell_of
lab = Lab(Settings(clicks=2_000), sys.argv[1])
log, key = lab.training_log(), cell_of("propensity", lab.settings, 0).key
print(json.dumps([int(log.clicks.sum()), int(log.clicks @ log.rank), lab.settings.to_query(), key]))
if hasattr(lab.settings, "depth"):
    link = Settings.from_query({"clicks": "2000", "depth": "3"})[0]
    short = lab.at(link)
    same = short.peek(short.cell("world", ("corpus_seed", "relevant_grade"))) is lab.world()
    log = short.training_log()
    key = cell_of("propensity", link, 0).key
    print(json.dumps([same, int(log.rank[log.clicks > 0].max()), link.to_query(), key]))
"""


def test_the_setting_makes_anew_what_names_it_and_old_links_and_results_stay(
    house: Path, small_corpus: Path
) -> None:
    before = printed(ROOT, "-c", STAGES, str(small_corpus))
    after, short = printed(house, "-c", STAGES, str(small_corpus)).splitlines()
    assert before.splitlines() == [after]
    *found, key = json.loads(short)
    assert found == [True, 3, "clicks=2,000&depth=3"]
    assert key.replace(" depth=3", "") == json.loads(after)[-1]
    assert "--depth" in command(house, "compare", "--help")
    refused = python(house, "-m", "ultr_core", "compare", "--depth", "0")
    assert refused.returncode == 2 and "(--depth)" in refused.stderr
