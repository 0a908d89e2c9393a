"""One lesson as a reader without a mouse does it, and the lessons on a phone."""

from __future__ import annotations

import os
from collections import Counter

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Page, expect

from scripts.screenshots import wait_until_done
from tests.browser.pages import OpenPage, in_both_themes, opened
from ultr_core.lessons import LESSONS

MOST_TABS = 60


def lesson_opened(open_page: OpenPage, address: str, query: str, **options: object) -> Page:
    return opened(open_page, f"{address}/lessons?{query}", **options)


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on something that the selector names."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("s => !!document.activeElement?.closest(s)", selector):
            return
    pytest.fail(f"{selector} is not reached by Tab")


def test_a_lesson_is_done_by_keyboard(open_page: OpenPage, address: str) -> None:
    page = lesson_opened(open_page, address, "lesson=3")
    tab_to(page, ".st-key-lesson-guess-3 [role=radiogroup]")
    page.keyboard.press("ArrowDown")
    button = page.locator(".st-key-lesson-commit button")
    expect(button).to_be_enabled()
    wait_until_done(page)
    tab_to(page, ".st-key-lesson-commit button")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You predicted")).to_be_visible()
    wait_until_done(page)
    expect(page.locator(".st-key-lesson-reveal")).to_be_in_viewport()
    tab_to(page, ".st-key-lesson-answer-3 input")
    page.keyboard.type("15")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Right.", exact=True)).to_be_visible()
    expect(page.get_by_text("solved 3")).to_be_visible()
    page.reload()
    expect(page.get_by_text("solved 3")).to_be_visible()
    expect(page.get_by_text("You predicted")).to_be_visible()


def test_a_lesson_that_waits_can_be_read_on_a_phone_and_left_by_fast_clicks(
    open_page: OpenPage, address: str
) -> None:
    page = lesson_opened(open_page, address, "lesson=3")
    button = page.locator(".st-key-lesson-commit button")
    for _ in in_both_themes(page):
        expect(button).to_be_disabled()
        # The label has the faint ink of a disabled button, not that of a filled one.
        colour = "element => getComputedStyle(element).color"
        assert button.locator("p").evaluate(colour) == button.evaluate(colour)
    the_last_of_fast_clicks_is_the_lesson_shown(page, address)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    the_row_of_lessons_fits(page)


def the_row_of_lessons_fits(page: Page) -> None:
    buttons = page.locator(".st-key-lesson button")
    expect(buttons).to_have_count(len(LESSONS))
    boxes = [box for box in (button.bounding_box() for button in buttons.all()) if box]
    assert len(boxes) == len(LESSONS)
    assert max(box["x"] + box["width"] for box in boxes) <= 390
    rows = Counter(box["y"] for box in boxes)
    assert len(rows) <= 2
    assert min(rows.values()) > 2  # none is alone in its row
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def the_last_of_fast_clicks_is_the_lesson_shown(page: Page, address: str) -> None:
    for number in (7, 3, 9, 2, 5):
        page.locator(".st-key-lesson").get_by_role("radio", name=str(number), exact=True).click()
    expect(page.get_by_text("Lesson 5:")).to_be_visible()
    wait_until_done(page)
    expect(page).to_have_url(f"{address}/lessons?lesson=5")
