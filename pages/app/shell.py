"""The frame around every page: boot, menu, title, controls, and what a page gets from them."""

from __future__ import annotations

import streamlit as st

from pages.app import (
    checks,
    controls,
    lecture,
    link,
    reconnecting,
    settings_history,
    side_by_side,
    study_link,
    waiting,
)
from pages.app.boot import boot, booted
from pages.app.context import CONTEXT, PageContext
from pages.app.launch import read_launch
from pages.app.registry import HOME, PAGES, PageInfo
from pages.app.remedies import told
from ultr_core.errors import InputError
from ultr_core.settings import Settings

_READABLE = """
[data-testid="stBaseButton-primary"]:enabled p { color: light-dark(#FFFFFF, #101418) }
"""
"""Streamlit writes white on the primary colour; on that of the dark theme it is too faint."""

_FORMULAS = """
.katex-display > .katex { white-space: normal }
.katex-display .base { margin-block: 0.2em }
"""
"""Formulas wider than the page go on below, after a relation or a sign."""


def run() -> None:
    """Draw the frame and run the page that the address asks for."""
    lesson = lecture.read()
    st.set_page_config(
        page_title="Unbiased LTR Lab", page_icon="⚖️", layout="wide",
        initial_sidebar_state="collapsed" if lesson or st.context.is_embedded else "auto",
    )  # fmt: skip
    look = st.html(_look())
    page = st.navigation(_menu())
    info = next((p for p in PAGES if p.menu == page.title), HOME)
    st.title(info.question)
    settings = _controls(info, lesson)
    with st.sidebar:
        settings_history.note(settings)
        settings_history.buttons()
    # Always there: where a control moves to another place, the browser forgets that the address
    # holds its value.
    above = st.container()
    if not booted():
        below = above.skeleton(height=320)
        boot()
        below.empty()
        look.html(_look())
    from pages.app import take_away

    link.tidy_page(info.path, (lecture.MODE, lecture.CONTROLS))
    with above:
        reconnecting.note()
        _show_notices()
    context = PageContext(info, settings, read_launch())
    token = CONTEXT.set(context)
    try:
        with st.sidebar:
            take_away.share(context, lesson)
        page.run()
    finally:
        CONTEXT.reset(token)


def _look() -> str:
    """The style of all pages; that of charts, which takes a second to load, once it is there."""
    ink = ""
    if booted():
        from pages.app import chart_ink

        ink = chart_ink.STYLE
    looks = (checks.STYLE, side_by_side.STYLE, study_link.STYLE, waiting.STYLE)
    return f"<style>{''.join((_READABLE, _FORMULAS, *looks, ink))}</style>"


def _controls(info: PageInfo, lesson: lecture.Lecture | None) -> Settings | InputError:
    """The controls of the settings: all of them, or in lecture mode the chosen ones."""
    if lesson is None:
        return controls.controls(info)
    lecture.style(info)
    lecture.keep(lesson, info)
    return controls.chosen_controls(lesson.shown(info))


def enter() -> PageContext:
    """First line of every page: what the shell has prepared.

    When the first request after a start is a deep link, the server runs the page's file on its
    own, without ``app.py``; then the shell is run from here and the page ends with it.
    """
    context = CONTEXT.get()
    if context is None:
        run()
        st.stop()
    return context


def require_settings(context: PageContext) -> Settings:
    """The settings, or one sentence on the page and no results."""
    if isinstance(context.settings, InputError):
        st.warning(told(context.settings), icon=":material/error:")
        st.stop()
    return context.settings


def _menu() -> list[st.Page]:
    """The pages; the first one answers at the root and, out of the menu, at its own address."""
    menu = [
        st.Page(
            page.file, title=page.menu, icon=page.icon, help=page.summary,
            url_path="home" if page is HOME else page.path, default=page is HOME,
        )
        for page in PAGES
    ]  # fmt: skip
    own_address = st.Page(
        HOME.file, title=HOME.menu, icon=HOME.icon, url_path=HOME.path, visibility="hidden"
    )
    return [*menu, own_address]


def _show_notices() -> None:
    notices = link.notices()
    if notices:
        with st.container(border=True):
            for notice in notices:
                st.markdown(f":material/info: {told(notice)}")
            st.button("Understood", key="dismiss", on_click=link.dismiss_notices, type="tertiary")
