"""What is installed: every dependency has bounds, and the lock file keeps within them."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.lock_requirements import (
    LOCK,
    REQUIREMENTS,
    lock_text,
    locked,
    requirements,
)

ALL = list(requirements(REQUIREMENTS))


def versions() -> dict[str, str]:
    lines = [line for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("requirement", ALL, ids=lambda requirement: requirement.name)
def test_every_dependency_is_bounded_and_locked_within_its_bounds(requirement: Requirement) -> None:
    operators = {bound.operator for bound in requirement.specifier}
    assert operators & {">=", "=="}
    assert operators & {"<", "<=", "=="}
    version = versions()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version, prereleases=True)


def test_the_lock_names_what_dependencies_need_in_turn() -> None:
    names = set(versions())
    assert {canonicalize_name(requirement.name) for requirement in ALL} < names
    assert {"jinja2", "dask", "tornado", "markupsafe"} < names
    assert not names & {"pip", "setuptools", "wheel"}
    assert list(versions()) == sorted(names)


def test_this_environment_can_be_locked() -> None:
    found = locked(iter(ALL))
    text = lock_text(found)
    assert text.startswith("# ")
    assert f"\nnumpy=={found['numpy']}\n" in text
    assert {canonicalize_name(requirement.name) for requirement in ALL} <= set(found)


def test_what_is_missing_or_too_new_is_named(tmp_path: Path) -> None:
    for text, words in (("no-such-package-here", "not installed"), ("numpy<1", "not numpy<1")):
        (tmp_path / "asked.txt").write_text(f"{text}  # a comment\n\n")
        with pytest.raises(LookupError, match=words):
            locked(requirements(tmp_path / "asked.txt"))
