"""Messages of the core name no option; the command line and the pages say how they repair it."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from pages.app.markdown import CONTROLS, told
from tests.meaning import refused_command
from ultr_core import cli
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError, Remark, about
from ultr_core.jobs.output import OFFERED, REMEDIES, option_of, with_option
from ultr_core.lab import Lab
from ultr_core.settings import PARAMETERS

CORE = Path(__file__).parents[3] / "ultr_core"
OPTION = re.compile(r"(?<![\w-])--([a-zA-Z]|$)")

MODULES = [
    path
    for path in sorted(CORE.rglob("*.py"))
    if path.parent.name != "jobs" and path.name not in ("cli.py", "__main__.py")
]


def strings(tree: ast.AST) -> Iterator[str]:
    """All strings but docstrings and words about the code between them."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def options_in(text: str) -> list[str]:
    return [text for text in strings(ast.parse(text)) if OPTION.search(text)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CORE)))
def test_no_message_of_the_core_names_an_option(path: Path) -> None:
    assert options_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "planted", ['f"give it (--corpus) {x}"', '"--" + name', 'f"--{name}"', '"use --dask."']
)
def test_an_option_is_found(planted: str) -> None:
    assert options_in(f'"""Of --eta."""\nraise InputError({planted})')
    assert not options_in('"""Of --eta."""\nx = "a -- b, a---b"')


@cache
def keys_of_the_core() -> set[str]:
    """What errors and remarks of the core say in so many words that they are about."""
    found = set()
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in ("InputError", "Remark"):
                for given in [*node.args[1:], *(word.value for word in node.keywords)]:
                    if isinstance(given, ast.Constant):
                        found.add(str(given.value))
    return found


KEYS = sorted({*keys_of_the_core(), *CONTROLS, *REMEDIES, *PARAMETERS, *CURVES})


def test_what_messages_are_about_is_found() -> None:
    assert {"carry_on", "relevant_grade", "two_rankers"} <= keys_of_the_core()


def test_users_who_leave_are_refused_varied_lists_before_anything_is_built() -> None:
    asked = ["compare", "--users", "leaving", "--logger", "plackett-luce"]
    with mock.patch.object(Lab, "world", side_effect=AssertionError):
        refused_command(asked, "logger", "plackett-luce")


COMMANDS = ("compare", "live", "check", "fit", "evaluate", "propensities", "simulate", "reproduce")


@cache
def offered(command: str) -> frozenset[str]:
    """The options that a command's help names, without dashes in front."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit):
        cli.main([command, "--help"])
    return frozenset(re.findall(r"^  --([a-z-]+)", printed.getvalue(), flags=re.MULTILINE))


@pytest.mark.parametrize("key", [*REMEDIES, *CONTROLS])
def test_every_remedy_is_an_option_that_a_command_has(key: str) -> None:
    every = frozenset().union(*map(offered, COMMANDS))
    assert set(re.findall(r"--([a-z-]+)", REMEDIES.get(key, option_of(key)))) <= every


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_only_options_that_it_has(command: str) -> None:
    for key in set(KEYS) - set(REMEDIES):
        token = OFFERED.set(frozenset(name.replace("-", "_") for name in offered(command)))
        try:
            said = with_option(InputError("Add.", key))
        finally:
            OFFERED.reset(token)
        named = said == f"Add ({option_of(key)})."
        assert named == (option_of(key)[2:] in offered(command)), key


def test_an_option_that_is_named_is_not_named_again() -> None:
    said = "--out is 'x'; it must be y."
    assert with_option(InputError(said, "out")) == said


def test_each_face_adds_its_own_remedy() -> None:
    for said in (InputError("Add.", "carry_on"), Remark("Add.", "carry_on")):
        assert with_option(said) == "Add (--carry-on)."
        assert told(said) == f"Add ({CONTROLS['carry_on']})."
    for said in (InputError("Add."), Remark("Add."), "Add."):
        assert with_option(said) == told(said) == "Add."
    assert with_option(InputError("Numbers 1, 2, ...", "curve")) == "Numbers 1, 2, ... (--curve)"


@pytest.mark.parametrize("said", [InputError("Add.", "carry_on"), Remark("Add.", "out")])
def test_what_it_is_about_goes_to_other_processes(said: InputError | Remark) -> None:
    for other in (pickle.loads(pickle.dumps(said)), copy.copy(said)):
        assert (str(other), about(other), type(other)) == ("Add.", said.about, type(said))


def test_a_key_that_no_option_has_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a real command: some keys only tell one fault from another."""
    for arguments in (["sign-test", "1", "x", "2"], ["sign-test", "1", "2", "--no-such", "x"]):
        assert cli.main(arguments) == cli.BAD_INPUT
        assert "(--" not in capsys.readouterr().err
    assert cli.main(["compare", "--eta", "9"]) == cli.BAD_INPUT
    assert "(--eta)" in capsys.readouterr().err
