"""What can be taken away from every page: a link, a code for the room, a frame, a notebook."""

from __future__ import annotations

import json
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import segno
import streamlit as st

from pages.app import lecture, link
from pages.app.context import CONTEXT, PageContext
from pages.app.markdown import told
from ultr_core.errors import InputError
from ultr_core.export import NOTEBOOK_MIME, Origin
from ultr_core.jobs.job import OWN_WORK, PageState
from ultr_core.jobs.links import NOTEBOOK_PAGES
from ultr_core.jobs.notebooks import page_notebook, shown_state
from ultr_core.settings import PARAMETERS, Settings

KEY = "share"
_CONTEXT = "page_context"  # for parts of a page that run again on their own
OWN_FILES = "own_files_work"
"""Where the session keeps what was done with a reader's own files."""

FRAME_HEIGHT = 720
MOST_CONTROLS = 4
"""Controls that stand side by side above a picture in a lecture."""


def origin() -> Origin | None:
    """What made the results on this page, for files; None where there is no world."""
    context = CONTEXT.get() or st.session_state.get(_CONTEXT)
    if context is None or isinstance(context.settings, InputError):
        return None
    return _origin(_state(context, context.settings))


def share(context: PageContext, lesson: lecture.Lecture | None) -> None:
    """The button; what it opens is made then, without running the page."""
    st.session_state[_CONTEXT] = context
    if isinstance(context.settings, Settings):
        st.fragment(_button)(context, context.settings, lesson)


def _button(context: PageContext, settings: Settings, lesson: lecture.Lecture | None) -> None:
    if st.button("Share and download", key=KEY, icon=":material/ios_share:", width="stretch"):
        _dialog(context, settings, lesson)


@st.dialog("Share and download", width="large")
def _dialog(context: PageContext, settings: Settings, lesson: lecture.Lecture | None) -> None:
    address = link.address(context.info.path, settings)
    if opens_only_here(address):
        st.warning(
            "This link works only on this computer. To share it, start the server with the option "
            "`--server.address 0.0.0.0` and open the lab at this computer's name or IP address.",
            icon=":material/wifi_off:",
        )
    room, own = st.columns(2, gap="medium")
    with room:
        st.markdown("**Link** to this page with exactly these settings, including the seed.")
        st.code(address, language=None, wrap_lines=True)
        st.html(
            f'<img src="{code_picture(address)}" alt="QR code of this link" '
            'style="display:block;margin:0 auto;width:min(100%,60vh);background:#fff">'
        )
    with own:
        _lecture(context, settings, lesson)
        _embed(address)
        _files(context, settings)


def opens_only_here(address: str) -> bool:
    """Whether an address means the computer on which it is opened."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def code_picture(address: str) -> str:
    """A QR code as a data address, dark on white whatever the theme, with its quiet zone."""
    code = segno.make(address, error="l", boost_error=False, micro=False)
    uri: str = code.svg_data_uri(
        scale=8, border=4, dark="#000", light="#fff", omitsize=True, encode_minimal=False
    )
    return uri


def _lecture(context: PageContext, settings: Settings, lesson: lecture.Lecture | None) -> None:
    plain = link.address(context.info.path, settings)
    if lesson is not None:
        st.link_button("Leave lecture mode", plain, icon=":material/close_fullscreen:")
        return
    page = context.info
    prose = "all text" if page.of_words else "no text"
    offered = page.acting(PARAMETERS)
    chosen: list[str] | None = None
    if offered:
        st.markdown(f"**For a lecture:** large type, the controls you choose, {prose}.")
        chosen = st.multiselect(
            "Controls on the screen", offered, key="lecture-controls",
            default=page.acting(page.in_lectures or ("eta", "clicks")),
            format_func=lambda name: PARAMETERS[name].label, max_selections=MOST_CONTROLS,
            placeholder="None",
        )  # fmt: skip
    else:
        st.markdown(f"**For a lecture:** large type, {prose}. No setting affects this page.")
    alone = page.acts is not None and not chosen
    address = added(plain, lecture.query(None if alone else tuple(chosen or ())))
    st.link_button("Open in lecture mode", address, icon=":material/co_present:")
    st.code(address, language=None, wrap_lines=True)


def added(address: str, query: str) -> str:
    """An address with more in its query."""
    return f"{address}{'&' if '?' in address else '?'}{query}"


def _embed(address: str) -> None:
    st.markdown("**Embed** in your own page:")
    st.code(embed_snippet(address), language="html", wrap_lines=True)


def embed_snippet(address: str) -> str:
    """HTML that shows the page without its frame."""
    source = escape(added(address, "embed=true"))
    return (
        f'<iframe src="{source}" title="Unbiased LTR Lab" width="100%" height="{FRAME_HEIGHT}" '
        'style="border:0"></iframe>'
    )


def _state(context: PageContext, settings: Settings) -> PageState:
    """What the page shows, with the settings that its results have."""
    page, corpus = context.info.path, context.launch.corpus
    values = link.state(page) | {OWN_WORK: st.session_state.get(OWN_FILES)}
    address = link.address(page, settings)
    name = None if corpus is None else Path(corpus).name
    return shown_state(PageState(page, settings, values, name, address))


def _origin(state: PageState) -> Origin:
    return Origin(state.link, state.settings, state.corpus, state.acting)


def _files(context: PageContext, settings: Settings) -> None:
    page = context.info.path
    state = _state(context, settings)
    st.markdown(
        "**Files:** Python code for the numbers on this page, and the settings behind them."
    )
    with st.container(horizontal=True):
        if page in NOTEBOOK_PAGES:
            _notebook_button(state)
        st.download_button(
            "Settings (JSON)", data=partial(settings_file, state), file_name=f"{page}.json",
            mime="application/json", on_click="ignore", key="save-settings",
            icon=":material/data_object:",
        )  # fmt: skip


def _notebook_button(state: PageState) -> None:
    try:
        made = page_notebook(state)
    except InputError as error:
        st.markdown(f":material/info: There is no notebook for these values. {told(error)}")
        return
    st.download_button(
        "Notebook", data=made.as_bytes, file_name=f"{made.name}.ipynb", mime=NOTEBOOK_MIME,
        on_click="ignore", key="save-notebook", icon=":material/menu_book:",
    )  # fmt: skip


def settings_file(state: PageState) -> bytes:
    """Settings and page values with the link that they are from, as JSON (UTF-8)."""
    query = state.link.partition("?")[2]
    own = {key: texts for key, texts in parse_qs(query).items() if key in state.values}
    content = {
        **_origin(state).as_dict(),
        "page": state.page,
        "changed_on_the_page": {key: texts[-1] for key, texts in own.items()},
    }
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
