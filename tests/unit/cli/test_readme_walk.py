"""The walk through one's own data, in README and in the guide to it, works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.meaning import mentions
from ultr_core.cli import main

ROOT = Path(__file__).resolve().parents[3]
README, USING = ROOT / "README.md", ROOT / "docs" / "using.md"
MOST_MEGABYTES = 25  # that the page takes by upload, in .streamlit/config.toml


def test_the_walk_works_when_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
    section = guide.split("## Click log\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    assert block[0] in README.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    names = [command[3] for command in commands]
    assert names == ["simulate", "check", "fit", "evaluate", "propensities", "convert"]
    told = {}
    for command in commands:
        assert command[:3] == ["python", "-m", "ultr_core"]
        assert main(command[3:]) == 0, capsys.readouterr().err
        told[command[3]] = capsys.readouterr().out
    assert "nDCG(dcg='exp-log2')@10" in told["evaluate"]
    assert "Harvesting" in told["propensities"]
    example = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert example is not None
    exec(example[1], {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert mentions(printed[2], "better") and "bound" in printed[3]
    # The page takes files by upload up to this size.
    assert (tmp_path / "corpus.txt.gz").stat().st_size < 1e6 * MOST_MEGABYTES
    assert (tmp_path / "model.dat").read_text().startswith("SVM-light")


def test_the_example_in_python_works_when_copied(capsys: pytest.CaptureFixture[str]) -> None:
    """With few clicks, for 45,000 take seconds and are compared in ``test_worlds.py``."""
    example = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert example is not None and "clicks=45_000" in example[1]
    exec(example[1].replace("clicks=45_000", "clicks=1_000, draws=2"), {})
    assert mentions(capsys.readouterr().out.splitlines()[0], "naive")


def test_the_notebook_command_writes_without_a_note_on_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = re.search(r"^python -m ultr_core (notebook .*)$", USING.read_text("utf-8"), re.MULTILINE)
    assert line is not None
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line[1])) == 0
    streams = capsys.readouterr()
    assert streams.out == ""
    assert mentions(streams.err, "lab.ipynb") and streams.err.count("\n") == 1
    assert (tmp_path / "lab.ipynb").is_file()


def test_a_log_in_which_nothing_moved_names_the_option_that_moves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query,document,position,click\nq,a,1,1\nq,b,2,0\n")
    for method in ("harvest", "em"):
        assert main(["propensities", str(log), "--method", method]) == 2
        assert "(simulate --rankers 2)" in capsys.readouterr().err
