"""The controls of a world, all made from ``PARAMETERS``, with undo, redo and reset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.app import curves, link
from pages.app.field_control import control
from pages.app.registry import MAIN_CONTROLS, PageInfo
from pages.app.style import ROW
from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError
from ultr_core.settings import PARAMETERS, PRESETS, Settings

SIDE_CONTROLS = ("eps_plus", "seed")
FINE_CONTROLS = ("draws", "corpus_seed", "relevant_grade")
_PRESET_TURN = "preset_turn"
_PRESETS = "presets"
MORE = "more-settings"


def controls(page: PageInfo) -> tuple[Settings | InputError, DeltaGenerator]:
    """Draw every control in one row; the settings, or why they make no world, and a place.

    The place is at the end of the row, for what stands on every page. All controls are in the
    same places on all pages, and made by the entry script, so that browser and session keep their
    values when the page changes; those that do not act on the page are hidden there.
    """
    link.tidy_settings()
    if page.acts is not None:
        st.html(_hidden(page.acts, (*page.acts, *page.acts_then), page.acts_while))
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


def _hidden(always: Sequence[str], at_times: Sequence[str], while_there: str) -> str:
    """Style that takes from the row what does not act on the page.

    always, at_times: the settings that act, and those that do while the page has a part of the key
    ``while_there``.
    """
    never = _idle(at_times)
    now = [part for part in _idle(always) if part not in never]
    unless = f".stApp:not(:has(.st-key-{while_there})) " if while_there else ""
    # Beside the title, where no slider is left.
    sliders = set(MAIN_CONTROLS)
    where = unless if sliders & set(at_times) else ""
    rise = "" if sliders & set(always) else _beside_title(where, alone=not always)
    return f"<style>{_none(never)}{_none(now, unless)}{rise}</style>"


def _beside_title(where: str, *, alone: bool) -> str:
    """Style that raises the row; ``alone`` says that only its buttons are left."""
    row = f".st-key-{ROW}"
    closed = f"{where}:has(> {row}){{margin-bottom:-1rem}}" if alone else ""
    return f"@media (min-width:1200px){{{where}{row}{{margin-top:-3.5rem}}{closed}}}"


def _idle(acting: Sequence[str]) -> list[str]:
    """CSS selectors of controls and buttons with nothing to do where these settings act."""
    keys = [name for name in (*MAIN_CONTROLS, *SIDE_CONTROLS, *FINE_CONTROLS) if name not in acting]
    if not set(MAIN_CONTROLS) & set(acting):
        keys.append(_PRESETS)
    if not set(CURVES) & set(acting):
        keys.append(curves.KEY)
    if not acting:
        keys += [MORE, "reset"]
    without = [curves.parts(name) for name in CURVES if name not in acting]
    return [*(f".st-key-{key}" for key in keys), *without]


def _none(parts: Sequence[str], where: str = "") -> str:
    return f"{where}:is({','.join(parts)}){{display:none}}" if parts else ""


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
        help="Settings from the paper's figures and its live search engine.",
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
"""Moments that a session remembers."""

_PAST, _PLACE = "past", "past_place"


@dataclass(frozen=True)
class Moment:
    """What one run showed: the settings, the page, and the page's own values by key."""

    settings: Settings
    page: str
    values: Mapping[str, Any]

    def differs(self, other: Moment, page: PageInfo) -> bool:
        """Whether going from one to the other would change anything on a page."""
        acting = page.acting((*PARAMETERS, *CURVES))
        if any(getattr(self.settings, name) != getattr(other.settings, name) for name in acting):
            return True
        return self.page == other.page == page.path and self.values != other.values


def note(page: PageInfo, settings: Settings | InputError) -> None:
    """Remember this run if it is new; what was undone before is forgotten then."""
    if isinstance(settings, InputError):
        return
    now = Moment(settings, page.path, link.state(page.path))
    past: list[Moment] = st.session_state.setdefault(_PAST, [now])
    place: int = st.session_state.setdefault(_PLACE, 0)
    here = past[place]
    if here == now:
        return
    if here.page == now.page or here.settings != now.settings:
        del past[place + 1 :]
    # Who has come from another page alone can still redo.
    past.insert(place + 1, now)
    too_many = max(0, len(past) - LONGEST)
    del past[:too_many]
    st.session_state[_PLACE] = place + 1 - too_many


def history_buttons(page: PageInfo) -> None:
    """Undo, redo and reset, also by keyboard, where a page has something to be changed."""
    if page.acts == () and not link.state(page.path):
        return
    st.button(
        "Undo", key="undo", icon=":material/undo:", shortcut="Alt+Z", on_click=_go,
        args=(page, -1), disabled=_next(page, -1) is None, help="Undo the last change (Alt+Z).",
    )  # fmt: skip
    st.button(
        "Redo", key="redo", icon=":material/redo:", shortcut="Alt+Y", on_click=_go,
        args=(page, 1), disabled=_next(page, 1) is None, help="Redo the undone change (Alt+Y).",
    )  # fmt: skip
    st.button(
        "Reset", key="reset", icon=":material/restart_alt:",
        on_click=link.write, args=(Settings(),), help="Reset: back to the default settings.",
    )  # fmt: skip


def _next(page: PageInfo, step: int) -> int | None:
    """The place of the nearest moment, back or on, that is another one on this page."""
    past: list[Moment] = st.session_state.get(_PAST, [])
    place: int = st.session_state.get(_PLACE, 0)
    ahead = range(place + step, len(past) if step > 0 else -1, step)
    return next((each for each in ahead if past[each].differs(past[place], page)), None)


def _go(page: PageInfo, step: int) -> None:
    """Callback: another moment of the past."""
    place = _next(page, step)
    if place is None:
        return
    past: list[Moment] = st.session_state[_PAST]
    then, now = past[place], past[st.session_state[_PLACE]]
    st.session_state[_PLACE] = place
    if page.acts != ():
        link.write(then.settings)
    if then.page == page.path:
        changed = {key: value for key, value in then.values.items() if value != now.values[key]}
        link.write_values(page.path, changed)
