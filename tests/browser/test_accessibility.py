"""No violation of WCAG A and AA that axe can find, and the keyboard alone suffices."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe is not installed")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.app.registry import PAGES, PageInfo
from scripts.screenshots import wait_until_done
from tests.app.pages import WITH_VALUES
from tests.browser.pages import (
    OpenPage,
    below_window,
    crowded,
    crowded_at,
    cut_words,
    marked,
    opened,
)
from ultr_core.fields import Choice
from ultr_core.jobs.links import values_of

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SMALL = "?clicks=500&draws=2"


def violations(page: Page) -> list[str]:
    """What axe finds, one line an element."""
    options = {"runOnly": {"type": "tag", "values": LEVELS}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("info", PAGES, ids=lambda info: info.path)
def test_axe_finds_nothing_on_a_light_page(
    open_page: OpenPage, address: str, info: PageInfo
) -> None:
    page = opened(open_page, f"{address}/{info.path}{SMALL}")
    assert violations(page) == []
    assert marked(page) == [info.group or info.menu]
    if info.path != "proofs":  # its lines come first
        assert below_window(page) <= 0
    for size in ((1280, 720), (1920, 1080), (390, 844)):
        assert crowded_at(page, *size) == [], size


OF_PARTS = ("part", "view", "proof", "claim_verdict")
"""Choices of what a page shows; each hides what others are about."""


def far_ends(page: str) -> list[str]:
    """Links to a page with every choice at its other end, and with each choice of a part."""
    choices = [value for value in values_of(page) if isinstance(value, Choice)]
    ends = {value.key: f"&{value.key}={list(value.options)[-1]}" for value in choices}
    inside = "".join(end for key, end in ends.items() if key not in OF_PARTS)
    parts = [end for key, end in ends.items() if key in OF_PARTS]
    return [f"{page}{SMALL}{part}{inside}" for part in (["", *parts] if inside else parts)]


STATES = [*(link for page in WITH_VALUES for link in far_ends(page)), f"about{SMALL}"]


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_on_a_dark_page_at_the_other_end_of_its_choices(
    open_page: OpenPage, address: str, state: str
) -> None:
    page = opened(open_page, f"{address}/{state}", dark=True)
    assert violations(page) == []
    assert cut_words(page) == []
    assert crowded(page) == []


def nothing_in_what_opens(page: Page) -> None:
    page.locator(".st-key-checks summary").first.click()
    page.locator(".st-key-proof-checks summary").first.click()
    page.get_by_role("button", name="Save figure").first.click()
    expect(page.get_by_role("button", name="SVG", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Share and download").click()
    expect(page.get_by_role("dialog").get_by_text("Embed")).to_be_visible()
    page.wait_for_timeout(1_000)  # colours of code come later
    assert violations(page) == []


def test_words_over_words_words_cut_off_and_faint_ones_are_found(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, f"{address}/proofs{SMALL}&view=race")
    page.evaluate("""() => {
        const title = document.querySelector('svg.marks .role-axis-title text');
        title.parentNode.appendChild(title.cloneNode()).textContent = 'another';
        const words = document.querySelector('.st-key-headline p');
        Object.assign(words.style, { overflow: 'hidden', height: '8px' });
    }""")
    found = crowded(page)
    cut = [text for text in found if text.startswith("cut: ")]
    assert len(cut) == 1
    assert sum(" over " in text for text in found if text not in cut) == 1
    page.evaluate("""() => {
        const words = document.createElement('p');
        words.innerHTML = 'run fit --log-file a.csv';
        words.style.width = '4em';
        document.querySelector('.stMain').append(words);
    }""")
    assert "broken: --log-file" in crowded(page)
    page.evaluate("document.querySelector('.stMain .stMarkdown p').style.color = '#eeeeee'")
    assert any(line.startswith("color-contrast") for line in violations(page))


def test_focus_is_seen_the_keyboard_alone_moves_a_slider_and_what_opens_has_no_fault(
    open_page: OpenPage, address: str
) -> None:
    page = open_page(f"{address}/lab{SMALL}")
    wait_until_done(page)
    page.add_style_tag(content="* { transition: none !important }")
    wanted = page.get_by_role("slider", name="Bias severity").first
    unseen, reached = [], False
    for _ in range(40):
        page.keyboard.press("Tab")
        if not visibly_focused(page):
            unseen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 120)"))
        if not reached and wanted.evaluate("element => element === document.activeElement"):
            reached = True
            page.keyboard.press("ArrowLeft")
            expect(page).to_have_url(re.compile("eta=0.95"))
            wait_until_done(page)
    assert unseen == []
    assert reached
    nothing_in_what_opens(page)


def visibly_focused(page: Page) -> bool:
    """Whether the focused element, or what is drawn around it, looks different with focus."""
    return bool(page.evaluate(FOCUS_IS_SEEN))


FOCUS_IS_SEEN = """async () => {
    const focused = document.activeElement;
    // The scrolling page gets its frame from a pseudo-element, which is not looked at here.
    if (focused === document.body || focused.matches('main')) return true;
    const drawn = [];
    for (let e = focused, up = 0; e && up < 4; e = e.parentElement, up++) drawn.push(e);
    drawn.push(...(focused.parentElement?.parentElement?.querySelectorAll('*') ?? []));
    const looks = () => drawn.map(e => {
        const s = getComputedStyle(e);
        return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor,
                s.backgroundColor, s.color, s.opacity, s.clip, s.top].join('|');
    });
    const with_focus = looks();
    focused.blur();
    await new Promise(done => setTimeout(done, 60));
    const without = looks();
    focused.focus({focusVisible: true});
    return with_focus.some((look, i) => look !== without[i]);
}"""
