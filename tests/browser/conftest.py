from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scripts.screenshots import ARGUMENTS, find_browser, server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage, Page

OpenPage = Callable[..., "Page"]
PATIENCE = 60_000  # milliseconds

# A first visit to an address below the root probes for a server there; both answers are expected.
EXPECTED_ERRORS = ("/_stcore/health", "/_stcore/host-config")


@pytest.fixture(scope="session")
def launcher() -> Iterator[BrowserType]:
    """Starts Chromium; there can be only one in a process."""
    if find_browser() is None:
        message = "no Chromium is installed here (apt-get install chromium), or name it in CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="session")
def chromium(launcher: BrowserType) -> Iterator[Browser]:
    """A browser that remembers nothing."""
    opened = launcher.launch(executable_path=find_browser(), args=ARGUMENTS)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def address(small_corpus: Path) -> Iterator[str]:
    """One server on a small corpus for all browser tests."""
    with server(after=("--corpus", str(small_corpus))) as running:
        yield running


@pytest.fixture(scope="session")
def window(
    launcher: BrowserType, address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """One profile, kept on disk, for all tests: scripts are fetched and compiled once.

    All pages share one process, which a first page without scripts keeps. Without motion: every
    frame of a fade is drawn by the processor here.
    """
    context = launcher.launch_persistent_context(
        tmp_path_factory.mktemp("profile"), executable_path=find_browser(),
        args=[*ARGUMENTS, "--process-per-site"], accept_downloads=True, reduced_motion="reduce",
    )  # fmt: skip
    context.new_page().goto(f"{address}/_stcore/health")
    yield context
    context.close()


@pytest.fixture
def open_page(window: BrowserContext) -> Iterator[OpenPage]:
    """Open an address in a page of its own; fails the test on an unexpected console error."""
    from playwright.sync_api import expect

    pages: list[Page] = []
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location.get('url')}")

    def open_(url: str, *, width: int = 1280, height: int = 720, dark: bool = False) -> Page:
        page = window.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        page.goto(url)
        return page

    expect.set_options(timeout=PATIENCE)
    yield open_
    for page in pages:
        page.close()
    assert [e for e in errors if not any(known in e for known in EXPECTED_ERRORS)] == []
