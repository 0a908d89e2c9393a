"""The command line of the benchmarks, without running one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from tests.meaning import mentions


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
