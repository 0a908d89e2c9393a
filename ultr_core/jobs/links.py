"""What the link of each page holds: the settings, and the page's own values from its job."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode

from ultr_core.errors import InputError, quoted
from ultr_core.fields import Field, read_fields, write_fields
from ultr_core.jobs import JOBS
from ultr_core.jobs.job import Job, Page, PageState
from ultr_core.jobs.output import option_of
from ultr_core.settings import FURTHER_FIELDS, SETTING_FIELDS, Settings

NOTEBOOK_PAGES: tuple[str, ...] = tuple(address for entry in JOBS for address in entry.pages)
"""The addresses of the pages that have a job; each has a notebook."""


def job_of(address: str) -> Job | None:
    """The job of a page; None for a page without one."""
    return next((entry.load() for entry in JOBS if address in entry.pages), None)


def page_of(address: str) -> Page | None:
    """What a job knows of a page; None for a page without one."""
    job = job_of(address)
    return None if job is None else job.pages[address]


def values_of(page: str) -> tuple[Field, ...]:
    """The values of a page; none for a page without its own."""
    found = page_of(page)
    return () if found is None else found.fields


@cache
def page_values() -> Mapping[str, tuple[Field, ...]]:
    """The values of every page that has some, by address; imports all their jobs."""
    found = {page: values_of(page) for page in NOTEBOOK_PAGES}
    return MappingProxyType({page: values for page, values in found.items() if values})


def fields_of(page: str) -> tuple[Field, ...]:
    """All that a link of a page can hold: the settings' fields and the page's own."""
    return (*SETTING_FIELDS, *values_of(page))


def page_query(page: str, settings: Settings, found: Mapping[str, Any]) -> str:
    """The URL query of a page in a state: settings and page values that are not the defaults."""
    return urlencode(write_fields(fields_of(page), {**found, **settings.by_key}), safe=",")


def read_page_query(page: str, query: str) -> tuple[Settings, dict[str, Any], tuple[str, ...]]:
    """Settings and page values of a URL query, and a sentence for each value that was corrected.

    No text can raise.
    """
    try:
        asked = parse_qs(query, keep_blank_values=True)
    except ValueError:  # too many fields
        defaults, _ = read_fields(values_of(page), {})
        return Settings(), defaults, ("The link is too long to be read.",)
    shared = {field.key: asked[field.key] for field in SETTING_FIELDS if field.key in asked}
    settings, notices = Settings.from_query(shared)
    found, more = read_values(page, asked)
    return settings, found, (*notices, *more, *near_misses(asked, found))


def read_values(page: str, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The page's own values of a link, and a sentence for each one that was corrected.

    If a default is without a title, the sentence names the value that the page shows instead.
    """
    known = page_of(page)
    if known is None:
        return {}, ()
    found, notices = read_fields(known.fields, asked)
    if not notices:
        return found, notices
    instead = known.possible(PageState(page, values=found))
    shown = (
        replace(each, default=instead[each.key][0])
        if each.key in instead and not each.shown(each.default)
        else each
        for each in known.fields
    )
    return found, read_fields(shown, asked)[1]


_ALIKE = 0.8  # share of two keys' letters that agree, from which one is taken for the other
_LONGEST_KEY = 40  # characters; none of ours is half as long
_MOST_KEYS = 100  # of a link that are looked at


def near_misses(keys: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    """A sentence for each key of a link that is none, but nearly one: ``eps-minus``, ``Eta``.

    One also for each setting that only a command has, and one for all keys of other pages. Keys
    that resemble none are somebody else's, as those that a mailing adds, and are left alone.
    others: keys that count besides those of settings, curves and pages, and for a quick answer
    those of the page: only for other keys all jobs are imported.
    """
    right = [*(field.key for field in SETTING_FIELDS), *others]
    rest = [
        key for key in islice(keys, _MOST_KEYS) if key not in right and len(key) <= _LONGEST_KEY
    ]
    if not rest:
        return ()
    known = [*right, *(field.key for field in chain(*page_values().values()))]
    further = {field.key: field.name for field in FURTHER_FIELDS}
    found, elsewhere = [], []
    for key in rest:
        if key in known:
            elsewhere.append(quoted(key))
            continue
        if key in further:
            option = option_of(further[key])
            found.append(
                f"The link's key {quoted(key)} has no effect on pages; the command compare has "
                f"the option {option}."
            )
            continue
        plain = key.strip().lower().replace("-", "_")
        alike = [plain] if plain in known else difflib.get_close_matches(plain, known, 1, _ALIKE)
        if alike and alike[0] not in right:
            elsewhere.append(quoted(key))
        elif alike:
            found.append(f"The link's key {quoted(key)} is not used; the right key is {alike[0]}.")
    return (*found, *_of_other_pages(elsewhere))


def _of_other_pages(keys: Sequence[str]) -> tuple[str, ...]:
    """The sentence for keys that only other pages use, each in quotes; none without keys."""
    if not keys:
        return ()
    *others, last = keys
    if not others:
        return (f"The link's key {last} belongs to another page and has no effect on this one.",)
    listed = f"{', '.join(others)} and {last}"
    return (f"The link's keys {listed} belong to other pages and have no effect on this one.",)


def value_of(page: str, key: str) -> Field:
    """One value of a page by its key.

    Raises InputError: the page has none of that name.
    """
    for value in values_of(page):
        if value.key == key:
            return value
    raise InputError(f"The page {page} has no value {quoted(key)}.", "not_a_page_value")
