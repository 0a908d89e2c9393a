"""A Streamlit control made from a field; settings and the pages' own values alike."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from pages.app import link
from pages.app.markdown import set_formulas
from ultr_core.curve_values import LONGEST_TEXT, CurveField
from ultr_core.fields import Choice, Field, Number, Switch, Text

_WIDEST_SLIDER = 100  # wider ranges of whole numbers are typed
_SEEN = "address_of_"


Width = int | Literal["stretch"]


def control(
    field: Field,
    *,
    label: str = "",
    disabled: bool = False,
    keep: bool = False,
    width: Width = "stretch",
) -> Any:
    """The control that fits the kind of a field, bound to the address bar under its key.

    label: what the control is called where it is not the label of the field. keep: the session
    keeps the value, and no link has it; `kept` reads it.
    """
    if isinstance(field, Choice):
        if keep:
            return keep_choice(field, kind="box", width=width, help=set_formulas(field.help))
        return choose(field, kind="box", width=width)
    label = label or field.label
    common: dict[str, Any] = {
        "key": field.key,
        **({"persist_state": "session"} if keep else {"bind": "query-params"}),
        "help": set_formulas(field.help),
        "disabled": disabled,
        "width": width,
    }
    if isinstance(field, Number):
        return _number(field, label, common)
    if isinstance(field, Switch):
        return st.toggle(label, field.default, **common)
    if isinstance(field, CurveField):
        return st.text_input(label, max_chars=LONGEST_TEXT, placeholder="power law", **common)
    assert isinstance(field, Text)
    return st.text_input(label, field.default, max_chars=field.longest, **common)


def keep_choice(field: Choice, *, kind: Literal["buttons", "box"] = "buttons", **more: Any) -> Any:
    """A control for a choice that the session keeps, as in `control`."""
    options = tuple(field.options)
    common: dict[str, Any] = {
        "key": field.key,
        # A session may hold a key that is not offered any more.
        "format_func": lambda key: field.options.get(key, ""),
        "persist_state": "session",
        **more,
    }
    if kind == "box":
        return st.selectbox(field.label, options, options.index(field.default), **common)
    return st.segmented_control(
        field.label, options, default=field.default, required=True, **common
    )


def kept(field: Field) -> Any:
    """The value that the session keeps for a field; its default before there is a control."""
    value = st.session_state.get(field.key)
    return field.default if value is None else value


def _number(field: Number, label: str, common: dict[str, Any]) -> Any:
    if field.stops:
        return st.select_slider(
            label, field.stops, field.default, format_func=field.shown, **common
        )
    if field.decimals is None:
        ends: Any = [float(n) for n in (field.low, field.high, field.default)]
        return st.number_input(label, *ends, format="%g", **common)
    kind, places = (float, f"%.{field.decimals}f") if field.decimals else (int, "%d")
    four = (field.low, field.high, field.default, field.step)
    numbers: Any = [None if n is None else kind(n) for n in four]
    if field.default is None or (kind is int and field.high - field.low > _WIDEST_SLIDER):
        return st.number_input(label, *numbers, **common)
    return st.slider(label, *numbers, format=places, **common)


def choose(
    field: Choice,
    *,
    kind: Literal["buttons", "box"] = "buttons",
    offered: tuple[str, ...] | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
    width: Width = "stretch",
) -> str:
    """A control for a choice; its key stands in the address bar unless it is the default.

    ``offered`` are the keys that can be had now. The address is followed where it has changed
    without the control: at the start, and on the browser's Back. A click counts before it, as a
    quick one may arrive with an address from before the click before.
    """
    options = offered or tuple(field.options)
    asked = st.query_params.get(field.key)
    kept = st.session_state.get(link.KEPT + field.key)
    start = st.session_state.get(field.key, kept)
    seen = st.session_state.get(_SEEN + field.key)
    moved = asked != seen and not (asked is None and link.has_arrived())
    if moved and start == kept:
        start = asked if asked else field.default
    # A step or a lesson may have set a title, as older links have it.
    start = field.read(start)[0]
    start = field.nearest(start, options)
    # What the control has is not set again: that would undo a click that is on its way.
    if st.session_state.get(field.key) != start:
        st.session_state[field.key] = start
    common: dict[str, Any] = {
        "key": field.key,
        "format_func": lambda key: field.options[key],
        "help": field.help or None,
        "label_visibility": label_visibility,
    }
    if kind == "box":
        chosen = st.selectbox(field.label, options, width=width, **common)
    else:
        chosen = st.segmented_control(field.label, options, required=True, wrap=True, **common)
    st.session_state[link.KEPT + field.key] = chosen
    _write(field, chosen)
    return str(chosen)


def _write(field: Choice, chosen: str) -> None:
    text = None if chosen == field.default else field.write(chosen)
    if st.query_params.get(field.key) != text:
        if text is None:
            del st.query_params[field.key]
        else:
            st.query_params[field.key] = text
    st.session_state[_SEEN + field.key] = text
