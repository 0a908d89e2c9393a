"""The address says what is on the screen, also after a walk through the menu."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Locator, Page, expect

from pages.app.registry import PAGES
from scripts.screenshots import server, wait_until_done
from tests.browser.pages import OpenPage, opened


def slider(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-{name}").get_by_role("slider").first


def go(page: Page, menu: str) -> None:
    group = next(info.group for info in PAGES if info.menu == menu)
    if group:
        page.get_by_role("button", name=group).click()
    page.get_by_role("menuitem" if group else "link", name=menu, exact=True).click()
    expect(page).to_have_url(
        re.compile(menu.lower().replace(" ", "_") if menu != "Lab" else r"\d/\?")
    )
    wait_until_done(page)


def test_the_address_follows_a_control_on_the_first_page_of_a_fresh_server(
    open_page: OpenPage, small_corpus: Path
) -> None:
    """It shows a placeholder first, which must not move what is below."""
    with server(after=("--corpus", str(small_corpus))) as fresh:
        page = opened(open_page, f"{fresh}/propensities")
        for value in (2, 3, 4):
            slider(page, "swap_landmark").press("ArrowRight")
            expect(page).to_have_url(re.compile(f"swap_landmark={value}"))
            wait_until_done(page)


# Through all groups of the menu, past pages that hide the controls.
HIDE = ("Lessons", "About", "Your data")
WALK = ("Lessons", "About", "Your data", "Lab", "Proofs", "Lab")


def test_a_walk_through_the_menu_keeps_settings_and_address_together(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, f"{address}/lab?eta=2&eps_plus=0.9&clicks=500&draws=1")
    eta, eps_plus, visited = 2.0, 0.9, []
    for menu in WALK:
        go(page, menu)
        if menu not in HIDE:
            slider(page, "eta").press("ArrowLeft")
            page.locator(".st-key-more-settings summary").first.click()
            slider(page, "eps_plus").press("ArrowLeft")
            eta, eps_plus = round(eta - 0.05, 2), round(eps_plus - 0.01, 2)
            expect(slider(page, "eta")).to_have_value(str(eta))
            expect(slider(page, "eps_plus")).to_have_value(str(eps_plus))
            page.locator(".st-key-more-settings summary").first.click()
        expect(page).to_have_url(re.compile(rf"clicks=500.*eps_plus={eps_plus}.*eta={eta}(&|$)"))
        wait_until_done(page)
        visited.append((page.url, eta))
    # Back brings a page as its address says.
    for url, then in reversed(visited[-3:-1]):
        page.go_back()
        expect(page).to_have_url(url)
        # The browser changes the address before it asks the server for the page.
        expect(slider(page, "eta")).to_have_value(str(then))


def test_keys_of_a_page_are_not_taken_to_another(open_page: OpenPage, address: str) -> None:
    page = opened(
        open_page, f"{address}/learning_curves?result=quick&loss=mean-rank&clicks=500&draws=1"
    )
    for menu in ("Lab", "Lessons", "Proofs"):
        go(page, menu)
        expect(page).not_to_have_url(re.compile("result"))
        expect(page.get_by_text("The link's key")).to_have_count(0)


@pytest.mark.parametrize(
    ("link", "key", "shown", "corrected"),
    [
        ("lab?eta=0.4&clicks=1000&draws=1", "clicks", "1,000", "clicks=1%2C000"),
        ("proofs?draws=1&users=inf", "users", "1000", "draws=1$"),
    ],
)
def test_back_to_a_link_as_it_was_typed_shows_the_same_values(
    open_page: OpenPage, address: str, link: str, key: str, shown: str, corrected: str
) -> None:
    page = opened(open_page, f"{address}/{link}")
    field = page.locator(f".st-key-{key} input").first
    text = "aria-valuetext" if field.get_attribute("type") == "range" else "value"
    expect(page).to_have_url(re.compile(corrected))
    page.go_back()
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile(corrected))
    wait_until_done(page)
    expect(field).to_have_attribute(text, shown)
    expect(page.locator("[data-testid='stException']")).to_have_count(0)
