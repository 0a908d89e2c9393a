"""A job's fields become options and values, and values become a command line again."""

from __future__ import annotations

import argparse
import shlex

import pytest

from tests.meaning import refused
from ultr_core.fields import Choice, Number, Switch
from ultr_core.jobs.files import COLUMNS, File
from ultr_core.jobs.job import Given, Job, command_line, setting_fields

JOB = Job(
    lambda given: given,
    arguments=(File("files", "", several=True),),
    options=(
        Number("top", "Top ranks K", 1, 9, default=3),
        Number("share", "", 0, 1, decimals=None),
        Choice("way", "", {"a": "A", "b": "B"}, default=""),
        Switch("fast", ""),
        COLUMNS,
        File("made_here", "", use="write"),
    ),
    settings=setting_fields("eta", "curve"),
)


def given(*arguments: str) -> Given:
    parser = argparse.ArgumentParser()
    JOB.add_to(parser)
    return JOB.given(parser.parse_args(arguments))


def test_what_is_not_given_has_its_default() -> None:
    found = given("x.csv")
    assert (found.files, found.top, found.share, found.way) == (["x.csv"], 3, None, "")
    assert (found.fast, found.columns, found.made_here) == (False, None, None)
    assert found.settings.eta == 1
    assert found.asked == {"files": ["x.csv"]}


def test_values_written_as_a_command_are_read_as_the_same_values() -> None:
    values = {
        "files": ["-x", "b c.csv"], "top": 7, "share": 0.1234567891, "way": "b", "fast": True,
        "columns": {"query": "q"}, "made_here": "-out", "eta": 0.5,
    }  # fmt: skip
    words = shlex.split(command_line("job", JOB, values | {"curve": None}))
    assert words[:4] == ["python", "-m", "ultr_core", "job"]
    found = given(*words[4:])
    assert (found.files, found.made_here) == (["./-x", "b c.csv"], "./-out")
    for name in ("top", "share", "way", "fast", "columns"):
        assert getattr(found, name) == values[name]
    assert found.settings.eta == 0.5


def test_a_name_that_is_no_field_is_not_written() -> None:
    with pytest.raises(KeyError):
        JOB.words({"tops": 3})


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["x", "--top", "0"], ("top", JOB.options[0].label, "'0'", "1 to 9")),
        (["x", "--share", "2"], ("share", "--share", "'2'", "0 to 1")),
        (["x", "--way", "c"], ("way", "--way", "'c'", "a, b")),
        (["x", "--made-here", "x"], ("overwrites", "--made-here", "x", "FILE")),
    ],
)
def test_a_fault_is_one_sentence_before_the_work(
    arguments: list[str], fault: tuple[object, ...]
) -> None:
    with refused(*fault):
        given(*arguments)


def test_an_argument_is_no_option_that_a_message_could_name() -> None:
    job = Job(arguments=(Number("wins", "", 0, 9),))
    parser = argparse.ArgumentParser()
    job.add_to(parser)
    with refused("", "WINS", "'x'"):
        job.given(parser.parse_args(["x"]))
