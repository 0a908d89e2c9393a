"""Text from outside, escaped, is the same text in a browser, and nothing but text."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import BrowserContext, Page

from pages.app.markdown import JOINER, shown
from scripts.screenshots import wait_until_done
from scripts.serving import running_server
from tests.hostile_texts import HOSTILE, PIECES

RANDOM = 400
OF_TEXT = {
    "paragraphs": "p",
    "items": "li",
    "html": "b > p",
    "cells": "tbody td [data-testid='stMarkdownContainer'] p",
    "headers": "thead th [data-testid='stMarkdownContainer'] p",
    "labels": "[data-testid='stWidgetLabel'] p",
    "alerts": "[data-testid='stMarkdownContainer'] p",
    "expanders": "summary [data-testid='stMarkdownContainer'] p",
}
"""By place: the elements that have one text each, in order, and no other element in them."""

READ = """(place, within) => [...place.querySelectorAll(within)].map(
    found => [found.textContent, [...found.querySelectorAll('*')].map(e => e.tagName).join(' ')])"""


def made_up(number: int) -> list[str]:
    """Texts of pieces that mean something to some reader of Markdown."""
    random_ = random.Random(20)
    return ["".join(random_.choices(PIECES, k=random_.randint(1, 9))) for _ in range(number)]


TEXTS = list(dict.fromkeys([*HOSTILE, *made_up(RANDOM)]))


@pytest.fixture(scope="module")
def page(window: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file = tmp_path_factory.mktemp("texts") / "texts.json"
    file.write_text(json.dumps(TEXTS), encoding="ascii")
    script = str(Path(__file__).parents[1] / "escaped_texts.py")
    with running_server(after=(str(file),), script=script) as running:
        opened = window.new_page()
        asked: list[str] = []
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto(running.address)
        wait_until_done(opened)
        yield opened
        assert [url for url in asked if not url.startswith((running.address, "data:"))] == []
        opened.close()


@pytest.mark.parametrize("place", OF_TEXT)
def test_escaped_text_is_itself_and_nothing_else(page: Page, place: str) -> None:
    texts = TEXTS if place in ("paragraphs", "items", "html", "cells") else TEXTS[::10]
    found = page.locator(f".st-key-{place}").evaluate(READ, OF_TEXT[place])
    assert [(text.replace(JOINER, ""), inside) for text, inside in found] == [
        (shown(text), "") for text in texts
    ]


def test_no_text_brings_a_link_a_picture_or_a_formula(page: Page) -> None:
    assert page.locator("[class*='st-key-'] :is(a, img, .katex, code, del, em)").count() == 0


def test_the_words_around_a_text_stay_what_they_are(page: Page) -> None:
    found = page.locator(".st-key-bold").evaluate(READ, "p > strong")
    assert [text.replace(JOINER, "") for text, _ in found] == [f"File {shown(t)}" for t in TEXTS]
    assert {inside for _, inside in found} == {""}
