"""The README's walk through one's own data works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ultr_core.cli import main

README = Path(__file__).resolve().parents[3] / "README.md"


def test_the_walk_works_when_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = README.read_text(encoding="utf-8").split("## Your own click log\n")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    commands = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    names = [command[3] for command in commands]
    assert names == ["simulate", "check", "fit", "evaluate", "convert"]
    told = {}
    for command in commands:
        assert command[:3] == ["python", "-m", "ultr_core"]
        assert main(command[3:]) == 0, capsys.readouterr().err
        told[command[3]] = capsys.readouterr().out
    assert "NDCG@10" in told["evaluate"]
    assert (tmp_path / "model.dat").read_text().startswith("SVM-light")
