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
    const some = 4 * Math.max(1, frame.width / chart.width.baseVal.value);  // it may be zoomed
    const found = [...chart.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return text.textContent.trim() && box.width
            && (box.left < frame.left - some || box.right > frame.right + some
                || box.top < frame.top - some || box.bottom > frame.bottom + some);
    }).map(text => text.textContent);
    return frame.right > document.documentElement.clientWidth ? [...found, 'the chart'] : found;
})"""


# Letters fill the middle of a line's box; the halo of a text is the same text behind it.
OVER = """() => {
    const found = [], seen = element => {
        const style = getComputedStyle(element), box = element.getBoundingClientRect();
        return +style.opacity && style.visibility !== 'hidden' && box.width > 2 ? box : null;
    };
    document.querySelectorAll('svg.marks, svg.users').forEach(chart => {
        const boxes = [...chart.querySelectorAll('text')].flatMap(element => {
            const box = element.textContent.trim() && seen(element);
            const [x, y] = box ? [Math.min(2, box.width / 5), box.height / 5] : [];
            return box ? [{ text: element.textContent, left: box.left + x, right: box.right - x,
                            top: box.top + y, bottom: box.bottom - y }] : [];
        });
        boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
            if (a.text !== b.text && a.left < b.right && b.left < a.right
                && a.top < b.bottom && b.top < a.bottom) found.push(`${a.text} over ${b.text}`);
        }));
    });
    const words = '.stMain :is(p, label, h1, h2, h3, button, summary, td, th, .stPageLink *)';
    document.querySelectorAll(words).forEach(element => {
        const style = getComputedStyle(element);
        if (!seen(element) || style.clipPath !== 'none') return;
        const cut = (over, whole, shown) => ['hidden', 'clip'].includes(over) && whole > shown;
        if (cut(style.overflowX, element.scrollWidth, element.clientWidth + 1)
            || cut(style.overflowY, element.scrollHeight, element.clientHeight + 4))
            found.push(`cut: ${element.textContent}`);
    });
    // An option of a command, such as --log, is on one line.
    const range = document.createRange();
    const main = document.querySelector('.stMain');
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        for (const { index, 0: option } of node.data.matchAll(/--[a-z-]+/g)) {
            range.setStart(node, index);
            range.setEnd(node, index + option.length);
            const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
            if (lines.size > 1) found.push(`broken: ${option}`);
        }
    }
    const header = document.querySelector('[data-testid=stHeader]');
    const bar = header?.getBoundingClientRect().bottom ?? 0;
    document.querySelectorAll('.st-key-main-controls button, h1').forEach(element => {
        const box = seen(element);
        if (box && document.querySelector('.stMain').scrollTop === 0 && box.top < bar - 4
            && getComputedStyle(element).clipPath === 'none')
            found.push(`under the bar: ${element.textContent}`);
    });
    return found;
}"""


# The first picture of a page is why it is there.
BELOW = """() => {
    const first = document.querySelector('svg.marks');
    return first ? first.getBoundingClientRect().bottom - innerHeight : 0;
}"""


def below_window(page: Page) -> float:
    """Pixels of a page's first chart that are below the window, as opened; not above 0 is right."""
    found: float = page.evaluate(BELOW)
    return found


MARKED = """() => [...document.querySelectorAll('[data-testid=stTopNav] :is(a, button)')]
    .filter(entry => getComputedStyle(entry.querySelector('p')).fontWeight >= 600)
    .map(entry => entry.querySelector('p').textContent)"""


def marked(page: Page) -> list[str]:
    """Entries of the menu, closed, that are marked as where the reader is."""
    found: list[str] = page.evaluate(MARKED)
    return found


def crowded(page: Page) -> list[str]:
    """Words over others in a chart, or cut off by their box, broken options, what the bar hides."""
    found: list[str] = page.evaluate(OVER)
    return found


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    main = "document.querySelector(\"[data-testid='stMain']\")"
    found: int = page.evaluate(f"{main}.scrollWidth - window.innerWidth")
    return max(found, 0)


def cut_words(page: Page) -> list[str]:
    """Words of charts that reach beyond the chart that they are in, or charts beyond the page."""
    found: list[str] = page.evaluate(CUT)
    return found


def crowded_at(page: Page, width: int, height: int) -> list[str]:
    """What is cut, crowded or beyond the edge of a screen of this size, once charts are anew."""
    page.set_viewport_size({"width": width, "height": height})
    found: list[str] = []
    for _ in range(10):
        page.wait_for_timeout(200)
        found = cut_words(page) + crowded(page) + ["the page"] * (sideways(page) > 0)
        if not found:
            break
    return found
