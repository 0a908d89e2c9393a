"""Whatever stands in links and files, a page asks no other host, and links to none."""

from __future__ import annotations

import json
import os
from itertools import cycle
from urllib.parse import quote, urlsplit

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

from playwright.sync_api import Page, expect

from pages.app.registry import PAGES
from tests.browser.pages import OpenPage, settled
from tests.hostile_texts import AWAY
from ultr_core.curve_values import CURVES
from ultr_core.jobs.links import page_values
from ultr_core.own_data.samples import sample_files
from ultr_core.settings import PARAMETERS

OWN_LINKS = {"arxiv.org"}
"""Hosts that the lab's own words link to."""

HOSTILE = (
    f"![x]({AWAY}) [l]({AWAY}) <img src={AWAY}> <{AWAY}> [j](javascript:alert(1)) "
    rf"$\href{{{AWAY}}}{{x}}$ $$\includegraphics{{{AWAY}}}$$ ![d](data:image/svg+xml;x) [r][r]"
)
TEXTS = (
    AWAY, HOSTILE, "www.elsewhere.example", "a@elsewhere.example", ":red[$x$] :material/home:",
    "[j](javascript:alert(1))", rf"$\href{{{AWAY}}}{{x}}$", f"<a href='{AWAY}'>x</a>",
    f"<iframe src={AWAY}></iframe>", f"[r]: {AWAY}\n\n[r]", f"<svg><image href='{AWAY}'/></svg>",
    f"<style>@import '{AWAY}';</style>", "//elsewhere.example/x", "javascript:alert(1)",
)  # fmt: skip
NAME = "![x](www.elsewhere.example) [l](a@elsewhere.example) :red[$x$] `c`"
"""In a file's name, which has no slash."""

ANCHORS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
OTHERS = """[...document.querySelectorAll('img, image, iframe, link, script, source, object')]
    .map(e => e.src || e.href?.baseVal || e.href || e.data || '')"""


