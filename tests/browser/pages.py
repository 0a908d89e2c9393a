"""What the browser tests of several pages do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playwright.sync_api import Page, expect

from scripts.screenshots import wait_until_done

OpenPage = Callable[..., Page]


def opened(open_page: OpenPage, url: str, **options: object) -> Page:
    """A page at the address, once it has come to rest."""
    page = open_page(url, **options)
    wait_until_done(page)
    return page


def open_curves(page: Page) -> None:
    """Open the control of examination curves."""
    for key in ("more-settings", "curve-control"):
        page.locator(f".st-key-{key} summary").first.click()


def in_both_themes(page: Page) -> Iterator[str]:
    """The page, opened in the light theme, in that one and then in the dark one."""
    app = page.locator("[data-testid='stApp']")
    light = app.evaluate("element => getComputedStyle(element).backgroundColor")
    yield "light"
    page.emulate_media(color_scheme="dark")
    if page.locator("[data-testid='stVegaLiteChart']").count():
        page.reload()  # the server gives charts the ink of the theme in which they are asked for
    wait_until_done(page)
    expect(app).not_to_have_css("background-color", light)
    yield "dark"


def settled(page: Page) -> None:
    """Wait until the page has answered what was just done to it, without an error."""
    page.wait_for_timeout(500)
    wait_until_done(page)
    expect(page.locator("[data-testid='stException']")).to_have_count(0)


# A line of text is some pixels higher than its letters.
CUT = """() => [...document.querySelectorAll('svg.marks')].flatMap(chart => {
    const frame = chart.getBoundingClientRect();
    const found = [...chart.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return text.textContent.trim() && box.width
            && (box.left < frame.left - 4 || box.right > frame.right + 4
                || box.top < frame.top - 4 || box.bottom > frame.bottom + 4);
    }).map(text => text.textContent);
    return frame.right > document.documentElement.clientWidth ? [...found, 'the chart'] : found;
})"""


def cut_words(page: Page) -> list[str]:
    """Words of charts that reach beyond the chart that they are in, or charts beyond the page."""
    found: list[str] = page.evaluate(CUT)
    return found
