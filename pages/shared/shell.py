"""The frame around every page: boot, menu, title, controls, and what a page gets from them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

import streamlit as st

from pages.shared import controls, link
from pages.shared.boot import boot
from pages.shared.launch import Launch, read_launch
from pages.shared.registry import HOME, PAGES, PageInfo
from ultr_core.errors import InputError
from ultr_core.settings import Settings


@dataclass(frozen=True)
class PageContext:
    """What the shell hands to a page.

    ``settings`` is the world asked for, or the sentence that says why it is none; ``launch`` are
    the server's options.
    """

    info: PageInfo
    settings: Settings | InputError
    launch: Launch


_CONTEXT: ContextVar[PageContext | None] = ContextVar("page_context", default=None)


def run() -> None:
    """Draw the frame and run the page that the address asks for."""
    st.set_page_config(page_title="Unbiased LTR Lab", page_icon="⚖️", layout="wide")
    page = st.navigation(_menu())
    info = next((p for p in PAGES if p.menu == page.title), HOME)
    st.title(info.question)
    settings = controls.controls(info)
    _show_notices()
    below = st.empty()
    with below.container():
        st.skeleton(height=320)
    boot()
    below.empty()
    token = _CONTEXT.set(PageContext(info, settings, read_launch()))
    try:
        page.run()
    finally:
        _CONTEXT.reset(token)


def enter() -> PageContext:
    """First line of every page: what the shell has prepared.

    When the first request after a start is a deep link, the server runs the page's file on its
    own, without ``app.py``; then the shell is run from here and the page ends with it.
    """
    context = _CONTEXT.get()
    if context is None:
        run()
        st.stop()
    return context


def require_settings(context: PageContext) -> Settings:
    """The settings, or one sentence on the page and no results."""
    if isinstance(context.settings, InputError):
        st.warning(controls.in_page_words(str(context.settings)), icon=":material/error:")
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
                st.markdown(f":material/info: {controls.in_page_words(notice)}")
            st.button("Understood", key="dismiss", on_click=link.dismiss_notices, type="tertiary")
