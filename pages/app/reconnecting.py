"""What a visitor sees whose connection was lost and whose session nobody knows any more.

The browser connects again by itself. It finds another server when its own has ended, the same one
when that was started anew, and either way a new session when it was away for too long.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.app import link

NEW_SESSION = (
    "Your connection was lost and a new session has started. Your settings were kept; uploaded "
    "files, pinned results and finished studies were not."
)

_KNOWN = "session_is_known"
_DAY = 86_400  # seconds


def note() -> None:
    """Say once that the session is new, and let the browser ask for the page when it reconnects."""
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
