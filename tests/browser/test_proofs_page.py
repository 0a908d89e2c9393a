"""The proofs page as its reader meets it: edited, broken, shared, and with the keyboard alone."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Page, expect

from tests.browser.pages import OpenPage, opened

BREAK = "A relevant document is never seen"


def verdict(page: Page) -> str:
    return page.locator(".st-key-headline").inner_text()


def test_edit_break_see_and_restore_from_the_link(open_page: OpenPage, address: str) -> None:
    page = opened(open_page, f"{address}/proofs")
    expect(page.locator(".st-key-headline")).to_contain_text("all 5 lines hold exactly")
    expect(page.locator(".st-key-line-5")).to_contain_text("formula 8")

    # F is no longer relevant, so the lowest relevant document is E, at rank 1 of the new ranking.
    page.locator(".st-key-relevant").get_by_role("button", name="F", exact=True).click()
    expect(page.locator(".st-key-line-5")).to_contain_text("formula 6")
    page.get_by_text(BREAK, exact=True).click()
    expect(page.locator(".st-key-headline")).to_contain_text("Line 4 fails by +1")
    broken_line = page.locator(".st-key-line-4")
    expect(broken_line).to_contain_text("fails by +1")
    expect(broken_line).to_contain_text("exactly the predicted +1")
    expect(page.locator(".st-key-line-1")).to_contain_text("formula 5")
    expect(page).to_have_url(re.compile("relevant=B.*relevant=E"))
    expect(page).to_have_url(re.compile("break_zero_relevant=true"))

    other = opened(open_page, page.url)
    expect(other.locator(".st-key-headline")).to_contain_text("Line 4 fails by +1")
    assert verdict(other) == verdict(page)
    for line in range(1, 6):
        place = f".st-key-line-{line}"
        assert other.locator(place).inner_text() == page.locator(place).inner_text()
    nothing_is_wider_than_the_screen(other)


def test_the_keyboard_alone_breaks_and_mends(open_page: OpenPage, address: str) -> None:
    page = opened(open_page, f"{address}/proofs")
    switch = page.get_by_role("switch", name=BREAK).or_(
        page.get_by_role("checkbox", name=BREAK)
    ).first  # fmt: skip
    switch.focus()
    page.keyboard.press("Space")
    expect(page.locator(".st-key-headline")).to_contain_text("Line 4 fails by +2")
    page.get_by_role("button", name="Restore all assumptions").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-headline")).to_contain_text("all 5 lines hold exactly")
    page.get_by_role("textbox", name="New ranker S₁").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("FEDCBA")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-line-5")).to_contain_text("formula 8")  # 1 + 2 + 5
    page.get_by_role("button", name=re.compile("Draw .* more")).focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-line-1")).to_contain_text("10,000 users")
    expect(page).to_have_url(re.compile("users=10000"))


def test_users_come_one_by_one_when_played(open_page: OpenPage, address: str) -> None:
    page = opened(open_page, f"{address}/proofs?view=One+user+at+a+time")
    expect(page.get_by_text("searches for “mercury” and starts at the top")).to_be_visible()
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("User 2 searches")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_text("searches for “mercury” and starts at the top")).to_be_visible()
    expect(page.get_by_text("User 1 searches")).to_be_visible()


def nothing_is_wider_than_the_screen(page: Page) -> None:
    main = page.locator("[data-testid='stMain']")
    for width, height in ((390, 844), (1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        assert main.evaluate("element => element.scrollWidth <= element.clientWidth + 1"), width
        if width >= 1280:
            box = page.locator(".st-key-line-1").bounding_box()
            assert box is not None
            assert box["y"] < height  # the derivation begins on the first screen
