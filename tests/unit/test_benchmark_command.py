"""The command line of the benchmarks, without running one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import learners
from benchmarks.learners import MOST_TREES
from tests.inputs import lesson_splits
from tests.meaning import mentions
from ultr_core.lab import build_world, simulate_logs
from ultr_core.settings import Settings


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def part(rounds: int) -> Iterator[str]:
        yield "| a line |"
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setattr(command, "PARTS", {"peers": part})
    monkeypatch.setattr("sys.argv", ["benchmarks", "peers"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert "| a line |" in said.out
    assert mentions(said.err, "peers", "sklearn", "requirements/benchmarks.txt")


def test_a_table_replaces_that_of_the_same_command_alone() -> None:
    whole = command.with_table("", "", ["| all |"])
    some = command.with_table(whole, "python -m benchmarks loop", ["| loop |"])
    both = command.with_table(some, "python -m benchmarks peers", ["| peers |"])
    assert command.with_table(some, "python -m benchmarks loop", ["| loop |"]) == some
    assert [line for line in both.splitlines() if line.startswith("|")] == [
        "| all |", "| loop |", "| peers |",
    ]  # fmt: skip
    again = command.with_table(both, "", ["| again |"])
    assert again.count("\n## ") == 2
    assert "| all |" not in again
    assert mentions(again, "again", "loop", "peers")


def test_an_ended_run_writes_what_it_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def part(rounds: int) -> Iterator[str]:
        yield "| a line |"
        raise KeyboardInterrupt

    results = tmp_path / "results.md"
    results.write_text("# Results\n\n| before |\n")
    monkeypatch.setattr(command, "RESULTS", results)
    monkeypatch.setattr(command, "PARTS", {"peers": part})
    monkeypatch.setattr("sys.argv", ["benchmarks", "peers", "--write"])
    command.main()
    assert mentions(results.read_text(), "before", "line", "stopped", "peers")


def test_a_learner_out_of_time_is_judged_with_what_it_has_and_the_table_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = learners.Clock()
    assert [clock.up() for _ in range(3)] == [False] * 3 and clock.trees == MOST_TREES
    monkeypatch.setattr(learners, "SECONDS", -1.0)
    late = learners.Clock()
    assert late.up() and late.trees == 1
    settings = Settings(clicks=300)
    world = build_world(settings, lesson_splits())
    parts = [np.asarray(part.features) for part in (world.splits.validation, world.splits.test)]
    logs = simulate_logs(world, settings)
    held_out, _ = learners._lightgbm_weighted(world, logs, "", parts, learners.Clock())
    assert held_out(1).shape == (world.splits.validation.n_documents,)
    said = learners._stopped([late.trees, MOST_TREES])
    assert mentions(said, 1, MOST_TREES) and learners._stopped([MOST_TREES] * 2) == ""
    assert learners._risk([1.0, math.nan]) == "none"
