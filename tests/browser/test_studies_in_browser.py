"""The figures of studies as their reader meets them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import expect

from scripts.screenshots import server
from tests.browser.pages import OpenPage, below_window, crowded_at, opened, settled
from ultr_core.jobs.links import read_page_query
from ultr_core.settings import PARAMETERS


@pytest.fixture(scope="module")
def built_in() -> Iterator[str]:
    """A server of the built-in corpus, whose studies are computed before."""
    with server() as running:
        yield running


@pytest.mark.parametrize(
    "link",
    [
        "learning_curves",
        "robustness?mode=lecture",
        "robustness?study=map-assumed",
        "repairs?breaks=leaving&repair_clicks=most&mode=lecture",
        "repairs?breaks=cut&mode=lecture",
        "repairs?breaks=wrong-curve&mode=lecture",
    ],
)
def test_a_shipped_picture_is_whole_in_the_window_and_on_a_phone(
    open_page: OpenPage, built_in: str, link: str
) -> None:
    page = opened(open_page, f"{built_in}/{link}")
    assert below_window(page) <= 0
    for size in ((1280, 720), (390, 844)):
        assert crowded_at(page, *size) == [], size


@pytest.mark.parametrize(
    ("study", "mark", "width", "height"),
    [("misspecification", "symbol", 1280, 720), ("map-noise", "rect", 390, 844)],
)
def test_the_button_that_a_click_makes_appear_is_in_sight(
    open_page: OpenPage, address: str, study: str, mark: str, width: int, height: int
) -> None:
    link = f"{address}/robustness?study={study}&draws=1"
    page = opened(open_page, link, width=width, height=height)
    page.get_by_role("button", name=re.compile("^Run: train")).click()
    expect(page.get_by_text("then press the button that appears here")).to_be_visible()
    settled(page)
    # The marks beside names are hidden from assistive technology, and no click selects them.
    marks = page.locator(f"svg.marks .mark-{mark}:not([aria-hidden=true]) path")
    button = page.get_by_role("button", name=re.compile("^Open .* in the Lab$"))
    asked = ""
    for place in (marks.first, marks.last):
        before = asked
        for edge in ("start", "end"):
            place.evaluate("(mark, edge) => mark.scrollIntoView({block: edge})", edge)
            if edge == "start":  # not below the page's bar
                page.locator("[data-testid=stMain]").evaluate("main => main.scrollBy(0, -130)")
            place.click(force=True)  # another mark may lie on it
            expect(button).to_be_in_viewport(ratio=1)
            # That of the mark before is there until the page has heard of this click.
            expect(button).not_to_have_text(before, use_inner_text=True)
        asked = button.inner_text()
    button.click()
    expect(page.locator(".st-key-panels")).to_be_visible()
    settings, _, _ = read_page_query("lab", urlsplit(page.url).query)
    for symbol, value in re.findall(r"(\S+) = ([\d.,]*\d)", asked):
        (name,) = (name for name, field in PARAMETERS.items() if field.symbol == symbol)
        assert getattr(settings, name) == float(value.replace(",", "")), asked
