"""For each page the notebook that gives its headline numbers with ``ultr_core`` alone."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from ultr_core.errors import InputError, quoted
from ultr_core.export.notebook import NEEDS, Cell, Notebook, code, notebook, words
from ultr_core.export.origin import settings_code, settings_words
from ultr_core.fields import read_fields
from ultr_core.jobs.job import Begins, Page, PageState
from ultr_core.jobs.links import NOTEBOOK_PAGES, job_of, page_of
from ultr_core.settings import Settings
from ultr_core.words import as_argument


def shown_state(state: PageState) -> PageState:
    """The state with all values of the page, and the settings that its results have."""
    page = page_of(state.page)
    return state if page is None else _shown(state, page)


def _shown(state: PageState, page: Page) -> PageState:
    defaults, _ = read_fields(page.fields, {})
    state = replace(state, values={**defaults, **state.values})
    used = {key: value for key, (value, _) in page.possible(state).items()}
    return page.shown(replace(state, values={**state.values, **used}))


def page_notebook(state: PageState) -> Notebook:
    """The notebook of a page in a state.

    Raises InputError: the page has none, or its values describe nothing that can be computed.
    """
    job = job_of(state.page)
    if job is None:
        raise InputError(
            f"{quoted(state.page)} is not a page with a notebook; choose from "
            f"{', '.join(NOTEBOOK_PAGES)}.",
            "no_notebook",
        )
    page = job.pages[state.page]
    state = _shown(state, page)
    if not state.acting:
        acting = page.settings or job.settings
        state = replace(state, acting=tuple(each.name for each in acting))
    if page.fixed:
        state = replace(state, settings=Settings())
    begins = page.begins(state)
    opening = [] if begins == "nothing" else [_opening(state, page, begins)]
    if begins in ("settings", "lab"):
        opening.append(_setting_up(state, begins))
    return notebook(f"ultr-{state.page.replace('_', '-')}", [*opening, *page.cells(state)])


def _opening(state: PageState, page: Page, begins: Begins) -> Cell:
    can_be_opened = page.in_app and state.link.startswith(("http://", "https://"))
    source = f"[this page]({_target(state.link)})" if can_be_opened else "the Unbiased LTR Lab"
    told = [f"# {page.question}", f"The numbers from {source}, in Python. {NEEDS}"]
    if begins != "title":
        told += [
            "The same seed gives the same numbers everywhere.",
            f"Settings: {settings_words(state.settings, state.acting)}.",
        ]
    return words("\n\n".join(told))


def _target(link: str) -> str:
    """An address as the target of a Markdown link, which no sign in it can end."""
    return quote(link, safe=":/?#@!$&*+,;=%'~", errors="replace")


def _setting_up(state: PageState, begins: Begins) -> Cell:
    imports = ["from threadpoolctl import threadpool_limits", ""]
    lines = [
        "threadpool_limits(1)  # as in the lab: the same sums to the last digit",
        f"settings = {settings_code(state.settings)}",
    ]
    if begins == "lab":
        imports.append("from ultr_core.lab import Lab")
        given = "settings"
        if state.corpus is not None:
            lines.append(
                f"DIRECTORY = {as_argument(state.corpus)!r}  # where your copy of this corpus is"
            )
            given = "settings, DIRECTORY"
        lines.append(f"lab = Lab({given})")
    imports.append("from ultr_core.settings import Settings")
    return code("\n".join([*imports, "", *lines]))
