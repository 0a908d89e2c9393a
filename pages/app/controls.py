"""The controls of a world, all made from ``PARAMETERS``, with undo, redo and reset."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app import curves, link
from pages.app.field_control import control
from pages.app.registry import MAIN_CONTROLS, PageInfo
from ultr_core.errors import InputError
from ultr_core.settings import PARAMETERS, PRESETS, Settings

SIDE_CONTROLS = ("eps_plus", "seed")
FINE_CONTROLS = ("draws", "corpus_seed", "relevant_grade")
_PRESET_TURN = "preset_turn"
_PRESETS = "presets"
MORE = "more-settings"
ROW = "main-controls"
"""Key of the row above every page."""


def controls(page: PageInfo) -> tuple[Settings | InputError, DeltaGenerator]:
    """Draw every control in one row; the settings, or why they make no world, and a place.

    The place is at the end of the row, for what stands on every page. All controls are in the
    same places on all pages, and made by the entry script, so that browser and session keep their
    values when the page changes; those that do not act on the page are hidden there.
    """
    link.tidy_settings()
    if page.acts is not None:
        st.html(_hide(page.acts))
    with st.container(key=ROW):
        for name in MAIN_CONTROLS:
            _control(name)
        with st.container(key="more-controls", gap="xsmall"):
            # In a popover the browser would forget the values while it is closed.
            with st.expander("More settings", icon=":material/tune:", key=MORE):
                presets = st.container(key=_PRESETS)
                for name in SIDE_CONTROLS:
                    _control(name)
                picture = curves.curve_control()
                for name in FINE_CONTROLS:
                    _control(name)
            end = st.container(horizontal=True, key="history", gap="xsmall")
    settings = _settings()
    curves.show_curves(settings, picture)
    with presets:
        _presets(settings)
    return settings, end


def _hide(acting: tuple[str, ...]) -> str:
    """Style that takes from the row what does not act on the page."""
    idle = [name for name in (*MAIN_CONTROLS, *SIDE_CONTROLS, *FINE_CONTROLS) if name not in acting]
    idle += [_PRESETS, curves.KEY]
    if not acting:
        idle += [MORE, "undo", "redo", "reset"]
    chosen = ",".join(f".st-key-{name}" for name in idle)
    return f"<style>:is({chosen}){{display:none}}</style>"


def chosen_controls(names: Sequence[str]) -> tuple[Settings | InputError, DeltaGenerator]:
    """Draw these controls alone; the others must be held in the session. As `controls`."""
    link.tidy_settings()
    with st.container(key=ROW):
        for name in names:
            _control(name)
        end = st.container(horizontal=True, key="history", gap="xsmall")
    return _settings(), end


def _control(name: str) -> None:
    control(PARAMETERS[name], disabled=curves.replaces(name))


def _settings() -> Settings | InputError:
    values = {name: st.session_state[name] for name in PARAMETERS}
    try:
        return Settings(**values, **curves.typed_curves())
    except InputError as error:
        return error


def _presets(current: Settings | InputError) -> None:
    """Choose a starting point; the choice is an event, not a state.

    A box that mirrored the settings would fight with them: while sliders move fast, the browser
    still sends the box's former value, which would look like a choice. So the box is a new one
    after each choice, and what is current stands in its placeholder.
    """
    here = next((preset for preset in PRESETS if preset.settings == current), None)
    turn: int = st.session_state.setdefault(_PRESET_TURN, 0)
    key = f"preset-{turn}"
    st.selectbox(
        "Start from",
        [preset.name for preset in PRESETS],
        index=None,
        key=key,
        placeholder=here.name if here else "your own settings",
        on_change=_apply_preset,
        args=(key,),
        help="Settings of the paper's figures and of its live search engine.",
    )
    if here:
        st.markdown(here.watch)
    else:
        st.empty()  # else the former preset's words stay until the page has computed


def _apply_preset(key: str) -> None:
    chosen = st.session_state.get(key)
    for preset in PRESETS:
        if preset.name == chosen:
            st.session_state[_PRESET_TURN] += 1
            link.write(preset.settings)


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


def history_buttons() -> None:
    """Undo, redo and reset, also by keyboard."""
    past: list[Settings] = st.session_state.get(_PAST, [])
    place: int = st.session_state.get(_PLACE, 0)
    st.button(
        "Undo", key="undo", icon=":material/undo:", shortcut="Alt+Z", on_click=_go, args=(-1,),
        disabled=place == 0, help="Undo: back to the settings before (Alt+Z).",
    )  # fmt: skip
    st.button(
        "Redo", key="redo", icon=":material/redo:", shortcut="Alt+Y", on_click=_go, args=(1,),
        disabled=place >= len(past) - 1, help="Redo what was undone (Alt+Y).",
    )  # fmt: skip
    st.button(
        "Reset", key="reset", icon=":material/restart_alt:",
        on_click=link.write, args=(Settings(),), help="Reset: back to the default settings.",
    )  # fmt: skip


def _go(steps: int) -> None:
    """Callback: other settings of the past."""
    past: list[Settings] = st.session_state.get(_PAST, [])
    place: int = st.session_state.get(_PLACE, 0) + steps
    if 0 <= place < len(past):
        st.session_state[_PLACE] = place
        link.write(past[place])
