"""The examples in docstrings give what they print."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = {
    "files.letor": 1,
    "users.click_models": 1,
    "users.examination": 2,
    "users.simulation": 2,
    "learners.ranker": 1,
    "propensity.weights": 3,
    "corpus.ranking": 1,
    "risk.agreement": 1,
    "risk.estimate": 1,
    "risk.estimators": 1,
    "risk.moments": 1,
    "risk.sign_test": 1,
    "risk.known_relevance": 2,
    "words": 4,
}
"""Modules of ``ultr_core`` and the fewest docstrings with an example that each must have."""


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_print(name: str) -> None:
    module = importlib.import_module(f"ultr_core.{name}")
    found = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert len(found) >= MODULES[name]
    said: list[str] = []
    for test in found:
        doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
