"""Help: one sentence an option, and the command's own help where a command line is wrong."""

from __future__ import annotations

import argparse

import pytest

from ultr_core.cli import main
from ultr_core.jobs import JOBS, Entry

COMMANDS = [entry for entry in JOBS if entry.summary]
EVERY = pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)


def helps(entry: Entry) -> list[str]:
    parser = argparse.ArgumentParser()
    entry.load().add_to(parser)
    return [action.help or "" for action in parser._actions]


@EVERY
def test_no_full_stop_comes_before_what_is_in_brackets(entry: Entry) -> None:
    for text in helps(entry):
        assert text == " ".join(text.split())
        assert ". (" not in text


@EVERY
@pytest.mark.parametrize("after", [[], ["--no-such-option", "1"]], ids=["behind", "before"])
def test_an_unknown_option_leads_to_the_help_of_the_command(
    entry: Entry, after: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    needed = [
        part
        for option in entry.load().options
        if getattr(option, "required", False)
        for part in (f"--{option.name.replace('_', '-')}", "x")
    ]
    values = ["x" for each in entry.load().arguments if each.default is None]
    given = [*values, *needed]
    order = [*after, *given] if after else [*given, "--no-such-option"]
    assert main([entry.name, *order]) == 2
    error = capsys.readouterr().err
    assert "--no-such-option" in error
    assert error.split()[-2:] == [entry.name, "--help."]
