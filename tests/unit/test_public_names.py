"""Each package's public names: written once, loaded when used, typed."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ultr_core
from ultr_core.lazy import load

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(
    name
    for _, name, is_package in pkgutil.walk_packages(ultr_core.__path__, "ultr_core.")
    if is_package and hasattr(importlib.import_module(name), "__all__")
)


def test_all_rooms_are_found() -> None:
    rooms = {name.removeprefix("ultr_core.") for name in PACKAGES}
    assert {"corpus", "users", "lab", "studies", "figures"} <= rooms
    assert len(rooms) >= 13


@pytest.mark.parametrize("name", ["ultr_core", *PACKAGES])
def test_every_public_name_loads_and_is_listed(name: str) -> None:
    package = importlib.import_module(name)
    load(name)
    listed = set(package.__all__)
    assert len(listed) == len(package.__all__)
    assert listed <= set(dir(package))
    assert not hasattr(package, "no_such_name")
    # A module of the same name would take the place of the name once somebody imports it.
    assert not listed & {module.name for module in pkgutil.iter_modules(package.__path__)}


@pytest.mark.parametrize("name", ["ultr_core", *PACKAGES])
def test_typed_imports_and_public_names_are_the_same(name: str) -> None:
    fresh = (
        f"import importlib, types; room = importlib.import_module({name!r})\n"
        "print(*sorted(set(dir(room)) - set(vars(room))), sep='\\n')\n"
        "print(*sorted(n for n in room.__all__ if n in vars(room)), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", fresh], capture_output=True, text=True, check=True, cwd=ROOT
    )
    listed = set(importlib.import_module(name).__all__)
    assert set(done.stdout.split()) == listed


def test_the_package_itself_imports_neither_numpy_nor_a_room() -> None:
    code = "import sys, ultr_core; print(ultr_core.__version__, *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    modules = set(done.stdout.split())
    assert "numpy" not in modules
    assert {name for name in modules if name.startswith("ultr_core.")} == {"ultr_core.lazy"}


def test_a_comparison_imports_no_learner_that_it_was_not_asked_for() -> None:
    code = "import sys, ultr_core.lab.comparison; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    asked = {"towers", "trees_by_position"}
    assert not {f"ultr_core.learners.{name}" for name in asked} & set(done.stdout.split())


def test_the_short_face_is_enough_for_a_first_result(small_corpus: Path) -> None:
    train = ultr_core.load_corpus(small_corpus / "train.txt")
    assert isinstance(train, ultr_core.Corpus)
    assert ultr_core.PowerLaw(1.0).at([1, 2]).tolist() == [1.0, 0.5]
    with pytest.raises(ultr_core.InputError):
        ultr_core.Settings(eta=9)
    assert ultr_core.build_world is importlib.import_module("ultr_core.lab.world").build_world
