"""What the browser tests of several pages do."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from scripts.screenshots import wait_until_done

OpenPage = Callable[..., Page]


def opened(open_page: OpenPage, url: str, **options: object) -> Page:
    """A page at the address, once it has come to rest."""
    page = open_page(url, **options)
    wait_until_done(page)
    return page


def settled(page: Page) -> None:
    """Wait until the page has answered what was just done to it, without an error."""
    page.wait_for_timeout(500)
    wait_until_done(page)
    expect(page.locator("[data-testid='stException']")).to_have_count(0)
