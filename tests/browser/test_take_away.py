"""Share, undo, save and compare as a reader does it, by hand and by keyboard."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from scripts.screenshots import wait_until_done
from tests.browser.pages import OpenPage, crowded, crowded_at, opened, settled

LINK = "/lab?clicks=500&draws=2"


def slider(page: Page, label: str) -> Locator:
    return page.get_by_role("slider", name=re.compile(label)).first


def test_link_of_the_dialog_opens_the_same_state_elsewhere(
    open_page: OpenPage, address: str, chromium: Browser
) -> None:
    page = opened(open_page, f"{address}{LINK}&eta=0.5&examination=weight")
    page.get_by_role("button", name="Share and download").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="QR code of this link")).to_be_visible()
    expect(dialog.get_by_role("alert")).to_contain_text("--server.address 0.0.0.0")  # 127.0.0.1
    link = f"{address}/lab?eta=0.5&clicks=500&draws=2&examination=weight"
    expect(dialog.get_by_test_id("stCode").first).to_have_text(link)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    elsewhere = chromium.new_context()
    other = elsewhere.new_page()
    other.goto(link)
    wait_until_done(other)
    expect(slider(other, "Bias severity")).to_have_value("0.5")
    headline = ".st-key-headline"
    expect(other.locator(headline)).to_have_text(page.locator(headline).inner_text())
    elsewhere.close()


def test_undo_by_keyboard_restores_the_slider_and_the_notebook_comes_whole(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = opened(open_page, address + LINK)
    handle = slider(page, "Click noise")
    before = handle.input_value()
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("eps_minus="))
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    wait_until_done(page)
    page.keyboard.press("Alt+z")
    expect(slider(page, "Click noise")).to_have_value(before)
    expect(page).not_to_have_url(re.compile("eps_minus="))
    wait_until_done(page)
    page.get_by_role("button", name="Share and download").click()
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("button", name="Notebook").click()
    assert download.value.suggested_filename == "ultr-lab.ipynb"
    target = tmp_path / "lab.ipynb"
    download.value.save_as(target)
    cells = json.loads(target.read_text(encoding="utf-8"))["cells"]
    assert any("Settings(clicks=500, draws=2" in "".join(cell["source"]) for cell in cells)


def test_pinned_run_stays_beside_the_next_one(open_page: OpenPage, address: str) -> None:
    page = opened(open_page, address + LINK)
    rankers = page.locator(".st-key-panel-rankers")
    rankers.get_by_role("button", name="Pin", exact=True).click()
    # What was pinned is said where it was done, on the first screen.
    expect(rankers.get_by_text("Pin 1 is the current run")).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-pinned-1")).to_contain_text("Pin 1 is the current run")
    slider(page, "Bias severity").focus()
    page.keyboard.press("Home")
    expect(page.locator(".st-key-pinned-1")).to_contain_text("η from 1 to 0")
    expect(page.locator(".st-key-pins table")).to_contain_text("Now")
    settled(page)
    chart = rankers.locator("svg.marks")
    frame = chart.bounding_box() or {}
    ghosts = [ghost.bounding_box() or {} for ghost in rankers.get_by_text("1", exact=True).all()]
    assert len(ghosts) >= 4
    for ghost in ghosts:
        assert frame["x"] < ghost["x"] < frame["x"] + frame["width"]
    assert crowded(page) == []
    rankers.get_by_role("link", name="Compare below").click()
    expect(page.locator(".st-key-pins table")).to_be_in_viewport()


@pytest.mark.parametrize("path", ["lab", "robustness", "proofs", "propensities", "live", "claims"])
def test_lecture_mode_shows_title_and_headline_on_the_first_screen(
    open_page: OpenPage, address: str, path: str
) -> None:
    page = opened(open_page, f"{address}/{path}?clicks=500&draws=2&mode=lecture")
    title = page.get_by_role("heading", level=1).bounding_box()
    headline = page.locator(".st-key-headline p").first.bounding_box()
    assert title is not None and headline is not None
    assert title["y"] >= 0
    assert headline["y"] >= title["y"] + 30  # the title's type is 25 pixels high
    assert headline["y"] + headline["height"] < 400  # of 720
    for size in ((1280, 720), (1920, 1080)):
        assert crowded_at(page, *size) == [], size
    if path == "lab":
        charts_fill_their_places(page)


def charts_fill_their_places(page: Page) -> None:
    page.wait_for_timeout(600)
    for name in ("estimates-relative", "trained-rankers"):
        figure = page.locator(f".st-key-figure-{name}")
        frame = figure.locator(".stElementContainer:has(svg.marks)").first.bounding_box()
        picture = figure.locator("svg.marks").bounding_box()
        assert frame is not None and picture is not None
        assert abs(frame["width"] - picture["width"]) < 6
        assert abs(frame["height"] - picture["height"]) < 6
