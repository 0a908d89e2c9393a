"""A server is killed while its page is open in a browser."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pages.app.shell import NEW_SESSION
from scripts.screenshots import wait_until_done
from scripts.serving import running_class
from tests.browser.conftest import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.usefixtures("haproxy")
def test_an_open_page_says_that_another_server_continues(
    chromium: Browser, small_corpus: Path
) -> None:
    from playwright.sync_api import expect

    with running_class(2, after=("--corpus", str(small_corpus))) as running:
        context = chromium.new_context()
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{running.address}/lab?eta=0.7&draws=1")
        wait_until_done(page)
        sentence = page.get_by_text(NEW_SESSION)
        expect(sentence).to_have_count(0)
        (cookie,) = (c for c in context.cookies() if c["name"] == "ultr_lab_server")
        assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
        os.kill(running.counted[int(cookie["value"]) - 1], signal.SIGKILL)
        expect(sentence).to_be_visible(timeout=PATIENCE)  # though nobody touches the page
        wait_until_done(page)
        assert "eta=0.7" in page.url
        expect(page.get_by_role("slider", name="Bias severity").first).to_have_value("0.7")
        page.get_by_role("button", name="Understood").click()
        expect(sentence).to_have_count(0)
        context.close()
