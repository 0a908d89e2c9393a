"""What was done in the lessons, kept by the browser over a reload. See ``keeper.js``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.views.lessons import state

KEY = "lesson-keeper"


@lru_cache(maxsize=1)
def _component() -> Any:
    script = (Path(__file__).parent / "keeper.js").read_text("utf-8")
    return st.components.v2.component("lab_lessons", html="<div></div>", js=script)


def keep() -> None:
    """Hand the progress to the browser, or take back what it has for a new session."""
    data = {"progress": state.as_text(), "commits": state.commits()}
    _component()(key=KEY, data=data, on_kept_change=_take_back)


def _take_back() -> None:
    """Callback: what the browser kept."""
    state.restore(st.session_state[KEY].get("kept"))
