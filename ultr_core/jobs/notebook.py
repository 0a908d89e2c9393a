"""``notebook``: write the notebook that gives a page's numbers with ``ultr_core`` alone."""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

from ultr_core.errors import InputError, named, quoted
from ultr_core.fields import Text
from ultr_core.files.disk import write_whole
from ultr_core.files.letor import directory_files
from ultr_core.jobs.files import CORPUS, File
from ultr_core.jobs.job import Given, Job, PageState
from ultr_core.jobs.links import NOTEBOOK_PAGES, page_of, read_page_query
from ultr_core.jobs.notebooks import page_notebook
from ultr_core.jobs.output import print_notes
from ultr_core.settings import SETTING_FIELDS, Settings


def run(given: Given) -> None:
    """Write the notebook."""
    if given.corpus is not None:
        directory_files(given.corpus)  # before the reader of the notebook finds it missing
    content = page_notebook(_state(given)).as_bytes()
    if given.out is None:
        sys.stdout.write(content.decode())
    else:
        write_whole(given.out, content, "The notebook")
        # Not on standard output, which carries the notebook itself when there is no --out.
        print(f"Written to {named(given.out)}.", file=sys.stderr)


def _state(given: Given) -> PageState:
    if given.link is None:
        return PageState(given.page, given.settings, corpus=given.corpus)
    if any(each.name in given.asked for each in SETTING_FIELDS):
        raise InputError(
            "--link contains all settings; give either --link or options for settings.",
            "one_of_two",
        )
    settings, values = _linked(given.page, given.link)
    state = PageState(given.page, settings, values, given.corpus, given.link)
    page = page_of(given.page)
    if page is not None:
        print_notes(told for _, told in page.possible(state).values() if told)
    return state


def _linked(page: str, link: str) -> tuple[Settings, dict[str, object]]:
    try:
        address = urlsplit(link)
    except ValueError:
        raise InputError(
            "--link is not an address; give the address shown under Share.", "link_address"
        ) from None
    linked = address.path.rstrip("/").rpartition("/")[2]
    if linked != page and linked in NOTEBOOK_PAGES and page in NOTEBOOK_PAGES:
        raise InputError(
            f"--link is the address of the page {linked}, not of {page}; name that page, or give "
            "an address of this one.",
            "other_page",
        )
    if linked not in ("", page) and not (address.query or address.netloc):
        # A file, or settings without the question mark: nothing of it would be read.
        raise InputError(
            f"--link is {quoted(link)}, which is not an address; give the one shown under Share, "
            f"such as {page}?eta=1.5.",
            "link_address",
        )
    settings, values, notices = read_page_query(page, address.query)
    print_notes(notices)
    return settings, values


JOB = Job(
    run,
    arguments=(
        Text(
            "page", "", default=None, longest=10**6, help=f"one of {', '.join(NOTEBOOK_PAGES)}"
        ),
    ),
    options=(
        File(
            "out", "", metavar="FILE.ipynb", use="write", endings=(".ipynb",),
            help="where to write it; default: print it",
        ),
        Text(
            "link", "", default=None, longest=10**6,
            help="address of the page, as shown under Share; it contains the settings and the "
            "page's own values",
        ),
        CORPUS,
    ),
    settings=SETTING_FIELDS,
)  # fmt: skip
