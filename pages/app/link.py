"""The fields of settings and pages to and from the address bar, and the way to another world.

Sliders and text fields are bound to the address by Streamlit itself, which writes what a control
shows. A choice is kept by `field_control.choose` instead, so that the address has its stable key
and not its title. What controls cannot read is corrected here, and reported, before they see it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from pages.app.registry import LAB
from ultr_core.curve_values import CurveField
from ultr_core.fields import Choice, Field, Letters, Number, number_of, read_fields
from ultr_core.settings import SETTING_FIELDS, Settings

KEPT = "choice_of_"
"""Start of the key under which the session keeps a choice whose control is on no page."""

_READ = "link_was_read"
_SET_NEXT = "link_is_set_next"
_CORRECTED = "corrected_link"
_NOTICES = "link_notices"
_REPLACED = "replaced_of_"
_PAGE = "page_shown"
_ARRIVED = "page_arrived"


def read_link(query: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """Settings asked for by a link, with a sentence for each value that had to be corrected."""
    return Settings.from_query(query, on_stops=True)


def tidy_settings() -> None:
    """Correct what the address says of settings as the controls would write it."""
    settings, notices = read_link(asked_of(SETTING_FIELDS))
    _tidy("", SETTING_FIELDS, settings.by_key, notices)


def tidy_page(page: str, others: Iterable[str] = ()) -> None:
    """Correct what the address says of a page's own values, and name keys that are nearly right.

    others: keys of a link that are right besides those of settings and pages.
    """
    from ultr_core.jobs.links import near_misses, read_values, values_of

    st.session_state[_ARRIVED] = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page
    fields = values_of(page)
    found, notices = read_values(page, asked_of(fields))
    right = (*others, *(field.key for field in fields))
    _tidy(f"-of-{page}", fields, found, notices, near_misses(st.query_params, right))


def has_arrived() -> bool:
    """Whether this run is the first one on its page."""
    return bool(st.session_state.get(_ARRIVED, True))


def _tidy(
    whose: str,
    fields: Iterable[Field],
    found: Mapping[str, Any],
    notices: Sequence[str],
    at_first: Sequence[str] = (),
) -> None:
    """Correct the address where it differs from ``found``, say so, and run again.

    Controls read the address by themselves, but silently drop what they cannot use, keep values
    off their steps, and the number field fails on an infinite one. Links come on the first run;
    the browser's Back brings an uncorrected one once more, when the address is the controls' own
    and only they can be set.
    """
    for key, value in st.session_state.pop(_SET_NEXT + whose, {}).items():
        st.session_state[key] = value
    asked = asked_of(fields)
    named = [field for field in fields if field.key in asked]
    if _READ + whose not in st.session_state:
        st.session_state[_READ + whose] = True
        add_notices((*notices, *at_first))
        foreign = [f for f in named if asked[f.key] != address_texts(f, found[f.key])]
        _correct(foreign, found)
        if foreign or at_first:
            st.rerun()
        return
    unusable = [f for f in named if not _is_read(f, asked[f.key], found[f.key])]
    if _is_to_be_corrected(whose, {field.key: asked[field.key] for field in unusable}):
        add_notices(notices)
        st.session_state[_SET_NEXT + whose] = {f.key: held(f, found[f.key]) for f in unusable}
        st.rerun()


def _correct(fields: Iterable[Field], found: Mapping[str, Any]) -> None:
    """Write fields into the address as their controls would; defaults are left out."""
    for field in fields:
        value = found[field.key]
        if value == field.default:
            del st.query_params[field.key]
        else:
            st.query_params[field.key] = address_texts(field, value)


def _is_read(field: Field, asked: Sequence[str], found: Any) -> bool:
    """Whether a control finds in the address the value that counts."""
    if isinstance(field, Choice | Letters | CurveField):
        return True  # they follow the address, or judge it themselves
    if isinstance(field, Number) and not field.stops:
        return len(asked) == 1 and number_of(asked[0]) == found
    return list(asked) == address_texts(field, found)


def _is_to_be_corrected(whose: str, unusable: Mapping[str, object]) -> bool:
    """Whether what an address holds of somebody's values is to be corrected now.

    That is done once for each address: what has no control here stays as it is in it.
    """
    before = st.session_state.get(_CORRECTED + whose, {})
    st.session_state[_CORRECTED + whose] = unusable
    return bool(unusable) and unusable != before


def asked_of(fields: Iterable[Field]) -> dict[str, list[str]]:
    """What the address says of the fields that it names."""
    return {
        field.key: st.query_params.get_all(field.key)
        for field in fields
        if field.key in st.query_params
    }


def address_texts(field: Field, value: Any) -> list[str]:
    """What the address bar says for a value: as the control shows it, a choice by its key."""
    if isinstance(field, Letters):
        return list(value) or [""]
    if isinstance(field, Number) and not field.stops:
        return [str(value)]
    return [field.write(value)]


def held(field: Field, value: Any) -> Any:
    """What the session holds for the control of a field: a curve as its text."""
    return field.write(value) if isinstance(field, CurveField) else value


def write(settings: Settings) -> None:
    """Set all controls, and with them the address bar."""
    for field in SETTING_FIELDS:
        st.session_state[field.key] = held(field, getattr(settings, field.name))


def write_values(page: str, values: Mapping[str, Any]) -> None:
    """Set controls of a page's own values."""
    from ultr_core.jobs.links import values_of

    for field in values_of(page):
        if field.key in values:
            value = values[field.key]
            st.session_state[field.key] = list(value) if isinstance(field, Letters) else value


