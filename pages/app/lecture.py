"""Lecture mode: large type, the chosen controls, the picture and its headline; no prose.

A link asks for it: ``mode=lecture``, and ``controls=eta,clicks`` for the controls to be shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.app import link
from pages.app.registry import PageInfo
from pages.app.slots import Slot
from pages.app.style import FITTED, NARROW, ROW, WAY, WINDOW, panels_in_lecture
from ultr_core.curve_values import CURVES, curve_text
from ultr_core.errors import quoted
from ultr_core.settings import PARAMETERS

_STATE = "lecture"
MODE, CONTROLS, LECTURE = "mode", "controls", "lecture"

FIGURES = '[class*="st-key-figure-"]:not(.st-key-panels *)'
ABOVE_FIGURES = 21  # rem of the window above a page's first figure

TYPE = 1.25
"""How much larger type is, but on a phone."""

_WIDE, TYPE_ON_WIDE = 1_800, 1.7
"""From this width on, as on a large projector, the page's type is larger still."""

HEADLINE = "headline"
_SHOWN = (HEADLINE, "panel", "lines", "given-curves", "lesson", "switches")
"""Containers, by the start of their key, whose words are shown in lecture mode."""

_HIDDEN = ("save", "verdict", "checks", "pin", "step", "swap-step", "live-step", "try")
"""Containers and buttons, by the start of their key, that are not shown."""


@dataclass(frozen=True)
class Lecture:
    """A session in lecture mode; ``controls`` are names of settings, None for the page's own."""

    controls: tuple[str, ...] | None = None

    def shown(self, page: PageInfo) -> tuple[str, ...]:
        """The settings that can be moved on a page: of those that were chosen what acts there."""
        return page.acting(page.in_lectures if self.controls is None else self.controls)


def read() -> Lecture | None:
    """What the link that opened this session asks for; unusable values are said."""
    if _STATE not in st.session_state:
        st.session_state[_STATE] = _asked()
    found: Lecture | None = st.session_state[_STATE]
    return found


def _asked() -> Lecture | None:
    mode = st.query_params.get(MODE)
    if mode != LECTURE:
        if mode is not None:
            link.add_notices(
                [f"The link asks for the mode {quoted(mode)}, which does not exist; the normal "
                 "page is shown instead. Links to lecture mode are under Share and download."]
            )  # fmt: skip
        return None
    if CONTROLS not in st.query_params:
        return Lecture()
    names = [name for name in st.query_params[CONTROLS].split(",") if name]
    unknown = [name for name in names if name not in PARAMETERS]
    if unknown:
        link.add_notices(
            [f"The link asks for the control {quoted(unknown[0])}, which does not exist, so it is "
            "ignored. Choose controls under Share and download."]
        )  # fmt: skip
    return Lecture(tuple(dict.fromkeys(name for name in names if name in PARAMETERS)))


def query(controls: tuple[str, ...] | None) -> str:
    """What a link adds to ask for lecture mode with these controls; None for the page's own."""
    mode = f"{MODE}={LECTURE}"
    return mode if controls is None else f"{mode}&{CONTROLS}={','.join(controls)}"


def keep(lecture: Lecture, page: PageInfo) -> None:
    """Hold the settings that have no control, in the session and in the address.

    A menu entry opens its page with an empty address, from which a reload could not come back.
    """
    hidden = [name for name in PARAMETERS if name not in lecture.shown(page)]
    settings, _ = link.read_link(st.query_params.to_dict())
    for name in hidden:
        value = st.session_state.setdefault(name, getattr(settings, name))
        default = value == PARAMETERS[name].default
        _address(name, None if default else link.address_texts(PARAMETERS[name], value)[0])
    for name, field in CURVES.items():
        text = st.session_state.setdefault(field.key, curve_text(getattr(settings, name)))
        _address(field.key, text or None)
    _address(MODE, LECTURE)
    if lecture.controls is not None:
        _address(CONTROLS, ",".join(lecture.controls))


def _address(key: str, text: str | None) -> None:
    if st.query_params.get(key) == text:
        return
    if text is None:
        del st.query_params[key]
    else:
        st.query_params[key] = text


def headline() -> Slot:
    """The place of a page's headline: what it found, in a sentence."""
    return Slot(st.container(key=HEADLINE))


def style(page: PageInfo) -> None:
    """Large type, and only what a room should look at.

    Words are hidden but for a page's headline and what stands beside a figure; controls, figures
    and messages stay. A page of words keeps them.
    """
    main = ".stMain .stMainBlockContainer"
    words = ".stMarkdown, .stLatex, .stExpander, .stHeading h2, .stHeading h3, .stTable"
    parts = ", ".join(f'[class*="st-key-{name}"]' for name in _HIDDEN)
    kept = ", ".join(f'[class*="st-key-{name}"]' for name in _SHOWN)
    hidden = (
        f"{main} .stElementContainer:has({words}):not(:is({kept}) *, :has(.stAlert))"
        "{display:none}"
    )
    st.html(
        # No room for more; frames of charts that are smaller than theirs reach beyond the screen.
        f"<style>@media (max-width:{NARROW}px){{{_larger_charts(1 / TYPE)}"
        ".stElementContainer:has(.stVegaLiteChart){overflow-x:clip}}"
        f"@media (min-width:{NARROW + 1}px){{html{{font-size:{16 * TYPE:g}px}}"
        # Beside the title, where no control is chosen.
        f".st-key-{ROW}:not(:has(.stSlider, .stNumberInput)){{margin-top:-2rem}}}}"
        f"@media (min-width:{_WIDE}px){{html{{font-size:{16 * TYPE_ON_WIDE:g}px}}"
        f"{_larger_charts(TYPE_ON_WIDE / TYPE)}}}"
        f"{main}{{padding-top:3.75rem;padding-bottom:1rem}}"
        f"{panels_in_lecture()}"
        f"{main} {FIGURES},{main} :has(> {FIGURES})"
        f"{{flex:none;height:clamp(16rem,calc({WINDOW} - {ABOVE_FIGURES}rem),26rem)}}"
        f'[class*="st-key-{FITTED}"],:has(> [class*="st-key-{FITTED}"])'
        f"{{--taken:{ABOVE_FIGURES}rem}}"
        f".st-key-{WAY}:not(:has(button)){{min-height:0}}"
        f"{main} .stVerticalBlock{{gap:0.5rem}}"
        f"{main} h1{{padding:0 0 1rem;font-size:1.25rem}}"
        f"{main} :is({parts}){{display:none}}"
        f'{main} [class*="st-key-{HEADLINE}"] p{{font-size:1.05rem}}'
        f"{'' if page.of_words else hidden}"
        "</style>"
    )


def _larger_charts(zoom: float) -> str:
    """Styles that show charts larger in all their parts.

    A chart measures the frame around it, so that this has to stay as small as the chart was.
    """
    chart = ".stElementContainer:has(.stVegaLiteChart)"
    share = f"{100 / zoom:.4g}%"
    return (
        f"{chart},{chart} .stVegaLiteChart{{zoom:{zoom:g}}}"
        f"{chart} [data-testid=stFullScreenFrame]"
        f"{{zoom:{1 / zoom:.4g};width:{share};height:{share}}}"
    )


def enlarged(spec: object) -> object:
    """A chart's specification with its type as much larger as the page's."""
    if isinstance(spec, dict):
        return {
            key: round(value * TYPE)
            if key.lower().endswith("fontsize") and isinstance(value, int | float)
            else enlarged(value)
            for key, value in spec.items()
        }
    if isinstance(spec, list):
        return [enlarged(part) for part in spec]
    return spec
