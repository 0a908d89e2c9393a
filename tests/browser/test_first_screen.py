"""What moves on the Lab's first screen without a run of the server.

These tests guard the selectors with which ``live.js`` reads Streamlit's sliders: a new minor
version is allowed in ``requirements/app.txt`` once they pass with it.
"""

from __future__ import annotations

import base64
import os
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import BrowserContext, Page, expect

from pages.views.lab import users
from scripts.screenshots import wait_until_done
from tests.browser.conftest import PATIENCE
from tests.browser.pages import OpenPage, crowded, cut_words, opened, settled
from ultr_core.lab import Lab, true_curve
from ultr_core.settings import Settings

LINK = "/lab?clicks=500&draws=2"
MODULE = (Path(users.__file__).parent / "live.js").read_bytes()
IMPORT = f"import('data:text/javascript;base64,{base64.b64encode(MODULE).decode()}')"


def drawn(page: Page) -> list[float]:
    """Milliseconds of each redraw."""
    text = page.locator(".lab-users").get_attribute("data-draws") or ""
    return [float(number) for number in text.split()]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"eta": 0.5, "assumed_eta": 1.5, "eps_minus": 0.3, "eps_plus": 0.9},
        {"curve": (1.0, 0.6, 0.45), "assumed_eta": 2.0},
    ],
)
def test_the_script_expects_what_the_core_expects(
    window: BrowserContext, small_corpus: Path, changes: dict[str, Any]
) -> None:
    settings = Settings(clicks=500).with_values(**changes)
    lab = Lab(settings, str(small_corpus))
    picture, sums = lab.picture(), lab.rank_sums()
    given = {"users": None, "learner": None}
    if settings.curve:
        given["users"] = true_curve(settings).at(sums.ranks).tolist()
    page = window.new_page()
    found, wrong = page.evaluate(
        f"""async ([sums, now]) => {{
            const {{ expected, wrong }} = await {IMPORT};
            const found = expected(sums, now);
            return [found, ["naive", "weighted"].map(method => wrong(sums, found, method))];
        }}""",
        [sums.as_dict(), {**settings.as_dict(), **given}],
    )
    page.close()
    here = picture.production
    for key, said, count in zip(
        ("naive", "weighted"), (picture.naive, picture.weighted), wrong, strict=True
    ):
        exact = said.expected - said.expected[here]
        script = np.array([value[key] for value in found])
        assert np.abs(script - exact).max() < 1e-9
        true = picture.true_risk - picture.true_risk[here]
        apart = np.abs(exact) > 1e-9
        assert count["better"] == np.count_nonzero((true < 0) & (exact > 0) & apart)
        assert count["worse"] == np.count_nonzero((true > 0) & (exact < 0) & apart)


FAINT = """panel => {
    let opacity = 1;
    for (let e = panel; e; e = e.parentElement) opacity *= getComputedStyle(e).opacity;
    const added = [...panel.querySelectorAll('p, h3')].flatMap(e =>
        ['::before', '::after'].map(side => getComputedStyle(e, side).content));
    return { opacity, words: added.filter(word => word.startsWith('"')).join(' ') };
}"""
PLAIN = {"opacity": 1, "words": ""}


MOVES = 20


