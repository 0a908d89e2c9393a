"""A page's own values (everything but the settings) to and from the address bar.

Sliders and text fields are bound to the address by Streamlit itself, which writes what a control
shows. A choice is kept here instead, so that the address has its stable key and not its title.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from pages.app import link
from pages.app.formulas import set_formulas
from pages.app.lecture import CONTROLS, MODE
from ultr_core.errors import number_in_text
from ultr_core.links.page_links import near_misses, page_query, value_of, values_of
from ultr_core.links.page_values import (
    Choice,
    Letters,
    Line,
    PageValue,
    Real,
    Stops,
    Switch,
    Whole,
    read_values,
)
from ultr_core.settings import Settings

_READ = "page_link_was_read"
_PAGE = "page_shown"
_SET_NEXT = "page_link_is_set_next"
_ARRIVED = "page_arrived"
_SEEN = "address_of_"
_KEPT = "choice_of_"


def tidy(page: str) -> None:
    """Correct what the link says of a page, and say so.

    Streamlit's controls drop what they cannot use without a word, and a number field fails on an
    infinite number in the address.
    """
    st.session_state[_ARRIVED] = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page
    for key, number in st.session_state.pop(_SET_NEXT, {}).items():
        st.session_state[key] = number
    read = st.session_state.setdefault(_READ, set())
    bound = [value for value in values_of(page) if value.key in st.query_params]
    asked = _asked(bound)
    found, notices = read_values(bound, asked)
    if page in read:
        _again(bound, asked, found, notices)
        return
    read.add(page)
    notices = (*notices, *near_misses(st.query_params, (MODE, CONTROLS)))
    link.add_notices(notices)
    corrected = False
    for value in bound:
        text = _address_text(value, found[value.key])
        if asked[value.key] != text:
            corrected = True
            if text and found[value.key] != value.default:
                st.query_params[value.key] = text
            else:
                del st.query_params[value.key]
    if corrected or notices:
        st.rerun()


def _again(
    bound: Sequence[PageValue],
    asked: Mapping[str, list[str]],
    found: Mapping[str, Any],
    notices: Sequence[str],
) -> None:
    """The same where the browser's Back has brought an uncorrected link once more."""
    unusable = {
        value.key: asked[value.key]
        for value in bound
        if not isinstance(value, Choice | Letters) and not _is_read(value, asked[value.key], found)
    }
    if link.is_to_be_corrected("page", unusable):
        link.add_notices(notices)
        st.session_state[_SET_NEXT] = {key: found[key] for key in unusable}
        st.rerun()


def _is_read(value: PageValue, asked: Sequence[str], found: Mapping[str, Any]) -> bool:
    """Whether a control finds in the address the value that counts."""
    if isinstance(value, Whole | Real):
        return len(asked) == 1 and number_in_text(asked[0]) == found[value.key]
    return list(asked) == _address_text(value, found[value.key])


def state(page: str) -> dict[str, Any]:
    """The page's values as its controls have them, or as the address says before they exist."""
    values = values_of(page)
    found, _ = read_values(values, _asked(values))
    for value in values:
        if value.key in st.session_state:
            chosen = st.session_state[value.key]
            as_key = isinstance(value, Choice)
            found[value.key] = value.read(chosen)[0] if as_key else chosen
            if isinstance(value, Letters):
                found[value.key] = tuple(sorted(chosen))
        elif isinstance(value, Choice):
            found[value.key] = st.session_state.get(_KEPT + value.key, found[value.key])
    return found


def query(page: str, settings: Settings) -> str:
    """The URL query that opens this page as it is."""
    return page_query(page, settings, state(page))


def address(page: str, settings: Settings) -> str:
    """The absolute address that opens this page as it is."""
    base = (st.context.url or "").partition("?")[0]
    asked = query(page, settings)
    return f"{base}?{asked}" if asked else base


def choose(
    value: Choice,
    *,
    kind: Literal["buttons", "box"] = "buttons",
    offered: tuple[str, ...] | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
    width: int | Literal["stretch"] = "stretch",
) -> str:
    """A control for a choice; its key stands in the address bar unless it is the default.

    ``offered`` are the keys that can be had now. The address is followed where it has changed
    without the control: at the start, and on the browser's Back. A click counts before it, as a
    quick one may arrive with an address from before the click before.
    """
    options = offered or tuple(value.options)
    asked = st.query_params.get(value.key)
    kept = st.session_state.get(_KEPT + value.key)
    start = st.session_state.get(value.key, kept)
    arrived: bool = st.session_state.get(_ARRIVED, True)
    moved = asked != st.session_state.get(_SEEN + value.key) and not (asked is None and arrived)
    if moved and start == kept:
        start = asked if asked else value.default
    # A step or a lesson may have set a title, as older links have it.
    start = value.read(start)[0]
    start = start if start in options else options[0]
    # What the control has is not set again: that would undo a click that is on its way.
    if st.session_state.get(value.key) != start:
        st.session_state[value.key] = start
    common: dict[str, Any] = {
        "key": value.key,
        "format_func": lambda key: value.options[key],
        "help": value.help or None,
        "label_visibility": label_visibility,
    }
    if kind == "box":
        chosen = st.selectbox(value.label, options, width=width, **common)
    else:
        chosen = st.segmented_control(value.label, options, required=True, wrap=True, **common)
    st.session_state[_KEPT + value.key] = chosen
    _write(value, chosen)
    return str(chosen)


def bound(value: PageValue) -> Any:
    """A control for a value that is no choice, bound to the address bar by Streamlit."""
    assert isinstance(value, Stops | Whole | Real | Switch | Line)
    common: dict[str, Any] = {
        "key": value.key, "bind": "query-params", "help": set_formulas(value.help),
    }  # fmt: skip
    if isinstance(value, Stops):
        return st.select_slider(
            value.label, value.stops, value.default, format_func=value.shown, **common
        )
    if isinstance(value, Whole):
        return st.slider(value.label, value.low, value.high, value.default, **common)
    if isinstance(value, Real):
        return st.slider(value.label, value.low, value.high, value.default, value.step, **common)
    if isinstance(value, Switch):
        return st.toggle(value.label, value.default, **common)
    return st.text_input(value.label, value.default, max_chars=value.longest, **common)


def control(page: str, key: str) -> Any:
    """The control of a page's value: a box for a choice, else what fits the kind."""
    value = value_of(page, key)
    return choose(value, kind="box") if isinstance(value, Choice) else bound(value)


def _write(value: Choice, chosen: str) -> None:
    text = None if chosen == value.default else value.write(chosen)
    if st.query_params.get(value.key) != text:
        if text is None:
            del st.query_params[value.key]
        else:
            st.query_params[value.key] = text
    st.session_state[_SEEN + value.key] = text


def _asked(values: Any) -> Mapping[str, list[str]]:
    return {
        value.key: st.query_params.get_all(value.key)
        for value in values
        if value.key in st.query_params
    }


def _address_text(value: PageValue, found: Any) -> list[str]:
    """What the address bar says for a value: as the control shows it, a choice by its key."""
    if isinstance(value, Letters):
        return list(found) or [""]
    if isinstance(value, Stops):
        return [value.shown(found)]
    if isinstance(value, Real):
        return [str(found)]
    return [value.write(found)]