class Watched:
    """Where a page's requests, sockets, links and pictures go."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.own = page, urlsplit(address).hostname
        self.asked: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("websocket", lambda socket: self.asked.append(socket.url))

    def elsewhere(self) -> list[str]:
        """Addresses on other hosts that were asked for, or stand on the page."""
        links = [a for a in self.page.evaluate(ANCHORS) if urlsplit(a).hostname not in OWN_LINKS]
        seen = [*self.asked, *links, *self.page.evaluate(OTHERS)]
        return [a for a in seen if urlsplit(a).hostname not in (self.own, None)] + [
            a for a in links if a.startswith(("mailto:", "javascript:"))
        ]


def watched(open_page: OpenPage, address: str, path: str) -> Watched:
    page = open_page("about:blank")
    watch = Watched(page, address)
    page.goto(f"{address}/{path}")
    settled(page)
    assert any(address in asked for asked in watch.asked)
    return watch


def keys_of(path: str) -> list[str]:
    """All that a link to a page may name."""
    own = [value.key for value in page_values().get(path, ())]
    return [*PARAMETERS, *(field.key for field in CURVES.values()), *own, "unknown"]


@pytest.mark.parametrize(("number", "path"), [*enumerate(page.path for page in PAGES)])
def test_links_bring_nothing_from_elsewhere(
    open_page: OpenPage, address: str, number: int, path: str
) -> None:
    """Each text is with many keys, and each key of the settings has another text on each page."""
    first = number % len(TEXTS)
    texts = cycle(TEXTS[first:] + TEXTS[:first])
    query = "&".join(f"{key}={quote(next(texts))}" for key in keys_of(path))
    assert watched(open_page, address, f"{path}?{query}").elsewhere() == [], query


def test_names_and_the_mode_of_a_link_bring_nothing_from_elsewhere(
    open_page: OpenPage, address: str
) -> None:
    query = f"clicks=500&draws=2&mode={quote(HOSTILE)}&controls={quote(HOSTILE)}&{quote(HOSTILE)}=1"
    watch = watched(open_page, address, f"lab?{query}")
    assert watch.elsewhere() == []
    # The watch sees a picture from elsewhere.
    watch.page.route("http://elsewhere.example/**", lambda route: route.fulfill(body=""))
    watch.page.evaluate(f"document.body.append(Object.assign(new Image(), {{src: '{AWAY}'}}))")
    watch.page.wait_for_timeout(300)
    assert watch.elsewhere() == [AWAY, AWAY]


def bring(watch: Watched, kind: str, name: str, content: bytes) -> None:
    remove = watch.page.locator(f".st-key-data-remove-{kind}").get_by_role("button")
    if remove.count():
        remove.click()
        settled(watch.page)
    give(watch, f".st-key-data-bring-{kind}", name, content)


def give(watch: Watched, place: str, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "text/plain", "buffer": content}
    watch.page.locator(f"{place} input[type=file]").first.set_input_files([file])
    settled(watch.page)


def pick(page: Page, box: str, option: str) -> None:
    page.get_by_role("combobox", name=box).first.click()
    page.keyboard.type(option)
    page.keyboard.press("Enter")
    settled(page)


def hostile_corpus() -> bytes:
    """The sample corpus with names of queries and documents that would be links."""
    text = sample_files()["corpus"].data.decode()
    return text.replace("qid:q", f"qid:{AWAY}?q").replace("docid = q", f"docid = {AWAY}?q").encode()


def hostile_log() -> bytes:
    """The sample log of that corpus, with a column of propensities that has a hostile name."""
    header, *lines = sample_files()["log"].data.decode().splitlines()
    rows = []
    for line in lines:
        query, document, position, *others = line.split(",")
        names = f"{AWAY}?{query},{AWAY}?{document}"
        rows.append(f"{names},{position},{','.join(others)},{1 / int(position)}")
    return "\n".join([f"{header},{HOSTILE}", *rows]).encode()


def hostile_ranker() -> bytes:
    """The sample ranker, whose file says hostile things of its training."""
    content = json.loads(sample_files()["ranker"].data)
    content |= {HOSTILE: HOSTILE, "score": HOSTILE, "trained": {HOSTILE: AWAY, "method": HOSTILE}}
    return json.dumps(content).encode()


def test_files_bring_nothing_from_elsewhere(open_page: OpenPage, address: str) -> None:
    watch = watched(open_page, address, "your_data")
    page = watch.page
    bring(watch, "corpus", f"{NAME}.txt", hostile_corpus())
    bring(watch, "log", f"{NAME}.csv", hostile_log())
    page.get_by_text("Preview and columns").click()
    expect(page.locator(".stMain table").get_by_text("[l](http:").first).to_be_visible()
    assert watch.elsewhere() == []
    page.get_by_text("More columns and choices").click()
    pick(page, "Propensity", HOSTILE)
    page.get_by_role("radio", name="The log's own column").click()
    settled(page)
    expect(page.get_by_text("The column ![x](http:").last).to_contain_text("in the log: at")
    assert watch.elsewhere() == []
    page.get_by_role("radio", name="My own curve (CSV)").click()
    settled(page)
    bring(watch, "curve", f"{NAME}.csv", sample_files()["curve"].data)
    page.get_by_role("tab", name="Add a ranker or its scores").click()
    bring(watch, "ranker", f"{NAME}.json", hostile_ranker())
    for kind in ("corpus", "log", "curve", "ranker"):
        page.locator(f".st-key-data-remove-{kind} button").first.hover()
        expect(page.get_by_text("Remove ![x](www").first).to_be_visible()
        assert watch.elsewhere() == []
    page.locator(".st-key-figure-evidence-own").get_by_text("Save figure").click()
    expect(page.get_by_text(f"Estimated risk of {NAME}"[:20]).first).to_be_visible()
    settled(page)
    assert watch.elsewhere() == []


def test_files_that_are_refused_bring_nothing_from_elsewhere(
    open_page: OpenPage, address: str
) -> None:
    watch = watched(open_page, address, "your_data")
    page = watch.page
    alert = page.locator("[data-testid='stAlert']")
    ranker = json.dumps({"format": HOSTILE, "coefficients": [AWAY]}).encode()
    for kind, content in (
        ("corpus", f"{HOSTILE} qid:{AWAY} 1:{AWAY}\n".encode()),
        ("corpus", f"1 qid:{AWAY} {AWAY}:1\n".encode()),
        ("log", f"{HOSTILE},{AWAY},www.elsewhere.example\n1,2,3\n".encode()),
        ("log", f"query,document,position,click\n{AWAY},{AWAY},{AWAY},{AWAY}\n".encode()),
        ("log", f"query,document,position,click\n{AWAY},{AWAY},1,7{HOSTILE}\n".encode()),
    ):
        bring(watch, kind, f"{NAME}.txt", content)
        expect(alert.first).to_be_visible()
        assert watch.elsewhere() == [], content
    page.get_by_role("radio", name="My own curve (CSV)").click()
    settled(page)
    bring(watch, "curve", f"{NAME}.csv", f"rank,propensity\n{AWAY},{HOSTILE}\n".encode())
    page.get_by_role("tab", name="Add a ranker or its scores").click()
    bring(watch, "ranker", f"{NAME}.json", ranker)
    assert watch.elsewhere() == []


def test_uploads_elsewhere_bring_nothing_from_elsewhere(open_page: OpenPage, address: str) -> None:
    watch = watched(open_page, address, "propensities?clicks=500&draws=2")
    for kind, content in (
        ("own-log", hostile_log()),
        ("own-log", f"{HOSTILE},{AWAY}\n1,2\n".encode()),
        ("own-curve", f"rank,propensity\n1,{HOSTILE}\n".encode()),
    ):
        bring(watch, kind, f"{NAME}.csv", content)
        assert watch.elsewhere() == []
