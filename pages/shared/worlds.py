"""The world of a page, or the sentence that says why there is none."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from pages.shared import cached
from pages.shared.remedies import told
from pages.shared.slots import Slot
from ultr_core.errors import InputError
from ultr_core.experiments import world_notices
from ultr_core.settings import Settings


def require_world(corpus: str | None, settings: Settings, *waiting_words: Slot) -> None:
    """Build the world, or show the one sentence that says why it cannot be built.

    Then nothing is awaited any more, and the places of the waiting words are emptied.
    """
    waiting = st.spinner("Building the corpus and its rankers, once …")
    try:
        with nullcontext() if cached.has_world(corpus, settings) else waiting:
            notices = world_notices(cached.world(corpus, settings), settings)
    except InputError as error:
        for words in waiting_words:
            words.place().empty()
        st.error(told(error), icon=":material/error:")
        st.stop()
    for notice in notices:
        st.markdown(f":material/info: {told(notice)}")
