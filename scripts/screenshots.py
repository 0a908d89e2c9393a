"""Take screenshots of the running app.

``python scripts/screenshots.py`` retakes the README's picture, docs/screenshot.png;
``python scripts/screenshots.py --all DIR`` captures every page and its most different states, at
every screen size, in light and dark.
The script starts a server unless ``--url`` names one. It needs Playwright (requirements-dev.txt)
and an installed Chromium; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pages.app.registry import PAGES
from scripts.serving import ROOT, server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["ARGUMENTS", "browser", "find_browser", "server", "take_all", "wait_until_done"]

SCREENS = {"1280x720": (1280, 720), "1920x1080": (1920, 1080), "390x844": (390, 844)}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PATIENCE = 180_000  # milliseconds
ASK_AGAIN = 100  # milliseconds; to ask at every frame would have every frame drawn
WHOLE = "document.querySelector('[data-testid=stMain]').scrollHeight"
DONE = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    const charts = [...document.querySelectorAll("[data-testid='stVegaLiteChart']")];
    return app.getAttribute("data-test-script-state") === "notRunning"
        && document.querySelector("[data-testid='stSkeleton']") === null
        && charts.every(chart => chart.querySelector("svg.marks, canvas.marks") !== null);
}"""


def find_browser() -> str | None:
    """Path of an installed Chromium (or the path in CHROMIUM), or None."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium of this machine."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        raise SystemExit("No Chromium found; install it or name its path in CHROMIUM.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield opened
        finally:
            opened.close()


def wait_until_done(page: Page) -> None:
    """Wait until the page has stopped computing and its controls and charts are drawn."""
    page.wait_for_selector("[data-testid='stApp'] h1", timeout=PATIENCE)
    page.wait_for_function(DONE, polling=ASK_AGAIN, timeout=PATIENCE)
    page.wait_for_timeout(500)  # charts fade in


def _press(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("button", name=name).click()
        page.wait_for_timeout(500)  # the run begins
        wait_until_done(page)


def _predict(page: Page) -> None:
    page.locator(".st-key-lesson-guess-3 [role=radiogroup] label").first.click()
    _press(page, "Commit and see what happens")


def _solve(page: Page) -> None:
    _predict(page)
    answer = page.locator(".st-key-lesson-answer-3 input")
    answer.fill("15")
    answer.press("Enter")
    page.wait_for_timeout(500)
    wait_until_done(page)


def _read_samples(page: Page) -> None:
    _press(page, "Use the samples")


_SHOWN_IN_LECTURES = tuple(page.path for page in PAGES if not page.of_words)

STATES: dict[str, tuple[str, Callable[[Page], None] | None]] = {
    **{page.path: (page.path, None) for page in PAGES},
    "lab-no-bias": ("lab?eta=0", None),
    "lab-wrong-curve": ("lab?assumed_eta=1.5", None),
    "lab-few-clicks": ("lab?clicks=1000", None),
    "lab-noise": ("lab?eps_minus=0.3", None),
    "lessons-predicted": ("lessons?lesson=3", _predict),
    "lessons-solved": ("lessons?lesson=3", _solve),
    "your_data-log": ("your_data", _read_samples),
    **{f"{path}-lecture": (f"{path}?mode=lecture", None) for path in _SHOWN_IN_LECTURES},
}
"""By name of a picture: the link, and what is done there."""


def take_all(folder: Path, address: str, opened: Browser, states: Collection[str]) -> None:
    """These states at every screen size, in light and dark: the window, and from top to bottom."""
    folder.mkdir(parents=True, exist_ok=True)
    for screen, (width, height) in SCREENS.items():
        for scheme in ("light", "dark"):
            context = opened.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme,
                reduced_motion="reduce",
            )  # fmt: skip
            for name in states:
                link, act = STATES[name]
                page = context.new_page()  # a tab that remembers no other state
                page.goto(f"{address}/{link}")
                wait_until_done(page)
                if act is not None:
                    act(page)
                page.screenshot(path=folder / f"{name}-{screen}-{scheme}.png")
                page.mouse.move(0, 0)
                # What is as high as the window stays so.
                page.evaluate(f"document.body.style.setProperty('--window', '{height}px')")
                for _ in range(2):
                    full = page.evaluate(WHOLE)
                    page.set_viewport_size({"width": width, "height": max(height, int(full))})
                    page.wait_for_timeout(700)
                page.screenshot(path=folder / f"{name}-{screen}-{scheme}-full.png")
                page.close()
            context.close()


def take_readme_picture(target: Path, address: str, opened: Browser) -> None:
    """The picture at the top of the README."""
    target.parent.mkdir(parents=True, exist_ok=True)
    page = opened.new_page(
        viewport={"width": 1280, "height": 720}, color_scheme="light", reduced_motion="reduce"
    )
    page.goto(address)
    wait_until_done(page)
    page.screenshot(path=target)


def main() -> None:
    """Read the options and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", metavar="DIR", type=Path, help="all pages at every screen size")
    parser.add_argument("--state", nargs="+", choices=STATES, default=list(STATES),
                        help="with --all: only these states")  # fmt: skip
    parser.add_argument("--url", help="address of a running app")
    given = parser.parse_args()

    def take(address: str) -> None:
        with browser() as opened:
            if given.all:
                take_all(given.all, address, opened, given.state)
            else:
                take_readme_picture(ROOT / "docs" / "screenshot.png", address, opened)

    if given.url:
        take(given.url)
    else:
        with server() as address:
            take(address)


if __name__ == "__main__":
    main()
