"""Settings to and from the address bar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from ultr_core.curve_values import CURVES, curve_text
from ultr_core.settings import PARAMETERS, Parameter, Settings

_READ = "link_was_read"
_NOTICES = "link_notices"
_MORE = "more_link_notices"


def stop_text(parameter: Parameter, value: float) -> str:
    """How a slider position reads on the page and in the address bar: 170,000."""
    return f"{value:,}" if parameter.stops else str(value)


def read_link(query: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Settings asked for by a link, with a sentence for each value that had to be corrected."""
    return Settings.from_query(query, on_stops=True)


def tidy() -> None:
    """On a session's first run: write the link as the controls would, and run again.

    Controls read the address bar by themselves, but silently drop what they cannot use, keep
    values off their steps, and the number field fails on an infinite one.
    """
    if _READ in st.session_state:
        return
    st.session_state[_READ] = True
    query = st.query_params.to_dict()
    settings, st.session_state[_NOTICES] = read_link(query)
    texts = {
        name: stop_text(PARAMETERS[name], value)
        for name, value in settings.numbers.items()
        if name in query
    }
    for name, field in CURVES.items():
        if field.key in query:
            texts[field.key] = curve_text(getattr(settings, name))
    if any(query[name] != text for name, text in texts.items()):
        several = {name: st.query_params.get_all(name) for name in query}
        st.query_params.from_dict({k: v for k, v in {**several, **texts}.items() if v})
        st.rerun()


def write(settings: Settings) -> None:
    """Set all controls, and with them the address bar."""
    for name, value in settings.numbers.items():
        st.session_state[name] = value
    for name, field in CURVES.items():
        st.session_state[field.key] = curve_text(getattr(settings, name))


def add_notices(sentences: Iterable[str]) -> None:
    """More sentences about the link, on values that are no settings."""
    st.session_state[_MORE] = (*st.session_state.get(_MORE, ()), *sentences)


def notices() -> tuple[str, ...]:
    """Sentences about the link that opened this session, until they are dismissed."""
    return (*st.session_state.get(_NOTICES, ()), *st.session_state.get(_MORE, ()))


def dismiss_notices() -> None:
    """Forget the sentences about the link."""
    st.session_state[_NOTICES] = st.session_state[_MORE] = ()
