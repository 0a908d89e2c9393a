"""Examination curves on the pages: their words, their control, and the buttons that use one.

The shell loads this before the first picture of a page, so charts and readers are imported where
they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app.field_control import control
from pages.app.link import lab_button
from pages.app.markdown import plain, show_note
from pages.app.uploads import take
from ultr_core.curve_values import (
    CURVES,
    MOST_RANKS,
    SIGNIFICANT_DIGITS,
    CurveField,
    curve_text,
    in_few_digits,
)
from ultr_core.errors import InputError
from ultr_core.files.disk import other_format
from ultr_core.limits import SMALL_UPLOAD
from ultr_core.settings import PARAMETERS, Settings


def users_have(settings: Settings) -> str:
    """What the users' examination is: "η = 1" or "the given curve"."""
    return "the given curve" if settings.curve else f"η = {settings.eta:g}"


def learner_believes(settings: Settings) -> str:
    """What the learner divides by: "η′ = 1", "a given curve", or "another curve"."""
    if not settings.assumed_curve:
        return f"η′ = {settings.assumed_eta:g}"
    if settings.belief_is_right:
        return "the same curve"
    return "another curve" if settings.curve else "a given curve"


KEY = "curve-control"
_KEYS = tuple(field.key for field in CURVES.values())
_WHO = {"curve": "Users", "assumed_curve": "Learner"}


def curve_control() -> DeltaGenerator | None:
    """Draw the control; returns the place for a picture of the curves, None while it is closed.

    What is typed is the state: it stands in the address bar, and an empty field is the power law.
    The fields are therefore always there; what helps to fill them is made when it is opened.
    """
    opened = st.expander(
        "Examination curve", icon=":material/show_chart:", key=KEY, on_change="rerun"
    )
    picture = None
    with opened:
        if opened.open:
            st.markdown(
                r"Set examination rank by rank instead of by $(1/r)^{\eta}$: type or paste numbers "
                "for ranks 1, 2, …, or upload a CSV file with the columns rank and propensity. To "
                "estimate a curve, open the Propensities page."
            )
            picture = st.container()
        for name, field in CURVES.items():
            _field(name, field, upload=bool(opened.open))
    return picture


def parts(name: str) -> str:
    """CSS selector of what the control has for one curve."""
    return f'.st-key-{CURVES[name].key},[class*="st-key-{_upload(CURVES[name], "")}"]'


def replaces(name: str) -> bool:
    """Whether a given curve takes the place of the exponent ``name``.

    In a session's first run its field does not exist yet, and the address says it.
    """
    asked = {key: st.session_state.get(key, st.query_params.get(key)) for key in _KEYS}
    return any(
        field.power == name and str(asked[field.key] or "").strip() for field in CURVES.values()
    )


def typed_curves() -> dict[str, Any]:
    """The numbers in the fields, by name of the setting; raises InputError if not a curve."""
    return {
        name: field.from_text(st.session_state.get(field.key) or "")
        for name, field in CURVES.items()
    }


def show_curves(settings: Settings | InputError, picture: DeltaGenerator | None) -> None:
    """Say which exponents are not used, offer the way back, and draw the curves."""
    who = [name for name in CURVES if replaces(CURVES[name].power)]
    if not who:
        return
    symbols = " and ".join(PARAMETERS[CURVES[name].power].symbol for name in who)
    verb = "is" if len(who) == 1 else "are"
    more = _scaled()
    if who == ["curve"] and isinstance(settings, Settings):
        more = [f"The learner still assumes {learner_believes(settings)}.", *more]
    with st.container(horizontal=True, vertical_alignment="center", key="given-curves"):
        st.markdown(
            f":material/show_chart: {' and '.join(_WHO[name] for name in who)}: the examination "
            f"curve is given, so {symbols} {verb} not used. {plain(' '.join(more))}",
            width="content",
        )
        st.button(
            "Use the power law again", key="power-law", type="tertiary", on_click=_forget,
            icon=":material/undo:",
        )  # fmt: skip
    if picture is not None and isinstance(settings, Settings):
        from pages.app.frame import show_chart, theme
        from ultr_core.figures import examination_figure

        with picture:
            show_chart(examination_figure(settings, "probability", theme=theme()))


