"""Take pictures of the running app.

``python scripts/screenshots.py`` retakes README's picture, docs/screenshot.png;
``python scripts/screenshots.py --all DIR`` takes every page on every screen in light and dark.
A server is started for it unless ``--url`` names one. Needs Playwright (requirements-dev.txt) and
an installed Chromium; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pages.app.registry import PAGES
from scripts.serving import ROOT, server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["ARGUMENTS", "browser", "find_browser", "server", "take_all", "wait_until_done"]

SCREENS = {
    "1280x720": (1280, 720),
    "1920x1080": (1920, 1080),
    "768x1024": (768, 1024),
    "390x844": (390, 844),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PATIENCE = 180_000  # milliseconds
ASK_AGAIN = 100  # milliseconds; to ask at every frame would have every frame drawn
DONE = """() => {
    const app = document.querySelector("[data-testid='stApp']");
    const charts = [...document.querySelectorAll("[data-testid='stVegaLiteChart']")];
    return app.getAttribute("data-test-script-state") === "notRunning"
        && document.querySelector("[data-testid='stSkeleton']") === null
        && charts.every(chart => chart.querySelector("svg.marks, canvas.marks") !== null);
}"""


def find_browser() -> str | None:
    """Path of an installed Chromium (or of the one named by CHROMIUM), or None."""
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


def take_all(folder: Path, address: str, opened: Browser) -> None:
    """Every page on every screen, in light and dark, from top to bottom."""
    folder.mkdir(parents=True, exist_ok=True)
    for screen, (width, height) in SCREENS.items():
        for scheme in ("light", "dark"):
            context = opened.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page = context.new_page()
            for path in (info.path for info in PAGES):
                page.goto(f"{address}/{path}")
                wait_until_done(page)
                page.screenshot(path=folder / f"{path}-{screen}-{scheme}.png")
                full = page.evaluate(
                    "document.querySelector(\"[data-testid='stMain']\").scrollHeight"
                )
                page.set_viewport_size({"width": width, "height": max(height, int(full))})
                page.wait_for_timeout(900)
                page.screenshot(path=folder / f"{path}-{screen}-{scheme}-full.png")
                page.set_viewport_size({"width": width, "height": height})
            context.close()


def take_readme_picture(target: Path, address: str, opened: Browser) -> None:
    """The picture that README opens with."""
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
    parser.add_argument("--all", metavar="DIR", type=Path, help="take every page on every screen")
    parser.add_argument("--url", help="address of a running app")
    given = parser.parse_args()

    def take(address: str) -> None:
        with browser() as opened:
            if given.all:
                take_all(given.all, address, opened)
            else:
                take_readme_picture(ROOT / "docs" / "screenshot.png", address, opened)

    if given.url:
        take(given.url)
    else:
        with server() as address:
            take(address)


if __name__ == "__main__":
    main()