def hold(page: Page, key: str) -> None:
    """Press on the middle of a slider and move it, without letting go."""
    track = page.locator(f".st-key-{key} [data-rac][data-orientation]").nth(1).bounding_box()
    assert track is not None
    x, y = track["x"] + track["width"] / 2, track["y"] + track["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, MOVES + 1):
        page.mouse.move(x + 3 * step, y)
        page.wait_for_timeout(20)


def the_end_is_seen(page: Page) -> None:
    expect(page.locator(".lab-users")).to_have_attribute("data-users", "100")
    expect(page.locator(".lab-users .without")).to_be_hidden()
    words = page.locator(".lab-users .users").get_attribute("aria-label") or ""
    assert "100" in words


def test_estimates_follow_the_hand_and_give_way_to_the_run(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, address + LINK)
    the_end_is_seen(page)  # by who asks for less motion
    overlay, users = page.locator(".lab-users .overlay"), page.locator(".lab-users .users")
    users_before = users.inner_html()
    expect(overlay).to_be_hidden()
    hold(page, "assumed_eta")
    expect(overlay).to_be_visible()
    assert "assumed_eta" not in page.url  # the server knows nothing yet
    for key in ("headline", "verdict", "panel-rankers"):  # of the run before, and named so
        faint = page.locator(f".st-key-{key}").evaluate(FAINT)
        assert faint["opacity"] < 0.6 and "before" in faint["words"].lower(), key
    assert page.locator(".st-key-panel-estimates").evaluate(FAINT) == PLAIN
    assert users.inner_html() != users_before
    assert 5 <= len(drawn(page)) <= MOVES  # at most one for each move of the pointer
    assert min(drawn(page)) < 8  # others may wait for the processor
    frame = page.locator(".st-key-figure-estimates-relative .role-frame path.background").first
    for side in ("x", "y", "width", "height"):
        assert abs((overlay.bounding_box() or {})[side] - (frame.bounding_box() or {})[side]) < 2
    page.mouse.up()
    expect(page).to_have_url(re.compile("assumed_eta=1"))
    expect(overlay).to_be_hidden()
    wait_until_done(page)
    assert page.locator(".st-key-headline").evaluate(FAINT) == PLAIN
    assert cut_words(page) == []


def test_estimates_that_cannot_follow_are_marked_as_well(open_page: OpenPage, address: str) -> None:
    page = opened(open_page, f"{address}{LINK}&estimates=absolute")
    before = page.locator(".lab-users .users").inner_html()
    hold(page, "eta")
    assert page.locator(".lab-users .users").inner_html() != before
    for key in ("headline", "panel-estimates"):
        faint = page.locator(f".st-key-{key}").evaluate(FAINT)
        assert faint["opacity"] < 0.6 and "before" in faint["words"].lower(), key
    page.mouse.up()


@pytest.fixture
def moving(open_page: OpenPage, address: str) -> Page:
    """The page of a reader who has not asked for less motion."""
    page = open_page("about:blank")
    page.emulate_media(reduced_motion="no-preference")
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(address + LINK)
    wait_until_done(page)
    page.sent = sent  # type: ignore[attr-defined]
    return page


def test_users_are_played_once_without_the_server_and_can_be_stopped(moving: Page) -> None:
    def count() -> int:
        return int(moving.locator(".lab-users").get_attribute("data-users") or 0)

    button = moving.locator(".lab-users button").first
    expect(button).to_have_text("Pause")
    before, sent = count(), len(moving.sent)  # type: ignore[attr-defined]
    # The first users are slow, and slower still on a busy machine.
    more = "before => before == 100 || document.querySelector('.lab-users').dataset.users > before"
    moving.wait_for_function(more, arg=before)
    assert len(moving.sent) == sent  # type: ignore[attr-defined]
    button.click()
    stopped = count()
    moving.wait_for_timeout(500)
    assert count() == stopped
    moving.get_by_role("button", name="Reset", exact=True).last.click()
    assert count() == 0
    moving.get_by_role("button", name="Step", exact=True).click()
    assert count() == 1
    moving.reload()  # it plays once
    wait_until_done(moving)
    expect(moving.locator(".lab-users")).to_have_attribute("data-users", "100")
    expect(moving.locator(".lab-users button").first).to_have_text("Play")


BROKEN = """
const make = Document.prototype.createElementNS;
Document.prototype.createElementNS = function (space, name) {
    if (new Error().stack.includes("lab_users")) throw new Error("broken");
    return make.call(this, space, name);
};
"""


def test_where_the_script_fails_the_charts_stand(window: BrowserContext, address: str) -> None:
    page = window.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE)
    page.add_init_script(BROKEN)
    page.goto(address + LINK)
    wait_until_done(page)
    assert page.locator(".lab-users[data-users]").count() == 0  # it is broken indeed
    expect(page.locator(".lab-users .without")).to_be_visible()
    expect(page.locator(".lab-users .users").first).to_be_hidden()
    chart = page.locator(".st-key-figure-estimates-relative svg.marks")
    before = chart.inner_html()
    page.locator(".st-key-assumed_eta").get_by_role("slider").first.press("Home")
    expect(page).to_have_url(re.compile("assumed_eta=0"))
    settled(page)
    assert chart.inner_html() != before
    page.close()


# Arrows that point to a corner do not fill the box around them.
MARKS_UNDER_WORDS = """() => {
    const chart = document.querySelector('.st-key-figure-estimates-relative svg.marks');
    const of = which => [...chart.querySelectorAll(which)].flatMap(element => {
        const { left, right, top, bottom, width } = element.getBoundingClientRect();
        const text = element.textContent || element.ariaLabel, less = 3;
        return width < 3 ? [] : [{ text, left: left + less, right: right - less,
                                   top: top + less, bottom: bottom - less }];
    });
    const marks = of('.mark-symbol path');
    if (marks.length < 50) return ['no marks'];
    return of('.mark-text text').flatMap(a => marks
        .filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map(b => `${a.text} on ${b.text}`));
}"""


STATES = ("", "eta=0", "assumed_eta=1.5", "clicks=1000", "eps_minus=0.3")


def test_the_story_fits_the_window_in_every_state(open_page: OpenPage, address: str) -> None:
    for state, dark in product(STATES, (False, True)):
        page = opened(open_page, f"{address}/lab?{state}&draws=1", dark=dark)
        for key in ("headline", "panel-users", "panel-estimates", "panel-rankers", "verdict"):
            box = page.locator(f".st-key-{key}").bounding_box()
            assert box is not None
            assert 50 <= box["y"] <= box["y"] + box["height"] <= 720, (state, key)
        assert cut_words(page) + crowded(page) + page.evaluate(MARKS_UNDER_WORDS) == []
        page.close()
