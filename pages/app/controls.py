"""The controls of a world, all made from ``PARAMETERS``, with undo, redo and reset."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from pages.app import curves, link
from pages.app.field_control import control
from pages.app.registry import MAIN_CONTROLS, PageInfo
from ultr_core.errors import InputError
from ultr_core.settings import PARAMETERS, PRESETS, Settings

SIDE_CONTROLS = ("eps_plus", "seed")
FINE_CONTROLS = ("draws", "corpus_seed", "relevant_grade")
_PRESET_TURN = "preset_turn"
_PRESETS = "presets"
_FINE = "fine-controls"
_IN_PAGE = "main_controls_are_in_page"


def controls(page: PageInfo) -> Settings | InputError:
    """Draw every control and return the settings, or why they make no world.

    Controls named by the page stand in the page, the others in the sidebar; those that do not act
    on the page are hidden there. They are made by the entry script, so that values stay when the
    page changes.

    The browser writes a control's value into the address only while it knows the control, and
    forgets it when the last of its places is taken away. So those that stand in the page or in the
    sidebar have one block in each, and on the page that they leave the block is emptied before
    they are made in the other one. Where the browser comes to rest in between, it also forgets
    their values, and would show defaults; so it is told them.
    """
    link.tidy_settings()
    in_page = bool(page.main_controls)
    if st.session_state.get(_IN_PAGE, in_page) != in_page:
        for name in set(MAIN_CONTROLS) & set(st.session_state):
            st.session_state[name] = st.session_state[name]
    if not in_page:
        st.empty()
    if page.acts is not None:
        st.html(_hide(page.acts))
    with st.sidebar:
        presets = st.container(key=_PRESETS)
        picture = curves.curve_control()
        in_sidebar = None
        if in_page:
            st.empty()
        else:
            with st.container():
                in_sidebar = st.container()
                for name in MAIN_CONTROLS:
                    _control(name)
        for name in SIDE_CONTROLS:
            _control(name)
        with st.expander("Corpus and intervals", key=_FINE):
            for name in FINE_CONTROLS:
                _control(name)
    _in_page(page.main_controls)
    st.session_state[_IN_PAGE] = in_page
    settings = _settings()
    with nullcontext() if in_sidebar is None else in_sidebar:
        curves.show_curves(settings, picture)
    with presets:
        _presets(settings)
    return settings


def _hide(acting: tuple[str, ...]) -> str:
    """Style that takes from the sidebar what does not act on the page."""
    names = (*MAIN_CONTROLS, *SIDE_CONTROLS, *FINE_CONTROLS)
    idle = [_PRESETS, curves.KEY, *(name for name in names if name not in acting)]
    if not set(FINE_CONTROLS) & set(acting):
        idle.append(_FINE)
    chosen = ",".join(f".st-key-{name}" for name in idle)
    return f"<style>.stSidebar :is({chosen}){{display:none}}</style>"


def chosen_controls(names: Sequence[str]) -> Settings | InputError:
    """Draw these controls alone, in the page; the others must be held in the session."""
    link.tidy_settings()
    _in_page(names)
    return _settings()


def _in_page(names: Sequence[str]) -> None:
    if names:
        with st.container(key="main-controls"):
            for name in names:
                _control(name)


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
