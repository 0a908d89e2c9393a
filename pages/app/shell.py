"""The frame around every page: boot, menu, title, controls, and what a page gets from them."""

from __future__ import annotations

import importlib
import sys

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.app import controls, lecture, link
from pages.app.boot import boot, booted
from pages.app.context import CONTEXT, PageContext, launched_with, show_faults
from pages.app.markdown import show_note
from pages.app.page_runs import PAGE_RUNS
from pages.app.registry import HOME, LESSONS, PAGES, PageInfo
from pages.app.style import ABOVE, page_style
from ultr_core.errors import InputError
from ultr_core.settings import Settings

NEW_SESSION = (
    "Your connection was lost and a new session has started. Your settings were kept; uploaded "
    "files and finished studies were not."
)

_KNOWN = "session_is_known"
_DAY = 86_400  # seconds


def run() -> None:
    """Draw the frame and run the page that the address asks for, when it is this run's turn."""
    with PAGE_RUNS.turn():
        _run()


def _run() -> None:
    lesson = lecture.read()
    st.set_page_config(
        page_title="Unbiased LTR Lab", page_icon="⚖️", layout="wide",
        initial_sidebar_state="collapsed",
    )  # fmt: skip
    page = st.navigation(_menu(), position="top")
    info = next((p for p in PAGES if p.menu == page.title), HOME)
    look = st.html(page_style(charts=booted(), place=_place(info)))
    st.title(info.question)
    settings, end = _controls(info, lesson)
    # Always there: where a control moves to another place, the browser forgets that the address
    # holds its value.
    above = st.container(key=ABOVE)
    if not booted():
        below = above.skeleton(height=320)
        boot()
        below.empty()
        look.html(page_style(charts=booted(), place=_place(info)))
    from pages.app import take_away

    link.tidy_page(info.path, (lecture.MODE, lecture.CONTROLS))
    launch, faults = launched_with(sys.argv[1:])
    link.fit_page(info.path, launch.corpus)
    controls.note(info, settings)
    with end:
        controls.history_buttons(info)
    with above:
        _note_reconnection()
        _show_notices()
    show_faults(faults)
    context = PageContext(info, settings, launch)
    token = CONTEXT.set(context)
    try:
        with end:
            take_away.share(context, lesson)
            if lesson is None:
                st.page_link(
                    LESSONS.file, label="Glossary", icon=":material/dictionary:",
                    query_params={"part": "glossary"}, help="Glossary: what the words mean.",
                )  # fmt: skip
        page.run()
    finally:
        CONTEXT.reset(token)


def _controls(
    info: PageInfo, lesson: lecture.Lecture | None
) -> tuple[Settings | InputError, DeltaGenerator]:
    """The row of controls, all of them or in lecture mode the chosen ones, and its last place."""
    if lesson is None:
        return controls.controls(info)
    lecture.style(info)
    lecture.keep(lesson, info)
    return controls.chosen_controls(lesson.shown(info))


def show_page(name: str) -> None:
    """All that a page's file does: draw the frame, and in it what ``pages.views.<name>`` shows.

    When the first request after a start is a deep link, the server runs the page's file on its
    own, without ``app.py``; then the frame is drawn from here, and runs the file once more. What
    the page needs is imported after that, for on a fresh server it takes a second.
    """
    context = CONTEXT.get()
    if context is None:
        run()
    else:
        importlib.import_module(f"pages.views.{name}.view").show(context)


def _menu() -> dict[str, list[st.Page]]:
    """The pages in their groups; the first also answers, out of the menu, at its own address."""
    own_address = st.Page(
        HOME.file, title=HOME.menu, icon=HOME.icon, url_path=HOME.path, visibility="hidden"
    )
    menu: dict[str, list[st.Page]] = {}
    for page in PAGES:
        entry = st.Page(
            page.file, title=page.menu, icon=page.icon, help=page.summary,
            url_path="home" if page is HOME else page.path, default=page is HOME,
        )  # fmt: skip
        menu.setdefault(page.group, []).append(entry)
    menu[HOME.group].append(own_address)
    return menu


def _place(info: PageInfo) -> int:
    """The place in the menu, from 1, of a page or of its group."""
    alone = [page.path for page in PAGES if not page.group]
    groups = dict.fromkeys(page.group for page in PAGES if page.group)
    return [*alone, *groups].index(info.group or info.path) + 1


def _show_notices() -> None:
    notices = link.notices()
    if notices:
        with st.container(border=True):
            for notice in notices:
                show_note(notice)
            st.button("Understood", key="dismiss", on_click=link.dismiss_notices, type="tertiary")


def _note_reconnection() -> None:
    """Say once that the session is new, and let the browser ask for the page when it reconnects.

    The browser of a visitor whose connection was lost connects again by itself. It finds another
    server when its own has ended, the same one when that was started again, and either way a new
    session when it was away for too long.
    """
    if _KNOWN not in st.session_state:
        st.session_state[_KNOWN] = True
        context = get_script_run_ctx()
        if _former_session() not in ("", context.session_id if context else ""):
            link.add_notices([NEW_SESSION])
    # Browsers that have connected again ask for the page only if a part of it is to be run again.
    st.fragment(_nothing, run_every=_DAY)()


def _former_session() -> str:
    """The session that the browser asks for: the third of the websocket's subprotocols."""
    asked = st.context.headers.get("Sec-WebSocket-Protocol", "").split(",")
    return asked[2].strip() if len(asked) > 2 else ""


def _nothing() -> None:
    """Draw nothing."""
