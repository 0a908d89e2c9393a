"""The command line of the benchmarks, without running one."""

from __future__ import annotations

from collections.abc import Iterator

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
