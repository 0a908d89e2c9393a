"""What a start costs, and which packages it can do without."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meaning import mentions
from ultr_core.jobs import JOBS

COMMANDS = [entry for entry in JOBS if entry.summary]

ROOT = Path(__file__).parents[3]
MOST_RUNS = 5
SCREEN = ("streamlit", "segno")
PICTURES = ("altair", "vl_convert", "pandas")

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from ultr_core.__main__ import run
raise SystemExit(run())
"""

HELPS = """
names = sys.argv[1:]
for name in names:
    sys.argv[1:] = [name, "--help"]
    try:
        run()
    except SystemExit as end:
        assert not end.code
"""


def without(missing: tuple[str, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where packages are not installed."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing), *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip


def cpu_seconds(*arguments: str) -> float:
    """CPU time of a Python process and its threads."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert process.stderr is not None
    process.stderr.close()
    return usage.ru_utime + usage.ru_stime


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="wait4 of POSIX")
def test_a_start_costs_little_more_than_importing_numpy() -> None:
    """The least of several runs, taken in turn: whatever else runs only adds to each."""
    lab = ("-m", "ultr_core")
    ways = {
        "numpy": ("-c", "import numpy"),
        "version": (*lab, "--version"),
        "help": (*lab, "--help"),
        "compare help": (*lab, "compare", "--help"),
        "sign-test": (*lab, "sign-test", "87", "48", "83"),
    }
    for arguments in ways.values():  # compiles what has not been compiled yet
        cpu_seconds(*arguments)
    bounds = {"version": 2, "help": 2, "compare help": 2, "sign-test": 4}
    least = dict.fromkeys(ways, math.inf)
    for run in range(MOST_RUNS):
        for name, arguments in ways.items():
            least[name] = min(least[name], cpu_seconds(*arguments))
        if run and all(least[name] <= most * least["numpy"] for name, most in bounds.items()):
            return
    raise AssertionError(least)


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("sign-test", "87", "48", "83"), ("compare", "--help")],
)
def test_simple_commands_need_neither_screen_nor_pictures_nor_tables(
    arguments: tuple[str, ...],
) -> None:
    done = without((*SCREEN, *PICTURES, "pyarrow", "threadpoolctl"), *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_comparison_needs_neither_screen_nor_pictures(small_corpus: Path) -> None:
    done = without(
        (*SCREEN, *PICTURES), "compare", "--corpus", str(small_corpus), "--clicks", "2000",
        "--draws", "1", "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("error")) == (0, 0)


def test_every_entry_says_its_options_without_screen_and_pictures() -> None:
    """In one process: a package that is missing for one command is missing for all."""
    program = WITHOUT.format(missing=(*SCREEN, *PICTURES)).replace("raise SystemExit(run())", HELPS)
    names = [command.name for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", program, *names],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"usage: \S+ -m ultr_core ([\w-]+)", done.stdout) == names


@pytest.mark.parametrize(
    ("missing", "remedy"), [("altair", ".[figures]"), ("vl_convert", ".[figures]"), ("numpy", ".")]
)
def test_a_missing_package_is_one_sentence_with_the_remedy(
    missing: str, remedy: str, tmp_path: Path
) -> None:
    done = without((missing,), "reproduce", "bias", "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert mentions(done.stderr, missing, f'pip install "{remedy}"')
    assert not (tmp_path / "out").exists()


def test_a_module_of_our_own_that_is_missing_is_not_hidden() -> None:
    code = "import sys; sys.modules['ultr_core.risk'] = None\n" + WITHOUT.format(missing=())
    broken = subprocess.run(
        [sys.executable, "-c", code, "sign-test", "3", "5"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert broken.returncode == 1
    assert "ModuleNotFoundError" in broken.stderr


def test_every_entry_loads_a_job_that_has_what_the_entry_says() -> None:
    for names in ([entry.name for entry in JOBS], [page for e in JOBS for page in e.pages]):
        assert len(set(names)) == len(names)
    for entry in JOBS:
        job = entry.load()
        assert (job.call is not None) == bool(entry.summary)
        assert tuple(job.pages) == entry.pages
        fields = [each.name for each in (*job.arguments, *job.options, *job.settings)]
        assert len(set(fields)) == len(fields)
