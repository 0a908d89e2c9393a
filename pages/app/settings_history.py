"""Undo, redo and reset of the settings; the session remembers what they were."""

from __future__ import annotations

import streamlit as st

from pages.app import link
from ultr_core.errors import InputError
from ultr_core.settings import Settings

LONGEST = 50
"""Settings that a session remembers."""

_PAST, _PLACE = "settings_past", "settings_place"


def note(settings: Settings | InputError) -> None:
    """Remember the settings if they are new; what was undone before is forgotten then."""
    if isinstance(settings, InputError):
        return
    past: list[Settings] = st.session_state.setdefault(_PAST, [settings])
    place: int = st.session_state.setdefault(_PLACE, 0)
    if past[place] != settings:
        past[place + 1 :] = [settings]
        del past[:-LONGEST]
        st.session_state[_PLACE] = len(past) - 1


def buttons() -> None:
    """Undo, redo and reset, also by keyboard."""
    past: list[Settings] = st.session_state.get(_PAST, [])
    place: int = st.session_state.get(_PLACE, 0)
    with st.container(horizontal=True, key="history", gap="xsmall"):
        st.button(
            "Undo", key="undo", icon=":material/undo:", shortcut="Alt+Z", on_click=_go, args=(-1,),
            disabled=place == 0, help="Back to the settings before.",
        )  # fmt: skip
        st.button(
            "Redo", key="redo", icon=":material/redo:", shortcut="Alt+Y", on_click=_go, args=(1,),
            disabled=place >= len(past) - 1, help="Forward to what was undone.",
        )  # fmt: skip
        st.button(
            "Reset", key="reset", icon=":material/restart_alt:",
            on_click=link.write, args=(Settings(),), help="Back to the paper's default world.",
        )  # fmt: skip


def _go(steps: int) -> None:
    """Callback: other settings of the past."""
    past: list[Settings] = st.session_state.get(_PAST, [])
    place: int = st.session_state.get(_PLACE, 0) + steps
    if 0 <= place < len(past):
        st.session_state[_PLACE] = place
        link.write(past[place])
