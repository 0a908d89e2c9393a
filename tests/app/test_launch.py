"""What the server is started with: unusable, it costs every page one sentence and no crash."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.app import boot, server_lab
from pages.app.context import Launch, launched_with
from pages.app.registry import PAGES, PageInfo
from pages.app.training_pool import PROCESSES
from tests.meaning import mentions

OpenApp = Callable[..., AppTest]
NEED_WORLD = {"lab", "lessons", "propensities", "live", "claims"}
"""Pages that show nothing without the server's corpus."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_every_page_stands_when_the_corpus_cannot_be_read(
    open_app: OpenApp, small_corpus: Path, tmp_path: Path, page: PageInfo
) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(small_corpus, corpus)
    (corpus / "train.txt").write_text("2 qid:1 1:nan\n")
    app = open_app(corpus=corpus, draws="1", clicks="500").switch_page(page.file).run()
    assert not app.exception
    assert len(app.error) == (page.path in NEED_WORLD)
    assert all("corpus" in error.value for error in app.error)
    assert ":shimmer" not in "".join(element.value for element in app.markdown)


@pytest.mark.parametrize(
    ("arguments", "launch", "told"),
    [
        ([], Launch(), []),
        (["--corpus", "a", "--allow-paths=."], Launch("a", "."), []),
        (["--corpus"], Launch(), ["--corpus"]),
        (["--corpus=", "--allow-paths"], Launch(), ["--corpus", "--allow-paths"]),
        (["--corpus", "--allow-paths", "."], Launch(None, "."), ["--corpus"]),
        (["--corpu", "a"], Launch(), ["'--corpu'"]),
        (["a", "--corpus", "b"], Launch("b"), ["'a'"]),
        (["--allow-paths", "no/such"], Launch(), ["no/such"]),
        (["--corpus", "a", "--corpus=b"], Launch("b"), ["--corpus"]),
    ],
)
def test_options_that_are_not_taken_are_told(
    arguments: list[str], launch: Launch, told: list[str]
) -> None:
    found, faults = launched_with(arguments)
    assert found == launch
    assert len(faults) == len(told)
    for fault, named in zip(faults, told, strict=True):
        assert mentions(fault, named)
        assert fault.endswith(".")


@pytest.mark.parametrize("arguments", [["--corpus"], ["--allow-paths"], ["--corpu", "_a_"]])
def test_a_wrong_option_is_one_sentence_on_the_page(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    app = open_app()
    monkeypatch.setattr(sys, "argv", ["app.py", *arguments])
    app.switch_page("pages/about.py").run()
    assert not app.exception
    (warning,) = app.warning
    assert mentions(warning.value, "server", arguments[0])


@pytest.mark.parametrize(("corpus", "started"), [(("--corpus", "DIR"), 0), ((), 1)])
def test_training_processes_are_started_only_where_they_will_be_used(
    monkeypatch: pytest.MonkeyPatch, corpus: tuple[str, ...], started: int
) -> None:
    starts: list[int] = []
    monkeypatch.setattr(server_lab.POOL, "start", lambda: starts.append(1))
    monkeypatch.setattr(sys, "argv", ["app.py", *corpus])
    boot._prepare()
    assert len(starts) == started


def test_a_wrong_number_of_processes_is_said_on_the_page(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROCESSES, "many")
    (warning,) = open_app().warning
    assert "from 1 to 64" in warning.value