def fit_page(page: str, corpus: str | None) -> None:
    """Replace values of a page that its others rule out, and say so; put them back when possible.

    Before the run is noted, so that a choice and what follows from it are undone together.
    """
    from ultr_core.jobs.job import PageState, all_possible
    from ultr_core.jobs.links import page_of

    job = page_of(page)
    if job is None or job.possible is all_possible:
        return
    now = state(page)
    before: Mapping[str, tuple[Any, Any, str]] = st.session_state.get(_REPLACED + page, {})
    back = {key: asked for key, (asked, used, _) in before.items() if now[key] == used}
    asked = {**now, **back}
    found = job.possible(PageState(page, values=asked, corpus=corpus))
    replaced = {key: (asked[key], used, told) for key, (used, told) in found.items()}
    told_before, told_now = ({told for *_, told in each.values()} for each in (before, replaced))
    shown = tuple(each for each in notices() if each not in told_before - told_now)
    st.session_state[_NOTICES] = shown
    add_notices(sorted(filter(None, told_now - told_before)))
    st.session_state[_REPLACED + page] = replaced
    used = {**asked, **{key: value for key, (value, _) in found.items()}}
    write_values(page, {key: value for key, value in used.items() if value != now[key]})


def state(page: str) -> dict[str, Any]:
    """The page's values as its controls have them, or as the address says before they exist."""
    from ultr_core.jobs.links import values_of

    fields = values_of(page)
    found, _ = read_fields(fields, asked_of(fields))
    for field in fields:
        if field.key in st.session_state:
            chosen = st.session_state[field.key]
            as_key = isinstance(field, Choice)
            found[field.key] = field.read(chosen)[0] if as_key else chosen
            if isinstance(field, Letters):
                found[field.key] = tuple(sorted(chosen))
        elif isinstance(field, Choice):
            found[field.key] = st.session_state.get(KEPT + field.key, found[field.key])
    return found


def query(page: str, settings: Settings) -> str:
    """The URL query that opens this page as it is."""
    from ultr_core.jobs.links import page_query

    return page_query(page, settings, state(page))


def address(page: str, settings: Settings) -> str:
    """The absolute address that opens this page as it is."""
    base = (st.context.url or "").partition("?")[0]
    asked = query(page, settings)
    return f"{base}?{asked}" if asked else base


def add_notices(sentences: Iterable[str]) -> None:
    """More sentences about the link that opened this session."""
    known = st.session_state.get(_NOTICES, ())
    st.session_state[_NOTICES] = (*known, *(one for one in sentences if one not in known))


def notices() -> tuple[str, ...]:
    """Sentences about the link that opened this session, until they are dismissed."""
    found: tuple[str, ...] = st.session_state.get(_NOTICES, ())
    return found


def dismiss_notices() -> None:
    """Forget the sentences about the link."""
    st.session_state[_NOTICES] = ()


def lab_button(
    label: str,
    settings: Settings,
    *,
    key: str,
    kind: Literal["primary", "secondary"] = "secondary",
) -> None:
    """Set all controls to ``settings`` and go to the main page when it is clicked."""
    if st.button(
        label, key=key, icon=":material/science:", type=kind, on_click=write, args=(settings,)
    ):
        # Without a mapping of its own Streamlit would try to clear the controls' parameters.
        st.switch_page(LAB.file, query_params={})
