"""Settings to and from the address bar."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from ultr_core.settings import PARAMETERS, Parameter, Settings

_READ = "link_was_read"
_NOTICES = "link_notices"
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")


def stop_text(parameter: Parameter, value: float) -> str:
    """How a slider position reads on the page and in the address bar: 170,000."""
    return f"{value:,}" if parameter.stops else str(value)


def read_link(query: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Settings asked for by a link, with a sentence for each value that had to be corrected."""
    plain = {
        name: text.replace(",", "") if _GROUPED.fullmatch(text) else text
        for name, text in query.items()
    }
    return Settings.from_query(plain, on_stops=True)


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
        for name, value in settings.as_dict().items()
        if name in query
    }
    if any(query[name] != text for name, text in texts.items()):
        st.query_params.from_dict({**query, **texts})
        st.rerun()


def write(settings: Settings) -> None:
    """Set all controls, and with them the address bar."""
    for name, value in settings.as_dict().items():
        st.session_state[name] = value


def notices() -> tuple[str, ...]:
    """Sentences about the link that opened this session, until they are dismissed."""
    found: tuple[str, ...] = st.session_state.get(_NOTICES, ())
    return found


def dismiss_notices() -> None:
    """Forget the sentences about the link."""
    st.session_state[_NOTICES] = ()
