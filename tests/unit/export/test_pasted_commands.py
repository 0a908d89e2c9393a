"""Command lines that are shown can be pasted, whatever the files are called."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

import pytest

from ultr_core.cli import _parsed
from ultr_core.files import parse_columns
from ultr_core.jobs import compare, reproduce
from ultr_core.jobs.job import Given, command_line
from ultr_core.jobs.your_data import CURVE_SOURCES, OwnWork, command_lines, own_notebook

NAMES = (
    "plain.csv", "-x.csv", "--corpus", "-", "--", "-1", "log", "a b'\"$(touch x).csv", "-é\n.csv",
    "=HYPERLINK(1).csv", "@file",
)  # fmt: skip


def parsed(line: str) -> argparse.Namespace:
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "ultr_core"]
    return _parsed(words[3:])


def is_file(given: str | None, name: str) -> bool:
    """Whether an argument leads to the file of that name beside the reader."""
    return given is not None and os.path.normpath(given) == os.path.normpath(name)


@pytest.mark.parametrize("source", CURVE_SOURCES)
@pytest.mark.parametrize("name", NAMES)
def test_own_files_of_any_name(name: str, source: str) -> None:
    work = OwnWork(
        corpus=name, log=(name,), columns={"query": "-q"}, propensities=source, curve=name,
        judged=name, folds=False, steps=("propensities", "fit", "evaluate"), query_texts=name,
        qrels=name, shown_whole=True,
    )  # fmt: skip
    lines = {shlex.split(line)[3]: parsed(line) for line in command_lines(work)}
    assert all(is_file(path, name) for path in lines["check"].files)
    assert is_file(lines["check"].corpus, name)
    assert is_file(lines["check"].query_texts, name) and is_file(lines["evaluate"].qrels, name)
    assert lines["evaluate"].shown_whole
    if source == "estimated":
        assert all(is_file(log, name) for log in lines["propensities"].log)
    for command in (lines["fit"], lines["evaluate"]):
        assert is_file(command.corpus, name)
        assert all(is_file(log, name) for log in command.log)
        assert command.columns == "query=-q"
        if source == "file":
            assert is_file(command.propensities, name) and command.propensities != "log"
        else:
            assert command.propensities in {None, "log", "curve.csv"}
    assert is_file(lines["evaluate"].model, name)
    compile(own_notebook(work).source, "notebook", "exec")


@pytest.mark.parametrize(
    "column", ["a,b", 'a,"b"', '"', '"a",b', "a=b,c", "=,", ", ", "two\nlines", "a'b", "é;|"]
)
def test_columns_of_any_name(column: str) -> None:
    columns = {"document": column.strip(), "query": "q"}
    work = OwnWork(corpus="c", log=("l",), columns=columns, steps=("fit",))
    for line in command_lines(work):
        assert parse_columns(parsed(line).columns) == columns


@pytest.mark.parametrize("name", NAMES)
def test_a_report_says_a_command_that_can_be_given_again(name: str) -> None:
    asked = {"study": "bias", "corpus": name, "out": name, "curve": name}
    given = Given(study="bias", scale="quick", jobs=2, asked=asked)
    again = parsed(command_line("reproduce", reproduce.JOB, reproduce.shown_values(given)))
    for option in ("corpus", "out", "curve"):
        assert is_file(getattr(again, option), name), option
    assert (again.study, again.scale, again.jobs) == ("bias", "quick", "2")


def test_an_option_that_a_note_advises_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-my curve.csv").write_text("rank,propensity\n1,1\n2,0.5\n")
    command = ["compare", "--curve=-my curve.csv"]
    compare.JOB.given(_parsed(command))
    advice = capsys.readouterr().err.split("propensities add ")[1].strip().removesuffix(".")
    settings = compare.JOB.given(_parsed([*command, *shlex.split(advice)])).settings
    assert settings.belief_is_right
    assert capsys.readouterr().err == ""
