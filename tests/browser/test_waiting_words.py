"""What a reader sees while the server is busy, and where the browser itself refuses a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import BrowserContext, Locator, Page, WebSocketRoute, expect

from pages.app import style
from scripts.screenshots import wait_until_done
from tests.browser.pages import OpenPage, open_curves, opened

LINK = "/lab?clicks=500&draws=2"
PATIENCE = 60_000  # milliseconds
SAID = """element => {
    const end = element.matches('.st-key-share') ? '::after' : '::before';
    const style = getComputedStyle(element, end);
    return style.visibility === 'visible' ? style.content : '';
}"""


@pytest.fixture(scope="module")
def unheard(window: BrowserContext, address: str) -> Iterator[Page]:
    """The lab at rest; from then on its server hears nothing, as while it computes."""
    page, heard = window.new_page(), [True]

    def between(browser_side: WebSocketRoute) -> None:
        server_side = browser_side.connect_to_server()
        browser_side.on_message(lambda words: server_side.send(words) if heard[0] else None)

    page.route_web_socket(lambda url: "_stcore/stream" in url, between)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.goto(address + LINK)
    wait_until_done(page)
    heard[0] = False
    yield page
    page.close()


def said(place: Locator) -> str:
    """The words that style alone puts there, once they are due."""
    place.page.wait_for_timeout(1_000)
    return str(place.evaluate(SAID)).strip('"')


def test_what_is_opened_meanwhile_says_what_is_awaited(unheard: Page) -> None:
    unheard.get_by_role("button", name="Save figure").first.click()
    panel = unheard.get_by_test_id("stPopoverBody")
    expect(panel).to_have_text("")
    assert said(panel) == style.OPENED
    unheard.keyboard.press("Escape")
    unheard.locator(".st-key-checks summary").click()
    details = unheard.locator(".st-key-checks").get_by_test_id("stExpanderDetails")
    assert said(details) == style.OPENED


def test_the_button_of_a_window_says_so_only_while_the_page_computes(unheard: Page) -> None:
    button = unheard.get_by_role("button", name="Share and download")
    button.click()
    place = unheard.locator(".st-key-share")
    assert said(place) == "none"
    app = unheard.get_by_test_id("stApp")
    app.evaluate("element => element.setAttribute('data-test-script-state', 'running')")
    assert said(place) == style.SHARED


def test_nothing_is_awaited_in_what_is_filled_and_an_old_table_says_that_it_is_old(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, address + LINK)
    page.get_by_role("button", name="Numbers").click()
    panel = page.get_by_test_id("stPopoverBody")
    table = panel.locator(".stTable")
    expect(table).to_be_visible()
    assert said(panel) == "none"
    assert said(table) == "none"
    table.evaluate("element => element.parentElement.setAttribute('data-stale', 'true')")
    assert said(table) == style.FORMER


FILES = (
    ("picture.png", b"\x89PNG\r\n\x1a\n\0\0", "picture.png is a picture (PNG)"),
    ("large.csv", b"rank,propensity\n" * 400_000, "must be 5.0MB or smaller"),
)


def test_curves_leave_the_headline_to_be_read_and_a_file_that_is_none_is_told_in_words(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = opened(open_page, address + LINK)
    open_curves(page)
    expect(page.get_by_text("Users: CSV file")).to_be_attached()
    panel = page.locator(".st-key-curve-control").bounding_box()
    headline = page.locator(".st-key-headline strong").bounding_box()
    assert panel is not None and headline is not None
    assert headline["x"] + headline["width"] < panel["x"]
    for name, content, words in FILES:
        (tmp_path / name).write_bytes(content)
        place = page.locator("[class*=st-key-upload-curve-] input[type=file]")
        place.set_input_files(tmp_path / name)
        told = page.get_by_text(words)
        expect(told).to_be_visible()
        box = told.bounding_box()
        assert box is not None and box["height"] > 10  # words for screen readers have one pixel
