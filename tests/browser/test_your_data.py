"""The page on a reader's own data as its reader meets it: files chosen, refused, removed."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Locator, Page, expect

from scripts.screenshots import ASK_AGAIN
from tests.browser.pages import OpenPage, crowded, opened, settled
from ultr_core.own_data.samples import sample_files


def page_opened(open_page: OpenPage, address: str, **options: object) -> Page:
    return opened(open_page, f"{address}/your_data", **options)


def bring(page: Page, kind: str, path: Path) -> None:
    page.locator(f".st-key-data-bring-{kind} input[type=file]").set_input_files(path)
    settled(page)


def samples(page: Page) -> Locator:
    return page.get_by_role("button", name="Use the samples")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for sample in sample_files().values():
        (tmp_path / sample.name).write_bytes(sample.data)
    return tmp_path


def test_files_are_brought_trained_on_and_taken_away(
    open_page: OpenPage, address: str, folder: Path
) -> None:
    page = page_opened(open_page, address)
    bring(page, "corpus", folder / "sample_corpus.txt")
    packed = folder / "sample_log.csv.gz"
    packed.write_bytes(gzip.compress((folder / "sample_log.csv").read_bytes()))
    bring(page, "log", packed)
    expect(page.locator(".st-key-data-bring-log")).to_contain_text("sample_log.csv.gz")
    page.get_by_role("radio", name="Estimated from the log").click()
    settled(page)
    expect(page.get_by_text("Assumes that users follow the position model")).to_be_visible()
    page.get_by_role("radio", name="My own curve (CSV)").click()
    settled(page)
    bring(page, "curve", folder / "sample_curve.csv")
    page.get_by_role("button", name="Train the ranker").click()
    expect(page.get_by_text("Trained.")).to_be_visible()
    settled(page)
    verdict = page.get_by_text("the ranker trained here is better than what users saw")
    expect(verdict.first).to_be_visible()
    with page.expect_download() as download:
        page.locator(".st-key-data-json button").click()
    assert Path(download.value.path()).read_text().startswith('{\n "format"')
    expect(page.locator("code").filter(has_text="ultr_core fit")).to_contain_text("sample_log")
    page.get_by_role("button", name="Remove everything").click()
    settled(page)
    expect(page.locator(".st-key-data-bring-corpus input[type=file]")).to_be_attached()


BAD = (
    ("corpus", "picture.txt", b"\x89PNG\r\n\x1a\n\xff\xfe\x00", "picture.txt"),
    ("corpus", "bomb.gz", None, "more than 200 times"),
    ("log", "empty.csv", b"", "is empty"),
    ("log", "columns.csv", b"a,b,c\n1,2,3\n", "Say which column"),
)


def test_bad_files_are_sentences(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    page = page_opened(open_page, address)
    alert = page.locator("[data-testid='stAlert']")
    for kind, name, content, told in BAD:
        path = tmp_path / name
        path.write_bytes(
            gzip.compress(b"0 qid:1 1:0\n" * 8_000_000) if content is None else content
        )
        bring(page, kind, path)
        expect(alert.filter(has_text=told)).to_have_count(1)
        expect(page.get_by_role("heading", name="5 · Evidence")).to_be_visible()
        remove = page.locator(f".st-key-data-remove-{kind}").get_by_role("button")
        if remove.count():
            remove.click()
            settled(page)


def test_two_sessions_and_no_shared_file(open_page: OpenPage, address: str, folder: Path) -> None:
    first, second = page_opened(open_page, address), page_opened(open_page, address)
    bring(first, "log", folder / "sample_log.csv")
    second.get_by_role("button", name="Use the samples").hover()
    expect(second.locator(".st-key-data-bring-log input[type=file]")).to_be_attached()
    expect(second.get_by_text("sample_log.csv")).to_have_count(0)


def test_keyboard_alone_uploads_a_file(open_page: OpenPage, address: str, folder: Path) -> None:
    page = page_opened(open_page, address)
    uploader = ".st-key-data-bring-corpus [data-testid=stFileUploaderDropzone]"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("here => !!document.activeElement.closest(here)", uploader):
            break
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(folder / "sample_corpus.txt")
    settled(page)
    expect(page.locator(".st-key-data-bring-corpus")).to_contain_text("sample_corpus.txt")


def test_keyboard_alone_runs_the_samples_to_the_picture_which_fits_a_phone(
    open_page: OpenPage, address: str
) -> None:
    page = page_opened(open_page, address)
    samples(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("the ranker trained here is better").first).to_be_visible()
    settled(page)
    chart = page.get_by_label(re.compile("Estimated risk, lower is better")).first
    expect(chart).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(FITS, polling=ASK_AGAIN)  # charts are drawn anew


FITS = "document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth"

OPEN_ALL = """() => document.querySelectorAll('.stMain details:not([open]) > summary')
    .forEach(summary => summary.click())"""

BROKEN = """() => [...document.querySelectorAll('.stMain .stTable td')].filter(cell => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), boxes = [];
    while (texts.nextNode()) {
        const said = document.createRange();
        said.selectNodeContents(texts.currentNode);
        boxes.push(...said.getClientRects());
    }
    boxes.sort((a, b) => a.top - b.top);
    const below = boxes.filter((box, i) => i && box.top > boxes[i - 1].bottom - 4);
    return below.length && cell.textContent.trim().length < 30;
}).map(cell => cell.textContent)"""
"""Short cells that are in several lines."""


def test_tables_scroll_on_a_narrow_phone_and_no_number_or_name_is_broken(
    open_page: OpenPage, address: str
) -> None:
    page = page_opened(open_page, address, width=320, height=700)
    samples(page).click()
    settled(page)
    page.wait_for_function(FITS, polling=ASK_AGAIN)
    page.evaluate(OPEN_ALL)
    settled(page)
    assert page.locator(".stMain .stTable td:visible").count() > 20
    assert page.evaluate(BROKEN) == []
    expect(page.locator(".stMain .stCode").last).to_contain_text("--relevant-grade")
    assert [found for found in crowded(page) if found.startswith("broken: ")] == []
    page.wait_for_function(FITS, polling=ASK_AGAIN)
