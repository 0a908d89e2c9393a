from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LETOR directory in which everything trains in a moment."""
    from ultr_core.corpus import synthetic_splits
    from ultr_core.files import write_letor

    folder = tmp_path_factory.mktemp("letor")
    splits = synthetic_splits(
        3, train_queries=80, validation_queries=30, test_queries=60, features=8,
        mean_candidates=10.0, relevant_share=0.15,
    )  # fmt: skip
    for name in ("train", "validation", "test"):
        write_letor(getattr(splits, name), folder / f"{name}.txt")
    return folder


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read Parquet and DuckDB files in this process: a process for each costs half a second.

    For tests of what is in a good file. That the process gives the same, survives damage and ends
    is shown by ``test_log_parts.py`` and the damaged files of other tests.
    """
    from ultr_core.files import log_files

    def here(call: Callable[..., Any], log: object, *given: Any, progress: Any = None) -> Any:
        return call(log, *given, **({} if progress is None else {"progress": progress}))

    monkeypatch.setattr(log_files, "in_own_process", here)


@pytest.fixture(scope="session")
def haproxy() -> None:
    """Skip the test where HAProxy is not installed; on continuous integration it must be."""
    from scripts import proxy

    if proxy.find() is None:
        message = "HAProxy is not installed here (apt-get install haproxy)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


def pytest_xdist_auto_num_workers() -> int:
    """A worker more than cores: tests of pages and servers wait for half of their time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 2


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; runs only with -m slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; run with -m slow"))