def _scaled() -> list[str]:
    """What typed numbers were divided by."""
    try:
        typed = typed_curves()
    except InputError:
        return []
    return [text for name in typed if (text := CURVES[name].scaled(typed[name]))]


def _field(name: str, field: CurveField, *, upload: bool) -> None:
    control(field, label=f"{_WHO[name]}: numbers by rank")
    if upload:
        turn = st.session_state.setdefault(_turn(field), 0)
        st.file_uploader(
            f"{_WHO[name]}: CSV file", key=_upload(field, turn),
            on_change=partial(_take, field, turn), label_visibility="collapsed",
            max_upload_size=SMALL_UPLOAD.most,
        )  # fmt: skip
    fault = st.session_state.get(_fault(field))
    if fault:
        st.error(plain(fault), icon=":material/error:")


def _take(field: CurveField, turn: int) -> None:
    """Callback: the numbers of the uploaded file, which is not kept, go into the field."""
    from ultr_core.files import parse_curve_values

    fault = ""
    try:
        taken = take(_upload(field, turn), small=True)
        if not taken:
            return
        name, data = taken[0]
        values = parse_curve_values(text_of(data, name), name)
        _checked(field, values, name)
        st.session_state[field.key] = curve_text(values)
    except InputError as error:
        fault = str(error)
    st.session_state[_turn(field)] = turn + 1
    st.session_state[_fault(field)] = fault


def _checked(field: CurveField, values: list[float], name: str) -> None:
    """Raise InputError, which names the file, for numbers that make no curve."""
    try:
        field.checked(values)
    except InputError as error:
        raise InputError(f"{name}: {error}", error.about) from None


def text_of(data: bytes, name: str) -> str:
    """The text of an uploaded file; raises InputError unless it is UTF-8 without zero bytes.

    Uploads take any file, for the browser says of one that it refuses only that it may not be.
    """
    try:
        text = data.decode("utf-8-sig")
        fault = "a binary file (it contains null bytes)" if "\0" in text else None
    except UnicodeDecodeError:
        fault = "not UTF-8 text"
    if fault is not None:
        raise InputError(
            f"{name} is {other_format(data) or fault}; upload a CSV file in plain UTF-8 text."
        )
    return text


def _forget() -> None:
    """Callback: back to the power laws."""
    for field in CURVES.values():
        st.session_state[field.key] = ""
        st.session_state[_fault(field)] = ""


def _turn(field: CurveField) -> str:
    return f"upload_turn_{field.name}"


def _upload(field: CurveField, turn: int | str) -> str:
    return f"upload-{field.name}-{turn}"


def _fault(field: CurveField) -> str:
    return f"upload_fault_{field.name}"


def curve_buttons(values: Sequence[float], settings: Settings, *, key: str) -> None:
    """Open the Lab with these values as the learner's belief, or as the truth and the belief."""
    curve = in_few_digits(values[:MOST_RANKS])
    try:
        belief = settings.with_values(assumed_curve=curve)
        both = settings.with_values(assumed_curve=curve, curve=curve)
    except InputError as error:
        show_note(error)
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"use-curve-{key}"):
        lab_button("Use this curve in the Lab", belief, key=f"use-{key}-belief", kind="primary")
        lab_button("Use it for users and the learner", both, key=f"use-{key}-both")
    cut = f" and limited to ranks 1 to {MOST_RANKS}" if len(values) > MOST_RANKS else ""
    st.markdown(
        "The first button makes the learner use this curve; the second makes users follow it as "
        f"well (the values are rounded to {SIGNIFICANT_DIGITS} digits{cut}, so that the link stays "
        "short)."
    )
