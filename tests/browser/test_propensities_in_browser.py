"""Propensities and the live experiment as their reader meets them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import OpenPage, open_curves, opened, settled, sideways

SMALL = "draws=1&clicks=500"
PROPENSITIES = f"/propensities?{SMALL}&swap_traffic=5,000&swap_ranks=10"
LIVE = f"/live?{SMALL}&live_queries=100"


def slider(page: Page, label: str) -> Locator:
    return page.get_by_role("slider", name=re.compile(label)).first


def upload(page: Page, label: str, path: Path) -> None:
    place = page.locator("[data-testid='stFileUploader']").filter(has_text=label)
    place.locator("input[type=file]").set_input_files(path)
    settled(page)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = ["query,document,position,click"]
    for query in range(40):
        rows += [f"q{query},a,1,1", f"q{query},a,2,{query % 2}", f"q{query},b,2,0"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_control_moves_the_estimate_which_opens_the_lab_and_the_power_law_comes_back(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, address + PROPENSITIES)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Where do propensities come from")
    sentence = page.get_by_text(re.compile("^Swaps estimate the examination of rank"))
    before = sentence.inner_text()
    slider(page, "Landmark k").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("swap_landmark=2"))
    settled(page)
    assert sentence.inner_text() != before
    for _ in range(8):  # faster than the page can follow
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(30)
    expect(page).to_have_url(re.compile("swap_landmark=10"))
    settled(page)
    expect(slider(page, "Landmark k")).to_have_value("10")
    page.get_by_role("button", name="Use this curve in the Lab").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("biased clicks")
    expect(page).to_have_url(re.compile(r"assumed_p=1(,|%2C)0\."))
    settled(page)
    said = "Learner: the examination curve is given, so η′ is not used"
    expect(page.get_by_text(said)).to_be_visible()
    expect(slider(page, "Assumed bias")).to_be_disabled()
    expect(slider(page, "Bias severity")).to_be_enabled()
    other = opened(open_page, page.url)
    expect(slider(other, "Assumed bias")).to_be_disabled()
    other.get_by_role("button", name="Use the power law again").click()
    expect(other).not_to_have_url(re.compile("assumed_p"))
    settled(other)
    expect(slider(other, "Assumed bias")).to_be_enabled()


def an_own_log_gives_a_table_and_a_curve_for_the_lab(page: Page, log: Path) -> None:
    upload(page, "Click log", log)
    table = page.get_by_role("table").filter(has_text="Ratio")
    expect(table).to_contain_text("0.500")
    page.locator(".st-key-use-log-both button").click()
    expect(page).to_have_url(re.compile(r"[?&]p=1(,|%2C)0\.5(&|$)"))
    settled(page)
    expect(page.get_by_text("Users and Learner: the examination curve is given")).to_be_visible()


ODD = {
    "empty": (b"", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\xff\xfe\x00", "is a picture (PNG)"),
    "header alone": (b"query,document,position,click\n", "no usable rows"),
    "no click": (b"query,document,position,click\nq,a,1,0\nq,b,2,0\n", "was clicked"),
}


def test_odd_logs_are_told_in_a_sentence_each_and_a_good_one_gives_a_curve(
    open_page: OpenPage, address: str, tmp_path: Path, log: Path
) -> None:
    page = opened(open_page, address + PROPENSITIES)
    alert = page.locator("[data-testid='stAlert']")
    for name, (content, words) in ODD.items():
        path = tmp_path / f"{name}.csv"
        path.write_bytes(content)
        upload(page, "Click log", path)
        expect(alert.filter(has_text=words)).to_have_count(1)
        expect(alert).to_have_count(1)
        if page.get_by_role("button", name="Remove").count():  # an empty file is not taken
            page.get_by_role("button", name="Remove").click()
            settled(page)
    an_own_log_gives_a_table_and_a_curve_for_the_lab(page, log)


def test_numbers_can_be_pasted_and_a_file_uploaded_in_the_lab(
    open_page: OpenPage, address: str, tmp_path: Path
) -> None:
    page = opened(open_page, f"{address}/lab?{SMALL}")
    open_curves(page)
    field = page.get_by_role("textbox", name="Users: numbers by rank")
    field.fill("1 0.62 0.45")
    field.press("Enter")
    expect(page).to_have_url(re.compile("[?&]p=1"))
    settled(page)
    expect(slider(page, "Bias severity")).to_be_disabled()
    curve = tmp_path / "curve.csv"
    curve.write_text("rank,propensity\n1,1\n2,0.25\n")
    page.locator(".st-key-upload-assumed_curve-0 input[type=file]").set_input_files(curve)
    expect(page).to_have_url(re.compile(r"assumed_p=1(,|%2C)0\.25"))
    settled(page)
    expect(page.get_by_role("textbox", name="Learner: numbers by rank")).to_have_value("1,0.25")


def test_the_live_experiment_runs_small_and_reads_its_result(
    open_page: OpenPage, address: str
) -> None:
    page = opened(open_page, address + LIVE)
    expect(page.get_by_role("heading", level=1)).to_contain_text("prefer the weighted ranker")
    expect(page.get_by_text(re.compile("^The weighted ranker")).first).to_be_visible()
    before = page.locator("strong").first.inner_text()
    slider(page, "Interleaved queries").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("live_queries=218"))
    settled(page)
    assert page.locator("strong").first.inner_text() != before


def test_phone_needs_no_sideways_scrolling(open_page: OpenPage, address: str) -> None:
    """With a given curve; as they are, all pages are looked at in ``test_accessibility.py``."""
    path = f"{PROPENSITIES}&p=1,0.5,0.4"
    assert sideways(opened(open_page, address + path, width=390, height=844, dark=True)) == 0
