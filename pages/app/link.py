"""Settings to and from the address bar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from ultr_core.curve_values import CURVES, curve_text
from ultr_core.errors import number_in_text
from ultr_core.settings import PARAMETERS, Parameter, Settings

_READ = "link_was_read"
_SET_NEXT = "link_is_set_next"
_CORRECTED = "corrected_link_of_"
_NOTICES = "link_notices"
_MORE = "more_link_notices"


def stop_text(parameter: Parameter, value: float) -> str:
    """How a slider position reads on the page and in the address bar: 170,000."""
    return f"{value:,}" if parameter.stops else str(value)


def read_link(query: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Settings asked for by a link, with a sentence for each value that had to be corrected."""
    return Settings.from_query(query, on_stops=True)


def tidy() -> None:
    """Correct a link's settings as the controls would write them, say so, and run again.

    Controls read the address bar by themselves, but silently drop what they cannot use, keep
    values off their steps, and the number field fails on an infinite one. Links come on a
    session's first run; the browser's Back brings an uncorrected one once more, when the address
    is the controls' own and only they can be set.
    """
    first = _READ not in st.session_state
    st.session_state[_READ] = True
    if settings := st.session_state.pop(_SET_NEXT, None):
        write(settings)
        return
    query = st.query_params.to_dict()
    settings, sentences = read_link(query)
    if first:
        st.session_state[_NOTICES] = sentences
    texts = _texts(settings, query)
    foreign = {name: query[name] for name, text in texts.items() if query[name] != text}
    if first and foreign:
        several = {name: st.query_params.get_all(name) for name in query}
        st.query_params.from_dict({k: v for k, v in {**several, **texts}.items() if v})
        st.rerun()
    unusable = {name: text for name, text in foreign.items() if not _is_read(name, text, settings)}
    if is_to_be_corrected("settings", unusable):
        st.session_state[_NOTICES] = sentences
        st.session_state[_SET_NEXT] = settings
        st.rerun()


def _texts(settings: Settings, query: Mapping[str, str]) -> dict[str, str]:
    """What the address would say of the settings that it names."""
    texts = {
        name: stop_text(PARAMETERS[name], value)
        for name, value in settings.numbers.items()
        if name in query
    }
    for name, field in CURVES.items():
        if field.key in query:
            texts[field.key] = curve_text(getattr(settings, name))
    return texts


def _is_read(name: str, text: str, settings: Settings) -> bool:
    """Whether a control finds in the address the value that counts."""
    if name not in PARAMETERS:
        return True  # a field of text shows and judges what it is given
    return not PARAMETERS[name].stops and number_in_text(text) == settings.numbers[name]


def is_to_be_corrected(whose: str, unusable: Mapping[str, object]) -> bool:
    """Whether what an address holds of somebody's values is to be corrected now.

    That is done once for each address: what has no control here stays as it is in it.
    """
    before = st.session_state.get(_CORRECTED + whose, {})
    st.session_state[_CORRECTED + whose] = unusable
    return bool(unusable) and unusable != before


def write(settings: Settings) -> None:
    """Set all controls, and with them the address bar."""
    for name, value in settings.numbers.items():
        st.session_state[name] = value
    for name, field in CURVES.items():
        st.session_state[field.key] = curve_text(getattr(settings, name))


def add_notices(sentences: Iterable[str]) -> None:
    """More sentences about the link, on values that are no settings."""
    known = st.session_state.get(_MORE, ())
    st.session_state[_MORE] = (*known, *(one for one in sentences if one not in known))


def notices() -> tuple[str, ...]:
    """Sentences about the link that opened this session, until they are dismissed."""
    return (*st.session_state.get(_NOTICES, ()), *st.session_state.get(_MORE, ()))


def dismiss_notices() -> None:
    """Forget the sentences about the link."""
    st.session_state[_NOTICES] = st.session_state[_MORE] = ()
